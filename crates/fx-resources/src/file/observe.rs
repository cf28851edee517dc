//! Looking at a file: one `lstat`, unless the caller just made it, and one `read` when content is
//! wanted.
//!
//! A digest is computed only once something is known to differ.

use std::path::Path;
use std::rc::Rc;

use fx_engine::{Change, Detail, Failure, Target};
use fx_host::{HostError, Kind, Look, Meta};
use fx_value::Value;

use super::{Content, Desired, Ensure, Links, New, Obstruction, Seen};
use crate::account::{self, Account};
use crate::digest::{same_bytes, same_content};

/// Larger content is not carried along for a diff that nobody could read. Chef draws the line
/// here too.
const DETAIL_LIMIT: u64 = 10_000_000;

type Observed = (Seen, Vec<Change>);

pub(super) fn observe(
    host: &dyn Look,
    desired: &Desired,
    known: Option<Meta>,
) -> Result<Observed, Failure> {
    let mut path = desired.path.clone();
    let mut meta = match known {
        Some(there) => Some(there),
        None => host.lstat_opt(&path)?,
    };
    if desired.links == Links::Follow && meta.as_ref().is_some_and(Meta::is_symlink) {
        match host.real_path_to_change(&path) {
            Ok(real) => {
                path = real;
                meta = host.lstat_opt(&path)?;
            }
            Err(error) if error.is_not_found() && desired.ensure == Ensure::Absent => {}
            Err(error) if error.is_not_found() => {
                return Err(Failure::new(format!("'{}' is a dangling link", path.display())));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let mut seen = Seen { path, meta, new: None, mode: None };
    let changes = match desired.ensure {
        Ensure::Absent => absence(desired, &seen)?,
        Ensure::IfPresent if seen.meta.is_none() => Vec::new(),
        Ensure::Present | Ensure::IfPresent => presence(host, desired, &mut seen)?,
    };
    Ok((seen, changes))
}

fn absence(desired: &Desired, seen: &Seen) -> Result<Vec<Change>, Failure> {
    let Some(meta) = &seen.meta else { return Ok(Vec::new()) };
    if meta.is_dir() && desired.obstruction == Obstruction::Refuse {
        return Err(obstructed(&seen.path, meta.kind));
    }
    Ok(vec![Change::of(Target::file(&seen.path), "ensure", meta.kind.word(), "absent")])
}

fn presence(host: &dyn Look, desired: &Desired, seen: &mut Seen) -> Result<Vec<Change>, Failure> {
    // Only a regular file has content and bits to compare with; the rest is replaced.
    let in_place = match &seen.meta {
        Some(meta) if meta.is_file() => true,
        Some(meta) if meta.is_symlink() && desired.links == Links::Replace => false,
        Some(meta) if desired.obstruction == Obstruction::Refuse => {
            return Err(obstructed(&seen.path, meta.kind));
        }
        _ => false,
    };
    let mut changes = Vec::new();
    if !in_place {
        let from = seen.meta.as_ref().map_or("absent", |meta| meta.kind.word());
        changes.push(Change::of(Target::file(&seen.path), "ensure", from, "file"));
    }
    let current = seen.meta.clone().filter(|_| in_place);
    content(host, desired, current.as_ref(), seen, &mut changes)?;

    let bits = current.as_ref().map(|meta| meta.mode);
    if let Some(mode) = &desired.mode {
        seen.mode = Some(mode.apply(bits.or(desired.create_mode).unwrap_or(0o600), false));
    }
    if let Some(mode) = seen.mode
        && bits != Some(mode)
    {
        let from = Value::from(bits.map(octal));
        changes.push(Change::of(Target::file(&seen.path), "mode", from, octal(mode)));
    }
    let ids = current.as_ref().map(|meta| (meta.uid, meta.gid));
    changes.extend(ownership(
        host,
        &Target::file(&seen.path),
        ids,
        desired.owner.as_ref(),
        desired.group.as_ref(),
    )?);
    Ok(changes)
}

fn content(
    host: &dyn Look,
    desired: &Desired,
    current: Option<&Meta>,
    seen: &mut Seen,
    changes: &mut Vec<Change>,
) -> Result<(), Failure> {
    let Some(content) = &desired.content else { return Ok(()) };
    if desired.create_only && current.is_some() {
        return Ok(());
    }
    let new = match content {
        Content::Bytes(bytes) => New::Bytes(Rc::clone(bytes)),
        Content::Copy { source } => {
            let read = small(host, source);
            if read.is_err() {
                // A source that is not there is missed first of all.
                host.stat(source)?;
            }
            match read? {
                Some(bytes) => New::Bytes(bytes.into()),
                None => New::CopyOf(source.clone()),
            }
        }
    };
    // What is larger than this is compared as a stream, and no diff is made of it.
    let old = current.map(|_| small(host, &seen.path)).transpose()?.flatten();
    let same = match (&new, &old) {
        _ if current.is_none() => false,
        (New::Bytes(new), Some(old)) => **new == **old,
        // One is small and the other is not, but for bytes that policy gave in full.
        (New::Bytes(new), None) => is_file_of(host, &seen.path, new)?,
        (New::CopyOf(source), _) => same_content(host, &seen.path, source)?,
    };
    if same {
        return Ok(());
    }
    let algorithm = desired.checksum;
    let from = match &old {
        Some(old) => Some(algorithm.label(old)),
        None => current
            .map(|_| crate::digest::label_of_file(algorithm, host, &seen.path))
            .transpose()?,
    };
    let to = match &new {
        New::Bytes(new) => algorithm.label(new),
        New::CopyOf(source) => crate::digest::label_of_file(algorithm, host, source)?,
    };
    let change = Change::of(Target::file(&seen.path), "content", from, to);
    changes.push(match &new {
        _ if desired.sensitive => change.sensitive(),
        New::Bytes(new)
            if new.len() as u64 <= DETAIL_LIMIT && (old.is_some() || current.is_none()) =>
        {
            let old = old.unwrap_or_default();
            change.detail(Detail::Content { old, new: new.to_vec() })
        }
        _ => change,
    });
    seen.new = Some(new);
    Ok(())
}

/// The content of a file that is small enough for a diff.
fn small(host: &dyn Look, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match host.read_limited(path, DETAIL_LIMIT) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(HostError::TooLarge { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a large file holds exactly these bytes.
fn is_file_of(host: &dyn Look, path: &Path, bytes: &[u8]) -> Result<bool, Failure> {
    if host.stat(path)?.size != bytes.len() as u64 {
        return Ok(false);
    }
    let same = same_bytes(&mut host.open(path)?, &mut &*bytes);
    same.map_err(|error| HostError::io("read", path, error).into())
}

/// Changes of owner and group, shared with directories and links. A name the machine does
/// not know yet is out of sync now and a failure only when it is set.
pub(crate) fn ownership(
    host: &dyn Look,
    target: &Target,
    current: Option<(u32, u32)>,
    owner: Option<&Account>,
    group: Option<&Account>,
) -> Result<Vec<Change>, Failure> {
    let mut changes = Vec::new();
    if let Some(owner) = owner {
        let id = account::user_id(host, owner)?;
        let found = current.map(|(uid, _)| uid);
        if id.is_none() || id != found {
            let from = found.map(|uid| account::user_label(host, uid));
            changes.push(Change::of(
                target.clone(),
                "owner",
                from.unwrap_or_default(),
                owner.to_string(),
            ));
        }
    }
    if let Some(group) = group {
        let id = account::group_id(host, group)?;
        let found = current.map(|(_, gid)| gid);
        if id.is_none() || id != found {
            let from = found.map(|gid| account::group_label(host, gid));
            changes.push(Change::of(
                target.clone(),
                "group",
                from.unwrap_or_default(),
                group.to_string(),
            ));
        }
    }
    Ok(changes)
}

/// The failure of an attempt that found something else under its name.
pub(crate) fn obstructed(path: &Path, kind: Kind) -> Failure {
    Failure::InTheWay { path: path.to_owned(), kind }
}

/// Permission bits as reports show them.
pub(crate) fn octal(mode: u32) -> String {
    format!("{mode:04o}")
}
