//! Resources of the catalog as things of the machine: what an attribute means there. Files
//! are in [`super::files`], accounts, packages and services in [`super::system`].

use std::path::PathBuf;

use fx_engine::{Change, Failure, Refresh, Resource as Thing, ResourceId, Target, TargetKind};
use fx_host::{Act, Look};
use fx_puppet::text::interpolated;
use fx_puppet::{Compiled, Resource, RubyResource, Value};
use fx_resources::{directory, exec, file, link};

use super::attributes::{attribute, is_secret, text, truth};

/// Something that can be brought to its desired state.
pub(super) enum Made {
    Notify(Notify),
    File(Box<file::File>),
    /// A file with content from a web server, or known by a time or a given digest.
    Sourced(Box<super::sourced::Sourced>),
    Directory(directory::Directory),
    Link(link::Link),
    Exec(Box<exec::Exec>),
    /// A directory that should go and may not; the original counts it as gone.
    Stubborn(Stubborn),
    /// A directory where a file should be, which may not be removed.
    Obstructed(Obstructed),
    /// A link that nobody said where it points to.
    Untargeted(Untargeted),
    /// A thing of another family.
    Other(Box<dyn Thing>),
    /// A service, which can be refreshed.
    Service(Box<fx_resources::service::Service>),
    /// A resource whose type is written in Ruby.
    Ruby(super::ruby::RubyThing),
    /// What cannot be acted on, and why.
    Broken(Broken),
    /// Made when it has its turn: what it is depends on what is there then.
    Later,
    /// Nothing to do.
    Nothing,
}

impl Made {
    /// The object, where its type is written in Ruby.
    pub(super) fn ruby(&self) -> Option<&RubyResource> {
        match self {
            Made::Ruby(thing) => Some(&thing.object),
            _ => None,
        }
    }

    pub(super) fn thing(&mut self) -> Option<&mut dyn Thing> {
        Some(match self {
            Made::Notify(thing) => thing,
            Made::File(thing) => &mut **thing,
            Made::Sourced(thing) => &mut **thing,
            Made::Directory(thing) => thing,
            Made::Link(thing) => thing,
            Made::Exec(thing) => &mut **thing,
            Made::Stubborn(thing) => thing,
            Made::Obstructed(thing) => thing,
            Made::Untargeted(thing) => thing,
            Made::Other(thing) => &mut **thing,
            Made::Service(thing) => &mut **thing,
            Made::Ruby(thing) => thing,
            Made::Broken(thing) => thing,
            Made::Later | Made::Nothing => return None,
        })
    }

    /// Reacts to a notification, if it can.
    pub(super) fn refresh(&mut self, host: &dyn Act) -> Option<Result<(), Failure>> {
        match self {
            Made::Exec(thing) => Some(thing.refresh(host)),
            Made::Service(thing) => Some(thing.refresh(host)),
            Made::Ruby(thing) => Some(thing.refresh(host)),
            _ => None,
        }
    }

    pub(super) fn can_refresh(&self) -> bool {
        match self {
            Made::Exec(_) | Made::Service(_) => true,
            Made::Ruby(thing) => thing.object.can_refresh(),
            _ => false,
        }
    }
}

/// The thing that a resource is about, by the name of its type.
pub(super) fn target_of(id: &ResourceId) -> Target {
    let kind = match &*id.kind {
        "host" => TargetKind::HostEntry,
        "exec" => TargetKind::Command,
        word => TargetKind::from(word),
    };
    Target::new(kind, &*id.name)
}

/// A message that is always due.
pub(super) struct Notify {
    pub(super) message: String,
}

impl Thing for Notify {
    fn id(&self) -> ResourceId {
        ResourceId::new("notify", self.message.as_str())
    }

    fn target(&self) -> Target {
        Target::other("notify", &self.message)
    }

    fn observe(&mut self, _host: &dyn Look) -> Result<Vec<Change>, Failure> {
        Ok(vec![Change::of(self.target(), "message", "absent", self.message.as_str())])
    }

    fn apply(&mut self, _host: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        Ok(())
    }
}

/// A directory that should be absent and stays, because nobody said `force`.
pub(super) struct Stubborn {
    pub(super) path: PathBuf,
}

impl Thing for Stubborn {
    fn id(&self) -> ResourceId {
        ResourceId::new("file", self.path.to_string_lossy())
    }

    fn target(&self) -> Target {
        Target::file(&self.path)
    }

    fn observe(&mut self, _look: &dyn Look) -> Result<Vec<Change>, Failure> {
        Ok(vec![Change::of(self.target(), "ensure", "directory", "absent")])
    }

    /// The original counts it as removed, and leaves it.
    fn apply(&mut self, _act: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        Ok(())
    }
}

/// A directory that stands where a file or a link should be.
pub(super) struct Obstructed {
    pub(super) path: PathBuf,
    /// `file` or `link`.
    pub(super) wanted: &'static str,
}

impl Thing for Obstructed {
    fn id(&self) -> ResourceId {
        ResourceId::new("file", self.path.to_string_lossy())
    }

    fn target(&self) -> Target {
        Target::file(&self.path)
    }

    fn observe(&mut self, _host: &dyn Look) -> Result<Vec<Change>, Failure> {
        Ok(vec![Change::of(self.target(), "ensure", "directory", self.wanted)])
    }

    fn apply(&mut self, _host: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        Err(Failure::InTheWay { path: self.path.clone(), kind: fx_host::Kind::Directory })
    }
}

/// A link without a target.
pub(super) struct Untargeted {
    pub(super) path: PathBuf,
    /// What is there.
    pub(super) from: &'static str,
}

impl Thing for Untargeted {
    fn id(&self) -> ResourceId {
        ResourceId::new("file", self.path.to_string_lossy())
    }

    fn target(&self) -> Target {
        Target::file(&self.path)
    }

    fn observe(&mut self, _host: &dyn Look) -> Result<Vec<Change>, Failure> {
        if self.from == "link" {
            return Ok(Vec::new());
        }
        Ok(vec![Change::of(self.target(), "ensure", self.from, "link")])
    }

    fn apply(&mut self, _host: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        Err(Failure::new("Cannot create a symlink without a target"))
    }
}

/// A resource whose state cannot be found out.
pub(super) struct Broken {
    id: ResourceId,
    why: Failure,
}

impl Thing for Broken {
    fn id(&self) -> ResourceId {
        self.id.clone()
    }

    fn target(&self) -> Target {
        target_of(&self.id)
    }

    fn observe(&mut self, _host: &dyn Look) -> Result<Vec<Change>, Failure> {
        Err(self.why.clone())
    }

    fn apply(&mut self, _host: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        Ok(())
    }
}

pub(super) fn broken(resource: &Resource, why: Failure) -> Made {
    Made::Broken(Broken { id: super::transaction::step_name(resource), why })
}

/// The thing that a resource of the catalog stands for; what is wrong with the resource otherwise.
pub(super) fn make(compiled: &Compiled, resource: &Resource) -> Result<Made, String> {
    super::check::check(resource).map_err(|wrong| wrong.of(resource))?;
    built(compiled, resource).map_err(|why| discreet(resource, why))
}

/// The same before anything is done: files are only checked, and made at their turn.
pub(super) fn make_early(compiled: &Compiled, resource: &Resource) -> Result<Made, String> {
    if &*resource.low != "file" {
        return make(compiled, resource);
    }
    super::check::check(resource).map_err(|wrong| wrong.of(resource))?;
    Ok(Made::Later)
}

/// What is wrong with a resource, as far as it may be shown.
fn discreet(resource: &Resource, why: String) -> String {
    if super::secrets::hides_failures(resource) {
        return format!("Validation of {} failed: [redacted]", resource.reference());
    }
    why
}

fn built(compiled: &Compiled, resource: &Resource) -> Result<Made, String> {
    match &*resource.kind {
        "Notify" => {
            let given = attribute(resource, "message");
            let message = match &given {
                Some(_) if is_secret(resource, "message") => "Sensitive [value redacted]".into(),
                // Of several values a property is brought to the first.
                Some(Value::Array(items)) => items.first().map(interpolated).unwrap_or_default(),
                Some(hash @ Value::Hash(_)) => fx_puppet::text::inspected(hash),
                Some(other) => interpolated(other),
                None => resource.title.to_string(),
            };
            Ok(Made::Notify(Notify { message }))
        }
        "File" => super::files::make(compiled, resource),
        "Exec" => super::execs::make(resource),
        "Filebucket" => super::backup::check_bucket(resource).map(|()| Made::Nothing),
        "Resources" => {
            let name = text(resource, "name").unwrap_or_else(|| resource.title.to_string());
            let name = name.to_lowercase();
            let is_known = fx_puppet::is_built_in(&name) || compiled.has_ruby_type(&name);
            let purges = truth(attribute(resource, "purge"));
            let has_ensure = !matches!(
                name.as_str(),
                "exec"
                    | "notify"
                    | "schedule"
                    | "stage"
                    | "whit"
                    | "tidy"
                    | "resources"
                    | "filebucket"
                    | "augeas"
            );
            let why = match (is_known, purges && !has_ensure) {
                (false, _) => format!(
                    "name failed on {}: Could not find resource type '{name}'",
                    resource.reference()
                ),
                (_, true) => format!(
                    "purge failed on {}: Purging is only supported on types that accept 'ensure'",
                    resource.reference()
                ),
                _ => return Ok(Made::Nothing),
            };
            Err(format!("Parameter {why}"))
        }
        "Stage" | "Whit" => Ok(Made::Nothing),
        "Schedule" => super::schedule::Schedule::read(resource).map(|_| Made::Nothing),
        "Tidy" => match super::recurse::too_many(compiled, resource) {
            Some(why) => Err(why),
            None => super::generate::check_tidy(resource).map(|()| Made::Nothing),
        },
        // A module that brings the type brings the way its file is written, too.
        "Host" | "Sshkey" | "Mailalias" | "Cron" | "Mount" | "Ssh_authorized_key" | "Yumrepo"
            if compiled.has_ruby_type(&resource.low) =>
        {
            super::ruby::make(compiled, resource)
        }
        "Yumrepo" => Ok(super::yumrepo::make(resource)),
        "Augeas" | "Selboolean" | "Selmodule" if !has_programs(compiled, &resource.low) => {
            Ok(broken(resource, Failure::NoProvider(resource.low.to_string())))
        }
        "Augeas" => super::augeas::make(resource),
        "Selboolean" => Ok(super::selinux::switch(resource)),
        "Selmodule" => Ok(super::selinux::module(resource)),
        _ => match super::system_types::make(compiled, resource)? {
            Some(made) => Ok(made),
            None if compiled.loads_ruby_type(&resource.low) => {
                super::ruby::make(compiled, resource)
            }
            None => {
                let why = format!("resource type '{}' is not supported", resource.low);
                Ok(broken(resource, Failure::new(why)))
            }
        },
    }
}

/// Whether the programs are there that act for a type.
fn has_programs(compiled: &Compiled, low: &str) -> bool {
    let host = compiled.run().look();
    let is_there = |path: &&str| host.stat(std::path::Path::new(path)).is_ok();
    super::selinux::programs(low).iter().all(is_there)
}
