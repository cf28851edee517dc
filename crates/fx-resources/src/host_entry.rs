//! A line of `/etc/hosts`: an address with its name and aliases, found by the name.

use std::net::IpAddr;
use std::path::PathBuf;

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Look};

use crate::command;
use crate::group::names;
use crate::line::{self, Table};

/// What a host entry should be.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// The host's own name.
    pub name: String,
    /// Whether it should not be there.
    pub absent: bool,
    /// Its address.
    pub ip: Option<IpAddr>,
    /// Its other names; not looked at, where not given.
    pub aliases: Option<Vec<String>>,
    /// A remark behind the names; not looked at, where not given.
    pub comment: Option<String>,
    /// The file; `/etc/hosts`, where not given.
    pub target: Option<PathBuf>,
}

// A line taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    ip: String,
    aliases: Vec<String>,
    comment: String,
}

/// A host entry with its desired state.
pub struct HostEntry {
    /// What it should be.
    pub desired: Desired,
    table: Table,
}

impl HostEntry {
    /// An entry that should be like this.
    pub fn new(desired: Desired) -> HostEntry {
        HostEntry { desired, table: Table::default() }
    }

    fn path(&self) -> PathBuf {
        self.desired.target.clone().unwrap_or_else(|| "/etc/hosts".into())
    }

    fn check(&self) -> Result<(), Failure> {
        let desired = &self.desired;
        command::check_hosts(&desired.name, desired.aliases.as_deref(), &[' ', '#'])?;
        desired.comment.as_ref().map_or(Ok(()), |text| command::check_field("comment", text, &[]))
    }

    // The line with this name, taken apart.
    fn parse(&self, line: &[u8]) -> Option<Line> {
        let text = String::from_utf8_lossy(line);
        let (entry, comment) = text.split_once('#').unwrap_or((&text, ""));
        let mut words = entry.split_whitespace();
        let ip = words.next()?.to_owned();
        (words.next()? == self.desired.name).then(|| Line {
            ip,
            aliases: words.map(str::to_owned).collect(),
            comment: comment.trim().to_owned(),
        })
    }

    fn render(&self, line: &Line) -> Vec<u8> {
        let mut text = format!("{}\t{}", line.ip, self.desired.name);
        if !line.aliases.is_empty() {
            text.push('\t');
            text.push_str(&line.aliases.join(" "));
        }
        if !line.comment.is_empty() {
            text.push_str("\t# ");
            text.push_str(&line.comment);
        }
        text.into_bytes()
    }
}

impl Resource for HostEntry {
    fn id(&self) -> ResourceId {
        ResourceId::new("host", self.desired.name.as_str())
    }

    fn target(&self) -> Target {
        Target::host_entry(&self.desired.name)
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
        match desired.ip {
            Some(ip) if wanted.ip.parse() != Ok(ip) => wanted.ip = ip.to_string(),
            None if wanted.ip.is_empty() => {
                return Err(Failure::new(format!("host '{}' has no address", desired.name)));
            }
            _ => {}
        }
        if let Some(aliases) = &desired.aliases {
            wanted.aliases.clone_from(aliases);
        }
        if let Some(comment) = &desired.comment {
            comment.trim().clone_into(&mut wanted.comment);
        }
        let changes = line::differences(&self.target(), found.as_ref(), &wanted, |line| {
            vec![
                ("ip", line.ip.as_str().into()),
                ("host_aliases", names(&line.aliases)),
                ("comment", line.comment.as_str().into()),
            ]
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

    fn converge(host: &MemoryHost, desired: Desired) -> String {
        let mut entry = HostEntry::new(desired);
        let changes = entry.observe(host).unwrap();
        if !changes.is_empty() {
            entry.apply(host, &changes).unwrap();
        }
        assert_eq!(entry.observe(host).unwrap(), []);
        let line = |c: &Change| format!("{}: {} -> {}", c.property, c.from, c.to);
        changes.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn entries_are_added_changed_and_removed() {
        let host = MemoryHost::linux();
        host.put(
            "/etc/hosts",
            "# top\n127.0.0.1 localhost loop\n::1 localhost6\n10.0.0.1 db # old\n",
        );
        let db = Desired {
            name: "db".into(),
            ip: Some("10.0.0.2".parse().unwrap()),
            aliases: Some(vec!["db.example".into()]),
            ..Desired::default()
        };
        let expected = "ip: 10.0.0.1 -> 10.0.0.2\nhost_aliases: [] -> [\"db.example\"]";
        assert_eq!(converge(&host, db.clone()), expected);
        assert!(host.text("/etc/hosts").ends_with("10.0.0.2\tdb\tdb.example\t# old\n"));
        let six = Desired {
            name: "localhost6".into(),
            ip: Some("0:0::1".parse().unwrap()),
            ..Desired::default()
        };
        assert_eq!(converge(&host, six), "", "the same address in another spelling");
        converge(&host, Desired { name: "web".into(), ..db.clone() });
        assert!(host.text("/etc/hosts").ends_with("10.0.0.2\tweb\tdb.example\n"));
        converge(&host, Desired { absent: true, ..db });
        let text = host.text("/etc/hosts");
        assert!(!text.contains("\tdb\t") && text.starts_with("# top\n127.0.0.1 localhost loop\n"));
        let bad = Desired { name: "a b".into(), ..Desired::default() };
        assert!(HostEntry::new(bad).observe(&host).is_err());
    }
}
