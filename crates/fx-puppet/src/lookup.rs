//! Hiera 5: layers, hierarchies, options of a lookup, and how values found are put together.
//!
//! A layer is the global one, that of the environment, or that of a module, which knows only
//! keys in the module's own name space.

mod config;
mod context;
mod explain;
mod hocon;
mod interpolate;
mod merge;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::eval::{Evaluated, Evaluator, Flow, Issue, Scope, interpolated};
use crate::regex::Regex;
use crate::types::Type;
use crate::value::{Hash, Value};
pub(crate) use config::Config;
use config::Entry;
pub use config::glob_regex;
pub(crate) use context::is_context;
pub(crate) use merge::Strategy;

/// What lookups have read.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    options: FxHashMap<Rc<str>, Rc<Options>>,
    paths: FxHashMap<(Rc<str>, usize), Rc<[Place]>>,
    answers: FxHashMap<(usize, String), Option<Value>>,
    /// What data functions keep, by level.
    caches: FxHashMap<i64, Hash>,
    /// Levels with back ends of their own, by layer and place in memory, which lasts as long as
    /// the configuration.
    levels: FxHashMap<(Rc<str>, usize), usize>,
}

impl Lookups {
    /// The number of a level: levels of different layers have caches of their own.
    fn level(&mut self, layer: &Rc<str>, entry: &Entry) -> usize {
        let next = self.levels.len();
        *self.levels.entry((Rc::clone(layer), std::ptr::from_ref(entry) as usize)).or_insert(next)
    }
}

/// A file of a level, and what it holds once it has been asked.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    data: std::cell::OnceCell<Option<Rc<Hash>>>,
}

/// `lookup_options` of a layer, patterns apart.
#[derive(Debug, Default)]
struct Options {
    plain: Hash,
    patterns: Vec<(Regex, Value)>,
}

/// One lookup on its way: who asks, and which keys are being looked up.
pub(crate) struct Query<'q> {
    pub(crate) scope: &'q Rc<Scope>,
    pub(crate) stack: Vec<Rc<str>>,
    /// The parts of the key that is looked up, for back ends that dig themselves.
    pub(crate) path: Vec<Value>,
}

impl<'q> Query<'q> {
    /// A lookup by code.
    pub(crate) fn new(scope: &'q Rc<Scope>) -> Query<'q> {
        Query { scope, stack: Vec::new(), path: Vec::new() }
    }
}

/// A key apart: `a.'b.c'.0` has three parts.
pub(crate) fn split_key(key: &str) -> Result<Vec<Value>, String> {
    let mut parts = Vec::new();
    let mut rest = key;
    loop {
        let (part, after) = if let Some(quote) =
            rest.chars().next().filter(|c| matches!(c, '\'' | '"'))
        {
            let inner = &rest[1..];
            let Some(end) = inner.find(quote) else {
                return Err(format!("Syntax error in string: {key}"));
            };
            (Value::from(&inner[..end]), &inner[end + 1..])
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            let part = &rest[..end];
            let is_number = !parts.is_empty() && part.parse::<i64>().is_ok();
            (
                if is_number { Value::Int(part.parse().unwrap_or(0)) } else { Value::from(part) },
                &rest[end..],
            )
        };
        parts.push(part);
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None => return Ok(parts),
        }
    }
}

/// A value inside a value.
pub(crate) fn dig(value: &Value, parts: &[Value]) -> Option<Value> {
    let mut at = value.clone();
    for part in parts {
        at = match (&at, part) {
            (Value::Hash(hash), part) => {
                hash.get(part).or_else(|| hash.get(&Value::from(interpolated(part)))).cloned()?
            }
            (Value::Array(items), Value::Int(number)) => {
                items.get(usize::try_from(*number).ok()?)?.clone()
            }
            // What is inside a secret is one.
            (Value::Sensitive(inner), part) => match dig(inner, std::slice::from_ref(part))? {
                secret @ Value::Sensitive(_) => secret,
                open => Value::Sensitive(Rc::new(open)),
            },
            _ => return None,
        };
    }
    Some(at)
}

/// A text of HOCON as JSON.
pub fn parse_hocon(text: &str) -> Result<serde_json::Value, String> {
    hocon::parse(text).map(|value| crate::compile::to_json(&value))
}

/// JSON, with the comments that Ruby's parser passes over.
fn json(text: &str) -> Result<Value, String> {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text);
    let parsed = read(text).or_else(|error| {
        let mut bare = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("/*") {
            bare.push_str(&rest[..start]);
            rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
        }
        bare.push_str(rest);
        read(&bare).map_err(|_| error)
    });
    match parsed {
        Ok(json) => Ok(crate::compile::from_json(&json)),
        Err(_) => Err(format!("859: unexpected token at '{text}'")),
    }
}

impl Evaluator {
    /// What data binds to a parameter of a class.
    pub(crate) fn bound_data(
        &self,
        class: &str,
        name: &str,
        scope: &Rc<Scope>,
    ) -> Evaluated<Option<Value>> {
        let mut query = Query::new(scope);
        self.lookup(&format!("{class}::{name}"), None, &mut query)
    }

    /// The value of a key from all layers, merged and converted as the options say.
    pub(crate) fn lookup(
        &self,
        key: &str,
        strategy: Option<&Strategy>,
        query: &mut Query<'_>,
    ) -> Evaluated<Option<Value>> {
        let parts = split_key(key).map_err(Flow::bare)?;
        let root: Rc<str> = interpolated(&parts[0]).into();
        // The options themselves are no data.
        if &*root == "lookup_options" {
            return Ok(None);
        }
        if query.stack.iter().any(|known| **known == *key) {
            let names: Vec<&str> = query.stack.iter().map(|name| &**name).collect();
            return Err(Flow::bare(format!(
                "Lookup of key '{key}' failed: Recursive lookup detected in [{}]",
                names.join(", ")
            )));
        }
        query.stack.push(key.into());
        let outer = std::mem::replace(&mut query.path, parts.clone());
        let found = self.lookup_root(&root, strategy, query);
        query.path = outer;
        query.stack.pop();
        let Some(found) = found? else { return Ok(None) };
        Ok(if parts.len() == 1 { Some(found) } else { dig(&found, &parts[1..]) })
    }

    fn lookup_root(
        &self,
        root: &Rc<str>,
        strategy: Option<&Strategy>,
        query: &mut Query<'_>,
    ) -> Evaluated<Option<Value>> {
        let module = root.split_once("::").map(|(module, _)| module);
        let options = self.options_for(root, module, query)?;
        let own;
        let strategy = match strategy {
            Some(strategy) => strategy,
            None => {
                own = match options.as_ref().and_then(|options| options.get(&Value::from("merge")))
                {
                    Some(value) => Strategy::read(value).map_err(Flow::bare)?,
                    None => Strategy::First,
                };
                &own
            }
        };
        let mut found: Vec<Value> = Vec::new();
        for layer in self.layers(module)? {
            self.search(&layer, root, strategy, query, &mut found)?;
            if matches!(strategy, Strategy::First) && !found.is_empty() {
                break;
            }
        }
        if found.is_empty()
            && let Some(module) = module
            && let Some(config) = self.layer(module)?
        {
            for (number, entry) in config.defaults.iter().enumerate() {
                self.search_entry(
                    &config,
                    config.hierarchy.len() + number,
                    entry,
                    root,
                    strategy,
                    query,
                    &mut found,
                )?;
                if !found.is_empty() && matches!(strategy, Strategy::First) {
                    break;
                }
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        let value = strategy.merge(found).map_err(Flow::bare)?;
        match options.as_ref().and_then(|options| options.get(&Value::from("convert_to"))) {
            Some(wanted) => self.convert(root, &value, wanted, query).map(Some),
            None => Ok(Some(value)),
        }
    }

    /// Layers that may know a key, strongest first.
    fn layers(&self, module: Option<&str>) -> Evaluated<Vec<Rc<Config>>> {
        let mut found = Vec::with_capacity(3);
        found.extend(self.layer("\0global")?);
        found.extend(self.layer("\0environment")?);
        if let Some(module) = module {
            found.extend(self.layer(module)?);
        }
        Ok(found)
    }

    fn layer(&self, name: &str) -> Evaluated<Option<Rc<Config>>> {
        if let Some(known) = self.machine.read.layers.borrow().get(name) {
            return Ok(known.clone());
        }
        let (root, file) = match name {
            "\0global" => match &self.settings.hiera_config {
                Some(file) => (file.parent().map(Path::to_path_buf), file.clone()),
                None => (None, PathBuf::new()),
            },
            "\0environment" => match &self.settings.environment_dir {
                Some(dir) => (Some(dir.clone()), dir.join("hiera.yaml")),
                None => (None, PathBuf::new()),
            },
            module => match self.module_dir(module) {
                Some(dir) => (Some(dir.clone()), dir.join("hiera.yaml")),
                None => (None, PathBuf::new()),
            },
        };
        let config = match root {
            None => None,
            Some(root) => {
                let text = self.run.look().read_trusted_data_opt(&file).ok().flatten();
                match text {
                    Some(text) => {
                        let text = String::from_utf8_lossy(&text);
                        match Config::read(name, &root, &text) {
                            Ok(config) => Some(Rc::new(config)),
                            Err(config::Refused::Old) => {
                                let shown = file.display();
                                self.warn(&format!("{shown}: Use of 'hiera.yaml' version 3 is deprecated. It should be converted to version 5\n   (file: {shown})"), None);
                                let place =
                                    if name == "\0environment" { "environment" } else { "module" };
                                self.warn(&format!("hiera.yaml version 3 found at the {place} root was ignored\n   (file: {shown})"), None);
                                None
                            }
                            Err(config::Refused::At(why, line)) => {
                                let line =
                                    line.map(|line| format!(", line: {line}")).unwrap_or_default();
                                return Err(Flow::bare(format!(
                                    "{why} (file: {}{line})",
                                    file.display()
                                )));
                            }
                            Err(config::Refused::Wrong(why)) => {
                                return Err(Flow::raw(format!(
                                    "The Lookup Configuration at '{}' has wrong type, {why}",
                                    file.display()
                                )));
                            }
                            Err(config::Refused::Unreadable(why)) => {
                                let why = why.trim_start_matches("(<unknown>): ");
                                return Err(Flow::raw(format!("({}): {why}", file.display())));
                            }
                        }
                    }
                    // Data without a configuration is not read.
                    None => None,
                }
            }
        };
        self.machine.read.layers.borrow_mut().insert(name.into(), config.clone());
        Ok(config)
    }

    fn search(
        &self,
        config: &Rc<Config>,
        root: &Rc<str>,
        strategy: &Strategy,
        query: &mut Query<'_>,
        found: &mut Vec<Value>,
    ) -> Evaluated<()> {
        for (number, entry) in config.hierarchy.iter().enumerate() {
            self.search_entry(config, number, entry, root, strategy, query, found)?;
            if !found.is_empty() && matches!(strategy, Strategy::First) {
                return Ok(());
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "one step of a search")]
    fn search_entry(
        &self,
        config: &Rc<Config>,
        number: usize,
        entry: &Entry,
        root: &Rc<str>,
        strategy: &Strategy,
        query: &mut Query<'_>,
        found: &mut Vec<Value>,
    ) -> Evaluated<()> {
        if !matches!(
            entry.function.as_str(),
            "yaml_data" | "json_data" | "hocon_data" | "eyaml_lookup_key"
        ) {
            if let Some(value) = self.custom_backend(config, entry, root, query)? {
                found.push(self.interpolate_data(&value, query)?);
            }
            return Ok(());
        }
        if entry.paths.is_empty() && entry.globs.is_empty() && entry.mapped.is_none() {
            return Err(Flow::raw(format!(
                "'{}' one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in hiera.yaml when using this {} function",
                entry.function, entry.kind
            )));
        }
        let key = Value::String(Rc::clone(root));
        for place in self.paths_of(config, number, entry, query)?.iter() {
            let data = match place.data.get() {
                Some(data) => data,
                None => {
                    let data = self.data_file(&place.path, &entry.function)?;
                    self.check_keys(config, &entry.function, &place.path, data.as_deref());
                    place.data.get_or_init(|| data)
                }
            };
            let Some(value) = data.as_ref().and_then(|data| data.get(&key)) else { continue };
            let value = if entry.function == "eyaml_lookup_key" {
                self.decrypted(value, &entry.options)?
            } else {
                value.clone()
            };
            found.push(self.interpolate_data(&value, query)?);
            if matches!(strategy, Strategy::First) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Data of a module has keys in the module's own name space.
    fn check_keys(&self, config: &Config, function: &str, path: &Path, data: Option<&Hash>) {
        let Some(data) = data else { return };
        if config.name.starts_with('\0') {
            return;
        }
        let mine = format!("{}::", config.name);
        let good = |key: &Value| {
            key.as_str().is_some_and(|key| key.starts_with(&mine) || key == "lookup_options")
        };
        if !data.keys().all(good) {
            self.warn(
                &format!(
                    "Module '{}': Value returned from data_hash function '{function}', when using location '{}', must use keys qualified with the name of the module",
                    config.name,
                    path.display()
                ),
                None,
            );
        }
    }

    /// Files of a level of the hierarchy, with names from the scope put in.
    fn paths_of(
        &self,
        config: &Rc<Config>,
        number: usize,
        entry: &Entry,
        query: &mut Query<'_>,
    ) -> Evaluated<Rc<[Place]>> {
        // Only what is known from the outset decides in practice; it never changes.
        let key = (Rc::clone(&config.name), number);
        if entry.is_stable
            && let Some(known) = self.lookups.borrow().paths.get(&key)
        {
            return Ok(Rc::clone(known));
        }
        let datadir = config.root.join(self.interpolate_path(&entry.datadir, query)?);
        let mut found = Vec::new();
        for path in &entry.paths {
            found.push(datadir.join(self.interpolate_path(path, query)?));
        }
        for pattern in &entry.globs {
            let pattern = self.interpolate_path(pattern, query)?;
            found.extend(self.glob(&datadir, &pattern));
        }
        if let Some([variable, name, template]) = &entry.mapped {
            let values = self.scope_value(variable, query)?;
            let values = match values {
                Some(Value::Array(items)) => items.to_vec(),
                Some(Value::Hash(hash)) => hash
                    .iter()
                    .map(|(key, value)| Value::array(vec![key.clone(), value.clone()]))
                    .collect(),
                Some(Value::Undef) | None => Vec::new(),
                Some(other) => vec![other],
            };
            for value in values {
                let frame = query.scope.frame.inner(crate::eval::FrameKind::Lambda);
                frame.define(name, value);
                let scope = query.scope.over(frame);
                let mut inner =
                    Query { scope: &scope, stack: query.stack.clone(), path: Vec::new() };
                found.push(datadir.join(self.interpolate_path(template, &mut inner)?));
            }
        }
        let place = |path| Place { path, data: std::cell::OnceCell::new() };
        let found: Rc<[Place]> = found.into_iter().map(place).collect();
        if entry.is_stable {
            self.lookups.borrow_mut().paths.insert(key, Rc::clone(&found));
        }
        Ok(found)
    }

    fn data_file(&self, path: &Path, function: &str) -> Evaluated<Option<Rc<Hash>>> {
        if let Some(known) = self.machine.read.data.borrow().get(path) {
            return Ok(known.clone());
        }
        let data = match self.run.look().read_trusted_data_opt(path).ok().flatten() {
            None => None,
            Some(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let parsed = match function {
                    "json_data" => json(&text),
                    "hocon_data" => hocon::parse(&text),
                    _ => crate::yaml::parse_data(&text),
                };
                let parsed = parsed.map_err(|why| {
                    Flow::bare(format!("Unable to parse ({}): {why}", path.display()))
                })?;
                Some(match parsed {
                    Value::Hash(hash) => hash,
                    other if matches!(function, "json_data" | "hocon_data") => {
                        let kind = crate::types::infer_set(&other);
                        return Err(Flow::bare(format!(
                            "Value returned from data_hash function '{function}', when using location '{}', has wrong type, expects a Hash value, got {}",
                            path.display(),
                            kind.to_string().split('[').next().unwrap_or_default()
                        )));
                    }
                    _ => {
                        self.warn(
                            &format!("{}: file does not contain a valid yaml hash", path.display()),
                            None,
                        );
                        Rc::default()
                    }
                })
            }
        };
        self.machine.read.data.borrow_mut().insert(path.to_path_buf(), data.clone());
        Ok(data)
    }

    /// Options of a lookup: of the layers that may know the key, strongest first.
    fn options_for(
        &self,
        root: &Rc<str>,
        module: Option<&str>,
        query: &mut Query<'_>,
    ) -> Evaluated<Option<Rc<Hash>>> {
        let mut merged: Option<Hash> = None;
        for config in self.layers(module)? {
            let options = self.layer_options(&config, query)?;
            let own = options.plain.get(&Value::String(Rc::clone(root))).or_else(|| {
                options
                    .patterns
                    .iter()
                    .find(|(pattern, _)| pattern.is_match(root).unwrap_or(false))
                    .map(|(_, value)| value)
            });
            let Some(Value::Hash(own)) = own else { continue };
            let merged = merged.get_or_insert_with(Hash::default);
            for (key, value) in &**own {
                merged.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        Ok(merged.map(Rc::new))
    }

    fn layer_options(&self, config: &Rc<Config>, query: &mut Query<'_>) -> Evaluated<Rc<Options>> {
        if let Some(known) = self.lookups.borrow().options.get(&config.name) {
            return Ok(Rc::clone(known));
        }
        // Looked at while they are read, options are none.
        self.lookups.borrow_mut().options.insert(Rc::clone(&config.name), Rc::default());
        let mut found = Vec::new();
        let strategy = Strategy::Hash;
        self.search(config, &"lookup_options".into(), &strategy, query, &mut found)?;
        let merged = if found.is_empty() {
            Value::Undef
        } else {
            strategy.merge(found).map_err(Flow::bare)?
        };
        let mut options = Options::default();
        if let Value::Hash(hash) = merged {
            for (key, value) in &*hash {
                match key.as_str() {
                    Some(text) if text.starts_with('^') => {
                        options.patterns.push((Regex::new(text), value.clone()));
                    }
                    _ => {
                        options.plain.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        let options = Rc::new(options);
        self.lookups.borrow_mut().options.insert(Rc::clone(&config.name), Rc::clone(&options));
        Ok(options)
    }

    /// `convert_to`: a type, or a type with arguments.
    fn convert(&self, root: &str, value: &Value, wanted: &Value, query: &Query<'_>) -> Evaluated {
        let (name, rest) = match wanted {
            Value::Array(items) => (
                items.first().cloned().unwrap_or(Value::Undef),
                items[1.min(items.len())..].to_vec(),
            ),
            other => (other.clone(), Vec::new()),
        };
        let ty = self.type_from_text(&interpolated(&name))?;
        if matches!(*ty, Type::Sensitive(_)) && matches!(value, Value::Sensitive(_)) {
            return Ok(value.clone());
        }
        let mut args = vec![Value::Type(Rc::clone(&ty)), value.clone()];
        args.extend(rest);
        let span = fx_source::Span::new(self.builtin, 0, 0);
        self.call_function("new", args, None, span, query.scope).map_err(|flow| {
            Flow::bare(format!(
                "The convert_to lookup_option for key '{root}' raised error: {}",
                flow.text()
            ))
        })
    }

    /// Files under a folder that a pattern with `*`, `**` and `?` means, in order.
    fn glob(&self, dir: &Path, pattern: &str) -> Vec<PathBuf> {
        let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
        let mut found = Vec::new();
        self.glob_in(dir, &parts, &mut found, 0);
        found.sort();
        found
    }

    fn glob_in(&self, dir: &Path, parts: &[&str], found: &mut Vec<PathBuf>, depth: u32) {
        let Some((first, rest)) = parts.split_first() else { return };
        if depth > 40 {
            return;
        }
        if *first == "**" {
            self.glob_in(dir, rest, found, depth + 1);
        }
        let pattern = glob_regex(first);
        for item in self.run.look().list_trusted(dir).unwrap_or_default() {
            let name = item.name.to_string_lossy().into_owned();
            let path = dir.join(&item.name);
            let is_dir = self.run.look().stat(&path).is_ok_and(|meta| meta.is_dir());
            if *first == "**" {
                if is_dir && !name.starts_with('.') {
                    self.glob_in(&path, parts, found, depth + 1);
                }
            } else if pattern.is_match(&name).unwrap_or(false)
                && (!name.starts_with('.') || first.starts_with('.'))
            {
                if rest.is_empty() && !is_dir {
                    found.push(path);
                } else if !rest.is_empty() && is_dir {
                    self.glob_in(&path, rest, found, depth + 1);
                }
            }
        }
    }

    /// A back end that is a function: once for each path or address, or once in all.
    fn custom_backend(
        &self,
        config: &Rc<Config>,
        entry: &Entry,
        root: &Rc<str>,
        query: &mut Query<'_>,
    ) -> Evaluated<Option<Value>> {
        let number = self.lookups.borrow_mut().level(&config.name, entry);
        let cache = match entry.kind.as_str() {
            "data_hash" => (number, String::new()),
            "data_dig" => (number, query.stack.last().map(ToString::to_string).unwrap_or_default()),
            _ => (number, root.to_string()),
        };
        let span = fx_source::Span::new(self.builtin, 0, 0);
        let mut options = entry.options.clone();
        let mut places: Vec<Option<(&str, Value)>> = Vec::new();
        for path in
            self.paths_of(config, 0, &Entry { is_stable: false, ..entry.clone() }, query)?.iter()
        {
            let path = &path.path;
            if self.run.look().stat(path).is_ok() {
                places.push(Some(("path", Value::from(path.to_string_lossy().into_owned()))));
            }
        }
        for uri in &entry.uris {
            places.push(Some(("uri", Value::from(self.interpolate_path(uri, query)?))));
        }
        if places.is_empty() {
            if !entry.paths.is_empty() || !entry.globs.is_empty() || entry.mapped.is_some() {
                return Ok(None);
            }
            places.push(None);
        }
        if let Some(known) = self.lookups.borrow().answers.get(&cache)
            && entry.kind != "data_hash"
        {
            return Ok(known.clone());
        }
        for place in places {
            if let Some((name, value)) = place {
                options.insert(name.into(), value);
            }
            let options = self.interpolate_data(&Value::Hash(Rc::new(options.clone())), query)?;
            let module = Some(&*config.name).filter(|name| !name.starts_with('\0'));
            let context = context::context(number, &self.settings.environment, module);
            let args = match entry.kind.as_str() {
                "data_hash" => vec![options, context],
                "data_dig" => vec![Value::array(query.path.clone()), options, context],
                _ => vec![Value::String(Rc::clone(root)), options, context],
            };
            if crate::functions::find(&entry.function).is_none()
                && self.function_named(&entry.function)?.is_none()
                && self.ruby_function(&entry.function)?.is_none()
            {
                return Err(Flow::bare(format!(
                    "Unable to find '{}' function named '{}' (file: {})",
                    entry.kind,
                    entry.function,
                    config.root.join("hiera.yaml").display()
                )));
            }
            let answer = match self.call_function(&entry.function, args, None, span, query.scope) {
                // A function in Ruby says that it does not have the key.
                Err(Flow::Fail(failure)) if failure.issue == Issue::NoSuchKey => {
                    Value::ty(Type::Reference("\0not_found".into()))
                }
                answer => answer?,
            };
            let answer = match (entry.kind.as_str(), answer) {
                (_, answer) if context::is_not_found(&answer) => None,
                // What was dug out is put back where it will be looked for.
                ("data_dig", answer) => {
                    let wrapped = query
                        .path
                        .iter()
                        .skip(1)
                        .rev()
                        .fold(answer, |inner, part| Value::hash([(part.clone(), inner)]));
                    Some(wrapped)
                }
                ("data_hash", Value::Hash(hash)) => {
                    hash.get(&Value::String(Rc::clone(root))).cloned()
                }
                ("data_hash", _) => None,
                (_, answer) => Some(answer),
            };
            if answer.is_some() {
                self.lookups.borrow_mut().answers.insert(cache, answer.clone());
                return Ok(answer);
            }
        }
        Ok(None)
    }

    /// `ENC[PKCS7,…]` in values made readable.
    fn decrypted(&self, value: &Value, options: &Hash) -> Evaluated {
        Ok(match value {
            Value::String(text) if text.contains("ENC[") => {
                let key = |name: &str| options.get(&Value::from(name)).map(interpolated);
                let (Some(private), Some(_)) = (key("pkcs7_private_key"), key("pkcs7_public_key"))
                else {
                    return Err(Flow::bare(
                        "hiera-eyaml: pkcs7_private_key and pkcs7_public_key must be set in the options",
                    ));
                };
                let mut out = String::new();
                let mut rest: &str = text;
                while let Some(start) = rest.find("ENC[") {
                    out.push_str(&rest[..start]);
                    let inner = &rest[start + 4..];
                    let Some(end) = inner.find(']') else { break };
                    let body = inner[..end].trim();
                    let body = body.split_once(',').map_or(body, |(_, body)| body);
                    out.push_str(&self.open_envelope(body, &private)?);
                    rest = &inner[end + 1..];
                }
                out.push_str(rest);
                Value::from(out)
            }
            Value::Array(items) => {
                let items: Evaluated<Vec<Value>> =
                    items.iter().map(|item| self.decrypted(item, options)).collect();
                Value::array(items?)
            }
            Value::Hash(hash) => {
                let mut out = Hash::default();
                for (key, value) in &**hash {
                    out.insert(key.clone(), self.decrypted(value, options)?);
                }
                Value::Hash(Rc::new(out))
            }
            other => other.clone(),
        })
    }

    /// One PKCS#7 envelope, opened with the node's key.
    fn open_envelope(&self, body: &str, private: &str) -> Evaluated<String> {
        let told =
            |error: String| Flow::bare(format!("hiera-eyaml could not decrypt a value: {error}"));
        let host = self.run.look();
        let key = host.read_trusted(Path::new(private)).map_err(|error| told(error.to_string()))?;
        let open = || {
            let key = fx_crypto::pem::rsa_private_key(&String::from_utf8_lossy(&key))?;
            let envelope = fx_crypto::pem::base64(body)?;
            let mut random = |buffer: &mut [u8]| host.random(buffer);
            fx_crypto::cms::open(&envelope, &key, fx_crypto::Random(&mut random))
        };
        let opened = open().map_err(|error| told(error.to_string()))?;
        Ok(String::from_utf8_lossy(&opened).into_owned())
    }
}
