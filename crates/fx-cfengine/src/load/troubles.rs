//! The errors of one file in the order in which the original reports them.
//!
//! The original checks attributes while it parses, and stops checking inside a bundle once
//! something in it was wrong. Errors of syntax and of vocabulary are found apart here, and
//! are put together by place.

use fx_cfengine_syntax::{Event, UNSPECIFIC, replay, token_end};
use fx_source::{Diagnostic, FileId, Span};

use crate::vocabulary;

/// How an error of the vocabulary goes with those before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// Reported whatever was wrong before.
    Always,
    /// Reported, and what follows in the bundle is not installed.
    AlwaysLast,
    /// Reported unless something was wrong before; then as the one above.
    Last,
    /// Reported unless something was wrong before.
    Value,
}

/// Codes of what can be wrong with policy text.
pub(crate) mod code {
    /// The text or a value in it.
    pub(crate) const SYNTAX: &str = "cf-syntax";
    /// The type of a bundle.
    pub(crate) const BUNDLE_TYPE: &str = "cf-bundle-type";
    /// An attribute of a promise.
    pub(crate) const ATTRIBUTE: &str = "cf-attribute";
    /// An attribute of a body.
    pub(crate) const BODY_ATTRIBUTE: &str = "cf-body-attribute";
    /// A class expression.
    pub(crate) const CONTEXT: &str = "cf-context";
    /// A custom promise type.
    pub(crate) const CUSTOM_TYPE: &str = "cf-custom-type";
    /// Something the language no longer has.
    pub(crate) const REMOVED: &str = "cf-removed";
    /// Something the language is about to lose.
    pub(crate) const DEPRECATED: &str = "cf-deprecated";
}

fn weight(code: &str) -> Weight {
    match code {
        code::BUNDLE_TYPE | code::ATTRIBUTE => Weight::AlwaysLast,
        code::BODY_ATTRIBUTE => Weight::Last,
        code::CONTEXT | code::CUSTOM_TYPE => Weight::Always,
        _ => Weight::Value,
    }
}

// A word may be the name of a call, so a value that is one is only checked with the token
// after it.
fn looked_ahead(file: FileId, text: &[u8], mut error: Diagnostic) -> Diagnostic {
    let Some(label) = error.labels.first_mut() else { return error };
    let word = text.get(label.span.start as usize..label.span.end as usize).unwrap_or_default();
    let bare = word.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if bare && weight(error.code) == Weight::Value {
        let end = token_end(file, text, label.span.end);
        label.span = Span::new(file, label.span.start, end);
    }
    error
}

// What is reported of an attribute that has no value: only those of the type itself are looked at,
// and not those that name a body or a bundle.
fn without_value(block: &str, section: Option<&str>, name: Option<&str>) -> Option<String> {
    let known = match section {
        Some(section) => vocabulary::promise_type(block, section)?,
        None => vocabulary::body_type(block)?,
    };
    let Some(name) = name else {
        let section = section?;
        return Some(format!("Unknown constraint 'no lval' in promise type '{section}'"));
    };
    let attribute = known.iter().find(|attribute| attribute.name == name)?;
    let checked = !matches!(attribute.kind, vocabulary::Type::Body | vocabulary::Type::Bundle);
    checked.then(|| "Attempted to give a value of type null".to_owned())
}

// What is reported of an attribute that its type of promise does not have. Types that are defined elsewhere have any.
fn unknown_attribute(block: &str, section: &str, name: &str) -> Option<String> {
    let known = vocabulary::promise_type(block, section)?;
    let found = vocabulary::promise_attribute(known, name)
        .or_else(|| vocabulary::attribute_of_every_bundle(name));
    found.is_none().then(|| {
        format!(
            "Unknown attribute '{name}' for promise type '{section}' in bundle with type '{block}'"
        )
    })
}

enum Step {
    Event(Event),
    Found(Diagnostic),
}

/// Puts what the parser and what the vocabulary found into the original's order, and leaves
/// out what it does not get to.
pub(super) fn in_order(
    file: FileId,
    text: &[u8],
    parsed: Vec<Diagnostic>,
    found: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    if parsed.is_empty() && found.is_empty() {
        return Vec::new();
    }
    let found: Vec<Diagnostic> =
        found.into_iter().map(|error| looked_ahead(file, text, error)).collect();
    let events = replay(file, text);
    let stumbles =
        events.iter().any(|(_, event)| matches!(event, Event::Error(_) | Event::Unspecific));
    if stumbles == parsed.is_empty() {
        // Only one of the two readers stumbles: what it says is all there is.
        let mut all = parsed;
        all.extend(found);
        all.sort_by_key(Diagnostic::primary);
        return all;
    }
    let end = |error: &Diagnostic| error.primary().map_or(0, |span| span.end);
    let mut steps: Vec<(u32, Span, Step)> =
        events.into_iter().map(|(span, event)| (span.end, span, Step::Event(event))).collect();
    let nowhere = Span::new(file, 0, 0);
    steps.extend(
        found
            .into_iter()
            .map(|error| (end(&error), error.primary().unwrap_or(nowhere), Step::Found(error))),
    );
    steps.sort_by_key(|(end, ..)| *end);
    let mut out: Vec<Diagnostic> = Vec::new();
    let mut skipping = false;
    for (_, span, step) in steps {
        match step {
            Step::Event(Event::Error(message)) => {
                out.push(Diagnostic::error(code::SYNTAX, message).label(span, ""));
            }
            Step::Event(Event::Unspecific) => {
                out.push(Diagnostic::error(UNSPECIFIC, "syntax error").label(span, ""));
            }
            Step::Event(Event::NoValue(block, section, name)) => {
                if let Some(message) = without_value(&block, section.as_deref(), name.as_deref())
                    && !skipping
                {
                    out.push(Diagnostic::error(code::SYNTAX, message).label(span, ""));
                }
            }
            Step::Event(Event::Attribute(block, section, name)) => {
                if let Some(message) = unknown_attribute(&block, &section, &name) {
                    out.push(Diagnostic::error(code::ATTRIBUTE, message).label(span, ""));
                    skipping = true;
                }
            }
            Step::Event(Event::Skip) => skipping = true,
            Step::Event(Event::BundleEnd) => skipping = false,
            Step::Event(Event::Stop) => break,
            // The tree lacks what follows an error, and has what the original passes over.
            Step::Found(error) if error.code == code::ATTRIBUTE => {}
            Step::Found(error) => {
                let weight = weight(error.code);
                let shown = matches!(weight, Weight::Always | Weight::AlwaysLast) || !skipping;
                skipping |= matches!(weight, Weight::AlwaysLast | Weight::Last);
                if shown {
                    out.push(error);
                }
            }
        }
    }
    out
}
