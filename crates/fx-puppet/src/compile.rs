//! From manifests to a catalog: definitions, declarations, completion.
//!
//! Order: load the manifest, add its definitions, evaluate top-level code, then the node's,
//! then drain the queue of defines and collectors until nothing is left.

mod catalog;
mod complete;
mod declare;
mod definitions;
mod kinds;

use std::path::PathBuf;
use std::rc::Rc;

use fx_puppet_syntax::{ExprKind, Strictness};
use fx_source::Severity;

pub(crate) use catalog::{Attribute, Catalog, Resource};
pub(crate) use complete::Pending;
pub(crate) use definitions::Definitions;
pub(crate) use kinds::{is_metaparameter, parameters_of};

use crate::eval::{Evaluator, Failure, Flow, Frame, FrameKind, Place, Scope};
use crate::value::Value;

/// What a compilation is told from outside.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Name of the node.
    pub node: String,
    /// Name of the environment.
    pub environment: String,
    /// Where modules lie.
    pub modulepath: Vec<PathBuf>,
    /// Facts of the node.
    pub facts: Vec<(String, Value)>,
}

impl Evaluator<'_> {
    /// Compiles a manifest; the text of what went wrong otherwise.
    pub(crate) fn compile(&self, name: &str, text: &[u8]) -> Result<(), String> {
        self.prepare();
        let file = self.sources.add(name, text.to_vec());
        let (program, mut found) = fx_puppet_syntax::parse(text, file);
        if found.iter().all(|found| found.severity != Severity::Error) {
            found.extend(fx_puppet_syntax::validate(&program, Strictness::Warning));
        }
        let environment = &self.settings.environment;
        let mut errors = Vec::new();
        for found in &found {
            let place = found
                .primary()
                .map(|span| format!(" {}", self.place_text(span)))
                .unwrap_or_default();
            let text = format!("{}{place}", found.message);
            match found.severity {
                Severity::Error => errors.push(text),
                _ => self.warn(&text, None),
            }
        }
        match errors.as_slice() {
            [] => {}
            [only] => {
                return Err(format!(
                    "Could not parse for environment {environment}: {only} on node {}",
                    self.settings.node
                ));
            }
            [first, ..] => {
                for error in &errors {
                    self.run.ledger.message(
                        fx_engine::Level::Error,
                        error,
                        &fx_source::Origin::default(),
                    );
                }
                let _ = first;
                return Err(format!(
                    "Found {} errors. Giving up on node {}",
                    errors.len(),
                    self.settings.node
                ));
            }
        }
        self.add_definitions(&program, "").map_err(|flow| self.complaint(flow))?;
        self.evaluate_program(&program.body).map_err(|flow| self.complaint(flow))
    }

    fn evaluate_program(&self, body: &fx_puppet_syntax::Expr) -> Result<(), Flow> {
        let scope = Scope::new(Rc::clone(&self.top));
        self.eval(body, &scope).map_err(Flow::misplaced)?;
        self.evaluate_node()?;
        self.complete()
    }

    fn evaluate_node(&self) -> Result<(), Flow> {
        let nodes = self.definitions.borrow().nodes.clone();
        if nodes.is_empty() {
            return Ok(());
        }
        let name = &self.settings.node;
        let (mut exact, mut by_regex, mut fallback) = (None, None, None);
        for node in &nodes {
            for wanted in node.definition.node.iter().flat_map(|node| &node.matches) {
                match &wanted.kind {
                    ExprKind::String(text) | ExprKind::Name(text)
                        if text.eq_ignore_ascii_case(name) =>
                    {
                        exact = Some(node)
                    }
                    ExprKind::Regex(source)
                        if by_regex.is_none()
                            && crate::regex::Regex::new(source).is_match(name).unwrap_or(false) =>
                    {
                        by_regex = Some(node)
                    }
                    ExprKind::Default => fallback = Some(node),
                    _ => {}
                }
            }
        }
        let Some(node) = exact.or(by_regex).or(fallback) else {
            return Err(Flow::bare(format!(
                "Could not find node statement with name 'default' or '{name}'"
            )));
        };
        let frame = Frame::new(
            Some(Rc::clone(&self.top)),
            FrameKind::Node,
            format!("Node[{name}]").into(),
            0,
            "".into(),
        );
        self.pending.borrow_mut().node_frame = Some(Rc::clone(&frame));
        let scope = Scope::new(frame);
        self.eval(&node.definition.body, &scope).map_err(Flow::misplaced)?;
        Ok(())
    }

    /// Variables and resources that are always there.
    fn prepare(&self) {
        let node = self.settings.node.as_str();
        let facts: Vec<(Value, Value)> = self
            .settings
            .facts
            .iter()
            .map(|(name, value)| (Value::from(name.as_str()), value.clone()))
            .collect();
        for (name, value) in &self.settings.facts {
            self.top.define(name, value.clone());
        }
        self.top.define("facts", Value::hash(facts));
        let (host, domain) = node.split_once('.').unwrap_or((node, ""));
        self.top.define(
            "trusted",
            Value::hash([
                ("authenticated".into(), "local".into()),
                ("certname".into(), node.into()),
                ("extensions".into(), Value::hash([])),
                ("hostname".into(), host.into()),
                ("domain".into(), if domain.is_empty() { Value::Undef } else { domain.into() }),
                ("external".into(), Value::hash([])),
            ]),
        );
        for (name, value) in [
            ("environment", self.settings.environment.as_str()),
            ("clientcert", node),
            ("clientversion", crate::VERSION),
            ("clientnoop", ""),
            ("title", "main"),
            ("name", "main"),
            ("module_name", ""),
            ("caller_module_name", ""),
        ] {
            self.top.define(
                name,
                if name == "clientnoop" { Value::Bool(false) } else { Value::from(value) },
            );
        }
        let settings = Frame::new(
            Some(Rc::clone(&self.top)),
            FrameKind::Class,
            "Class[Settings]".into(),
            0,
            "".into(),
        );
        for (name, value) in [
            ("environment", Value::from(self.settings.environment.as_str())),
            ("strict_variables", false.into()),
            ("strict", "warning".into()),
            ("certname", node.into()),
            ("storeconfigs", false.into()),
        ] {
            settings.define(name, value);
        }
        self.pending.borrow_mut().class_frames.insert("settings".into(), settings);
        let mut catalog = self.catalog.borrow_mut();
        let main = Resource::new(
            "Class",
            "main",
            fx_source::Span::new(self.builtin, 0, 0),
            Rc::clone(&self.top),
        );
        catalog.add(main);
        let stage = Resource::new(
            "Stage",
            "main",
            fx_source::Span::new(self.builtin, 0, 0),
            Rc::clone(&self.top),
        );
        catalog.add(stage);
    }

    /// The text for a failure.
    pub(crate) fn complaint(&self, flow: Flow) -> String {
        let Flow::Fail(failure) = flow.misplaced() else { return "evaluation was left".into() };
        let Failure { message, place } = *failure;
        let text = match place {
            Place::At(span) => format!("Evaluation Error: {message} {}", self.place_text(span)),
            Place::Line(span) => format!("{message} {}", self.line_text(span)),
            Place::Raw | Place::Bare => message,
        };
        format!("{text} on node {}", self.settings.node)
    }
}
