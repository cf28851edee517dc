//! How a client reaches its server: certificates that the site trusts, and what a vault opens with
//! the client's own key.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

#[path = "chef_site/site.rs"]
mod chef_site;

use std::fs;

use chef_site::api::{Api, new_key};
use chef_site::{Site, ended, program};
use serde_json::json;

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

#[test]
fn a_vault_opens_for_whom_it_was_locked() {
    let site = Site::new();
    site.recipe(
        "base",
        "word = chef_vault_item('vault', 'locked')['word']\nfile('DIR/base') { content word }\n",
    );
    let server = site.serve();
    ended(&site.client(&server.url, &["-r", "recipe[look]", "-o", "recipe[look]"]), 0, &[]);
    let locked: serde_json::Value =
        serde_json::from_str(&site.read("repo/data_bags/users/locked.json")).unwrap();
    let lock = |key: &fx_wire::x509::Key| {
        let mut source = |buffer: &mut [u8]| {
            fx_host::Env::random(&fx_host::OsHost::new(), buffer);
        };
        let der = key.public().rsa_der().unwrap().to_vec();
        let shut = fx_crypto::rsa_key::encrypt(&der, b"the secret", fx_crypto::Random(&mut source));
        fx_formats::base64::encode(&shut.unwrap())
    };
    let own = fx_wire::x509::Key::from_pem(&site.read("client.pem")).unwrap();
    let admin: Api = site.admin(&server.url);
    assert_eq!(admin.json("POST", "data", Some(&json!({"name": "vault"}))).0, 201);
    assert_eq!(admin.json("POST", "data/vault", Some(&locked)).0, 201);
    let keys = |key: &fx_wire::x509::Key| {
        json!({"id": "locked_keys", "admins": ["admin"], "clients": ["n1.example.com"],
            "search_query": "*:*", "n1.example.com": lock(key)})
    };
    assert_eq!(admin.json("POST", "data/vault", Some(&keys(&new_key()))).0, 201);
    let refused = site.client(&server.url, &["-r", "recipe[base]"]);
    // What was locked for another key opens to noise, which is no key of the item.
    ended(&refused, 1, &["Error decrypting data bag value"]);
    assert!(!site.path("base").exists());
    assert_eq!(admin.json("PUT", "data/vault/locked_keys", Some(&keys(&own))).0, 200);
    ended(&site.client(&server.url, &[]), 0, &[]);
    let plain = site.read("found");
    let secret = plain.lines().find_map(|line| line.strip_prefix("secret: ")).unwrap();
    assert_eq!(site.read("base"), secret);
}
