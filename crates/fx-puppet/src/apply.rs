//! `puppet apply`: compiles a manifest and brings the machine to what the catalog says.

mod order;
mod things;
mod transaction;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fx_engine::{Level, Run};
use fx_source::Origin;
use transaction::{Status, Transaction};

use crate::compile::{Catalog, Settings};
use crate::eval::Evaluator;
use crate::machine::Machine;
use crate::value::Value;

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Name of the manifest as messages give it.
    pub name: String,
    /// Its text.
    pub text: Vec<u8>,
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
    /// Where the report goes.
    pub report: Option<PathBuf>,
    /// Exit codes tell of changes and failures.
    pub detailed_exitcodes: bool,
}

/// How it ended.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Exit code of the original.
    pub code: u8,
}

/// Name of this machine, in lower case: the host's name and domain.
fn node_name(run: Run<'_>) -> String {
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

fn facts(run: Run<'_>, node: &str) -> Vec<(String, Value)> {
    let uname = run.host.uname();
    let (host, domain) = node.split_once('.').unwrap_or((node, ""));
    let facts = fx_facts::Facts::new(run.host);
    let os = facts.os();
    let text = |text: &str| Value::from(text);
    let family = match os.family.as_str() {
        "redhat" => "RedHat".to_owned(),
        other => crate::types::capitalized(other),
    };
    let name = match os.id.as_str() {
        "rhel" => "RedHat".to_owned(),
        "centos" => "CentOS".to_owned(),
        "almalinux" => "AlmaLinux".to_owned(),
        other => crate::types::capitalized(other),
    };
    let full = if os.full_version.is_empty() { &os.version } else { &os.full_version };
    let (major, minor) = full.split_once('.').unwrap_or((full, ""));
    let release = Value::hash([
        ("full".into(), text(full)),
        ("major".into(), text(if os.id == "ubuntu" { full } else { major })),
        ("minor".into(), text(minor)),
    ]);
    vec![
        ("kernel".into(), text(&uname.sysname)),
        ("kernelrelease".into(), text(&uname.release)),
        ("hostname".into(), text(host)),
        ("fqdn".into(), text(node)),
        (
            "networking".into(),
            Value::hash([
                ("hostname".into(), text(host)),
                ("domain".into(), text(domain)),
                ("fqdn".into(), text(node)),
            ]),
        ),
        (
            "os".into(),
            Value::hash([
                ("family".into(), text(&family)),
                ("name".into(), text(&name)),
                ("release".into(), release),
            ]),
        ),
    ]
}

/// Compiles and applies.
pub fn run(machine: &Machine, request: &Request) -> Summary {
    let run = machine.run;
    let started = run.host.monotonic();
    let node = node_name(run);
    let settings = Settings {
        facts: facts(run, &node),
        node: node.clone(),
        environment: "production".into(),
        modulepath: request.modulepath.clone(),
        environment_dir: None,
        hiera_config: None,
        ..Settings::default()
    };
    let evaluator = Evaluator::new(machine, settings);
    let origin = Origin::default();
    if let Err(message) = evaluator.compile(&[(request.name.clone(), request.text.clone())]) {
        run.ledger.message(Level::Error, &message, &origin);
        return Summary { code: 1 };
    }
    let took = run.host.monotonic().saturating_sub(started).as_secs_f64();
    let told =
        format!("Compiled catalog for {node} in environment production in {took:.2} seconds");
    run.ledger.message(Level::Notice, &told, &origin);
    carry_out(&evaluator, request)
}

fn carry_out(evaluator: &Evaluator, request: &Request) -> Summary {
    let run = evaluator.run;
    let origin = Origin::default();
    let refused = |message: &str| {
        run.ledger.message(Level::Error, message, &origin);
        Summary { code: 1 }
    };
    let started = run.host.monotonic();
    if let Some(message) = hook(run, "prerun_command", request.prerun.as_ref()) {
        write_report(run, request, &report(&BTreeMap::new(), None, request.noop, "failed", false));
        return refused(&message);
    }
    let catalog = evaluator.catalog.borrow();
    let planned = order::plan(&catalog, |shown, at, attribute| {
        let place = evaluator.line_text(catalog.resources[at].span);
        format!(
            "Could not find resource '{shown}' in parameter '{attribute}' {place} on node {}",
            evaluator.settings.node
        )
    });
    let plan = match planned {
        Ok(plan) => plan,
        Err(message) => {
            let code = refused(&message);
            if message.starts_with("Found") {
                refused(
                    "Failed to apply catalog: One or more resource dependency cycles detected in graph",
                );
            }
            return code;
        }
    };
    let mut made = BTreeMap::new();
    for at in &plan.order {
        let resource = &catalog.resources[*at];
        match things::make(evaluator, resource) {
            Ok(thing) => {
                made.insert(*at, thing);
            }
            Err(message) => {
                let place = evaluator.line_text(resource.span);
                return refused(&format!("{message} {place}"));
            }
        }
    }
    let left_out = plan
        .order
        .iter()
        .copied()
        .filter(|at| is_left_out(evaluator, request, &catalog.resources[*at]))
        .collect();
    let version = run.host.now().secs;
    run.ledger.message(
        Level::Info,
        &format!("Applying configuration version '{version}'"),
        &origin,
    );
    let mut transaction = Transaction {
        run,
        catalog: &catalog,
        noop: request.noop,
        status: BTreeMap::new(),
        announced: BTreeSet::new(),
        left_out,
    };
    transaction.apply(&plan, &mut made);
    let took = run.host.monotonic().saturating_sub(started).as_secs_f64();
    run.ledger.message(Level::Notice, &format!("Applied catalog in {took:.2} seconds"), &origin);
    let changed = transaction.status.values().any(|status| status.changed);
    let failed =
        transaction.status.values().any(|status| status.failed || status.failed_to_restart);
    let status = if failed {
        "failed"
    } else if changed {
        "changed"
    } else {
        "unchanged"
    };
    write_report(
        run,
        request,
        &report(&transaction.status, Some(&catalog), request.noop, status, true),
    );
    if let Some(message) = hook(run, "postrun_command", request.postrun.as_ref()) {
        return refused(&message);
    }
    let code =
        if request.detailed_exitcodes { u8::from(changed) * 2 + u8::from(failed) * 4 } else { 0 };
    Summary { code }
}

/// Whether the tags asked for leave a resource out.
fn is_left_out(
    evaluator: &Evaluator,
    request: &Request,
    resource: &crate::compile::Resource,
) -> bool {
    if things::is_never(evaluator, resource) {
        return true;
    }
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

fn write_report(run: Run<'_>, request: &Request, text: &str) {
    let Some(path) = &request.report else { return };
    if let Err(error) = run.host.write(path, text.as_bytes(), &fx_host::WriteOptions::default()) {
        run.ledger.message(
            Level::Error,
            &format!("Could not write report: {error}"),
            &Origin::default(),
        );
    }
}

/// The report as JSON, which readers of YAML take, too.
fn report(
    all: &BTreeMap<usize, Status>,
    catalog: Option<&Catalog>,
    noop: bool,
    status: &str,
    completed: bool,
) -> String {
    let pending = all.values().any(|status| status.noop > 0);
    let mut statuses = serde_json::Map::new();
    for (at, status) in all {
        let Some(resource) = catalog.and_then(|catalog| catalog.resources.get(*at)) else {
            continue;
        };
        let entry = serde_json::json!({
            "title": &*resource.title,
            "resource_type": &*resource.kind,
            "failed": status.failed,
            "changed": status.changed,
            "out_of_sync": status.out_of_sync > 0,
            "skipped": status.skipped,
            "failed_to_restart": status.failed_to_restart,
            "out_of_sync_count": status.out_of_sync,
            "change_count": status.changes,
            "corrective_change": false,
        });
        statuses.insert(resource.reference(), entry);
    }
    let whole = serde_json::json!({
        "status": status,
        "noop": noop,
        "noop_pending": pending,
        "transaction_completed": completed,
        "puppet_version": crate::VERSION,
        "report_format": 12,
        "resource_statuses": statuses,
    });
    format!("{whole:#}\n")
}
