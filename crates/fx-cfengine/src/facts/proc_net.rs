//! The kernel's tables of the network as `sys.inet`, `sys.inet6` and `sys.interfaces_data`,
//! and as what `network_connections()` returns.
//!
//! Values are given as the original reads them, even where it reads them wrong: a column it
//! takes for decimal hides lines that have letters in it, and the source of a route of IPv6
//! replaces its destination.

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::value::{DataType, Value, Variable};
use crate::eval::vars::Scope;
use crate::json::{Json, Object, put};
use crate::text::{Str, decode, os, path};

use super::tags;

const UP: i64 = 0x1;
const GATEWAY: i64 = 0x2;
const HOST: i64 = 0x4;

/// Columns of `/proc/net/dev` after the name.
const COUNTERS: [&str; 16] = [
    "receive_bytes",
    "receive_packets",
    "receive_errors",
    "receive_drop",
    "receive_fifo",
    "receive_frame",
    "receive_compressed",
    "receive_multicast",
    "transmit_bytes",
    "transmit_packets",
    "transmit_errors",
    "transmit_drop",
    "transmit_fifo",
    "transmit_frame",
    "transmit_compressed",
    "transmit_multicast",
];

fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    let mut out = Object::new();
    for (name, value) in fields {
        put(&mut out, name.into(), value);
    }
    Json::Object(out)
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_decimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn hex(text: &str) -> i64 {
    i64::from_str_radix(text, 16).unwrap_or(0)
}

// What a number begins with, as scanf reads it.
fn decimal(text: &str) -> i64 {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().unwrap_or(0)
}

/// An address in the kernel's hexadecimal: eight digits are IPv4, last byte first.
fn address(text: &str) -> String {
    if text.len() == 8 {
        let bytes = hex(text) as u32;
        let [a, b, c, d] = bytes.to_le_bytes();
        return format!("{a}.{b}.{c}.{d}");
    }
    let groups: Vec<String> = text
        .as_bytes()
        .chunks(4)
        .map(|group| format!("{:x}", hex(&String::from_utf8_lossy(group))))
        .collect();
    groups.join(":")
}

fn flags(bits: i64, default: Option<bool>) -> Json {
    let mut words = vec![
        if bits & UP == 0 { "down" } else { "up" },
        if bits & HOST == 0 { "net" } else { "host" },
    ];
    words.extend(default.map(|default| if default { "default" } else { "not_default" }));
    words.push(if bits & GATEWAY == 0 { "local" } else { "gateway" });
    Json::Array(words.into_iter().map(Json::str).collect())
}

fn route(line: &str) -> Option<Json> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [interface, dest, gateway, bits, refcnt, used, metric, mask, mtu, window, irtt] =
        fields.get(..11)?.try_into().ok()?;
    let irtt: &str = irtt;
    let irtt = irtt.trim_end();
    let numbers = [refcnt, used, mtu, window].iter().all(|text| is_decimal(text));
    if !numbers || ![dest, gateway, bits, metric, mask, irtt].iter().all(|text| is_hex(text)) {
        return None;
    }
    let (bits, dest) = (hex(bits), address(dest));
    let default = dest == "0.0.0.0";
    let active = default && bits & UP != 0 && bits & GATEWAY != 0;
    Some(object([
        ("interface", Json::str(interface)),
        ("dest", Json::str(&dest)),
        ("gateway", Json::str(&address(gateway))),
        ("mask", Json::str(&address(mask))),
        ("metric", Json::Int(decimal(metric))),
        ("mtu", Json::Int(decimal(mtu))),
        ("refcnt", Json::Int(decimal(refcnt))),
        ("use", Json::Int(decimal(used))),
        ("window", Json::Int(decimal(window))),
        ("irtt", Json::Int(decimal(irtt))),
        ("flags", flags(bits, Some(default))),
        ("active_default_gateway", Json::Bool(active)),
    ]))
}

fn route6(line: &str) -> Option<Json> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [dest, prefix, source, source_prefix, hop, metric, refcnt, used, bits, interface] =
        fields.get(..10)?.try_into().ok()?;
    let hexes = [dest, prefix, source, source_prefix, hop, metric, bits];
    if !hexes.iter().all(|text| is_hex(text)) || !is_decimal(refcnt) || !is_decimal(used) {
        return None;
    }
    Some(object([
        ("dest_prefix", Json::str(prefix)),
        ("source_prefix", Json::str(source_prefix)),
        ("interface", Json::str(interface)),
        ("next_hop", Json::str(&address(hop))),
        ("dest", Json::str(&address(source))),
        ("metric", Json::Int(i64::from(hex(metric) as i32))),
        ("refcnt", Json::Int(decimal(refcnt))),
        ("use", Json::Int(decimal(used))),
        ("flags", flags(hex(bits), None)),
    ]))
}

fn address6(line: &str) -> Option<(&str, String, Json)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [raw, device, prefix, scope, bits, interface] = fields.get(..6)?.try_into().ok()?;
    if ![raw, device, prefix, scope, bits].iter().all(|text| is_hex(text)) {
        return None;
    }
    let address = address(raw);
    let json = object([
        ("raw_flags", Json::str(bits)),
        ("interface", Json::str(interface)),
        ("address", Json::str(&address)),
        ("device_number", Json::Int(hex(device))),
        ("prefix_length", Json::Int(hex(prefix))),
        ("scope", Json::Int(hex(scope))),
    ]);
    Some((interface, address, json))
}

// An address of one's own link counts less than any other.
fn rank(address: &str) -> u32 {
    match address.split_once(':') {
        Some((first, _)) if hex(first) & 0xffc0 == 0xfe80 => 1,
        Some(_) => 2,
        None => 0,
    }
}

// Pairs of lines: names, then values.
fn named_numbers(text: &str) -> Json {
    let mut out = Object::new();
    let mut lines = text.lines();
    while let Some(names) = lines.next() {
        let Some((kind, names)) = names.split_once(": ") else { continue };
        let mut values = Object::new();
        let line = lines.next().unwrap_or_default();
        let numbers = line.get(kind.len() + 2..).unwrap_or_default();
        for (name, number) in names.split(' ').zip(numbers.split(' ')) {
            put(&mut values, name.into(), Json::str(number));
        }
        put(&mut out, kind.into(), Json::Object(values));
    }
    Json::Object(out)
}

fn devices(text: &str) -> Json {
    let mut out = Object::new();
    for line in text.lines() {
        let Some((name, numbers)) = line.split_once(':') else { continue };
        let (name, numbers) = (name.trim(), numbers.split_whitespace());
        let numbers: Vec<&str> = numbers.take_while(|number| is_decimal(number)).collect();
        if numbers.len() < COUNTERS.len() {
            continue;
        }
        let mut device = Object::new();
        put(&mut device, "device".into(), Json::str(name));
        for (counter, number) in COUNTERS.iter().zip(numbers) {
            put(&mut device, (*counter).into(), Json::str(number));
        }
        put(&mut out, name.into(), Json::Object(device));
    }
    Json::Object(out)
}

fn connection(line: &str) -> Option<Json> {
    const STATES: [&str; 12] = [
        "UNKNOWN",
        "ESTABLISHED",
        "SYN_SENT",
        "SYN_RECV",
        "FIN_WAIT1",
        "FIN_WAIT2",
        "TIME_WAIT",
        "CLOSE",
        "CLOSE_WAIT",
        "LAST_ACK",
        "LISTEN",
        "CLOSING",
    ];
    let mut fields = line.split_whitespace();
    let number = fields.next()?.strip_suffix(':')?;
    let (local, remote, state) = (fields.next()?, fields.next()?, fields.next()?);
    if !is_decimal(number) || !state.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let end = |text: &str| {
        let (host, port) = text.split_once(':')?;
        Some(object([
            ("address", Json::str(&address(host))),
            ("port", Json::str(&hex(port).to_string())),
        ]))
    };
    // Read as decimal, so that a state with a letter is none.
    let state = STATES.get(decimal(state) as usize).copied().unwrap_or("UNKNOWN");
    Some(object([("local", end(local)?), ("remote", end(remote)?), ("state", Json::str(state))]))
}

fn gateway(route: &Json) -> Str {
    route.select(&["gateway"]).and_then(Json::primitive).unwrap_or_default()
}

impl Context<'_> {
    fn kernel_table(&self, name: &str) -> Option<String> {
        let root = self.host().var(&os("CFENGINE_TEST_OVERRIDE_PROCDIR")).unwrap_or_default();
        let mut file = std::path::PathBuf::from(root);
        file.as_mut_os_string().push(os(&format!("/proc/net/{name}")));
        self.host().read(&path(&crate::text::from_path(&file))).ok().map(|bytes| decode(&bytes))
    }

    /// Defines a class for each gateway.
    pub(super) fn discover_gateways(&mut self) {
        let Some(text) = self.kernel_table("route") else { return };
        let label = tags("inventory,networking,/proc,source=agent,attribute_name=none,procfs");
        for route in text.lines().filter_map(route) {
            let is_up = route.select(&["flags"]).is_some_and(|flags| {
                let has = |word: &str| flags.values().any(|flag| *flag == Json::str(word));
                has("up") && has("gateway")
            });
            if is_up {
                self.put_hard(&format!("ipv4_gw_{}", gateway(&route)), &label);
            }
        }
    }

    /// `sys.inet` and the like, read on first use: the kernel takes longer to count than
    /// a small run takes for all the rest.
    pub(crate) fn late_sys(&self) -> &Scope {
        self.late_sys.get_or_init(|| {
            let label = tags("networking,/proc,source=agent,procfs");
            let mut scope = Scope::default();
            let mut define = |name: &str, json: Json| {
                let value = Value::Data(Rc::new(json));
                let tags = Rc::clone(&label);
                let kind = DataType::Data;
                scope.put(name.into(), Variable { kind, value, tags, comment: None });
            };
            define("inet", self.inet());
            define("inet6", self.inet6());
            if let Some(text) = self.kernel_table("dev") {
                define("interfaces_data", devices(&text));
            }
            scope
        })
    }

    fn inet(&self) -> Json {
        let mut inet = Object::new();
        if let Some(text) = self.kernel_table("netstat") {
            put(&mut inet, "stats".into(), named_numbers(&text));
        }
        if let Some(text) = self.kernel_table("route") {
            let routes: Vec<Json> = text.lines().filter_map(route).collect();
            let is_default = |route: &&Json| {
                route.select(&["active_default_gateway"]) == Some(&Json::Bool(true))
            };
            let default = routes.iter().find(is_default).cloned();
            put(&mut inet, "routes".into(), Json::Array(routes));
            if let Some(route) = default {
                put(&mut inet, "default_gateway".into(), Json::Str(gateway(&route)));
                put(&mut inet, "default_route".into(), route);
            }
        }
        Json::Object(inet)
    }

    fn inet6(&self) -> Json {
        let mut inet6 = Object::new();
        if let Some(text) = self.kernel_table("snmp6") {
            let mut stats = Object::new();
            for line in text.lines() {
                let mut words = line.split_whitespace();
                if let (Some(name), Some(number)) = (words.next(), words.next())
                    && is_decimal(number)
                {
                    put(&mut stats, name.into(), Json::Int(decimal(number)));
                }
            }
            put(&mut inet6, "stats".into(), Json::Object(stats));
        }
        if let Some(text) = self.kernel_table("ipv6_route") {
            let routes = text.lines().filter_map(route6).collect();
            put(&mut inet6, "routes".into(), Json::Array(routes));
        }
        if let Some(text) = self.kernel_table("if_inet6") {
            let mut best: Object = Object::new();
            let mut ranks: Vec<(&str, u32)> = Vec::new();
            for (interface, address, json) in text.lines().filter_map(address6) {
                let rank = rank(&address);
                let known = ranks.iter().position(|(name, _)| *name == interface);
                if known.is_some_and(|at| ranks[at].1 > rank) {
                    continue;
                }
                match known {
                    Some(at) => ranks[at].1 = rank,
                    None => ranks.push((interface, rank)),
                }
                put(&mut best, interface.into(), json);
            }
            put(&mut inet6, "addresses".into(), Json::Object(best));
        }
        Json::Object(inet6)
    }

    /// What `network_connections()` returns.
    pub(crate) fn network_connections(&self) -> Json {
        let mut out = Object::new();
        for table in ["tcp", "tcp6", "udp", "udp6"] {
            if let Some(text) = self.kernel_table(table) {
                let all = text.lines().filter_map(connection).collect();
                put(&mut out, table.into(), Json::Array(all));
            }
        }
        Json::Object(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_kernel_are_read() {
        let table = [
            ("0102A8C0", "192.168.2.1"),
            ("00000000", "0.0.0.0"),
            ("fe80000000000000004249fffebdd7b4", "fe80:0:0:0:42:49ff:febd:d7b4"),
        ];
        for (text, expected) in table {
            assert_eq!(address(text), expected);
        }
    }

    #[test]
    fn lines_of_the_tables_become_data() {
        let route = route("eth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0   ");
        let route = route.expect("a route").compact();
        assert!(route.contains(r#""gateway":"192.168.2.1""#), "{route}");
        assert!(route.contains(r#""flags":["up","net","default","gateway"]"#), "{route}");
        let line = "   1: 0100007F:0277 00000000:0000 06 00000000:00000000";
        let expected = r#"{"local":{"address":"127.0.0.1","port":"631"},"remote":{"address":"0.0.0.0","port":"0"},"state":"TIME_WAIT"}"#;
        assert_eq!(connection(line).expect("a connection").compact(), expected);
        let listening = connection("   1: 0100007F:0277 00000000:0000 0A x").expect("one");
        assert!(listening.compact().contains("UNKNOWN"), "as the original reads it");
        assert!(route6("fe80 40 00 00 00 100 1 0007e26c 1 lo").is_none());
        assert_eq!(connection("  sl  local_address remote_address st"), None);
    }
}
