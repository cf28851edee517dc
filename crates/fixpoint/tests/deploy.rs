//! `fixpoint deploy`: versions of an environment, from directories, archives and git repositories of
//! this machine.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Ground(tempfile::TempDir);

impl Ground {
    fn new() -> Ground {
        Ground(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn deploy(&self, from: &str, more: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_fixpoint"))
            .args(["deploy", "production", "--from"])
            .arg(self.path(from))
            .arg("--environmentpath")
            .arg(self.path("environments"))
            .args(more)
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path("environments/production").join(name)).unwrap()
    }

    fn versions(&self) -> usize {
        let all = fs::read_dir(self.path("environments/.versions")).unwrap();
        all.filter(|one| {
            one.as_ref().unwrap().file_name().to_string_lossy().starts_with("production_")
        })
        .count()
    }
}

#[track_caller]
fn good(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[track_caller]
fn refused(output: &Output, why: &str) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains(why), "{said}");
}

fn run(dir: &Path, words: &[&str]) {
    let done = Command::new(words[0]).args(&words[1..]).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn an_environment_is_a_link_to_a_version_named_by_its_content() {
    let ground = Ground::new();
    ground.put("code/manifests/site.pp", "notify { 'one': }\n");
    assert!(good(&ground.deploy("code", &[])).contains("which is new"));
    let link = ground.path("environments/production");
    let first = fs::read_link(&link).unwrap();
    assert!(good(&ground.deploy("code", &[])).contains("which was there"));
    assert_eq!(fs::read_link(&link).unwrap(), first);
    for (at, text) in ["two", "three", "four"].iter().enumerate() {
        ground.put("code/manifests/site.pp", &format!("notify {{ '{text}': }}\n"));
        good(&ground.deploy("code", &[]));
        assert_eq!(ground.versions(), (at + 2).min(3), "three versions stay");
        assert!(ground.read("manifests/site.pp").contains(text));
    }
    let left = fs::read_dir(ground.path("environments/.versions")).unwrap();
    let left =
        left.filter(|one| one.as_ref().unwrap().file_name().to_string_lossy().starts_with(".new"));
    assert_eq!(left.count(), 0);
}

#[test]
fn modules_of_a_puppetfile_come_from_this_machine() {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no git on this machine");
        return;
    }
    let ground = Ground::new();
    ground.put("repo/manifests/init.pp", "class m { }\n");
    let repo = ground.path("repo");
    run(&repo, &["git", "init", "-q", "-b", "main"]);
    run(&repo, &["git", "add", "-A"]);
    run(&repo, &["git", "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "one"]);
    run(&repo, &["git", "tag", "v1"]);
    ground.put("repo/manifests/init.pp", "class m { notify { 'newer': } }\n");
    run(&repo, &["git", "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qam", "two"]);
    ground.put("pack/puppetlabs-ntp-1.2.3/metadata.json", "{\"name\":\"puppetlabs-ntp\"}\n");
    fs::create_dir_all(ground.path("forge")).unwrap();
    run(
        &ground.path("pack"),
        &["tar", "-czf", "../forge/puppetlabs-ntp-1.2.3.tar.gz", "puppetlabs-ntp-1.2.3"],
    );
    ground.put("plain/manifests/init.pp", "class plain { }\n");
    let file = format!(
        "forge 'https://forge.example.com'\nmoduledir 'mods'\ntag = 'v1'\nmod 'puppetlabs/ntp', '1.2.3'\n\
         mod 'm', :git => '{}', :tag => tag\nmod 'plain', type: 'local', source: '{}'\nmod 'own', local: true\n",
        repo.display(),
        ground.path("plain").display()
    );
    ground.put("code/Puppetfile", &file);
    refused(&ground.deploy("code", &[]), "put puppetlabs-ntp-1.2.3.tar.gz into a directory");
    good(&ground.deploy("code", &["--archives", "forge"]));
    assert_eq!(ground.read("mods/m/manifests/init.pp"), "class m { }\n");
    assert!(ground.read("mods/ntp/metadata.json").contains("puppetlabs-ntp"));
    assert_eq!(ground.read("mods/plain/manifests/init.pp"), "class plain { }\n");
    // The repository itself as an environment, at a commit.
    good(&ground.deploy("repo", &["--ref", "v1"]));
    assert_eq!(ground.read("manifests/init.pp"), "class m { }\n");
    good(&ground.deploy("repo", &["--ref", "main"]));
    assert!(ground.read("manifests/init.pp").contains("newer"));
    refused(&ground.deploy("repo", &["--ref", "nosuch"]), "has no 'nosuch'");
    refused(&ground.deploy("repo", &["--ref=--upload-pack=x"]), "is no name of a commit");
}

#[test]
fn what_leads_out_is_refused_and_the_old_version_stays() {
    let ground = Ground::new();
    ground.put("code/manifests/site.pp", "notify { 'one': }\n");
    good(&ground.deploy("code", &[]));
    std::os::unix::fs::symlink("/etc/passwd", ground.path("code/passwd")).unwrap();
    refused(&ground.deploy("code", &[]), "leads out of the code");
    fs::remove_file(ground.path("code/passwd")).unwrap();
    for text in [
        "moduledir '../..'\n",
        "mod '../x', local: false\n",
        "mod 'x', git: '/nowhere', install_path: '/etc'\n",
    ] {
        ground
            .put("code/Puppetfile", &format!("{text}mod 'x', type: 'local', source: '/nowhere'\n"));
        assert!(!ground.deploy("code", &[]).status.success(), "{text}");
    }
    assert_eq!(ground.read("manifests/site.pp"), "notify { 'one': }\n");
    assert_eq!(ground.versions(), 1);
    // A directory that is there is nobody's to replace.
    let other = Ground::new();
    other.put("code/manifests/site.pp", "");
    other.put("environments/production/manifests/site.pp", "");
    refused(&other.deploy("code", &[]), "is no link; move it away first");
}
