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
    /// What /etc/hosts calls the machine, where that is another name than its own.
    pub canonical: Option<String>,
    /// In the kernel's order.
    pub interfaces: Vec<Interface>,
    /// The interface the default route uses.
    pub default_interface: Option<String>,
    /// The address the default route goes through.
    pub default_gateway: Option<Ipv4Addr>,
}

/// What the machine is called.
struct Names {
    hostname: String,
    domain: Option<String>,
    canonical: Option<String>,
}

fn names(host: &dyn Look) -> Names {
    let node = host.uname().nodename;
    let (hostname, suffix) = node
        .split_once('.')
        .map_or((node.as_str(), None), |(name, rest)| (name, Some(rest.to_owned())));
    let canonical = if suffix.is_none() { canonical_name(host, hostname) } else { None };
    let of_hosts = || canonical.as_deref()?.strip_prefix(hostname)?.strip_prefix('.');
    let domain =
        suffix.or_else(|| of_hosts().map(str::to_owned)).or_else(|| domain_from_resolver(host));
    Names { hostname: hostname.to_owned(), domain, canonical }
}

/// Host name and domain without a look at interfaces: what certificates are named by.
pub fn node_name(host: &dyn Look) -> String {
    let Names { hostname, domain, .. } = names(host);
    match domain {
        Some(domain) => format!("{hostname}.{domain}"),
        None => hostname,
    }
}

pub(crate) fn probe(host: &dyn Look) -> Network {
    let Names { hostname, domain, canonical } = names(host);
    let (default_interface, default_gateway) = default_route(host);
    Network {
        hostname,
        domain,
        canonical,
        interfaces: host.interfaces().unwrap_or_default(),
        default_interface,
        default_gateway,
    }
}

/// The first name of the first line in /etc/hosts that has this one, which is what the resolver answers.
fn canonical_name(host: &dyn Look, hostname: &str) -> Option<String> {
    let text = read(host, "/etc/hosts")?;
    let canonical = text.lines().find_map(|line| {
        let mut names = line.split('#').next()?.split_whitespace().skip(1).peekable();
        let first = *names.peek()?;
        names.any(|name| name.eq_ignore_ascii_case(hostname)).then_some(first)
    })?;
    (canonical != hostname).then(|| canonical.to_owned())
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
    /// The full name, where one is known, else the short one.
    pub fn fqdn(&self) -> String {
        match (&self.canonical, &self.domain) {
            (Some(canonical), _) => canonical.clone(),
            (None, Some(domain)) => format!("{}.{domain}", self.hostname),
            (None, None) => self.hostname.clone(),
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
    use fx_host::Env as _;

    use super::*;

    #[test]
    fn the_route_with_the_smallest_metric_leads_out() {
        let host = fx_host::MemoryHost::new();
        host.put("/proc/net/route", b"Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\nwlan0\t00000000\t0101A8C0\t3\t0\t0\t600\t00000000\t0\neth0\t00000000\tFE01000A\t3\t0\t0\t100\t00000000\t0\n");
        assert_eq!(default_route(&host), (Some("eth0".into()), Some(Ipv4Addr::new(10, 0, 1, 254))));
    }

    /// Recorded from facter 4.3 on a machine called node1.
    #[test]
    fn the_full_name_is_the_first_of_the_line_that_names_the_machine() {
        let check = |hosts: &str, resolver: &str, fqdn: &str, domain: Option<&str>| {
            let host = fx_host::MemoryHost::new();
            host.set_uname(fx_host::Uname { nodename: "node1".into(), ..host.uname() });
            host.put("/etc/hosts", hosts.as_bytes());
            host.put("/etc/resolv.conf", resolver.as_bytes());
            let network = probe(&host);
            let given = (network.hostname.as_str(), network.fqdn(), network.domain.as_deref());
            assert_eq!(given, ("node1", fqdn.to_owned(), domain), "{hosts}");
            // What `puppet config print certname` gives, which is not always the full name.
            let certname = domain.map_or_else(|| "node1".into(), |of| format!("node1.{of}"));
            assert_eq!(node_name(&host), certname, "{hosts}");
        };
        let search = "search s1.net s2.net\n";
        check("127.0.0.1 node1.a.com node1 # me\n", search, "node1.a.com", Some("a.com"));
        check(
            "127.0.0.1 localhost\n127.0.0.1 node1.a.com node1\n",
            "",
            "node1.a.com",
            Some("a.com"),
        );
        check(
            "::1 node1.six.com node1\n10.1.1.1 node1.a.com node1\n",
            "",
            "node1.six.com",
            Some("six.com"),
        );
        check("127.0.1.1 node1 node1.a.com\n", "", "node1", None);
        check("127.0.1.1 node1\n127.0.0.1 node1.a.com node1\n", "", "node1", None);
        check("127.0.1.1 node1 node1.a.com\n", search, "node1.s1.net", Some("s1.net"));
        check(
            "10.0.0.1 node1.a.com\n",
            "domain res.net\nsearch s1.net\n",
            "node1.res.net",
            Some("res.net"),
        );
        check("10.0.0.1 other.a.com node1\n", "", "other.a.com", None);
        check("10.0.0.1 other.a.com node1.b.com node1\n", search, "other.a.com", Some("s1.net"));
        check("", "", "node1", None);
    }
}
