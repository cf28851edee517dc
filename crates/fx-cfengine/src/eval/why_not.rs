//! Why a promise was passed over: its expression taken apart into the classes that decided
//! it, and what in the policy could define them. For the ledger, never for the console of the
//! original, and only where the run wants reasons.

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::expr::{self, Expr};
use crate::policy::{Promise, Rval};
use crate::text::{Str, canonify};

/// Most classes named for one promise.
const MOST: usize = 4;

/// A promise that was passed over, and why.
pub struct PassedOver {
    pub promise: Rc<Promise>,
    pub promiser: Str,
    pub reason: String,
}

impl Context<'_> {
    /// Keeps the reason for whoever runs the promise.
    pub(crate) fn note_passed_over(
        &mut self,
        promise: &Rc<Promise>,
        promiser: &Str,
        reason: String,
    ) {
        let (promise, promiser) = (Rc::clone(promise), Rc::clone(promiser));
        self.passed_over.push(PassedOver { promise, promiser, reason });
    }

    /// Whether reasons are wanted now.
    pub(crate) fn wants_reasons(&self, promise: &Promise) -> bool {
        self.config.reasons
            && self.last_pass()
            && !matches!(&*promise.kind, "vars" | "classes" | "meta" | "defaults")
    }

    /// Why an expression does not hold.
    pub(crate) fn why_false(&self, what: &str, text: &str) -> String {
        let Some(parsed) = expr::parse(text) else {
            return format!("{what} '{text}' is no class expression");
        };
        let mut reasons = Vec::new();
        self.collect_reasons(&parsed, true, &mut reasons, 0);
        reasons.dedup();
        let more = reasons.len().saturating_sub(MOST);
        reasons.truncate(MOST);
        if more > 0 {
            reasons.push(format!("and {more} more"));
        }
        let reasons =
            if reasons.is_empty() { "it holds now".to_owned() } else { reasons.join("; ") };
        format!("{what} '{text}' is not met: {reasons}")
    }

    // The leaves that keep an expression from being what is wanted.
    fn collect_reasons(&self, node: &Expr, wanted: bool, out: &mut Vec<String>, depth: usize) {
        let value = node.eval(&|name| self.class_defined(name));
        if value == Some(wanted) || depth > 64 {
            return;
        }
        match node {
            Expr::Or(items) | Expr::And(items) => {
                for item in items {
                    self.collect_reasons(item, wanted, out, depth + 1);
                }
            }
            Expr::Not(item) => self.collect_reasons(item, !wanted, out, depth + 1),
            Expr::Unexpanded => out.push("a variable in it has no value".to_owned()),
            Expr::Name(name) if wanted => {
                out.push(format!("class '{name}' is not defined ({})", self.definer(name)));
            }
            Expr::Name(name) => out.push(format!("class '{name}' is defined")),
        }
    }

    // What in the policy would define a class.
    fn definer(&self, name: &str) -> String {
        let base = name.rsplit(':').next().unwrap_or(name);
        let mut found = Vec::new();
        for bundle in &self.policy.bundles {
            for promise in bundle.sections.iter().flat_map(|section| &section.promises) {
                let head = &bundle.head;
                if &*promise.kind == "classes" && names_class(&promise.promiser, base) {
                    found.push(format!(
                        "a classes promise of bundle '{}' at {}:{} would define it",
                        head.name, head.file, promise.line
                    ));
                } else if promise.attributes.iter().any(|attribute| {
                    &*attribute.name == "classes" && mentions(&attribute.value, base)
                }) {
                    found.push(format!(
                        "the outcome of {} promise '{}' of bundle '{}' at {}:{} would define it",
                        promise.kind, promise.promiser, head.name, head.file, promise.line
                    ));
                }
            }
        }
        match found.len() {
            0 => "nothing in the policy defines it".to_owned(),
            1 => found.remove(0),
            count => format!("{}, and {} others", found.remove(0), count - 1),
        }
    }
}

// A promiser with variables may become any name that fits its fixed beginning.
fn names_class(promiser: &str, name: &str) -> bool {
    match promiser.find(['$', '@']) {
        Some(0) => false,
        Some(at) => name.starts_with(&canonify(&promiser[..at])),
        None => canonify(promiser) == name,
    }
}

fn mentions(value: &Rval, name: &str) -> bool {
    match value {
        Rval::Scalar(text) => names_class(text, name),
        Rval::List(items) => items.iter().any(|item| mentions(item, name)),
        Rval::Call(call) => call.args.iter().any(|arg| mentions(arg, name)),
        Rval::Data(_) | Rval::None => false,
    }
}
