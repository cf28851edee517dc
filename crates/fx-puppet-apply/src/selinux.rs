//! `selboolean` and `selmodule`: switches and modules of SELinux, through its own programs.
//! Where these are not there, no provider is suitable, as in the original.

use std::path::PathBuf;

use fx_engine::{Change, Failure, Resource as Thing, ResourceId, Target};
use fx_host::{Act, Ended, Look, Spec};
use fx_puppet::Resource;

use super::attributes::{attribute, text, truth};
use super::engine_resource::Made;

/// Programs that a type needs.
pub(super) fn programs(low: &str) -> &'static [&'static str] {
    match low {
        "selboolean" => &["/usr/sbin/getsebool", "/usr/sbin/setsebool"],
        "selmodule" => &["/usr/sbin/semodule"],
        "augeas" => &["/usr/bin/augtool"],
        _ => &[],
    }
}

fn run(act: &dyn Act, words: &[&str]) -> Result<Ended, Failure> {
    judged(words, act.run(&Spec::argv(words.iter().copied()))?)
}

fn query(look: &dyn Look, words: &[&str]) -> Result<Ended, Failure> {
    judged(words, look.query(&Spec::argv(words.iter().copied()))?)
}

fn judged(words: &[&str], ended: Ended) -> Result<Ended, Failure> {
    if ended.exit.success() {
        return Ok(ended);
    }
    let why = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
    Err(Failure::new(format!("Execution of '{}' failed: {why}", words.join(" "))))
}

struct Switch {
    name: String,
    on: bool,
    persistent: bool,
}

pub(super) fn switch(resource: &Resource) -> Made {
    Made::Other(Box::new(Switch {
        name: text(resource, "name").unwrap_or_else(|| resource.title.to_string()),
        on: matches!(text(resource, "value").as_deref(), Some("on" | "true")),
        persistent: truth(attribute(resource, "persistent")),
    }))
}

impl Thing for Switch {
    fn id(&self) -> ResourceId {
        ResourceId::new("selboolean", self.name.as_str())
    }

    fn target(&self) -> Target {
        Target::other("selboolean", &self.name)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        let ended = query(host, &["/usr/sbin/getsebool", &self.name])?;
        let is_on = String::from_utf8_lossy(&ended.stdout).trim_end().ends_with("on");
        let word = |on| if on { "on" } else { "off" };
        if is_on == self.on {
            return Ok(Vec::new());
        }
        Ok(vec![Change::of(self.target(), "value", word(is_on), word(self.on))])
    }

    fn apply(&mut self, host: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        let mut words = vec!["/usr/sbin/setsebool"];
        if self.persistent {
            words.push("-P");
        }
        words.extend([self.name.as_str(), if self.on { "on" } else { "off" }]);
        run(host, &words).map(drop)
    }
}

struct Module {
    name: String,
    absent: bool,
    file: PathBuf,
}

pub(super) fn module(resource: &Resource) -> Made {
    let name = text(resource, "name").unwrap_or_else(|| resource.title.to_string());
    let dir = text(resource, "selmoduledir");
    let dir = dir.unwrap_or_else(|| "/usr/share/selinux/targeted".into());
    let file = text(resource, "selmodulepath").unwrap_or_else(|| format!("{dir}/{name}.pp"));
    Made::Other(Box::new(Module {
        absent: text(resource, "ensure").as_deref() == Some("absent"),
        file: PathBuf::from(file),
        name,
    }))
}

impl Thing for Module {
    fn id(&self) -> ResourceId {
        ResourceId::new("selmodule", self.name.as_str())
    }

    fn target(&self) -> Target {
        Target::other("selmodule", &self.name)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        let ended = query(host, &["/usr/sbin/semodule", "--list"])?;
        let shown = String::from_utf8_lossy(&ended.stdout).into_owned();
        let is_there =
            shown.lines().any(|line| line.split_whitespace().next() == Some(self.name.as_str()));
        let word = |there| if there { "present" } else { "absent" };
        if is_there != self.absent {
            return Ok(Vec::new());
        }
        Ok(vec![Change::of(self.target(), "ensure", word(is_there), word(!is_there))])
    }

    fn apply(&mut self, host: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        let file = self.file.to_string_lossy().into_owned();
        let (flag, what) =
            if self.absent { ("--remove", self.name.as_str()) } else { ("--install", &*file) };
        run(host, &["/usr/sbin/semodule", flag, what]).map(drop)
    }
}
