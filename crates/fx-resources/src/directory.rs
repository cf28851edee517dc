//! A directory: there or not, with mode and owner. What is in it is the matter of others.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Look, Meta};

use crate::account::Account;
use crate::file::apply::{clear_obstruction, resolve, set_attributes};
use crate::file::observe::{obstructed, octal, ownership};
use crate::file::{Ensure, Links, Obstruction};
use crate::mode::Mode;
use crate::wanted;

/// Deeper trees are refused: only an attack builds them.
const DEPTH_LIMIT: u32 = 1_000;

/// What a directory should be. Properties that are `None` are not looked at.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// Where, absolute.
    pub path: PathBuf,
    /// Whether it should be there.
    pub ensure: Ensure,
    /// Permission bits.
    pub mode: Option<Mode>,
    /// Bits of a directory that is created and has no `mode`; 0755 where not given.
    pub create_mode: Option<u32>,
    /// Owner.
    pub owner: Option<Account>,
    /// Group.
    pub group: Option<Account>,
    /// What a symbolic link at the path stands for.
    pub links: Links,
    /// What happens to something else that has the name.
    pub obstruction: Obstruction,
    /// With `Absent`: removes it with all it holds; else only an empty one goes.
    pub recursive_removal: bool,
}

/// A directory with its desired state.
pub struct Directory {
    /// What it should be.
    pub desired: Desired,
    seen: Option<Seen>,
}

struct Seen {
    path: PathBuf,
    meta: Option<Meta>,
    mode: Option<u32>,
}

impl Directory {
    /// A directory that should be like this.
    pub fn new(desired: Desired) -> Directory {
        Directory { desired, seen: None }
    }

    fn look(&self, host: &dyn Look) -> Result<(Seen, Vec<Change>), Failure> {
        let desired = &self.desired;
        let mut path = desired.path.clone();
        let mut meta = host.lstat_opt(&path)?;
        if desired.links == Links::Follow
            && desired.ensure != Ensure::Absent
            && meta.as_ref().is_some_and(Meta::is_symlink)
        {
            path = host.real_path_to_change(&path)?;
            meta = host.lstat_opt(&path)?;
        }
        let mut seen = Seen { path, meta, mode: None };
        let changes = match (desired.ensure, &seen.meta) {
            (Ensure::Absent | Ensure::IfPresent, None) => Vec::new(),
            (Ensure::Absent, Some(meta)) => self.absence(host, &seen.path, meta)?,
            (Ensure::Present | Ensure::IfPresent, _) => self.presence(host, &mut seen)?,
        };
        Ok((seen, changes))
    }

    fn absence(&self, host: &dyn Look, path: &Path, meta: &Meta) -> Result<Vec<Change>, Failure> {
        if !meta.is_dir() && self.desired.obstruction == Obstruction::Refuse {
            return Err(obstructed(path, meta.kind));
        }
        if meta.is_dir() && !self.desired.recursive_removal && !host.list(path)?.is_empty() {
            let text = format!("directory '{}' is not empty and is not removed", path.display());
            return Err(Failure::new(text));
        }
        Ok(vec![Change::of(self.target(), "ensure", meta.kind.word(), "absent")])
    }

    fn presence(&self, host: &dyn Look, seen: &mut Seen) -> Result<Vec<Change>, Failure> {
        let desired = &self.desired;
        let current = seen.meta.clone().filter(Meta::is_dir);
        let mut changes = Vec::new();
        if current.is_none() {
            let replaces_link = desired.links == Links::Replace;
            if let Some(meta) = &seen.meta
                && desired.obstruction == Obstruction::Refuse
                && !(meta.is_symlink() && replaces_link)
            {
                return Err(obstructed(&seen.path, meta.kind));
            }
            let from = seen.meta.as_ref().map_or("absent", |meta| meta.kind.word());
            changes.push(Change::of(self.target(), "ensure", from, "directory"));
        }
        let bits = current.as_ref().map(|meta| meta.mode);
        if let Some(mode) = &desired.mode {
            let base = bits.or(desired.create_mode).unwrap_or(0o755);
            let mode = mode.apply(base, true);
            seen.mode = Some(mode);
            if bits != Some(mode) {
                changes.push(Change::of(self.target(), "mode", bits.map(octal), octal(mode)));
            }
        }
        let ids = current.as_ref().map(|meta| (meta.uid, meta.gid));
        changes.extend(ownership(
            host,
            &self.target(),
            ids,
            desired.owner.as_ref(),
            desired.group.as_ref(),
        )?);
        Ok(changes)
    }

    fn create(&self, host: &dyn Act, seen: &Seen, mode: u32) -> Result<(), Failure> {
        let desired = &self.desired;
        if let Some(meta) = &seen.meta {
            if meta.is_symlink() && desired.links == Links::Replace {
                host.remove_file(&seen.path)?;
            } else {
                clear_obstruction(host, &seen.path, meta, &desired.obstruction)?;
            }
        }
        Ok(host.make_dir(&seen.path, mode)?)
    }
}

impl Resource for Directory {
    fn id(&self) -> ResourceId {
        ResourceId::new("directory", self.desired.path.to_string_lossy())
    }

    fn target(&self) -> Target {
        Target::file(&self.desired.path)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.seen = None;
        let (seen, changes) = self.look(host)?;
        self.seen = Some(seen);
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let Some(seen) = self.seen.take() else {
            return Err(Failure::new("directory was not observed before it was applied"));
        };
        let desired = &self.desired;
        if desired.ensure == Ensure::Absent {
            return match &seen.meta {
                Some(meta) if meta.is_dir() && desired.recursive_removal => {
                    remove_tree(host, &seen.path)
                }
                Some(meta) if meta.is_dir() => Ok(host.remove_dir(&seen.path)?),
                Some(meta) => clear_obstruction(host, &seen.path, meta, &desired.obstruction),
                None => Ok(()),
            };
        }
        let owner = desired.owner.as_ref().filter(|_| wanted(changes, "owner"));
        let group = desired.group.as_ref().filter(|_| wanted(changes, "group"));
        let (uid, gid) = resolve(host, owner, group)?;
        let mut mode = seen.mode.filter(|_| wanted(changes, "mode"));
        if wanted(changes, "ensure") {
            let bits = mode.take().or(desired.create_mode).unwrap_or(0o755);
            self.create(host, &seen, bits)?;
        }
        set_attributes(host, &seen.path, uid, gid, mode)?;
        Ok(())
    }
}

/// Everything below a directory with what the kernel knows of it, parents before children,
/// in byte order. Links are not followed.
pub fn walk(host: &dyn Look, top: &Path) -> Result<Vec<(PathBuf, Meta)>, Failure> {
    let mut found = Vec::new();
    let mut todo = vec![(top.to_owned(), 0, None::<Meta>)];
    while let Some((path, level, meta)) = todo.pop() {
        let opens = meta.as_ref().is_none_or(Meta::is_dir);
        if let Some(meta) = meta {
            found.push((path.clone(), meta));
        }
        if !opens {
            continue;
        }
        if level >= DEPTH_LIMIT {
            return Err(Failure::new(format!("'{}' is too deep", top.display())));
        }
        for entry in host.list(&path)?.into_iter().rev() {
            let inner = path.join(&entry.name);
            // Something may have gone since it was listed.
            if let Some(meta) = host.lstat_opt(&inner)? {
                todo.push((inner, level + 1, Some(meta)));
            }
        }
    }
    Ok(found)
}

/// Removes a directory with all it holds. Links are removed, not followed.
pub fn remove_tree(host: &dyn Act, top: &Path) -> Result<(), Failure> {
    let mut dirs = vec![top.to_owned()];
    for (path, meta) in walk(host, top)? {
        if meta.is_dir() {
            dirs.push(path);
        } else {
            host.remove_file(&path)?;
        }
    }
    for dir in dirs.iter().rev() {
        host.remove_dir(dir)?;
    }
    Ok(())
}

/// Makes the directories above a path that are missing.
pub fn make_parents(host: &dyn Act, path: &Path, mode: u32) -> Result<(), Failure> {
    let mut missing = Vec::new();
    let mut dir = path.parent();
    while let Some(here) = dir.filter(|dir| !dir.as_os_str().is_empty()) {
        if host.stat_opt(here)?.is_some() {
            break;
        }
        missing.push(here);
        dir = here.parent();
    }
    for dir in missing.into_iter().rev() {
        host.make_dir(dir, mode)?;
    }
    Ok(())
}

/// A name beside a path that nobody else can guess or hold.
pub(crate) fn temporary_beside(host: &dyn Look, path: &Path) -> PathBuf {
    let mut random = [0; 16];
    host.random(&mut random);
    let name = OsString::from(format!(".fx-{}", fx_formats::hex(random)));
    path.parent().map_or_else(|| PathBuf::from(&name), |dir| dir.join(&name))
}
