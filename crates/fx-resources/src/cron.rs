//! A job of cron: in a user's crontab, found by a comment with its name, or in a file of
//! `/etc/cron.d`. Lines of other people stay as they are.

pub mod table;

use std::path::PathBuf;

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Exit, Look, WriteOptions};

use crate::command;
use table::{Comment, Entry, Schedule};

/// What a job should be.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// Its name, unique in its table.
    pub name: String,
    /// Whether it should not be there.
    pub absent: bool,
    /// Where it stands.
    pub target: Table,
    /// The words before the name in the comment; `Puppet Name` where empty.
    pub marker: String,
    /// When it runs.
    pub schedule: Schedule,
    /// What it runs; percent signs stand as they are to be written.
    pub command: String,
    /// Variables set for it, each `NAME=value`, on lines before it.
    pub environment: Vec<String>,
}

/// Where a job stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Table {
    /// In the crontab of this user, through `crontab`.
    Crontab(String),
    /// In a file whose lines name the user.
    File {
        /// The file.
        path: PathBuf,
        /// Who runs it.
        user: String,
        /// Mode of a file that is made; 0644 where not given.
        mode: Option<u32>,
    },
}

impl Default for Table {
    fn default() -> Table {
        Table::Crontab("root".to_owned())
    }
}

/// A job with its desired state.
pub struct Cron {
    /// What it should be.
    pub desired: Desired,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Cron {
    /// A job that should be like this.
    pub fn new(desired: Desired) -> Cron {
        Cron { desired, old: Vec::new(), new: Vec::new() }
    }

    fn check(&self) -> Result<(), Failure> {
        let desired = &self.desired;
        command::check_field("cron name", &desired.name, &[])?;
        command::check_field("cron command", &desired.command, &[])?;
        for field in desired.schedule.fields() {
            command::check_field("cron schedule", &field, &[' '])?;
        }
        for variable in &desired.environment {
            command::check_field("cron variable", variable, &[])?;
            if !table::is_variable(variable) {
                let text = format!("cron variable '{variable}' is not of the form NAME=value");
                return Err(Failure::new(text));
            }
        }
        match &desired.target {
            Table::Crontab(user) => command::check_name("user", user),
            Table::File { user, .. } => command::check_field("user", user, &[' ']),
        }
    }

    fn entry(&self) -> Entry {
        let desired = &self.desired;
        Entry {
            environment: desired.environment.clone(),
            schedule: desired.schedule.clone(),
            user: match &desired.target {
                Table::Crontab(_) => None,
                Table::File { user, .. } => Some(user.clone()),
            },
            command: desired.command.clone(),
        }
    }

    fn read(&self, host: &dyn Look) -> Result<Vec<u8>, Failure> {
        match &self.desired.target {
            Table::File { path, .. } => Ok(host.read_opt(path)?.unwrap_or_default()),
            Table::Crontab(user) => read(host, user),
        }
    }

    fn comment(&self) -> Comment<'_> {
        let desired = &self.desired;
        let marker = if desired.marker.is_empty() { "Puppet Name" } else { &desired.marker };
        Comment { marker, name: &desired.name }
    }
}

/// The crontab of a user; empty where there is none.
pub fn read(look: &dyn Look, user: &str) -> Result<Vec<u8>, Failure> {
    let spec = command::tool(["crontab", "-u", user, "-l"]);
    let ended = command::ask(look, &spec)?;
    let complaint = String::from_utf8_lossy(&ended.stderr).into_owned();
    match ended.exit {
        Exit::Code(0) => Ok(ended.stdout),
        _ if complaint.contains("no crontab for") => Ok(Vec::new()),
        _ => Err(command::failure(&spec, &ended)
            .unwrap_or_else(|| Failure::new(format!("cannot read crontab of '{user}'")))),
    }
}

/// The command that takes a user's crontab from its standard input.
pub fn store(user: &str) -> [&str; 4] {
    ["crontab", "-u", user, "-"]
}

impl Resource for Cron {
    fn id(&self) -> ResourceId {
        ResourceId::new("cron", self.desired.name.as_str())
    }

    fn target(&self) -> Target {
        Target::cron(&self.desired.name)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.check()?;
        let desired = &self.desired;
        self.old = self.read(host)?;
        let with_user = matches!(desired.target, Table::File { .. });
        let found = table::find(&self.old, self.comment(), with_user);
        if desired.absent {
            self.new = table::remove(&self.old, self.comment());
            let gone = found.map(|_| Change::of(self.target(), "ensure", "present", "absent"));
            return Ok(gone.into_iter().collect());
        }
        let entry = self.entry();
        self.new = table::set(&self.old, self.comment(), &entry);
        let Some(found) = found else {
            return Ok(vec![Change::of(self.target(), "ensure", "absent", "present")]);
        };
        Ok(found.differences(&entry, &self.target()))
    }

    fn apply(&mut self, host: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        match &self.desired.target {
            Table::File { path, mode, .. } => {
                if self.new.is_empty() {
                    return Ok(host.remove_file(path)?);
                }
                let fresh = host.lstat_opt(path)?.is_none();
                let mode = fresh.then(|| mode.unwrap_or(0o644));
                let options = WriteOptions { mode, ..WriteOptions::default() };
                Ok(host.write(path, &self.new, &options)?)
            }
            Table::Crontab(user) => {
                let spec = command::changing(store(user));
                command::succeed(host, &spec.stdin(self.new.clone())).map(drop)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::{Commands, Files, MemoryHost, Reply, Spec, Stdin};

    fn machine(crontab: &'static str) -> MemoryHost {
        let host = MemoryHost::linux();
        if !crontab.is_empty() {
            host.put("/var/spool/cron/crontabs/root", crontab);
        }
        host.on_any(|host, spec: &Spec| {
            let path = std::path::Path::new("/var/spool/cron/crontabs/root");
            match (spec.display().as_str(), &spec.stdin) {
                ("crontab -u root -l", _) => Some(match host.read_opt(path) {
                    Ok(Some(text)) => Reply::prints(text),
                    _ => Reply::exit(1).stderr("no crontab for root\n"),
                }),
                ("crontab -u root -", Stdin::Bytes(text)) => {
                    host.put(path, text);
                    Some(Reply::exit(0))
                }
                _ => None,
            }
        });
        host
    }

    fn backup() -> Desired {
        Desired {
            name: "backup".into(),
            command: "/usr/bin/backup --all".into(),
            schedule: Schedule {
                minute: "30".into(),
                hour: "2".into(),
                weekday: "1-5".into(),
                ..Schedule::default()
            },
            environment: vec!["MAILTO=ops".into()],
            ..Desired::default()
        }
    }

    fn converge(host: &MemoryHost, desired: Desired) -> String {
        let mut cron = Cron::new(desired);
        let changes = cron.observe(host).unwrap();
        if !changes.is_empty() {
            cron.apply(host, &changes).unwrap();
        }
        assert_eq!(cron.observe(host).unwrap(), []);
        let line = |c: &Change| format!("{}: {} -> {}", c.property, c.from, c.to);
        changes.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_job_is_added_changed_and_removed_in_a_crontab() {
        let host = machine("");
        assert_eq!(converge(&host, backup()), "ensure: absent -> present");
        let table = "/var/spool/cron/crontabs/root";
        let expected = "# Puppet Name: backup\nMAILTO=ops\n30 2 * * 1-5 /usr/bin/backup --all\n";
        assert_eq!(host.text(table), expected);

        let host = machine("5 5 * * * mine\n# Puppet Name: backup\n* * * * * old\n@daily other\n");
        let expected = "minute: * -> 30\nhour: * -> 2\nweekday: * -> 1-5\n\
            command: old -> /usr/bin/backup --all\nenvironment: [] -> [\"MAILTO=ops\"]";
        assert_eq!(converge(&host, backup()), expected);
        let expected = "5 5 * * * mine\n# Puppet Name: backup\nMAILTO=ops\n\
            30 2 * * 1-5 /usr/bin/backup --all\n@daily other\n";
        assert_eq!(host.text(table), expected);
        converge(&host, Desired { absent: true, ..backup() });
        assert_eq!(host.text(table), "5 5 * * * mine\n@daily other\n");
    }

    #[test]
    fn a_job_in_a_file_names_its_user_and_the_file_goes_with_it() {
        let host = MemoryHost::linux();
        let target =
            Table::File { path: "/etc/cron.d/b".into(), user: "nobody".into(), mode: Some(0o600) };
        host.put_dir("/etc/cron.d", 0o755);
        let schedule = Schedule { special: Some("daily".into()), ..Schedule::default() };
        let desired = Desired { target, schedule, marker: "Job".into(), ..backup() };
        converge(&host, desired.clone());
        let expected = "# Job: backup\nMAILTO=ops\n@daily nobody /usr/bin/backup --all\n";
        assert_eq!(host.text("/etc/cron.d/b"), expected);
        converge(&host, Desired { absent: true, ..desired });
        assert!(!host.exists("/etc/cron.d/b".as_ref()).unwrap());
    }

    #[test]
    fn what_would_add_a_line_is_refused() {
        let host = machine("");
        let bad = [
            Desired { command: "a\n* * * * * b".into(), ..backup() },
            Desired { name: "a\nb".into(), ..backup() },
            Desired { environment: vec!["rm -rf".into()], ..backup() },
            Desired {
                schedule: Schedule { minute: "* * * * * evil".into(), ..Schedule::default() },
                ..backup()
            },
            Desired { target: Table::Crontab("-r".into()), ..backup() },
        ];
        for desired in bad {
            assert!(Cron::new(desired.clone()).observe(&host).is_err(), "{desired:?}");
        }
        assert!(host.run(&Spec::argv(["crontab", "-u", "root", "-l"])).unwrap().stdout.is_empty());
    }
}
