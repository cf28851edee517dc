//! Data bags and their items.

use serde_json::{Value, json};

use crate::context::{Answer, Context, fail, text};
use crate::message::Reply;
use crate::names;
use crate::validation::{Body, invalid, missing, named};

/// The kind of items in the store.
pub(crate) const ITEM: &str = "data_item";

pub(crate) fn key(bag: &str, item: &str) -> String {
    format!("{bag}/{item}")
}

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need("read", "containers", "data")?;
    context.listed("data_bag", "data")
}

pub(crate) fn create(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    // What else a body says of a bag is not looked at.
    let body = context.body()?;
    let name = named(&body, "name", names::is_wide)?.to_owned();
    context.need_create("data")?;
    if context.has_own("data_bag", &name)? {
        return fail(409, "Data bag already exists");
    }
    context.put_own("data_bag", &name, &json!({}))?;
    context.new_rights("data", &name)?;
    let uri = context.url_of("data", &name);
    Ok(Reply::created(&uri, &json!({"uri": uri})))
}

fn bag(context: &mut Context<'_, '_>, name: &str) -> Answer<()> {
    if context.has_own("data_bag", name)? {
        return Ok(());
    }
    fail(404, format!("Cannot load data bag {name}"))
}

/// Identifiers of the items of a bag.
pub(crate) fn item_names(context: &mut Context<'_, '_>, bag: &str) -> Answer<Vec<String>> {
    let prefix = key(bag, "");
    let names = context.own_names(ITEM)?;
    Ok(names.iter().filter_map(|name| name.strip_prefix(&prefix)).map(str::to_owned).collect())
}

pub(crate) fn items(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    bag(context, &parts[0])?;
    context.need("read", "data", &parts[0])?;
    let collection = format!("data/{}", crate::context::encoded(&parts[0]));
    let names = item_names(context, &parts[0])?;
    let rows = names.into_iter().map(|name| {
        let url = context.url_of(&collection, &name);
        (name, Value::String(url))
    });
    Ok(Reply::ok(&Value::Object(rows.collect())))
}

pub(crate) fn delete(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let name = &parts[0];
    bag(context, name)?;
    context.need("delete", "data", name)?;
    for item in item_names(context, name)? {
        context.remove_own(ITEM, &key(name, &item))?;
    }
    context.remove_own("data_bag", name)?;
    context.drop_rights("data", name)?;
    Ok(Reply::ok(&json!({"name": name, "json_class": "Chef::DataBag", "chef_type": "data_bag"})))
}

/// An item without the wrapping that clients may put around it.
fn unwrapped(body: Body) -> Answer<Body> {
    let is_wrapped = body.get("json_class").is_some_and(|class| class == "Chef::DataBagItem");
    match body.get("raw_data") {
        Some(Value::Object(raw)) if is_wrapped || body.contains_key("chef_type") => Ok(raw.clone()),
        None if is_wrapped && !body.contains_key("id") => missing("raw_data"),
        _ => Ok(body),
    }
}

fn identifier(item: &Body) -> Answer<String> {
    match item.get("id") {
        None => missing("id"),
        Some(Value::String(id)) if names::is_wide(id) => Ok(id.clone()),
        Some(_) => invalid("id"),
    }
}

/// The item as answers to changes show it.
fn answered(item: &Body, bag: &str) -> Value {
    let mut answer = item.clone();
    answer.insert("chef_type".into(), "data_bag_item".into());
    answer.insert("data_bag".into(), bag.into());
    Value::Object(answer)
}

/// The item as deletions and searches show it.
pub(crate) fn wrapped(bag: &str, item: &Value) -> Value {
    json!({
        "name": format!("data_bag_item_{bag}_{}", text(item, "id")),
        "json_class": "Chef::DataBagItem",
        "chef_type": "data_bag_item",
        "data_bag": bag,
        "raw_data": item,
    })
}

pub(crate) fn create_item(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let bag = &parts[0];
    let item = unwrapped(context.body()?)?;
    let id = identifier(&item)?;
    if !context.has_own("data_bag", bag)? {
        return fail(
            404,
            format!(
                "No data bag '{bag}' could be found. Please create this data bag before adding items to it."
            ),
        );
    }
    context.need("update", "data", bag)?;
    if context.has_own(ITEM, &key(bag, &id))? {
        return fail(409, format!("Data Bag Item '{id}' already exists in Data Bag '{bag}'."));
    }
    context.put_own(ITEM, &key(bag, &id), &Value::Object(item.clone()))?;
    let collection = format!("data/{}", crate::context::encoded(bag));
    let uri = context.url_of(&collection, &id);
    Ok(Reply::created(&uri, &answered(&item, bag)))
}

fn found(context: &mut Context<'_, '_>, parts: &[String]) -> Answer<Value> {
    let (bag, id) = (&parts[0], &parts[1]);
    match context.own(ITEM, &key(bag, id))? {
        Some(item) => Ok(item),
        None => fail(404, format!("Cannot load data bag item {id} for data bag {bag}")),
    }
}

pub(crate) fn item(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let item = found(context, parts)?;
    context.need("read", "data", &parts[0])?;
    Ok(Reply::ok(&item))
}

pub(crate) fn update_item(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let mut item = unwrapped(context.body()?)?;
    item.entry("id").or_insert_with(|| parts[1].as_str().into());
    let id = identifier(&item)?;
    if id != parts[1] {
        return fail(400, "DataBagItem name mismatch.");
    }
    found(context, parts)?;
    context.need("update", "data", &parts[0])?;
    context.put_own(ITEM, &key(&parts[0], &id), &Value::Object(item.clone()))?;
    Ok(Reply::ok(&answered(&item, &parts[0])))
}

pub(crate) fn delete_item(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let (bag, id) = (&parts[0], &parts[1]);
    let Some(item) = context.own(ITEM, &key(bag, id))? else {
        return fail(404, format!("Cannot load data bag {bag} item {id}"));
    };
    // An item is a part of its bag: who may change the bag may remove it.
    context.need("update", "data", &parts[0])?;
    context.remove_own(ITEM, &key(&parts[0], &parts[1]))?;
    Ok(Reply::ok(&wrapped(&parts[0], &item)))
}
