//! Processes: the list as `/proc` tells it, and a wish that those which match get signals.
//!
//! Who matches is the caller's word; our own process and the kernel's threads never do.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use fx_engine::{Change, Failure, Resource, ResourceId};
use fx_host::Host;

/// A running process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// The number of its parent.
    pub parent: i32,
    /// Whose it is.
    pub uid: u32,
    /// One letter for what it does: `R`, `S`, `Z`.
    pub state: char,
    /// The program's short name.
    pub name: String,
    /// The whole command line, blanks between; the short name in brackets where the
    /// kernel's threads and the dead have none.
    pub command: String,
    /// When it started, in clock ticks since boot; with the number it is unique.
    pub started: u64,
    /// Threads.
    pub threads: u32,
    /// Memory in use, in pages.
    pub resident: u64,
    /// Virtual memory, in bytes.
    pub virtual_size: u64,
    /// The terminal, as its device number; 0 for none.
    pub terminal: i32,
    /// Time on the processor, in clock ticks.
    pub cpu_ticks: u64,
    /// The nice value.
    pub nice: i32,
}

/// All processes by number. One that ends meanwhile is left out.
pub fn list(host: &dyn Host) -> Result<Vec<Process>, Failure> {
    let proc = PathBuf::from("/proc");
    let mut pids: Vec<i32> =
        host.list(&proc)?.iter().filter_map(|entry| entry.name.to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    let mut all = Vec::with_capacity(pids.len());
    for pid in pids {
        all.extend(read(host, pid)?);
    }
    Ok(all)
}

/// One process, if it is there.
pub fn read(host: &dyn Host, pid: i32) -> Result<Option<Process>, Failure> {
    let dir = PathBuf::from(format!("/proc/{pid}"));
    // The kernel says ESRCH for a process that ended while it was read.
    let gone = |error: &fx_host::HostError| error.is_not_found() || error.errno() == Some(ESRCH);
    let stat = match host.read(&dir.join("stat")) {
        Ok(stat) => stat,
        Err(error) if gone(&error) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let Some(meta) = host.stat_opt(&dir)? else { return Ok(None) };
    let cmdline = match host.read(&dir.join("cmdline")) {
        Ok(cmdline) => cmdline,
        Err(error) if gone(&error) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    Ok(parse(pid, meta.uid, &stat, &cmdline))
}

const ESRCH: i32 = 3;

fn parse(pid: i32, uid: u32, stat: &[u8], cmdline: &[u8]) -> Option<Process> {
    let stat = String::from_utf8_lossy(stat);
    // The name stands in parentheses and may hold anything, also parentheses.
    let (front, fields) = stat.rsplit_once(')')?;
    let name = front.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let number =
        |at: usize| fields.get(at).and_then(|field| field.parse::<i64>().ok()).unwrap_or(0);
    let words = cmdline.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let words: Vec<_> = words.map(String::from_utf8_lossy).collect();
    let command = if words.is_empty() { format!("[{name}]") } else { words.join(" ") };
    Some(Process {
        pid,
        parent: number(1) as i32,
        uid,
        state: fields.first().and_then(|field| field.chars().next()).unwrap_or('?'),
        name,
        command,
        started: number(19) as u64,
        threads: number(17) as u32,
        resident: number(21).max(0) as u64,
        virtual_size: number(20) as u64,
        terminal: number(4) as i32,
        cpu_ticks: (number(11) + number(12)) as u64,
        nice: number(16) as i32,
    })
}

/// Decides whether a process is meant.
pub type Selects = Rc<dyn Fn(&Process) -> bool>;

/// Which processes should get which signals.
#[derive(Clone)]
pub struct Desired {
    /// What reports call it.
    pub name: String,
    /// Which processes are meant.
    pub selects: Selects,
    /// Signals by number, sent in turn to each that is still there.
    pub signals: Vec<i32>,
    /// Time between two signals, for an orderly end.
    pub grace: Duration,
}

impl Default for Desired {
    fn default() -> Desired {
        Desired {
            name: String::new(),
            selects: Rc::new(|_| false),
            signals: Vec::new(),
            grace: Duration::from_secs(1),
        }
    }
}

impl std::fmt::Debug for Desired {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Desired({:?}, {:?}, {:?})", self.name, self.signals, self.grace)
    }
}

/// Processes with the wish that they get signals.
pub struct Signalled {
    /// Which should get what.
    pub desired: Desired,
    /// Those that matched when last observed.
    pub matched: Vec<Process>,
}

impl Signalled {
    /// Processes that should get signals.
    pub fn new(desired: Desired) -> Signalled {
        Signalled { desired, matched: Vec::new() }
    }
}

// Whether this is still the same process and not another with its number.
fn is_there(host: &dyn Host, process: &Process) -> Result<bool, Failure> {
    let now = read(host, process.pid)?;
    Ok(now.is_some_and(|now| now.started == process.started && now.state != 'Z'))
}

impl Resource for Signalled {
    fn id(&self) -> ResourceId {
        ResourceId::new("process", self.desired.name.as_str())
    }

    fn observe(&mut self, host: &dyn Host) -> Result<Vec<Change>, Failure> {
        let own = host.pid() as i32;
        let mut matched = list(host)?;
        matched.retain(|process| {
            let of_kernel = process.pid == 2 || process.parent == 2;
            process.pid != own
                && !of_kernel
                && process.state != 'Z'
                && (self.desired.selects)(process)
        });
        self.matched = matched;
        if self.desired.signals.is_empty() {
            return Ok(Vec::new());
        }
        let change = |process: &Process| {
            let to: Vec<_> =
                self.desired.signals.iter().map(|signal| fx_value::Value::from(*signal)).collect();
            Change::new(format!("process {}", process.pid), process.command.as_str(), to)
        };
        Ok(self.matched.iter().map(change).collect())
    }

    fn apply(&mut self, host: &dyn Host, _changes: &[Change]) -> Result<(), Failure> {
        for (number, signal) in self.desired.signals.iter().enumerate() {
            let mut left = false;
            for process in &self.matched {
                if number > 0 && !is_there(host, process)? {
                    continue;
                }
                left = true;
                match host.signal(process.pid, *signal) {
                    Ok(()) => {}
                    Err(error) if error.errno() == Some(ESRCH) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            if left && number + 1 < self.desired.signals.len() {
                host.sleep(self.desired.grace);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::MemoryHost;

    pub(super) fn put(host: &MemoryHost, pid: i32, parent: i32, name: &str, cmdline: &str) {
        let stat = format!(
            "{pid} ({name}) S {parent} {pid} {pid} 34816 -1 4194560 1 0 0 0 5 2 0 0 20 0 3 0 \
             {pid}00 1000000 250 0"
        );
        host.put(format!("/proc/{pid}/stat"), stat);
        host.put(format!("/proc/{pid}/cmdline"), cmdline);
    }

    fn machine() -> MemoryHost {
        let host = MemoryHost::linux();
        put(&host, 1, 0, "init", "/sbin/init\0");
        put(&host, 2, 0, "kthreadd", "");
        put(&host, 30, 2, "kworker/0:1", "");
        put(&host, 100, 1, "we (b) ", "/usr/bin/web\0--port\080\0");
        put(&host, 101, 100, "web", "/usr/bin/web\0child\0");
        put(&host, 4711, 1, "ours", "/usr/bin/web\0");
        host.put("/proc/meminfo", "");
        host
    }

    #[test]
    fn processes_are_read_whatever_their_name_holds() {
        let all = list(&machine()).unwrap();
        let pids: Vec<i32> = all.iter().map(|process| process.pid).collect();
        assert_eq!(pids, [1, 2, 30, 100, 101, 4711]);
        let web = &all[3];
        assert_eq!((web.name.as_str(), web.parent, web.started), ("we (b) ", 1, 10_000));
        assert_eq!(web.command, "/usr/bin/web --port 80");
        assert_eq!((web.threads, web.resident, web.cpu_ticks, web.nice), (3, 250, 7, 0));
        assert_eq!(all[2].command, "[kworker/0:1]");
    }

    #[test]
    fn matching_processes_get_signals_until_they_are_gone() {
        let host = machine();
        let mut web = Signalled::new(Desired {
            name: "web".into(),
            selects: Rc::new(|process| process.command.contains("web")),
            signals: vec![1, 15, 9],
            ..Desired::default()
        });
        let changes = web.observe(&host).unwrap();
        assert_eq!(changes.len(), 2, "{changes:?}");
        web.apply(&host, &changes).unwrap();
        assert_eq!(host.signals(), [(100, 1), (101, 1), (100, 15), (101, 15)]);
        assert_eq!(web.observe(&host).unwrap(), []);
    }

    #[test]
    fn the_kernel_and_ourselves_are_never_meant() {
        let host = machine();
        let mut all = Signalled::new(Desired { selects: Rc::new(|_| true), ..Desired::default() });
        all.observe(&host).unwrap();
        let pids: Vec<i32> = all.matched.iter().map(|process| process.pid).collect();
        assert_eq!(pids, [1, 100, 101]);
    }
}
