//! What exists in the language: promise types, bodies, functions, and what values fit.
//!
//! The tables are data; the checks here read them. Nothing is evaluated.

mod bodies;
mod check;
mod describe;
mod functions;
mod promises;

use crate::functions::Native;

pub(crate) use check::{Mismatch, check_value};
pub(crate) use describe::describe;

/// The type an attribute or parameter wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    String,
    Int,
    Real,
    StringList,
    IntList,
    RealList,
    Option,
    OptionList,
    Context,
    ContextList,
    IntRange,
    RealRange,
    Data,
    Body,
    Bundle,
}

impl Type {
    /// The word policy uses.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Type::String => "string",
            Type::Int => "int",
            Type::Real => "real",
            Type::StringList => "slist",
            Type::IntList => "ilist",
            Type::RealList => "rlist",
            Type::Option => "option",
            Type::OptionList => "olist",
            Type::Context => "class",
            Type::ContextList => "clist",
            Type::IntRange => "irange",
            Type::RealRange => "rrange",
            Type::Data => "data",
            Type::Body => "(ext body)",
            Type::Bundle => "(ext bundle)",
        }
    }

    /// Whether values of this type are lists.
    pub(crate) fn is_list(self) -> bool {
        matches!(
            self,
            Type::StringList
                | Type::IntList
                | Type::RealList
                | Type::OptionList
                | Type::ContextList
        )
    }
}

/// How current an attribute is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Normal,
    Deprecated,
    Removed,
}

/// An attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute {
    pub name: &'static str,
    pub(crate) kind: Type,
    pub(crate) range: &'static str,
    pub(crate) status: Status,
}

const fn attribute(name: &'static str, kind: Type, range: &'static str) -> Attribute {
    Attribute { name, kind, range, status: Status::Normal }
}

pub(crate) const NONE: u8 = 0;
pub(crate) const VARIADIC: u8 = 1;
pub(crate) const CACHED: u8 = 2;
pub(crate) const COLLECTING: u8 = 4;
pub(crate) const DELAYED: u8 = 8;
pub(crate) const UNSAFE: u8 = 16;

/// A function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) result: Type,
    pub(crate) params: &'static [(Type, &'static str)],
    pub(crate) options: u8,
    /// What is called.
    pub(crate) run: Native,
}

const fn function(
    name: &'static str,
    result: Type,
    params: &'static [(Type, &'static str)],
    options: u8,
    run: Native,
) -> Function {
    Function { name, result, params, options, run }
}

impl Function {
    pub(crate) fn has(&self, option: u8) -> bool {
        self.options & option != 0
    }
}

/// Attributes of a promise type in a bundle type; `None` when that bundle has no such type.
pub(crate) fn promise_type(bundle: &str, name: &str) -> Option<&'static [Attribute]> {
    let allowed = promises::BUNDLES
        .iter()
        .find(|(kind, _)| *kind == bundle)
        .map_or(&["classes", "defaults", "meta", "reports", "vars"][..], |(_, types)| types);
    if !allowed.contains(&name) {
        return None;
    }
    promises::PROMISES.iter().find(|(kind, _)| *kind == name).map(|(_, attributes)| *attributes)
}

/// Whether any bundle type has promises of this type.
pub fn is_built_in(name: &str) -> bool {
    promises::PROMISES.iter().any(|(kind, _)| *kind == name)
}

/// One attribute of a promise type, its own or a common one.
pub(crate) fn promise_attribute(
    own: &'static [Attribute],
    name: &str,
) -> Option<&'static Attribute> {
    own.iter().chain(promises::COMMON).find(|attribute| attribute.name == name)
}

/// An attribute of one of the types that every bundle has; the parser takes it in any promise.
pub(crate) fn attribute_of_every_bundle(name: &str) -> Option<&'static Attribute> {
    ["classes", "defaults", "meta", "reports", "vars"]
        .iter()
        .filter_map(|kind| promise_type("agent", kind))
        .flatten()
        .find(|attribute| attribute.name == name)
}

/// Body-typed attributes of a promise type with the common ones, for default bodies.
pub(crate) fn body_attributes(bundle: &str, name: &str) -> impl Iterator<Item = &'static str> {
    promise_type(bundle, name)
        .unwrap_or(&[])
        .iter()
        .chain(promises::COMMON)
        .filter(|attribute| attribute.kind == Type::Body)
        .map(|attribute| attribute.name)
}

/// Attributes of a body type; `None` for a body type of the user's own.
pub(crate) fn body_type(name: &str) -> Option<&'static [Attribute]> {
    bodies::BODIES.iter().find(|(kind, _)| *kind == name).map(|(_, attributes)| *attributes)
}

/// The type of an attribute wherever it occurs, as evaluation asks.
pub(crate) fn is_bundle_attribute(name: &str) -> bool {
    matches!(name, "edit_line" | "edit_xml" | "usebundle" | "home_bundle" | "service_bundle")
}

/// A function by name.
pub(crate) fn find_function(name: &str) -> Option<&'static Function> {
    let at = functions::FUNCTIONS.binary_search_by(|function| function.name.cmp(name)).ok()?;
    Some(&functions::FUNCTIONS[at])
}

/// The known function name nearest to a misspelt one.
pub(crate) fn nearest_function(name: &str) -> Option<&'static str> {
    let best = functions::FUNCTIONS
        .iter()
        .map(|function| (fx_source::distance(function.name, name), function.name))
        .min()?;
    (best.0 <= 3).then_some(best.1)
}

/// Attributes of earlier versions: read, warned about when asked, and without effect.
pub(crate) fn is_removed(name: &str) -> bool {
    matches!(
        name,
        "host_licenses_paid"
            | "auditing"
            | "binarypaddingchar"
            | "exclamation"
            | "syslog"
            | "track_value"
            | "keycacheTTL"
            | "export_zenoss"
            | "value_kept"
            | "value_repaired"
            | "value_notkept"
            | "classes_include"
            | "classes_exclude"
            | "variables_include"
            | "variables_exclude"
            | "promise_notkept_log_include"
            | "promise_notkept_log_exclude"
            | "promise_repaired_log_include"
            | "promise_repaired_log_exclude"
    )
}

/// Body types of earlier versions: read, warned about, and without effect.
pub(crate) fn is_removed_body(kind: &str) -> bool {
    matches!(kind, "reporter" | "knowledge" | "association")
}

/// Promise types of earlier versions, likewise.
pub(crate) fn is_removed_promise(bundle: &str, kind: &str) -> bool {
    matches!(
        (bundle, kind),
        ("agent", "outputs") | ("knowledge", "inferences" | "things" | "topics" | "occurrences")
    )
}

/// Bundle types that parse.
pub(crate) static BUNDLE_TYPES: &[&str] = &[
    "common",
    "agent",
    "server",
    "monitor",
    "executor",
    "runagent",
    "keygenerator",
    "hub",
    "knowledge",
    "edit_line",
    "edit_xml",
];

/// Whether a bundle type parses.
pub(crate) fn is_bundle_type(name: &str) -> bool {
    BUNDLE_TYPES.contains(&name)
}

/// Attributes of every promise.
pub(crate) fn common() -> &'static [Attribute] {
    promises::COMMON
}

/// Promise types of any bundle.
pub(crate) fn promise_types() -> impl Iterator<Item = &'static str> {
    promises::PROMISES.iter().map(|(kind, _)| *kind)
}

/// Body types.
pub(crate) fn body_types() -> impl Iterator<Item = &'static str> {
    bodies::BODIES.iter().map(|(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_found() {
        assert!(functions::FUNCTIONS.is_sorted_by_key(|function| function.name));
        assert_eq!(functions::FUNCTIONS.len(), 186);
        assert!(find_function("ifelse").is_some_and(|function| function.has(VARIADIC)));
        assert!(promise_type("edit_line", "files").is_none());
        assert!(promise_type("common", "vars").is_some());
        assert_eq!(nearest_function("strcmpp"), Some("strcmp"));
    }
}
