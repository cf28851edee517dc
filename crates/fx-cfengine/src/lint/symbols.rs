//! What a policy defines: bundles with their variables, and classes, by name or by the
//! fixed parts of a name that is made of variables.

use fx_cfengine_syntax as ast;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::eval::vars::Ref;
use crate::text::canonify;

use super::{text_of, walk};

/// The variables of one bundle.
#[derive(Debug, Default)]
pub(super) struct BundleVars {
    pub(super) names: FxHashSet<String>,
    /// Beginnings of names that end in a variable.
    prefixes: Vec<String>,
    /// Names that are wholly made of variables: anything may be defined.
    open: bool,
}

impl BundleVars {
    pub(super) fn may_have(&self, name: &str) -> bool {
        self.open
            || self.names.contains(name)
            || self.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
    }

    fn define(&mut self, name: &str) {
        let base = name.split('[').next().unwrap_or(name);
        match base.find(['$', '@']) {
            None => {
                self.names.insert(base.to_owned());
            }
            Some(0) => self.open = true,
            Some(at) => self.prefixes.push(base[..at].to_owned()),
        }
    }
}

/// All that is defined anywhere in a policy.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// By `namespace:name`; bundles of several types with one name are one.
    pub(super) bundles: FxHashMap<String, BundleVars>,
    pub(super) classes: FxHashSet<String>,
    /// Beginning and end of class names with a variable between.
    patterns: Vec<(String, String)>,
    /// Strings given to functions, bodies and bundles: names of arrays they fill, of
    /// variables they test, of classes they define.
    words: FxHashSet<String>,
}

impl Symbols {
    pub(super) fn of(trees: &[ast::File]) -> Symbols {
        let mut symbols = Symbols::default();
        for block in trees.iter().flat_map(|tree| &tree.blocks) {
            match block {
                ast::Block::Bundle(bundle) => symbols.add_bundle(bundle),
                ast::Block::Settings(body) => {
                    let defines_classes = &*body.kind.text == "classes";
                    for attribute in &body.attributes {
                        symbols.add_words(&attribute.value);
                        if defines_classes {
                            symbols.add_class_values(&attribute.value);
                        }
                    }
                }
            }
        }
        symbols
    }

    /// Whether a string of this text was given to something that may define or test it.
    pub(super) fn is_word(&self, name: &str) -> bool {
        self.words.contains(name)
    }

    pub(super) fn may_be_class(&self, name: &str) -> bool {
        self.classes.contains(name)
            || self.words.contains(name)
            || self.patterns.iter().any(|(start, end)| {
                name.len() > start.len() + end.len()
                    && name.starts_with(start.as_str())
                    && name.ends_with(end.as_str())
            })
    }

    fn add_bundle(&mut self, bundle: &ast::Bundle) {
        let key = format!("{}:{}", bundle.namespace, bundle.name.text);
        let own = self.bundles.entry(key.clone()).or_default();
        for arg in &bundle.args {
            own.names.insert(arg.text.to_string());
        }
        for section in &bundle.sections {
            for promise in &section.promises {
                self.add_promise(&bundle.namespace, &key, &section.kind.text, promise);
            }
        }
    }

    fn add_promise(&mut self, namespace: &str, bundle: &str, kind: &str, promise: &ast::Promise) {
        let promiser = &*promise.promiser.text;
        match kind {
            "vars" | "defaults" => self.define_variable(namespace, bundle, promiser),
            "classes" => self.define_class(promiser),
            // `meta` variables are those of a bundle of their own.
            "meta" => self.define_variable(namespace, &format!("{bundle}_meta"), promiser),
            _ => {}
        }
        for attribute in &promise.attributes {
            self.add_words(&attribute.value);
            match &*attribute.name.text {
                "useresult" => {
                    if let Some(name) = text_of(&attribute.value) {
                        self.define_variable(namespace, bundle, name);
                    }
                }
                "classes" | "persistent_classes" => self.add_class_values(&attribute.value),
                _ => {}
            }
        }
    }

    fn define_variable(&mut self, namespace: &str, bundle: &str, name: &str) {
        let reference = Ref::parse(name);
        let key = match (reference.namespace, reference.scope) {
            (space, Some(scope)) if !scope.contains('$') => {
                format!("{}:{scope}", space.unwrap_or(namespace))
            }
            _ => bundle.to_owned(),
        };
        self.bundles.entry(key).or_default().define(reference.name);
    }

    fn define_class(&mut self, name: &str) {
        let name = name.rsplit(':').next().unwrap_or(name);
        match (name.find(['$', '@']), name.rfind([')', '}'])) {
            (Some(start), Some(end)) if end > start => {
                let fixed = (canonify(&name[..start]), canonify(&name[end + 1..]));
                if fixed.0.len() + fixed.1.len() > 1 {
                    self.patterns.push(fixed);
                }
            }
            _ => {
                self.classes.insert(canonify(name));
            }
        }
    }

    fn add_class_values(&mut self, value: &ast::Rval) {
        walk(
            value,
            &mut |value| {
                if let ast::RvalKind::Quoted(text) = &value.kind {
                    self.define_class(text);
                }
            },
            0,
        );
    }

    fn add_words(&mut self, value: &ast::Rval) {
        walk(
            value,
            &mut |value| {
                let ast::RvalKind::Call { args, .. } = &value.kind else { return };
                for text in args.iter().filter_map(text_of) {
                    let base = text.split('[').next().unwrap_or(text);
                    self.words.insert(base.to_owned());
                    self.words.insert(canonify(base));
                    if base.contains('$') {
                        self.define_class(base);
                    }
                }
            },
            0,
        );
    }
}
