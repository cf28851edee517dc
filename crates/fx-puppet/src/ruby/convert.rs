//! Values between the language and Ruby, both ways.

use std::rc::Rc;

use fx_ruby::value::{FALSE, NIL, TRUE, Tag, Value as Rb};
use fx_ruby::{Res, Vm};

use super::{Ruby, constant};
use crate::eval::Evaluator;
use crate::regex::Regex;
use crate::types::Type;
use crate::value::{Hash, Value};

/// Deepest nesting that is converted.
const MAX_DEPTH: u32 = 300;

/// Name of the Ruby class that stands for a type.
fn class_of(ty: &Type) -> String {
    let text = match ty {
        Type::Resource { .. } => return "Puppet::Pops::Types::PResourceType".into(),
        Type::Class(_) => return "Puppet::Pops::Types::PClassType".into(),
        Type::Alias { .. } => return "Puppet::Pops::Types::PTypeAliasType".into(),
        ty => ty.to_string(),
    };
    let name = text.split('[').next().unwrap_or_default();
    const KNOWN: &[&str] = &[
        "Scalar",
        "ScalarData",
        "Numeric",
        "Integer",
        "Float",
        "String",
        "Boolean",
        "Regexp",
        "Pattern",
        "Enum",
        "Array",
        "Hash",
        "Tuple",
        "Struct",
        "Collection",
        "Optional",
        "NotUndef",
        "Variant",
        "Undef",
        "Default",
        "Callable",
        "Iterable",
        "Iterator",
        "Type",
        "Data",
        "RichData",
        "Timestamp",
        "Timespan",
        "SemVer",
        "SemVerRange",
        "Binary",
        "URI",
        "Object",
        "TypeSet",
        "CatalogEntry",
        "Init",
        "Sensitive",
    ];
    if KNOWN.contains(&name) {
        format!("Puppet::Pops::Types::P{name}Type")
    } else {
        "Puppet::Pops::Types::PAnyType".into()
    }
}

/// Lists and hashes that were made of one value, by its place: they are one object in Ruby,
/// too, which YAML shows.
type Shared = rustc_hash::FxHashMap<usize, Rb>;

/// The place of a value that others may hold as well.
fn place<T: ?Sized>(value: &Rc<T>, is_empty: bool) -> Option<usize> {
    let may_come_again = !is_empty && Rc::strong_count(value) > 1;
    may_come_again.then(|| Rc::as_ptr(value).cast::<()>() as usize)
}

impl Ruby {
    fn hold(&self, vm: &mut Vm, class: &str, value: &Value) -> Res<Rb> {
        let number = {
            let mut held = self.held.borrow_mut();
            held.push(value.clone());
            held.len() as i64 - 1
        };
        let class = constant(vm, class)?;
        let handle = vm.int(number);
        vm.call_name(class, "__wrap", &[handle])
    }

    /// A value that Ruby knows by number.
    pub(super) fn held(&self, number: i64) -> Value {
        let held = self.held.borrow();
        usize::try_from(number).ok().and_then(|at| held.get(at)).cloned().unwrap_or(Value::Undef)
    }

    /// A value of the language for Ruby.
    pub(super) fn to_ruby(&self, vm: &mut Vm, value: &Value) -> Res<Rb> {
        self.to_ruby_at(vm, value, 0, &mut Shared::default())
    }

    fn to_ruby_at(&self, vm: &mut Vm, value: &Value, depth: u32, shared: &mut Shared) -> Res<Rb> {
        if depth > MAX_DEPTH {
            return vm.arg_error("a value is nested too deeply");
        }
        Ok(match value {
            Value::Undef => NIL,
            Value::Default => {
                let sym = vm.intern("default");
                Rb::sym(sym)
            }
            Value::Bool(value) => {
                if *value {
                    TRUE
                } else {
                    FALSE
                }
            }
            Value::Int(value) => vm.int(*value),
            Value::Float(value) => vm.float(*value),
            Value::String(text) if self.is_symbol(text) => Rb::sym(vm.intern(text)),
            Value::String(text) => vm.str(text.as_bytes()),
            Value::Array(items) | Value::Iterator(items, _) => {
                let place = place(items, items.is_empty());
                if let Some(known) = place.and_then(|place| shared.get(&place)) {
                    return Ok(*known);
                }
                let mut list = Vec::with_capacity(items.len());
                for item in items.iter() {
                    list.push(self.to_ruby_at(vm, item, depth + 1, shared)?);
                }
                let out = vm.arr(list);
                shared.extend(place.map(|place| (place, out)));
                out
            }
            Value::Hash(hash) => {
                let place = place(hash, hash.is_empty());
                if let Some(known) = place.and_then(|place| shared.get(&place)) {
                    return Ok(*known);
                }
                let out = vm.hash();
                shared.extend(place.map(|place| (place, out)));
                for (key, value) in &**hash {
                    let key = self.to_ruby_at(vm, key, depth + 1, shared)?;
                    let value = self.to_ruby_at(vm, value, depth + 1, shared)?;
                    vm.hash_set(out, key, value)?;
                }
                out
            }
            Value::Regex(regex) => {
                let class = constant(vm, "Regexp")?;
                let source = vm.str(regex.source().as_bytes());
                vm.call_name(class, "new", &[source])?
            }
            Value::Sensitive(inner) => {
                let inner = self.to_ruby_at(vm, inner, depth + 1, shared)?;
                let class = constant(vm, "Puppet::Pops::Types::PSensitiveType::Sensitive")?;
                vm.call_name(class, "new", &[inner])?
            }
            Value::Binary(bytes) => {
                let bytes = vm.str(bytes.to_vec());
                let class = constant(vm, "Puppet::Pops::Types::PBinaryType::Binary")?;
                vm.call_name(class, "new", &[bytes])?
            }
            Value::SemVer(text) => {
                let text = vm.str(text.as_bytes());
                let class = constant(vm, "SemanticPuppet::Version")?;
                vm.call_name(class, "parse", &[text])?
            }
            Value::Type(ty) => self.hold(vm, &class_of(ty), value)?,
            Value::Object(ty, fields) if matches!(&**ty, Type::Reference(name) if &**name == "Puppet::LookupContext") =>
            {
                let class = constant(vm, "Puppet::LookupContext")?;
                // Each level of a hierarchy has a cache of its own.
                let number = fields.values().find_map(|field| match field {
                    Value::Int(number) => Some(number.to_string()),
                    _ => None,
                });
                let number = vm.str(number.unwrap_or_default().as_bytes());
                vm.call_name(class, "new", &[number])?
            }
            Value::Timespan(_)
            | Value::Timestamp(_)
            | Value::SemVerRange(_)
            | Value::Uri(_)
            | Value::Deferred(..)
            | Value::Object(..) => self.hold(vm, "Puppet::Pops::Types::Opaque", value)?,
        })
    }

    /// A value of Ruby for the language.
    pub(super) fn language_value(&self, vm: &mut Vm, value: Rb) -> Res<Value> {
        self.language_value_at(vm, value, 0)
    }

    fn language_value_at(&self, vm: &mut Vm, value: Rb, depth: u32) -> Res<Value> {
        if depth > MAX_DEPTH {
            return vm.arg_error("a value is nested too deeply");
        }
        Ok(match value.tag() {
            Tag::Nil | Tag::Undef => Value::Undef,
            Tag::True => Value::Bool(true),
            Tag::False => Value::Bool(false),
            Tag::Int => Value::Int(value.as_fix()),
            Tag::Big => {
                let text = vm.to_s(value)?;
                match text.parse() {
                    Ok(number) => Value::Int(number),
                    Err(_) => return vm.arg_error(format!("{text} is out of range")),
                }
            }
            Tag::Flonum | Tag::Float => Value::Float(vm.heap.float_of(value)),
            // Bytes that are no text stay what they are.
            Tag::Str => match std::str::from_utf8(vm.bytes(value)) {
                Ok(text) => Value::from(text),
                Err(_) => Value::Binary(vm.bytes(value).into()),
            },
            Tag::Sym => {
                let name = value.as_sym().map(|sym| vm.sym_str(sym).into_owned());
                match name.unwrap_or_default().as_str() {
                    "undef" => Value::Undef,
                    "default" => Value::Default,
                    name => Value::String(self.symbol(name)),
                }
            }
            Tag::Arr => {
                let items = vm.heap.arr(value).clone();
                let mut out = Vec::with_capacity(items.len());
                for item in items {
                    out.push(self.language_value_at(vm, item, depth + 1)?);
                }
                Value::array(out)
            }
            Tag::Hash => {
                let mut out = Hash::default();
                for (key, item) in vm.hash_pairs(value) {
                    let key = self.language_value_at(vm, key, depth + 1)?;
                    let item = self.language_value_at(vm, item, depth + 1)?;
                    out.insert(key, item);
                }
                Value::Hash(Rc::new(out))
            }
            Tag::Regex => {
                let source = vm.call_name(value, "source", &[])?;
                Value::Regex(Rc::new(Regex::new(&vm.text(source))))
            }
            _ => self.object_value(vm, value, depth)?,
        })
    }

    /// The text that stands for a symbol.
    fn symbol(&self, name: &str) -> Rc<str> {
        if let Some(known) = self.symbols.borrow().get(name) {
            return Rc::clone(known);
        }
        let text: Rc<str> = name.into();
        self.symbols.borrow_mut().insert(name.to_owned(), Rc::clone(&text));
        text
    }

    /// Whether a text is the very one that stands for a symbol, not another that reads alike.
    fn is_symbol(&self, text: &Rc<str>) -> bool {
        let symbols = self.symbols.borrow();
        !symbols.is_empty() && symbols.get(&**text).is_some_and(|known| Rc::ptr_eq(known, text))
    }

    fn object_value(&self, vm: &mut Vm, value: Rb, depth: u32) -> Res<Value> {
        let handle = vm.intern("@__h");
        if let Some(number) = vm.ivar_get(value, handle).and_then(Rb::fixnum) {
            return Ok(self.held(number));
        }
        let class = vm.real_class(value);
        let name = vm.class_name(class);
        Ok(match name.as_str() {
            "Puppet::Pops::Types::PSensitiveType::Sensitive" => {
                let inner = vm.intern("@value");
                let inner = vm.ivar_get(value, inner).unwrap_or(NIL);
                Value::Sensitive(Rc::new(self.language_value_at(vm, inner, depth + 1)?))
            }
            "Puppet::Pops::Types::PBinaryType::Binary" => {
                let bytes = vm.call_name(value, "binary_buffer", &[])?;
                Value::Binary(vm.bytes(bytes).into())
            }
            "SemanticPuppet::Version" => Value::SemVer(vm.to_s(value)?.into()),
            "Puppet::Resource" | "Puppet::Parser::Resource" => {
                let kind = vm.call_name(value, "type", &[])?;
                let title = vm.call_name(value, "title", &[])?;
                let (kind, title) = (vm.to_s(kind)?, vm.to_s(title)?);
                Value::ty(if kind == "Class" {
                    Type::Class(Some(title.to_lowercase().into()))
                } else {
                    Type::Resource {
                        name: Some(kind.to_lowercase().into()),
                        title: Some(title.into()),
                    }
                })
            }
            _ => {
                let each = vm.intern("each_pair");
                if name != "Struct" && vm.responds(value, each, false)? {
                    let hash = vm.call_name(value, "to_h", &[])?;
                    if hash.is_hash() {
                        return self.language_value_at(vm, hash, depth + 1);
                    }
                }
                let to_a = vm.intern("to_ary");
                if name == "Set" || name == "Enumerator" || vm.responds(value, to_a, false)? {
                    let list = vm.call_name(value, "to_a", &[])?;
                    return self.language_value_at(vm, list, depth + 1);
                }
                Value::from(vm.to_s(value)?)
            }
        })
    }
}

impl Evaluator {
    /// Arguments for a function of the 3.x API: undef at the top is an empty string.
    pub(super) fn old_arguments(&self, vm: &mut Vm, args: &[Value]) -> Res<Vec<Rb>> {
        let ruby = &self.machine.ruby;
        let mut out = Vec::with_capacity(args.len());
        for arg in args {
            out.push(match arg {
                Value::Undef => vm.str(""),
                Value::Type(ty) if super::bridge::is_reference(ty) => {
                    let text = crate::compile::reference_text(ty).unwrap_or_default();
                    let class = constant(vm, "Puppet::Resource")?;
                    let text = vm.str(text);
                    vm.call_name(class, "new", &[text])?
                }
                other => ruby.to_ruby(vm, other)?,
            });
        }
        Ok(out)
    }
}
