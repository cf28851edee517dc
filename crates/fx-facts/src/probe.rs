//! One file for each part of the snapshot. A probe reads; it never fails, it leaves out.

pub(crate) mod cpu;
pub(crate) mod disk;
pub(crate) mod dmi;
pub(crate) mod memory;
pub(crate) mod network;
pub(crate) mod os;
pub(crate) mod software;
pub(crate) mod time;
pub(crate) mod user;
pub(crate) mod virt;

use fx_value::Value;

/// A map of the fields that are known.
pub(crate) fn fields<const N: usize>(pairs: [(&'static str, Value); N]) -> Value {
    pairs.into_iter().filter(|(_, value)| *value != Value::Undef).collect()
}

/// Bytes and counts as plain numbers.
pub(crate) fn number(count: u64) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}
