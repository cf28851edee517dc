//! The child runner: starts a command under its rules and sees it to the end.
//!
//! Own process group, input closed or piped, output bounded and handed on line by line, a time
//! limit that ends the whole group, no zombies, privileges dropped for good and checked.
//! A grandchild that keeps the pipe open after the child's end does not hold us up.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child as StdChild, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal};

use super::OsHost;
use super::strays::{self, Adopted, Awaited};
use crate::{Ended, Exit, HostError, Line, Program, Result, Spec, Stdin, Stream};

/// Time between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);
/// Most bytes of one line that are handed on.
const MAX_LINE: usize = 1 << 20;
/// Longest wait between two looks at the clock and the wish to stop.
const SLICE: Duration = Duration::from_millis(50);

/// What a child does before anything else, such as entering a box.
pub(crate) type First<'a> = &'a dyn Fn(&mut Command);

/// A command put together, with the directory that it starts in held open.
pub(super) struct Prepared {
    pub(super) command: Command,
    /// Its number stands in the command, so it lives until the child does.
    _cwd: Option<OwnedFd>,
}

/// Puts a command together. The child side runs between fork and exec, so all it needs is
/// prepared here and it makes system calls only.
pub(super) fn prepare(host: &OsHost, spec: &Spec, first: Option<First<'_>>) -> Result<Prepared> {
    let mut command = match &spec.program {
        Program::Shell(line) => {
            // The originals start it by its short name, and it says that name in its complaints.
            let mut command = Command::new("/bin/sh");
            command.arg0("sh");
            command.arg("-c").arg(line);
            command
        }
        Program::Argv(argv) => {
            let (program, args) =
                argv.split_first().ok_or_else(|| refused(spec, "there is no program to run"))?;
            let mut command = Command::new(program);
            command.args(args);
            command
        }
    };
    if spec.clear_env {
        command.env_clear();
    }
    for (name, value) in &spec.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(first) = first {
        first(&mut command);
    }
    let as_is = spec.uid.is_none() && spec.gid.is_none() && spec.groups.is_none();
    // A directory is only meant once the child is where it belongs.
    let is_here = spec.chroot.is_none() && first.is_none();
    let cwd = match spec.cwd.as_deref() {
        Some(dir) if is_here && dir != Path::new("/") => Some(open_dir(spec, dir)?),
        _ => None,
    };
    if as_is && is_here && (cwd.is_none() || has_proc()) {
        // By its number, so that it is the directory that was checked.
        let dir = cwd.as_ref().map(|fd| format!("/proc/self/fd/{}", fd.as_raw_fd()));
        command.current_dir(dir.as_deref().unwrap_or("/"));
        return Ok(Prepared { command, _cwd: cwd });
    }
    drop_privileges(host, spec, cwd, &mut command)?;
    Ok(Prepared { command, _cwd: None })
}

/// Opens a directory that a command is to act in, by the rules for a change.
fn open_dir(spec: &Spec, dir: &Path) -> Result<OwnedFd> {
    super::path::open_dir(dir).map_err(|error| match error {
        HostError::Io { answer, .. } => HostError::Command {
            program: spec.display(),
            reason: answer.to_string(),
            kind: answer.kind,
        },
        refused => refused,
    })
}

fn has_proc() -> bool {
    static THERE: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *THERE.get_or_init(|| std::fs::symlink_metadata("/proc/self/fd").is_ok())
}

/// Starts a prepared command. Nothing is left to do between fork and exec for a child that
/// stays who we are, so the library starts it without copying our page tables, which costs
/// more than all the rest. The file mode mask is inherited, so ours is the child's meanwhile.
pub(super) fn spawn(spec: &Spec, command: &mut Command) -> io::Result<(StdChild, Awaited)> {
    let Some(mask) = spec.umask else { return strays::start(command) };
    let ours = rustix::process::umask(rustix::fs::Mode::from_raw_mode(mask));
    let child = strays::start(command);
    rustix::process::umask(ours);
    child
}

fn refused(spec: &Spec, reason: impl Into<String>) -> HostError {
    HostError::Command {
        program: spec.display(),
        reason: reason.into(),
        kind: io::ErrorKind::InvalidInput,
    }
}

fn failed(spec: &Spec, error: &io::Error) -> HostError {
    let reason = error.to_string().split(" (os error").next().unwrap_or_default().to_owned();
    HostError::Command { program: spec.display(), reason, kind: error.kind() }
}

#[expect(unsafe_code, reason = "pre_exec is the one way to set these between fork and exec")]
fn drop_privileges(
    host: &OsHost,
    spec: &Spec,
    cwd: Option<OwnedFd>,
    command: &mut Command,
) -> Result<()> {
    let groups = match (&spec.groups, spec.uid) {
        (Some(groups), _) => Some(groups.clone()),
        (None, Some(uid)) => Some(super::accounts::group_list(host, uid)?),
        (None, None) => None,
    };
    let gid = match (spec.gid, spec.uid) {
        (None, Some(uid)) => {
            crate::Accounts::user_by_id(host, uid)?.map(|user| user.gid).or(Some(uid))
        }
        (gid, _) => gid,
    };
    let uid = spec.uid;
    let nul = |path: &Path| {
        CString::new(path.as_os_str().as_bytes())
            .map_err(|_| refused(spec, "a path holds a zero byte"))
    };
    let chroot = spec.chroot.as_deref().map(|root| open_dir(spec, root)).transpose()?;
    let inner = nul(spec.cwd.as_deref().unwrap_or(Path::new("/")))?;
    let enter = move || {
        if let Some(root) = &chroot {
            // SAFETY: a number and a constant.
            check(unsafe { libc::fchdir(root.as_raw_fd()) })?;
            // SAFETY: a constant.
            check(unsafe { libc::chroot(c".".as_ptr()) })?;
        }
        match &cwd {
            // SAFETY: a number.
            Some(held) => check(unsafe { libc::fchdir(held.as_raw_fd()) })?,
            // SAFETY: the string outlives the call.
            None => check(unsafe { libc::chdir(inner.as_ptr()) })?,
        }
        if let Some(groups) = &groups {
            // SAFETY: the pointer and length describe the vector.
            check(unsafe { libc::setgroups(groups.len(), groups.as_ptr()) })?;
        }
        if let Some(gid) = gid {
            // SAFETY: plain numbers.
            check(unsafe { libc::setresgid(gid, gid, gid) })?;
        }
        if let Some(uid) = uid {
            // SAFETY: plain numbers.
            check(unsafe { libc::setresuid(uid, uid, uid) })?;
            // Fail closed: if root can be had back, it was never dropped.
            // SAFETY: plain numbers.
            if uid != 0 && (unsafe { libc::setuid(0) } == 0 || unsafe { libc::geteuid() } != uid) {
                return Err(io::Error::from_raw_os_error(libc::EPERM));
            }
        }
        Ok(())
    };
    // SAFETY: the closure makes system calls on prepared data only; it allocates nothing.
    unsafe { command.pre_exec(enter) };
    Ok(())
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Runs a command to its end; `first` may change it before anything else is set.
pub(crate) fn run(
    host: &OsHost,
    spec: &Spec,
    on_line: &mut dyn FnMut(Line<'_>),
    first: Option<First<'_>>,
) -> Result<Ended> {
    crate::Edits::settle(host)?;
    let began = Instant::now();
    let mut prepared = prepare(host, spec, first)?;
    let command = &mut prepared.command;
    command.process_group(0).stdin(match &spec.stdin {
        Stdin::Closed => Stdio::null(),
        Stdin::Bytes(_) => Stdio::piped(),
        Stdin::Inherit => Stdio::inherit(),
    });
    let (reader, writer) = io::pipe().map_err(|error| failed(spec, &error))?;
    let mut outputs = vec![Output::new(Stream::Stdout, reader.into(), spec.output_limit)];
    if spec.merge_stderr {
        command.stderr(writer.try_clone().map_err(|error| failed(spec, &error))?);
    } else {
        let (reader, writer) = io::pipe().map_err(|error| failed(spec, &error))?;
        outputs.push(Output::new(Stream::Stderr, reader.into(), spec.output_limit));
        command.stderr(writer);
    }
    command.stdout(writer);
    let before = strays::children();
    let (mut child, awaited) = spawn(spec, command).map_err(|error| failed(spec, &error))?;
    // The parent's ends of the write side would keep the pipes open.
    drop(prepared);
    let mut input = match &spec.stdin {
        Stdin::Bytes(bytes) => {
            child.stdin.take().map(|pipe| Input { pipe: pipe.into(), bytes, sent: 0 })
        }
        _ => None,
    };
    let mut watch = Watch::new(host, spec, &child);
    let exit = loop {
        watch.wait(&outputs, input.as_ref()).map_err(|error| failed(spec, &error))?;
        if input.as_mut().is_some_and(|input| input.feed().is_break()) {
            input = None;
        }
        for output in &mut outputs {
            output.take(on_line);
        }
        if let Some(status) = child.try_wait().map_err(|error| failed(spec, &error))? {
            // What was written before the end is in the pipes by now.
            for output in &mut outputs {
                output.take(on_line);
            }
            break watch.verdict(status);
        }
        watch.enforce();
    };
    drop(awaited);
    if watch.ended_by.is_some() {
        Adopted { before }.end();
    }
    let mut kept = outputs.into_iter().map(|output| output.finish(on_line));
    let (stdout, cut_out) = kept.next().unwrap_or_default();
    let (stderr, cut_err) = kept.next().unwrap_or_default();
    Ok(Ended {
        exit,
        stdout,
        stderr,
        truncated: cut_out || cut_err,
        elapsed: began.elapsed(),
        pid: child.id(),
    })
}

/// Bytes on their way into the child.
struct Input<'a> {
    pipe: OwnedFd,
    bytes: &'a [u8],
    sent: usize,
}

impl Input<'_> {
    fn feed(&mut self) -> std::ops::ControlFlow<()> {
        use std::ops::ControlFlow::{Break, Continue};
        let _ = rustix::io::ioctl_fionbio(&self.pipe, true);
        match rustix::io::write(&self.pipe, &self.bytes[self.sent..]) {
            Ok(count) => self.sent += count,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            // A child that does not read its input is not our trouble.
            Err(_) => return Break(()),
        }
        if self.sent == self.bytes.len() { Break(()) } else { Continue(()) }
    }
}

/// One output of the child: what is kept, and the line not ended yet.
struct Output {
    stream: Stream,
    pipe: Option<OwnedFd>,
    kept: Vec<u8>,
    line: Vec<u8>,
    limit: usize,
    truncated: bool,
}

impl Output {
    fn new(stream: Stream, pipe: OwnedFd, limit: usize) -> Output {
        let _ = rustix::io::ioctl_fionbio(&pipe, true);
        Output {
            stream,
            pipe: Some(pipe),
            kept: Vec::new(),
            line: Vec::new(),
            limit,
            truncated: false,
        }
    }

    /// Takes all that is there now.
    fn take(&mut self, on_line: &mut dyn FnMut(Line<'_>)) {
        let mut buffer = [0; 16 * 1024];
        while let Some(pipe) = &self.pipe {
            match rustix::io::read(pipe, &mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(count) => self.accept(&buffer[..count], on_line),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => self.pipe = None,
            }
        }
    }

    fn accept(&mut self, bytes: &[u8], on_line: &mut dyn FnMut(Line<'_>)) {
        let room = self.limit.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.truncated |= bytes.len() > room;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            // A line without end is handed on in part, so that memory stays bounded.
            let room = MAX_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.tell(on_line);
            }
        }
    }

    fn tell(&mut self, on_line: &mut dyn FnMut(Line<'_>)) {
        let bytes = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        on_line(Line { stream: self.stream, bytes });
        self.line.clear();
    }

    fn finish(mut self, on_line: &mut dyn FnMut(Line<'_>)) -> (Vec<u8>, bool) {
        if !self.line.is_empty() {
            self.tell(on_line);
        }
        (self.kept, self.truncated)
    }
}

/// Watches over one child: waits for something to happen, keeps the time limit.
pub(super) struct Watch<'a> {
    host: &'a OsHost,
    group: Pid,
    pidfd: Option<OwnedFd>,
    deadline: Option<Instant>,
    ended_by: Option<Exit>,
    killed: bool,
}

impl<'a> Watch<'a> {
    pub(super) fn new(host: &'a OsHost, spec: &Spec, child: &StdChild) -> Watch<'a> {
        let group = Pid::from_child(child);
        let pidfd = rustix::process::pidfd_open(group, PidfdFlags::empty()).ok();
        let deadline = spec.timeout.map(|limit| Instant::now() + limit);
        Watch { host, group, pidfd, deadline, ended_by: None, killed: false }
    }

    fn wait(&self, outputs: &[Output], input: Option<&Input<'_>>) -> io::Result<()> {
        let pipes = outputs
            .iter()
            .filter_map(|output| output.pipe.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN)));
        let input = input.map(|input| (input.pipe.as_fd(), PollFlags::OUT));
        let pidfd = self.pidfd.as_ref().map(|fd| (fd.as_fd(), PollFlags::IN));
        let watched: Vec<(BorrowedFd<'_>, PollFlags)> = pipes.chain(input).chain(pidfd).collect();
        let mut fds: Vec<PollFd<'_>> =
            watched.iter().map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
        // Without a pidfd the end of the child is only seen by looking again soon.
        let slice = if self.pidfd.is_some() { SLICE } else { Duration::from_millis(5) };
        let slice = Timespec { tv_sec: 0, tv_nsec: i64::from(slice.subsec_nanos()) };
        match poll(&mut fds, Some(&slice)) {
            Ok(0) => {
                strays::reap();
                Ok(())
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Ends the group when its time is up or the run is cancelled: TERM, later KILL.
    pub(super) fn enforce(&mut self) {
        let now = Instant::now();
        if self.ended_by.is_none() {
            let cancelled = self.host.cancelled.load(Ordering::SeqCst);
            let late = self.deadline.is_some_and(|deadline| now >= deadline);
            if cancelled || late {
                self.ended_by = Some(if cancelled { Exit::Cancelled } else { Exit::TimedOut });
                self.signal(Signal::TERM);
                // A cancelled run must be over within a second.
                self.deadline = Some(now + if cancelled { GRACE / 4 } else { GRACE });
            }
        } else if !self.killed && self.deadline.is_some_and(|deadline| now >= deadline) {
            self.killed = true;
            self.signal(Signal::KILL);
        }
    }

    pub(super) fn signal(&self, signal: Signal) {
        let _ = rustix::process::kill_process_group(self.group, signal);
    }

    fn verdict(&self, status: ExitStatus) -> Exit {
        if let Some(by_us) = self.ended_by {
            // The child is gone, but not what it may have started.
            self.signal(Signal::KILL);
            return by_us;
        }
        exit_of(status)
    }
}

pub(super) fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

/// Splits a `PATH` and looks for an executable file; a name with a slash is itself.
pub(super) fn find_program(name: &str, path: Option<OsString>) -> Option<std::path::PathBuf> {
    let executable = |path: &Path| {
        let file = std::fs::metadata(path).is_ok_and(|meta| meta.is_file());
        file && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    if name.contains('/') {
        return Some(name.into()).filter(|path: &std::path::PathBuf| executable(path));
    }
    let path = path
        .unwrap_or_else(|| "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into());
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| executable(path))
}
