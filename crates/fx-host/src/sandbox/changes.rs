//! What a box changed: the copy-on-write layers read back and held against the machine.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::Sandbox;

/// One path that is not as it is outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsChange {
    /// The path, as seen inside and outside.
    pub path: PathBuf,
    /// What became of it.
    pub kind: ChangeKind,
    /// Permission bits, owner and group outside; `None` if it is not there.
    pub before: Option<Attributes>,
    /// The same inside.
    pub after: Option<Attributes>,
    /// Where the new content can be read while the box lives.
    pub inside: PathBuf,
}

/// What became of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It holds something else, or is something else.
    Content,
    /// Only its mode or owner differ.
    Attributes,
}

/// What a listing shows of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of stat(2)")]
pub struct Attributes {
    pub is_dir: bool,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
}

impl Attributes {
    fn of(meta: &fs::Metadata) -> Attributes {
        Attributes {
            is_dir: meta.is_dir(),
            mode: meta.mode() & 0o7777,
            uid: meta.uid(),
            gid: meta.gid(),
        }
    }
}

impl FsChange {
    /// Old and new bytes of a file that is not larger than the limit; a file that is new or
    /// gone is empty on the other side.
    pub fn contents(&self, limit: u64) -> Option<(Vec<u8>, Vec<u8>)> {
        let read = |path: &Path| {
            let meta = fs::symlink_metadata(path).ok()?;
            (meta.is_file() && meta.len() <= limit).then(|| fs::read(path).ok()).flatten()
        };
        let old = if self.kind == ChangeKind::Added { Vec::new() } else { read(&self.path)? };
        let new = if self.kind == ChangeKind::Deleted { Vec::new() } else { read(&self.inside)? };
        Some((old, new))
    }
}

impl Sandbox {
    /// Every path that differs from the machine, in byte order. Files that were written
    /// with the same content and attributes are not among them.
    pub fn changes(&self) -> Vec<FsChange> {
        let mut found = Vec::new();
        for layer in self.layers() {
            let upper = self.upper(layer);
            walk(&upper, &layer.mount, &mut found);
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }
}

fn names(dir: &Path) -> Vec<OsString> {
    let mut names: Vec<OsString> =
        fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    names
}

fn walk(upper: &Path, lower: &Path, found: &mut Vec<FsChange>) {
    for name in names(upper) {
        let (inside, outside) = (upper.join(&name), lower.join(&name));
        let Ok(new) = fs::symlink_metadata(&inside) else { continue };
        let old = fs::symlink_metadata(&outside).ok();
        let (before, after) = (old.as_ref().map(Attributes::of), Some(Attributes::of(&new)));
        let mut push = |kind, after| {
            found.push(FsChange {
                path: outside.clone(),
                kind,
                before,
                after,
                inside: inside.clone(),
            })
        };
        // The kernel marks a deletion by a character device of number zero.
        if new.file_type().is_char_device() && new.rdev() == 0 {
            if old.is_some() {
                push(ChangeKind::Deleted, None);
            }
            continue;
        }
        match &old {
            None => push(ChangeKind::Added, after),
            Some(old) if !same_content(&inside, &new, &outside, old) => {
                push(ChangeKind::Content, after)
            }
            Some(_) if before != after => push(ChangeKind::Attributes, after),
            Some(_) => {}
        }
        if new.is_dir() {
            walk(&inside, &outside, found);
            if is_opaque(&inside) {
                hidden(&inside, &outside, found);
            }
        }
    }
}

/// Whether both are the same kind of thing with the same bytes or target.
fn same_content(inside: &Path, new: &fs::Metadata, outside: &Path, old: &fs::Metadata) -> bool {
    if new.file_type() != old.file_type() {
        return false;
    }
    if new.is_symlink() {
        return fs::read_link(inside).ok() == fs::read_link(outside).ok();
    }
    if !new.is_file() {
        return true;
    }
    new.len() == old.len() && same_bytes(inside, outside).unwrap_or(false)
}

fn same_bytes(a: &Path, b: &Path) -> std::io::Result<bool> {
    use std::io::Read;
    let (mut a, mut b) = (fs::File::open(a)?, fs::File::open(b)?);
    let (mut left, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let count = a.read(&mut left)?;
        if count == 0 {
            return Ok(true);
        }
        b.read_exact(&mut right[..count])?;
        if left[..count] != right[..count] {
            return Ok(false);
        }
    }
}

/// A directory that was deleted and made again hides all that was in it.
fn is_opaque(dir: &Path) -> bool {
    let mut value = [0; 1];
    rustix::fs::getxattr(dir, "trusted.overlay.opaque", &mut value).is_ok() && value == *b"y"
}

fn hidden(inside: &Path, outside: &Path, found: &mut Vec<FsChange>) {
    let kept = names(inside);
    for name in names(outside) {
        if kept.contains(&name) {
            continue;
        }
        let path = outside.join(&name);
        let before = fs::symlink_metadata(&path).ok().map(|meta| Attributes::of(&meta));
        found.push(FsChange {
            path,
            kind: ChangeKind::Deleted,
            before,
            after: None,
            inside: inside.join(&name),
        });
    }
}
