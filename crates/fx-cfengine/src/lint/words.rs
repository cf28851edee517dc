//! What the vocabulary says of a text, with the word or the values that were likely meant.

use fx_cfengine_syntax as ast;
use fx_source::{Diagnostic, FileId, SourceMap, Span, meant as nearest};

use crate::load::lower::{Component, Lowering};
use crate::vocabulary::{self, Attribute};

/// Errors of words and values in a tree.
pub(super) fn check(sources: &SourceMap, file: FileId, tree: &ast::File) -> Vec<Diagnostic> {
    let source = sources.file(file);
    let mut lowering = Lowering {
        file: &source,
        name: source.name().as_ref().into(),
        component: Component::Promises,
        skipped: tree.skipped.clone(),
        errors: Vec::new(),
        warnings: Vec::new(),
        top_down: None,
        guard: None,
        any: "any".into(),
    };
    let _policy = lowering.file(tree.clone());
    let mut out = lowering.errors;
    for error in &mut out {
        if error.help.is_none()
            && let Some(at) = error.primary()
        {
            error.help = help(tree, at);
        }
    }
    out
}

fn help(tree: &ast::File, at: Span) -> Option<String> {
    for block in &tree.blocks {
        let found = match block {
            ast::Block::Bundle(bundle) if bundle.kind.span == at => {
                meant(&bundle.kind.text, vocabulary::BUNDLE_TYPES.iter().copied())
            }
            ast::Block::Bundle(bundle) => bundle.sections.iter().find_map(|section| {
                let own =
                    vocabulary::promise_type(&bundle.kind.text, &section.kind.text).unwrap_or(&[]);
                let known: Vec<&Attribute> = own.iter().chain(vocabulary::common()).collect();
                let all = section.promises.iter().flat_map(|promise| &promise.attributes);
                all.into_iter().find_map(|attribute| of_attribute(attribute, &known, at))
            }),
            ast::Block::Settings(body) => {
                let known: Vec<&Attribute> =
                    vocabulary::body_type(&body.kind.text).unwrap_or(&[]).iter().collect();
                body.attributes.iter().find_map(|attribute| of_attribute(attribute, &known, at))
            }
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn of_attribute(attribute: &ast::Attribute, known: &[&Attribute], at: Span) -> Option<String> {
    if attribute.name.span == at {
        return meant(&attribute.name.text, known.iter().map(|known| known.name));
    }
    if attribute.value.span != at {
        return None;
    }
    let known = known.iter().find(|known| known.name == &*attribute.name.text)?;
    match known.kind {
        vocabulary::Type::Option => Some(format!("expected one of: {}", known.range)),
        _ => None,
    }
}

fn meant<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    nearest(name, known).map(|near| format!("did you mean '{near}'?"))
}
