//! Connections and listening ports, from the tables of the kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use fx_host::Files;

use super::slots::SERVICES;

const LISTENS: &str = "0A";
/// The state of a socket of UDP that waits for anybody.
const WAITS: &str = "07";

/// What the tables say.
#[derive(Debug, Default)]
pub(in super::super) struct Ports {
    /// Listening addresses by table and port.
    pub(in super::super) listening: BTreeMap<&'static str, BTreeMap<u16, String>>,
    /// Connections by slot.
    pub(in super::super) counts: BTreeMap<usize, f64>,
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
        for (table, file) in [("tcp4", "tcp"), ("tcp6", "tcp6"), ("udp4", "udp"), ("udp6", "udp6")]
        {
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
            if state == LISTENS || table.starts_with("udp") && state == WAITS {
                listening.insert(local.1, local.0.to_string());
                continue;
            }
            for (_, port, slot) in SERVICES {
                if local.1 == *port {
                    *self.counts.entry(*slot).or_default() += 1.0;
                } else if remote.1 == *port {
                    *self.counts.entry(slot + 1).or_default() += 1.0;
                }
            }
        }
    }

    /// Lines for the other tools.
    pub(in super::super) fn lines(&self) -> Vec<String> {
        let list = |name: &str, ports: &BTreeSet<u16>| {
            let ports: Vec<String> = ports.iter().map(|port| format!("'{port}'")).collect();
            format!("@{name}={{{}}}", ports.join(","))
        };
        let all = self.listening.values().flat_map(BTreeMap::keys).copied().collect();
        let mut lines = vec![list("listening_ports", &all)];
        for (table, ports) in &self.listening {
            let ports: BTreeSet<u16> = ports.keys().copied().collect();
            lines.push(list(&format!("listening_{table}_ports"), &ports));
        }
        for (table, ports) in &self.listening {
            for (port, address) in ports {
                lines.push(format!("{table}_port_addr[{port}]={address}"));
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
        assert_eq!(ports.counts.get(&23), Some(&1.0), "ssh_in");
        assert_eq!(ports.counts.get(&20), Some(&1.0), "www_out");
        let lines = ports.lines();
        assert!(lines.contains(&"@listening_tcp4_ports={'22'}".to_owned()), "{lines:?}");
        assert!(lines.contains(&"tcp4_port_addr[22]=0.0.0.0".to_owned()));
    }
}
