//! Servers of a copy: which of them answers, in the words of the original.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;

use crate::agent::Agent;
use crate::network::{Reach, reach};

use super::local::Local;
use super::remote::Remote;
use super::source::Source;

const PORT: &str = "5308";

/// Goes through the servers of a promise until one answers.
pub(super) fn find(ctx: &mut Agent<'_>, promise: &Expanded) -> Option<Rc<dyn Source>> {
    let servers = promise.list("servers").unwrap_or_default();
    if servers.is_empty() {
        return Some(Rc::new(Local));
    }
    let port = promise.scalar("portnumber").cloned().unwrap_or_else(|| PORT.into());
    for server in servers {
        if &*server == "localhost" {
            return Some(Rc::new(Local));
        }
        let wanted = Reach {
            server: server.to_string(),
            port: port.to_string(),
            only_v4: promise.bool("force_ipv4").unwrap_or(false),
            patience: ctx.patience(promise.int("timeout")),
            trust: promise.bool("trustkey").unwrap_or(false),
            encrypt: promise.bool("encrypt").unwrap_or(false),
            protocol: promise.scalar("protocol_version").map(ToString::to_string),
        };
        match reach(ctx, &wanted) {
            Some(line) => return Some(Rc::new(Remote::new(line, &server, promise))),
            None => ctx.info(&format!("Unable to establish connection to '{server}'")),
        }
    }
    None
}
