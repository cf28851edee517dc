//! Changes in the words of Chef's formatter: pure functions over data.

use fx_engine::Change;
use fx_remote::NetError;
use fx_remote::chef::{Again, Trouble};
use fx_value::Value;

/// That a client introduces itself.
pub(crate) fn registering(name: &str) -> String {
    format!("Creating a new client identity for {name} using the validator key.")
}

/// Which policy a run follows.
pub(crate) fn policy(name: &str, revision: &str) -> String {
    format!("Using Policyfile '{name}' at revision '{revision}'")
}

/// That a request is sent once more.
pub(crate) fn again(again: &Again<'_>) -> String {
    let Again { url, attempt, most, pause, .. } = again;
    let what = match &again.why {
        Trouble::Status(code) => {
            let pause = pause.as_secs();
            return format!(
                "Server returned error {code} for {url}, retrying {attempt}/{most} in {pause}s"
            );
        }
        Trouble::Net(NetError::Refused) => "Connection refused",
        Trouble::Net(NetError::Time) => "Timeout",
        Trouble::Net(NetError::Tls(_) | NetError::Certificate(_)) => "SSL Error",
        Trouble::Net(_) => "Error",
    };
    format!("{what} connecting to {url}, retry {attempt}/{most}")
}

/// A value as Chef shows it; what there was not is shown as nothing.
pub(crate) fn shown(value: &Value) -> String {
    match value.as_bytes() {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => value.to_string(),
    }
}

/// The beginning of a digest; what has none is shown as it is.
pub(crate) fn short_digest(label: &Value) -> String {
    let label = shown(label);
    match label.strip_prefix("{sha256}") {
        Some(digest) => digest.chars().take(6).collect(),
        None => label,
    }
}

/// A change of mode, owner or group. A file that is new had none.
pub(crate) fn access(change: &Change, new: bool) -> String {
    let text = |value: &Value| {
        let text = shown(value);
        match (&*change.property, text.as_str()) {
            (_, "" | "absent") => String::new(),
            ("mode", text) => {
                let digits = text.trim_start_matches('0');
                format!("0{}", if digits.is_empty() { "0" } else { digits })
            }
            (_, text) => text.to_owned(),
        }
    };
    let from = if new { String::new() } else { text(&change.from) };
    format!("change {} from '{from}' to '{}'", change.property, text(&change.to))
}

/// The first lines of a change of content.
pub(crate) fn content(path: &str, change: &Change, new: bool) -> String {
    let from = if new { "none".to_owned() } else { short_digest(&change.from) };
    format!("update content in file {path} from {from} to {}", short_digest(&change.to))
}

pub(crate) fn created(path: &str) -> String {
    format!("create new file {path}")
}

pub(crate) const SUPPRESSED: &str = "suppressed sensitive resource";
pub(crate) const NO_DIFF: &str = "(file sizes exceed 10000000 bytes, diff output suppressed)";

/// What is missing of an account, and what why-run makes of it.
pub(crate) fn no_account(kind: &str, name: &str) -> String {
    format!("cannot determine {kind} id for '{name}', does the {kind} exist on this system?")
}

pub(crate) fn assumed_account(kind: &str, name: &str) -> String {
    format!("Assuming {kind} {name} would have been created")
}

#[cfg(test)]
mod tests {
    use fx_engine::Target;

    use super::*;

    #[test]
    fn changes_of_a_file_are_worded_as_the_original_does() {
        let digest = |digit: &str| format!("{{sha256}}{}", digit.repeat(64));
        let change = |property: &'static str, from: &str, to: &str| {
            Change::of(Target::file("/a"), property, from, to)
        };
        for (change, new, expected) in [
            (change("mode", "644", "600"), false, "change mode from '0644' to '0600'"),
            (change("mode", "absent", "600"), true, "change mode from '' to '0600'"),
            (change("mode", "2755", "44"), false, "change mode from '02755' to '044'"),
            (change("mode", "0640", "0"), false, "change mode from '0640' to '00'"),
            (change("owner", "root", "bob"), false, "change owner from 'root' to 'bob'"),
            (change("group", "root", "bob"), true, "change group from '' to 'bob'"),
        ] {
            assert_eq!(access(&change, new), expected);
        }
        let of = change("content", &digest("a"), &digest("b"));
        assert_eq!(content("/a", &of, false), "update content in file /a from aaaaaa to bbbbbb");
        assert_eq!(content("/a", &of, true), "update content in file /a from none to bbbbbb");
    }
}
