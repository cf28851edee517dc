//! Disks and file systems in ohai's shape: what `df`, `mount` and `lsblk` would say, from the
//! kernel's files and the names that udev gives.

use std::collections::BTreeMap;
use std::path::Path;

use fx_facts::{Facts, Mount};
use fx_host::Look;
use serde_json::{Map, Value as J, json};

use super::{first_line, names};

pub(super) fn add(host: &dyn Look, facts: &Facts<'_>, out: &mut Map<String, J>) {
    let disks = names(host, "/sys/block");
    out.insert("block_device".into(), block_devices(host, &disks));
    out.insert("filesystem".into(), file_systems(host, facts, &disks));
}

fn block_devices(host: &dyn Look, disks: &[String]) -> J {
    const PARTS: [(&str, &[&str]); 3] = [
        ("", &["size", "removable"]),
        ("device/", &["model", "rev", "state", "timeout", "vendor", "queue_depth", "firmware_rev"]),
        ("queue/", &["rotational", "physical_block_size", "logical_block_size"]),
    ];
    let each = disks.iter().map(|disk| {
        let mut one = Map::new();
        for (folder, files) in PARTS {
            // Most disks have no device behind them; its files are not asked for one by one.
            let at = format!("/sys/block/{disk}/{folder}");
            if folder == "device/" && !super::exists(host, &at) {
                continue;
            }
            for file in files {
                if let Some(value) = super::text(host, &format!("{at}{file}")) {
                    one.insert((*file).into(), json!(value.trim()));
                }
            }
        }
        (disk.clone(), J::Object(one))
    });
    J::Object(each.collect())
}

/// One line of the table: a device, where it is mounted, and what is known of it.
struct Row {
    device: String,
    mount: Option<String>,
    known: Map<String, J>,
}

fn file_systems(host: &dyn Look, facts: &Facts<'_>, disks: &[String]) -> J {
    let mut rows: Vec<Row> = Vec::new();
    let measured = measured(facts.mounts());
    for (index, mount) in facts.mounts().iter().enumerate() {
        let mut known = Map::new();
        if measured.contains(&index) {
            room(mount, &mut known);
        }
        known.insert("fs_type".into(), json!(mount.kind));
        known.insert("mount_options".into(), json!(mount.options));
        let path = mount.path.to_string_lossy().into_owned();
        let same = |row: &&mut Row| row.device == mount.device && row.mount.as_ref() == Some(&path);
        match rows.iter_mut().find(same) {
            Some(row) => row.known.extend(known),
            None => rows.push(Row { device: mount.device.clone(), mount: Some(path), known }),
        }
    }
    for (device, known) in devices(host, disks) {
        let mut mounted = rows.iter_mut().filter(|row| row.device == device).peekable();
        if mounted.peek().is_none() {
            rows.push(Row { device, mount: None, known });
        } else {
            mounted.for_each(|row| row.known.extend(known.clone()));
        }
    }
    views(&rows)
}

fn views(rows: &[Row]) -> J {
    let (mut devices, mut points, mut pairs) = (Map::new(), Map::new(), Map::new());
    let join = |view: &mut Map<String, J>, key: &str, row: &Row, list: &str, item: Option<&str>| {
        let entry = view.entry(key).or_insert_with(|| json!({}));
        let J::Object(entry) = entry else { return };
        entry.extend(row.known.clone());
        let J::Array(list) = entry.entry(list).or_insert_with(|| json!([])) else { return };
        list.extend(item.map(|item| json!(item)));
    };
    for row in rows {
        let mount = row.mount.as_deref();
        join(&mut devices, &row.device, row, "mounts", mount);
        if let Some(mount) = mount {
            join(&mut points, mount, row, "devices", Some(&row.device));
        }
        let mut pair = row.known.clone();
        pair.insert("device".into(), json!(row.device));
        if let Some(mount) = mount {
            pair.insert("mount".into(), json!(mount));
        }
        pairs.insert(format!("{},{}", row.device, mount.unwrap_or_default()), J::Object(pair));
    }
    json!({"by_device": devices, "by_mountpoint": points, "by_pair": pairs})
}

/// Which of the mounts `df` would list: those with room, and of several with the same device the
/// one nearest to the root, the last where two are at one place.
fn measured(mounts: &[Mount]) -> Vec<usize> {
    let mut best: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, mount) in mounts.iter().enumerate() {
        if mount.space.as_ref().is_none_or(|space| space.total == 0) {
            continue;
        }
        let length = |index: usize| mounts[index].path.as_os_str().len();
        // Where the kernel names no device, each place is one of its own.
        let key = mount.number.as_deref().or_else(|| mount.path.to_str()).unwrap_or_default();
        let kept = best.entry(key).or_insert(index);
        if length(index) < length(*kept) || mounts[*kept].path == mount.path {
            *kept = index;
        }
    }
    best.into_values().collect()
}

fn room(mount: &Mount, known: &mut Map<String, J>) {
    let Some(space) = &mount.space else { return };
    let percent = |used: u64, of: u64| match (used * 100).checked_div(of) {
        None => "0%".to_owned(),
        Some(_) => format!("{}%", (used * 100).div_ceil(of)),
    };
    let used = space.total.saturating_sub(space.free);
    let put = |known: &mut Map<String, J>, name: &str, value: u64| {
        known.insert(name.into(), json!(value.to_string()));
    };
    put(known, "kb_size", space.total / 1024);
    put(known, "kb_used", used / 1024);
    put(known, "kb_available", space.available / 1024);
    known.insert("percent_used".into(), json!(percent(used, used + space.available)));
    if space.inodes > 0 {
        let used = space.inodes.saturating_sub(space.inodes_free);
        put(known, "total_inodes", space.inodes);
        put(known, "inodes_used", used);
        put(known, "inodes_available", space.inodes_free);
        known.insert("inodes_percent_used".into(), json!(percent(used, space.inodes)));
    }
}

/// Block devices and their parts, with the identity and label that udev found on them.
fn devices(host: &dyn Look, disks: &[String]) -> Vec<(String, Map<String, J>)> {
    let mut found: Vec<(String, Map<String, J>)> = Vec::new();
    for disk in disks {
        // What has no size is not there: a loop without a file, a drive without a disk.
        let size = first_line(host, &format!("/sys/block/{disk}/size"));
        if disk.starts_with("loop") && size.as_deref() == Some("0") {
            continue;
        }
        let parts = names(host, &format!("/sys/block/{disk}"));
        let parts = parts.into_iter().filter(|part| part.starts_with(disk.as_str()));
        for name in std::iter::once(disk.clone()).chain(parts) {
            let mapped = first_line(host, &format!("/sys/block/{name}/dm/name"));
            let device =
                mapped.map_or_else(|| format!("/dev/{name}"), |it| format!("/dev/mapper/{it}"));
            found.push((device, Map::new()));
        }
    }
    for (folder, key) in [("by-uuid", "uuid"), ("by-label", "label")] {
        let folder = format!("/dev/disk/{folder}");
        for name in names(host, &folder) {
            let Ok(target) = host.read_link(Path::new(&format!("{folder}/{name}"))) else {
                continue;
            };
            let Some(target) = target.file_name() else { continue };
            let device = format!("/dev/{}", target.to_string_lossy());
            if let Some((_, known)) = found.iter_mut().find(|(known, _)| *known == device) {
                known.insert(key.into(), json!(name.replace("\\x20", " ")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_mounted_twice_is_measured_once() {
        let host = fx_host::MemoryHost::linux();
        host.put(
            "/proc/self/mounts",
            "/dev/sda1 / ext4 rw 0 0\n/dev/sda1 /srv ext4 rw 0 0\nudev /dev devtmpfs rw 0 0\n",
        );
        host.put(
            "/proc/self/mountinfo",
            "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:1 /srv /srv rw - ext4 /dev/sda1 rw\n3 1 0:5 / /dev rw - devtmpfs udev rw\n",
        );
        let facts = Facts::new(&host);
        let mut out = Map::new();
        add(&host, &facts, &mut out);
        let view = &out["filesystem"]["by_mountpoint"];
        assert!(view["/"]["kb_size"].is_string(), "{view}");
        assert!(view["/srv"]["kb_size"].is_null(), "{view}");
        assert_eq!(out["filesystem"]["by_device"]["/dev/sda1"]["mounts"], json!(["/", "/srv"]));
    }
}
