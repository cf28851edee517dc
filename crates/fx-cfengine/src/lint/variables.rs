//! References to variables that nothing defines.

use fx_cfengine_syntax as ast;
use fx_source::{Diagnostic, Span};

use crate::eval::Context;
use crate::eval::vars::Ref;

use super::symbols::Symbols;
use super::{nearest, walk};

/// Scopes that no bundle makes.
const MADE_BY_THE_AGENT: &[&str] =
    &["this", "match", "edit", "body", "mon", "connection", "def", "data", "config", "default"];

/// Names that every promise has, and what maplist and the like call the element at hand.
const OF_EVERY_PROMISE: &[&str] =
    &["promiser", "handle", "bundle", "namespace", "with", "this", "this.k", "this.v"];

/// Places in commands of package methods, filled in when a package is compared or fetched.
const OF_PACKAGE_METHODS: &[&str] = &["v1", "v2", "firstrepo"];

pub(super) fn check(
    ctx: &Context<'_>,
    symbols: &Symbols,
    block: &ast::Block,
    out: &mut Vec<Diagnostic>,
) {
    match block {
        ast::Block::Bundle(bundle) => {
            let scope = Scope { ctx, symbols, namespace: &bundle.namespace, bundle: Some(bundle) };
            for section in &bundle.sections {
                // A shell expands what is no variable of ours.
                let shell = &*section.kind.text == "commands";
                for promise in &section.promises {
                    scope.text(&promise.promiser.text, promise.promiser.span, shell, out);
                    for attribute in &promise.attributes {
                        scope.value(&attribute.value, shell, out);
                    }
                }
            }
        }
        ast::Block::Settings(body) => {
            // What a body does not define itself is looked for where it is used.
            let scope = Scope { ctx, symbols, namespace: &body.namespace, bundle: None };
            for attribute in &body.attributes {
                scope.value(&attribute.value, false, out);
            }
        }
    }
}

struct Scope<'a, 'c> {
    ctx: &'a Context<'c>,
    symbols: &'a Symbols,
    namespace: &'a str,
    bundle: Option<&'a ast::Bundle>,
}

impl Scope<'_, '_> {
    fn value(&self, value: &ast::Rval, shell: bool, out: &mut Vec<Diagnostic>) {
        let mut shell = shell;
        walk(
            value,
            &mut |value| match &value.kind {
                ast::RvalKind::Call { name, .. } => {
                    shell |= matches!(&**name, "execresult" | "execresult_as_data" | "returnszero");
                }
                ast::RvalKind::Quoted(text) | ast::RvalKind::Naked(text) => {
                    self.text(text, value.span, shell, out);
                }
                _ => {}
            },
            0,
        );
    }

    fn text(&self, text: &str, span: Span, shell: bool, out: &mut Vec<Diagnostic>) {
        if let Some(name) = left_open(text).filter(|_| !shell) {
            let message = format!("the reference to variable '{name}' is not closed");
            out.push(finding("cf-variable", message, None).label(span, ""));
        }
        for name in references(text) {
            // What is tested need not be there.
            if self.symbols.is_word(&name) {
                continue;
            }
            let reference = Ref::parse(&name);
            if let Some(found) = match reference.scope {
                None if shell => None,
                None => self.own(reference.name),
                Some(scope) => self.qualified(&reference, scope),
            } {
                out.push(found.label(span, ""));
            }
        }
    }

    fn own(&self, name: &str) -> Option<Diagnostic> {
        let name = name.split('[').next().unwrap_or(name);
        let bundle = self.bundle?;
        let vars = self.vars(&bundle.namespace, &bundle.name.text)?;
        if vars.may_have(name)
            || self.symbols.is_word(name)
            || OF_EVERY_PROMISE.contains(&name)
            || OF_PACKAGE_METHODS.contains(&name)
            || name.starts_with("promise")
            || name.bytes().all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        let message = format!("nothing defines variable '{name}' in bundle '{}'", bundle.name.text);
        let near = nearest(name, vars.names.iter().map(String::as_str));
        Some(finding("cf-variable", message, near))
    }

    fn qualified(&self, reference: &Ref<'_>, scope: &str) -> Option<Diagnostic> {
        let name = reference.name;
        let base = name.split('[').next().unwrap_or(name);
        let whole = format!("{scope}.{base}");
        if scope == "sys" || scope == "const" {
            let known = self.ctx.vars.scope(scope)?;
            if known.vars.contains_key(base) || known.vars.keys().any(|it| array_of(it, base)) {
                return None;
            }
            // Other platforms and editions have more, so only what is near a known one.
            let near = nearest(base, known.vars.keys().map(|name| &**name))?;
            let message = format!("there is no variable '{whole}' here");
            return Some(finding("cf-variable", message, Some(near)));
        }
        // Metadata is looked at where it is there.
        if MADE_BY_THE_AGENT.contains(&scope)
            || scope.contains(['$', '@'])
            || scope.ends_with("_meta")
        {
            return None;
        }
        let space = reference.namespace.unwrap_or(self.namespace);
        let key = crate::policy::scope_key(space, scope);
        if self.ctx.vars.scope(&key).is_some_and(|known| {
            known.vars.contains_key(base) || known.vars.keys().any(|it| array_of(it, base))
        }) {
            return None;
        }
        if let Some(vars) = self.vars(space, scope).or_else(|| self.vars("default", scope)) {
            if vars.may_have(base) || self.symbols.is_word(base) || self.symbols.is_word(&whole) {
                return None;
            }
            let near = nearest(base, vars.names.iter().map(String::as_str));
            let message = format!("nothing defines variable '{base}' in bundle '{scope}'");
            return Some(finding("cf-variable", message, near));
        }
        // A module may have a scope of its own; only a name near a bundle's is surely wrong.
        let bundles = self.symbols.bundles.keys().map(|key| key.rsplit(':').next().unwrap_or(key));
        let near = nearest(scope, bundles)?;
        let message =
            format!("there is no bundle '{scope}' whose variable '{base}' could be meant");
        Some(finding("cf-variable", message, Some(near)))
    }

    fn vars(&self, namespace: &str, bundle: &str) -> Option<&super::symbols::BundleVars> {
        self.symbols.bundles.get(&format!("{namespace}:{bundle}"))
    }
}

fn array_of(name: &str, base: &str) -> bool {
    name.strip_prefix(base).is_some_and(|rest| rest.starts_with('['))
}

fn finding(code: &'static str, message: String, near: Option<&str>) -> Diagnostic {
    let found = Diagnostic::warning(code, message);
    match near {
        Some(near) => found.help(format!("did you mean '{near}'?")),
        None => found,
    }
}

/// The names of a text's references; one whose name is itself made of variables is left
/// out, but not those inside it.
fn references(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut open: Vec<(usize, u8, bool)> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'$' | b'@' if matches!(bytes.get(at + 1), Some(b'(' | b'{')) => {
                if let Some((_, _, plain)) = open.last_mut() {
                    *plain = false;
                }
                let close = if bytes[at + 1] == b'(' { b')' } else { b'}' };
                open.push((at + 2, close, true));
                at += 1;
            }
            byte => {
                if let Some((start, close, plain)) = open.last().copied()
                    && byte == close
                {
                    open.pop();
                    let inside = &text[start..at];
                    if plain && is_name(inside) {
                        out.push(inside.to_owned());
                    }
                }
            }
        }
        at += 1;
    }
    out
}

// A name with scope and namespace, and perhaps indices of any text.
fn is_name(text: &str) -> bool {
    let base = text.split('[').next().unwrap_or(text);
    !base.is_empty()
        && base.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:".contains(&byte))
        && (base.len() == text.len() || text.ends_with(']'))
}

/// The name at the end of a text, behind `$(` or `${` that nothing closes.
fn left_open(text: &str) -> Option<&str> {
    let (at, open) = text.rmatch_indices(['(', '{']).next()?;
    let (before, name) = (&text[..at], &text[at + 1..]);
    let close = if open == "(" { ')' } else { '}' };
    (before.ends_with('$') && !before.ends_with("\\$") && !name.contains(close) && is_name(name))
        .then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_that_nothing_closes_are_found() {
        for (text, name) in [
            ("a $(b", Some("b")),
            ("${b.c", Some("b.c")),
            ("$(a", Some("a")),
            ("$(a)", None),
            ("x$(", None),
            ("(^|$)(b", None),
            ("a\\$(b", None),
            ("$(a b", None),
        ] {
            assert_eq!(left_open(text), name, "{text}");
        }
    }

    #[test]
    fn references_are_taken_out_of_text() {
        let table = [
            ("$(a) ${b.c} @(d)", "a b.c d"),
            ("$(a[$(i)]) $(x[1])", "i x[1]"),
            ("$($(inner))", "inner"),
            ("$(date +%s) $HOME $(a", ""),
            ("\\$(a)$(const.dollar)(b)", "a const.dollar"),
        ];
        for (text, expected) in table {
            assert_eq!(references(text).join(" "), expected, "{text}");
        }
    }
}
