//! Promises behind a class that is always set and ends the run or the bundle.
//!
//! Only a class that nothing conditions is reported: whether another one is set is not known.

use fx_cfengine_syntax as ast;
use fx_source::Diagnostic;

use super::{text_of, walk};

/// Patterns of classes that abort, of all control bodies, where nothing guards them.
pub(super) fn patterns(trees: &[ast::File]) -> Vec<String> {
    let mut out = Vec::new();
    let blocks = trees.iter().flat_map(|tree| &tree.blocks);
    for block in blocks {
        let ast::Block::Settings(body) = block else { continue };
        if &*body.kind.text != "agent" || &*body.name.text != "control" {
            continue;
        }
        for attribute in &body.attributes {
            let aborts = matches!(&*attribute.name.text, "abortclasses" | "abortbundleclasses");
            if aborts && is_any(attribute.guard.as_ref()) {
                let mut take = |value: &ast::Rval| out.extend(text_of(value).map(str::to_owned));
                walk(&attribute.value, &mut take, 0);
            }
        }
    }
    out
}

fn is_any(guard: Option<&ast::Guard>) -> bool {
    match guard {
        None => true,
        Some(ast::Guard::Plain(name)) => &*name.text == "any",
        Some(ast::Guard::Variable(_)) => false,
    }
}

pub(super) fn check(patterns: &[String], block: &ast::Block, out: &mut Vec<Diagnostic>) {
    let ast::Block::Bundle(bundle) = block else { return };
    if patterns.is_empty() || &*bundle.kind.text != "agent" {
        return;
    }
    let ends = bundle
        .sections
        .iter()
        .filter(|section| &*section.kind.text == "classes")
        .flat_map(|section| &section.promises)
        .find(|promise| always_set(promise) && matches_one(patterns, &promise.promiser.text));
    let Some(ends) = ends else { return };
    // Types that come before classes in normal order have had their turn.
    let behind = bundle
        .sections
        .iter()
        .filter(|section| !matches!(&*section.kind.text, "meta" | "vars" | "defaults" | "classes"))
        .flat_map(|section| &section.promises)
        .min_by_key(|promise| promise.span);
    if let Some(behind) = behind {
        let text = format!(
            "class '{}' is always set and aborts: this and what follows is not reached",
            ends.promiser.text
        );
        let found = Diagnostic::warning("cf-unreachable", text)
            .label(behind.promiser.span, "")
            .label(ends.promiser.span, "set here");
        out.push(found);
    }
}

fn matches_one(patterns: &[String], class: &str) -> bool {
    patterns.iter().any(|pattern| crate::regex::full(pattern, class))
}

// Nothing but `any` decides about it.
fn always_set(promise: &ast::Promise) -> bool {
    let mut asked = true;
    for attribute in &promise.attributes {
        match &*attribute.name.text {
            "expression" | "and" | "or" => {
                let any = |value: &ast::Rval| text_of(value) == Some("any");
                asked &= match &attribute.value.kind {
                    ast::RvalKind::List(items) => !items.is_empty() && items.iter().all(any),
                    _ => any(&attribute.value),
                };
            }
            "comment" | "meta" | "handle" | "scope" | "persistence" | "timer_policy" => {}
            _ => return false,
        }
    }
    asked && is_any(promise.guard.as_ref())
}
