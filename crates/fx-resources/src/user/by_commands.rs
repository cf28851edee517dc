//! What the shadow tools are given for the changes of a user.

use fx_engine::Change;
use fx_host::Spec;

use super::{Desired, Expiry, Seen};
use crate::account::tools::{Age, Attribute, Attributes, Call, Dialect, password_line};
use crate::{command, wanted};

/// The commands, in the order in which they are run.
pub(super) fn specs(desired: &Desired, seen: &Seen, changes: &[Change]) -> Vec<Spec> {
    let spec = |call: &Call<'_>| command::changing(Dialect::default().argv(&desired.name, call));
    if desired.absent {
        return vec![spec(&Call::RemoveUser { remove_home: desired.manage_home })];
    }
    let mut specs = Vec::new();
    let creates = wanted(changes, "ensure");
    let is_due = |property: &str| creates || wanted(changes, property);
    let attributes = attributes(desired, seen, creates, &is_due);
    let (attributes, non_unique) = (&attributes, desired.non_unique);
    if creates {
        let (make_home, system) = (desired.manage_home, desired.system);
        specs.push(spec(&Call::AddUser { attributes, non_unique, make_home, system }));
    } else if !attributes.is_empty() {
        let move_home = desired.manage_home && wanted(changes, "home");
        specs.push(spec(&Call::ChangeUser { attributes, non_unique, move_home }));
    }
    if let Some(password) = desired.password.as_ref().filter(|_| is_due("password")) {
        let line = password_line(&desired.name, password.reveal());
        specs.push(spec(&Call::SetPassword { hashed: true }).stdin(line));
    }
    let expiry = desired.expiry.map(|expiry| match expiry {
        Expiry::Never => -1,
        Expiry::Day(day) => day,
    });
    let ages = [
        ("password_min_age", desired.min_age.map(Age::Min)),
        ("password_max_age", desired.max_age.map(Age::Max)),
        ("password_warn_days", desired.warn_days.map(Age::Warn)),
        ("expiry", expiry.map(Age::Expiry)),
    ];
    let ages = ages.into_iter().filter(|(property, _)| is_due(property));
    let ages: Vec<Age> = ages.filter_map(|(_, age)| age).collect();
    if !ages.is_empty() {
        specs.push(spec(&Call::SetAges(&ages)));
    }
    specs
}

// Those of useradd and usermod that are to be set now.
fn attributes(
    desired: &Desired,
    seen: &Seen,
    creates: bool,
    is_due: &dyn Fn(&str) -> bool,
) -> Attributes {
    let path = |path: &std::path::PathBuf| path.to_string_lossy().into_owned();
    let groups = seen.merged.as_ref().filter(|groups| !(creates && groups.is_empty()));
    let all = [
        (Attribute::Uid, desired.uid.map(|uid| uid.to_string())),
        (Attribute::Gid, desired.gid.as_ref().map(ToString::to_string)),
        (Attribute::Comment, desired.comment.clone()),
        (Attribute::Home, desired.home.as_ref().map(path)),
        (Attribute::Shell, desired.shell.as_ref().map(path)),
        (Attribute::Groups, groups.map(|groups| groups.join(","))),
    ];
    let due = all.into_iter().filter(|(attribute, _)| is_due(attribute.property()));
    due.filter_map(|(attribute, value)| Some((attribute, value?))).collect()
}
