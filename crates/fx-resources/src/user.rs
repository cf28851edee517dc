//! A user: there or not, with number, groups, home, shell, password hash and ageing, changed
//! by the shadow tools.
//!
//! A password is always a finished hash; hashing a clear one is the language's work. The
//! hash never stands in an argument vector, where every user of the machine could see it.

mod by_commands;

use std::path::PathBuf;

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Look};
use fx_value::REDACTED;

use crate::account::shadow::Shadow;
use crate::account::{self, Account};
use crate::command;
use crate::group::{self, Membership};

/// What a user should be. Properties that are `None` are not looked at.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// The name.
    pub name: String,
    /// Whether it should not be there.
    pub absent: bool,
    /// The number; the next free one, where not given.
    pub uid: Option<u32>,
    /// The primary group; one of the same name, where not given.
    pub gid: Option<Account>,
    /// The full name and more.
    pub comment: Option<String>,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The shell.
    pub shell: Option<PathBuf>,
    /// The hash of the password.
    pub password: Option<Password>,
    /// Further groups.
    pub groups: Option<Vec<String>>,
    /// Whether it may be in other groups besides.
    pub membership: Membership,
    /// Days between two changes of the password, at least.
    pub min_age: Option<i64>,
    /// Days until the password must be changed.
    pub max_age: Option<i64>,
    /// Days of warning before that.
    pub warn_days: Option<i64>,
    /// When the account ends.
    pub expiry: Option<Expiry>,
    /// Makes the home directory with the account, moves it with it, and removes it with it.
    pub manage_home: bool,
    /// Takes a number from the system's range.
    pub system: bool,
    /// Lets two users have one number.
    pub non_unique: bool,
}

/// When an account ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// Never.
    Never,
    /// On this day, counted from 1970-01-01.
    Day(i64),
}

impl Expiry {
    fn text(self) -> String {
        match self {
            Expiry::Never => String::new(),
            Expiry::Day(day) => day.to_string(),
        }
    }
}

/// The hash of a password; prints redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// A finished hash such as `$6$salt$…`, or `*` or `!` for none.
    pub fn hash(hash: impl Into<String>) -> Password {
        Password(hash.into())
    }

    /// The hash itself, for the machine.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(REDACTED)
    }
}

/// A user with its desired state.
pub struct User {
    /// What it should be.
    pub desired: Desired,
    seen: Seen,
}

// The further groups it should be in, where they differ from those it is in.
#[derive(Default)]
struct Seen {
    merged: Option<Vec<String>>,
}

impl User {
    /// A user that should be like this.
    pub fn new(desired: Desired) -> User {
        User { desired, seen: Seen::default() }
    }

    fn check(&self) -> Result<(), Failure> {
        let desired = &self.desired;
        group::check("user", &desired.name)?;
        for name in desired.groups.iter().flatten() {
            group::check("group", name)?;
        }
        let text =
            |path: &Option<PathBuf>| path.as_ref().map(|path| path.to_string_lossy().into_owned());
        let fields = [
            ("comment", desired.comment.clone()),
            ("home", text(&desired.home)),
            ("shell", text(&desired.shell)),
        ];
        for (what, value) in fields {
            if let Some(value) = value {
                command::check_field(what, &value, &[':'])?;
            }
        }
        // The hash itself must not be in a message.
        if let Some(password) = &desired.password
            && password.reveal().contains(|c: char| c == ':' || c.is_control())
        {
            let text = format!(
                "password hash of user '{}' has a colon or a control character",
                desired.name
            );
            return Err(Failure::new(text));
        }
        Ok(())
    }

    fn differences(
        &mut self,
        host: &dyn Look,
        found: &fx_host::User,
    ) -> Result<Vec<Change>, Failure> {
        let desired = &self.desired;
        let mut changes = Vec::new();
        if let Some(uid) = desired.uid.filter(|uid| *uid != found.uid) {
            changes.push(Change::of(self.target(), "uid", found.uid, uid));
        }
        if let Some(gid) = &desired.gid
            && account::group_id(host, gid)? != Some(found.gid)
        {
            changes.push(Change::of(self.target(), "gid", found.gid, gid.to_string()));
        }
        if let Some(comment) = desired.comment.as_ref().filter(|comment| **comment != found.comment)
        {
            changes.push(Change::of(
                self.target(),
                "comment",
                found.comment.as_str(),
                comment.as_str(),
            ));
        }
        for (property, wanted, now) in
            [("home", &desired.home, &found.home), ("shell", &desired.shell, &found.shell)]
        {
            if let Some(wanted) = wanted.as_ref().filter(|wanted| *wanted != now) {
                let text = |path: &PathBuf| path.to_string_lossy().into_owned();
                changes.push(Change::of(self.target(), property, text(now), text(wanted)));
            }
        }
        self.shadow_differences(host, &mut changes)?;
        self.group_differences(host, &mut changes)?;
        Ok(changes)
    }

    fn shadow_differences(
        &self,
        host: &dyn Look,
        changes: &mut Vec<Change>,
    ) -> Result<(), Failure> {
        let desired = &self.desired;
        let ages = [desired.min_age, desired.max_age, desired.warn_days];
        let untouched = desired.password.is_none()
            && desired.expiry.is_none()
            && ages.iter().all(Option::is_none);
        if untouched {
            return Ok(());
        }
        let found = Shadow::of(host, &desired.name)?.unwrap_or_default();
        if let Some(password) = &desired.password
            && found.hash != password.reveal()
        {
            changes.push(
                Change::of(self.target(), "password", found.hash.as_str(), password.reveal())
                    .sensitive(),
            );
        }
        let days = [
            ("password_min_age", found.min),
            ("password_max_age", found.max),
            ("password_warn_days", found.warn),
        ];
        for ((property, found), wanted) in days.into_iter().zip(ages) {
            if let Some(wanted) = wanted.filter(|wanted| Some(*wanted) != found) {
                changes.push(Change::of(self.target(), property, found, wanted));
            }
        }
        let known = found.expiry.map_or(Expiry::Never, Expiry::Day);
        if let Some(expiry) = desired.expiry.filter(|expiry| *expiry != known) {
            changes.push(Change::of(self.target(), "expiry", known.text(), expiry.text()));
        }
        Ok(())
    }

    fn group_differences(
        &mut self,
        host: &dyn Look,
        changes: &mut Vec<Change>,
    ) -> Result<(), Failure> {
        let Some(wanted) = &self.desired.groups else { return Ok(()) };
        let all = host.groups()?;
        let current = all.iter().filter(|group| group.members.contains(&self.desired.name));
        let mut current: Vec<String> = current.map(|group| group.name.clone()).collect();
        let mut merged = self.desired.membership.merge(&current, wanted);
        // Groups are a set: the order in the file says nothing.
        current.sort_unstable();
        merged.sort_unstable();
        if current != merged {
            changes.push(Change::of(
                self.target(),
                "groups",
                group::names(&current),
                group::names(&merged),
            ));
            self.seen.merged = Some(merged);
        }
        Ok(())
    }
}

impl Resource for User {
    fn id(&self) -> ResourceId {
        ResourceId::new("user", self.desired.name.as_str())
    }

    fn target(&self) -> Target {
        Target::user(&self.desired.name)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.seen = Seen::default();
        self.check()?;
        let found = host.user(&self.desired.name)?;
        match found {
            None if self.desired.absent => Ok(Vec::new()),
            None => {
                self.seen.merged.clone_from(&self.desired.groups);
                Ok(vec![Change::of(self.target(), "ensure", "absent", "present")])
            }
            Some(found) => {
                if self.desired.absent {
                    return Ok(vec![Change::of(self.target(), "ensure", "present", "absent")]);
                }
                self.differences(host, &found)
            }
        }
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let specs = by_commands::specs(&self.desired, &self.seen, changes);
        specs.iter().try_for_each(|spec| command::succeed(host, spec).map(drop))
    }
}

#[cfg(test)]
mod tests;
