//! A throw-away copy of the machine: every local file system under a copy-on-write layer,
//! in namespaces of its own. What runs inside may do anything; it all ends with the box.
//!
//! Not copied: kernel settings, running services, network peers. Needs root. Inside there is
//! no right that would reach the machine (`sandbox/lock.rs`); where that cannot be had there
//! is no box.

mod changes;
mod enter;
mod filter;
mod init;
mod limits;
mod lock;
mod mounts;
mod reading;
mod steps;
mod table;

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{FileType, OFlags, fstat};

use crate::os::run_prepared;
use crate::{Ended, HostError, Line, OsHost, Result, Spec};
use mounts::Step;

pub use changes::{Attributes, ChangeKind, Changes, FsChange};
pub use mounts::{Layer, LeftOut};

/// What the box may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxOptions {
    /// Keeps the machine's network; a box without has a loopback interface only.
    pub net: bool,
    /// Directories shared with the machine for real, both ways.
    pub shared: Vec<PathBuf>,
    /// Programs of the machine that this very program stands in for, by their paths. The
    /// originals are in [`ORIGINALS`] under their names.
    pub stand_ins: Vec<PathBuf>,
    /// Leaves what runs inside the right to mount and to make boxes of its own, for tests of
    /// these. Such a box holds mishaps back, not attacks: never for the policy of others.
    pub trusted: bool,
    /// Most processes inside, where the machine has control groups; a quarter of what it can
    /// number otherwise, at most 16,384.
    pub processes: Option<u64>,
    /// Most memory inside in bytes, likewise; four fifths of the machine's otherwise.
    pub memory: Option<u64>,
}

/// Where the programs that something stands in for are, inside.
pub const ORIGINALS: &str = mounts::MARK;

/// Most bytes read of a file inside.
const MAX_READ: u64 = 4 << 20;

/// A running box. It lives until it is dropped; commands run in it see each other's work.
pub struct Sandbox {
    // In the order they go: the processes before the groups they are in.
    init: init::Init,
    limits: limits::Limits,
    namespaces: Vec<OwnedFd>,
    layers: Vec<Layer>,
    left_out: Vec<LeftOut>,
    base: OwnedFd,
    root: OwnedFd,
    lock: lock::Lock,
}

impl Sandbox {
    /// Makes a box over the machine as it is now.
    pub fn new(options: &SandboxOptions) -> Result<Sandbox> {
        let fail = |step: &str, error: io::Error| HostError::Copy {
            step: step.to_owned(),
            answer: error.into(),
        };
        if !rustix::process::geteuid().is_root() {
            return Err(fail("it needs root", io::ErrorKind::PermissionDenied.into()));
        }
        let lock = lock::Lock::new(options.net, options.trusted)
            .map_err(|error| fail("lock it", error))?;
        let mountinfo = std::fs::read("/proc/self/mountinfo")
            .map_err(|error| fail("read the mounts", error))?;
        let (mut layers, mut left_out) = mounts::layers(&mountinfo, &options.shared);
        let steps = mounts::build_steps(&layers, options);
        let mut limits = limits::Limits::default();
        // The kernel takes its time to move a process between groups: while the mounts are made.
        let meanwhile = |pid| {
            limits = limits::Limits::new(&mountinfo, options.processes, options.memory);
            limits.add(pid)
        };
        let standing = init::start(&steps, options.net, &lock, meanwhile)
            .map_err(|(step, error)| fail(&step, error))?;
        leave_out(&steps, &standing.skipped, &mut layers, &mut left_out);
        let open = |name: &str| {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            let path = format!("/proc/{}/{name}", standing.pid());
            rustix::fs::open(path, flags, rustix::fs::Mode::empty())
                .map_err(|errno| fail("enter the box", errno.into()))
        };
        let kinds = ["ns/mnt", "ns/pid", "ns/ipc", "ns/uts", "ns/net", "ns/cgroup"];
        let namespaces = kinds.into_iter().map(open).collect::<Result<Vec<_>>>()?;
        let base = open(&format!("fd/{}", init::STORE_FD))?;
        let root = open("root")?;
        let init = standing.lock().map_err(|(step, error)| fail(&step, error))?;
        let made = Sandbox { init, limits, namespaces, layers, left_out, base, root, lock };
        made.write(Path::new(mounts::LEFT_OUT), &mounts::listed(&made.left_out))?;
        Ok(made)
    }

    /// Whether this very process runs inside a box: its mark is there, and the first process
    /// has the name that only a box's has.
    pub fn is_here() -> bool {
        let marked = std::fs::symlink_metadata(mounts::MARK).is_ok_and(|meta| meta.is_dir());
        let first = std::fs::read("/proc/1/comm").unwrap_or_default();
        marked && first.trim_ascii_end() == init::NAME.to_bytes()
    }

    /// What the box that this process runs in does not have as the machine has it.
    pub fn left_out_here() -> Vec<LeftOut> {
        let bytes = reading::regular(Path::new(mounts::LEFT_OUT), MAX_READ).unwrap_or_default();
        mounts::unlisted(&bytes)
    }

    /// What this box does not have as the machine has it: its own trees first, such as
    /// `/run`, then file systems that were not copied.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Whether processes and memory inside are limited.
    pub fn is_limited(&self) -> bool {
        self.limits.any()
    }

    /// Runs a command inside, under all the rules of its `Spec`.
    pub fn run(&self, host: &OsHost, spec: &Spec) -> Result<Ended> {
        self.run_streaming(host, spec, &mut |_| {})
    }

    /// Runs a command inside, telling its lines as they come.
    pub fn run_streaming(
        &self,
        host: &OsHost,
        spec: &Spec,
        on_line: &mut dyn FnMut(Line<'_>),
    ) -> Result<Ended> {
        run_prepared(host, spec, on_line, Some(&|command| self.enter(command)))
    }

    /// The copied file systems, in the order they were mounted.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Where what was changed on a layer can be read while the box lives.
    pub fn upper(&self, layer: &Layer) -> PathBuf {
        // By number, so that a command we start finds it too.
        let base = format!("/proc/{}/fd/{}", std::process::id(), self.base.as_raw_fd());
        Path::new(&base).join(&layer.upper)
    }

    /// Puts a new file into the box.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let failed = |error| HostError::io("write", path, error);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let fd = reading::beneath(self.root.as_fd(), path, flags).map_err(failed)?;
        io::Write::write_all(&mut std::fs::File::from(fd), bytes).map_err(failed)
    }

    /// Reads a regular file of the box, following no link; nothing where there is none.
    pub fn read(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        match reading::regular_at(self.root.as_fd(), path, MAX_READ) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(HostError::io("read", path, error)),
        }
    }

    /// Runs an interactive program inside, on the terminal of this process.
    pub fn shell(&self, argv: &[&str]) -> io::Result<std::process::ExitStatus> {
        let [program, args @ ..] = argv else { return Err(io::ErrorKind::InvalidInput.into()) };
        for fd in [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()] {
            let kind = fstat(fd).map(|stat| FileType::from_raw_mode(stat.st_mode));
            // Inside it could be opened once more, for anything.
            let leads_out = [FileType::RegularFile, FileType::Directory, FileType::BlockDevice];
            if kind.is_ok_and(|kind| leads_out.contains(&kind)) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "a file, a directory or a disk as standard input or output would lead out of the copy; use a terminal or a pipe",
                ));
            }
        }
        let mut command = Command::new(program);
        command.args(args);
        self.enter(&mut command);
        command.status()
    }

    /// Starts a program inside that goes on beside us. It ends with the thread that started it. Its
    /// standard input and output are pipes or sockets: a file would lead out.
    pub fn spawn(&self, command: &mut Command) -> io::Result<std::process::Child> {
        self.enter(command);
        command.spawn()
    }

    /// Process number of the box's first process, as seen from outside.
    pub fn pid(&self) -> i32 {
        self.init.pid()
    }

    #[expect(unsafe_code, reason = "a process enters namespaces between fork and exec")]
    fn enter(&self, command: &mut Command) {
        let way = enter::Way {
            parent: std::process::id() as i32,
            doors: self.limits.doors(),
            namespaces: self.namespaces.iter().map(AsRawFd::as_raw_fd).collect(),
            root: self.root.as_raw_fd(),
            lock: self.lock.clone(),
        };
        // SAFETY: the closure makes system calls on prepared data only; it allocates nothing.
        unsafe { command.pre_exec(move || enter::enter(&way)) };
    }
}

/// Takes the layers whose mount could not be made off the list.
fn leave_out(
    steps: &[Step],
    skipped: &[usize],
    layers: &mut Vec<Layer>,
    left_out: &mut Vec<LeftOut>,
) {
    for step in skipped.iter().filter_map(|number| steps.get(*number)) {
        let gone = |layer: &Layer| match step {
            Step::Overlay { upper, .. } => *upper == layer.upper,
            Step::Bind { from, .. } => layer.is_file && *from == layer.upper,
            _ => false,
        };
        let found = layers.iter().filter(|layer| gone(layer));
        left_out.extend(found.map(|layer| LeftOut {
            path: layer.mount.clone(),
            reason: "its kind of file system cannot be under a layer".to_owned(),
            own: false,
        }));
        layers.retain(|layer| !gone(layer));
    }
}
