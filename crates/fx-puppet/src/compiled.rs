//! A catalog with what applying it still needs of the evaluator that made it. Together with
//! [`Catalog`] this is the whole interface between the language and `fx-puppet-apply`: places in
//! source text, files of modules, settings, values left to the node, and types written in Ruby
//! ([`RubyResource`]).

use std::cell::Ref;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_engine::Run;
use fx_source::Span;

use crate::compile::{self, Catalog, Refused, Resource, Settings};
use crate::eval::{Evaluator, Flow};
use crate::machine::Machine;
use crate::ruby::{RubyDeclaration, RubyResource};

/// Keeps old content of files for code of modules, which asks for it before it writes.
pub trait Backup: std::fmt::Debug {
    /// Keeps the content of a file; `log` takes lines of level info. What went wrong otherwise.
    fn keep(&self, run: Run<'_>, path: &Path, log: &dyn Fn(String)) -> Result<(), String>;
}

/// The file bucket of a server.
pub trait ServerBucket: std::fmt::Debug {
    /// Puts content there, unless the server has it from that path. `digest` is the kind of `sum`;
    /// the content is read while it is sent.
    fn keep(
        &self,
        digest: &str,
        sum: &str,
        path: &Path,
        size: u64,
        content: &mut dyn std::io::Read,
    ) -> Result<(), String>;
}

/// Files that a server gives for sources that begin with `puppet:`.
pub trait FileServer: std::fmt::Debug {
    /// What a source is; nothing where the server has no such file.
    fn metadata(&self, source: &str) -> Result<Option<Served>, String>;

    /// What a source is and all that is below it, in the order of their paths; nothing where the
    /// server has no such directory.
    fn tree(&self, source: &str, wish: &TreeWish) -> Result<Option<Vec<Served>>, String>;

    /// The content of a file.
    fn content(&self, source: &str) -> Result<Fetched, String>;
}

/// Content that a server gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    Bytes(Vec<u8>),
    /// It is larger than what is held in memory, and lies in this file until the run ends.
    File(PathBuf),
}

/// How much of a directory is wanted.
#[derive(Clone, Debug, Default)]
pub struct TreeWish {
    /// Levels below it; all where not given.
    pub levels: Option<u32>,
    /// Patterns of names to leave out.
    pub ignored: Vec<String>,
    /// Links stand for what they point to.
    pub follows: bool,
}

/// A file of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The path below what was asked for; empty for itself.
    pub path: String,
    pub kind: ServedKind,
    /// Its digest, as `{sha256}…`.
    pub label: String,
    pub mode: u32,
    pub owner: u32,
    pub group: u32,
}

/// What a file of a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServedKind {
    File,
    Directory,
    /// With what it points to.
    Link(String),
}

/// A catalog and where it comes from. A copy is another handle of the same.
#[derive(Clone)]
pub struct Compiled(Rc<Evaluator>);

impl Compiled {
    /// Compiles manifests, by the names that messages give them, as if they were one;
    /// what is wrong otherwise.
    pub fn compile(
        machine: &Machine,
        settings: Settings,
        manifests: &[(String, Vec<u8>)],
    ) -> Result<Compiled, Refused> {
        let evaluator = Evaluator::new(machine, settings);
        evaluator.compile(manifests)?;
        Ok(Compiled(evaluator))
    }

    /// Reads a catalog from its JSON form; the message of what is wrong otherwise.
    pub fn read(machine: &Machine, settings: Settings, text: &[u8]) -> Result<Compiled, Refused> {
        let evaluator = Evaluator::new(machine, settings);
        compile::load(&evaluator, text)?;
        Ok(Compiled(evaluator))
    }

    /// The run it is applied in.
    pub fn run(&self) -> Run<'static> {
        self.0.run
    }

    /// What it was compiled with.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The catalog.
    pub fn catalog(&self) -> Ref<'_, Catalog> {
        self.0.catalog.borrow()
    }

    /// Records the name that the type of a resource gives it instead of its title.
    pub fn rename(&self, at: usize, name: Rc<str>) {
        self.0.catalog.borrow_mut().resources[at].told = Some(name);
    }

    /// Puts values in place of all calls that the catalog leaves to the node; the message of a
    /// call that failed otherwise.
    pub fn resolve_deferred(&self) -> Result<(), String> {
        crate::deferred::resolve(&self.0)
    }

    /// A resource with values in place of such calls.
    pub fn resolved(&self, resource: &Resource) -> Result<Resource, String> {
        crate::deferred::resolved_now(&self.0, resource)
    }

    /// File and line of a place in source text.
    pub fn location(&self, span: Span) -> (String, u32) {
        let at = self.0.sources.location(span);
        (at.file.to_string(), at.line)
    }

    /// The same as messages end: `(file: x, line: 1)`.
    pub fn line_text(&self, span: Span) -> String {
        self.0.line_text(span)
    }

    /// The path of `module/name` in a folder of that module.
    pub fn module_file(&self, name: &str, folder: &str) -> Option<PathBuf> {
        self.0.module_file(name, folder)
    }

    /// Whether a resource has a tag, by itself or by what contains it.
    pub fn has_tag(&self, resource: &Resource, tag: &str) -> bool {
        self.0.resource_has_tag(resource, tag)
    }

    /// Logs that a phase begins, where phases are traced.
    pub fn phase(&self, text: impl FnOnce() -> String) {
        self.0.phase(text);
    }

    /// Whether a module has a type of this name, written in Ruby.
    pub fn has_ruby_type(&self, low: &str) -> bool {
        self.0.has_ruby_type(low)
    }

    /// Whether a type is written in Ruby and its code can be loaded.
    pub fn loads_ruby_type(&self, low: &str) -> bool {
        self.0.native_kind(low).ok().flatten().is_some_and(|kind| kind.is_ruby)
    }

    /// Whether messages about resources of a type name no place.
    pub fn is_placeless(&self, low: &str) -> bool {
        self.0.ruby_is_placeless(low)
    }

    /// Makes the object of a resource whose type is written in Ruby; what is wrong with it
    /// otherwise.
    pub fn ruby_resource(&self, resource: &Resource) -> Result<RubyResource, String> {
        RubyResource::make(Rc::clone(&self.0), resource)
    }

    /// Lets providers read what they know of all their resources at once.
    pub fn prefetch(&self, all: &[&RubyResource]) -> Result<(), String> {
        let objects: Vec<_> = all.iter().map(|one| one.object()).collect();
        let effects = &self.0.machine.effects;
        effects.author("prefetch", || self.0.ruby_prefetch(&objects)).map_err(Flow::text)
    }

    /// Resources that code of modules gave other values since the last call.
    pub fn changed_by_ruby(&self) -> Vec<RubyDeclaration> {
        self.0.ruby_changed().unwrap_or_default()
    }

    /// Names of all resources of a type that the machine has; nothing where the type is not
    /// written in Ruby.
    pub fn instances(&self, low: &str) -> Result<Option<Vec<String>>, String> {
        self.0.ruby_instances(low).map_err(Flow::text)
    }
}
