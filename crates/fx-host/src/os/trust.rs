//! Reading what root acts upon: only what nobody else can write.
//!
//! Policy, configuration, modules and plug-ins are programs that run as root, so whoever can
//! write them is root. The file, each link and each directory on the way must belong to root
//! or to whoever called sudo, and no one else may be able to write them. A directory that
//! was judged once is not judged again in a run, so a file costs one `fstat` more. Nobody
//! else can swap a name in a directory that passed, so paths below it are safe to use.
//!
//! It judges nothing for an ordinary user: what he may read and run is his own affair.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};

use super::OsHost;
use super::content::read_up_to;
use super::path::open_plain;
use crate::{Accounts, Edits, Files, HostError, Result};

/// Directories whose content the administrator accepts whoever can write it.
const VOUCHED: &str = "FIXPOINT_TRUST";
const MAX_LINKS: u32 = 40;

/// What was found out in this run.
#[derive(Default)]
pub(super) struct Trust {
    rule: OnceCell<Option<Rule>>,
    /// Directories without links that passed, and whether others may add names there.
    passed: RefCell<HashMap<PathBuf, Sticky>>,
    /// Directories as they were named, and what they are once links are resolved.
    known: RefCell<HashMap<PathBuf, PathBuf>>,
    /// The first refusal, in words.
    refused: OnceCell<String>,
}

/// Who may write, and what is accepted anyway.
struct Rule {
    sudo_user: Option<u32>,
    vouched: Vec<PathBuf>,
}

/// Whether a directory is one where everybody may add names, as in /tmp.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sticky {
    Yes,
    No,
}

/// What is wrong with a file or directory, and what mends it.
struct Flaw {
    reason: String,
    remedy: &'static str,
}

impl OsHost {
    /// Refuses what somebody else could write. A directory must be one where nobody else can
    /// add names.
    pub(super) fn judge(&self, path: &Path) -> Result<()> {
        self.remembered(self.judged(path))
    }

    /// The whole content of a file that nobody else can write, up to a limit.
    pub(super) fn read_judged(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        self.remembered(self.judged_content(path, limit))
    }

    pub(super) fn refusal(&self) -> Option<String> {
        self.trust.refused.get().cloned()
    }

    fn remembered<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error @ (HostError::Untrusted { .. } | HostError::TooLarge { .. })) = &result {
            self.trust.refused.get_or_init(|| error.to_string());
        }
        result
    }

    fn judged(&self, path: &Path) -> Result<()> {
        let Some((rule, asked)) = self.to_judge(path)? else { return Ok(()) };
        // What we wrote a moment ago is judged under its name.
        if !self.stage.borrow().is_empty() {
            self.settle()?;
        }
        self.present(path)?;
        let real = self.resolve(rule, &asked)?;
        if self.trust.passed.borrow().get(&real) == Some(&Sticky::Yes) {
            let reason = "lets everybody add files".to_owned();
            return Err(refuse(&asked, &real, Flaw { reason, remedy: "chmod go-w" }));
        }
        Ok(())
    }

    fn judged_content(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        let Some((rule, asked)) = self.to_judge(path)? else {
            return self.read_limited(path, limit);
        };
        if !self.stage.borrow().is_empty() {
            self.settle()?;
        }
        let (file, real) = match self.open_known(&asked)? {
            Some(found) => found,
            None => {
                self.present(path)?;
                let real = self.resolve(rule, &asked)?;
                (open_judged(&real).map_err(|errno| HostError::io("read", path, errno))?, real)
            }
        };
        let stat = rustix::fs::fstat(&file).map_err(|errno| HostError::io("read", path, errno))?;
        match self.flaw(rule, &real, &stat) {
            Some(flaw) => Err(refuse(&asked, &real, flaw)),
            None => read_up_to(&file, stat.st_size as u64, limit, path),
        }
    }

    /// What is not there is reported as such, whoever owns the directories.
    fn present(&self, path: &Path) -> Result<()> {
        self.stat(path)
            .map(drop)
            .or_else(|error| if error.is_not_found() { Err(error) } else { Ok(()) })
    }

    /// The rule and the path it judges; `None` where all is accepted.
    fn to_judge(&self, path: &Path) -> Result<Option<(&Rule, PathBuf)>> {
        let Some(rule) = self.trust.rule.get_or_init(Rule::of_this_run) else { return Ok(None) };
        let asked = std::path::absolute(path).map_err(|e| HostError::io("read", path, e))?;
        Ok(Some((rule, asked)).filter(|(rule, asked)| !rule.vouches(asked)))
    }

    /// Opens a file in a directory that passed before, unless the name is a link.
    fn open_known(&self, asked: &Path) -> Result<Option<(File, PathBuf)>> {
        let (Some(parent), Some(name)) = (asked.parent(), asked.file_name()) else {
            return Ok(None);
        };
        let known = self.trust.known.borrow();
        let Some(real) = known.get(parent).map(|real| real.join(name)) else { return Ok(None) };
        let found = open_plain(&real, READ).map_err(|errno| HostError::io("read", asked, errno))?;
        Ok(found.map(|fd| (File::from(fd), real)))
    }

    /// Where a path leads once each step was judged, from the root on.
    fn resolve(&self, rule: &Rule, asked: &Path) -> Result<PathBuf> {
        let mut real = PathBuf::from("/");
        let mut left = steps(asked);
        let (mut links, mut leaf_is_link) = (0, false);
        self.pass(rule, asked, &real)?;
        while let Some(name) = left.pop() {
            if name == ".." {
                real.pop();
                continue;
            }
            let next = real.join(&name);
            if self.trust.passed.borrow().contains_key(&next) {
                real = next;
                continue;
            }
            let Some(target) = self.pass(rule, asked, &next)? else {
                real = next;
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return Err(HostError::io("read", asked, Errno::LOOP));
            }
            leaf_is_link |= left.is_empty();
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            left.extend(steps(&target));
        }
        if let (false, Some(parent), Some(above)) = (leaf_is_link, asked.parent(), real.parent()) {
            self.trust.known.borrow_mut().insert(parent.to_owned(), above.to_owned());
        }
        Ok(real)
    }

    /// Judges one name in a directory that passed; the target if it is a link.
    fn pass(&self, rule: &Rule, asked: &Path, path: &Path) -> Result<Option<PathBuf>> {
        let failed = |errno: Errno| HostError::io("read", asked, errno);
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(CWD, path, flags, Mode::empty()))
            .map_err(failed)?;
        let stat = rustix::fs::fstat(&fd).map_err(failed)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        let flaw = self.flaw(rule, path, &stat);
        // In a sticky directory a name is safe that belongs to us, and each is judged.
        let sticky = kind.is_dir() && stat.st_mode & 0o1000 != 0 && rule.owns(&stat);
        match flaw {
            Some(flaw) if !sticky => return Err(refuse(asked, path, flaw)),
            _ if kind.is_dir() => {
                let sticky = if flaw.is_some() { Sticky::Yes } else { Sticky::No };
                self.trust.passed.borrow_mut().insert(path.to_owned(), sticky);
            }
            _ => {}
        }
        if !kind.is_symlink() {
            return Ok(None);
        }
        let target = rustix::fs::readlinkat(&fd, "", Vec::new()).map_err(failed)?;
        Ok(Some(OsString::from_vec(target.into_bytes()).into()))
    }

    /// What lets others write this; nothing where root vouches for it, or where we are root
    /// only by name.
    fn flaw(&self, rule: &Rule, path: &Path, stat: &Stat) -> Option<Flaw> {
        self.seen_flaw(rule, path, stat).filter(|_| !rule.vouches(path) && !is_alone())
    }

    fn seen_flaw(&self, rule: &Rule, path: &Path, stat: &Stat) -> Option<Flaw> {
        if !rule.owns(stat) {
            let reason = format!("belongs to user {}", self.user_name(stat.st_uid));
            return Some(Flaw { reason, remedy: "chown root" });
        }
        // A link has no mode of its own, and what is written to a device is not read from it.
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind.is_symlink() || kind.is_char_device() {
            return None;
        }
        if stat.st_mode & 0o002 != 0 {
            let reason = "can be written by everybody".to_owned();
            return Some(Flaw { reason, remedy: "chmod go-w" });
        }
        if stat.st_mode & 0o020 == 0 {
            return None;
        }
        if !self.is_ours_alone(rule, stat.st_gid) {
            let reason = format!("can be written by group {}", self.group_name(stat.st_gid));
            return Some(Flaw { reason, remedy: "chmod g-w" });
        }
        // With an access list these bits are its mask: others may be named in it.
        let by_list = acl(path).is_some_and(|list| self.lets_others_write(rule, &list));
        let reason = "can be written by others through its access control list".to_owned();
        by_list.then_some(Flaw { reason, remedy: "setfacl -b" })
    }

    /// Whether a group is root's, or that of the caller of sudo with nobody else in it.
    fn is_ours_alone(&self, rule: &Rule, gid: u32) -> bool {
        if gid == 0 {
            return true;
        }
        let Some(user) = rule.sudo_user.and_then(|uid| self.user_by_id(uid).ok().flatten()) else {
            return false;
        };
        let Ok(Some(group)) = self.group_by_id(gid) else { return false };
        let Ok(users) = self.users() else { return false };
        user.gid == gid
            && group.members.iter().all(|member| *member == user.name)
            && users.iter().all(|other| other.gid != gid || other.uid == user.uid)
    }

    /// Whether an access list, as the kernel keeps it, lets anybody else write.
    fn lets_others_write(&self, rule: &Rule, list: &[u8]) -> bool {
        const USER: u16 = 2;
        const GROUP: u16 = 8;
        list.get(4..).unwrap_or_default().chunks_exact(8).any(|entry| {
            let (tag, bits) = (pair(entry[0], entry[1]), pair(entry[2], entry[3]));
            let id = u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]]);
            bits & 2 != 0
                && match tag {
                    USER => id != 0 && Some(id) != rule.sudo_user,
                    GROUP => !self.is_ours_alone(rule, id),
                    _ => false,
                }
        })
    }

    fn user_name(&self, uid: u32) -> String {
        match self.user_by_id(uid) {
            Ok(Some(user)) => format!("'{}' ({uid})", user.name),
            _ => uid.to_string(),
        }
    }

    fn group_name(&self, gid: u32) -> String {
        match self.group_by_id(gid) {
            Ok(Some(group)) => format!("'{}' ({gid})", group.name),
            _ => gid.to_string(),
        }
    }
}

fn refuse(path: &Path, culprit: &Path, flaw: Flaw) -> HostError {
    let (path, culprit) = (path.to_owned(), culprit.to_owned());
    HostError::Untrusted { path, culprit, reason: flaw.reason, remedy: flaw.remedy }
}

/// Opens a file whose directories passed and whose name is no link.
fn open_judged(real: &Path) -> Result<File, Errno> {
    let fd = match open_plain(real, READ)? {
        Some(fd) => fd,
        // A kernel without `openat2`.
        None => retry_on_intr(|| {
            let flags = READ | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            rustix::fs::openat(CWD, real, flags, Mode::empty())
        })?,
    };
    Ok(File::from(fd))
}

impl Rule {
    /// The rule for root; none for an ordinary user.
    fn of_this_run() -> Option<Rule> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let number = |name| std::env::var(name).ok()?.parse().ok();
        let list = std::env::var_os(VOUCHED).unwrap_or_default();
        let named = std::env::split_paths(&list).filter(|path| path.is_absolute());
        let mut vouched: Vec<PathBuf> = named.collect();
        // A link that root vouches for stands for the directory it leads to.
        let real: Vec<_> = vouched.iter().filter_map(|path| path.canonicalize().ok()).collect();
        vouched.extend(real);
        Some(Rule { sudo_user: number("SUDO_UID"), vouched })
    }

    fn owns(&self, stat: &Stat) -> bool {
        stat.st_uid == 0 || Some(stat.st_uid) == self.sudo_user
    }

    fn vouches(&self, path: &Path) -> bool {
        let climbs = |path: &Path| path.components().any(|step| step == Component::ParentDir);
        self.vouched.iter().any(|root| path.starts_with(root)) && !climbs(path)
    }
}

/// Whether our user namespace has one user only: an ordinary user who is root by name. Files
/// of the real root then seem to be nobody's.
fn is_alone() -> bool {
    let Ok(map) = std::fs::read_to_string("/proc/self/uid_map") else { return false };
    let mut words = map.split_whitespace().skip(2);
    words.next() == Some("1") && words.next().is_none()
}

const READ: OFlags = OFlags::RDONLY.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// The names of a path from last to first.
fn steps(path: &Path) -> Vec<OsString> {
    let name = |step: Component<'_>| match step {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    };
    path.components().rev().filter_map(name).collect()
}

fn pair(low: u8, high: u8) -> u16 {
    u16::from_le_bytes([low, high])
}

fn acl(path: &Path) -> Option<Vec<u8>> {
    let mut list = vec![0; 4096];
    let name = "system.posix_acl_access";
    let count = rustix::fs::lgetxattr(path, name, &mut list[..]).ok()?;
    list.truncate(count);
    Some(list)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;
    use crate::limits;

    const OTHER: u32 = 1_234_567;

    /// A host whose rule does not come from the environment, and a directory of root's; `None`
    /// where nobody else's files can be made.
    fn scratch(sudo_user: Option<u32>, vouched: &[&str]) -> Option<(tempfile::TempDir, OsHost)> {
        if !rustix::process::geteuid().is_root() {
            use std::io::Write;
            writeln!(std::io::stderr(), "SKIPPED: only root can give files away").unwrap();
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let vouched = vouched.iter().map(|name| dir.path().join(name)).collect();
        Some((dir, with_rule(Rule { sudo_user, vouched })))
    }

    fn with_rule(rule: Rule) -> OsHost {
        let host = OsHost::new();
        host.trust.rule.set(Some(rule)).ok().unwrap();
        host
    }

    /// Makes a file of root's in a directory of root's.
    fn plant(dir: &tempfile::TempDir, name: &str) -> PathBuf {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        path
    }

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[track_caller]
    fn refused(host: &OsHost, path: &Path, culprit: &Path, why: &str) {
        for result in [host.read_trusted(path).map(drop), host.check_trusted(path)] {
            match result {
                Err(HostError::Untrusted { culprit: found, reason, .. }) => {
                    assert_eq!((found.as_path(), reason.as_str()), (culprit, why));
                }
                other => panic!("{} was not refused: {other:?}", path.display()),
            }
        }
    }

    #[test]
    fn what_waits_for_its_name_is_judged_too() {
        let Some((dir, host)) = scratch(None, &[]) else { return };
        let path = dir.path().join("written");
        let options = crate::WriteOptions { mode: Some(0o644), ..crate::WriteOptions::default() };
        host.write(&path, b"x", &options).unwrap();
        host.check_trusted(&path).unwrap();
        assert!(path.exists(), "it has its name now");
    }

    #[test]
    fn a_file_a_directory_and_a_link_of_another_user_are_refused() {
        let Some((dir, host)) = scratch(None, &[]) else { return };
        let (file, below) = (plant(&dir, "a/file"), plant(&dir, "b/c/file"));
        let link = dir.path().join("link");
        symlink(dir.path().join("good/file"), &link).unwrap();
        let good = plant(&dir, "good/file");
        assert_eq!(host.read_trusted(&good).unwrap(), b"x");
        assert_eq!(host.read_trusted(&link).unwrap(), b"x", "a link of root's is followed");
        for path in [&file, &dir.path().join("b"), &link] {
            std::os::unix::fs::lchown(path, Some(OTHER), Some(OTHER)).unwrap();
        }
        let why = format!("belongs to user {OTHER}");
        refused(&host, &file, &file, &why);
        refused(&host, &below, &dir.path().join("b"), &why);
        refused(&host, &link, &link, &why);
        let below_link = dir.path().join("d");
        symlink(dir.path().join("b/c"), &below_link).unwrap();
        refused(&host, &below_link.join("file"), &dir.path().join("b"), &why);
    }

    #[test]
    fn what_groups_and_everybody_can_write_is_refused() {
        let Some((dir, host)) = scratch(None, &[]) else { return };
        let (file, group, ours) = (plant(&dir, "file"), plant(&dir, "group"), plant(&dir, "ours"));
        let below = plant(&dir, "open/file");
        mode(&file, 0o646);
        mode(&group, 0o664);
        chown(&group, None, Some(OTHER)).unwrap();
        mode(&ours, 0o664);
        mode(below.parent().unwrap(), 0o777);
        refused(&host, &file, &file, "can be written by everybody");
        refused(&host, &group, &group, &format!("can be written by group {OTHER}"));
        refused(&host, &below, below.parent().unwrap(), "can be written by everybody");
        assert_eq!(host.read_trusted(&ours).unwrap(), b"x", "root's group is root");
    }

    #[test]
    fn an_access_list_that_names_another_user_is_refused() {
        let Some((dir, host)) = scratch(None, &[]) else { return };
        let file = plant(&dir, "file");
        let mut list = vec![2, 0, 0, 0];
        for (tag, bits, id) in [
            (1u16, 6u16, u32::MAX),
            (2, 6, OTHER),
            (4, 4, u32::MAX),
            (16, 6, u32::MAX),
            (32, 4, u32::MAX),
        ] {
            list.extend([tag.to_le_bytes(), bits.to_le_bytes()].concat());
            list.extend(id.to_le_bytes());
        }
        match host.set_xattr(&file, "system.posix_acl_access", Some(&list)) {
            Ok(()) => refused(
                &host,
                &file,
                &file,
                "can be written by others through its access control list",
            ),
            // The judgement itself needs no file system that keeps lists.
            Err(_) => assert!(
                host.lets_others_write(&Rule { sudo_user: None, vouched: Vec::new() }, &list)
            ),
        }
    }

    #[test]
    fn a_sticky_directory_may_be_on_the_way_but_not_be_listed() {
        let Some((dir, host)) = scratch(None, &[]) else { return };
        let file = plant(&dir, "shared/file");
        let shared = file.parent().unwrap();
        mode(shared, 0o1777);
        assert_eq!(host.read_trusted(&file).unwrap(), b"x");
        assert!(matches!(host.list_trusted(shared), Err(HostError::Untrusted { .. })));
        let planted = plant(&dir, "shared/planted");
        chown(&planted, Some(OTHER), None).unwrap();
        refused(&host, &planted, &planted, &format!("belongs to user {OTHER}"));
    }

    #[test]
    fn what_root_vouches_for_and_what_the_caller_of_sudo_owns_is_read() {
        let Some((dir, host)) = scratch(Some(OTHER), &["vouched"]) else { return };
        let (mine, theirs) = (plant(&dir, "mine/file"), plant(&dir, "vouched/deep/file"));
        chown(mine.parent().unwrap(), Some(OTHER), None).unwrap();
        chown(&theirs, Some(OTHER + 1), None).unwrap();
        mode(&theirs, 0o666);
        assert_eq!(host.read_trusted(&mine).unwrap(), b"x");
        assert_eq!(host.read_trusted(&theirs).unwrap(), b"x");
        let link = dir.path().join("link");
        symlink(theirs.parent().unwrap(), &link).unwrap();
        assert_eq!(host.read_trusted(&link.join("file")).unwrap(), b"x");
        // The name of a vouched directory does not reach out of it.
        let outside = plant(&dir, "outside");
        mode(&outside, 0o666);
        let around = dir.path().join("vouched/../outside");
        assert!(matches!(host.read_trusted(&around), Err(HostError::Untrusted { .. })));
    }

    #[test]
    fn a_directory_that_passed_does_not_vouch_for_links_put_there_later() {
        let Some((dir, host)) = scratch(None, &[]) else { return };
        let (first, other) = (plant(&dir, "a/first"), plant(&dir, "b/second"));
        assert_eq!(host.read_trusted(&first).unwrap(), b"x");
        chown(other.parent().unwrap(), Some(OTHER), None).unwrap();
        let link = dir.path().join("a/second");
        symlink(&other, &link).unwrap();
        refused(&host, &link, other.parent().unwrap(), &format!("belongs to user {OTHER}"));
        // A link of the same name as its target does not make the one directory the other.
        let third = plant(&dir, "c/third");
        fs::write(dir.path().join("c/only"), "y").unwrap();
        symlink(&third, dir.path().join("a/third")).unwrap();
        assert_eq!(host.read_trusted(&dir.path().join("a/third")).unwrap(), b"x");
        let only = host.read_trusted(&dir.path().join("a/only"));
        assert!(only.unwrap_err().is_not_found());
    }

    #[test]
    fn what_is_absent_is_not_found_whoever_owns_the_directory() {
        let Some((dir, host)) = scratch(None, &[]) else { return };
        chown(dir.path(), Some(OTHER), None).unwrap();
        assert!(host.read_trusted_opt(&dir.path().join("none")).unwrap().is_none());
        assert!(host.list_trusted_opt(&dir.path().join("none/x")).unwrap().is_none());
    }

    #[test]
    fn the_message_names_the_culprit_who_can_write_it_and_both_ways_out() {
        let Some((dir, host)) = scratch(None, &[]) else { return };
        let file = plant(&dir, "d/file");
        let above = file.parent().unwrap();
        chown(above, Some(OTHER), None).unwrap();
        assert_eq!(host.refused(), None);
        let text = host.read_trusted(&file).unwrap_err().to_string();
        assert_eq!(host.refused().as_ref(), Some(&text), "who drops the error still finds it");
        assert_eq!(
            text,
            format!(
                "refusing to read '{}' as root: '{}' belongs to user {OTHER}; make it root's \
                 (chown root '{}'), or accept it by setting FIXPOINT_TRUST={}",
                file.display(),
                above.display(),
                above.display(),
                above.display()
            )
        );
    }

    #[test]
    fn a_file_larger_than_the_limit_is_refused_before_memory_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sparse");
        File::create(&path).unwrap().set_len(8 << 30).unwrap();
        let host = OsHost::new();
        for result in
            [host.read_trusted(&path), host.read_trusted_data(&path), host.read_limited(&path, 9)]
        {
            assert!(matches!(result, Err(HostError::TooLarge { .. })), "{result:?}");
        }
        fs::write(&path, "0123456789").unwrap();
        assert_eq!(host.read_limited(&path, 10).unwrap(), b"0123456789");
        assert!(host.read_limited(&path, 9).is_err());
        // What has no size is read up to the limit too.
        assert!(host.read_limited(Path::new("/dev/zero"), limits::POLICY >> 10).is_err());
        assert!(!host.read_limited(Path::new("/proc/self/stat"), 1 << 20).unwrap().is_empty());
    }
}
