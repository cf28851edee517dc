//! The type system: what types there are. How they print, what fits into what, what type a
//! value has and how a mismatch is reported lie in the files beside.

mod assignable;
pub(crate) mod display;
mod infer;
mod mismatch;
mod normal;

use std::rc::Rc;

use crate::regex::Regex;
use crate::value::Value;

pub use display::capitalized;
pub(crate) use display::{float_text, regex_text};
pub(crate) use infer::{generalize, infer, infer_set, is_instance, yielded};
pub(crate) use mismatch::{Mismatch, Step, common, describe, describe_mismatch};
pub(crate) use normal::expanded;

/// A size or range; `None` is open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range<T> {
    /// Least.
    pub min: Option<T>,
    /// Most.
    pub max: Option<T>,
}

impl<T> Range<T> {
    /// Without limits.
    pub const OPEN: Range<T> = Range { min: None, max: None };
}

impl<T: PartialOrd + Copy> Range<T> {
    /// From one value to another.
    pub fn new(min: Option<T>, max: Option<T>) -> Range<T> {
        Range { min, max }
    }

    /// Exactly this.
    pub fn exactly(value: T) -> Range<T> {
        Range { min: Some(value), max: Some(value) }
    }

    /// Whether a value lies in it.
    pub fn contains(&self, value: T) -> bool {
        self.min.is_none_or(|min| min <= value) && self.max.is_none_or(|max| value <= max)
    }

    /// Whether all of another range lies in it.
    pub fn covers(&self, other: &Range<T>) -> bool {
        let low = match (self.min, other.min) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => a <= b,
        };
        let high = match (self.max, other.max) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => a >= b,
        };
        low && high
    }
}

/// Sizes count from zero.
pub(crate) type Size = Range<i64>;

/// Any number of items.
pub(crate) const ANY_SIZE: Size = Range { min: Some(0), max: None };

/// A member of a Struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its key.
    pub name: Rc<str>,
    /// How the key was written: `Optional[…]`, `NotUndef[…]` or plain.
    pub key: KeyForm,
    /// Type of its value.
    pub value: Rc<Type>,
}

impl Member {
    /// Whether a hash must have it.
    pub fn is_required(&self) -> bool {
        match self.key {
            KeyForm::Optional => false,
            KeyForm::NotUndef => true,
            KeyForm::Plain => !assignable::accepts_undef(&self.value),
        }
    }
}

/// How a Struct's key was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    Plain,
    Optional,
    NotUndef,
}

/// Parameters of a Callable.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// Types of the parameters.
    pub params: Vec<Rc<Type>>,
    /// How many arguments.
    pub size: Size,
    /// Type of the block.
    pub block: Option<Rc<Type>>,
    /// Type of the result.
    pub returns: Option<Rc<Type>>,
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the language")]
pub enum Type {
    Any,
    Unit,
    Undef,
    Default,
    Boolean(Option<bool>),
    Integer(Range<i64>),
    Float(Range<f64>),
    Numeric,
    String(Size),
    /// A string of one known text, as inferred from a value; prints as String.
    Literal(Rc<str>),
    Enum {
        values: Vec<Rc<str>>,
        ignore_case: bool,
    },
    Pattern(Vec<Rc<Regex>>),
    Regexp(Option<Rc<Regex>>),
    Scalar,
    ScalarData,
    Data,
    RichData,
    Collection(Size),
    Array {
        element: Rc<Type>,
        size: Size,
    },
    Hash {
        key: Rc<Type>,
        value: Rc<Type>,
        size: Size,
    },
    Tuple {
        types: Vec<Rc<Type>>,
        size: Option<Size>,
    },
    Struct(Vec<Member>),
    Iterable(Option<Rc<Type>>),
    Iterator(Option<Rc<Type>>),
    Variant(Vec<Rc<Type>>),
    Optional(Option<Rc<Type>>),
    NotUndef(Option<Rc<Type>>),
    /// `Type[T]`
    Meta(Option<Rc<Type>>),
    Callable(Option<Signature>),
    CatalogEntry,
    /// `Resource`, `File`, `File['/x']`; the name in lower case.
    Resource {
        name: Option<Rc<str>>,
        title: Option<Rc<str>>,
    },
    /// `Class`, `Class['x']`
    Class(Option<Rc<str>>),
    Sensitive(Option<Rc<Type>>),
    Binary,
    SemVer(Vec<Rc<str>>),
    SemVerRange,
    Timestamp(Range<i128>),
    Timespan(Range<i128>),
    /// One URI, or parts it must have, as a hash of the language would write them.
    Uri(Option<Rc<str>>),
    Runtime(Option<(Rc<str>, Rc<str>)>),
    Init(Option<Rc<Type>>),
    Object(Option<Rc<ObjectType>>),
    TypeSet,
    Deferred,
    /// A name given to another type.
    Alias {
        name: Rc<str>,
        target: Rc<Type>,
    },
    /// An alias inside itself.
    Later(Rc<Later>),
    /// A name nobody defined.
    Reference(Rc<str>),
}

/// What an alias that names itself stands for, known when it has been read to its end.
pub struct Later {
    /// Name of the alias.
    pub name: Rc<str>,
    /// The type behind it.
    pub target: std::cell::OnceCell<Rc<Type>>,
}

// The target holds the alias again: only the name is shown and compared.
impl std::fmt::Debug for Later {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Later({})", self.name)
    }
}

impl PartialEq for Later {
    fn eq(&self, other: &Later) -> bool {
        self.name == other.name
    }
}

/// A type written in the language.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectType {
    /// Full name.
    pub name: Rc<str>,
    /// What it was made from, for printing.
    pub init: Value,
    /// Attributes with their types and defaults.
    pub attributes: Vec<(Rc<str>, Rc<Type>, Option<Value>)>,
    /// The type it inherits from.
    pub parent: Option<Rc<Type>>,
}

impl Type {
    /// `Array[Any]`
    pub fn any_array() -> Type {
        Type::Array { element: Rc::new(Type::Any), size: ANY_SIZE }
    }

    /// `Hash[Any, Any]`
    pub fn any_hash() -> Type {
        Type::Hash { key: Rc::new(Type::Any), value: Rc::new(Type::Any), size: ANY_SIZE }
    }

    /// `Integer`
    pub const INTEGER: Type = Type::Integer(Range::OPEN);
    /// `Float`
    pub const FLOAT: Type = Type::Float(Range::OPEN);
    /// `String`
    pub const STRING: Type = Type::String(ANY_SIZE);

    /// The type behind names and single wrappings that change nothing.
    pub fn resolved(&self) -> &Type {
        match self {
            Type::Alias { target, .. } => target.resolved(),
            Type::Later(later) => match later.target.get() {
                Some(target) => target.resolved(),
                None => self,
            },
            ty => ty,
        }
    }

    /// A type of the language by its name in other letters: their case does not count.
    pub fn named_otherwise(name: &str) -> Option<Type> {
        const INNER: [&str; 8] = [
            "ScalarData",
            "RichData",
            "NotUndef",
            "CatalogEntry",
            "SemVer",
            "SemVerRange",
            "URI",
            "TypeSet",
        ];
        if let Some(known) = INNER.iter().find(|known| known.eq_ignore_ascii_case(name)) {
            return Type::named(known);
        }
        let mut plain = name.to_ascii_lowercase();
        plain.get_mut(..1)?.make_ascii_uppercase();
        if plain == name { None } else { Type::named(&plain) }
    }

    /// A type of the language by its name, without parameters.
    pub fn named(name: &str) -> Option<Type> {
        Some(match name {
            "Any" => Type::Any,
            "Unit" => Type::Unit,
            "Undef" => Type::Undef,
            "Default" => Type::Default,
            "Boolean" => Type::Boolean(None),
            "Integer" => Type::INTEGER,
            "Float" => Type::FLOAT,
            "Numeric" => Type::Numeric,
            "String" => Type::STRING,
            "Enum" => Type::Enum { values: Vec::new(), ignore_case: false },
            "Pattern" => Type::Pattern(Vec::new()),
            "Regexp" => Type::Regexp(None),
            "Scalar" => Type::Scalar,
            "ScalarData" => Type::ScalarData,
            "Data" => Type::Data,
            "RichData" => Type::RichData,
            "Collection" => Type::Collection(ANY_SIZE),
            "Array" => Type::any_array(),
            "Hash" => Type::any_hash(),
            "Tuple" => Type::Tuple { types: Vec::new(), size: None },
            "Struct" => Type::Struct(Vec::new()),
            "Iterable" => Type::Iterable(None),
            "Iterator" => Type::Iterator(None),
            "Variant" => Type::Variant(Vec::new()),
            "Optional" => Type::Optional(None),
            "NotUndef" => Type::NotUndef(None),
            "Type" => Type::Meta(None),
            "Callable" => Type::Callable(None),
            "CatalogEntry" => Type::CatalogEntry,
            "Resource" => Type::Resource { name: None, title: None },
            "Class" => Type::Class(None),
            "Sensitive" => Type::Sensitive(None),
            "Binary" => Type::Binary,
            "SemVer" => Type::SemVer(Vec::new()),
            "SemVerRange" => Type::SemVerRange,
            "Timestamp" => Type::Timestamp(Range::OPEN),
            "Timespan" => Type::Timespan(Range::OPEN),
            "URI" => Type::Uri(None),
            "Runtime" => Type::Runtime(None),
            "Init" => Type::Init(None),
            "Object" => Type::Object(None),
            "TypeSet" => Type::TypeSet,
            "Deferred" => Type::Deferred,
            _ => return None,
        })
    }
}

/// Texts to choose from, in order and each once.
pub(crate) fn enumeration(mut values: Vec<Rc<str>>, ignore_case: bool) -> Type {
    values.sort();
    values.dedup();
    Type::Enum { values, ignore_case }
}

/// A moment as the language prints it.
pub(crate) fn time_text(nanos: i128) -> String {
    let stamp = jiff::Timestamp::from_nanosecond(nanos).unwrap_or_default();
    format!(
        "{}.{:09} UTC",
        stamp.strftime("%Y-%m-%dT%H:%M:%S"),
        stamp.subsec_nanosecond().rem_euclid(1_000_000_000)
    )
}

/// A span as the language prints it: `days-hours:minutes:seconds.fraction`.
pub(crate) fn span_text(nanos: i128) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let (seconds, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    // As the original: the number of nanoseconds, without zeros in front.
    let fraction = fraction.to_string();
    let fraction = fraction.trim_end_matches('0');
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    format!(
        "{sign}{}-{:02}:{:02}:{:02}.{fraction}",
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60
    )
}
