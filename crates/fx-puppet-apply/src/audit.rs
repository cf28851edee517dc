//! Properties that are only watched: what they were when last looked at, and what they are.

use std::rc::Rc;

use fx_engine::Level;
use fx_host::Look;
use fx_puppet::text::interpolated;
use fx_puppet::{Resource, Value};

use super::attributes::attribute;
use super::status::{Event, EventStatus, Status};
use super::transaction::Transaction;
use super::wording::Message;

/// Properties of a file, in the order of the original.
const FILE: [&str; 14] = [
    "ensure",
    "content",
    "checksum_value",
    "target",
    "owner",
    "group",
    "mode",
    "type",
    "seluser",
    "selrole",
    "seltype",
    "selrange",
    "ctime",
    "mtime",
];

/// Names of the properties of a resource that are watched. Only files are.
pub(super) fn watched(resource: &Resource) -> Vec<&'static str> {
    let Some(wanted) = attribute(resource, "audit").filter(|_| &*resource.low == "file") else {
        return Vec::new();
    };
    let names: Vec<String> = match &wanted {
        Value::Array(items) => items.iter().map(interpolated).collect(),
        other => vec![interpolated(other)],
    };
    let all = names.iter().any(|name| name == "all");
    FILE.into_iter().filter(|known| all || names.iter().any(|name| name == known)).collect()
}

/// What they are now.
pub(super) fn values(host: &dyn Look, resource: &Resource) -> Vec<(&'static str, String)> {
    let names = watched(resource);
    let value = |name| super::files::property(host, resource, name);
    names.into_iter().map(|name| (name, value(name).unwrap_or_else(|| "absent".into()))).collect()
}

/// A moment without its parts of a second, which are not shown.
fn whole_seconds(name: &str, value: &str) -> String {
    if !matches!(name, "ctime" | "mtime") {
        return value.to_owned();
    }
    match value.split_once('.') {
        Some((start, rest)) => {
            let (_, zone) = rest.split_once(' ').unwrap_or(("", ""));
            format!("{start} {zone}")
        }
        None => value.to_owned(),
    }
}

/// A value as the original shows it: names for accounts, quotes around what is there.
fn shown(host: &dyn Look, name: &str, value: &str) -> String {
    let number = value.parse::<u32>().ok();
    let named = match (name, number) {
        ("owner", Some(uid)) => host.user_by_id(uid).ok().flatten().map(|user| user.name),
        ("group", Some(gid)) => host.group_by_id(gid).ok().flatten().map(|group| group.name),
        _ => None,
    };
    match named {
        Some(name) => format!("'{name}'"),
        None if value.is_empty() => String::new(),
        None => format!("'{value}'"),
    }
}

impl Transaction<'_> {
    /// Logs properties that are not what they were, and keeps what they are.
    pub(super) fn audit(
        &mut self,
        resource: &Resource,
        path: &Rc<str>,
        found: Vec<(&'static str, String)>,
        status: &mut Status,
    ) {
        let key = resource.reference();
        for (name, now) in found {
            let look = self.run.look();
            match self.state.audited(&key, name) {
                None => {
                    let message = Message::NewlyRecorded(whole_seconds(name, &now));
                    self.log_by_property(path, name, Level::Notice, &message);
                }
                Some(old) if *old != now => {
                    let message = Message::AuditChanged {
                        from: shown(look, name, &whole_seconds(name, old)),
                        to: shown(look, name, &whole_seconds(name, &now)),
                    };
                    let logged = self.log_property(path, name, Level::Notice, &message);
                    let event = Event::of_resource(EventStatus::Audit, logged.words);
                    let (property, from, was) = (name.into(), now.clone(), Some(old.clone()));
                    status.events.push(Event { property, from, was, ..event });
                }
                Some(_) => {}
            }
            self.state.record(&key, name, &now);
        }
    }
}
