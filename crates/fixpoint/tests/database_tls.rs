//! Connections to PostgreSQL: which are secured, and whose certificates are trusted. The words are
//! those of PostgreSQL's own clients.

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

use std::path::Path;
use std::process::Command;

use puppet_site::Site;

/// Opens a store by its URL: whether that works, and what was said.
fn opened(url: &str) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["plan", "--all-nodes", "--set=confdir=/nowhere", "--store", url])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output.status.success() && said.contains("0 of 0 nodes"), said)
}

#[track_caller]
fn check(url: &str, works: bool, part: &str) {
    let (worked, said) = opened(url);
    assert_eq!(worked, works, "{url}: {said}");
    assert!(said.contains(part), "{url}: {said}");
}

#[test]
fn a_connection_is_as_secure_as_the_url_says() {
    // The authority of a server has certificates; one of another site is a stranger.
    let [own, stranger] = [Site::new(), Site::new()];
    for site in [&own, &stranger] {
        site.manifest("");
        drop(site.serve(&[]));
    }
    let file = |site: &Site, name: &str| site.path(&format!("server/ssl/{name}"));
    let (certificate, key) =
        (file(&own, "certs/localhost.pem"), file(&own, "private_keys/localhost.pem"));
    let Some((_secured, port)) = cluster::on_port(Some((&certificate, &key))) else {
        eprintln!("SKIPPED: PostgreSQL is not installed; nothing was tested over it");
        return;
    };
    let url = |host: &str, more: &str| {
        format!("postgresql://fixpoint@{host}:{port}/postgres?sslmode={more}")
    };
    let with = |mode: &str, roots: &Path| format!("{mode}&sslrootcert={}", roots.display());
    let roots = file(&own, "certs/ca.pem");
    let foreign = file(&stranger, "certs/ca.pem");
    check(&url("localhost", "disable"), false, "no pg_hba.conf entry");
    check(&url("localhost", "prefer"), true, "");
    check(&url("localhost", "require"), true, "");
    check(&url("localhost", &with("verify-full", &roots)), true, "");
    check(&url("localhost", &with("verify-full", &foreign)), false, "certificate");
    check(&url("127.0.0.1", &with("verify-full", &roots)), false, "certificate");
    check(&url("127.0.0.1", &with("verify-ca", &roots)), true, "");
    check(&url("127.0.0.1", &with("verify-ca", &foreign)), false, "certificate");
    check(&url("127.0.0.1", &with("require", &foreign)), false, "certificate");
    check(&url("localhost", "verify-full"), false, "need sslrootcert=FILE");
    check(&url("localhost", "always"), false, "sslmode 'always' is not known");
    check(&url("localhost", &with("verify-ca", Path::new("/nowhere"))), false, "/nowhere");

    let Some((_plain, port)) = cluster::on_port(None) else { return };
    let url =
        |mode: &str| format!("postgresql://fixpoint@localhost:{port}/postgres?sslmode={mode}");
    check(&url("prefer"), true, "");
    check(&url("disable"), true, "");
    check(&url("require"), false, "server does not support TLS");
}
