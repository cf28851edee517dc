//! One run from options to exit status, in the documented order of steps.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use fx_engine::{Level, Run};
use fx_host::{Look, OverlayHost};
use fx_source::SourceMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::agent::simulate::Simulation;
use crate::config::{Config, Ids, Paths, Request};
use crate::eval::classes::{ClassScope, ClassTable, Persistent, PersistentClass};
use crate::eval::vars::{Scope, Variables};
use crate::eval::{Context, Control, log};
use crate::load::Loaded;
use crate::load::lower::Component;
use crate::policy::{Policy, Rval};
use crate::text::{Str, decode, from_path, os, path};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Exit status of the process.
    pub code: u8,
}

/// What is run when the policy cannot be read and nobody is at the terminal.
const FAILSAFE: &str = "\
# Written because the policy could not be read. Put your own recovery here: it is kept.
body agent control
{
  abortclasses => { \"no_ppkeys_ABORT_kept\" };
  ifelapsed => \"0\";
}

bundle agent main
{
  classes:
    \"have_ppkeys\" expression => fileexists(\"$(sys.workdir)/ppkeys/localhost.pub\");

  reports:
    !have_ppkeys::
      \"No public/private key pair is loaded, please create one by running \\\"cf-key\\\"\"
        classes => failsafe_kept(\"no_ppkeys_ABORT\");

    have_ppkeys::
      \"Built-in failsafe policy: the main policy has errors and no hub is asked for another\";
}

body classes failsafe_kept(prefix)
{
  promise_kept => { \"$(prefix)_kept\" };
}
";

/// Runs policy, or only checks it. Policy that cannot be read falls back to `failsafe.cf`
/// of the inputs directory when nobody sits at the terminal.
pub fn run(run: Run<'_>, sources: &SourceMap, request: &Request) -> Summary {
    match request.simulate.filter(|_| !request.check) {
        None => run_or_fall_back(run, sources, request, None),
        Some(mode) => simulate(run, sources, request, mode),
    }
}

/// Checks policy without running it, and reports besides what is hardly meant as written.
pub fn check(
    run: Run<'_>,
    sources: &SourceMap,
    request: &Request,
) -> (Summary, Vec<fx_source::Diagnostic>) {
    let mut found = Vec::new();
    let request = Request { check: true, ..request.clone() };
    let summary = run_once(run, sources, &request, &mut None, None, Some(&mut found));
    (summary, found)
}

/// Runs with all changes of files kept apart, in a directory that is removed after the run.
fn simulate(
    run: Run<'_>,
    sources: &SourceMap,
    request: &Request,
    mode: crate::config::Simulate,
) -> Summary {
    let log =
        |level: Level, text: &str| run.ledger.message(level, text, &fx_source::Origin::default());
    let failed = |text: &str| {
        log(Level::Error, text);
        Summary { code: 1 }
    };
    let config = configure(run.look(), request);
    make_directories(run, request, &config.paths);
    let layer = format!("{}/{}.changes", config.paths.state, run.look().pid());
    run.own_state(|act| {
        if let Err(error) = act.make_dir(&path(&layer), 0o700) {
            return failed(&error.to_string());
        }
        log(Level::Warning, &format!("All changes in files will be made in the '{layer}' chroot"));
        let overlay = OverlayHost::new(act, path(&layer));
        let inner = Run::new(&overlay, run.ledger, run.cancel);
        let summary = run_or_fall_back(inner, sources, request, Some((&overlay, mode)));
        if let Err(error) = overlay.discard() {
            log(Level::Error, &error.to_string());
        }
        summary
    })
}

fn run_or_fall_back<'a>(
    run: Run<'a>,
    sources: &'a SourceMap,
    request: &Request,
    simulation: Option<(&'a OverlayHost<'a>, crate::config::Simulate)>,
) -> Summary {
    let mut fallback = None;
    let summary = run_once(run, sources, request, &mut fallback, simulation, None);
    let Some(file) =
        fallback.filter(|_| !request.check && !request.interactive && !request.fallback)
    else {
        return summary;
    };
    let log =
        |level: Level, text: &str| run.ledger.message(level, text, &fx_source::Origin::default());
    log(
        Level::Error,
        "CFEngine was not able to get confirmation of promises from cf-promises, so going to failsafe",
    );
    if run.look().stat(&path(&file)).is_err() {
        if request.dry_run {
            log(Level::Warning, &format!("Should write built-in failsafe policy to '{file}'"));
            return summary;
        }
        if request.level.is_some_and(|level| level >= Level::Info) {
            log(Level::Info, &format!("Writing built-in failsafe policy to '{file}'"));
        }
        let options =
            fx_host::WriteOptions { mode: Some(0o600), ..fx_host::WriteOptions::default() };
        let written = run.own_state(|act| {
            if let Some(inputs) = file.strip_suffix("/failsafe.cf") {
                // Where it cannot be made, writing the file says why.
                let _made = act.make_dir(&path(inputs), 0o700);
            }
            act.write(&path(&file), FAILSAFE.as_bytes(), &options).and_then(|()| act.commit())
        });
        if let Err(error) = written {
            log(Level::Error, &error.to_string());
            return summary;
        }
    }
    if let Some(inputs) = file.strip_suffix("/failsafe.cf") {
        log(Level::Error, &format!("CFEngine failsafe.cf: {inputs} {file}"));
    }
    let mut define = request.define.clone();
    define.push("failsafe_fallback".to_owned());
    let again = Request { file: Some(file), fallback: true, define, ..request.clone() };
    run_once(run, sources, &again, &mut None, simulation, None)
}

// The agent names the command that shows the errors; cf-promises is that command.
fn log_invalid(ctx: &Context<'_>, request: &Request) {
    if request.check || request.fallback {
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

fn run_once<'a>(
    run: Run<'a>,
    sources: &'a SourceMap,
    request: &Request,
    fallback: &mut Option<String>,
    simulation: Option<(&'a OverlayHost<'a>, crate::config::Simulate)>,
    found: Option<&mut Vec<fx_source::Diagnostic>>,
) -> Summary {
    let config = configure(run.look(), request);
    make_directories(run, request, &config.paths);
    let mut ctx = new_context(run, sources, config, request);
    ctx.simulation = simulation.map(|(overlay, mode)| Simulation::new(overlay, mode));
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
    ctx.log_machine();
    negate(&mut ctx, request);
    // 3. Classes kept from earlier runs.
    note_step(&ctx, "persistent classes");
    load_persistent(&mut ctx);
    ctx.log_hub();
    ctx.load_augments();
    if ctx.host().stat(&path(&ctx.config.paths.entry)).is_err() {
        let entry = ctx.config.paths.entry.clone();
        let reason = ctx
            .host()
            .stat(&path(&entry))
            .err()
            .map(|error| crate::load::reason(&error))
            .unwrap_or_default();
        if request.check {
            ctx.error(&format!("Can't stat file '{entry}' for parsing. (stat: {reason})"));
        } else {
            ctx.error(&format!("There is no readable input file at '{entry}'. (stat: {reason})"));
            *fallback = Some(format!("{}/failsafe.cf", ctx.config.paths.inputs));
        }
        return Summary { code: 1 };
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
        return Summary { code: 1 };
    }
    if loaded.refused {
        return Summary { code: 1 };
    }
    let Some(policy) = policy else {
        if ctx.stop.is_none_or(|stop| stop.code == 1) {
            if ctx.stop.is_none() {
                ctx.error("There are syntax errors in policy files");
            }
            log_invalid(&ctx, request);
            *fallback = Some(format!("{}/failsafe.cf", ctx.config.paths.inputs));
        }
        return Summary { code: ctx.stop.map_or(1, |stop| stop.code.max(1)) };
    };
    ctx.policy = Rc::new(policy);
    if !check_whole(&mut ctx, !request.check || request.full_check) {
        log_invalid(&ctx, request);
        *fallback = Some(format!("{}/failsafe.cf", ctx.config.paths.inputs));
        return Summary { code: 1 };
    }
    ctx.log_classes();
    let mut summary = evaluate(&mut ctx, request, fallback);
    if let Some(found) = found {
        found.extend(crate::lint::findings(&ctx));
    }
    ctx.report_simulation();
    ctx.save_locks();
    save_persistent(&mut ctx);
    if let Err(error) = ctx.own_state(|act| act.commit()) {
        ctx.error(&error.to_string());
        summary.code = summary.code.max(1);
    }
    // The process ends with the run: giving back every variable and promise one by one
    // would cost more than the rest of a small run.
    std::mem::forget(ctx);
    summary
}

fn evaluate(ctx: &mut Context<'_>, request: &Request, fallback: &mut Option<String>) -> Summary {
    let status = |ctx: &Context<'_>| Summary { code: ctx.stop.map_or(0, |stop| stop.code) };
    // Up to here it was the check's work; what it made of cached functions does not hold for
    // the run, unless policy was found right before and the agent goes without a check.
    let default = request.file.is_none() && ctx.simulation.is_none();
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
            return status(ctx);
        }
        ctx.resolve_policy();
        // The agent's check is a full one, unless bundles are named.
        if !ctx.stopped() && !request.check && request.bundles.is_none() {
            ctx.check_sequence();
        }
        if ctx.stopped() {
            if ctx.stop.is_some_and(|stop| stop.code == 1) {
                log_invalid(ctx, request);
                *fallback = Some(format!("{}/failsafe.cf", ctx.config.paths.inputs));
            }
            return status(ctx);
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
        return Summary { code: 1 };
    }
    if request.check {
        return status(ctx);
    }
    ctx.keep_agent_control();
    if !ctx.stopped() {
        // 6. Evaluation proper.
        note_step(ctx, "evaluation");
        ctx.note_order();
        // The original marks in a dry run too; ours leaves nothing behind.
        if checked && default && !ctx.config.dry_run {
            ctx.mark_checked();
        }
        ctx.log_begin();
        ctx.run_sequence();
        if !ctx.stopped() && !ctx.run.ledger.in_copy() {
            crate::agent::promise::packages::update_inventory(ctx);
        }
        crate::agent::promise::commands::wait_for_background(ctx);
        crate::agent::promise::custom::terminate(ctx);
        ctx.log_end();
    }
    ctx.show_evaluated(request);
    status(ctx)
}

fn note_step(ctx: &Context<'_>, name: &'static str) {
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
        log_buffer: RefCell::new(None),
        bundle_aborted: false,
        body_guarded: false,
        acquired: false,
        repeats: false,
        bundle_names: FxHashSet::default(),
        agent: crate::agent::State::default(),
        default_bodies: FxHashSet::default(),
        validated_only: request.check,
        simulation: None,
        parsed: Vec::new(),
        zone: OnceCell::new(),
    }
}

/// What a run is about, from its options and the machine.
pub(crate) fn configure(host: &dyn Look, request: &Request) -> Config {
    let text = |name: &str| {
        host.var(&os(name))
            .map(|value| decode(std::os::unix::ffi::OsStrExt::as_bytes(value.as_os_str())))
    };
    let overridden = text("CFENGINE_TEST_OVERRIDE_WORKDIR").filter(|dir| !dir.is_empty());
    let home = || host.user_by_id(host.euid()).ok().flatten().map(|user| from_path(&user.home));
    let workdir = request.workdir.clone().or(overridden).unwrap_or_else(|| {
        if host.euid() == 0 {
            "/var/cfengine".to_owned()
        } else {
            format!("{}/.cfagent", home().unwrap_or_default())
        }
    });
    let inputs = format!("{workdir}/inputs");
    let launch = from_path(&host.cwd());
    let given = request.file.clone().unwrap_or_else(|| "promises.cf".to_owned());
    let entry = if request.here || given.starts_with(['/', '.']) {
        given
    } else {
        format!("{inputs}/{given}")
    };
    let entry_dir = match entry.rfind('/') {
        Some(0) => "/".to_owned(),
        Some(at) => entry[..at].to_owned(),
        None => ".".to_owned(),
    };
    let paths = Paths {
        masterfiles: format!("{workdir}/masterfiles"),
        state: format!("{workdir}/state"),
        bin: request.bindir.clone().unwrap_or_else(|| format!("{workdir}/bin")),
        modules: format!("{workdir}/modules"),
        logs: workdir.clone(),
        pids: workdir.clone(),
        inputs,
        workdir,
        entry,
        entry_dir,
    };
    let parent = host
        .read(&path("/proc/self/stat"))
        .ok()
        .and_then(|bytes| {
            let text = decode(&bytes);
            let after = text.rfind(')')?;
            text[after + 1..].split_whitespace().nth(1).map(str::to_owned)
        })
        .unwrap_or_else(|| "1".to_owned());
    let ids = Ids {
        uid: host.euid().to_string().into(),
        gid: host.egid().to_string().into(),
        pid: host.pid().to_string().into(),
        ppid: parent.into(),
        no_tags: Rc::from([]),
        promise_tags: Rc::from(["source=promise".into()]),
    };
    Config {
        component: if request.check { Component::Promises } else { Component::Agent },
        level: request.level.unwrap_or(Level::Notice),
        trace: request.trace,
        reasons: request.reasons,
        no_commands: request.no_commands,
        // What a simulation does not change in its layer it must not change at all.
        dry_run: request.dry_run || request.simulate.is_some(),
        no_lock: request.no_lock || request.dry_run,
        quiet_rehearsal: request.interactive && request.dry_run,
        simulate: request.simulate,
        launch_dir: launch.into(),
        ids: Rc::new(ids),
        paths: Rc::new(paths),
        bundles: request
            .bundles
            .as_ref()
            .map(|bundles| bundles.iter().map(|name| name.as_str().into()).collect()),
        ignore_preferred_augments: request.ignore_preferred_augments,
    }
}

// Policy may count on the directories that the original makes at its start. One of them
// shows whether they were made.
fn make_directories(run: Run<'_>, request: &Request, paths: &Paths) {
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
    run.own_state(|act| {
        let parent = paths.workdir.rfind('/').map_or("/", |at| &paths.workdir[..at.max(1)]);
        if act.stat(&path(&paths.workdir)).is_err() {
            if act.stat(&path(parent)).is_err() {
                return;
            }
            let _unwritable = act.make_dir(&path(&paths.workdir), 0o755);
        }
        for name in BELOW {
            let dir = path(&format!("{}/{name}", paths.workdir));
            if act.lstat(&dir).is_err() {
                let _unwritable = act.make_dir(&dir, 0o700);
            }
        }
    });
}

// Only classes kept from earlier runs are left out; -D has the last word.
fn negate(ctx: &mut Context<'_>, request: &Request) {
    ctx.negated.extend(request.negate.iter().map(|class| class.as_str().into()));
}

fn persistent_file(ctx: &Context<'_>) -> std::path::PathBuf {
    path(&format!("{}/fx_classes", ctx.config.paths.state))
}

fn load_persistent(ctx: &mut Context<'_>) {
    let Ok(Some(bytes)) = ctx.host().read_opt(&persistent_file(ctx)) else { return };
    let now = ctx.host().now().secs;
    for line in decode(&bytes).lines() {
        let mut parts = line.split('\t');
        let (Some(name), Some(expires), Some(policy), Some(tags)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let Ok(expires) = expires.parse::<i64>() else { continue };
        if expires <= now {
            ctx.persistent.changed = true;
            continue;
        }
        let class = PersistentClass { expires, preserve: policy == "preserve", tags: tags.into() };
        ctx.persistent.classes.insert(name.into(), class);
        if ctx.negated.contains(name) {
            continue;
        }
        let minutes = (expires - now) / 60;
        log!(ctx, Verbose, "Persistent class '{name}' for {minutes} more minutes");
        log!(ctx, Verbose, "Adding persistent class '{name}'");
        let mut all: Vec<Str> =
            tags.split(',').filter(|tag| !tag.is_empty()).map(Into::into).collect();
        all.push("source=persistent".into());
        ctx.put_class(name, ClassScope::Namespace, all.into(), None);
    }
}

fn save_persistent(ctx: &mut Context<'_>) {
    if !ctx.persistent.changed || ctx.validated_only || ctx.config.dry_run {
        return;
    }
    let text: String = ctx
        .persistent
        .classes
        .iter()
        .map(|(name, class)| {
            let policy = if class.preserve { "preserve" } else { "reset" };
            format!("{name}\t{}\t{policy}\t{}\n", class.expires, class.tags)
        })
        .collect();
    let file = persistent_file(ctx);
    let options = fx_host::WriteOptions::default();
    if let Err(error) = ctx.own_state(|act| act.write(&file, text.as_bytes(), &options)) {
        ctx.verbose(&error.to_string());
    }
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
