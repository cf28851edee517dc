//! Whether a literal value fits the type and range of an attribute, in the original's words.

use crate::mode;
use crate::policy::Rval;
use crate::regex;
use crate::text::{has_variable, int_from, naked, real_from};

use super::{Type, find_function};

/// Why a value does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// It holds variables: to be checked when they are known.
    Unexpanded,
    RangeBracketed,
    RangeMultiple,
    GotScalar,
    GotList,
    GotNull,
    Permission,
    OutOfRange,
    EmptyOutOfRange,
    IntParse,
    IntOutOfRange,
    RealInf,
    RealOutOfRange,
    /// No number at all, which has the same words.
    RealParse,
    OptionOutOfRange,
    FunctionType,
    FunctionUnknown,
    ContextOutOfRange,
    AbsolutePath,
}

impl Mismatch {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Mismatch::Unexpanded => "Cannot check unexpanded value",
            Mismatch::RangeBracketed => {
                "Real range specification should not be enclosed in brackets - just 'a,b'"
            }
            Mismatch::RangeMultiple => {
                "Range format specifier should be of form 'a,b'' but got multiple items"
            }
            Mismatch::GotScalar => "Attempted to give a scalar to a non-scalar type",
            Mismatch::GotList => "Attempted to give a list to a non-list type",
            Mismatch::GotNull => "Attempted to give a value of type null",
            Mismatch::Permission => "Error parsing Unix permission string",
            Mismatch::OutOfRange => "Scalar value is out of range",
            Mismatch::EmptyOutOfRange => "Empty scalar value is out of range",
            Mismatch::IntParse => "Cannot parse value as integer",
            Mismatch::IntOutOfRange => "Integer is out of range",
            Mismatch::RealInf => "Keyword 'inf' has an integer value, cannot be used as real",
            Mismatch::RealOutOfRange | Mismatch::RealParse => "Real value is out of range",
            Mismatch::OptionOutOfRange => "Selection is out of bounds",
            Mismatch::FunctionType => "Function does not return the required type",
            Mismatch::FunctionUnknown => "Unknown function",
            Mismatch::ContextOutOfRange => "Context string is invalid/out of range",
            Mismatch::AbsolutePath => "Filename is not an absolute path",
        }
    }
}

impl Mismatch {
    /// The kind of number that a text is not.
    pub(crate) fn number(self) -> Option<&'static str> {
        match self {
            Mismatch::IntParse => Some("integer"),
            Mismatch::RealParse => Some("real"),
            _ => None,
        }
    }
}

const BUNDLE_CALLS: &[&str] =
    &["bundlesequence", "edit_line", "edit_xml", "usebundle", "service_bundle", "home_bundle"];

/// Range of attributes that hold a path.
const ABSOLUTE_PATH: &str = "\"?(/.*)";

/// Checks a value. `inside` is true for elements of a list.
pub(crate) fn check_value(
    name: &str,
    value: &Rval,
    kind: Type,
    range: &str,
    inside: bool,
) -> Result<(), Mismatch> {
    match value {
        Rval::Scalar(_) if kind.is_list() && !inside => return Err(Mismatch::GotScalar),
        Rval::List(items) => {
            if !kind.is_list() {
                return Err(Mismatch::GotList);
            }
            for item in items.iter() {
                match check_value(name, item, kind, range, true) {
                    Ok(()) | Err(Mismatch::Unexpanded) => {}
                    Err(other) => return Err(other),
                }
            }
            return Ok(());
        }
        Rval::Call(call) => {
            if BUNDLE_CALLS.contains(&name) {
                return Ok(());
            }
            return check_call(&call.name, kind);
        }
        Rval::None => return Err(Mismatch::GotNull),
        _ => {}
    }
    let Rval::Scalar(text) = value else { return Ok(()) };
    match kind {
        Type::String | Type::StringList => check_string(name, text, range),
        Type::Int | Type::IntList => check_int(text, range),
        Type::Real | Type::RealList => check_real(text, range),
        Type::Option | Type::OptionList => check_option(text, range),
        Type::Context | Type::ContextList => {
            if range.is_empty() || range == &**text || regex::full(range, text) {
                Ok(())
            } else {
                Err(Mismatch::ContextOutOfRange)
            }
        }
        Type::IntRange => check_range(text, |part| int_from(part).is_some()),
        Type::RealRange => check_range(text, |part| real_from(part).is_some()),
        Type::Body | Type::Bundle | Type::Data => Ok(()),
    }
}

fn check_call(name: &str, wanted: Type) -> Result<(), Mismatch> {
    if has_variable(name) {
        return Err(Mismatch::Unexpanded);
    }
    let Some(function) = find_function(name) else { return Err(Mismatch::FunctionUnknown) };
    let found = function.result;
    // As syntax.c does: where the types differ, a few pairs are let through.
    let fits = found == wanted
        || match wanted {
            Type::String => matches!(found, Type::Int | Type::Real | Type::Option | Type::Context),
            Type::StringList | Type::Context => found == Type::String,
            Type::IntList => found == Type::Int,
            Type::RealList => found == Type::Real,
            Type::OptionList => found == Type::Option,
            Type::ContextList => found == Type::Context,
            _ => false,
        };
    if fits { Ok(()) } else { Err(Mismatch::FunctionType) }
}

fn check_string(name: &str, text: &str, range: &str) -> Result<(), Mismatch> {
    if range.is_empty() {
        return Ok(());
    }
    if naked(text, b'@').is_some() || naked(text, b'$').is_some() {
        return Err(Mismatch::Unexpanded);
    }
    if matches!(name, "mode" | "search_mode") && !valid_mode(text) {
        return Err(Mismatch::Permission);
    }
    if range == text || regex::full(range, text) {
        return Ok(());
    }
    Err(if has_variable(text) {
        Mismatch::Unexpanded
    } else if text.is_empty() {
        Mismatch::EmptyOutOfRange
    } else if range == ABSOLUTE_PATH {
        Mismatch::AbsolutePath
    } else {
        Mismatch::OutOfRange
    })
}

/// Whether a permission string reads: octal, or symbolic clauses.
pub(crate) fn valid_mode(text: &str) -> bool {
    has_variable(text) || mode::parse(text).is_some()
}

fn bounds<T: std::str::FromStr + Copy>(range: &str, infinity: T, low: T) -> (T, T) {
    let (min, max) = range.split_once(',').unwrap_or((range, "inf"));
    let read = |text: &str, other: T| text.trim().parse().unwrap_or(other);
    (read(min, low), if max.trim() == "inf" { infinity } else { read(max, infinity) })
}

fn check_int(text: &str, range: &str) -> Result<(), Mismatch> {
    if has_variable(text) {
        return Err(Mismatch::Unexpanded);
    }
    let (min, max) = bounds(range, 999_999_999_999_i64, i64::MIN);
    let value = int_from(text).ok_or(Mismatch::IntParse)?;
    let max = if max == 999_999_999 || max == 999_999_999_999 { i64::MAX } else { max };
    let min = if min <= -999_999_999 { i64::MIN } else { min };
    if value > max || value < min { Err(Mismatch::IntOutOfRange) } else { Ok(()) }
}

fn check_real(text: &str, range: &str) -> Result<(), Mismatch> {
    if text == "inf" {
        return Err(Mismatch::RealInf);
    }
    if has_variable(text) {
        return Err(Mismatch::Unexpanded);
    }
    let (min, max) = bounds(range, f64::INFINITY, f64::NEG_INFINITY);
    let value = real_from(text).ok_or(Mismatch::RealParse)?;
    if value > max || value < min { Err(Mismatch::RealOutOfRange) } else { Ok(()) }
}

fn check_option(text: &str, range: &str) -> Result<(), Mismatch> {
    if naked(text, b'@').is_some() || naked(text, b'$').is_some() || has_variable(text) {
        return Err(Mismatch::Unexpanded);
    }
    if range.split(',').any(|option| option == text) {
        Ok(())
    } else {
        Err(Mismatch::OptionOutOfRange)
    }
}

fn check_range(text: &str, valid: impl Fn(&str) -> bool) -> Result<(), Mismatch> {
    if text.starts_with(['[', '(']) {
        return Err(Mismatch::RangeBracketed);
    }
    if has_variable(text) {
        return Err(Mismatch::Unexpanded);
    }
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() != 2 {
        return Err(Mismatch::RangeMultiple);
    }
    if parts.iter().all(|part| valid(part.trim())) { Ok(()) } else { Err(Mismatch::IntParse) }
}
