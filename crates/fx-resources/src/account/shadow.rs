//! What the shadow file says of one user: the hash of the password, and days.

use fx_host::{HostError, Look};

use super::table::{Row, SHADOW, Table};

/// A row of `/etc/shadow`. Days that are not given are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shadow {
    /// The hash of the password; a lock is a `!` before it.
    pub hash: String,
    /// Days between two changes of the password, at least.
    pub min: Option<i64>,
    /// Days until the password must be changed.
    pub max: Option<i64>,
    /// Days of warning before that.
    pub warn: Option<i64>,
    /// Days after that in which it may still be changed.
    pub inactive: Option<i64>,
    /// The day on which the account ends, counted from 1970-01-01.
    pub expiry: Option<i64>,
}

impl Shadow {
    /// The row of a user; `None` without such a file or row.
    pub fn of(look: &dyn Look, name: &str) -> Result<Option<Shadow>, HostError> {
        let table = Table::read_opt(look, SHADOW)?.unwrap_or_default();
        Ok(table.row(name.as_bytes()).map(Shadow::from_row))
    }

    fn from_row(row: &Row) -> Shadow {
        // The tools write -1 for what is not given, as well as nothing.
        let days = |at| row.text(at).parse().ok().filter(|days| *days >= 0);
        Shadow {
            hash: row.text(1),
            min: days(3),
            max: days(4),
            warn: days(5),
            inactive: days(6),
            expiry: days(7),
        }
    }

    /// Whether no password opens the account, as `passwd -S` reports it.
    pub fn is_locked(&self) -> bool {
        self.hash.starts_with(['!', '*'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::MemoryHost;

    #[test]
    fn days_that_are_not_given_are_none() {
        let host = MemoryHost::linux();
        host.put("/etc/shadow", "ann:$6$x:1:0:99999:7:-1::\nbob:!$6$x:1::::5:20000:\n");
        let ann = Shadow::of(&host, "ann").unwrap().unwrap();
        assert_eq!((ann.min, ann.max, ann.warn), (Some(0), Some(99999), Some(7)));
        assert_eq!((ann.inactive, ann.expiry, ann.is_locked()), (None, None, false));
        let bob = Shadow::of(&host, "bob").unwrap().unwrap();
        assert_eq!((bob.inactive, bob.expiry, bob.is_locked()), (Some(5), Some(20000), true));
        assert_eq!(Shadow::of(&host, "eve").unwrap(), None);
    }
}
