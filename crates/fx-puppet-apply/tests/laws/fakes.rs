//! A machine with tools that do as much as the laws need.

use fx_host::{MemoryHost, Reply, Spec, Stdin};

/// The machine that every case starts from.
pub(crate) fn machine() -> MemoryHost {
    let host = MemoryHost::linux();
    host.put("/etc/motd", "old\n");
    host.put_dir("/srv", 0o755);
    host.put("/etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:1000:Ann:/home/ann:/bin/sh\n");
    host.put_mode("/etc/shadow", "root:*:1::::::\nann:$6$x:1:0:99999:7:::\n", 0o640);
    host.put("/etc/group", "root:x:0:\nann:x:1000:\nops:x:50:\n");
    host.put_mode("/etc/gshadow", "root:*::\nann:!::\nops:!::\n", 0o640);
    host.put_dir("/home/ann", 0o755);
    host.put("/etc/hosts", "127.0.0.1 localhost\n");
    host.put("/etc/fstab", "/dev/a / ext4 defaults 0 1\n");
    host.put("/proc/self/mounts", "/dev/a / ext4 rw 0 0\n");
    host.put(
        "/var/lib/dpkg/status",
        "Package: old\nStatus: install ok installed\nVersion: 1.0-1\n",
    );
    host.put_dir("/run/systemd/system", 0o755);
    host.put("/run/fake/active", "inactive");
    host.put("/run/fake/enabled", "disabled");
    host.put("/run/fake/crontab", "1 1 * * * mine\n");
    host.put("/run/fake/switch", "off");
    host.put("/run/fake/modules", "");
    for program in [
        "/usr/bin/apt-get",
        "/usr/bin/augtool",
        "/usr/bin/touch",
        "/usr/bin/test",
        "/usr/sbin/getsebool",
        "/usr/sbin/setsebool",
        "/usr/sbin/semodule",
    ] {
        host.put_program(program);
    }
    for answer in [packages, systemd, accounts, crontab, mounts, selinux, augeas, shell] {
        host.on_any(answer);
    }
    host
}

fn packages(host: &MemoryHost, spec: &Spec) -> Option<Reply> {
    let line = spec.display();
    let record = match line.rsplit(' ').next()? {
        _ if line.starts_with("apt-cache policy web") => {
            return Some(Reply::prints("web:\n  Installed: (none)\n  Candidate: 2.0-1\n"));
        }
        "web" | "web=2.0-1" if line.contains("install") => {
            "Package: web\nStatus: install ok installed\nVersion: 2.0-1\n"
        }
        "old" if line.contains(" remove ") || line.contains(" purge ") => "",
        _ => return None,
    };
    host.put("/var/lib/dpkg/status", record);
    Some(Reply::exit(0))
}

fn systemd(host: &MemoryHost, spec: &Spec) -> Option<Reply> {
    let line = spec.display();
    let verb = line.strip_prefix("systemctl ")?.split(' ').next()?;
    match verb {
        "start" | "restart" => host.put("/run/fake/active", "active"),
        "enable" => host.put("/run/fake/enabled", "enabled"),
        _ => {}
    }
    Some(Reply::prints(format!(
        "LoadState=loaded\nActiveState={}\nUnitFileState={}\n",
        host.text("/run/fake/active"),
        host.text("/run/fake/enabled")
    )))
}

fn accounts(host: &MemoryHost, spec: &Spec) -> Option<Reply> {
    let add = |file: &str, row: &str| host.put(file, host.text(file) + row);
    match (spec.display().split(' ').next()?, &spec.stdin) {
        ("useradd", _) => add("/etc/passwd", "bob:x:1234:1234::/home/bob:/bin/zsh\n"),
        ("groupadd", _) => add("/etc/group", "web:x:77:\n"),
        ("userdel", _) => {
            let passwd = host.text("/etc/passwd");
            let kept = passwd.lines().filter(|line| !line.starts_with("ann:"));
            host.put("/etc/passwd", kept.flat_map(|line| [line, "\n"]).collect::<String>());
        }
        ("chpasswd", Stdin::Bytes(line)) => {
            let row = format!("{}:1:0:99999:7:::\n", String::from_utf8_lossy(line).trim_end());
            host.put_mode("/etc/shadow", host.text("/etc/shadow") + &row, 0o640);
        }
        _ => return None,
    }
    Some(Reply::exit(0))
}

fn crontab(host: &MemoryHost, spec: &Spec) -> Option<Reply> {
    const TABLE: &str = "/run/fake/crontab";
    match (spec.display().as_str(), &spec.stdin) {
        ("crontab -u root -", Stdin::Bytes(text)) => host.put(TABLE, text),
        ("crontab -u root -l", _) => {}
        _ => return None,
    }
    Some(Reply::prints(host.text(TABLE)))
}

fn mounts(host: &MemoryHost, spec: &Spec) -> Option<Reply> {
    if spec.display() != "mount /data" {
        return None;
    }
    host.put("/proc/self/mounts", "/dev/a / ext4 rw 0 0\n/dev/b /data ext4 rw 0 0\n");
    Some(Reply::exit(0))
}

fn selinux(host: &MemoryHost, spec: &Spec) -> Option<Reply> {
    let line = spec.display();
    let (program, rest) = line.split_once(' ')?;
    Some(match program {
        "/usr/sbin/getsebool" => {
            Reply::prints(format!("web --> {}\n", host.text("/run/fake/switch")))
        }
        "/usr/sbin/setsebool" => {
            host.put("/run/fake/switch", rest.rsplit(' ').next()?);
            Reply::exit(0)
        }
        "/usr/sbin/semodule" if rest == "--list" => Reply::prints(host.text("/run/fake/modules")),
        "/usr/sbin/semodule" => {
            host.put("/run/fake/modules", "web\n");
            Reply::exit(0)
        }
        _ => return None,
    })
}

fn augeas(host: &MemoryHost, spec: &Spec) -> Option<Reply> {
    let Stdin::Bytes(script) = &spec.stdin else { return None };
    let script = String::from_utf8_lossy(script);
    if !spec.display().starts_with("/usr/bin/augtool") {
        return None;
    }
    let is_set = host.text("/etc/motd") == "set\n";
    if script.contains("/augeas/save noop") {
        let saved = "/augeas/events/saved = \"/files/etc/motd\"\n";
        return Some(Reply::prints(if is_set { "" } else { saved }));
    }
    host.put("/etc/motd", "set\n");
    Some(Reply::exit(0))
}

/// `touch FILE` and `test -e FILE`, also by a shell.
fn shell(host: &MemoryHost, spec: &Spec) -> Option<Reply> {
    let line = Spec { sensitive: false, ..spec.clone() }.display();
    let line = line.strip_prefix("/bin/sh -c ").unwrap_or(&line).trim_matches('\'');
    match line.split(' ').collect::<Vec<_>>().as_slice() {
        ["/usr/bin/touch", path, ..] => host.put(path, ""),
        ["/usr/bin/test", "-e", path, ..] => {
            let there = fx_host::Files::exists(host, path.as_ref()).unwrap_or(false);
            return Some(Reply::exit(i32::from(!there)));
        }
        ["/usr/bin/test", ..] => {}
        _ => return None,
    }
    Some(Reply::exit(0))
}
