//! The API as clients meet it: signed requests, who may do what, and what a run asks for.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[path = "../../fx-fleet/tests/support/cluster.rs"]
mod cluster;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fx_chef_server::{Parts, Reply, Request, Server};
use fx_crypto::Random;
use fx_fleet::Fleet;
use fx_wire::chef::{Protocol, Signable, SigningKey, sign};
use fx_wire::puppet::Pairs;
use fx_wire::x509::Key;
use serde_json::{Value, json};

const NOW: u64 = 1_800_000_000;
const NOW_TEXT: &str = "2027-01-15T08:00:00Z";

/// Bytes that look random enough for a test.
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

fn new_key() -> Key {
    let mut source = |buffer: &mut [u8]| noise(buffer);
    Key::rsa(2048, Random(&mut source)).unwrap()
}

/// A server with one organization, and keys of who may ask it.
struct Site {
    server: Server,
    superuser: Key,
    validator: Key,
    admin: Key,
}

impl Site {
    /// Runs a test over each engine that there is.
    fn on_each(test: impl Fn(&Site)) {
        let dir = tempfile::tempdir().unwrap();
        test(&Site::over(Fleet::sqlite(&dir.path().join("fleet.db")).unwrap()));
        if let Some(cluster) = cluster::cluster() {
            test(&Site::over(Fleet::postgres(&cluster.database()).unwrap()));
        }
    }

    fn over(fleet: Fleet) -> Site {
        Site::with_page(fleet, None)
    }

    /// A site whose users may also be signed for with a key.
    fn with_page(fleet: Fleet, web_key: Option<String>) -> Site {
        let server = Server::new(Parts {
            fleet,
            clock: Arc::new(|| NOW),
            random: Arc::new(noise),
            scheme: "https",
            web_key,
            log: Arc::new(|_| {}),
        })
        .unwrap();
        let superuser = new_key();
        server.ensure_superuser(&superuser.public().to_pem().unwrap()).unwrap();
        let keys = server.ensure_organization("acme", "admin").unwrap().unwrap();
        assert!(server.ensure_organization("acme", "admin").unwrap().is_none());
        let validator = Key::from_pem(&keys.validator).unwrap();
        let admin = Key::from_pem(&keys.admin.unwrap()).unwrap();
        Site { server, superuser, validator, admin }
    }

    /// A signed request within the organization.
    fn ask(&self, who: (&str, &Key), method: &str, path: &str, body: Option<&Value>) -> Reply {
        self.server.answer(&signed(who, method, &format!("/organizations/acme/{path}"), body))
    }

    fn status(&self, who: (&str, &Key), method: &str, path: &str, body: Option<&Value>) -> u16 {
        self.ask(who, method, path, body).status
    }

    fn admin(&self) -> (&str, &Key) {
        ("admin", &self.admin)
    }

    fn validator(&self) -> (&str, &Key) {
        ("acme-validator", &self.validator)
    }

    /// A client that the validator made.
    fn client(&self, name: &str) -> Key {
        let key = new_key();
        let body = json!({"name": name, "public_key": key.public().to_pem().unwrap()});
        assert_eq!(self.status(self.validator(), "POST", "clients", Some(&body)), 201);
        key
    }
}

fn signed(who: (&str, &Key), method: &str, path: &str, body: Option<&Value>) -> Request {
    let (plain, query) = path.split_once('?').unwrap_or((path, ""));
    let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
    let content_hash = Protocol::V1_1.content_hash(&body);
    let signable = Signable {
        method,
        path: plain,
        content_hash: &content_hash,
        timestamp: NOW_TEXT,
        name: who.0,
        api_version: "0",
    };
    let fields = sign(&signable, Protocol::V1_1, &SigningKey::new(who.1).unwrap()).unwrap();
    let fields = fields.into_iter().map(|(name, value)| (name.to_lowercase(), value));
    Request {
        method: method.to_owned(),
        path: plain.to_owned(),
        query: Pairs::parse(query).unwrap(),
        fields: fields.chain([("host".to_owned(), "chef.example.com:443".to_owned())]).collect(),
        body,
    }
}

fn value(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap_or_default()
}

#[test]
fn a_client_registers_and_keeps_a_node_of_its_own() {
    Site::on_each(|site| {
        let key = site.client("web1");
        let (client, other) = (("web1", &key), site.client("web2"));
        let node = json!({"name": "web1", "run_list": ["apache", "role[web]"]});
        assert_eq!(site.status(client, "GET", "nodes/web1", None), 404);
        let made = site.ask(client, "POST", "nodes", Some(&node));
        assert_eq!(made.status, 201);
        let uri = "https://chef.example.com:443/organizations/acme/nodes/web1";
        assert_eq!(value(&made), json!({"uri": uri}));
        let kept = value(&site.ask(client, "GET", "nodes/web1", None));
        assert_eq!(kept["run_list"], json!(["recipe[apache]", "role[web]"]));
        assert_eq!(site.status(client, "PUT", "nodes/web1", Some(&kept)), 200);
        // Another client sees it and leaves it alone.
        assert_eq!(site.status(("web2", &other), "GET", "nodes/web1", None), 200);
        assert_eq!(site.status(("web2", &other), "PUT", "nodes/web1", Some(&kept)), 403);
        assert_eq!(site.status(("web2", &other), "DELETE", "nodes/web1", None), 403);
        assert_eq!(site.status(site.validator(), "GET", "nodes/web1", None), 200);
        let found = value(&site.ask(client, "GET", "search/node?q=recipe:apache", None));
        assert_eq!((&found["total"], &found["rows"][0]["name"]), (&json!(1), &json!("web1")));
    });
}

// D-063
#[test]
fn no_number_of_nodes_is_too_many() {
    Site::on_each(|site| {
        for number in 1..=26 {
            let node = json!({"name": format!("n{number}")});
            assert_eq!(site.status(site.admin(), "POST", "nodes", Some(&node)), 201);
        }
        let reply = site.server.answer(&signed(site.admin(), "GET", "/license", None));
        let nothing_to_buy = json!({
            "limit_exceeded": false, "node_license": 999_999, "node_count": 26, "upgrade_url": "",
        });
        assert_eq!(value(&reply), nothing_to_buy);
    });
}

#[test]
fn a_page_signs_for_its_users_with_a_key_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let web = new_key();
    let fleet = Fleet::sqlite(&dir.path().join("fleet.db")).unwrap();
    let site = Site::with_page(fleet, Some(web.public().to_pem().unwrap()));
    let path = "/organizations/acme/nodes";
    for (name, source, key, status) in [
        ("admin", Some("web"), &web, 200),
        ("admin", Some("web"), &site.admin, 401),
        ("admin", Some("page"), &web, 401),
        ("admin", None, &web, 401),
        ("admin", None, &site.admin, 200),
        ("nobody", Some("web"), &web, 401),
    ] {
        let mut request = signed((name, key), "GET", path, None);
        request.fields.extend(source.map(|text| ("x-ops-request-source".into(), text.into())));
        assert_eq!(site.server.answer(&request).status, status, "{name} {source:?}");
    }
}

/// What a request has to get wrong to be refused, and how.
#[test]
fn requests_that_are_not_signed_as_they_should_are_refused() {
    Site::on_each(|site| {
        let key = site.client("web1");
        let good = || signed(("web1", &key), "GET", "/organizations/acme/nodes", None);
        assert_eq!(site.server.answer(&good()).status, 200);
        let changed = |change: &dyn Fn(&mut Request)| {
            let mut request = good();
            change(&mut request);
            let reply = site.server.answer(&request);
            (reply.status, String::from_utf8(reply.body).unwrap())
        };
        let set = |name: &'static str, text: &'static str| {
            move |request: &mut Request| {
                for (known, value) in &mut request.fields {
                    if known == name {
                        text.clone_into(value);
                    }
                }
            }
        };
        type Refusal<'a> = (&'a dyn Fn(&mut Request), u16, &'a str);
        let refusals: &[Refusal<'_>] = &[
            (&|one| one.path.push_str("/x"), 401, "Invalid signature for user or client 'web1'"),
            (&|one| one.method = "POST".into(), 401, "Invalid signature"),
            (&|one| one.body = b"{}".to_vec(), 401, "Invalid signature"),
            (&set("x-ops-userid", "web9"), 401, "Failed to authenticate as 'web9'"),
            (&set("x-ops-userid", "admin"), 401, "Invalid signature"),
            (&set("x-ops-timestamp", "2027-01-15T07:44:00Z"), 401, "Synchronize the clock"),
            (&set("x-ops-timestamp", "yesterday"), 401, "bad header(s) 'X-Ops-Timestamp'"),
            (&set("x-ops-sign", "version=9"), 400, "Unsupported authentication protocol version"),
            (&|one| one.fields.clear(), 400, "missing required authentication header(s)"),
            (
                &|one| one.path = "/organizations/other/nodes".into(),
                404,
                "organization 'other' does not exist.",
            ),
        ];
        for (change, status, text) in refusals {
            let (found, body) = changed(change);
            assert!(found == *status && body.contains(text), "{text}: {found} {body}");
        }
    });
}

/// Who may do what, by endpoint: a validator, a client, a user without more, an administrator.
#[test]
fn rights_are_those_of_a_new_organization() {
    Site::on_each(|site| {
        let client = site.client("web1");
        let user = new_key();
        let root = ("pivotal", &site.superuser);
        let ann = json!({
            "username": "ann",
            "display_name": "Ann",
            "email": "ann@example.com",
            "password": "a secret",
            "public_key": user.public().to_pem().unwrap(),
        });
        let made = site.server.answer(&signed(root, "POST", "/users", Some(&ann)));
        assert_eq!(made.status, 201, "{}", value(&made));
        let ask = |who, body: &Value| site.status(who, "POST", "users", Some(body));
        assert_eq!(ask(site.admin(), &json!({"username": "ann"})), 403);
        assert_eq!(site.status(("ann", &user), "GET", "nodes", None), 403);
        assert_eq!(ask(root, &json!({"username": "ann"})), 201);
        let callers = [site.validator(), ("web1", &client), ("ann", &user), site.admin(), root];
        let named = |name: &str| json!({"name": name});
        let rows: &[(&str, &str, Option<Value>, [u16; 5])] = &[
            ("GET", "nodes", None, [200, 200, 200, 200, 200]),
            ("GET", "roles", None, [200, 200, 200, 200, 200]),
            ("POST", "roles", Some(named("r")), [403, 403, 201, 409, 409]),
            ("DELETE", "roles/r", None, [403, 403, 200, 404, 404]),
            ("POST", "environments", Some(named("e")), [403, 403, 201, 409, 409]),
            ("POST", "data", Some(named("b")), [403, 403, 201, 409, 409]),
            ("GET", "data/b", None, [200, 200, 200, 200, 200]),
            ("POST", "data/b", Some(json!({"id": "i"})), [403, 403, 201, 409, 409]),
            ("GET", "clients", None, [403, 403, 200, 200, 200]),
            ("GET", "clients/web1", None, [403, 200, 200, 200, 200]),
            ("POST", "groups", Some(json!({"groupname": "g"})), [403, 403, 403, 201, 409]),
            ("GET", "groups/admins", None, [403, 403, 200, 200, 200]),
            ("GET", "nodes/none", None, [404, 404, 404, 404, 404]),
            ("GET", "containers/nodes/_acl", None, [403, 403, 403, 200, 200]),
            ("POST", "sandboxes", Some(json!({"checksums": {}})), [400, 400, 400, 400, 400]),
            ("PATCH", "nodes", None, [405, 405, 405, 405, 405]),
        ];
        for (method, path, body, statuses) in rows {
            for (who, status) in callers.iter().zip(statuses) {
                let found = site.status(*who, method, path, body.as_ref());
                assert_eq!(found, *status, "{method} {path} as {}", who.0);
            }
        }
    });
}

#[test]
fn a_new_client_of_an_old_name_inherits_nothing() {
    Site::on_each(|site| {
        let old = site.client("web1");
        let node = json!({"name": "n"});
        assert_eq!(site.status(("web1", &old), "POST", "nodes", Some(&node)), 201);
        assert_eq!(site.status(site.admin(), "DELETE", "clients/web1", None), 200);
        assert_eq!(site.status(("web1", &old), "GET", "nodes/n", None), 401);
        let new = site.client("web1");
        assert_eq!(site.status(("web1", &new), "GET", "nodes/n", None), 200);
        assert_eq!(site.status(("web1", &new), "PUT", "nodes/n", Some(&node)), 403);
    });
}

#[test]
fn a_cookbook_is_uploaded_solved_and_downloaded() {
    Site::on_each(|site| {
        let key = site.client("web1");
        let content = b"log 'hello'\n".to_vec();
        let sum = fx_crypto::digest::Algorithm::Md5.hex(&content);
        let sandbox = json!({"checksums": {sum.as_str(): null}});
        let wanted = value(&site.ask(site.admin(), "POST", "sandboxes", Some(&sandbox)));
        let file = json!({"name": "default.rb", "path": "recipes/default.rb", "checksum": sum, "specificity": "default"});
        let cookbook = json!({
            "name": "apache-1.0.0",
            "cookbook_name": "apache",
            "version": "1.0.0",
            "metadata": {"name": "apache", "version": "1.0.0"},
            "recipes": [file],
        });
        // Nothing that is named may be missing.
        assert_eq!(
            site.status(site.admin(), "PUT", "cookbooks/apache/1.0.0", Some(&cookbook)),
            400
        );
        assert_eq!(value(&site.ask(site.admin(), "GET", "cookbooks", None)), json!({}));
        let file_request = |method: &str, url: &str, body: &[u8]| {
            let path = url.strip_prefix("https://chef.example.com:443").unwrap();
            let (path, query) = path.split_once('?').unwrap();
            site.server.answer(&Request {
                method: method.into(),
                path: path.into(),
                query: Pairs::parse(query).unwrap(),
                fields: vec![("host".into(), "chef.example.com:443".into())],
                body: body.to_vec(),
            })
        };
        let url = wanted["checksums"][sum.as_str()]["url"].as_str().unwrap();
        assert_eq!(file_request("PUT", url, b"another content").status, 400);
        assert_eq!(file_request("GET", url, b"").status, 403);
        assert_eq!(file_request("PUT", &url.replace(&sum, &"0".repeat(32)), &content).status, 403);
        assert_eq!(file_request("PUT", url, &content).status, 200);
        let id = wanted["sandbox_id"].as_str().unwrap();
        let done = json!({"is_completed": true});
        assert_eq!(site.status(site.admin(), "PUT", &format!("sandboxes/{id}"), Some(&done)), 200);
        assert_eq!(
            site.status(site.admin(), "PUT", "cookbooks/apache/1.0.0", Some(&cookbook)),
            201
        );
        let list = json!({"run_list": ["apache"]});
        let path = "environments/_default/cookbook_versions";
        let solved = value(&site.ask(("web1", &key), "POST", path, Some(&list)));
        let url = solved["apache"]["recipes"][0]["url"].as_str().unwrap();
        assert_eq!(file_request("GET", url, b"").body, content);
        let missing = json!({"run_list": ["nothing"]});
        assert_eq!(site.status(("web1", &key), "POST", path, Some(&missing)), 412);
    });
}

/// Names and paths that are no names, from who may do most: no answer but a refusal.
#[test]
fn hostile_names_are_refused() {
    Site::on_each(|site| {
        let nasty =
            ["..", ".", "a/b", "a b", "a\0b", "é", "<x>", "a\nb", "", "%2e%2e", "a;b", "a'b"];
        for name in nasty {
            for collection in ["nodes", "roles", "environments", "data"] {
                let body = json!({"name": name});
                let status = site.status(site.admin(), "POST", collection, Some(&body));
                let is_fine = matches!(name, ".." | ".") && status == 201;
                assert!(status == 400 || is_fine, "{collection} {name:?}: {status}");
            }
        }
        // Each character that no name has, at the start, within and at the end.
        let odd =
            (0_u8..0x80).map(char::from).chain(['\u{a0}', '\u{202e}', '\u{ff0e}', '\u{1f600}']);
        let odd = odd.filter(|one| !one.is_ascii_alphanumeric() && !"_.-:".contains(*one));
        let mut tried = 0;
        for name in odd.flat_map(|one| [format!("{one}a"), format!("a{one}a"), format!("a{one}")]) {
            for collection in ["nodes", "roles", "environments", "data", "clients"] {
                let body = json!({"name": name});
                let status = site.status(site.admin(), "POST", collection, Some(&body));
                assert_eq!(status, 400, "{collection} {name:?}");
                tried += 1;
            }
        }
        assert!(tried >= 500, "{tried}");
        for collection in ["nodes", "roles", "data"] {
            let names = value(&site.ask(site.admin(), "GET", collection, None));
            let names: Vec<&String> = names.as_object().unwrap().keys().collect();
            assert!(names.iter().all(|name| matches!(name.as_str(), "." | "..")), "{names:?}");
        }
        for path in ["nodes/../clients", "nodes/%2e%2e/clients", "nodes/a%2Fb/c", "nodes/a%00b"] {
            let status = site.status(site.admin(), "GET", path, None);
            assert!(matches!(status, 404 | 400), "{path}: {status}");
        }
        let large = json!({"name": "n", "normal": {"x": "a".repeat(2_000_000)}});
        assert_eq!(site.status(site.admin(), "POST", "nodes", Some(&large)), 413);
    });
}
