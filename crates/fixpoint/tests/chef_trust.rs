//! Configuration and cookbooks of others are not run by root; chef-apply looks for no
//! configuration at all.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests lay out and run their own files, and say what they skip"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::Path;
use std::process::Command;

use fx_host::{OsHost, Sandbox, SandboxOptions, Spec};

const OTHER: u32 = 1_234_567;

fn stage(name: &str) -> Option<tempfile::TempDir> {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let repo = dir.path().join("repo");
    for part in [".chef", "work", "cookbooks/t/recipes"] {
        fs::create_dir_all(repo.join(part)).expect("a directory");
    }
    put(&repo.join(".chef/config.rb"), &format!("File.write('{}', 'x')", mark(dir.path())));
    put(&repo.join("cookbooks/t/metadata.rb"), "name 't'\n");
    put(&repo.join("cookbooks/t/recipes/default.rb"), "log 'converged'\n");
    put(&dir.path().join("r.rb"), "log 'converged'\n");
    if lchown(&repo, Some(OTHER), None).is_err() {
        eprintln!("SKIPPED {name}: needs root");
        return None;
    }
    lchown(&repo, Some(0), None).expect("root owns it");
    Some(dir)
}

fn mark(dir: &Path) -> String {
    dir.join("PWNED").display().to_string()
}

fn put(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, PermissionsExt::from_mode(0o644)).expect("its mode");
}

fn own(path: &Path, user: u32) {
    lchown(path, Some(user), None).expect("a new owner");
}

/// Runs in the repository's directory: code and output.
fn call(dir: &Path, environment: &[(&str, &str)], args: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    command.args(args).current_dir(dir.join("repo/work")).env_remove("SUDO_UID");
    command.env_remove("FIXPOINT_TRUST").env("HOME", dir).envs(environment.iter().copied());
    let output = command.output().expect("it starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

const LOCAL: &[&str] = &["chef-client", "-z", "-o", "t"];

#[test]
fn root_refuses_a_configuration_that_others_can_write() {
    let Some(dir) = stage("root_refuses_a_configuration_that_others_can_write") else { return };
    let at = dir.path();
    let config = at.join("repo/.chef/config.rb");
    let refused = |what: &str| {
        let (success, text) = call(at, &[], LOCAL);
        assert!(!success && text.contains("refusing to read"), "{what}: {text}");
        assert!(text.contains("config.rb") && !at.join("PWNED").exists(), "{what}: {text}");
    };
    own(&config, OTHER);
    refused("another owner");
    own(&config, 0);
    fs::set_permissions(&config, PermissionsExt::from_mode(0o666)).expect("a mode");
    refused("written by all");
    fs::set_permissions(&config, PermissionsExt::from_mode(0o644)).expect("a mode");
    own(&at.join("repo/.chef"), OTHER);
    refused("a directory of another");
    own(&at.join("repo/.chef"), 0);
    fs::rename(&config, at.join("elsewhere.rb")).expect("a name");
    symlink(at.join("elsewhere.rb"), &config).expect("a link");
    own(&config, OTHER);
    refused("a link of another");
    own(&config, 0);
    let (success, text) = call(at, &[], LOCAL);
    assert!(success && at.join("PWNED").exists(), "root's own is read: {text}");
}

#[test]
fn who_called_sudo_is_trusted_and_so_is_what_root_vouches_for() {
    let name = "who_called_sudo_is_trusted_and_so_is_what_root_vouches_for";
    for environment in [("SUDO_UID", OTHER.to_string()), ("FIXPOINT_TRUST", "/".to_owned())] {
        let Some(dir) = stage(name) else { return };
        own(&dir.path().join("repo/.chef/config.rb"), OTHER);
        let (success, text) = call(dir.path(), &[(environment.0, &environment.1)], LOCAL);
        assert!(success && dir.path().join("PWNED").exists(), "{environment:?}: {text}");
    }
}

#[test]
fn chef_apply_and_chef_solo_look_for_no_workstation_configuration() {
    let name = "chef_apply_and_chef_solo_look_for_no_workstation_configuration";
    let Some(dir) = stage(name) else { return };
    own(&dir.path().join("repo/.chef"), OTHER);
    // They keep their cache in /var/chef, so they run in a copy of the machine.
    let shared = vec![dir.path().to_path_buf()];
    let sandbox = match Sandbox::new(&SandboxOptions { shared, ..SandboxOptions::default() }) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            eprintln!("SKIPPED {name}: {error}");
            return;
        }
    };
    let (program, at) = (env!("CARGO_BIN_EXE_fixpoint"), dir.path().display());
    for line in [
        format!("{program} chef-apply {at}/r.rb"),
        format!("{program} chef-solo --cookbook-path {at}/repo/cookbooks -o t"),
    ] {
        let spec = Spec::shell(format!("cd {at}/repo/work && HOME={at} {line} 2>&1"));
        let ended = sandbox.run(&OsHost::new(), &spec).expect("it starts");
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(text.contains("log[converged]"), "{line}: {text}");
        assert!(!dir.path().join("PWNED").exists(), "{line}: {text}");
    }
}

#[test]
fn root_refuses_cookbooks_that_others_can_write() {
    let Some(dir) = stage("root_refuses_cookbooks_that_others_can_write") else { return };
    let recipe = dir.path().join("repo/cookbooks/t/recipes/default.rb");
    put(&recipe, &format!("File.write('{}', 'x')", mark(dir.path())));
    fs::remove_file(dir.path().join("repo/.chef/config.rb")).expect("it is gone");
    own(&recipe, OTHER);
    let (success, text) = call(dir.path(), &[], LOCAL);
    assert!(!success && text.contains("refusing to read"), "{text}");
    assert!(!dir.path().join("PWNED").exists(), "{text}");
}
