//! The errors of one file in the order in which the original tells them.
//!
//! The original checks attributes while it parses, and stops checking inside a bundle once
//! something in it was wrong. Errors of syntax and of vocabulary are found apart here, and
//! are put together by place.

use fx_cfengine_syntax::{Event, replay, token_end};
use fx_source::{Diagnostic, FileId, Span};

use crate::vocabulary;

/// How an error of the vocabulary goes with those before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// Told whatever was wrong before.
    Always,
    /// Told, and what follows in the bundle is not installed.
    AlwaysLast,
    /// Told unless something was wrong before; then as the one above.
    Last,
    /// Told unless something was wrong before.
    Value,
}

fn weight(message: &str) -> Weight {
    if message.starts_with("Unknown bundle type")
        || (message.starts_with("Unknown attribute") && message.contains("for promise type"))
    {
        Weight::AlwaysLast
    } else if message.starts_with("Unknown attribute") {
        Weight::Last
    } else if message.starts_with("Syntax error in context")
        || message.starts_with("Custom promises only")
        || message.contains("promises are built in")
    {
        Weight::Always
    } else {
        Weight::Value
    }
}

// A word may be the name of a call, so a value that is one is only checked with the token
// after it.
fn looked_ahead(file: FileId, text: &[u8], mut error: Diagnostic) -> Diagnostic {
    let Some(label) = error.labels.first_mut() else { return error };
    let word = text.get(label.span.start as usize..label.span.end as usize).unwrap_or_default();
    let bare = word.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if bare && weight(&error.message) == Weight::Value {
        let end = token_end(file, text, label.span.end);
        label.span = Span::new(file, label.span.start, end);
    }
    error
}

// What is told of an attribute that has no value: only those of the type itself are looked at,
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
    let found: Vec<Diagnostic> = found
        .into_iter()
        .filter(|error| error.message != "Unknown bundle type ''")
        .map(|error| looked_ahead(file, text, error))
        .collect();
    let events = replay(file, text);
    let told = events.iter().any(|(_, event)| matches!(event, Event::Error(_)));
    if told == parsed.is_empty() {
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
                out.push(Diagnostic::error("cf-syntax", message).label(span, ""));
            }
            Step::Event(Event::NoValue(block, section, name)) => {
                if let Some(message) = without_value(&block, section.as_deref(), name.as_deref())
                    && !skipping
                {
                    out.push(Diagnostic::error("cf-syntax", message).label(span, ""));
                }
            }
            Step::Event(Event::Skip) => skipping = true,
            Step::Event(Event::BundleEnd) => skipping = false,
            Step::Event(Event::Stop) => break,
            Step::Found(error) => {
                let weight = weight(&error.message);
                let told = matches!(weight, Weight::Always | Weight::AlwaysLast) || !skipping;
                skipping |= matches!(weight, Weight::AlwaysLast | Weight::Last);
                if told {
                    out.push(error);
                }
            }
        }
    }
    out
}
