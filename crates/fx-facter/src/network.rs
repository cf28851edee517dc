//! The `networking` fact: each interface with its bindings, and the primary one's values.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fx_facts::{Facts, Network};
use fx_host::{Address, Interface, Look};
use fx_value::{Map, Value};

use super::{dhcp, map};

fn mask4(prefix: u8) -> Ipv4Addr {
    Ipv4Addr::from(u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0))
}

fn mask6(prefix: u8) -> Ipv6Addr {
    Ipv6Addr::from(u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0))
}

fn binding(address: IpAddr, prefix: u8) -> Value {
    let (mask, network, scope) = match address {
        IpAddr::V4(address) => {
            (mask4(prefix).to_string(), (address & mask4(prefix)).to_string(), None)
        }
        IpAddr::V6(address) => {
            (mask6(prefix).to_string(), (address & mask6(prefix)).to_string(), Some(scope(address)))
        }
    };
    map([
        ("address", Value::from(address.to_string())),
        ("netmask", Value::from(mask)),
        ("network", Value::from(network)),
        ("scope6", scope.into()),
    ])
}

fn scope(address: Ipv6Addr) -> &'static str {
    if address.is_loopback() {
        "host"
    } else if address.is_unicast_link_local() {
        "link"
    } else if address.segments()[0] & 0xffc0 == 0xfec0 {
        "site"
    } else {
        "global"
    }
}

/// Addresses that do not stand for the interface if it has another.
fn is_special(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_link_local(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.is_unicast_link_local() || address.is_unique_local()
        }
    }
}

/// What the kernel notes of an address of version 6, by its bits.
fn flags(address: &Address) -> Option<Value> {
    const NAMES: [&str; 8] = [
        "temporary",
        "noad",
        "optimistic",
        "dadfailed",
        "homeaddress",
        "deprecated",
        "tentative",
        "permanent",
    ];
    let set = NAMES.iter().enumerate().filter(|(bit, _)| address.flags >> bit & 1 == 1);
    address.ip.is_ipv6().then(|| Value::List(set.map(|(_, name)| Value::from(*name)).collect()))
}

fn interface(host: &dyn Look, interface: &Interface) -> Value {
    let of = |v4: bool| interface.addresses.iter().filter(move |one| one.ip.is_ipv4() == v4);
    let list = |v4: bool| {
        let told = |address: &Address| {
            let mut binding = binding(address.ip, address.prefix);
            if let (Value::Map(map), Some(flags)) = (&mut binding, flags(address)) {
                map.insert("flags".into(), flags);
            }
            binding
        };
        let bindings: Vec<Value> = of(v4).map(told).collect();
        if bindings.is_empty() { Value::Undef } else { Value::List(bindings) }
    };
    let first = |v4: bool| {
        of(v4)
            .find(|address| !is_special(&address.ip))
            .or_else(|| of(v4).next())
            .map(|address| binding(address.ip, address.prefix))
    };
    let pick = |binding: &Option<Value>, key: &str| {
        binding.as_ref().and_then(|binding| binding.dig(&[key])).unwrap_or_default()
    };
    let (four, six) = (first(true), first(false));
    map([
        ("bindings", list(true)),
        ("bindings6", list(false)),
        ("dhcp", dhcp::server(host, &interface.name).into()),
        ("ip", pick(&four, "address")),
        ("ip6", pick(&six, "address")),
        ("mac", interface.mac.as_deref().into()),
        ("mtu", interface.mtu.map_or(Value::Undef, super::int)),
        ("netmask", pick(&four, "netmask")),
        ("netmask6", pick(&six, "netmask")),
        ("network", pick(&four, "network")),
        ("network6", pick(&six, "network")),
        ("scope6", pick(&six, "scope6")),
    ])
}

/// The interface of the default route, else the first with an address of its own.
fn primary(network: &Network) -> Option<&Interface> {
    let by_route = network
        .interfaces
        .iter()
        .find(|interface| Some(&interface.name) == network.default_interface.as_ref());
    by_route.or_else(|| {
        network
            .interfaces
            .iter()
            .find(|interface| interface.addresses.iter().any(|one| !is_special(&one.ip)))
    })
}

pub(super) fn networking(host: &dyn Look, facts: &Facts<'_>) -> Value {
    let network = facts.network();
    let told = |one: &Interface| (one.name.clone(), interface(host, one));
    let mut interfaces: Vec<(String, Value)> = network.interfaces.iter().map(told).collect();
    interfaces.sort_by(|a, b| a.0.cmp(&b.0));
    let mut all: Vec<(&str, Value)> = vec![
        ("domain", network.domain.as_deref().into()),
        ("fqdn", Value::from(network.fqdn())),
        ("hostname", Value::from(network.hostname.as_str())),
        ("interfaces", interfaces.into_iter().collect()),
    ];
    if let Some(primary) = primary(network)
        && let Value::Map(values) = interface(host, primary)
    {
        all.push(("primary", Value::from(primary.name.as_str())));
        let values: Map = values;
        for key in [
            "dhcp", "ip", "ip6", "mac", "mtu", "netmask", "netmask6", "network", "network6",
            "scope6",
        ] {
            all.push((key, values.get(key.as_bytes()).cloned().unwrap_or_default()));
        }
    }
    all.retain(|(_, value)| *value != Value::Undef);
    all.sort_by(|a, b| a.0.cmp(b.0));
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use fx_host::MemoryHost;

    use super::*;

    #[test]
    fn the_primary_interface_gives_the_machine_its_addresses() {
        let host = MemoryHost::linux();
        let interface = |name: &str, addresses: &[(&str, u8, u32)]| Interface {
            name: name.into(),
            flags: 1,
            addresses: addresses
                .iter()
                .map(|(ip, prefix, flags)| Address {
                    flags: *flags,
                    ..Address::new(ip.parse().unwrap(), *prefix)
                })
                .collect(),
            ..Interface::default()
        };
        host.set_interfaces(vec![
            interface("lo", &[("127.0.0.1", 8, 0x80), ("::1", 128, 0x80)]),
            interface(
                "eth0",
                &[
                    ("192.0.2.2", 24, 0x80),
                    ("fe80::1", 64, 0),
                    ("2001:db8::2", 64, 0x82),
                    ("fd00::2", 64, 0x80),
                ],
            ),
        ]);
        let value = networking(&host, &Facts::new(&host));
        let get =
            |path: &[&str]| value.dig(path).map(|value| value.to_string()).unwrap_or_default();
        assert_eq!(
            (get(&["primary"]), get(&["ip"]), get(&["ip6"])),
            ("eth0".into(), "192.0.2.2".into(), "2001:db8::2".into())
        );
        assert_eq!(
            (get(&["netmask"]), get(&["network"]), get(&["netmask6"])),
            ("255.255.255.0".into(), "192.0.2.0".into(), "ffff:ffff:ffff:ffff::".into())
        );
        assert_eq!(get(&["interfaces", "eth0", "bindings6", "0", "scope6"]), "link");
        assert_eq!(get(&["interfaces", "lo", "scope6"]), "host");
        let flags = value.dig(&["interfaces", "eth0", "bindings6", "1", "flags"]);
        assert_eq!(flags, Some(Value::List(vec!["noad".into(), "permanent".into()])));
        let none = value.dig(&["interfaces", "eth0", "bindings6", "0", "flags"]);
        assert_eq!(none, Some(Value::List(Vec::new())));
        assert_eq!(value.dig(&["interfaces", "eth0", "bindings", "0", "flags"]), None);
    }
}
