//! How a client reaches its server: certificates that the site trusts, proxies, and what a vault
//! opens with the client's own key.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

#[path = "chef_site/site.rs"]
mod chef_site;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chef_site::api::{Api, new_key};
use chef_site::{Site, ended, program, text};
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

/// A proxy that passes on what it is asked for by whole addresses, and counts it.
fn proxy(asked: Arc<AtomicUsize>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let asked = Arc::clone(&asked);
            std::thread::spawn(move || pass(client.unwrap(), &asked));
        }
    });
    address
}

fn pass(mut client: TcpStream, asked: &AtomicUsize) {
    let mut reader = BufReader::new(client.try_clone().unwrap());
    let (mut head, mut length, mut host) = (String::new(), 0, String::new());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if head.is_empty() {
            let whole = line.split(' ').nth(1).unwrap_or_default();
            let Some(rest) = whole.strip_prefix("http://") else { return };
            let (at, path) = rest.split_once('/').unwrap();
            host = at.to_owned();
            line = line.replacen(whole, &format!("/{path}"), 1);
        }
        let lower = line.to_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
        if !lower.starts_with("connection:") {
            head.push_str(&line);
        }
    }
    asked.fetch_add(1, Ordering::SeqCst);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut server = TcpStream::connect(host).unwrap();
    server.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
    server.write_all(&body).unwrap();
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).unwrap();
    client.write_all(&answer).unwrap();
}

#[test]
fn requests_go_by_the_proxy_unless_the_host_is_named_as_none_of_its() {
    let site = Site::new();
    let server = site.serve();
    let asked = Arc::new(AtomicUsize::new(0));
    let via = format!("http_proxy '{}'\n", proxy(Arc::clone(&asked)));
    ended(&run(&site, &server.url, &via, &["-r", "recipe[base]"]), 0, &[]);
    let first = asked.load(Ordering::SeqCst);
    assert!(first >= 8, "{first} requests by the proxy");
    let past = format!("{via}no_proxy '127.0.0.1'\n");
    ended(&run(&site, &server.url, &past, &[]), 0, &[]);
    assert_eq!(asked.load(Ordering::SeqCst), first);
    let dead = "http_proxy 'http://127.0.0.1:9'\n";
    let failed = run(&site, &server.url, dead, &[]);
    assert_ne!(failed.status.code(), Some(0), "{}", text(&failed));
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
    ended(&refused, 1, &["vault/locked is not encrypted with your public key."]);
    assert!(!site.path("base").exists());
    assert_eq!(admin.json("PUT", "data/vault/locked_keys", Some(&keys(&own))).0, 200);
    ended(&site.client(&server.url, &[]), 0, &[]);
    let plain = site.read("found");
    let secret = plain.lines().find_map(|line| line.strip_prefix("secret: ")).unwrap();
    assert_eq!(site.read("base"), secret);
}
