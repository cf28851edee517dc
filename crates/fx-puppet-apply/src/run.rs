//! `puppet apply`: compiles a manifest and brings the machine to what the catalog says.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fx_engine::{Level, Run};
use fx_puppet::{Catalog, Compiled, Machine, Resource, Settings, node_name};
use fx_source::Origin;

use crate::debug::{self, Detail};
use crate::engine_resource::Made;
use crate::log::{Entry, Source};
use crate::report::Account;
use crate::status::Status;
use crate::transaction::Transaction;
use crate::wording::Message;
use crate::{
    Request, Summary, attributes, autorequire, backup, corrective, engine_resource, files,
    generate, keys, order, own_files, secrets, state, status,
};

/// Compiles and applies.
pub fn run(machine: &Machine, request: &Request) -> Summary {
    let run = machine.run();
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
        file_server: request.file_server.clone(),
        server_bucket: request.server_bucket.clone(),
        plugins: request.plugins.clone(),
        trace: request.trace,
        given: request.given.clone(),
        takes_words: request.alone,
        backup: backup::for_modules(&request.given),
        ..Settings::default()
    };
    let began = run.look().now();
    if request.level == Some(Level::Debug) {
        debug::show(run, Detail::Runtime);
        debug::show(run, Detail::Facts { external: debug::external_facts(&request.given) });
    }
    let made = match &request.catalog {
        Some((_, text)) => Compiled::read(machine, settings, text),
        None => Compiled::compile(machine, settings, &request.manifests),
    };
    let compiled = match made {
        Ok(compiled) => compiled,
        Err(why) => {
            return Summary {
                refused: why.shown.map(|shown| *shown),
                ..refused(run, &why.message)
            };
        }
    };
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
        agent: request.agent.as_ref(),
        logs: request.agent.iter().flat_map(|agent| &agent.log).map(of_agent(run)).collect(),
        ..Account::default()
    };
    carry_out(&compiled, request, account)
}

/// What an agent logged and showed before, for the report.
fn of_agent(run: Run<'_>) -> impl Fn(&(Level, String)) -> Entry {
    move |(level, text)| Entry::new(run, *level, Source::Run, &Message::Verbatim(text.clone()))
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

fn carry_out(compiled: &Compiled, request: &Request, mut account: Account<'_>) -> Summary {
    let run = compiled.run();
    let started = run.look().monotonic();
    if let Some(message) = hook(run, "prerun_command", request.prerun.as_ref()) {
        let mut account = Account { status: "failed", is_bare: true, ..account };
        account.logs.push(unshown_error(run, &message));
        own_files::write_report(compiled, request, &account);
        return refused(run, &message);
    }
    let setting = |name: &str| fx_puppet::settings::text(&request.given, name);
    let defers = setting("preprocess_deferred").as_deref() == Some("false");
    if !defers && let Err(message) = compiled.resolve_deferred() {
        return refused(run, &message);
    }
    let mut made = match make_all(compiled, defers) {
        Ok(made) => made,
        Err(message) => return refused(run, &message),
    };
    let catalog = compiled.catalog();
    for resource in &catalog.resources {
        if let Err(message) = backup::of(compiled, &catalog, resource) {
            return refused(run, &message);
        }
    }
    warn_of_parameters(compiled, &catalog);
    let debugs = request.level == Some(Level::Debug);
    if debugs {
        learn_secrets(run, &catalog);
    }
    if debugs && !request.alone {
        debug::show(run, Detail::DefaultSchedules);
    }
    if !request.alone && request.agent.is_none() {
        let message = Message::UsingEnvironment(compiled.settings().environment.clone());
        let entry = Entry::new(run, Level::Info, Source::Run, &message);
        entry.show(run);
        account.logs.push(entry);
    }
    let brought = generate::files_of_ruby(&catalog, &made);
    let autos = autorequire::edges(&catalog, &made, &brought);
    let plan = match order::plan(&catalog, &autos) {
        Ok(plan) => plan,
        Err((message, resources)) => {
            return refuse_cycle(compiled, request, &catalog, account, &message, &resources);
        }
    };
    own_files::write_graphs(run, request, &catalog, &plan);
    prefetch(compiled, &catalog, &made);
    let is_left_out = |at: &usize| is_left_out(compiled, request, &catalog.resources[*at]);
    let left_out = (0..catalog.resources.len()).filter(is_left_out).collect();
    own_files::write_lists(run, request, &catalog);
    let version = match request.agent.as_ref().map(|agent| &agent.version) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(version) => version.to_string(),
        None => run.look().now().secs.to_string(),
    };
    let state_file = request.vardir.as_ref().map(|dir| dir.join("state/state.yaml"));
    let reading = run.look().monotonic();
    let state = state::State::read(run.look(), state_file.as_deref());
    if debugs && state_file.is_some() {
        debug::show(run, Detail::LoadedState(seconds_since(run, reading)));
    }
    let store_file = request.vardir.as_ref().filter(|_| request.agent.is_some());
    let store_file = store_file.map(|dir| dir.join("state/transactionstore.yaml"));
    let store = corrective::Store::read(run.look(), store_file, &mut |file, why| {
        move_aside(run, file, why);
    });
    let mut transaction = Transaction {
        run,
        phase: "apply".into(),
        why: "".into(),
        compiled,
        catalog: &catalog,
        containers: order::containers(&catalog),
        noop: request.noop,
        alone: request.alone,
        show_diff: request.show_diff,
        status: BTreeMap::new(),
        generated: Vec::new(),
        managed: OnceCell::new(),
        files_of_ruby: brought.iter().map(|(_, file)| files::path_of(file)).collect(),
        brought: BTreeMap::new(),
        misgenerated: false,
        changed: BTreeMap::new(),
        hearers: Vec::new(),
        logs: Rc::new(RefCell::new(std::mem::take(&mut account.logs))),
        explains: request.explains,
        debugs,
        wanted_tags: request.tags.clone(),
        skip_tags: request.skip_tags.clone(),
        merges: setting("merge_dependency_warnings").as_deref() == Some("true"),
        unprovided: RefCell::default(),
        defers,
        aborted: None,
        place: None,
        announced: BTreeSet::new(),
        left_out,
        state,
        store,
        corrective: RefCell::default(),
    };
    transaction.log(Level::Info, &Message::Applying { version });
    transaction.log_relations(&plan);
    transaction.apply(&plan, &mut made);
    finish(&transaction, request, account, started)
}

/// A store of an earlier run that cannot be read gets another name.
fn move_aside(run: Run<'_>, file: &std::path::Path, why: &str) {
    let shown = file.display();
    let text = format!("Transaction store file {shown} is corrupt ({why}); replacing");
    run.ledger.message(Level::Error, &text, &Origin::default());
    let aside = std::path::PathBuf::from(format!("{shown}.bad"));
    if let Err(error) = run.own_state(|act| act.rename(file, &aside)) {
        let text = format!("Unable to rename corrupt transaction store file: {error}");
        run.ledger.message(Level::Error, &text, &Origin::default());
    }
}

/// Keeps the state, writes the report, and sums up.
fn finish<'a>(
    transaction: &'a Transaction<'a>,
    request: &Request,
    account: Account<'a>,
    started: std::time::Duration,
) -> Summary {
    let (run, compiled) = (transaction.run, transaction.compiled);
    if let Some(file) = transaction.state.new_file() {
        transaction.log(Level::Info, &Message::CreatingStateFile(file.to_owned()));
    }
    let (writing, logs) = (run.look().monotonic(), transaction.debugs && request.vardir.is_some());
    if logs {
        transaction.log(Level::Debug, &Message::Detail(Detail::StoringState));
    }
    if let Err(error) = run.own_state(|act| transaction.state.write(act, run.ledger.secrets())) {
        let text = format!("Could not write state: {error}");
        run.ledger.message(Level::Error, &text, &Origin::default());
    }
    for (at, status) in &transaction.status {
        if status.skipped {
            transaction.store.skip(&transaction.catalog.resources[*at].reference());
        }
    }
    if let Err(error) = run.own_state(|act| transaction.store.write(act, run.ledger.secrets())) {
        let text = format!("Could not write the transaction store: {error}");
        run.ledger.message(Level::Error, &text, &Origin::default());
    }
    if logs {
        let stored = Detail::StoredState(seconds_since(run, writing));
        transaction.log(Level::Debug, &Message::Detail(stored));
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
    let mut report = None;
    // `puppet apply --catalog`: the catalog has what it brings and nothing more.
    let reads_catalog = request.catalog.is_some() && request.agent.is_none();
    let reports = request.report.is_some() || request.summary.is_some();
    if reports || request.summarizes || request.agent.is_some() {
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
            is_bare: !completed || reads_catalog,
            left_out: !request.tags.is_empty(),
            applied,
            ..account
        };
        own_files::write_report(compiled, request, &account);
        report = request.agent.is_some().then(|| account.sent(compiled));
        if request.summarizes {
            figures = account.figures(compiled);
        }
    }
    if let Some(message) = late {
        return refused(run, &message);
    }
    if !completed {
        return Summary { code: 1, report, ..Summary::default() };
    }
    let code = if request.detailed_exitcodes && !reads_catalog {
        u8::from(changed) * 2 + u8::from(failed) * 4
    } else {
        0
    };
    Summary { code, figures, report, refused: None }
}

/// Checks all resources of the catalog and makes those that do not have to wait for their turn;
/// what is wrong with one otherwise.
fn make_all(compiled: &Compiled, defers: bool) -> Result<BTreeMap<usize, Made>, String> {
    let catalog = compiled.catalog();
    let mut made = BTreeMap::new();
    let mut renamed = Vec::new();
    for (at, resource) in catalog.resources.iter().enumerate() {
        if !order::acts(&catalog, at) {
            continue;
        }
        if defers && resource.is_deferred() {
            made.insert(at, Made::Later);
            continue;
        }
        let thing = engine_resource::make_early(compiled, resource).map_err(|message| {
            if compiled.is_placeless(&resource.low) {
                return message;
            }
            format!("{} {}", message.trim_end_matches('\n'), compiled.line_text(resource.span))
        })?;
        if let Made::Ruby(thing) = &thing
            && let Some(name) = thing.object.own_name()
        {
            renamed.push((at, name));
        }
        made.insert(at, thing);
    }
    if renamed.is_empty() {
        return Ok(made);
    }
    if let Some(message) = order::lost(compiled, &catalog, &renamed) {
        return Err(message);
    }
    drop(catalog);
    for (at, name) in renamed {
        compiled.rename(at, name);
    }
    Ok(made)
}

/// Lets the log know the values that are marked as secret: commands are logged with their words.
fn learn_secrets(run: Run<'_>, catalog: &Catalog) {
    for resource in &catalog.resources {
        for (name, given) in &resource.attributes {
            if secrets::is_marked(resource, name) {
                fx_puppet::learn_secret(run, &given.value);
            }
        }
    }
}

/// Warns of parameters of files that do nothing, or that the original gives up.
fn warn_of_parameters(compiled: &Compiled, catalog: &Catalog) {
    let warn = |text: &str| {
        compiled.run().ledger.message(Level::Warning, text, &Origin::default());
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
            compiled.line_text(resource.span)
        ));
    }
}

/// Gives up because resources depend on each other in a circle.
fn refuse_cycle(
    compiled: &Compiled,
    request: &Request,
    catalog: &Catalog,
    account: Account<'_>,
    message: &str,
    resources: &[usize],
) -> Summary {
    const END: &str =
        "Failed to apply catalog: One or more resource dependency cycles detected in graph";
    // Our own verbs draw no graphs.
    const ADVICE: &str = "\\nTry the '--graph' option and opening the resulting '.dot' file in OmniGraffle or GraphViz";
    let run = compiled.run();
    let message = &format!("{message}{}", if request.explains { "" } else { ADVICE });
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
    own_files::write_report(compiled, request, &account);
    refused(run, message);
    for at in resources {
        let resource = &catalog.resources[*at];
        let place = compiled.line_text(resource.span);
        let text = format!("{} is declared at {place}", resource.reference());
        let level = if request.explains { Level::Notice } else { Level::Info };
        run.ledger.message(level, &text, &Origin::at(resource.span));
    }
    refused(run, END)
}

/// Lets providers in Ruby read what they know of all their resources at once.
fn prefetch(compiled: &Compiled, catalog: &Catalog, made: &BTreeMap<usize, Made>) {
    let run = compiled.run();
    // Key files that users purge are read together with all others.
    let users = catalog.resources.iter().filter(|resource| &*resource.low == "user");
    let keys = users.flat_map(|user| keys::unmanaged(run.look(), catalog, user));
    let keys: Vec<Made> =
        keys.filter_map(|key| engine_resource::make(compiled, &key).ok()).collect();
    let objects: Vec<_> = made.values().chain(&keys).filter_map(Made::ruby).collect();
    if let Err(why) = compiled.prefetch(&objects) {
        let text = format!("Could not prefetch: {why}");
        run.ledger.message(Level::Error, &text, &Origin::default());
    }
}

/// Whether the wanted tags leave a resource out.
fn is_left_out(compiled: &Compiled, request: &Request, resource: &Resource) -> bool {
    let has = |tag: &String| compiled.has_tag(resource, tag);
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
