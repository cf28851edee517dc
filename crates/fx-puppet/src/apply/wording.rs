//! Failures of programs that act for a resource, and values of its properties, in the words of
//! the original.

use std::path::Path;

use fx_engine::{Change, Failure};
use fx_host::{Exit, Host};

use super::things::text;
use crate::compile::Resource;

/// Where the original's commands are looked for.
const FOLDERS: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// A program by its whole path, where it is found.
fn whole_path(host: &dyn Host, line: &str) -> String {
    let (program, rest) = line.split_once(' ').unwrap_or((line, ""));
    if program.starts_with('/') {
        return line.to_owned();
    }
    let found = FOLDERS.iter().map(|dir| format!("{dir}/{program}"));
    let found = found.into_iter().find(|path| host.stat(Path::new(path)).is_ok());
    let program = found.unwrap_or_else(|| program.to_owned());
    if rest.is_empty() { program } else { format!("{program} {rest}") }
}

/// A failure as the original tells it. What was not a program's failure stays as it is.
pub(super) fn failure(
    host: &dyn Host,
    resource: &Resource,
    changes: &[Change],
    failure: &Failure,
    refreshes: bool,
) -> String {
    if !matches!(&*resource.low, "user" | "group" | "service" | "package" | "mount" | "cron") {
        return failure.to_string();
    }
    let Failure::Command { command, exit: Exit::Code(code), output } = failure else {
        return failure.to_string();
    };
    let executed =
        format!("Execution of '{}' returned {code}: {output}", whole_path(host, command));
    let name = text(resource, "name").unwrap_or_else(|| resource.title.to_string());
    let change = changes.first();
    let to = change.map(|change| super::tell::text_of(&change.to)).unwrap_or_default();
    let property = change.map(|change| change.property.to_string()).unwrap_or_default();
    let reference = resource.reference();
    // A restart may be a stop and a start.
    let is = |name: &str| text(resource, name).as_deref() == Some(command.as_str());
    match (&*resource.low, property.as_str(), to.as_str()) {
        ("service", ..) if refreshes && is("start") => {
            format!("Could not start {reference}: {executed}")
        }
        ("service", ..) if refreshes && is("stop") => {
            format!("Could not stop {reference}: {executed}")
        }
        ("service", ..) if refreshes => format!("Could not restart {reference}: {executed}"),
        ("service", "ensure", "running") => format!("Could not start {reference}: {executed}"),
        ("service", "ensure", _) => format!("Could not stop {reference}: {executed}"),
        ("service", "enable", "true") => format!("Could not enable {name}: {executed}"),
        ("service", "enable", _) => format!("Could not disable {name}: {executed}"),
        (kind @ ("user" | "group"), "ensure", "absent") => {
            format!("Could not delete {kind} {name}: {executed}")
        }
        (kind @ ("user" | "group"), "ensure", _) => {
            format!("Could not create {kind} {name}: {executed}")
        }
        (kind @ ("user" | "group"), property, _) => {
            format!("Could not set {property} on {kind}[{name}]: {executed}")
        }
        ("package", "ensure", "absent" | "purged" | "present" | "installed") => executed,
        ("package", "ensure", _) => format!("Could not update: {executed}"),
        _ => executed,
    }
}

/// Properties of accounts in the order in which the original defines them.
const ACCOUNT_ORDER: [&str; 13] = [
    "ensure",
    "home",
    "uid",
    "gid",
    "comment",
    "shell",
    "password",
    "password_min_age",
    "password_max_age",
    "password_warn_days",
    "groups",
    "expiry",
    "members",
];

/// Changes in the original's order, under its names and with its values.
pub(super) fn changes(resource: &Resource, changes: &mut [Change]) {
    let order: &[&str] = match &*resource.low {
        "file" => &["ensure", "content", "checksum_value", "target", "owner", "group", "mode"],
        "user" | "group" => &ACCOUNT_ORDER,
        _ => &[],
    };
    if !order.is_empty() {
        changes.sort_by_key(|change| {
            order.iter().position(|name| *name == change.property).unwrap_or(usize::MAX)
        });
    }
    for change in changes.iter_mut().filter(|change| change.property == "expiry") {
        let was = super::tell::text_of(&change.from);
        if was.is_empty() {
            change.from = "absent".into();
        } else if let Some(date) = date(&was) {
            change.from = date.into();
        }
        if let Some(date) = date(&super::tell::text_of(&change.to)) {
            change.to = date.into();
        }
    }
    if &*resource.low == "package" {
        // Only who knows of packages that leave something behind says so.
        let leaves = !matches!(
            text(resource, "provider").as_deref(),
            Some("gem" | "puppet_gem" | "pip" | "pip2" | "pip3")
        );
        let is_held = text(resource, "ensure").as_deref() == Some("held");
        for change in changes.iter_mut().filter(|change| change.property == "ensure") {
            if leaves && super::tell::text_of(&change.from) == "absent" {
                change.from = "purged".into();
            }
            if matches!(super::tell::text_of(&change.to).as_str(), "installed" | "present") {
                change.to = if is_held { "held" } else { "present" }.into();
            }
        }
        for change in changes.iter_mut().filter(|change| change.property == "hold") {
            let word = |value: &fx_value::Value| match super::tell::text_of(value).as_str() {
                "true" => "hold",
                _ => "none",
            };
            let now =
                Change::of(change.target.clone(), "mark", word(&change.from), word(&change.to));
            *change = now;
        }
    }
}

/// A value as the report tells it: owners and groups of files by their numbers.
pub(super) fn reported(
    host: &dyn Host,
    resource: &Resource,
    property: &str,
    value: String,
) -> String {
    if &*resource.low != "file" {
        return value;
    }
    let number = match property {
        "owner" => host.user(&value).ok().flatten().map(|user| user.uid),
        "group" => host.group(&value).ok().flatten().map(|group| group.gid),
        _ => None,
    };
    number.map_or(value, |number| number.to_string())
}

/// A mode that the manifest gives by letters, which is told beside its digits.
pub(super) fn letters(resource: &Resource, property: &str) -> Option<String> {
    let mode = text(resource, "mode").filter(|_| &*resource.low == "file" && property == "mode")?;
    (!mode.bytes().all(|byte| byte.is_ascii_digit())).then_some(mode)
}

/// Owners and groups that were given by number, by their names.
pub(super) fn named(host: &dyn Host, resource: &Resource, property: &str, value: String) -> String {
    let number = value.parse::<u32>().ok().filter(|_| &*resource.low == "file");
    let name = number.and_then(|number| match property {
        "owner" => host.user_by_id(number).ok().flatten().map(|user| user.name),
        "group" => host.group_by_id(number).ok().flatten().map(|group| group.name),
        _ => None,
    });
    name.unwrap_or(value)
}

/// What the report tells as wanted, where that is the word of the manifest.
pub(super) fn wanted(resource: &Resource, property: &str) -> Option<String> {
    if let Some(letters) = letters(resource, property) {
        return Some(letters);
    }
    let word = text(resource, "ensure").filter(|_| property == "ensure")?;
    let is_own = match &*resource.low {
        "package" => word == "latest",
        "file" => word == "present",
        _ => false,
    };
    is_own.then_some(word)
}

/// Whether a property is shown as a number.
pub(super) fn is_number(resource: &Resource, property: &str) -> bool {
    matches!(&*resource.low, "user" | "group")
        && matches!(
            property,
            "uid" | "gid" | "password_min_age" | "password_max_age" | "password_warn_days"
        )
}

/// The names in a list of them.
pub(super) fn names(property: &str, value: &str) -> Option<Vec<String>> {
    let is_list = matches!(property, "groups" | "members") && value.starts_with('[');
    is_list.then(|| serde_json::from_str(value).unwrap_or_default())
}

/// A day, counted from 1970, as it is written in manifests.
fn date(days: &str) -> Option<String> {
    let days = jiff::Span::new().try_days(days.parse::<i64>().ok()?).ok()?;
    Some(jiff::civil::date(1970, 1, 1).checked_add(days).ok()?.to_string())
}

/// A value as a property shows it.
pub(super) fn shown(resource: &Resource, property: &str, value: &str) -> String {
    if is_number(resource, property) && value.parse::<i64>().is_ok() {
        return value.to_owned();
    }
    if let Some(names) = names(property, value) {
        if names.is_empty() {
            return String::new();
        }
        let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
        return format!("[{}]", names.join(", "));
    }
    crate::eval::program_text(&crate::value::Value::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::MemoryHost;

    #[test]
    fn programs_are_told_by_their_whole_path() {
        use fx_host::{Edits, WriteOptions};
        let host = MemoryHost::linux();
        let _there = host.make_dir(Path::new("/usr/sbin"), 0o755);
        host.write(Path::new("/usr/sbin/useradd"), b"", &WriteOptions::default()).unwrap();
        assert_eq!(whole_path(&host, "useradd -M a"), "/usr/sbin/useradd -M a");
        assert_eq!(whole_path(&host, "/bin/x y"), "/bin/x y");
        assert_eq!(whole_path(&host, "nosuch"), "nosuch");
    }
}
