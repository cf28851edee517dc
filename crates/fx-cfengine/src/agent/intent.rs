//! What a change would be, from the words for one that was made: a plan is told of the
//! future, though it is made by doing all of it to a copy.

/// Beginnings of messages about changes, and what they are before the change is made.
const WORDS: [(&str, &str); 30] = [
    ("Added ", "add "),
    ("Archived ", "archive "),
    ("Backed up ", "back up "),
    ("Built ", "build "),
    ("Changed ", "change "),
    ("Converted ", "convert "),
    ("Copied ", "copy "),
    ("Created ", "create "),
    ("Deleted ", "delete "),
    ("Deleting ", "delete "),
    ("Disabled ", "disable "),
    ("Edited ", "edit "),
    ("Hard linked ", "hard link "),
    ("Inserted ", "insert "),
    ("Installed ", "install "),
    ("Linked ", "link "),
    ("Moved ", "move "),
    ("Mounted ", "mount "),
    ("Prepended ", "prepend "),
    ("Purged ", "purge "),
    ("Removed ", "remove "),
    ("Removing ", "remove "),
    ("Renamed ", "rename "),
    ("Replaced ", "replace "),
    ("Rotated ", "rotate "),
    ("Set ", "set "),
    ("Signalled ", "signal "),
    ("Touched ", "touch "),
    ("Truncated ", "truncate "),
    ("Updated ", "update "),
];

/// The message as that of a change to come; one of another form stays as it is.
pub(crate) fn foretold(message: &str) -> String {
    for (done, to_do) in WORDS {
        if let Some(rest) = message.strip_prefix(done) {
            return format!("would {to_do}{rest}");
        }
    }
    let permissions = message
        .strip_prefix("Object ")
        .and_then(|rest| rest.split_once(" had permissions "))
        .and_then(|(file, modes)| Some((file, modes.split_once(", changed it to ")?)));
    if let Some((file, (from, to))) = permissions {
        return format!("would change permissions of {file} from {from} to {to}");
    }
    for (lead, what) in [("Owner of ", "owner"), ("Group of ", "group")] {
        let parts = message
            .strip_prefix(lead)
            .and_then(|rest| rest.split_once(" was "))
            .and_then(|(file, ids)| Some((file, ids.split_once(", set to ")?)));
        if let Some((file, (from, to))) = parts {
            return format!("would set the {what} of {file} from {from} to {to}");
        }
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_becomes_what_would_be_done() {
        let table = [
            ("Created file '/a', mode 0640", "would create file '/a', mode 0640"),
            ("Backed up '/a' as '/b'", "would back up '/a' as '/b'"),
            (
                "Object '/a' had permissions 0777, changed it to 0600",
                "would change permissions of '/a' from 0777 to 0600",
            ),
            ("Owner of '/a' was 0, set to 7", "would set the owner of '/a' from 0 to 7"),
            ("something else", "something else"),
        ];
        for (message, expected) in table {
            assert_eq!(foretold(message), expected);
        }
    }
}
