//! Accounts of the real machine: the files first, kept while they do not change, then
//! `getent` where the name service has more than files.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::OsHost;
use crate::account_files::{parse_group, parse_passwd};
use crate::{Accounts, Commands, Files, Group, Queries, Result, Spec, Time, User};

const PASSWD: &str = "/etc/passwd";
const GROUP: &str = "/etc/group";

/// What was read last, with the stamp that says whether it still holds.
#[derive(Default)]
pub(super) struct Cache {
    users: Slot<User>,
    groups: Slot<Group>,
}

type Stamp = (u64, u64, Time);
type Slot<T> = RefCell<Option<(Stamp, Rc<[T]>)>>;

fn cached<T>(
    host: &OsHost,
    path: &str,
    slot: &Slot<T>,
    parse: fn(&[u8]) -> Vec<T>,
) -> Result<Rc<[T]>> {
    let Some(meta) = host.stat_opt(Path::new(path))? else { return Ok(Rc::from([])) };
    let stamp = (meta.ino, meta.size, meta.mtime);
    if let Some((known, items)) = &*slot.borrow()
        && *known == stamp
    {
        return Ok(Rc::clone(items));
    }
    let items: Rc<[T]> = parse(&host.read(Path::new(path))?).into();
    *slot.borrow_mut() = Some((stamp, Rc::clone(&items)));
    Ok(items)
}

impl OsHost {
    fn local_users(&self) -> Result<Rc<[User]>> {
        cached(self, PASSWD, &self.accounts.users, parse_passwd)
    }

    fn local_groups(&self) -> Result<Rc<[Group]>> {
        cached(self, GROUP, &self.accounts.groups, parse_group)
    }

    /// Asks the name service, if it has a source besides the files.
    fn getent(&self, database: &str, key: &str) -> Result<Option<Vec<u8>>> {
        if !self.has_other_sources(database) || key.is_empty() || key.starts_with('-') {
            return Ok(None);
        }
        let Some(getent) = self.find_program("getent") else { return Ok(None) };
        let spec = Spec::argv([getent.into_os_string(), database.into(), key.into()])
            .timeout(Duration::from_secs(5));
        let ended = self.run(&spec)?;
        Ok(Some(ended.stdout).filter(|_| ended.exit.success()))
    }

    fn has_other_sources(&self, database: &str) -> bool {
        let Ok(Some(text)) = self.read_opt(Path::new("/etc/nsswitch.conf")) else { return false };
        let text = String::from_utf8_lossy(&text).into_owned();
        let line = text
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(database)?.strip_prefix(':'));
        let sources = line.unwrap_or_default().split_whitespace();
        sources
            .filter(|word| !word.starts_with('['))
            .any(|word| !["files", "compat", "systemd"].contains(&word))
    }
}

impl Accounts for OsHost {
    fn user(&self, name: &str) -> Result<Option<User>> {
        if let Some(user) = self.local_users()?.iter().find(|user| user.name == name) {
            return Ok(Some(user.clone()));
        }
        let found = self.getent("passwd", name)?;
        Ok(found.and_then(|line| parse_passwd(&line).into_iter().find(|user| user.name == name)))
    }

    fn user_by_id(&self, uid: u32) -> Result<Option<User>> {
        if let Some(user) = self.local_users()?.iter().find(|user| user.uid == uid) {
            return Ok(Some(user.clone()));
        }
        let found = self.getent("passwd", &uid.to_string())?;
        Ok(found.and_then(|line| parse_passwd(&line).into_iter().next()))
    }

    fn group(&self, name: &str) -> Result<Option<Group>> {
        if let Some(group) = self.local_groups()?.iter().find(|group| group.name == name) {
            return Ok(Some(group.clone()));
        }
        let found = self.getent("group", name)?;
        Ok(found.and_then(|line| parse_group(&line).into_iter().find(|group| group.name == name)))
    }

    fn group_by_id(&self, gid: u32) -> Result<Option<Group>> {
        if let Some(group) = self.local_groups()?.iter().find(|group| group.gid == gid) {
            return Ok(Some(group.clone()));
        }
        let found = self.getent("group", &gid.to_string())?;
        Ok(found.and_then(|line| parse_group(&line).into_iter().next()))
    }

    fn users(&self) -> Result<Vec<User>> {
        Ok(self.local_users()?.to_vec())
    }

    fn groups(&self) -> Result<Vec<Group>> {
        Ok(self.local_groups()?.to_vec())
    }
}

/// The groups a user belongs to: the primary one and those that list the name.
pub(super) fn group_list(host: &OsHost, uid: u32) -> Result<Vec<u32>> {
    let Some(user) = host.user_by_id(uid)? else { return Ok(Vec::new()) };
    let mut list = vec![user.gid];
    for group in &*host.local_groups()? {
        if group.members.contains(&user.name) && !list.contains(&group.gid) {
            list.push(group.gid);
        }
    }
    Ok(list)
}
