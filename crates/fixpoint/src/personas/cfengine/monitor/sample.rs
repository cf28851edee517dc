//! One look at the machine: a value for each place that has one.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use fx_host::{Accounts, Clock, Files, OsHost};

use super::slots::Slots;

/// Sectors of the kernel's count, in megabytes.
const SECTOR: f64 = 512.0 / 1_048_576.0;
const LOGS: &[(&str, &str)] = &[
    ("webaccess", "/var/log/apache2/access.log"),
    ("weberrors", "/var/log/apache2/error.log"),
    ("syslog", "/var/log/syslog"),
    ("messages", "/var/log/messages"),
];

/// Counters of the last look.
#[derive(Debug, Default)]
pub(in super::super) struct Sampler {
    cpu: BTreeMap<String, (f64, f64)>,
    disks: Option<[f64; 4]>,
    logs: BTreeMap<&'static str, u64>,
    last: Option<Duration>,
    /// Who has processes.
    pub(in super::super) users: Vec<String>,
}

fn text(host: &OsHost, file: &str) -> String {
    String::from_utf8_lossy(&host.read(Path::new(file)).unwrap_or_default()).into_owned()
}

impl Sampler {
    /// Values by the names of their places.
    pub(in super::super) fn look(
        &mut self,
        host: &OsHost,
        slots: &mut Slots,
    ) -> BTreeMap<usize, f64> {
        let mut found: BTreeMap<String, f64> = BTreeMap::new();
        self.users = processes(host, &mut found);
        if let Ok(space) = host.space(Path::new("/"), Duration::from_secs(5)) {
            let free = 100.0 * space.available as f64 / space.total.max(1) as f64;
            found.insert("diskfree".into(), free);
        }
        let load = text(host, "/proc/loadavg");
        if let Some(load) = load.split(' ').next().and_then(|word| word.parse().ok()) {
            found.insert("loadavg".into(), load);
        }
        self.cpu(&text(host, "/proc/stat"), &mut found);
        memory(&text(host, "/proc/meminfo"), &mut found);
        let now = host.monotonic();
        let elapsed = self.last.map(|last| now.saturating_sub(last).as_secs_f64());
        self.disks(&text(host, "/proc/diskstats"), elapsed, &mut found);
        self.last = Some(now);
        for (name, file) in LOGS {
            let size = host.stat(Path::new(file)).map_or(0, |meta| meta.size);
            let before = self.logs.insert(name, size).unwrap_or(size);
            found.insert((*name).into(), size.saturating_sub(before) as f64);
        }
        found.iter().filter_map(|(name, value)| Some((slots.of(name, "", "")?, *value))).collect()
    }

    // Share of the time that a processor worked.
    fn cpu(&mut self, stat: &str, found: &mut BTreeMap<String, f64>) {
        for line in stat.lines().filter(|line| line.starts_with("cpu")) {
            let mut words = line.split_ascii_whitespace();
            let name = words.next().unwrap_or_default().to_owned();
            if name.len() > 4 || name.as_str() > "cpu3" {
                continue;
            }
            let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
            let total: f64 = numbers.iter().sum();
            let idle = numbers.get(3).copied().unwrap_or(0.0);
            let (old_total, old_idle) =
                self.cpu.insert(name.clone(), (total, idle)).unwrap_or_default();
            let spent = total - old_total;
            if spent > 0.0 {
                found.insert(name, 100.0 * (spent - (idle - old_idle)) / spent);
            }
        }
    }

    fn disks(&mut self, text: &str, elapsed: Option<f64>, found: &mut BTreeMap<String, f64>) {
        let mut sums = [0.0; 4];
        for line in text.lines() {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            for (sum, at) in sums.iter_mut().zip([3, 7, 5, 9]) {
                *sum += words.get(at).and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0);
            }
        }
        let before = self.disks.replace(sums);
        let (Some(before), Some(elapsed)) = (before, elapsed.filter(|time| *time > 0.0)) else {
            return;
        };
        let names = ["io_reads", "io_writes", "io_readdata", "io_writtendata"];
        for (at, name) in names.into_iter().enumerate() {
            let unit = if at < 2 { 1.0 } else { SECTOR };
            found.insert(name.into(), (sums[at] - before[at]).max(0.0) * unit / elapsed);
        }
    }
}

// Users without a name are not counted, nor is what they run.
fn processes(host: &OsHost, found: &mut BTreeMap<String, f64>) -> Vec<String> {
    let (mut users, mut root, mut others) = (Vec::new(), 0.0, 0.0);
    for entry in host.list(Path::new("/proc")).unwrap_or_default() {
        if !entry.name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        let status = text(host, &format!("/proc/{}/status", entry.name.to_string_lossy()));
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        let uid = line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
        let user = uid.and_then(|uid| host.user_by_id(uid).ok().flatten());
        let Some(name) = user.map(|user| column(&user.name)) else { continue };
        if name == "root" {
            root += 1.0
        } else {
            others += 1.0
        }
        if !users.contains(&name) {
            users.insert(0, name);
        }
    }
    found.insert("users".into(), users.len() as f64);
    found.insert("rootprocs".into(), root);
    found.insert("otherprocs".into(), others);
    users
}

// A name as the column of `ps` has it, from which the original reads it.
fn column(name: &str) -> String {
    if name.chars().count() <= 8 {
        return name.to_owned();
    }
    name.chars().take(7).chain(['+']).collect()
}

fn memory(text: &str, found: &mut BTreeMap<String, f64>) {
    let names = [
        ("MemTotal:", "mem_total"),
        ("MemFree:", "mem_free"),
        ("Cached:", "mem_cached"),
        ("SwapTotal:", "mem_swap"),
        ("SwapFree:", "mem_freeswap"),
    ];
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let word = words.next().unwrap_or_default();
        let Some((_, name)) = names.iter().find(|(known, _)| *known == word) else { continue };
        let size: f64 = words.next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
        found.insert((*name).into(), size / 1024.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_become_shares_and_rates() {
        let (mut sampler, mut found) = (Sampler::default(), BTreeMap::new());
        sampler.cpu("cpu  10 0 10 80 0\ncpu0 10 0 10 80 0\ncpu17 1 1 1 1\nintr 5\n", &mut found);
        assert_eq!(found.get("cpu"), Some(&20.0));
        assert_eq!(found.len(), 2);
        sampler.cpu("cpu  60 0 10 130 0\n", &mut found);
        assert_eq!(found.get("cpu"), Some(&50.0));
        sampler.disks("8 0 sda 1 0 2 0 3 0 4 0\n", None, &mut found);
        sampler.disks("8 0 sda 11 0 2 0 3 0 4 0\n", Some(5.0), &mut found);
        assert_eq!(found.get("io_reads"), Some(&2.0));
        memory("MemTotal: 2048 kB\nX: 1 kB\n", &mut found);
        assert_eq!(found.get("mem_total"), Some(&2.0));
        assert_eq!(
            ["root", "www-data", "systemd-network"].map(column),
            ["root", "www-data", "systemd+"]
        );
    }
}
