//! Types written in the language, their instances, and attributes of values.

use std::rc::Rc;

use super::error::Flow;
use super::{Evaluated, Evaluator};
use crate::types::{ObjectType, Type, is_instance};
use crate::value::{Hash, Value};

/// An attribute of a value, for `value.name`.
pub(crate) fn attribute(value: &Value, name: &str) -> Option<Value> {
    match value {
        Value::Uri(text) => super::uri::attribute(text, name),
        Value::Object(ty, fields) => {
            if let Some(found) = fields.get(&Value::from(name)) {
                return Some(found.clone());
            }
            let mut at = Some(Rc::clone(ty));
            while let Some(ty) = at.take() {
                let Type::Object(Some(object)) = ty.resolved() else { break };
                if let Some((.., default)) =
                    object.attributes.iter().find(|(known, ..)| **known == *name)
                {
                    return Some(default.clone().unwrap_or(Value::Undef));
                }
                at.clone_from(&object.parent);
            }
            None
        }
        _ => None,
    }
}

/// What went wrong, as a value.
const ERROR: &str = "Object[{name => 'Error', attributes => {msg => String[1], kind => {type => Optional[String[1]], value => undef}, details => {type => Optional[Hash[String[1], Data]], value => undef}, issue_code => {type => Optional[String[1]], value => undef}}}]";

impl Evaluator {
    /// The type of what went wrong.
    pub(crate) fn error_type(&self) -> Evaluated<Rc<Type>> {
        self.type_from_text(ERROR)
    }

    /// An instance of it.
    pub(crate) fn error_value(
        &self,
        message: &str,
        kind: &str,
        details: Value,
        code: &str,
    ) -> Evaluated {
        let fields = [("msg", message.into()), ("kind", kind.into()), ("details", details)];
        let mut fields: Hash =
            fields.into_iter().map(|(name, value)| (Value::from(name), value)).collect();
        fields.insert("issue_code".into(), code.into());
        Ok(Value::Object(self.error_type()?, Rc::new(fields)))
    }

    /// A type from its description.
    pub(crate) fn object_type(&self, hash: &Rc<Hash>) -> Evaluated<ObjectType> {
        let get = |name: &str| hash.get(&Value::from(name));
        let name = get("name").and_then(Value::as_str).unwrap_or_default();
        let parent = match get("parent") {
            Some(Value::Type(ty)) => Some(Rc::clone(ty)),
            _ => None,
        };
        let mut attributes = Vec::new();
        for section in ["attributes", "constants"] {
            let Some(Value::Hash(given)) = get(section) else { continue };
            for (key, value) in &**given {
                let key: Rc<str> = key.as_str().unwrap_or_default().into();
                match value {
                    Value::Type(ty) => attributes.push((key, Rc::clone(ty), None)),
                    Value::Hash(details) if section == "attributes" => {
                        let Some(Value::Type(ty)) = details.get(&Value::from("type")) else {
                            return Err(Flow::raw(format!("attribute {name}[{key}] has no type")));
                        };
                        let optional = matches!(
                            details.get(&Value::from("kind")).and_then(Value::as_str),
                            Some("constant" | "derived" | "given_or_derived")
                        );
                        let default = details.get(&Value::from("value")).cloned();
                        attributes.push((
                            key,
                            Rc::clone(ty),
                            default.or(optional.then_some(Value::Undef)),
                        ));
                    }
                    constant => attributes.push((key, Rc::new(Type::Any), Some(constant.clone()))),
                }
            }
        }
        Ok(ObjectType { name: name.into(), init: Value::Hash(Rc::clone(hash)), attributes, parent })
    }

    /// An instance from arguments by place, or from one hash by name.
    pub(super) fn new_object(&self, ty: &Rc<Type>, args: &[Value]) -> Evaluated {
        let mut attributes = Vec::new();
        let mut chain = Vec::new();
        let mut at = Some(Rc::clone(ty));
        while let Some(ty) = at.take() {
            let Type::Object(Some(object)) = ty.resolved() else { break };
            chain.push(Rc::clone(object));
            at.clone_from(&object.parent);
        }
        for object in chain.iter().rev() {
            attributes.extend(object.attributes.iter().cloned());
        }
        // What must be given comes first.
        attributes.sort_by_key(|(.., default)| default.is_some());
        let name = chain.first().map_or_else(String::new, |object| object.name.to_string());
        let required = attributes.iter().filter(|(.., default)| default.is_none()).count();
        let by_name = match args {
            [Value::Hash(hash)]
                if hash.keys().all(|key| {
                    key.as_str()
                        .is_some_and(|key| attributes.iter().any(|(name, ..)| **name == *key))
                }) =>
            {
                Some(hash)
            }
            _ => None,
        };
        let mut fields = Hash::default();
        if let Some(hash) = by_name {
            for (name, _, default) in &attributes {
                match hash.get(&Value::String(Rc::clone(name))) {
                    Some(value) => {
                        fields.insert(Value::String(Rc::clone(name)), value.clone());
                    }
                    None if default.is_none() => {
                        return Err(Flow::raw(format!("expects a value for key '{name}'")));
                    }
                    None => {}
                }
            }
        } else {
            if args.len() < required || args.len() > attributes.len() {
                let size =
                    crate::types::Range::new(Some(required as i64), Some(attributes.len() as i64));
                return Err(Flow::raw(format!(
                    "'new_{name}' {}",
                    super::call::count_text(size, args.len())
                )));
            }
            for ((name, ..), value) in attributes.iter().zip(args) {
                fields.insert(Value::String(Rc::clone(name)), value.clone());
            }
        }
        for (field, ty, _) in &attributes {
            if let Some(value) = fields.get(&Value::String(Rc::clone(field)))
                && !is_instance(ty, value)
            {
                return Err(Flow::raw(format!(
                    "'new_{name}' {}",
                    super::mismatch_text(&format!("parameter '{field}'"), ty, value)
                )));
            }
        }
        Ok(Value::Object(Rc::clone(ty), Rc::new(fields)))
    }
}
