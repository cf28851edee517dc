//! The words for changes: what should be done, what was done and what failed, as the original
//! writes them. Pure functions; the tables of the tests are the contract.

use fx_cfengine::reason::reason;
use fx_engine::Failure;

/// The three sentences about one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// What follows `Should `.
    pub(crate) should: String,
    /// What is logged once it was made.
    pub(crate) done: String,
    /// What is logged when it could not be made.
    pub(crate) failed: Fault,
}

/// How a failure is worded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The kernel's words stand between these two.
    Because(String, &'static str),
    /// The same whatever the cause.
    Said(String),
    /// The failure speaks for itself.
    Itself,
}

impl Fault {
    /// The sentence about a failure.
    pub(crate) fn text(&self, failure: &Failure) -> String {
        match self {
            Fault::Because(before, after) => format!("{before}{}{after}", why(failure)),
            Fault::Said(text) => text.clone(),
            Fault::Itself => failure.to_string(),
        }
    }
}

/// The cause alone: the kernel's words where it was the kernel that refused.
pub(crate) fn why(failure: &Failure) -> String {
    match failure {
        Failure::Host(error) => reason(error),
        other => other.to_string(),
    }
}

/// What is logged instead of a change that is withheld.
pub(crate) fn should(text: &str, only_warns: bool) -> String {
    let end = if only_warns { ", but only warning promised" } else { "" };
    format!("Should {text}{end}")
}

fn words(should: String, done: String, failed: Fault) -> Words {
    Words { should, done, failed }
}

// `TEXT. (CALL: kernel's words)`
fn because(text: &str, call: &str) -> Fault {
    Fault::Because(format!("{text}. ({call}: "), ")")
}

pub(crate) fn delete_file(file: &str) -> Words {
    words(
        format!("delete file '{file}'"),
        format!("Deleted file '{file}'"),
        because(&format!("Couldn't unlink '{file}' tidying"), "unlink"),
    )
}

pub(crate) fn delete_directory(file: &str) -> Words {
    words(
        format!("delete directory '{file}'"),
        format!("Deleted directory '{file}'"),
        Fault::Because(format!("Delete directory '{file}' failed (rmdir: "), ")"),
    )
}

pub(crate) fn touch(file: &str) -> Words {
    words(
        format!("update time stamps for '{file}'"),
        format!("Touched (updated time stamps) for path '{file}'"),
        because(&format!("Touch '{file}' failed to update timestamps"), "utime"),
    )
}

/// The second touch of a promise with attributes, which nothing is said of beforehand.
pub(crate) fn touch_again(file: &str) -> Words {
    words(String::new(), format!("Updated timestamps on '{file}'"), Fault::Itself)
}

pub(crate) fn change_mode(file: &str, old: u32, new: u32) -> Words {
    words(
        format!("change permissions of '{file}' from {old:04o} to {new:04o}"),
        format!("Object '{file}' had permissions {old:04o}, changed it to {new:04o}"),
        because(&format!("Failed to change permissions of '{file}'"), "chmod"),
    )
}

/// What should be done about the owner, the group or both.
pub(crate) fn should_change_owner(file: &str, uid: Option<u32>, gid: Option<u32>) -> String {
    match (uid, gid) {
        (Some(uid), Some(gid)) => format!("change owner and group of '{file}' to '{uid}:{gid}'"),
        (Some(uid), None) => format!("change owner of '{file}' to '{uid}'"),
        (None, Some(gid)) => format!("change group of '{file}' to '{gid}'"),
        (None, None) => String::new(),
    }
}

pub(crate) fn make_fifo(file: &str, mode: u32) -> Words {
    words(
        format!("create named pipe '{file}', mode {mode:04o}"),
        format!("Created named pipe '{file}', mode {mode:04o}"),
        because(&format!("Error creating file '{file}', mode '{mode:04o}'"), "mkfifo"),
    )
}

pub(crate) fn create_file(file: &str, mode: u32) -> Words {
    words(
        format!("create file '{file}', mode '{mode:04o}'"),
        format!("Created file '{file}', mode {mode:04o}"),
        because(&format!("Error creating file '{file}', mode '{mode:04o}'"), "open"),
    )
}

pub(crate) fn make_parent(dir: &str, file: &str) -> Words {
    words(
        format!("make directory '{dir}' for '{file}'"),
        String::new(),
        Fault::Because(format!("Failed to make directory: {dir} (mkdir: "), ")"),
    )
}

fn cannot_rename(from: &str, to: &str) -> Fault {
    because(&format!("Can't rename '{from}' to '{to}'"), "rename")
}

pub(crate) fn move_obstructing_parent(dir: &str, moved: &str) -> Words {
    words(
        format!("move obstructing file/link '{dir}' to '{moved}'"),
        format!("Moved obstructing file/link '{dir}' to '{moved}'"),
        cannot_rename(dir, moved),
    )
}

pub(crate) fn move_obstruction(file: &str, saved: &str, is_dir: bool) -> Words {
    let failed = cannot_rename(file, saved);
    if is_dir {
        words(
            format!("move aside directory '{file}' obstructing"),
            format!("Moved directory '{file}' to '{file}.cfsaved'"),
            failed,
        )
    } else {
        words(
            format!("move aside object '{file}' obstructing promise"),
            format!("Moved obstructing object '{file}' to '{saved}'"),
            failed,
        )
    }
}

fn while_renaming(file: &str) -> Fault {
    because(&format!("Error occurred while renaming '{file}'"), "rename")
}

pub(crate) fn rename(file: &str, name: &str) -> Words {
    words(
        format!("rename file '{file}' to '{name}'"),
        format!("Renamed file '{file}' to '{name}'"),
        while_renaming(file),
    )
}

pub(crate) fn truncate(file: &str) -> Words {
    words(format!("truncate '{file}'"), format!("Truncated '{file}'"), Fault::Itself)
}

pub(crate) fn rotate(file: &str, levels: i64) -> Words {
    words(
        format!("rotate file '{file}' in {levels} fifo"),
        format!("Rotated file '{file}' in {levels} fifo"),
        Fault::Itself,
    )
}

pub(crate) fn disable_link(file: &str) -> Words {
    words(
        format!("disable link '{file}'"),
        format!("Disabled symbolic link '{file}' by deleting it"),
        because(&format!("Unable to unlink '{file}'"), "unlink"),
    )
}

pub(crate) fn disabled_mode(file: &str, mode: u32) -> Words {
    let failed = format!("Failed to change permissions of '{file}' to 'mode {mode:04o}' (");
    words(
        format!("change permissions of '{file}' to 'mode {mode:04o}'"),
        format!("Changed permissions of '{file}' to 'mode {mode:04o}'"),
        Fault::Because(failed, ")"),
    )
}

pub(crate) fn disable_file(file: &str, name: &str, mode: u32) -> Words {
    words(
        format!("rename '{file}'"),
        format!("Disabled file '{file}' by renaming to '{name}' with mode {mode:04o}"),
        while_renaming(file),
    )
}

pub(crate) fn link(file: &str, target: &str) -> Words {
    words(
        format!("link files '{file}' -> '{target}'"),
        format!("Linked files '{file}' -> '{target}'"),
        because(&format!("Couldn't link '{target}' to '{file}'"), "symlink"),
    )
}

pub(crate) fn remove_wrong_link(file: &str, current: &str, wanted: &str) -> Words {
    let failed = format!("Error removing link '{file}' (points to '{current}' not '{wanted}')");
    words(
        format!("remove incorrect link '{file}'"),
        format!("Overrode incorrect link '{file}'"),
        Fault::Said(failed),
    )
}

pub(crate) fn hard_link(file: &str, to: &str) -> Words {
    words(
        format!("hard link files '{file}' -> '{to}'"),
        format!("Hard linked file '{file}' -> '{to}'"),
        because(&format!("Failed to hard link '{to}' to '{file}'"), "link"),
    )
}

pub(crate) fn remove_obstructing_link(file: &str) -> Words {
    words(
        format!("remove obstructing link '{file}'"),
        format!("Removed obstructing link '{file}'"),
        Fault::Said(format!("Failed to remove obstructing link '{file}'")),
    )
}

pub(crate) fn remove_dead_link(file: &str) -> Words {
    words(
        format!("remove dead link '{file}'"),
        format!("Removed dead link '{file}'"),
        Fault::Itself,
    )
}

pub(crate) fn remove_old_link(file: &str) -> Words {
    words(
        format!("remove old symbolic link '{file}' to make way for copy"),
        format!("Removing old symbolic link '{file}' to make way for copy"),
        because(&format!("Couldn't remove link '{file}'"), "unlink"),
    )
}

pub(crate) fn copy_fifo(file: &str) -> Words {
    words(
        format!("create FIFO '{file}'"),
        format!("Created fifo '{file}'"),
        because(&format!("Cannot create fifo '{file}'"), "mkfifo"),
    )
}

/// The last move of a copy, by which it gets its name.
pub(crate) fn install_copy(file: &str) -> Words {
    let failed = format!("Could not install copy file as '{file}', directory in the way?");
    words(String::new(), format!("Moved '{file}.cfnew' to '{file}'"), because(&failed, "rename"))
}

pub(crate) fn back_up_for_copy(file: &str, name: &str) -> Words {
    words(
        format!("back up '{file}' as '{name}'"),
        format!("Backed up '{file}' as '{name}'"),
        Fault::Said(format!("Failed to back up '{file}' as '{name}'")),
    )
}

pub(crate) fn copy_attributes(source: &str, file: &str) -> Words {
    words(
        format!("copy extended attributes from '{source}' to '{file}'"),
        format!("Copied extended attributes from '{source}' to '{file}'"),
        Fault::Itself,
    )
}

/// A directory of a tree that is copied.
pub(crate) fn copy_directory(dir: &str) -> Words {
    words(
        format!("create directory '{dir}'"),
        format!("Created directory '{dir}'"),
        because(&format!("Can't make directory '{dir}'"), "mkdir"),
    )
}

/// A directory where a link was.
pub(crate) fn directory_for_link(dir: &str) -> Words {
    words(
        format!("create directory '{dir}'"),
        format!("Created directory for '{dir}'"),
        because(&format!("Failed to make directory '{dir}'"), "mkdir"),
    )
}

pub(crate) fn purge(file: &str, is_dir: bool) -> Words {
    let should = format!("purge '{file}' from copy dest directory");
    if is_dir {
        words(
            should,
            format!("Purged directory '{file}' in copy dest directory"),
            Fault::Said(format!("Unable to purge directory tree '{file}'")),
        )
    } else {
        words(
            should,
            format!("Purged '{file}' copy dest directory"),
            Fault::Said(format!("Couldn't delete '{file}' while purging")),
        )
    }
}

/// An access list; `word` says which of the two, `list` what it was to become.
pub(crate) fn change_acl(file: &str, word: &str, list: &str) -> Words {
    let failed = format!("Error setting new {word} ACL({list}) on file '{file}' (acl_set_file: ");
    words(
        format!("update ACL {word} on file '{file}'"),
        format!("{word} ACL on '{file}' successfully changed"),
        Fault::Because(failed, "), are required ACEs present ?"),
    )
}

pub(crate) fn copy_acl(file: &str) -> Words {
    words(
        format!("copy default ACL on '{file}' from access ACL"),
        format!("Default ACL on '{file}' successfully copied from access ACL."),
        because(&format!("Could not set default ACL to access on '{file}'"), "acl_set_file"),
    )
}

pub(crate) fn clear_acl(file: &str) -> Words {
    words(
        format!("clean default ACL on '{file}'"),
        format!("Default ACL on '{file}' successfully cleared"),
        because(&format!("Could not reset ACL for '{file}'"), "acl_set_file"),
    )
}

pub(crate) fn write_content(file: &str, content: &str) -> Words {
    words(
        format!("update file '{file}' with content '{content}'"),
        format!("Updated file '{file}' with content '{content}'"),
        Fault::Said(format!("Cannot open file '{file}' for writing")),
    )
}

/// A change of something that only our own records have: the sentence fits both tenses.
/// A script whose interpreter is not on the machine.
pub(crate) fn no_interpreter(module: &str, program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or(program);
    let what = if name.contains("python") { "Python 3 (package 'python3')" } else { name };
    format!(
        "Package module '{module}' is a script for '{program}', which is not on this machine: install {what}, or give the module another interpreter"
    )
}

/// What is remembered of files could not be written.
pub(crate) fn unwritten_changes(place: &str, failure: &Failure) -> String {
    format!("Could not write what is known of files to '{place}': {}", why(failure))
}

pub(crate) fn record(should: String, done: String, failed: String) -> Words {
    words(should, done, Fault::Said(failed))
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};
    use std::path::Path;

    use fx_host::HostError;

    use super::*;

    fn denied() -> Failure {
        HostError::io("x", Path::new("/a"), Error::from(ErrorKind::PermissionDenied)).into()
    }

    #[test]
    fn withheld_changes_are_worded_by_what_withholds_them() {
        assert_eq!(should("delete file '/a'", false), "Should delete file '/a'");
        assert_eq!(
            should("delete file '/a'", true),
            "Should delete file '/a', but only warning promised"
        );
    }

    #[test]
    fn every_change_has_the_words_of_the_original() {
        let why = why(&denied());
        let table = [
            (
                delete_file("/a"),
                "delete file '/a'",
                "Deleted file '/a'",
                format!("Couldn't unlink '/a' tidying. (unlink: {why})"),
            ),
            (
                delete_directory("/a"),
                "delete directory '/a'",
                "Deleted directory '/a'",
                format!("Delete directory '/a' failed (rmdir: {why})"),
            ),
            (
                touch("/a"),
                "update time stamps for '/a'",
                "Touched (updated time stamps) for path '/a'",
                format!("Touch '/a' failed to update timestamps. (utime: {why})"),
            ),
            (
                change_mode("/a", 0o777, 0o600),
                "change permissions of '/a' from 0777 to 0600",
                "Object '/a' had permissions 0777, changed it to 0600",
                format!("Failed to change permissions of '/a'. (chmod: {why})"),
            ),
            (
                make_fifo("/a", 0o600),
                "create named pipe '/a', mode 0600",
                "Created named pipe '/a', mode 0600",
                format!("Error creating file '/a', mode '0600'. (mkfifo: {why})"),
            ),
            (
                create_file("/a", 0o600),
                "create file '/a', mode '0600'",
                "Created file '/a', mode 0600",
                format!("Error creating file '/a', mode '0600'. (open: {why})"),
            ),
            (
                move_obstruction("/a", "/a.cfsaved", false),
                "move aside object '/a' obstructing promise",
                "Moved obstructing object '/a' to '/a.cfsaved'",
                format!("Can't rename '/a' to '/a.cfsaved'. (rename: {why})"),
            ),
            (
                rename("/a", "/b"),
                "rename file '/a' to '/b'",
                "Renamed file '/a' to '/b'",
                format!("Error occurred while renaming '/a'. (rename: {why})"),
            ),
            (
                disabled_mode("/a", 0o400),
                "change permissions of '/a' to 'mode 0400'",
                "Changed permissions of '/a' to 'mode 0400'",
                format!("Failed to change permissions of '/a' to 'mode 0400' ({why})"),
            ),
            (
                link("/a", "/b"),
                "link files '/a' -> '/b'",
                "Linked files '/a' -> '/b'",
                format!("Couldn't link '/b' to '/a'. (symlink: {why})"),
            ),
            (
                purge("/a", true),
                "purge '/a' from copy dest directory",
                "Purged directory '/a' in copy dest directory",
                "Unable to purge directory tree '/a'".to_owned(),
            ),
            (
                change_acl("/a", "Access", "user::rw-"),
                "update ACL Access on file '/a'",
                "Access ACL on '/a' successfully changed",
                format!(
                    "Error setting new Access ACL(user::rw-) on file '/a' (acl_set_file: {why}), are required ACEs present ?"
                ),
            ),
            (truncate("/a"), "truncate '/a'", "Truncated '/a'", denied().to_string()),
        ];
        for (words, should, done, failed) in table {
            assert_eq!(words.should, should);
            assert_eq!(words.done, done);
            assert_eq!(words.failed.text(&denied()), failed);
        }
    }

    #[test]
    fn owners_and_groups_are_worded_alone_and_together() {
        let table = [
            (Some(1), Some(2), "change owner and group of '/a' to '1:2'"),
            (Some(1), None, "change owner of '/a' to '1'"),
            (None, Some(2), "change group of '/a' to '2'"),
        ];
        for (uid, gid, expected) in table {
            assert_eq!(should_change_owner("/a", uid, gid), expected);
        }
    }
}
