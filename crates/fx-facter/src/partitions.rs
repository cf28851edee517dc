//! The `partitions` fact: partitions of disks, mapped devices and loop devices in use.
//!
//! What is on them is read from udev's database; `blkid` is asked only where there is none.

use std::path::{Path, PathBuf};

use fx_facts::Facts;
use fx_host::{Look, Spec};
use fx_value::Value;

use super::{int, map, read, text_of, units};

const BLOCK: &str = "/sys/block";
const UDEV: &str = "/run/udev/data";
const SECTOR: u64 = 512;

/// A part, and where the kernel reports it.
struct Part {
    name: String,
    at: PathBuf,
    backing_file: Option<String>,
}

pub(super) fn partitions(host: &dyn Look, facts: &Facts<'_>) -> Value {
    let mut parts: Vec<Part> = Vec::new();
    for entry in host.list(BLOCK.as_ref()).unwrap_or_default() {
        collect(host, &entry.name.to_string_lossy(), &mut parts);
    }
    if parts.is_empty() {
        return Value::Undef;
    }
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    let known = Known::new(host);
    let told = |part: Part| {
        let size = text(host, &part.at.join("size")).and_then(|size| size.parse().ok());
        let size: u64 = size.unwrap_or(0) * SECTOR;
        let mount = facts.mounts().iter().find(|mount| mount.device == part.name);
        let on = |key: &str| Value::from(known.value(host, &part, key));
        let value = map([
            ("backing_file", part.backing_file.clone().into()),
            ("filesystem", on("TYPE")),
            ("label", on("LABEL")),
            ("mount", mount.map(|mount| mount.path.to_string_lossy().into_owned()).into()),
            ("partlabel", on("PARTLABEL")),
            ("partuuid", on("PARTUUID")),
            ("size", text_of(&units::bytes(size))),
            ("size_bytes", int(size)),
            ("uuid", on("UUID")),
        ]);
        (part.name, value)
    };
    parts.into_iter().map(told).collect()
}

/// Adds what a block device consists of.
fn collect(host: &dyn Look, device: &str, parts: &mut Vec<Part>) {
    let at = Path::new(BLOCK).join(device);
    let has = |name: &str| host.exists(&at.join(name)).unwrap_or(false);
    if has("device") {
        for entry in host.list(&at).unwrap_or_default() {
            let name = entry.name.to_string_lossy();
            if name.contains(device) {
                let at = at.join(&*name);
                parts.push(Part { name: format!("/dev/{name}"), at, backing_file: None });
            }
        }
    } else if has("dm") {
        let name = text(host, &at.join("dm/name")).filter(|name| !name.is_empty());
        let name =
            name.map_or_else(|| format!("/dev/{device}"), |name| format!("/dev/mapper/{name}"));
        parts.push(Part { name, at, backing_file: None });
    } else if has("loop") {
        let backing_file =
            text(host, &at.join("loop/backing_file")).filter(|file| !file.is_empty());
        parts.push(Part { name: format!("/dev/{device}"), at, backing_file });
    }
}

fn text(host: &dyn Look, path: &Path) -> Option<String> {
    read(host, path.to_str()?)
}

/// Who knows what is on a part.
enum Known {
    Udev,
    /// The lines of `blkid`.
    Blkid(String),
}

impl Known {
    fn new(host: &dyn Look) -> Known {
        if host.exists(UDEV.as_ref()).unwrap_or(false) {
            return Known::Udev;
        }
        let answer = host.query(&Spec::argv(["blkid"]));
        let lines = answer.map(|ended| String::from_utf8_lossy(&ended.stdout).into_owned());
        Known::Blkid(lines.unwrap_or_default())
    }

    /// A value by the name that `blkid` has for it.
    fn value(&self, host: &dyn Look, part: &Part, key: &str) -> Option<String> {
        match self {
            Known::Udev => {
                let number = text(host, &part.at.join("dev"))?;
                let record = read(host, &format!("{UDEV}/b{number}"))?;
                let name = match key {
                    "TYPE" => "ID_FS_TYPE",
                    "LABEL" => "ID_FS_LABEL",
                    "UUID" => "ID_FS_UUID",
                    "PARTUUID" => "ID_PART_ENTRY_UUID",
                    _ => "ID_PART_ENTRY_NAME",
                };
                let value = record.lines().find_map(|line| {
                    line.strip_prefix("E:")?.strip_prefix(name)?.strip_prefix('=')
                })?;
                Some(value.replace("\\x20", " "))
            }
            Known::Blkid(lines) => {
                let mine = lines
                    .lines()
                    .find_map(|line| line.strip_prefix(part.name.as_str())?.strip_prefix(':'))?;
                let from = mine.find(&format!(" {key}=\""))? + key.len() + 3;
                mine[from..].split('"').next().map(str::to_owned)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fx_host::{MemoryHost, Reply};

    use super::*;

    fn disk() -> MemoryHost {
        let host = MemoryHost::linux();
        host.put_dir("/sys/block/sda/device", 0o755);
        host.put("/sys/block/sda/sda1/size", "2048\n");
        host.put("/sys/block/sda/sda1/dev", "8:1\n");
        host.put("/sys/block/dm-0/dm/name", "vg-root\n");
        host.put("/sys/block/dm-0/size", "4096\n");
        host.put("/sys/block/loop0/loop/backing_file", "/srv/image\n");
        host.put("/sys/block/loop0/size", "8\n");
        host.put_dir("/sys/block/loop1", 0o755);
        host.put("/proc/self/mounts", "/dev/sda1 /boot ext4 rw 0 0\n");
        host
    }

    fn told(host: &MemoryHost) -> serde_json::Value {
        partitions(host, &Facts::new(host)).to_json()
    }

    #[test]
    fn parts_are_those_of_disks_mapped_devices_and_loops_in_use() {
        let host = disk();
        host.put(
            "/run/udev/data/b8:1",
            "E:ID_FS_TYPE=ext4\nE:ID_FS_UUID=ab-cd\nE:ID_PART_ENTRY_NAME=boot\\x20disk\n",
        );
        assert_eq!(
            told(&host),
            serde_json::json!({
                "/dev/loop0": {"backing_file": "/srv/image", "size": "4.00 KiB", "size_bytes": 4096},
                "/dev/mapper/vg-root": {"size": "2.00 MiB", "size_bytes": 2_097_152},
                "/dev/sda1": {
                    "filesystem": "ext4", "mount": "/boot", "partlabel": "boot disk",
                    "size": "1.00 MiB", "size_bytes": 1_048_576, "uuid": "ab-cd",
                },
            })
        );
        assert!(host.calls().is_empty());
    }

    #[test]
    fn without_udev_blkid_is_asked() {
        let host = disk();
        host.on(
            ["blkid"],
            Reply::prints("/dev/sda1: LABEL=\"b\" UUID=\"ab\" TYPE=\"ext4\" PARTUUID=\"c-01\"\n"),
        );
        let told = told(&host);
        assert_eq!(
            told["/dev/sda1"],
            serde_json::json!({
                "filesystem": "ext4", "label": "b", "mount": "/boot", "partuuid": "c-01",
                "size": "1.00 MiB", "size_bytes": 1_048_576, "uuid": "ab",
            })
        );
    }
}
