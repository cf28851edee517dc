//! A server that is killed again and again while agents report: what it acknowledged is there, and
//! it is back at once. Over SQLite, and over PostgreSQL where that is installed.
//!
//! The long form: `FX_KILL_SECONDS=600 FX_KILL_AGENTS=50 FX_KILL_EVERY=5`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

#[path = "../../fx-fleet/tests/support/cluster.rs"]
mod cluster;
#[path = "support/puppet_site.rs"]
mod puppet_site;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::time::{Duration, Instant};

use fx_crypto::Random;
use fx_remote::puppet::Server as Remote;
use fx_remote::{Client, Identity, Timeouts, Trust};
use fx_wire::x509::{Certificate, Key, Request, RequestOptions};
use puppet_site::{Server, Site};
use serde_json::{Value, json};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn patience() -> Timeouts {
    Timeouts { connect: Duration::from_secs(5), read: Duration::from_secs(20) }
}

/// A node with a certificate.
struct Node {
    name: String,
    trust: Trust,
    identity: Identity,
}

fn enroll(port: u16, name: &str, seed: u64) -> Node {
    let stranger = Client::new(&Trust::Anyone, None, Vec::new(), patience()).unwrap();
    let server = Remote::new(stranger, "localhost", port);
    let certificates = Certificate::bundle(&server.certificate("ca").unwrap().text()).unwrap();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut noise = |buffer: &mut [u8]| {
        for byte in buffer {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *byte = (state >> 32) as u8;
        }
    };
    let key = Key::curve("prime256v1", Random(&mut noise)).unwrap();
    let request = Request::new(&key, name, &RequestOptions::default()).unwrap();
    assert!(server.request_certificate(name, &request.to_pem()).unwrap().is_success());
    let signed = server.certificate(name).unwrap();
    let certificate = Certificate::from_pem(&signed.text()).unwrap();
    let trust = Trust::Authorities { certificates, revocations: Vec::new() };
    Node { name: name.to_owned(), trust, identity: Identity { certificate, key } }
}

fn report(name: &str, uuid: &str) -> Value {
    let time = "2026-11-18T00:00:00.000000000+00:00";
    json!({
        "host": name, "time": time, "configuration_version": 1, "transaction_uuid": uuid,
        "report_format": 12, "puppet_version": "7.23.0", "status": "unchanged",
        "transaction_completed": true, "noop": false, "noop_pending": false,
        "environment": "production", "logs": [], "metrics": {}, "resource_statuses": {},
        "corrective_change": false, "catalog_uuid": null, "cached_catalog_status": "not_used",
    })
}

impl Node {
    /// Reports without a pause until it is over; what was acknowledged goes into the list.
    fn press(&self, port: &AtomicU16, over: &AtomicBool, acknowledged: &Mutex<Vec<String>>) {
        for at in 0u64.. {
            if over.load(Ordering::SeqCst) {
                return;
            }
            let client = Client::new(&self.trust, Some(&self.identity), Vec::new(), patience());
            let server = Remote::new(client.unwrap(), "localhost", port.load(Ordering::SeqCst));
            let uuid = format!("{}-{at}", self.name);
            let sent = server.report(&self.name, &report(&self.name, &uuid), "production");
            if sent.is_ok_and(|answer| answer.is_success()) {
                acknowledged.lock().unwrap().push(uuid);
            } else {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

/// Kills and starts the server until the time is over; how often, and the longest start.
fn kill_again_and_again(
    site: &Site,
    mut server: Server,
    more: &[&str],
    port: &AtomicU16,
    seconds: u64,
) -> (Server, u32, Duration) {
    let until = Instant::now() + Duration::from_secs(seconds);
    let pause = Duration::from_secs(number("FX_KILL_EVERY", 2));
    let (mut kills, mut longest) = (0, Duration::ZERO);
    while Instant::now() < until {
        std::thread::sleep(pause);
        // The end of a server is a kill.
        drop(server);
        kills += 1;
        let began = Instant::now();
        server = site.serve(more);
        longest = longest.max(began.elapsed());
        port.store(server.port, Ordering::SeqCst);
    }
    (server, kills, longest)
}

fn nothing_is_lost(what: &str, store: Option<&str>) {
    let site = Site::new();
    site.manifest("notify { 'x': }\n");
    let mut more = vec!["--set=autosign=true", "--set=key_type=ec"];
    more.extend(store.into_iter().flat_map(|url| ["--store", url]));
    let server = site.serve(&more);
    let count = number("FX_KILL_AGENTS", 8);
    let nodes: Vec<Node> =
        (0..count).map(|at| enroll(server.port, &format!("n{at}"), at + 1)).collect();
    let (port, over) = (AtomicU16::new(server.port), AtomicBool::new(false));
    let acknowledged = Mutex::new(Vec::new());
    let seconds = number("FX_KILL_SECONDS", 8);
    let (server, kills, longest) = std::thread::scope(|scope| {
        for node in &nodes {
            let (port, over, acknowledged) = (&port, &over, &acknowledged);
            scope.spawn(move || node.press(port, over, acknowledged));
        }
        let done = kill_again_and_again(&site, server, &more, &port, seconds);
        over.store(true, Ordering::SeqCst);
        done
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    let answer = site
        .as_admin(server.port)
        .get("/pdb/query/v4/reports?query=%5B%22extract%22%2C%22transaction_uuid%22%5D");
    assert_eq!(answer.status, 200, "{}", answer.text());
    let rows: Value = serde_json::from_slice(&answer.body).unwrap();
    let kept: BTreeSet<&str> = rows
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["transaction_uuid"].as_str())
        .collect();
    let lost = acknowledged.iter().filter(|uuid| !kept.contains(uuid.as_str())).count();
    eprintln!(
        "{what}: {kills} kills, {} reports of {count} agents acknowledged, {lost} lost, longest start {longest:?}",
        acknowledged.len()
    );
    assert_eq!(lost, 0, "{what}");
    assert!(acknowledged.len() > 10 && kills > 1, "{what}: too little was tried");
    // A build for development needs longer, on a machine that does other things too.
    let most = if cfg!(debug_assertions) { 20 } else { 1 };
    assert!(longest < Duration::from_secs(most), "{what}: {longest:?}");
}

#[test]
fn what_a_killed_server_acknowledged_is_there_over_sqlite() {
    nothing_is_lost("SQLite", None);
}

#[test]
fn what_a_killed_server_acknowledged_is_there_over_postgresql() {
    let Some(cluster) = cluster::cluster() else { return };
    nothing_is_lost("PostgreSQL", Some(&cluster.database()));
}
