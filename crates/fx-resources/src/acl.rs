//! POSIX access control lists of files and directories: the list itself, and a resource
//! that brings a path to a wished one.
//!
//! Lists are kept in the kernel's own form, an extended attribute, so no library and no
//! `setfacl` is needed. A list that says no more than the mode does is kept as the mode.

pub mod list;

use std::path::PathBuf;

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Look, Meta};

use crate::account::{self, Account};
use crate::wanted;
use list::{Acl, Who};

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// What the lists of a path should be.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// The file or directory.
    pub path: PathBuf,
    /// Rules for access to it; not looked at, where empty.
    pub access: Vec<Rule>,
    /// Rules for what is made in a directory.
    pub inherited: Inherited,
    /// Entries that no rule names are taken away; else they stay.
    pub exact: bool,
}

/// What a directory hands down to what is made in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Inherited {
    /// Not looked at.
    #[default]
    Any,
    /// The same as its own list.
    AsAccess,
    /// What these rules say.
    Rules(Vec<Rule>),
    /// Nothing.
    Nothing,
}

/// One entry and what becomes of its permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Whose.
    pub subject: Subject,
    /// What is done with them.
    pub change: Perms,
}

/// Whose permissions a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The owner.
    Owner,
    /// A user.
    User(Account),
    /// The owning group.
    OwningGroup,
    /// A group.
    Group(Account),
    /// The most that users and groups by name and the owning group may get.
    Mask,
    /// Everybody else.
    Others,
}

/// What is done with permissions, as `rwx` in an octal digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Perms {
    /// Exactly these.
    Set(u8),
    /// These are added and those taken away.
    Adjust {
        /// Added.
        add: u8,
        /// Taken away.
        remove: u8,
    },
    /// The entry goes.
    Drop,
}

impl Perms {
    fn apply(self, current: u8) -> Option<u8> {
        match self {
            Perms::Set(perms) => Some(perms & 7),
            Perms::Adjust { add, remove } => Some((current | add) & !remove & 7),
            Perms::Drop => None,
        }
    }
}

/// Access control lists with their desired state.
pub struct AclOf {
    /// What they should be.
    pub desired: Desired,
    access: Option<Acl>,
    /// Empty for none at all.
    inherited: Option<Vec<Acl>>,
}

impl AclOf {
    /// Lists that should be like this.
    pub fn new(desired: Desired) -> AclOf {
        AclOf { desired, access: None, inherited: None }
    }

    fn who(host: &dyn Look, subject: &Subject) -> Result<Who, Failure> {
        Ok(match subject {
            Subject::Owner => Who::Owner,
            Subject::User(user) => Who::User(account::known_user(host, user)?),
            Subject::OwningGroup => Who::OwningGroup,
            Subject::Group(group) => Who::Group(account::known_group(host, group)?),
            Subject::Mask => Who::Mask,
            Subject::Others => Who::Others,
        })
    }

    fn ruled(&self, host: &dyn Look, rules: &[Rule], found: &Acl) -> Result<Acl, Failure> {
        let mut list = found.clone();
        let mut named = Vec::new();
        for rule in rules {
            let who = AclOf::who(host, &rule.subject)?;
            named.push(who);
            list.set(who, rule.change.apply(list.get(who).unwrap_or(0)));
        }
        if self.desired.exact {
            list.retain(|who| named.contains(&who));
        }
        if !named.contains(&Who::Mask) {
            list.fit_mask();
        }
        Ok(list)
    }
}

fn read(host: &dyn Look, path: &std::path::Path, name: &str) -> Result<Option<Acl>, Failure> {
    let Some(bytes) = host.xattr(path, name)? else { return Ok(None) };
    let list = Acl::decode(&bytes);
    list.map(Some).ok_or_else(|| {
        Failure::new(format!("the access control list of '{}' is not readable", path.display()))
    })
}

impl Resource for AclOf {
    fn id(&self) -> ResourceId {
        ResourceId::new("acl", self.desired.path.to_string_lossy())
    }

    fn target(&self) -> Target {
        Target::file(&self.desired.path)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        (self.access, self.inherited) = (None, None);
        let path = self.desired.path.clone();
        let meta: Meta = host.lstat(&path)?;
        if meta.is_symlink() {
            let text = format!("'{}' is a link and has no access control list", path.display());
            return Err(Failure::new(text));
        }
        let found = read(host, &path, ACCESS)?.unwrap_or_else(|| Acl::from_mode(meta.mode));
        let mut changes = Vec::new();
        let mut access = found.clone();
        if !self.desired.access.is_empty() {
            access = self.ruled(host, &self.desired.access, &found)?;
            if access != found {
                changes.push(Change::of(
                    self.target(),
                    "acl",
                    found.to_string(),
                    access.to_string(),
                ));
                self.access = Some(access.clone());
            }
        }
        if self.desired.inherited == Inherited::Any {
            return Ok(changes);
        }
        if !meta.is_dir() {
            let text = format!("'{}' is no directory and hands nothing down", path.display());
            return Err(Failure::new(text));
        }
        let found = read(host, &path, DEFAULT)?;
        let goal = match &self.desired.inherited {
            Inherited::Any => found.clone(),
            Inherited::Nothing => None,
            Inherited::AsAccess => Some(access),
            Inherited::Rules(rules) => {
                let base = found.clone().unwrap_or_else(|| Acl::from_mode(meta.mode));
                Some(self.ruled(host, rules, &base)?)
            }
        };
        if goal != found {
            let text = |list: &Option<Acl>| list.as_ref().map_or_else(String::new, Acl::to_string);
            changes.push(Change::of(self.target(), "default acl", text(&found), text(&goal)));
            self.inherited = Some(goal.into_iter().collect());
        }
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let path = &self.desired.path;
        if let Some(list) = self.access.take().filter(|_| wanted(changes, "acl")) {
            if list.is_minimal() {
                if host.xattr(path, ACCESS)?.is_some() {
                    host.set_xattr(path, ACCESS, None)?;
                }
                let special = host.lstat(path)?.mode & 0o7000;
                host.set_mode(path, special | list.mode())?;
            } else {
                host.set_xattr(path, ACCESS, Some(&list.encode()))?;
            }
        }
        if let Some(list) = self.inherited.take().filter(|_| wanted(changes, "default acl")) {
            let bytes = list.first().map(Acl::encode);
            host.set_xattr(path, DEFAULT, bytes.as_deref())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::{Files, MemoryHost};

    fn rule(subject: Subject, change: Perms) -> Rule {
        Rule { subject, change }
    }

    fn converge(host: &MemoryHost, desired: Desired) -> String {
        let mut acl = AclOf::new(desired);
        let changes = acl.observe(host).unwrap();
        if !changes.is_empty() {
            acl.apply(host, &changes).unwrap();
        }
        assert_eq!(acl.observe(host).unwrap(), []);
        let line = |c: &Change| format!("{}: {} -> {}", c.property, c.from, c.to);
        changes.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn entries_are_added_adjusted_and_taken_away() {
        let host = MemoryHost::linux();
        host.put_mode("/srv/file", "", 0o4640);
        let nobody = || Subject::User(Account::parse("nobody"));
        let add = Desired {
            path: "/srv/file".into(),
            access: vec![
                rule(nobody(), Perms::Set(7)),
                rule(Subject::Others, Perms::Adjust { add: 4, remove: 0 }),
            ],
            ..Desired::default()
        };
        let expected = "acl: user::rw-,group::r--,other::--- -> \
            user::rw-,user:65534:rwx,group::r--,mask::rwx,other::r--";
        assert_eq!(converge(&host, add.clone()), expected);
        let exact =
            Desired { access: vec![rule(Subject::Owner, Perms::Set(6))], exact: true, ..add };
        let expected = "acl: user::rw-,user:65534:rwx,group::r--,mask::rwx,other::r-- -> \
            user::rw-,group::r--,other::r--";
        assert_eq!(converge(&host, exact), expected);
        let meta = host.lstat("/srv/file".as_ref()).unwrap();
        assert_eq!(meta.mode, 0o4644);
        assert!(host.xattrs("/srv/file".as_ref()).unwrap().is_empty());
    }

    #[test]
    fn directories_hand_lists_down() {
        let host = MemoryHost::linux();
        let adm = rule(Subject::Group(Account::parse("adm")), Perms::Set(5));
        let desired = Desired {
            path: "/srv".into(),
            access: vec![adm],
            inherited: Inherited::AsAccess,
            ..Desired::default()
        };
        host.put_dir("/srv", 0o750);
        let list = "user::rwx,group::r-x,group:4:r-x,mask::r-x,other::---";
        let expected =
            format!("acl: user::rwx,group::r-x,other::--- -> {list}\ndefault acl:  -> {list}");
        assert_eq!(converge(&host, desired.clone()), expected);
        let desired = Desired { access: Vec::new(), inherited: Inherited::Nothing, ..desired };
        assert_eq!(converge(&host, desired), format!("default acl: {list} -> "));
        host.put("/etc/x", "");
        let file =
            Desired { path: "/etc/x".into(), inherited: Inherited::Nothing, ..Desired::default() };
        assert!(AclOf::new(file).observe(&host).is_err());
    }
}
