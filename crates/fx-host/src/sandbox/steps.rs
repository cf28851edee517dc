//! Steps with their strings ready for the kernel, and how they are taken.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::mounts::Step;

pub(super) enum Ready {
    Dir(CString, u32),
    Owner { at: CString, uid: u32, gid: u32, mode: u32 },
    Special { kind: CString, at: CString, options: CString, flags: libc::c_ulong, needed: bool },
    Overlay { lower: CString, at: CString, options: CString, flags: libc::c_ulong, needed: bool },
    Bind { from: CString, at: CString, flags: libc::c_ulong },
    Content { at: CString, bytes: Vec<u8>, mode: u32, uid: u32, gid: u32 },
    Link(CString, CString),
}

pub(super) enum Taken {
    Done,
    /// It could not be, and the box stands without it.
    Skipped,
    Failed,
}

/// Strings for the kernel. A path with a zero byte, which it cannot have, is an error.
pub(super) fn ready(step: &Step) -> io::Result<Ready> {
    let text = |text: &str| CString::new(text).map_err(io::Error::from);
    let path = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from);
    Ok(match step {
        Step::Dir(at, mode) => Ready::Dir(path(at)?, *mode),
        Step::Owner { at, uid, gid, mode } => {
            Ready::Owner { at: path(at)?, uid: *uid, gid: *gid, mode: *mode }
        }
        Step::File(at) => {
            Ready::Content { at: path(at)?, bytes: Vec::new(), mode: 0o666, uid: 0, gid: 0 }
        }
        Step::Content { at, bytes, mode, uid, gid } => Ready::Content {
            at: path(at)?,
            bytes: bytes.clone(),
            mode: *mode,
            uid: *uid,
            gid: *gid,
        },
        Step::Link(target, at) => Ready::Link(path(target)?, path(at)?),
        Step::Bind { from, at, flags } => {
            Ready::Bind { from: path(from)?, at: path(at)?, flags: *flags }
        }
        Step::Special { kind, at, options, flags } => Ready::Special {
            kind: text(kind)?,
            at: path(at)?,
            options: text(options)?,
            flags: *flags,
            needed: *kind != "sysfs",
        },
        Step::Overlay { lower, upper, work, at, flags } => {
            let options = format!(
                "lowerdir={},upperdir={},workdir={},redirect_dir=off,metacopy=off",
                lower.display(),
                upper.display(),
                work.display()
            );
            Ready::Overlay {
                lower: path(lower)?,
                at: path(at)?,
                options: text(&options)?,
                flags: *flags,
                needed: at == Path::new("root") || at == Path::new("root/"),
            }
        }
    })
}

/// Takes a step. The error of one that failed is the system's last.
#[expect(unsafe_code, reason = "system calls on prepared data")]
pub(super) fn take(step: &Ready) -> Taken {
    let needed = |done: bool| if done { Taken::Done } else { Taken::Failed };
    // SAFETY: every pointer is a C string that outlives its call.
    unsafe {
        match step {
            Ready::Dir(at, mode) => needed(
                libc::mkdir(at.as_ptr(), *mode) == 0 && libc::chmod(at.as_ptr(), *mode) == 0
                    || *libc::__errno_location() == libc::EEXIST,
            ),
            Ready::Owner { at, uid, gid, mode } => needed(
                libc::chown(at.as_ptr(), *uid, *gid) == 0 && libc::chmod(at.as_ptr(), *mode) == 0,
            ),
            Ready::Link(target, at) => needed(libc::symlink(target.as_ptr(), at.as_ptr()) == 0),
            Ready::Content { at, bytes, mode, uid, gid } => {
                needed(write_file(at, bytes, *mode, *uid, *gid))
            }
            Ready::Special { kind, at, options, flags, needed } => {
                let options = options.as_ptr().cast();
                match libc::mount(kind.as_ptr(), at.as_ptr(), kind.as_ptr(), *flags, options) {
                    0 => Taken::Done,
                    _ if *needed => Taken::Failed,
                    _ => Taken::Skipped,
                }
            }
            Ready::Overlay { lower, at, options, flags, needed } => {
                let kind = c"overlay".as_ptr();
                let options = options.as_ptr().cast();
                if libc::mount(kind, at.as_ptr(), kind, *flags, options) == 0 {
                    return Taken::Done;
                }
                let error = *libc::__errno_location();
                if *needed {
                    return Taken::Failed;
                }
                // It is read only and without devices already.
                let null = std::ptr::null();
                libc::mount(lower.as_ptr(), at.as_ptr(), null, libc::MS_BIND, null.cast());
                *libc::__errno_location() = error;
                Taken::Skipped
            }
            Ready::Bind { from, at, flags } => {
                let null = std::ptr::null();
                if libc::mount(from.as_ptr(), at.as_ptr(), null, libc::MS_BIND, null.cast()) != 0 {
                    return Taken::Skipped;
                }
                needed(restrict(at, *flags))
            }
        }
    }
}

/// Adds flags to a mount. Those it has stay, since a container may not take them away.
#[expect(unsafe_code, reason = "system calls on prepared data")]
fn restrict(at: &CString, flags: libc::c_ulong) -> bool {
    if flags == 0 {
        return true;
    }
    // SAFETY: the string and the structure outlive their calls.
    unsafe {
        let mut now: libc::statvfs = std::mem::zeroed();
        if libc::statvfs(at.as_ptr(), &raw mut now) != 0 {
            return false;
        }
        let has = |flag: libc::c_ulong| now.f_flag & flag != 0;
        let mut all = libc::MS_BIND | libc::MS_REMOUNT | flags;
        for (told, flag) in [
            (libc::ST_RDONLY, libc::MS_RDONLY),
            (libc::ST_NOSUID, libc::MS_NOSUID),
            (libc::ST_NODEV, libc::MS_NODEV),
            (libc::ST_NOEXEC, libc::MS_NOEXEC),
            (libc::ST_NOATIME, libc::MS_NOATIME),
            (libc::ST_NODIRATIME, libc::MS_NODIRATIME),
            (libc::ST_RELATIME, libc::MS_RELATIME),
        ] {
            if has(told) {
                all |= flag;
            }
        }
        let null = std::ptr::null();
        libc::mount(null, at.as_ptr(), null, all, null.cast()) == 0
    }
}

#[expect(unsafe_code, reason = "system calls on prepared data")]
fn write_file(at: &CString, bytes: &[u8], mode: u32, uid: u32, gid: u32) -> bool {
    // SAFETY: the string outlives its call, and each write is within the bytes.
    unsafe {
        let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        let fd = libc::open(at.as_ptr(), flags, 0o600);
        if fd < 0 {
            return false;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let done = libc::write(fd, rest.as_ptr().cast(), rest.len());
            if done <= 0 {
                return false;
            }
            rest = &rest[done as usize..];
        }
        libc::fchown(fd, uid, gid) == 0 && libc::fchmod(fd, mode) == 0 && libc::close(fd) == 0
    }
}
