//! How a lookup finds its value, reported step by step in the original's words: layers, levels of
//! their hierarchies, files, merges. Functions as back ends are named, not followed.

use std::rc::Rc;

use super::config::{Config, Entry};
use super::{Query, Strategy, split_key};
use crate::eval::{Evaluated, Evaluator, Flow, interpolated};
use crate::types::Type;
use crate::value::Value;

/// Lines with their depth.
#[derive(Default)]
struct Explanation {
    text: String,
    depth: usize,
    /// Whether options of a merge are reported.
    options: bool,
    /// Whether the value is a secret in the end.
    is_secret: bool,
}

/// A place that may know a key.
enum Layer {
    /// With what it is called, and its configuration.
    Provider(String, Option<Rc<Config>>),
    /// Why there is none.
    Absent(String),
}

impl Explanation {
    /// A value that was found, or what stands for it.
    fn value(&self, value: &Value) -> String {
        if self.is_secret {
            return interpolated(&Value::Sensitive(Rc::new(Value::Undef)));
        }
        shown(value, 0)
    }

    /// The heading of a merge; what follows stands below it.
    fn strategy(&mut self, strategy: &Strategy) {
        self.line(&format!("Merge strategy {}", word(strategy)));
        self.depth += 1;
        if let Strategy::Deep { knockout, sort, merge_hash_arrays, .. } = strategy {
            let mut options: Vec<(Value, Value)> = Vec::new();
            options.extend(
                knockout.as_deref().map(|prefix| ("knockout_prefix".into(), prefix.into())),
            );
            // Flags always give these two; data may leave them out.
            for (name, is_on) in
                [("sort_merged_arrays", *sort), ("merge_hash_arrays", *merge_hash_arrays)]
            {
                if is_on || self.options {
                    options.push((name.into(), is_on.into()));
                }
            }
            if !options.is_empty() {
                self.line(&format!("Options: {}", shown(&Value::hash(options), 0)));
            }
        }
    }

    fn line(&mut self, text: &str) {
        for line in text.lines() {
            self.text.push_str(&"  ".repeat(self.depth));
            self.text.push_str(line);
            self.text.push('\n');
        }
    }
}

fn word(strategy: &Strategy) -> &'static str {
    match strategy {
        Strategy::First => "first",
        Strategy::Unique => "unique",
        Strategy::Hash => "hash",
        Strategy::Deep { .. } => "deep",
    }
}

/// A value over several lines.
fn shown(value: &Value, depth: usize) -> String {
    let pad = "  ".repeat(depth + 1);
    let end = "  ".repeat(depth);
    let rows = |rows: Vec<String>, open: char, close: char| {
        format!("{open}\n{pad}{}\n{end}{close}", rows.join(&format!(",\n{pad}")))
    };
    match value {
        Value::Hash(hash) if !hash.is_empty() => rows(
            hash.iter()
                .map(|(key, value)| {
                    format!("{} => {}", shown(key, depth + 1), shown(value, depth + 1))
                })
                .collect(),
            '{',
            '}',
        ),
        Value::Array(items) if !items.is_empty() => {
            rows(items.iter().map(|item| shown(item, depth + 1)).collect(), '[', ']')
        }
        Value::Undef => "nil".into(),
        Value::String(text) => format!("{text:?}"),
        other => crate::eval::inspected(other),
    }
}

impl Evaluator {
    /// The text for a key, whether or not it is found.
    pub(crate) fn explain_lookup(
        &self,
        key: &str,
        merge: Option<&Strategy>,
        query: &mut Query<'_>,
    ) -> Evaluated<String> {
        let parts = split_key(key).map_err(Flow::bare)?;
        let root: Rc<str> = interpolated(&parts[0]).into();
        let module = root.split_once("::").map(|(module, _)| module.to_owned());
        let module = module.as_deref();
        let mut explained = Explanation::default();
        explained.line("Searching for \"lookup_options\"");
        explained.depth = 1;
        for layer in self.explained_layers(module)? {
            self.explain_layer(
                &layer,
                &"lookup_options".into(),
                &Strategy::Hash,
                query,
                &mut explained,
            )?;
        }
        explained.depth = 0;
        let options = self.options_for(&root, module, query)?;
        let given = options.as_ref().and_then(|options| options.get(&Value::from("merge")));
        let strategy = match (merge, given) {
            (Some(merge), _) => merge.clone(),
            (None, Some(value)) => {
                explained.line("Using merge options from \"lookup_options\" hash");
                Strategy::read(value).map_err(Flow::bare)?
            }
            (None, None) => Strategy::First,
        };
        // Options are reported where the caller set them.
        explained.options = merge.is_some();
        let wanted = options.as_ref().and_then(|options| options.get(&Value::from("convert_to")));
        explained.is_secret = wanted.is_some_and(|wanted| self.makes_a_secret(wanted));
        let found = self.explain_search(&root, module, &strategy, query, &mut explained)?;
        explained.depth = 0;
        match (found, wanted) {
            (None, _) => {
                explained
                    .line(&format!("Function lookup() did not find a value for the name '{key}'"));
            }
            (Some(_), Some(wanted)) => {
                let arguments = match wanted {
                    Value::Array(_) => interpolated(wanted),
                    other => format!("[{}]", interpolated(other)),
                };
                explained
                    .line(&format!("Applying convert_to lookup_option with arguments {arguments}"));
            }
            _ => {}
        }
        Ok(explained.text)
    }

    fn makes_a_secret(&self, wanted: &Value) -> bool {
        let name = match wanted {
            Value::Array(items) => items.first().map(interpolated).unwrap_or_default(),
            other => interpolated(other),
        };
        self.type_from_text(&name).is_ok_and(|ty| matches!(*ty, Type::Sensitive(_)))
    }

    /// The options that hold for a key, or those of no module without one.
    pub(crate) fn explain_options(
        &self,
        key: Option<&str>,
        query: &mut Query<'_>,
    ) -> Evaluated<String> {
        let module = key.and_then(|key| key.split_once("::")).map(|(module, _)| module);
        let mut explained = Explanation::default();
        let strategy = Strategy::Hash;
        let layers = self.explained_layers(module)?;
        let merges = layers.len() > 1;
        if merges {
            explained.strategy(&strategy);
        }
        let mut found = Vec::new();
        for layer in layers {
            found.extend(self.explain_layer(
                &layer,
                &"lookup_options".into(),
                &strategy,
                query,
                &mut explained,
            )?);
        }
        self.explain_merge(found, &strategy, merges, &mut explained)?;
        Ok(explained.text)
    }

    /// The search through all layers for a key whose options are known.
    fn explain_search(
        &self,
        root: &Rc<str>,
        module: Option<&str>,
        strategy: &Strategy,
        query: &mut Query<'_>,
        explained: &mut Explanation,
    ) -> Evaluated<Option<Value>> {
        let depth = explained.depth;
        explained.line(&format!("Searching for \"{root}\""));
        explained.depth += 1;
        let layers = self.explained_layers(module)?;
        let merges = *strategy != Strategy::First && layers.len() > 1;
        if merges {
            explained.strategy(strategy);
        }
        let mut found = Vec::new();
        for layer in layers {
            found.extend(self.explain_layer(&layer, root, strategy, query, explained)?);
            if *strategy == Strategy::First && !found.is_empty() {
                break;
            }
        }
        if found.is_empty() {
            explained.depth = depth;
            return Ok(None);
        }
        let merged = strategy.merge(found).map_err(Flow::bare)?;
        if merges {
            explained.line(&format!("Merged result: {}", explained.value(&merged)));
        }
        explained.depth = depth;
        Ok(Some(merged))
    }

    /// The layers that a search goes through: the global one even without a configuration, the
    /// module's with the reason where it has none.
    fn explained_layers(&self, module: Option<&str>) -> Evaluated<Vec<Layer>> {
        let mut all = vec![Layer::Provider("Global".to_owned(), self.layer("\0global")?)];
        if let Some(config) = self.layer("\0environment")? {
            all.push(Layer::Provider("Environment".to_owned(), Some(config)));
        }
        if let Some(module) = module {
            all.push(match self.layer(module)? {
                Some(config) => Layer::Provider(format!("Module \"{module}\""), Some(config)),
                None if self.module_dir(module).is_some() => {
                    Layer::Absent(format!("Module data provider for module \"{module}\" not found"))
                }
                None => Layer::Absent(format!("Module \"{module}\" not found")),
            });
        }
        Ok(all)
    }

    fn explain_layer(
        &self,
        layer: &Layer,
        root: &Rc<str>,
        strategy: &Strategy,
        query: &mut Query<'_>,
        explained: &mut Explanation,
    ) -> Evaluated<Option<Value>> {
        let (name, config) = match layer {
            Layer::Provider(name, config) => (name, config),
            Layer::Absent(why) => {
                explained.line(why);
                return Ok(None);
            }
        };
        let depth = explained.depth;
        explained.line(&format!("{name} Data Provider (hiera configuration version 5)"));
        explained.depth += 1;
        let Some(config) = config else {
            explained.line(&format!("No such key: \"{root}\""));
            explained.depth = depth;
            return Ok(None);
        };
        let file = config.root.join("hiera.yaml");
        if self.run.look().stat(&file).is_ok() {
            explained.line(&format!("Using configuration \"{}\"", file.display()));
        }
        if config.hierarchy.is_empty() {
            explained.line(&format!("No such key: \"{root}\""));
        }
        let merges = *strategy != Strategy::First && config.hierarchy.len() > 1;
        if merges {
            explained.strategy(strategy);
        }
        let mut found = Vec::new();
        for (number, entry) in config.hierarchy.iter().enumerate() {
            found.extend(
                self.explain_entry(config, number, entry, root, strategy, query, explained)?,
            );
            if *strategy == Strategy::First && !found.is_empty() {
                break;
            }
        }
        let value = self.explain_merge(found, strategy, merges, explained)?;
        explained.depth = depth;
        Ok(value)
    }

    fn explain_merge(
        &self,
        found: Vec<Value>,
        strategy: &Strategy,
        merges: bool,
        explained: &mut Explanation,
    ) -> Evaluated<Option<Value>> {
        if found.is_empty() {
            return Ok(None);
        }
        let value = strategy.merge(found).map_err(Flow::bare)?;
        if merges {
            explained.line(&format!("Merged result: {}", explained.value(&value)));
        }
        Ok(Some(value))
    }

    #[expect(clippy::too_many_arguments, reason = "one step of a search, reported")]
    fn explain_entry(
        &self,
        config: &Rc<Config>,
        number: usize,
        entry: &Entry,
        root: &Rc<str>,
        strategy: &Strategy,
        query: &mut Query<'_>,
        explained: &mut Explanation,
    ) -> Evaluated<Option<Value>> {
        let depth = explained.depth;
        explained.line(&format!("Hierarchy entry \"{}\"", entry.name));
        explained.depth += 1;
        if !matches!(
            entry.function.as_str(),
            "yaml_data" | "json_data" | "hocon_data" | "eyaml_lookup_key"
        ) {
            let mut found = Vec::new();
            self.search_entry(config, number, entry, root, strategy, query, &mut found)?;
            let value = found.into_iter().next();
            self.explain_value(root, value.as_ref(), explained);
            explained.depth = depth;
            return Ok(value);
        }
        let places = self.paths_of(config, number, entry, query)?;
        let merges = *strategy != Strategy::First && places.len() > 1;
        if merges {
            explained.strategy(strategy);
        }
        let mut found = Vec::new();
        for (at, place) in places.iter().enumerate() {
            explained.line(&format!("Path \"{}\"", place.path.display()));
            explained.depth += 1;
            let datadir = config.root.join(&entry.datadir);
            let original = match (entry.paths.get(at), &entry.mapped) {
                (Some(path), _) => Some(path.clone()),
                (None, Some([_, _, template])) => Some(template.clone()),
                _ => entry
                    .globs
                    .iter()
                    .find(|pattern| self.glob(&datadir, pattern).contains(&place.path))
                    .map(|pattern| datadir.join(pattern).to_string_lossy().into_owned()),
            };
            if let Some(original) = original {
                explained.line(&format!("Original path: \"{original}\""));
            }
            match self.data_file(&place.path, &entry.function)? {
                None => explained.line("Path not found"),
                Some(data) => {
                    let raw = data.get(&Value::String(Rc::clone(root)));
                    let value = match raw {
                        Some(raw) => {
                            self.explain_interpolation(raw, query, explained)?;
                            Some(self.interpolate_data(raw, query)?)
                        }
                        None => None,
                    };
                    self.explain_value(root, value.as_ref(), explained);
                    found.extend(value);
                }
            }
            explained.depth -= 1;
            if *strategy == Strategy::First && !found.is_empty() {
                break;
            }
        }
        let value = self.explain_merge(found, strategy, merges, explained)?;
        explained.depth = depth;
        Ok(value)
    }

    /// A lookup inside a value.
    fn explain_inner(
        &self,
        key: &str,
        query: &mut Query<'_>,
        explained: &mut Explanation,
    ) -> Evaluated<()> {
        if query.stack.len() > 20 {
            return Ok(());
        }
        let parts = split_key(key).map_err(Flow::bare)?;
        let root: Rc<str> = interpolated(&parts[0]).into();
        let module = root.split_once("::").map(|(module, _)| module.to_owned());
        let options = self.options_for(&root, module.as_deref(), query)?;
        let strategy = match options.as_ref().and_then(|options| options.get(&Value::from("merge")))
        {
            Some(value) => Strategy::read(value).map_err(Flow::bare)?,
            None => Strategy::First,
        };
        query.stack.push(Rc::clone(&root));
        let told_all = self.explain_search(&root, module.as_deref(), &strategy, query, explained);
        query.stack.pop();
        told_all.map(drop)
    }

    fn explain_value(&self, root: &str, value: Option<&Value>, explained: &mut Explanation) {
        match value {
            Some(value) => {
                explained.line(&format!("Found key: \"{root}\" value: {}", explained.value(value)));
            }
            None => explained.line(&format!("No such key: \"{root}\"")),
        }
    }

    fn explain_interpolation(
        &self,
        raw: &Value,
        query: &mut Query<'_>,
        explained: &mut Explanation,
    ) -> Evaluated<()> {
        let Value::String(text) = raw else { return Ok(()) };
        if !text.contains("%{") {
            return Ok(());
        }
        let depth = explained.depth;
        explained.line(&format!("Interpolation on \"{text}\""));
        for part in text.split("%{").skip(1) {
            let expression = part.split('}').next().unwrap_or_default().trim();
            explained.depth = depth + 1;
            if let Some((_, key)) = super::interpolate::method(expression)
                .filter(|(name, _)| matches!(*name, "lookup" | "hiera" | "alias"))
            {
                self.explain_inner(key, query, explained)?;
                continue;
            }
            if expression.is_empty() || expression.contains('(') {
                continue;
            }
            explained.line("Global Scope");
            let parts = split_key(expression).map_err(Flow::bare)?;
            let name = interpolated(&parts[0]);
            let mut value = self.find_variable(&name, query.scope);
            explained.depth += 1;
            self.explain_value(&name, value.as_ref(), explained);
            if parts.len() > 1 {
                let keys: Vec<String> = parts[1..].iter().map(interpolated).collect();
                explained.depth = depth + 1;
                explained.line(&format!("Sub key: \"{}\"", keys.join(".")));
                explained.depth += 1;
            }
            for part in &parts[1..] {
                let key = interpolated(part);
                value = value.and_then(|value| super::dig(&value, std::slice::from_ref(part)));
                self.explain_value(&key, value.as_ref(), explained);
            }
        }
        explained.depth = depth;
        Ok(())
    }
}
