//! Variables (and classes of common bundles) of a bundle, evaluated outside the passes.
//!
//! The original evaluates all of them several times before it begins; a promise that can only
//! come to the same again is passed over.

use std::rc::Rc;

use fx_engine::Level;

use crate::eval::Context;
use crate::eval::frames::Frame;
use crate::eval::promise::Expanded;
use crate::outcome::Outcome;
use crate::policy::{Bundle, Promise, Resolved, Rval};
use crate::promise;

impl Context<'_> {
    pub fn resolve_bundle(&mut self, bundle: &Rc<Bundle>) {
        if &*bundle.head.kind == "common" {
            self.resolve_section(bundle, "vars", &mut promise::vars::keep);
            self.resolve_section(bundle, "classes", &mut promise::classes::keep);
        }
        self.resolve_section(bundle, "vars", &mut promise::vars::keep);
    }

    /// Promises of one type of a bundle, evaluated by `keep`.
    pub fn resolve_section(
        &mut self,
        bundle: &Rc<Bundle>,
        kind: &str,
        keep: &mut dyn FnMut(&mut Context<'_>, &Rc<Expanded>) -> Outcome,
    ) {
        let Some(section) = bundle.section(kind) else { return };
        self.stack.push(Frame::Section);
        for promise in &section.promises {
            if self.is_resolved(promise) {
                continue;
            }
            let before = self.vars.changes.get();
            let around = self.place.replace(promise.span.filter(|_| self.checks_only()));
            self.for_each_turn(promise, &mut |ctx, expanded| {
                keep(ctx, expanded);
            });
            self.place.set(around);
            note_resolved(promise, before);
            if self.stopped() {
                break;
            }
        }
        self.stack.pop();
    }

    /// Whether evaluating a promise again before the passes can only give what it gave: no
    /// variable and no class has changed since, and nothing was said.
    fn is_resolved(&self, promise: &Promise) -> bool {
        self.pass == 0
            && promise.resolved.get() == Resolved::At(self.vars.changes.get())
            && !self.config.trace
            && !self.logs(Level::Verbose)
    }
}

/// Remembers how many changes there had been when a promise was evaluated. What it changed
/// itself comes after that, so that it is evaluated once more.
pub(crate) fn note_resolved(promise: &Promise, changes: u64) {
    let resolved = match promise.resolved.get() {
        Resolved::Open => return,
        Resolved::Never if !is_closed(promise) => Resolved::Open,
        _ => Resolved::At(changes),
    };
    promise.resolved.set(resolved);
}

/// Whether a promise depends on nothing but variables and classes.
fn is_closed(promise: &Promise) -> bool {
    matches!(&*promise.kind, "vars" | "meta")
        && promise.attributes.iter().all(|attribute| {
            CLOSED_ATTRIBUTES.contains(&&*attribute.name) && is_closed_value(&attribute.value)
        })
}

fn is_closed_value(value: &Rval) -> bool {
    match value {
        Rval::Call(call) => {
            CLOSED_FUNCTIONS.binary_search(&&*call.name).is_ok()
                && call.args.iter().all(is_closed_value)
        }
        Rval::List(items) => items.iter().all(is_closed_value),
        Rval::Scalar(_) | Rval::Data(_) | Rval::None => true,
    }
}

/// Attributes that have no body and wait for no other promise.
const CLOSED_ATTRIBUTES: &[&str] = &[
    "string",
    "int",
    "real",
    "slist",
    "ilist",
    "rlist",
    "data",
    "policy",
    "if",
    "ifvarclass",
    "unless",
    "comment",
    "handle",
    "meta",
];

/// Functions whose result is made from their arguments, variables and classes alone; sorted.
const CLOSED_FUNCTIONS: &[&str] = &[
    "and",
    "basename",
    "bundlestate",
    "canonify",
    "classify",
    "classmatch",
    "concat",
    "data_expand",
    "datastate",
    "difference",
    "dirname",
    "escape",
    "every",
    "filter",
    "format",
    "getindices",
    "getvalues",
    "grep",
    "ifelse",
    "intersection",
    "isgreaterthan",
    "islessthan",
    "isvariable",
    "join",
    "lastnode",
    "length",
    "maparray",
    "maplist",
    "max",
    "mergedata",
    "min",
    "none",
    "not",
    "nth",
    "or",
    "parsejson",
    "parseyaml",
    "product",
    "regcmp",
    "regex_replace",
    "reverse",
    "some",
    "sort",
    "splitstring",
    "storejson",
    "strcmp",
    "string_downcase",
    "string_head",
    "string_length",
    "string_mustache",
    "string_replace",
    "string_reverse",
    "string_split",
    "string_tail",
    "string_trim",
    "string_upcase",
    "sublist",
    "sum",
    "translatepath",
    "type",
    "unique",
    "variablesmatching",
    "variablesmatching_as_data",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary;

    #[test]
    fn functions_that_are_closed_exist_and_are_sorted() {
        assert!(CLOSED_FUNCTIONS.is_sorted());
        for name in CLOSED_FUNCTIONS {
            assert!(vocabulary::find_function(name).is_some(), "no function {name}");
        }
    }
}
