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

/// What else a run reads: the file below the repository, its content, and the words of the call.
/// The recipe uses all of them, after a file that shows whether anything was done.
const READ: &[(&str, &str, &[&str])] = &[
    ("roles/r.json", r#"{"name":"r","run_list":["recipe[t]"]}"#, &["-o", "role[r]"]),
    ("roles/q.rb", "name 'q'\nrun_list 'recipe[t]'\n", &["-o", "role[q]"]),
    ("environments/e.json", r#"{"name":"e"}"#, &["-o", "t", "-E", "e"]),
    ("environments/f.rb", "name 'f'\n", &["-o", "t", "-E", "f"]),
    ("data_bags/bag/item.json", r#"{"id":"item"}"#, &["-o", "t::bag"]),
    ("nodes/n.json", r#"{"name":"n","normal":{"a":1}}"#, &["-o", "t", "-N", "n"]),
    ("nodes/other.json", r#"{"name":"other"}"#, &["-o", "t::search"]),
    ("attributes.json", r#"{"a":1}"#, &["-o", "t", "-j", "../attributes.json"]),
    ("cookbooks/t/metadata.rb", "name 't'\n", &["-o", "t"]),
    ("cookbooks/t/attributes/default.rb", "default['a'] = 1\n", &["-o", "t"]),
    ("cookbooks/t/libraries/help.rb", "HELP = 1\n", &["-o", "t"]),
    ("cookbooks/t/files/plain", "x", &["-o", "t"]),
    ("cookbooks/t/templates/page.erb", "<%= 1 %>", &["-o", "t"]),
    ("cookbooks/t/templates/part.erb", "<%= 2 %>", &["-o", "t"]),
    ("cookbooks/t/ohai/plug.rb", "Ohai.plugin(:Plug) { provides 'plug' }\n", &["-o", "t"]),
    ("extra/more.rb", "MORE = 1\n", &["-o", "t::more"]),
    ("local.erb", "<%= 3 %>", &["-o", "t::local"]),
    ("secret", "abc", &["-o", "t::secret"]),
    ("policy.json", r#"{"policy_name":"p","policy_group":"g"}"#, &["-j", "../policy.json"]),
    ("Policyfile.lock.json", LOCK, &["-j", "../policy.json"]),
];

const LOCK: &str = r#"{"name":"p","revision_id":"1","run_list":["recipe[t::default]"],"cookbook_locks":
    {"t":{"version":"0.0.0","identifier":"1","dotted_decimal_identifier":"0.0.0"}}}"#;

/// Lays out what the table names, with recipes that use it and leave a mark.
fn furnish(dir: &Path) {
    let repo = dir.join("repo");
    fs::remove_file(repo.join(".chef/config.rb")).expect("it is gone");
    for (name, text, _) in READ {
        let path = repo.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        put(&path, text);
    }
    let (at, acted) = (repo.display(), mark(dir));
    let recipes = [
        (
            "default",
            format!(
                "file '{acted}'\ncookbook_file('{at}/out/plain') {{ source 'plain' }}
                 template('{at}/out/page') {{ source 'page.erb' }}"
            ),
        ),
        ("bag", format!("data_bag_item('bag', 'item')\nfile '{acted}'")),
        ("search", format!("search(:node, 'name:*')\nfile '{acted}'")),
        ("more", format!("require '{at}/extra/more'\nfile '{acted}'")),
        (
            "secret",
            format!("Chef::EncryptedDataBagItem.load_secret('{at}/secret')\nfile '{acted}'"),
        ),
        ("local", format!("template('{acted}') {{ local true; source '{at}/local.erb' }}")),
    ];
    fs::create_dir_all(repo.join("out")).expect("a directory");
    for (name, text) in recipes {
        put(&repo.join(format!("cookbooks/t/recipes/{name}.rb")), &text);
    }
}

#[test]
fn whatever_a_run_reads_is_refused_where_others_can_write_it() {
    let name = "whatever_a_run_reads_is_refused_where_others_can_write_it";
    let Some(dir) = stage(name) else { return };
    furnish(dir.path());
    let acted = dir.path().join("PWNED");
    for (name, _, words) in READ {
        let file = dir.path().join("repo").join(name);
        let args = [&["chef-client", "-z"], *words].concat();
        own(&file, OTHER);
        let (success, text) = call(dir.path(), &[], &args);
        assert!(!success && text.contains("refusing to read"), "{name}: {text}");
        let file_name = file.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(text.contains(&file_name) && text.contains("1234567"), "{name}: {text}");
        assert!(text.contains("chown root"), "{name}: {text}");
        assert!(!acted.exists(), "{name}: {text}");
        own(&file, 0);
        let (success, text) = call(dir.path(), &[], &args);
        assert!(success && acted.exists(), "{name}: {text}");
        fs::remove_file(&acted).expect("the mark is gone");
    }
}

/// A directory in which others can add names is as bad as a file that they can write.
#[test]
fn a_directory_that_others_can_write_is_refused() {
    let Some(dir) = stage("a_directory_that_others_can_write_is_refused") else { return };
    furnish(dir.path());
    for (name, run_list) in [
        ("cookbooks", "t"),
        ("cookbooks/t/templates", "t"),
        ("data_bags/bag", "t::bag"),
        ("nodes", "t::search"),
        ("roles", "role[r]"),
    ] {
        let folder = dir.path().join("repo").join(name);
        fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).expect("a mode");
        let (success, text) = call(dir.path(), &[], &["chef-client", "-z", "-o", run_list]);
        assert!(!success && text.contains("refusing to read"), "{name}: {text}");
        assert!(text.contains("chmod go-w"), "{name}: {text}");
        assert!(!dir.path().join("PWNED").exists(), "{name}: {text}");
        fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).expect("a mode");
    }
}
