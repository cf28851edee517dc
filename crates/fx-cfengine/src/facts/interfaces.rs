//! Network interfaces and addresses as classes and as `sys.*`: those with IPv4 first, then
//! what the others and IPv6 add, which is the order the original finds them in.
//!
//! The kernel's tables of routes and numbers are in `proc_net.rs`.

use std::net::IpAddr;
use std::rc::Rc;

use fx_facts::Network;

use crate::eval::Context;
use crate::eval::value::{DataType, Value};
use crate::text::{Str, canonify};

use super::tags;

/// Names of the kernel's flags of an interface, by bit, in the original's order.
const FLAGS: [(u32, &str); 11] = [
    (0x1, "up"),
    (0x2, "broadcast"),
    (0x4, "debug"),
    (0x8, "loopback"),
    (0x10, "pointopoint"),
    (0x20, "notrailers"),
    (0x40, "running"),
    (0x80, "noarp"),
    (0x100, "promisc"),
    (0x200, "allmulti"),
    (0x1000, "multicast"),
];

impl Context<'_> {
    pub(super) fn discover_interfaces(&mut self, network: &Network) {
        let label = tags("inventory,attribute_name=none,source=agent");
        let (mut addresses, mut macs, mut interfaces, mut flags): (
            Vec<Str>,
            Vec<Str>,
            Vec<Str>,
            Vec<Str>,
        ) = Default::default();
        let mut first = None;
        for interface in &network.interfaces {
            let name = canonify(&interface.name);
            for address in &interface.addresses {
                let IpAddr::V4(address) = address.ip else { continue };
                self.sys("interface", interface.name.as_str());
                self.put_hard(&format!("net_iface_{name}"), &tags("source=agent"));
                if let Some(words) = flag_words(interface.flags) {
                    self.sys(&format!("interface_flags[{}]", interface.name), words.as_str());
                    flags.push(words.into());
                }
                let text = address.to_string();
                self.put_hard(&text, &label);
                self.address_classes(&name, &address.octets(), &label);
                self.sys(&format!("ip2iface[{text}]"), name.as_str());
                addresses.push(text.as_str().into());
                if !address.is_loopback() && first.is_none() {
                    first = Some(text);
                }
                // A name of its own for an address is on the hardware of the interface.
                let on = interface.name.split(':').next().unwrap_or_default();
                let link = network.interfaces.iter().find(|link| link.name == on);
                if let Some(mac) = link.and_then(|link| link.mac.as_ref())
                    && !interfaces.iter().any(|known| **known == *interface.name)
                {
                    interfaces.push(interface.name.as_str().into());
                    if !macs.iter().any(|known| **known == **mac) {
                        macs.push(mac.as_str().into());
                    }
                    self.put_hard(&format!("mac_{mac}"), &label);
                    self.sys(&format!("hardware_mac[{name}]"), mac.as_str());
                }
            }
        }
        // The original asks `ifconfig` for the rest, which sorts by name.
        let mut by_name: Vec<_> = network.interfaces.iter().collect();
        by_name.sort_by(|a, b| a.name.cmp(&b.name));
        for interface in by_name {
            if let Some(mac) = &interface.mac
                && !macs.iter().any(|known| **known == **mac)
            {
                macs.push(mac.as_str().into());
                let name = format!("hardware_mac[{}]", canonify(&interface.name));
                self.sys_tagged(&name, mac.as_str(), "source=agent,derived-from=ifconfig");
            }
            for address in &interface.addresses {
                let IpAddr::V6(address) = address.ip else { continue };
                if address.is_loopback() {
                    continue;
                }
                let text = address.to_string();
                self.put_hard(&text, &label);
                self.put_hard(&format!("ipv6_{text}"), &label);
                addresses.push(text.into());
                if !interfaces.iter().any(|known| **known == *interface.name) {
                    interfaces.push(interface.name.as_str().into());
                }
            }
        }
        if let Some(address) = first {
            self.sys_tagged("ipv4", address, "inventory,source=agent,attribute_name=none");
        }
        if let Some(gateway) = network.default_gateway {
            let label = tags("inventory,networking,/proc,source=agent,attribute_name=none,procfs");
            self.put_hard(&format!("ipv4_gw_{gateway}"), &label);
        }
        self.sys_list("interfaces", interfaces, "inventory,source=agent,attribute_name=Interfaces");
        self.sys_list(
            "hardware_addresses",
            macs,
            "inventory,source=agent,attribute_name=MAC addresses",
        );
        self.sys_list("hardware_flags", flags, "source=agent");
        self.sys_list("ip_addresses", addresses, "source=agent");
    }

    // A list with nothing in it is not defined.
    fn sys_list(&mut self, name: &str, items: Vec<Str>, label: &str) {
        if !items.is_empty() {
            let value = Value::List(items.into());
            self.vars.put("sys", name, DataType::StringList, value, &tags(label));
        }
    }

    fn address_classes(&mut self, interface: &str, octets: &[u8; 4], label: &Rc<[Str]>) {
        let mut joined = String::new();
        for (index, octet) in octets.iter().enumerate() {
            if index > 0 {
                joined.push('.');
            }
            joined.push_str(&octet.to_string());
            self.put_hard(&format!("ipv4_{joined}"), label);
            let name = if index == 3 { "ipv4".to_owned() } else { format!("ipv4_{}", index + 1) };
            self.sys(&format!("{name}[{interface}]"), joined.as_str());
        }
    }
}

fn flag_words(bits: u32) -> Option<String> {
    let set = FLAGS.iter().filter(|(bit, _)| bits & bit != 0);
    let words: Vec<&str> = set.map(|(_, word)| *word).collect();
    (!words.is_empty()).then(|| words.join(" "))
}
