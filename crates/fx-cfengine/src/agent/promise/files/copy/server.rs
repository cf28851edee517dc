//! Servers of a copy: which of them answers, told as the original tells it.
//!
//! The protocol behind the connection is not spoken: a server that answers is one that a copy
//! cannot be had from, and that is said.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::load::reason;
use crate::policy::Rval;
use crate::text::{Str, int_from};

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
pub(super) fn find(ctx: &Context<'_>, promise: &Expanded) -> Source {
    let servers = promise.list("servers").unwrap_or_default();
    if servers.is_empty() {
        return Source::Local;
    }
    let port = promise.scalar("portnumber").cloned().unwrap_or_else(|| PORT.into());
    let control = ctx.control.agent.get("default_timeout").and_then(Rval::as_scalar);
    let control = control.and_then(|text| int_from(text));
    let seconds = promise.int("timeout").filter(|seconds| *seconds >= 0).or(control).unwrap_or(30);
    // No time at all is all the time there is.
    let patience = match u64::try_from(seconds) {
        Ok(0) | Err(_) => Duration::from_hours(24),
        Ok(seconds) => Duration::from_secs(seconds),
    };
    for server in servers {
        if &*server == "localhost" {
            return Source::Local;
        }
        let only_v4 = promise.bool("force_ipv4").unwrap_or(false);
        if answers(ctx, &server, &port, only_v4, patience) {
            return Source::Server(server);
        }
        ctx.info(&format!("No server is responding on port: {port}"));
        ctx.info(&format!("Unable to establish connection to '{server}'"));
    }
    Source::Nobody
}

fn answers(ctx: &Context<'_>, server: &str, port: &str, only_v4: bool, patience: Duration) -> bool {
    let number: u16 = port.parse().unwrap_or(0);
    let addresses = match ctx.host().resolve(server) {
        Ok(addresses) => addresses,
        Err(error) => {
            let why = reason(&error);
            let why = why.rsplit_once(": ").map_or(&*why, |(_, why)| why);
            ctx.info(&format!("Unable to find host '{server}' service '{port}' ({why})"));
            return false;
        }
    };
    addresses.into_iter().filter(|address| !only_v4 || matches!(address, IpAddr::V4(_))).any(
        |address| match ctx.host().reach(SocketAddr::new(address, number), patience) {
            Ok(()) => true,
            Err(error) => {
                ctx.info(&told(error.kind(), &reason(&error)));
                false
            }
        },
    )
}

// What the kernel refuses at once is told in other words than what it finds out later.
fn told(kind: std::io::ErrorKind, why: &str) -> String {
    use std::io::ErrorKind;
    match kind {
        ErrorKind::TimedOut => "Timeout connecting to server".to_owned(),
        ErrorKind::NetworkUnreachable
        | ErrorKind::AddrNotAvailable
        | ErrorKind::InvalidInput
        | ErrorKind::PermissionDenied => format!("Failed to connect to server (connect: {why})"),
        _ => format!("Failed to connect to server: {why}"),
    }
}
