//! The key of another host: one line of `ssh_known_hosts`, found by the name and the kind of key.

use std::path::PathBuf;

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Look};

use crate::command;
use crate::group::names;
use crate::line::{self, Table};

/// What the key of a host should be.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// The host's name.
    pub name: String,
    /// What kind of key: `ssh-ed25519`, `ssh-rsa`.
    pub kind: String,
    /// Whether it should not be there.
    pub absent: bool,
    /// The key itself, in base64; not looked at, where not given.
    pub key: Option<String>,
    /// The host's other names; not looked at, where not given.
    pub aliases: Option<Vec<String>>,
    /// The file; `/etc/ssh/ssh_known_hosts`, where not given.
    pub target: Option<PathBuf>,
}

// A line taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    aliases: Vec<String>,
    key: String,
}

/// The key of a host with its desired state.
pub struct KnownHost {
    /// What it should be.
    pub desired: Desired,
    table: Table,
}

impl KnownHost {
    /// A key that should be like this.
    pub fn new(desired: Desired) -> KnownHost {
        KnownHost { desired, table: Table::default() }
    }

    fn path(&self) -> PathBuf {
        self.desired.target.clone().unwrap_or_else(|| "/etc/ssh/ssh_known_hosts".into())
    }

    fn check(&self) -> Result<(), Failure> {
        let desired = &self.desired;
        command::check_hosts(&desired.name, desired.aliases.as_deref(), &[' ', ',', '#'])?;
        command::check_field("key type", &desired.kind, &[' '])?;
        command::check_field("key", desired.key.as_deref().unwrap_or_default(), &[' '])?;
        if desired.kind.is_empty() {
            return Err(Failure::new(format!("key of host '{}' has no type", desired.name)));
        }
        Ok(())
    }

    // The line of this host with a key of this kind, taken apart.
    fn parse(&self, line: &[u8]) -> Option<Line> {
        let text = String::from_utf8_lossy(line);
        let mut words = text.split_whitespace();
        let mut all = words.next().filter(|word| !word.starts_with('#'))?.split(',');
        (all.next()? == self.desired.name && words.next()? == self.desired.kind).then(|| Line {
            aliases: all.map(str::to_owned).collect(),
            key: words.next().unwrap_or_default().to_owned(),
        })
    }

    fn render(&self, line: &Line) -> Vec<u8> {
        let mut all = vec![self.desired.name.as_str()];
        all.extend(line.aliases.iter().map(String::as_str));
        format!("{} {} {}", all.join(","), self.desired.kind, line.key).into_bytes()
    }
}

impl Resource for KnownHost {
    fn id(&self) -> ResourceId {
        ResourceId::new("sshkey", self.desired.name.as_str())
    }

    fn target(&self) -> Target {
        Target::other("ssh host key", &self.desired.name)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.check()?;
        let desired = &self.desired;
        let mut table = Table::read(host, self.path())?;
        let found = table.find(|line| self.parse(line));
        let is_ours = |line: &[u8]| self.parse(line).is_some();
        if desired.absent {
            table.delete(is_ours);
            self.table = table;
            let gone = found.map(|_| Change::of(self.target(), "ensure", "present", "absent"));
            return Ok(gone.into_iter().collect());
        }
        let mut wanted = found.clone().unwrap_or_default();
        if let Some(key) = &desired.key {
            wanted.key.clone_from(key);
        }
        if let Some(aliases) = &desired.aliases {
            wanted.aliases.clone_from(aliases);
        }
        if wanted.key.is_empty() {
            return Err(Failure::new(format!("host '{}' has no key", desired.name)));
        }
        let changes = line::differences(&self.target(), found.as_ref(), &wanted, |line| {
            vec![("key", line.key.as_str().into()), ("host_aliases", names(&line.aliases))]
        });
        table.ensure(&self.render(&wanted), is_ours);
        self.table = table;
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        self.table.write(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::MemoryHost;

    const FILE: &str = "/etc/ssh/ssh_known_hosts";

    fn converge(host: &MemoryHost, desired: Desired) -> String {
        let mut key = KnownHost::new(desired);
        let changes = key.observe(host).unwrap();
        if !changes.is_empty() {
            key.apply(host, &changes).unwrap();
        }
        assert_eq!(key.observe(host).unwrap(), []);
        let line = |c: &Change| format!("{}: {} -> {}", c.property, c.from, c.to);
        changes.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn db() -> Desired {
        Desired {
            name: "db".into(),
            kind: "ssh-ed25519".into(),
            key: Some("AAAAC3Nz".into()),
            ..Desired::default()
        }
    }

    #[test]
    fn keys_are_added_changed_and_removed_by_name_and_kind() {
        let host = MemoryHost::linux();
        host.put_dir("/etc/ssh", 0o755);
        assert_eq!(converge(&host, db()), "ensure: absent -> present");
        let snapshot = host.snapshot();
        let file = "ssh_known_hosts file 0644 0:0 db ssh-ed25519 AAAAC3Nz\\n";
        assert!(snapshot.contains(file), "{snapshot}");
        let others = "# db\nweb ssh-rsa AAAA\ndb,db.example ssh-rsa BBBB\n";
        host.put(FILE, format!("{others}db,old ssh-ed25519 OLD\n"));
        let desired = Desired { aliases: Some(vec!["db.example".into()]), ..db() };
        let expected = "key: OLD -> AAAAC3Nz\nhost_aliases: [\"old\"] -> [\"db.example\"]";
        assert_eq!(converge(&host, desired), expected);
        let line = "db,db.example ssh-ed25519 AAAAC3Nz\n";
        assert_eq!(host.text(FILE), format!("{others}{line}"));
        assert_eq!(converge(&host, Desired { key: None, ..db() }), "");
        converge(&host, Desired { absent: true, ..db() });
        assert_eq!(host.text(FILE), others);
    }

    #[test]
    fn what_would_add_a_line_or_a_field_is_refused() {
        let host = MemoryHost::linux();
        let bad = [
            Desired { key: Some("A\nevil ssh-rsa B".into()), ..db() },
            Desired { key: None, ..db() },
            Desired { name: "a,b".into(), ..db() },
            Desired { name: "#a".into(), ..db() },
            Desired { kind: String::new(), ..db() },
            Desired { aliases: Some(vec!["a b".into()]), ..db() },
        ];
        for desired in bad {
            assert!(KnownHost::new(desired.clone()).observe(&host).is_err(), "{desired:?}");
        }
    }
}
