//! Who may sign and who is in which group is remembered between requests: never longer than it
//! holds, whoever changes it.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[path = "support/site.rs"]
mod site;
#[path = "support/stores.rs"]
mod stores;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fx_chef_server::Server;
use fx_wire::x509::Key;
use serde_json::{Value, json};
use site::{NOW, NOW_TEXT, new_key, server_at, server_over, signed};
use stores::on_each;

type Who<'a> = (&'a str, &'a Key);

/// The status of a request within the organization.
fn status(server: &Server, who: Who<'_>, method: &str, path: &str, body: Option<&Value>) -> u16 {
    let path = format!("/organizations/acme/{path}");
    server.answer(&signed(who, method, &path, body, NOW_TEXT)).status
}

/// Makes the organization, and gives the key of who may do everything.
fn furnished(server: &Server) -> Key {
    let key = new_key();
    server.ensure_superuser(&key.public().to_pem().unwrap()).unwrap();
    server.ensure_organization("acme", "admin").unwrap();
    key
}

fn client(name: &str, key: &Key) -> Value {
    json!({"name": name, "public_key": key.public().to_pem().unwrap()})
}

#[test]
fn a_key_that_another_server_took_away_no_longer_signs() {
    on_each(|open| {
        let (one, two) = (server_over(open()), server_over(open()));
        let root = furnished(&one);
        let root = ("pivotal", &root);
        let (old, new) = (new_key(), new_key());
        assert_eq!(status(&one, root, "POST", "clients", Some(&client("web1", &old))), 201);
        let asks = |key| status(&two, ("web1", key), "GET", "nodes", None);
        assert_eq!((asks(&old), asks(&new)), (200, 401));
        assert_eq!(status(&one, root, "DELETE", "clients/web1", None), 200);
        assert_eq!((asks(&old), asks(&new)), (401, 401));
        assert_eq!(status(&one, root, "POST", "clients", Some(&client("web1", &new))), 201);
        assert_eq!((asks(&old), asks(&new)), (401, 200));
        let ended = json!({"name": "second", "expiration_date": "2027-01-15T07:59:59Z",
            "public_key": old.public().to_pem().unwrap()});
        assert_eq!(status(&one, root, "POST", "clients/web1/keys", Some(&ended)), 201);
        assert_eq!((asks(&old), asks(&new)), (401, 200));
        let longer = json!({"expiration_date": "infinity"});
        assert_eq!(status(&one, root, "PUT", "clients/web1/keys/second", Some(&longer)), 200);
        assert_eq!((asks(&old), asks(&new)), (200, 200));
        let gone = one.answer(&signed(root, "DELETE", "/organizations/acme", None, NOW_TEXT));
        assert_eq!((gone.status, asks(&new)), (200, 404));
    });
}

#[test]
fn a_membership_counts_from_the_request_after_its_change() {
    on_each(|open| {
        let (one, two) = (server_over(open()), server_over(open()));
        let root = furnished(&one);
        let root = ("pivotal", &root);
        let key = new_key();
        assert_eq!(status(&one, root, "POST", "clients", Some(&client("web1", &key))), 201);
        let lists = |server| status(server, ("web1", &key), "GET", "clients", None);
        let group = |clients: &[&str]| {
            let actors = json!({"clients": clients, "users": ["admin"], "groups": []});
            json!({"groupname": "admins", "actors": actors})
        };
        for (clients, expected) in [(&[][..], 403), (&["web1"], 200), (&[], 403)] {
            let put = status(&one, root, "PUT", "groups/admins", Some(&group(clients)));
            assert_eq!((put, lists(&two), lists(&one)), (200, expected, expected));
        }
        // What is refused changes nothing of it.
        assert_eq!(status(&one, root, "POST", "clients", Some(&client("web1", &key))), 409);
        assert_eq!(lists(&one), 403);
    });
}

#[test]
fn a_request_counts_for_a_quarter_of_an_hour() {
    on_each(|open| {
        let clock = Arc::new(AtomicU64::new(NOW));
        let server = server_at(open(), Arc::clone(&clock));
        let root = furnished(&server);
        let node = json!({"name": "n", "normal": {"turn": 1}});
        let path = "/organizations/acme/nodes";
        let request = signed(("pivotal", &root), "POST", path, Some(&node), NOW_TEXT);
        assert_eq!(server.answer(&request).status, 201);
        // Sent once more it is the same request, which the protocol cannot tell from the first.
        assert_eq!(server.answer(&request).status, 409);
        for (seconds, expected) in [(900, 409), (901, 401), (86_400, 401)] {
            for now in [NOW + seconds, NOW - seconds] {
                clock.store(now, Ordering::SeqCst);
                assert_eq!(server.answer(&request).status, expected, "{seconds} s");
            }
        }
    });
}
