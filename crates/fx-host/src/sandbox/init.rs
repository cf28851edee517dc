//! The first process of a box: makes its mounts, then waits and buries orphans.
//!
//! It is a bare copy of our process that never returns from here. Between the copy and its
//! end it makes system calls on data prepared before, so a lock that another thread held
//! at that moment cannot hurt it.

use std::ffi::CString;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::mounts::Step;

/// Descriptor under which the first process holds the box's store, for us to find.
pub(super) const BASE_FD: i32 = 3;

/// The running first process. Dropping it ends the box and all in it.
pub(super) struct Init {
    pid: i32,
}

impl Init {
    pub(super) fn pid(&self) -> i32 {
        self.pid
    }
}

#[expect(unsafe_code, reason = "kill and waitpid on our own child")]
impl Drop for Init {
    fn drop(&mut self) {
        // SAFETY: plain numbers and a null status pointer.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

/// A step with its strings ready for the kernel.
enum Ready {
    Dir(CString, u32),
    Mount {
        from: CString,
        at: CString,
        kind: CString,
        flags: libc::c_ulong,
        options: CString,
        optional: bool,
    },
    File(CString),
    Link(CString, CString),
}

fn c(text: &str) -> CString {
    CString::new(text).expect("texts made here hold no zero byte")
}

fn path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("a path from the kernel holds no zero byte")
}

// In the option string of an overlay a comma or colon ends a path, so they are escaped.
fn overlay_path(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "\\\\").replace(',', "\\,").replace(':', "\\:")
}

fn ready(step: &Step) -> Vec<Ready> {
    let none = || c("none");
    match step {
        Step::Dir(at, mode) => vec![Ready::Dir(path(at), *mode)],
        Step::File(at) => vec![Ready::File(path(at))],
        Step::Link(target, at) => vec![Ready::Link(path(target), path(at))],
        Step::Bind { from, at } => {
            let flags = libc::MS_BIND | libc::MS_REC;
            vec![Ready::Mount {
                from: path(from),
                at: path(at),
                kind: none(),
                flags,
                options: c(""),
                optional: true,
            }]
        }
        Step::Special { kind, at, options, read_only } => {
            let mut flags = libc::MS_NOSUID;
            if *read_only {
                flags |= libc::MS_RDONLY;
            }
            vec![Ready::Mount {
                from: c(kind),
                at: path(at),
                kind: c(kind),
                flags,
                options: c(options),
                optional: *kind == "sysfs",
            }]
        }
        Step::Overlay { lower, upper, work, at } => {
            let options = format!(
                "lowerdir={},upperdir={},workdir={},redirect_dir=off,metacopy=off",
                overlay_path(lower),
                upper.display(),
                work.display()
            );
            let optional = lower != Path::new("/");
            vec![Ready::Mount {
                from: c("overlay"),
                at: path(at),
                kind: c("overlay"),
                flags: 0,
                options: c(&options),
                optional,
            }]
        }
    }
}

/// What the first process of a box is called.
pub(super) const NAME: &std::ffi::CStr = c"fixpoint-copy";

/// Starts the first process and waits until the box stands.
#[expect(unsafe_code, reason = "new namespaces for a child need the clone system call")]
pub(super) fn start(planned: &[Step], net: bool) -> Result<Init, (String, io::Error)> {
    let steps: Vec<Ready> = planned.iter().flat_map(ready).collect();
    let names: Vec<String> = planned.iter().map(|step| format!("{step:?}")).collect();
    let (reader, writer) = io::pipe().map_err(|error| ("make a pipe".to_owned(), error))?;
    let mut flags = libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::SIGCHLD;
    if !net {
        flags |= libc::CLONE_NEWNET;
    }
    // SAFETY: without a new stack this is fork; the child runs `first_process` only.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } as i32;
    if pid < 0 {
        return Err(("make namespaces".to_owned(), io::Error::last_os_error()));
    }
    if pid == 0 {
        first_process(&steps, writer.as_raw_fd(), net);
    }
    drop(writer);
    let init = Init { pid };
    // The child reports the step that failed and the error, or a step number of -1.
    let mut report = [0; 8];
    let got = io::Read::read(&mut &reader, &mut report)
        .map_err(|error| ("hear of the box".to_owned(), error))?;
    let number = |bytes: &[u8]| i32::from_ne_bytes(bytes.try_into().expect("four bytes"));
    if got < 8 {
        return Err(("make the box".to_owned(), io::Error::other("its first process ended")));
    }
    let (step, errno) = (number(&report[..4]), number(&report[4..]));
    if step == -1 {
        return Ok(init);
    }
    let name = names.get(step as usize).cloned().unwrap_or_else(|| "enter the box".to_owned());
    Err((name, io::Error::from_raw_os_error(errno)))
}

#[expect(unsafe_code, reason = "system calls on prepared data")]
fn first_process(steps: &[Ready], report: i32, net: bool) -> ! {
    let tell = |step: i32, errno: i32| {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&step.to_ne_bytes());
        bytes[4..].copy_from_slice(&errno.to_ne_bytes());
        // SAFETY: the buffer is eight bytes long.
        unsafe { libc::write(report, bytes.as_ptr().cast(), 8) };
    };
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(0);
    if !set_up(steps, net, &|step| tell(step, errno())) {
        // SAFETY: ends this process without running anything of the parent's.
        unsafe { libc::_exit(1) };
    }
    // Before anybody is let in: the name is how a process knows that it is inside.
    // SAFETY: the name is a C string that outlives the call.
    unsafe { libc::prctl(libc::PR_SET_NAME, NAME.as_ptr()) };
    tell(-1, 0);
    // SAFETY: system calls without memory of ours, but for a null status. All descriptors
    // except the store go: they are the parent's.
    unsafe {
        libc::syscall(libc::SYS_close_range, BASE_FD + 1, u32::MAX, 0);
        for fd in 0..BASE_FD {
            libc::close(fd);
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        loop {
            if libc::waitpid(-1, std::ptr::null_mut(), 0) < 0 {
                libc::usleep(20_000);
            }
        }
    }
}

#[expect(unsafe_code, reason = "system calls on prepared data")]
fn set_up(steps: &[Ready], net: bool, failed: &dyn Fn(i32)) -> bool {
    const LATE: i32 = i32::MAX;
    // SAFETY: every pointer is a C string that outlives its call, or null.
    let ok = unsafe {
        libc::mount(c"none".as_ptr(), c"/".as_ptr(), std::ptr::null(), libc::MS_REC | libc::MS_PRIVATE, std::ptr::null()) == 0
            // Any directory does: it is hidden in this namespace alone.
            && libc::mount(c"tmpfs".as_ptr(), c"/mnt".as_ptr(), c"tmpfs".as_ptr(), 0, c"mode=700,size=75%".as_ptr().cast()) == 0
            && libc::chdir(c"/mnt".as_ptr()) == 0
    };
    if !ok {
        failed(LATE);
        return false;
    }
    for (number, step) in steps.iter().enumerate() {
        if !take(step) {
            failed(number as i32);
            return false;
        }
    }
    if !net {
        raise_loopback();
    }
    // SAFETY: every pointer is a C string that outlives its call.
    let entered = unsafe {
        let store = libc::open(c".".as_ptr(), libc::O_PATH | libc::O_DIRECTORY);
        store >= 0
            && libc::chdir(c"root".as_ptr()) == 0
            && libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) == 0
            && libc::umount2(c".".as_ptr(), libc::MNT_DETACH) == 0
            && libc::chdir(c"/".as_ptr()) == 0
            && libc::dup2(store, BASE_FD) == BASE_FD
    };
    if !entered {
        failed(LATE);
    }
    entered
}

#[expect(unsafe_code, reason = "system calls on prepared data")]
fn take(step: &Ready) -> bool {
    // SAFETY: every pointer is a C string that outlives its call.
    unsafe {
        match step {
            Ready::Dir(at, mode) => {
                libc::mkdir(at.as_ptr(), *mode) == 0 && libc::chmod(at.as_ptr(), *mode) == 0
                    || *libc::__errno_location() == libc::EEXIST
            }
            Ready::File(at) => {
                let fd = libc::open(
                    at.as_ptr(),
                    libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC,
                    0o666,
                );
                fd >= 0 && libc::close(fd) == 0
            }
            Ready::Link(target, at) => libc::symlink(target.as_ptr(), at.as_ptr()) == 0,
            Ready::Mount { from, at, kind, flags, options, optional } => {
                libc::mount(
                    from.as_ptr(),
                    at.as_ptr(),
                    kind.as_ptr(),
                    *flags,
                    options.as_ptr().cast(),
                ) == 0
                    || *optional
            }
        }
    }
}

#[expect(unsafe_code, reason = "an interface is raised by ioctl")]
fn raise_loopback() {
    // SAFETY: the request is zeroed, its name is short, and the kernel reads no further.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = libc::IFF_UP as i16;
        libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw mut request);
        libc::close(socket);
    }
}

/// Enters the namespaces from between fork and exec. A process changes its pid namespace
/// only for its children, so this forks once more; the one left outside waits and ends as
/// its child did.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
pub(super) fn enter(namespaces: &[i32], root: i32) -> io::Result<()> {
    for fd in namespaces {
        // SAFETY: plain numbers.
        if unsafe { libc::setns(*fd, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    // A namespace's own root is not the box's when the box was made in a chroot: without
    // this a command would work on the machine itself.
    // SAFETY: a number and a constant.
    if unsafe { libc::fchdir(root) != 0 || libc::chroot(c".".as_ptr()) != 0 } {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: between fork and exec this process has one thread; the parent branch below
    // makes system calls only and never returns.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(()),
        child => {
            let mut status = 0;
            // SAFETY: the status outlives the call; the rest are numbers. Descriptors are
            // closed so that pipes end with the child, not with us.
            unsafe {
                libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
                while libc::waitpid(child, &raw mut status, 0) < 0
                    && *libc::__errno_location() == libc::EINTR
                {}
                if libc::WIFSIGNALED(status) {
                    libc::signal(libc::WTERMSIG(status), libc::SIG_DFL);
                    libc::raise(libc::WTERMSIG(status));
                }
                libc::_exit(libc::WEXITSTATUS(status));
            }
        }
    }
}
