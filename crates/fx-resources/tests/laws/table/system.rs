//! Cases of resources that live in accounts, packages, services and other tables.

use fx_host::{MemoryHost, Reply, Spec, Stdin};
use fx_resources::account::Account;
use fx_resources::group;
use fx_resources::user::{self, Password};
use fx_resources::{cron, host_entry, known_host, mount, package, service, ssh_key};

use super::{Case, SECRET, case};

pub(super) fn cases() -> Vec<Case> {
    let mut all = packages();
    all.extend(services());
    all.extend(accounts());
    all.extend(tables());
    all.extend(kernel());
    all
}

// apt-get as far as the record goes.
fn debian(host: &MemoryHost) {
    host.put(
        "/var/lib/dpkg/status",
        "Package: old\nStatus: install ok installed\nVersion: 1.0-1\n",
    );
    let policy = "web:\n  Installed: (none)\n  Candidate: 2.0-1\n";
    host.on(["apt-cache", "policy", "web"], Reply::prints(policy));
    host.on_any(|host, spec| {
        let line = spec.display();
        let paragraph = |name: &str, status: &str, version: &str| {
            format!("Package: {name}\nStatus: {status}\nVersion: {version}\n")
        };
        let record = match line.rsplit(' ').next()? {
            "web=2.0-1" => paragraph("web", "install ok installed", "2.0-1"),
            "old" if line.contains(" purge ") => String::new(),
            "old" if line.contains("apt-mark hold") => {
                paragraph("old", "hold ok installed", "1.0-1")
            }
            _ => return None,
        };
        host.put("/var/lib/dpkg/status", record);
        Some(Reply::exit(0))
    });
}

fn apt(desired: package::Desired) -> Box<package::Package> {
    let backend = package::named("apt").expect("apt is known");
    Box::new(package::Package::new(desired, backend))
}

fn packages() -> Vec<Case> {
    vec![
        case("newest package", debian, || {
            apt(package::Desired {
                name: "web".into(),
                ensure: package::Ensure::Latest,
                ..package::Desired::default()
            })
        }),
        case("purged package", debian, || {
            apt(package::Desired {
                name: "old".into(),
                ensure: package::Ensure::Purged,
                ..package::Desired::default()
            })
        }),
        case("held package", debian, || {
            apt(package::Desired {
                name: "old".into(),
                hold: Some(true),
                ..package::Desired::default()
            })
        }),
    ]
}

// systemctl as far as one unit goes; its state lies in files.
fn systemd(host: &MemoryHost) {
    host.put("/run/fake/active", "inactive");
    host.put("/run/fake/enabled", "disabled");
    host.on_any(|host, spec| {
        let line = spec.display();
        let verb = line.strip_prefix("systemctl ")?.split(' ').next()?;
        match verb {
            "start" => host.put("/run/fake/active", "active"),
            "enable" => host.put("/run/fake/enabled", "enabled"),
            "mask" => host.put("/run/fake/enabled", "masked"),
            _ => {}
        }
        let text = format!(
            "LoadState=loaded\nActiveState={}\nUnitFileState={}\n",
            host.text("/run/fake/active"),
            host.text("/run/fake/enabled")
        );
        Some(Reply::prints(text))
    });
}

fn services() -> Vec<Case> {
    vec![
        case("started service", systemd, || {
            let desired = service::Desired {
                name: "web".into(),
                running: Some(true),
                enabled: Some(service::Enabled::Yes),
                ..service::Desired::default()
            };
            let backend = service::named("systemd").expect("systemd is known");
            Box::new(service::Service::new(desired, backend))
        }),
        case("masked service", systemd, || {
            let desired = service::Desired {
                name: "web".into(),
                enabled: Some(service::Enabled::Masked),
                ..service::Desired::default()
            };
            let backend = service::named("systemd").expect("systemd is known");
            Box::new(service::Service::new(desired, backend))
        }),
    ]
}

fn shadow(host: &MemoryHost) {
    host.put("/etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:1000:Ann:/home/ann:/bin/sh\n");
    host.put_mode("/etc/shadow", "root:*:1::::::\nann:$6$x:1:0:99999:7:::\n", 0o640);
    host.put("/etc/group", "root:x:0:\nann:x:1000:\nops:x:50:\n");
    host.put("/home/ann/notes", "x");
}

// The shadow tools as far as these cases go.
fn shadow_tools(host: &MemoryHost) {
    shadow(host);
    host.on_any(|host, spec: &Spec| {
        let passwd = host.text("/etc/passwd");
        match (spec.display().as_str(), &spec.stdin) {
            ("useradd -u 1234 -s /bin/zsh -M bob", _) => {
                host.put("/etc/passwd", passwd + "bob:x:1234:1234::/home/bob:/bin/zsh\n");
            }
            ("usermod -u 1500 -g ops -d /srv/ann -m ann", _) => {
                let row = "ann:x:1500:50:Ann:/srv/ann:/bin/sh";
                let old = |line: &&str| !line.starts_with("ann:");
                let kept: Vec<&str> = passwd.lines().filter(old).chain([row]).collect();
                host.put("/etc/passwd", kept.join("\n") + "\n");
            }
            ("userdel ann", _) => {
                let kept: Vec<&str> =
                    passwd.lines().filter(|line| !line.starts_with("ann:")).collect();
                host.put("/etc/passwd", kept.join("\n") + "\n");
            }
            ("groupmod -g 51 ops", _) => {
                let groups = host.text("/etc/group").replace("ops:x:50:", "ops:x:51:");
                host.put("/etc/group", groups);
            }
            ("groupadd -g 77 web", _) => {
                host.put("/etc/group", host.text("/etc/group") + "web:x:77:\n");
            }
            ("chpasswd -e", Stdin::Bytes(line)) => {
                let line = String::from_utf8_lossy(line);
                let row = format!("{}:1:0:99999:7:::\n", line.trim_end());
                let old = host.text("/etc/shadow");
                let kept = old.lines().filter(|line| !line.starts_with("bob:"));
                let kept: String = kept.flat_map(|line| [line, "\n"]).collect();
                host.put_mode("/etc/shadow", kept + &row, 0o640);
            }
            _ => return None,
        }
        Some(Reply::exit(0))
    });
}

fn accounts() -> Vec<Case> {
    vec![
        case("changed user", shadow_tools, || {
            let desired = user::Desired {
                name: "ann".into(),
                uid: Some(1500),
                gid: Some(Account::parse("ops")),
                home: Some("/srv/ann".into()),
                manage_home: true,
                ..user::Desired::default()
            };
            Box::new(user::User::new(desired))
        }),
        case("removed user", shadow_tools, || {
            let desired =
                user::Desired { name: "ann".into(), absent: true, ..user::Desired::default() };
            Box::new(user::User::new(desired))
        }),
        case("new user", shadow_tools, || {
            let desired = user::Desired {
                name: "bob".into(),
                uid: Some(1234),
                shell: Some("/bin/zsh".into()),
                password: Some(Password::hash(format!("$6${SECRET}"))),
                ..user::Desired::default()
            };
            Box::new(user::User::new(desired))
        }),
        case("changed group", shadow_tools, || {
            let desired =
                group::Desired { name: "ops".into(), gid: Some(51), ..group::Desired::default() };
            Box::new(group::Group::new(desired))
        }),
        case("new group", shadow_tools, || {
            let desired =
                group::Desired { name: "web".into(), gid: Some(77), ..group::Desired::default() };
            Box::new(group::Group::new(desired))
        }),
    ]
}

fn crontab(host: &MemoryHost) {
    const TABLE: &str = "/var/spool/cron/root";
    host.put(TABLE, "1 1 * * * mine\n");
    host.on_any(|host, spec| {
        match (spec.display().as_str(), &spec.stdin) {
            ("crontab -u root -", Stdin::Bytes(text)) => host.put(TABLE, text),
            ("crontab -u root -l", _) => {}
            _ => return None,
        }
        Some(Reply::prints(host.text(TABLE)))
    });
}

fn job(target: cron::Table) -> Box<cron::Cron> {
    Box::new(cron::Cron::new(cron::Desired {
        name: "job".into(),
        command: "run".into(),
        target,
        ..cron::Desired::default()
    }))
}

fn tables() -> Vec<Case> {
    vec![
        case("job in a crontab", crontab, || job(cron::Table::Crontab("root".into()))),
        case(
            "job in a file",
            |host| host.put_dir("/etc/cron.d", 0o755),
            || {
                let path = "/etc/cron.d/job".into();
                job(cron::Table::File { path, user: "nobody".into(), mode: None })
            },
        ),
        case(
            "host entry",
            |host| host.put("/etc/hosts", "127.0.0.1 localhost\n"),
            || {
                Box::new(host_entry::HostEntry::new(host_entry::Desired {
                    name: "db".into(),
                    ip: "10.0.0.1".parse().ok(),
                    ..host_entry::Desired::default()
                }))
            },
        ),
        case(
            "key of a host",
            |host| host.put_dir("/etc/ssh", 0o755),
            || {
                Box::new(known_host::KnownHost::new(known_host::Desired {
                    name: "db".into(),
                    kind: "ssh-ed25519".into(),
                    key: Some("AAAA".into()),
                    ..known_host::Desired::default()
                }))
            },
        ),
        case("key that may log in", shadow, || {
            Box::new(ssh_key::SshKey::new(ssh_key::Desired {
                name: "ann@desk".into(),
                user: "ann".into(),
                kind: "ssh-ed25519".into(),
                key: "AAAA".into(),
                ..ssh_key::Desired::default()
            }))
        }),
    ]
}

fn kernel() -> Vec<Case> {
    vec![case(
        "mount",
        |host| {
            host.put("/etc/fstab", "/dev/a / ext4 defaults 0 1\n");
            host.put("/proc/self/mounts", "/dev/a / ext4 rw 0 0\n");
            let mounts = "/dev/a / ext4 rw 0 0\n/dev/b /data ext4 rw 0 0\n";
            let mounted = move |host: &MemoryHost, _: &Spec| host.put("/proc/self/mounts", mounts);
            host.on(["mount", "/data"], Reply::exit(0).effect(mounted));
        },
        || {
            Box::new(mount::Mount::new(mount::Desired {
                path: "/data".into(),
                ensure: mount::Ensure::Mounted,
                device: Some("/dev/b".into()),
                ..mount::Desired::default()
            }))
        },
    )]
}
