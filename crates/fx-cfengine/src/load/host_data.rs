//! Host-specific data: `data/host_specific.json` of the work directory, which comes before
//! augments and is not overridden by them. Nothing in it is expanded.

use std::rc::Rc;

use crate::eval::classes::ClassScope;
use crate::eval::value::{DataType, Value, Variable};
use crate::eval::vars::Ref;
use crate::eval::{Context, log};
use crate::json::{Json, Object};
use crate::policy::scope_key;
use crate::text::{Str, decode, has_variable, path};

/// Where it is put unless it says otherwise.
const NAMESPACE: &str = "data";

/// Tag of everything that came from it.
pub(super) const TAG: &str = "source=cmdb";

impl Context<'_> {
    /// Loads what is known about this host, if anything is.
    pub(super) fn load_host_data(&mut self) {
        let file = format!("{}/data/host_specific.json", self.config.paths.workdir);
        if self.host().stat(&path(&file)).is_err() {
            log!(self, Verbose, "No host-specific JSON data available at '{file}'");
            return;
        }
        let Ok(bytes) = self.host().read_trusted_data(&path(&file)) else {
            self.error(&format!("Cannot read host-spefic JSON data from '{file}'"));
            return;
        };
        let Some(json) = Json::parse(&decode(&bytes)) else {
            self.error(&format!("Could not parse JSON file {file}"));
            return;
        };
        let Json::Object(map) = json else {
            self.error(&format!("Invalid CMDB contents in '{file}', must be a JSON object"));
            return;
        };
        log!(self, Verbose, "Loaded CMDB data file '{file}', installing contents");
        for key in map.keys().filter(|key| !matches!(&***key, "vars" | "classes" | "variables")) {
            self.warning(&format!(
                "Invalid key '{key}' in the CMDB data file '{file}', skipping it"
            ));
        }
        for section in ["vars", "variables", "classes"] {
            let entries = match map.get(section) {
                None | Some(Json::Null) => continue,
                Some(Json::Object(entries)) => entries,
                Some(_) => {
                    self.error(&format!("Invalid '{section}' CMDB data, must be a JSON object"));
                    continue;
                }
            };
            if entries.iter().any(|(key, value)| has_variable(key) || refers(value)) {
                self.error(&format!(
                    "Invalid '{section}' CMDB data, cannot contain variable references"
                ));
                continue;
            }
            for (key, value) in entries {
                if section == "classes" {
                    self.put_host_class(key, value);
                } else {
                    self.put_host_variable(key, value, section == "variables");
                }
            }
        }
    }

    fn put_host_variable(&mut self, key: &str, info: &Json, described: bool) {
        let reference = Ref::parse(key);
        if reference.namespace.is_some() && reference.scope.is_none() {
            self.error(&format!(
                "Invalid variable specification in CMDB data: '{key}' (bundle name has to be specified if namespace is specified)"
            ));
            return;
        }
        let (mut tags, mut comment) = (Vec::new(), None);
        let value = match info {
            Json::Object(map) if described => {
                let Some(value) = map.get("value") else {
                    self.error(&format!(
                        "Missing value in '{key}' variable specification in CMDB data (value field is required)"
                    ));
                    return;
                };
                (tags, comment) = self.host_description("variable", key, map);
                value
            }
            other => other,
        };
        let (kind, value) = match value {
            Json::Array(items) if items.iter().all(|item| !item.is_container()) => (
                DataType::StringList,
                Value::List(items.iter().filter_map(Json::primitive).collect()),
            ),
            Json::Array(_) | Json::Object(_) => {
                (DataType::Data, Value::Data(Rc::new(value.clone())))
            }
            primitive => {
                (DataType::String, Value::Scalar(primitive.primitive().unwrap_or_default()))
            }
        };
        let namespace = reference.namespace.unwrap_or(NAMESPACE);
        let scope = scope_key(namespace, reference.scope.unwrap_or("variables"));
        tags.push(TAG.into());
        let variable = Variable { kind, value, tags: tags.into(), comment };
        self.vars.assign(&scope, reference.name.into(), variable);
    }

    fn put_host_class(&mut self, key: &str, info: &Json) {
        // The only condition that makes sense for one host is none.
        let is_any = |value: &Json, any: &str| match value {
            Json::Array(items) => match &items[..] {
                [] => true,
                [one] => one.primitive().is_some_and(|text| &*text == any),
                _ => false,
            },
            _ => false,
        };
        let (mut tags, mut comment) = (Vec::new(), None);
        match info {
            Json::Object(map) => {
                for (field, what, any) in [
                    ("class_expressions", "class expression", "any::"),
                    ("regular_expressions", "regular expression", "any"),
                ] {
                    if let Some(rules) = map.get(field).filter(|rules| !matches!(rules, Json::Null))
                        && !is_any(rules, any)
                    {
                        self.error(&format!(
                            "Invalid {what} rules for class '{key}' in CMDB data, only '[]' or '[\"{any}\"]' allowed"
                        ));
                        return;
                    }
                }
                (tags, comment) = self.host_description("class", key, map);
            }
            Json::Array(items) => {
                if items.len() != 1 || !is_any(info, "any::") {
                    let first = items.first().and_then(Json::primitive).unwrap_or_default();
                    self.error(&format!(
                        "Invalid class specification '{first}' in CMDB data, only '[\"any::\"]' allowed"
                    ));
                    return;
                }
            }
            other => {
                let text = other.primitive().unwrap_or_default();
                if &*text != "any::" {
                    self.error(&format!(
                        "Invalid class specification '{text}' in CMDB data, only \"any::\" allowed"
                    ));
                    return;
                }
            }
        }
        log!(self, Verbose, "Installing CMDB class '{key}'");
        tags.push(TAG.into());
        let name = if key.contains(':') { key.to_owned() } else { format!("{NAMESPACE}:{key}") };
        self.put_class(&name, ClassScope::Namespace, tags.into(), comment);
    }

    fn host_description(&self, what: &str, key: &str, map: &Object) -> (Vec<Str>, Option<Str>) {
        let tags = match map.get("tags") {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::Array(items)) if items.iter().all(|item| !item.is_container()) => {
                items.iter().filter_map(Json::primitive).collect()
            }
            Some(_) => {
                self.error(&format!(
                    "Invalid json_tags information for {what} '{key}' in CMDB data: must be a JSON array of strings"
                ));
                Vec::new()
            }
        };
        let comment = match map.get("comment") {
            None | Some(Json::Null) => None,
            Some(Json::Str(text)) => Some(Rc::clone(text)),
            Some(_) => {
                self.error(&format!(
                    "Invalid type of the 'comment' field for the '{key}' {what} in CMDB data, must be a string"
                ));
                None
            }
        };
        (tags, comment)
    }
}

fn refers(json: &Json) -> bool {
    match json {
        Json::Str(text) => has_variable(text),
        Json::Array(items) => items.iter().any(refers),
        Json::Object(map) => map.iter().any(|(key, value)| has_variable(key) || refers(value)),
        _ => false,
    }
}
