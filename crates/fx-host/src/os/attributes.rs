//! Owner, mode, times and extended attributes of files that are replaced or handed over.
//!
//! What a file's owner set on it beforehand must not outlive a change of owner: a set-user
//! bit would become a shell of the new owner, an ACL a way to read what he writes.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fd::AsFd;
use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Stat, Timespec, Timestamps, Uid, XattrFlags,
};
use rustix::io::Errno;

use super::files::open_in;
use super::path::Place;
use crate::{Time, WriteOptions};

const ACCESS_ACL: &str = "system.posix_acl_access";
const DEFAULT_ACL: &str = "system.posix_acl_default";
const SET_ID: u32 = 0o6000;

/// Gives a new file what it shall have, or what the old one had.
pub(super) fn dress(
    file: &File,
    place: &Place,
    old: Option<&Stat>,
    options: &WriteOptions,
) -> io::Result<()> {
    let me = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let uid = options.uid.or(old.map(|stat| stat.st_uid)).unwrap_or(me.0);
    let gid = options.gid.or(old.map(|stat| stat.st_gid)).unwrap_or(me.1);
    let changes_hands = old.is_some_and(|old| (old.st_uid, old.st_gid) != (uid, gid));
    if old.is_some() || !may_bequeath(place, uid)? {
        // The new file took this from its directory.
        without(rustix::fs::fremovexattr(file, ACCESS_ACL))?;
    }
    if let Some(old) = old {
        copy_xattrs(file, place, old, changes_hands)?;
    }
    if (uid, gid) != me {
        rustix::fs::fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
    }
    let kept = if changes_hands { 0o7777 & !SET_ID } else { 0o7777 };
    // After the owner, since a change of owner clears the set-user bits.
    let mode = options.mode.or(old.map(|stat| stat.st_mode & kept)).unwrap_or(0o600);
    if mode != 0o600 || old.is_some() {
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?;
    }
    if options.mtime.is_some() {
        rustix::fs::futimens(file, &timestamps(options.mtime, options.mtime))?;
    }
    Ok(())
}

/// Whether the default ACL of a directory may count for a new file of this owner: whoever
/// set it is root, we, or that very owner.
fn may_bequeath(place: &Place, uid: u32) -> io::Result<bool> {
    let holder = place.dir.stat()?.st_uid;
    Ok(holder == 0 || holder == uid || holder == rustix::process::geteuid().as_raw())
}

/// Sets owner and group of what a descriptor holds, and takes away what a former owner
/// other than root may have set on it for himself.
pub(super) fn hand_over(fd: impl AsFd, uid: Option<u32>, gid: Option<u32>) -> Result<(), Errno> {
    let fd = fd.as_fd();
    let old = rustix::fs::fstat(fd)?;
    let (user, group) = (uid.map(Uid::from_raw), gid.map(Gid::from_raw));
    rustix::fs::chownat(fd, "", user, group, AtFlags::EMPTY_PATH)?;
    let kind = FileType::from_raw_mode(old.st_mode);
    if kind.is_symlink() {
        return Ok(());
    }
    let stays = uid.is_none_or(|uid| uid == old.st_uid) && gid.is_none_or(|gid| gid == old.st_gid);
    if stays {
        return Ok(());
    }
    // The kernel leaves a set-group bit that nobody may execute.
    if kind.is_file() && rustix::fs::fstat(fd)?.st_mode & SET_ID != 0 {
        let bits = Mode::from_raw_mode(old.st_mode & 0o7777 & !SET_ID);
        rustix::fs::chmod(proc_name(fd.as_raw_fd()), bits)?;
    }
    let was_ours = old.st_uid == 0 || old.st_uid == rustix::process::geteuid().as_raw();
    if !was_ours && uid.is_some_and(|uid| uid != old.st_uid) {
        remove_attribute(fd.as_raw_fd(), ACCESS_ACL)?;
        if kind.is_dir() {
            remove_attribute(fd.as_raw_fd(), DEFAULT_ACL)?;
        }
    }
    Ok(())
}

// Through the name in /proc: the call on a descriptor refuses one that only holds a path.
fn proc_name(fd: i32) -> String {
    format!("/proc/self/fd/{fd}")
}

fn remove_attribute(fd: i32, name: &str) -> Result<(), Errno> {
    without(rustix::fs::removexattr(proc_name(fd), name))
}

/// The end of a removal: an attribute that was not there is fine.
fn without(removed: Result<(), Errno>) -> Result<(), Errno> {
    match removed {
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(()),
        other => other,
    }
}

/// Carries labels, ACLs and other extended attributes over from the file being replaced;
/// to another owner only those that grant nothing.
fn copy_xattrs(file: &File, place: &Place, old: &Stat, changes_hands: bool) -> io::Result<()> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(from) = open_in(place, flags) else {
        return Ok(());
    };
    if rustix::fs::fstat(&from)?.st_ino != old.st_ino {
        return Ok(());
    }
    let names = match grown(|buffer| rustix::fs::flistxattr(&from, buffer)) {
        Err(Errno::OPNOTSUPP) => return Ok(()),
        result => result?,
    };
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let grants = name.starts_with(b"system.") || name.starts_with(b"security.");
        if changes_hands && grants {
            continue;
        }
        let Ok(value) =
            grown(|buffer| rustix::fs::fgetxattr(&from, OsStr::from_bytes(name), buffer))
        else {
            continue;
        };
        match rustix::fs::fsetxattr(
            file.as_fd(),
            OsStr::from_bytes(name),
            &value,
            XattrFlags::empty(),
        ) {
            // The kernel keeps some attributes to itself (evm, labels without policy).
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::PERM | Errno::INVAL) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Reads a value of unknown length with a growing buffer.
pub(super) fn grown(
    mut read: impl FnMut(&mut [u8]) -> Result<usize, Errno>,
) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 256];
    loop {
        match read(&mut buffer) {
            Ok(count) => {
                buffer.truncate(count);
                return Ok(buffer);
            }
            Err(Errno::RANGE) if buffer.len() < 1 << 20 => buffer.resize(buffer.len() * 8, 0),
            Err(errno) => return Err(errno),
        }
    }
}

/// Times for the kernel; one that is not given stays.
pub(super) fn timestamps(atime: Option<Time>, mtime: Option<Time>) -> Timestamps {
    let spec = |time: Option<Time>| match time {
        Some(time) => Timespec { tv_sec: time.secs, tv_nsec: i64::from(time.nanos) },
        None => Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
    };
    Timestamps { last_access: spec(atime), last_modification: spec(mtime) }
}
