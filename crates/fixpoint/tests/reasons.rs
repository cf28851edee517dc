//! Why an item had its turn when it had it, or why not: picked items of one policy a
//! language, with the reason that must be given.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::path::Path;
use std::process::{Command, Stdio};

/// What `explain --why ITEM` says; `None` where there is no copy of the machine to look in.
fn why(policy: &str, more: &[&str], item: &str) -> Option<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["explain", "--why", item, policy])
        .args(more)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    if err.contains("needs root") {
        eprintln!("SKIPPED: {err}");
        return None;
    }
    assert!(output.status.success(), "{item}: {err}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn check(policy: &str, more: &[&str], expected: &[(&str, &[&str])]) {
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join(policy).display().to_string();
    assert!(expected.len() >= 20);
    for (item, reasons) in expected {
        let Some(told) = why(&policy, more, item) else { return };
        for reason in *reasons {
            assert!(told.contains(reason), "{item}: no '{reason}' in\n{told}");
        }
    }
}

#[test]
fn cfengine() {
    let normal = "files is 6 of 15 in the normal order, after users";
    check(
        "tests/reasons/order.cf",
        &[],
        &[
            ("fx-why/.]", &["pass 1 files[", "its turn  bundle setup\n", normal]),
            ("fx-why/a]", &["pass 1 files[", "its turn  bundle setup\n", normal]),
            ("fx-why/b]", &["pass 1 files[", "handle => \"file_$(list)\""]),
            (
                "fx-why/g]",
                &["its turn  bundle setup global_on::", "'global_on' was defined by bundle g at"],
            ),
            ("after_g]", &["setup g_made::", "'g_made' was defined by files[/srv/fx-why/g] at"]),
            (
                "fx-why/n]",
                &["guard 'nowhere_defined' is not met", "(nothing in the policy defines it)"],
            ),
            (
                "fx-why/ln]",
                &["'local_on.nowhere_defined' is not met: class 'nowhere_defined' is not defined"],
            ),
            ("fx-why/if]", &["if 'not_there' is not met: class 'not_there' is not defined"]),
            ("fx-why/unless]", &["unless 'any' holds"]),
            ("fx-why/dep]", &["would-repair", "its turn  bundle setup, depends_on file_b"]),
            ("fx-why/dep2]", &["skipped", "depends_on 'late', which has not been kept"]),
            ("commands[/bin/true]", &["commands is 12 of 15 in the normal order, after services"]),
            ("methods[call]", &["methods is 9 of 15", "its turn  bundle setup\n"]),
            ("sub_x]", &["its turn  bundle sub\n", "inside    methods[call]"]),
            ("reports[in sub]", &["reports is 15 of 15", "inside    methods[call]"]),
            ("g was made", &["bundle setup g_made::", "defined by files[/srv/fx-why/g]"]),
            (
                "not_local]",
                &["class 'local_on' is not defined (a classes promise of bundle 'setup' at"],
            ),
            ("fx-why/global]", &["its turn  bundle main global_on::", "defined by bundle g"]),
            ("fx-why/win]", &["class 'windows' is not defined"]),
            ("notlinux]", &["guard '!linux' is not met: class 'linux' is defined"]),
        ],
    );
}

#[test]
fn chef() {
    let order: &[&str] = &["its turn  collection order"];
    // The cookbook that the language's own test runs, with a place to write to.
    let dir = tempfile::tempdir().unwrap();
    let attributes = dir.path().join("attributes.json");
    std::fs::write(&attributes, r#"{ "root": "/var/tmp" }"#).unwrap();
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fx-chef/tests/cases/reasons.case");
    fx_cases::read_one(&case).lay_out(dir.path());
    check(
        dir.path().join("cookbooks/t").to_str().unwrap(),
        &["-j", attributes.to_str().unwrap()],
        &[
            ("tmp/early]", &["compile file[", "its turn  run while recipes are compiled"]),
            ("at once too", &["compile ruby_block[", "its turn  run while recipes are compiled"]),
            ("[first]", &["its turn  before notification from file[/var/tmp/plain]"]),
            ("tmp/plain]", order),
            ("[soon]", &["its turn  immediate notification from file[/var/tmp/plain]"]),
            ("[chained]", &["its turn  immediate notification from ruby_block[soon]"]),
            (
                "[watching]",
                &["its turn  immediate notification from file[/var/tmp/plain] (subscribes)"],
            ),
            (
                "[watching late]",
                &[
                    "action :nothing",
                    "its turn  delayed notification from file[/var/tmp/plain] (subscribes)",
                ],
            ),
            ("[late]", &["its turn  delayed notification from file[/var/tmp/plain]"]),
            ("[www]", order),
            ("directory[/var/tmp/www]", &["its turn  sub-resource of t_site[www]"]),
            ("www/index]", &["its turn  sub-resource of t_site[www]", "resources/site.rb:5"]),
            ("[inner]", &["its turn  immediate notification from file[/var/tmp/www/index]"]),
            ("[deep]", &["its turn  sub-resource of t_site[www]"]),
            ("www/part]", &["its turn  sub-resource of t_part[deep]", "resources/part.rb:4"]),
            ("[guarded]", &["not_if `true` is true; only_if `true` is true"]),
            ("[guarded by a block]", &["only_if { block at", "default.rb:53 } is false"]),
            ("[made already]", &["execute[made already]: kept"]),
            ("[said]", &["log[said]: kept", "its turn  collection order"]),
            ("tmp/both]", order),
            ("[fails]", order),
        ],
    );
}
