//! Tools beside a server: what nodes would get from other code, values and catalogs by the facts
//! that the server has of them, and the catalog that a node saves.

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

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use puppet_site::{Site, ended};
use serde_json::Value;

const MODULE: &str = "code/environments/production/modules/m";
const MANIFEST: &str = "file { 'OUT/x': content => \"one\\ntwo\\n\", mode => '0644' }\nnotify { $facts['outer']: }\nnotify { \"of ${trusted['certname']}\": }\nfile { 'OUT/secret': content => Sensitive('s3cret') }\n";

/// The program with the settings of the site's server.
fn beside(site: &Site, words: &[&str]) -> Output {
    let set = |name: &str, path: &str| format!("--set={name}={}", site.path(path).display());
    Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(words)
        .args([set("confdir", "server"), set("vardir", "server/var"), set("codedir", "code")])
        .arg("--set=certname=localhost")
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A node that was there once, and an environment with other code.
fn site(store: Option<&str>) -> Site {
    let site = Site::new();
    site.manifest(MANIFEST);
    let mut more = vec!["--set=autosign=true"];
    more.extend(store.into_iter().flat_map(|url| ["--store", url]));
    let server = site.serve(&more);
    ended(&site.agent(server.port, &["-t"]), 2, &["defined 'message' as 'file'"]);
    drop(server);
    let other = MANIFEST
        .replace("OUT", &site.path("out").display().to_string())
        .replace("two", "three")
        .replace("0644", "0600")
        .replace("$facts['outer']", "\"new ${facts['outer']}\"")
        .replace("s3cret", "s3cret2");
    site.put("other/manifests/site.pp", &other);
    site.put("other/modules/m/manifests/init.pp", "class m { }\n");
    site
}

#[test]
fn a_plan_for_a_node_is_the_difference_from_its_last_catalog() {
    let site = site(None);
    let same = beside(&site, &["plan", "--node", "n1"]);
    ended(&same, 0, &["n1: environment 'production', facts of ", "0 of 1 nodes would get another"]);
    let other = site.path("other").display().to_string();
    let changed = beside(&site, &["plan", "--node", "n1", &other]);
    let out = site.path("out").display().to_string();
    let lines = [
        &format!(
            "  ~ File[{out}/x]\n      content:\n        @@ -1,2 +1,2 @@\n         one\n        -two\n        +three\n      mode: \"0644\" -> \"0600\"\n"
        ),
        "  - Notify[file]\n",
        "  + Notify[new file]\n",
        "1 of 1 nodes would get another catalog\n",
    ];
    ended(&changed, 2, &lines);
    // What is secret is neither kept nor compared.
    let shown = text(&changed);
    assert!(!shown.contains("s3cret") && !shown.contains("/secret"), "{shown}");
    let json = beside(&site, &["plan", "--node", "n1", "--format=json", &other]);
    let found: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(found["nodes"][0], "n1");
    let modes = found["changes"][0]["parameters"]["mode"].clone();
    assert_eq!((&modes["from"], &modes["to"]), (&"0644".into(), &"0600".into()), "{found}");
    // The catalog that the server has is still the old one.
    ended(&beside(&site, &["plan", "--node", "n1"]), 0, &["nothing would be different"]);
}

#[test]
fn equal_differences_are_told_once_and_nodes_that_were_never_there_are_errors() {
    let site = site(None);
    // The same machine by another name.
    let server = site.serve(&["--set=autosign=true"]);
    site.manifest("notify { 'all': }\n");
    for name in ["n2", "n3"] {
        let certname = format!("--certname={name}");
        let ssldir = format!("--ssldir={}", site.path(name).display());
        ended(&site.agent(server.port, &["-t", &certname, &ssldir]), 2, &[]);
    }
    site.manifest("notify { 'all': message => 'other' }\n");
    let told = beside(&site, &["plan", "--node", "n2,n3"]);
    let lines = ["n2, n3: environment 'production'\n  ~ Notify[all]\n      message: \"other\"\n"];
    ended(&told, 2, &lines);
    ended(&beside(&site, &["plan", "--all-nodes"]), 2, &["3 of 3 nodes would get another"]);
    let unknown = beside(&site, &["plan", "--node", "stranger"]);
    ended(&unknown, 1, &["stranger: the store has no facts of it"]);
    site.manifest("fail('on purpose')\n");
    ended(&beside(&site, &["plan", "--node", "n2"]), 1, &["n2: ", "on purpose"]);
    drop(server);
}

#[test]
fn code_that_is_planned_cannot_touch_the_machine() {
    let site = site(None);
    let made = site.path("out/made-by-ruby");
    site.put(
        &format!("{MODULE}/lib/puppet/functions/m/touch.rb"),
        &format!(
            "Puppet::Functions.create_function(:'m::touch') {{ def touch; File.write('{}', 'x'); 'done'; end }}\n",
            made.display()
        ),
    );
    site.manifest("notify { m::touch(): }\n");
    let planned = beside(&site, &["plan", "--node", "n1"]);
    assert!(!made.exists());
    if planned.status.code() == Some(1) {
        eprintln!("SKIPPED: a copy of the machine needs root; without one code only looks");
        ended(&planned, 1, &["is done in a copy of the machine only"]);
    } else {
        ended(&planned, 2, &["  + Notify[done]"]);
    }
}

#[test]
fn a_plan_over_postgresql_is_that_over_sqlite() {
    let Some(cluster) = cluster::cluster() else { return };
    let url = cluster.database();
    let site = site(Some(&url));
    ended(&beside(&site, &["plan", "--node", "n1", "--store", &url]), 0, &["nothing would be"]);
    let other = site.path("other").display().to_string();
    let words = ["plan", "--node", "n1", "--store", &url, &other];
    ended(&beside(&site, &words), 2, &["  - Notify[file]\n", "  + Notify[new file]\n"]);
}

#[test]
fn a_value_is_looked_up_by_the_facts_that_the_server_has() {
    let site = site(None);
    let environment = "code/environments/production";
    site.put(
        &format!("{environment}/hiera.yaml"),
        "version: 5\nhierarchy:\n  - name: outer\n    path: \"%{facts.outer}.yaml\"\n",
    );
    site.put(&format!("{environment}/data/file.yaml"), "key: by the node's own fact\n");
    let ask = |node: &str| {
        let set = |name: &str, path: &str| format!("--{name}={}", site.path(path).display());
        Command::new(env!("CARGO_BIN_EXE_fixpoint"))
            .args(["puppet", "lookup", "key", "--node", node])
            .args([set("confdir", "server"), set("vardir", "server/var"), set("codedir", "code")])
            .output()
            .unwrap()
    };
    ended(&ask("n1"), 0, &["--- by the node's own fact\n"]);
    ended(&ask("stranger"), 1, &["No facts available for target node: stranger"]);
}

#[test]
fn a_node_saves_its_catalog_as_the_original_does() {
    let site = site(None);
    let server = site.serve(&["--set=autosign=true"]);
    let set = |name: &str, path: &str| format!("--{name}={}", site.path(path).display());
    let port = server.port;
    let download = |name: &str| {
        Command::new(env!("CARGO_BIN_EXE_fixpoint"))
            .args(["puppet", "catalog", "download", "--server=localhost", "--key_type=ec"])
            .args([format!("--serverport={port}"), format!("--ca_port={port}")])
            .args([format!("--certname={name}"), set("confdir", "agent/conf")])
            .args([set("vardir", "agent/var"), set("ssldir", "agent/ssl")])
            .output()
            .unwrap()
    };
    let kept = site.path("agent/var/client_yaml/catalog/n1.yaml");
    let said = format!("Notice: Saved catalog for n1 to {}", kept.display());
    ended(&download("n1"), 0, &[&said]);
    let catalog = std::fs::read_to_string(&kept).unwrap();
    assert!(
        catalog.starts_with("--- !ruby/object:Puppet::Resource::Catalog\ntags:\n"),
        "{catalog}"
    );
    // By the facts that the agent sent before.
    for part in ["\n- type: Class\n  title: Main\n", "  title: file\n", "  title: of n1\n"] {
        assert!(catalog.contains(part), "{part} is missing in:\n{catalog}");
    }
    let mode = std::fs::metadata(&kept).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o660);
    site.manifest("fail('on purpose')\n");
    ended(&download("n1"), 1, &["Error: Error 500 on SERVER: ", "on purpose"]);
}
