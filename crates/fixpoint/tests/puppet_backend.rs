//! A server that hands what nodes leave on to the site's PuppetDB and asks that one what other nodes
//! export. Another server of ours stands in for it here.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

#[path = "support/puppet_site.rs"]
mod puppet_site;

use puppet_site::{Server, Site, ended};
use serde_json::Value;

/// A server over a store of its own with the other as its PuppetDB.
fn before(site: &Site, puppetdb: u16, more: &str) -> Server {
    let conf = format!("[main]\nserver_urls = https://localhost:{puppetdb}\n{more}");
    site.put("front/puppetdb.conf", &conf);
    let set = |name: &str, path: &str| format!("--set={name}={}", site.path(path).display());
    site.serve(&[
        &set("confdir", "front"),
        &set("vardir", "front/var"),
        "--set=autosign=true",
        "--set=storeconfigs_backend=puppetdb",
        "--set=reports=store,puppetdb",
    ])
}

fn run(site: &Site, port: u16, name: &str) -> std::process::Output {
    let flags = [
        format!("--certname={name}"),
        format!("--ssldir={}", site.path(&format!("{name}/ssl")).display()),
        format!("--vardir={}", site.path(&format!("{name}/var")).display()),
    ];
    site.agent(port, &["-t", &flags[0], &flags[1], &flags[2]])
}

fn rows(site: &Site, port: u16, path: &str) -> Vec<Value> {
    let answer = site.as_admin(port).get(&format!("/pdb/query/v4/{path}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn what_nodes_leave_reaches_the_sites_own_puppetdb_and_is_asked_there() {
    let site = Site::new();
    site.manifest("@@notify { \"from ${trusted['certname']}\": }\nNotify <<| |>>\n$known = puppetdb_query('nodes[certname] { order by certname }').map |$one| { $one['certname'] }\nnotify { \"known: ${join($known, ' ')}\": }\n");
    let behind = site.serve(&["--set=autosign=true"]);
    // A node that only the one behind knows.
    ended(&run(&site, behind.port, "n0"), 2, &[]);
    let front = before(&site, behind.port, "");
    ended(&run(&site, front.port, "n1"), 2, &["'message' as 'from n0'", "known: n0 n1"]);
    let certnames = |path: &str| {
        let mut found: Vec<String> = rows(&site, behind.port, path)
            .iter()
            .map(|row| row["certname"].as_str().unwrap().to_owned())
            .collect();
        found.sort();
        found
    };
    assert_eq!(certnames("nodes"), ["n0", "n1"]);
    assert_eq!(certnames("catalogs"), ["n0", "n1"]);
    assert_eq!(certnames("reports"), ["n0", "n1"]);
    let exported = rows(&site, behind.port, "resources/Notify/from%20n1");
    assert_eq!(exported[0]["exported"], true);
    let fact = rows(&site, behind.port, "nodes/n1/facts/outer");
    assert_eq!(fact[0]["value"], "file");
}

#[test]
fn without_its_puppetdb_a_catalog_fails_unless_the_site_wants_it_otherwise() {
    let site = Site::new();
    site.manifest("notify { 'x': }\n");
    let behind = site.serve(&["--set=autosign=true"]);
    let port = behind.port;
    let front = before(&site, port, "");
    ended(&run(&site, front.port, "n1"), 2, &[]);
    drop(behind);
    let said = format!(
        "on at least 1 of the following 'server_urls': https://localhost:{port} (connection refused)"
    );
    let text = ["Failed to execute '/pdb/cmd/v1?checksum=", "&command=replace_facts", &said];
    ended(&run(&site, front.port, "n1"), 1, &text);
    drop(front);
    let front = before(&site, port, "soft_write_failure = true\n");
    ended(&run(&site, front.port, "n1"), 2, &["defined 'message' as 'x'"]);
}
