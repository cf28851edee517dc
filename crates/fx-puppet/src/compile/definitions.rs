//! What is defined: by the manifest, or loaded from modules when a name is first used.

use std::path::PathBuf;
use std::rc::Rc;

use fx_puppet_syntax::{Definition, DefinitionKind, Program};
use fx_source::{Severity, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Kind;
use crate::eval::{Closure, Evaluated, Evaluator, Flow, Scope};
use crate::types::Type;
use crate::value::Value;

/// A definition and the module it is from.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) definition: Definition,
    pub(crate) module: Rc<str>,
    /// What its code is called where parameters say who set them.
    pub(crate) source: Rc<str>,
    /// The inherited class, in lower case.
    pub(crate) parent: Option<Rc<str>>,
    /// The same as a source.
    pub(crate) parent_source: Option<Rc<str>>,
}

/// All definitions by name.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    pub(crate) classes: FxHashMap<Rc<str>, Rc<Entry>>,
    pub(crate) defines: FxHashMap<Rc<str>, Rc<Entry>>,
    functions: FxHashMap<Rc<str>, Rc<Entry>>,
    aliases: FxHashMap<Rc<str>, Rc<Entry>>,
    pub(crate) nodes: Vec<Rc<Entry>>,
    loaded: FxHashSet<PathBuf>,
}

/// A name that two node definitions share.
fn common_name(one: &Definition, other: &Definition) -> Option<String> {
    let names = |definition: &Definition| -> Vec<String> {
        let name = |expr: &fx_puppet_syntax::Expr| match &expr.kind {
            fx_puppet_syntax::ExprKind::String(text) | fx_puppet_syntax::ExprKind::Name(text) => {
                text.to_lowercase()
            }
            fx_puppet_syntax::ExprKind::Regex(source) => super::node_title(source),
            _ => "default".to_owned(),
        };
        definition.node.iter().flat_map(|node| &node.matches).map(name).collect()
    };
    let known = names(one);
    names(other).into_iter().find(|name| known.contains(name))
}

fn segments_good(name: &str) -> bool {
    !name.is_empty()
        && name.split("::").all(|part| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
}

impl Evaluator {
    /// Adds what a program defines.
    pub(crate) fn add_definitions(&self, program: &Program, module: &str) -> Evaluated<()> {
        for definition in &program.definitions {
            let name: Rc<str> = definition.name.trim_start_matches("::").to_lowercase().into();
            let parent: Option<Rc<str>> = definition
                .parent
                .as_ref()
                .map(|parent| parent.trim_start_matches("::").to_lowercase().into());
            let word = if definition.kind == DefinitionKind::Class { "class" } else { "define" };
            let entry = Rc::new(Entry {
                definition: definition.clone(),
                module: module.into(),
                source: format!("{word} {name}").into(),
                parent_source: parent.as_ref().map(|parent| format!("class {parent}").into()),
                parent,
            });
            self.phase(|| match definition.kind {
                DefinitionKind::Node => "define node".into(),
                kind => format!("define {} {name}", format!("{kind:?}").to_lowercase()),
            });
            self.check_parameters(definition, &name)?;
            let mut all = self.definitions.borrow_mut();
            let clash = match definition.kind {
                DefinitionKind::Define => all.classes.get(&name).map(|known| {
                    (
                        known,
                        format!("'{name}' is already defined"),
                        " as a class; cannot redefine as a definition",
                    )
                }),
                DefinitionKind::Class => all.defines.get(&name).map(|known| {
                    (
                        known,
                        format!("Definition '{name}' is already defined"),
                        "; cannot be redefined as a class",
                    )
                }),
                _ => None,
            };
            if let Some((known, what, behind)) = clash {
                return Err(Flow::line(
                    definition.span,
                    format!("{what} {}{behind}", self.line_text(known.definition.span)),
                ));
            }
            let table = match definition.kind {
                DefinitionKind::Class => &mut all.classes,
                DefinitionKind::Define => &mut all.defines,
                DefinitionKind::Function => &mut all.functions,
                DefinitionKind::TypeAlias => &mut all.aliases,
                DefinitionKind::Node => {
                    let known = all.nodes.iter().find_map(|known| {
                        let name = common_name(&known.definition, definition)?;
                        Some((name, known.definition.span))
                    });
                    if let Some((name, old)) = known.filter(|(_, old)| *old != definition.span) {
                        return Err(Flow::line(
                            definition.span,
                            format!(
                                "Node '{name}' is already defined {}; cannot redefine",
                                self.line_text(old)
                            ),
                        ));
                    }
                    all.nodes.push(entry);
                    continue;
                }
                DefinitionKind::Plan => continue,
            };
            if let Some(known) = table.get(&name) {
                // A file that is read again brings what is known.
                if known.definition.span == definition.span {
                    continue;
                }
                let old = known.definition.span;
                return Err(Flow::bare(match definition.kind {
                    DefinitionKind::Class => format!(
                        "Class '{name}' is already defined {}; cannot redefine {}",
                        self.line_text(old),
                        self.line_text(definition.span)
                    ),
                    kind => {
                        let at = self.sources.location(old);
                        let place = match &*at.file {
                            "" => "string:".to_owned(),
                            file => format!("file://{file}"),
                        };
                        let (of, column) = match kind {
                            DefinitionKind::Function => ("function", at.column),
                            // Of an alias the name's place is reported.
                            DefinitionKind::TypeAlias => ("type", at.column + 5),
                            _ => ("type", at.column),
                        };
                        format!(
                            "Attempt to redefine entity 'http://puppet.com/2016.1/runtime/{of}/{}'. Originally set at {place}?line={}&pos={column}.",
                            name.to_lowercase(),
                            at.line
                        )
                    }
                }));
            }
            table.insert(name, entry);
        }
        self.check_types(program)
    }

    /// Types of parameters must be there as soon as what has them is.
    fn check_types(&self, program: &Program) -> Evaluated<()> {
        let mut scope = None;
        for definition in &program.definitions {
            if !matches!(definition.kind, DefinitionKind::Class | DefinitionKind::Define) {
                continue;
            }
            for ty in definition.params.iter().filter_map(|param| param.ty.as_ref()) {
                if crate::eval::is_constant(ty, 0) {
                    let scope = scope.get_or_insert_with(|| Scope::new(Rc::clone(&self.top)));
                    self.type_of(ty, scope)?;
                }
            }
        }
        Ok(())
    }

    /// Parameters must not be named like those that every resource has; with a default they may.
    fn check_parameters(&self, definition: &Definition, name: &str) -> Evaluated<()> {
        if !matches!(definition.kind, DefinitionKind::Class | DefinitionKind::Define) {
            return Ok(());
        }
        for param in definition.params.iter().filter(|param| super::is_metaparameter(&param.name)) {
            if param.default.is_none() {
                return Err(Flow::bare(format!(
                    "{} is a metaparameter; please choose another parameter name in the {name} definition",
                    param.name
                )));
            }
            self.warn(
                &format!(
                    "{} is a metaparam; this value will inherit to all contained resources in the {name} definition",
                    param.name
                ),
                None,
            );
        }
        Ok(())
    }

    /// The folder of a module.
    pub(crate) fn module_dir(&self, name: &str) -> Option<PathBuf> {
        if !segments_good(name) || name.contains("::") {
            return None;
        }
        if let Some(known) = self.machine.read.modules.borrow().get(name) {
            return known.clone();
        }
        let host = self.run.look();
        let found = self
            .settings
            .modulepath
            .iter()
            .map(|root| root.join(name))
            .find(|path| host.stat(path).is_ok_and(|meta| meta.is_dir()));
        self.machine.read.modules.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }

    /// Where `module/path` would be as a file of that module; an absolute path as it is.
    pub(crate) fn module_path(&self, name: &str, kind: &str) -> Option<PathBuf> {
        if name.starts_with('/') {
            return Some(PathBuf::from(name));
        }
        let (module, rest) = name.split_once('/')?;
        if rest.split('/').any(|part| part == "..") {
            return None;
        }
        Some(self.module_dir(module)?.join(kind).join(rest))
    }

    /// `module/path` as a file of that module that is there.
    pub(crate) fn module_file(&self, name: &str, kind: &str) -> Option<PathBuf> {
        self.module_path(name, kind).filter(|path| self.run.look().stat(path).is_ok())
    }

    /// Loads the file that may define a name.
    fn autoload(&self, name: &str, folder: &str) -> Evaluated<()> {
        if !segments_good(name) {
            return Ok(());
        }
        let (module, rest) = name.split_once("::").unwrap_or((name, "init"));
        let Some(dir) = self.module_dir(module) else { return Ok(()) };
        let path = dir.join(folder).join(format!("{}.pp", rest.replace("::", "/")));
        if !self.definitions.borrow_mut().loaded.insert(path.clone()) {
            return Ok(());
        }
        let known = self.machine.read.programs.borrow().get(&path).cloned();
        if let Some(program) = known {
            self.phase(|| format!("load {}", path.display()));
            return self.add_definitions(&program, module);
        }
        let Ok(Some(bytes)) = self.run.look().read_trusted_opt(&path) else { return Ok(()) };
        self.phase(|| format!("load {}", path.display()));
        let file = self.sources.add(&path.to_string_lossy(), &*bytes);
        let (program, mut found) = fx_puppet_syntax::parse(&bytes, file);
        if found.iter().all(|found| found.severity != Severity::Error) {
            found.extend(fx_puppet_syntax::validate(&program, self.settings.strictness()));
        }
        if let Some(error) = found.iter().find(|found| found.severity == Severity::Error) {
            return Err(Flow::raw(self.diagnostic_text(error)));
        }
        let program = Rc::new(program);
        self.machine.read.programs.borrow_mut().insert(path, Rc::clone(&program));
        self.add_definitions(&program, module)
    }

    /// Loads manifests that may define a name, the most specific first, until one does.
    fn search_manifests(
        &self,
        name: &str,
        find: impl Fn(&Definitions) -> Option<Rc<Entry>>,
    ) -> Evaluated<Option<Rc<Entry>>> {
        let mut at = name;
        loop {
            self.autoload(at, "manifests")?;
            if let Some(found) = find(&self.definitions.borrow()) {
                return Ok(Some(found));
            }
            match at.rsplit_once("::") {
                Some((outer, _)) => at = outer,
                None => return Ok(None),
            }
        }
    }

    /// A class by its name in lower case.
    pub(crate) fn class_named(&self, name: &str) -> Evaluated<Option<Rc<Entry>>> {
        if let Some(entry) = self.definitions.borrow().classes.get(name) {
            return Ok(Some(Rc::clone(entry)));
        }
        self.search_manifests(name, |definitions| definitions.classes.get(name).cloned())
    }

    /// A define by its name in lower case.
    pub(crate) fn define_named(&self, name: &str) -> Evaluated<Option<Rc<Entry>>> {
        if let Some(entry) = self.definitions.borrow().defines.get(name) {
            return Ok(Some(Rc::clone(entry)));
        }
        self.search_manifests(name, |definitions| definitions.defines.get(name).cloned())
    }

    /// Whether resources of this type can be declared.
    pub(crate) fn is_resource_type(&self, name: &str) -> Evaluated<bool> {
        Ok(self.native_kind(name)?.is_some() || self.define_named(name)?.is_some())
    }

    /// What is known of a resource type that is not written in the language.
    pub(crate) fn native_kind(&self, low: &str) -> Evaluated<Option<Rc<Kind>>> {
        if let Some(known) = self.machine.read.kinds.borrow().get(low) {
            return Ok(known.clone());
        }
        let found = if low.contains(':') {
            None
        } else {
            match super::kinds::built_in(low) {
                Some(kind) => Some(Rc::new(kind)),
                None => self.ruby_kind(low)?.map(Rc::new),
            }
        };
        self.machine.read.kinds.borrow_mut().insert(low.into(), found.clone());
        Ok(found)
    }

    /// A function of the language by name.
    pub(crate) fn function_named(&self, name: &str) -> Evaluated<Option<Closure>> {
        let key = name.to_lowercase();
        let find = || self.definitions.borrow().functions.get(key.as_str()).cloned();
        let entry = if let Some(entry) = find() {
            entry
        } else {
            self.autoload(&key, "functions")?;
            match find() {
                Some(entry) => entry,
                None => return Ok(None),
            }
        };
        let definition = &entry.definition;
        Ok(Some(Closure {
            name: Some(Rc::clone(&definition.name)),
            params: Rc::clone(&definition.params),
            returns: definition.return_type.clone(),
            body: Rc::clone(&definition.body),
            scope: Scope::new(Rc::clone(&self.top)),
            native: None,
        }))
    }

    /// A type alias by name.
    pub(crate) fn alias(&self, name: &str, _span: Span) -> Evaluated<Option<Type>> {
        let name = name.trim_start_matches("::");
        let key: Rc<str> = name.to_lowercase().into();
        // An alias has the name it was defined by, whatever letters it is asked for with.
        let defined = |name: &str| -> Rc<str> {
            let definitions = self.definitions.borrow();
            definitions.aliases.get(&key).map_or_else(
                || name.into(),
                |entry| entry.definition.name.trim_start_matches("::").into(),
            )
        };
        if let Some(known) = self.machine.read.aliases.borrow().get(&key) {
            // An alias that is being resolved stands for itself inside.
            let target = known.clone().unwrap_or_else(|| Rc::new(Type::Any));
            return Ok(Some(match &*target {
                Type::Object(Some(_)) => Type::clone(&target),
                _ => Type::Alias { name: defined(name), target },
            }));
        }
        let find = || self.definitions.borrow().aliases.get(&key).cloned();
        let entry = if let Some(entry) = find() {
            entry
        } else {
            self.autoload(&key, "types")?;
            match find() {
                Some(entry) => entry,
                None => return Ok(None),
            }
        };
        let later =
            Rc::new(crate::types::Later { name: name.into(), target: std::cell::OnceCell::new() });
        let inside = Rc::new(Type::Later(Rc::clone(&later)));
        self.machine.read.aliases.borrow_mut().insert(Rc::clone(&key), Some(inside));
        let scope = Scope::new(Rc::clone(&self.top));
        let target = self.alias_target(&entry, name, &scope);
        match target {
            Ok(target) if matches!(target.resolved(), Type::Later(other) if other.name == later.name) =>
            {
                self.machine.read.aliases.borrow_mut().remove(&key);
                Err(Flow::raw(format!("Type alias '{name}' cannot be resolved to a real type")))
            }
            Ok(target) => {
                let _unset = later.target.set(Rc::clone(&target));
                self.machine
                    .read
                    .aliases
                    .borrow_mut()
                    .insert(Rc::clone(&key), Some(Rc::clone(&target)));
                // A type of its own is known by its name, not as a name for another.
                Ok(Some(match &*target {
                    Type::Object(Some(_)) => Type::clone(&target),
                    _ => Type::Alias { name: defined(name), target },
                }))
            }
            Err(flow) => {
                self.machine.read.aliases.borrow_mut().remove(&key);
                Err(flow)
            }
        }
    }

    fn alias_target(&self, entry: &Entry, name: &str, scope: &Rc<Scope>) -> Evaluated<Rc<Type>> {
        match self.eval(&entry.definition.body, scope)? {
            Value::Type(ty) => Ok(match &*ty {
                Type::Object(Some(object)) => {
                    let mut object = crate::types::ObjectType::clone(object);
                    object.name = name.into();
                    Rc::new(Type::Object(Some(Rc::new(object))))
                }
                _ => ty,
            }),
            Value::Hash(hash) => {
                let mut object = self.object_type(&hash)?;
                object.name = name.into();
                Ok(Rc::new(Type::Object(Some(Rc::new(object)))))
            }
            other => Err(Flow::at(
                entry.definition.body.span,
                format!("{} is not a type", crate::eval::program_text(&other)),
            )),
        }
    }
}
