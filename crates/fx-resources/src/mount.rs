//! A mount: its line in `/etc/fstab`, and whether it is mounted now.

use std::path::{Path, PathBuf};

use fx_engine::{Change, Failure, Refresh, Resource, ResourceId, Target};
use fx_host::{Act, Look, WriteOptions};

use crate::{command, text, wanted};

const MOUNTED: &str = "/proc/self/mounts";

/// What a mount should be. Properties that are `None` are not looked at.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// Where it is mounted.
    pub path: PathBuf,
    /// Whether it should be in the table and mounted.
    pub ensure: Ensure,
    /// What is mounted.
    pub device: Option<String>,
    /// The kind of file system.
    pub fstype: Option<String>,
    /// How; `defaults` for a new line.
    pub options: Option<String>,
    /// Whether it is dumped; 0 for a new line.
    pub dump: Option<u32>,
    /// When it is checked; 0 for a new line.
    pub pass: Option<u32>,
    /// The table; `/etc/fstab`, where not given.
    pub target: Option<PathBuf>,
}

/// Whether a mount should be in the table and mounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ensure {
    /// In the table; mounted or not.
    #[default]
    Defined,
    /// In the table and mounted.
    Mounted,
    /// In the table and not mounted.
    Unmounted,
    /// Neither.
    Absent,
}

// A line of the table taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    device: String,
    fstype: String,
    options: String,
    dump: String,
    pass: String,
}

/// A mount with its desired state.
pub struct Mount {
    /// What it should be.
    pub desired: Desired,
    seen: Option<Seen>,
}

struct Seen {
    old: Vec<u8>,
    new: Vec<u8>,
    mounted: bool,
    fresh: bool,
}

// Blanks and backslashes are written as octal numbers in both tables.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' ' => out.push_str("\\040"),
            '\t' => out.push_str("\\011"),
            '\\' => out.push_str("\\134"),
            c => out.push(c),
        }
    }
    out
}

impl Mount {
    /// A mount that should be like this.
    pub fn new(desired: Desired) -> Mount {
        Mount { desired, seen: None }
    }

    fn table(&self) -> PathBuf {
        self.desired.target.clone().unwrap_or_else(|| "/etc/fstab".into())
    }

    fn point(&self) -> String {
        self.desired.path.to_string_lossy().into_owned()
    }

    fn check(&self) -> Result<(), Failure> {
        let desired = &self.desired;
        command::check_name("mount", &self.point())?;
        let fields = [&desired.device, &desired.fstype, &desired.options];
        for field in fields.into_iter().flatten() {
            command::check_name("mount field", field)?;
        }
        for field in [&desired.fstype, &desired.options].into_iter().flatten() {
            command::check_field("mount field", field, &[' '])?;
        }
        Ok(())
    }

    fn parse(&self, line: &[u8]) -> Option<Row> {
        let text = String::from_utf8_lossy(line);
        let mut words = text.split_whitespace();
        let device = words.next().filter(|word| !word.starts_with('#'))?;
        let point = words.next()?;
        let wanted = escape(&self.point());
        let plain = |point: &str| point.trim_end_matches('/').to_owned();
        if plain(point) != plain(&wanted) {
            return None;
        }
        let mut next = |default: &str| words.next().unwrap_or(default).to_owned();
        Some(Row {
            device: device.to_owned(),
            fstype: next("auto"),
            options: next("defaults"),
            dump: next("0"),
            pass: next("0"),
        })
    }

    fn is_mounted(&self, host: &dyn Look) -> Result<bool, Failure> {
        let table = host.read_opt(Path::new(MOUNTED))?.unwrap_or_default();
        Ok(text::lines(&table).any(|line| self.parse(line).is_some()))
    }

    fn wanted_row(&self, found: Option<&Row>) -> Result<Row, Failure> {
        let desired = &self.desired;
        let fresh = || Row {
            fstype: "auto".to_owned(),
            options: "defaults".to_owned(),
            dump: "0".to_owned(),
            pass: "0".to_owned(),
            ..Row::default()
        };
        let mut row = found.cloned().unwrap_or_else(fresh);
        if row.device.is_empty() && desired.device.is_none() {
            return Err(Failure::new(format!("mount '{}' has no device", self.point())));
        }
        let set = |field: &mut String, value: Option<String>| {
            if let Some(value) = value {
                *field = value;
            }
        };
        set(&mut row.device, desired.device.as_deref().map(escape));
        set(&mut row.fstype, desired.fstype.clone());
        set(&mut row.options, desired.options.clone());
        set(&mut row.dump, desired.dump.map(|dump| dump.to_string()));
        set(&mut row.pass, desired.pass.map(|pass| pass.to_string()));
        Ok(row)
    }

    fn run(&self, host: &dyn Act, argv: &[&str]) -> Result<(), Failure> {
        check_point(host, &self.desired.path)?;
        let mut argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        argv.push(self.point());
        command::succeed(host, &command::changing(argv)).map(drop)
    }
}

/// Refuses a mount point that a link of somebody else leads to: `mount` follows every link.
pub fn check_point(host: &dyn Look, point: &Path) -> Result<(), Failure> {
    match host.real_path_to_change(point) {
        // The tool has its own words for a point that is not there.
        Err(error) if !error.is_not_found() => Err(error.into()),
        _ => Ok(()),
    }
}

impl Resource for Mount {
    fn id(&self) -> ResourceId {
        ResourceId::new("mount", self.point())
    }

    fn target(&self) -> Target {
        Target::mount(self.point())
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.seen = None;
        self.check()?;
        let desired = &self.desired;
        let content = host.read_opt(&self.table())?;
        let fresh = content.is_none();
        let old = content.unwrap_or_default();
        let found = text::lines(&old).find_map(|line| self.parse(line));
        let mounted = self.is_mounted(host)?;
        let state = match (&found, mounted) {
            (Some(_), true) => "mounted",
            (Some(_), false) => "unmounted",
            (None, true) => "ghost",
            (None, false) => "absent",
        };
        let is_ours = |line: &[u8]| self.parse(line).is_some();
        let mut changes = Vec::new();
        let good = match desired.ensure {
            Ensure::Absent => state == "absent",
            Ensure::Defined => found.is_some(),
            Ensure::Mounted => state == "mounted",
            Ensure::Unmounted => state == "unmounted",
        };
        if !good {
            let goal = match desired.ensure {
                Ensure::Absent => "absent",
                Ensure::Defined => "defined",
                Ensure::Mounted => "mounted",
                Ensure::Unmounted => "unmounted",
            };
            changes.push(Change::of(self.target(), "ensure", state, goal));
        }
        let new = if desired.ensure == Ensure::Absent {
            text::delete(&old, &is_ours)
        } else {
            let row = self.wanted_row(found.as_ref())?;
            if let Some(found) = &found {
                for (property, from, to) in [
                    ("device", &found.device, &row.device),
                    ("fstype", &found.fstype, &row.fstype),
                    ("options", &found.options, &row.options),
                    ("dump", &found.dump, &row.dump),
                    ("pass", &found.pass, &row.pass),
                ] {
                    if from != to {
                        changes.push(Change::of(
                            self.target(),
                            property,
                            from.as_str(),
                            to.as_str(),
                        ));
                    }
                }
            }
            if found.as_ref() == Some(&row) {
                old.clone()
            } else {
                let point = escape(&self.point());
                let Row { device, fstype, options, dump, pass } = &row;
                let line = format!("{device}\t{point}\t{fstype}\t{options}\t{dump}\t{pass}");
                text::ensure_line(&old, line.as_bytes(), Some(&is_ours), None)
            }
        };
        self.seen = Some(Seen { old, new, mounted, fresh });
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let Some(seen) = self.seen.take() else {
            return Err(Failure::new("mount was not observed before it was applied"));
        };
        let ensure = self.desired.ensure;
        let other = wanted(changes, "device") || wanted(changes, "fstype");
        let stays = matches!(ensure, Ensure::Mounted | Ensure::Defined);
        // What is mounted now is known to umount by its point, whatever the table says.
        if seen.mounted && (!stays || other) {
            self.run(host, &["umount"])?;
        }
        if seen.new != seen.old {
            let mode = seen.fresh.then_some(0o644);
            let options = WriteOptions { mode, ..WriteOptions::default() };
            host.write(&self.table(), &seen.new, &options)?;
        }
        if ensure == Ensure::Mounted && !seen.mounted || seen.mounted && stays && other {
            self.run(host, &["mount"])
        } else if seen.mounted && stays && wanted(changes, "options") {
            self.run(host, &["mount", "-o", "remount"])
        } else {
            Ok(())
        }
    }
}

impl Refresh for Mount {
    /// Mounts it again with what the table says, if it is mounted.
    fn refresh(&mut self, host: &dyn Act) -> Result<(), Failure> {
        self.check()?;
        if !self.is_mounted(host)? {
            return Ok(());
        }
        self.run(host, &["mount", "-o", "remount"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::{MemoryHost, Reply};

    fn machine() -> MemoryHost {
        let host = MemoryHost::linux();
        host.put(
            "/etc/fstab",
            "# table\nUUID=1 / ext4 errors=remount-ro 0 1\n/dev/b /old xfs noatime 0 0\n",
        );
        host.put(
            MOUNTED,
            "/dev/a / ext4 rw 0 0\n/dev/b /old xfs rw 0 0\n/dev/c /my\\040disk ext4 rw 0 0\n",
        );
        host.on_any(|_, _| Some(Reply::default()));
        host
    }

    fn apply(host: &MemoryHost, desired: Desired) -> String {
        let mut mount = Mount::new(desired);
        let changes = mount.observe(host).unwrap();
        host.clear_calls();
        if !changes.is_empty() {
            mount.apply(host, &changes).unwrap();
        }
        let line = |c: &Change| format!("{}: {} -> {}", c.property, c.from, c.to);
        let mut lines: Vec<String> = changes.iter().map(line).collect();
        lines.extend(host.call_lines());
        lines.join("\n")
    }

    fn old() -> Desired {
        Desired { path: "/old".into(), ..Desired::default() }
    }

    #[test]
    fn the_table_and_the_mounts_are_brought_together() {
        let host = machine();
        let mounted = Desired { ensure: Ensure::Mounted, ..old() };
        assert_eq!(apply(&host, mounted.clone()), "");
        let options = Desired { options: Some("ro".into()), ..mounted.clone() };
        assert_eq!(apply(&host, options), "options: noatime -> ro\nmount -o remount /old");
        assert!(host.text("/etc/fstab").ends_with("/dev/b\t/old\txfs\tro\t0\t0\n"));
        let device = Desired { device: Some("/dev/d".into()), ..mounted };
        assert_eq!(apply(&host, device), "device: /dev/b -> /dev/d\numount /old\nmount /old");
        let absent = Desired { ensure: Ensure::Absent, ..old() };
        assert_eq!(apply(&host, absent), "ensure: mounted -> absent\numount /old");
        assert!(host.text("/etc/fstab").ends_with("0 1\n"));
    }

    #[test]
    fn a_new_line_and_a_mount_that_nobody_wrote_down() {
        let host = machine();
        let new = Desired {
            path: "/new dir".into(),
            ensure: Ensure::Mounted,
            device: Some("/dev/n".into()),
            fstype: Some("ext4".into()),
            pass: Some(2),
            ..Desired::default()
        };
        assert_eq!(apply(&host, new), "ensure: absent -> mounted\nmount '/new dir'");
        let line = "/dev/n\t/new\\040dir\text4\tdefaults\t0\t2\n";
        assert!(host.text("/etc/fstab").ends_with(line));
        let ghost = Desired {
            path: "/my disk".into(),
            ensure: Ensure::Mounted,
            device: Some("/dev/c".into()),
            ..Desired::default()
        };
        assert_eq!(apply(&host, ghost), "ensure: ghost -> mounted");
        let none = Desired { path: "/none".into(), ..Desired::default() };
        let failure = Mount::new(none).observe(&host).unwrap_err();
        assert_eq!(failure.to_string(), "mount '/none' has no device");
        let bad = Desired { options: Some("rw 0 0\nx".into()), ..old() };
        assert!(Mount::new(bad).observe(&host).is_err());
    }

    #[test]
    fn a_refresh_remounts_what_is_mounted() {
        let host = machine();
        Mount::new(old()).refresh(&host).unwrap();
        Mount::new(Desired { path: "/none".into(), ..Desired::default() }).refresh(&host).unwrap();
        assert_eq!(host.call_lines(), ["mount -o remount /old"]);
    }
}
