//! Keys that a user has and the catalog does not: what `purge_ssh_keys` removes. How a line
//! of a key file is written is the business of the type `ssh_authorized_key`.

use std::path::Path;

use fx_host::Look;
use fx_puppet::text::{inspected, interpolated};
use fx_puppet::{Catalog, Regex, Resource, Value};

use super::attributes::{attribute, text};

/// A line of a key file: limits, the kind of the key, the key, and its name.
const LINE: &str = r"^(?:(.+)\s+)?(ssh-dss|ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp256|ecdsa-sha2-nistp384|ecdsa-sha2-nistp521|ecdsa-sk|ed25519-sk|sk-ecdsa-sha2-nistp256@openssh\.com|sk-ssh-ed25519@openssh\.com|ssh-rsa-cert-v01@openssh\.com|ssh-ed25519-cert-v01@openssh\.com|ssh-dss-cert-v01@openssh\.com|ecdsa-sha2-nistp256-cert-v01@openssh\.com|ecdsa-sha2-nistp384-cert-v01@openssh\.com|ecdsa-sha2-nistp521-cert-v01@openssh\.com)\s+([^ ]+)\s*(.*)$";

/// What is wrong with a value of `purge_ssh_keys`.
pub(super) fn check(value: &Value) -> Result<(), String> {
    let is_switch = |value: &Value| matches!(interpolated(value).as_str(), "true" | "false");
    let entries: &[Value] = match value {
        Value::Array(items) => items,
        Value::String(_) if !is_switch(value) => std::slice::from_ref(value),
        _ if is_switch(value) => return Ok(()),
        other => {
            return Err(format!(
                "purge_ssh_keys must be true, false, or an array of file names, not {}",
                inspected(other)
            ));
        }
    };
    for entry in entries {
        let Value::String(path) = entry else {
            return Err(format!(
                "Each entry for purge_ssh_keys must be a string, not a {}",
                super::check::class_name(entry)
            ));
        };
        if !["/", "~/", "%h/"].iter().any(|start| path.starts_with(start)) {
            return Err(format!("Paths to keyfiles must be absolute, not {path}"));
        }
    }
    Ok(())
}

/// The files a user's keys are looked for in.
fn files(host: &dyn Look, user: &Resource) -> Vec<String> {
    let home = || {
        let name = text(user, "name").unwrap_or_else(|| user.title.to_string());
        text(user, "home").or_else(|| {
            let known = host.user(&name).ok().flatten()?;
            Some(known.home.to_string_lossy().into_owned())
        })
    };
    let entries = match attribute(user, "purge_ssh_keys") {
        Some(Value::Array(items)) => items.iter().map(interpolated).collect(),
        Some(other) => match interpolated(&other).as_str() {
            "false" => Vec::new(),
            "true" => vec!["~/.ssh/authorized_keys".to_owned()],
            path => vec![path.to_owned()],
        },
        None => Vec::new(),
    };
    let whole = |entry: String| match entry.strip_prefix("~/").or(entry.strip_prefix("%h/")) {
        Some(rest) => home().map(|home| format!("{home}/{rest}")),
        None => Some(entry),
    };
    entries.into_iter().filter_map(whole).collect()
}

/// Keys in the files of a user that are not in the catalog, as resources that remove them.
pub(super) fn unmanaged(host: &dyn Look, catalog: &Catalog, user: &Resource) -> Vec<Resource> {
    let name = text(user, "name").unwrap_or_else(|| user.title.to_string());
    let line = Regex::new(LINE);
    let mut out: Vec<Resource> = Vec::new();
    for file in files(host, user) {
        let Ok(bytes) = host.read(Path::new(&file)) else { continue };
        let mut unnamed = 0;
        for row in String::from_utf8_lossy(&bytes).lines() {
            let Ok(Some(found)) = line.captures(row) else { continue };
            let mut key = found.get(4).cloned().flatten().unwrap_or_default();
            if key.is_empty() {
                unnamed += 1;
                key = format!("{file}:unnamed-{unnamed}");
            }
            let is_known = catalog.find("ssh_authorized_key", &key).is_some()
                || out.iter().any(|known| *known.title == *key);
            if !is_known {
                let own = [
                    ("ensure", Value::from("absent")),
                    ("target", Value::from(file.as_str())),
                    ("user", Value::from(name.as_str())),
                ];
                out.push(super::generate::child(user, "ssh_authorized_key", &key, &own));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(value: Value, expected: &str) {
        assert_eq!(check(&value).err().unwrap_or_default(), expected);
    }

    #[test]
    fn values_are_refused_in_the_words_of_the_original() {
        told(Value::Bool(true), "");
        told("false".into(), "");
        told("~/x".into(), "");
        told("x".into(), "Paths to keyfiles must be absolute, not x");
        told(Value::Int(3), "purge_ssh_keys must be true, false, or an array of file names, not 3");
        told(
            Value::array(vec!["/a".into(), Value::Int(3)]),
            "Each entry for purge_ssh_keys must be a string, not a Integer",
        );
    }

    #[test]
    fn a_line_has_limits_a_kind_a_key_and_a_name() {
        let line = Regex::new(LINE);
        let name = |row: &str| {
            let found = line.captures(row).unwrap()?;
            found.get(4).cloned().flatten()
        };
        assert_eq!(name("ssh-rsa AAAA a b").as_deref(), Some("a b"));
        assert_eq!(name("no-pty,command=\"x y\" ssh-rsa AAAA me@x").as_deref(), Some("me@x"));
        assert_eq!(name("ssh-ed25519 AAAA").as_deref(), Some(""));
        assert_eq!(name("# ssh"), None);
    }
}
