//! How many processes and how much memory a box may take, where the machine has a control
//! group that we may write. Without one there is no limit: root has no other.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::table::{self, Mount};

/// Start of the names of our groups.
const PREFIX: &str = "fixpoint-copy-";

/// Groups of one box; they are removed with it.
#[derive(Default)]
pub(super) struct Limits {
    groups: Vec<PathBuf>,
    doors: Vec<OwnedFd>,
}

/// What is set, and by which files in the two versions of the interface.
const FILES: [(&str, &str, &str); 2] =
    [("pids", "pids.max", "pids.max"), ("memory", "memory.max", "memory.limit_in_bytes")];

impl Limits {
    /// Makes the groups as far as they can be had.
    pub(super) fn new(mountinfo: &[u8], processes: Option<u64>, memory: Option<u64>) -> Limits {
        let mounts = table::parse(mountinfo);
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let values = [processes.unwrap_or_else(most_processes), memory.unwrap_or_else(most_memory)];
        let mut limits = Limits::default();
        for mount in table::visible(&mounts) {
            let wanted: Vec<(usize, &str)> = FILES
                .iter()
                .enumerate()
                .filter(|(_, (controller, ..))| has(mount, controller))
                .map(|(index, (_, two, one))| {
                    (index, if mount.kind == "cgroup2" { two } else { one })
                })
                .map(|(index, file)| (index, *file))
                .collect();
            let Some(parent) = place(mount, &own).filter(|_| !wanted.is_empty()) else { continue };
            remove_stale(&parent);
            // A group that cannot be made or set is one limit less, and nothing else.
            if let Ok((group, door)) = make(&parent, &wanted, &values) {
                limits.groups.push(group);
                limits.doors.push(door);
            }
        }
        limits
    }

    /// Puts a process under the limits.
    pub(super) fn add(&self, pid: i32) -> io::Result<()> {
        for door in &self.doors {
            rustix::io::write(door, pid.to_string().as_bytes())?;
        }
        Ok(())
    }

    /// Descriptors through which a process puts itself under the limits, by writing a zero.
    pub(super) fn doors(&self) -> Vec<i32> {
        self.doors.iter().map(AsRawFd::as_raw_fd).collect()
    }

    /// Whether there is any.
    pub(super) fn any(&self) -> bool {
        !self.groups.is_empty()
    }
}

impl Drop for Limits {
    fn drop(&mut self) {
        for group in &self.groups {
            // The last process may still be on its way out of it. What does not go in a
            // while is empty soon and goes with a later box.
            for _ in 0..20 {
                match fs::remove_dir(group) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    _ => break,
                }
            }
        }
    }
}

fn has(mount: &Mount, controller: &str) -> bool {
    match &*mount.kind {
        "cgroup2" => true,
        "cgroup" => mount.details.split(',').any(|word| word == controller),
        _ => false,
    }
}

/// The group that ours is made in: in the first version our own; in the second the nearest
/// above us that hands its controllers down, since one with processes does not.
fn place(mount: &Mount, own: &str) -> Option<PathBuf> {
    let second = mount.kind == "cgroup2";
    let path = own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, names, path) = (parts.next()?, parts.next()?, parts.next()?);
        let here = if second {
            names.is_empty()
        } else {
            names.split(',').any(|name| mount.details.split(',').any(|word| word == name))
        };
        here.then(|| path.trim_start_matches('/').to_owned())
    })?;
    let full = mount.point.join(path);
    // In a container the path may be one of the machine.
    let start = if full.is_dir() { full } else { mount.point.clone() };
    if !second {
        return Some(start);
    }
    let hands_down = |dir: &Path| {
        let text = fs::read_to_string(dir.join("cgroup.subtree_control")).unwrap_or_default();
        text.split_whitespace().any(|word| word == "pids")
    };
    start
        .ancestors()
        .take_while(|dir| dir.starts_with(&mount.point))
        .find(|dir| hands_down(dir))
        .map(Path::to_owned)
}

fn make(
    parent: &Path,
    wanted: &[(usize, &str)],
    values: &[u64; 2],
) -> io::Result<(PathBuf, OwnedFd)> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let group = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
    fs::create_dir(&group)?;
    let set = || {
        let mut any = false;
        for (index, file) in wanted {
            any |= fs::write(group.join(file), values[*index].to_string()).is_ok();
        }
        let door = fs::OpenOptions::new().write(true).open(group.join("cgroup.procs"))?;
        if any { Ok(door.into()) } else { Err(io::ErrorKind::Unsupported.into()) }
    };
    match set() {
        Ok(door) => Ok((group, door)),
        Err(error) => {
            fs::remove_dir(&group)?;
            Err(error)
        }
    }
}

/// Groups of runs that were killed. One that still holds a process cannot be removed; a new one
/// may hold none yet, and its maker be in a process namespace that is not ours.
fn remove_stale(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        let gone = owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists());
        if gone && age().is_some_and(|age| age > Duration::from_mins(1)) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// A quarter of what the kernel can number, within reason.
fn most_processes() -> u64 {
    let text = fs::read_to_string("/proc/sys/kernel/pid_max").unwrap_or_default();
    (text.trim().parse().unwrap_or(32768_u64) / 4).clamp(1024, 16384)
}

/// Four fifths of the machine's.
fn most_memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
    });
    // Without a figure nothing is held back.
    total.map_or(i64::MAX as u64, |kilobytes| kilobytes * 1024 / 5 * 4)
}
