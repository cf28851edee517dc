//! What a simulated run says of packages: the notes of package modules summed up by name and
//! architecture. Nothing is installed, so later notes are read in the light of earlier ones.

use indexmap::IndexMap;

/// What a promise wants of a package, seen from the machine as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// It would be installed.
    Install,
    /// It would be removed.
    Remove,
    /// It is to be there and is.
    Present,
    /// It is not to be there and is not.
    Absent,
}

impl Operation {
    fn word(self) -> &'static str {
        match self {
            Operation::Install => "installed",
            Operation::Remove => "removed",
            Operation::Present => "present",
            Operation::Absent => "absent",
        }
    }
}

/// One note of a package module's promise.
#[derive(Clone, Debug)]
pub(crate) struct PackageNote {
    pub(crate) operation: Operation,
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    pub(crate) arch: Option<String>,
}

impl PackageNote {
    pub(crate) fn new(
        operation: Operation,
        name: &str,
        version: Option<&str>,
        arch: Option<&str>,
    ) -> PackageNote {
        let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        PackageNote { operation, name: name.to_owned(), version: text(version), arch: text(arch) }
    }

    fn key(&self) -> (String, Option<String>) {
        (self.name.clone(), self.arch.clone())
    }

    fn line(&self, operation: Operation) -> String {
        let mut what = self.name.clone();
        if let Some(arch) = &self.arch {
            what.push_str(&format!("-{arch}"));
        }
        if let Some(version) = &self.version {
            what.push_str(&format!(" [{version}]"));
        }
        format!("Package '{what}' would be {}", operation.word())
    }
}

/// A line and the version it speaks of.
type Lines = IndexMap<(String, Option<String>), (String, Option<String>)>;

fn greater(version: Option<&str>, than: Option<&str>) -> bool {
    match (version, than) {
        (Some("latest"), _) => true,
        (Some(version), Some(than)) => version > than,
        _ => false,
    }
}

fn texts(first: Lines, then: Lines) -> Vec<String> {
    first.into_values().chain(then.into_values()).map(|(line, _)| line).collect()
}

/// What would differ from the machine.
pub(super) fn difference(notes: &[PackageNote]) -> Vec<String> {
    let (mut installed, mut removed) = (Lines::new(), Lines::new());
    for note in notes {
        let key = note.key();
        let version = note.version.as_deref();
        match note.operation {
            // What was to be removed would be put back.
            Operation::Present => {
                removed.shift_remove(&key);
            }
            Operation::Absent => {
                if version.is_none()
                    || installed.get(&key).is_some_and(|(_, known)| known.as_deref() == version)
                {
                    installed.shift_remove(&key);
                }
            }
            Operation::Install => {
                if installed.get(&key).is_none_or(|(_, known)| greater(version, known.as_deref())) {
                    let line = note.line(Operation::Install);
                    installed.insert(key.clone(), (line, note.version.clone()));
                }
                removed.shift_remove(&key);
            }
            Operation::Remove => {
                let mut listed = removed.get(&key).is_none_or(|(_, known)| known.is_none());
                let matching =
                    installed.get(&key).is_some_and(|(_, known)| known.as_deref() == version);
                if version.is_none() || matching {
                    installed.shift_remove(&key);
                } else if installed.contains_key(&key) {
                    listed = false;
                }
                if listed {
                    removed.insert(key, (note.line(Operation::Remove), note.version.clone()));
                }
            }
        }
    }
    texts(installed, removed)
}

/// What would be there and what would not.
pub(super) fn manifest(notes: &[PackageNote]) -> Vec<String> {
    let (mut present, mut absent) = (Lines::new(), Lines::new());
    for note in notes {
        let key = note.key();
        let version = note.version.as_deref();
        match note.operation {
            Operation::Install | Operation::Present => {
                let better = present.get(&key).is_none_or(|(_, known)| {
                    known.is_none() && version.is_some() || greater(version, known.as_deref())
                });
                if better {
                    let line = note.line(Operation::Present);
                    present.insert(key.clone(), (line, note.version.clone()));
                }
                absent.shift_remove(&key);
            }
            Operation::Remove | Operation::Absent => {
                let works = present.get(&key).is_none_or(|(_, known)| {
                    known.is_none() || version.is_none() || known.as_deref() == version
                });
                if works {
                    present.shift_remove(&key);
                    let wider = absent
                        .get(&key)
                        .is_none_or(|(_, known)| known.is_some() && version.is_none());
                    if wider {
                        absent.insert(key, (note.line(Operation::Absent), note.version.clone()));
                    }
                }
            }
        }
    }
    texts(present, absent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(notes: &[(Operation, &str, &str)], diff: &[&str], full: &[&str]) {
        let notes: Vec<PackageNote> = notes
            .iter()
            .map(|(operation, name, version)| {
                PackageNote::new(*operation, name, Some(version), None)
            })
            .collect();
        assert_eq!(difference(&notes), diff);
        assert_eq!(manifest(&notes), full);
    }

    #[test]
    fn later_notes_outweigh_earlier_ones() {
        use Operation::{Absent, Install, Present, Remove};
        let a = "Package 'a' would be";
        check(&[(Install, "a", "")], &[&format!("{a} installed")], &[&format!("{a} present")]);
        check(&[(Install, "a", ""), (Absent, "a", "")], &[], &[&format!("{a} absent")]);
        check(&[(Remove, "a", ""), (Present, "a", "")], &[], &[&format!("{a} present")]);
        check(
            &[(Install, "a", "1"), (Install, "a", "2")],
            &["Package 'a [2]' would be installed"],
            &["Package 'a [2]' would be present"],
        );
        check(
            &[(Install, "a", "1"), (Remove, "a", "2")],
            &["Package 'a [1]' would be installed"],
            &["Package 'a [1]' would be present"],
        );
        let note = PackageNote::new(Remove, "b", Some("3"), Some("amd64"));
        assert_eq!(difference(&[note]), ["Package 'b-amd64 [3]' would be removed"]);
    }
}
