//! Who runs this process.

use fx_host::Look;
use fx_value::Value;

use super::fields;

/// The user we run as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// Number.
    pub uid: u32,
    /// Name, where the number has one.
    pub user: Option<String>,
    /// Number of the group.
    pub gid: u32,
    /// Name of the group.
    pub group: Option<String>,
}

pub(crate) fn probe(host: &dyn Look) -> Identity {
    let (uid, gid) = (host.euid(), host.egid());
    let user = host.user_by_id(uid).ok().flatten().map(|user| user.name);
    let group = host.group_by_id(gid).ok().flatten().map(|group| group.name);
    Identity { uid, user, gid, group }
}

impl Identity {
    pub(crate) fn to_value(&self) -> Value {
        fields([
            ("uid", self.uid.into()),
            ("user", self.user.as_deref().into()),
            ("gid", self.gid.into()),
            ("group", self.group.as_deref().into()),
            ("privileged", Value::Bool(self.uid == 0)),
        ])
    }
}
