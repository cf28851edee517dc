//! methods: a bundle run as a whole, with parameters, and values it returns.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::eval::value::Variable;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::policy::{Bundle, Rval};
use fx_cfengine::text::{Str, has_variable, os};
use fx_engine::{Change, Level, Target};

use crate::action::Action;
use crate::agent::Agent;

/// Keeps a methods promise.
pub(crate) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    let call = promise
        .get("usebundle")
        .cloned()
        .unwrap_or_else(|| Rval::Scalar(Rc::clone(&promise.promiser)));
    run(ctx, &call, promise)
}

/// Runs the bundle a right-hand side names, for methods, services and users.
pub(crate) fn run(ctx: &mut Agent<'_>, call: &Rval, promise: &Rc<Expanded>) -> Outcome {
    let (name, args): (Str, Vec<Rval>) = match call {
        Rval::Scalar(text) => (Rc::clone(text), Vec::new()),
        Rval::Call(call) => (Rc::clone(&call.name), call.args.clone()),
        _ => return Outcome::Kept,
    };
    let head = Rc::clone(&promise.promise.bundle);
    let name = ctx.expand(&name, Some(&head.namespace), Some(&head.name));
    let mut operand = format!("method-{}", promise.promiser);
    for arg in &args {
        operand.push('-');
        operand.push_str(&arg.show());
    }
    if !ctx.acquire_alone(promise, &operand) {
        return Outcome::Skipped;
    }
    let Some(bundle) = ctx.agent_bundle(&name) else {
        if has_variable(&name) {
            ctx.error("A variable seems to have been used for the name of the method. In this case, the promiser also needs to contain the unique name of the method");
        }
        let text =
            format!("A method attempted to use a bundle '{name}' that was apparently not defined");
        let outcome = ctx.settle(Level::Error, Outcome::Failed, promise, &text);
        if !ctx.control.ignore_missing_bundles {
            ctx.fatal(&format!("Aborting due to missing bundle '{name}'"));
        }
        return outcome;
    };
    if ctx.action(promise) == Action::Warn {
        let call = Change::of(Target::other("bundle", os(&name)), "run", "not run", "run");
        ctx.withhold(&[call]);
        let text = format!("Bundle '{name}' should be invoked, but only a warning was promised!");
        return ctx.settle(Level::Warning, Outcome::Warn, promise, &text);
    }
    let result = enter(ctx, &bundle, &args, promise);
    for arg in &bundle.head.args {
        ctx.vars.scope_mut(&bundle.head.scope).remove(arg);
    }
    ctx.end_banner(&bundle);
    result
}

fn enter(
    ctx: &mut Agent<'_>,
    bundle: &Rc<Bundle>,
    args: &[Rval],
    promise: &Rc<Expanded>,
) -> Outcome {
    ctx.bundle_banner(bundle, args);
    let inherits = promise.bool("inherit").or(promise.bool("home_bundle_inherit")).unwrap_or(false);
    // Elements of arrays are those of one call; scalars and lists stay.
    ctx.vars.scope_mut(&bundle.head.scope).clear_elements();
    let level = ctx.level.get();
    let pass = ctx.pass;
    ctx.push_bundle(bundle, args, inherits);
    let result = if ctx.stopped() {
        Outcome::Skipped
    } else {
        ctx.resolve_bundle(bundle);
        let result = ctx.run_bundle(bundle);
        return_values(ctx, bundle, promise);
        result
    };
    ctx.stack.pop();
    ctx.level.set(level);
    ctx.pass = pass;
    let name = Rc::clone(&bundle.head.name);
    // A fatal error ends the run where it is met; nothing is said of what led there.
    if ctx.stop.is_some_and(|stop| stop.code == 1) {
        return if result == Outcome::Skipped { Outcome::Kept } else { result };
    }
    match result {
        Outcome::Skipped | Outcome::Kept => {
            ctx.settle(Level::Verbose, Outcome::Kept, promise, &format!("Method '{name}' verified"))
        }
        Outcome::Warn => ctx.settle(
            Level::Warning,
            Outcome::Warn,
            promise,
            &format!("Method '{name}' invoked repairs, but only warnings promised"),
        ),
        Outcome::Repaired => ctx.settle(
            Level::Verbose,
            Outcome::Repaired,
            promise,
            &format!("Method '{name}' invoked repairs"),
        ),
        Outcome::Failed | Outcome::Denied => {
            ctx.settle(
                Level::Error,
                Outcome::Failed,
                promise,
                &format!("Method '{name}' failed in some repairs"),
            );
            result
        }
        Outcome::Interrupted => {
            ctx.settle(
                Level::Info,
                Outcome::Failed,
                promise,
                &format!("Method '{name}' aborted in some repairs"),
            );
            result
        }
    }
}

// What reports with a return index put down, as elements of the array the caller names.
fn return_values(ctx: &mut Agent<'_>, bundle: &Bundle, promise: &Rc<Expanded>) {
    let Some(target) = promise.scalar("useresult").cloned() else { return };
    let values: Vec<(Str, Variable)> = ctx
        .vars
        .scope(&bundle.head.scope)
        .map(|scope| {
            scope
                .vars
                .iter()
                .filter(|(name, _)| name.starts_with("last-result["))
                .map(|(name, variable)| (Rc::clone(name), variable.clone()))
                .collect()
        })
        .unwrap_or_default();
    for (name, variable) in values {
        let index = &name["last-result".len()..];
        let (scope, name) =
            fx_cfengine::eval::frames::target(&format!("{target}{index}"), &promise.promise.bundle);
        ctx.vars.assign(&scope, name, variable);
    }
}
