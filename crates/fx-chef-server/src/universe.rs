//! All cookbooks with what they depend on, for tools that solve on their own side.

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context};
use crate::manifest;
use crate::message::Reply;

pub(crate) fn show(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need("read", "containers", "cookbooks")?;
    let mut rows: Map<String, Value> = Map::new();
    for (name, version, record) in manifest::all(context)? {
        let url = format!("{}/{version}", context.url_of("cookbooks", &name));
        let dependencies =
            record["metadata"].get("dependencies").cloned().unwrap_or_else(|| json!({}));
        let row = json!({
            "location_path": url,
            "location_type": "chef_server",
            "dependencies": dependencies,
        });
        let entry = rows.entry(name).or_insert_with(|| json!({}));
        entry[version.to_string()] = row;
    }
    Ok(Reply::ok(&Value::Object(rows)))
}
