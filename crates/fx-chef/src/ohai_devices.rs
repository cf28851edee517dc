//! What ohai tells of disks, file systems, installed packages, memory in detail and the
//! machine around: read from the kernel's and the package manager's own files.

use std::path::Path;

use fx_facts::Facts;
use fx_host::Host;
use serde_json::{Map, Value as J, json};

/// Lines of `/proc/meminfo` that ohai names, with its own names.
const MEMORY: &[(&str, &str)] = &[
    ("Active", "active"),
    ("Inactive", "inactive"),
    ("Dirty", "dirty"),
    ("Writeback", "writeback"),
    ("AnonPages", "anon_pages"),
    ("Mapped", "mapped"),
    ("Slab", "slab"),
    ("SReclaimable", "slab_reclaimable"),
    ("SUnreclaim", "slab_unreclaim"),
    ("PageTables", "page_tables"),
    ("NFS_Unstable", "nfs_unstable"),
    ("Bounce", "bounce"),
    ("CommitLimit", "commit_limit"),
    ("Committed_AS", "committed_as"),
    ("VmallocTotal", "vmalloc_total"),
    ("VmallocUsed", "vmalloc_used"),
    ("VmallocChunk", "vmalloc_chunk"),
    ("Hugepagesize", "hugepage_size"),
    ("Hugetlb", "hugetlb"),
];

fn text(host: &dyn Host, path: &str) -> Option<String> {
    let bytes = host.read_opt(Path::new(path)).ok().flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn first_line(host: &dyn Host, path: &str) -> Option<String> {
    Some(text(host, path)?.lines().next()?.trim().to_owned()).filter(|line| !line.is_empty())
}

pub(crate) fn add(host: &dyn Host, facts: &Facts<'_>, out: &mut Map<String, J>) {
    memory(host, out);
    out.insert("block_device".into(), block_devices(host, facts));
    out.insert("filesystem".into(), filesystems(facts));
    out.insert("packages".into(), packages(host));
    times(host, out);
    if let Some(id) = first_line(host, "/etc/machine-id") {
        out.insert("machine_id".into(), json!(id));
    }
    let fips = first_line(host, "/proc/sys/crypto/fips_enabled").is_some_and(|on| on == "1");
    out.insert("fips".into(), json!({"kernel": {"enabled": fips}}));
    let list = text(host, "/etc/shells").unwrap_or_else(|| "/bin/sh".to_owned());
    let shells: Vec<&str> =
        list.lines().map(str::trim).filter(|line| line.starts_with('/')).collect();
    out.insert("shells".into(), json!(shells));
    virtualization(facts, out);
    if let Some(release) = text(host, "/etc/os-release") {
        let pairs = release.lines().filter_map(|line| line.split_once('='));
        let list: Map<String, J> = pairs
            .map(|(key, value)| (key.to_lowercase(), json!(value.trim_matches(['"', '\'']))))
            .collect();
        out.insert("os_release".into(), J::Object(list));
    }
    let mut dmi = Map::new();
    for (name, value) in facts.dmi() {
        let (group, name) = match *name {
            name if name.starts_with("bios") => ("bios", name.trim_start_matches("bios_")),
            name if name.starts_with("board") => ("base_board", name.trim_start_matches("board_")),
            name if name.starts_with("chassis") => ("chassis", name.trim_start_matches("chassis_")),
            name => ("system", name),
        };
        let name = match name {
            "sys_vendor" | "vendor" | "manufacturer" => "manufacturer",
            "name" => "product_name",
            "asset_tag" => "asset_tag",
            "serial" | "product_serial" => "serial_number",
            "uuid" | "product_uuid" => "uuid",
            other => other,
        };
        dmi.entry(group).or_insert_with(|| json!({}))[name] = json!(value);
    }
    out.insert("dmi".into(), J::Object(dmi));
    keys(host, out);
}

fn virtualization(facts: &Facts<'_>, out: &mut Map<String, J>) {
    let found = facts.virtualization();
    let name = |kind: &str| if kind == "systemd-nspawn" { "nspawn" } else { kind }.to_owned();
    let mut told = json!({"systems": {}});
    for kind in [found.container, found.hypervisor].into_iter().flatten() {
        told["systems"][name(kind)] = json!("guest");
    }
    if let Some(kind) = found.container.or(found.hypervisor) {
        told["system"] = json!(name(kind));
        told["role"] = json!("guest");
    }
    out.insert("virtualization".into(), told);
}

fn memory(host: &dyn Host, out: &mut Map<String, J>) {
    let Some(info) = text(host, "/proc/meminfo") else { return };
    let value = |name: &str| {
        info.lines().find_map(|line| {
            let (key, rest) = line.split_once(':')?;
            (key == name).then(|| rest.split_whitespace().collect::<String>())
        })
    };
    let Some(J::Object(memory)) = out.get_mut("memory") else { return };
    for (name, ours) in MEMORY {
        if let Some(value) = value(name) {
            memory.insert((*ours).into(), json!(value));
        }
    }
    let pages = ["Total", "Free", "Rsvd", "Surp"].map(|part| value(&format!("HugePages_{part}")));
    if let [Some(total), Some(free), Some(reserved), Some(surplus)] = pages {
        memory.insert(
            "hugepages".into(),
            json!({"total": total, "free": free, "reserved": reserved, "surplus": surplus}),
        );
    }
    let mut direct = Map::new();
    for (name, ours) in [("DirectMap4k", "4k"), ("DirectMap2M", "2M"), ("DirectMap1G", "1G")] {
        if let Some(value) = value(name) {
            direct.insert(ours.into(), json!(value));
        }
    }
    if !direct.is_empty() {
        memory.insert("directmap".into(), J::Object(direct));
    }
}

fn block_devices(host: &dyn Host, facts: &Facts<'_>) -> J {
    let mut out = Map::new();
    for disk in facts.disks() {
        let mut one = json!({
            "size": (disk.size / 512).to_string(),
            "removable": if disk.removable { "1" } else { "0" },
        });
        if let Some(turns) = disk.rotational {
            one["rotational"] = json!(if turns { "1" } else { "0" });
        }
        for size in ["physical_block_size", "logical_block_size"] {
            let path = format!("/sys/block/{}/queue/{size}", disk.name);
            if let Some(value) = first_line(host, &path) {
                one[size] = json!(value);
            }
        }
        for (name, value) in [("model", &disk.model), ("vendor", &disk.vendor)] {
            if let Some(value) = value {
                one[name] = json!(value);
            }
        }
        out.insert(disk.name.clone(), one);
    }
    J::Object(out)
}

fn filesystems(facts: &Facts<'_>) -> J {
    let (mut devices, mut points, mut pairs) = (Map::new(), Map::new(), Map::new());
    for mount in facts.mounts() {
        let path = mount.path.to_string_lossy().into_owned();
        let mut one = json!({"fs_type": mount.kind, "mount_options": mount.options});
        if let Some(space) = &mount.space {
            let used = space.total.saturating_sub(space.free);
            let usable = used + space.available;
            let percent = if usable == 0 { 0 } else { (used * 100).div_ceil(usable) };
            one["kb_size"] = json!((space.total / 1024).to_string());
            one["kb_used"] = json!((used / 1024).to_string());
            one["kb_available"] = json!((space.available / 1024).to_string());
            one["percent_used"] = json!(format!("{percent}%"));
        }
        let mut pair = one.clone();
        pair["device"] = json!(mount.device);
        pair["mount"] = json!(path);
        pairs.insert(format!("{},{path}", mount.device), pair);
        let mut point = one.clone();
        point["devices"] = json!([mount.device]);
        points.insert(path.clone(), point);
        let device = devices.entry(mount.device.clone()).or_insert(one);
        match device.get_mut("mounts").and_then(J::as_array_mut) {
            Some(list) => list.push(json!(path)),
            None => device["mounts"] = json!([path]),
        }
    }
    json!({"by_device": devices, "by_mountpoint": points, "by_pair": pairs})
}

/// What dpkg has installed. Databases of other package managers are not read.
fn packages(host: &dyn Host) -> J {
    let mut out = Map::new();
    for part in text(host, "/var/lib/dpkg/status").unwrap_or_default().split("\n\n") {
        let (mut name, mut version, mut arch, mut installed) = ("", "", "", false);
        for line in part.lines() {
            match line.split_once(": ") {
                Some(("Package", value)) => name = value,
                Some(("Version", value)) => version = value,
                Some(("Architecture", value)) => arch = value,
                Some(("Status", value)) => installed = value.ends_with(" installed"),
                _ => {}
            }
        }
        if installed && !name.is_empty() {
            out.insert(name.into(), json!({"version": version, "arch": arch}));
        }
    }
    J::Object(out)
}

/// A length of time in ohai's words.
fn spell(secs: u64) -> String {
    let (days, hours, minutes, rest) = (secs / 86_400, secs / 3600 % 24, secs / 60 % 60, secs % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest:02} seconds"),
        (0, 0, _) => format!("{minutes} minutes {rest:02} seconds"),
        (0, _, _) => format!("{hours} hours {minutes:02} minutes {rest:02} seconds"),
        (1, _, _) => format!("1 day {hours:02} hours {minutes:02} minutes {rest:02} seconds"),
        _ => format!("{days} days {hours:02} hours {minutes:02} minutes {rest:02} seconds"),
    }
}

fn times(host: &dyn Host, out: &mut Map<String, J>) {
    let Some(line) = first_line(host, "/proc/uptime") else { return };
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
    for name in ["uptime", "idletime"] {
        if let Some(secs) = numbers.next() {
            let secs = secs as u64;
            out.insert(format!("{name}_seconds"), json!(secs));
            out.insert(name.into(), json!(spell(secs)));
        }
    }
}

fn keys(host: &dyn Host, out: &mut Map<String, J>) {
    let mut ssh = Map::new();
    for kind in ["dsa", "rsa", "ecdsa", "ed25519"] {
        if let Some(line) = first_line(host, &format!("/etc/ssh/ssh_host_{kind}_key.pub")) {
            let mut words = line.split_whitespace();
            if let (Some(sort), Some(key)) = (words.next(), words.next()) {
                ssh.insert(format!("host_{kind}_public"), json!(key));
                if kind == "ecdsa" {
                    ssh.insert(format!("host_{kind}_type"), json!(sort));
                }
            }
        }
    }
    out.insert("keys".into(), json!({"ssh": ssh}));
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn packages_are_those_that_are_installed() {
        let host = fx_host::MemoryHost::new();
        host.put(
            "/var/lib/dpkg/status",
            "Package: a\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n\nPackage: b\nStatus: deinstall ok config-files\nVersion: 2\n",
        );
        assert_eq!(packages(&host), json!({"a": {"version": "1", "arch": "all"}}));
    }
}
