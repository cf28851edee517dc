//! A kernel setting: its value now, in `/proc/sys`, and after a boot, in a file of
//! `/etc/sysctl.d`.

use std::path::{Path, PathBuf};

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Look, WriteOptions};

use crate::{command, text, wanted};

/// What a kernel setting should be.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// Its name with dots, such as `net.ipv4.ip_forward`.
    pub name: String,
    /// Its value; blanks between several are compared as one.
    pub value: String,
    /// The line is taken out of the file, and the value left as it is.
    pub absent: bool,
    /// The file that keeps it over a boot; none, where not given.
    pub file: Option<PathBuf>,
    /// Leaves the running kernel alone.
    pub file_only: bool,
    /// A setting this kernel does not know is left out.
    pub ignore_unknown: bool,
}

/// A kernel setting with its desired state.
pub struct Sysctl {
    /// What it should be.
    pub desired: Desired,
    new: Option<Vec<u8>>,
    fresh: bool,
}

impl Sysctl {
    /// A setting that should be like this.
    pub fn new(desired: Desired) -> Sysctl {
        Sysctl { desired, new: None, fresh: false }
    }

    fn check(&self) -> Result<(), Failure> {
        let name = &self.desired.name;
        command::check_name("sysctl", name)?;
        command::check_field("sysctl name", name, &[' ', '=', '#', ';'])?;
        if name.split(['.', '/']).any(str::is_empty) {
            return Err(Failure::new(format!("sysctl name '{name}' has an empty part")));
        }
        command::check_field("sysctl value", &self.desired.value.replace('\t', " "), &[])
    }

    // As sysctl(8) does: whichever of `.` and `/` comes first is the separator, and the
    // other stands for itself, so that interface names with dots can be written.
    fn live_path(&self) -> PathBuf {
        let name = &self.desired.name;
        let slashes_first = name.find(['.', '/']).is_some_and(|at| name[at..].starts_with('/'));
        let swap = |c: char| match c {
            '.' => '/',
            '/' => '.',
            c => c,
        };
        let relative: String =
            if slashes_first { name.clone() } else { name.chars().map(swap).collect() };
        Path::new("/proc/sys").join(relative)
    }

    fn is_ours(&self, line: &[u8]) -> bool {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_start();
        if text.starts_with(['#', ';']) {
            return false;
        }
        let key = text.split_once('=').map(|(key, _)| key.trim());
        key.is_some_and(|key| key.strip_prefix('-').unwrap_or(key) == self.desired.name)
    }
}

fn plain(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Resource for Sysctl {
    fn id(&self) -> ResourceId {
        ResourceId::new("sysctl", self.desired.name.as_str())
    }

    fn target(&self) -> Target {
        Target::sysctl(&self.desired.name)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.new = None;
        self.check()?;
        let desired = &self.desired;
        let mut changes = Vec::new();
        if !desired.file_only && !desired.absent {
            match host.read_opt(&self.live_path())? {
                Some(found) => {
                    let found = plain(&String::from_utf8_lossy(&found));
                    if found != plain(&desired.value) {
                        changes.push(Change::of(
                            self.target(),
                            "value",
                            found,
                            plain(&desired.value),
                        ));
                    }
                }
                None if desired.ignore_unknown => {}
                None => {
                    let text = format!("the kernel has no setting '{}'", desired.name);
                    return Err(Failure::new(text));
                }
            }
        }
        if let Some(file) = &desired.file {
            let content = host.read_opt(file)?;
            self.fresh = content.is_none();
            let old = content.unwrap_or_default();
            let is_ours = |line: &[u8]| self.is_ours(line);
            let found = text::lines(&old).find(|line| is_ours(line));
            let found = found.map(|line| String::from_utf8_lossy(line).into_owned());
            let value = found.as_ref().and_then(|line| line.split_once('=')).map(|x| plain(x.1));
            let goal = (!desired.absent).then(|| plain(&desired.value));
            if value != goal {
                let word = |value: Option<String>| value.unwrap_or_else(|| "absent".to_owned());
                changes.push(Change::of(self.target(), "persisted", word(value), word(goal)));
                let line = format!("{} = {}", desired.name, desired.value);
                self.new = Some(if desired.absent {
                    text::delete(&old, &is_ours)
                } else {
                    text::ensure_line(&old, line.as_bytes(), Some(&is_ours), None)
                });
            }
        }
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let desired = &self.desired;
        if let (Some(file), Some(new)) = (&desired.file, self.new.take())
            && wanted(changes, "persisted")
        {
            let mode = self.fresh.then_some(0o644);
            host.write(file, &new, &WriteOptions { mode, ..WriteOptions::default() })?;
        }
        if wanted(changes, "value") {
            // A setting cannot be replaced by renaming, so sysctl writes it in place.
            let setting = format!("{}={}", desired.name, desired.value);
            let spec = command::changing(["sysctl", "-q", "-w", setting.as_str()]);
            command::succeed(host, &spec)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::{MemoryHost, Reply};

    fn machine() -> MemoryHost {
        let host = MemoryHost::linux();
        host.put("/proc/sys/net/ipv4/ip_forward", "0\n");
        host.put("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
        host.put("/proc/sys/net/ipv4/conf/eth0.1/forwarding", "1\n");
        host.put("/etc/sysctl.d/a.conf", "# net.ipv4.ip_forward = 9\n-net.ipv4.ip_forward=0\n");
        host.on(
            ["sysctl", "-q", "-w", "net.ipv4.ip_forward=1"],
            Reply::exit(0).effect(|host, _| host.put("/proc/sys/net/ipv4/ip_forward", "1\n")),
        );
        host
    }

    fn check(host: &MemoryHost, desired: Desired, expected: &str) {
        let mut sysctl = Sysctl::new(desired);
        let changes = sysctl.observe(host).unwrap();
        if !changes.is_empty() {
            sysctl.apply(host, &changes).unwrap();
        }
        assert_eq!(sysctl.observe(host).unwrap(), []);
        let line = |c: &Change| format!("{}: {} -> {}", c.property, c.from, c.to);
        let lines: Vec<String> = changes.iter().map(line).collect();
        assert_eq!(lines.join(", "), expected);
    }

    fn setting(name: &str, value: &str) -> Desired {
        Desired { name: name.into(), value: value.into(), ..Desired::default() }
    }

    #[test]
    fn the_kernel_and_the_file_are_both_set() {
        let host = machine();
        let file = Some(PathBuf::from("/etc/sysctl.d/a.conf"));
        let forward = Desired { file, ..setting("net.ipv4.ip_forward", "1") };
        check(&host, forward.clone(), "value: 0 -> 1, persisted: 0 -> 1");
        let expected = "# net.ipv4.ip_forward = 9\nnet.ipv4.ip_forward = 1\n";
        assert_eq!(host.text("/etc/sysctl.d/a.conf"), expected);
        check(&host, Desired { absent: true, ..forward }, "persisted: 1 -> absent");
        assert_eq!(host.text("/etc/sysctl.d/a.conf"), "# net.ipv4.ip_forward = 9\n");
        check(&host, setting("net.ipv4.tcp_rmem", "4096 131072  6291456"), "");
        check(&host, setting("net/ipv4/conf/eth0.1/forwarding", "1"), "");
        check(&host, setting("net.ipv4.conf.eth0/1.forwarding", "1"), "");
    }

    #[test]
    fn unknown_settings_and_bad_names_are_refused() {
        let host = machine();
        let failure = Sysctl::new(setting("no.such", "1")).observe(&host).unwrap_err();
        assert_eq!(failure.to_string(), "the kernel has no setting 'no.such'");
        check(&host, Desired { ignore_unknown: true, ..setting("no.such", "1") }, "");
        for name in ["-w", "a=b", "../../etc/passwd", "a..b", "a\nb", ""] {
            assert!(Sysctl::new(setting(name, "1")).observe(&host).is_err(), "{name:?}");
        }
    }
}
