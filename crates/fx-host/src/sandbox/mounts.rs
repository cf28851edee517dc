//! What is mounted where inside the box: a list of steps worked out before it is made.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::SandboxOptions;
use super::table::{self, Mount, lies_in};

/// File systems whose content is the machine's own state and is copied. Network file
/// systems are left out: looking at a dead one would hang.
const COPIED: &[&str] = &[
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "overlay", "zfs", "jfs", "reiserfs", "vfat",
    "bcachefs", "tmpfs", "ramfs", "rootfs", "squashfs", "erofs", "iso9660", "udf", "exfat",
    "msdos", "ntfs3", "nilfs2", "hfsplus", "minix",
];

/// Flags of what is there to be looked at.
const LOOK: libc::c_ulong = libc::MS_RDONLY | libc::MS_NODEV;

/// Trees that a box has of its own.
const OWN: &[&str] = &["/proc", "/sys", "/dev", "/run"];

/// Longest content of a file that is mounted by itself.
const MAX_FILE: u64 = 16 << 20;

/// A directory that only a box has.
pub(super) const MARK: &str = "/run/fixpoint-copy";

/// Lists, inside, what is not in the copy.
pub(super) const LEFT_OUT: &str = "/run/fixpoint-copy/left-out";

/// One file system under a copy-on-write layer, or one file that is mounted by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Where it is mounted, outside and inside.
    pub mount: PathBuf,
    /// Its changes, relative to the box's own store.
    pub upper: PathBuf,
    pub(super) is_file: bool,
    kept: Kept,
}

/// What the layer has of the mount it covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Kept {
    mode: u32,
    uid: u32,
    gid: u32,
    flags: libc::c_ulong,
    content: Vec<u8>,
}

/// A tree of the machine that is not in the copy as it is outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its topmost directory.
    pub path: PathBuf,
    /// Why not, such as `nfs4`.
    pub reason: String,
    /// Whether every copy has its own instead, as of `/run`.
    pub own: bool,
}

/// One thing to do while the box is made, with paths relative to the box's store for
/// `root/…`, absolute for the machine's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Makes a directory, if it is not there.
    Dir(PathBuf, u32),
    /// Gives a directory that was made its owner and mode.
    Owner { at: PathBuf, uid: u32, gid: u32, mode: u32 },
    /// Mounts a copy-on-write layer. Where that cannot be, what is below it is shown and
    /// cannot be changed.
    Overlay { lower: PathBuf, upper: PathBuf, work: PathBuf, at: PathBuf, flags: libc::c_ulong },
    /// Mounts a file system of the kernel.
    Special { kind: &'static str, at: PathBuf, options: &'static str, flags: libc::c_ulong },
    /// Shows something of the machine for real, under these flags; missing things are skipped.
    Bind { from: PathBuf, at: PathBuf, flags: libc::c_ulong },
    /// Makes an empty file to bind a device onto.
    File(PathBuf),
    /// Makes a file with content.
    Content { at: PathBuf, bytes: Vec<u8>, mode: u32, uid: u32, gid: u32 },
    /// Makes a symbolic link.
    Link(PathBuf, PathBuf),
}

/// In the words of an error: where it is to be inside.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inside = |at: &Path| {
            Path::new("/").join(at.strip_prefix("root").unwrap_or(at)).display().to_string()
        };
        match self {
            Step::Dir(at, _) | Step::Owner { at, .. } => {
                write!(f, "make the directory '{}'", inside(at))
            }
            Step::Overlay { at, .. } => write!(f, "mount a layer on '{}'", inside(at)),
            Step::Special { kind, at, .. } => write!(f, "mount {kind} on '{}'", inside(at)),
            Step::Bind { from, at, .. } => {
                write!(f, "show '{}' as '{}'", from.display(), inside(at))
            }
            Step::File(at) | Step::Content { at, .. } => write!(f, "make '{}'", inside(at)),
            Step::Link(_, at) => write!(f, "make the link '{}'", inside(at)),
        }
    }
}

/// The layers for the mounts of this machine, parents before children, and what has none.
pub(super) fn layers(mountinfo: &[u8], shared: &[PathBuf]) -> (Vec<Layer>, Vec<LeftOut>) {
    let mut layers: Vec<Layer> = Vec::new();
    let mut left_out: Vec<LeftOut> = OWN
        .iter()
        .map(|path| LeftOut {
            path: path.into(),
            reason: "a copy has its own".to_owned(),
            own: true,
        })
        .collect();
    let own: Vec<&Path> = OWN.iter().map(Path::new).collect();
    let shared: Vec<&Path> = shared.iter().map(PathBuf::as_path).collect();
    let mounts = table::parse(mountinfo);
    let seen = table::visible(&mounts);
    if seen.first().is_none_or(|mount| mount.point != Path::new("/")) {
        // The root of a chroot need not be a mount.
        layers.extend(layer("/".into(), 0, 0));
    }
    for mount in seen {
        let path = &mount.point;
        if lies_in(path, &own) || lies_in(path, &shared) {
            continue;
        }
        let copied = COPIED.contains(&&*mount.kind) || path == Path::new("/");
        match copied.then(|| layer(path.clone(), flags(mount), layers.len())).flatten() {
            Some(layer) => layers.push(layer),
            None => left_out.push(LeftOut {
                path: path.clone(),
                reason: mount.kind.clone(),
                own: false,
            }),
        }
    }
    (layers, left_out)
}

fn flags(mount: &Mount) -> libc::c_ulong {
    [("ro", libc::MS_RDONLY), ("nosuid", libc::MS_NOSUID), ("noexec", libc::MS_NOEXEC)]
        .into_iter()
        .filter(|(option, _)| mount.has(option))
        .fold(0, |flags, (_, flag)| flags | flag)
}

/// A layer over a directory, or the copy of a file; nothing for what is neither.
fn layer(mount: PathBuf, flags: libc::c_ulong, number: usize) -> Option<Layer> {
    let meta = std::fs::symlink_metadata(&mount).ok()?;
    let mut kept = Kept {
        mode: meta.mode() & 0o7777,
        uid: meta.uid(),
        gid: meta.gid(),
        flags,
        content: Vec::new(),
    };
    let is_file = meta.is_file();
    if is_file {
        kept.content = super::reading::regular(&mount, MAX_FILE).ok()?;
    } else if !meta.is_dir() || meta.file_type().is_symlink() || meta.file_type().is_socket() {
        return None;
    }
    let upper = format!("upper{number}").into();
    Some(Layer { mount, upper, is_file, kept })
}

fn inside(path: &Path) -> PathBuf {
    Path::new("root").join(path.strip_prefix("/").unwrap_or(path))
}

/// Everything to be done after the box's store is mounted and before its root is entered.
pub(super) fn build_steps(layers: &[Layer], options: &SandboxOptions) -> Vec<Step> {
    let mut steps = vec![Step::Dir("root".into(), 0o755)];
    for (number, layer) in layers.iter().enumerate() {
        steps.extend(layer_steps(layer, number, options.trusted));
    }
    steps.extend(kernel_steps(options.trusted));
    for path in RESOLVERS.iter().map(Path::new) {
        if let Ok(bytes) = super::reading::regular(path, 64 << 10) {
            steps.extend(directories_above(path));
            let at = inside(path);
            steps.push(Step::Content { at, bytes, mode: 0o644, uid: 0, gid: 0 });
        }
    }
    let program = std::env::current_exe().unwrap_or_default();
    for original in &options.stand_ins {
        let name = original.file_name().unwrap_or_default();
        let aside = inside(Path::new(MARK)).join(name);
        steps.push(Step::File(aside.clone()));
        steps.push(Step::Bind { from: original.clone(), at: aside, flags: LOOK });
        steps.push(Step::Bind { from: program.clone(), at: inside(original), flags: LOOK });
        if name == "systemctl" {
            // Programs ask this directory whether there is a manager of services.
            steps.extend(directories_above(Path::new("/run/systemd/system/x")));
        }
    }
    for dir in &options.shared {
        steps.extend(directories_above(&dir.join("x")));
        steps.push(Step::Bind { from: dir.clone(), at: inside(dir), flags: libc::MS_NODEV });
    }
    steps
}

/// Files of resolvers that `/etc/resolv.conf` is a link to.
const RESOLVERS: &[&str] = &[
    "/run/systemd/resolve/stub-resolv.conf",
    "/run/systemd/resolve/resolv.conf",
    "/run/resolvconf/resolv.conf",
    "/run/NetworkManager/resolv.conf",
    "/run/NetworkManager/no-stub-resolv.conf",
];

fn layer_steps(layer: &Layer, number: usize, trusted: bool) -> Vec<Step> {
    let Kept { mode, uid, gid, flags, content } = layer.kept.clone();
    let (upper, at) = (layer.upper.clone(), inside(&layer.mount));
    if layer.is_file {
        let copy = Step::Content { at: upper.clone(), bytes: content, mode, uid, gid };
        return vec![copy, Step::Bind { from: upper, at, flags: flags | libc::MS_NODEV }];
    }
    let [lower, work] = ["lower", "work"].map(|name| PathBuf::from(format!("{name}{number}")));
    let mut steps: Vec<Step> =
        [&lower, &upper, &work].map(|dir| Step::Dir(dir.clone(), 0o755)).into();
    // What is merged has the attributes of its upper side.
    steps.push(Step::Owner { at: upper.clone(), uid, gid, mode });
    let flags = if trusted { flags } else { flags | libc::MS_NODEV };
    // Under a plain name, since the overlay's options give some characters a meaning.
    steps.push(Step::Bind { from: layer.mount.clone(), at: lower.clone(), flags: LOOK });
    steps.push(Step::Overlay { lower, upper, work, at, flags });
    steps
}

/// What the kernel shows, devices, and an empty `/run`. All of `/proc` and `/sys` is read
/// only: settings of the kernel are the machine's, and so is much else that root may write.
fn kernel_steps(trusted: bool) -> Vec<Step> {
    let at = |path: &str| inside(Path::new(path));
    let special = |kind, path: &str, options, flags| Step::Special {
        kind,
        at: at(path),
        options,
        flags: flags | libc::MS_NOSUID,
    };
    let no_devices = libc::MS_NODEV | libc::MS_NOEXEC;
    let locked = if trusted { 0 } else { libc::MS_RDONLY };
    let mut steps = vec![
        special("proc", "/proc", "", no_devices | locked),
        special("sysfs", "/sys", "", no_devices | libc::MS_RDONLY),
        special("tmpfs", "/run", "mode=755,size=20%", libc::MS_NODEV),
        Step::Dir(at("/run/lock"), 0o1777),
        Step::Dir(at(MARK), 0o700),
        special("tmpfs", "/dev", "mode=755,size=16m", if trusted { 0 } else { no_devices }),
    ];
    for device in ["null", "zero", "full", "random", "urandom", "tty"] {
        let path = Path::new("/dev").join(device);
        steps.push(Step::File(inside(&path)));
        // Read only, so that owner and mode of the machine's device cannot be changed.
        // Written to it can be all the same.
        let flags = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NOEXEC;
        steps.push(Step::Bind { at: inside(&path), from: path, flags });
    }
    steps.push(Step::Dir(at("/dev/pts"), 0o755));
    let terminals = "newinstance,ptmxmode=0666,mode=620";
    steps.push(special("devpts", "/dev/pts", terminals, libc::MS_NOEXEC));
    steps.push(Step::Dir(at("/dev/shm"), 0o755));
    steps.push(special("tmpfs", "/dev/shm", "mode=1777,size=20%", libc::MS_NODEV));
    for (name, target) in [
        ("ptmx", "pts/ptmx"),
        ("fd", "/proc/self/fd"),
        ("stdin", "fd/0"),
        ("stdout", "fd/1"),
        ("stderr", "fd/2"),
    ] {
        steps.push(Step::Link(target.into(), at("/dev").join(name)));
    }
    if !trusted {
        for name in ["kcore", "keys", "key-users", "timer_list", "sched_debug", "kpagecgroup"] {
            let at = at("/proc").join(name);
            steps.push(Step::Bind { from: "/dev/null".into(), at, flags: libc::MS_RDONLY });
        }
    }
    steps
}

/// Makes the directories that a path of the box lies in.
fn directories_above(path: &Path) -> Vec<Step> {
    let mut above: Vec<&Path> =
        path.ancestors().skip(1).filter(|dir| *dir != Path::new("/")).collect();
    above.reverse();
    above.into_iter().map(|dir| Step::Dir(inside(dir), 0o755)).collect()
}

/// The list of what is left out, as a file of the box holds it: path, reason and whether the
/// box has its own, each ended by a zero byte.
pub(super) fn listed(left_out: &[LeftOut]) -> Vec<u8> {
    let mut out = Vec::new();
    for one in left_out {
        out.extend_from_slice(one.path.as_os_str().as_bytes());
        out.push(0);
        out.extend_from_slice(one.reason.as_bytes());
        out.push(0);
        out.extend_from_slice(if one.own { b"own\0" } else { b"\0" });
    }
    out
}

/// Reads such a list.
pub(super) fn unlisted(bytes: &[u8]) -> Vec<LeftOut> {
    let words: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    words
        .chunks_exact(3)
        .map(|words| LeftOut {
            path: std::ffi::OsStr::from_bytes(words[0]).into(),
            reason: String::from_utf8_lossy(words[1]).into_owned(),
            own: words[2] == b"own",
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_file_systems_are_copied_and_the_others_are_named() {
        let info = b"22 27 0:21 / /proc rw - proc proc rw\n27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
                    30 27 0:30 / /etc rw - ext4 /dev/vdb rw\n31 27 0:31 / /usr rw - nfs4 server:/x rw\n\
                    33 27 0:32 / /tmp/no\\040such rw - ext4 /dev/vdc rw\n34 27 0:33 / /tmp ro - tmpfs t rw\n";
        let (layers, left_out) = layers(info, &[]);
        let mounts: Vec<String> = layers
            .iter()
            .map(|layer| format!("{} {}", layer.mount.display(), layer.upper.display()))
            .collect();
        assert_eq!(mounts, ["/ upper0", "/etc upper1", "/tmp upper2"]);
        assert_eq!(layers[2].kept.flags, libc::MS_RDONLY);
        let named: Vec<String> = left_out
            .iter()
            .skip(OWN.len())
            .map(|one| format!("{} {}", one.path.display(), one.reason))
            .collect();
        assert_eq!(named, ["/usr nfs4"]);
        assert_eq!(unlisted(&listed(&left_out)), left_out);
    }

    #[test]
    fn a_shared_directory_is_not_copied() {
        let info =
            b"27 1 254:0 / / rw - ext4 /dev/vda rw\n30 27 0:30 / /etc rw - ext4 /dev/vdb rw\n";
        assert_eq!(layers(info, &["/etc".into()]).0.len(), 1);
    }

    #[test]
    fn a_root_that_is_no_mount_is_copied_all_the_same() {
        let (layers, _) = layers(b"30 27 0:30 / /etc rw - ext4 /dev/vdb rw\n", &[]);
        assert_eq!(layers.len(), 2);
        assert_eq!(layers[0].mount, Path::new("/"));
    }

    #[test]
    fn no_step_shows_a_directory_of_the_machine_for_writing() {
        let (layers, _) = layers(b"27 1 254:0 / / rw - ext4 /dev/vda rw\n", &[]);
        for step in build_steps(&layers, &SandboxOptions::default()) {
            let Step::Bind { flags, .. } = &step else { continue };
            assert!(flags & libc::MS_RDONLY != 0, "{step:?}");
        }
    }
}
