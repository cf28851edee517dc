//! Whose name it is, and the public key.

use serde_json::{Value, json};

use crate::context::{Answer, Context, GLOBAL, text};
use crate::keys::DEFAULT;
use crate::message::Reply;

pub(crate) fn show(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let name = &parts[0];
    let org = context.org.clone();
    if !context.docs.has(GLOBAL, "organization", &org)? {
        let body = json!({"not_found": "org", "error": format!("Cannot find org {org}")});
        return Ok(Reply::json(404, &body));
    }
    let mut found: Vec<Value> = Vec::new();
    for (scope, kind) in [(GLOBAL, "user"), (org.as_str(), "client")] {
        let Some(record) = context.get(scope, kind, name)? else { continue };
        let is_member = kind == "client" || context.has_own("member", name)?;
        for (key, value) in context.keys(scope, kind, name)? {
            if context.version == 0 && key != DEFAULT {
                continue;
            }
            found.push(json!({
                "name": name,
                "public_key": value["public_key"],
                "type": kind,
                "authz_id": text(&record, "authz_id"),
                "org_member": is_member,
            }));
        }
    }
    if found.is_empty() {
        let body =
            json!({"not_found": "principal", "error": format!("Cannot find principal {name}")});
        return Ok(Reply::json(404, &body));
    }
    if context.version > 0 {
        return Ok(Reply::ok(&json!({"principals": found})));
    }
    // A member of the organization comes first, then its clients, then everybody.
    let rank = |one: &Value| match (one["type"] == "user", one["org_member"] == true) {
        (true, true) => 0,
        (false, _) => 1,
        (true, false) => 2,
    };
    found.sort_by_key(rank);
    Ok(Reply::ok(&found[0]))
}
