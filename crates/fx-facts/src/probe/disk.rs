//! Block devices from /sys/block and mounted file systems from the kernel's table.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fx_host::{FsSpace, Look};
use fx_value::Value;

use super::{fields, number};
use crate::text::{read, read_number};

/// A block device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disk {
    /// Kernel's name, such as `sda`.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Model and maker, where it says.
    pub model: Option<String>,
    /// Maker.
    pub vendor: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Whether it turns; `None` where the kernel does not know.
    pub rotational: Option<bool>,
    /// Whether it can be taken out.
    pub removable: bool,
    /// Names and sizes in bytes of its partitions.
    pub partitions: Vec<(String, u64)>,
}

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mount {
    /// What is mounted.
    pub device: String,
    /// Where.
    pub path: PathBuf,
    /// Type of file system.
    pub kind: String,
    /// Options, in order.
    pub options: Vec<String>,
    /// The numbers of the device, where the kernel says: the same for all places of one.
    pub number: Option<String>,
    /// Room, where it could be measured in time.
    pub space: Option<FsSpace>,
}

const SECTOR: u64 = 512;

pub(crate) fn disks(host: &dyn Look) -> Vec<Disk> {
    let root = Path::new("/sys/block");
    let names = host.list(root).unwrap_or_default();
    let names = names.iter().map(|entry| entry.name.to_string_lossy().into_owned());
    let real =
        names.filter(|name| !["loop", "ram", "zram"].iter().any(|prefix| name.starts_with(prefix)));
    real.map(|name| {
        let at = root.join(&name);
        let entries = host.list(&at).unwrap_or_default();
        let partitions = entries
            .iter()
            .map(|entry| entry.name.to_string_lossy().into_owned())
            .filter(|part| part.starts_with(&name));
        let text = |file: &str| {
            read(host, at.join(file))
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty())
        };
        Disk {
            size: read_number(host, at.join("size")).unwrap_or(0) * SECTOR,
            model: text("device/model"),
            vendor: text("device/vendor"),
            serial: text("device/serial").or_else(|| text("serial")),
            rotational: read_number(host, at.join("queue/rotational")).map(|flag| flag == 1),
            removable: read_number(host, at.join("removable")) == Some(1),
            partitions: partitions
                .map(|part| {
                    (
                        part.clone(),
                        read_number(host, at.join(part).join("size")).unwrap_or(0) * SECTOR,
                    )
                })
                .collect(),
            name,
        }
    })
    .collect()
}

/// File systems that live in the kernel and have no room to speak of.
const WITHOUT_ROOM: &[&str] = &[
    "proc",
    "sysfs",
    "devpts",
    "cgroup",
    "cgroup2",
    "securityfs",
    "debugfs",
    "tracefs",
    "pstore",
    "bpf",
    "mqueue",
    "hugetlbfs",
    "configfs",
    "fusectl",
    "autofs",
    "binfmt_misc",
    "rpc_pipefs",
    "nsfs",
    "efivarfs",
    "selinuxfs",
];

pub(crate) fn mounts(host: &dyn Look, patience: Duration, report: &dyn Fn(String)) -> Vec<Mount> {
    let table = read(host, "/proc/self/mounts").unwrap_or_default();
    // All measurements share one limit, so any number of dead file systems costs it once.
    let deadline = host.monotonic() + patience;
    let mut mounts: Vec<Mount> = table.lines().filter_map(parse_mount).collect();
    // The longer table has the same mounts in the same order.
    let numbers = read(host, "/proc/self/mountinfo").unwrap_or_default();
    for (mount, line) in mounts.iter_mut().zip(numbers.lines()) {
        let fields: Vec<&str> = line.split(' ').take(5).collect();
        if let [_, _, number, _, path] = fields[..]
            && plain(path) == mount.path.to_string_lossy()
        {
            mount.number = Some(number.to_owned());
        }
    }
    for mount in &mut mounts {
        if WITHOUT_ROOM.contains(&mount.kind.as_str()) {
            continue;
        }
        let left = deadline.saturating_sub(host.monotonic());
        match host.space(&mount.path, left) {
            Ok(space) => mount.space = Some(space),
            Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                report(format!("'{}' did not answer in time", mount.path.display()));
            }
            // A mount hidden under another cannot be measured and says nothing.
            Err(_) => {}
        }
    }
    mounts
}

fn parse_mount(line: &str) -> Option<Mount> {
    let mut words = line.split(' ');
    let (device, path, kind, options) =
        (words.next()?, words.next()?, words.next()?, words.next()?);
    Some(Mount {
        device: plain(device),
        path: plain(path).into(),
        kind: kind.to_owned(),
        options: options.split(',').map(str::to_owned).collect(),
        number: None,
        space: None,
    })
}

/// A word of the kernel's tables, where white space is written in digits.
fn plain(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
}

impl Disk {
    pub(crate) fn to_value(&self) -> Value {
        let partitions = self.partitions.iter().map(|(name, size)| (name.as_str(), number(*size)));
        fields([
            ("name", Value::from(self.name.as_str())),
            ("size", number(self.size)),
            ("model", self.model.as_deref().into()),
            ("vendor", self.vendor.as_deref().into()),
            ("serial", self.serial.as_deref().into()),
            ("rotational", self.rotational.into()),
            ("removable", Value::Bool(self.removable)),
            ("partitions", partitions.collect()),
        ])
    }
}

impl Mount {
    pub(crate) fn to_value(&self) -> Value {
        let space = |pick: fn(&FsSpace) -> u64| {
            self.space.as_ref().map_or(Value::Undef, |space| number(pick(space)))
        };
        let options = self.options.iter().map(|option| Value::from(option.as_str()));
        fields([
            ("path", Value::from(self.path.to_string_lossy().into_owned())),
            ("device", Value::from(self.device.as_str())),
            ("type", Value::from(self.kind.as_str())),
            ("options", Value::List(options.collect())),
            ("size", space(|space| space.total)),
            ("available", space(|space| space.available)),
            ("inodes", space(|space| space.inodes)),
            ("inodes_free", space(|space| space.inodes_free)),
        ])
    }
}
