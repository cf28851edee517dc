//! The safe path layer: from a path to a directory descriptor and a last name.
//!
//! Nothing outside this file follows a symbolic link. A link is followed only if its owner
//! is root, the running user, or the owner of what it points to (CFEngine's rule). For a
//! change the rule is stricter: the owner of the directory that holds the link counts as
//! its owner too, since he can move links of others about in it, and no link is followed
//! in a directory that everybody can write. The common case, a path without links, is one
//! `openat2`; a link found sends the walk component by component, each held by a
//! descriptor, so nothing can be swapped between check and use. Where a link was seen before
//! (`known_links.rs`) the walk goes to it in one step, judges it as any other, and goes on behind
//! it in one more.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::{Errno, retry_on_intr};

use super::known_links;
use crate::{HostError, Result};

/// What the walk is for: a change is walked more strictly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// Looking only.
    Read,
    /// About to change what is found.
    Change,
}

/// Whether a final link is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaf {
    /// The link itself is meant.
    Itself,
    /// What it points to is meant.
    Followed,
}

/// A name in a directory that is held open. Nobody can move the directory from under us.
pub(super) struct Place {
    pub(super) dir: Rc<Dir>,
    pub(super) name: OsString,
}

impl Place {
    fn new(dir: OwnedFd, name: impl Into<OsString>) -> Place {
        Place { dir: Rc::new(Dir { fd: dir, stat: OnceCell::new() }), name: name.into() }
    }
}

/// A directory that is held open, and what was known of it when that was first needed.
pub(super) struct Dir {
    fd: OwnedFd,
    stat: OnceCell<Stat>,
}

impl Dir {
    pub(super) fn stat(&self) -> Result<&Stat, Errno> {
        if let Some(known) = self.stat.get() {
            return Ok(known);
        }
        let found = rustix::fs::fstat(&self.fd)?;
        Ok(self.stat.get_or_init(|| found))
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

const DIR: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const NO_LINKS: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);
const MAX_LINKS: u32 = 40;

/// Where the kernel alone makes links, and none of them leads elsewhere but those it calls
/// magic. Looking there is common at start, and the long way costs four times as much.
fn is_kernels(path: &Path) -> bool {
    path.starts_with("/sys") || path.starts_with("/proc")
}

/// Opens a path that has no link in it with one call; `None` if it has, or the kernel is old.
pub(super) fn open_plain(path: &Path, flags: OFlags) -> Result<Option<OwnedFd>, Errno> {
    let flags = flags | OFlags::CLOEXEC;
    let links = if is_kernels(path) { ResolveFlags::NO_MAGICLINKS } else { NO_LINKS };
    match retry_on_intr(|| rustix::fs::openat2(CWD, path, flags, Mode::empty(), links)) {
        Ok(fd) => Ok(Some(fd)),
        Err(Errno::LOOP | Errno::NOSYS | Errno::XDEV | Errno::AGAIN) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Opens a path to look at it with few calls: it has no link in it, or one on the way that was seen
/// before. `None` where that is not enough; the walk is for all others.
pub(super) fn open_short(path: &Path, flags: OFlags, op: &'static str) -> Result<Option<OwnedFd>> {
    // Behind a slash a link stands for what it leads to; the walk knows.
    if !means_a_directory(path) {
        let walk = Walk { asked: path, intent: Intent::Read, links: 0.into() };
        if let Some(found) = walk.behind_known_link(path, flags, op)? {
            return Ok(Some(found));
        }
    }
    open_plain(path, flags).map_err(|errno| HostError::io(op, path, errno))
}

/// A directory to look into.
pub(super) fn open_dir_to_look(path: &Path) -> Result<OwnedFd> {
    let walk = Walk { asked: path, intent: Intent::Read, links: 0.into() };
    walk.open_dir(CWD.as_fd(), path)
}

/// Finds the directory that holds a path's last name, following links by the rules.
pub(super) fn place(path: &Path, leaf: Leaf, intent: Intent) -> Result<Place> {
    let walk = Walk { asked: path, intent, links: 0.into() };
    walk.place(CWD.as_fd(), path, leaf)
}

/// A path with every link in it followed by the rules. What it leads to must exist.
pub(super) fn resolve(path: &Path, intent: Intent) -> Result<PathBuf> {
    let fail = |errno: Errno| HostError::io("resolve", path, errno);
    // A plain path without a link in it is its own name, and most are.
    if is_plain(path) && matches!(open_plain(path, OFlags::PATH), Ok(Some(_))) {
        return Ok(path.to_owned());
    }
    let place = place(path, Leaf::Followed, intent)?;
    rustix::fs::statat(&place.dir, &place.name, AtFlags::SYMLINK_NOFOLLOW).map_err(fail)?;
    let mut found = name_of(&place.dir.fd).map_err(fail)?;
    if place.name != "." {
        found.push(&place.name);
    }
    Ok(found)
}

/// Whether a path is absolute, written without `.`, `..` and doubled slashes, and not among the
/// files of the kernel, where links are followed.
pub(super) fn is_plain(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.len() > 1
        && !is_kernels(path)
        && bytes[0] == b'/'
        && bytes[1..].split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b".."))
}

/// A directory to work in, found as for a change: what is started there acts there.
pub(super) fn open_dir(path: &Path) -> Result<OwnedFd> {
    let walk = Walk { asked: path, intent: Intent::Change, links: 0.into() };
    walk.open_dir(CWD.as_fd(), path)
}

/// The kernel's own name for what a descriptor holds.
fn name_of(fd: &OwnedFd) -> Result<PathBuf, Errno> {
    use std::os::fd::AsRawFd;
    let by_number = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let name = rustix::fs::readlinkat(CWD, by_number, Vec::new())?;
    Ok(PathBuf::from(OsStr::from_bytes(name.as_bytes())))
}

/// A link that was found on the way: where it leads, and who could have put it there.
struct Link {
    name: OsString,
    target: PathBuf,
    owner: u32,
    /// Owner of the directory that holds it, where that matters.
    holder: Option<u32>,
}

impl Link {
    /// Whether all who could have put it there are root or the running user.
    fn passes_whatever_it_leads_to(&self) -> bool {
        passes(self.owner, None) && self.holder.is_none_or(|holder| passes(holder, None))
    }
}

struct Walk<'a> {
    asked: &'a Path,
    intent: Intent,
    links: std::cell::Cell<u32>,
}

impl Walk<'_> {
    fn fail(&self, errno: impl Into<io::Error>) -> HostError {
        HostError::io(
            if self.intent == Intent::Read { "read" } else { "change" },
            self.asked,
            errno,
        )
    }

    fn place(&self, base: BorrowedFd<'_>, path: &Path, leaf: Leaf) -> Result<Place> {
        let Some(Component::Normal(name)) = path.components().next_back() else {
            // "/", ".", "a/..": the directory itself is meant.
            return Ok(Place::new(self.open_dir(base, path)?, "."));
        };
        let parent =
            path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let dir = self.open_dir(base, parent)?;
        if leaf == Leaf::Itself && !means_a_directory(path) {
            return Ok(Place::new(dir, name));
        }
        match self.read_link(&dir, name)? {
            None => Ok(Place::new(dir, name)),
            Some(link) => {
                let base = base_for(&dir, &link.target);
                let place = self.place(base, &link.target, Leaf::Followed)?;
                let found = rustix::fs::statat(&place.dir, &place.name, AtFlags::SYMLINK_NOFOLLOW);
                self.check_owners(name, &link, found.ok().map(|stat| stat.st_uid))?;
                Ok(place)
            }
        }
    }

    fn open_dir(&self, base: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd> {
        if let Some(found) = self.over_known_link(path)? {
            return Ok(found);
        }
        match retry_on_intr(|| rustix::fs::openat2(base, path, DIR, Mode::empty(), NO_LINKS)) {
            Ok(fd) => return Ok(fd),
            Err(Errno::LOOP | Errno::NOSYS | Errno::XDEV | Errno::AGAIN) => {}
            Err(errno) => return Err(self.fail(errno)),
        }
        let start = if path.is_absolute() { Path::new("/") } else { Path::new(".") };
        let mut here = rustix::fs::openat(base, start, DIR, Mode::empty())
            .map_err(|errno| self.fail(errno))?;
        // The way so far, as long as it is plain.
        let mut plain = path.is_absolute().then(|| PathBuf::from("/"));
        for component in path.components() {
            let name = match component {
                Component::Normal(name) => name,
                Component::ParentDir => OsStr::new(".."),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
            };
            let (found, is_link) = self.enter(here, name)?;
            here = found;
            plain = plain.filter(|_| component != Component::ParentDir);
            if let Some(so_far) = &mut plain {
                so_far.push(name);
                if is_link {
                    known_links::remember(so_far);
                    plain = None;
                }
            }
        }
        Ok(here)
    }

    /// The directory that an absolute path leads to over a link that was seen before; `None` where
    /// there is none.
    fn over_known_link(&self, path: &Path) -> Result<Option<OwnedFd>> {
        let Some((dir, link, rest)) = self.known_link(path)? else { return Ok(None) };
        let base = base_for(&dir, &link.target);
        if link.passes_whatever_it_leads_to() {
            return self.open_dir(base, &link.target.join(rest)).map(Some);
        }
        let found = self.open_dir(base, &link.target)?;
        let uid = rustix::fs::fstat(&found).map_err(|errno| self.fail(errno))?.st_uid;
        self.check_owners(&link.name, &link, Some(uid))?;
        if rest.as_os_str().is_empty() {
            return Ok(Some(found));
        }
        self.open_dir(found.as_fd(), rest).map(Some)
    }

    /// Opens what lies behind a link that was seen before; `None` where there is none, where whose
    /// the target is counts, and where more links follow.
    fn behind_known_link(
        &self,
        path: &Path,
        flags: OFlags,
        op: &'static str,
    ) -> Result<Option<OwnedFd>> {
        let Some((dir, link, rest)) = self.known_link(path)? else { return Ok(None) };
        if rest.as_os_str().is_empty() || !link.passes_whatever_it_leads_to() {
            return Ok(None);
        }
        let (base, behind) = (base_for(&dir, &link.target), link.target.join(rest));
        let flags = flags | OFlags::CLOEXEC;
        match retry_on_intr(|| rustix::fs::openat2(base, &behind, flags, Mode::empty(), NO_LINKS)) {
            Ok(fd) => Ok(Some(fd)),
            Err(Errno::LOOP | Errno::NOSYS | Errno::XDEV | Errno::AGAIN) => Ok(None),
            Err(errno) => Err(HostError::io(op, self.asked, errno)),
        }
    }

    /// The link on the way of a path that was one before: the directory that holds it, the link as
    /// it is now, and the rest of the path.
    fn known_link<'p>(&self, path: &'p Path) -> Result<Option<(OwnedFd, Link, &'p Path)>> {
        let Some((at, rest)) = known_links::find(path) else { return Ok(None) };
        let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else { return Ok(None) };
        let opened =
            retry_on_intr(|| rustix::fs::openat2(CWD, parent, DIR, Mode::empty(), NO_LINKS));
        let found = match &opened {
            Ok(dir) => self.read_link(dir, name)?,
            Err(_) => None,
        };
        let (Ok(dir), Some(link)) = (opened, found) else {
            // Something else is there now: as if it were seen for the first time.
            known_links::forget(&at);
            return Ok(None);
        };
        Ok(Some((dir, link, rest)))
    }

    /// The directory of a name, and whether the name is a link to it.
    fn enter(&self, here: OwnedFd, name: &OsStr) -> Result<(OwnedFd, bool)> {
        match retry_on_intr(|| {
            rustix::fs::openat(&here, name, DIR | OFlags::NOFOLLOW, Mode::empty())
        }) {
            Ok(fd) => return Ok((fd, false)),
            Err(Errno::LOOP | Errno::NOTDIR) => {}
            Err(errno) => return Err(self.fail(errno)),
        }
        let Some(link) = self.read_link(&here, name)? else {
            return Err(self.fail(Errno::NOTDIR));
        };
        let found = self.open_dir(base_for(&here, &link.target), &link.target)?;
        let uid = rustix::fs::fstat(&found).map_err(|errno| self.fail(errno))?.st_uid;
        self.check_owners(name, &link, Some(uid))?;
        Ok((found, true))
    }

    /// A link that may be followed if its owners pass; `None` if the name is no link.
    fn read_link(&self, dir: &OwnedFd, name: &OsStr) -> Result<Option<Link>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match retry_on_intr(|| rustix::fs::openat(dir, name, flags, Mode::empty())) {
            Ok(fd) => fd,
            // Absence is the caller's to report, with its own words.
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(self.fail(errno)),
        };
        let link = rustix::fs::fstat(&fd).map_err(|errno| self.fail(errno))?;
        if !is_link(&link) {
            return Ok(None);
        }
        self.links.set(self.links.get() + 1);
        if self.links.get() > MAX_LINKS {
            return Err(self.fail(Errno::LOOP));
        }
        let around = rustix::fs::fstat(dir).map_err(|errno| self.fail(errno))?;
        if self.intent == Intent::Change && others_can_write(&around) {
            return Err(self.refuse(name, "it lies in a directory that others can write"));
        }
        // The descriptor is the link itself, so this reads what was checked.
        let target =
            rustix::fs::readlinkat(&fd, "", Vec::new()).map_err(|errno| self.fail(errno))?;
        Ok(Some(Link {
            name: name.to_owned(),
            target: PathBuf::from(OsStr::from_bytes(target.as_bytes())),
            owner: link.st_uid,
            holder: (self.intent == Intent::Change).then_some(around.st_uid),
        }))
    }

    /// Refuses a link that somebody could have put there who does not own its target.
    fn check_owners(&self, name: &OsStr, link: &Link, target: Option<u32>) -> Result<()> {
        let passes = |user: u32| passes(user, target);
        let (user, what) = if !passes(link.owner) {
            (link.owner, "the link")
        } else if let Some(holder) = link.holder.filter(|holder| !passes(*holder)) {
            (holder, "the directory of the link")
        } else {
            return Ok(());
        };
        let reason = match target {
            Some(target) => {
                format!("user {user} owns {what} but user {target} owns what it points to")
            }
            None => format!("user {user} owns {what} and it points to nothing"),
        };
        Err(self.refuse(name, &reason))
    }

    fn refuse(&self, name: &OsStr, reason: &str) -> HostError {
        HostError::UnsafePath {
            path: self.asked.to_owned(),
            link: name.into(),
            reason: reason.into(),
        }
    }
}

/// Whether a link of this user may be followed to what that user has.
fn passes(user: u32, target: Option<u32>) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw() || target == Some(user)
}

fn base_for<'a>(dir: &'a OwnedFd, target: &Path) -> BorrowedFd<'a> {
    if target.is_absolute() { CWD.as_fd() } else { dir.as_fd() }
}

// As for the kernel: `link/` and `link/.` are what the link leads to.
fn means_a_directory(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.ends_with(b"/") || bytes.ends_with(b"/.")
}

fn is_link(stat: &Stat) -> bool {
    rustix::fs::FileType::from_raw_mode(stat.st_mode).is_symlink()
}

// A sticky directory is safe: there a link can be replaced by its owner alone, and the
// owner rule judges that owner. A group counts as others unless it is root's.
fn others_can_write(dir: &Stat) -> bool {
    let sticky = dir.st_mode & 0o1000 != 0;
    let by_all = dir.st_mode & 0o002 != 0;
    let by_group = dir.st_mode & 0o020 != 0
        && dir.st_gid != 0
        && dir.st_gid != rustix::process::getegid().as_raw();
    (by_all || by_group) && !sticky
}
