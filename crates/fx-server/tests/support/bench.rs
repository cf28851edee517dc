//! A server over a scratch store and code that is a table, with callers of every kind.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::sync::{Arc, Condvar, Mutex};

use fx_crypto::Random;
use fx_fleet::{AuthorityRecord, Fleet, ListRecord};
use fx_server::{
    App, Autosign, Caller, CatalogMade, CatalogWish, Code, Content, EnvironmentInfo, FileWish,
    Head, Identity, Listing, NodeInfo, Parts, Refusal, Reply, Request, RevokedSerials, Rule, Rules,
    Signing, SigningOptions, Tree,
};
use fx_wire::puppet::{CertName, Checksum, Environment, FileKind, Metadata, Pairs, Segments};
use fx_wire::x509::{Authority, Extension, Key, Request as Csr, RequestOptions};
use serde_json::{Map, Value, json};

pub(crate) const NOW: u64 = 1_800_000_000;

/// Keys that are the same each time: tests need no luck.
pub(crate) fn key(seed: u64) -> Key {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut noise = |buffer: &mut [u8]| {
        for byte in buffer {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *byte = (state >> 32) as u8;
        }
    };
    Key::curve("prime256v1", Random(&mut noise)).unwrap()
}

pub(crate) fn csr(name: &str, seed: u64, options: &RequestOptions) -> Csr {
    Csr::new(&key(seed), name, options).unwrap()
}

pub(crate) fn extension(oid: &str, text: &str) -> Extension {
    Extension { oid: oid.into(), text: text.into() }
}

struct Never;

impl Autosign for Never {
    fn signs(&self, name: &CertName, _request: &str) -> bool {
        name.as_str().starts_with("auto")
    }
}

/// What catalogs of nodes whose names begin with `waits` wait for.
static GATE: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

pub(crate) fn open_gate() {
    *GATE.0.lock().unwrap() = true;
    GATE.1.notify_all();
}

/// Code with one environment, one file and a catalog that says what it was made from.
struct Table;

impl Code for Table {
    fn catalog(&self, wish: &CatalogWish) -> Result<CatalogMade, Refusal> {
        if wish.facts.contains_key("fails") {
            return Err(Refusal::Failed("Evaluation Error: no on node x".into()));
        }
        if wish.node.as_str().starts_with("waits") {
            drop(GATE.1.wait_while(GATE.0.lock().unwrap(), |is_open| !*is_open).unwrap());
        }
        let text = json!({"name": wish.node.as_str(), "facts": wish.facts, "resources": []});
        Ok(CatalogMade {
            environment: "production".into(),
            text: text.to_string(),
            exported: Vec::new(),
        })
    }

    fn node(
        &self,
        _name: &CertName,
        environment: &Environment,
        _facts: Option<&Map<String, Value>>,
    ) -> Result<NodeInfo, Refusal> {
        let environment = environment.to_string();
        Ok(NodeInfo { environment, classes: Value::Null, parameters: Map::new() })
    }

    fn has_environment(&self, environment: &Environment) -> bool {
        environment.as_str() == "production"
    }

    fn environments(&self) -> (Vec<String>, Vec<EnvironmentInfo>) {
        (vec!["file:///e".into()], Vec::new())
    }

    fn metadata(&self, _: &Environment, wish: &FileWish) -> Result<Metadata, Refusal> {
        if wish.path != ["m", "there"] {
            return Err(Refusal::NotFound("no such file".into()));
        }
        let checksum = Checksum { kind: "sha256".into(), value: "ab".into() };
        Ok(Metadata {
            path: "/m/files/there".into(),
            relative_path: None,
            links: "manage".into(),
            owner: 0,
            group: 0,
            mode: 0o644,
            checksum,
            kind: FileKind::File,
        })
    }

    fn metadatas(
        &self,
        environment: &Environment,
        wish: &FileWish,
        _: &Tree,
    ) -> Result<Listing, Refusal> {
        Ok(Listing::of(&[self.metadata(environment, wish)?]))
    }

    fn has_mount(&self, name: &str) -> bool {
        matches!(name, "modules" | "plugins" | "pluginfacts" | "locales" | "tasks" | "scripts")
    }

    fn content(&self, _: &Environment, wish: &FileWish) -> Result<Content, Refusal> {
        match wish.path.as_slice() {
            [module, file] if module == "m" && file == "there" => {
                Ok(Content::bytes(b"content".to_vec()))
            }
            _ => Err(Refusal::NotFound("no such file".into())),
        }
    }

    fn static_content(
        &self,
        _: &Environment,
        _: &str,
        path: &[String],
    ) -> Result<Content, Refusal> {
        match path {
            [_, _, _, file] if file == "c" => Ok(Content::bytes(b"static".to_vec())),
            _ => Err(Refusal::NotFound("no such file".into())),
        }
    }

    fn classes(&self, _: &Environment) -> Result<Value, Refusal> {
        Ok(json!({"files": []}))
    }

    fn modules(&self, _: &Environment) -> Result<Value, Refusal> {
        Ok(json!([]))
    }

    fn flush(&self, _: Option<&Environment>) {}
}

/// A server without a network.
pub(crate) struct Bench {
    pub(crate) app: App,
    pub(crate) fleet: Fleet,
    pub(crate) authority: Authority,
    pub(crate) revoked: RevokedSerials,
    pub(crate) dir: tempfile::TempDir,
}

/// A server at a time that never moves.
pub(crate) fn bench(rules: Vec<Rule>) -> Bench {
    bench_at(NOW, rules)
}

pub(crate) fn bench_at(now: u64, rules: Vec<Rule>) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let fleet = Fleet::sqlite(&dir.path().join("fleet.db")).unwrap();
    bench_on(fleet, dir, now, rules)
}

pub(crate) fn bench_on(fleet: Fleet, dir: tempfile::TempDir, now: u64, rules: Vec<Rule>) -> Bench {
    let authority = Authority::root(key(1), "Puppet CA: test", 1, now, 1_000_000_000).unwrap();
    let list = authority.revoke(&[], 0, now, 1_000_000).unwrap();
    let record = AuthorityRecord { chain: authority.certificate().to_pem(), next_serial: 2 };
    let list = ListRecord { number: 0, written: now, own: list.to_pem(), above: String::new() };
    assert!(fleet.found(&record, &list, &[], &[], &[]).unwrap());
    let revoked = RevokedSerials::default();
    let options = SigningOptions {
        lifetime: 1_000_000,
        allow_alt_names: false,
        allow_authorization_extensions: false,
        allow_duplicates: false,
        renewal_lifetime: Some(1_000),
        autosign: Box::new(Never),
    };
    let app = App::new(Parts {
        fleet: fleet.clone(),
        puppetdb: None,
        code: Arc::new(Table),
        signing: Some(Signing { authority: authority.clone(), options }),
        rules: Rules::new(rules),
        revoked: revoked.clone(),
        clock: Arc::new(move || now * 1000),
        name: "server".into(),
        version: "7.23.0",
        reports: vec!["store".into()],
        log: Arc::new(|_| {}),
    });
    Bench { app, fleet, authority, revoked, dir }
}

pub(crate) fn node(name: &str) -> Caller {
    Caller::Node(Identity { name: name.into(), serial: "77".into(), extensions: Vec::new() })
}

pub(crate) fn admin() -> Caller {
    let extensions = vec![("pp_cli_auth".into(), "true".into())];
    Caller::Node(Identity { name: "server".into(), serial: "78".into(), extensions })
}

/// A request as the network gives it.
pub(crate) fn request(caller: Caller, method: &str, target: &str, body: &[u8]) -> Request {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let fields = [("accept", "application/json, */*"), ("content-type", "application/json")];
    Request {
        head: Head {
            method: method.into(),
            path: Segments::parse(path).unwrap(),
            query: Pairs::parse(query).unwrap(),
            caller,
            fields: fields.map(|(name, value)| (name.into(), value.into())).to_vec(),
        },
        body: body.to_vec(),
    }
}

impl Bench {
    pub(crate) fn send(&self, caller: Caller, method: &str, target: &str, body: &[u8]) -> Reply {
        self.app.answer(&request(caller, method, target, body))
    }

    pub(crate) fn submit(&self, csr: &Csr, name: &str) -> Reply {
        let target = format!("/puppet-ca/v1/certificate_request/{name}");
        self.send(Caller::Anonymous, "PUT", &target, csr.to_pem().as_bytes())
    }

    /// Wishes a state for a name, as the administrator.
    pub(crate) fn wish(&self, name: &str, state: &str) -> Reply {
        let target = format!("/puppet-ca/v1/certificate_status/{name}");
        let body = json!({"desired_state": state}).to_string();
        self.send(admin(), "PUT", &target, body.as_bytes())
    }
}

pub(crate) fn text(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}
