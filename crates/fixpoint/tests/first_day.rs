//! What users of Puppet type on their first day: help, settings, modules from archives and directories, checks of a plain
//! directory, and what is refused, which says why and what to use instead.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

struct Ran {
    code: i32,
    text: String,
}

/// Runs `fixpoint` in a directory; every path of the configuration lies below it.
fn ran(dir: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    command.args(args).current_dir(dir).env("NO_COLOR", "1").stdin(Stdio::null());
    command.env("FIXPOINT_STATE", dir.join("state"));
    if args[0] == "puppet" && !args.contains(&"help") {
        command.args(["--confdir", "conf", "--vardir", "var"]);
    }
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    Ran { code: output.status.code().unwrap(), text: String::from_utf8_lossy(&text).into_owned() }
}

fn put(dir: &Path, name: &str, text: &str) {
    let file = dir.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn module(dir: &Path, version: &str) {
    put(dir, "src/me-nn/manifests/init.pp", "class nn {}\n");
    let about = format!(r#"{{"name":"me-nn","version":"{version}","dependencies":[]}}"#);
    put(dir, "src/me-nn/metadata.json", &about);
}

#[test]
fn commands_of_the_first_day_answer() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    put(dir, "plain/good.pp", "notify { 'a': }\n");
    put(dir, "broken/bad.pp", "notify { 'b':\n");
    put(dir, "mods/mm/manifests/init.pp", "class mm {}\n");
    put(dir, "mods/mm/metadata.json", r#"{"name":"me-mm","version":"1.0.0","dependencies":[]}"#);
    for (args, code, words) in [
        ("puppet apply --help", 0, "USAGE: puppet apply [OPTIONS]"),
        ("puppet help apply", 0, "USAGE: puppet apply [OPTIONS]"),
        ("puppet apply --help", 0, "--noop"),
        ("puppet config print certname", 0, "\n"),
        ("puppet catalog compile", 0, "\"catalog_format\": 2"),
        ("puppet module list --modulepath mods --render-as json", 0, "\"modules_by_path\":{"),
        ("puppet generate types", 0, "types are read from the modules at each run"),
        ("puppet describe notify", 0, "Writes a message to the log of each run."),
        ("puppet parser validate plain", 0, ""),
        ("puppet parser validate broken", 1, "Syntax error at end of input"),
        ("puppet lookup --explain --modulepath mods zz", 0, "Searching for \"zz\""),
        ("check plain", 0, ""),
        ("check broken", 1, "broken/bad.pp:"),
    ] {
        let words_of: Vec<&str> = args.split(' ').collect();
        let Ran { code: given, text } = ran(dir, &words_of);
        assert_eq!(given, code, "{args}: {text}");
        assert!(text.contains(words), "{args}: {text}");
    }
}

#[test]
fn modules_come_from_directories_and_archives_and_leave_again() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::create_dir(dir.join("mods")).unwrap();
    module(dir, "1.0.0");
    let modules = |args: &str| {
        let mut words = vec!["puppet", "module"];
        words.extend(args.split(' '));
        words.extend(["--modulepath", "mods"]);
        let Ran { code, text } = ran(dir, &words);
        assert_eq!(code, 0, "{args}: {text}");
        text
    };
    assert!(modules("install src/me-nn --target-dir mods").contains("me-nn (v1.0.0)"));
    assert!(dir.join("mods/nn/manifests/init.pp").is_file());
    module(dir, "1.1.0");
    let mut tar = Command::new("tar");
    tar.args(["-czf", "nn.tar.gz", "-C", "src", "me-nn"]).current_dir(dir);
    assert!(tar.status().unwrap().success());
    assert!(modules("upgrade nn.tar.gz").contains("me-nn (v1.0.0 -> v1.1.0)"));
    assert!(modules("list").contains("me-nn (v1.1.0)"));
    assert!(modules("uninstall me-nn").contains("Removed 'me-nn' (v1.1.0)"));
    assert!(!dir.join("mods/nn").exists());
    assert!(modules("install nn.tar.gz --target-dir mods").contains("me-nn (v1.1.0)"));
}

#[test]
fn what_is_refused_says_why_and_what_to_use_instead() {
    let dir = tempfile::tempdir().unwrap();
    for (args, words) in [
        ("puppet device", "use 'puppet apply' on the machine itself"),
        ("puppet doc", "use 'puppet describe'"),
        ("puppet ca list", "it is part of a server"),
        ("puppet frobnicate", "See 'puppet help' for help on available puppet subcommands"),
        ("puppet apply --frob", "invalid option: --frob"),
        ("puppet module install none.tar.gz", "with an archive or directory of this machine"),
        ("puppet module upgrade nope", "Use `puppet module install` to install this module"),
    ] {
        let words_of: Vec<&str> = args.split(' ').collect();
        let Ran { code, text } = ran(dir.path(), &words_of);
        assert_eq!(code, 1, "{args}: {text}");
        assert!(text.contains(words), "{args}: {text}");
    }
}

#[test]
fn a_manifest_that_does_not_compile_is_shown_as_check_shows_it() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "a.pp", "class web { }\ninclude wbe\n");
    for verb in ["run", "plan"] {
        let Ran { code, text } = ran(dir.path(), &[verb, "a.pp"]);
        assert_eq!(code, 1, "{verb}: {text}");
        assert!(text.contains("a.pp:2:9"), "{verb}: {text}");
        assert!(text.contains("did you mean 'web'?"), "{verb}: {text}");
    }
}

/// Names that another module or cookbook could bring, and what only evaluation finds.
#[test]
fn what_does_not_compile_is_shown_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    for (file, text, place, line) in [
        ("a.pp", "$a = 1\ninclude elsewhere\n", "a.pp:2:1", "2 | include elsewhere"),
        ("b.pp", "notice('a')\n$b = frob(1,\n  2)\n", "b.pp:2:6", "2 | $b = frob(1,"),
        ("c.pp", "class c {\n  fail('no')\n}\ninclude c\n", "c.pp:2:3", "2 |   fail('no')"),
        ("d.rb", "file '/x' do\n  contnt 'a'\nend\n", "d.rb:2:3", "did you mean 'content'?"),
        ("e.rb", "fil '/x' do\nend\n", "e.rb:1:1", "did you mean 'file'?"),
        ("f.rb", "log 'a'\nnil.upcase\n", "f.rb:2:1", "2 | nil.upcase"),
    ] {
        put(dir.path(), file, text);
        for verb in ["run", "plan"] {
            let Ran { code, text } = ran(dir.path(), &[verb, file]);
            assert_eq!(code, 1, "{verb} {file}: {text}");
            assert!(text.contains(&format!("{place}\n")), "{verb} {file}: {text}");
            assert!(text.contains(line), "{verb} {file}: {text}");
            assert_eq!(text.matches(" --> ").count(), 1, "{verb} {file}: {text}");
        }
    }
}

/// A step that fails has its own place.
#[test]
fn what_fails_while_it_converges_is_no_error_of_the_text() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "a.rb", "ruby_block 'b' do\n  block { raise 'no' }\nend\n");
    let Ran { code, text } = ran(dir.path(), &["run", "a.rb"]);
    assert_eq!(code, 1, "{text}");
    assert!(!text.contains(" --> "), "{text}");
}

#[test]
fn a_plain_directory_of_manifests_is_run_and_checked_as_one_program() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("made");
    put(dir.path(), "site/10_first.pp", "$text = 'whole'\n");
    let second = format!("file {{ '{}': content => $text }}\n", file.display());
    put(dir.path(), "site/sub/20_second.pp", &second);
    let Ran { code, text } = ran(dir.path(), &["check", "site"]);
    assert_eq!(code, 0, "{text}");
    let Ran { code, text } = ran(dir.path(), &["run", "site"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "whole");
    put(dir.path(), "site/30_third.pp", "notify { 'a': message = 'b' }\n");
    for verb in ["check", "run"] {
        let Ran { code, text } = ran(dir.path(), &[verb, "site"]);
        assert_eq!(code, 1, "{verb}: {text}");
        assert!(text.contains("30_third.pp:1"), "{verb}: {text}");
    }
}

#[test]
fn our_verbs_name_no_program_that_need_not_be_there() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "a.cf", "body common control { inputs => { \"none.cf\" }; }\n");
    for verb in ["check", "run", "plan"] {
        let Ran { code, text } = ran(dir.path(), &[verb, "a.cf"]);
        assert_eq!(code, 1, "{verb}: {text}");
        assert!(text.contains("none.cf"), "{verb}: {text}");
        assert!(!text.contains("cf-promises"), "{verb}: {text}");
    }
}

#[test]
fn our_verbs_name_no_file_that_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "a.pp", "file { '/nonesuch/dir/x': content => 'a' }\n");
    for verb in ["run", "plan"] {
        let Ran { text, .. } = ran(dir.path(), &[verb, "a.pp"]);
        assert!(text.contains("/nonesuch/dir/x"), "{verb}: {text}");
        assert!(!text.contains(".lock") && !text.contains("/nonesuch/dir/x2"), "{verb}: {text}");
    }
}
