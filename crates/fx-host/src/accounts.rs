//! Users and groups as the machine knows them: `/etc/passwd` and `/etc/group`, then what
//! `getent` adds (a static binary cannot load name-service modules itself).

use std::path::PathBuf;

use crate::Result;

/// A line of the user database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of passwd(5)")]
pub struct User {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
    pub comment: String,
    pub home: PathBuf,
    pub shell: PathBuf,
}

/// A line of the group database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of group(5)")]
pub struct Group {
    pub name: String,
    pub gid: u32,
    pub members: Vec<String>,
}

/// Looking up accounts. Changing them is a resource's work, through commands or files.
pub trait Accounts {
    /// A user by name.
    fn user(&self, name: &str) -> Result<Option<User>>;
    /// A user by number.
    fn user_by_id(&self, uid: u32) -> Result<Option<User>>;
    /// A group by name.
    fn group(&self, name: &str) -> Result<Option<Group>>;
    /// A group by number.
    fn group_by_id(&self, gid: u32) -> Result<Option<Group>>;
    /// All local users, in the order of the file.
    fn users(&self) -> Result<Vec<User>>;
    /// All local groups, in the order of the file.
    fn groups(&self) -> Result<Vec<Group>>;
}
