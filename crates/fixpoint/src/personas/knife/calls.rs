//! The table of calls, and those that are about documents: nodes, roles, environments, data bags,
//! clients, tags and searches.

use std::path::{Path, PathBuf};

use fx_chef::Described;
use serde_json::{Map, Value as J, json};

use super::http::{CLIENTS, Wrong, path, said};
use super::{Flag, Knife, cookbooks, ssl, text};
use crate::chef_repo::Reader;

type Done = Result<(), Wrong>;

/// One call.
pub(super) struct Call {
    pub(super) words: &'static [&'static str],
    /// How many more words it needs.
    pub(super) least: usize,
    pub(super) usage: &'static str,
    pub(super) flags: &'static [Flag],
    pub(super) run: fn(&Knife, &[String]) -> Done,
}

const SHOWN: &[Flag] = &[
    ('a', "attribute", true),
    ('r', "run-list", false),
    ('E', "environment", false),
    ('i', "id-only", false),
    ('m', "medium", false),
    ('l', "long", false),
];
const SEARCHED: &[Flag] = &[
    ('a', "attribute", true),
    ('r', "run-list", false),
    ('i', "id-only", false),
    ('b', "start", true),
    ('R', "rows", true),
    ('q', "query", true),
    ('m', "medium", false),
    ('l', "long", false),
];
const MADE: &[Flag] = &[('\0', "description", true)];
const UPLOADED: &[Flag] = &[
    ('a', "all", false),
    ('o', "cookbook-path", true),
    ('\0', "freeze", false),
    ('\0', "force", false),
    ('d', "include-dependencies", false),
];
const ALL: &[Flag] = &[('a', "all", false), ('p', "purge", false)];
const NEW_CLIENT: &[Flag] =
    &[('f', "file", true), ('\0', "validator", false), ('p', "public-key", true)];

const fn call(
    words: &'static [&'static str],
    least: usize,
    usage: &'static str,
    flags: &'static [Flag],
    run: fn(&Knife, &[String]) -> Done,
) -> Call {
    Call { words, least, usage, flags, run }
}

#[rustfmt::skip]
pub(super) const CALLS: &[Call] = &[
    call(&["client", "list"], 0, "client list", &[], |knife, _| list(knife, "clients")),
    call(&["client", "show"], 1, "client show CLIENT", SHOWN, show_client),
    call(&["client", "create"], 1, "client create CLIENTNAME", NEW_CLIENT, create_client),
    call(&["client", "delete"], 1, "client delete [CLIENT [CLIENT]]", &[], |knife, names| delete(knife, "clients", "client", names)),
    call(&["client", "reregister"], 1, "client reregister CLIENT", NEW_CLIENT, reregister),
    call(&["cookbook", "list"], 0, "cookbook list", ALL, cookbooks::list),
    call(&["cookbook", "show"], 1, "cookbook show COOKBOOK [VERSION] [PART] [FILENAME]", &[], cookbooks::show),
    call(&["cookbook", "upload"], 0, "cookbook upload [COOKBOOKS...]", UPLOADED, cookbooks::upload),
    call(&["cookbook", "delete"], 1, "cookbook delete COOKBOOK VERSION", ALL, cookbooks::delete),
    call(&["data", "bag", "list"], 0, "data bag list", &[], |knife, _| list(knife, "data")),
    call(&["data", "bag", "show"], 1, "data bag show BAG [ITEM]", &[], show_bag),
    call(&["data", "bag", "create"], 1, "data bag create BAG [ITEM]", &[], create_bag),
    call(&["data", "bag", "from", "file"], 2, "data bag from file BAG FILE|FOLDER [FILE|FOLDER..]", &[], bag_from_file),
    call(&["data", "bag", "delete"], 1, "data bag delete BAG [ITEM]", &[], delete_bag),
    call(&["environment", "list"], 0, "environment list", &[], |knife, _| list(knife, "environments")),
    call(&["environment", "show"], 1, "environment show ENVIRONMENT", &[], |knife, names| show(knife, "environments", &names[0])),
    call(&["environment", "create"], 1, "environment create ENVIRONMENT", MADE, create_environment),
    call(&["environment", "from", "file"], 1, "environment from file FILE [FILE..]", &[], |knife, files| from_files(knife, "environments", "Environment", Described::Environment, files)),
    call(&["environment", "delete"], 1, "environment delete ENVIRONMENT", &[], delete_environment),
    call(&["node", "list"], 0, "node list", &[], |knife, _| list(knife, "nodes")),
    call(&["node", "show"], 1, "node show NODE", SHOWN, show_node),
    call(&["node", "create"], 1, "node create NODE", &[], create_node),
    call(&["node", "delete"], 1, "node delete [NODE [NODE]]", &[], |knife, names| delete(knife, "nodes", "node", names)),
    call(&["node", "from", "file"], 1, "node from file FILE", &[], node_from_file),
    call(&["node", "environment", "set"], 2, "node environment set NODE ENVIRONMENT", &[], set_environment),
    call(&["node", "run_list", "add"], 2, "node run_list add [NODE] [ENTRY [ENTRY]]", &[], |knife, words| run_list(knife, words, Edit::Add)),
    call(&["node", "run_list", "remove"], 2, "node run_list remove [NODE] [ENTRY [ENTRY]]", &[], |knife, words| run_list(knife, words, Edit::Remove)),
    call(&["node", "run_list", "set"], 2, "node run_list set NODE ENTRIES", &[], |knife, words| run_list(knife, words, Edit::Set)),
    call(&["role", "list"], 0, "role list", &[], |knife, _| list(knife, "roles")),
    call(&["role", "show"], 1, "role show ROLE", &[], |knife, names| show(knife, "roles", &names[0])),
    call(&["role", "create"], 1, "role create ROLE", MADE, create_role),
    call(&["role", "from", "file"], 1, "role from file FILE [FILE..]", &[], |knife, files| from_files(knife, "roles", "Role", Described::Role, files)),
    call(&["role", "delete"], 1, "role delete ROLE", &[], |knife, names| delete(knife, "roles", "role", names)),
    call(&["search"], 1, "search INDEX QUERY", SEARCHED, search),
    call(&["ssl", "check"], 0, "ssl check [URL]", &[], ssl::check),
    call(&["tag", "list"], 1, "tag list NODE", &[], |knife, words| tags(knife, words, None)),
    call(&["tag", "create"], 2, "tag create NODE TAG ...", &[], |knife, words| tags(knife, words, Some(true))),
    call(&["tag", "delete"], 2, "tag delete NODE TAG ...", &[], |knife, words| tags(knife, words, Some(false))),
];

fn list(knife: &Knife, collection: &str) -> Done {
    let all = knife.get(&[collection])?;
    if knife.has("with-uri") {
        knife.output(&all);
        return Ok(());
    }
    let mut names: Vec<&String> = all.as_object().into_iter().flat_map(Map::keys).collect();
    names.sort_unstable();
    knife.output(&json!(names));
    Ok(())
}

fn show(knife: &Knife, collection: &str, name: &str) -> Done {
    let document = knife.get(&[collection, name])?;
    knife.output(&document);
    Ok(())
}

fn delete(knife: &Knife, collection: &str, kind: &str, names: &[String]) -> Done {
    for name in names {
        knife.get(&[collection, name])?;
        knife.confirmed(&format!("Do you really want to delete {name}"))?;
        knife.ask("DELETE", &path(&[collection, name]), None)?;
        Knife::say(&format!("Deleted {kind}[{name}]"));
    }
    Ok(())
}

/// A value by its path, levels of a node merged.
fn attribute(node: &J, spec: &str) -> J {
    let keys: Vec<&str> = spec.split('.').collect();
    let within = |level: &J| keys.iter().try_fold(level, |at, key| at.get(key)).cloned();
    let levels = ["automatic", "override", "normal", "default"];
    let found = levels.iter().find_map(|level| within(&node[*level]));
    found.or_else(|| within(node)).unwrap_or(J::Null)
}

fn subset(knife: &Knife, node: &J) -> Option<J> {
    let attributes = knife.all("attribute");
    let part = if !attributes.is_empty() {
        let values = attributes.iter().map(|spec| ((*spec).to_owned(), attribute(node, spec)));
        J::Object(values.collect())
    } else if knife.has("run-list") {
        json!({"run_list": node["run_list"]})
    } else {
        return None;
    };
    Some(json!({text::plain(&node["name"]): part}))
}

fn print_node(knife: &Knife, node: &J) {
    if let Some(part) = subset(knife, node) {
        knife.output(&part);
    } else if knife.wants_json() {
        let mut shown = Map::new();
        for key in ["name", "chef_environment", "run_list", "normal"] {
            shown.insert(key.to_owned(), node[key].clone());
        }
        if knife.has("long") {
            for key in ["default", "override", "automatic"] {
                shown.insert(key.to_owned(), node[key].clone());
            }
        }
        crate::terminal::print(&text::json(&J::Object(shown)));
    } else {
        crate::terminal::print(&text::node(node));
    }
}

fn show_node(knife: &Knife, names: &[String]) -> Done {
    let node = knife.get(&["nodes", &names[0]])?;
    if knife.has("environment") {
        knife.output(&json!({"chef_environment": node["chef_environment"]}));
        return Ok(());
    }
    print_node(knife, &node);
    Ok(())
}

fn create_node(knife: &Knife, names: &[String]) -> Done {
    let node = json!({"name": names[0], "chef_environment": "_default", "json_class": "Chef::Node",
        "automatic": {}, "normal": {}, "chef_type": "node", "default": {}, "override": {}, "run_list": []});
    knife.ask("POST", "nodes", Some(&node))?;
    Knife::say(&format!("Created node[{}]", names[0]));
    Ok(())
}

fn node_from_file(knife: &Knife, files: &[String]) -> Done {
    for file in files {
        let node = Reader::new().json(Path::new(file))?;
        let name = text::plain(&node["name"]);
        knife.put(&["nodes"], &name, &node)?;
        Knife::tell(&format!("Updated Node {name}"));
    }
    Ok(())
}

fn set_environment(knife: &Knife, words: &[String]) -> Done {
    let mut node = knife.get(&["nodes", &words[0]])?;
    node["chef_environment"] = words[1].as_str().into();
    knife.ask("PUT", &path(&["nodes", &words[0]]), Some(&node))?;
    knife.output(&json!({"chef_environment": words[1]}));
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    Add,
    Remove,
    Set,
}

/// An entry in its full form.
fn entry(text: &str) -> String {
    let text = text.trim();
    let full = text.starts_with("recipe[") || text.starts_with("role[");
    if full { text.to_owned() } else { format!("recipe[{text}]") }
}

fn run_list(knife: &Knife, words: &[String], edit: Edit) -> Done {
    let mut node = knife.get(&["nodes", &words[0]])?;
    let given =
        words[1..].iter().flat_map(|word| word.split(',')).filter(|one| !one.trim().is_empty());
    let given: Vec<String> = given.map(entry).collect();
    let old = node["run_list"].as_array().cloned().unwrap_or_default();
    let mut list: Vec<String> = old.iter().map(text::plain).collect();
    match edit {
        Edit::Set => list.clear(),
        Edit::Remove => list.retain(|one| !given.contains(one)),
        Edit::Add => {}
    }
    if edit != Edit::Remove {
        for one in given {
            if !list.contains(&one) {
                list.push(one);
            }
        }
    }
    node["run_list"] = json!(list);
    knife.ask("PUT", &path(&["nodes", &words[0]]), Some(&node))?;
    knife.output(&json!({&words[0]: {"run_list": list}}));
    Ok(())
}

fn create_role(knife: &Knife, names: &[String]) -> Done {
    let role = json!({"name": names[0], "description": knife.flag("description").unwrap_or(""),
        "json_class": "Chef::Role", "chef_type": "role", "default_attributes": {},
        "override_attributes": {}, "run_list": [], "env_run_lists": {}});
    knife.ask("POST", "roles", Some(&role))?;
    Knife::say(&format!("Created role[{}]", names[0]));
    Ok(())
}

fn create_environment(knife: &Knife, names: &[String]) -> Done {
    let environment = json!({"name": names[0], "description": knife.flag("description").unwrap_or(""),
        "json_class": "Chef::Environment", "chef_type": "environment", "cookbook_versions": {},
        "default_attributes": {}, "override_attributes": {}});
    knife.ask("POST", "environments", Some(&environment))?;
    Knife::say(&format!("Created {}", names[0]));
    Ok(())
}

fn delete_environment(knife: &Knife, names: &[String]) -> Done {
    knife.confirmed(&format!("Do you really want to delete {}", names[0]))?;
    knife.ask("DELETE", &path(&["environments", &names[0]]), None)?;
    Knife::say(&format!("Deleted {}", names[0]));
    Ok(())
}

fn from_files(
    knife: &Knife,
    collection: &str,
    title: &str,
    kind: Described,
    files: &[String],
) -> Done {
    let reader = Reader::new();
    for file in files {
        let file = PathBuf::from(file);
        let document = if file.extension().is_some_and(|ending| ending == "rb") {
            Reader::described(&[(kind, file.clone())]).remove(0)?
        } else {
            reader.json(&file)?
        };
        let name = text::plain(&document["name"]);
        knife.put(&[collection], &name, &document)?;
        Knife::tell(&format!("Updated {title} {name}"));
    }
    Ok(())
}

fn show_bag(knife: &Knife, words: &[String]) -> Done {
    if words.len() == 1 {
        let items = knife.get(&["data", &words[0]])?;
        let mut ids: Vec<&String> = items.as_object().into_iter().flat_map(Map::keys).collect();
        ids.sort_unstable();
        knife.output(&json!(ids));
        return Ok(());
    }
    let item = knife.get(&["data", &words[0], &words[1]])?;
    knife.output(&item);
    Ok(())
}

fn create_bag(knife: &Knife, words: &[String]) -> Done {
    let name = &words[0];
    match knife.get(&["data", name]) {
        Ok(_) => Knife::tell(&format!("Data bag {name} already exists")),
        Err(Wrong::Status(404, _)) => {
            knife.ask("POST", "data", Some(&json!({"name": name})))?;
            Knife::tell(&format!("Created data_bag[{name}]"));
        }
        Err(wrong) => return Err(wrong),
    }
    if let Some(id) = words.get(1) {
        knife.ask("POST", &path(&["data", name]), Some(&json!({"id": id})))?;
        Knife::tell(&format!("Created data_bag_item[{id}]"));
    }
    Ok(())
}

fn bag_from_file(knife: &Knife, words: &[String]) -> Done {
    let reader = Reader::new();
    for file in &words[1..] {
        let file = Path::new(file);
        let files: Vec<PathBuf> = match reader.names(file) {
            Ok(names) if !names.is_empty() => names
                .into_iter()
                .filter(|(name, is_dir)| {
                    !is_dir && Path::new(name).extension() == Some("json".as_ref())
                })
                .map(|(name, _)| file.join(name))
                .collect(),
            _ => vec![file.to_path_buf()],
        };
        for file in files {
            let item = reader.json(&file)?;
            let id = text::plain(&item["id"]);
            knife.put(&["data", &words[0]], &id, &item)?;
            Knife::tell(&format!("Updated data_bag_item[{}::{id}]", words[0]));
        }
    }
    Ok(())
}

fn delete_bag(knife: &Knife, words: &[String]) -> Done {
    let whole: Vec<&str> = ["data"].into_iter().chain(words.iter().map(String::as_str)).collect();
    let name = words.last().map_or("", String::as_str);
    knife.confirmed(&format!("Do you really want to delete {name}"))?;
    knife.ask("DELETE", &path(&whole), None)?;
    Knife::say(&match words {
        [bag, item, ..] => format!("Deleted data_bag_item[{bag}::{item}]"),
        _ => format!("Deleted data_bag[{name}]"),
    });
    Ok(())
}

fn show_client(knife: &Knife, names: &[String]) -> Done {
    let client = knife.ask_in(CLIENTS, "GET", &path(&["clients", &names[0]]), None)?;
    knife.output(&json!({"admin": false, "chef_type": "client", "name": client["name"],
        "validator": client["validator"] == true}));
    Ok(())
}

fn create_client(knife: &Knife, names: &[String]) -> Done {
    let mut client = json!({"name": names[0], "validator": knife.has("validator"), "admin": false});
    match knife.flag("public-key") {
        Some(file) => {
            let key = Reader::new().bytes(Path::new(file))?;
            client["public_key"] = String::from_utf8_lossy(&key).into_owned().into();
        }
        None => client["create_key"] = true.into(),
    }
    let made = knife.ask_in(CLIENTS, "POST", "clients", Some(&client))?;
    Knife::tell(&format!("Created client[{}]", names[0]));
    keep_key(knife, &made["chef_key"]["private_key"])
}

/// A new private key goes to the file that was asked for, or to the output, as it always did.
fn keep_key(knife: &Knife, key: &J) -> Done {
    let Some(key) = key.as_str() else { return Ok(()) };
    let Some(file) = knife.flag("file") else {
        Knife::say(key.trim_end());
        return Ok(());
    };
    use fx_host::Edits;
    let host = fx_host::OsHost::new();
    let options = fx_host::WriteOptions { mode: Some(0o600), ..fx_host::WriteOptions::default() };
    let written = host.write(Path::new(file), key.as_bytes(), &options);
    written.and_then(|()| host.commit()).map_err(|error| Wrong::Here(error.to_string()))
}

fn reregister(knife: &Knife, names: &[String]) -> Done {
    let at = path(&["clients", &names[0]]);
    knife.ask_in(CLIENTS, "GET", &at, None)?;
    let body = json!({"name": names[0], "private_key": true});
    let made = knife.ask_in(&[0], "PUT", &at, Some(&body))?;
    keep_key(knife, &made["private_key"])
}

fn tags(knife: &Knife, words: &[String], add: Option<bool>) -> Done {
    let mut node = knife.get(&["nodes", &words[0]])?;
    let old = node["normal"]["tags"].as_array().cloned().unwrap_or_default();
    let mut tags: Vec<String> = old.iter().map(text::plain).collect();
    let given = &words[1..];
    let Some(add) = add else {
        Knife::say(&tags.join("\n"));
        return Ok(());
    };
    tags.retain(|tag| !given.contains(tag));
    if add {
        tags.extend(given.iter().cloned());
    }
    node["normal"]["tags"] = json!(tags);
    knife.ask("PUT", &path(&["nodes", &words[0]]), Some(&node))?;
    let (done, list) = (if add { "Created" } else { "Deleted" }, given.join(", "));
    Knife::tell(&format!("{done} tags {list} for node {}.", words[0]));
    Ok(())
}

/// A node that nobody named by a field is looked for in these.
const FUZZY: [&str; 6] = ["tags", "roles", "fqdn", "addresses", "policy_name", "policy_group"];

fn search(knife: &Knife, words: &[String]) -> Done {
    let (index, query) = match (words, knife.flag("query")) {
        ([index, ..], Some(query)) => (index.as_str(), query.to_owned()),
        ([query], None) => ("node", query.clone()),
        ([index, query, ..], None) => (index.as_str(), query.clone()),
        ([], _) => return Err(Wrong::Here("No query specified".to_owned())),
    };
    let query = if index == "node" && !query.contains(':') {
        FUZZY.map(|field| format!("{field}:*{query}*")).join(" OR ")
    } else {
        query
    };
    let attributes = knife.all("attribute");
    let mut rows = Vec::new();
    let page: usize = knife.flag("rows").and_then(|rows| rows.parse().ok()).unwrap_or(1000);
    let mut start: usize = knife.flag("start").and_then(|start| start.parse().ok()).unwrap_or(0);
    loop {
        let q = fx_wire::puppet::percent_encoded(&query);
        let at = format!("{}?q={q}&start={start}&rows={page}", path(&["search", index]));
        let answer = if attributes.is_empty() {
            knife.ask("GET", &at, None)
        } else {
            let mut filter: Map<String, J> = attributes
                .iter()
                .map(|spec| ((*spec).to_owned(), json!(spec.split('.').collect::<Vec<_>>())))
                .collect();
            filter.insert("__display_name".into(), json!(["name"]));
            knife.ask("POST", &at, Some(&J::Object(filter)))
        };
        let answer = match answer {
            Err(Wrong::Status(400..=499, body)) => {
                Knife::tell(&format!("ERROR: knife search failed: {}", said(&body)));
                return Err(Wrong::Code(99));
            }
            answer => answer?,
        };
        rows.extend(answer["rows"].as_array().cloned().unwrap_or_default());
        start += page;
        if page == 0 || start >= answer["total"].as_u64().unwrap_or(0) as usize {
            break;
        }
    }
    print_rows(knife, index, &rows);
    if rows.is_empty() { Err(Wrong::Code(1)) } else { Ok(()) }
}

fn print_rows(knife: &Knife, index: &str, rows: &[J]) {
    let shown = |row: &J| -> J {
        if row["data"].is_object() && row["url"].is_string() {
            let mut data = row["data"].as_object().cloned().unwrap_or_default();
            let name = data.remove("__display_name").unwrap_or(J::Null);
            return json!({text::plain(&name): data});
        }
        match row["raw_data"].as_object() {
            Some(item) => {
                let mut item = item.clone();
                item.insert("chef_type".into(), "data_bag_item".into());
                item.insert("data_bag".into(), row["data_bag"].clone());
                J::Object(item)
            }
            None => row.clone(),
        }
    };
    if knife.wants_json() {
        let rows: Vec<J> = rows.iter().map(shown).collect();
        knife.output(&json!({"results": rows.len(), "rows": rows}));
        return;
    }
    Knife::tell(&format!("{} items found", rows.len()));
    Knife::tell("");
    for row in rows {
        if knife.has("id-only") {
            let name =
                [&row["name"], &row["raw_data"]["id"]].into_iter().find(|one| one.is_string());
            Knife::say(&name.map(text::plain).unwrap_or_default());
            continue;
        }
        if index == "node" && row["data"].is_null() {
            print_node(knife, row);
        } else {
            knife.output(&shown(row));
        }
        Knife::say("");
    }
}
