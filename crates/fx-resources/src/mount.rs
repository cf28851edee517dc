//! A mount: its line in `/etc/fstab`, and whether it is mounted now.

pub mod dialect;
pub mod table;

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fx_engine::{Change, Failure, Refresh, Resource, ResourceId, Target};
use fx_host::{Act, Look};

use crate::{command, wanted};
use dialect::{Call, Dialect};
use table::{FSTAB, Row};

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
}

impl Mount {
    /// A mount that should be like this.
    pub fn new(desired: Desired) -> Mount {
        Mount { desired, seen: None }
    }

    fn table(&self) -> PathBuf {
        self.desired.target.clone().unwrap_or_else(|| FSTAB.into())
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

    fn bytes(&self) -> &[u8] {
        self.desired.path.as_os_str().as_bytes()
    }

    fn wanted_row(&self, found: Option<&Row>) -> Result<Row, Failure> {
        let desired = &self.desired;
        let mut row = found.cloned().unwrap_or_default();
        if row.device.is_empty() && desired.device.is_none() {
            return Err(Failure::new(format!("mount '{}' has no device", self.point())));
        }
        if let Some(device) = &desired.device {
            row.device = device.clone().into_bytes();
        }
        row.point = self.bytes().to_vec();
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        for (field, wanted, default) in [
            (&mut row.fstype, desired.fstype.clone(), "auto"),
            (&mut row.options, desired.options.clone(), "defaults"),
            (&mut row.dump, number(desired.dump), "0"),
            (&mut row.pass, number(desired.pass), "0"),
        ] {
            let known = field.take();
            let wanted = wanted.map(String::into_bytes);
            *field = Some(wanted.or(known).unwrap_or_else(|| default.into()));
        }
        Ok(row)
    }

    fn run(&self, host: &dyn Act, call: Call<'_>) -> Result<(), Failure> {
        check_point(host, &self.desired.path)?;
        command::succeed(host, &Dialect::default().command(call)).map(drop)
    }
}

// The properties in which a line differs, fields that it does not have by their meaning.
fn differences(found: &Row, row: &Row) -> Vec<(&'static str, String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let field = |field: &Option<Vec<u8>>, default: &str| {
        field.as_deref().map_or_else(|| default.to_owned(), text)
    };
    let mut all = vec![("device", text(&found.device), text(&row.device))];
    for (property, from, to, default) in [
        ("fstype", &found.fstype, &row.fstype, "auto"),
        ("options", &found.options, &row.options, "defaults"),
        ("dump", &found.dump, &row.dump, "0"),
        ("pass", &found.pass, &row.pass, "0"),
    ] {
        all.push((property, field(from, default), field(to, default)));
    }
    all.retain(|(_, from, to)| from != to);
    all
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
        let old = host.read_opt(&self.table())?.unwrap_or_default();
        let meant = |row: &Row| row.is_at(self.bytes());
        let found = table::line_at(&old, self.bytes()).map(|(_, row)| row);
        let mounted = table::is_mounted(host, self.bytes())?;
        let state = match (&found, mounted) {
            (Some(_), true) => "mounted",
            (Some(_), false) => "unmounted",
            (None, true) => "ghost",
            (None, false) => "absent",
        };
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
            table::without(&old, &meant)
        } else {
            let row = self.wanted_row(found.as_ref())?;
            let different = found.as_ref().map(|found| differences(found, &row));
            for (property, from, to) in different.iter().flatten() {
                changes.push(Change::of(self.target(), *property, from.as_str(), to.as_str()));
            }
            if different.is_some_and(|different| different.is_empty()) {
                old.clone()
            } else {
                let line = row.line(Dialect::default().separator);
                table::with_line(&old, &line, &meant)
            }
        };
        self.seen = Some(Seen { old, new, mounted });
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
            self.run(host, Call::Unmount(self.bytes()))?;
        }
        if seen.new != seen.old {
            table::write(host, &self.table(), &seen.new)?;
        }
        if ensure == Ensure::Mounted && !seen.mounted || seen.mounted && stays && other {
            self.run(host, Call::Listed(self.bytes()))
        } else if seen.mounted && stays && wanted(changes, "options") {
            self.run(host, Call::Remount(self.bytes()))
        } else {
            Ok(())
        }
    }
}

impl Refresh for Mount {
    /// Mounts it again with what the table says, if it is mounted.
    fn refresh(&mut self, host: &dyn Act) -> Result<(), Failure> {
        self.check()?;
        if !table::is_mounted(host, self.bytes())? {
            return Ok(());
        }
        self.run(host, Call::Remount(self.bytes()))
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
            table::MOUNTED,
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
