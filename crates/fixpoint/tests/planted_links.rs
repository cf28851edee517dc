//! Links that a local user plants, against each tool: root is led nowhere.
//!
//! Needs root to act for a user; says so where it cannot run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fx_host::{OsHost, Sandbox, SandboxOptions, Spec};

const USER: u32 = 12_345;

/// A user's home with links in it, what they lead to, and a copy of the machine around it:
/// the tools keep state and backups in places of their own.
struct Stage {
    dir: tempfile::TempDir,
    copy: Sandbox,
}

impl Stage {
    fn new(test: &str) -> Option<Stage> {
        if fs::metadata("/proc/self").unwrap().uid() != 0 {
            eprintln!("SKIPPED {test}: needs root to act for a user");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let shared = vec![dir.path().to_owned()];
        let copy = Sandbox::new(&SandboxOptions { shared, ..SandboxOptions::default() }).unwrap();
        let stage = Stage { dir, copy };
        fs::set_permissions(stage.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(stage.at("victim")).unwrap();
        fs::write(stage.at("victim/f"), "precious\n").unwrap();
        fs::set_permissions(stage.at("victim/f"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(stage.at("victim"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::create_dir(stage.at("home")).unwrap();
        chown(stage.at("home"), Some(USER), Some(USER)).unwrap();
        for (target, name) in [("victim/f", "leaf"), ("victim", "dir"), ("victim/new", "dangling")]
        {
            symlink(stage.at(target), stage.at("home").join(name)).unwrap();
            lchown(stage.at("home").join(name), Some(USER), Some(USER)).unwrap();
        }
        // Root's links, which the user may rename in his own directory.
        symlink(stage.at("victim"), stage.at("home/moved")).unwrap();
        symlink(stage.at("victim/f"), stage.at("home/moved-leaf")).unwrap();
        Some(stage)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, args: &[&str], policy: &str) -> String {
        self.run_with_path(args, policy, "/usr/sbin:/usr/bin:/sbin:/bin")
    }

    fn run_with_path(&self, args: &[&str], policy: &str, path: &str) -> String {
        let name = match args {
            ["puppet", ..] => "a.pp",
            ["cf-agent", ..] => "a.cf",
            _ => "a.rb",
        };
        let home = self.at("home");
        fs::write(self.at(name), policy.replace("HOME", home.to_str().unwrap())).unwrap();
        let program = env!("CARGO_BIN_EXE_fixpoint");
        let file = self.at(name).display().to_string();
        let argv: Vec<&str> = [&[program], args, &[&file]].concat();
        let spec = Spec {
            cwd: Some(self.dir.path().to_owned()),
            merge_stderr: true,
            env: vec![("PATH".into(), Some(path.into()))],
            ..Spec::argv(argv.into_iter().map(str::to_owned))
        };
        let ended = self.copy.run(&OsHost::new(), &spec).unwrap();
        format!("{}{:?}", String::from_utf8_lossy(&ended.stdout), ended.exit)
    }

    /// Everything below the directory that is not the user's, with what an attack would change.
    fn victim(&self) -> Vec<String> {
        let mut seen = Vec::new();
        let mut todo = vec![self.at("victim")];
        while let Some(path) = todo.pop() {
            let meta = fs::symlink_metadata(&path).unwrap();
            let content = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            seen.push(format!(
                "{} {}:{} {:o} {}",
                path.display(),
                meta.uid(),
                meta.gid(),
                meta.mode(),
                String::from_utf8_lossy(&content)
            ));
            if meta.is_dir() {
                todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        seen.sort();
        seen
    }
}

const APPLY: &[&str] = &["puppet", "apply"];
const CHEF: &[&str] = &["chef-apply"];
const AGENT: &[&str] = &["cf-agent", "-KIf"];

/// Each row is a policy that a user's link would lead astray.
#[test]
fn no_tool_is_led_by_a_users_link() {
    let agent = |promise: &str| {
        format!(
            "bundle agent main {{ {promise} }}\n\
             body perms p {{ owners => {{ \"12345\" }}; mode => \"777\"; }}\n\
             body copy_from c {{ source => \"/etc/hostname\"; }}\n\
             body depth_search d {{ depth => \"inf\"; }}\n\
             bundle edit_line e {{ insert_lines: \"LED\"; }}\n"
        )
    };
    let table: Vec<(&[&str], String)> = vec![
        (CHEF, "file 'HOME/leaf' do\n content \"LED\\n\"\n owner 12345\n mode '0666'\nend".into()),
        (CHEF, "file 'HOME/dir/new' do\n content \"LED\\n\"\nend".into()),
        (CHEF, "file 'HOME/dangling' do\n content \"LED\\n\"\nend".into()),
        (CHEF, "file 'HOME/moved/authorized_keys' do\n content \"LED\\n\"\n owner 12345\nend".into()),
        (CHEF, "file 'HOME/moved-leaf' do\n content \"LED\\n\"\n mode '0666'\nend".into()),
        (CHEF, "remote_file 'HOME/leaf' do\n source 'file:///etc/hostname'\n mode '0666'\nend".into()),
        (CHEF, "directory 'HOME/dir' do\n owner 12345\n mode '0777'\nend".into()),
        (CHEF, "directory 'HOME/dir/sub' do\n owner 12345\nend".into()),
        (CHEF, "execute 'touch LED' do\n cwd 'HOME/dir'\nend".into()),
        (CHEF, "link 'HOME/moved/x' do\n to '/etc/shadow'\nend".into()),
        (APPLY, "file { 'HOME/leaf': content => 'LED', mode => '0666', links => follow }".into()),
        (APPLY, "file { 'HOME/moved-leaf': content => 'LED', links => follow }".into()),
        (APPLY, "file { 'HOME/leaf': owner => '12345', links => follow }".into()),
        (
            APPLY,
            "file { 'HOME/dir': ensure => directory, owner => '12345', mode => '0777', links => follow }"
                .into(),
        ),
        (
            APPLY,
            "file { 'HOME/dir': ensure => directory, owner => '12345', mode => '0777', recurse => true, links => follow }"
                .into(),
        ),
        (APPLY, "file { 'HOME/dir/new': content => 'LED' }".into()),
        (APPLY, "file { 'HOME/dir/': ensure => directory, recurse => true, purge => true }".into()),
        (APPLY, "file { 'HOME/moved/authorized_keys': content => 'LED', owner => '12345' }".into()),
        (APPLY, "exec { '/usr/bin/touch LED': cwd => 'HOME/dir' }".into()),
        (
            APPLY,
            "file { 'HOME/home': ensure => directory, source => '/etc/default', recurse => true, links => follow } \
             file { 'HOME/dir/more': ensure => directory, recurse => true, source => '/etc/default' }"
                .into(),
        ),
        (AGENT, agent("files: \"HOME/leaf\" content => \"LED\", perms => p;")),
        (AGENT, agent("files: \"HOME/leaf\" edit_line => e;")),
        (AGENT, agent("files: \"HOME/moved-leaf\" content => \"LED\", perms => p;")),
        (AGENT, agent("files: \"HOME/moved-leaf\" edit_line => e;")),
        (AGENT, agent("files: \"HOME/moved-leaf\" copy_from => c;")),
        (AGENT, agent("files: \"HOME/dir/new\" create => \"true\", perms => p;")),
        (AGENT, agent("files: \"HOME/leaf\" copy_from => c, perms => p;")),
        (AGENT, agent("files: \"HOME/dir/.\" depth_search => d, perms => p;")),
        (AGENT, agent("files: \"HOME/moved/x\" create => \"true\", perms => p;")),
        (
            AGENT,
            "body contain c { chdir => \"HOME/dir\"; }\n\
             bundle agent main { commands: \"/usr/bin/touch LED\" contain => c; }\n"
                .into(),
        ),
    ];
    for (args, policy) in table {
        let Some(stage) = Stage::new("no_tool_is_led_by_a_users_link") else { return };
        let before = stage.victim();
        let output = stage.run(args, &policy);
        assert_eq!(stage.victim(), before, "{args:?}\n{policy}\n{output}");
    }
}

/// The owner rule lets through what it should: a user's link to what is his own.
#[test]
fn a_users_link_to_his_own_is_followed() {
    for (args, policy) in [
        (CHEF, "file 'HOME/own' do\n content \"NEW\\n\"\nend"),
        (APPLY, "file { 'HOME/own': content => \"NEW\\n\", links => follow }"),
    ] {
        let Some(stage) = Stage::new("a_users_link_to_his_own_is_followed") else { return };
        fs::write(stage.at("home/his"), "old").unwrap();
        symlink("his", stage.at("home/own")).unwrap();
        for name in ["home/his", "home/own"] {
            lchown(stage.at(name), Some(USER), Some(USER)).unwrap();
        }
        let output = stage.run(args, policy);
        assert_eq!(fs::read_to_string(stage.at("home/his")).unwrap(), "NEW\n", "{output}");
        assert!(fs::symlink_metadata(stage.at("home/own")).unwrap().is_symlink(), "{output}");
    }
}

/// A user swaps his directory or file with a link while each tool writes there, in its
/// default way and with links followed. `FX_RACE_SWAPS` sets how often.
#[test]
fn a_race_gets_nothing_outside() {
    let swaps: u64 =
        std::env::var("FX_RACE_SWAPS").map_or(20_000, |number| number.parse().unwrap());
    let many = |one: &dyn Fn(usize) -> String| (0..40).map(one).collect::<String>();
    let rows: Vec<(&[&str], String)> = vec![
        (CHEF, many(&|n| format!("file 'HOME/real/f{n}' do\n content '{n}'\n owner 12345\nend\n"))),
        (CHEF, many(&|n| format!("file 'HOME/file' do\n content '{n}'\n owner 12345\nend\n"))),
        (APPLY, many(&|n| format!("file {{ 'HOME/real/f{n}': content => '{n}', owner => '12345' }}\n"))),
        (
            APPLY,
            "file { 'HOME/file': content => 'x', owner => '12345', links => follow }\n\
             file { 'HOME/real': ensure => directory, recurse => true, owner => '12345', links => follow }"
                .into(),
        ),
        (
            AGENT,
            format!(
                "body perms p {{ owners => {{ \"12345\" }}; }}\nbundle agent main {{ files:\n{} }}\n",
                many(&|n| format!("\"HOME/real/f{n}\" create => \"true\", content => \"{n}\", perms => p;\n"))
            ),
        ),
    ];
    let Some(stage) = Stage::new("a_race_gets_nothing_outside") else { return };
    let home = stage.at("home");
    fs::create_dir(home.join("real")).unwrap();
    fs::write(home.join("file"), "").unwrap();
    symlink(stage.at("victim"), home.join("real-swap")).unwrap();
    symlink(stage.at("victim/f"), home.join("file-swap")).unwrap();
    for name in ["real", "file", "real-swap", "file-swap"] {
        lchown(home.join(name), Some(USER), Some(USER)).unwrap();
    }
    let before = stage.victim();
    let stop = Arc::new(AtomicBool::new(false));
    let done = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let attacker = std::thread::spawn({
        let (home, stop, done) = (home.clone(), Arc::clone(&stop), Arc::clone(&done));
        move || {
            while !stop.load(Ordering::Relaxed) {
                for name in ["real", "file"] {
                    exchange(&home.join(name), &home.join(format!("{name}-swap")));
                }
                done.fetch_add(2, Ordering::Relaxed);
            }
        }
    });
    let mut rounds = 0;
    while rounds == 0 || done.load(Ordering::Relaxed) < swaps {
        for (args, policy) in &rows {
            stage.run(args, policy);
        }
        rounds += 1;
    }
    stop.store(true, Ordering::Relaxed);
    attacker.join().unwrap();
    assert_eq!(stage.victim(), before, "after {rounds} rounds");
    eprintln!("{} swaps, {rounds} rounds of {} policies", done.load(Ordering::Relaxed), rows.len());
}

fn exchange(a: &Path, b: &Path) {
    let cwd = rustix::fs::CWD;
    let flags = rustix::fs::RenameFlags::EXCHANGE;
    // A name that a tool just replaced is back at the next turn.
    let _ = rustix::fs::renameat_with(cwd, a, cwd, b, flags);
}

/// Old content can be secret, and a shared directory is no place for it, nor is the command
/// line of a program.
#[test]
fn a_diff_is_made_without_a_program_or_a_temporary_file() {
    let test = "a_diff_is_made_without_a_program_or_a_temporary_file";
    let Some(stage) = Stage::new(test) else { return };
    fs::write(stage.at("old"), "one\ntwo\nthree").unwrap();
    let output = stage.run_with_path(
        &["puppet", "apply", "--show_diff"],
        "file { 'HOME/../old': content => \"one\\n2\\nthree\" }",
        "/nowhere",
    );
    for line in ["-two\n", "+2\n", "\\ No newline at end of file\n"] {
        assert!(output.contains(line), "{line:?} in {output}");
    }
}
