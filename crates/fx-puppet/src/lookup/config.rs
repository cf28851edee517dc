//! `hiera.yaml` as data: version 5, and what older versions mean in its terms. Back ends of
//! Hiera 3 other than YAML and JSON are not here.

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

/// Why a configuration is not used.
#[derive(Debug)]
pub(super) enum Refused {
    /// Of Hiera 3, where only newer ones count.
    Old,
    /// What is wrong, and in which line.
    At(String, Option<usize>),
    /// It has not the form it should have.
    Wrong(String),
    /// It is no YAML.
    Unreadable(String),
}

const LOCATIONS: [&str; 7] = ["path", "paths", "glob", "globs", "uri", "uris", "mapped_paths"];
const FUNCTIONS: [&str; 4] = ["data_hash", "lookup_key", "data_dig", "hiera3_backend"];

/// What a configuration must not have.
fn check(layer: &str, top: &Hash, text: &str) -> Result<(), Refused> {
    const KEYS: [&str; 5] =
        ["version", "defaults", "hierarchy", "plan_hierarchy", "default_hierarchy"];
    let unknown = |hash: &Hash, known: &[&[&str]]| {
        let name = |key: &Value| interpolated(key);
        hash.keys().map(name).find(|key| !known.iter().any(|list| list.contains(&key.as_str())))
    };
    let line_of = |text: &str, part: &str, nth: usize| {
        text.lines()
            .enumerate()
            .filter(|(_, line)| line.contains(part))
            .nth(nth)
            .map(|(at, _)| at + 1)
    };
    if let Some(key) = unknown(top, &[&KEYS]) {
        return Err(Refused::Wrong(format!("unrecognized key '{key}'")));
    }
    if top.contains_key(&Value::from("default_hierarchy")) && layer.starts_with('\0') {
        let line = line_of(text, "default_hierarchy", 0);
        return Err(Refused::At(
            "'default_hierarchy' is only allowed in the module layer".into(),
            line,
        ));
    }
    let mut names: Vec<String> = Vec::new();
    for list in ["hierarchy", "default_hierarchy"] {
        let Some(Value::Array(items)) = top.get(&Value::from(list)) else { continue };
        for (index, item) in items.iter().enumerate() {
            let Value::Hash(own) = item else { continue };
            let at = format!("entry '{list}' index {index}");
            if let Some(key) =
                unknown(own, &[&LOCATIONS, &FUNCTIONS, &["name", "datadir", "options"]])
            {
                return Err(Refused::Wrong(format!("{at} unrecognized key '{key}'")));
            }
            let Some(name) = own.get(&Value::from("name")).map(interpolated) else {
                return Err(Refused::Wrong(format!("{at} expects a value for key 'name'")));
            };
            let several = |keys: &[&str]| {
                keys.iter().filter(|key| own.contains_key(&Value::from(**key))).count() > 1
            };
            if several(&FUNCTIONS) {
                return Err(Refused::At(
                    format!(
                        "Only one of data_hash, lookup_key, data_dig, or hiera3_backend can be defined in hierarchy '{name}'"
                    ),
                    None,
                ));
            }
            if several(&LOCATIONS) {
                return Err(Refused::At(
                    format!(
                        "Only one of path, paths, glob, globs, uri, uris, or mapped_paths can be defined in hierarchy '{name}'"
                    ),
                    None,
                ));
            }
            if own.contains_key(&Value::from("hiera3_backend")) && layer != "\0global" {
                return Err(Refused::At(
                    "'hiera3_backend' is only allowed in the global layer".into(),
                    line_of(text, "hiera3_backend", 0),
                ));
            }
            if let Some(Value::Hash(options)) = own.get(&Value::from("options"))
                && let Some(key) =
                    ["path", "uri"].iter().find(|key| options.contains_key(&Value::from(**key)))
            {
                return Err(Refused::At(
                    format!("Option key '{key}' used in hierarchy '{name}' is reserved by Puppet"),
                    None,
                ));
            }
            if names.contains(&name) {
                let label = format!("name: {name}");
                let first = line_of(text, &label, 0).unwrap_or(0);
                return Err(Refused::At(
                    format!(
                        "Hierarchy name '{name}' defined more than once. First defined at (line: {first})"
                    ),
                    line_of(text, &label, 1),
                ));
            }
            names.push(name);
        }
    }
    Ok(())
}

/// A file of JSON or YAML for each level, as Hiera 3 and 4 have it.
fn level(name: &str, datadir: &str, paths: Vec<String>, backend: &str) -> Entry {
    let function = if backend == "json" { "json_data" } else { "yaml_data" };
    let paths = paths.into_iter().map(|path| format!("{path}.{backend}")).collect();
    Entry {
        name: name.into(),
        kind: "data_hash".into(),
        function: function.into(),
        datadir: datadir.into(),
        paths,
        ..Entry::default()
    }
}

/// Version 4: back ends by name at each level.
fn four(name: &str, root: &Path, top: &Hash) -> Config {
    let datadir = texts(top.get(&Value::from("datadir"))).into_iter().next();
    let datadir = datadir.unwrap_or_else(|| "data".into());
    let mut hierarchy = Vec::new();
    if let Some(Value::Array(items)) = top.get(&Value::from("hierarchy")) {
        for item in items.iter() {
            let Value::Hash(own) = item else { continue };
            let get = |key: &str| own.get(&Value::from(key));
            let label = texts(get("name")).into_iter().next().unwrap_or_default();
            let backend = texts(get("backend")).into_iter().next().unwrap_or_else(|| "yaml".into());
            let own_dir = texts(get("datadir")).into_iter().next();
            let mut paths = texts(get("path"));
            paths.extend(texts(get("paths")));
            if paths.is_empty() {
                paths.push(label.clone());
            }
            hierarchy.push(level(&label, own_dir.as_deref().unwrap_or(&datadir), paths, &backend));
        }
    } else {
        hierarchy.push(level("common", &datadir, vec!["common".into()], "yaml"));
    }
    Config { name: name.into(), root: root.into(), hierarchy, defaults: Vec::new() }
}

/// What a configuration of version 3 has besides its back ends.
const KEYS_OF_THREE: [&str; 6] =
    ["version", "backends", "logger", "merge_behavior", "deep_merge_options", "hierarchy"];

/// Version 3: each back end goes through the whole hierarchy.
fn three(name: &str, root: &Path, top: &Hash) -> Result<Config, Refused> {
    // Keys are symbols, which come as plain text, with or without their colon.
    let get =
        |key: &str| top.get(&Value::from(key)).or_else(|| top.get(&Value::from(format!(":{key}"))));
    let mut backends = texts(get("backends"));
    if backends.is_empty() {
        backends.push("yaml".into());
    }
    for key in top.keys() {
        let key = interpolated(key);
        let key = key.trim_start_matches(':');
        if !KEYS_OF_THREE.contains(&key) && !backends.iter().any(|backend| backend == key) {
            return Err(Refused::Wrong(format!("unrecognized key '{key}'")));
        }
    }
    let mut sources = texts(get("hierarchy"));
    if sources.is_empty() {
        sources.extend(["nodes/%{::trusted.certname}".into(), "common".into()]);
    }
    let mut hierarchy = Vec::new();
    for backend in &backends {
        let own = |key: &str| match get(backend) {
            Some(Value::Hash(own)) => own
                .get(&Value::from(key))
                .or_else(|| own.get(&Value::from(format!(":{key}"))))
                .map(interpolated),
            _ => None,
        };
        let datadir = own("datadir")
            .unwrap_or_else(|| "/etc/puppetlabs/code/environments/%{environment}/hieradata".into());
        let extension = own("extension");
        for source in &sources {
            let mut entry = level(source, &datadir, vec![source.clone()], backend);
            if let Some(extension) = &extension {
                entry.paths = vec![format!("{source}.{extension}")];
            }
            hierarchy.push(entry);
        }
    }
    Ok(Config { name: name.into(), root: root.into(), hierarchy, defaults: Vec::new() })
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

    pub(super) fn read(name: &str, root: &Path, text: &str) -> Result<Config, Refused> {
        let parsed = crate::yaml::parse_data(text).map_err(Refused::Unreadable)?;
        let Value::Hash(top) = parsed else { return Ok(Config::standard(name, root)) };
        let get = |key: &str| top.get(&Value::from(key));
        match get("version") {
            Some(Value::Int(5)) => {}
            Some(Value::Int(4)) if name != "\0global" => return Ok(four(name, root, &top)),
            Some(Value::Int(3)) | None if name == "\0global" => return three(name, root, &top),
            Some(Value::Int(3)) | None => return Err(Refused::Old),
            Some(Value::Int(other)) => {
                return Err(Refused::At(
                    format!("This runtime does not support hiera.yaml version {other}"),
                    None,
                ));
            }
            Some(other) => {
                return Err(Refused::Wrong(format!(
                    "entry 'version' expects an Integer value, got {}",
                    crate::eval::kind(other)
                )));
            }
        }
        check(name, &top, text)?;
        let empty = Hash::default();
        let defaults = match get("defaults") {
            Some(Value::Hash(defaults)) => defaults,
            _ => &empty,
        };
        let read_all = |key: &str| -> Result<Option<Vec<Entry>>, Refused> {
            match get(key) {
                Some(Value::Array(items)) => items
                    .iter()
                    .map(|item| match item {
                        Value::Hash(item) => entry(item, defaults),
                        _ => Err(Refused::Wrong(format!("an entry of '{key}' is no hash"))),
                    })
                    .collect::<Result<Vec<Entry>, Refused>>()
                    .map(Some),
                _ => Ok(None),
            }
        };
        let hierarchy = match read_all("hierarchy")? {
            Some(hierarchy) => hierarchy,
            None => {
                let mut common = entry(&Hash::default(), defaults)?;
                common.name = "Common".into();
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

fn entry(own: &Hash, defaults: &Hash) -> Result<Entry, Refused> {
    const KINDS: [&str; 3] = ["data_hash", "lookup_key", "data_dig"];
    let find = |from: &Hash| {
        KINDS.iter().find_map(|kind| Some((*kind, interpolated(from.get(&Value::from(*kind))?))))
    };
    let (kind, function) = match (find(own), own.get(&Value::from("hiera3_backend"))) {
        (Some(found), _) => found,
        (None, Some(backend)) => {
            return Err(Refused::At(
                format!("the Hiera 3 back end '{}' is not supported", interpolated(backend)),
                None,
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
        _ => return Err(Refused::Wrong("'mapped_paths' needs three strings".into())),
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
pub fn glob_regex(pattern: &str) -> Regex {
    Regex::new(&format!("\\A{}\\z", fx_formats::glob::regex(pattern, true)))
}
