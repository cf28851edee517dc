//! `puppet apply`: compiles a manifest and brings the machine to what the catalog says.

mod attempt;
mod attributes;
mod audit;
mod augeas;
mod backup;
mod base_service;
mod check;
mod deferred;
mod execs;
mod files;
mod generate;
mod graph;
mod keys;
mod order;
mod status;
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
mod system_types;
mod log;
mod names;
mod logging;
mod engine_resource;
mod transaction;
mod wording;
mod yumrepo;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fx_engine::{Level, Run};
use fx_source::Origin;
use log::{Entry, Source};
use report::Account;
pub(crate) use report::default_provider;
use status::Status;
use transaction::Transaction;
pub(crate) use wording::{Message, words};

use crate::compile::{Catalog, Settings};
use crate::eval::Evaluator;
use crate::machine::Machine;

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Manifests by the names that messages give them, taken as one.
    pub manifests: Vec<(String, Vec<u8>)>,
    /// A catalog to apply instead: its name, and its text.
    pub catalog: Option<(String, Vec<u8>)>,
    /// Where modules lie.
    pub modulepath: Vec<PathBuf>,
    /// Only tell what would be done.
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
    /// Where the report goes.
    pub report: Option<PathBuf>,
    /// Where the figures of the report go.
    pub summary: Option<PathBuf>,
    /// Where the names of classes go.
    pub class_list: Option<PathBuf>,
    /// Where the names of resources go.
    pub resource_list: Option<PathBuf>,
    /// The figures of the run are wanted as text.
    pub summarizes: bool,
    /// One resource by itself: it has no place in stages and classes, and only what happens to
    /// it is told.
    pub alone: bool,
    /// Folder for graphs, where they are wanted.
    pub graphs: Option<PathBuf>,
    /// Classes and parameters that a classifier gives the node.
    pub classes: Vec<(String, crate::value::Hash)>,
    /// Variables that a classifier gives the node.
    pub variables: Vec<(String, crate::value::Value)>,
    /// Settings of the original that were given, by name.
    pub given: crate::settings::Given,
    /// Tell each phase.
    pub trace: bool,
    /// Say more than the original does where something is wrong.
    pub explains: bool,
    /// What the report's log holds, down to this level.
    pub level: Option<Level>,
    /// Exit codes tell of changes and failures.
    pub detailed_exitcodes: bool,
}

/// How it ended.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Exit code of the original.
    pub code: u8,
    /// The figures of the run, where they were asked for.
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
    let host = run.host.uname().nodename.to_lowercase();
    if host.contains('.') {
        return host;
    }
    let read = |path: &str| {
        run.host
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

/// A line of the original that a step of the record says by itself: the original's console
/// prints it, others have the step.
fn line(run: Run<'_>, level: Level, text: &str) {
    let word = match level {
        Level::Notice => "notice",
        Level::Info => "info",
        _ => return run.ledger.message(level, text, &Origin::default()),
    };
    let fields = [("level".into(), word.into()), ("text".into(), text.into())];
    run.ledger.note("puppet.line", &fields, &Origin::default());
}

/// Compiles and applies.
pub fn run(machine: &Machine, request: &Request) -> Summary {
    let run = machine.run;
    let started = run.host.monotonic();
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
    let began = run.host.now();
    machine.ruby.takes_words.set(request.alone);
    let evaluator = Evaluator::new(machine, settings);
    let origin = Origin::default();
    let made = match &request.catalog {
        Some((_, text)) => saved::load(&evaluator, text),
        None => evaluator.compile(&request.manifests),
    };
    if let Err(message) = made {
        run.ledger.message(Level::Error, &message, &origin);
        return Summary::code(1);
    }
    let took = run.host.monotonic().saturating_sub(started).as_secs_f64();
    let told =
        format!("Compiled catalog for {node} in environment {environment} in {took:.2} seconds");
    if !request.alone && request.catalog.is_none() {
        line(run, Level::Notice, &told);
    }
    let level = request.level;
    let noop = request.noop;
    let account = Account { began, compiled: took, noop, level, ..Account::default() };
    carry_out(&evaluator, request, account)
}

fn carry_out(evaluator: &Evaluator, request: &Request, mut account: Account<'_>) -> Summary {
    let run = evaluator.run;
    let origin = Origin::default();
    let refused = |message: &str| {
        run.ledger.message(Level::Error, message, &origin);
        Summary::code(1)
    };
    let started = run.host.monotonic();
    if let Some(message) = hook(run, "prerun_command", request.prerun.as_ref()) {
        let mut account = Account { status: "failed", is_bare: true, ..account };
        account.logs.push(Entry::new(
            run,
            Level::Error,
            Source::Run,
            &Message::Failed(message.clone()),
        ));
        write_report(evaluator, request, &account);
        return refused(&message);
    }
    let defers =
        crate::settings::text(&request.given, "preprocess_deferred").as_deref() == Some("false");
    if !defers && let Err(message) = deferred::resolve(evaluator) {
        return refused(&message);
    }
    let mut catalog = evaluator.catalog.borrow();
    let mut made = BTreeMap::new();
    let mut retold = Vec::new();
    for (at, resource) in catalog.resources.iter().enumerate() {
        if !order::acts(&catalog, at) {
            continue;
        }
        if defers && deferred::is_deferred(resource) {
            made.insert(at, engine_resource::Made::Nothing);
            continue;
        }
        match engine_resource::make(evaluator, resource) {
            Ok(thing) => {
                if let engine_resource::Made::Ruby(thing) = &thing
                    && let Some(told) = thing.told()
                {
                    retold.push((at, told));
                }
                made.insert(at, thing);
            }
            Err(message) => {
                if evaluator.ruby_is_placeless(&resource.low) {
                    return refused(&message);
                }
                let place = evaluator.line_text(resource.span);
                return refused(&format!("{} {place}", message.trim_end()));
            }
        }
    }
    if !retold.is_empty() {
        if let Some(message) = order::lost(evaluator, &catalog, &retold) {
            return refused(&message);
        }
        drop(catalog);
        for (at, told) in retold {
            evaluator.catalog.borrow_mut().resources[at].told = Some(told);
        }
        catalog = evaluator.catalog.borrow();
    }
    for resource in &catalog.resources {
        if let Err(message) = backup::of(evaluator, &catalog, resource) {
            return refused(&message);
        }
    }
    for resource in catalog.resources.iter().filter(|resource| &*resource.low == "file") {
        let recurses = attributes::text(resource, "recurse").is_some_and(|word| word != "false");
        if attributes::text(resource, "recurselimit").is_some() && !recurses {
            let text = format!(
                "/{}: Possible error: recurselimit is set but not recurse, no recursion will happen",
                resource.reference()
            );
            run.ledger.message(Level::Warning, &text, &origin);
        }
    }
    for resource in &catalog.resources {
        if &*resource.low == "file" && attributes::text(resource, "source_permissions").is_some() {
            let text = format!(
                "The `source_permissions` parameter is deprecated. Explicitly set `owner`, `group`, and `mode`.\n   {}",
                evaluator.line_text(resource.span)
            );
            run.ledger.message(Level::Warning, &text, &origin);
            break;
        }
    }
    if !request.alone {
        let message = Message::UsingEnvironment(evaluator.settings.environment.clone());
        let entry = Entry::new(run, Level::Info, Source::Run, &message);
        entry.show(run);
        account.logs.push(entry);
    }
    let autos = autos(&catalog, &made);
    let plan = match order::plan(&catalog, &autos) {
        Ok(plan) => plan,
        Err((message, resources)) => {
            let why = "resource is part of a dependency cycle".into();
            let event = status::Event::of_resource(status::EventStatus::Failure, why);
            let failed =
                Status { failed: true, out_of_sync: 1, events: vec![event], ..Status::default() };
            let containers = order::containers(&catalog);
            let all = resources.iter().filter(|at| order::acts(&catalog, **at)).map(|at| {
                let resource = &catalog.resources[*at];
                (resource, &failed, order::path(&catalog, &containers, *at), tags_of(resource))
            });
            let mut account =
                Account { all: all.collect(), status: "failed", is_bare: true, ..account };
            let end =
                "Failed to apply catalog: One or more resource dependency cycles detected in graph";
            for text in [message.as_str(), end] {
                let message = Message::Failed(text.to_owned());
                account.logs.push(Entry::new(run, Level::Error, Source::Run, &message));
            }
            write_report(evaluator, request, &account);
            refused(&message);
            for at in &resources {
                let resource = &catalog.resources[*at];
                let text = format!(
                    "{} is declared at {}",
                    resource.reference(),
                    evaluator.line_text(resource.span)
                );
                let level = if request.explains { Level::Notice } else { Level::Info };
                run.ledger.message(level, &text, &Origin::at(resource.span));
            }
            return refused(
                "Failed to apply catalog: One or more resource dependency cycles detected in graph",
            );
        }
    };
    if let Some(dir) = &request.graphs {
        for (name, text) in graph::graphs(&catalog, &plan) {
            let path = dir.join(format!("{name}.dot"));
            let made = fx_resources::directory::make_parents(run.host, &path, 0o755);
            let written = run.host.write(&path, text.as_bytes(), &fx_host::WriteOptions::default());
            if let (Err(failure), _) = (made, written) {
                run.ledger.message(Level::Error, &failure.to_string(), &origin);
            }
        }
    }
    let object_of = |thing: &engine_resource::Made| match thing {
        engine_resource::Made::Ruby(thing) => Some(thing.object()),
        _ => None,
    };
    let mut objects: Vec<_> = made.values().filter_map(object_of).collect();
    // Key files that users purge are read together with all others.
    for user in catalog.resources.iter().filter(|resource| &*resource.low == "user") {
        for key in keys::unmanaged(run.host, &catalog, user) {
            objects
                .extend(engine_resource::make(evaluator, &key).ok().as_ref().and_then(object_of));
        }
    }
    if let Err(flow) = evaluator.ruby_prefetch(&objects) {
        run.ledger.message(Level::Error, &format!("Could not prefetch: {}", flow.text()), &origin);
    }
    let left_out = made
        .keys()
        .copied()
        .filter(|at| is_left_out(evaluator, request, &catalog.resources[*at]))
        .collect();
    write_lists(evaluator, request, &catalog);
    let version = run.host.now().secs;
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
        managed: std::cell::OnceCell::new(),
        brought: BTreeMap::new(),
        misgenerated: false,
        changed: BTreeMap::new(),
        hearers: Vec::new(),
        logs: std::cell::RefCell::new(account.logs),
        merges: crate::settings::text(&request.given, "merge_dependency_warnings").as_deref()
            == Some("true"),
        unprovided: std::cell::RefCell::default(),
        defers,
        aborted: None,
        place: None,
        announced: BTreeSet::new(),
        left_out,
        state: state::State::read(run.host, state_file.as_deref()),
    };
    transaction.log(Level::Info, &Message::Applying { version });
    transaction.apply(&plan, &mut made);
    if let Some(file) = transaction.state.new_file() {
        transaction.log(Level::Info, &Message::CreatingStateFile(file.to_owned()));
    }
    if let Err(error) = transaction.state.write(run.host) {
        run.ledger.message(Level::Error, &format!("Could not write state: {error}"), &origin);
    }
    let took = run.host.monotonic().saturating_sub(started).as_secs_f64();
    if let Some(message) = &transaction.aborted {
        transaction.log(Level::Error, &Message::NotApplied(message.clone()));
    } else if !request.alone {
        transaction.log(Level::Notice, &Message::Applied { seconds: took });
    }
    let states = || {
        let own = transaction.status.values();
        own.chain(transaction.generated.iter().map(|one| &one.status))
    };
    let changed = states().any(|status| status.changed);
    let failed = states().any(|status| status.failed || status.failed_to_restart);
    let status = if failed || transaction.misgenerated || transaction.aborted.is_some() {
        "failed"
    } else if changed {
        "changed"
    } else {
        "unchanged"
    };
    let late = hook(run, "postrun_command", request.postrun.as_ref());
    if let Some(message) = &late {
        let message = Message::Failed(message.clone());
        let entry = Entry::new(run, Level::Error, Source::Run, &message);
        transaction.logs.borrow_mut().push(entry);
    }
    let mut figures = String::new();
    if request.report.is_some() || request.summary.is_some() || request.summarizes {
        let mut all: Vec<(&crate::compile::Resource, &Status, String, Vec<std::rc::Rc<str>>)> =
            Vec::new();
        for (at, status) in &transaction.status {
            let (resource, path) = (&catalog.resources[*at], transaction.path(*at));
            let tags = transaction.tags(resource, &path);
            all.push((resource, status, path.to_string(), tags));
        }
        let logs = transaction.logs.take();
        let account = Account {
            all,
            generated: &transaction.generated,
            logs,
            status,
            completed: transaction.aborted.is_none(),
            // A catalog that was read has what it brings and nothing more.
            is_bare: transaction.aborted.is_some() || request.catalog.is_some(),
            left_out: !request.tags.is_empty(),
            applied: took,
            ..account
        };
        write_report(evaluator, request, &account);
        if request.summarizes {
            figures = account.figures(evaluator);
        }
    }
    if let Some(message) = late {
        return refused(&message);
    }
    if transaction.aborted.is_some() {
        return Summary::code(1);
    }
    let code = if request.detailed_exitcodes && request.catalog.is_none() {
        u8::from(changed) * 2 + u8::from(failed) * 4
    } else {
        0
    };
    Summary { code, figures }
}

/// Names of classes, and of resources, for files that list them.
fn write_lists(evaluator: &Evaluator, request: &Request, catalog: &Catalog) {
    let run = evaluator.run;
    let classes: String = catalog.classes.iter().map(|name| format!("{name}\n")).collect();
    let resources = catalog.resources.iter().enumerate();
    let resources: String = resources
        .filter(|(at, _)| order::acts(catalog, *at))
        .map(|(_, resource)| {
            let key = if &*resource.low == "file" { "path" } else { "name" };
            let name =
                attributes::text(resource, key).unwrap_or_else(|| resource.title.to_string());
            format!("{}[{name}]\n", resource.low)
        })
        .collect();
    for (path, text) in [(&request.class_list, classes), (&request.resource_list, resources)] {
        let Some(path) = path else { continue };
        let options =
            fx_host::WriteOptions { mode: Some(0o640), ..fx_host::WriteOptions::default() };
        let made = fx_resources::directory::make_parents(run.host, path, 0o755);
        let written = run.host.write(path, text.as_bytes(), &options);
        if let (Err(failure), _) = (made, &written) {
            run.ledger.message(Level::Error, &failure.to_string(), &Origin::default());
        } else if let Err(error) = written {
            run.ledger.message(Level::Error, &error.to_string(), &Origin::default());
        }
    }
}

fn tags_of(resource: &crate::compile::Resource) -> Vec<std::rc::Rc<str>> {
    resource.tags.iter().map(|tag| std::rc::Rc::from(&**tag)).collect()
}

/// Edges that types draw by themselves: a file comes after its directory, a command after
/// the files it needs, and what types in Ruby ask for.
fn autos(catalog: &Catalog, made: &BTreeMap<usize, engine_resource::Made>) -> Vec<order::Auto> {
    let mut found = Vec::new();
    let mut rubies = Vec::new();
    let mut add = |from: Option<usize>, to: usize| {
        if let Some(from) = from
            && from != to
        {
            found.push(order::Auto { from, to, notifies: false });
        }
    };
    for (at, thing) in made {
        let resource = &catalog.resources[*at];
        match &*resource.low {
            "file" => {
                for other in needs_of_file(catalog, resource) {
                    add(Some(other), *at);
                }
            }
            "exec" => {
                if let Some(dir) = attributes::text(resource, "cwd") {
                    add(catalog.find("file", &dir), *at);
                }
                if let Some(user) = attributes::text(resource, "user") {
                    add(catalog.find("user", &user), *at);
                }
                let command = attributes::text(resource, "command")
                    .unwrap_or_else(|| resource.title.to_string());
                for word in command.split_whitespace().filter(|word| word.starts_with('/')).take(1)
                {
                    add(catalog.find("file", word), *at);
                }
            }
            "user" => {
                for name in attributes::list(resource, "groups")
                    .iter()
                    .chain(&attributes::list(resource, "gid"))
                {
                    add(catalog.find("group", &crate::eval::interpolated(name)), *at);
                }
            }
            _ => {}
        }
        if let engine_resource::Made::Ruby(thing) = thing {
            for (how, kind, title) in thing.autos() {
                let Some(other) = catalog.find(&kind, &title) else { continue };
                let (from, to) = if matches!(how.as_str(), "require" | "subscribe") {
                    (other, *at)
                } else {
                    (*at, other)
                };
                let notifies = matches!(how.as_str(), "notify" | "subscribe");
                if from != to {
                    rubies.push(order::Auto { from, to, notifies });
                }
            }
        }
    }
    // Who brings files waits for what they need.
    for (at, thing) in made {
        let engine_resource::Made::Ruby(thing) = thing else { continue };
        if !thing.generates() {
            continue;
        }
        let children = thing.generated(&catalog.resources[*at], false).unwrap_or_default();
        for child in children.iter().filter(|child| &*child.low == "file") {
            let needs = needs_of_file(catalog, child).into_iter().filter(|from| from != at);
            rubies.extend(needs.map(|from| order::Auto { from, to: *at, notifies: false }));
        }
    }
    found.extend(rubies);
    found
}

/// What a file needs to be there: the folder around it, its owner and its group.
fn needs_of_file(catalog: &Catalog, resource: &crate::compile::Resource) -> Vec<usize> {
    let path = files::path_of(resource);
    let mut above = path.ancestors().skip(1);
    let mut needs = Vec::new();
    needs.extend(above.find_map(|dir| catalog.find("file", &dir.to_string_lossy())));
    for (attribute, kind) in [("owner", "user"), ("group", "group")] {
        let name = attributes::text(resource, attribute);
        needs.extend(name.and_then(|name| catalog.find(kind, &name)));
    }
    needs
}

/// Whether the tags asked for leave a resource out.
fn is_left_out(
    evaluator: &Evaluator,
    request: &Request,
    resource: &crate::compile::Resource,
) -> bool {
    let has = |tag: &String| evaluator.resource_has_tag(resource, tag);
    request.skip_tags.iter().any(has) || (!request.tags.is_empty() && !request.tags.iter().any(has))
}

/// Runs a command around the whole; what went wrong with it.
fn hook(run: Run<'_>, name: &str, command: Option<&String>) -> Option<String> {
    let command = command.filter(|command| !command.is_empty())?;
    let why = match run.host.run(&fx_host::Spec::shell(command.as_str())) {
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

fn write_report(evaluator: &Evaluator, request: &Request, account: &Account<'_>) {
    let run = evaluator.run;
    let write = |path: &Option<PathBuf>, mode: u32, pieces: fx_host::Pieces<'_>| {
        let Some(path) = path else { return };
        let options =
            fx_host::WriteOptions { mode: Some(mode), ..fx_host::WriteOptions::default() };
        let made = fx_resources::directory::make_parents(run.host, path, 0o755)
            .map_err(|failure| failure.to_string())
            .and_then(|()| {
                let written = run.host.write_pieces(path, pieces, &options);
                written.map_err(|error| error.to_string())
            });
        if let Err(error) = made {
            let text = format!("Could not write report: {error}");
            run.ledger.message(Level::Error, &text, &Origin::default());
        }
    };
    write(&request.report, 0o640, &|out| account.report(evaluator, out));
    write(&request.summary, 0o644, &|out| out.write_all(account.summary(evaluator).as_bytes()));
}
