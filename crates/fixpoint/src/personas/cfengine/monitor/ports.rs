//! Connections and listening ports, from the tables of the kernel.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use fx_host::Files;

use super::slots::SERVICES;

const LISTENS: &str = "0A";
/// Tables as variables name them and as the kernel does, in the order they are read.
const TABLES: [(&str, &str); 4] =
    [("tcp4", "tcp"), ("udp4", "udp"), ("tcp6", "tcp6"), ("udp6", "udp6")];
/// Longer lists are not published, …
const LONGEST: usize = 1500;
/// … nor the addresses of more ports.
const MOST_ADDRESSES: usize = 512;

/// A list with the newest first, in which a port stands once.
type Listening = Vec<(u16, String)>;

/// What the tables say.
#[derive(Debug, Default)]
pub(in super::super) struct Ports {
    /// Listening addresses by table. Sockets of UDP listen to nobody in particular, and are none.
    listening: BTreeMap<&'static str, Listening>,
    all: Listening,
    /// Lines of connections, and of who waits for them, by slot.
    pub(in super::super) connections: BTreeMap<usize, Vec<String>>,
}

fn note(list: &mut Listening, port: u16, address: &str) {
    if !list.iter().any(|(known, _)| *known == port) {
        list.insert(0, (port, address.to_owned()));
    }
}

fn address(text: &str) -> Option<(IpAddr, u16)> {
    let (digits, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| u32::from_str_radix(digits.get(at..at + 8)?, 16).ok();
    let ip = if digits.len() == 8 {
        IpAddr::from(Ipv4Addr::from(word(0)?.to_le_bytes()))
    } else {
        let mut bytes = [0; 16];
        for part in 0..4 {
            bytes[part * 4..part * 4 + 4].copy_from_slice(&word(part * 8)?.to_le_bytes());
        }
        IpAddr::from(Ipv6Addr::from(bytes))
    };
    Some((ip, port))
}

impl Ports {
    pub(in super::super) fn read(host: &dyn Files) -> Ports {
        let mut ports = Ports::default();
        for (table, file) in TABLES {
            let bytes = host.read(Path::new(&format!("/proc/net/{file}"))).unwrap_or_default();
            ports.take(table, &String::from_utf8_lossy(&bytes));
        }
        ports
    }

    fn take(&mut self, table: &'static str, text: &str) {
        let listening = self.listening.entry(table).or_default();
        for line in text.lines().skip(1) {
            let mut words = line.split_ascii_whitespace().skip(1);
            let (Some(local), Some(remote), Some(state)) =
                (words.next().and_then(address), words.next().and_then(address), words.next())
            else {
                continue;
            };
            if state == LISTENS {
                let address = local.0.to_string();
                note(&mut self.all, local.1, &address);
                note(listening, local.1, &address);
            }
            for (_, port, slot) in SERVICES {
                for (end, slot) in [(local, *slot), (remote, slot + 1)] {
                    if end.1 == *port {
                        self.connections.entry(slot).or_default().push(line.to_owned());
                    }
                }
            }
        }
    }

    /// How many connections each slot has.
    pub(in super::super) fn counts(&self) -> impl Iterator<Item = (usize, f64)> {
        self.connections.iter().map(|(slot, lines)| (*slot, lines.len() as f64))
    }

    /// Lines for the other tools.
    pub(in super::super) fn lines(&self) -> Vec<String> {
        let list = |name: &str, ports: &Listening| {
            let ports: Vec<String> = ports.iter().map(|(port, _)| format!("'{port}'")).collect();
            Some(format!("@{name}={{{}}}", ports.join(","))).filter(|line| line.len() <= LONGEST)
        };
        let none = Listening::new();
        let of = |table: &str| self.listening.get(table).unwrap_or(&none);
        let tables = ["udp6", "udp4", "tcp6", "tcp4"];
        let lists = tables.map(|table| list(&format!("listening_{table}_ports"), of(table)));
        let mut lines: Vec<String> = list("listening_ports", &self.all)
            .into_iter()
            .chain(lists.into_iter().flatten())
            .collect();
        if of("tcp4").len() + of("tcp6").len() <= MOST_ADDRESSES {
            for table in ["tcp6", "tcp4"] {
                let address = |(port, address)| format!("{table}_port_addr[{port}]={address}");
                lines.extend(of(table).iter().map(|(port, text)| (port, text)).map(address));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_the_kernel_are_read() {
        let text = "  sl  local_address rem_address   st\n   0: 00000000:0016 00000000:0000 0A 0\n   1: 0100007F:0016 0100007F:C350 01 0\n   2: 0100007F:C351 0100007F:0050 01 0\n   3: junk\n";
        let mut ports = Ports::default();
        ports.take("tcp4", text);
        let counts: BTreeMap<usize, f64> = ports.counts().collect();
        assert_eq!(counts.get(&23), Some(&2.0), "who listens counts in ssh_in");
        assert_eq!(counts.get(&20), Some(&1.0), "www_out");
        ports.take("udp4", "head\n 2442: 00000000:008A 00000000:0000 07 0\n");
        assert_eq!(ports.connections[&7].len(), 1, "netbiosdgm_in");
        let lines = ports.lines();
        assert!(lines.contains(&"@listening_tcp4_ports={'22'}".to_owned()), "{lines:?}");
        assert!(lines.contains(&"tcp4_port_addr[22]=0.0.0.0".to_owned()));
        assert!(lines.contains(&"@listening_udp4_ports={}".to_owned()), "{lines:?}");
    }
}
