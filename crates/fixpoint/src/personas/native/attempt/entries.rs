//! Accounts and packages that a run added or removed, read out of the files that list them.
//!
//! Debian's package list and the account files are read as text; other package databases
//! are named as changed files only.

use std::collections::BTreeMap;
use std::path::Path;

use fx_host::{FsChange, Sandbox};

/// Lists longer than this are not read.
const MAX_LIST: u64 = 256 << 20;

/// Names with what distinguishes them: a number, a version.
type Listed = BTreeMap<String, String>;

/// One line a thing: `user added webmaster`.
pub(super) fn told(sandbox: &Sandbox, changes: &[FsChange]) -> Vec<String> {
    let mut told = Vec::new();
    let lists = [
        ("/etc/passwd", "user", accounts as fn(&str) -> Listed),
        ("/etc/group", "group", accounts),
        ("/var/lib/dpkg/status", "package", packages),
    ];
    for (path, word, read) in lists {
        let found = changes.iter().find(|change| change.path == Path::new(path));
        let Some((old, new)) = found.and_then(|change| sandbox.contents(change, MAX_LIST)) else {
            continue;
        };
        let text = |bytes: &[u8]| read(&String::from_utf8_lossy(bytes));
        told.extend(difference(word, &text(&old), &text(&new)));
    }
    told
}

fn difference(word: &str, old: &Listed, new: &Listed) -> Vec<String> {
    let mut told = Vec::new();
    for (name, what) in new {
        match old.get(name) {
            None => told.push(format!("{word} added {name} {what}").trim_end().to_owned()),
            Some(was) if was != what => told.push(format!("{word} changed {name} {was} -> {what}")),
            Some(_) => {}
        }
    }
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        told.push(format!("{word} removed {name}"));
    }
    told
}

/// Name and number of each account; the rest of a line is in the file's own diff.
fn accounts(text: &str) -> Listed {
    text.lines()
        .filter_map(|line| {
            let mut parts = line.split(':');
            let name = parts.next().filter(|name| !name.is_empty())?;
            Some((name.to_owned(), parts.nth(1).unwrap_or_default().to_owned()))
        })
        .collect()
}

/// Name and version of each installed package.
fn packages(text: &str) -> Listed {
    text.split("\n\n")
        .filter_map(|block| {
            let field = |name: &str| {
                block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
            };
            field("Status")?.ends_with(" installed").then_some(())?;
            Some((field("Package")?.to_owned(), field("Version").unwrap_or_default().to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_went_and_changed_is_named() {
        let old = "root:x:0:0::/root:/bin/sh\nold:x:7:7::/:/bin/sh\nsame:x:8:8::/:/bin/sh\n";
        let new = "root:x:0:0::/root:/bin/bash\nsame:x:9:8::/:/bin/sh\nweb:x:5:5::/:/bin/sh\n";
        assert_eq!(
            difference("user", &accounts(old), &accounts(new)),
            ["user changed same 8 -> 9", "user added web 5", "user removed old"]
        );
    }

    #[test]
    fn only_installed_packages_count() {
        let status = "Package: a\nStatus: install ok installed\nVersion: 1.0\n\nPackage: b\nStatus: deinstall ok config-files\nVersion: 2\n\nPackage: c\nStatus: install ok installed\nVersion: 3-1\n";
        let found: Vec<_> = packages(status).into_iter().collect();
        assert_eq!(found, [("a".into(), "1.0".into()), ("c".into(), "3-1".into())]);
    }
}
