//! What a process inside a box may ask of the kernel: few capabilities, a filter of system
//! calls, a keyring of its own. Locked before the box is used and for each process that
//! enters; none of it can be undone from inside.
//!
//! `CAP_SYS_ADMIN` is not among the rights inside: with it `/proc` could be made writable
//! again, what hides something could be unmounted and a new kernel file system mounted. So a
//! mount and a host name cannot be set in a box. The other way, a user namespace, is not on
//! every machine, and root in one still passes every check that looks at the user number.

use std::io;

/// Numbers of `linux/capability.h`.
mod cap {
    pub(super) const CHOWN: u32 = 0;
    pub(super) const DAC_OVERRIDE: u32 = 1;
    pub(super) const FOWNER: u32 = 3;
    pub(super) const FSETID: u32 = 4;
    pub(super) const KILL: u32 = 5;
    pub(super) const SETGID: u32 = 6;
    pub(super) const SETUID: u32 = 7;
    pub(super) const SETPCAP: u32 = 8;
    pub(super) const LINUX_IMMUTABLE: u32 = 9;
    pub(super) const NET_BIND_SERVICE: u32 = 10;
    pub(super) const NET_ADMIN: u32 = 12;
    pub(super) const NET_RAW: u32 = 13;
    pub(super) const IPC_OWNER: u32 = 15;
    pub(super) const SYS_MODULE: u32 = 16;
    pub(super) const SYS_RAWIO: u32 = 17;
    pub(super) const SYS_CHROOT: u32 = 18;
    pub(super) const SYS_BOOT: u32 = 22;
    pub(super) const SYS_TIME: u32 = 25;
    pub(super) const SETFCAP: u32 = 31;
    pub(super) const SYSLOG: u32 = 34;
    pub(super) const WAKE_ALARM: u32 = 35;
}

/// What configuration work needs: files of all owners, other users, its own processes. What
/// these reach is in the box: its layers, its process and ipc namespaces. A file made
/// immutable is so in a layer.
const KEPT: &[u32] = &[
    cap::CHOWN,
    cap::DAC_OVERRIDE,
    cap::FOWNER,
    cap::FSETID,
    cap::KILL,
    cap::SETGID,
    cap::SETUID,
    cap::SETPCAP,
    cap::LINUX_IMMUTABLE,
    cap::IPC_OWNER,
    cap::SYS_CHROOT,
    cap::SETFCAP,
];

/// These only where the network is the box's own.
const KEPT_WITH_OWN_NET: &[u32] = &[cap::NET_BIND_SERVICE, cap::NET_ADMIN, cap::NET_RAW];

/// What even a trusted box does without: no namespace holds these.
const NEVER: &[u32] =
    &[cap::SYS_MODULE, cap::SYS_RAWIO, cap::SYS_BOOT, cap::SYS_TIME, cap::SYSLOG, cap::WAKE_ALARM];

/// Highest number that fits the kernel's set.
const LAST: u32 = 63;

fn set(of: &[u32]) -> u64 {
    of.iter().fold(0, |set, number| set | 1 << number)
}

/// The rules of one box, ready for use between fork and exec.
#[derive(Clone)]
pub(super) struct Lock {
    kept: u64,
    filter: Vec<libc::sock_filter>,
    shared_net: bool,
    trusted: bool,
}

impl Lock {
    /// The rules for a box; an error where this kind of processor has no filter.
    pub(super) fn new(shared_net: bool, trusted: bool) -> io::Result<Lock> {
        if trusted {
            let kept = !set(NEVER);
            return Ok(Lock { kept, filter: Vec::new(), shared_net, trusted });
        }
        let own_net = if shared_net { 0 } else { set(KEPT_WITH_OWN_NET) };
        let filter = super::filter::program().ok_or_else(|| {
            io::Error::other("there is no filter of system calls for this kind of processor")
        })?;
        Ok(Lock { kept: set(KEPT) | own_net, filter, shared_net, trusted })
    }

    /// Locks the calling process for good. Makes system calls on prepared data only.
    pub(super) fn apply(&self) -> io::Result<()> {
        if !self.trusted {
            new_keyring()?;
            if self.shared_net {
                scope_abstract_sockets();
            }
            // While the right to mount is still there: without it a filter would need the
            // bit that takes the meaning from set-user programs.
            install(&self.filter)?;
        }
        drop_capabilities(self.kept)
    }
}

/// The keyring of the session is the caller's; inside there is an empty one.
#[expect(unsafe_code, reason = "keyrings are reached by the bare system call")]
fn new_keyring() -> io::Result<()> {
    const JOIN_SESSION_KEYRING: libc::c_long = 1;
    // SAFETY: numbers and a null name, which asks for an unnamed keyring.
    let done = unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, 0, 0, 0, 0) };
    match io::Error::last_os_error() {
        _ if done >= 0 => Ok(()),
        // A kernel or a container without keyrings has none to reach.
        error if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => Ok(()),
        error => Err(error),
    }
}

/// With the machine's network come its sockets without a file name. Linux 6.12 can keep a
/// process away from those; older kernels cannot, which the documents say.
#[expect(unsafe_code, reason = "landlock is reached by bare system calls")]
fn scope_abstract_sockets() {
    const CREATE_RULESET: libc::c_long = 444;
    const RESTRICT_SELF: libc::c_long = 446;
    const SCOPE_ABSTRACT_UNIX_SOCKET: u64 = 1;
    // Handled accesses to files, to ports, and what is scoped.
    let rules: [u64; 3] = [0, 0, SCOPE_ABSTRACT_UNIX_SOCKET];
    // SAFETY: the pointer and size describe the array; the rest are numbers.
    unsafe {
        let fd = libc::syscall(CREATE_RULESET, rules.as_ptr(), size_of_val(&rules), 0) as i32;
        if fd >= 0 {
            libc::syscall(RESTRICT_SELF, fd, 0);
            libc::close(fd);
        }
    }
}

#[expect(unsafe_code, reason = "a filter is given to the kernel by pointer")]
fn install(filter: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the program points to as many instructions as it says; the kernel copies them.
    let done =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Version 3 of the interface: two words of 32 bits each.
#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

const VERSION: u32 = 0x2008_0522;

/// Takes everything but `kept` from the bounding set first, so that no program gives it back,
/// then from the sets of this process. Fails closed: what was dropped is looked at.
#[expect(unsafe_code, reason = "capabilities are reached by bare system calls")]
fn drop_capabilities(kept: u64) -> io::Result<()> {
    let gone = |number: u32| kept & 1 << number == 0;
    let failed = || Err(io::Error::last_os_error());
    let header = Header { version: VERSION, pid: 0 };
    let mut now = [Sets::default(); 2];
    // SAFETY: numbers, and pointers to a header and two sets that outlive the calls.
    unsafe {
        for number in (0..=LAST).filter(|number| gone(*number)) {
            // A number the kernel does not know cannot be held.
            if libc::prctl(libc::PR_CAPBSET_READ, number, 0, 0, 0) == 1
                && libc::prctl(libc::PR_CAPBSET_DROP, number, 0, 0, 0) != 0
            {
                return failed();
            }
        }
        if libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 {
            return failed();
        }
        if libc::syscall(libc::SYS_capget, &raw const header, now.as_mut_ptr()) != 0 {
            return failed();
        }
        for (word, sets) in now.iter_mut().enumerate() {
            let kept = (kept >> (32 * word)) as u32;
            sets.permitted &= kept;
            sets.effective &= kept;
            sets.inheritable = 0;
        }
        if libc::syscall(libc::SYS_capset, &raw const header, now.as_ptr()) != 0
            || libc::syscall(libc::SYS_capget, &raw const header, now.as_mut_ptr()) != 0
        {
            return failed();
        }
        let held = now.iter().enumerate().fold(0, |held, (word, sets)| {
            held | u64::from(sets.permitted | sets.effective | sets.inheritable) << (32 * word)
        });
        let bounded = (0..=LAST)
            .any(|number| gone(number) && libc::prctl(libc::PR_CAPBSET_READ, number, 0, 0, 0) == 1);
        if bounded || held & !kept != 0 {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
    }
    Ok(())
}

/// Closes what a program must not inherit. The descriptors of the standard library that tell
/// of a failed start are among them, so they are closed by the start itself.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
pub(super) fn close_on_exec() {
    const CLOEXEC: u32 = 4;
    // SAFETY: plain numbers.
    unsafe {
        if libc::syscall(libc::SYS_close_range, 3, u32::MAX, CLOEXEC) != 0 {
            // Before Linux 5.11. What we open ourselves has the mark already, and what came
            // from the caller was closed at the start, so this is for the unexpected.
            for fd in 3..1024 {
                libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
}
