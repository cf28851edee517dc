//! Queries over what a fleet left, in the two languages of PuppetDB. Both are read into one
//! tree ([`Query`]), which is translated to SQL in one place.

mod answer;
mod ast;
mod counts;
mod entities;
mod pql;
mod translate;

pub use answer::Page;
pub use ast::{Column, Entity, Field, Filter, Function, Op, Order, Query, Source};
pub use counts::{Counted, Counting, Summary};

/// What is wrong with a query, in the words of the original.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct QueryError(pub String);

/// Why a query has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    #[error(transparent)]
    Wrong(#[from] QueryError),
    #[error(transparent)]
    Store(#[from] crate::Error),
}

pub(crate) type Read<T> = Result<T, QueryError>;

fn wrong<T>(text: impl Into<String>) -> Read<T> {
    Err(QueryError(text.into()))
}

/// Names in quotes, with commas and a last `and`.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., last] => format!("{}, and {last}", most.join(", ")),
    }
}
