//! From options to policy that was read and found right, in the documented order of steps. What
//! is done with it is the matter of the agent; checking ends here.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use fx_engine::{Level, Run};
use fx_source::SourceMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::config::{Config, Paths, Request, configure};
use crate::eval::classes::{ClassScope, ClassTable, Persistent};
use crate::eval::vars::{Scope, Variables};
use crate::eval::{Context, Control, persistent};
use crate::load::Loaded;
use crate::policy::{Policy, Rval};
use crate::text::{Str, path};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Exit status of the process.
    pub code: u8,
}

/// Why a run ends before its policy is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Exit status.
    pub code: u8,
    /// The policy to be run instead, where that is one for policy that cannot be used.
    pub failsafe: Option<String>,
}

impl Ended {
    fn with(code: u8) -> Ended {
        Ended { code, failsafe: None }
    }
}

fn unreadable(ctx: &Context<'_>, code: u8) -> Ended {
    let failsafe = Some(format!("{}/failsafe.cf", ctx.config.paths.inputs));
    Ended { code, failsafe }
}

/// Policy as it is to be evaluated.
pub struct Examined {
    /// Whether it is that of the installation.
    pub default: bool,
    /// Whether it was checked now, and not found right by an earlier run.
    pub checked: bool,
}

/// Checks policy without running it, as cf-promises does.
pub fn check(run: Run<'_>, sources: &SourceMap, request: &Request) -> Summary {
    let request = Request { check: true, ..request.clone() };
    checked(run, sources, &request).0
}

/// The same, and what in the policy is hardly meant as written.
pub fn lint(
    run: Run<'_>,
    sources: &SourceMap,
    request: &Request,
) -> (Summary, Vec<fx_source::Diagnostic>) {
    let request = Request { check: true, ..request.clone() };
    let (summary, ctx) = checked(run, sources, &request);
    (summary, ctx.map(|ctx| crate::lint::findings(&ctx)).unwrap_or_default())
}

fn checked<'a>(
    run: Run<'a>,
    sources: &'a SourceMap,
    request: &Request,
) -> (Summary, Option<Context<'a>>) {
    let mut ctx = match start(run, sources, request) {
        Ok(ctx) => ctx,
        Err(ended) => return (Summary { code: ended.code }, None),
    };
    let mut code = match examine(&mut ctx, request) {
        Ok(_) => ctx.status(),
        Err(ended) => ended.code,
    };
    if let Err(error) = ctx.own_state(|act| act.commit()) {
        ctx.error(&error.to_string());
        code = code.max(1);
    }
    (Summary { code }, Some(ctx))
}

/// Reads policy and everything that it is evaluated with.
pub fn start<'a>(
    run: Run<'a>,
    sources: &'a SourceMap,
    request: &Request,
) -> Result<Context<'a>, Ended> {
    let config = configure(run.look(), request);
    make_directories(run, request, &config.paths);
    let mut ctx = new_context(run, sources, config, request);
    ctx.log_start();
    // 1. Classes of the command line.
    note_step(&ctx, "command line classes");
    let environment: Rc<[Str]> = Rc::from(["source=environment".into()]);
    for class in &request.define {
        ctx.put_class(class, ClassScope::Namespace, Rc::clone(&environment), None);
    }
    // 2. The environment and hard classes.
    note_step(&ctx, "environment detection");
    ctx.discover();
    ctx.discover_monitored();
    ctx.log_machine();
    negate(&mut ctx, request);
    // 3. Classes kept from earlier runs.
    note_step(&ctx, "persistent classes");
    persistent::load(&mut ctx);
    ctx.log_hub();
    ctx.load_augments();
    if ctx.host().stat(&path(&ctx.config.paths.entry)).is_err() {
        let entry = ctx.config.paths.entry.clone();
        let reason = ctx
            .host()
            .stat(&path(&entry))
            .err()
            .map(|error| crate::reason::reason(&error))
            .unwrap_or_default();
        if request.check {
            ctx.error(&format!("Can't stat file '{entry}' for parsing. (stat: {reason})"));
        } else {
            ctx.error(&format!("There is no readable input file at '{entry}'. (stat: {reason})"));
            return Err(unreadable(&ctx, 1));
        }
        return Err(Ended::with(1));
    }
    // 4. and 5. The check and pre-evaluation: every file resolved as it is loaded, and all
    // of it once more after the last.
    note_step(&ctx, "policy check");
    note_step(&ctx, "pre-evaluation");
    ctx.log_loading();
    let mut loaded = Loaded::default();
    let policy = ctx.load_policy(&mut loaded);
    if let Some(why) = ctx.host().refused() {
        ctx.error(&why);
        return Err(Ended::with(1));
    }
    if loaded.refused {
        return Err(Ended::with(1));
    }
    let Some(policy) = policy else {
        let code = ctx.stop.map_or(1, |stop| stop.code.max(1));
        if ctx.stop.is_none_or(|stop| stop.code == 1) {
            if ctx.stop.is_none() {
                ctx.error("There are syntax errors in policy files");
            }
            log_invalid(&ctx, request);
            return Err(unreadable(&ctx, code));
        }
        return Err(Ended::with(code));
    };
    ctx.policy = Rc::new(policy);
    if !check_whole(&mut ctx, !request.check || request.full_check) {
        log_invalid(&ctx, request);
        return Err(unreadable(&ctx, 1));
    }
    ctx.log_classes();
    Ok(ctx)
}

/// Expands every promise once, resolves variables, and prints what the request wants to see.
pub fn examine(ctx: &mut Context<'_>, request: &Request) -> Result<Examined, Ended> {
    // Up to here it was the check's work; what it made of cached functions does not hold for
    // the run, unless policy was found right before and the agent goes without a check.
    let default = request.file.is_none() && request.simulate.is_none();
    let checked = !request.check && (!default || ctx.changed_since_check());
    if checked {
        ctx.cache.clear();
    }
    if !request.check || request.full_check {
        if !request.check {
            crate::load::check::recheck(ctx);
        }
        // What comes out only when promises are expanded does not lead to the failsafe policy.
        if ctx.stopped() {
            return Err(Ended::with(ctx.status()));
        }
        ctx.resolve_policy();
        // The agent's check is a full one, unless bundles are named.
        if !ctx.stopped() && !request.check && request.bundles.is_none() {
            ctx.check_sequence();
        }
        if ctx.stopped() {
            if ctx.stop.is_some_and(|stop| stop.code == 1) {
                log_invalid(ctx, request);
                return Err(unreadable(ctx, ctx.status()));
            }
            return Err(Ended::with(ctx.status()));
        }
    }
    if request.check && !request.full_check && request.show_vars.is_some() {
        ctx.resolve_policy();
    }
    if request.full_check {
        ctx.check_sequence();
    }
    ctx.show(request);
    if let Some(dir) = request.tag_release.as_deref().filter(|_| !ctx.stopped())
        && !ctx.tag_release(dir)
    {
        ctx.error("The given directory could not be tagged, sorry.");
        return Err(Ended::with(1));
    }
    Ok(Examined { default, checked })
}

// The agent names the command that shows the errors; cf-promises is that command. Our own verbs have shown them.
fn log_invalid(ctx: &Context<'_>, request: &Request) {
    if request.check || request.fallback || request.reasons {
        return;
    }
    let paths = &ctx.config.paths;
    let command = match &request.bundles {
        None => format!("\"{}/cf-promises\" -c \"{}\"", paths.bin, paths.entry),
        Some(bundles) => {
            let bundles = bundles.join(",");
            format!("\"{}/cf-promises\" \"{}\" -b \"{bundles}\"", paths.bin, paths.entry)
        }
    };
    ctx.error(&format!("Policy failed validation with command '{command}'"));
}

/// Notes for the trace that a step of the run begins.
pub fn note_step(ctx: &Context<'_>, name: &'static str) {
    if ctx.config.trace {
        let fields = [("name".into(), fx_value::Value::from(name))];
        ctx.run.ledger.note("cf.step", &fields, &fx_source::Origin::default());
    }
}

fn new_context<'a>(
    run: Run<'a>,
    sources: &'a SourceMap,
    config: Config,
    request: &Request,
) -> Context<'a> {
    let mut control = Control {
        cache_functions: true,
        evaluate_functions: !request.no_functions,
        ..Control::default()
    };
    if let Some(warnings) = &request.warnings {
        control.agent.insert("-W".into(), Rval::scalar(warnings));
    }
    Context {
        run,
        sources,
        level: Cell::new(config.level),
        cwd: Rc::clone(&config.launch_dir),
        config,
        policy: Rc::new(Policy::default()),
        vars: Variables::default(),
        late_sys: OnceCell::new(),
        matches: Scope::default(),
        hard: ClassTable::default(),
        soft: ClassTable::default(),
        negated: FxHashSet::default(),
        persistent: Persistent::default(),
        stack: Vec::new(),
        pass: 0,
        stop: None,
        done: FxHashSet::default(),
        handles: FxHashSet::default(),
        cache: FxHashMap::default(),
        exprs: RefCell::new(FxHashMap::default()),
        control,
        place: Cell::new(None),
        log_buffer: RefCell::new(None),
        bundle_aborted: false,
        body_guarded: false,
        acquired: false,
        repeats: false,
        bundle_names: FxHashSet::default(),
        why: crate::why::Why::default(),
        passed_over: Vec::new(),
        processes: crate::process_table::Cache::default(),
        default_bodies: FxHashSet::default(),
        validated_only: request.check,
        parsed: Vec::new(),
        zone: OnceCell::new(),
    }
}

// Policy may count on the directories that the original makes at its start. One of them
// shows whether they were made.
/// Makes the directories of an installation that are not there.
pub fn make_directories(run: Run<'_>, request: &Request, paths: &Paths) {
    const BELOW: [&str; 10] = [
        "inputs",
        "outputs",
        "lastseen",
        "reports",
        "modules",
        "ppkeys",
        "state",
        "state/diff",
        "state/previous_state",
        "state/untracked",
    ];
    let look = run.look();
    if request.dry_run || look.stat(&path(&format!("{}/reports", paths.workdir))).is_ok() {
        return;
    }
    // Whoever needs one of them says so; here it is only for those who look closely.
    let unmade = |error: &fx_host::HostError| {
        if request.level.is_some_and(|level| level >= Level::Verbose) {
            let origin = fx_source::Origin::default();
            run.ledger.message(Level::Verbose, &error.to_string(), &origin);
        }
    };
    run.own_state(|act| {
        let parent = paths.workdir.rfind('/').map_or("/", |at| &paths.workdir[..at.max(1)]);
        if act.stat(&path(&paths.workdir)).is_err() {
            if act.stat(&path(parent)).is_err() {
                return;
            }
            let made = act.make_dir(&path(&paths.workdir), 0o755);
            if let Err(error) = made {
                return unmade(&error);
            }
        }
        for name in BELOW {
            let dir = path(&format!("{}/{name}", paths.workdir));
            if act.lstat(&dir).is_err() {
                act.make_dir(&dir, 0o700).unwrap_or_else(|error| unmade(&error));
            }
        }
    });
}

// Only classes kept from earlier runs are left out; -D has the last word.
fn negate(ctx: &mut Context<'_>, request: &Request) {
    ctx.negated.extend(request.negate.iter().map(|class| class.as_str().into()));
}

// Checks that need everything loaded.
fn check_whole(ctx: &mut Context<'_>, full: bool) -> bool {
    let policy = Rc::clone(&ctx.policy);
    let mut problems = crate::load::check::partial(&policy);
    let comments = policy
        .body("common", "default", "control")
        .and_then(|body| ctx.effective(body, "require_comments"))
        .and_then(|value| value.as_scalar().cloned())
        .and_then(|text| crate::text::bool_from(&text))
        .unwrap_or(false);
    // Only a full check asks whether it could run; the agent's own is one, and so is that of
    // policy that is meant to be run.
    let meant =
        policy.bodies.iter().any(|body| &*body.kind == "common" && &*body.name == "control");
    if problems.is_empty() && (full || meant) {
        ctx.verbose("Running full policy integrity checks");
        problems = crate::load::check::runnable(&policy, comments);
    }
    for problem in &problems {
        ctx.policy_error(problem);
    }
    problems.is_empty()
}
