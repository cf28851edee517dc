//! A host and a port as people write them.

use std::fmt;

use super::PORT;

/// A host with its port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    pub host: String,
    /// As it was written; nothing where it was not.
    pub port: Option<String>,
}

impl HostPort {
    /// `host`, `host:port`, `[v6]:port`, and an address of version 6 without a port.
    pub fn parse(text: &str) -> HostPort {
        let split = if let Some(rest) = text.strip_prefix('[') {
            let (host, rest) = rest.split_once(']').unwrap_or((rest, ""));
            (host, rest.strip_prefix(':'))
        } else if text.matches(':').count() == 1 {
            let (host, port) = text.split_once(':').unwrap_or((text, ""));
            (host, Some(port))
        } else {
            (text, None)
        };
        let port = split.1.filter(|port| !port.is_empty()).map(str::to_owned);
        HostPort { host: split.0.to_owned(), port }
    }

    /// The number of the port, if it is one.
    pub fn number(&self) -> Option<u16> {
        match &self.port {
            None => Some(PORT),
            Some(text) => text.parse().ok().filter(|port| *port != 0),
        }
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.port {
            None => out.write_str(&self.host),
            Some(port) if self.host.contains(':') => write!(out, "[{}]:{port}", self.host),
            Some(port) => write!(out, "{}:{port}", self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_told_apart() {
        let table = [
            ("hub", "hub", None),
            ("hub:15308", "hub", Some("15308")),
            ("1.2.3.4:5", "1.2.3.4", Some("5")),
            ("[::1]:5", "::1", Some("5")),
            ("[::1]", "::1", None),
            ("fe80::1", "fe80::1", None),
            ("hub:", "hub", None),
            ("", "", None),
        ];
        for (text, host, port) in table {
            let parsed = HostPort::parse(text);
            assert_eq!((&*parsed.host, parsed.port.as_deref()), (host, port), "{text}");
        }
        assert_eq!(HostPort::parse("a").number(), Some(5308));
        assert_eq!(HostPort::parse("a:0").number(), None);
        assert_eq!(HostPort::parse("[::1]:5").to_string(), "[::1]:5");
    }
}
