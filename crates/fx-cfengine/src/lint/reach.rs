//! Guards that hold on no machine at no time.

use fx_cfengine_syntax as ast;
use fx_source::{Diagnostic, Span};
use rustc_hash::FxHashSet;

use crate::eval::expr::{self, Expr};

/// With more names than this the table of their truth is not gone through.
const MOST_NAMES: usize = 12;

pub(super) fn check(block: &ast::Block, out: &mut Vec<Diagnostic>) {
    let ast::Block::Bundle(bundle) = block else { return };
    let mut reported: FxHashSet<Span> = FxHashSet::default();
    for promise in bundle.sections.iter().flat_map(|section| &section.promises) {
        let mut parts: Vec<(String, Span)> = Vec::new();
        if let Some(ast::Guard::Plain(name) | ast::Guard::Variable(name)) = &promise.guard {
            parts.push((name.text.to_string(), name.span));
        }
        for attribute in &promise.attributes {
            if let ast::RvalKind::Quoted(text) = &attribute.value.kind {
                match &*attribute.name.text {
                    "if" | "ifvarclass" => parts.push((text.to_string(), attribute.value.span)),
                    "unless" => parts.push((format!("!({text})"), attribute.value.span)),
                    _ => {}
                }
            }
        }
        // A part that is impossible alone is reported alone, and once for all promises below it.
        let alone = parts.iter().find(|(text, _)| is_impossible(std::slice::from_ref(text)));
        let whole: Vec<String> = parts.iter().map(|(text, _)| text.clone()).collect();
        let (place, other) = match alone {
            Some((_, span)) => (*span, None),
            None if is_impossible(&whole) => match &parts[..] {
                [(_, first), .., (_, last)] => (*last, Some(*first)),
                _ => continue,
            },
            None => continue,
        };
        if reported.insert(place) {
            let text = "this holds nowhere and never: what it guards is not reached";
            let mut found = Diagnostic::warning("cf-unreachable", text).label(place, "");
            if let Some(other) = other {
                found = found.label(other, "together with this");
            }
            out.push(found);
        }
    }
}

/// Whether no choice of classes makes all expressions true.
fn is_impossible(texts: &[String]) -> bool {
    let mut parsed = Vec::new();
    for text in texts {
        match expr::parse(text) {
            Some(expr) => parsed.push(expr),
            None => return false,
        }
    }
    let mut names: Vec<&str> = Vec::new();
    for expr in &parsed {
        if !gather(expr, &mut names, 0) {
            return false;
        }
    }
    names.retain(|name| *name != "any");
    names.sort_unstable();
    names.dedup();
    if parsed.is_empty() || names.len() > MOST_NAMES {
        return false;
    }
    (0_u32..1 << names.len()).all(|row| {
        let holds = |name: &str| {
            name == "any" || names.binary_search(&name).is_ok_and(|at| row >> at & 1 == 1)
        };
        !parsed.iter().all(|expr| expr.eval(&holds) == Some(true))
    })
}

// False where a variable decides.
fn gather<'e>(node: &'e Expr, out: &mut Vec<&'e str>, depth: usize) -> bool {
    if depth > 64 {
        return false;
    }
    match node {
        Expr::Or(items) | Expr::And(items) => items.iter().all(|item| gather(item, out, depth + 1)),
        Expr::Not(item) => gather(item, out, depth + 1),
        Expr::Name(name) => {
            out.push(name);
            true
        }
        Expr::Unexpanded => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_found() {
        let table: [(&[&str], bool); 8] = [
            (&["!any"], true),
            (&["a.!a"], true),
            (&["(a|b).!a.!b"], true),
            (&["a|!a"], false),
            (&["a.!b"], false),
            (&["a", "!a"], true),
            (&["a", "b"], false),
            (&["$(x).!a", "a"], false),
        ];
        for (texts, expected) in table {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(is_impossible(&texts), expected, "{texts:?}");
        }
    }
}
