//! The first process of a box: makes its mounts, locks itself in, then waits for our end.
//!
//! It is a bare copy of our process that never returns from here. Between the copy and its
//! end it makes system calls on data prepared before, so a lock that another thread held
//! at that moment cannot hurt it.
//!
//! A socket joins it with us. When our end of it closes, for whatever reason, the first
//! process ends, and the kernel ends all others in the box with it. Until it waits at the
//! socket the kernel kills it when we die.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use super::lock::Lock;
use super::steps::{Ready, Taken, ready};
use super::{Step, steps};

/// The running first process. Dropping it ends the box and all in it.
pub(super) struct Init {
    pid: i32,
    /// Held for its end.
    line: OwnedFd,
    /// Nobody takes it for a process that a command left behind.
    _awaited: crate::os::Awaited,
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
            while libc::waitpid(self.pid, std::ptr::null_mut(), 0) < 0
                && *libc::__errno_location() == libc::EINTR
            {}
        }
    }
}

/// What the first process of a box is called.
pub(super) const NAME: &std::ffi::CStr = c"fixpoint-copy";

/// Descriptor under which the first process holds the box's store until we have it.
pub(super) const STORE_FD: i32 = 3;

/// What the first process says, with the number of a step and an error.
const FAILED: i32 = 0;
const SKIPPED: i32 = 1;
const STANDS: i32 = 2;
const LOCKED: i32 = 3;

/// Numbers of what is done around the steps.
const DETACH: i32 = -1;
const STORE: i32 = -2;
const ENTER: i32 = -3;
const LOCK: i32 = -4;

/// A box whose mounts stand and whose first process waits to be let go on.
pub(super) struct Standing {
    init: Init,
    /// Numbers of the steps that could not be taken and are not needed.
    pub(super) skipped: Vec<usize>,
}

type Failure = (String, io::Error);

/// Starts the first process and waits until the mounts stand; something else can be done to
/// it meanwhile.
#[expect(unsafe_code, reason = "new namespaces for a child need the clone system call")]
pub(super) fn start(
    planned: &[Step],
    net: bool,
    lock: &Lock,
    meanwhile: impl FnOnce(i32) -> io::Result<()>,
) -> Result<Standing, Failure> {
    let named = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| (what, error)
    };
    let prepared: Vec<Ready> = planned
        .iter()
        .map(ready)
        .collect::<io::Result<_>>()
        .map_err(named("prepare the mounts"))?;
    let (ours, theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|errno| ("make a socket".to_owned(), errno.into()))?;
    let mut flags = libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP
        | libc::SIGCHLD;
    if !net {
        flags |= libc::CLONE_NEWNET;
    }
    // SAFETY: without a new stack this is fork; the child runs `first_process` only.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } as i32;
    if pid < 0 {
        return Err(named("make namespaces")(io::Error::last_os_error()));
    }
    if pid == 0 {
        first_process(&prepared, ours.as_raw_fd(), theirs.as_raw_fd(), net, lock);
    }
    drop(theirs);
    let mut standing = Standing {
        init: Init { pid, line: ours, _awaited: crate::os::Awaited::new(pid) },
        skipped: Vec::new(),
    };
    meanwhile(pid).map_err(named("set limits"))?;
    loop {
        match said(&standing.init.line).map_err(named("make the box"))? {
            (STANDS, ..) => return Ok(standing),
            (SKIPPED, step, _) => standing.skipped.push(step as usize),
            (_, step, errno) => {
                let what = match step {
                    DETACH => "part the mounts from the machine's".to_owned(),
                    STORE => "mount the store".to_owned(),
                    ENTER => "enter the box".to_owned(),
                    number => {
                        planned.get(number as usize).map_or_else(String::new, ToString::to_string)
                    }
                };
                return Err((what, io::Error::from_raw_os_error(errno)));
            }
        }
    }
}

impl Standing {
    pub(super) fn pid(&self) -> i32 {
        self.init.pid
    }

    /// Lets the first process lock itself in, and hears that it did.
    pub(super) fn lock(self) -> Result<Init, Failure> {
        let step = || "lock the box".to_owned();
        rustix::net::send(&self.init.line, &[0], SendFlags::NOSIGNAL)
            .map_err(|errno| (step(), errno.into()))?;
        match said(&self.init.line).map_err(|error| (step(), error))? {
            (LOCKED, ..) => Ok(self.init),
            (.., errno) => Err((step(), io::Error::from_raw_os_error(errno))),
        }
    }
}

/// The next thing the first process says. A signal that asks us to stop ends the wait.
fn said(line: &OwnedFd) -> io::Result<(i32, i32, i32)> {
    let mut bytes = [0; 12];
    let (got, _) = rustix::net::recv(line, &mut bytes[..], RecvFlags::empty())?;
    if got < bytes.len() {
        return Err(io::Error::other("its first process ended"));
    }
    let number =
        |at: usize| i32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    Ok((number(0), number(4), number(8)))
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

#[expect(unsafe_code, reason = "system calls on prepared data")]
fn tell(line: i32, kind: i32, step: i32, errno: i32) {
    let mut bytes = [0; 12];
    for (part, number) in bytes.chunks_exact_mut(4).zip([kind, step, errno]) {
        part.copy_from_slice(&number.to_ne_bytes());
    }
    // SAFETY: the buffer is twelve bytes long.
    unsafe { libc::send(line, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
}

#[expect(unsafe_code, reason = "system calls on prepared data")]
fn first_process(prepared: &[Ready], ours: i32, line: i32, net: bool, lock: &Lock) -> ! {
    // SAFETY: plain numbers; ends this process without running anything of the parent's.
    let leave = |code: i32| -> ! { unsafe { libc::_exit(code) } };
    // SAFETY: plain numbers and a structure that outlives its call.
    unsafe {
        // First of all, and then a look whether the parent died before it: its number is not
        // to be had in a process namespace of our own, but its end of the socket is closed.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::close(ours);
        let mut ends = libc::pollfd { fd: line, events: 0, revents: 0 };
        libc::poll(&raw mut ends, 1, 0);
        if ends.revents & (libc::POLLHUP | libc::POLLERR) != 0 {
            leave(1);
        }
        // Out of the reach of the terminal's signals; orphans are buried by the kernel.
        libc::setsid();
        for signal in [libc::SIGCHLD, libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    if let Err(step) = set_up(prepared, net, line) {
        tell(line, FAILED, step, errno());
        leave(1);
    }
    let mut go = 0_u8;
    // SAFETY: the name is a C string, the byte outlives its call, the rest are numbers.
    unsafe {
        // Before anybody is let in: the name is how a process knows that it is inside.
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        tell(line, STANDS, 0, 0);
        if libc::read(line, (&raw mut go).cast(), 1) != 1 {
            leave(0);
        }
        // All descriptors but the socket are the parent's, and the store is nobody's inside.
        if libc::dup2(line, 0) != 0 || close_from(1) != 0 {
            leave(1);
        }
        // Nobody inside may look into this process or stop it.
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
    match lock.apply() {
        Ok(()) => tell(0, LOCKED, 0, 0),
        Err(error) => {
            tell(0, FAILED, LOCK, error.raw_os_error().unwrap_or(0));
            leave(1);
        }
    }
    // SAFETY: the byte outlives its call, the rest are numbers.
    unsafe {
        // The thread that made the box may end before it; from now on the socket shows whether it is there.
        libc::prctl(libc::PR_SET_PDEATHSIG, 0);
        while libc::read(0, (&raw mut go).cast(), 1) > 0 || *libc::__errno_location() == libc::EINTR
        {
            *libc::__errno_location() = 0;
        }
    }
    leave(0)
}

/// Closes all descriptors from a number on.
#[expect(unsafe_code, reason = "system calls on plain numbers")]
fn close_from(first: i32) -> i32 {
    // SAFETY: plain numbers.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) != 0 {
            for fd in first..4096 {
                libc::close(fd);
            }
        }
    }
    0
}

/// The numbered part that failed, if one did; the error is the system's last.
#[expect(unsafe_code, reason = "system calls on prepared data")]
fn set_up(prepared: &[Ready], net: bool, line: i32) -> Result<(), i32> {
    let done = |ok: bool, step: i32| if ok { Ok(()) } else { Err(step) };
    // SAFETY: every pointer is a C string that outlives its call, or null.
    unsafe {
        // In a chroot the namespace has a root above ours. Its mounts are parted too, or they
        // would be made on the machine as well.
        let root = libc::open(c"/".as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC);
        done(root >= 0 && climb(c"proc"), DETACH)?;
        let private = libc::MS_REC | libc::MS_PRIVATE;
        let null = std::ptr::null();
        done(libc::mount(null, c"/".as_ptr(), null, private, null.cast()) == 0, DETACH)?;
        done(libc::fchdir(root) == 0 && libc::chroot(c".".as_ptr()) == 0, DETACH)?;
        // Over a directory that is there, and below which nothing of the copy lies.
        let kind = c"tmpfs".as_ptr();
        let flags = libc::MS_NODEV | libc::MS_NOSUID;
        let options = c"mode=700,size=75%".as_ptr().cast();
        done(libc::mount(kind, c"/proc".as_ptr(), kind, flags, options) == 0, STORE)?;
        done(libc::chdir(c"/proc".as_ptr()) == 0, STORE)?;
    }
    for (number, step) in prepared.iter().enumerate() {
        match steps::take(step) {
            Taken::Done => {}
            Taken::Skipped => tell(line, SKIPPED, number as i32, errno()),
            Taken::Failed => return Err(number as i32),
        }
    }
    if !net {
        raise_loopback();
    }
    // SAFETY: every pointer is a C string that outlives its call.
    unsafe {
        let store = libc::open(c".".as_ptr(), libc::O_PATH | libc::O_DIRECTORY);
        let new = libc::open(c"root".as_ptr(), libc::O_PATH | libc::O_DIRECTORY);
        // The box's root takes the place of the namespace's own, so that there is nothing
        // above it to climb to.
        done(
            store >= 0
                && new >= 0
                && climb(c"root")
                && libc::fchdir(new) == 0
                && libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) == 0
                && libc::umount2(c".".as_ptr(), libc::MNT_DETACH) == 0
                && libc::chdir(c"/".as_ptr()) == 0
                && (store == STORE_FD || libc::dup2(store, STORE_FD) == STORE_FD),
            ENTER,
        )
    }
}

/// Makes the root of the mount namespace the root of this process: with a root below it, the
/// working directory can be left upwards without end. Starts at the working directory, or at
/// the root for a name that is there.
#[expect(unsafe_code, reason = "system calls on constants")]
fn climb(below: &std::ffi::CStr) -> bool {
    // SAFETY: every pointer is a C string that outlives its call, or a structure of its own.
    unsafe {
        if below == c"proc" && libc::chdir(c"/".as_ptr()) != 0 {
            return false;
        }
        if libc::chroot(below.as_ptr()) != 0 {
            return false;
        }
        let mut here: libc::stat = std::mem::zeroed();
        let mut above: libc::stat = std::mem::zeroed();
        loop {
            if libc::stat(c".".as_ptr(), &raw mut here) != 0
                || libc::chdir(c"..".as_ptr()) != 0
                || libc::stat(c".".as_ptr(), &raw mut above) != 0
            {
                return false;
            }
            if (here.st_dev, here.st_ino) == (above.st_dev, above.st_ino) {
                return libc::chroot(c".".as_ptr()) == 0;
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
