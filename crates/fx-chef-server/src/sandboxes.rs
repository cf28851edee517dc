//! Sandboxes: which files of an upload are wanted, and that all have come.

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, fail};
use crate::files;
use crate::message::Reply;
use crate::validation::{invalid, missing};

pub(crate) fn create(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let body = context.body()?;
    let wanted = match body.get("checksums") {
        None => return missing("checksums"),
        Some(Value::Object(wanted)) if wanted.is_empty() => {
            return fail(400, "Bad checksums!");
        }
        Some(Value::Object(wanted)) => wanted.clone(),
        Some(_) => return invalid("checksums"),
    };
    if wanted.iter().any(|(sum, value)| !files::is_checksum(sum) || !value.is_null()) {
        return fail(400, "Bad checksums!");
    }
    context.need_create("sandboxes")?;
    let id = context.server.random_hex(16);
    let mut rows = Map::new();
    for checksum in wanted.keys() {
        let row = if files::is_there(context, checksum)? {
            json!({"needs_upload": false})
        } else {
            json!({"needs_upload": true, "url": files::url(context, "PUT", checksum)})
        };
        rows.insert(checksum.clone(), row);
    }
    let checksums: Vec<&String> = wanted.keys().collect();
    let made = context.server.now();
    context.put_own("sandbox", &id, &json!({"checksums": checksums, "made": made}))?;
    let uri = context.url_of("sandboxes", &id);
    Ok(Reply::created(&uri, &json!({"uri": uri, "sandbox_id": id, "checksums": rows})))
}

pub(crate) fn commit(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let id = &parts[0];
    match context.body()?.get("is_completed") {
        Some(Value::Bool(true)) => {}
        None => return missing("is_completed"),
        Some(_) => return invalid("is_completed"),
    }
    let Some(sandbox) = context.own("sandbox", id)? else {
        return fail(404, format!("No such sandbox '{id}'."));
    };
    context.need_create("sandboxes")?;
    let checksums: Vec<String> = sandbox["checksums"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one.as_str().map(str::to_owned))
        .collect();
    let mut lacking = Vec::new();
    for checksum in &checksums {
        if !files::is_there(context, checksum)? {
            lacking.push(checksum.clone());
        }
    }
    if !lacking.is_empty() {
        return fail(
            503,
            format!(
                "Cannot update sandbox {id}: the following checksums have not been uploaded: {}",
                lacking.join(", ")
            ),
        );
    }
    context.remove_own("sandbox", id)?;
    let time = jiff::Timestamp::from_second(sandbox["made"].as_i64().unwrap_or(0));
    let time = time.map(|time| time.strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string());
    Ok(Reply::ok(&json!({
        "guid": id,
        "name": id,
        "checksums": checksums,
        "create_time": time.unwrap_or_default(),
        "is_completed": true,
    })))
}
