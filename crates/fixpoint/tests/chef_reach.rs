//! How a client reaches its server: certificates that the site trusts, proxies, and what a vault opens
//! with the client's own key.

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
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chef_site::api::new_key;
use chef_site::{Site, ended, program, text};
use fx_wire::x509::Key;
use serde_json::{Value, json};

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
        .env_remove("https_proxy")
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

/// What a proxy was asked for: the first line of each request, and who asked.
type Asked = Arc<Mutex<Vec<(String, String)>>>;

/// A proxy that passes on whole addresses, and tunnels.
fn proxy(asked: &Asked) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Arc::clone(asked);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let asked = Arc::clone(&asked);
            std::thread::spawn(move || pass(client.unwrap(), &asked));
        }
    });
    address
}

/// All requests of one connection; they may be for one server each.
fn pass(mut client: TcpStream, asked: &Asked) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().unwrap());
    loop {
        let (mut head, mut length, mut who) = (String::new(), 0, String::new());
        let mut first = String::new();
        if reader.read_line(&mut first).ok()? == 0 {
            return None;
        }
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let lower = line.to_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            } else if let Some(("proxy-authorization", _)) = lower.split_once(':') {
                line.split_once(':')?.1.trim().clone_into(&mut who);
                continue;
            }
            if line == "\r\n" {
                break;
            }
            if !lower.starts_with("connection:") {
                head.push_str(&line);
            }
        }
        asked.lock().unwrap().push((first.trim_end().to_owned(), who));
        let words: Vec<&str> = first.split_whitespace().collect();
        if words[0] == "CONNECT" {
            let server = TcpStream::connect(words[1].replace("localhost", "127.0.0.1")).unwrap();
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
            let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(std::net::Shutdown::Both);
            });
            let _ = std::io::copy(&mut reader, &mut &server);
            let _ = server.shutdown(std::net::Shutdown::Both);
            return None;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let (host, path) = words[1].strip_prefix("http://")?.split_once('/')?;
        let mut server = TcpStream::connect(host).unwrap();
        let line = format!("{} /{path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n", words[0]);
        server.write_all(line.as_bytes()).unwrap();
        server.write_all(&body).unwrap();
        let mut answer = Vec::new();
        server.read_to_end(&mut answer).unwrap();
        client.write_all(&answer).unwrap();
        let _ = client.shutdown(std::net::Shutdown::Write);
    }
}

/// Everything that was asked for since the last look.
fn taken(asked: &Asked) -> Vec<(String, String)> {
    std::mem::take(&mut asked.lock().unwrap())
}

#[test]
fn plain_requests_ask_the_proxy_for_whole_addresses() {
    let site = Site::new();
    let server = site.serve();
    let asked = Asked::default();
    let at = proxy(&asked);
    let via = format!("http_proxy 'http://{at}'\n");
    ended(&run(&site, &server.url, &via, &["-r", "recipe[base]"]), 0, &[]);
    let lines = taken(&asked);
    assert!(lines.len() >= 8, "{lines:?}");
    assert!(
        lines
            .iter()
            .all(|(line, who)| line.contains(&format!(" {}/", server.url)) && who.is_empty()),
        "{lines:?}"
    );
    assert!(lines.iter().any(|(line, _)| line.starts_with("PUT ")), "{lines:?}");
    let known = format!("{via}http_proxy_user 'm e'\nhttp_proxy_pass 'p@ss:w/rd'\n");
    ended(&run(&site, &server.url, &known, &[]), 0, &[]);
    // `m e:p@ss:w/rd`
    let lines = taken(&asked);
    assert!(
        !lines.is_empty() && lines.iter().all(|(_, who)| who == "Basic bSBlOnBAc3M6dy9yZA=="),
        "{lines:?}"
    );
    let past = format!("{via}no_proxy '127.0.0.1'\n");
    ended(&run(&site, &server.url, &past, &[]), 0, &[]);
    assert_eq!(taken(&asked), []);
    let dead = "http_proxy 'http://127.0.0.1:9'\n";
    let failed = run(&site, &server.url, dead, &[]);
    assert_eq!(failed.status.code(), Some(1), "{}", text(&failed));
}

#[test]
fn requests_by_tls_take_a_tunnel_of_the_proxy() {
    let site = Site::new();
    ended(&site.import("repo"), 0, &[]);
    let server = site.start_tls();
    let dir = site.path("trusted");
    fs::create_dir_all(&dir).unwrap();
    let authority = site.path("server/ssl/certs/ca.pem");
    let until = Instant::now() + Duration::from_mins(1);
    while !authority.exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    fs::copy(authority, dir.join("ca.crt")).unwrap();
    let asked = Asked::default();
    let via =
        format!("trusted_certs_dir '{}'\nhttps_proxy 'http://{}'\n", dir.display(), proxy(&asked));
    ended(&run(&site, &server.url, &via, &["-r", "recipe[base]"]), 0, &[]);
    let lines = taken(&asked);
    let wanted = format!("CONNECT {} HTTP/1.1", server.url.split('/').nth(2).unwrap());
    assert!(!lines.is_empty() && lines.iter().all(|(line, _)| *line == wanted), "{lines:?}");
}

/// The secret of the item, locked for a key.
fn locked(key: &Key) -> String {
    let mut source = |buffer: &mut [u8]| fx_host::Env::random(&fx_host::OsHost::new(), buffer);
    let der = key.public().rsa_der().unwrap().to_vec();
    let shut = fx_crypto::rsa_key::encrypt(&der, b"the secret", fx_crypto::Random(&mut source));
    fx_formats::base64::encode(&shut.unwrap())
}

#[test]
fn a_vault_opens_for_whom_it_was_locked() {
    let site = Site::new();
    site.recipe(
        "base",
        "word = chef_vault_item('vault', 'locked')['word']\nfile('DIR/base') { content \"#{word} #{chef_vault('vault')}\" }\n",
    );
    let server = site.serve();
    ended(&site.client(&server.url, &["-o", "recipe[look]"]), 0, &[]);
    let plain = site.read("found");
    let word = plain.lines().find_map(|line| line.strip_prefix("secret: ")).unwrap().to_owned();
    let item: Value = serde_json::from_str(&site.read("repo/data_bags/users/locked.json")).unwrap();
    let own = Key::from_pem(&site.read("client.pem")).unwrap();
    let admin = site.admin(&server.url);
    let put = |item: &Value| {
        let path = format!("data/vault/{}", item["id"].as_str().unwrap());
        match admin.json("PUT", &path, Some(item)).0 {
            404 => assert_eq!(admin.json("POST", "data/vault", Some(item)).0, 201),
            status => assert_eq!(status, 200),
        }
    };
    let keys = |more: Value| {
        let mut all = json!({"id": "locked_keys", "admins": ["admin"], "clients": ["n1.example.com"],
            "search_query": "*:*", "mode": "default"});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let refused = |words: &str| {
        ended(&site.client(&server.url, &["-r", "recipe[base]"]), 1, &[words]);
        assert!(!site.path("base").exists());
    };
    assert_eq!(admin.json("POST", "data", Some(&json!({"name": "vault"}))).0, 201);
    refused("ChefVault::Exceptions::ItemNotFound: vault/locked not found");
    put(&item);
    put(&keys(json!({})));
    refused(
        "ChefVault::Exceptions::SecretDecryption: vault/locked is not encrypted with your public key.  Contact an administrator of the vault item to encrypt for you!",
    );
    put(&keys(json!({"n1.example.com": locked(&new_key())})));
    refused(
        "ChefVault::Exceptions::SecretDecryption: vault/locked is encrypted for you, but your private key failed to decrypt the contents.",
    );
    put(&keys(json!({"n1.example.com": locked(&own)})));
    // What failed was not saved, the run list neither.
    ended(&site.client(&server.url, &["-r", "recipe[base]"]), 0, &[]);
    assert_eq!(site.read("base"), format!("{word} [\"locked\"]"));
    // Each client's copy may be an item of its own.
    fs::remove_file(site.path("base")).unwrap();
    put(&keys(json!({"mode": "sparse", "n1.example.com": locked(&new_key())})));
    put(&json!({"id": "locked_key_n1.example.com", "n1.example.com": locked(&own)}));
    ended(&site.client(&server.url, &[]), 0, &[]);
    assert_eq!(site.read("base"), format!("{word} [\"locked\", \"locked_key_n1.example.com\"]"));
    // Nothing of the secret is shown or kept.
    let shown = text(&site.client(&server.url, &["-l", "trace"]));
    assert!(!shown.contains("the secret"), "{shown}");
}
