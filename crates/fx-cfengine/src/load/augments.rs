//! Augments: `def.json` and others next to the entry policy, and host-specific data.

use std::rc::Rc;

use crate::eval::classes::ClassScope;
use crate::eval::value::{DataType, Value, Variable};
use crate::eval::vars::Ref;
use crate::eval::{Context, log};
use crate::json::{Json, Object};
use crate::policy::scope_key;
use crate::regex;
use crate::text::{Str, decode, path};

use super::host_data;

/// Deepest chain of augments that name each other.
const MAX_DEPTH: usize = 20;

/// Tag of everything that came from augments.
const TAG: &str = "source=augments_file";

impl Context<'_> {
    /// Loads host-specific data, then augments.
    pub(crate) fn load_augments(&mut self) {
        self.load_host_data();
        let dir = self.config.paths.entry_dir.clone();
        let preferred = format!("{dir}/def_preferred.json");
        let there = self.host().stat(&path(&preferred)).is_ok_and(|meta| meta.is_file());
        let file = if !self.config.ignore_preferred_augments && there {
            preferred
        } else {
            format!("{dir}/def.json")
        };
        log!(
            self,
            Verbose,
            "Loading JSON augments from '{file}' (input dir '{dir}', input file '{}'",
            self.config.paths.entry
        );
        self.load_augments_file(&file, 0);
    }

    fn load_augments_file(&mut self, file: &str, depth: usize) -> bool {
        let file = self.expand_text(file, None, Some("this"));
        if depth > MAX_DEPTH || file.contains("/.json") {
            return false;
        }
        let Ok(bytes) = self.host().read_trusted_data(&path(&file)) else {
            log!(self, Verbose, "could not load JSON augments from '{file}'");
            return false;
        };
        let json = match Json::try_parse(&decode(&bytes), None) {
            Ok(json) => json,
            Err(wrong) => {
                self.error(&format!("Could not parse JSON file {file}: {}", wrong.why));
                return false;
            }
        };
        let Json::Object(map) = &json else {
            self.error(&format!(
                "Invalid augments file contents in '{file}', must be a JSON object"
            ));
            return false;
        };
        log!(self, Verbose, "Loaded augments file '{file}', installing contents");
        for key in map.keys() {
            if !matches!(&**key, "vars" | "classes" | "inputs" | "augments") {
                log!(self, Verbose, "Unknown augments key '{key}' in file '{file}', skipping it");
            }
        }
        for key in ["vars", "variables"] {
            match map.get(key) {
                None | Some(Json::Null) => {}
                Some(Json::Object(vars)) => {
                    // All of it is expanded before any of it is defined.
                    let expanded: Vec<(&Str, Json)> =
                        vars.iter().map(|(name, value)| (name, self.expand_json(value))).collect();
                    for (name, value) in expanded {
                        self.put_augment(name, &value, key == "variables", &file);
                    }
                }
                Some(_) => self
                    .error(&format!("Invalid augments {key} in '{file}', must be a JSON object")),
            }
        }
        match map.get("classes") {
            None | Some(Json::Null) => {}
            Some(Json::Object(classes)) => {
                let classes = classes.clone();
                self.put_augment_classes(&classes, &file);
            }
            Some(_) => {
                self.error(&format!("Invalid augments classes in '{file}', must be a JSON object"))
            }
        }
        if map.get("inputs").is_some_and(|inputs| !is_list(inputs)) {
            self.error(&format!(
                "Trying to augment inputs in '{file}' but the value was not a list of strings"
            ));
        } else if let Some(Json::Array(inputs)) = map.get("inputs") {
            let items: Vec<Str> = inputs
                .iter()
                .filter_map(Json::primitive)
                .map(|text| self.expand(&text, None, Some("this")))
                .collect();
            let tags: Rc<[Str]> = Rc::from([TAG.into()]);
            log!(self, Verbose, "Installing augments def.augments_inputs from file '{file}'");
            self.vars.put(
                "def",
                "augments_inputs",
                DataType::StringList,
                Value::List(items.into()),
                &tags,
            );
        }
        if map.get("augments").is_some_and(|more| !is_list(more)) {
            self.error(&format!(
                "Trying to augment inputs in '{file}' but the value was not a list of strings"
            ));
        } else if let Some(Json::Array(more)) = map.get("augments") {
            for name in more.iter().filter_map(Json::primitive) {
                if self.load_augments_file(&name, depth + 1) {
                    log!(self, Verbose, "Completed augmenting from file '{name}'");
                } else {
                    self.error(&format!(
                        "Could not load requested further augments from file '{name}'"
                    ));
                }
            }
        }
        true
    }

    fn put_augment(&mut self, name: &str, info: &Json, described: bool, file: &str) {
        let reference = Ref::parse(name);
        if reference.namespace.is_some() && reference.scope.is_none() {
            self.error(&format!(
                "Invalid variable specification in augments data in '{file}': '{name}' (bundle name has to be specified if namespace is specified)"
            ));
            return;
        }
        let mut tags: Vec<Str> = Vec::new();
        let mut comment = None;
        let value = match info {
            Json::Object(map) if described => {
                let Some(value) = map.get("value") else {
                    self.error(&format!(
                        "Missing value for the augments variable '{name}' in '{file}' (value field is required)"
                    ));
                    return;
                };
                tags = self.augment_tags(map, "variable", name, file);
                comment = map.get("comment").and_then(Json::primitive);
                value
            }
            other => other,
        };
        let (kind, value) = match value.clone() {
            Json::Array(items) if items.iter().all(|item| !item.is_container()) => (
                DataType::StringList,
                Value::List(items.iter().filter_map(Json::primitive).collect()),
            ),
            container @ (Json::Array(_) | Json::Object(_)) => {
                (DataType::Data, Value::Data(Rc::new(container)))
            }
            primitive => {
                (DataType::String, Value::Scalar(primitive.primitive().unwrap_or_default()))
            }
        };
        let key = match (reference.namespace, reference.scope) {
            (namespace, Some(scope)) => scope_key(namespace.unwrap_or("default"), scope),
            _ => scope_key("default", "def"),
        };
        // Host-specific data comes first and is not overwritten by augments.
        if let Some(crate::eval::vars::Found::Variable(old)) = self.vars.get(&key, reference.name)
            && old.tags.iter().any(|tag| &**tag == host_data::TAG)
        {
            log!(
                self,
                Verbose,
                "Cannot set variable {}:{}.{} from augments, already defined from host-specific data",
                reference.namespace.unwrap_or("default"),
                reference.scope.unwrap_or("def"),
                reference.name
            );
            return;
        }
        let shown = match &value {
            Value::Scalar(text) => format!("variable '{name}={text}'"),
            Value::List(_) => format!("slist variable '{name}'"),
            Value::Data(_) => format!("data container variable '{name}'"),
        };
        log!(self, Verbose, "Installing augments {shown} from file '{file}'");
        tags.push(TAG.into());
        let variable = Variable { kind, value, tags: tags.into(), comment };
        self.vars.assign(&key, reference.name.into(), variable);
    }

    fn augment_tags(&self, map: &Object, kind: &str, name: &str, file: &str) -> Vec<Str> {
        match map.get("tags") {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::Array(tags)) if tags.iter().all(|tag| !tag.is_container()) => {
                tags.iter().filter_map(Json::primitive).collect()
            }
            Some(_) => {
                self.error(&format!(
                    "Invalid tags information for {kind} '{name}' in augments file '{file}': must be a JSON array of strings"
                ));
                Vec::new()
            }
        }
    }

    fn expand_json(&self, json: &Json) -> Json {
        match json {
            Json::Str(text) => Json::Str(self.expand(text, None, Some("this"))),
            Json::Array(items) => {
                Json::Array(items.iter().map(|item| self.expand_json(item)).collect())
            }
            Json::Object(map) => {
                let mut out = Object::new();
                for (key, value) in map {
                    crate::json::put(
                        &mut out,
                        self.expand(key, None, Some("this")),
                        self.expand_json(value),
                    );
                }
                Json::Object(out)
            }
            other => other.clone(),
        }
    }

    fn put_augment_classes(&mut self, classes: &Object, file: &str) {
        for (name, info) in classes {
            let info = self.expand_json(info);
            let mut tags: Vec<Str> = Vec::new();
            let mut comment = None;
            let texts = |json: &Json| -> Vec<Str> {
                match json {
                    Json::Array(items) => items.iter().filter_map(Json::primitive).collect(),
                    Json::Object(_) => Vec::new(),
                    primitive => primitive.primitive().into_iter().collect(),
                }
            };
            let first =
                |list: &Json| texts(list).into_iter().find(|text| self.augment_class_holds(text));
            let entry = if info.is_container() { "checked array entry" } else { "checked" };
            let holds = match &info {
                Json::Object(map) => {
                    let given = |name: &str| map.get(name).filter(|it| !matches!(it, Json::Null));
                    let list = match (given("class_expressions"), given("regular_expressions")) {
                        (Some(list), None) | (None, Some(list)) => list,
                        _ => {
                            self.error(&format!(
                                "Invalid augments class data for class '{name}' in '{file}': either \"class_expressions\" or \"regular_expressions\" need to be specified"
                            ));
                            continue;
                        }
                    };
                    tags = self.augment_tags(map, "class", name, file);
                    comment = map.get("comment").and_then(Json::primitive);
                    first(list)
                }
                Json::Array(items) if items.iter().any(Json::is_container) => {
                    self.error(&format!(
                        "Invalid augments class data for class '{name}' in '{file}'"
                    ));
                    continue;
                }
                other => first(other),
            };
            let Some(text) = holds else { continue };
            log!(
                self,
                Verbose,
                "Installing augments class '{name}' ({entry} '{text}') from file '{file}'"
            );
            if self.is_host_class(name) {
                let (namespace, class) = name.split_once(':').unwrap_or(("default", name));
                log!(
                    self,
                    Verbose,
                    "Cannot set class {namespace}:{class} from augments, already defined from host-specific data"
                );
                continue;
            }
            tags.push(TAG.into());
            self.put_class(name, ClassScope::Namespace, tags.into(), comment);
        }
    }

    fn is_host_class(&self, name: &str) -> bool {
        self.soft
            .get(name)
            .is_some_and(|class| class.tags.iter().any(|tag| &**tag == host_data::TAG))
    }

    // What ends in two colons is an expression, anything else a pattern, whatever it is
    // listed under.
    fn augment_class_holds(&self, text: &str) -> bool {
        match text.strip_suffix("::") {
            Some("") => {
                self.error(&format!("Invalid class expression in augments: '{text}'"));
                false
            }
            Some(expression) => self.defined(expression),
            None => self.hard.keys().chain(self.soft.keys()).any(|name| regex::full(text, name)),
        }
    }
}

fn is_list(json: &Json) -> bool {
    matches!(json, Json::Null)
        || matches!(json, Json::Array(items) if items.iter().all(|item| !item.is_container()))
}
