//! `hiera.yaml` version 5 as data. Older versions are refused by name.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::eval::interpolated;
use crate::regex::Regex;
use crate::value::{Hash, Value};

/// A layer's configuration.
#[derive(Debug)]
pub(crate) struct Config {
    pub(super) name: Rc<str>,
    pub(super) root: PathBuf,
    pub(super) hierarchy: Vec<Entry>,
    /// `default_hierarchy` of a module.
    pub(super) defaults: Vec<Entry>,
}

/// A level of a hierarchy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// What people call it.
    pub(super) name: String,
    /// `data_hash`, `lookup_key` or `data_dig`.
    pub(super) kind: String,
    /// Name of the function that reads data.
    pub(super) function: String,
    pub(super) datadir: String,
    pub(super) paths: Vec<String>,
    pub(super) globs: Vec<String>,
    pub(super) uris: Vec<String>,
    pub(super) mapped: Option<[String; 3]>,
    pub(super) options: Hash,
    /// Whether its paths depend on facts and trusted data alone.
    pub(super) is_stable: bool,
}

impl Config {
    /// What holds where there is no file.
    pub(super) fn standard(name: &str, root: &Path) -> Config {
        let common = Entry {
            name: "Common".into(),
            kind: "data_hash".into(),
            function: "yaml_data".into(),
            datadir: "data".into(),
            paths: vec!["common.yaml".into()],
            is_stable: true,
            ..Entry::default()
        };
        Config { name: name.into(), root: root.into(), hierarchy: vec![common], defaults: vec![] }
    }

    pub(super) fn read(name: &str, root: &Path, text: &str) -> Result<Config, String> {
        let parsed = crate::yaml::parse(text)?;
        let Value::Hash(top) = parsed else { return Ok(Config::standard(name, root)) };
        let get = |key: &str| top.get(&Value::from(key));
        match get("version") {
            Some(Value::Int(5)) => {}
            Some(other) => {
                return Err(format!(
                    "This runtime does not support hiera.yaml version {}",
                    interpolated(other)
                ));
            }
            None => return Err("hiera.yaml version 3 is not supported".into()),
        }
        let empty = Hash::default();
        let defaults = match get("defaults") {
            Some(Value::Hash(defaults)) => defaults,
            _ => &empty,
        };
        let read_all = |key: &str| -> Result<Option<Vec<Entry>>, String> {
            match get(key) {
                Some(Value::Array(items)) => items
                    .iter()
                    .map(|item| match item {
                        Value::Hash(item) => entry(item, defaults),
                        _ => Err(format!("an entry of '{key}' is no hash")),
                    })
                    .collect::<Result<Vec<Entry>, String>>()
                    .map(Some),
                _ => Ok(None),
            }
        };
        let hierarchy = match read_all("hierarchy")? {
            Some(hierarchy) => hierarchy,
            None => {
                let mut common = entry(&Hash::default(), defaults)?;
                common.paths = vec!["common.yaml".into()];
                vec![common]
            }
        };
        let defaults = read_all("default_hierarchy")?.unwrap_or_default();
        Ok(Config { name: name.into(), root: root.into(), hierarchy, defaults })
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().map(interpolated).collect(),
        Some(Value::Undef) | None => Vec::new(),
        Some(other) => vec![interpolated(other)],
    }
}

fn entry(own: &Hash, defaults: &Hash) -> Result<Entry, String> {
    const KINDS: [&str; 3] = ["data_hash", "lookup_key", "data_dig"];
    let find = |from: &Hash| {
        KINDS.iter().find_map(|kind| Some((*kind, interpolated(from.get(&Value::from(*kind))?))))
    };
    let (kind, function) = match (find(own), own.get(&Value::from("hiera3_backend"))) {
        (Some(found), _) => found,
        (None, Some(backend)) => {
            return Err(format!(
                "the Hiera 3 back end '{}' is not supported",
                interpolated(backend)
            ));
        }
        (None, None) => find(defaults).unwrap_or(("data_hash", "yaml_data".into())),
    };
    let given = |key: &str| own.get(&Value::from(key));
    let both = |one: &str, many: &str| {
        let mut all = texts(given(one));
        all.extend(texts(given(many)));
        all
    };
    let mapped = match texts(given("mapped_paths")).as_slice() {
        [variable, name, template] => Some([variable.clone(), name.clone(), template.clone()]),
        [] => None,
        _ => return Err("'mapped_paths' needs three strings".into()),
    };
    let options = match given("options").or_else(|| defaults.get(&Value::from("options"))) {
        Some(Value::Hash(options)) => Hash::clone(options),
        _ => Hash::default(),
    };
    let datadir = texts(given("datadir").or_else(|| defaults.get(&Value::from("datadir"))));
    let datadir = datadir.into_iter().next().unwrap_or_else(|| "data".into());
    let paths = both("path", "paths");
    let globs = both("glob", "globs");
    let is_stable = mapped.is_none()
        && paths.iter().chain(&globs).chain([&datadir]).all(|text| {
            text.split("%{").skip(1).all(|part| {
                ["facts.", "trusted.", "::environment", "environment", "::facts.", "::trusted."]
                    .iter()
                    .any(|known| part.trim_start().starts_with(known))
            })
        });
    Ok(Entry {
        name: texts(given("name")).into_iter().next().unwrap_or_default(),
        kind: kind.into(),
        function,
        datadir,
        paths,
        globs,
        uris: both("uri", "uris"),
        mapped,
        options,
        is_stable,
    })
}

/// A pattern of file names as an expression.
pub(crate) fn glob_regex(pattern: &str) -> Regex {
    let mut out = String::from("\\A");
    let mut in_braces = false;
    for c in pattern.chars() {
        match c {
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '{' => {
                in_braces = true;
                out.push_str("(?:");
            }
            '}' if in_braces => {
                in_braces = false;
                out.push(')');
            }
            ',' if in_braces => out.push('|'),
            '[' | ']' => out.push(c),
            c if c.is_alphanumeric() || c == '_' || c == '-' => out.push(c),
            c => {
                out.push('\\');
                out.push(c);
            }
        }
    }
    out.push_str("\\z");
    Regex::new(&out)
}

/// HOCON of the simple kind: JSON with comments, bare keys, `=`, and optional commas.
pub(super) fn hocon(text: &str) -> Result<Value, String> {
    let mut json = String::new();
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with('#') || bare.starts_with("//") {
            continue;
        }
        json.push_str(line);
        json.push('\n');
    }
    // What is JSON needs no more.
    if let Ok(parsed) = serde_json::from_str::<serde_json::Value>(&json) {
        return Ok(crate::compile::from_json(&parsed));
    }
    let mut map = Hash::default();
    for line in json.lines() {
        let bare = line.trim().trim_end_matches(',');
        if bare.is_empty() || bare == "{" || bare == "}" {
            continue;
        }
        let Some((key, value)) = bare.split_once(['=', ':']) else {
            return Err(format!("this HOCON is not supported: {bare}"));
        };
        let key = key.trim().trim_matches('"');
        let value = value.trim();
        let value = match serde_json::from_str::<serde_json::Value>(value) {
            Ok(json) => crate::compile::from_json(&json),
            Err(_) if value.starts_with(['{', '[']) => {
                return Err(format!("this HOCON is not supported: {bare}"));
            }
            Err(_) => Value::from(value),
        };
        map.insert(Value::from(key), value);
    }
    Ok(Value::Hash(Rc::new(map)))
}
