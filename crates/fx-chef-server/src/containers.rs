//! Containers: the rights that new objects begin with.

use serde_json::{Value, json};

use crate::context::{Answer, Context, fail};
use crate::message::Reply;
use crate::names;
use crate::rights::{PERMISSIONS, Rights, grant};
use crate::validation::{invalid, missing};

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need("read", "containers", "containers")?;
    context.listed("container", "containers")
}

pub(crate) fn create(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let body = context.body()?;
    let name = match body.get("id").or_else(|| body.get("containername")) {
        None => return missing("containername"),
        Some(Value::String(name)) if names::is_plain(name) => name.clone(),
        Some(_) => return invalid("containername"),
    };
    context.need_create("containers")?;
    if context.has_own("container", &name)? {
        return fail(409, "Container already exists");
    }
    context.put_own("container", &name, &json!({"containerpath": name}))?;
    // Nobody but its maker has a right on it, until he grants one.
    let mut rights = Rights::new();
    let maker = context.actor.id.clone();
    for permission in PERMISSIONS {
        grant(&mut rights, permission, "actors", &maker);
    }
    context.put_rights("containers", &name, rights)?;
    let uri = context.url_of("containers", &name);
    Ok(Reply::created(&uri, &json!({"uri": uri})))
}

fn found(context: &mut Context<'_, '_>, name: &str) -> Answer<Value> {
    match context.own("container", name)? {
        Some(_) => Ok(json!({"containername": name, "containerpath": name})),
        None => fail(404, format!("Cannot load container {name}")),
    }
}

pub(crate) fn show(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let container = found(context, &parts[0])?;
    context.need("read", "containers", &parts[0])?;
    Ok(Reply::ok(&container))
}

pub(crate) fn delete(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let container = found(context, &parts[0])?;
    context.need("delete", "containers", &parts[0])?;
    context.remove_own("container", &parts[0])?;
    context.drop_rights("containers", &parts[0])?;
    Ok(Reply::ok(&container))
}
