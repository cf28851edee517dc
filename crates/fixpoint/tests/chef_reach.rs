//! How a client reaches its server: certificates that the site trusts.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

#[path = "chef_site/site.rs"]
mod chef_site;

use std::fs;

use chef_site::{Site, ended, program};

/// A run with more lines of configuration.
fn run(site: &Site, url: &str, more: &str, words: &[&str]) -> std::process::Output {
    let config = site.config(url, "n1.example.com", "client.pem");
    let lines = fs::read_to_string(&config).unwrap() + more;
    fs::write(&config, lines).unwrap();
    std::process::Command::new(program())
        .args(["chef-client", "--no-color", "-c"])
        .arg(config)
        .args(words)
        .env_remove("http_proxy")
        .env_remove("no_proxy")
        .output()
        .unwrap()
}

#[test]
fn a_certificate_of_the_site_is_trusted_and_no_other_one() {
    let site = Site::new();
    ended(&site.import("repo"), 0, &[]);
    let server = site.start_tls();
    let (dir, empty) = (site.path("trusted"), site.path("empty"));
    fs::create_dir_all(&dir).unwrap();
    fs::create_dir_all(&empty).unwrap();
    let trusting = |dir: &std::path::Path| format!("trusted_certs_dir '{}'\n", dir.display());
    let refused = run(&site, &server.url, &trusting(&empty), &["-r", "recipe[base]"]);
    ended(&refused, 1, &["SSL"]);
    assert!(!site.path("base").exists() && !site.path("client.pem").exists());
    fs::copy(site.path("server/ssl/certs/ca.pem"), dir.join("ca.crt")).unwrap();
    ended(&run(&site, &server.url, &trusting(&dir), &["-r", "recipe[base]"]), 0, &[]);
    assert_eq!(site.read("base"), "hello\n");
    // The name must be that of the certificate, too.
    let other = server.url.replace("localhost", "127.0.0.1");
    let refused = run(&site, &other, &trusting(&dir), &[]);
    ended(&refused, 1, &["SSL"]);
}
