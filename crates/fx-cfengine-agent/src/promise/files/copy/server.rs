//! Servers of a copy: which of them answers, in the words of the original.
//!
//! The protocol behind the connection is not spoken: a server that answers is one that a copy
//! cannot be had from, and that is said.

use fx_cfengine::connect::Call;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::text::Str;

use crate::agent::Agent;

/// Where a copy is to come from.
pub(super) enum Source {
    /// This machine.
    Local,
    /// A server that accepts connections.
    Server(Str),
    /// None of the servers answers.
    Nobody,
}

const PORT: &str = "5308";

/// Goes through the servers of a promise until one answers.
pub(super) fn find(ctx: &Agent<'_>, promise: &Expanded) -> Source {
    let servers = promise.list("servers").unwrap_or_default();
    if servers.is_empty() {
        return Source::Local;
    }
    let port = promise.scalar("portnumber").cloned().unwrap_or_else(|| PORT.into());
    let patience = ctx.patience(promise.int("timeout"));
    for server in servers {
        if &*server == "localhost" {
            return Source::Local;
        }
        let only_v4 = promise.bool("force_ipv4").unwrap_or(false);
        let call = Call { host: &server, port: &port, only_v4, patience, question: b"", limit: 0 };
        if ctx.connect(&call).is_ok() {
            return Source::Server(server);
        }
        ctx.info(&format!("No server is responding on port: {port}"));
        ctx.info(&format!("Unable to establish connection to '{server}'"));
    }
    Source::Nobody
}
