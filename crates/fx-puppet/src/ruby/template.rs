//! ERB templates: the text is compiled to a method once, and called with the variables it
//! names.

use std::rc::Rc;

use fx_ruby::value::NIL;

use super::constant;
use crate::eval::{Evaluated, Evaluator, Flow, Issue, Scope};
use crate::value::Value;

impl Evaluator {
    /// Renders a template; a file's text is asked for only if it is not compiled yet.
    pub(crate) fn render_erb(
        &self,
        key: &str,
        file: Option<&str>,
        text: impl FnOnce() -> Evaluated<String>,
        scope: &Rc<Scope>,
    ) -> Evaluated {
        let compiled = self.with_ruby(|vm| {
            let class = constant(vm, "Puppet::Parser::TemplateWrapper")?;
            let key = vm.str(key);
            Ok(vm.call_name(class, "__compiled?", &[key])?.truthy())
        })?;
        let text = if compiled { String::new() } else { text()? };
        let number = self.scope_number(scope);
        let ruby = Rc::clone(&self.machine.ruby);
        let effects = Rc::clone(&self.machine.effects);
        let render = || {
            self.with_ruby(|vm| {
                let class = constant(vm, "Puppet::Parser::TemplateWrapper")?;
                let number = vm.int(number);
                let key = vm.str(key);
                let text = vm.str(text);
                let shown = match file {
                    Some(file) => vm.str(file),
                    None => NIL,
                };
                let result = vm.call_name(class, "__render", &[number, key, text, shown])?;
                ruby.language_value(vm, result)
            })
        };
        effects.author(file.unwrap_or(key), render).map_err(|flow| match flow {
            Flow::Fail(failure)
                if failure.place == crate::eval::Place::Raw && failure.issue != Issue::Template =>
            {
                Flow::raw(match file {
                    Some(file) => format!(
                        "Failed to parse template {}:\n  Filepath: {file}\n  Detail: {}\n",
                        key.strip_prefix("file:").unwrap_or(key),
                        failure.message
                    ),
                    None => format!("Failed to parse inline template: {}", failure.message),
                })
                .with(Issue::Template)
            }
            flow => flow,
        })
    }

    /// `template('a/b.erb')`: the file of a module, or of any path.
    pub(crate) fn template(&self, name: &str, scope: &Rc<Scope>) -> Evaluated {
        let Some(path) = self.module_file(name, "templates") else {
            return Err(Flow::raw(format!("Could not find template '{name}'")));
        };
        let shown = path.to_string_lossy().into_owned();
        let key = format!("file:{name}");
        self.render_erb(&key, Some(&shown), || self.text_of(&path), scope)
    }

    fn text_of(&self, path: &std::path::Path) -> Evaluated<String> {
        let bytes =
            self.run.look().read_trusted(path).map_err(|error| Flow::raw(error.to_string()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A list that a template changed: every variable and parameter that holds it holds the
    /// same list in the original.
    pub(super) fn changed_in_place(&self, name: &str, value: &Value, scope: &Rc<Scope>) {
        let Some(old) = self.find_variable(name, scope) else { return };
        let is_it = |other: &Value| match (&old, other) {
            (Value::Array(a), Value::Array(b)) => Rc::ptr_eq(a, b),
            (Value::Hash(a), Value::Hash(b)) => Rc::ptr_eq(a, b),
            _ => false,
        };
        let mut at = Some(&scope.frame);
        while let Some(frame) = at {
            frame.replace(&is_it, value);
            at = frame.parent.as_ref();
        }
        #[expect(clippy::iter_over_hash_type, reason = "each is looked at by itself")]
        for frame in self.pending.borrow().class_frames.values() {
            frame.replace(&is_it, value);
        }
        let mut catalog = self.catalog.borrow_mut();
        for resource in &mut catalog.resources {
            for given in resource.attributes.values_mut().filter(|given| is_it(&given.value)) {
                given.value = value.clone();
            }
        }
    }

    /// `inline_template`: texts, one after the other.
    pub(crate) fn inline_template(&self, text: &str, scope: &Rc<Scope>) -> Evaluated {
        self.render_erb(&format!("text:{text}"), None, || Ok(text.to_owned()), scope)
    }
}

/// Texts of several templates as one.
pub(crate) fn joined(parts: Vec<Value>) -> Value {
    let text: String = parts.iter().filter_map(Value::as_str).collect();
    Value::from(text)
}
