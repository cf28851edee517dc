//! Numbers of the language in the formats of `sprintf`.

use fx_formats::printf::{self, Spec};

/// An integer as `d`, `x`, `X`, `o`, `b` or `B`.
pub(crate) fn integer(spec: &Spec, letter: char, value: i64) -> String {
    let letter = letter as u8;
    let magnitude = value.unsigned_abs();
    let digits = match printf::base(letter) {
        16 => format!("{magnitude:x}"),
        8 => format!("{magnitude:o}"),
        2 => format!("{magnitude:b}"),
        _ => magnitude.to_string(),
    };
    spec.integer(letter, value < 0, &digits)
}

/// A float as `f`, `e`, `E`, `g`, `G`, `a` or `A`.
pub(crate) fn float(spec: &Spec, letter: char, value: f64) -> String {
    spec.float(letter as u8, value)
}
