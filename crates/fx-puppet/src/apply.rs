//! `puppet apply`: compiles a manifest and brings the machine to what the catalog says.

mod attempt;
mod attributes;
mod audit;
mod augeas;
mod autorequire;
mod backup;
mod base_service;
mod check;
mod deferred;
mod engine_resource;
mod execs;
mod files;
mod generate;
mod graph;
mod keys;
mod log;
mod logging;
mod names;
mod order;
mod own_files;
mod recurse;
mod refresh;
mod report;
mod ruby;
mod saved;
mod schedule;
mod secrets;
mod selinux;
mod sourced;
mod state;
mod status;
mod system_types;
mod transaction;
mod wording;
mod yumrepo;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use engine_resource::Made;
use fx_engine::{Level, Run};
use fx_source::Origin;
use log::{Entry, Source};
use report::Account;
pub(crate) use report::default_provider;
use status::Status;
use transaction::Transaction;
pub(crate) use wording::{Message, words};

use crate::compile::{Catalog, Resource, Settings};
use crate::eval::Evaluator;
use crate::machine::Machine;

/// What to apply, and how.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Manifests by the names that messages give them, taken as one.
    pub manifests: Vec<(String, Vec<u8>)>,
    /// A catalog to apply instead: its name, and its text.
    pub catalog: Option<(String, Vec<u8>)>,
    /// Where modules lie.
    pub modulepath: Vec<PathBuf>,
    /// Only log what would be done.
    pub noop: bool,
    /// Only resources with one of these tags.
    pub tags: Vec<String>,
    /// No resources with one of these tags.
    pub skip_tags: Vec<String>,
    /// A command to run before anything is done.
    pub prerun: Option<String>,
    /// A command to run at the end.
    pub postrun: Option<String>,
    /// Show how the content of files changes.
    pub show_diff: bool,
    /// Where state is kept.
    pub vardir: Option<PathBuf>,
    /// Name of the node; that of the machine where not given.
    pub certname: Option<String>,
    /// Folder of the environment.
    pub environment_dir: Option<PathBuf>,
    /// Name of the environment; `production` where empty.
    pub environment: String,
    /// The global `hiera.yaml`.
    pub hiera_config: Option<PathBuf>,
    /// Where the report is written.
    pub report: Option<PathBuf>,
    /// Where the figures of the report are written.
    pub summary: Option<PathBuf>,
    /// Where the names of classes are written.
    pub class_list: Option<PathBuf>,
    /// Where the names of resources are written.
    pub resource_list: Option<PathBuf>,
    /// The figures of the run are wanted as text.
    pub summarizes: bool,
    /// One resource by itself: it has no place in stages and classes, and only what happens to
    /// it is logged.
    pub alone: bool,
    /// Folder for graphs, where they are wanted.
    pub graphs: Option<PathBuf>,
    /// Classes and parameters that a classifier gives the node.
    pub classes: Vec<(String, crate::value::Hash)>,
    /// Variables that a classifier gives the node.
    pub variables: Vec<(String, crate::value::Value)>,
    /// Settings of the original that were given, by name.
    pub given: crate::settings::Given,
    /// Log each phase.
    pub trace: bool,
    /// Log more than the original does where something is wrong.
    pub explains: bool,
    /// What the report's log holds, down to this level.
    pub level: Option<Level>,
    /// Exit codes depend on changes and failures.
    pub detailed_exitcodes: bool,
}

/// How it ended.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Exit code of the original.
    pub code: u8,
    /// The figures of the run, where they are wanted.
    pub figures: String,
}

impl Summary {
    fn code(code: u8) -> Summary {
        Summary { code, ..Summary::default() }
    }
}

/// The local time of a moment.
pub(crate) fn local_time(host: &dyn fx_host::Look, secs: i64) -> jiff::Zoned {
    schedule::local(host, secs)
}

/// Providers of a type that is there without any module.
pub(crate) fn providers(low: &str) -> Vec<&'static str> {
    check::providers(low)
}

/// Name of this machine, in lower case: the host's name and domain.
pub fn node_name(machine: &Machine) -> String {
    let run = machine.run;
    let host = run.look().uname().nodename.to_lowercase();
    if host.contains('.') {
        return host;
    }
    let read = |path: &str| {
        run.look()
            .read(std::path::Path::new(path))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    };
    let resolv = read("/etc/resolv.conf");
    let domain = resolv.lines().rev().find_map(|line| {
        let mut words = line.split_whitespace();
        matches!(words.next()?, "domain" | "search")
            .then(|| words.next().map(str::to_owned))
            .flatten()
    });
    match domain {
        Some(domain) => format!("{host}.{}", domain.trim_end_matches('.')),
        None => host,
    }
}

/// Compiles and applies.
pub fn run(machine: &Machine, request: &Request) -> Summary {
    let run = machine.run;
    let started = run.look().monotonic();
    let node = request.certname.clone().unwrap_or_else(|| node_name(machine));
    let environment = if request.environment.is_empty() {
        "production".to_owned()
    } else {
        request.environment.clone()
    };
    let settings = Settings {
        facts: None,
        node: node.clone(),
        environment: environment.clone(),
        modulepath: request.modulepath.clone(),
        environment_dir: request.environment_dir.clone(),
        hiera_config: request.hiera_config.clone(),
        classes: request.classes.clone(),
        variables: request.variables.clone(),
        custom_facts: true,
        trace: request.trace,
        given: request.given.clone(),
        ..Settings::default()
    };
    let began = run.look().now();
    machine.ruby.takes_words.set(request.alone);
    let evaluator = Evaluator::new(machine, settings);
    let made = match &request.catalog {
        Some((_, text)) => saved::load(&evaluator, text),
        None => evaluator.compile(&request.manifests),
    };
    if let Err(message) = made {
        return refused(run, &message);
    }
    let seconds = seconds_since(run, started);
    if !request.alone && request.catalog.is_none() {
        let message = Message::Compiled { node, environment, seconds };
        Entry::new(run, Level::Notice, Source::Run, &message).show(run);
    }
    let account = Account {
        began,
        compiled: seconds,
        noop: request.noop,
        level: request.level,
        ..Account::default()
    };
    carry_out(&evaluator, request, account)
}

fn seconds_since(run: Run<'_>, started: std::time::Duration) -> f64 {
    run.look().monotonic().saturating_sub(started).as_secs_f64()
}

/// The run is given up, and why.
fn refused(run: Run<'_>, message: &str) -> Summary {
    run.ledger.message(Level::Error, message, &Origin::default());
    Summary::code(1)
}

/// An error for the report's log that is shown elsewhere.
fn unshown_error(run: Run<'_>, why: &str) -> Entry {
    Entry::new(run, Level::Error, Source::Run, &Message::Failed(why.to_owned()))
}

fn carry_out(evaluator: &Evaluator, request: &Request, mut account: Account<'_>) -> Summary {
    let run = evaluator.run;
    let started = run.look().monotonic();
    if let Some(message) = hook(run, "prerun_command", request.prerun.as_ref()) {
        let mut account = Account { status: "failed", is_bare: true, ..account };
        account.logs.push(unshown_error(run, &message));
        own_files::write_report(evaluator, request, &account);
        return refused(run, &message);
    }
    let setting = |name: &str| crate::settings::text(&request.given, name);
    let defers = setting("preprocess_deferred").as_deref() == Some("false");
    if !defers && let Err(message) = deferred::resolve(evaluator) {
        return refused(run, &message);
    }
    let mut made = match make_all(evaluator, defers) {
        Ok(made) => made,
        Err(message) => return refused(run, &message),
    };
    let catalog = evaluator.catalog.borrow();
    for resource in &catalog.resources {
        if let Err(message) = backup::of(evaluator, &catalog, resource) {
            return refused(run, &message);
        }
    }
    warn_of_parameters(evaluator, &catalog);
    if !request.alone {
        let message = Message::UsingEnvironment(evaluator.settings.environment.clone());
        let entry = Entry::new(run, Level::Info, Source::Run, &message);
        entry.show(run);
        account.logs.push(entry);
    }
    let autos = autorequire::edges(&catalog, &made);
    let plan = match order::plan(&catalog, &autos) {
        Ok(plan) => plan,
        Err((message, resources)) => {
            return refuse_cycle(evaluator, request, &catalog, account, &message, &resources);
        }
    };
    own_files::write_graphs(run, request, &catalog, &plan);
    prefetch(evaluator, &catalog, &made);
    let is_left_out = |at: &usize| is_left_out(evaluator, request, &catalog.resources[*at]);
    let left_out = made.keys().copied().filter(is_left_out).collect();
    own_files::write_lists(run, request, &catalog);
    let version = run.look().now().secs;
    let state_file = request.vardir.as_ref().map(|dir| dir.join("state/state.yaml"));
    let mut transaction = Transaction {
        run,
        phase: "apply".into(),
        why: "".into(),
        evaluator,
        catalog: &catalog,
        containers: order::containers(&catalog),
        noop: request.noop,
        alone: request.alone,
        show_diff: request.show_diff,
        status: BTreeMap::new(),
        generated: Vec::new(),
        managed: OnceCell::new(),
        brought: BTreeMap::new(),
        misgenerated: false,
        changed: BTreeMap::new(),
        hearers: Vec::new(),
        logs: RefCell::new(std::mem::take(&mut account.logs)),
        merges: setting("merge_dependency_warnings").as_deref() == Some("true"),
        unprovided: RefCell::default(),
        defers,
        aborted: None,
        place: None,
        announced: BTreeSet::new(),
        left_out,
        state: state::State::read(run.look(), state_file.as_deref()),
    };
    transaction.log(Level::Info, &Message::Applying { version });
    transaction.apply(&plan, &mut made);
    finish(&transaction, request, account, started)
}

/// Keeps the state, writes the report, and sums up.
fn finish<'a>(
    transaction: &'a Transaction<'a>,
    request: &Request,
    account: Account<'a>,
    started: std::time::Duration,
) -> Summary {
    let (run, evaluator) = (transaction.run, transaction.evaluator);
    if let Some(file) = transaction.state.new_file() {
        transaction.log(Level::Info, &Message::CreatingStateFile(file.to_owned()));
    }
    if let Err(error) = run.own_state(|act| transaction.state.write(act)) {
        let text = format!("Could not write state: {error}");
        run.ledger.message(Level::Error, &text, &Origin::default());
    }
    let applied = seconds_since(run, started);
    let completed = transaction.aborted.is_none();
    if let Some(message) = &transaction.aborted {
        transaction.log(Level::Error, &Message::NotApplied(message.clone()));
    } else if !request.alone {
        transaction.log(Level::Notice, &Message::Applied { seconds: applied });
    }
    let states = || {
        let own = transaction.status.values();
        own.chain(transaction.generated.iter().map(|one| &one.status))
    };
    let changed = states().any(|status| status.changed);
    let failed = states().any(|status| status.failed || status.failed_to_restart);
    let late = hook(run, "postrun_command", request.postrun.as_ref());
    if let Some(message) = &late {
        transaction.logs.borrow_mut().push(unshown_error(run, message));
    }
    let mut figures = String::new();
    if request.report.is_some() || request.summary.is_some() || request.summarizes {
        let of_resource = |(at, status): (&usize, &'a Status)| {
            let (resource, path) = (&transaction.catalog.resources[*at], transaction.path(*at));
            let tags = transaction.tags(resource, &path);
            (resource, status, path.to_string(), tags)
        };
        let account = Account {
            all: transaction.status.iter().map(of_resource).collect(),
            generated: &transaction.generated,
            logs: transaction.logs.take(),
            status: match (failed || transaction.misgenerated || !completed, changed) {
                (true, _) => "failed",
                (false, true) => "changed",
                (false, false) => "unchanged",
            },
            completed,
            // A catalog that was read has what it brings and nothing more.
            is_bare: !completed || request.catalog.is_some(),
            left_out: !request.tags.is_empty(),
            applied,
            ..account
        };
        own_files::write_report(evaluator, request, &account);
        if request.summarizes {
            figures = account.figures(evaluator);
        }
    }
    if let Some(message) = late {
        return refused(run, &message);
    }
    if !completed {
        return Summary::code(1);
    }
    let code = if request.detailed_exitcodes && request.catalog.is_none() {
        u8::from(changed) * 2 + u8::from(failed) * 4
    } else {
        0
    };
    Summary { code, figures }
}

/// Checks all resources of the catalog and makes those that do not have to wait for their turn;
/// what is wrong with one otherwise.
fn make_all(evaluator: &Evaluator, defers: bool) -> Result<BTreeMap<usize, Made>, String> {
    let catalog = evaluator.catalog.borrow();
    let mut made = BTreeMap::new();
    let mut renamed = Vec::new();
    for (at, resource) in catalog.resources.iter().enumerate() {
        if !order::acts(&catalog, at) {
            continue;
        }
        if defers && deferred::is_deferred(resource) {
            made.insert(at, Made::Later);
            continue;
        }
        let thing = engine_resource::make_early(evaluator, resource).map_err(|message| {
            if evaluator.ruby_is_placeless(&resource.low) {
                return message;
            }
            format!("{} {}", message.trim_end(), evaluator.line_text(resource.span))
        })?;
        if let Made::Ruby(thing) = &thing
            && let Some(name) = thing.told()
        {
            renamed.push((at, name));
        }
        made.insert(at, thing);
    }
    if renamed.is_empty() {
        return Ok(made);
    }
    if let Some(message) = order::lost(evaluator, &catalog, &renamed) {
        return Err(message);
    }
    drop(catalog);
    for (at, name) in renamed {
        evaluator.catalog.borrow_mut().resources[at].told = Some(name);
    }
    Ok(made)
}

/// Warns of parameters of files that do nothing, or that the original gives up.
fn warn_of_parameters(evaluator: &Evaluator, catalog: &Catalog) {
    let warn = |text: &str| {
        evaluator.run.ledger.message(Level::Warning, text, &Origin::default());
    };
    let files = || catalog.resources.iter().filter(|resource| &*resource.low == "file");
    for resource in files() {
        let recurses = attributes::text(resource, "recurse").is_some_and(|word| word != "false");
        if attributes::text(resource, "recurselimit").is_some() && !recurses {
            warn(&format!(
                "/{}: Possible error: recurselimit is set but not recurse, no recursion will happen",
                resource.reference()
            ));
        }
    }
    let copies = |resource: &&Resource| attributes::text(resource, "source_permissions").is_some();
    if let Some(resource) = files().find(copies) {
        warn(&format!(
            "The `source_permissions` parameter is deprecated. Explicitly set `owner`, `group`, and `mode`.\n   {}",
            evaluator.line_text(resource.span)
        ));
    }
}

/// Gives up because resources depend on each other in a circle.
fn refuse_cycle(
    evaluator: &Evaluator,
    request: &Request,
    catalog: &Catalog,
    account: Account<'_>,
    message: &str,
    resources: &[usize],
) -> Summary {
    const END: &str =
        "Failed to apply catalog: One or more resource dependency cycles detected in graph";
    let run = evaluator.run;
    let why = "resource is part of a dependency cycle".into();
    let event = status::Event::of_resource(status::EventStatus::Failure, why);
    let failed = Status { failed: true, out_of_sync: 1, events: vec![event], ..Status::default() };
    let containers = order::containers(catalog);
    let of_resource = |at: &usize| {
        let resource = &catalog.resources[*at];
        let tags = resource.tags.iter().cloned().collect();
        (resource, &failed, order::path(catalog, &containers, *at), tags)
    };
    let all = resources.iter().filter(|at| order::acts(catalog, **at)).map(of_resource);
    let logs = account.logs.into_iter().chain([message, END].map(|text| unshown_error(run, text)));
    let account = Account {
        all: all.collect(),
        logs: logs.collect(),
        status: "failed",
        is_bare: true,
        generated: &[],
        ..account
    };
    own_files::write_report(evaluator, request, &account);
    refused(run, message);
    for at in resources {
        let resource = &catalog.resources[*at];
        let place = evaluator.line_text(resource.span);
        let text = format!("{} is declared at {place}", resource.reference());
        let level = if request.explains { Level::Notice } else { Level::Info };
        run.ledger.message(level, &text, &Origin::at(resource.span));
    }
    refused(run, END)
}

/// Lets providers in Ruby read what they know of all their resources at once.
fn prefetch(evaluator: &Evaluator, catalog: &Catalog, made: &BTreeMap<usize, Made>) {
    let run = evaluator.run;
    let object_of = |thing: &Made| match thing {
        Made::Ruby(thing) => Some(thing.object()),
        _ => None,
    };
    let mut objects: Vec<_> = made.values().filter_map(object_of).collect();
    // Key files that users purge are read together with all others.
    for user in catalog.resources.iter().filter(|resource| &*resource.low == "user") {
        for key in keys::unmanaged(run.look(), catalog, user) {
            let thing = engine_resource::make(evaluator, &key).ok();
            objects.extend(thing.as_ref().and_then(object_of));
        }
    }
    let fetched =
        evaluator.machine.effects.author("prefetch", || evaluator.ruby_prefetch(&objects));
    if let Err(flow) = fetched {
        let text = format!("Could not prefetch: {}", flow.text());
        run.ledger.message(Level::Error, &text, &Origin::default());
    }
}

/// Whether the wanted tags leave a resource out.
fn is_left_out(evaluator: &Evaluator, request: &Request, resource: &Resource) -> bool {
    let has = |tag: &String| evaluator.resource_has_tag(resource, tag);
    request.skip_tags.iter().any(has) || (!request.tags.is_empty() && !request.tags.iter().any(has))
}

/// Runs a command around the whole; what went wrong with it.
fn hook(run: Run<'_>, name: &str, command: Option<&String>) -> Option<String> {
    let command = command.filter(|command| !command.is_empty())?;
    let spec = fx_host::Spec::shell(command.as_str());
    let why = match run.evaluate(name, |act| act.run(&spec)) {
        Ok(ended) if ended.exit.success() => return None,
        Ok(ended) => format!(
            "Execution of '{command}' returned {}: {}",
            ended.exit.code(),
            String::from_utf8_lossy(&ended.stderr)
        ),
        Err(error) => error.to_string(),
    };
    Some(format!("Could not run command from {name}: {why}"))
}
