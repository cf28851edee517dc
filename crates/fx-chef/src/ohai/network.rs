//! Interfaces, routes and neighbours in ohai's shape, and the addresses that stand for the
//! machine: those of the best default route, else those that reach furthest.

use std::net::{IpAddr, Ipv4Addr};

use fx_facts::Facts;
use fx_host::{Address, Counters, Interface, Look, Route};
use serde_json::{Map, Value as J, json};

/// Flags of an interface in the order in which `ip` prints them, as far as ohai knows them.
const FLAGS: [(u32, &str); 12] = [
    (0x8, "LOOPBACK"),
    (0x2, "BROADCAST"),
    (0x1000, "MULTICAST"),
    (0x80, "NOARP"),
    (0x200, "ALLMULTI"),
    (0x100, "PROMISC"),
    (0x400, "MASTER"),
    (0x800, "SLAVE"),
    (0x4, "DEBUG"),
    (0x8000, "DYNAMIC"),
    (0x1, "UP"),
    (0x1_0000, "LOWER_UP"),
];

/// Flags of addresses of version 6, in the order in which `ip` prints them.
const TAGS: [(u32, &str); 10] = [
    (0x01, "temporary"),
    (0x40, "tentative"),
    (0x20, "deprecated"),
    (0x10, "home"),
    (0x02, "nodad"),
    (0x04, "optimistic"),
    (0x08, "dadfailed"),
    (0x100, "mngtmpaddr"),
    (0x200, "noprefixroute"),
    (0x400, "autojoin"),
];
const PERMANENT: u32 = 0x80;
const NOARP: u32 = 0x80;

/// Who made a route, where it was not made by hand at the start.
const PROTOCOLS: [(u8, &str); 18] = [
    (0, "none"),
    (1, "redirect"),
    (2, "kernel"),
    (4, "static"),
    (8, "gated"),
    (9, "ra"),
    (10, "mrt"),
    (11, "zebra"),
    (12, "bird"),
    (13, "dnrouted"),
    (14, "xorp"),
    (15, "ntk"),
    (16, "dhcp"),
    (18, "keepalived"),
    (42, "babel"),
    (186, "bgp"),
    (188, "ospf"),
    (189, "rip"),
];
const BY_HAND: u8 = 3;
/// Reach of an address or a route: everywhere, and this link only.
const GLOBAL: u8 = 0;
const LINK: u8 = 253;

/// The families in ohai's order, with the beginning of the names of their defaults.
const FAMILIES: [(bool, &str); 2] = [(false, "default"), (true, "default_inet6")];

pub(super) fn add_names(facts: &Facts<'_>, out: &mut Map<String, J>) {
    let network = facts.network();
    out.insert("hostname".into(), json!(network.hostname));
    out.insert("machinename".into(), json!(facts.kernel().nodename));
    out.insert("fqdn".into(), json!(network.fqdn()));
    out.insert("domain".into(), json!(network.domain));
}

pub(super) fn add(host: &dyn Look, facts: &Facts<'_>, out: &mut Map<String, J>) {
    let network = facts.network();
    let links = &network.interfaces;
    let routes = host.routes().unwrap_or_default();
    let routes: Vec<Route> = routes.into_iter().filter(|route| leads(route, links)).collect();
    let mut interfaces: Map<String, J> =
        links.iter().map(|link| (link.name.clone(), interface(link))).collect();
    for neighbour in host.neighbours().unwrap_or_default() {
        let attribute = if neighbour.address.is_ipv4() { "arp" } else { "neighbour_inet6" };
        if let Some(interface) = interfaces.get_mut(&neighbour.interface) {
            interface[attribute][neighbour.address.to_string()] = json!(neighbour.mac);
        }
    }
    for route in &routes {
        let Some(J::Object(interface)) = interfaces.get_mut(&route.interface) else { continue };
        let list = interface.entry("routes").or_insert_with(|| json!([]));
        list.as_array_mut().into_iter().for_each(|list| list.push(told(route)));
    }
    let mut told = Map::new();
    let mut mac = None;
    for (v6, prefix) in FAMILIES {
        let of: Vec<&Route> = routes.iter().filter(|route| route.v6 == v6).collect();
        let default = best(of.iter().copied().filter(|route| route.destination.is_none()));
        let attribute = if v6 { "ip6address" } else { "ipaddress" };
        let mut found = None;
        if let Some(default) = default {
            let any = if v6 { "::" } else { "0.0.0.0" };
            let gateway = default.gateway.map_or_else(|| any.to_owned(), |via| via.to_string());
            told.insert(format!("{prefix}_interface"), json!(default.interface));
            told.insert(format!("{prefix}_gateway"), json!(gateway));
            let favoured = of.iter().copied().filter(|route| is_favoured(route, default, links));
            if let Some(route) = best(favoured) {
                found = route.source;
                mac = mac.or_else(|| mac_of(links, &route.interface));
            }
        }
        let found = found.or_else(|| {
            let (ip, interface) = furthest(links, v6, default)?;
            let by_name = links.iter().find(|link| link.name == interface)?;
            mac = mac.take().or_else(|| by_name.mac.as_ref().map(|mac| mac.to_uppercase()));
            Some(ip)
        });
        if let Some(ip) = found {
            out.insert(attribute.into(), json!(ip.to_string()));
        }
    }
    if let Some(mac) = mac {
        out.insert("macaddress".into(), json!(mac));
    }
    told.insert("interfaces".into(), J::Object(interfaces));
    out.insert("network".into(), J::Object(told));
    let counted: Map<String, J> = links
        .iter()
        .filter(|link| !is_alias(link))
        .map(|link| (link.name.clone(), counted(link)))
        .collect();
    out.insert("counters".into(), json!({"network": {"interfaces": counted}}));
}

/// Labels of addresses look like interfaces of their own, of which nothing else is known.
fn is_alias(link: &Interface) -> bool {
    link.name.contains(':')
}

fn interface(link: &Interface) -> J {
    let mut out = Map::new();
    if let Some(mtu) = link.mtu {
        out.insert("mtu".into(), json!(mtu.to_string()));
    }
    if !is_alias(link) {
        if let Some(at) = link.name.find(|c: char| c.is_ascii_digit())
            && at > 0
            && link.name[..at].chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            out.insert("type".into(), json!(link.name[..at]));
            out.insert("number".into(), json!(link.name[at..]));
        }
        let set = FLAGS.iter().filter(|(bit, _)| link.flags & bit != 0);
        let flags: Vec<&str> = set.map(|(_, name)| *name).collect();
        // One word alone may be a part of another; the state counts as a second.
        if flags.len() > 1 || (flags.len() == 1 && link.state == Some("up")) {
            out.insert("flags".into(), json!(flags));
        }
        if let Some(encapsulation) = encapsulation(link) {
            out.insert("encapsulation".into(), json!(encapsulation));
        }
    }
    let mut addresses = Map::new();
    if let Some(mac) = &link.mac {
        addresses.insert(mac.to_uppercase(), json!({"family": "lladdr"}));
    }
    for address in &link.addresses {
        addresses.insert(address.ip.to_string(), addressed(address));
    }
    if !addresses.is_empty() {
        out.insert("addresses".into(), J::Object(addresses));
    }
    if let Some(state) = link.state {
        out.insert("state".into(), json!(state));
    }
    J::Object(out)
}

/// The kind of link; of those without a hardware address nothing is said.
fn encapsulation(link: &Interface) -> Option<&'static str> {
    match link.kind {
        1 => Some("Ethernet"),
        32 => Some("infiniband"),
        772 => Some("Loopback"),
        _ => None,
    }
}

fn addressed(address: &Address) -> J {
    let scope = match reach(address.scope) {
        "host" => "Node".to_owned(),
        other => other[..1].to_uppercase() + &other[1..],
    };
    let prefix = address.prefix.to_string();
    match address.ip {
        IpAddr::V4(_) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(address.prefix)).unwrap_or(0);
            let mut out = json!({
                "family": "inet", "prefixlen": prefix, "netmask": Ipv4Addr::from(mask).to_string(),
            });
            if let Some(peer) = address.peer {
                out["peer"] = json!(peer.to_string());
            }
            if let Some(broadcast) = address.broadcast {
                out["broadcast"] = json!(broadcast.to_string());
            }
            out["scope"] = json!(scope);
            out
        }
        IpAddr::V6(_) => {
            let set = TAGS.iter().filter(|(bit, _)| address.flags & bit != 0);
            let mut tags: Vec<&str> = set.map(|(_, name)| *name).collect();
            if address.flags & PERMANENT == 0 {
                tags.insert(usize::from(tags.first() == Some(&"temporary")), "dynamic");
            }
            json!({"family": "inet6", "prefixlen": prefix, "scope": scope, "tags": tags})
        }
    }
}

fn reach(scope: u8) -> &'static str {
    match scope {
        200 => "site",
        LINK => "link",
        254 => "host",
        255 => "nowhere",
        _ => "global",
    }
}

fn counted(link: &Interface) -> J {
    let Some(all) = &link.counters else { return json!({}) };
    let Counters { received, received_packets, receive_errors, receive_dropped, .. } = all;
    let text = |number: &u64| number.to_string();
    let mut out = json!({
        "rx": {
            "bytes": text(received), "packets": text(received_packets),
            "errors": text(receive_errors), "drop": text(receive_dropped),
            "overrun": text(&all.receive_missed),
        },
        "tx": {
            "bytes": text(&all.sent), "packets": text(&all.sent_packets),
            "errors": text(&all.send_errors), "drop": text(&all.send_dropped),
            "carrier": text(&all.carrier_errors), "collisions": text(&all.collisions),
        },
    });
    if let Some(queue) = link.queue.filter(|queue| *queue > 0) {
        out["tx"]["queuelen"] = json!(queue.to_string());
    }
    out
}

/// Whether a route belongs to an interface that has the address it sends from.
fn leads(route: &Route, links: &[Interface]) -> bool {
    let Some(link) = links.iter().find(|link| link.name == route.interface) else { return false };
    let mut family = link.addresses.iter().filter(|address| address.ip.is_ipv6() == route.v6);
    match route.source {
        None => true,
        Some(source) => {
            family.clone().next().is_none() || family.any(|address| address.ip == source)
        }
    }
}

fn told(route: &Route) -> J {
    let destination = match route.destination {
        None => "default".to_owned(),
        Some((ip, prefix)) if prefix == if ip.is_ipv4() { 32 } else { 128 } => ip.to_string(),
        Some((ip, prefix)) => format!("{ip}/{prefix}"),
    };
    let family = if route.v6 { "inet6" } else { "inet" };
    let mut out = json!({"destination": destination, "family": family});
    if let Some(gateway) = route.gateway {
        out["via"] = json!(gateway.to_string());
    }
    if route.scope != GLOBAL {
        out["scope"] = json!(reach(route.scope));
    }
    if let Some(metric) = route.metric {
        out["metric"] = json!(metric.to_string());
    }
    if route.protocol != BY_HAND {
        let known = PROTOCOLS.iter().find(|(number, _)| *number == route.protocol);
        let name = known.map_or_else(|| route.protocol.to_string(), |(_, name)| (*name).to_owned());
        out["proto"] = json!(name);
    }
    if let Some(source) = route.source {
        out["src"] = json!(source.to_string());
    }
    out
}

/// The first of the routes with the lowest metric, a default one before the others.
fn best<'r>(routes: impl Iterator<Item = &'r Route>) -> Option<&'r Route> {
    routes.min_by_key(|route| {
        let (narrow, prefix) = route.destination.map_or((0, 0), |(_, prefix)| (1, prefix));
        (narrow, route.metric.unwrap_or(0), prefix)
    })
}

/// Whether the machine's address may be that of this route: it is a default one, or one of the
/// network that the gateway is in.
fn is_favoured(route: &Route, default: &Route, links: &[Interface]) -> bool {
    let Some(link) = links.iter().find(|link| link.name == route.interface) else { return false };
    let may = if route.v6 {
        link.state == Some("up")
    } else {
        let Some(source) = route.source else { return false };
        let mut family = link.addresses.iter().filter(|address| address.ip.is_ipv4()).peekable();
        family.peek().is_none()
            || family.any(|address| address.ip == source && address.scope != LINK)
    };
    may && match (route.destination, default.gateway) {
        (None, _) => true,
        (Some((network, prefix)), Some(gateway)) => contains(network, prefix, gateway),
        (Some(_), None) => false,
    }
}

fn contains(network: IpAddr, prefix: u8, ip: IpAddr) -> bool {
    match (network, ip) {
        (IpAddr::V4(network), IpAddr::V4(ip)) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            network.to_bits() & mask == ip.to_bits() & mask
        }
        (IpAddr::V6(network), IpAddr::V6(ip)) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
            network.to_bits() & mask == ip.to_bits() & mask
        }
        _ => false,
    }
}

fn mac_of(links: &[Interface], name: &str) -> Option<String> {
    let link = links.iter().find(|link| link.name == name && link.flags & NOARP == 0)?;
    link.mac.as_ref().map(|mac| mac.to_uppercase())
}

/// The address that reaches furthest in the smallest network, and its interface: of the
/// interface of the default route where it has one, one that sees the gateway first.
fn furthest<'l>(
    links: &'l [Interface],
    v6: bool,
    default: Option<&Route>,
) -> Option<(IpAddr, &'l str)> {
    let rank = |scope: u8| match reach(scope) {
        "global" => 0,
        "site" => 1,
        "link" => 2,
        _ => 3,
    };
    let all = links.iter().flat_map(|link| link.addresses.iter().map(move |one| (one, link)));
    let mut found: Vec<(&Address, &Interface)> =
        all.filter(|(address, _)| address.ip.is_ipv6() == v6).collect();
    found.sort_by_key(|(address, _)| (rank(address.scope), 128 - address.prefix, address.ip));
    let chosen = match default {
        None => found.first(),
        Some(default) => {
            let on = found.iter().filter(|(_, link)| link.name == default.interface);
            let near = |address: &Address| {
                let gateway = default.gateway.filter(|via| !is_link_level(*via))?;
                let peer = address.peer.map(|peer| peer == gateway);
                Some(peer.unwrap_or_else(|| contains(address.ip, address.prefix, gateway)))
            };
            on.clone()
                .find(|(address, _)| near(address) == Some(true))
                .or_else(|| on.clone().next())
        }
    };
    chosen.map(|(address, link)| (address.ip, link.name.as_str()))
}

fn is_link_level(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_unspecified(),
        IpAddr::V6(ip) => ip.is_unspecified() || ip.is_unicast_link_local(),
    }
}
