//! Tools of a fake machine that do what their names say, as far as the laws need it.

use fx_host::{MemoryHost, Reply, Spec};

use crate::common::line;

/// Where the fake tools keep what they know.
const PACKAGES: &str = "/var/lib/dpkg/status";
const UNITS: &str = "/var/lib/fake/units";
const CRONTAB: &str = "/var/lib/fake/crontab";
const SYSCTL: &str = "/var/lib/fake/sysctl";
const ZONE: &str = "/var/lib/fake/zone";
const NAME: &str = "/var/lib/fake/hostname";

/// A machine with these tools.
pub(crate) fn machine() -> MemoryHost {
    let host = MemoryHost::linux();
    for dir in ["/run/systemd/system", "/etc/systemd/system", "/etc/init.d", "/var/lib/fake"] {
        host.put_dir(dir, 0o755);
    }
    for dir in
        ["/etc/cron.d", "/etc/sudoers.d", "/etc/sysctl.d", "/srv", "/mnt", "/etc/security/limits.d"]
    {
        host.put_dir(dir, 0o755);
    }
    for tool in ["systemctl", "timedatectl", "visudo", "apt-get", "locale-gen"] {
        host.put_program(format!("/usr/bin/{tool}"));
    }
    host.put("/proc/1/comm", "systemd\n");
    host.put("/proc/self/mounts", "/dev/sda1 / ext4 rw 0 0\n");
    host.put("/proc/modules", "ext4 1 1\n");
    host.put("/etc/fstab", "/dev/sda1 / ext4 defaults 0 1\n");
    host.put("/etc/shadow", "root:*:1::::::\n");
    host.put("/etc/hosts", "127.0.0.1 localhost\n");
    host.put("/etc/hostname", "old\n");
    host.put("/etc/sudoers", "#includedir /etc/sudoers.d\n");
    host.put("/etc/apt/sources.list.d/other.list", "");
    host.put("/etc/apt/preferences.d/other.pref", "");
    host.put("/etc/systemd/system/app.service", "[Service]\n");
    for (path, text) in
        [(PACKAGES, ""), (UNITS, ""), (CRONTAB, ""), (SYSCTL, ""), (ZONE, "Etc/UTC")]
    {
        host.put(path, text);
    }
    host.put(NAME, "old");
    host.on_any(look);
    host.on_any(|_, spec| Some(act(spec)));
    host
}

/// Lines of a file, changed.
fn edit(host: &MemoryHost, path: &str, change: impl FnOnce(&mut Vec<String>)) {
    let mut lines: Vec<String> = host.text(path).lines().map(str::to_owned).collect();
    change(&mut lines);
    host.put(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>());
}

/// Adds a paragraph to Debian's record of packages.
fn record(host: &MemoryHost, name: &str, status: &str, version: &str) {
    edit(host, PACKAGES, |lines| {
        lines.push(format!("Package: {name}\nStatus: {status}\nVersion: {version}\n"));
    });
}

fn does(effect: impl Fn(&MemoryHost) + 'static) -> Reply {
    Reply::exit(0).effect(move |host, _| effect(host))
}

/// The tools that change something.
fn act(spec: &Spec) -> Reply {
    let line = line(spec);
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let last = words.last().cloned().unwrap_or_default();
    let program = words[0].rsplit('/').next().unwrap_or_default();
    match program {
        "useradd" => does(move |host| {
            let comment = words.iter().skip_while(|word| *word != "-c").nth(1);
            let comment = comment.cloned().unwrap_or_default();
            edit(host, "/etc/passwd", |lines| {
                lines.push(format!("{last}:x:1000:1000:{comment}:/home/{last}:/bin/sh"));
            });
        }),
        "userdel" => does(move |host| {
            edit(host, "/etc/passwd", |lines| {
                lines.retain(|l| !l.starts_with(&format!("{last}:")))
            });
        }),
        "groupadd" => does(move |host| {
            edit(host, "/etc/group", |lines| lines.push(format!("{last}:x:2000:")));
        }),
        "gpasswd" => does(move |host| {
            edit(host, "/etc/group", |lines| {
                for l in lines.iter_mut().filter(|l| l.starts_with(&format!("{}:", words[3]))) {
                    *l = format!("{}:x:2000:{}", words[3], words[2]);
                }
            });
        }),
        "modprobe" => does(move |host| {
            edit(host, "/proc/modules", |lines| lines.push(format!("{last} 1 0")));
        }),
        "timedatectl" if words[1] != "status" => does(move |host| host.put(ZONE, &last)),
        "mount" => does(move |host| {
            edit(host, "/proc/self/mounts", |lines| lines.push(format!("x {last} ext4 rw 0 0")));
        }),
        "hostname" if words.len() > 1 => does(move |host| host.put(NAME, &last)),
        "apt-get" if words.contains(&"install".to_owned()) => does(move |host| {
            let (name, version) = last.split_once('=').unwrap_or((&last, "1.0"));
            record(host, name, "install ok installed", version);
        }),
        "apt-mark" if words[1] == "hold" => does(move |host| {
            record(host, &last, "hold ok not-installed", "");
        }),
        "sysctl" if words.contains(&"-w".to_owned()) => does(move |host| {
            let (key, value) = last.split_once('=').unwrap_or_default();
            edit(host, SYSCTL, |lines| lines.push(format!("{key} {value}")));
        }),
        "crontab" if last == "-" => Reply::exit(0).effect(|host, spec| {
            if let fx_host::Stdin::Bytes(text) = &spec.stdin {
                host.put(CRONTAB, text);
            }
        }),
        "systemctl" if words.len() == 4 && words[2] != "show" => does(move |host| {
            edit(host, UNITS, |lines| lines.push(format!("{} {}", words[2], words[3])));
        }),
        _ => Reply::exit(0),
    }
}

/// Answers of the tools that only look, from what the others keep.
fn look(host: &MemoryHost, spec: &Spec) -> Option<Reply> {
    let line = line(spec);
    let words: Vec<&str> = line.split_whitespace().collect();
    let last = words.last().copied().unwrap_or_default();
    Some(match (words[0].rsplit('/').next().unwrap_or_default(), last) {
        ("apt-cache", _) => Reply::prints("x:\n  Candidate: 1.0\n"),
        ("apt-get", "--version") => Reply::prints("apt 2.6.1 (amd64)\n"),
        ("crontab", "-l") => Reply::prints(host.text(CRONTAB)),
        ("hostname", "hostname" | "/bin/hostname") => Reply::prints(host.text(NAME)),
        ("timedatectl", "status") => {
            Reply::prints(format!("Time zone: {} (UTC, +0000)\n", host.text(ZONE)))
        }
        ("sysctl", _) if words.contains(&"-n") => {
            let text = host.text(SYSCTL);
            let found = text.lines().find_map(|line| line.strip_prefix(&format!("{last} ")));
            Reply::prints(format!("{}\n", found.unwrap_or("0")))
        }
        ("systemctl", _) if words.get(2) == Some(&"show") => {
            let known = host.text(UNITS);
            let did = |verb: &str| known.lines().any(|line| line == format!("{verb} {last}"));
            let state = match () {
                () if did("mask") => "masked",
                () if did("enable") => "enabled",
                () => "disabled",
            };
            let active = if did("start") { "active" } else { "inactive" };
            Reply::prints(format!("UnitFileState={state}\nActiveState={active}\n"))
        }
        _ => return None,
    })
}
