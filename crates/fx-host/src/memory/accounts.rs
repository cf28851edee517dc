//! Accounts of the fake machine, read from its own `/etc/passwd` and `/etc/group`.

use std::path::Path;

use super::MemoryHost;
use super::tree::{Body, Caller, Last};
use crate::{Accounts, Group, Result, User};

impl MemoryHost {
    // Reads around the fault counter: name look-ups are not requests of a resource.
    fn lines(&self, path: &str) -> Vec<String> {
        let state = self.state.borrow();
        let root = Caller { uid: 0, gid: 0 };
        let found = state.tree.walk(Path::new("/"), Path::new(path), Last::Follow, root);
        let Ok(Some(ino)) = found.map(|found| found.ino) else { return Vec::new() };
        match &state.tree.get(ino).body {
            Body::File(content) => {
                String::from_utf8_lossy(content).lines().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn user(line: &str) -> Option<User> {
    let mut fields = line.split(':');
    let name = fields.next().filter(|name| !name.is_empty())?.to_owned();
    fields.next()?;
    Some(User {
        name,
        uid: fields.next()?.parse().ok()?,
        gid: fields.next()?.parse().ok()?,
        comment: fields.next()?.to_owned(),
        home: fields.next()?.into(),
        shell: fields.next()?.into(),
    })
}

fn group(line: &str) -> Option<Group> {
    let mut fields = line.split(':');
    let name = fields.next().filter(|name| !name.is_empty())?.to_owned();
    fields.next()?;
    let gid = fields.next()?.parse().ok()?;
    let members = fields.next().unwrap_or("").split(',').filter(|name| !name.is_empty());
    Some(Group { name, gid, members: members.map(str::to_owned).collect() })
}

impl Accounts for MemoryHost {
    fn user(&self, name: &str) -> Result<Option<User>> {
        Ok(self.users()?.into_iter().find(|user| user.name == name))
    }

    fn user_by_id(&self, uid: u32) -> Result<Option<User>> {
        Ok(self.users()?.into_iter().find(|user| user.uid == uid))
    }

    fn group(&self, name: &str) -> Result<Option<Group>> {
        Ok(self.groups()?.into_iter().find(|group| group.name == name))
    }

    fn group_by_id(&self, gid: u32) -> Result<Option<Group>> {
        Ok(self.groups()?.into_iter().find(|group| group.gid == gid))
    }

    fn users(&self) -> Result<Vec<User>> {
        Ok(self.lines("/etc/passwd").iter().filter_map(|line| user(line)).collect())
    }

    fn groups(&self) -> Result<Vec<Group>> {
        Ok(self.lines("/etc/group").iter().filter_map(|line| group(line)).collect())
    }
}
