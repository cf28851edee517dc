//! One policy in three languages: nine items, each brought from a known old state to a known
//! new one.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::stage::{Stage, copied, made, replaced};

/// A program, as which fixpoint runs the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Persona {
    CfAgent,
    RunCfengine,
    PuppetApply,
    RunPuppet,
    ChefClient,
    RunChef,
}

pub(crate) const ALL: [Persona; 6] = [
    Persona::CfAgent,
    Persona::RunCfengine,
    Persona::PuppetApply,
    Persona::RunPuppet,
    Persona::ChefClient,
    Persona::RunChef,
];

impl Persona {
    /// The command, with everything it keeps for itself below the stage's `own`.
    pub(crate) fn command(self, stage: &Stage) -> Command {
        let own = stage.own.display();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
        match self {
            Persona::CfAgent => command.args(["cf-agent", "-KIf"]).arg(stage.dir.join("a.cf")),
            Persona::RunCfengine => command.arg("run").arg(stage.dir.join("a.cf")),
            Persona::PuppetApply => command
                .args(["puppet", "apply", "--detailed-exitcodes"])
                .args([format!("--confdir={own}/puppet"), format!("--vardir={own}/puppet/var")])
                .arg(stage.dir.join("a.pp")),
            Persona::RunPuppet => command.arg("run").arg(stage.dir.join("a.pp")),
            Persona::ChefClient => command.args(["chef-client", "-z", "-o", "t"]),
            Persona::RunChef => command.args(["run", "cookbooks/t"]),
        };
        command.current_dir(&stage.dir).env("HOME", &stage.own);
        command.env("FIXPOINT_STATE", stage.own.join("state"));
        command.env("CFENGINE_TEST_OVERRIDE_WORKDIR", stage.own.join("work"));
        command.env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Whether a run that ended so says that all is as promised. CFEngine's agent ends with 0
    /// also when promises were not kept, and says so by lines of their own.
    pub(crate) fn claims_success(self, code: Option<i32>, text: &str) -> bool {
        match self {
            Persona::CfAgent => {
                code == Some(0) && !text.lines().any(|line| line.trim().starts_with("error:"))
            }
            Persona::PuppetApply => matches!(code, Some(0 | 2)),
            _ => code == Some(0),
        }
    }

    pub(crate) fn has_record(self) -> bool {
        matches!(self, Persona::RunCfengine | Persona::RunPuppet | Persona::RunChef)
    }

    /// Where the old content of what is copied is kept.
    pub(crate) fn backups(self, stage: &Stage) -> Vec<std::path::PathBuf> {
        match self {
            Persona::CfAgent | Persona::RunCfengine => vec![stage.item("copied.cfsaved")],
            Persona::PuppetApply | Persona::RunPuppet => vec![stage.item("copied.bak")],
            Persona::ChefClient | Persona::RunChef => found_below(&stage.own, "copied.chef-"),
        }
    }
}

/// Files below a directory whose names begin so or hold it after a dot.
fn found_below(dir: &Path, part: &str) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(found_below(&entry.path(), part));
        } else if entry.file_name().to_string_lossy().contains(part) {
            found.push(entry.path());
        }
    }
    found
}

/// Writes the policy of all three languages.
pub(crate) fn write(stage: &Stage) {
    let dir = &stage.dir;
    fs::write(dir.join("a.cf"), cfengine(stage)).unwrap();
    fs::write(dir.join("a.pp"), puppet(stage)).unwrap();
    fs::create_dir_all(dir.join("cookbooks/t/recipes")).unwrap();
    fs::write(dir.join("cookbooks/t/metadata.rb"), "name 't'\nversion '1.0.0'\n").unwrap();
    fs::write(dir.join("cookbooks/t/recipes/default.rb"), chef(stage)).unwrap();
    fs::write(dir.join("copied"), copied("new")).unwrap();
}

fn cfengine(stage: &Stage) -> String {
    let (d, m) = (stage.dir.display(), stage.managed.display());
    // A text of policy has no escape for a new line, but may hold one.
    let (replaced, made) = (replaced("new"), made());
    let replaced = replaced.trim_end();
    format!(
        r#"body common control {{ bundlesequence => {{ "main" }}; }}
bundle agent main
{{
 files:
  "{m}/replaced" edit_defaults => emptied, edit_line => filled;
  "{m}/newdir/." create => "true";
  "{m}/newdir/made" create => "true", content => "{made}";
  "{m}/edited" edit_defaults => unsaved, edit_line => swapped;
  "{m}/link" link_from => to_made;
  "{m}/moded" perms => readable;
  "{m}/copied" copy_from => from_source;
  "{m}/removed" delete => gone;
  "{d}/elsewhere" create => "true", content => "else";
}}
body edit_defaults emptied {{ empty_file_before_editing => "true"; edit_backup => "false"; }}
body edit_defaults unsaved {{ edit_backup => "false"; }}
bundle edit_line filled {{ insert_lines: "{replaced}"; }}
bundle edit_line swapped {{ replace_patterns: "^level=old$" replace_with => new; }}
body replace_with new {{ replace_value => "level=new"; occurrences => "all"; }}
body link_from to_made {{ source => "{m}/newdir/made"; }}
body perms readable {{ mode => "640"; }}
body copy_from from_source {{ source => "{d}/copied"; compare => "digest"; copy_backup => "true"; }}
body delete gone {{ dirlinks => "delete"; rmdirs => "false"; }}
"#
    )
}

fn puppet(stage: &Stage) -> String {
    let (d, m) = (stage.dir.display(), stage.managed.display());
    let (replaced, made) = (replaced("new"), made());
    format!(
        r#"File {{ backup => false }}
file {{ '{m}/replaced': content => '{replaced}' }}
file {{ '{m}/newdir': ensure => directory }}
file {{ '{m}/newdir/made': content => '{made}' }}
file {{ '{m}/edited': content => regsubst(file('{m}/edited'), '^level=old$', 'level=new') }}
file {{ '{m}/link': ensure => link, target => '{m}/newdir/made' }}
file {{ '{m}/moded': mode => '0640' }}
file {{ '{m}/copied': source => '{d}/copied', backup => '.bak' }}
file {{ '{m}/removed': ensure => absent }}
file {{ '{d}/elsewhere': content => 'else' }}
"#
    )
}

fn chef(stage: &Stage) -> String {
    let (d, m) = (stage.dir.display(), stage.managed.display());
    let (replaced, made) = (replaced("new"), made());
    format!(
        r#"file '{m}/replaced' do
  content '{replaced}'
  backup false
end
directory '{m}/newdir'
file '{m}/newdir/made' do
  content '{made}'
end
ruby_block 'edit {m}/edited' do
  block do
    edit = Chef::Util::FileEdit.new('{m}/edited')
    edit.search_file_replace_line(/^level=old$/, 'level=new')
    edit.write_file
  end
  only_if {{ File.read('{m}/edited').include?('level=old') }}
end
link '{m}/link' do
  to '{m}/newdir/made'
end
file '{m}/moded' do
  mode '0640'
end
remote_file '{m}/copied' do
  source 'file://{d}/copied'
end
file '{m}/removed' do
  action :delete
  backup false
end
file '{d}/elsewhere' do
  content 'else'
end
"#
    )
}
