//! Findings about policy that can be run but hardly means what it says: names that nothing
//! defines, and promises that can never be reached. Nothing is evaluated here.
//!
//! Names may come from outside a policy (the command line, augments, modules), so what is
//! not known for sure is only reported where a known name is so near that it must be meant.

mod abort;
mod classes;
mod reach;
mod symbols;
mod variables;

use fx_cfengine_syntax as ast;
use fx_source::Diagnostic;

use crate::eval::Context;

/// Everything that is to be said of the policy that was loaded.
pub(crate) fn findings(ctx: &Context<'_>) -> Vec<Diagnostic> {
    let trees: Vec<ast::File> =
        ctx.parsed.iter().map(|id| ast::parse(*id, ctx.sources.file(*id).bytes()).0).collect();
    let symbols = symbols::Symbols::of(&trees);
    let aborts = abort::patterns(&trees);
    let mut out = Vec::new();
    for tree in &trees {
        for block in &tree.blocks {
            variables::check(ctx, &symbols, block, &mut out);
            classes::check(ctx, &symbols, block, &mut out);
            reach::check(block, &mut out);
            abort::check(&aborts, block, &mut out);
        }
    }
    out.sort_by_key(Diagnostic::primary);
    out.dedup();
    out
}

/// The name among many that was likely meant, if one is near enough.
fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let most = match name.len() {
        0..4 => return None,
        4..8 => 1,
        _ => 2,
    };
    known
        .filter(|other| other.len().abs_diff(name.len()) <= most && *other != name)
        .map(|other| (distance(other, name), other))
        .filter(|(distance, other)| *distance <= most && !differ_on_purpose(name, other))
        .min()
        .map(|(_, other)| other)
}

// As for words of the language, but two letters that changed places are one slip.
fn distance(a: &str, b: &str) -> usize {
    let differing: Vec<usize> = a
        .bytes()
        .zip(b.bytes())
        .enumerate()
        .filter(|(_, (x, y))| x != y)
        .map(|(at, _)| at)
        .collect();
    match differing[..] {
        [at, next]
            if a.len() == b.len()
                && next == at + 1
                && a.as_bytes()[at] == b.as_bytes()[next]
                && a.as_bytes()[next] == b.as_bytes()[at] =>
        {
            1
        }
        _ => crate::vocabulary::distance(a, b),
    }
}

// `web1` and `web2` are two names, not one misspelt; so are `defined` and `undefined`.
fn differ_on_purpose(a: &str, b: &str) -> bool {
    let letters = |text: &str| -> String { text.chars().filter(|c| !c.is_ascii_digit()).collect() };
    let opposite = |a: &str, b: &str| a.strip_prefix("un") == Some(b);
    letters(a) == letters(b) || opposite(a, b) || opposite(b, a)
}

/// Every value of a promise or body with what it stands for: the attribute's name and the
/// right-hand side, calls and lists taken apart.
fn walk<'t>(value: &'t ast::Rval, visit: &mut dyn FnMut(&'t ast::Rval), depth: usize) {
    visit(value);
    if depth > 32 {
        return;
    }
    let parts = match &value.kind {
        ast::RvalKind::List(items) => items,
        ast::RvalKind::Call { args, .. } => args,
        _ => return,
    };
    for part in parts {
        walk(part, visit, depth + 1);
    }
}

/// The text of a value that is one.
fn text_of(value: &ast::Rval) -> Option<&str> {
    match &value.kind {
        ast::RvalKind::Quoted(text) | ast::RvalKind::Naked(text) | ast::RvalKind::Bare(text) => {
            Some(text)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_numbered_ones_are_not() {
        let known = ["webserver", "web1", "database", "abc"];
        let table = [
            ("websrever", Some("webserver")),
            ("web2", None),
            ("databse", Some("database")),
            ("abd", None),
            ("mailserver", None),
        ];
        for (name, expected) in table {
            assert_eq!(nearest(name, known.into_iter()), expected, "{name}");
        }
    }
}
