//! Names of the machine, its interfaces, their addresses, and the way out.

use std::net::Ipv4Addr;

use fx_host::{Interface, Look};
use fx_value::Value;

use super::{fields, number};
use crate::text::read;

/// The network side of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Network {
    /// Name without domain.
    pub hostname: String,
    /// Domain, where one is known.
    pub domain: Option<String>,
    /// In the kernel's order.
    pub interfaces: Vec<Interface>,
    /// The interface the default route uses.
    pub default_interface: Option<String>,
    /// The address the default route goes through.
    pub default_gateway: Option<Ipv4Addr>,
}

pub(crate) fn probe(host: &dyn Look) -> Network {
    let node = host.uname().nodename;
    let (hostname, suffix) = node
        .split_once('.')
        .map_or((node.as_str(), None), |(name, rest)| (name, Some(rest.to_owned())));
    let domain =
        suffix.or_else(|| domain_from_hosts(host, hostname)).or_else(|| domain_from_resolver(host));
    let (default_interface, default_gateway) = default_route(host);
    Network {
        hostname: hostname.to_owned(),
        domain,
        interfaces: host.interfaces().unwrap_or_default(),
        default_interface,
        default_gateway,
    }
}

/// A name with a dot for this host in /etc/hosts, as the resolver would answer it.
fn domain_from_hosts(host: &dyn Look, hostname: &str) -> Option<String> {
    let text = read(host, "/etc/hosts")?;
    text.lines().find_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace().skip(1);
        let words: Vec<&str> = words.by_ref().collect();
        words.contains(&hostname).then_some(())?;
        let (_, domain) = words
            .iter()
            .find_map(|word| word.split_once('.').filter(|(name, _)| *name == hostname))?;
        Some(domain.to_owned())
    })
}

fn domain_from_resolver(host: &dyn Look) -> Option<String> {
    let text = read(host, "/etc/resolv.conf")?;
    let value = |key: &str| {
        text.lines()
            .rev()
            .find_map(|line| line.strip_prefix(key)?.split_whitespace().next().map(str::to_owned))
    };
    value("domain ").or_else(|| value("search ")).filter(|domain| domain != ".")
}

fn default_route(host: &dyn Look) -> (Option<String>, Option<Ipv4Addr>) {
    let table = read(host, "/proc/net/route").unwrap_or_default();
    let routes = table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [name, destination, gateway, _, _, _, metric, mask, ..] = fields[..] else {
            return None;
        };
        (destination == "00000000" && mask == "00000000").then_some((
            metric.parse::<u32>().ok()?,
            name,
            gateway,
        ))
    });
    let Some((_, name, gateway)) = routes.min() else { return (None, None) };
    let gateway =
        u32::from_str_radix(gateway, 16).ok().map(|bits| Ipv4Addr::from(bits.swap_bytes()));
    (Some(name.to_owned()), gateway)
}

impl Network {
    /// The full name, where a domain is known, else the short one.
    pub fn fqdn(&self) -> String {
        match &self.domain {
            Some(domain) => format!("{}.{domain}", self.hostname),
            None => self.hostname.clone(),
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        let interfaces =
            self.interfaces.iter().map(|interface| (interface.name.as_str(), told(interface)));
        fields([
            ("hostname", Value::from(self.hostname.as_str())),
            ("domain", self.domain.as_deref().into()),
            ("fqdn", Value::from(self.fqdn())),
            ("default_interface", self.default_interface.as_deref().into()),
            ("default_gateway", self.default_gateway.map(|address| address.to_string()).into()),
            ("interfaces", interfaces.collect()),
        ])
    }
}

fn told(interface: &Interface) -> Value {
    let addresses = interface
        .addresses
        .iter()
        .map(|address| Value::from(format!("{}/{}", address.ip, address.prefix)));
    fields([
        ("up", Value::Bool(interface.is_up())),
        ("mac", interface.mac.as_deref().into()),
        ("mtu", interface.mtu.map_or(Value::Undef, number)),
        ("state", interface.state.into()),
        ("addresses", Value::List(addresses.collect())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_route_with_the_smallest_metric_leads_out() {
        let host = fx_host::MemoryHost::new();
        host.put("/proc/net/route", b"Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\nwlan0\t00000000\t0101A8C0\t3\t0\t0\t600\t00000000\t0\neth0\t00000000\tFE01000A\t3\t0\t0\t100\t00000000\t0\n");
        assert_eq!(default_route(&host), (Some("eth0".into()), Some(Ipv4Addr::new(10, 0, 1, 254))));
    }

    #[test]
    fn the_domain_comes_from_hosts_before_the_resolver() {
        let host = fx_host::MemoryHost::new();
        host.put("/etc/resolv.conf", b"search example.net other\n");
        assert_eq!(domain_from_resolver(&host).as_deref(), Some("example.net"));
        host.put("/etc/hosts", b"127.0.1.1 web1.example.org web1 # me\n");
        assert_eq!(domain_from_hosts(&host, "web1").as_deref(), Some("example.org"));
        assert_eq!(domain_from_hosts(&host, "db1"), None);
    }
}
