//! A process on its way into a box, between fork and exec.

use std::io;

use super::lock::{self, Lock};

/// All that is needed for it, prepared before the fork.
pub(super) struct Way {
    /// Number of the process that makes the box.
    pub(super) parent: i32,
    /// Where a zero written puts the process under the limits.
    pub(super) doors: Vec<i32>,
    pub(super) namespaces: Vec<i32>,
    pub(super) root: i32,
    pub(super) lock: Lock,
}

fn check(done: bool) -> io::Result<()> {
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Enters the box. A process changes its process namespace only for its children, so this
/// forks once more; the one left outside waits and ends as its child did.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
pub(super) fn enter(way: &Way) -> io::Result<()> {
    // SAFETY: plain numbers, and strings that outlive their calls. Between fork and exec this
    // process has one thread; `wait_for` never returns.
    unsafe {
        // Ends with the one that started it; who was too slow to hear of its end sees it here.
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0)?;
        if libc::getppid() != way.parent {
            libc::_exit(1);
        }
        for door in &way.doors {
            check(libc::write(*door, c"0".as_ptr().cast(), 1) == 1)?;
        }
        for fd in &way.namespaces {
            check(libc::setns(*fd, 0) == 0)?;
        }
        // Fails closed: whatever the namespace's own root is, this one is the box's.
        check(libc::fchdir(way.root) == 0 && libc::chroot(c".".as_ptr()) == 0)?;
        lock::close_on_exec();
        for fd in 0..3 {
            check(reopen(fd))?;
        }
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                way.lock.apply()
            }
            child => wait_for(child),
        }
    }
}

/// Opens a device among the standard descriptors again, by its name inside: through the one of
/// the machine its owner and mode could be changed. A directory leads out, and becomes null.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
fn reopen(fd: i32) -> bool {
    // SAFETY: the structure and the strings outlive their calls; the rest are numbers.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if libc::fstat(fd, &raw mut stat) != 0 {
            // Closed it leads nowhere.
            return *libc::__errno_location() == libc::EBADF;
        }
        let name = match stat.st_mode & libc::S_IFMT {
            libc::S_IFIFO | libc::S_IFSOCK | libc::S_IFREG => return true,
            libc::S_IFCHR => match (libc::major(stat.st_rdev), libc::minor(stat.st_rdev)) {
                (1, 5) => c"/dev/zero",
                (1, 7) => c"/dev/full",
                (1, 8) => c"/dev/random",
                (1, 9) => c"/dev/urandom",
                _ if libc::isatty(fd) == 1 => c"/dev/tty",
                _ => c"/dev/null",
            },
            _ => c"/dev/null",
        };
        let mut new = libc::open(name.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        if new < 0 {
            // A terminal that is not ours to speak on.
            new = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        }
        new >= 0 && libc::dup2(new, fd) == fd && libc::close(new) == 0
    }
}

/// The one left outside: it holds nothing open, leaves signals for the group to its child,
/// and ends as that did.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
fn wait_for(child: i32) -> ! {
    let mut status = 0;
    // SAFETY: the status outlives the calls; the rest are numbers. Descriptors are closed so
    // that pipes end with the child, not with us.
    unsafe {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_IGN);
        }
        if libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0) != 0 {
            for fd in 0..4096 {
                libc::close(fd);
            }
        }
        while libc::waitpid(child, &raw mut status, 0) < 0
            && *libc::__errno_location() == libc::EINTR
        {}
        if libc::WIFSIGNALED(status) {
            // No core for a process that only waited.
            libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
            libc::signal(libc::WTERMSIG(status), libc::SIG_DFL);
            libc::raise(libc::WTERMSIG(status));
        }
        libc::_exit(libc::WEXITSTATUS(status));
    }
}
