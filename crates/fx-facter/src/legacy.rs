//! The flat names of old that manifests still use, made from the structured facts.

use fx_host::Look;
use fx_value::{Map, Value};

use super::os::has_lsb;

/// Old name and where its value lies now.
const NAMES: &[(&str, &[&str])] = &[
    ("architecture", &["os", "architecture"]),
    ("augeasversion", &["augeas", "version"]),
    ("bios_release_date", &["dmi", "bios", "release_date"]),
    ("bios_vendor", &["dmi", "bios", "vendor"]),
    ("bios_version", &["dmi", "bios", "version"]),
    ("boardassettag", &["dmi", "board", "asset_tag"]),
    ("boardmanufacturer", &["dmi", "board", "manufacturer"]),
    ("boardproductname", &["dmi", "board", "product"]),
    ("boardserialnumber", &["dmi", "board", "serial_number"]),
    ("chassisassettag", &["dmi", "chassis", "asset_tag"]),
    ("chassistype", &["dmi", "chassis", "type"]),
    ("domain", &["networking", "domain"]),
    ("fqdn", &["networking", "fqdn"]),
    ("gid", &["identity", "group"]),
    ("hardwareisa", &["processors", "isa"]),
    ("hardwaremodel", &["os", "hardware"]),
    ("hostname", &["networking", "hostname"]),
    ("id", &["identity", "user"]),
    ("ipaddress", &["networking", "ip"]),
    ("ipaddress6", &["networking", "ip6"]),
    ("macaddress", &["networking", "mac"]),
    ("manufacturer", &["dmi", "manufacturer"]),
    ("memoryfree", &["memory", "system", "available"]),
    ("memorysize", &["memory", "system", "total"]),
    ("netmask", &["networking", "netmask"]),
    ("netmask6", &["networking", "netmask6"]),
    ("network", &["networking", "network"]),
    ("network6", &["networking", "network6"]),
    ("operatingsystem", &["os", "name"]),
    ("operatingsystemmajrelease", &["os", "release", "major"]),
    ("operatingsystemrelease", &["os", "release", "full"]),
    ("osfamily", &["os", "family"]),
    ("physicalprocessorcount", &["processors", "physicalcount"]),
    ("processorcount", &["processors", "count"]),
    ("productname", &["dmi", "product", "name"]),
    ("scope6", &["networking", "scope6"]),
    ("selinux", &["os", "selinux", "enabled"]),
    ("selinux_config_mode", &["os", "selinux", "config_mode"]),
    ("selinux_config_policy", &["os", "selinux", "config_policy"]),
    ("selinux_current_mode", &["os", "selinux", "current_mode"]),
    ("selinux_enforced", &["os", "selinux", "enforced"]),
    ("selinux_policyversion", &["os", "selinux", "policy_version"]),
    ("serialnumber", &["dmi", "product", "serial_number"]),
    ("swapfree", &["memory", "swap", "available"]),
    ("swapsize", &["memory", "swap", "total"]),
    ("uptime", &["system_uptime", "uptime"]),
    ("uptime_days", &["system_uptime", "days"]),
    ("uptime_hours", &["system_uptime", "hours"]),
    ("uptime_seconds", &["system_uptime", "seconds"]),
    ("uuid", &["dmi", "product", "uuid"]),
];

/// Names that only the program `lsb_release` gives a value.
const OF_LSB: &[(&str, &[&str])] = &[
    ("lsbdistcodename", &["os", "distro", "codename"]),
    ("lsbdistdescription", &["os", "distro", "description"]),
    ("lsbdistid", &["os", "distro", "id"]),
];

/// Versions, which most distributions give without that program.
const OF_RELEASE: &[(&str, &[&str])] = &[
    ("lsbdistrelease", &["os", "distro", "release", "full"]),
    ("lsbmajdistrelease", &["os", "distro", "release", "major"]),
    ("lsbminordistrelease", &["os", "distro", "release", "minor"]),
];

/// The old names that have a value, and those made for each interface and processor.
pub fn legacy(host: &dyn Look, facts: &Value) -> Map {
    let mut found = Map::new();
    let lsb = has_lsb(host);
    // Ubuntu and its derivatives keep no version but that of `lsb_release`.
    let told = |path: &[&str]| facts.dig(path).map(|value| value.to_string());
    let own = told(&["os", "family"]).as_deref() != Some("Debian")
        || told(&["os", "distro", "release", "full"])
            != told(&["os", "distro", "release", "major"])
        || told(&["os", "name"]).as_deref() == Some("Debian");
    let tables = [(NAMES, true), (OF_LSB, lsb), (OF_RELEASE, lsb || own)];
    for (table, _) in tables.iter().filter(|(_, there)| *there) {
        for (name, path) in *table {
            let value = facts.dig(path).filter(|value| *value != Value::Undef);
            if let Some(value) = value {
                found.insert((*name).into(), value);
            }
        }
    }
    dhcp_servers(facts, &mut found);
    if let Some(Value::Map(keys)) = facts.dig(&["ssh"]) {
        for (kind, key) in &keys {
            let part = |path: &[&str]| key.dig(path).unwrap_or_default();
            let kind = kind.to_text();
            found.insert(format!("ssh{kind}key").into(), part(&["key"]));
            let prints = [part(&["fingerprints", "sha1"]), part(&["fingerprints", "sha256"])];
            found.insert(
                format!("sshfp_{kind}").into(),
                prints.map(|print| print.to_string()).join("\n").into(),
            );
        }
    }
    if let Some(Value::Map(interfaces)) = facts.dig(&["networking", "interfaces"]) {
        let names: Vec<String> =
            interfaces.keys().map(|name| name.to_text().into_owned()).collect();
        found.insert("interfaces".into(), Value::from(names.join(",")));
        for (name, interface) in &interfaces {
            let parts = [
                ("ip", "ipaddress"),
                ("ip6", "ipaddress6"),
                ("mac", "macaddress"),
                ("mtu", "mtu"),
                ("netmask", "netmask"),
                ("netmask6", "netmask6"),
                ("network", "network"),
                ("network6", "network6"),
                ("scope6", "scope6"),
            ];
            for (key, old) in parts {
                if let Some(value) = interface.dig(&[key]) {
                    let flat: String = name
                        .to_text()
                        .chars()
                        .map(|c| if c.is_alphanumeric() { c } else { '_' })
                        .collect();
                    found.insert(format!("{old}_{flat}").into(), value);
                }
            }
        }
    }
    for (name, place) in [("memoryfree_mb", "available_bytes"), ("memorysize_mb", "total_bytes")] {
        if let Some(Value::Int(bytes)) = facts.dig(&["memory", "system", place]) {
            found.insert(name.into(), Value::Float(bytes as f64 / 1_048_576.0));
        }
    }
    for (name, place) in [("swapfree_mb", "available_bytes"), ("swapsize_mb", "total_bytes")] {
        if let Some(Value::Int(bytes)) = facts.dig(&["memory", "swap", place]) {
            found.insert(name.into(), Value::Float(bytes as f64 / 1_048_576.0));
        }
    }
    if let Some(Value::Map(disks)) = facts.dig(&["disks"]) {
        let names: Vec<String> = disks.keys().map(|name| name.to_text().into_owned()).collect();
        found.insert("blockdevices".into(), Value::from(names.join(",")));
        for (name, disk) in &disks {
            for (key, old) in [("model", "model"), ("size_bytes", "size"), ("vendor", "vendor")] {
                if let Some(value) = disk.dig(&[key]) {
                    found.insert(format!("blockdevice_{}_{old}", name.to_text()).into(), value);
                }
            }
        }
    }
    if let Some(Value::List(models)) = facts.dig(&["processors", "models"]) {
        for (number, model) in models.into_iter().enumerate() {
            found.insert(format!("processor{number}").into(), model);
        }
    }
    found.sort_keys();
    found
}

/// Servers of addresses by interface, that of the machine first.
fn dhcp_servers(facts: &Value, found: &mut Map) {
    let of = |value: &Value| value.dig(&["dhcp"]);
    let Some(networking) = facts.dig(&["networking"]) else { return };
    let mut servers = Map::new();
    servers.insert("system".into(), of(&networking).unwrap_or_default());
    if let Some(Value::Map(interfaces)) = networking.dig(&["interfaces"]) {
        let each = interfaces.iter().filter_map(|(name, one)| Some((name.clone(), of(one)?)));
        servers.extend(each);
    }
    found.insert("dhcp_servers".into(), Value::Map(servers));
}

/// Whether a variable may be a fact of old, or one that has always been flat.
pub fn is_legacy_name(name: &str) -> bool {
    const FLAT: [&str; 8] = [
        "kernel",
        "kernelrelease",
        "kernelversion",
        "kernelmajversion",
        "virtual",
        "is_virtual",
        "path",
        "uptime",
    ];
    let known = NAMES.iter().chain(OF_LSB).chain(OF_RELEASE);
    FLAT.contains(&name) || known.into_iter().any(|(known, _)| *known == name)
}
