//! `puppet catalog download`: the catalog of this node from its server, with the facts that the
//! server has of it, kept as YAML in the form of the original.

use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::{Cancel, Level};
use fx_formats::yaml::emit::Node;
use fx_formats::yaml::psych;
use fx_host::{OsHost, WriteOptions};
use fx_puppet::Machine;
use fx_remote::puppet::complaint;
use serde_json::Value;

use super::super::agent::identity::{Files, NoIdentity};
use super::super::agent::log::Log;
use super::super::agent::{headers, servers, unanswered_text};
use super::super::apply;
use super::super::flags::Flags;
use super::super::settings::Settings;

/// Runs the action; its exit code.
pub(super) fn run(flags: &Flags) -> u8 {
    let host = Rc::new(OsHost::new());
    let mut settings = Settings::read(&host, flags, "user");
    let machine = Machine::new(host, Cancel::default());
    let name = settings.certname(&machine);
    let console = apply::console(flags, &settings);
    machine.run().ledger.watch(console.clone());
    let log = Log::new(machine.run());
    let done = download(&settings, &log, &name);
    match &done {
        Ok(path) => {
            let text = format!("Saved catalog for {name} to {}", path.display());
            log.say(Level::Notice, &text);
        }
        Err(why) => log.say(Level::Error, why),
    }
    console.flush();
    u8::from(done.is_err())
}

fn download(settings: &Settings, log: &Log<'_>, name: &str) -> Result<PathBuf, String> {
    let headers = headers();
    let files = Files { settings, log, name, headers: &headers };
    let ready = files.bootstrap().map_err(|why| match why {
        NoIdentity::Unsigned => format!("The certificate for '{name}' has not yet been signed"),
        NoIdentity::Failed(why) => why,
    })?;
    let (server, _) = servers::find(settings, log, &ready, &headers)?;
    let environment = settings.get("environment");
    let answer = server
        .catalog_with_known_facts(name, &environment)
        .map_err(|error| unanswered_text(&error))?;
    if !answer.is_success() {
        return Err(complaint(&answer));
    }
    let mut catalog: Value = serde_json::from_slice(&answer.body)
        .map_err(|error| format!("Could not intern from rich_data_json: {error}"))?;
    let classes: String = catalog["classes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|name| format!("{name}\n"))
        .collect();
    as_it_is_kept(&mut catalog);
    let text = document(&catalog);
    let path = files.path("clientyamldir").join("catalog").join(format!("{name}.yaml"));
    let write = |path: &PathBuf, text: &str, mode: u32| {
        let options = WriteOptions { mode: Some(mode), ..WriteOptions::default() };
        let written = log.run.own_state(|act| {
            fx_resources::directory::make_parents(act, path, 0o750)?;
            act.write(path, text.as_bytes(), &options)?;
            act.commit()?;
            Ok::<(), fx_engine::Failure>(())
        });
        written.map_err(|failure| failure.to_string())
    };
    write(&files.path("classfile"), &classes, 0o640)?;
    write(&path, &text, 0o660)?;
    Ok(path)
}

/// What the original makes of a catalog that it received: the outermost class has a capital
/// letter, and a title is not said twice.
fn as_it_is_kept(catalog: &mut Value) {
    for resource in catalog["resources"].as_array_mut().into_iter().flatten() {
        let Some(members) = resource.as_object_mut() else { continue };
        let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
        match (text("type"), text("title")) {
            ("Class", "main") => {
                members.insert("title".into(), "Main".into());
            }
            ("Stage", title) => {
                let title = Value::from(title);
                if let Some(Value::Object(parameters)) = members.get_mut("parameters") {
                    parameters.retain(|name, value| name != "name" || *value != title);
                    if parameters.is_empty() {
                        members.shift_remove("parameters");
                    }
                }
            }
            _ => {}
        }
    }
    for edge in catalog["edges"].as_array_mut().into_iter().flatten() {
        for end in ["source", "target"] {
            if edge[end] == "Class[main]" {
                edge[end] = "Class[Main]".into();
            }
        }
    }
}

/// A catalog as YAML with the tag of the original's class.
fn document(catalog: &Value) -> String {
    let mut node = psych::data(catalog);
    if let Node::Map(head, _) = &mut node {
        head.tag = Some("!ruby/object:Puppet::Resource::Catalog".into());
    }
    psych::written(&node)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_catalog_is_kept_in_the_form_of_the_original() {
        let mut catalog = json!({
            "tags": ["settings"], "name": "n1", "version": 7, "code_id": null,
            "resources": [
                {"type": "Stage", "title": "main", "tags": ["stage"], "exported": false,
                    "parameters": {"name": "main"}},
                {"type": "Class", "title": "main", "tags": ["class"], "exported": false,
                    "parameters": {"name": "main"}},
                {"type": "Notify", "title": "n", "tags": ["n"], "line": 1, "exported": false,
                    "parameters": {"message": "a\nb", "mode": "0600"}},
            ],
            "edges": [{"source": "Stage[main]", "target": "Class[main]"}],
            "classes": ["settings"],
        });
        as_it_is_kept(&mut catalog);
        // Recorded from the original's dump of such a catalog.
        let expected = "--- !ruby/object:Puppet::Resource::Catalog
tags:
- settings
name: n1
version: 7
code_id:
resources:
- type: Stage
  title: main
  tags:
  - stage
  exported: false
- type: Class
  title: Main
  tags:
  - class
  exported: false
  parameters:
    name: main
- type: Notify
  title: \"n\"
  tags:
  - \"n\"
  line: 1
  exported: false
  parameters:
    message: |-
      a
      b
    mode: '0600'
edges:
- source: Stage[main]
  target: Class[Main]
classes:
- settings
";
        assert_eq!(document(&catalog), expected);
    }
}
