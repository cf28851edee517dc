//! The binary as a user calls it: output, exit codes, bad use.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};

fn fixpoint(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    command.args(args).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ran(args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = fixpoint(args).output().unwrap();
    (status.code().unwrap(), text(&stdout), text(&stderr))
}

#[test]
fn version_is_one_line() {
    assert_eq!(
        ran(&["--version"]),
        (0, format!("fixpoint {}\n", env!("CARGO_PKG_VERSION")), String::new())
    );
}

/// By the name of the link it is called by, and by its first word.
#[test]
fn each_tool_prints_the_version_of_the_original() {
    for (tool, flag, line) in [
        ("cf-agent", "-V", "CFEngine Core 3.21.0\n"),
        ("cf-agent", "--version", "CFEngine Core 3.21.0\n"),
        ("cf-promises", "-V", "CFEngine Core 3.21.0\n"),
        ("cf-key", "--version", "CFEngine Core 3.21.0\n"),
        ("chef-apply", "--version", "Chef Infra Client: 18.11.21\n"),
        ("chef-client", "-v", "Chef Infra Client: 18.11.21\n"),
        ("chef-solo", "--version", "Chef Infra Client: 18.11.21\n"),
        ("facter", "-v", "4.3.0\n"),
        ("ohai", "--version", "Ohai: 18.2.21\n"),
        ("puppet", "-V", "7.23.0\n"),
    ] {
        for name in [tool, &format!("/usr/bin/{tool}")] {
            let Output { status, stdout, .. } = fixpoint(&[flag]).arg0(name).output().unwrap();
            assert_eq!((status.code(), text(&stdout).as_str()), (Some(0), line), "{name} {flag}");
        }
        assert_eq!(ran(&[tool, flag]), (0, line.to_owned(), String::new()), "{tool} {flag}");
    }
}

#[test]
fn names_and_flags_count_as_whole_words() {
    for (name, flag) in [("cf-agent", "--version2"), ("puppet", "")] {
        let output = fixpoint(&[flag]).arg0(name).output().unwrap();
        assert!(!text(&output.stdout).contains("CFEngine Core"), "{name} {flag}: {output:?}");
    }
    let output = fixpoint(&["--version"]).arg0("/tmp/my-cf-agent").output().unwrap();
    assert_eq!(text(&output.stdout), format!("fixpoint {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn bad_use_is_code_64_and_says_what_would_be_right() {
    let (code, out, err) = ran(&["fact"]);
    assert_eq!((code, out.as_str()), (64, ""));
    assert!(err.contains("facts"), "{err}");
    assert_eq!(ran(&[]).0, 64);
}

#[test]
fn every_verb_has_help_with_examples() {
    let (code, top, _) = ran(&["--help"]);
    assert_eq!(code, 0);
    assert!(top.contains("Exit codes:"), "{top}");
    let verbs: Vec<&str> = top
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.len() >= 5, "{verbs:?}");
    for verb in verbs {
        let (code, help, _) = ran(&[verb, "--help"]);
        assert!(
            code == 0 && help.contains("Examples:") && help.contains("Usage:"),
            "{verb}: {help}"
        );
    }
}

#[test]
fn facts_come_by_name_and_in_three_forms() {
    let uname = text(&Command::new("uname").arg("-r").output().unwrap().stdout);
    assert_eq!(ran(&["facts", "kernel.release"]), (0, uname, String::new()));
    let (_, json, _) = ran(&["facts", "--format", "json"]);
    let all: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(all["schema"], 1);
    for part in ["cpu", "kernel", "memory", "mounts", "network", "os", "uptime"] {
        assert!(!all[part].is_null(), "{part} is known");
    }
    let (_, yaml, _) = ran(&["facts", "--format", "yaml", "kernel"]);
    assert!(yaml.starts_with("kernel:\n  name: Linux\n"), "{yaml}");
    let (code, out, err) = ran(&["facts", "nonsense"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("there is no fact 'nonsense'"), "{err}");
}

#[test]
fn a_full_or_closed_output_is_an_error_and_a_gone_reader_is_not() {
    for asked in ["facts", "--version", "--help"] {
        let full = File::create("/dev/full").unwrap();
        let full = fixpoint(&[asked]).stdout(full).output().unwrap();
        assert_eq!(full.status.code(), Some(1), "{asked}");
        assert!(
            text(&full.stderr).contains("cannot write to standard output: No space left on device"),
            "{asked}: {}",
            text(&full.stderr)
        );
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let gone = fixpoint(&[asked]).stdout(writer).output().unwrap();
        assert_eq!((gone.status.code(), text(&gone.stderr).as_str()), (Some(0), ""), "{asked}");
    }
}

#[test]
fn history_of_a_machine_without_runs_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let output =
        fixpoint(&["history"]).env("FIXPOINT_STATE", dir.path().join("s")).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(0), "no runs yet\n"));
    let output = fixpoint(&["history", "show", "3"])
        .env("FIXPOINT_STATE", dir.path().join("s"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no record of run 3"));
}

#[test]
fn links_answer_as_the_tool_they_are_named_after() {
    let dir = tempfile::tempdir().unwrap();
    let bin = dir.path().join("bin");
    let (code, out, _) = ran(&["link", bin.to_str().unwrap()]);
    assert_eq!(code, 0);
    assert!(out.contains("cf-agent -> "), "{out}");
    assert!(bin.join("cf-promises").is_symlink());
    std::fs::remove_file(bin.join("cf-agent")).unwrap();
    std::fs::write(bin.join("cf-agent"), "the original").unwrap();
    let (code, _, err) = ran(&["link", bin.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(err.contains("is taken and left alone"), "{err}");
    assert_eq!(std::fs::read_to_string(bin.join("cf-agent")).unwrap(), "the original");
}

#[test]
fn completions_and_manual_pages_are_made() {
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, _) = ran(&["completions", shell]);
        assert!(code == 0 && script.contains("fixpoint") && script.contains("history"), "{shell}");
    }
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(ran(&["man", dir.path().to_str().unwrap()]).0, 0);
    let page = std::fs::read_to_string(dir.path().join("fixpoint-facts.1")).unwrap();
    assert!(page.contains(".TH fixpoint-facts 1") && page.contains("Examples"), "{page}");
}

/// A directory with a policy and a state of its own.
struct Place(tempfile::TempDir);

impl Place {
    fn new(policy: &str) -> Place {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("site.cf");
        std::fs::write(&file, policy.replace("DIR", dir.path().to_str().unwrap())).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        Place(dir)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = fixpoint(args);
        command
            .env("FIXPOINT_STATE", self.0.path().join("state"))
            .env("CFENGINE_TEST_OVERRIDE_WORKDIR", self.0.path().join("work"));
        command.current_dir(self.0.path());
        command
    }

    fn ran(&self, args: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        (status.code().unwrap(), text(&stdout), text(&stderr))
    }
}

const HELLO: &str = r#"
bundle agent main
{
  files: "DIR/hello" create => "true", edit_line => line("Hello");
  reports: "done";
}
bundle edit_line line(text) { insert_lines: "$(text)"; }
"#;

#[test]
fn a_policy_is_checked_planned_run_and_remembered() {
    let place = Place::new(HELLO);
    let hello = place.0.path().join("hello");
    let (code, out, err) = place.ran(&["check", "site.cf"]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = place.ran(&["plan", "site.cf"]);
    assert_eq!(code, 2, "{out}{err}");
    assert!(out.contains("would-repair files["), "{out}");
    assert!(!hello.exists(), "a plan touches nothing");
    let (code, out, err) = place.ran(&["run", "site.cf"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("repaired     files[") && out.contains("done"), "{out}");
    assert_eq!(std::fs::read_to_string(&hello).unwrap(), "Hello\n");
    let (code, out, _) = place.ran(&["run", "--quiet", "site.cf"]);
    assert!(code == 0 && out.contains("0 repaired"), "{out}");
    let (_, out, _) = place.ran(&["history"]);
    assert_eq!(out.lines().count(), 3, "{out}");
    let (_, out, _) = place.ran(&["history", "show", "1"]);
    assert!(out.contains("repaired     files["), "{out}");
}

#[test]
fn drift_is_told_apart_from_a_changed_policy_and_a_first_change() {
    let policy = |text: &str| {
        format!(
            r#"bundle agent main {{ files: "DIR/motd" create => "true", content => "{text}"; }}"#
        )
    };
    let place = Place::new(&policy("one"));
    let motd = place.0.path().join("motd");
    let last = || {
        let (_, out, _) = place.ran(&["history", "show"]);
        out.lines().find(|line| line.contains("files[")).unwrap_or_default().to_owned()
    };
    assert_eq!(place.ran(&["run", "site.cf"]).0, 0);
    assert!(last().contains("repaired") && last().contains(" - first change"), "{}", last());
    assert_eq!(place.ran(&["run", "site.cf"]).0, 0);
    assert!(last().contains("kept") && !last().contains(" - first"), "{}", last());
    std::fs::write(&motd, "somebody was here").unwrap();
    assert_eq!(place.ran(&["run", "site.cf"]).0, 0);
    assert!(last().contains(" - drift"), "{}", last());
    let dir = place.0.path().display().to_string();
    std::fs::write(place.0.path().join("site.cf"), policy("two").replace("DIR", &dir)).unwrap();
    assert_eq!(place.ran(&["run", "site.cf"]).0, 0);
    assert!(last().contains(" - policy change"), "{}", last());
    // The policy is another one, but what this item wishes is what it was: still drift.
    std::fs::write(&motd, "again").unwrap();
    let more = policy("two").replace("DIR", &dir) + "\nbundle agent other { }\n";
    std::fs::write(place.0.path().join("site.cf"), more).unwrap();
    assert_eq!(place.ran(&["run", "site.cf"]).0, 0);
    assert!(last().contains(" - drift"), "{}", last());
}

#[test]
fn a_run_can_be_read_by_machines_and_as_a_trace() {
    let place = Place::new(HELLO);
    let (_, out, _) = place.ran(&["run", "--format", "json", "site.cf"]);
    let events: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["schema"], 1);
    assert!(
        events
            .iter()
            .any(|event| event["event"] == "step_closed" && event["outcome"] == "repaired"),
        "{out}"
    );
    let (_, out, _) = place.ran(&["run", "--format", "trace", "site.cf"]);
    assert!(out.starts_with("  1 [pass 1] files["), "{out}");
}

#[test]
fn what_is_not_policy_is_refused_by_name() {
    let (code, _, err) = ran(&["run", "/etc/passwd"]);
    assert!(code == 1 && err.contains("'/etc/passwd': not a policy;"), "{err}");
    let (code, _, err) = ran(&["check", "x.pp"]);
    assert!(code == 1 && err.contains("x.pp': No such file"), "{err}");
}

#[test]
fn a_signal_ends_a_run_with_its_record_closed_and_the_lock_keeps_others_out() {
    use std::io::BufRead;
    let place = Place::new(
        r#"bundle agent main { commands: "/bin/sh -c 'echo > DIR/started; exec sleep 1000'"; reports: "end"; }"#,
    );
    for signal in ["TERM", "INT", "HUP"] {
        let started = place.0.path().join("started");
        let child = place.command(&["run", "site.cf"]).stdout(Stdio::piped()).spawn().unwrap();
        while !started.exists() {
            std::thread::yield_now();
        }
        let (code, _, err) = place.ran(&["run", "site.cf"]);
        assert!(code == 1 && err.contains("another run is under way"), "{err}");
        let began = std::time::Instant::now();
        assert!(
            Command::new("kill")
                .arg(format!("-{signal}"))
                .arg(child.id().to_string())
                .status()
                .unwrap()
                .success()
        );
        let output = child.wait_with_output().unwrap();
        assert!(
            began.elapsed() < std::time::Duration::from_secs(1),
            "{signal}: {:?}",
            began.elapsed()
        );
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.lines().any(|line| line.unwrap().contains("stopped by signal")));
        let (_, out, _) = place.ran(&["history"]);
        assert!(!out.lines().any(|line| line.contains("  -  ")), "every record is closed: {out}");
        std::fs::remove_file(&started).unwrap();
    }
}

#[test]
fn a_try_leaves_the_machine_alone_and_names_what_is_not_idempotent() {
    let place = Place::new(
        &HELLO.replace("reports:", r#"commands: "/bin/sh -c 'echo x >> DIR/log'"; reports:"#),
    );
    let root = std::fs::metadata("/proc/self")
        .map(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0)
        .unwrap();
    let (code, out, err) = place.ran(&["try", "site.cf"]);
    if !root {
        assert!(code == 1 && err.contains("needs root") && err.contains("can 'check'"), "{err}");
        return;
    }
    assert_eq!(code, 3, "{out}{err}");
    assert!(
        !place.0.path().join("hello").exists() && !place.0.path().join("log").exists(),
        "nothing outside"
    );
    assert!(out.contains("/hello 0600") && out.contains("+Hello"), "{out}");
    assert!(out.contains("verdict: not idempotent\n  again: repaired     commands["), "{out}");
    assert_eq!(out.matches("again:").count(), 1, "{out}");
    let kept = place.0.path().join("kept");
    let (code, out, _) = place.ran(&[
        "try",
        "--runs",
        "1",
        "--format",
        "json",
        "--keep",
        kept.to_str().unwrap(),
        "site.cf",
    ]);
    assert_eq!(code, 0, "{out}");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(
        report["idempotent"].is_null()
            && report["file_system"].as_array().is_some_and(|list| list.len() >= 2),
        "{out}"
    );
    let inside = kept.join("root").join(place.0.path().strip_prefix("/").unwrap()).join("hello");
    assert_eq!(std::fs::read_to_string(inside).unwrap(), "Hello\n");
}

#[test]
fn the_spec_of_the_example_passes_with_no_gem() {
    let cookbook = format!("{}/../../examples/chef/cookbooks/web", env!("CARGO_MANIFEST_DIR"));
    let (code, out, err) = ran(&["test", "--format", "documentation", &cookbook]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("3 examples, 0 failures"), "{out}{err}");
    assert!(out.contains("    is expected to create directory \"/srv/other\"\n"), "{out}");
}

#[test]
fn the_examples_are_idempotent_in_each_language_and_leave_the_machine_alone() {
    let accounts = std::fs::read("/etc/passwd").unwrap();
    for example in ["cfengine/web.cf", "puppet/web.pp", "chef/cookbooks/web"] {
        let example = format!("{}/../../examples/{example}", env!("CARGO_MANIFEST_DIR"));
        let (code, out, err) = ran(&["try", &example]);
        if code == 1 && err.contains("needs root") {
            return;
        }
        assert_eq!(code, 0, "{example}: {out}{err}");
        assert!(
            out.contains("verdict: idempotent")
                && out.contains("server_name example.org www.example.org;"),
            "{example}: {out}"
        );
        if !example.contains("cfengine") {
            assert!(out.contains("  user added webmaster"), "{example}: {out}");
        }
        assert!(!out.contains(":!:"), "secrets are not shown: {out}");
        let (code, out, err) = ran(&["plan", &example]);
        assert_eq!(code, 2, "{example}: {out}{err}");
        let (code, out, err) = ran(&["explain", &example]);
        assert_eq!(code, 0, "{example}: {out}{err}");
        assert!(out.contains("sites-available/example.conf"), "{example}: {out}");
        assert_eq!(ran(&["check", &example]).0, 0, "{example}");
        assert!(!std::path::Path::new("/etc/nginx/sites-available/example.conf").exists());
        assert_eq!(std::fs::read("/etc/passwd").unwrap(), accounts);
    }
}

#[test]
fn a_command_that_runs_each_time_is_the_one_that_is_named_in_each_language() {
    let place = Place::new(
        r#"bundle agent main { files: "/srv/fx/a" create => "true"; commands: "/bin/sh -c 'date >> /srv/fx-log'" contain => sh; } body contain sh { useshell => "noshell"; }"#,
    );
    let write = |name: &str, text: &str| std::fs::write(place.0.path().join(name), text).unwrap();
    write(
        "site.pp",
        "file { '/srv/fx': ensure => directory }\nfile { '/srv/fx/a': content => 'x' }\nexec { '/bin/sh -c \"date >> /srv/fx-log\"': }\nnotify { 'hello': }\n",
    );
    write(
        "site.rb",
        "directory '/srv/fx'\nfile '/srv/fx/a'\nexecute 'date >> /srv/fx-log'\nlog 'hello'\n",
    );
    for (file, culprit) in [("site.cf", "commands["), ("site.pp", "exec["), ("site.rb", "execute[")]
    {
        let (code, out, err) = place.ran(&["try", file]);
        if code == 1 && err.contains("needs root") {
            return;
        }
        assert_eq!(code, 3, "{file}: {out}{err}");
        let again: Vec<&str> = out.lines().filter(|line| line.contains("again: ")).collect();
        assert!(again.len() == 1 && again[0].contains(culprit), "{file}: {out}");
        let (code, out, err) = place.ran(&["plan", file]);
        assert!(out.contains("what it does is unknown"), "{file}: {code} {out}{err}");
    }
    assert!(!std::path::Path::new("/srv/fx").exists());
}

#[test]
fn a_recipe_is_not_previewed_where_there_is_no_copy_of_the_machine() {
    let place = Place::new("bundle agent main { }");
    let text = "File.write('DIR/touched', 'x')\nlog 'x'\n"
        .replace("DIR", &place.0.path().display().to_string());
    std::fs::write(place.0.path().join("site.rb"), text).unwrap();
    // Without the right to mount there is no copy, even for root.
    let output = Command::new("setpriv")
        .args(["--bounding-set", "-sys_admin", env!("CARGO_BIN_EXE_fixpoint"), "plan", "site.rb"])
        .current_dir(place.0.path())
        .output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: there is no setpriv on this machine");
        return;
    };
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    assert!(told.contains("is not evaluated: its code could change the machine"), "{told}");
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(!place.0.path().join("touched").exists(), "{told}");
}

#[test]
fn a_saved_plan_runs_only_while_it_holds() {
    let place = Place::new(
        r#"bundle agent main { files: "DIR/out" create => "true", content => "wanted"; }"#,
    );
    let (code, out, err) = place.ran(&["plan", "--out", "site.plan", "site.cf"]);
    if err.contains("needs root") {
        return;
    }
    assert_eq!(code, 2, "{out}{err}");
    let file = place.0.path().join("out");
    assert!(!file.exists());
    std::fs::write(place.0.path().join("no.plan"), "[[[").unwrap();
    let (code, _, err) = place.ran(&["run", "--plan", "no.plan", "site.cf"]);
    assert!(code == 1 && err.contains("is not a saved plan") && !err.contains("holds"), "{err}");
    assert!(!file.exists());
    std::fs::write(&file, "moved").unwrap();
    let (code, _, err) = place.ran(&["run", "--plan", "site.plan", "site.cf"]);
    assert!(code == 1 && err.contains("planned: would-repair files["), "{err}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "moved");
    std::fs::remove_file(&file).unwrap();
    let (code, out, err) = place.ran(&["run", "--plan", "site.plan", "site.cf"]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "wanted");
}

#[test]
fn findings_for_machines_begin_with_the_version_of_their_form() {
    let place = Place::new("bundle agent main { files \"x\"; }");
    for (file, text, wrong) in [("good.pp", "notice('x')\n", 0), ("bad.pp", "notice(\n", 1)] {
        std::fs::write(place.0.path().join(file), text).unwrap();
        let (code, out, err) = place.ran(&["check", "--format", "json", file]);
        assert_eq!(code, wrong, "{out}{err}");
        let head: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        assert_eq!((&head["schema"], &head["findings"]), (&1.into(), &wrong.into()), "{out}");
        assert_eq!(out.lines().count(), 1 + wrong as usize, "{out}");
    }
}

#[test]
fn a_broken_policy_is_told_fails_and_leaves_nothing_behind() {
    let place = Place::new("bundle agent main { files: \"DIR/x\" create => \"tru\"; }");
    for verb in ["check", "plan", "run", "explain", "try"] {
        let (code, out, err) = place.ran(&[verb, "site.cf"]);
        assert_eq!(code, 1, "{verb}: {out}{err}");
        let said = format!("{out}{err}");
        assert!(
            said.contains("Selection is out of bounds") || said.contains("syntax errors"),
            "{verb}: {said}"
        );
        assert!(!said.contains("failsafe"), "{verb}: {said}");
    }
    assert!(!place.0.path().join("work/inputs/failsafe.cf").exists());
    let (code, out, _) = ran(&["explain", "--format", "html", "/nonexistent.cf"]);
    assert_eq!((code, out.as_str()), (1, ""));
}

#[test]
fn many_nodes_compile_into_a_directory_that_is_made_for_them() {
    let place = Place::new("bundle agent main { }");
    let dir = place.0.path();
    std::fs::write(dir.join("site.pp"), "notify { $facts['role']: }\n").unwrap();
    std::fs::create_dir(dir.join("nodes")).unwrap();
    for (node, role) in [("a", "web"), ("b", "db")] {
        let facts = format!("{{\"role\": \"{role}\"}}");
        std::fs::write(dir.join(format!("nodes/{node}.json")), facts).unwrap();
    }
    let (code, out, err) =
        place.ran(&["compile", "--nodes", "nodes", "--out-dir", "out", "site.pp"]);
    assert_eq!(code, 0, "{out}{err}");
    for (node, role) in [("a", "web"), ("b", "db")] {
        let catalog = std::fs::read_to_string(dir.join(format!("out/{node}.json"))).unwrap();
        let catalog: serde_json::Value = serde_json::from_str(&catalog).unwrap();
        let found = catalog["resources"].as_array().unwrap();
        assert!(
            found.iter().any(|one| one["type"] == "Notify" && one["title"] == role),
            "{catalog}"
        );
    }
}

#[test]
fn why_a_recipe_cannot_be_run_is_said() {
    let place = Place::new("bundle agent main { }");
    std::fs::write(place.0.path().join("site.rb"), "file '/srv/fx' do\n  nonsense 1\nend\n")
        .unwrap();
    let (code, out, err) = place.ran(&["plan", "site.rb"]);
    assert_eq!(code, 1, "{out}{err}");
    let told = format!("{out}{err}");
    assert!(told.contains("nonsense") || told.contains("is not evaluated"), "{told}");
    std::fs::write(place.0.path().join("noise.rb"), "a(".repeat(20_000)).unwrap();
    let (code, _, err) = place.ran(&["check", "noise.rb"]);
    assert!(code == 1 && err.contains("nesting too deep"), "{err}");
    assert!(err.matches("error[").count() <= 50, "{err}");
}

#[test]
fn verbs_end_with_their_own_codes_whatever_the_language() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = dir.path().join("a.rb");
    std::fs::write(&recipe, "log 'x'\n").unwrap();
    let recipe = recipe.display().to_string();
    let (code, out, err) = ran(&["plan", "-j", "/nowhere.json", &recipe]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("/nowhere.json"), "{out}{err}");
}

#[test]
fn an_encrypted_value_of_hiera_is_opened_with_the_key_of_the_node() {
    let dir = tempfile::tempdir().unwrap();
    let environment = dir.path().join("e");
    std::fs::create_dir_all(environment.join("data")).unwrap();
    let write = |name: &str, text: String| std::fs::write(environment.join(name), text).unwrap();
    let base64 = |bytes: &[u8]| {
        let mut command = Command::new("base64");
        let mut child =
            command.arg("-w64").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), bytes).unwrap();
        text(&child.wait_with_output().unwrap().stdout)
    };
    let key = base64(include_bytes!("../../fx-crypto/testdata/eyaml-key.der"));
    write(
        "key.pem",
        format!("-----BEGIN RSA PRIVATE KEY-----\n{key}-----END RSA PRIVATE KEY-----\n"),
    );
    let envelope = base64(include_bytes!("../../fx-crypto/testdata/eyaml-envelope.der"));
    write("data/common.eyaml", format!("password: ENC[PKCS7,{}]\n", envelope.replace('\n', "")));
    let key = environment.join("key.pem").display().to_string();
    write(
        "hiera.yaml",
        format!(
            "version: 5\nhierarchy:\n  - name: x\n    lookup_key: eyaml_lookup_key\n    path: common.eyaml\n    options: {{ pkcs7_private_key: {key}, pkcs7_public_key: {key} }}\n"
        ),
    );
    write("facts.json", "{}".to_owned());
    let facts = environment.join("facts.json").display().to_string();
    let path = dir.path().display().to_string();
    let (code, out, err) = ran(&[
        "puppet",
        "lookup",
        "password",
        "--environmentpath",
        &path,
        "--environment",
        "e",
        "--node",
        "n",
        "--facts",
        &facts,
    ]);
    assert_eq!((code, out.trim_end()), (0, "--- open sesame"), "{err}");
}

#[test]
fn a_report_that_cannot_be_written_is_said_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let spec = dir.path().join("a_spec.rb");
    std::fs::write(&spec, "describe('x') { it('a') { expect(1).to eq 1 } }\n").unwrap();
    let spec = spec.to_str().unwrap();
    for (format, out, why) in [
        ("nosuch", "/dev/null", "Formatter 'nosuch' unknown; there are progress"),
        ("json", "/nowhere/x", "the report cannot be written: No such file or directory"),
        ("json", "/dev/full", "the report cannot be written: No space left on device"),
    ] {
        let output = fixpoint(&["test", "--format", format, "--out", out, spec]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{text}");
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn programs_that_are_not_here_say_what_to_use_instead() {
    for (name, instead) in [
        ("chef", "fixpoint check"),
        ("chef-shell", "fixpoint explain"),
        ("kitchen", "fixpoint try"),
        ("berks", "chef-client -z"),
        ("inspec", "fixpoint plan"),
        ("cookstyle", "fixpoint check"),
        ("bolt", "fixpoint run"),
        ("r10k", "fixpoint deploy"),
        ("pdk", "fixpoint check"),
        ("cf-hub", "fixpoint history"),
    ] {
        let output = fixpoint(&[name, "--help"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), text.lines().count()), (Some(64), 1), "{name}: {text}");
        assert!(text.contains(name) && text.contains(instead), "{name}: {text}");
    }
}
