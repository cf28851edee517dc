//! vars, meta and defaults: names get values, the last writer wins.

use std::rc::Rc;

use crate::eval::frames::target;
use crate::eval::promise::Expanded;
use crate::eval::value::{DataType, Value, Variable};
use crate::eval::vars::{Found, Ref};
use crate::eval::{Context, log};
use crate::outcome::Outcome;
use crate::policy::{Call, Rval};
use crate::regex;
use crate::text::{Str, has_variable, int_from, is_expandable, naked, number_problem, real_from};
use crate::vocabulary;

/// Evaluates a vars or meta promise as one among others: the original looks at it twice, which
/// shows where it has something to say.
pub fn keep_among_others(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
    let mut failed = false;
    let outcome = look(ctx, promise, &mut failed);
    if failed || outcome == Outcome::Failed { look(ctx, promise, &mut failed) } else { outcome }
}

/// Evaluates a vars or meta promise.
pub(crate) fn keep(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
    look(ctx, promise, &mut false)
}

// `failed` is set when no value came of it, which need not be a failure of the promise.
fn look(ctx: &mut Context<'_>, promise: &Rc<Expanded>, failed: &mut bool) -> Outcome {
    let head = Rc::clone(&promise.promise.bundle);
    let mut declared: Option<(&Str, DataType, &Rval)> = None;
    let (mut redefine, mut drop_undefined, mut values) = (true, false, 0);
    for (name, value) in &promise.attributes {
        match &**name {
            "policy" => match value.as_scalar().map(|text| &**text) {
                Some("ifdefined") => drop_undefined = true,
                Some("constant") => redefine = false,
                _ => {}
            },
            word => {
                if let Some(kind) = DataType::from_word(word) {
                    values += 1;
                    declared = Some((name, kind, value));
                }
            }
        }
    }
    let Some((word, kind, value)) = declared else {
        ctx.warning(&format!("Incomplete vars promise: {}", promise.promiser));
        return Outcome::Kept;
    };
    if values > 2 {
        ctx.error(&format!(
            "Variable '{}' breaks its own promise with multiple ({values}) values",
            promise.promiser
        ));
        return Outcome::Kept;
    }
    let (mut scope, name) = target(&promise.promiser, &head);
    if &*promise.promise.kind == "meta" {
        scope = format!("{scope}_meta").into();
    }
    let existing = if is_expandable(&promise.promiser) {
        None
    } else {
        ctx.vars.get(&scope, &name).map(Found::kind)
    };
    let rval = match value {
        Rval::Call(call) => {
            *failed |= failed_call(ctx, promise, word, call, existing.is_some());
            return Outcome::Kept;
        }
        Rval::Scalar(text) if kind == DataType::Int => match int_from(text) {
            Some(number) => Rval::Scalar(number.to_string().into()),
            None => {
                if !has_variable(text) {
                    ctx.error(&number_problem(text, "integer"));
                }
                return Outcome::Failed;
            }
        },
        Rval::Scalar(text) if kind == DataType::Real => match real_from(text) {
            Some(number) => Rval::Scalar(format!("{number:.6}").into()),
            None => {
                if !has_variable(text) {
                    ctx.error(&number_problem(text, "real"));
                }
                return Outcome::Failed;
            }
        },
        Rval::List(items) => Rval::List(ctx.flatten(items).into()),
        other => other.clone(),
    };
    if contains_itself(ctx, &head, &promise.promiser, &rval, 0) {
        ctx.error(&format!(
            "Variable '{}' contains itself indirectly - an unkeepable promise",
            promise.promiser
        ));
        ctx.exit(1);
        return Outcome::Failed;
    }
    let rval = if needs_evaluation(&rval) {
        let target = Ref::parse(&promise.promiser);
        let namespace: Str = target.namespace.unwrap_or(&head.namespace).into();
        let target_scope: Str = target.scope.unwrap_or(&head.name).into();
        ctx.evaluate(&rval, Some(&namespace), Some(&target_scope), true)
    } else {
        rval
    };
    if existing.is_some() && !redefine {
        return Outcome::Kept;
    }
    if has_variable(&promise.promiser) {
        return Outcome::Kept;
    }
    if !legal_name(ctx, promise) {
        ctx.error(&format!("Variable identifier '{}' is not legal", promise.promiser));
        ctx.log_place(fx_engine::Level::Error, &promise.promise);
        return Outcome::Kept;
    }
    store(ctx, promise, &scope, name, kind, rval, drop_undefined).unwrap_or_else(|| {
        *failed = true;
        Outcome::Kept
    })
}

// What is said of a call that gave no value; whether the variable is left without one.
fn failed_call(
    ctx: &mut Context<'_>,
    promise: &Expanded,
    word: &str,
    call: &Rc<Call>,
    defined: bool,
) -> bool {
    let name = &promise.promiser;
    let bundle = &promise.promise.bundle.name;
    match vocabulary::find_function(&call.name) {
        None => ctx.fatal(&format!(
            "While setting variable '{name}' in bundle '{bundle}', unknown function '{}'",
            call.name
        )),
        // What a call gives may be of another type, but a call that fails may not.
        Some(function) if function.result.word() != word => {
            let result = match function.result {
                vocabulary::Type::Context => "context",
                result => result.word(),
            };
            ctx.fatal(&format!(
                "While setting variable '{name}' in bundle '{bundle}', variable declared type '{word}' but function '{}' returns type '{result}'",
                call.name
            ));
        }
        // It is called once more, and says what it has to say again.
        Some(_) if !defined => {
            if ctx.call(call).is_none() && ctx.last_pass() {
                log!(
                    ctx,
                    Verbose,
                    "While setting variable '{name}' in bundle '{bundle}', function '{}' failed - skipping",
                    call.name
                );
            }
            return true;
        }
        Some(_) => {}
    }
    false
}

fn needs_evaluation(rval: &Rval) -> bool {
    match rval {
        Rval::Scalar(text) => text.contains(['$', '@']),
        Rval::List(items) => items.iter().any(needs_evaluation),
        Rval::Call(_) => true,
        Rval::Data(_) | Rval::None => false,
    }
}

// A variable by its whole name.
fn qualified(scope: &str, name: &str) -> String {
    let namespace = if scope.contains(':') { "" } else { "default:" };
    format!("{namespace}{scope}.{name}")
}

// `None` where the name cannot hold the value, which has been said.
fn store(
    ctx: &mut Context<'_>,
    promise: &Rc<Expanded>,
    scope: &Str,
    name: Str,
    kind: DataType,
    rval: Rval,
    drop_undefined: bool,
) -> Option<Outcome> {
    let value = match rval {
        Rval::Scalar(text) if !kind.is_list() && kind != DataType::Data => Value::Scalar(text),
        Rval::List(items) if kind.is_list() => {
            let mut out: Vec<Str> = Vec::with_capacity(items.len());
            for item in items.iter() {
                match item {
                    Rval::Scalar(text) => {
                        if !(drop_undefined && naked(text, b'@').is_some()) {
                            out.push(Rc::clone(text));
                        }
                    }
                    _ => return Some(Outcome::Kept),
                }
            }
            Value::List(out.into())
        }
        Rval::Data(json) if kind == DataType::Data => Value::Data(json),
        other => {
            let blank = if matches!(other, Rval::List(_)) { " " } else { "" };
            ctx.error(&format!(
                "Variable '{}' expected a variable of type '{}', but was given incompatible value '{blank}{}'",
                qualified(scope, &name),
                kind.word(),
                other.show()
            ));
            ctx.log_place(fx_engine::Level::Error, &promise.promise);
            return Some(Outcome::Failed);
        }
    };
    if let Some(at) = name.find('[') {
        if kind == DataType::Data {
            ctx.error(&format!(
                "Cannot assign a container to an indexed variable name '{}'. Should be assigned to '{}' instead",
                qualified(scope, &name),
                &name[..at]
            ));
            return None;
        }
        if let Some(Found::Part(_)) = ctx.vars.get(scope, &name) {
            ctx.error(&format!(
                "Cannot assign value to indexed variable name '{}', because a container is already assigned to the base name '{}'",
                qualified(scope, &name),
                qualified(scope, &name[..at])
            ));
            return None;
        }
    }
    if refers_to_itself(&name, &value) {
        ctx.error(&format!("The value of variable '{name}' contains a reference to itself"));
        return Some(Outcome::Failed);
    }
    let mut tags: Vec<Str> = vec!["source=promise".into()];
    if let Some(meta) = promise.list("meta") {
        for tag in meta {
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
    }
    let tags: Rc<[Str]> = if tags.len() == 1 { agent_tags() } else { tags.into() };
    let comment = promise.scalar("comment").cloned();
    if let Some(comment) = &comment {
        log!(ctx, Verbose, "Added variable '{}' with comment '{comment}'", promise.promiser);
    }
    if ctx.config.trace {
        note(ctx, promise, scope, &name);
    }
    ctx.vars.assign(scope, name, Variable { kind, value, tags, comment });
    if promise.has("classes") {
        ctx.settle_quietly(Outcome::Kept, promise);
    }
    Some(Outcome::Kept)
}

// The moment a variable gets its value, for the trace.
fn note(ctx: &Context<'_>, promise: &Expanded, scope: &str, name: &str) {
    let fields = [("name".into(), fx_value::Value::from(format!("{scope}.{name}")))];
    let origin = promise.promise.span.map(fx_source::Origin::at).unwrap_or_default();
    ctx.run.ledger.note("cf.var", &fields, &origin);
}

fn refers_to_itself(name: &str, value: &Value) -> bool {
    let base = &name[..name.find('[').unwrap_or(name.len())];
    match value {
        Value::Scalar(text) => contains_reference(text, base),
        Value::List(items) => items.iter().any(|item| contains_reference(item, base)),
        Value::Data(_) => false,
    }
}

fn contains_reference(text: &str, name: &str) -> bool {
    if !text.contains(['$', '@']) {
        return false;
    }
    text.match_indices(['$', '@']).any(|(at, _)| {
        let rest = &text[at + 1..];
        let named = |open, close| {
            rest.strip_prefix(open)
                .and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| rest.starts_with(close))
        };
        named('(', ')') || named('{', '}')
    })
}

// Whether a value leads back to the variable, looked at a few expansions deep.
fn contains_itself(
    ctx: &Context<'_>,
    head: &crate::policy::Head,
    name: &str,
    rval: &Rval,
    level: u32,
) -> bool {
    match rval {
        Rval::Scalar(text) => {
            if !text.contains(['$', '@']) {
                return false;
            }
            if contains_reference(text, name) {
                ctx.error(&format!(
                    "Scalar variable '{name}' contains itself (non-convergent) '{text}'"
                ));
                return true;
            }
            if level > 3 || !has_variable(text) {
                return false;
            }
            let expanded = ctx.expand(text, Some(&head.namespace), Some(&head.name));
            expanded != *text
                && contains_itself(ctx, head, name, &Rval::Scalar(expanded), level + 1)
        }
        Rval::List(items) => items.iter().any(|item| contains_itself(ctx, head, name, item, level)),
        _ => false,
    }
}

// Names are words and dots, then indices; another bundle's variables are not ours to set.
fn legal_name(ctx: &mut Context<'_>, promise: &Expanded) -> bool {
    let name = &*promise.promiser;
    let head_len = name.find('[').unwrap_or(name.len());
    let word =
        |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' || byte >= 0x80;
    if head_len == 0 || !name.as_bytes()[..head_len].iter().all(|byte| word(*byte)) {
        return false;
    }
    if head_len < name.len() && (!name.ends_with(']') || name.len() < head_len + 3) {
        return false;
    }
    if let Some(dot) = name[..head_len].find('.') {
        let prefix = &name[..dot];
        if prefix != &*promise.promise.bundle.name && ctx.bundle_names.contains(prefix) {
            ctx.error("Remote bundle variable injection detected!");
            return false;
        }
    }
    true
}

/// Evaluates a defaults promise: sets a variable that has no value, or a bad one.
pub fn default_variable(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
    let pattern = promise.scalar("if_match_regex").cloned();
    let found = ctx.lookup(&promise.promiser, None, Some("this")).map(Found::value);
    match &found {
        Some(Value::Scalar(text)) => match &pattern {
            Some(pattern) if regex::full_or_same(pattern, text) => {}
            _ => return Outcome::Kept,
        },
        Some(Value::List(items)) => {
            if let Some(pattern) = &pattern
                && !items.iter().any(|item| regex::full_or_same(pattern, item))
            {
                return Outcome::Kept;
            }
        }
        _ => {}
    }
    let (scope, name) = target(&promise.promiser, &promise.promise.bundle);
    ctx.vars.scope_mut(&scope).remove(&name);
    keep(ctx, promise)
}

/// The tags most variables have, shared.
fn agent_tags() -> Rc<[Str]> {
    thread_local! {
        static TAGS: Rc<[Str]> = Rc::from(["source=promise".into()]);
    }
    TAGS.with(Rc::clone)
}
