//! Attributes on machines made of files, as ohai 18 prints them.

use fx_host::{Address, Interface, MemoryHost, Neighbour, Route};
use serde_json::{Value as J, json};

use super::{automatic, minimal, spell};

#[test]
fn lengths_of_time_are_spelt_from_their_largest_unit() {
    for (secs, expected) in [
        (5, "05 seconds"),
        (61, "1 minutes 01 seconds"),
        (38_612, "10 hours 43 minutes 32 seconds"),
        (90_061, "1 day 01 hours 01 minutes 01 seconds"),
    ] {
        assert_eq!(spell(secs), expected);
    }
}

/// Files of a machine, and platform, version and family.
type Distribution<'t> = (&'t [(&'t str, &'t str)], [&'t str; 3]);

/// Recorded from the plug-in of ohai 16.13, whose rules for these are those of 18.
#[test]
fn platforms_are_told_by_the_files_of_distributions() {
    let table: &[Distribution<'_>] = &[
        (&[("/etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n")], ["debian", "12", "debian"]),
        (
            &[("/etc/os-release", "ID=debian\n"), ("/etc/debian_version", "trixie/sid\n")],
            ["debian", "trixie/sid", "debian"],
        ),
        (
            &[("/etc/os-release", "ID=\"almalinux\"\nVERSION_ID=\"9.3\"\n")],
            ["almalinux", "9.3", "rhel"],
        ),
        (
            &[
                ("/etc/os-release", "ID=\"centos\"\nVERSION_ID=\"7\"\n"),
                ("/etc/redhat-release", "CentOS Linux release 7.9.2009 (Core)\n"),
            ],
            ["centos", "7.9.2009", "rhel"],
        ),
        (&[("/etc/os-release", "ID=\"ol\"\nVERSION_ID=\"8.8\"\n")], ["oracle", "8.8", "rhel"]),
        (&[("/etc/os-release", "ID=\"amzn\"\nVERSION_ID=\"2\"\n")], ["amazon", "2", "amazon"]),
        (
            &[("/etc/os-release", "ID=\"opensuse-leap\"\nVERSION_ID=\"15.5\"\n")],
            ["opensuseleap", "15.5", "suse"],
        ),
        (
            &[("/etc/os-release", "ID=\"opensuse-tumbleweed\"\nVERSION_ID=\"20240101\"\n")],
            ["opensuse-tumbleweed", "20240101", "suse"],
        ),
        (&[("/etc/os-release", "ID=\"sles\"\nVERSION_ID=\"15.4\"\n")], ["suse", "15.4", "suse"]),
        (&[("/etc/os-release", "ID=pop\nVERSION_ID=\"22.04\"\n")], ["pop", "22.04", "debian"]),
        (&[("/etc/redhat-release", "CentOS release 6.10 (Final)\n")], ["centos", "6.10", "rhel"]),
        (
            &[("/etc/redhat-release", "Red Hat Enterprise Linux Server release 6.5 (Santiago)\n")],
            ["redhat", "6.5", "rhel"],
        ),
        (
            &[(
                "/etc/SuSE-release",
                "SUSE Linux Enterprise Server 11 (x86_64)\nVERSION = 11\nPATCHLEVEL = 3\n",
            )],
            ["suse", "11.3", "suse"],
        ),
    ];
    for (files, expected) in table {
        let host = MemoryHost::new();
        for (path, text) in *files {
            host.put(path, text);
        }
        let all = automatic(&host, &[]);
        let told = ["platform", "platform_version", "platform_family"].map(|key| all[key].clone());
        assert_eq!(told, expected.map(J::from), "{files:?}");
    }
}

fn address(ip: &str, prefix: u8) -> Address {
    Address { flags: 0x80, ..Address::new(ip.parse().unwrap(), prefix) }
}

fn machine(routes: Vec<Route>) -> MemoryHost {
    let host = MemoryHost::linux();
    let link = |name: &str, flags: u32, kind: u16, addresses: Vec<Address>| Interface {
        name: name.into(),
        flags,
        kind,
        mac: (kind == 1).then(|| format!("02:00:00:00:00:0{}", name.len())),
        mtu: Some(1500),
        state: Some("up"),
        addresses,
        ..Interface::default()
    };
    let broadcast = Some("192.0.2.255".parse().unwrap());
    host.set_interfaces(vec![
        link("lo", 0x1_0049, 772, vec![address("127.0.0.1", 8), address("::1", 128)]),
        link("eth0", 0x1_1043, 1, vec![Address { broadcast, ..address("192.0.2.10", 24) }]),
        link("wlan0", 0x1_1043, 1, vec![address("198.51.100.7", 25), address("fe80::7", 64)]),
        Interface {
            name: "eth0:1".into(),
            flags: 0x1_1043,
            kind: 1,
            addresses: vec![address("192.0.2.11", 24)],
            ..Interface::default()
        },
    ]);
    let near = Neighbour {
        address: "192.0.2.1".parse().unwrap(),
        interface: "eth0".into(),
        mac: "02:00:00:00:00:99".into(),
    };
    host.set_routes(routes, vec![near]);
    host
}

fn route(interface: &str, gateway: Option<&str>, metric: Option<u32>) -> Route {
    let gateway = gateway.map(|ip| ip.parse().unwrap());
    Route { interface: interface.into(), gateway, metric, protocol: 16, ..Route::default() }
}

#[test]
fn interfaces_are_told_with_addresses_flags_routes_and_neighbours() {
    let all = automatic(&machine(vec![route("eth0", Some("192.0.2.1"), Some(100))]), &[]);
    let network = &all["network"];
    assert_eq!(network["default_interface"], json!("eth0"));
    assert_eq!(network["default_gateway"], json!("192.0.2.1"));
    assert_eq!(
        network["interfaces"]["eth0"],
        json!({
            "type": "eth", "number": "0", "mtu": "1500", "encapsulation": "Ethernet",
            "flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"], "state": "up",
            "addresses": {
                "02:00:00:00:00:04": {"family": "lladdr"},
                "192.0.2.10": {
                    "family": "inet", "prefixlen": "24", "netmask": "255.255.255.0",
                    "broadcast": "192.0.2.255", "scope": "Global",
                },
            },
            "arp": {"192.0.2.1": "02:00:00:00:00:99"},
            "routes": [{
                "destination": "default", "family": "inet", "via": "192.0.2.1", "metric": "100",
                "proto": "dhcp",
            }],
        })
    );
    let alias = &network["interfaces"]["eth0:1"];
    assert_eq!(
        alias.as_object().map(|alias| alias.keys().cloned().collect()),
        Some(vec!["addresses".to_owned()])
    );
    let lo = &network["interfaces"]["lo"];
    assert_eq!(lo["addresses"]["::1"]["scope"], json!("Node"));
    assert_eq!(lo["flags"], json!(["LOOPBACK", "UP", "LOWER_UP"]));
}

/// The address of the machine: of the route that says from where, else of the default route's
/// interface, else the one in the smallest network.
#[test]
fn the_address_of_the_machine_is_that_of_the_way_out() {
    let net = |source: &str| Route {
        destination: Some(("198.51.100.0".parse().unwrap(), 25)),
        source: Some(source.parse().unwrap()),
        ..route("wlan0", None, None)
    };
    let table = [
        (vec![], "198.51.100.7", "02:00:00:00:00:05"),
        (vec![route("eth0", Some("192.0.2.1"), None)], "192.0.2.10", "02:00:00:00:00:04"),
        (
            vec![
                route("eth0", Some("192.0.2.1"), Some(600)),
                route("wlan0", Some("198.51.100.1"), Some(100)),
                net("198.51.100.7"),
            ],
            "198.51.100.7",
            "02:00:00:00:00:05",
        ),
        // A route from an address that the interface does not have is none.
        (
            vec![route("eth0", Some("192.0.2.1"), None), net("203.0.113.9")],
            "192.0.2.10",
            "02:00:00:00:00:04",
        ),
    ];
    for (routes, ip, mac) in table {
        let all = automatic(&machine(routes.clone()), &[]);
        assert_eq!(
            (&all["ipaddress"], &all["macaddress"]),
            (&json!(ip), &json!(mac)),
            "{routes:?}"
        );
        assert_eq!(all["ip6address"], json!("fe80::7"), "{routes:?}");
    }
}

#[test]
fn accounts_are_told_when_asked_for() {
    let host = MemoryHost::linux();
    let all = automatic(&host, &[]);
    assert_eq!((&all["etc"], &all["current_user"]), (&J::Null, &J::Null));
    let all = automatic(&host, &["Passwd".to_owned()]);
    assert_eq!(all["etc"]["passwd"]["root"]["dir"], json!("/root"));
    assert_eq!(all["current_user"], json!("root"));
}

/// Recorded from the client of 18.11.21 with `--minimal-ohai`.
#[test]
fn little_is_left_of_the_facts_where_the_minimum_is_asked_for() {
    let host = machine(Vec::new());
    let J::Object(least) = minimal(&host) else { panic!("no object") };
    let mut names: Vec<&str> = least.keys().map(String::as_str).collect();
    names.retain(|name| *name != "lsb");
    names.sort_unstable();
    let recorded = [
        "domain",
        "fqdn",
        "hostname",
        "init_package",
        "kernel",
        "machinename",
        "ohai_time",
        "os",
        "os_version",
        "platform",
        "platform_family",
        "platform_version",
    ];
    assert_eq!(names, recorded);
    let all = automatic(&host, &[]);
    for (name, value) in &least {
        assert_eq!(all[name.as_str()], *value, "{name}");
    }
}
