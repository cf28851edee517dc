//! The policy itself: bundles, variables and classes by pattern and tag; other hosts.

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::frames::Frame;
use crate::eval::value::{Value, Variable};
use crate::json::{Json, Object, put};
use crate::peers::Peers;
use crate::policy::Rval;
use crate::regex;
use crate::text::{Str, int_from};

use super::logic::lacks_argument;
use super::{FnResult, Given, arg, container, list, text, truth};

/// `bundlesmatching`.
pub(crate) fn bundlesmatching(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    if args.is_empty() {
        return None;
    }
    regex::compile(arg(args, 0))?;
    list(bundles(ctx, args))
}

/// `variablesmatching`.
pub(crate) fn variablesmatching(
    ctx: &mut Context<'_>,
    Given { name, args, .. }: Given<'_>,
) -> FnResult {
    // Each match is put before those that are there.
    if lacks_argument(ctx, name, args) {
        return None;
    }
    list(variables(ctx, args).into_iter().rev().map(|(name, _)| name).collect())
}

/// `variablesmatching_as_data`.
pub(crate) fn variablesmatching_as_data(
    ctx: &mut Context<'_>,
    Given { name, args, .. }: Given<'_>,
) -> FnResult {
    if lacks_argument(ctx, name, args) {
        return None;
    }
    let mut object = Object::new();
    for (name, value) in variables(ctx, args) {
        put(&mut object, name, value);
    }
    container(Json::Object(object))
}

/// `getvariablemetatags`, `getclassmetatags`.
pub(crate) fn meta_tags(ctx: &mut Context<'_>, Given { name, args, .. }: Given<'_>) -> FnResult {
    if lacks_argument(ctx, name, args) {
        return None;
    }
    tags(ctx, name, args)
}

/// `callstack_promisers`.
pub(crate) fn callstack_promisers(ctx: &mut Context<'_>, _: Given<'_>) -> FnResult {
    let promisers = ctx.stack.iter().filter_map(|frame| match frame {
        Frame::Iteration(promise) => Some(Rc::clone(&promise.promiser)),
        _ => None,
    });
    list(promisers.collect())
}

/// `callstack_callers`.
pub(crate) fn callstack_callers(ctx: &mut Context<'_>, _: Given<'_>) -> FnResult {
    container(callers(ctx))
}

/// `hostsseen`.
pub(crate) fn hostsseen(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    if args.len() < 3 {
        return None;
    }
    let (hours, policy, format) = (int_from(arg(args, 0))?, arg(args, 1), arg(args, 2));
    let now = ctx.host().now().secs;
    let contacts = Peers::new(&ctx.config.paths.workdir).seen(ctx.host()).contacts();
    let is_recent = |last: i64| now - last < hours * 3600;
    let recent: Vec<&str> = contacts
        .iter()
        .filter(|contact| is_recent(contact.last))
        .map(|contact| contact.digest.as_str())
        .collect();
    let mut names: Vec<Str> = Vec::new();
    for contact in &contacts {
        let seen = recent.contains(&contact.digest.as_str());
        if seen != (policy == "lastseen") {
            continue;
        }
        let name: Str = match format {
            "address" => contact.address.as_str().into(),
            "hostkey" => contact.digest.as_str().into(),
            _ => {
                let address = contact.address.parse().ok();
                let name = address.and_then(|address| ctx.host().reverse(address).ok().flatten());
                name.unwrap_or_else(|| contact.address.clone()).into()
            }
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // Nobody at all is a failure.
    if names.is_empty() { None } else { list(names) }
}

/// `hostswithclass`.
pub(crate) fn hostswithclass(ctx: &mut Context<'_>, _: Given<'_>) -> FnResult {
    ctx.error("Host class counting is only available in CFEngine Enterprise");
    None
}

/// `hubknowledge`.
pub(crate) fn hubknowledge(ctx: &mut Context<'_>, _: Given<'_>) -> FnResult {
    if ctx.checks_only() {
        return text("<inaccessible remote scalar>");
    }
    text("")
}

/// `peers`, `peerleader`, `peerleaders`.
pub(crate) fn call_peers(ctx: &mut Context<'_>, Given { name, args, .. }: Given<'_>) -> FnResult {
    peers(ctx, name, args)
}

/// `remotescalar`.
pub(crate) fn remotescalar(ctx: &mut Context<'_>, _: Given<'_>) -> FnResult {
    // The community edition of the original asks no server: it gives nothing.
    if ctx.checks_only() {
        return text("<remote scalar>");
    }
    text("")
}

/// `remoteclassesmatching`.
pub(crate) fn remoteclassesmatching(_: &mut Context<'_>, _: Given<'_>) -> FnResult {
    truth(true)
}

fn matches_tags(wanted: &[&str], tags: &[Str]) -> bool {
    wanted.is_empty() || wanted.iter().any(|tag| tags.iter().any(|known| regex::full(tag, known)))
}

fn bundles(ctx: &Context<'_>, args: &[Rval]) -> Vec<Str> {
    let wanted: Vec<&str> = (1..args.len()).map(|index| arg(args, index)).collect();
    let mut out: Vec<Str> = Vec::new();
    for bundle in &ctx.policy.bundles {
        let head = &bundle.head;
        let full: Str = format!("{}:{}", head.namespace, head.name).into();
        if !regex::full(arg(args, 0), &full) {
            continue;
        }
        // Each of the wanted tags is meant to be there, but the original asks for the first
        // of them each time (RlistMatchesRegexRlist).
        let tags: Vec<Str> = match ctx.vars.get(&format!("{}_meta", head.scope), "tags") {
            None => Vec::new(),
            Some(found) => match found.value() {
                Value::List(items) => items.to_vec(),
                Value::Scalar(text) => text.split(',').map(Into::into).collect(),
                Value::Data(_) if wanted.is_empty() => Vec::new(),
                Value::Data(_) => {
                    ctx.warning(&format!(
                        "Function 'bundlesmatching' only matches tags defined as a scalar or a list.  Bundle '{full}' had meta defined as 'data'"
                    ));
                    Vec::new()
                }
            },
        };
        if wanted.first().is_none_or(|wanted| tags.iter().any(|tag| regex::full(wanted, tag))) {
            out.push(full);
        }
    }
    // The original prepends, so the last definition comes first.
    out.reverse();
    out
}

fn variables(ctx: &Context<'_>, args: &[Rval]) -> Vec<(Str, Json)> {
    let wanted: Vec<&str> = (1..args.len()).map(|index| arg(args, index)).collect();
    let pattern = regex::Full::new(arg(args, 0));
    // Most variables share the tags of their neighbour.
    let mut tagged: Option<(&Rc<[Str]>, bool)> = None;
    let mut found: Vec<(Str, Str, &Variable)> = Vec::new();
    let mut full = String::new();
    for scope_name in ctx.vars.scope_names() {
        full.clear();
        if !scope_name.contains(':') {
            full.push_str("default:");
        }
        full.push_str(&scope_name);
        full.push('.');
        let lead = full.len();
        if !pattern.may_begin(&full) {
            continue;
        }
        for (name, variable) in ctx.variables_of(&scope_name) {
            let holds = match tagged {
                Some((tags, holds)) if Rc::ptr_eq(tags, &variable.tags) => holds,
                _ => matches_tags(&wanted, &variable.tags),
            };
            tagged = Some((&variable.tags, holds));
            if !holds {
                continue;
            }
            full.truncate(lead);
            full.push_str(name);
            if pattern.matches(&full) {
                found.push((Rc::clone(&scope_name), full.as_str().into(), variable));
            }
        }
    }
    let keyed = found.iter().map(|(scope, full, variable)| {
        let at = scope.len() + 1 + if scope.contains(':') { 0 } else { "default:".len() };
        (&**scope, &full[at..], (Rc::clone(full), variable.value.to_json()))
    });
    ctx.variables_in_table_order(keyed.collect())
}

fn tags(ctx: &Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let tags: Rc<[Str]> = if name == "getvariablemetatags" {
        match ctx.lookup_function_arg(arg(args, 0))? {
            crate::eval::vars::Found::Variable(variable) => Rc::clone(&variable.tags),
            crate::eval::vars::Found::Part(_) => {
                let base = arg(args, 0).split('[').next().unwrap_or_default();
                match ctx.lookup_function_arg(base)? {
                    crate::eval::vars::Found::Variable(variable) => Rc::clone(&variable.tags),
                    crate::eval::vars::Found::Part(_) => return None,
                }
            }
        }
    } else {
        let wanted = arg(args, 0);
        let wanted = wanted.strip_prefix("default:").unwrap_or(wanted);
        let hard = ctx.hard.contains_key(wanted);
        let known = ctx.visible_classes();
        let tags = &known.iter().find(|(name, _)| &**name == wanted)?.1.tags;
        if hard && !tags.iter().any(|tag| &**tag == "hardclass") {
            tags.iter().cloned().chain(["hardclass".into()]).collect()
        } else {
            Rc::clone(tags)
        }
    };
    if args.len() < 2 {
        return list(tags.to_vec());
    }
    let prefix = format!("{}=", arg(args, 1));
    list(tags.iter().filter_map(|tag| tag.strip_prefix(&prefix)).map(Into::into).collect())
}

fn callers(ctx: &Context<'_>) -> Json {
    let mut section: Str = "".into();
    let mut frames = Vec::new();
    for (depth, frame) in ctx.stack.iter().enumerate() {
        let mut object = Object::new();
        let mut field = |name: &str, value: Json| {
            put(&mut object, name.into(), value);
        };
        field("depth", Json::Int(depth as i64));
        match frame {
            Frame::Bundle(bundle) => {
                let head = &bundle.head;
                field("type", Json::str("bundle"));
                if let Some(found) = ctx.policy.bundle(&head.kind, &head.namespace, &head.name) {
                    field("bundle", crate::policy_json::bundle(found));
                }
            }
            Frame::Section => {
                // The section's name is that of the promise which stands on it.
                if let Some(Frame::Promise(promise)) = ctx.stack.get(depth + 1) {
                    section = Rc::clone(&promise.promise.kind);
                }
                field("type", Json::str("promise_type"));
                field("promise_type", Json::Str(Rc::clone(&section)));
            }
            Frame::Body { .. } => field("type", Json::str("body")),
            Frame::Promise(promise) => {
                let promise = &promise.promise;
                field("type", Json::str("promise"));
                field("promise_type", Json::Str(Rc::clone(&promise.kind)));
                field("promiser", Json::Str(Rc::clone(&promise.promiser)));
                field("promise_classes", Json::Str(Rc::clone(&promise.guard)));
                let comment = promise.scalar("comment").cloned().unwrap_or_default();
                field("promise_comment", Json::Str(comment));
            }
            Frame::Iteration(_) => {
                field("type", Json::str("iteration"));
                field("iteration_index", Json::Int(0));
            }
        }
        put(&mut object, "frame".into(), Json::str(""));
        frames.push(Json::Object(object));
    }
    Json::Array(frames)
}

// Hosts of a file in groups: the other members of ours, their first, or all firsts.
fn peers(ctx: &Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let size = int_from(arg(args, 2))?;
    if size < 2 {
        return None;
    }
    let text_of = super::read::read(ctx, arg(args, 0), 0)?;
    let comment = arg(args, 1);
    let hosts: Vec<Str> = text_of
        .lines()
        .map(|line| match regex::find(comment, line) {
            Some((start, end)) if end > start => line[..start.min(line.len())].trim().to_owned(),
            _ => line.trim().to_owned(),
        })
        .filter(|line| !line.is_empty())
        .map(Into::into)
        .collect();
    let fq = ctx.scalar_variable("sys", "fqhost").unwrap_or_default();
    let uq = ctx.scalar_variable("sys", "uqhost").unwrap_or_default();
    let ours = |host: &Str| *host == fq || *host == uq;
    let groups = hosts.chunks(size as usize);
    match name {
        "peerleaders" => list(
            groups
                .filter_map(|group| group.first().cloned())
                .map(|host| if ours(&host) { "localhost".into() } else { host })
                .collect(),
        ),
        "peerleader" => {
            let group = hosts.chunks(size as usize).find(|group| group.iter().any(ours))?;
            let first = group.first()?;
            text(if ours(first) { "localhost".into() } else { Rc::clone(first) })
        }
        _ => {
            let group =
                hosts.chunks(size as usize).find(|group| group.iter().any(ours)).unwrap_or(&[]);
            list(group.iter().filter(|host| !ours(host)).cloned().collect())
        }
    }
}

/// Classes and variables as templates see them; or the variables of one bundle.
pub fn default_template_data(ctx: &Context<'_>, bundle: Option<&str>) -> Json {
    let scope_json = |scope: &str| -> Option<Object> {
        let mut object = Object::new();
        ctx.vars.scope(scope)?;
        for (name, variable) in ctx.variables_of(scope) {
            put(&mut object, Rc::clone(name), variable.value.to_json());
        }
        Some(object)
    };
    if let Some(bundle) = bundle {
        let key = bundle.strip_prefix("default:").unwrap_or(bundle);
        return Json::Object(scope_json(key).unwrap_or_default());
    }
    let mut classes = Object::new();
    for (name, _) in ctx.visible_classes() {
        classes.insert(name, Json::Bool(true));
    }
    let mut vars = Object::new();
    for scope in ctx.vars.scope_names() {
        if let Some(object) = scope_json(&scope) {
            vars.insert(scope, Json::Object(object));
        }
    }
    let mut out = Object::new();
    out.insert("classes".into(), Json::Object(classes));
    out.insert("vars".into(), Json::Object(vars));
    Json::Object(out)
}
