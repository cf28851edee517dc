//! A server with an organization, what is in it, and everybody who may ask it. A request is tried
//! in a transaction of its own copy of the site, so that none sees what another changed.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fx_chef_server::{Parts, Reply, Request, Server};
use fx_crypto::Random;
use fx_fleet::Fleet;
use fx_wire::chef::{Protocol, Signable, SigningKey, sign};
use fx_wire::puppet::Pairs;
use fx_wire::x509::Key;
use serde_json::{Value, json};

pub(crate) const NOW: u64 = 1_800_000_000;
pub(crate) const NOW_TEXT: &str = "2027-01-15T08:00:00Z";

/// Kinds of callers. `n1` is a client and owns the node `n1`; `stranger` is a client of another
/// organization; `forged` names the administrator and signs with another key.
pub(crate) const CALLERS: [&str; 9] =
    ["nobody", "validator", "n1", "n2", "member", "admin", "outsider", "stranger", "superuser"];

fn noise(buffer: &mut [u8]) {
    static STATE: AtomicU64 = AtomicU64::new(7);
    for byte in buffer {
        let next = |mut state: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^ (state << 17)
        };
        let state = STATE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |s| Some(next(s)));
        *byte = (state.unwrap() >> 24) as u8;
    }
}

pub(crate) fn new_key() -> Key {
    let mut source = |buffer: &mut [u8]| noise(buffer);
    Key::rsa(2048, Random(&mut source)).unwrap()
}

pub(crate) fn server_over(fleet: Fleet) -> Server {
    server_at(fleet, Arc::new(AtomicU64::new(NOW)))
}

/// A server whose clock the test sets.
pub(crate) fn server_at(fleet: Fleet, clock: Arc<AtomicU64>) -> Server {
    Server::new(Parts {
        fleet,
        clock: Arc::new(move || clock.load(Ordering::SeqCst)),
        random: Arc::new(noise),
        scheme: "https",
        web_key: None,
        log: Arc::new(|_| {}),
    })
    .unwrap()
}

pub(crate) struct Site {
    dir: tempfile::TempDir,
    store: PathBuf,
    callers: Callers,
}

impl Site {
    pub(crate) fn new() -> Site {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("fleet.db");
        let callers = Callers::furnish(&server_over(Fleet::sqlite(&store).unwrap()));
        Site { dir, store, callers }
    }

    /// The status of a request in a copy of the site.
    pub(crate) fn tried(&self, caller: &str, method: &str, path: &str, body: Option<Value>) -> u16 {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let copy = self.dir.path().join(format!("copy{}", COUNT.fetch_add(1, Ordering::SeqCst)));
        copy_store(&self.store, &copy);
        let server = server_over(Fleet::sqlite(&copy).unwrap());
        let status = server.answer(&self.callers.request(caller, method, path, body)).status;
        drop(server);
        remove_store(&copy);
        status
    }
}

/// Everybody who may ask, and some who may not.
pub(crate) struct Callers {
    keys: BTreeMap<&'static str, Key>,
}

impl Callers {
    /// Makes the organizations, everybody, and what there is to ask for.
    pub(crate) fn furnish(server: &Server) -> Callers {
        let mut keys = BTreeMap::new();
        let superuser = new_key();
        server.ensure_superuser(&superuser.public().to_pem().unwrap()).unwrap();
        let made = server.ensure_organization("acme", "admin").unwrap().unwrap();
        let other = server.ensure_organization("other", "admin").unwrap().unwrap();
        keys.insert("superuser", superuser);
        keys.insert("validator", Key::from_pem(&made.validator).unwrap());
        keys.insert("admin", Key::from_pem(&made.admin.unwrap()).unwrap());
        let stranger = Key::from_pem(&other.validator).unwrap();
        let shared = new_key();
        for name in ["n1", "n2", "member", "outsider", "forged"] {
            keys.insert(name, shared.clone());
        }
        keys.insert("nobody", shared.clone());
        keys.insert("stranger", stranger);
        let callers = Callers { keys };
        callers.fill(server, &shared);
        callers
    }

    /// What there is to ask for.
    fn fill(&self, server: &Server, shared: &Key) {
        let public = shared.public().to_pem().unwrap();
        let superuser = ("pivotal", &self.keys["superuser"]);
        let ask = |who, method, path: &str, body: Value| {
            let reply = server.answer(&signed(who, method, path, Some(&body), NOW_TEXT));
            assert!(reply.status < 300, "{path}: {}", String::from_utf8_lossy(&reply.body));
        };
        for user in ["member", "outsider"] {
            let body = json!({"username": user, "display_name": user, "email": format!("{user}@x.y"),
                "first_name": user, "last_name": user, "password": "secret123", "public_key": public});
            ask(superuser, "POST", "/users", body);
        }
        let org = "/organizations/acme";
        ask(superuser, "POST", &format!("{org}/users"), json!({"username": "member"}));
        let validator = ("acme-validator", &self.keys["validator"]);
        for client in ["n1", "n2"] {
            let body = json!({"name": client, "public_key": public});
            ask(validator, "POST", &format!("{org}/clients"), body);
        }
        ask(("n1", shared), "POST", &format!("{org}/nodes"), json!({"name": "n1"}));
        let admin = ("admin", &self.keys["admin"]);
        ask(admin, "POST", &format!("{org}/roles"), json!({"name": "web"}));
        ask(admin, "POST", &format!("{org}/environments"), json!({"name": "prod"}));
        ask(admin, "POST", &format!("{org}/data"), json!({"name": "users"}));
        ask(admin, "POST", &format!("{org}/groups"), json!({"groupname": "ops"}));
    }

    pub(crate) fn request(
        &self,
        caller: &str,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Request {
        let name = match caller {
            "validator" => "acme-validator",
            "stranger" => "other-validator",
            "superuser" => "pivotal",
            "forged" => "admin",
            other => other,
        };
        let mut request = signed((name, &self.keys[caller]), method, path, body.as_ref(), NOW_TEXT);
        if caller == "nobody" {
            request.fields.clear();
        }
        request
    }
}

#[allow(clippy::disallowed_methods, reason = "a copy of a store of the test")]
fn copy_store(from: &Path, to: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let name = |path: &Path| PathBuf::from(format!("{}{ending}", path.display()));
        if name(from).exists() {
            std::fs::copy(name(from), name(to)).unwrap();
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "a copy of a store of the test")]
fn remove_store(at: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let _missing = std::fs::remove_file(format!("{}{ending}", at.display()));
    }
}

pub(crate) fn signed(
    (name, key): (&str, &Key),
    method: &str,
    path: &str,
    body: Option<&Value>,
    timestamp: &str,
) -> Request {
    let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
    let content_hash = Protocol::V1_1.content_hash(&body);
    let (bare, query) = path.split_once('?').unwrap_or((path, ""));
    let signable = Signable {
        method,
        path: bare,
        content_hash: &content_hash,
        timestamp,
        name,
        api_version: "0",
    };
    let headers = sign(&signable, Protocol::V1_1, &SigningKey::new(key).unwrap()).unwrap();
    Request {
        method: method.to_owned(),
        path: bare.to_owned(),
        query: Pairs::parse(query).unwrap(),
        fields: headers.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect(),
        body,
    }
}

pub(crate) fn value(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap_or(Value::Null)
}
