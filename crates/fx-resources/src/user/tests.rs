//! Users through both ways, on the fake machine.

use fx_engine::{Change, Resource};
use fx_host::{Files, MemoryHost, Reply, Stdin};

use super::{Desired, Expiry, Password, User};
use crate::account::Account;
use crate::group::{Membership, Method};

fn machine() -> MemoryHost {
    let host = MemoryHost::linux();
    host.put(
        "/etc/passwd",
        "root:x:0:0:root:/root:/bin/bash\nann:x:1000:1000:Ann:/home/ann:/bin/sh\n",
    );
    host.put_mode(
        "/etc/shadow",
        "root:*:19000:0:99999:7:::\nann:$6$old:19000:0:99999:7:::\n",
        0o640,
    );
    host.put("/etc/group", "root:x:0:\nann:x:1000:\nops:x:50:ann\nadm:x:4:\n");
    host.put_mode("/etc/gshadow", "root:*::\nann:!::\nops:!::ann\nadm:*::\n", 0o640);
    host.put("/etc/skel/.profile", "hello\n");
    host.put_dir("/etc/skel/bin", 0o700);
    host
}

fn converge(host: &MemoryHost, desired: Desired, method: Method) -> String {
    let mut user = User::new(desired, method);
    let changes = user.observe(host).unwrap();
    if !changes.is_empty() {
        user.apply(host, &changes).unwrap();
    }
    if method == Method::Files {
        assert_eq!(user.observe(host).unwrap(), [], "not converged");
    }
    let line = |c: &Change| format!("{}: {} -> {}", c.property, c.from, c.to);
    changes.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn user(name: &str) -> Desired {
    Desired { name: name.into(), ..Desired::default() }
}

fn full(name: &str) -> Desired {
    Desired {
        uid: Some(1234),
        gid: Some(Account::parse("ops")),
        comment: Some("Bob B".into()),
        home: Some("/srv/bob".into()),
        shell: Some("/bin/zsh".into()),
        password: Some(Password::hash("$6$new")),
        groups: Some(vec!["adm".into()]),
        membership: Membership::Inclusive,
        min_age: Some(1),
        max_age: Some(90),
        warn_days: Some(14),
        expiry: Some(Expiry::Day(20_000)),
        manage_home: true,
        ..user(name)
    }
}

#[test]
fn a_new_user_is_written_into_all_files_with_its_home() {
    let host = machine();
    assert_eq!(converge(&host, full("bob"), Method::Files), "ensure: absent -> present");
    assert!(host.text("/etc/passwd").ends_with("bob:x:1234:50:Bob B:/srv/bob:/bin/zsh\n"));
    assert!(host.text("/etc/shadow").ends_with("bob:$6$new:20454:1:90:14::20000:\n"));
    assert!(host.text("/etc/group").ends_with("adm:x:4:bob\n"));
    assert!(host.text("/etc/gshadow").ends_with("adm:*::bob\n"));
    let snapshot = host.snapshot();
    assert!(snapshot.contains("/srv/bob/.profile file 0644 1234:50 hello\\n"), "{snapshot}");
    assert!(snapshot.contains("/srv/bob/bin dir 0700 1234:50"));
    assert!(snapshot.contains("/etc/shadow file 0640"));
    assert!(!snapshot.contains(".lock"));
}

#[test]
fn a_new_user_without_wishes_gets_a_group_of_its_own() {
    let host = machine();
    converge(&host, user("eve"), Method::Files);
    assert!(host.text("/etc/passwd").ends_with("eve:x:1001:1001::/home/eve:/bin/sh\n"));
    assert!(host.text("/etc/group").ends_with("eve:x:1001:\n"));
    assert!(host.text("/etc/shadow").ends_with("eve:!:20454:0:99999:7:::\n"));
    assert!(!host.exists("/home/eve".as_ref()).unwrap());
    converge(&host, Desired { absent: true, ..user("eve") }, Method::Files);
    let snapshot = host.snapshot();
    assert!(!snapshot.contains("eve"), "{snapshot}");
}

#[test]
fn an_old_user_is_changed_where_it_differs() {
    let host = machine();
    host.put("/home/ann/file", "x");
    let desired = Desired { uid: None, gid: None, ..full("ann") };
    let expected = "\
comment: Ann -> Bob B
home: /home/ann -> /srv/bob
shell: /bin/sh -> /bin/zsh
password: [redacted] -> [redacted]
password_min_age: 0 -> 1
password_max_age: 99999 -> 90
password_warn_days: 7 -> 14
expiry:  -> 20000
groups: [\"ops\"] -> [\"adm\"]";
    assert_eq!(converge(&host, desired, Method::Files), expected);
    assert_eq!(host.text("/srv/bob/file"), "x");
    assert!(host.text("/etc/group").contains("ops:x:50:\n"));
    assert_eq!(
        converge(&host, Desired { locked: Some(true), ..user("ann") }, Method::Files),
        "locked: false -> true"
    );
    assert!(host.text("/etc/shadow").contains("ann:!$6$new:"));
    let unlocked = Desired {
        locked: Some(false),
        password: Some(Password::hash("$6$new")),
        expiry: Some(Expiry::Never),
        ..user("ann")
    };
    assert_eq!(
        converge(&host, unlocked, Method::Files),
        "locked: true -> false\nexpiry: 20000 -> "
    );
}

#[test]
fn commands_are_those_of_the_shadow_tools_and_hide_the_hash() {
    let host = machine();
    host.on_any(|_, _| Some(Reply::default()));
    converge(&host, Desired { system: true, ..full("bob") }, Method::Commands);
    converge(
        &host,
        Desired { uid: None, gid: None, locked: Some(true), ..full("ann") },
        Method::Commands,
    );
    converge(&host, Desired { absent: true, manage_home: true, ..user("ann") }, Method::Commands);
    let expected = [
        "useradd -u 1234 -g ops -c 'Bob B' -d /srv/bob -s /bin/zsh -G adm -m -r bob",
        "chpasswd -e",
        "chage -m 1 -M 90 -W 14 -E 20000 bob",
        "usermod -c 'Bob B' -d /srv/bob -s /bin/zsh -G adm -m ann",
        "chpasswd -e",
        "chage -m 1 -M 90 -W 14 -E 20000 ann",
        "usermod -L ann",
        "userdel -r ann",
    ];
    assert_eq!(host.call_lines(), expected);
    assert_eq!(host.calls()[1].stdin, Stdin::Bytes(b"bob:$6$new\n".to_vec()));
}

#[test]
fn what_would_break_a_row_is_refused_without_showing_the_hash() {
    let host = machine();
    let bad = [
        user("a:b"),
        user("-x"),
        Desired { comment: Some("a:b".into()), ..user("ann") },
        Desired { shell: Some("/bin/sh\nroot".into()), ..user("ann") },
        Desired { password: Some(Password::hash("se:cret")), ..user("ann") },
    ];
    for desired in bad {
        let text = format!("{desired:?}");
        assert!(!text.contains("se:cret"));
        let failure = User::new(desired, Method::Files).observe(&host).unwrap_err();
        assert!(!failure.to_string().contains("se:cret"), "{text}: {failure}");
    }
    let mut taken = User::new(Desired { uid: Some(1000), ..user("bob") }, Method::Files);
    let changes = taken.observe(&host).unwrap();
    let failure = taken.apply(&host, &changes).unwrap_err();
    assert_eq!(failure.to_string(), "uid 1000 of user 'bob' is taken");
}
