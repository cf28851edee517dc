//! A file's changes, backups and cost, on the fake machine.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use expect_test::{Expect, expect};
use fx_engine::{Change, Resource};
use fx_host::{MemoryHost, Program, Reply};

use super::{Backup, Content, Desired, Ensure, File, Links, Obstruction, Verify};
use crate::account::Account;
use crate::exec::Rules;
use crate::mode::Mode;

fn show(changes: &[Change]) -> String {
    let line = |change: &Change| format!("{}: {} -> {}\n", change.property, change.from, change.to);
    changes.iter().map(line).collect()
}

// Observes, applies, and observes again: the second look must find nothing.
fn converge(host: &MemoryHost, desired: Desired) -> String {
    let mut file = File::new(desired);
    let changes = file.observe(host).unwrap();
    if !changes.is_empty() {
        file.apply(host, &changes).unwrap();
    }
    assert_eq!(file.observe(host).unwrap(), [], "not converged");
    show(&changes)
}

fn check(setup: fn(&MemoryHost), desired: Desired, expected: Expect) {
    let host = MemoryHost::new();
    host.put("/etc/passwd", "root:x:0:0::/:\nann:x:7:8::/:\n");
    host.put("/etc/group", "root:x:0:\nops:x:8:\n");
    setup(&host);
    let changes = converge(&host, desired);
    let snapshot = host.snapshot();
    let lines = snapshot.lines().filter(|line| !line.contains("/etc/passwd"));
    let lines: Vec<&str> =
        lines.filter(|line| !line.starts_with("/ ") && !line.contains("/etc/group")).collect();
    expected.assert_eq(&format!("{changes}---\n{}\n", lines.join("\n")));
}

fn file(path: &str) -> Desired {
    Desired { path: path.into(), ..Desired::default() }
}

#[test]
fn a_missing_file_is_made_with_all_it_should_have() {
    let desired = Desired {
        content: Some(Content::bytes("hello\n")),
        mode: Some(Mode::parse("u=rw,g=r").unwrap()),
        owner: Some(Account::parse("ann")),
        group: Some(Account::parse("8")),
        ..file("/new/motd")
    };
    check(
        |host| host.put_dir("/new", 0o755),
        desired,
        expect![[r#"
            ensure: absent -> file
            content: undef -> {sha256}5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
            mode: undef -> 0640
            owner: undef -> ann
            group: undef -> 8
            ---
            /etc dir 0755 0:0
            /new dir 0755 0:0
            /new/motd file 0640 7:8 hello\n
        "#]],
    );
}

#[test]
fn only_what_differs_is_changed() {
    let desired = Desired {
        content: Some(Content::bytes("same")),
        mode: Some(Mode::Exact(0o4755)),
        owner: Some(Account::parse("ann")),
        ..file("/etc/x")
    };
    check(
        |host| host.put("/etc/x", "same"),
        desired,
        expect![[r#"
            mode: 0644 -> 4755
            owner: root -> ann
            ---
            /etc dir 0755 0:0
            /etc/x file 4755 7:0 same
        "#]],
    );
}

#[test]
fn a_change_of_owner_takes_set_id_bits_away() {
    let desired = Desired { owner: Some(Account::Id(7)), ..file("/etc/x") };
    check(
        |host| host.put_mode("/etc/x", "", 0o4755),
        desired,
        expect![[r#"
            owner: root -> 7
            ---
            /etc dir 0755 0:0
            /etc/x file 0755 7:0 
        "#]],
    );
    let desired =
        Desired { mode: Some(Mode::Exact(0o4755)), owner: Some(Account::Id(7)), ..file("/etc/x") };
    check(
        |host| host.put_mode("/etc/x", "", 0o4755),
        desired,
        expect![[r#"
        owner: root -> 7
        ---
        /etc dir 0755 0:0
        /etc/x file 4755 7:0 
    "#]],
    );
}

#[test]
fn links_are_replaced_or_followed() {
    let setup = |host: &MemoryHost| {
        host.put("/etc/real", "old");
        host.put_link("/etc/x", "real");
    };
    let desired = Desired { content: Some(Content::bytes("new")), ..file("/etc/x") };
    check(
        setup,
        desired.clone(),
        expect![[r#"
            ensure: link -> file
            content: undef -> {sha256}11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437
            ---
            /etc dir 0755 0:0
            /etc/real file 0644 0:0 old
            /etc/x file 0600 0:0 new
        "#]],
    );
    check(
        setup,
        Desired { links: Links::Follow, ..desired },
        expect![[r#"
            content: {sha256}cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4 -> {sha256}11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437
            ---
            /etc dir 0755 0:0
            /etc/real file 0644 0:0 new
            /etc/x link 0777 0:0 -> real
        "#]],
    );
}

#[test]
fn a_directory_in_the_way_is_refused_or_removed() {
    let setup = |host: &MemoryHost| host.put("/etc/x/inner", "y");
    let host = MemoryHost::new();
    setup(&host);
    let failure = File::new(file("/etc/x")).observe(&host).unwrap_err();
    assert_eq!(failure.to_string(), "'/etc/x' is a directory and is not replaced");
    check(
        setup,
        Desired { obstruction: Obstruction::Remove, ..file("/etc/x") },
        expect![[r#"
            ensure: directory -> file
            ---
            /etc dir 0755 0:0
            /etc/x file 0600 0:0 
        "#]],
    );
}

#[test]
fn old_content_is_kept_in_each_convention() {
    let backups = [
        Backup::Suffix(".cf-before-edit".into()),
        Backup::Tree { dir: "/backup".into(), copies: 2, utc_offset: 0 },
    ];
    let mut shown = String::new();
    for backup in backups {
        let host = MemoryHost::new();
        host.put("/etc/x", "0");
        for content in ["1", "2", "3"] {
            host.advance(std::time::Duration::from_secs(1));
            let content = Some(Content::bytes(content));
            converge(&host, Desired { content, backup: backup.clone(), ..file("/etc/x") });
        }
        let snapshot = host.snapshot();
        let files = snapshot.lines().filter(|line| line.contains(" file "));
        for line in files.filter(|line| !line.starts_with("/etc/x ")) {
            shown.push_str(line);
            shown.push('\n');
        }
        shown.push('\n');
    }
    expect![[r#"
        /etc/x.cf-before-edit file 0644 0:0 2

        /backup/etc/x.chef-20260101000002.000000 file 0644 0:0 1
        /backup/etc/x.chef-20260101000003.000000 file 0644 0:0 2

    "#]]
    .assert_eq(&shown);
}

#[test]
fn removal_takes_the_name_alone_and_keeps_a_backup() {
    let setup = |host: &MemoryHost| {
        host.put("/etc/real", "old");
        host.put_link("/etc/x", "real");
    };
    let desired = Desired { ensure: Ensure::Absent, links: Links::Follow, ..file("/etc/x") };
    check(
        setup,
        desired,
        expect![[r#"
            ensure: file -> absent
            ---
            /etc dir 0755 0:0
            /etc/real file 0644 0:0 old
        "#]],
    );
    check(
        |host| host.put("/etc/x", "old"),
        Desired {
            ensure: Ensure::Absent,
            backup: Backup::Suffix(".puppet-bak".into()),
            ..file("/etc/x")
        },
        expect![[r#"
            ensure: file -> absent
            ---
            /etc dir 0755 0:0
            /etc/x.puppet-bak file 0644 0:0 old
        "#]],
    );
}

#[test]
fn a_copy_has_the_content_of_its_source_alone() {
    let host = MemoryHost::new();
    host.put_mode("/src", "new", 0o600);
    host.put("/etc/x", "old");
    converge(&host, Desired { content: Some(Content::copy("/src")), ..file("/etc/x") });
    let snapshot = host.snapshot();
    assert!(snapshot.contains("/etc/x file 0644 0:0 new"), "{snapshot}");
}

#[test]
fn content_of_a_create_only_or_if_present_file_is_left_alone() {
    let host = MemoryHost::new();
    host.put("/etc/x", "mine");
    let content = Some(Content::bytes("theirs"));
    let desired = Desired { content: content.clone(), create_only: true, ..file("/etc/x") };
    assert_eq!(converge(&host, desired), "");
    let desired = Desired { content, ensure: Ensure::IfPresent, ..file("/etc/none") };
    assert_eq!(converge(&host, desired), "");
}

#[test]
fn an_unchanged_file_costs_one_look_and_one_read() {
    let host = MemoryHost::linux();
    host.put("/etc/x", "same");
    let mut file = File::new(Desired {
        content: Some(Content::bytes("same")),
        mode: Some(Mode::Exact(0o644)),
        owner: Some(Account::Id(0)),
        ..file("/etc/x")
    });
    host.take_requests();
    assert_eq!(file.observe(&host).unwrap(), []);
    assert_eq!(host.take_requests(), ["stat /etc/x", "read /etc/x"]);
}

#[test]
fn an_unknown_owner_is_a_change_that_fails_when_made() {
    let host = MemoryHost::linux();
    host.put("/etc/x", "");
    let mut file = File::new(Desired { owner: Some(Account::parse("ghost")), ..file("/etc/x") });
    let changes = file.observe(&host).unwrap();
    assert_eq!(show(&changes), "owner: root -> ghost\n");
    let failure = file.apply(&host, &changes).unwrap_err();
    assert_eq!(failure.to_string(), "could not find user ghost");
}

#[test]
fn refused_content_never_gets_its_name() {
    let host = MemoryHost::linux();
    host.put("/etc/sudoers", "old");
    // The checker accepts content that says "good", found under the name that it is given.
    host.on_any(|host, spec| {
        let line = spec.display();
        let path = line.strip_prefix("visudo -cf ")?;
        assert!(path.ends_with("-sudoers") && path.starts_with("/etc/.fx-"), "{path}");
        let good = host.text(path).contains("good");
        Some(if good { Reply::exit(0) } else { Reply::exit(1).stderr("syntax error\n") })
    });
    let desired = |content: &str| Desired {
        content: Some(Content::bytes(content)),
        verify: vec![Verify::new(Rules::default(), |path| {
            Program::Argv(vec!["visudo".into(), "-cf".into(), path.into()])
        })],
        ..file("/etc/sudoers")
    };
    let mut bad = File::new(desired("bad"));
    let changes = bad.observe(&host).unwrap();
    let failure = bad.apply(&host, &changes).unwrap_err();
    assert!(
        failure.to_string().starts_with("new content of '/etc/sudoers' was refused: "),
        "{failure}"
    );
    assert_eq!(failure.output(), Some("syntax error"));
    assert_eq!(host.text("/etc/sudoers"), "old");
    converge(&host, desired("good"));
    assert_eq!(host.text("/etc/sudoers"), "good");
    assert!(!host.snapshot().contains(".fx-"));
}
