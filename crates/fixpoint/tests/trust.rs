//! What root refuses to act upon because somebody else can write it, tool by tool.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const OTHER: u32 = 1_234_567;

/// A scratch directory of root's; `None` for an ordinary user, who is not kept from anything.
fn scratch() -> Option<tempfile::TempDir> {
    let dir = tempfile::tempdir().unwrap();
    if chown(dir.path(), Some(OTHER), None).is_err() {
        eprintln!("SKIPPED: only root can give files away");
        return None;
    }
    chown(dir.path(), Some(0), None).unwrap();
    Some(dir)
}

fn put(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    path
}

fn call(dir: &Path, trust: Option<&Path>, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    command.args(args).current_dir(dir).env("FIXPOINT_STATE", dir.join("state"));
    command.env("CFENGINE_TEST_OVERRIDE_WORKDIR", dir.join("work"));
    command.env_remove("SUDO_UID").env_remove("FIXPOINT_TRUST");
    if let Some(trust) = trust {
        command.env("FIXPOINT_TRUST", trust);
    }
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    let out = [&*output.stdout, &*output.stderr].concat();
    String::from_utf8(out).unwrap()
}

/// Runs a policy that makes `mark`: refused once with the reason, and run where root vouches.
#[track_caller]
fn refused_then_vouched(dir: &Path, culprit: &Path, args: &[&str]) {
    let mark = dir.join("mark");
    let output = call(dir, None, args);
    let text = said(&output);
    assert!(!output.status.success(), "{text}");
    assert_eq!(text.matches("refusing to read").count(), 1, "{text}");
    assert!(text.contains(&format!("'{}' belongs to user {OTHER}", culprit.display())), "{text}");
    assert!(text.contains("FIXPOINT_TRUST="), "{text}");
    assert!(!mark.exists(), "nothing of it was done: {text}");
    let output = call(dir, Some(dir), args);
    assert!(output.status.success(), "{}", said(&output));
    assert!(mark.exists(), "{}", said(&output));
}

fn marks(dir: &Path) -> String {
    format!("file {{ '{}': content => 'x' }}", dir.join("mark").display())
}

#[test]
fn a_manifest_of_another_user_is_refused() {
    let Some(dir) = scratch() else { return };
    let dir = dir.path();
    let file = put(dir, "a.pp", &marks(dir));
    chown(&file, Some(OTHER), None).unwrap();
    let mark = file.to_str().unwrap();
    refused_then_vouched(dir, &file, &["puppet", "apply", mark]);
    fs::remove_file(dir.join("mark")).unwrap();
    refused_then_vouched(dir, &file, &["run", mark]);
}

#[test]
fn specs_and_what_they_load_of_another_user_are_refused() {
    let Some(dir) = scratch() else { return };
    let spec = "require_relative 'helper'\nRSpec.describe('x') { it('acts') { File.write('mark', 'x') } }\n";
    for planted in ["spec/x_spec.rb", "spec/helper.rb", ".rspec"] {
        let dir = dir.path().join(planted.replace('/', "_"));
        put(&dir, "spec/x_spec.rb", spec);
        put(&dir, "spec/helper.rb", "");
        put(&dir, ".rspec", "--format documentation\n");
        let culprit = dir.join(planted);
        chown(&culprit, Some(OTHER), None).unwrap();
        refused_then_vouched(&dir, &culprit, &["test"]);
    }
}

#[test]
fn modules_data_facts_and_configuration_of_another_user_are_refused() {
    let Some(dir) = scratch() else { return };
    for planted in [
        "env/modules/m/manifests/init.pp",
        "env/modules/m",
        "env/modules",
        "env/modules/m/lib/puppet/functions/m/f.rb",
        "env/modules/m/lib/facter/f.rb",
        "env/modules/m/facts.d/f.txt",
        "env/modules/m/facts.d/g.sh",
        "env/modules/m/templates/t.epp",
        "env/hiera.yaml",
        "env/data/common.yaml",
        "env/data",
    ] {
        let dir = dir.path().join(planted.replace('/', "_"));
        fs::create_dir(&dir).unwrap();
        put(&dir, "env/manifests/site.pp", "include m\nnotice(lookup('k'), $facts['ff'])\n");
        let class = format!("class m {{ notice(m::f(), epp('m/t.epp'))\n{} }}", marks(&dir));
        put(&dir, "env/modules/m/manifests/init.pp", &class);
        let ruby = "Puppet::Functions.create_function(:'m::f') { def f; 1; end }";
        put(&dir, "env/modules/m/lib/puppet/functions/m/f.rb", ruby);
        put(&dir, "env/modules/m/lib/facter/f.rb", "Facter.add(:ff) { setcode { 'x' } }");
        put(&dir, "env/modules/m/facts.d/f.txt", "fg=x\n");
        let script = put(&dir, "env/modules/m/facts.d/g.sh", "#!/bin/sh\necho gg=x\n");
        fs::set_permissions(script, Permissions::from_mode(0o755)).unwrap();
        put(&dir, "env/modules/m/templates/t.epp", "x");
        let hiera = "version: 5\ndefaults: {datadir: data, data_hash: yaml_data}\n\
                     hierarchy: [{name: c, path: common.yaml}]\n";
        put(&dir, "env/hiera.yaml", hiera);
        put(&dir, "env/data/common.yaml", "k: v\n");
        let culprit = dir.join(planted);
        chown(&culprit, Some(OTHER), None).unwrap();
        let output = call(&dir, None, &["run", "env"]);
        let text = said(&output);
        assert!(!output.status.success(), "{planted}: {text}");
        assert!(text.contains("refusing to read"), "{planted}: {text}");
        assert!(text.contains(&format!("'{}' belongs to", culprit.display())), "{planted}: {text}");
        assert!(!dir.join("mark").exists(), "{planted}: {text}");
        let output = call(&dir, Some(&dir), &["run", "env"]);
        assert!(output.status.success(), "{planted}: {}", said(&output));
        assert!(dir.join("mark").exists(), "{planted}");
    }
}

#[test]
fn settings_of_another_user_are_refused() {
    let Some(dir) = scratch() else { return };
    let dir = dir.path();
    put(dir, "a.pp", &marks(dir));
    let conf = put(dir, "conf/puppet.conf", "[main]\nnoop = false\n");
    chown(&conf, Some(OTHER), None).unwrap();
    let confdir = dir.join("conf");
    let args =
        ["puppet", "apply", "--confdir", confdir.to_str().unwrap(), "--vardir", "var", "a.pp"];
    refused_then_vouched(dir, &conf, &args);
}

fn policy(dir: &Path) -> String {
    let mark = dir.join("mark");
    format!("bundle agent main\n{{\n files: \"{}\" create => \"true\";\n}}\n", mark.display())
}

#[test]
fn policy_and_augments_of_another_user_are_refused() {
    let Some(dir) = scratch() else { return };
    let dir = dir.path();
    let file = put(dir, "a.cf", &policy(dir));
    let name = file.to_str().unwrap();
    chown(&file, Some(OTHER), None).unwrap();
    refused_then_vouched(dir, &file, &["cf-agent", "-K", "-f", name]);
    chown(&file, Some(0), None).unwrap();
    fs::remove_file(dir.join("mark")).unwrap();
    let augments = put(dir, "def.json", "{\"vars\": {\"x\": \"y\"}}");
    chown(&augments, Some(OTHER), None).unwrap();
    refused_then_vouched(dir, &augments, &["cf-agent", "-K", "-f", name]);
    fs::remove_file(dir.join("mark")).unwrap();
    refused_then_vouched(dir, &augments, &["run", name]);
}

#[test]
fn cf_agent_refuses_what_groups_can_write_in_its_own_words_and_cf_promises_does_not() {
    let Some(dir) = scratch() else { return };
    let dir = dir.path();
    let file = put(dir, "a.cf", &policy(dir));
    let name = file.to_str().unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o664)).unwrap();
    let output = call(dir, None, &["cf-agent", "-K", "-f", name]);
    let expected =
        format!("   error: File {name} (owner 0) is writable by others (security exception)\n");
    assert_eq!((said(&output), output.status.code()), (expected, Some(1)));
    assert!(!dir.join("mark").exists());
    let output = call(dir, None, &["cf-promises", "-f", name]);
    assert_eq!((said(&output), output.status.code()), (String::new(), Some(0)));
}

#[test]
fn a_saved_plan_of_another_user_is_refused() {
    let Some(dir) = scratch() else { return };
    let dir = dir.path();
    put(dir, "a.pp", &marks(dir));
    let plan = put(dir, "plan.json", "{}");
    chown(&plan, Some(OTHER), None).unwrap();
    let output = call(dir, None, &["run", "--plan", "plan.json", "a.pp"]);
    assert!(!output.status.success());
    assert!(said(&output).contains("refusing to read"), "{}", said(&output));
    assert!(!dir.join("mark").exists());
}
