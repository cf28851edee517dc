//! Changing a file: backup, then one write that carries content, owner and mode together,
//! or the single attributes where the content stays.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fx_engine::{Change, Failure};
use fx_host::{Act, Look, Meta, WriteOptions};

use super::{Desired, Ensure, Links, New, Obstruction, Seen, backup, verify};
use crate::account::{self, Account};
use crate::{directory, wanted};

pub(super) fn apply(
    host: &dyn Act,
    desired: &Desired,
    seen: Seen,
    changes: &[Change],
) -> Result<(), Failure> {
    if desired.ensure == Ensure::Absent {
        return if wanted(changes, "ensure") { remove(host, desired, &seen) } else { Ok(()) };
    }
    let owner = desired.owner.as_ref().filter(|_| wanted(changes, "owner"));
    let group = desired.group.as_ref().filter(|_| wanted(changes, "group"));
    let (uid, gid) = resolve(host, owner, group)?;
    let mode = seen.mode.filter(|mode| wanted(changes, "mode") || is_lost(*mode, uid, gid));

    let creates = wanted(changes, "ensure");
    let new = seen.new.as_ref().filter(|_| wanted(changes, "content"));
    if creates || new.is_some() {
        if let Some(new) = new.filter(|_| !desired.verify.is_empty()) {
            let content = match new {
                New::Bytes(bytes) => Cow::Borrowed(&**bytes),
                New::CopyOf(source) => Cow::Owned(host.read(source)?),
            };
            verify::check(host, desired, &seen.path, &content)?;
        }
        if creates {
            clear_way(host, desired, &seen)?;
        } else if let Some(meta) = &seen.meta {
            backup::keep(host, &desired.backup, &seen.path, &seen.path, meta)?;
        }
        let create_mode = creates.then(|| desired.create_mode.unwrap_or(0o600));
        let options = WriteOptions { mode: mode.or(create_mode), uid, gid, mtime: None };
        match new {
            Some(New::Bytes(bytes)) => host.write(&seen.path, bytes, &options)?,
            Some(New::CopyOf(source)) => host.copy_file(source, &seen.path, &options)?,
            None => host.write(&seen.path, &[], &options)?,
        }
        return Ok(());
    }
    set_attributes(host, &seen.path, uid, gid, mode)
}

/// Numbers of owner and group that are to be set; a name nobody knows is a failure.
pub(crate) fn resolve(
    host: &dyn Look,
    owner: Option<&Account>,
    group: Option<&Account>,
) -> Result<(Option<u32>, Option<u32>), Failure> {
    let uid = owner.map(|owner| account::known_user(host, owner)).transpose()?;
    let gid = group.map(|group| account::known_group(host, group)).transpose()?;
    Ok((uid, gid))
}

/// Whether a change of owner takes bits away that this mode, which is policy's, has.
pub(crate) fn is_lost(mode: u32, uid: Option<u32>, gid: Option<u32>) -> bool {
    mode & 0o6000 != 0 && (uid.is_some() || gid.is_some())
}

/// Owner first, then mode: a change of owner takes set-id bits away, and only policy may
/// give them to the new owner.
pub(crate) fn set_attributes(
    host: &dyn Act,
    path: &Path,
    uid: Option<u32>,
    gid: Option<u32>,
    mode: Option<u32>,
) -> Result<(), Failure> {
    if uid.is_some() || gid.is_some() {
        host.set_owner(path, uid, gid)?;
    }
    if let Some(mode) = mode {
        host.set_mode(path, mode)?;
    }
    Ok(())
}

fn remove(host: &dyn Act, desired: &Desired, seen: &Seen) -> Result<(), Failure> {
    // With links followed, "absent" still means the name policy gave.
    let path = &desired.path;
    match host.lstat_opt(path)? {
        None => Ok(()),
        Some(meta) if meta.is_dir() => directory::remove_tree(host, path),
        Some(meta) => {
            if meta.is_file() && desired.backup != backup::Backup::None {
                backup::keep(host, &desired.backup, path, &seen.path, &meta)?;
            }
            Ok(host.remove_file(path)?)
        }
    }
}

// A write replaces anything but a directory by itself, in one moment.
fn clear_way(host: &dyn Act, desired: &Desired, seen: &Seen) -> Result<(), Failure> {
    let Some(meta) = &seen.meta else { return Ok(()) };
    if meta.is_symlink() && desired.links == Links::Replace {
        return Ok(());
    }
    clear_obstruction(host, &seen.path, meta, &desired.obstruction)
}

/// Removes what is in the way, where policy allows it.
pub(crate) fn clear_obstruction(
    host: &dyn Act,
    path: &Path,
    meta: &Meta,
    obstruction: &Obstruction,
) -> Result<(), Failure> {
    match obstruction {
        Obstruction::Refuse => Err(super::observe::obstructed(path, meta.kind)),
        Obstruction::Remove if meta.is_dir() => directory::remove_tree(host, path),
        Obstruction::Remove => Ok(host.remove_file(path)?),
    }
}

/// The path with a suffix behind its last name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
