//! A group: there or not, with its number and members, through the account files or
//! through groupadd and its kin.

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Look};
use fx_value::Value;

use crate::shadow::{self, GROUP, GSHADOW, Table, field};
use crate::{command, wanted};

/// What a group should be. Properties that are `None` are not looked at.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// Its name.
    pub name: String,
    /// Whether it should not be there.
    pub absent: bool,
    /// Its number; the next free one, where not given.
    pub gid: Option<u32>,
    /// Its members.
    pub members: Option<Vec<String>>,
    /// Whether others may be members besides.
    pub membership: Membership,
    /// Takes a number from the system's range.
    pub system: bool,
    /// Lets two groups have one number.
    pub non_unique: bool,
}

/// Whether a list is all there may be, or the least there must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Membership {
    /// Others may be there besides.
    #[default]
    Minimum,
    /// Only these.
    Inclusive,
}

impl Membership {
    /// What the list should become.
    pub(crate) fn merge(self, current: &[String], wanted: &[String]) -> Vec<String> {
        let mut list = match self {
            Membership::Minimum => current.to_vec(),
            // Those that stay keep their places.
            Membership::Inclusive => {
                current.iter().filter(|name| wanted.contains(name)).cloned().collect()
            }
        };
        for name in wanted {
            if !list.contains(name) {
                list.push(name.clone());
            }
        }
        list
    }
}

/// By which way accounts are changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Through useradd, groupadd and their kin.
    #[default]
    Commands,
    /// Through the files themselves, under their locks.
    Files,
}

/// A group with its desired state.
pub struct Group {
    /// What it should be.
    pub desired: Desired,
    method: Method,
    members: Option<Vec<String>>,
}

impl Group {
    /// A group that should be like this, changed in this way.
    pub fn new(desired: Desired, method: Method) -> Group {
        Group { desired, method, members: None }
    }

    fn apply_by_commands(&self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let desired = &self.desired;
        let run = |mut argv: Vec<String>| {
            argv.push(desired.name.clone());
            command::succeed(host, &command::changing(argv)).map(drop)
        };
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        if desired.absent {
            return run(words(&["groupdel"]));
        }
        let number = |mut argv: Vec<String>| {
            if let Some(gid) = desired.gid {
                argv.extend(["-g".to_owned(), gid.to_string()]);
                if desired.non_unique {
                    argv.push("-o".to_owned());
                }
            }
            argv
        };
        if wanted(changes, "ensure") {
            let mut argv = number(words(&["groupadd"]));
            if desired.system {
                argv.push("-r".to_owned());
            }
            run(argv)?;
        } else if wanted(changes, "gid") {
            run(number(words(&["groupmod"])))?;
        }
        if wanted(changes, "members")
            && let Some(members) = &self.members
        {
            run(vec!["gpasswd".to_owned(), "-M".to_owned(), members.join(",")])?;
        }
        Ok(())
    }

    fn apply_by_files(&self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let desired = &self.desired;
        shadow::locked(host, || {
            let mut groups = Table::read(host, GROUP)?;
            let mut shadows = Table::read(host, GSHADOW)?;
            if desired.absent {
                groups.remove(&desired.name);
                shadows.remove(&desired.name);
            } else {
                let old = groups.row(&desired.name);
                if old.is_none() && !wanted(changes, "ensure") {
                    // A name service knows the group; a local row would hide it.
                    let text = format!("group '{}' is not in '{GROUP}'", desired.name);
                    return Err(Failure::new(text));
                }
                let gid = match (desired.gid, &old) {
                    (Some(gid), _) => gid.to_string(),
                    // A row without a number is no group yet.
                    (None, Some(row)) if field(row, 2).parse::<u32>().is_ok() => {
                        field(row, 2).to_owned()
                    }
                    (None, _) => free_gid(host, &groups, desired.system)?.to_string(),
                };
                let clash = groups.rows().any(|row| {
                    field(&row, 2) == gid && field(&row, 0) != desired.name && !desired.non_unique
                });
                if clash {
                    let text = format!("gid {gid} of group '{}' is taken", desired.name);
                    return Err(Failure::new(text));
                }
                let list = match (&self.members, &old) {
                    (Some(members), _) if wanted(changes, "members") => members.join(","),
                    (_, Some(row)) => field(row, 3).to_owned(),
                    _ => String::new(),
                };
                add_row(&mut groups, &mut shadows, &desired.name, &gid, &list);
            }
            // The shadow row first: without its group it means nothing.
            shadows.write(host)?;
            groups.write(host)
        })
    }
}

/// Puts a group into both files, keeping what an old row has besides.
pub(crate) fn add_row(
    groups: &mut Table,
    shadows: &mut Table,
    name: &str,
    gid: &str,
    members: &str,
) {
    let password = groups.row(name).map_or_else(|| "x".to_owned(), |row| field(&row, 1).to_owned());
    groups.set(&[name.to_owned(), password, gid.to_owned(), members.to_owned()]);
    if shadows.is_present() {
        let old = shadows.row(name).unwrap_or_default();
        let password = if old.is_empty() { "!" } else { field(&old, 1) };
        let row = [name, password, field(&old, 2), members].map(str::to_owned);
        shadows.set(&row);
    }
}

/// The next free group number.
pub(crate) fn free_gid(host: &dyn Look, groups: &Table, system: bool) -> Result<u32, Failure> {
    let used: Vec<u32> = groups.rows().filter_map(|row| field(&row, 2).parse().ok()).collect();
    shadow::free_id(host, "GID", system, &used)
}

/// Refuses names that would break the files or their tools.
pub(crate) fn check(what: &str, name: &str) -> Result<(), Failure> {
    command::check_name(what, name)?;
    command::check_field(&format!("{what} name"), name, &[':', ',', '/', ' '])
}

impl Resource for Group {
    fn id(&self) -> ResourceId {
        ResourceId::new("group", self.desired.name.as_str())
    }

    fn target(&self) -> Target {
        Target::group(&self.desired.name)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.members = None;
        let desired = &self.desired;
        check("group", &desired.name)?;
        for member in desired.members.iter().flatten() {
            check("user", member)?;
        }
        let found = host.group(&desired.name)?;
        if desired.absent {
            let gone = found.map(|_| Change::of(self.target(), "ensure", "present", "absent"));
            return Ok(gone.into_iter().collect());
        }
        let mut changes = Vec::new();
        match (&found, desired.gid) {
            (None, _) => changes.push(Change::of(self.target(), "ensure", "absent", "present")),
            (Some(group), Some(gid)) if group.gid != gid => {
                changes.push(Change::of(self.target(), "gid", group.gid, gid));
            }
            _ => {}
        }
        if let Some(members) = &desired.members {
            let current = found.map(|group| group.members).unwrap_or_default();
            let merged = desired.membership.merge(&current, members);
            if merged != current {
                changes.push(Change::of(self.target(), "members", names(&current), names(&merged)));
                self.members = Some(merged);
            }
        }
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        match self.method {
            Method::Commands => self.apply_by_commands(host, changes),
            Method::Files => self.apply_by_files(host, changes),
        }
    }
}

/// A list of names for a report.
pub(crate) fn names(list: &[String]) -> Value {
    Value::List(list.iter().map(|name| Value::from(name.as_str())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::{MemoryHost, Reply};

    fn converge(host: &MemoryHost, desired: Desired, method: Method) -> String {
        let mut group = Group::new(desired, method);
        let changes = group.observe(host).unwrap();
        if !changes.is_empty() {
            group.apply(host, &changes).unwrap();
        }
        let line = |c: &Change| format!("{}: {} -> {}", c.property, c.from, c.to);
        changes.iter().map(line).collect::<Vec<_>>().join(", ")
    }

    fn machine() -> MemoryHost {
        let host = MemoryHost::linux();
        host.put("/etc/group", "root:x:0:\nops:x:50:ann,bob\n");
        host.put_mode("/etc/gshadow", "root:*::\nops:!:ann:ann,bob\n", 0o640);
        host
    }

    fn ops() -> Desired {
        Desired { name: "ops".into(), ..Desired::default() }
    }

    #[test]
    fn files_are_edited_row_by_row() {
        let host = machine();
        let members = Some(vec!["bob".to_owned(), "eve".to_owned()]);
        let desired = Desired { gid: Some(60), members, ..ops() };
        let shown = converge(&host, desired.clone(), Method::Files);
        let expected = r#"gid: 50 -> 60, members: ["ann","bob"] -> ["ann","bob","eve"]"#;
        assert_eq!(shown, expected);
        assert_eq!(host.text("/etc/group"), "root:x:0:\nops:x:60:ann,bob,eve\n");
        assert_eq!(host.text("/etc/gshadow"), "root:*::\nops:!:ann:ann,bob,eve\n");
        let desired = Desired { membership: Membership::Inclusive, ..desired };
        converge(&host, desired, Method::Files);
        assert_eq!(host.text("/etc/group"), "root:x:0:\nops:x:60:bob,eve\n");
        let new = Desired { name: "web".into(), system: true, ..Desired::default() };
        assert_eq!(converge(&host, new.clone(), Method::Files), "ensure: absent -> present");
        assert!(host.text("/etc/group").ends_with("web:x:999:\n"));
        assert!(host.text("/etc/gshadow").ends_with("web:!::\n"));
        converge(&host, Desired { absent: true, ..new }, Method::Files);
        assert!(!host.text("/etc/group").contains("web"));
        let clash = Desired { name: "x".into(), gid: Some(60), ..Desired::default() };
        let mut group = Group::new(clash, Method::Files);
        let changes = group.observe(&host).unwrap();
        let failure = group.apply(&host, &changes).unwrap_err();
        assert_eq!(failure.to_string(), "gid 60 of group 'x' is taken");
    }

    #[test]
    fn a_row_without_a_number_is_mended() {
        let host = machine();
        host.put("/etc/group", "ops:x\n");
        assert_eq!(converge(&host, ops(), Method::Files), "ensure: absent -> present");
        assert_eq!(host.text("/etc/group"), "ops:x:1000:\n");
    }

    #[test]
    fn commands_are_those_of_the_shadow_tools() {
        let host = machine();
        host.on_any(|_, _| Some(Reply::default()));
        let members = Some(vec!["eve".to_owned()]);
        let new = Desired {
            name: "web".into(),
            gid: Some(7),
            system: true,
            members: members.clone(),
            ..Desired::default()
        };
        converge(&host, new, Method::Commands);
        let old = Desired { gid: Some(51), members, non_unique: true, ..ops() };
        converge(&host, old, Method::Commands);
        converge(&host, Desired { absent: true, ..ops() }, Method::Commands);
        let expected = [
            "groupadd -g 7 -r web",
            "gpasswd -M eve web",
            "groupmod -g 51 -o ops",
            "gpasswd -M ann,bob,eve ops",
            "groupdel ops",
        ];
        assert_eq!(host.call_lines(), expected);
    }

    #[test]
    fn names_that_break_a_row_are_refused() {
        let host = machine();
        for name in ["a:b", "a\nroot:x:0:", "-g", "a,b", ""] {
            let desired = Desired { name: name.into(), ..Desired::default() };
            assert!(Group::new(desired, Method::Files).observe(&host).is_err(), "{name:?}");
        }
    }
}
