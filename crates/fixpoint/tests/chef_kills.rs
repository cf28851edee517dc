//! A server that is killed again and again while nodes are saved and cookbooks uploaded: what was
//! acknowledged is there, and no cookbook is listed whose files are not. `FX_KILL_SECONDS=600` for longer.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test looks at the machine from outside"
)]

#[path = "chef_site/site.rs"]
mod chef_site;
#[path = "../../fx-fleet/tests/support/cluster.rs"]
mod cluster;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use chef_site::api::Api;
use chef_site::{Site, ended};
use serde_json::json;

/// What the server said that it has.
#[derive(Default)]
struct Acknowledged {
    /// The last turn of each node.
    nodes: BTreeMap<String, u64>,
    /// Versions of each cookbook.
    books: Vec<(String, String)>,
}

fn seconds() -> u64 {
    std::env::var("FX_KILL_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

#[test]
fn what_was_acknowledged_survives_kills_over_sqlite() {
    survive(&Site::new(), &[]);
}

#[test]
fn what_was_acknowledged_survives_kills_over_postgresql() {
    let Some(cluster) = cluster::cluster() else { return };
    let url = cluster.database();
    survive(&Site::new(), &["--store", &url]);
}

fn survive(site: &Site, store: &[&str]) {
    let (pause, clients) = if seconds() > 60 { (5, 20) } else { (2, 6) };
    ended(&site.import_with("repo", store), 0, &[]);
    let key = site.key("admin");
    let acknowledged = Mutex::new(Acknowledged::default());
    let (url, stop) = (RwLock::new(String::new()), AtomicBool::new(false));
    let begun = Instant::now();
    let mut server = site.start_with(store);
    url.write().unwrap().clone_from(&server.url);
    std::thread::scope(|scope| {
        for at in 0..clients {
            let (url, stop, acknowledged, key) = (&url, &stop, &acknowledged, &key);
            scope.spawn(move || {
                for turn in 1.. {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    let api = Api::new(&url.read().unwrap(), "admin", key);
                    if at % 2 == 0 {
                        save(&api, &format!("k{at}"), turn, acknowledged);
                    } else {
                        upload(&api, &format!("k{at}"), turn, acknowledged);
                    }
                }
            });
        }
        while begun.elapsed() < Duration::from_secs(seconds()) {
            std::thread::sleep(Duration::from_secs(pause));
            server.child.kill().unwrap();
            server.child.wait().unwrap();
            server = site.start_with(store);
            url.write().unwrap().clone_from(&server.url);
            check(&Api::new(&server.url, "admin", &key), &acknowledged);
        }
        stop.store(true, Ordering::SeqCst);
    });
    check(&Api::new(&server.url, "admin", &key), &acknowledged);
    let acknowledged = acknowledged.lock().unwrap();
    assert!(!acknowledged.nodes.is_empty() && !acknowledged.books.is_empty(), "nothing was done");
}

fn save(api: &Api, name: &str, turn: u64, acknowledged: &Mutex<Acknowledged>) {
    let node = json!({"name": name, "normal": {"turn": turn}}).to_string().into_bytes();
    let path = format!("nodes/{name}");
    let answer = match api.send("PUT", &path, Some(&node)) {
        Ok((404, _)) => api.send("POST", "nodes", Some(&node)),
        answer => answer,
    };
    if let Ok((200 | 201, _)) = answer {
        acknowledged.lock().unwrap().nodes.insert(name.to_owned(), turn);
    }
}

/// A cookbook with one file, as tools upload it; whatever fails is tried anew with the next version.
fn upload(api: &Api, name: &str, turn: u64, acknowledged: &Mutex<Acknowledged>) -> Option<()> {
    let content = format!("log '{name} {turn}'\n").into_bytes();
    let checksum = fx_crypto::digest::Algorithm::Md5.hex(&content);
    let body = json!({"checksums": {&checksum: null}}).to_string().into_bytes();
    let (_, sandbox) = api.send("POST", "sandboxes", Some(&body)).ok()?;
    let sandbox: serde_json::Value = serde_json::from_slice(&sandbox).ok()?;
    if let Some(url) = sandbox["checksums"][&checksum]["url"].as_str() {
        api.send("PUT", url, Some(&content)).ok()?;
    }
    let done = json!({"is_completed": true}).to_string().into_bytes();
    api.send("PUT", &format!("sandboxes/{}", sandbox["sandbox_id"].as_str()?), Some(&done)).ok()?;
    let version = format!("1.0.{turn}");
    let file = json!({"name": "default.rb", "path": "recipes/default.rb", "checksum": checksum,
        "specificity": "default"});
    let book = json!({"name": format!("{name}-{version}"), "cookbook_name": name, "version": version,
        "json_class": "Chef::CookbookVersion", "chef_type": "cookbook_version", "recipes": [file],
        "metadata": {"name": name, "version": version}});
    let body = book.to_string().into_bytes();
    let (status, _) = api.send("PUT", &format!("cookbooks/{name}/{version}"), Some(&body)).ok()?;
    if matches!(status, 200 | 201) {
        acknowledged.lock().unwrap().books.push((name.to_owned(), version));
    }
    Some(())
}

#[track_caller]
fn check(api: &Api, acknowledged: &Mutex<Acknowledged>) {
    // Others go on meanwhile, so what is there may be newer than what was noted.
    let (nodes, books) = {
        let noted = acknowledged.lock().unwrap();
        (noted.nodes.clone(), noted.books.clone())
    };
    for (name, turn) in nodes {
        let (status, node) = api.json("GET", &format!("nodes/{name}"), None);
        assert_eq!(status, 200, "{name}");
        assert!(node["normal"]["turn"].as_u64() >= Some(turn), "{name}: {turn} is lost: {node}");
    }
    let (_, listed) = api.json("GET", "cookbooks?num_versions=all", None);
    let has = |name: &str, version: &str| {
        let versions = listed[name]["versions"].as_array();
        versions.into_iter().flatten().any(|one| one["version"] == *version)
    };
    for (name, version) in &books {
        assert!(has(name, version), "{name} {version} is lost");
    }
    for (name, book) in listed.as_object().unwrap() {
        let newest = book["versions"][0]["version"].as_str().unwrap();
        let (status, whole) = api.json("GET", &format!("cookbooks/{name}/{newest}"), None);
        assert_eq!(status, 200);
        for file in whole["recipes"].as_array().unwrap() {
            let (status, _) = api.send("GET", file["url"].as_str().unwrap(), None).unwrap();
            assert_eq!(status, 200, "a file of {name} {newest} is missing");
        }
    }
}
