//! A throw-away copy of the machine: every local file system under a copy-on-write layer,
//! in namespaces of its own. What runs inside may do anything; it all ends with the box.
//!
//! Not copied: kernel settings, running services, network peers. Needs root.

mod changes;
mod init;
mod mounts;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::os::run_prepared;
use crate::{Ended, HostError, Line, OsHost, Result, Spec};

pub use changes::{Attributes, ChangeKind, FsChange};
pub use mounts::Layer;

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
}

/// Where the programs that something stands in for are, inside.
pub const ORIGINALS: &str = mounts::MARK;

/// A running box. It lives until it is dropped; commands run in it see each other's work.
pub struct Sandbox {
    init: init::Init,
    namespaces: Vec<OwnedFd>,
    layers: Vec<Layer>,
    base: OwnedFd,
    root: OwnedFd,
}

impl Sandbox {
    /// Makes a box over the machine as it is now.
    pub fn new(options: &SandboxOptions) -> Result<Sandbox> {
        let fail = |step: &str, error: io::Error| HostError::Command {
            program: "sandbox".into(),
            reason: format!("{step}: {error}"),
            kind: error.kind(),
        };
        if !rustix::process::geteuid().is_root() {
            return Err(fail(
                "a copy of the machine needs root",
                io::ErrorKind::PermissionDenied.into(),
            ));
        }
        let mountinfo = std::fs::read("/proc/self/mountinfo")
            .map_err(|error| fail("read the mounts", error))?;
        let layers = mounts::layers(&String::from_utf8_lossy(&mountinfo), &options.shared);
        let steps = mounts::build_steps(&layers, options);
        let init = init::start(&steps, options.net).map_err(|(step, error)| fail(&step, error))?;
        let open = |name: &str| {
            let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
            let path = format!("/proc/{}/{name}", init.pid());
            rustix::fs::open(path, flags, rustix::fs::Mode::empty())
                .map_err(|errno| fail("enter the box", errno.into()))
        };
        let kinds = ["ns/mnt", "ns/pid", "ns/ipc", "ns/uts", "ns/net"];
        let namespaces = kinds.into_iter().map(open).collect::<Result<Vec<_>>>()?;
        let base = open(&format!("fd/{}", init::BASE_FD))?;
        let root = open("root")?;
        Ok(Sandbox { init, namespaces, layers, base, root })
    }

    /// Whether this very process runs inside a box: its mark is there, and the first process
    /// has the name that only a box's has.
    pub fn is_here() -> bool {
        let marked = std::fs::symlink_metadata(mounts::MARK).is_ok_and(|meta| meta.is_dir());
        let first = std::fs::read("/proc/1/comm").unwrap_or_default();
        marked && first.trim_ascii_end() == init::NAME.to_bytes()
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

    /// Puts a file into the box.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        std::fs::write(self.seen_from_outside(path), bytes)
            .map_err(|error| HostError::io("write", path, error))
    }

    /// Reads a file of the box; nothing where there is none.
    pub fn read(&self, path: &Path) -> Vec<u8> {
        std::fs::read(self.seen_from_outside(path)).unwrap_or_default()
    }

    fn seen_from_outside(&self, path: &Path) -> PathBuf {
        let root = format!("/proc/{}/root", self.init.pid());
        Path::new(&root).join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Runs an interactive program inside, on the terminal of this process.
    pub fn shell(&self, argv: &[&str]) -> io::Result<std::process::ExitStatus> {
        let [program, args @ ..] = argv else { return Err(io::ErrorKind::InvalidInput.into()) };
        let mut command = Command::new(program);
        command.args(args);
        self.enter(&mut command);
        command.status()
    }

    /// Process number of the box's first process, as seen from outside.
    pub fn pid(&self) -> i32 {
        self.init.pid()
    }

    #[expect(unsafe_code, reason = "a process enters namespaces between fork and exec")]
    fn enter(&self, command: &mut Command) {
        let fds: Vec<i32> = self.namespaces.iter().map(AsRawFd::as_raw_fd).collect();
        let root = self.root.as_raw_fd();
        // SAFETY: the closure makes system calls on prepared numbers only.
        unsafe { command.pre_exec(move || init::enter(&fds, root)) };
    }
}
