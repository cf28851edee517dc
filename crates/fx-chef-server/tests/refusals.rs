//! What is refused, over each engine: each row of the table as it stands there, and requests that are
//! wrong in themselves. Whatever is refused reads nothing and writes nothing.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[path = "support/rows.rs"]
mod rows;
#[path = "support/site.rs"]
mod site;
#[path = "support/stores.rs"]
mod stores;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fx_chef_server::{Reply, Server};
use fx_fleet::Fleet;
use rows::{body, filled};
use serde_json::{Value, json};
use site::{CALLERS, Callers, NOW, server_at, server_over};
use stores::on_each;

const KINDS: [&str; 28] = [
    "acl",
    "artifact",
    "assignment",
    "checksum",
    "client",
    "client_key",
    "container",
    "content",
    "cookbook",
    "data_bag",
    "data_item",
    "data_item version",
    "environment",
    "environment version",
    "group",
    "invite",
    "mark",
    "member",
    "node",
    "node version",
    "organization",
    "policy",
    "policy_group",
    "revision",
    "role",
    "sandbox",
    "user",
    "user_key",
];

/// All that a store holds: scope, kind, name and document.
fn held(fleet: &Fleet) -> Vec<(String, Vec<u8>)> {
    let read = fleet.read_documents::<_, ()>(|docs| {
        let mut all = Vec::new();
        for scope in ["", "acme", "other"] {
            for kind in KINDS {
                for (name, document) in docs.all(scope, kind)? {
                    all.push((format!("{scope} {kind} {name}"), document));
                }
            }
        }
        Ok(all)
    });
    read.map_err(|stopped| format!("{stopped:?}")).unwrap()
}

/// Tells what differs, by name.
#[track_caller]
fn assert_same(before: &[(String, Vec<u8>)], fleet: &Fleet, after: &str) {
    let now = held(fleet);
    if now == before {
        return;
    }
    let differing: Vec<&String> = before
        .iter()
        .filter(|one| !now.contains(one))
        .chain(now.iter().filter(|one| !before.contains(one)))
        .map(|(name, _)| name)
        .collect();
    assert!(differing.is_empty(), "{after}: {differing:?}");
}

/// The rows of the table: method, path, and the status for each caller.
fn rows() -> Vec<(String, String, Vec<u16>)> {
    let rows = include_str!("table.txt").lines().skip(1).map(|line| {
        let (endpoint, statuses) = line.rsplit_once(": ").unwrap();
        let (method, path) = endpoint.split_once(' ').unwrap();
        let statuses = statuses.split(' ').map(|one| one.parse().unwrap()).collect();
        (method.to_owned(), path.to_owned(), statuses)
    });
    rows.collect()
}

/// Whether a reply gives something away: the text of a refusal names what was asked for, at most.
fn is_bare(reply: &Reply) -> bool {
    let text = String::from_utf8_lossy(&reply.body);
    !text.contains("BEGIN") && !text.contains("private_key") && reply.body.len() < 2000
}

#[test]
fn each_row_refuses_over_each_engine_and_nothing_is_changed() {
    on_each(|open| {
        let fleet = open();
        let server = server_over(open());
        let callers = Callers::furnish(&server);
        let (before, mut refused) = (held(&fleet), 0);
        assert!(before.len() > 50, "{}", before.len());
        for (method, path, statuses) in rows() {
            let at = filled(&path);
            for (caller, expected) in CALLERS.iter().zip(statuses) {
                // What is taken changes the site, and is tried in copies of it: see the table's own test.
                if expected < 300 && method != "GET" {
                    continue;
                }
                let request = callers.request(caller, &method, &at, body(&method, &at));
                let reply = server.answer(&request);
                assert_eq!(reply.status, expected, "{method} {at} as {caller}");
                if expected >= 300 {
                    refused += 1;
                    assert!(is_bare(&reply), "{method} {at} as {caller}: {:?}", reply.body);
                }
            }
            assert_same(&before, &fleet, &format!("{method} {at}"));
        }
        assert!(refused > 600, "{refused}");
    });
}

/// One way to get each request wrong.
type Fault<'a> = (&'a str, &'a dyn Fn(&Site<'_>, &str, &str, Option<Value>) -> u16, &'a [u16]);

struct Site<'a> {
    server: &'a Server,
    clock: &'a AtomicU64,
    callers: &'a Callers,
}

impl Site<'_> {
    fn as_admin(
        &self,
        method: &str,
        at: &str,
        body: Option<Value>,
        change: impl Fn(&mut fx_chef_server::Request),
    ) -> u16 {
        let mut request = self.callers.request("admin", method, at, body);
        change(&mut request);
        self.server.answer(&request).status
    }
}

fn set(request: &mut fx_chef_server::Request, name: &str, value: &str) {
    for (known, text) in &mut request.fields {
        if known == name {
            value.clone_into(text);
        }
    }
}

#[test]
fn requests_that_are_wrong_in_themselves_are_refused_at_every_endpoint() {
    let faults: &[Fault<'_>] = &[
        (
            "a signature of another request",
            &|site, method, at, body| site.as_admin(method, at, body, |one| one.path.push('x')),
            &[400, 401, 404, 405],
        ),
        (
            "a body that was not signed",
            &|site, method, at, body| {
                site.as_admin(method, at, body, |one| one.body = b"{\"name\": \"other\"}".to_vec())
            },
            &[400, 401],
        ),
        (
            "a signature that is cut off",
            &|site, method, at, body| {
                site.as_admin(method, at, body, |one| {
                    one.fields.retain(|(name, _)| name != "x-ops-authorization-6")
                })
            },
            &[400, 401],
        ),
        (
            "no signature",
            &|site, method, at, body| {
                site.as_admin(method, at, body, |one| {
                    one.fields.retain(|(name, _)| !name.starts_with("x-ops-auth"))
                })
            },
            &[400, 401],
        ),
        (
            "nonsense for a signature",
            &|site, method, at, body| {
                site.as_admin(method, at, body, |one| {
                    set(one, "x-ops-authorization-1", "\u{e9}\u{0}=")
                })
            },
            &[400, 401],
        ),
        (
            "the name of another user",
            &|site, method, at, body| {
                site.as_admin(method, at, body, |one| set(one, "x-ops-userid", "pivotal"))
            },
            &[400, 401],
        ),
        (
            "the key of another client",
            &|site, method, at, body| {
                site.server.answer(&site.callers.request("forged", method, at, body)).status
            },
            &[400, 401],
        ),
        (
            "an unknown protocol",
            &|site, method, at, body| {
                site.as_admin(method, at, body, |one| {
                    set(one, "x-ops-sign", "algorithm=md5;version=1.1;")
                })
            },
            &[400],
        ),
        (
            "an old clock",
            &|site, method, at, body| {
                site.clock.store(NOW + 901, Ordering::SeqCst);
                let status = site.as_admin(method, at, body, |_| {});
                site.clock.store(NOW, Ordering::SeqCst);
                status
            },
            &[401],
        ),
        (
            "another organization",
            &|site, method, at, body| {
                let at = at.replacen("/acme", "/other", 1);
                site.server.answer(&site.callers.request("n1", method, &at, body)).status
            },
            &[400, 401],
        ),
    ];
    on_each(|open| {
        let fleet = open();
        let clock = Arc::new(AtomicU64::new(NOW));
        let server = server_at(open(), Arc::clone(&clock));
        let callers = Callers::furnish(&server);
        let before = held(&fleet);
        let site = Site { server: &server, clock: &clock, callers: &callers };
        let open_to_all = ["/_status", "/version", "/server_api_version"];
        for (method, path, _) in rows() {
            let at = filled(&path);
            let needs_none = ["principals", "required_recipe", "file_store"];
            if open_to_all.contains(&at.as_str()) || needs_none.iter().any(|one| at.contains(one)) {
                continue;
            }
            for (name, send, expected) in faults {
                if *name == "another organization" && !at.starts_with("/organizations/acme") {
                    continue;
                }
                let status = send(&site, &method, &at, body(&method, &at));
                assert!(expected.contains(&status), "{name}: {method} {at}: {status}");
            }
        }
        assert_same(&before, &fleet, "requests that are wrong in themselves");
    });
}

#[test]
fn a_body_that_is_not_read_is_refused_for_the_version_first() {
    on_each(|open| {
        let server = server_over(open());
        let callers = Callers::furnish(&server);
        for (path, status) in [("/license", 405), ("/nothing", 404), ("/users", 413)] {
            let mut request = callers.request("admin", "POST", path, Some(json!({})));
            assert_eq!(
                server.refuse_body(&request, server.find(&request)).status,
                status,
                "{path}"
            );
            request.fields.push(("x-ops-server-api-version".into(), "invalid".into()));
            assert_eq!(server.refuse_body(&request, server.find(&request)).status, 406, "{path}");
        }
    });
}

/// A request that is sent again within the quarter of an hour that it counts for is the same request:
/// the protocol has nothing to tell them by, so nothing happens twice.
#[test]
fn a_request_that_is_sent_again_changes_nothing_more() {
    on_each(|open| {
        let fleet = open();
        let server = server_over(open());
        let callers = Callers::furnish(&server);
        let made = json!({"name": "again", "normal": {"turn": 1}});
        let post =
            callers.request("admin", "POST", "/organizations/acme/nodes", Some(made.clone()));
        assert_eq!(server.answer(&post).status, 201);
        let before = held(&fleet);
        assert_eq!(server.answer(&post).status, 409);
        assert_same(&before, &fleet, "a node that is made again");
        let delete = callers.request("admin", "DELETE", "/organizations/acme/nodes/again", None);
        assert_eq!(server.answer(&delete).status, 200);
        let before = held(&fleet);
        assert_eq!(server.answer(&delete).status, 404);
        assert_same(&before, &fleet, "a node that is removed again");
    });
}
