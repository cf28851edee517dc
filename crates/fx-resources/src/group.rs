//! A group: there or not, with its number, changed by the shadow tools. Who is a member is said
//! of the users.

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Look};
use fx_value::Value;

use crate::account::tools::{Call, Dialect};
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

/// A group with its desired state.
pub struct Group {
    /// What it should be.
    pub desired: Desired,
}

impl Group {
    /// A group that should be like this.
    pub fn new(desired: Desired) -> Group {
        Group { desired }
    }
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
        let desired = &self.desired;
        check("group", &desired.name)?;
        let found = host.group(&desired.name)?;
        if desired.absent {
            let gone = found.map(|_| Change::of(self.target(), "ensure", "present", "absent"));
            return Ok(gone.into_iter().collect());
        }
        Ok(match (&found, desired.gid) {
            (None, _) => vec![Change::of(self.target(), "ensure", "absent", "present")],
            (Some(group), Some(gid)) if group.gid != gid => {
                vec![Change::of(self.target(), "gid", group.gid, gid)]
            }
            _ => Vec::new(),
        })
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let desired = &self.desired;
        let run = |call: &Call<'_>| {
            let argv = Dialect::default().argv(&desired.name, call);
            command::succeed(host, &command::changing(argv)).map(drop)
        };
        if desired.absent {
            return run(&Call::RemoveGroup);
        }
        let gid = desired.gid.map(|gid| (gid, desired.non_unique));
        if wanted(changes, "ensure") {
            run(&Call::AddGroup { gid, system: desired.system })?;
        } else if wanted(changes, "gid") {
            run(&Call::ChangeGroup { gid })?;
        }
        Ok(())
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

    fn converge(host: &MemoryHost, desired: Desired) -> String {
        let mut group = Group::new(desired);
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
        host
    }

    fn ops() -> Desired {
        Desired { name: "ops".into(), ..Desired::default() }
    }

    #[test]
    fn lists_are_all_or_the_least() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (current, wanted) = (list(&["ann", "bob"]), list(&["eve", "bob"]));
        let least = Membership::Minimum.merge(&current, &wanted);
        assert_eq!(least, ["ann", "bob", "eve"]);
        assert_eq!(Membership::Inclusive.merge(&current, &wanted), ["bob", "eve"]);
    }

    #[test]
    fn commands_are_those_of_the_shadow_tools() {
        let host = machine();
        host.on_any(|_, _| Some(Reply::default()));
        let new = Desired { name: "web".into(), gid: Some(7), system: true, ..Desired::default() };
        assert_eq!(converge(&host, new), "ensure: absent -> present");
        let old = Desired { gid: Some(51), non_unique: true, ..ops() };
        assert_eq!(converge(&host, old), "gid: 50 -> 51");
        converge(&host, Desired { absent: true, ..ops() });
        let expected = ["groupadd -g 7 -r web", "groupmod -g 51 -o ops", "groupdel ops"];
        assert_eq!(host.call_lines(), expected);
    }

    #[test]
    fn names_that_break_a_row_are_refused() {
        let host = machine();
        for name in ["a:b", "a\nroot:x:0:", "-g", "a,b", ""] {
            let desired = Desired { name: name.into(), ..Desired::default() };
            assert!(Group::new(desired).observe(&host).is_err(), "{name:?}");
        }
    }
}
