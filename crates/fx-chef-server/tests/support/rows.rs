//! Requests for each endpoint: paths with names of what there is, and bodies that would be taken.

use serde_json::{Value, json};

/// A path with something for each open segment.
pub(crate) fn filled(path: &str) -> String {
    let path = path.replacen("organizations/:", "organizations/acme", 1);
    let mut out: Vec<String> = Vec::new();
    for segment in path.split('/') {
        let before = out.last().map_or("", String::as_str);
        out.push(match (segment, before) {
            (":", "nodes") => "n1".into(),
            (":", "roles") => "web".into(),
            (":", "environments") => "prod".into(),
            (":", "data") => "users".into(),
            (":", "clients") => "n2".into(),
            (":", "users") => "member".into(),
            (":", "groups") => "ops".into(),
            (":", "containers") => "nodes".into(),
            (":", "search") => "node".into(),
            (":", "cookbooks") => "base".into(),
            (":", "keys") => "default".into(),
            (":", "_acl") => "read".into(),
            (":", "principals") => "n1".into(),
            (":", "acme") => "nodes".into(),
            (":", "checksums") => "d41d8cd98f00b204e9800998ecf8427e".into(),
            (":", _) => "none".into(),
            (other, _) => other.into(),
        });
    }
    format!("/{}", out.join("/"))
}

/// A body that would be taken, so that what is refused is the caller.
pub(crate) fn body(method: &str, path: &str) -> Option<Value> {
    if !matches!(method, "POST" | "PUT") {
        return None;
    }
    let last = path.rsplit('/').next().unwrap();
    Some(match (method, path) {
        ("POST", p) if p.ends_with("/acme/nodes") => json!({"name": "new"}),
        ("PUT", p) if p.ends_with("/nodes/n1") => json!({"name": "n1"}),
        ("POST", p) if p.ends_with("/acme/roles") => json!({"name": "new"}),
        ("PUT", p) if p.ends_with("/roles/web") => json!({"name": "web"}),
        ("POST", p) if p.ends_with("/acme/environments") => json!({"name": "new"}),
        ("PUT", p) if p.ends_with("/environments/prod") => json!({"name": "prod"}),
        ("POST", p) if p.ends_with("/acme/data") => json!({"name": "new"}),
        ("POST", p) if p.ends_with("/data/users") => json!({"id": "new"}),
        ("POST", p) if p.ends_with("/acme/clients") => json!({"name": "new"}),
        ("PUT", p) if p.ends_with("/clients/n2") => json!({"name": "n2"}),
        ("POST", p) if p.ends_with("/sandboxes") => json!({"checksums": {"0".repeat(32): null}}),
        ("POST", p) if p.ends_with("/groups") => json!({"groupname": "new"}),
        ("POST", p) if p.ends_with("/containers") => json!({"containername": "new"}),
        ("POST", p) if p.ends_with("/cookbook_versions") => json!({"run_list": []}),
        ("PUT", p) if p.contains("/_acl/") => json!({last: {"actors": [], "groups": ["admins"]}}),
        _ => json!({}),
    })
}
