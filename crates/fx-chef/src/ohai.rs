//! Facts of the machine in ohai's shape: the attributes cookbooks read, by rank of use.

use fx_facts::Facts;
use fx_host::Host;
use serde_json::{Map, Value as J, json};

/// The automatic attributes.
pub fn automatic(host: &dyn Host) -> J {
    let facts = Facts::new(host);
    let mut out = Map::new();
    platform(&facts, &mut out);
    kernel(&facts, &mut out);
    network(&facts, &mut out);
    memory(&facts, &mut out);
    cpu(&facts, &mut out);
    users(host, &facts, &mut out);
    rest(host, &facts, &mut out);
    crate::ohai_devices::add(host, &facts, &mut out);
    J::Object(out)
}

fn family(id: &str, like: &str) -> String {
    match id {
        "debian" | "ubuntu" | "raspbian" | "linuxmint" => "debian",
        "centos" | "redhat" | "rhel" | "oracle" | "rocky" | "almalinux" | "alma" | "scientific" => {
            "rhel"
        }
        "fedora" => "fedora",
        "amazon" | "amzn" => "amazon",
        "opensuse" | "opensuseleap" | "suse" | "sles" => "suse",
        "alpine" => "alpine",
        "arch" => "arch",
        "gentoo" => "gentoo",
        _ => match like {
            "redhat" => "rhel",
            other => other,
        },
    }
    .to_owned()
}

fn platform(facts: &Facts<'_>, out: &mut Map<String, J>) {
    let os = facts.os();
    let id = match os.id.as_str() {
        "rhel" => "redhat",
        "amzn" => "amazon",
        "ol" => "oracle",
        "almalinux" => "alma",
        "sles" => "suse",
        "opensuse-leap" => "opensuseleap",
        other => other,
    };
    // Debian's own file knows the point release, its os-release does not, and that is read.
    let short = os.full_version.is_empty() || (id == "debian" && !os.version.is_empty());
    let full = if short { &os.version } else { &os.full_version };
    out.insert("os".into(), json!("linux"));
    out.insert("platform".into(), json!(id));
    out.insert("platform_version".into(), json!(full));
    out.insert("platform_family".into(), json!(family(id, &os.family)));
    out.insert(
        "lsb".into(),
        json!({"id": os.name.split_whitespace().next().unwrap_or_default(), "release": os.version, "codename": os.codename, "description": os.pretty_name}),
    );
    out.insert(
        "os_release".into(),
        json!({"id": os.id, "name": os.name, "pretty_name": os.pretty_name, "version_id": os.version, "version_codename": os.codename, "id_like": os.like}),
    );
}

fn kernel(facts: &Facts<'_>, out: &mut Map<String, J>) {
    let uname = facts.kernel();
    out.insert("os_version".into(), json!(uname.release));
    out.insert(
        "kernel".into(),
        json!({"name": uname.sysname, "release": uname.release, "version": uname.version, "machine": uname.machine, "processor": uname.machine, "os": "GNU/Linux", "modules": {}}),
    );
}

fn network(facts: &Facts<'_>, out: &mut Map<String, J>) {
    let net = facts.network();
    let short = net.hostname.split('.').next().unwrap_or_default();
    out.insert("hostname".into(), json!(short));
    out.insert("machinename".into(), json!(net.hostname));
    out.insert("fqdn".into(), json!(net.fqdn()));
    if let Some(domain) = &net.domain {
        out.insert("domain".into(), json!(domain));
    }
    let mut interfaces = Map::new();
    for interface in &net.interfaces {
        let mut addresses = Map::new();
        for (address, prefix) in &interface.addresses {
            let family = if address.is_ipv4() { "inet" } else { "inet6" };
            addresses.insert(
                address.to_string(),
                json!({"family": family, "prefixlen": prefix.to_string(), "scope": if address.is_loopback() { "Node" } else { "Global" }}),
            );
        }
        if let Some(mac) = &interface.mac {
            addresses.insert(mac.to_uppercase(), json!({"family": "lladdr"}));
        }
        interfaces.insert(
            interface.name.clone(),
            json!({
                "addresses": addresses, "mtu": interface.mtu.map(|mtu| mtu.to_string()),
                "flags": if interface.up { json!(["UP"]) } else { json!([]) },
                "state": interface.state, "encapsulation": if interface.name == "lo" { "Loopback" } else { "Ethernet" },
            }),
        );
    }
    let first = net.default_interface.clone().or_else(|| {
        net.interfaces
            .iter()
            .find(|i| i.name != "lo" && !i.addresses.is_empty())
            .map(|i| i.name.clone())
    });
    let chosen = first.as_ref().and_then(|name| net.interfaces.iter().find(|i| i.name == *name));
    if let Some(interface) = chosen {
        if let Some((address, _)) = interface.addresses.iter().find(|(a, _)| a.is_ipv4()) {
            out.insert("ipaddress".into(), json!(address.to_string()));
        }
        if let Some((address, _)) = interface.addresses.iter().find(|(a, _)| a.is_ipv6()) {
            out.insert("ip6address".into(), json!(address.to_string()));
        }
        if let Some(mac) = &interface.mac {
            out.insert("macaddress".into(), json!(mac.to_uppercase()));
        }
    }
    out.insert(
        "network".into(),
        json!({"interfaces": interfaces, "default_interface": first, "default_gateway": net.default_gateway.map(|g| g.to_string())}),
    );
    out.insert("counters".into(), json!({"network": {"interfaces": {}}}));
}

fn memory(facts: &Facts<'_>, out: &mut Map<String, J>) {
    let memory = facts.memory();
    let kb = |bytes: u64| format!("{}kB", bytes / 1024);
    out.insert(
        "memory".into(),
        json!({
            "total": kb(memory.total), "free": kb(memory.free), "available": kb(memory.available),
            "buffers": kb(memory.buffers), "cached": kb(memory.cached),
            "swap": {"total": kb(memory.swap_total), "free": kb(memory.swap_free), "cached": "0kB"},
        }),
    );
}

fn cpu(facts: &Facts<'_>, out: &mut Map<String, J>) {
    let cpu = facts.cpu();
    let mut map = Map::new();
    for (number, model) in cpu.models.iter().enumerate() {
        let mut one = json!({"model_name": model, "vendor_id": cpu.vendor, "flags": cpu.flags});
        if let Some(mhz) = cpu.mhz {
            one["mhz"] = json!(format!("{mhz:.3}"));
        }
        map.insert(number.to_string(), one);
    }
    map.insert("total".into(), json!(cpu.models.len()));
    map.insert("real".into(), json!(cpu.sockets));
    map.insert("cores".into(), json!(cpu.cores));
    out.insert("cpu".into(), J::Object(map));
}

fn users(host: &dyn Host, facts: &Facts<'_>, out: &mut Map<String, J>) {
    let mut passwd = Map::new();
    for user in host.users().unwrap_or_default() {
        passwd.insert(
            user.name.clone(),
            json!({"dir": user.home.to_string_lossy(), "gid": user.gid, "uid": user.uid, "shell": user.shell.to_string_lossy(), "gecos": user.comment}),
        );
    }
    let mut groups = Map::new();
    for group in host.groups().unwrap_or_default() {
        groups.insert(group.name.clone(), json!({"gid": group.gid, "members": group.members}));
    }
    out.insert("etc".into(), json!({"passwd": passwd, "group": groups}));
    out.insert("current_user".into(), json!(facts.identity().user));
    out.insert("root_group".into(), json!("root"));
}

fn rest(host: &dyn Host, facts: &Facts<'_>, out: &mut Map<String, J>) {
    let now = host.now();
    out.insert("ohai_time".into(), json!(now.secs as f64));
    out.insert("command".into(), json!({"ps": "ps -ef"}));
    out.insert("init_package".into(), json!(init(host)));
    out.insert("cloud".into(), J::Null);
    out.insert("languages".into(), json!({"ruby": {"version": "3.1.2", "platform": "x86_64-linux", "bin_dir": "/usr/bin", "ruby_bin": "/usr/bin/ruby"}}));
    out.insert(
        "chef_packages".into(),
        json!({"chef": {"version": crate::VERSION, "chef_root": "/opt/chef/embedded/lib"}, "ohai": {"version": "18.2.21", "ohai_root": "/opt/chef/embedded/lib"}}),
    );
    out.insert("time".into(), json!({"timezone": facts.timezone().abbreviation}));
}

fn init(host: &dyn Host) -> String {
    match host.read(std::path::Path::new("/proc/1/comm")) {
        Ok(text) => String::from_utf8_lossy(&text).trim().to_owned(),
        Err(_) => "init".into(),
    }
}
