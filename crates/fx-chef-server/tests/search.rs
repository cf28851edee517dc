//! Search sees what was written last, whoever wrote it, and leaves documents in the store.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[path = "support/site.rs"]
mod site;
#[path = "support/stores.rs"]
mod stores;

use fx_chef_server::Server;
use fx_fleet::Fleet;
use serde_json::{Value, json};
use site::{NOW_TEXT, server_over, signed, value};
use stores::on_each;

type Who<'a> = (&'a str, &'a fx_wire::x509::Key);

fn ask(server: &Server, who: Who<'_>, method: &str, path: &str, body: Option<&Value>) -> Value {
    let reply =
        server.answer(&signed(who, method, &format!("/organizations/acme/{path}"), body, NOW_TEXT));
    assert!(reply.status < 300, "{path}: {}", String::from_utf8_lossy(&reply.body));
    value(&reply)
}

fn names(server: &Server, who: Who<'_>, query: &str) -> Vec<String> {
    let found = ask(server, who, "GET", &format!("search/node?q={query}"), None);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(found["total"], rows.len());
    rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn two_servers_over_one_store_find_what_the_other_wrote() {
    on_each(|open| {
        let (one, two) = (server_over(open()), server_over(open()));
        let key = site::new_key();
        one.ensure_superuser(&key.public().to_pem().unwrap()).unwrap();
        one.ensure_organization("acme", "admin").unwrap();
        let who = ("pivotal", &key);
        let node = |name: &str, color: &str| json!({"name": name, "normal": {"color": color}});
        ask(&one, who, "POST", "nodes", Some(&node("a", "red")));
        assert_eq!(names(&two, who, "color:red"), ["a"]);
        ask(&two, who, "PUT", "nodes/a", Some(&node("a", "blue")));
        ask(&two, who, "POST", "nodes", Some(&node("b", "red")));
        assert_eq!(names(&one, who, "color:red"), ["b"]);
        assert_eq!(names(&one, who, "color:blue"), ["a"]);
        assert_eq!(names(&one, who, "*:*"), ["a", "b"]);
        ask(&one, who, "DELETE", "nodes/a", None);
        assert_eq!(names(&two, who, "*:*"), ["b"]);
        let body = json!({"c": ["color"], "none": ["x", "y"]});
        let part = ask(&two, who, "POST", "search/node?q=name:b", Some(&body));
        assert_eq!(part["rows"][0]["data"], json!({"c": "red", "none": null}));
        assert_eq!(part["rows"][0]["url"], "https://localhost/organizations/acme/nodes/b");
    });
}

#[test]
fn a_write_makes_no_search_read_all_documents_again() {
    let dir = tempfile::tempdir().unwrap();
    let server = server_over(Fleet::sqlite(&dir.path().join("fleet.db")).unwrap());
    let key = site::new_key();
    server.ensure_superuser(&key.public().to_pem().unwrap()).unwrap();
    server.ensure_organization("acme", "admin").unwrap();
    let who = ("pivotal", &key);
    let filler: Value =
        (0..200).map(|at| (format!("key{at}"), json!(format!("value {at}")))).collect();
    let node = |name: &str, turn: u32| json!({"name": name, "normal": {"turn": turn.to_string()}, "automatic": filler});
    for at in 0..300 {
        ask(&server, who, "POST", "nodes", Some(&node(&format!("n{at:03}"), 0)));
    }
    let timed = |turn: u32| {
        let begun = std::time::Instant::now();
        let found = names(&server, who, &format!("turn:{turn}"));
        (found, begun.elapsed())
    };
    let (all, first) = timed(0);
    assert_eq!(all.len(), 300);
    let mut later = Vec::new();
    for turn in 1..=5 {
        ask(&server, who, "PUT", "nodes/n000", Some(&node("n000", turn)));
        let (found, took) = timed(turn);
        assert_eq!(found, ["n000"]);
        later.push(took);
    }
    later.sort();
    // Three hundred documents were read at first, one each time later.
    assert!(later[2] * 4 < first, "first {first:?}, then {later:?}");
}
