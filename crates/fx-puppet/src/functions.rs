//! Functions built in: one table for each family, found by name.

mod catalog;
mod collection;
mod control;
mod data;
mod digest;
mod iteration;
mod logging;
mod numeric;
mod sprintf;
mod string;
mod template;
mod text;
mod types;

pub(crate) use text::compare_versions;

use std::cell::OnceCell;
use std::rc::Rc;

use fx_source::Span;
use rustc_hash::FxHashMap;

use crate::eval::{Closure, Evaluated, Evaluator, Flow, Scope};
use crate::types::Type;
use crate::value::Value;

/// One call of a function built in, its arguments already checked.
pub(crate) struct Call<'c> {
    pub(crate) evaluator: &'c Evaluator,
    pub(crate) args: &'c [Value],
    pub(crate) block: Option<&'c Closure>,
    pub(crate) scope: &'c Rc<Scope>,
    pub(crate) span: Span,
}

impl Call<'_> {
    /// An argument; undef where there is none.
    pub(crate) fn arg(&self, index: usize) -> &Value {
        self.args.get(index).unwrap_or(&Value::Undef)
    }

    /// The text of an argument.
    pub(crate) fn text(&self, index: usize) -> &str {
        self.arg(index).as_str().unwrap_or_default()
    }

    /// Calls the block.
    pub(crate) fn yields(&self, args: Vec<Value>) -> Evaluated {
        match self.block {
            Some(block) => self.evaluator.call_closure(block, args),
            None => Err(Flow::raw("expects a block")),
        }
    }
}

/// A function built in.
pub(crate) struct Native {
    pub(crate) name: &'static str,
    /// Parameters as text: `Type name`, with `?`, `*` or `+` behind, `&` before a block. No
    /// signature means that nothing is checked.
    pub(crate) signatures: &'static [&'static str],
    pub(crate) run: fn(&Call<'_>) -> Evaluated,
}

const fn native(
    name: &'static str,
    signatures: &'static [&'static str],
    run: fn(&Call<'_>) -> Evaluated,
) -> Native {
    Native { name, signatures, run }
}

static FAMILIES: &[&[Native]] = &[
    catalog::TABLE,
    collection::TABLE,
    control::TABLE,
    data::TABLE,
    digest::TABLE,
    iteration::TABLE,
    logging::TABLE,
    numeric::TABLE,
    sprintf::TABLE,
    string::TABLE,
    template::TABLE,
    text::TABLE,
    types::TABLE,
];

thread_local! {
    static BY_NAME: OnceCell<FxHashMap<&'static str, &'static Native>> = const { OnceCell::new() };
}

/// Functions of the older kind, which check no types, and how many arguments each needs.
const OLD_ARITY: &[(&str, usize)] = &[
    ("create_resources", 2),
    ("file", 1),
    ("fqdn_rand", 1),
    ("inline_template", 1),
    ("realize", 1),
    ("sprintf", 1),
    ("tag", 1),
    ("tagged", 1),
    ("template", 1),
];

/// What is wrong with the number of arguments of a function of the older kind.
pub(crate) fn too_few(name: &str, given: usize) -> Option<String> {
    let (_, least) = OLD_ARITY.iter().find(|(known, _)| *known == name)?;
    (given < *least)
        .then(|| format!("{name}(): Wrong number of arguments given ({given} for minimum {least})"))
}

/// A function by name.
pub(crate) fn find(name: &str) -> Option<&'static Native> {
    BY_NAME.with(|map| {
        let map = map.get_or_init(|| {
            FAMILIES
                .iter()
                .flat_map(|family| family.iter())
                .map(|native| (native.name, native))
                .collect()
        });
        map.get(name).copied()
    })
}

/// Names of all functions built in.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|family| family.iter()).map(|native| native.name)
}

/// What iterating over a value yields; `None` if it cannot be iterated.
pub(crate) fn items_of(value: &Value) -> Option<Vec<Value>> {
    const MOST: i64 = 10_000_000;
    Some(match value {
        Value::Array(items) | Value::Iterator(items, _) => items.to_vec(),
        Value::Hash(hash) => {
            hash.iter().map(|(key, value)| Value::array(vec![key.clone(), value.clone()])).collect()
        }
        Value::String(text) => text.chars().map(|c| Value::from(c.to_string())).collect(),
        Value::Int(count) if (0..=MOST).contains(count) => (0..*count).map(Value::Int).collect(),
        Value::Type(ty) => match ty.resolved() {
            Type::Integer(range) => {
                let (min, max) = (range.min?, range.max?);
                if max - min > MOST {
                    return None;
                }
                (min..=max).map(Value::Int).collect()
            }
            Type::Enum { values, .. } => {
                values.iter().map(|value| Value::String(Rc::clone(value))).collect()
            }
            _ => return None,
        },
        _ => return None,
    })
}
