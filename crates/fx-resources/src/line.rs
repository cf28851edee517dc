//! A line of a table of the system, taken apart: what it must become, property by property.

use fx_engine::{Change, Target};
use fx_value::Value;

/// The properties of a line, in the order in which changes of them come.
pub(crate) type Properties = Vec<(&'static str, Value)>;

/// The changes that make a line what is wanted; one alone where there is no such line.
pub(crate) fn differences<T>(
    target: &Target,
    found: Option<&T>,
    wanted: &T,
    properties: impl Fn(&T) -> Properties,
) -> Vec<Change> {
    let Some(found) = found else {
        return vec![Change::of(target.clone(), "ensure", "absent", "present")];
    };
    let both = properties(found).into_iter().zip(properties(wanted));
    let differing = both.filter(|((_, is), (_, should))| is != should);
    differing
        .map(|((name, is), (_, should))| Change::of(target.clone(), name, is, should))
        .collect()
}
