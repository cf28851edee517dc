//! What is mounted where inside the box: a list of steps worked out before it is made.

use std::path::{Path, PathBuf};

use super::SandboxOptions;

/// File systems whose content is the machine's own state and is copied. Network file
/// systems are left out: looking at a dead one would hang.
const COPIED: &[&str] = &[
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "overlay", "zfs", "jfs", "reiserfs", "vfat",
    "bcachefs",
];

/// A directory that only a box has.
pub(super) const MARK: &str = "/run/fixpoint-copy";

/// One file system under a copy-on-write layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Where it is mounted, outside and inside.
    pub mount: PathBuf,
    /// Directory of its changes, relative to the box's own store.
    pub upper: PathBuf,
}

/// One thing to do while the box is made, with paths relative to the box's store for
/// `root/…`, absolute for the machine's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Makes a directory, if it is not there.
    Dir(PathBuf, u32),
    /// Mounts a copy-on-write layer.
    Overlay { lower: PathBuf, upper: PathBuf, work: PathBuf, at: PathBuf },
    /// Mounts a file system of the kernel.
    Special { kind: &'static str, at: PathBuf, options: &'static str, read_only: bool },
    /// Shows something of the machine for real; missing things are skipped.
    Bind { from: PathBuf, at: PathBuf },
    /// Makes an empty file to bind a device onto.
    File(PathBuf),
    /// Makes a symbolic link.
    Link(PathBuf, PathBuf),
}

/// The layers for the mounts of this machine, parents before children.
pub(super) fn layers(mountinfo: &str, shared: &[PathBuf]) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    for line in mountinfo.lines() {
        let Some((left, right)) = line.split_once(" - ") else { continue };
        let (Some(point), Some(kind)) = (left.split(' ').nth(4), right.split(' ').next()) else {
            continue;
        };
        let mount = PathBuf::from(unescape(point));
        let hidden = shared.iter().any(|dir| mount.starts_with(dir))
            || mount.starts_with("/dev")
            || mount.starts_with("/run");
        // A later mount on the same place hides the earlier one.
        layers.retain(|layer| layer.mount != mount);
        if COPIED.contains(&kind) && !hidden && mount_is_directory(&mount) {
            let number = layers.len();
            layers.push(Layer { mount, upper: format!("upper{number}").into() });
        }
    }
    layers
}

fn mount_is_directory(mount: &Path) -> bool {
    std::fs::metadata(mount).is_ok_and(|meta| meta.is_dir())
}

// The kernel writes blanks and backslashes in octal.
fn unescape(text: &str) -> String {
    let replacements = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    replacements.iter().fold(text.to_owned(), |text, (code, plain)| text.replace(code, plain))
}

/// Everything to be done after the box's store is mounted and before its root is entered.
pub(super) fn build_steps(layers: &[Layer], options: &SandboxOptions) -> Vec<Step> {
    let inside = |path: &str| Path::new("root").join(path.trim_start_matches('/'));
    let mut steps = vec![Step::Dir("root".into(), 0o755)];
    for (number, layer) in layers.iter().enumerate() {
        let work = PathBuf::from(format!("work{number}"));
        steps.push(Step::Dir(layer.upper.clone(), 0o755));
        steps.push(Step::Dir(work.clone(), 0o755));
        let at = inside(&layer.mount.to_string_lossy());
        steps.push(Step::Overlay {
            lower: layer.mount.clone(),
            upper: layer.upper.clone(),
            work,
            at,
        });
    }
    let special = |kind, at: &str, options, read_only| Step::Special {
        kind,
        at: inside(at),
        options,
        read_only,
    };
    steps.push(special("proc", "/proc", "", false));
    steps.push(special("sysfs", "/sys", "", true));
    steps.push(special("tmpfs", "/run", "mode=755", false));
    steps.push(Step::Dir(inside("/run/lock"), 0o1777));
    steps.push(Step::Dir(inside(MARK), 0o700));
    // The resolver's answer file, where /etc/resolv.conf is a link into /run.
    steps.push(Step::Dir(inside("/run/systemd"), 0o755));
    steps.push(Step::Dir(inside("/run/systemd/resolve"), 0o755));
    steps.push(Step::Bind {
        from: "/run/systemd/resolve".into(),
        at: inside("/run/systemd/resolve"),
    });
    steps.push(special("tmpfs", "/dev", "mode=755", false));
    for device in ["null", "zero", "full", "random", "urandom", "tty"] {
        steps.push(Step::File(inside(&format!("/dev/{device}"))));
        steps.push(Step::Bind {
            from: Path::new("/dev").join(device),
            at: inside(&format!("/dev/{device}")),
        });
    }
    for (name, options) in [("pts", "newinstance,ptmxmode=0666,mode=620"), ("shm", "mode=1777")] {
        let kind = if name == "pts" { "devpts" } else { "tmpfs" };
        steps.push(Step::Dir(inside(&format!("/dev/{name}")), 0o755));
        steps.push(Step::Special {
            kind,
            at: inside(&format!("/dev/{name}")),
            options,
            read_only: false,
        });
    }
    for (name, target) in [
        ("ptmx", "pts/ptmx"),
        ("fd", "/proc/self/fd"),
        ("stdin", "fd/0"),
        ("stdout", "fd/1"),
        ("stderr", "fd/2"),
    ] {
        steps.push(Step::Link(target.into(), inside(&format!("/dev/{name}"))));
    }
    let program = std::env::current_exe().unwrap_or_default();
    for original in &options.stand_ins {
        let name = original.file_name().unwrap_or_default();
        let aside = inside(MARK).join(name);
        steps.push(Step::File(aside.clone()));
        steps.push(Step::Bind { from: original.clone(), at: aside });
        let at = inside(&original.to_string_lossy());
        steps.push(Step::Bind { from: program.clone(), at });
        if name == "systemctl" {
            // Programs ask this directory whether there is a manager of services.
            steps.push(Step::Dir(inside("/run/systemd/system"), 0o755));
        }
    }
    for dir in &options.shared {
        let at = inside(&dir.to_string_lossy());
        let mut above: Vec<&Path> = at
            .ancestors()
            .filter(|path| path.starts_with("root") && *path != Path::new("root"))
            .collect();
        above.reverse();
        steps.extend(above.into_iter().map(|path| Step::Dir(path.to_owned(), 0o755)));
        steps.push(Step::Bind { from: dir.clone(), at });
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_file_systems_are_copied_and_kernel_ones_are_not() {
        let info = "22 27 0:21 / /proc rw - proc proc rw\n27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
                    30 27 0:30 / /etc rw - ext4 /dev/vdb rw\n31 27 0:31 / /usr rw - nfs4 server:/x rw\n\
                    33 27 0:32 / /tmp/no\\040such rw - ext4 /dev/vdc rw\n";
        let layers: Vec<String> = layers(info, &[])
            .into_iter()
            .map(|layer| format!("{} {}", layer.mount.display(), layer.upper.display()))
            .collect();
        assert_eq!(layers, ["/ upper0", "/etc upper1"]);
    }

    #[test]
    fn a_shared_directory_is_not_copied() {
        let info =
            "27 1 254:0 / / rw - ext4 /dev/vda rw\n30 27 0:30 / /etc rw - ext4 /dev/vdb rw\n";
        assert_eq!(layers(info, &["/etc".into()]).len(), 1);
    }
}
