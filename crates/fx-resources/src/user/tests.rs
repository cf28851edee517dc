//! Users on the fake machine.

use fx_engine::{Change, Resource};
use fx_host::{MemoryHost, Reply, Stdin};

use super::{Desired, Expiry, Password, User};
use crate::account::Account;
use crate::group::Membership;

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
    host
}

fn converge(host: &MemoryHost, desired: Desired) -> String {
    let mut user = User::new(desired);
    let changes = user.observe(host).unwrap();
    if !changes.is_empty() {
        user.apply(host, &changes).unwrap();
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
fn an_old_user_is_changed_where_it_differs() {
    let host = machine();
    host.on_any(|_, _| Some(Reply::default()));
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
    assert_eq!(converge(&host, desired), expected);
    host.put("/etc/shadow", "ann:$6$new:19000:0:99999:7::20000:\n");
    let endless = Desired {
        password: Some(Password::hash("$6$new")),
        expiry: Some(Expiry::Never),
        ..user("ann")
    };
    assert_eq!(converge(&host, endless), "expiry: 20000 -> ");
}

#[test]
fn commands_are_those_of_the_shadow_tools_and_hide_the_hash() {
    let host = machine();
    host.on_any(|_, _| Some(Reply::default()));
    converge(&host, Desired { system: true, ..full("bob") });
    converge(&host, Desired { uid: None, gid: None, ..full("ann") });
    converge(&host, Desired { absent: true, manage_home: true, ..user("ann") });
    let expected = [
        "useradd -u 1234 -g ops -c 'Bob B' -d /srv/bob -s /bin/zsh -G adm -m -r bob",
        "chpasswd -e",
        "chage -m 1 -M 90 -W 14 -E 20000 bob",
        "usermod -c 'Bob B' -d /srv/bob -s /bin/zsh -G adm -m ann",
        "chpasswd -e",
        "chage -m 1 -M 90 -W 14 -E 20000 ann",
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
        let failure = User::new(desired).observe(&host).unwrap_err();
        assert!(!failure.to_string().contains("se:cret"), "{text}: {failure}");
    }
}
