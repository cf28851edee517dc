//! What another server left is taken whole: a backup of all organizations as `knife ec backup`
//! writes it, and the directory of a chef-zero that keeps files. Everything is counted.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

#[path = "chef_site/site.rs"]
mod chef_site;

use chef_site::api::{Api, new_key};
use chef_site::{Site, ended, text};
use serde_json::{Value, json};

fn put(site: &Site, name: &str, document: &Value) {
    site.put(name, &document.to_string());
}

/// The lines that an import ends with.
fn counts(output: &std::process::Output) -> Vec<String> {
    let text = text(output);
    let lines = text.lines().filter(|line| !line.starts_with("key of "));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_backup_of_a_server_is_taken_whole_and_can_be_taken_again() {
    let site = Site::new();
    let key = new_key();
    let public = key.public().to_pem().unwrap();
    for user in ["ann", "bob"] {
        let about = json!({"username": user, "email": format!("{user}@x.y"), "display_name": user,
            "first_name": user, "last_name": user});
        put(&site, &format!("backup/users/{user}.json"), &about);
    }
    let dump = ["ann", "bob"].map(|user| json!({"username": user, "public_key": public}));
    put(&site, "backup/key_dump.json", &json!(dump));
    let (second, old) = (new_key(), new_key());
    let row = |kind: &str, name: &str, key: &str, public: &str, end: Value| {
        json!({"id": "1", "org_name": if kind == "client" { json!("acme") } else { Value::Null },
            "name": name, "type": kind, "key_name": key, "public_key": public, "key_version": 0,
            "expires_at": end})
    };
    let [second_pem, old_pem] = [&second, &old].map(|key| key.public().to_pem().unwrap());
    let keys = json!([
        row("user", "ann", "default", &public, json!("infinity")),
        row("user", "ann", "laptop", &second_pem, json!("2100-12-31 23:59:59 UTC")),
        row("client", "n1", "next", &second_pem, Value::Null),
        row("client", "n1", "gone", &old_pem, json!("2020-01-02 03:04:05 +0000")),
        row("user", "pivotal", "default", &old_pem, json!("infinity")),
    ]);
    put(&site, "backup/key_table_dump.json", &keys);
    // As the original writes them, with the groups in which it keeps who is in an organization.
    let groups = json!(["::server-admins", "::acme_read_access_group"]);
    let own_rights = json!({"actors": ["pivotal", "ann"], "groups": groups});
    let of_bob = json!({"create": own_rights, "read": own_rights, "update": own_rights,
        "delete": own_rights, "grant": own_rights});
    put(&site, "backup/user_acls/bob.json", &of_bob);
    let own = |name: &str| format!("backup/organizations/acme/{name}");
    let acl = json!({"actors": ["ann"], "groups": ["ops"]});
    let rights = json!({"create": acl, "read": acl, "update": acl, "delete": acl, "grant": acl});
    let documents = [
        ("org.json", json!({"name": "acme", "full_name": "Acme Ltd"})),
        ("members.json", json!([{"user": {"username": "ann"}}])),
        ("invitations.json", json!([{"username": "bob"}])),
        ("clients/n1.json", json!({"name": "n1", "validator": false, "public_key": public})),
        ("groups/ops.json", json!({"name": "ops", "users": ["ann"], "clients": [], "groups": []})),
        ("groups/admins.json", json!({"name": "admins", "users": ["ann", "pivotal"]})),
        ("containers/nodes.json", json!({"containername": "nodes", "containerpath": "nodes"})),
        ("containers/tools.json", json!({"containername": "tools", "containerpath": "tools"})),
        ("acls/containers/tools.json", rights.clone()),
        ("acls/roles/web.json", rights),
        ("environments/_default.json", json!({"name": "_default"})),
        ("environments/prod.json", json!({"name": "prod"})),
        ("roles/web.json", json!({"name": "web", "run_list": ["recipe[base]"]})),
        ("data_bags/users/alice.json", json!({"id": "alice", "shell": "/bin/zsh"})),
        ("nodes/n1.json", json!({"name": "n1", "normal": {"a": 1}, "run_list": ["role[web]"]})),
        ("cookbooks/base-0.1.0/metadata.json", json!({"name": "base", "version": "0.1.0"})),
        ("cookbooks/base-0.2.0/metadata.json", json!({"name": "base", "version": "0.2.0"})),
    ];
    for (name, document) in &documents {
        put(&site, &own(name), document);
    }
    for version in ["0.1.0", "0.2.0"] {
        let recipe = format!("log '{version}'\n");
        site.put(&own(&format!("cookbooks/base-{version}/recipes/default.rb")), &recipe);
    }
    let taken = [
        "client: 1",
        "container: 2",
        "cookbook: 2",
        "data bag: 1",
        "data bag item: 1",
        "environment: 1",
        "group: 2",
        "invitation: 1",
        "key: 4",
        "member: 1",
        "node: 1",
        "organization: 1",
        "rights: 3",
        "role: 1",
        "user: 2",
        "user rights: 1",
    ];
    let first = site.import("backup");
    ended(&first, 0, &[]);
    assert_eq!(counts(&first), taken);
    let again = site.import("backup");
    ended(&again, 0, &[]);
    // The organization is there already.
    let known: Vec<&str> = taken.into_iter().filter(|line| *line != "organization: 1").collect();
    assert_eq!(counts(&again), known);

    let server = site.start();
    let (ann, n1) = (Api::new(&server.url, "ann", &key), Api::new(&server.url, "n1", &key));
    assert_eq!(ann.json("GET", "roles/web", None).1["run_list"], json!(["recipe[base]"]));
    assert_eq!(n1.json("GET", "roles/web", None).0, 403);
    assert_eq!(ann.json("GET", "data/users/alice", None).1["shell"], "/bin/zsh");
    let books = ann.json("GET", "cookbooks?num_versions=all", None).1;
    assert_eq!(books["base"]["versions"].as_array().unwrap().len(), 2);
    let book = ann.json("GET", "cookbooks/base/0.2.0", None).1;
    let file = book["recipes"][0]["url"].as_str().unwrap().to_owned();
    assert_eq!(ann.send("GET", &file, None).unwrap(), (200, b"log '0.2.0'\n".to_vec()));
    // The node belongs to the client of its name.
    let node = n1.json("GET", "nodes/n1", None).1;
    assert_eq!((&node["normal"], &node["run_list"]), (&json!({"a": 1}), &json!(["role[web]"])));
    assert_eq!(n1.json("PUT", "nodes/n1", Some(&node)).0, 200);
    // Each key counts until its end.
    for (key, status) in [(&second, 200), (&old, 401)] {
        assert_eq!(Api::new(&server.url, "n1", key).json("GET", "nodes/n1", None).0, status);
    }
    assert_eq!(Api::new(&server.url, "ann", &second).json("GET", "roles/web", None).0, 200);
    assert_eq!(ann.json("GET", "containers/tools", None).0, 200);
    assert_eq!(n1.json("GET", "containers/tools", None).0, 403);
    // Ann may see and change who bob is.
    let root = server.url.split("/organizations").next().unwrap().to_owned();
    let (status, rights) = ann.json("GET", &format!("{root}/users/bob/_acl"), None);
    assert_eq!((status, &rights["update"]["actors"]), (200, &json!(["pivotal", "ann"])));
    // Who was only invited is no member.
    assert_eq!(Api::new(&server.url, "bob", &key).json("GET", "nodes", None).0, 403);
}

/// The layout was recorded from chef-zero 15.1.11 with `--file-store`.
#[test]
fn the_directory_of_a_chef_zero_is_taken_whole() {
    let site = Site::new();
    let key = new_key();
    let content = "log 'zero'\n";
    let sum = fx_crypto::digest::Algorithm::Md5.hex(content.as_bytes());
    let own = |name: &str| format!("zero/organizations/acme/{name}");
    let file = json!({"name": "default.rb", "path": "recipes/default.rb", "checksum": sum,
        "specificity": "default"});
    let book = json!({"name": "base-0.1.0", "cookbook_name": "base", "version": "0.1.0",
        "json_class": "Chef::CookbookVersion", "chef_type": "cookbook_version", "frozen?": false,
        "metadata": {"name": "base", "version": "0.1.0"}, "recipes": [file]});
    for (name, document) in [
        ("org", json!({"name": "acme", "full_name": "acme"})),
        ("clients/n1", json!({"name": "n1", "public_key": key.public().to_pem().unwrap()})),
        ("cookbooks/base/0.1.0", book),
        ("data/users/alice", json!({"id": "alice", "x": 1})),
        ("environments/prod", json!({"name": "prod"})),
        ("nodes/n1", json!({"name": "n1", "normal": {"a": 1}})),
        ("roles/web", json!({"name": "web"})),
        ("sandboxes/1", json!({"checksums": []})),
    ] {
        put(&site, &own(name), &document);
    }
    site.put(&own(&format!("file_store/checksums/{sum}")), content);
    let taken = site.import("zero");
    ended(&taken, 0, &[]);
    let lines = [
        "client: 1",
        "cookbook: 1",
        "data bag: 1",
        "data bag item: 1",
        "environment: 1",
        "node: 1",
        "organization: 1",
        "rights: 1",
        "role: 1",
    ];
    assert_eq!(counts(&taken), lines);
    let server = site.start();
    let n1 = Api::new(&server.url, "n1", &key);
    assert_eq!(n1.json("GET", "nodes/n1", None).1["normal"], json!({"a": 1}));
    let solved = json!({"run_list": ["base"]});
    let (_, books) = n1.json("POST", "environments/prod/cookbook_versions", Some(&solved));
    let file = books["base"]["recipes"][0]["url"].as_str().unwrap().to_owned();
    assert_eq!(n1.send("GET", &file, None).unwrap(), (200, content.as_bytes().to_vec()));
}
