//! Names that other users gave their files: they do not drive the terminal, forge no line, and
//! escape nothing.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Everything that was printed to both streams.
fn shown(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    command.args(args).current_dir(dir).env("FIXPOINT_STATE", dir.join("state"));
    command.env("CFENGINE_TEST_OVERRIDE_WORKDIR", dir.join("work")).env("NO_COLOR", "1");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let bytes = [output.stdout, output.stderr].concat();
    String::from_utf8(bytes).expect("what is shown is text")
}

const NAMES: [&[u8]; 9] = [
    b"\x1b[2Jx",
    b"a\nError: forged",
    b"b\n   error: forged",
    b"c\nR: forged",
    b"\xff",
    b"\\xff",
    b"d\x9b1m\xc2\x9b1m",
    "e\u{202e}txt".as_bytes(),
    b"f\r\x08\x07\x7f",
];

fn plant(dir: &Path) {
    fs::create_dir_all(dir.join("home")).unwrap();
    for name in NAMES {
        fs::write(dir.join("home").join(OsStr::from_bytes(name)), "x").unwrap();
    }
}

#[track_caller]
fn is_fit(what: &str, text: &str) {
    let unfit = text.chars().find(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    });
    assert_eq!(unfit, None, "{what}: {text:?}");
    for line in text.lines() {
        let line = line.trim_start();
        assert!(!line.starts_with("Error: forged"), "{what}: {text}");
        assert!(!line.starts_with("error: forged") && !line.starts_with("R: forged"), "{what}");
    }
}

fn scratch() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    plant(dir.path());
    let home = dir.path().join("home").display().to_string();
    (dir, home)
}

fn left(dir: &Path) -> usize {
    fs::read_dir(dir.join("home")).unwrap().count()
}

#[test]
fn a_purge_removes_every_name_and_shows_none_raw() {
    let (dir, home) = scratch();
    let dir = dir.path();
    let purge = format!("file {{ '{home}': ensure => directory, recurse => true, purge => true }}");
    fs::write(dir.join("a.pp"), purge).unwrap();
    let args = ["puppet", "apply", "--confdir", "conf", "--vardir", "var", "a.pp"];
    let log = dir.join("log.txt");
    shown(dir, &[&args[..], &["--logdest", log.to_str().unwrap()]].concat());
    let text = fs::read_to_string(log).unwrap();
    is_fit("the log", &text);
    assert!(text.contains("home/\\x1b[2Jx]/ensure"), "{text}");
    plant(dir);
    let text = shown(dir, &args);
    is_fit("puppet apply", &text);
    assert!(text.contains("home/\\x1b[2Jx]/ensure: removed"), "{text}");
    assert!(text.contains("home/a\\nError: forged]/ensure: removed"), "{text}");
    assert_eq!(left(dir), 0, "{text}");
    for verb in ["run", "explain", "plan", "try"] {
        plant(dir);
        is_fit(verb, &shown(dir, &[verb, "a.pp"]));
    }
    is_fit("history", &shown(dir, &["history", "show", "1"]));
    plant(dir);
    shown(dir, &["run", "-v", "a.pp"]);
    assert_eq!(left(dir), 0);
}

#[test]
fn tidy_and_cfengine_remove_every_name_and_show_none_raw() {
    let (dir, home) = scratch();
    let dir = dir.path();
    let tidy = format!("tidy {{ '{home}': recurse => true, rmdirs => false, age => '0' }}");
    fs::write(dir.join("a.pp"), tidy).unwrap();
    let args = ["puppet", "apply", "--confdir", "conf", "--vardir", "var", "a.pp"];
    is_fit("tidy", &shown(dir, &args));
    assert_eq!(left(dir), 0);
    plant(dir);
    let policy = format!(
        "bundle agent main\n{{\n files: \"{home}\" delete => d, depth_search => r, \
         file_select => a;\n reports: \"$(this.promiser)\";\n}}\n\
         body delete d {{ rmdirs => \"false\"; dirlinks => \"delete\"; }}\n\
         body depth_search r {{ depth => \"inf\"; }}\n\
         body file_select a {{ leaf_name => {{ \".*\" }}; file_result => \"leaf_name\"; }}\n"
    );
    let file = dir.join("a.cf");
    fs::write(&file, policy).unwrap();
    let name = file.to_str().unwrap();
    is_fit("cf-agent", &shown(dir, &["cf-agent", "-K", "-v", "-f", name]));
    plant(dir);
    is_fit("run", &shown(dir, &["run", "-v", name]));
    is_fit("history", &shown(dir, &["history", "show"]));
}

#[test]
fn text_of_policy_and_of_commands_drives_no_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let text = "notify { \"a\\u{1b}[2Jb\\nError: forged\": }\n\
                exec { '/bin/printf \"\\\\033[2Jx\\\\n\"': logoutput => true }\n\
                notice(\"\\u{202e}x\")\n";
    fs::write(dir.join("a.pp"), text).unwrap();
    let args = ["puppet", "apply", "--confdir", "conf", "--vardir", "var", "a.pp"];
    let text = shown(dir, &args);
    is_fit("puppet", &text);
    assert!(text.contains("\\x1b[2J"), "{text}");
    fs::write(dir.join("b.pp"), "fail(\"\\u{1b}[2J\")\n$x = ']\u{1b}[2J").unwrap();
    is_fit("check", &shown(dir, &["check", "b.pp"]));
    is_fit("check", &shown(dir, &["check", "no\u{1b}such.pp"]));
}
