//! An owner or group given by name or number, and its way to a number on a machine; below
//! it the files that hold accounts and the tools that change them.

pub mod shadow;
pub mod table;
pub mod tools;

use fx_engine::Failure;
use fx_host::Look;
use fx_value::Value;

/// A user or group as policy names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Account {
    /// By number.
    Id(u32),
    /// By name, looked up when needed.
    Name(String),
}

impl Account {
    /// Reads a policy's word: digits are a number, anything else a name.
    pub fn parse(text: &str) -> Account {
        match text.parse() {
            Ok(id) if text.bytes().all(|byte| byte.is_ascii_digit()) => Account::Id(id),
            _ => Account::Name(text.to_owned()),
        }
    }
}

impl std::fmt::Display for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Account::Id(id) => id.fmt(f),
            Account::Name(name) => f.write_str(name),
        }
    }
}

/// The number of a user; `None` when the machine does not know the name.
pub fn user_id(host: &dyn Look, account: &Account) -> Result<Option<u32>, Failure> {
    match account {
        Account::Id(id) => Ok(Some(*id)),
        Account::Name(name) => Ok(host.user(name)?.map(|user| user.uid)),
    }
}

/// The number of a group; `None` when the machine does not know the name.
pub fn group_id(host: &dyn Look, account: &Account) -> Result<Option<u32>, Failure> {
    match account {
        Account::Id(id) => Ok(Some(*id)),
        Account::Name(name) => Ok(host.group(name)?.map(|group| group.gid)),
    }
}

/// The number of a user that must be there by now.
pub fn known_user(host: &dyn Look, account: &Account) -> Result<u32, Failure> {
    user_id(host, account)?.ok_or_else(|| Failure::NoUser(account.to_string()))
}

/// The number of a group that must be there by now.
pub fn known_group(host: &dyn Look, account: &Account) -> Result<u32, Failure> {
    group_id(host, account)?.ok_or_else(|| Failure::NoGroup(account.to_string()))
}

/// A user's name for a report, its number where the machine has no name for it.
pub fn user_label(host: &dyn Look, uid: u32) -> Value {
    match host.user_by_id(uid) {
        Ok(Some(user)) => Value::from(user.name),
        _ => Value::from(uid.to_string()),
    }
}

/// A group's name for a report, its number where the machine has no name for it.
pub fn group_label(host: &dyn Look, gid: u32) -> Value {
    match host.group_by_id(gid) {
        Ok(Some(group)) => Value::from(group.name),
        _ => Value::from(gid.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::MemoryHost;

    #[test]
    fn digits_are_numbers_and_the_rest_are_names() {
        assert_eq!(Account::parse("0"), Account::Id(0));
        assert_eq!(Account::parse("+5"), Account::Name("+5".into()));
        assert_eq!(Account::parse("99999999999"), Account::Name("99999999999".into()));
        assert_eq!(Account::parse("www-data"), Account::Name("www-data".into()));
    }

    #[test]
    fn an_unknown_name_is_named_in_the_failure() {
        let host = MemoryHost::linux();
        assert_eq!(known_user(&host, &Account::parse("nobody")).unwrap(), 65534);
        let failure = known_group(&host, &Account::parse("ops")).unwrap_err();
        assert_eq!(failure.to_string(), "could not find group ops");
    }
}
