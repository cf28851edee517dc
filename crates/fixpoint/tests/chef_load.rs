//! A fleet of clients at once, and what single requests cost. By default few of each; `FX_LOAD=1
//! FX_PROGRAM=/path/of/a/release cargo test -p fixpoint --test chef_load -- --nocapture` prints the figures.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test looks at the machine from outside, and prints figures"
)]

#[path = "chef_site/site.rs"]
mod chef_site;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use chef_site::api::{Api, new_key};
use chef_site::{Site, ended};
use serde_json::{Value, json};

fn is_full() -> bool {
    std::env::var_os("FX_LOAD").is_some()
}

/// Processor seconds of a process so far.
fn cpu(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    ticks / 100.0
}

/// The most memory of a process, in megabytes.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// A node as large as those of the original's figures: some 112 kB.
fn large_node(name: &str) -> Value {
    let facts: Value = (0..1600)
        .map(|at| {
            (
                format!("fact{at}"),
                json!({"value": format!("some text of fact {at} of a machine"), "n": at}),
            )
        })
        .collect();
    json!({"name": name, "chef_environment": "prod", "normal": {"tags": []}, "automatic": {"facts": facts,
        "roles": ["web"], "name": name}, "run_list": ["role[web]"]})
}

/// Processor milliseconds of the server and milliseconds on the clock for each of some requests.
fn each(pid: u32, count: usize, mut request: impl FnMut(usize)) -> (f64, f64) {
    let (before, begun) = (cpu(pid), Instant::now());
    (0..count).for_each(&mut request);
    let scale = 1000.0 / count as f64;
    ((cpu(pid) - before) * scale, begun.elapsed().as_secs_f64() * scale)
}

#[test]
fn single_requests_are_cheap() {
    let (nodes, count): (usize, usize) = if is_full() { (1000, 2000) } else { (20, 20) };
    let site = Site::new();
    let server = site.serve();
    let pid = server.child.id();
    let admin = site.admin(&server.url);
    for at in 0..nodes {
        let node = json!({"name": format!("node{at:04}"), "normal": {"rack": format!("r{}", at % 50)},
            "run_list": ["role[web]"], "automatic": {"platform": "debian", "fqdn": format!("node{at}.x.y")}});
        assert_eq!(admin.json("POST", "nodes", Some(&node)).0, 201);
    }
    let small =
        each(pid, count, |_| assert_eq!(admin.send("GET", "nodes/node0001", None).unwrap().0, 200));
    let large = large_node("large").to_string().into_bytes();
    assert_eq!(admin.send("POST", "nodes", Some(&large)).unwrap().0, 201);
    let saved = each(pid, count / 10 + 1, |at| {
        let mut node = large_node("large");
        node["normal"]["turn"] = at.into();
        let body = node.to_string().into_bytes();
        assert_eq!(admin.send("PUT", "nodes/large", Some(&body)).unwrap().0, 200);
    });
    let search = |query: &str| admin.json("GET", &format!("search/node?q={query}"), None);
    assert_eq!(search("rack:r7").1["total"], nodes.div_ceil(50));
    let found = each(pid, count / 10 + 1, |_| assert_eq!(search("rack:r7").0, 200));
    let fresh = each(pid, count / 20 + 1, |at| {
        let node = json!({"name": "node0001", "normal": {"rack": "r1", "turn": at}});
        assert_eq!(admin.json("PUT", "nodes/node0001", Some(&node)).0, 200);
        assert_eq!(search("rack:r7").0, 200);
    });
    println!(
        "{nodes} nodes, node of {} kB; processor ms of the server, ms on the clock:",
        large.len() / 1000
    );
    for (what, (cpu, clock)) in [
        ("GET of a small node", small),
        ("PUT of the large node", saved),
        ("search, 2 % found", found),
        ("PUT of a node and a search", fresh),
    ] {
        println!("  {what:<28} {cpu:>8.3} {clock:>8.3}");
    }
    println!("  memory of the server at most {} MB", peak(pid));
}

/// One client from nothing to its saved node.
fn converge(url: &str, name: &str, validator: &Api, key: &fx_wire::x509::Key, public: &str) {
    let (status, _) =
        validator.json("POST", "clients", Some(&json!({"name": name, "public_key": public})));
    assert_eq!(status, 201);
    let client = Api::new(url, name, key);
    assert_eq!(client.json("GET", &format!("nodes/{name}"), None).0, 404);
    assert_eq!(client.json("POST", "nodes", Some(&json!({"name": name}))).0, 201);
    assert_eq!(client.json("GET", "roles/web", None).0, 200);
    assert_eq!(client.json("GET", "environments/prod", None).0, 200);
    let (status, books) = client.json(
        "POST",
        "environments/prod/cookbook_versions",
        Some(&json!({"run_list": ["web"]})),
    );
    assert_eq!(status, 200);
    for book in books.as_object().unwrap().values() {
        for file in book["recipes"].as_array().unwrap() {
            assert_eq!(client.send("GET", file["url"].as_str().unwrap(), None).unwrap().0, 200);
        }
    }
    let node = large_node(name).to_string().into_bytes();
    assert_eq!(client.send("PUT", &format!("nodes/{name}"), Some(&node)).unwrap().0, 200);
}

#[test]
fn many_clients_register_and_converge_through_a_few_connections() {
    let (clients, at_once) = if is_full() { (1000, 20) } else { (20, 4) };
    let site = Site::new();
    let server = site.serve();
    let pid = server.child.id();
    let key = new_key();
    let public = key.public().to_pem().unwrap();
    let validator_key = site.key("acme-validator");
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let (before, begun) = (cpu(pid), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                let validator = Api::new(&server.url, "acme-validator", &validator_key);
                loop {
                    let at = next.fetch_add(1, Ordering::SeqCst);
                    if at >= clients {
                        return;
                    }
                    let work =
                        || converge(&server.url, &format!("c{at:04}"), &validator, &key, &public);
                    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err() {
                        failed.lock().unwrap().push(at);
                    }
                }
            });
        }
    });
    let (used, took) = (cpu(pid) - before, begun.elapsed().as_secs_f64());
    assert!(failed.lock().unwrap().is_empty(), "{:?}", failed.lock().unwrap());
    let (_, found) = site.admin(&server.url).json("GET", "search/node?q=roles:web&rows=0", None);
    assert_eq!(found["total"], clients);
    let memory = peak(pid);
    println!(
        "{clients} clients through {at_once} connections: {took:.1} s, processor of the server {used:.1} s, memory {memory} MB, no error"
    );
    assert!(!is_full() || memory < 128, "{memory} MB");
}

#[test]
fn a_run_that_changes_nothing_is_cheap() {
    let runs = if is_full() { 11 } else { 1 };
    let site = Site::new();
    let server = site.serve();
    ended(&site.client(&server.url, &["-r", "role[web]", "-E", "prod"]), 0, &[]);
    let mut used: Vec<f64> = (0..runs)
        .map(|_| {
            let before = children();
            ended(&site.client(&server.url, &[]), 0, &["0/2 resources updated"]);
            children() - before
        })
        .collect();
    used.sort_by(f64::total_cmp);
    println!(
        "a run that changes nothing: {:.1} ms of processor time, median of {runs}",
        used[runs / 2] * 1000.0
    );
}

/// Processor seconds of the processes that we waited for.
fn children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[13].parse::<f64>().unwrap() + fields[14].parse::<f64>().unwrap()) / 100.0
}
