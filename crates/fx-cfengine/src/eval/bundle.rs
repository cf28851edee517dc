//! Bundles: which of them the sequence names, and how one is entered with its arguments.

use std::rc::Rc;

use crate::policy::{Bundle, Head, Rval, split_qualified};
use crate::text::{Str, naked};

use super::classes::ClassTable;
use super::frames::{BundleFrame, Frame};
use super::value::{DataType, Value, Variable};
use super::vars::{Found, Scope};
use super::{Context, log};

/// How the check and the run say that a sequence cannot be run.
struct Words {
    illegal: fn(&str) -> String,
    missing: &'static str,
    verdict: &'static str,
}

impl Context<'_> {
    pub fn sequence(&self) -> Vec<Rval> {
        match &self.config.bundles {
            Some(bundles) => bundles.iter().map(|name| Rval::Scalar(Rc::clone(name))).collect(),
            None => self.control_sequence().unwrap_or_else(|| vec![Rval::scalar("main")]),
        }
    }

    /// Says which bundles of the sequence are not there, and stops if there are any;
    /// whether all are.
    pub fn verify_sequence(&mut self) -> bool {
        let is_there = |ctx: &Self, name: &str| ctx.agent_bundle(name).is_some();
        let words = Words {
            illegal: |item| format!(": {item}"),
            missing: "was not found",
            verdict: "Errors in agent bundles",
        };
        self.look_for_sequence(is_there, &words)
    }

    /// Whether what the sequence names is there at all: the check asks neither for the type
    /// of a bundle nor for its namespace.
    pub(crate) fn check_sequence(&mut self) {
        let is_there = |ctx: &Self, name: &str| {
            let (_, symbol) = split_qualified(name);
            ctx.policy.bundles.iter().any(|bundle| &*bundle.head.name == symbol)
        };
        let words = Words {
            illegal: |item| format!(" '{item}'"),
            missing: "is not a defined bundle",
            verdict: "Errors in promise bundles: could not verify bundlesequence",
        };
        self.look_for_sequence(is_there, &words);
    }

    fn look_for_sequence(&mut self, is_there: impl Fn(&Self, &str) -> bool, words: &Words) -> bool {
        let mut missing = false;
        for item in &self.sequence() {
            let name = match item {
                Rval::Scalar(name) => Rc::clone(name),
                Rval::Call(call) => Rc::clone(&call.name),
                other => {
                    let shown = (words.illegal)(&other.show());
                    self.error(&format!("Illegal item found in bundlesequence{shown}"));
                    missing = true;
                    continue;
                }
            };
            if !self.control.ignore_missing_bundles && !is_there(self, &name) {
                let what = words.missing;
                self.error(&format!("Bundle '{name}' listed in the bundlesequence {what}"));
                missing = true;
            }
        }
        if missing {
            self.fatal(words.verdict);
        }
        !missing
    }

    fn control_sequence(&self) -> Option<Vec<Rval>> {
        self.control.agent.get("bundlesequence").and_then(|value| match value {
            Rval::List(items) if !items.is_empty() => Some(items.to_vec()),
            _ => None,
        })
    }

    /// A bundle the agent can run: `agent` first, then `common`.
    pub fn agent_bundle(&self, name: &str) -> Option<Rc<Bundle>> {
        self.find_bundle("agent", name).or_else(|| self.find_bundle("common", name))
    }

    /// Enters a bundle: its frame, its parameters, and its variables expanded once more.
    pub fn push_bundle(&mut self, bundle: &Bundle, args: &[Rval], inherits: bool) {
        let head = Rc::clone(&bundle.head);
        let values = if args.is_empty() { Vec::new() } else { self.bundle_arguments(&head, args) };
        self.stack.push(Frame::Bundle(BundleFrame {
            head: Rc::clone(&head),
            classes: ClassTable::default(),
            inherits,
            edit: Scope::default(),
        }));
        for (name, variable) in values {
            self.vars.assign(&head.scope, name, variable);
        }
        self.refresh_scope(&head);
    }

    fn bundle_arguments(&mut self, head: &Head, args: &[Rval]) -> Vec<(Str, Variable)> {
        if head.args.len() != args.len() {
            self.error(&format!("While constructing scope '{}'", head.name));
            self.fatal("Augment scope, formal and actual parameter mismatch is fatal");
            return Vec::new();
        }
        let tags: Rc<[Str]> = Rc::from(["source=promise".into()]);
        let mut out = Vec::new();
        for (name, arg) in head.args.iter().zip(args) {
            let kind = match arg {
                Rval::Scalar(_) | Rval::None => 's',
                Rval::List(_) => 'l',
                Rval::Call(_) => 'f',
                Rval::Data(_) => 'c',
            };
            log!(
                self,
                Verbose,
                "V:     +  Private parameter: '{name}' in scope '{}' (type: {kind}) in pass {}",
                head.name,
                self.pass
            );
            let value = match arg {
                Rval::Scalar(text) => match naked(text, b'@') {
                    Some(inner) => {
                        let found =
                            match self.promise_frame().map(|frame| Rc::clone(&frame.promise)) {
                                Some(promise) => {
                                    self.lookup_from(inner, &promise.bundle).map(Found::value)
                                }
                                None => self.lookup_from(inner, head).map(Found::value),
                            };
                        match found {
                            Some(value @ (Value::List(_) | Value::Data(_))) => value,
                            _ => {
                                self.error(&format!(
                                    "List or container parameter '{inner}' not found while constructing scope '{}' - use @(scope.variable) in calling reference",
                                    head.name
                                ));
                                Value::Scalar(Rc::clone(text))
                            }
                        }
                    }
                    None => Value::Scalar(Rc::clone(text)),
                },
                Rval::Call(call) => match self.call(call) {
                    Some(Rval::Scalar(text)) => Value::Scalar(text),
                    _ => {
                        self.error("Only functions returning scalars can be used as arguments");
                        continue;
                    }
                },
                Rval::Data(json) => Value::Data(Rc::clone(json)),
                Rval::List(items) => {
                    Value::List(items.iter().filter_map(|item| item.as_scalar().cloned()).collect())
                }
                Rval::None => continue,
            };
            let kind = match value {
                Value::Scalar(_) => DataType::String,
                Value::List(_) => DataType::StringList,
                Value::Data(_) => DataType::Data,
            };
            out.push((
                Rc::clone(name),
                Variable { kind, value, tags: Rc::clone(&tags), comment: None },
            ));
        }
        out
    }

    // Values that still hold references are expanded with what is known now.
    fn refresh_scope(&mut self, head: &Head) {
        let Some(scope) = self.vars.scope(&head.scope) else { return };
        let open: Vec<Str> = scope
            .vars
            .iter()
            .filter(|(name, variable)| match &variable.value {
                // A value that names itself would grow with every call.
                Value::Scalar(text) => {
                    text.contains('$')
                        && !text.contains(&*format!("$({name})"))
                        && !text.contains(&*format!("${{{name}}}"))
                }
                Value::List(items) => items.iter().any(|item| item.contains(['$', '@'])),
                Value::Data(_) => false,
            })
            .map(|(name, _)| Rc::clone(name))
            .collect();
        for name in open {
            let Some(variable) =
                self.vars.scope(&head.scope).and_then(|scope| scope.vars.get(&name))
            else {
                continue;
            };
            let rval = variable.value.to_rval();
            let expanded = self.expand_rval(&rval, Some(&head.namespace), Some(&head.name));
            let value = match expanded {
                Rval::Scalar(text) => Value::Scalar(text),
                Rval::List(items) => {
                    Value::List(items.iter().filter_map(|item| item.as_scalar().cloned()).collect())
                }
                _ => continue,
            };
            if variable.value != value {
                let variable = Variable { value, ..variable.clone() };
                self.vars.assign(&head.scope, name, variable);
            }
        }
    }
}
