//! What `puppet apply --debug` and `facter -d` print of a run. The lines were recorded from puppet 7.23 and facter 4.3;
//! docs/deviations.md says which of theirs are left out.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the program prints in a directory, which is called `DIR`.
fn printed(dir: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).replace(&*dir.to_string_lossy(), "DIR")
}

/// The lines of a run from the first that is about resources.
fn applied(dir: &Path, manifest: &str, flags: &[&str]) -> Vec<String> {
    let manifest = manifest.replace("DIR", &dir.to_string_lossy());
    fs::write(dir.join("site.pp"), manifest).unwrap();
    let args = [&["puppet", "apply", "--debug", "--color=false", "site.pp"], flags].concat();
    let text = printed(dir, &args);
    let lines = text.lines().skip_while(|line| !line.starts_with("Info: Applying")).skip(1);
    lines.filter(|line| !line.starts_with("Notice: Applied")).map(str::to_owned).collect()
}

fn check(manifest: &str, flags: &[&str], expected: &str) {
    let dir = tempfile::tempdir().unwrap();
    let lines = applied(&dir.path().canonicalize().unwrap(), manifest, flags);
    let expected: Vec<&str> =
        expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, expected, "{manifest}");
}

#[test]
fn relations_and_what_changes_reach_are_logged() {
    check(
        "file { 'DIR/d': ensure => directory }
         file { 'DIR/d/a': ensure => file, notify => Exec['b'], before => File['DIR/d/c'] }
         exec { 'b': command => '/bin/echo b', refreshonly => true, subscribe => File['DIR/d/c'] }
         file { 'DIR/d/c': ensure => file, require => File['DIR/d'] }",
        &[],
        "Debug: /Stage[main]/Main/File[DIR/d/a]/before: before to File[DIR/d/c]
         Debug: /Stage[main]/Main/File[DIR/d/a]/notify: notify to Exec[b]
         Debug: /Stage[main]/Main/Exec[b]/subscribe: subscribe to File[DIR/d/c]
         Debug: /Stage[main]/Main/File[DIR/d/c]/require: require to File[DIR/d]
         Debug: /Stage[main]/Main/File[DIR/d/a]: Adding autorequire relationship with File[DIR/d]
         Notice: /Stage[main]/Main/File[DIR/d]/ensure: created
         Debug: /Stage[main]/Main/File[DIR/d]: The container Class[Main] will propagate my refresh event
         Notice: /Stage[main]/Main/File[DIR/d/a]/ensure: created
         Info: /Stage[main]/Main/File[DIR/d/a]: Scheduling refresh of Exec[b]
         Debug: /Stage[main]/Main/File[DIR/d/a]: The container Class[Main] will propagate my refresh event
         Notice: /Stage[main]/Main/File[DIR/d/c]/ensure: created
         Info: /Stage[main]/Main/File[DIR/d/c]: Scheduling refresh of Exec[b]
         Debug: /Stage[main]/Main/File[DIR/d/c]: The container Class[Main] will propagate my refresh event
         Debug: /Stage[main]/Main/Exec[b]: '/bin/echo b' won't be executed because of failed check 'refreshonly'
         Debug: Exec[b](provider=posix): Executing '/bin/echo b'
         Debug: Executing: '/bin/echo b'
         Notice: /Stage[main]/Main/Exec[b]: Triggered 'refresh' from 2 events
         Debug: /Stage[main]/Main/Exec[b]: The container Class[Main] will propagate my refresh event
         Debug: Class[Main]: The container Stage[main] will propagate my refresh event",
    );
}

#[test]
fn each_command_and_what_decides_about_it_is_logged() {
    check(
        "exec { 'c1': command => '/bin/echo c1', creates => '/' }
         exec { 'c2': command => '/bin/echo c2', unless => '/bin/echo un' }
         exec { 'c3': command => '/bin/echo c3', onlyif => ['/bin/true', '/bin/false'] }
         exec { 'c5': command => ['/bin/echo', 'c 5', 'x'], logoutput => true }
         exec { 'c6': command => '/bin/false', tries => 2 }
         exec { 'c7': command => '/bin/true', require => Exec['c6'] }
         exec { 'c8': command => '/bin/true', schedule => 'never' }
         schedule { 'never': period => never }",
        &[],
        r#"Debug: /Stage[main]/Main/Exec[c7]/require: require to Exec[c6]
         Debug: /Stage[main]/Main/Exec[c1]/creates: Checking that 'creates' path '/' exists
         Debug: /Stage[main]/Main/Exec[c1]: '/bin/echo c1' won't be executed because of failed check 'creates'
         Debug: Exec[c2](provider=posix): Executing check '/bin/echo un'
         Debug: Executing: '/bin/echo un'
         Debug: /Stage[main]/Main/Exec[c2]/unless: un
         Debug: /Stage[main]/Main/Exec[c2]: '/bin/echo c2' won't be executed because of failed check 'unless'
         Debug: Exec[c3](provider=posix): Executing check '/bin/true'
         Debug: Executing: '/bin/true'
         Debug: Exec[c3](provider=posix): Executing check '/bin/false'
         Debug: Executing: '/bin/false'
         Debug: /Stage[main]/Main/Exec[c3]: '/bin/echo c3' won't be executed because of failed check 'onlyif'
         Debug: Exec[c5](provider=posix): Executing '["/bin/echo", "c 5", "x"]'
         Debug: Executing: '/bin/echo c 5 x'
         Notice: /Stage[main]/Main/Exec[c5]/returns: c 5 x
         Notice: /Stage[main]/Main/Exec[c5]/returns: executed successfully
         Debug: /Stage[main]/Main/Exec[c5]: The container Class[Main] will propagate my refresh event
         Debug: /Stage[main]/Main/Exec[c6]/returns: Exec try 1/2
         Debug: Exec[c6](provider=posix): Executing '/bin/false'
         Debug: Executing: '/bin/false'
         Debug: /Stage[main]/Main/Exec[c6]/returns: Exec try 2/2
         Debug: Exec[c6](provider=posix): Executing '/bin/false'
         Debug: Executing: '/bin/false'
         Notice: /Stage[main]/Main/Exec[c7]: Dependency Exec[c6] has failures: true
         Debug: /Stage[main]/Main/Exec[c7]: Resource is being skipped, unscheduling all events
         Debug: /Stage[main]/Main/Exec[c8]: Not scheduled
         Debug: /Stage[main]/Main/Exec[c8]: Resource is being skipped, unscheduling all events
         Debug: Class[Main]: Resource is being skipped, unscheduling all events
         Info: Class[Main]: Unscheduling all events on Class[Main]
         Debug: Stage[main]: Resource is being skipped, unscheduling all events
         Error: '/bin/false' returned 1 instead of one of [0]
         Error: /Stage[main]/Main/Exec[c6]/returns: change from 'notrun' to ['0'] failed: '/bin/false' returned 1 instead of one of [0]
         Warning: /Stage[main]/Main/Exec[c7]: Skipping because of failed dependencies"#,
    );
}

#[test]
fn what_tags_leave_out_is_logged_and_hands_on_nothing() {
    check(
        "class x { notify { 'in x': } }
         include x
         notify { 'other': }",
        &["--tags", "x"],
        "Debug: Stage[main]: Not tagged with x
         Debug: Stage[main]: Resource is being skipped, unscheduling all events
         Debug: Class[Settings]: Not tagged with x
         Debug: Class[Settings]: Resource is being skipped, unscheduling all events
         Debug: Class[Settings]: Not tagged with x
         Debug: Class[Settings]: Resource is being skipped, unscheduling all events
         Debug: Class[Main]: Not tagged with x
         Debug: Class[Main]: Resource is being skipped, unscheduling all events
         Notice: in x
         Notice: /Stage[main]/X/Notify[in x]/message: defined 'message' as 'in x'
         Debug: /Stage[main]/X/Notify[in x]: The container Class[X] will propagate my refresh event
         Debug: Class[X]: The container Stage[main] will propagate my refresh event
         Debug: /Stage[main]/Main/Notify[other]: Not tagged with x
         Debug: /Stage[main]/Main/Notify[other]: Resource is being skipped, unscheduling all events
         Debug: Class[Main]: Not tagged with x
         Debug: Class[Main]: Resource is being skipped, unscheduling all events
         Debug: Stage[main]: Not tagged with x
         Debug: Stage[main]: Resource is being skipped, unscheduling all events
         Info: Stage[main]: Unscheduling all events on Stage[main]",
    );
}

#[test]
fn a_command_that_is_a_secret_is_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = "exec { 'c': command => Sensitive('/bin/echo hush'), onlyif => Sensitive('/bin/echo hush'), logoutput => true }";
    let lines = applied(dir.path(), manifest, &[]).join("\n");
    assert!(!lines.contains("hush"), "{lines}");
    assert!(lines.contains("Exec[c](provider=posix): Executing check '[redacted]'"), "{lines}");
}

#[test]
fn facts_are_logged_by_name_and_custom_facts_speak_for_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let fact = "Facter.add(:xx) { setcode { Facter.warnonce('w'); Facter.warnonce('w'); Facter.debug('d'); 'v' } }";
    fs::create_dir_all(dir.path().join("mods/m/lib/facter")).unwrap();
    fs::write(dir.path().join("mods/m/lib/facter/xx.rb"), fact).unwrap();
    let lines = |text: String| -> Vec<String> {
        text.lines()
            .map(|line| line.split_once(" ] ").map_or(line, |(_, rest)| rest).to_owned())
            .collect()
    };
    let given = lines(printed(
        dir.path(),
        &["facter", "-d", "--custom-dir", "mods/m/lib/facter", "--no-external-facts", "xx"],
    ));
    let expected = [
        "v",
        "INFO Facter - \u{1b}[32mexecuted with command line: -d --custom-dir mods/m/lib/facter --no-external-facts xx\u{1b}[0m ",
        "DEBUG Facter - \u{1b}[36mFacter version: 4.3.0\u{1b}[0m ",
        "DEBUG Facter::FactManager - \u{1b}[36mResolving facts sequentially\u{1b}[0m ",
        "DEBUG Facter::FactLoader - \u{1b}[36mLoading all internal facts\u{1b}[0m ",
        "DEBUG Facter::FactLoader - \u{1b}[36mLoading custom facts\u{1b}[0m ",
        "DEBUG Facter::FactLoader - \u{1b}[36mLoading external facts\u{1b}[0m ",
        "WARN Facter - \u{1b}[33mw\u{1b}[0m ",
        "DEBUG Facter - \u{1b}[36md\u{1b}[0m ",
        "DEBUG Facter::FactManager - \u{1b}[36mfact \"xx\" has resolved to: v\u{1b}[0m ",
        "DEBUG Facter::LegacyFactFormatter - \u{1b}[36mFormatting for single user query\u{1b}[0m ",
    ];
    assert_eq!(given, expected);
    let apply = [
        "puppet",
        "apply",
        "--debug",
        "--color=false",
        "--modulepath",
        "mods",
        "-e",
        "notice($facts['xx'])",
    ];
    let text = printed(dir.path(), &apply);
    for line in ["Debug: Facter: d", "Warning: Facter: w", "Notice: Scope(Class[main]): v"] {
        assert_eq!(text.lines().filter(|one| *one == line).count(), 1, "{line}: {text}");
    }
}
