//! Connections as the original makes them: each address of a name in turn, and what goes
//! wrong logged in its words. What is sent over them is the caller's.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::eval::Context;
use crate::policy::Rval;
use crate::reason::{bare_reason, reason};
use crate::text::int_from;

/// What to say to whom.
pub struct Call<'a> {
    pub host: &'a str,
    pub port: &'a str,
    pub only_v4: bool,
    pub patience: Duration,
    pub question: &'a [u8],
    /// Most bytes of the answer; none at all where only the connection matters.
    pub limit: usize,
}

impl Context<'_> {
    /// How long a connection is waited for, where the promise does not say.
    pub fn patience(&self, seconds: Option<i64>) -> Duration {
        let control = self.control.agent.get("default_timeout").and_then(Rval::as_scalar);
        let control = control.and_then(|text| int_from(text));
        let seconds = seconds.filter(|seconds| *seconds >= 0).or(control).unwrap_or(30);
        // No time at all is all the time there is.
        match u64::try_from(seconds) {
            Ok(0) | Err(_) => Duration::from_hours(24),
            Ok(seconds) => Duration::from_secs(seconds),
        }
    }

    /// What the first address of a host that accepts connections answers, or what the kernel
    /// said last.
    pub fn connect(&self, call: &Call<'_>) -> Result<Vec<u8>, String> {
        let number: u16 = call.port.parse().unwrap_or(0);
        let addresses = match self.host().resolve(call.host) {
            Ok(addresses) => addresses,
            Err(error) => {
                let why = bare_reason(&error);
                self.info(&format!(
                    "Unable to find host '{}' service '{}' ({why})",
                    call.host, call.port
                ));
                return Err("Resource temporarily unavailable".to_owned());
            }
        };
        let wanted = |address: &IpAddr| !call.only_v4 || matches!(address, IpAddr::V4(_));
        let mut last = "Success".to_owned();
        for address in addresses.into_iter().filter(wanted) {
            let address = SocketAddr::new(address, number);
            let answer = self.in_evaluation(&format!("connection to {}", call.host), |act| {
                act.ask(address, call.question, call.limit, call.patience)
            });
            match answer {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    let why = reason(&error);
                    self.info(&worded(error.kind(), &why));
                    // The call itself only said that it goes on.
                    last = if at_once(error.kind()) { why } else { GOES_ON.to_owned() };
                }
            }
        }
        Err(last)
    }
}

const GOES_ON: &str = "Operation now in progress";

fn at_once(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NetworkUnreachable
            | ErrorKind::AddrNotAvailable
            | ErrorKind::InvalidInput
            | ErrorKind::PermissionDenied
    )
}

// What the kernel refuses at once is worded otherwise than what it finds out later.
/// A failed connection in the words of the original.
pub fn worded(kind: ErrorKind, why: &str) -> String {
    match kind {
        ErrorKind::TimedOut => "Timeout connecting to server".to_owned(),
        kind if at_once(kind) => format!("Failed to connect to server (connect: {why})"),
        _ => format!("Failed to connect to server: {why}"),
    }
}
