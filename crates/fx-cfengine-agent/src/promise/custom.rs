//! Custom promise types: one long-lived module a type, asked over lines or JSON.

use std::rc::Rc;
use std::time::Duration;

use fx_cfengine::command::in_environment;
use fx_cfengine::eval::classes::ClassScope;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::eval::value::Value;
use fx_cfengine::json::{Json, Object};
use fx_cfengine::log;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::policy::Rval;
use fx_cfengine::text::{Str, decode, encode, has_variable, naked, os, path};
use fx_engine::{Change, Failure, Level, Target};
use fx_host::{Child, Spec};

use crate::action::Action;
use crate::agent::Agent;

/// Longest wait for a module's line.
const PATIENCE: Duration = Duration::from_mins(10);

/// The modules that were started.
#[derive(Default)]
pub(crate) struct State {
    modules: Vec<Module>,
}

struct Module {
    path: String,
    interpreter: Option<String>,
    child: Box<dyn Child>,
    json: bool,
    action_policy: bool,
}

/// How many messages of each level a module gave.
#[derive(Default)]
struct Counts {
    critical: u32,
    error: u32,
    warning: u32,
    info: u32,
}

/// Attributes the agent keeps to itself.
fn agent_side(name: &str) -> bool {
    matches!(
        name,
        "if" | "ifvarclass"
            | "unless"
            | "depends_on"
            | "with"
            | "meta"
            | "action"
            | "action_name"
            | "log_level"
    ) || classes_attribute(name)
}

fn classes_attribute(name: &str) -> bool {
    matches!(
        name,
        "classes"
            | "classes_name"
            | "scope"
            | "promise_repaired"
            | "promise_kept"
            | "repair_failed"
            | "repair_denied"
            | "repair_timeout"
            | "persist_time"
            | "timer_policy"
            | "cancel_kept"
            | "cancel_repaired"
            | "cancel_notkept"
            | "kept_returncodes"
            | "repaired_returncodes"
            | "failed_returncodes"
    )
}

/// Keeps a promise of a custom type.
pub(crate) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    let kind = Rc::clone(&promise.promise.kind);
    let Some(block) = ctx.policy.promise_block(&kind).cloned() else {
        ctx.error(&format!("Undefined promise type '{kind}'"));
        return Outcome::Failed;
    };
    let value = |name: &str| {
        let text = block
            .attributes
            .iter()
            .rfind(|attribute| &*attribute.name == name)?
            .value
            .as_scalar()?;
        Some(ctx.expand(text, None, None).to_string())
    };
    let interpreter = value("interpreter");
    let Some(file) = value("path") else {
        ctx.error(&format!("Custom promise type '{kind}' missing path"));
        return ctx.settle_quietly(Outcome::Failed, promise);
    };
    let known = ctx.custom.modules.iter().position(|module| module.path == file);
    let index = match known {
        Some(index) => {
            let started = ctx.custom.modules[index].interpreter.clone();
            if started != interpreter {
                ctx.error(&format!(
                    "Conflicting interpreter specifications for custom promise module '{file}' (started with '{}' and '{}' requested for promise '{}' of type '{kind}')",
                    started.unwrap_or_default(),
                    interpreter.unwrap_or_default(),
                    promise.promiser
                ));
                return ctx.settle_quietly(Outcome::Failed, promise);
            }
            index
        }
        None => match start(ctx, interpreter.clone(), &file) {
            Some(module) => {
                ctx.custom.modules.push(module);
                ctx.custom.modules.len() - 1
            }
            None => return ctx.settle_quietly(Outcome::Failed, promise),
        },
    };
    let mut valid = resolved(ctx, promise, ctx.custom.modules[index].json);
    if !valid && ctx.last_pass() {
        ctx.error(&format!(
            "{kind} promise with promiser '{}' has unresolved/unexpanded variables",
            promise.promiser
        ));
    }
    if !valid && !ctx.last_pass() {
        return ctx.settle_quietly(Outcome::Failed, promise);
    }
    let id = format!("{}-{file}-{}", promise.promiser, interpreter.as_deref().unwrap_or("(null)"));
    if !ctx.acquire_alone(promise, &id) {
        return Outcome::Skipped;
    }
    // The module is taken out while it is talked to, so that the context stays free.
    let mut module = ctx.custom.modules.swap_remove(index);
    // What we have written must be there when the module looks.
    if let Err(error) = ctx.own_state(|act| act.commit()) {
        ctx.error(&error.to_string());
    }
    if valid {
        valid = validate(ctx, &mut module, promise);
    }
    let outcome = if valid && ctx.run.ledger.in_copy() && ctx.action(promise) == Action::DryRun {
        // What a module does nobody knows beforehand.
        ctx.withhold(&[promised(promise)]);
        ctx.settle(Level::Warning, Outcome::Warn, promise, "Should be evaluated by its module")
    } else if valid {
        evaluate(ctx, &mut module, promise)
    } else {
        log!(
            ctx,
            Verbose,
            "{kind} promise with promiser '{}' will be skipped because it failed validation",
            promise.promiser
        );
        ctx.settle_quietly(Outcome::Failed, promise)
    };
    ctx.custom.modules.push(module);
    outcome
}

fn start(ctx: &Agent<'_>, interpreter: Option<String>, file: &str) -> Option<Module> {
    let executable =
        |name: &str| ctx.host().stat(&path(name)).is_ok_and(|meta| meta.mode & 0o111 != 0);
    match &interpreter {
        Some(interpreter) if !executable(interpreter) => {
            ctx.error(&format!(
                "Promise module interpreter '{interpreter}' is not an executable file"
            ));
            return None;
        }
        None if !executable(file) => {
            ctx.error(&format!("Promise module path '{file}' is not an executable file"));
            return None;
        }
        _ => {}
    }
    if ctx.host().stat(&path(file)).is_err() {
        ctx.error(&format!("Promise module '{file}' does not exist"));
        return None;
    }
    if let Err(error) = ctx.host().check_trusted(&path(file)) {
        ctx.error(&error.to_string());
        return None;
    }
    let spec = match &interpreter {
        Some(interpreter) => Spec::argv([os(interpreter), os(file)]),
        None => Spec::argv([os(file)]),
    };
    let mut spec = in_environment(ctx, spec);
    spec.cwd = Some(path(&ctx.config.launch_dir));
    spec.merge_stderr = false;
    log!(ctx, Verbose, "Starting custom promise module '{file}' with command '{}'", spec.display());
    // What a module prints on standard error comes after what was logged before it.
    ctx.show_now();
    let started = ctx.in_evaluation(&format!("promise module {file}"), |act| act.start(&spec));
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            ctx.error(&error.to_string());
            return None;
        }
    };
    // A module may answer before it is asked and read nothing: what it printed counts.
    let _greeted = child.send(b"cf-agent 3.21.0 v1\n\n");
    let Some(header) = child.next_line(PATIENCE).ok().flatten() else {
        ctx.error(&format!("Did not receive header from promise module '{file}'"));
        return None;
    };
    let header = decode(&header);
    if !child.next_line(PATIENCE).is_ok_and(|line| line.is_some_and(|line| line.is_empty())) {
        ctx.error(&format!(
            "Promise module '{} {file}' failed to send empty line after header: ''",
            interpreter.as_deref().unwrap_or_default()
        ));
        return None;
    }
    let flags: Vec<&str> = header.split(' ').skip(3).collect();
    if !flags.iter().any(|flag| matches!(*flag, "json_based" | "line_based")) {
        ctx.warning(&format!(
            "Custom promise module '{file}' didn't fully specify protocol. Using 'line_based' as the default. Please report this as a bug in the module"
        ));
    }
    Some(Module {
        path: file.to_owned(),
        interpreter,
        child,
        json: flags.contains(&"json_based"),
        action_policy: flags.contains(&"action_policy"),
    })
}

fn container_of(ctx: &Agent<'_>, text: &str) -> Option<Json> {
    let inner = naked(text, b'@')?;
    match ctx.lookup(inner, None, None)?.value() {
        Value::Data(json) => Some((*json).clone()),
        _ => None,
    }
}

fn resolved(ctx: &Agent<'_>, promise: &Expanded, json: bool) -> bool {
    fn open(json: &Json) -> bool {
        match json {
            Json::Str(text) => has_variable(text),
            Json::Array(items) => items.iter().any(open),
            Json::Object(map) => map.iter().any(|(key, value)| has_variable(key) || open(value)),
            _ => false,
        }
    }
    if has_variable(&promise.promiser) {
        return false;
    }
    promise.attributes.iter().all(|(name, value)| {
        if classes_attribute(name) || matches!(&**name, "meta" | "log_level" | "unless") {
            return true;
        }
        match value {
            Rval::Scalar(text) => !has_variable(text) || container_of(ctx, text).is_some(),
            Rval::List(items) => {
                json && items
                    .iter()
                    .all(|item| item.as_scalar().is_some_and(|text| !has_variable(text)))
            }
            Rval::Data(data) => json && !open(data),
            _ => false,
        }
    })
}

fn dry(ctx: &Agent<'_>, promise: &Expanded) -> bool {
    ctx.config.dry_run
        || ctx.config.simulate.is_some()
        || promise.scalar("action_policy").is_some_and(|policy| matches!(&**policy, "warn" | "nop"))
}

fn request(ctx: &Agent<'_>, promise: &Expanded, operation: &str) -> Object {
    let mut message = Object::new();
    let global = ctx.config.level;
    let level = match asked_level(promise).map_or(global, |asked| asked.min(global)) {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "notice",
        Level::Info => "info",
        Level::Verbose => "verbose",
        Level::Debug => "debug",
    };
    message.insert("operation".into(), Json::str(operation));
    message.insert("log_level".into(), Json::str(level));
    message.insert("promise_type".into(), Json::Str(Rc::clone(&promise.promise.kind)));
    message.insert("promiser".into(), Json::Str(Rc::clone(&promise.promiser)));
    message.insert("line_number".into(), Json::Int(i64::from(promise.promise.line)));
    message.insert("filename".into(), Json::Str(Rc::clone(&promise.promise.bundle.file)));
    let mut attributes = Object::new();
    let whole_run = ctx.config.dry_run || ctx.config.simulate.is_some();
    for (name, value) in &promise.attributes {
        if agent_side(name) {
            continue;
        }
        let json = match value {
            _ if whole_run && &**name == "action_policy" => Json::str("warn"),
            Rval::Scalar(text) => {
                container_of(ctx, text).unwrap_or_else(|| Json::Str(Rc::clone(text)))
            }
            Rval::List(_) | Rval::Data(_) => fx_cfengine::functions::rval_to_json(value),
            _ => continue,
        };
        fx_cfengine::json::put(&mut attributes, Rc::clone(name), json);
    }
    if whole_run && !attributes.contains_key("action_policy") {
        attributes.insert("action_policy".into(), Json::str("warn"));
    }
    if !attributes.is_empty() {
        message.insert("attributes".into(), Json::Object(attributes));
    }
    message
}

fn send(ctx: &Agent<'_>, module: &mut Module, message: &Object) -> bool {
    ctx.show_now();
    let text = if module.json {
        format!("{}\n\n", Json::Object(message.clone()).compact())
    } else {
        let mut text = String::new();
        for (key, value) in message {
            match value {
                Json::Object(attributes) => {
                    for (name, value) in attributes {
                        text.push_str(&format!(
                            "attribute_{name}={}\n",
                            value.primitive().unwrap_or_default()
                        ));
                    }
                }
                value => {
                    text.push_str(&format!("{key}={}\n", value.primitive().unwrap_or_default()))
                }
            }
        }
        text.push('\n');
        text
    };
    module.child.send(&encode(&text)).is_ok()
}

// The level that a promise of a module asks for.
fn asked_level(promise: &Expanded) -> Option<Level> {
    match &**promise.scalar("log_level")? {
        "inform" => Some(Level::Info),
        "verbose" => Some(Level::Verbose),
        "error" | "log" => Some(Level::Error),
        _ => None,
    }
}

// What a module says in spite of the level it was given is counted and not shown.
fn module_log(
    ctx: &Agent<'_>,
    asked: Option<Level>,
    level: &str,
    message: &str,
    counts: &mut Counts,
) {
    let level = match level {
        "critical" => {
            counts.critical += 1;
            critical(ctx, message);
            return;
        }
        "error" => {
            counts.error += 1;
            Level::Error
        }
        "warning" => {
            counts.warning += 1;
            Level::Warning
        }
        "notice" => Level::Notice,
        "info" => {
            counts.info += 1;
            Level::Info
        }
        "verbose" => Level::Verbose,
        _ => Level::Debug,
    };
    if asked.is_none_or(|asked| level <= asked) {
        ctx.log(level, message);
    }
}

fn critical(ctx: &Agent<'_>, text: &str) {
    let fields = [("text".into(), fx_value::Value::from(&*encode(text)))];
    ctx.run.ledger.note("cf.critical", &fields, &fx_source::Origin::default());
}

fn receive(
    ctx: &Agent<'_>,
    module: &mut Module,
    asked: Option<Level>,
    counts: &mut Counts,
) -> Option<Object> {
    let mut response: Option<Object> = (!module.json).then(Object::new);
    while let Ok(Some(line)) = module.child.next_line(PATIENCE) {
        let line = decode(&line);
        if line.is_empty() {
            break;
        }
        if let Some(rest) = line.strip_prefix("log_") {
            match rest.split_once('=') {
                Some((level, message)) => module_log(ctx, asked, level, message, counts),
                None => ctx.error(&format!("Promise module sent invalid log line: '{line}'")),
            }
        } else if module.json {
            match Json::parse(&line) {
                Some(Json::Object(map)) => response = Some(map),
                _ => {
                    ctx.error(&format!("Promise module '{}' sent invalid JSON", module.path));
                    return None;
                }
            }
        } else if let (Some((key, value)), Some(response)) =
            (line.split_once('='), response.as_mut())
        {
            let value = if key == "result_classes" {
                Json::Array(value.split(',').map(Json::str).collect())
            } else {
                Json::str(value)
            };
            fx_cfengine::json::put(response, key.into(), value);
        } else {
            ctx.error(&format!("Promise module sent invalid line: '{line}'"));
        }
    }
    let Some(response) = response else {
        ctx.error(&format!(
            "The '{}' promise module sent an invalid/incomplete response with JSON based protocol",
            module.path
        ));
        return None;
    };
    if module.json
        && let Some(Json::Array(messages)) = response.get("log")
    {
        for entry in messages {
            let text =
                |name: &str| entry.select(&[name]).and_then(Json::primitive).unwrap_or_default();
            module_log(ctx, asked, &text("level"), &text("message"), counts);
        }
    }
    Some(response)
}

fn validate(ctx: &Agent<'_>, module: &mut Module, promise: &Expanded) -> bool {
    let kind = &promise.promise.kind;
    if dry(ctx, promise) && !module.action_policy {
        ctx.error(&format!(
            "Not making changes to the system, but the custom promise module '{}' doesn't support action_policy",
            module.path
        ));
        return false;
    }
    let mut counts = Counts::default();
    // A module that is gone may have left its answer; where there is none, that is reported below.
    let _sent = send(ctx, module, &request(ctx, promise, "validate_promise"));
    let Some(response) = receive(ctx, module, asked_level(promise), &mut counts) else {
        return false;
    };
    let valid =
        response.get("result").and_then(Json::primitive).is_some_and(|result| &*result == "valid");
    if !valid {
        let place = format!("({}:{})", promise.promise.bundle.file, promise.promise.line);
        log!(
            ctx,
            Verbose,
            "{kind} promise with promiser '{}' failed validation {place}",
            promise.promiser
        );
        if counts.error == 0 && counts.critical == 0 {
            critical(
                ctx,
                &format!(
                    "Bug in promise module - No error(s) logged for invalid {kind} promise with promiser '{}' {place}",
                    promise.promiser
                ),
            );
        }
    }
    valid
}

// What a module changes, as far as it says.
fn promised(promise: &Expanded) -> Change {
    let target = Target::other(promise.promise.kind.to_string(), os(&promise.promiser));
    Change::of(target, "promise", "not kept", "kept")
}

fn evaluate(ctx: &mut Agent<'_>, module: &mut Module, promise: &Rc<Expanded>) -> Outcome {
    let mut counts = Counts::default();
    // As above: one that is gone may have left its answer.
    let _sent = send(ctx, module, &request(ctx, promise, "evaluate_promise"));
    let Some(response) = receive(ctx, module, asked_level(promise), &mut counts) else {
        return Outcome::Failed;
    };
    if let Some(Json::Array(classes)) = response.get("result_classes") {
        for class in classes.iter().filter_map(Json::primitive) {
            let tags: Rc<[Str]> = Rc::from(["source=promise-module".into()]);
            ctx.put_class(&class, ClassScope::Bundle, tags, None);
        }
    }
    let kind = Rc::clone(&promise.promise.kind);
    let (name, file) = (&promise.promiser, &module.path);
    let place = format!("({}:{})", promise.promise.bundle.file, promise.promise.line);
    let dry = dry(ctx, promise);
    if dry && counts.info > 0 {
        critical(
            ctx,
            &format!(
                "Bug in promise module - 'info:' log messages reported for {kind} promise with promiser '{name}' {place} while making changes on the system disabled"
            ),
        );
    }
    match response.get("result").and_then(Json::primitive).as_deref() {
        None => {
            let text = format!(
                "Promise module did not return a result for promise evaluation ({kind} promise, promiser: '{name}' module: '{file}')"
            );
            ctx.settle(Level::Error, Outcome::Failed, promise, &text)
        }
        Some("kept") => {
            let text =
                format!("Promise with promiser '{name}' was kept by promise module '{file}'");
            ctx.settle(Level::Verbose, Outcome::Kept, promise, &text)
        }
        Some("not_kept") => {
            let text =
                format!("Promise with promiser '{name}' was not kept by promise module '{file}'");
            if dry {
                // What it was not allowed to do.
                ctx.withhold(&[promised(promise)]);
            }
            let outcome = ctx.settle(Level::Verbose, Outcome::Failed, promise, &text);
            if !dry && counts.error == 0 && counts.critical == 0 {
                critical(
                    ctx,
                    &format!(
                        "Bug in promise module - Failed to log errors for not kept {kind} promise with promiser '{name}' {place}"
                    ),
                );
            } else if dry && counts.warning + counts.error + counts.critical == 0 {
                critical(
                    ctx,
                    &format!(
                        "Bug in promise module - Failed to log warnings for not kept {kind} promise with promiser '{name}' {place} while making changes on the system disabled"
                    ),
                );
            }
            outcome
        }
        Some("repaired") => {
            let text =
                format!("Promise with promiser '{name}' was repaired by promise module '{file}'");
            // The module has made it; this records it.
            let _recorded = ctx.make(&[promised(promise)], |_| Ok::<(), Failure>(()));
            let outcome = ctx.settle(Level::Verbose, Outcome::Repaired, promise, &text);
            if dry {
                critical(
                    ctx,
                    &format!(
                        "Bug in promise module - {kind} promise with promiser '{name}' {place} repaired while making changes on the system disabled"
                    ),
                );
            }
            if counts.info == 0 {
                critical(
                    ctx,
                    &format!(
                        "Bug in promise module - Failed to log about changes made by a repaired {kind} promise with promiser '{name}' {place}"
                    ),
                );
            }
            outcome
        }
        Some("error") => {
            let text = format!(
                "An unexpected error occured in promise module ({kind} promise, promiser: '{name}' module: '{file}')"
            );
            ctx.settle(Level::Error, Outcome::Failed, promise, &text)
        }
        Some(other) => {
            let text = format!(
                "Promise module returned unacceptable result: '{other}' ({kind} promise, promiser: '{name}' module: '{file}')"
            );
            ctx.settle(Level::Error, Outcome::Failed, promise, &text)
        }
    }
}

/// Ends all modules.
pub(crate) fn terminate(ctx: &mut Agent<'_>) {
    let modules = std::mem::take(&mut ctx.custom.modules);
    for mut module in modules {
        let mut message = Object::new();
        message.insert("operation".into(), Json::str("terminate"));
        if send(ctx, &mut module, &message) {
            receive(ctx, &mut module, None, &mut Counts::default());
        }
    }
}
