//! From manifests to a catalog: definitions, declarations, completion.
//!
//! Order: load the manifest, add its definitions, evaluate top-level code, then the node's,
//! then drain the queue of defines and collectors until nothing is left.

mod catalog;
mod classes;
mod collect;
mod complete;
mod declare;
mod definitions;
mod json;
mod kinds;
mod refused;
mod relations;
mod saved;

use std::path::PathBuf;
use std::rc::Rc;

use fx_puppet_syntax::{ExprKind, Program, Strictness};
use fx_source::Severity;

pub use catalog::{Attribute, Attributes, Catalog, Resource, Tags};
pub(crate) use complete::Pending;
pub(crate) use definitions::Definitions;
pub(crate) use json::{from_json, reference_text, to_json};
pub(crate) use kinds::{Kind, METAPARAMETERS, built_in, built_in_names, is_metaparameter};
pub use refused::Refused;
pub(crate) use saved::load;

use crate::eval::{Evaluator, Failure, Flow, Frame, FrameKind, Place, Scope};
use crate::value::Value;

/// What a compilation is given from outside.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Name of the node.
    pub node: String,
    /// Name of the environment.
    pub environment: String,
    /// Where modules lie.
    pub modulepath: Vec<PathBuf>,
    /// Folder of the environment.
    pub environment_dir: Option<PathBuf>,
    /// The global `hiera.yaml`.
    pub hiera_config: Option<PathBuf>,
    /// Whether the node asked for its catalog over the network.
    pub is_remote: bool,
    /// Name of the compiling machine.
    pub server_name: String,
    /// Its address.
    pub server_ip: String,
    /// Tell each phase.
    pub trace: bool,
    /// What is only for people who look for a fault is logged.
    pub debugs: bool,
    /// Classes a classifier gives the node, with their parameters.
    pub classes: Vec<(String, crate::value::Hash)>,
    /// Variables that a classifier sets at the top.
    pub variables: Vec<(String, Value)>,
    /// Extensions of the node's certificate, by short name.
    pub extensions: Vec<(String, String)>,
    /// Settings of the original that were given, by name.
    pub given: crate::settings::Given,
    /// Values come as words of a command line.
    pub takes_words: bool,
    /// Keeps old content of files that code of modules changes; nowhere, where not given.
    pub backup: Option<Rc<dyn crate::Backup>>,
    /// Answers for sources that begin with `puppet:`; the module path does where not given.
    pub file_server: Option<Rc<dyn crate::FileServer>>,
    /// Takes old content for file buckets that are on a server.
    pub server_bucket: Option<Rc<dyn crate::ServerBucket>>,
    /// What other nodes export; collectors of it find nothing where not given.
    pub exports: Option<Rc<dyn crate::Exports>>,
    /// A directory with the `lib` and the `facts.d` that a server sent.
    pub plugins: Option<PathBuf>,
    /// Whether modules and files add facts to those of this machine.
    pub custom_facts: bool,
    /// Facts of the node; those of this machine, found out when first asked for, where not
    /// given.
    pub facts: Option<Vec<(String, Value)>>,
}

impl Settings {
    /// What is done about things that are most likely wrong.
    pub(crate) fn strictness(&self) -> Strictness {
        match self.given.get("strict").map(String::as_str) {
            Some("off") => Strictness::Off,
            Some("error") => Strictness::Error,
            _ => Strictness::Warning,
        }
    }

    /// Whether a variable that is not there is an error.
    pub(crate) fn strict_variables(&self) -> bool {
        self.given.get("strict_variables").is_some_and(|on| on == "true")
    }
}

impl Evaluator {
    /// Compiles manifests as if they were one; what went wrong otherwise.
    pub(crate) fn compile(&self, manifests: &[(String, Vec<u8>)]) -> Result<(), Refused> {
        let mut made = self.compile_all(manifests);
        // A call that failed by it may have passed for one without a result.
        if let Some(bound) = self.machine.spent() {
            let message = format!("{bound} on node {}", self.settings.node);
            let refused = made.err().unwrap_or_else(|| message.into());
            made = Err(Refused { spent: Some(bound), ..refused });
        }
        // What was not to be read passed for absent; nothing is made of the rest.
        self.run.look().refused().map_or(made, |why| Err(why.into()))
    }

    fn compile_all(&self, manifests: &[(String, Vec<u8>)]) -> Result<(), Refused> {
        self.phase(|| format!("boot {} in {}", self.settings.node, self.settings.environment));
        self.prepare();
        let mut programs = Vec::new();
        for (name, text) in manifests {
            programs.push(self.parse_manifest(name, text)?);
        }
        for program in &programs {
            self.add_definitions(program, "").map_err(|flow| self.given_up(flow))?;
        }
        self.evaluate_programs(&programs).map_err(|flow| self.given_up(flow))
    }

    /// Tells that a phase begins, if that is wanted.
    pub(crate) fn phase(&self, text: impl FnOnce() -> String) {
        if self.settings.trace {
            let text = format!("phase: {}", text());
            self.run.ledger.message(fx_engine::Level::Debug, &text, &fx_source::Origin::default());
        }
    }

    fn parse_manifest(&self, name: &str, text: &[u8]) -> Result<Rc<Program>, String> {
        self.phase(|| match name {
            "" => "load the given text".to_owned(),
            name => format!("load {name}"),
        });
        let path = PathBuf::from(name);
        if let Some(known) = self.machine.read.programs.borrow().get(&path) {
            return Ok(Rc::clone(known));
        }
        let file = self.sources.add(name, text.to_vec());
        let (program, mut found) = fx_puppet_syntax::parse(text, file);
        if found.iter().all(|found| found.severity != Severity::Error) {
            found.extend(fx_puppet_syntax::validate(&program, self.settings.strictness()));
        }
        let environment = &self.settings.environment;
        let mut errors = Vec::new();
        for found in &found {
            let text = self.diagnostic_text(found);
            match found.severity {
                Severity::Error => errors.push(text),
                _ => self.warn(&text, None),
            }
        }
        match errors.as_slice() {
            [] => {
                let program = Rc::new(program);
                // Text without a name may be another next time.
                if !name.is_empty() {
                    self.machine.read.programs.borrow_mut().insert(path, Rc::clone(&program));
                }
                Ok(program)
            }
            [only] => Err(format!(
                "Could not parse for environment {environment}: {only} on node {}",
                self.settings.node
            )),
            errors => {
                for error in errors {
                    self.run.ledger.message(
                        fx_engine::Level::Error,
                        error,
                        &fx_source::Origin::default(),
                    );
                }
                Err(format!("Language validation logged {} errors. Giving up", errors.len()))
            }
        }
    }

    fn evaluate_programs(&self, programs: &[Rc<Program>]) -> Result<(), Flow> {
        let scope = Scope::new(Rc::clone(&self.top));
        self.phase(|| "evaluate main".into());
        for program in programs {
            let body = || self.eval(&program.body, &scope).map_err(Flow::misplaced);
            self.called_at(program.body.span, true, body)?;
        }
        self.evaluate_node()?;
        self.evaluate_classification()?;
        self.complete()
    }

    /// Classes that a classifier names, those with parameters first.
    fn evaluate_classification(&self) -> Result<(), Flow> {
        let scope =
            Scope::new(self.node_frame.borrow().clone().unwrap_or_else(|| Rc::clone(&self.top)));
        let nowhere = fx_source::Span::new(self.builtin, 0, 0);
        let (with, without): (Vec<_>, Vec<_>) =
            self.settings.classes.iter().partition(|(_, parameters)| !parameters.is_empty());
        for (name, parameters) in with {
            self.declare_from_hash(
                "class",
                &Value::from(name.as_str()),
                parameters,
                nowhere,
                &scope,
            )?;
        }
        let names: Vec<Rc<str>> = without
            .iter()
            .map(|(name, _)| name.trim_start_matches("::").to_lowercase().into())
            .collect();
        self.include(&names, &scope).map(drop)
    }

    fn evaluate_node(&self) -> Result<(), Flow> {
        let nodes = self.definitions.borrow().nodes.clone();
        if nodes.is_empty() {
            self.phase(|| "select the empty node".into());
            return Ok(());
        }
        let name = &self.settings.node;
        let (mut exact, mut by_regex, mut fallback) = (None, None, None);
        let mut captures = None;
        for node in &nodes {
            for wanted in node.definition.node.iter().flat_map(|node| &node.matches) {
                match &wanted.kind {
                    ExprKind::String(text) | ExprKind::Name(text)
                        if text.eq_ignore_ascii_case(name) =>
                    {
                        exact = Some((node, name.to_lowercase()))
                    }
                    ExprKind::Regex(source) if by_regex.is_none() => {
                        let found = crate::regex::Regex::new(source).captures(name);
                        if let Ok(Some(found)) = found {
                            captures = Some(found);
                            by_regex = Some((node, node_title(source)));
                        }
                    }
                    ExprKind::Default => fallback = Some((node, "default".to_owned())),
                    _ => {}
                }
            }
        }
        if exact.is_some() {
            captures = None;
        }
        let Some((node, title)) = exact.or(by_regex).or(fallback) else {
            return Err(Flow::bare(format!(
                "Could not find node statement with name 'default' or '{name}'"
            )));
        };
        let title: Rc<str> = title.into();
        let mut resource = Resource::new(
            "node",
            &title,
            fx_source::Span::new(self.builtin, 0, 0),
            Rc::clone(&self.top),
        );
        resource.definition = Some(Rc::clone(node));
        resource.evaluated = true;
        let tags = resource.tags.clone();
        let at = {
            let mut catalog = self.catalog.borrow_mut();
            catalog.tags.extend(tags);
            let at = catalog.add(resource);
            let main = self.top.resource.get();
            catalog.contain(main, at);
            catalog.hand_tags(main, at);
            catalog.add_class(&title);
            at
        };
        let frame = Frame::new(
            Some(Rc::clone(&self.top)),
            FrameKind::Node,
            format!("Node[{title}]").into(),
            at,
            "".into(),
            format!("node {title}").into(),
        );
        self.phase(|| format!("select node {title}"));
        *self.node_frame.borrow_mut() = Some(Rc::clone(&frame));
        let scope = Scope::new(frame);
        if let Some(captures) = captures {
            scope.capture(captures);
        }
        self.eval(&node.definition.body, &scope).map_err(Flow::misplaced)?;
        Ok(())
    }

    /// Variables and resources that are always there.
    pub(crate) fn prepare(&self) {
        let node = self.settings.node.as_str();
        // Code of no module has an empty one.
        self.top.define("module_name", "".into());
        if self.settings.facts.is_some() {
            self.facts();
        }
        let (host, domain) = node.split_once('.').unwrap_or((node, ""));
        let extensions = self.settings.extensions.iter();
        let extensions =
            extensions.map(|(name, text)| (name.as_str().into(), text.as_str().into()));
        self.top.define(
            "trusted",
            Value::hash([
                (
                    "authenticated".into(),
                    if self.settings.is_remote { "remote".into() } else { "local".into() },
                ),
                ("certname".into(), node.into()),
                ("extensions".into(), Value::hash(extensions)),
                ("hostname".into(), host.into()),
                ("domain".into(), if domain.is_empty() { Value::Undef } else { domain.into() }),
                ("external".into(), Value::hash([])),
            ]),
        );
        if self.settings.is_remote {
            let server: Vec<(&str, Value)> = vec![
                ("serverversion", crate::VERSION.into()),
                ("servername", self.settings.server_name.as_str().into()),
                ("serverip", self.settings.server_ip.as_str().into()),
                ("environment", self.settings.environment.as_str().into()),
            ];
            for (name, value) in &server {
                self.top.define(name, value.clone());
            }
            let all = server.into_iter().map(|(name, value)| (Value::from(name), value));
            self.top.define("server_facts", Value::hash(all));
        }
        for (name, value) in [
            ("environment", self.settings.environment.as_str()),
            ("clientcert", node),
            ("clientversion", crate::VERSION),
            ("clientnoop", ""),
            ("title", "main"),
            ("name", "main"),
        ] {
            self.top.define(
                name,
                if name == "clientnoop" { Value::Bool(false) } else { Value::from(value) },
            );
        }
        for (name, value) in &self.settings.variables {
            self.top.define(name, value.clone());
        }
        let nowhere = fx_source::Span::new(self.builtin, 0, 0);
        let mut catalog = self.catalog.borrow_mut();
        let stage = catalog.add(Resource::new("stage", "main", nowhere, Rc::clone(&self.top)));
        let class = catalog.add(Resource::new("class", "settings", nowhere, Rc::clone(&self.top)));
        let main = catalog.add(Resource::new("class", "main", nowhere, Rc::clone(&self.top)));
        catalog.contain(stage, class);
        catalog.contain(stage, main);
        catalog.add_class(&"settings".into());
        self.top.resource.set(main);
        let settings = Frame::new(
            Some(Rc::clone(&self.top)),
            FrameKind::Class,
            "Class[Settings]".into(),
            class,
            "".into(),
            "class settings".into(),
        );
        for (name, value) in [
            ("environment", Value::from(self.settings.environment.as_str())),
            ("certname", self.server_certname().into()),
        ] {
            settings.define(name, value);
        }
        self.pending.borrow_mut().class_frames.insert("settings".into(), settings);
    }

    /// Whether the facts were found out.
    pub(crate) fn knows_facts(&self) -> bool {
        self.known_facts.get().is_some()
    }

    /// Whether a variable of the top scope may be a fact, by its name alone: facts cost more than most manifests, so they
    /// are looked at only where a manifest could set one of them.
    pub(crate) fn may_be_fact(&self, name: &str) -> bool {
        if self.settings.facts.is_some() {
            return true;
        }
        let file = format!("{name}.rb");
        fx_facter::may_be_name(name)
            || (self.settings.custom_facts && self.has_lib_file("facter", &file))
            || self.run.look().var(format!("FACTER_{name}").as_ref()).is_some()
    }

    /// The facts, which are variables from the moment they are first asked for.
    pub(crate) fn facts(&self) -> &[(String, Value)] {
        let is_first = !self.knows_facts();
        let facts = self.known_facts.get_or_init(|| {
            let facts = match &self.settings.facts {
                Some(facts) => facts.clone(),
                None => crate::tools::machine_facts(&self.machine, &self.settings.node),
            };
            for (name, value) in &facts {
                if self.top.own(name).is_none() {
                    self.top.define(name, value.clone());
                }
            }
            let all = facts.iter().map(|(name, value)| (Value::from(name.as_str()), value.clone()));
            self.top.define("facts", Value::hash(all));
            facts
        });
        if is_first && self.settings.custom_facts {
            self.add_custom_facts();
        }
        facts
    }

    /// A setting of the original, as far as code asks for it.
    pub(crate) fn setting(&self, name: &str) -> Value {
        if let Some(known) =
            self.pending.borrow().class_frames.get("settings").and_then(|frame| frame.own(name))
        {
            return known;
        }
        crate::settings::value(&self.settings.given, name).unwrap_or_default()
    }

    /// Name of the compiling machine in its settings: the node itself where it compiles for
    /// itself.
    fn server_certname(&self) -> &str {
        match self.settings.server_name.as_str() {
            "" => &self.settings.node,
            name => name,
        }
    }

    /// The value of a piece of program text.
    pub(crate) fn evaluate_text(&self, text: &str, scope: &Rc<Scope>) -> Result<Value, Flow> {
        let file = self.sources.add("", text.as_bytes().to_vec());
        let (program, found) = fx_puppet_syntax::parse(text.as_bytes(), file);
        if let Some(error) = found.iter().find(|found| found.severity == Severity::Error) {
            return Err(Flow::raw(error.message.clone()));
        }
        self.add_definitions(&program, "")?;
        self.eval(&program.body, scope)
    }

    /// What failed and where.
    pub(crate) fn failure_text(&self, failure: Failure) -> String {
        let Failure { message, place, .. } = failure;
        match place {
            Place::At(span) => format!("Evaluation Error: {message} {}", self.place_text(span)),
            Place::Line(span) => format!("{message} {}", self.line_text(span)),
            Place::Raw | Place::Bare => message,
        }
    }
}

/// The name of a node definition with a regular expression.
fn node_title(source: &str) -> String {
    let kept: String = source
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
        .collect();
    format!("__node_regexp__{}", kept.trim_start_matches('.'))
}
