//! What a data function of the language can ask its context: the cache of its level, values put
//! into text, and that a key is not there. The same for functions in Ruby is in the prelude.

use std::rc::Rc;

use super::Query;
use crate::eval::{Closure, Evaluated, Evaluator, Flow, Scope, interpolated};
use crate::types::Type;
use crate::value::{Hash, Value};

const NUMBER: &str = "\0level";

/// The context of a level, known by a number.
pub(super) fn context(number: usize, environment: &str, module: Option<&str>) -> Value {
    let fields: Hash = [
        (Value::from(NUMBER), Value::Int(number as i64)),
        (Value::from("environment_name"), Value::from(environment)),
        (Value::from("module_name"), module.map_or(Value::Undef, Value::from)),
    ]
    .into_iter()
    .collect();
    Value::Object(Rc::new(Type::Reference("Puppet::LookupContext".into())), Rc::new(fields))
}

/// Whether a value is the context of a level.
pub(crate) fn is_context(value: &Value) -> bool {
    matches!(value, Value::Object(ty, _) if matches!(&**ty, Type::Reference(name) if &**name == "Puppet::LookupContext"))
}

/// What a function answers for a key that it does not have.
pub(super) fn is_not_found(value: &Value) -> bool {
    matches!(value, Value::Type(ty) if matches!(&**ty, Type::Reference(name) if &**name == "\0not_found"))
}

impl Evaluator {
    /// A method of a context; nothing where the value is none or has no such method.
    pub(crate) fn context_method(
        &self,
        receiver: &Value,
        name: &str,
        args: &[Value],
        block: Option<&Closure>,
        span: fx_source::Span,
        scope: &Rc<Scope>,
    ) -> Evaluated<Option<Value>> {
        let Value::Object(_, fields) = receiver else { return Ok(None) };
        if !is_context(receiver) {
            return Ok(None);
        }
        let Some(Value::Int(number)) = fields.get(&Value::from(NUMBER)) else { return Ok(None) };
        let key = args.first().cloned().unwrap_or(Value::Undef);
        let cached = |key: &Value| {
            let lookups = self.lookups.borrow();
            lookups.caches.get(number).and_then(|cache| cache.get(key).cloned())
        };
        Ok(Some(match name {
            "not_found" => {
                let marker = Value::ty(Type::Reference("\0not_found".into()));
                return Err(Flow::Return(marker, span));
            }
            "explain" => Value::Undef,
            "interpolate" => {
                let mut query = Query::new(scope);
                self.interpolate_data(&key, &mut query)?
            }
            "cache" => {
                let value = args.get(1).cloned().unwrap_or(Value::Undef);
                let mut lookups = self.lookups.borrow_mut();
                lookups.caches.entry(*number).or_default().insert(key, value.clone());
                value
            }
            "cache_all" => {
                if let Value::Hash(all) = &key {
                    let mut lookups = self.lookups.borrow_mut();
                    let cache = lookups.caches.entry(*number).or_default();
                    cache.extend(all.iter().map(|(key, value)| (key.clone(), value.clone())));
                }
                Value::Undef
            }
            "cached_value" => cached(&key).unwrap_or(Value::Undef),
            "cache_has_key" => Value::Bool(cached(&key).is_some()),
            "cached_entries" => {
                let all = self.lookups.borrow().caches.get(number).cloned().unwrap_or_default();
                self.each_entry(all, block)?
            }
            "cached_file_data" => self.file_data(&key, block)?,
            _ => return Ok(None),
        }))
    }

    fn each_entry(&self, all: Hash, block: Option<&Closure>) -> Evaluated {
        let Some(block) = block else {
            let pairs = all.into_iter().map(|(key, value)| Value::array(vec![key, value]));
            return Ok(Value::array(pairs.collect()));
        };
        for (key, value) in all {
            let args = if block.params.len() > 1 {
                vec![key, value]
            } else {
                vec![Value::array(vec![key, value])]
            };
            self.call_closure(block, args)?;
        }
        Ok(Value::Undef)
    }

    fn file_data(&self, path: &Value, block: Option<&Closure>) -> Evaluated {
        let path = interpolated(path);
        let bytes =
            self.run.look().read_trusted_data(std::path::Path::new(&path)).map_err(|_| {
                Flow::raw(format!("No such file or directory @ rb_sysopen - {path}"))
            })?;
        let text = Value::from(String::from_utf8_lossy(&bytes).into_owned());
        match block {
            Some(block) => self.call_closure(block, vec![text]),
            None => Ok(text),
        }
    }
}
