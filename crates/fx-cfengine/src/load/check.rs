//! Checks on loaded policy: duplicates, reserved names, undefined bodies, arity.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::eval::value::DataType;
use crate::policy::{Policy, Promise, Rval, split_qualified};
use crate::text::{Str, has_variable};
use crate::vocabulary;

/// A finding, with its place.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) file: Str,
    pub(crate) line: u32,
    pub(crate) text: String,
}

fn promises(policy: &Policy) -> impl Iterator<Item = &Rc<Promise>> {
    policy.bundles.iter().flat_map(|bundle| &bundle.sections).flat_map(|section| &section.promises)
}

/// What can be said of one file, or of everything merged.
pub(crate) fn partial(policy: &Policy) -> Vec<Problem> {
    let mut out = Vec::new();
    let mut seen: FxHashSet<(&str, &str, &str)> = FxHashSet::default();
    for bundle in &policy.bundles {
        let head = &bundle.head;
        let mut problem = |text: String| out.push(Problem { file: Rc::clone(&head.file), line: head.line, text });
        if !seen.insert((&head.kind, &head.namespace, &head.name)) {
            problem(format!("Duplicate definition of bundle {} with type {}", head.name, head.kind));
        }
        if matches!(&*head.name, "sys" | "const" | "mon" | "edit" | "match" | "this") {
            problem(format!("Use of a reserved container name as a bundle name \"{}\"", head.name));
        }
    }
    let mut seen: FxHashSet<(&str, &str, &str)> = FxHashSet::default();
    for body in &policy.bodies {
        let mut problem = |text: String| out.push(Problem { file: Rc::clone(&body.file), line: body.line, text });
        if !seen.insert((&body.kind, &body.namespace, &body.name)) && &*body.kind != "file" {
            problem(format!("Duplicate definition of body {} with type {}", body.name, body.kind));
        }
        if &*body.name == "control" && !body.args.is_empty() {
            problem(format!("Control bodies cannot take arguments, body {} control", body.kind));
        }
    }
    for bundle in &policy.bundles {
        for section in &bundle.sections {
            for promise in &section.promises {
                check_promise(policy, promise, section.built_in, &mut out);
            }
        }
    }
    duplicate_handles(policy, &mut out);
    out
}

fn problem_at(promise: &Promise, line: u32, text: String) -> Problem {
    Problem { file: Rc::clone(&promise.bundle.file), line, text }
}

fn check_promise(policy: &Policy, promise: &Promise, built_in: bool, out: &mut Vec<Problem>) {
    if !built_in {
        if vocabulary::is_built_in(&promise.kind) {
            out.push(problem_at(
                promise,
                promise.line,
                format!("Promise type '{}' not supported by '{}' bundle type", promise.kind, promise.bundle.kind),
            ));
        }
        return;
    }
    let numerical = !promise.promiser.is_empty() && promise.promiser.bytes().all(|byte| byte.is_ascii_digit());
    match &*promise.kind {
        "vars" => {
            if numerical {
                out.push(problem_at(
                    promise,
                    promise.line,
                    "Variable promises cannot have a purely numerical promiser (name)".into(),
                ));
            }
            if !valid_variable(&promise.promiser) {
                out.push(problem_at(promise, promise.line, "Variable promise is using an invalid name".into()));
            }
            let mut declared: Option<&Str> = None;
            for attribute in &promise.attributes {
                if DataType::from_word(&attribute.name).is_some() {
                    if let Some(first) = declared {
                        out.push(problem_at(
                            promise,
                            attribute.line,
                            format!("Variable contains existing data type contstraint {first}, tried to redefine with {}", attribute.name),
                        ));
                    }
                    declared = Some(&attribute.name);
                }
            }
        }
        "classes" if numerical => out.push(problem_at(
            promise,
            promise.line,
            "Classes promises cannot have a purely numerical name (promiser)".into(),
        )),
        "methods" => {
            if let Some(attribute) = promise.attribute("usebundle")
                && let Rval::Call(call) = &attribute.value
            {
                let (namespace, name) = split_qualified(&call.name);
                let namespace = namespace.unwrap_or(&promise.bundle.namespace);
                let callee = policy.bundle("agent", namespace, name).or_else(|| policy.bundle("common", namespace, name));
                if let Some(callee) = callee
                    && callee.head.args.len() != call.args.len()
                {
                    out.push(problem_at(
                        promise,
                        attribute.line,
                        format!(
                            "Conflicting arity in calling bundle {}, expected {} arguments, {} given",
                            call.name,
                            callee.head.args.len(),
                            call.args.len()
                        ),
                    ));
                }
            }
        }
        _ => {}
    }
}

// Names with references are looked at when they are expanded.
fn valid_variable(name: &str) -> bool {
    if has_variable(name) {
        return true;
    }
    let head = &name[..name.find('[').unwrap_or(name.len())];
    !matches!(head, "promiser" | "handle" | "promise_filename" | "promise_dirname" | "promise_linenumber" | "this")
        && !head.starts_with('.')
        && !head.ends_with('.')
        && !head.contains("..")
}

fn duplicate_handles(policy: &Policy, out: &mut Vec<Problem>) {
    let mut known: FxHashMap<&str, &Rc<Promise>> = FxHashMap::default();
    for promise in promises(policy) {
        let Some(handle) = promise.scalar("handle") else { continue };
        if has_variable(handle) {
            continue;
        }
        match known.get(&**handle) {
            Some(other) if other.guard == promise.guard => {
                out.push(problem_at(promise, promise.line, format!("Duplicate promise handle {handle} found")));
            }
            Some(_) => {}
            None => {
                known.insert(handle, promise);
            }
        }
    }
}

/// What must hold before policy is run.
pub(crate) fn runnable(policy: &Policy, require_comments: bool) -> Vec<Problem> {
    let mut out = Vec::new();
    for promise in promises(policy) {
        if require_comments && promise.attribute("comment").is_none() {
            out.push(problem_at(
                promise,
                promise.line,
                "Promise is missing a comment attribute, and comments are required by policy".into(),
            ));
        }
        let Some(own) = vocabulary::promise_type(&promise.bundle.kind, &promise.kind) else { continue };
        for attribute in &promise.attributes {
            let body = vocabulary::promise_attribute(own, &attribute.name)
                .is_some_and(|known| known.kind == vocabulary::Type::Body);
            if !body {
                continue;
            }
            let symbol = match &attribute.value {
                Rval::Scalar(text) => text,
                Rval::Call(call) => &call.name,
                _ => continue,
            };
            let (namespace, name) = split_qualified(symbol);
            let found = match namespace {
                Some(namespace) => policy.body(&attribute.name, namespace, name).is_some(),
                None => {
                    policy.body(&attribute.name, &promise.bundle.namespace, name).is_some()
                        || policy.bodies.iter().any(|body| *body.kind == *attribute.name && &*body.name == name)
                }
            };
            if !found {
                out.push(problem_at(
                    promise,
                    attribute.line,
                    format!("Undefined body {name} with type {}", attribute.name),
                ));
            }
        }
    }
    for bundle in &policy.bundles {
        for section in bundle.sections.iter().filter(|section| !section.built_in) {
            if policy.promise_block(&section.kind).is_none() {
                out.push(Problem {
                    file: Rc::clone(&bundle.head.file),
                    line: section.promises.first().map_or(bundle.head.line, |promise| promise.line),
                    text: format!("Undefined promise type '{}'", section.kind),
                });
            }
        }
    }
    duplicate_handles(policy, &mut out);
    out
}

/// Expands every promise of every bundle once without acting, so that values that were
/// unknown at parse time are checked, and variables get values.
pub(crate) fn recheck(ctx: &mut crate::eval::Context<'_>) {
    use crate::eval::frames::Frame;
    use crate::outcome::Outcome;
    let policy = Rc::clone(&ctx.policy);
    for bundle in &policy.bundles {
        ctx.push_bundle(bundle, &[], false);
        for section in &bundle.sections {
            if !matches!(&*section.kind, "vars" | "meta") {
                continue;
            }
            ctx.stack.push(Frame::Section);
            for promise in &section.promises {
                ctx.expand_promise(promise, &mut |ctx, expanded| {
                    crate::agent::promise::vars::keep(ctx, expanded);
                    Outcome::Kept
                });
                if ctx.stopped() {
                    return;
                }
            }
            ctx.stack.pop();
        }
        ctx.stack.pop();
    }
}
