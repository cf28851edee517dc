//! What agents do in half an hour, pressed into a time.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use fx_remote::Answer;
use fx_remote::puppet::{ListQuery, Server, Unanswered};
use serde_json::{Map, Value, json};

use crate::nodes::{self, Node};
use crate::{pressed, times};

const IGNORED: &[&str] = &[".svn", "CVS", ".git", ".hg"];

fn list<'a>(recurse: bool, links: &'a str, source_permissions: &'a str) -> ListQuery<'a> {
    ListQuery {
        recurse,
        levels: None,
        ignore: if recurse { IGNORED } else { &[] },
        max_files: recurse.then_some(-1),
        links,
        source_permissions,
    }
}

/// A report as agents of version 7 send it: with all resources, also those that did not change.
pub(crate) fn report(name: &str, uuid: &str, catalog: &Value) -> Value {
    let time = "2026-11-18T00:00:00.000000000+00:00";
    let mut statuses = Map::new();
    for resource in catalog["resources"].as_array().into_iter().flatten() {
        let (kind, title) = (&resource["type"], &resource["title"]);
        let named = format!("{}[{}]", kind.as_str().unwrap(), title.as_str().unwrap());
        statuses.insert(
            named.clone(),
            json!({
                "title": title, "file": resource["file"], "line": resource["line"],
                "resource": named, "resource_type": kind, "provider_used": null,
                "containment_path": ["Stage[main]", named], "evaluation_time": 0.0004,
                "tags": resource["tags"], "time": time, "failed": false,
                "failed_to_restart": false, "changed": false, "out_of_sync": false,
                "skipped": false, "change_count": 0, "out_of_sync_count": 0, "events": [],
                "corrective_change": false,
            }),
        );
    }
    let total = statuses.len();
    json!({
        "host": name, "time": time, "configuration_version": catalog["version"],
        "transaction_uuid": uuid, "report_format": 12, "puppet_version": "7.23.0",
        "status": "unchanged", "transaction_completed": true, "noop": false,
        "noop_pending": false, "environment": "production",
        "logs": [{"level": "notice", "message": "Applied catalog in 0.10 seconds",
                  "source": "Puppet", "tags": ["notice"], "time": time, "file": null, "line": null}],
        "metrics": {
            "resources": {"name": "resources", "label": "Resources",
                          "values": [["total", "Total", total]]},
            "time": {"name": "time", "label": "Time", "values": [["total", "Total", 0.1]]},
        },
        "resource_statuses": statuses, "corrective_change": false,
        "catalog_uuid": catalog["catalog_uuid"], "cached_catalog_status": "not_used",
    })
}

#[derive(Default)]
struct Seen {
    catalogs: Vec<Duration>,
    whole: Vec<Duration>,
    failures: Vec<String>,
    resources: usize,
}

fn good(what: &str, answer: Result<Answer, Unanswered>) -> Result<Answer, String> {
    match answer {
        Ok(answer) if answer.is_success() => Ok(answer),
        Ok(answer) => Err(format!("{what}: {} {}", answer.status, answer.text())),
        Err(error) => Err(format!("{what}: {error}")),
    }
}

fn cycle(server: &Server, name: &str, facts: &Value) -> Result<(Duration, usize), String> {
    good("probe", server.metadatas("plugins", &list(false, "manage", "ignore"), "production"))?;
    good("facts", server.metadatas("pluginfacts", &list(true, "follow", "use"), "production"))?;
    good("plugins", server.metadatas("plugins", &list(true, "follow", "ignore"), "production"))?;
    let uuid = format!("load-{name}");
    let began = Instant::now();
    let answer = server.catalog(name, facts, "production", "production", &uuid);
    let answer = good("catalog", answer)?;
    let took = began.elapsed();
    let catalog: Value = serde_json::from_slice(&answer.body).map_err(|error| error.to_string())?;
    if catalog["name"] != name {
        return Err(format!("{name} got the catalog of {}", catalog["name"]));
    }
    let report = report(name, &uuid, &catalog);
    good("report", server.report(name, &report, "production"))?;
    Ok((took, catalog["resources"].as_array().map_or(0, Vec::len)))
}

fn live(node: &Node, facts: &Value, seen: &Mutex<Seen>) {
    let began = Instant::now();
    let result = cycle(&node.server(), &node.name, facts);
    let whole = began.elapsed();
    let mut seen = seen.lock().unwrap();
    match result {
        Ok((took, resources)) => {
            seen.catalogs.push(took);
            seen.whole.push(whole);
            seen.resources = resources;
        }
        Err(why) => seen.failures.push(why),
    }
}

/// One run of each node, begun one after the other over the time.
pub(crate) fn spread(server: &str, dir: &str, file: &str, seconds: usize) {
    let nodes = nodes::load(server, dir, usize::MAX);
    let seen = Mutex::new(Seen::default());
    let pause = Duration::from_secs(seconds as u64) / u32::try_from(nodes.len()).unwrap();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for (at, node) in (0u32..).zip(&nodes) {
            let facts = pressed::facts(file, &node.name);
            let due = pause * at;
            std::thread::sleep(due.saturating_sub(began.elapsed()));
            let seen = &seen;
            scope.spawn(move || live(node, &facts, seen));
        }
    });
    let seen = seen.into_inner().unwrap();
    println!(
        "{} agents of {} resources in {:.1} s: {} failed",
        nodes.len(),
        seen.resources,
        began.elapsed().as_secs_f64(),
        seen.failures.len()
    );
    println!("catalog: {}", times::shown(seen.catalogs));
    println!("whole run: {}", times::shown(seen.whole));
    for why in seen.failures.iter().take(5) {
        println!("failed: {why}");
    }
}
