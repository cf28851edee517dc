//! The account files: rows of fields separated by colons, and the locks that the shadow
//! tools and we respect. What a user or group should be is decided elsewhere.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fx_engine::Failure;
use fx_host::{Act, Look, WriteOptions};

use crate::file::apply::with_suffix;
use crate::text;

/// The four files, in the order the shadow tools lock them.
pub(crate) const PASSWD: &str = "/etc/passwd";
pub(crate) const GROUP: &str = "/etc/group";
pub(crate) const GSHADOW: &str = "/etc/gshadow";
pub(crate) const SHADOW: &str = "/etc/shadow";

/// How often a held lock is tried, with a second between, as the shadow tools do.
const LOCK_TRIES: u32 = 15;

/// One of the files: all its lines, with rows found by their first field. Lines that are
/// no rows stay as they are.
pub(crate) struct Table {
    path: PathBuf,
    lines: Vec<Vec<u8>>,
    present: bool,
    changed: bool,
}

impl Table {
    pub(crate) fn read(host: &dyn Look, path: &str) -> Result<Table, Failure> {
        let content = host.read_opt(Path::new(path))?;
        let present = content.is_some();
        let lines = text::lines(&content.unwrap_or_default()).map(<[u8]>::to_vec).collect();
        Ok(Table { path: path.into(), lines, present, changed: false })
    }

    /// Whether the file is there; machines without shadow files go without.
    pub(crate) fn is_present(&self) -> bool {
        self.present
    }

    fn position(&self, name: &str) -> Option<usize> {
        let is_row = |line: &[u8]| {
            line.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b":"))
        };
        self.lines.iter().position(|line| is_row(line))
    }

    /// The fields of a row.
    pub(crate) fn row(&self, name: &str) -> Option<Vec<String>> {
        self.position(name).map(|at| fields(&self.lines[at]))
    }

    /// All rows.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.lines.iter().map(|line| fields(line)).filter(|row| row.len() > 1)
    }

    /// Puts a row in the place of the old one, or at the end; before the lines that ask
    /// for a name service, which must stay last.
    pub(crate) fn set(&mut self, row: &[String]) {
        let line = row.join(":").into_bytes();
        match row.first().and_then(|name| self.position(name)) {
            Some(at) if self.lines[at] == line => return,
            Some(at) => self.lines[at] = line,
            None => {
                let is_service = |line: &Vec<u8>| line.starts_with(b"+") || line.starts_with(b"-");
                let at = self.lines.iter().position(is_service).unwrap_or(self.lines.len());
                self.lines.insert(at, line);
            }
        }
        self.changed = true;
    }

    /// Takes a row away, also where it stands twice.
    pub(crate) fn remove(&mut self, name: &str) {
        while let Some(at) = self.position(name) {
            self.lines.remove(at);
            self.changed = true;
        }
    }

    /// Writes the file if a row changed; its mode and owner stay.
    pub(crate) fn write(&self, host: &dyn Act) -> Result<(), Failure> {
        if !self.changed {
            return Ok(());
        }
        let content = text::join(self.lines.iter().map(Vec::as_slice));
        Ok(host.write(&self.path, &content, &WriteOptions::default())?)
    }
}

fn fields(line: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(line).split(':').map(str::to_owned).collect()
}

/// Field `at` of a row; empty where the row is short.
pub(crate) fn field(row: &[String], at: usize) -> &str {
    row.get(at).map_or("", String::as_str)
}

/// Names in a list field.
pub(crate) fn members(list: &str) -> Vec<String> {
    list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Works on the account files while all of them are locked; frees the locks whatever
/// comes of it.
pub(crate) fn locked<T>(
    host: &dyn Act,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut held = Vec::new();
    let mut result = Ok(());
    for path in [PASSWD, GROUP, GSHADOW, SHADOW] {
        match take(host, Path::new(path)) {
            Ok(lock) => held.push(lock),
            Err(failure) => {
                result = Err(failure);
                break;
            }
        }
    }
    let outcome = result.and_then(|()| work());
    for lock in held.iter().rev() {
        // A second try, since a lock left behind stops everybody else.
        if host.remove_file(lock).is_err() {
            host.remove_file(lock)?;
        }
    }
    outcome
}

// As lib/commonio.c of the shadow tools does: our number in a file of our own, which is
// then given the lock's name by a hard link; the link fails if the name is taken.
fn take(host: &dyn Act, path: &Path) -> Result<PathBuf, Failure> {
    let lock = with_suffix(path, ".lock");
    let ours = with_suffix(path, &format!(".{}", host.pid()));
    let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
    host.write(&ours, format!("{}\0", host.pid()).as_bytes(), &options)?;
    let mut result = Err(Failure::new(format!("cannot lock '{}'", path.display())));
    for attempt in 0..LOCK_TRIES {
        match host.hard_link(&ours, &lock) {
            Ok(()) => {
                result = Ok(lock.clone());
                break;
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let holder = holder(host, &lock);
                if let Some(pid) = holder.filter(|pid| *pid != host.pid())
                    && host.exists(Path::new(&format!("/proc/{pid}")))?
                {
                    let text = format!("cannot lock '{}': process {pid} holds it", path.display());
                    result = Err(Failure::new(text));
                    if attempt + 1 < LOCK_TRIES {
                        host.sleep(Duration::from_secs(1));
                    }
                } else if let Err(error) = host.remove_file(&lock) {
                    // Left behind by a process that is gone, and it cannot be taken away.
                    result = Err(error.into());
                    break;
                }
            }
            Err(error) => {
                result = Err(error.into());
                break;
            }
        }
    }
    if host.remove_file(&ours).is_err() {
        host.remove_file(&ours)?;
    }
    result
}

fn holder(host: &dyn Look, lock: &Path) -> Option<u32> {
    let content = host.read(lock).ok()?;
    String::from_utf8_lossy(&content).trim_end_matches(['\0', '\n']).trim().parse().ok()
}

/// A number free for a new account: the wanted range of `/etc/login.defs`, from above what
/// is used, or from the top down for the system's own.
pub(crate) fn free_id(
    host: &dyn Look,
    kind: &str,
    system: bool,
    used: &[u32],
) -> Result<u32, Failure> {
    let text = host.read_opt(Path::new("/etc/login.defs"))?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let setting = |name: String| {
        text.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some(name.as_str())).then(|| words.next()?.parse::<u32>().ok())?
        })
    };
    let (prefix, low, high) = if system { ("SYS_", 101, 999) } else { ("", 1000, 60_000) };
    let min = setting(format!("{prefix}{kind}_MIN")).unwrap_or(low);
    let max = setting(format!("{prefix}{kind}_MAX")).unwrap_or(high);
    let free = |id: &u32| !used.contains(id);
    let highest = used.iter().filter(|id| (min..=max).contains(*id)).max();
    let next = highest.map_or(min, |id| id.saturating_add(1));
    let found = if system {
        (min..=max).rev().find(free)
    } else if next <= max {
        Some(next)
    } else {
        (min..=max).find(free)
    };
    found.ok_or_else(|| Failure::new(format!("no free {kind} between '{min}' and '{max}'")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::{Files, MemoryHost};

    #[test]
    fn rows_are_exchanged_and_other_lines_stay() {
        let host = MemoryHost::linux();
        host.put(GROUP, "root:x:0:\n# note\nops:x:5:ann\n+\n");
        let mut table = Table::read(&host, GROUP).unwrap();
        assert_eq!(table.row("ops").unwrap(), ["ops", "x", "5", "ann"]);
        assert_eq!(table.row("op"), None);
        table.set(&["ops".into(), "x".into(), "5".into(), "bob".into()]);
        table.set(&["new".into(), "x".into(), "6".into(), String::new()]);
        table.remove("root");
        table.write(&host).unwrap();
        assert_eq!(host.text(GROUP), "# note\nops:x:5:bob\nnew:x:6:\n+\n");
    }

    #[test]
    fn locks_are_taken_freed_and_respected() {
        let host = MemoryHost::linux();
        let before = host.snapshot();
        let inside = locked(&host, || Ok(host.text("/etc/passwd.lock"))).unwrap();
        assert_eq!(inside, "4711\0");
        assert_eq!(host.snapshot(), before);
        locked(&host, || Err::<(), _>(Failure::new("no"))).unwrap_err();
        assert_eq!(host.snapshot(), before);
        host.put("/etc/group.lock", "99\0");
        locked(&host, || Ok(())).unwrap();
        assert!(!host.exists(Path::new("/etc/group.lock")).unwrap(), "a dead holder's lock goes");
        host.put("/etc/group.lock", "99\0");
        host.put_dir("/proc/99", 0o755);
        let failure = locked(&host, || Ok(())).unwrap_err();
        assert_eq!(failure.to_string(), "cannot lock '/etc/group': process 99 holds it");
        assert!(host.exists(Path::new("/etc/group.lock")).unwrap());
        assert!(!host.exists(Path::new("/etc/passwd.lock")).unwrap());
    }

    #[test]
    fn free_numbers_follow_login_defs() {
        let host = MemoryHost::linux();
        assert_eq!(free_id(&host, "UID", false, &[0, 1000, 1005, 65534]).unwrap(), 1006);
        assert_eq!(free_id(&host, "UID", true, &[999]).unwrap(), 998);
        host.put("/etc/login.defs", "# UID_MIN 1\nUID_MIN\t 500\nUID_MAX 501\n");
        assert_eq!(free_id(&host, "UID", false, &[501]).unwrap(), 500);
        assert!(free_id(&host, "UID", false, &[500, 501]).is_err());
    }
}
