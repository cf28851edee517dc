//! The flat names of old that manifests still use, made from the structured facts.

use fx_value::{Map, Value};

/// Old name and where its value lies now.
const NAMES: &[(&str, &[&str])] = &[
    ("architecture", &["os", "architecture"]),
    ("domain", &["networking", "domain"]),
    ("fqdn", &["networking", "fqdn"]),
    ("gid", &["identity", "group"]),
    ("hardwareisa", &["processors", "isa"]),
    ("hardwaremodel", &["os", "hardware"]),
    ("hostname", &["networking", "hostname"]),
    ("id", &["identity", "user"]),
    ("ipaddress", &["networking", "ip"]),
    ("ipaddress6", &["networking", "ip6"]),
    ("lsbdistcodename", &["os", "distro", "codename"]),
    ("lsbdistdescription", &["os", "distro", "description"]),
    ("lsbdistid", &["os", "distro", "id"]),
    ("lsbdistrelease", &["os", "distro", "release", "full"]),
    ("lsbmajdistrelease", &["os", "distro", "release", "major"]),
    ("lsbminordistrelease", &["os", "distro", "release", "minor"]),
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
    ("serialnumber", &["dmi", "product", "serial_number"]),
    ("swapfree", &["memory", "swap", "available"]),
    ("swapsize", &["memory", "swap", "total"]),
    ("uptime", &["system_uptime", "uptime"]),
    ("uptime_days", &["system_uptime", "days"]),
    ("uptime_hours", &["system_uptime", "hours"]),
    ("uptime_seconds", &["system_uptime", "seconds"]),
    ("uuid", &["dmi", "product", "uuid"]),
];

/// The old names that have a value, and those made for each interface and processor.
pub fn legacy(facts: &Value) -> Map {
    let mut found = Map::new();
    for (name, path) in NAMES {
        if let Some(value) = facts.dig(path) {
            found.insert((*name).into(), value);
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

/// Whether a variable may be a fact of old, or one that has always been flat.
pub(crate) fn is_legacy_name(name: &str) -> bool {
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
    FLAT.contains(&name) || NAMES.iter().any(|(known, _)| *known == name)
}
