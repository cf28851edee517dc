//! Checks on loaded policy: duplicates, reserved names, undefined bodies, arity.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::eval::value::DataType;
use crate::policy::{Body, Policy, Promise, Rval, Section, split_qualified};
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
    // Each place of a name that is there more than once is reported for each of the others.
    let mut seen: FxHashMap<(&str, &str, &str), usize> = FxHashMap::default();
    for bundle in &policy.bundles {
        let head = &bundle.head;
        *seen.entry((&head.kind, &head.namespace, &head.name)).or_default() += 1;
    }
    for bundle in &policy.bundles {
        let head = &bundle.head;
        let key = (&*head.kind, &*head.namespace, &*head.name);
        for _ in 1..seen.get(&key).copied().unwrap_or(1) {
            let text =
                format!("Duplicate definition of bundle {} with type {}", head.name, head.kind);
            out.push(Problem { file: Rc::clone(&head.file), line: head.line, text });
        }
    }
    for bundle in &policy.bundles {
        let head = &bundle.head;
        if matches!(&*head.name, "sys" | "const" | "mon" | "edit" | "match" | "this") {
            let text =
                format!("Use of a reserved container name as a bundle name \"{}\"", head.name);
            out.push(Problem { file: Rc::clone(&head.file), line: head.line, text });
        }
        for section in &bundle.sections {
            for promise in &section.promises {
                check_promise(policy, promise, section, &mut out);
            }
        }
    }
    let mut seen: FxHashMap<(&str, &str, &str), usize> = FxHashMap::default();
    for body in &policy.bodies {
        *seen.entry((&body.kind, &body.namespace, &body.name)).or_default() += 1;
    }
    for body in policy.bodies.iter().filter(|body| &*body.kind != "file") {
        let key = (&*body.kind, &*body.namespace, &*body.name);
        for _ in 1..seen.get(&key).copied().unwrap_or(1) {
            let text =
                format!("Duplicate definition of body {} with type {}", body.name, body.kind);
            out.push(Problem { file: Rc::clone(&body.file), line: body.line, text });
        }
    }
    for body in &policy.bodies {
        if &*body.name == "control" && !body.args.is_empty() {
            let text = format!("Control bodies cannot take arguments, body {} control", body.kind);
            out.push(Problem { file: Rc::clone(&body.file), line: body.line, text });
        }
        for text in attributes_that_clash(body) {
            let (file, text) = (Rc::clone(&body.file), text.to_owned());
            out.push(Problem { file, line: body.line, text });
        }
    }
    duplicate_handles(policy, &mut out);
    out
}

// What attributes of one body say of each other, whatever their guards.
fn attributes_that_clash(body: &Body) -> impl Iterator<Item = &'static str> {
    let has = |name: &str| body.attributes.iter().any(|attribute| &*attribute.name == name);
    let action = &*body.kind == "action"
        && (has("log_kept") || has("log_repaired") || has("log_failed"))
        && !has("log_string");
    let acl = &*body.kind == "acl";
    let found = [
        (
            action,
            "An action body with log_kept, log_repaired or log_failed is required to have a log_string attribute",
        ),
        (
            acl && has("acl_directory_inherit") && has("acl_default"),
            "An acl body cannot have both acl_directory_inherit and acl_default. Please use acl_default only",
        ),
        (
            acl && has("specify_inherit_aces") && has("specify_default_aces"),
            "An acl body cannot have both specify_inherit_aces and specify_default_aces. Please use specify_default_aces only",
        ),
    ];
    found.into_iter().filter(|(wrong, _)| *wrong).map(|(_, text)| text)
}

fn problem_at(promise: &Promise, line: u32, text: String) -> Problem {
    Problem { file: Rc::clone(&promise.bundle.file), line, text }
}

fn check_promise(policy: &Policy, promise: &Promise, section: &Section, out: &mut Vec<Problem>) {
    if !section.built_in {
        if vocabulary::is_built_in(&promise.kind) {
            out.push(problem_at(
                promise,
                section.line,
                format!(
                    "Promise type '{}' not supported by '{}' bundle type",
                    promise.kind, promise.bundle.kind
                ),
            ));
        }
        if promise.attribute("ifvarclass").is_some_and(|attribute| attribute.line > 0) {
            out.push(problem_at(
                promise,
                promise.line,
                format!(
                    "Common attribute 'ifvarclass' not supported for custom promises, use 'if' instead ({} promises)",
                    promise.kind
                ),
            ));
        }
        return;
    }
    let values = promise.attributes.iter().filter_map(|attribute| attribute.value.as_scalar());
    if std::iter::once(&promise.promiser).chain(values).any(|text| matches!(&**text, "$()" | "${}"))
    {
        out.push(problem_at(promise, promise.line, "Empty variable reference".into()));
    }
    for attribute in promise.attributes.iter().filter(|attribute| attribute.foreign) {
        let (kind, name) = (&promise.kind, &attribute.name);
        let text = format!("Promise type {kind} has unknown attribute {name}");
        out.push(problem_at(promise, attribute.line, text));
    }
    let numerical =
        !promise.promiser.is_empty() && promise.promiser.bytes().all(|byte| byte.is_ascii_digit());
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
                out.push(problem_at(
                    promise,
                    promise.line,
                    "Variable promise is using an invalid name (promiser)".into(),
                ));
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
                let callee = policy
                    .bundle("agent", namespace, name)
                    .or_else(|| policy.bundle("common", namespace, name));
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
    !matches!(
        head,
        "promiser"
            | "handle"
            | "promise_filename"
            | "promise_dirname"
            | "promise_linenumber"
            | "this"
    ) && !head.starts_with('.')
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
                out.push(problem_at(
                    promise,
                    promise.line,
                    format!("Duplicate promise handle {handle} found"),
                ));
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
                "Promise is missing a comment attribute, and comments are required by policy"
                    .into(),
            ));
        }
        let Some(own) = vocabulary::promise_type(&promise.bundle.kind, &promise.kind) else {
            continue;
        };
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
                        || policy
                            .bodies
                            .iter()
                            .any(|body| *body.kind == *attribute.name && &*body.name == name)
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
    duplicate_handles(policy, &mut out);
    out
}

/// Expands every promise of every bundle once without acting, so that values that were
/// unknown at parse time are checked, and variables get values.
pub(crate) fn recheck(ctx: &mut crate::eval::Context<'_>) {
    use crate::eval::frames::Frame;
    let policy = Rc::clone(&ctx.policy);
    let mut anchors: Vec<(Str, Str)> = Vec::new();
    for bundle in &policy.bundles {
        ctx.push_bundle(bundle, &[], false);
        for section in bundle.sections.iter().filter(|section| section.built_in) {
            let vars = matches!(&*section.kind, "vars" | "meta");
            ctx.stack.push(Frame::Section);
            for promise in &section.promises {
                // An insertion that iterates is one for each line.
                let once = !vars && promise.attribute("location").is_none();
                if once && let Some(attributes) = ctx.constant_attributes(promise) {
                    check_attributes(ctx, promise, &attributes);
                    if ctx.stopped() {
                        return;
                    }
                    continue;
                }
                let before = ctx.vars.changes.get();
                ctx.for_each_turn(promise, &mut |ctx, expanded| {
                    check_attributes(ctx, &expanded.promise, &expanded.attributes);
                    note_anchor(ctx, &expanded.promise, &expanded.attributes, &mut anchors);
                    if vars {
                        crate::promise::vars::keep(ctx, expanded);
                    }
                });
                crate::eval::resolve::note_resolved(promise, before);
                if ctx.stopped() {
                    return;
                }
            }
            ctx.stack.pop();
        }
        ctx.stack.pop();
    }
}

// As PromiseRecheckAllConstraints does: two insertions at one line never come to rest.
fn note_anchor(
    ctx: &crate::eval::Context<'_>,
    promise: &Promise,
    attributes: &[(Str, Rval)],
    anchors: &mut Vec<(Str, Str)>,
) {
    if &*promise.kind != "insert_lines" {
        return;
    }
    let Some((_, Rval::Scalar(anchor))) =
        attributes.iter().find(|(name, _)| &**name == "select_line_matching")
    else {
        return;
    };
    if crate::text::is_expandable(anchor) {
        return;
    }
    let key = (Rc::clone(&promise.bundle.name), Rc::clone(anchor));
    if anchors.contains(&key) {
        ctx.info(&format!("insert_lines promise uses the same select_line_matching anchor '{anchor}' as another promise. This will lead to non-convergent behaviour unless 'empty_file_before_editing' is set"));
        ctx.log_place(fx_engine::Level::Info, promise);
    } else {
        anchors.push(key);
    }
}

// An attribute of an expanded promise, its own or from one of its bodies, must still fit.
fn check_attributes(
    ctx: &mut crate::eval::Context<'_>,
    promise: &Promise,
    attributes: &[(Str, Rval)],
) {
    let Some(own) = vocabulary::promise_type(&promise.bundle.kind, &promise.kind) else { return };
    for (name, value) in attributes {
        let known = match vocabulary::promise_attribute(own, name) {
            Some(known) => Some(known),
            None => own
                .iter()
                .filter(|attribute| attribute.kind == vocabulary::Type::Body)
                .filter_map(|attribute| vocabulary::body_type(attribute.name))
                .chain(["classes", "action"].iter().filter_map(|body| vocabulary::body_type(body)))
                .find_map(|attributes| {
                    attributes.iter().find(|attribute| attribute.name == &**name)
                }),
        };
        let Some(known) = known else { continue };
        // Classes of outcomes are named after `this.promiser` as often as not, which the
        // original does not know at this point.
        let outcome =
            ["promise_", "repair_", "cancel_"].iter().any(|start| name.starts_with(start));
        if matches!(value, Rval::List(_)) && outcome {
            continue;
        }
        if matches!(
            known.kind,
            vocabulary::Type::Body | vocabulary::Type::Bundle | vocabulary::Type::Data
        ) || matches!(value, Rval::Call(_) | Rval::Data(_) | Rval::None)
        {
            continue;
        }
        if let Err(mismatch) = vocabulary::check_value(name, value, known.kind, known.range, false)
            && mismatch != vocabulary::Mismatch::Unexpanded
        {
            // A list is written with a blank before it.
            let blank = if matches!(value, Rval::List(_)) { " " } else { "" };
            ctx.error(&format!(
                "{}:0:0: In attribute '{name}', {}. Given attribute value '{blank}{}'",
                promise.bundle.file,
                mismatch.text(),
                value.show()
            ));
            ctx.fatal("Cannot continue");
            return;
        }
    }
}
