//! What variables hold, and the types they are declared with.

use std::rc::Rc;

use crate::json::Json;
use crate::policy::Rval;
use crate::text::Str;

/// The declared type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataType {
    String,
    Int,
    Real,
    StringList,
    IntList,
    RealList,
    Data,
}

impl DataType {
    /// From the attribute that declares it.
    pub(crate) fn from_word(word: &str) -> Option<DataType> {
        Some(match word {
            "string" => DataType::String,
            "int" => DataType::Int,
            "real" => DataType::Real,
            "slist" => DataType::StringList,
            "ilist" => DataType::IntList,
            "rlist" => DataType::RealList,
            "data" => DataType::Data,
            _ => return None,
        })
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            DataType::String => "string",
            DataType::Int => "int",
            DataType::Real => "real",
            DataType::StringList => "slist",
            DataType::IntList => "ilist",
            DataType::RealList => "rlist",
            DataType::Data => "data",
        }
    }

    pub(crate) fn is_list(self) -> bool {
        matches!(self, DataType::StringList | DataType::IntList | DataType::RealList)
    }
}

/// What a variable holds. Cloning counts references.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Scalar(Str),
    List(Rc<[Str]>),
    Data(Rc<Json>),
}

impl Value {
    pub fn to_rval(&self) -> Rval {
        match self {
            Value::Scalar(text) => Rval::Scalar(Rc::clone(text)),
            Value::List(items) => {
                Rval::List(items.iter().map(|item| Rval::Scalar(Rc::clone(item))).collect())
            }
            Value::Data(json) => Rval::Data(Rc::clone(json)),
        }
    }

    pub(crate) fn to_json(&self) -> Json {
        match self {
            Value::Scalar(text) => Json::Str(Rc::clone(text)),
            Value::List(items) => {
                Json::Array(items.iter().map(|item| Json::Str(Rc::clone(item))).collect())
            }
            Value::Data(json) => (**json).clone(),
        }
    }

    /// Values of an iteration; `None` for what does not iterate.
    pub(crate) fn iterate(&self) -> Option<Rc<[Str]>> {
        match self {
            Value::Scalar(_) => None,
            Value::List(items) => Some(Rc::clone(items)),
            Value::Data(json) => Some(match &**json {
                Json::Array(_) | Json::Object(_) => {
                    json.values().filter_map(Json::iterated).collect()
                }
                primitive => primitive.iterated().into_iter().collect(),
            }),
        }
    }
}

/// A variable with what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub kind: DataType,
    pub value: Value,
    /// Tags; empty for most.
    pub tags: Rc<[Str]>,
    pub comment: Option<Str>,
}
