//! Whatever the tables of a machine hold, resources neither panic nor fail to converge,
//! and the rows of others stay; and version order is an order for any text.

use std::cmp::Ordering;
use std::path::Path;

use fx_engine::Resource;
use fx_host::{MemoryHost, Reply};
use fx_resources::group;
use fx_resources::mode::Mode;
use fx_resources::package::{self, version};
use fx_resources::{cron, host_entry, known_host, mount, ssh_key, user};
use proptest::prelude::{Just, ProptestConfig, Strategy, prop, prop_oneof, proptest};
use proptest::test_runner::TestCaseError;

// Bytes as tables hold them: their own words and separators in any order.
fn table() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just("# Puppet Name: job".to_owned()),
        Just("name".to_owned()),
        Just("name:x:5:5::/home/name:/bin/sh".to_owned()),
        Just("ssh-rsa".to_owned()),
        Just("/data".to_owned()),
        Just("Package: name\nStatus: install ok installed\nVersion: 1".to_owned()),
        "[a-z0-9:#=@\"\\\\,./* +-]{0,8}",
        Just("\n".to_owned()),
        Just("\n".to_owned()),
        Just(" ".to_owned()),
        Just("\t".to_owned()),
        Just("\u{fffd}é\0".to_owned()),
    ];
    prop::collection::vec(word, 0..30).prop_map(|words| words.concat().into_bytes())
}

fn converges(host: &MemoryHost, resource: &mut dyn Resource) -> Result<(), TestCaseError> {
    let before = host.snapshot_with_times();
    let Ok(changes) = resource.observe(host) else { return Ok(()) };
    assert_eq!(host.snapshot_with_times(), before);
    if changes.is_empty() || resource.apply(host, &changes).is_err() {
        return Ok(());
    }
    let left =
        resource.observe(host).map_err(|failure| TestCaseError::fail(failure.to_string()))?;
    if left.is_empty() { Ok(()) } else { Err(TestCaseError::fail(format!("left {left:?}"))) }
}

fn machine(path: &str, content: &[u8]) -> MemoryHost {
    let host = MemoryHost::linux();
    host.on_any(|_, _| Some(Reply::default()));
    host.put_dir("/home/name", 0o755);
    host.put(path, content);
    host
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_hosts_file(content in table(), absent: bool) {
        let host = machine("/etc/hosts", &content);
        converges(&host, &mut host_entry::HostEntry::new(host_entry::Desired {
            name: "name".into(),
            absent,
            ip: "10.0.0.1".parse().ok(),
            aliases: Some(vec!["other".into()]),
            ..host_entry::Desired::default()
        }))?;
    }

    #[test]
    fn any_file_of_known_hosts(content in table(), absent: bool) {
        let host = machine("/etc/ssh/ssh_known_hosts", &content);
        converges(&host, &mut known_host::KnownHost::new(known_host::Desired {
            name: "name".into(),
            kind: "ssh-rsa".into(),
            absent,
            key: Some("AAAA".into()),
            aliases: Some(vec!["other".into()]),
            ..known_host::Desired::default()
        }))?;
    }

    #[test]
    fn any_crontab(content in table(), absent: bool) {
        let host = machine("/etc/cron.d/x", &content);
        let target =
            cron::Table::File { path: "/etc/cron.d/x".into(), user: "root".into(), mode: None };
        converges(&host, &mut cron::Cron::new(cron::Desired {
            name: "job".into(),
            absent,
            target,
            command: "run --now".into(),
            environment: vec!["A=b c".into()],
            ..cron::Desired::default()
        }))?;
    }

    #[test]
    fn any_key_file(content in table(), absent: bool) {
        let host = machine("/home/name/.ssh/authorized_keys", &content);
        host.put("/etc/passwd", "name:x:5:5::/home/name:/bin/sh\n");
        converges(&host, &mut ssh_key::SshKey::new(ssh_key::Desired {
            name: "name".into(),
            user: "name".into(),
            absent,
            kind: "ssh-rsa".into(),
            key: "AAAA".into(),
            options: vec!["command=\"a, b\"".into(), "no-pty".into()],
            ..ssh_key::Desired::default()
        }))?;
    }

    #[test]
    fn any_fstab(content in table(), mounts in table()) {
        let host = machine("/etc/fstab", &content);
        host.put("/proc/self/mounts", &mounts);
        converges(&host, &mut mount::Mount::new(mount::Desired {
            path: "/data".into(),
            device: Some("/dev/b c".into()),
            ..mount::Desired::default()
        }))?;
    }

    // The tools change the files; here they do nothing, so there is nothing to converge.
    #[test]
    fn any_account_files(passwd in table(), shadow in table(), group in table(), absent: bool) {
        let host = machine("/etc/passwd", &passwd);
        host.put("/etc/shadow", &shadow);
        host.put("/etc/group", &group);
        let before = host.snapshot_with_times();
        let mut user = user::User::new(user::Desired {
            name: "name".into(),
            absent,
            comment: Some("text".into()),
            password: Some(user::Password::hash("*")),
            max_age: Some(9),
            ..user::Desired::default()
        });
        let mut group = group::Group::new(group::Desired {
            name: "name".into(),
            absent,
            gid: Some(7),
            ..group::Desired::default()
        });
        for resource in [&mut user as &mut dyn Resource, &mut group] {
            let seen = resource.observe(&host);
            assert_eq!(host.snapshot_with_times(), before);
            if let Ok(changes) = seen {
                assert!(changes.is_empty() || resource.apply(&host, &changes).is_ok());
            }
        }
    }

    #[test]
    fn any_package_record(content in table()) {
        for manager in ["apt", "apk", "pacman", "gem", "pip3", "dnf", "zypper"] {
            let text = content.clone();
            let host = machine("/var/lib/dpkg/status", &content);
            host.on_any(move |_, _| Some(Reply::prints(text.clone())));
            let desired = package::Desired {
                name: "name".into(),
                ensure: package::Ensure::Latest,
                hold: (manager == "apt").then_some(true),
                ..package::Desired::default()
            };
            let backend = package::named(manager).map_err(|f| TestCaseError::fail(f.to_string()))?;
            let _ = package::Package::new(desired, backend).observe(&host);
        }
    }

    #[test]
    fn version_order_is_an_order(a in VERSION, b in VERSION, c in VERSION) {
        let orders: [fn(&str, &str) -> Ordering; 5] =
            [version::dpkg, version::rpm_part, version::apk, version::python, version::ruby];
        for compare in orders {
            assert_eq!(compare(&a, &a), Ordering::Equal);
            assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
                assert!(compare(&a, &c).is_le(), "{a} {b} {c}");
            }
        }
        let _ = version::rpm(&a, &b);
    }

    #[test]
    fn any_mode_text(text in "[ugoa+=rwxXst,0-7-]{0,12}|\\PC{0,6}", current in 0u32..0o10000) {
        if let Ok(mode) = Mode::parse(&text) {
            let once = mode.apply(current, false);
            assert!(once <= 0o7777);
            // Copying from what an earlier part of the same wish changes may need two goes.
            let copies = text.split(['+', '-', '=']).skip(1).any(|part| part.contains(['u', 'g', 'o']));
            assert!(copies || mode.apply(once, false) == once, "{text} on {current:o}");
        }
        let _ = Path::new(&text);
    }
}

const VERSION: &str = "[0-9a-c.+~^:-]{0,10}";
