//! classes: a name becomes a class when its expression holds.

use std::rc::Rc;

use fx_engine::Level;

use crate::eval::classes::ClassScope;
use crate::eval::promise::Expanded;
use crate::eval::{Context, expr, log};
use crate::outcome::Outcome;
use crate::policy::Rval;
use crate::text::{Str, canonify, int_from, is_expandable, naked};

const KINDS: &[&str] = &["expression", "not", "and", "or", "xor", "select_class", "dist"];

/// Evaluates a classes promise.
pub fn keep(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
    let name: Str = canonify(&promise.promiser).into();
    let conditions: Vec<&(Str, Rval)> =
        promise.attributes.iter().filter(|(name, _)| KINDS.contains(&&**name)).collect();
    if conditions.len() > 1 {
        let text = format!("Irreconcilable constraints in classes for '{}'", promise.promiser);
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    }
    if ctx.defined(&name) {
        if promise.int("persistence") == Some(0) {
            ctx.forget_persistent(&name);
        }
        return Outcome::Kept;
    }
    if let Some((kind, value)) = conditions.first()
        && !holds(ctx, promise, kind, value)
    {
        return Outcome::Kept;
    }
    let valid = || expr::parse_prefix(&name).is_some_and(|(_, length)| length == name.len());
    if !expr::is_name(&name) && !valid() {
        let text =
            format!("Attempted to name a class '{name}', which is an illegal class identifier");
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    }
    let tags: Rc<[Str]> = match promise.list("meta") {
        None => Rc::clone(&ctx.config.ids.promise_tags),
        Some(meta) => std::iter::once("source=promise".into()).chain(meta).collect(),
    };
    let comment = promise.scalar("comment").cloned();
    let minutes = promise.int("persistence").unwrap_or(0);
    let global = minutes > 0
        || match promise.scalar("scope").map(|scope| &**scope) {
            Some(scope) => scope == "namespace",
            None => &*promise.promise.bundle.kind == "common",
        };
    let scope = if global { ClassScope::Namespace } else { ClassScope::Bundle };
    log!(ctx, Verbose, "C:     +  {} class: {name}", if global { "Global" } else { "Private" });
    if let Some(comment) = &comment {
        log!(ctx, Verbose, "Added class '{name}' with comment '{comment}'");
    }
    ctx.put_class(&name, scope, Rc::clone(&tags), comment);
    if minutes > 0 {
        log!(ctx, Verbose, "C:     +  Persistent class: '{name}' ({minutes} minutes)");
        ctx.persist_class(&name, minutes, false, &tags.join(","));
    }
    Outcome::Kept
}

fn holds(ctx: &mut Context<'_>, promise: &Rc<Expanded>, kind: &str, value: &Rval) -> bool {
    let value = match value {
        Rval::Call(call) => ctx.call(call).unwrap_or_else(|| value.clone()),
        Rval::List(items) => {
            let items: Vec<Rval> =
                items.iter().map(|item| ctx.evaluate(item, None, Some("this"), true)).collect();
            Rval::List(items.into())
        }
        Rval::Scalar(text) => Rval::Scalar(ctx.expand(text, None, Some("this"))),
        other => other.clone(),
    };
    match (kind, &value) {
        ("expression", Rval::Scalar(text)) => ctx.defined(text),
        ("not", Rval::Scalar(text)) => !ctx.defined(text),
        ("expression" | "not", _) => false,
        (_, Rval::List(items)) => {
            let mut flat: Vec<Rval> = Vec::new();
            for item in items.iter() {
                match item {
                    Rval::List(more) => flat.extend(more.iter().cloned()),
                    other => flat.push(other.clone()),
                }
            }
            match kind {
                "select_class" => select(ctx, &flat),
                "dist" => distribute(ctx, promise, &flat),
                _ => combine(ctx, kind, &flat),
            }
        }
        _ => {
            ctx.error(&format!("RHS of promise body attribute '{kind}' is not a list"));
            true
        }
    }
}

fn combine(ctx: &Context<'_>, kind: &str, items: &[Rval]) -> bool {
    let here = |item: &Rval| matches!(item, Rval::Scalar(text) if ctx.defined(text));
    match kind {
        "or" => items.iter().any(here),
        "and" => items.iter().all(here),
        _ => items.iter().filter(|item| here(item)).count() % 2 == 1,
    }
}

fn select(ctx: &mut Context<'_>, items: &[Rval]) -> bool {
    if items.is_empty() {
        ctx.error("No classes to select on RHS");
        return false;
    }
    let texts: Vec<Str> = items.iter().filter_map(|item| item.as_scalar().cloned()).collect();
    if texts.len() == 1 && texts[0].starts_with('@') && naked(&texts[0], b'@').is_some() {
        return false;
    }
    let sys = |name: &str| {
        ctx.vars.get("sys", name).and_then(crate::eval::vars::Found::scalar).unwrap_or_default()
    };
    // Without an address of its own the host has the one its name resolves to.
    let name = sys("fqhost");
    let address = match sys("ipv4") {
        own if !own.is_empty() => own,
        _ => {
            let found = ctx.host().resolve(&name).unwrap_or_default();
            let first = found.iter().find(|address| address.is_ipv4());
            first.map(ToString::to_string).unwrap_or_default().into()
        }
    };
    let splay = format!("{name}+{address}+{}", ctx.host().euid());
    let chosen = &texts[crate::eval::table_order::string_hash(&splay) as usize % texts.len()];
    if is_expandable(chosen) {
        return false;
    }
    let tags: Rc<[Str]> = Rc::from(["source=promise".into()]);
    ctx.put_class(chosen, ClassScope::Namespace, tags, None);
    true
}

fn distribute(ctx: &mut Context<'_>, promise: &Rc<Expanded>, items: &[Rval]) -> bool {
    let weights: Vec<i64> = items
        .iter()
        .filter_map(|item| item.as_scalar())
        .map(|text| int_from(text).unwrap_or(-1))
        .collect();
    if weights.iter().any(|weight| *weight < 0) {
        ctx.error("Negative integer in class distribution");
        return false;
    }
    let total: i64 = weights.iter().sum();
    if total == 0 {
        ctx.error("An empty distribution was specified on RHS");
        return false;
    }
    let mut bytes = [0_u8; 8];
    ctx.host().random(&mut bytes);
    let mut left = (u64::from_le_bytes(bytes) % total as u64) as i64;
    let chosen = weights
        .iter()
        .find(|weight| {
            left -= **weight;
            left < 0
        })
        .copied()
        .unwrap_or(weights[0]);
    let scope = if &*promise.promise.bundle.kind == "common" {
        ClassScope::Namespace
    } else {
        ClassScope::Bundle
    };
    let tags: Rc<[Str]> = Rc::from(["source=promise".into()]);
    ctx.put_class(&format!("{}_{chosen}", promise.promiser), scope, tags, None);
    true
}
