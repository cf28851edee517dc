//! Preprocessor lines: `@if minimum_version(…)` and others, compared with the version we are.
//!
//! Works on one line of text. Whether skipping begins or ends is the lexer's decision.

/// The CFEngine version whose language this is.
pub(crate) const VERSION: [u32; 3] = [3, 21, 0];

/// Features that `@if feature(…)` knows.
const FEATURES: &[&str] = &[
    "yaml",
    "xml",
    "tls_1_0",
    "tls_1_1",
    "tls_1_2",
    "tls_1_3",
    "def_json_preparse",
    "copyfrom_restrict_keys",
    "host_specific_data_load",
    "hub_0",
    "host_specific",
];

/// A preprocessor line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Macro {
    /// `@if`, with whether its condition holds.
    If(bool),
    Else,
    Endif,
}

/// Reads a preprocessor line at the start of `text`: what it is and its length.
pub(crate) fn read(text: &[u8]) -> Option<(Macro, usize)> {
    if text.starts_with(b"@else") {
        return Some((Macro::Else, 5));
    }
    if text.starts_with(b"@endif") {
        return Some((Macro::Endif, 6));
    }
    let rest = text.strip_prefix(b"@if ")?;
    let open = rest.iter().position(|byte| *byte == b'(')?;
    let close = rest.iter().position(|byte| *byte == b')')?;
    if close < open {
        return None;
    }
    let name = std::str::from_utf8(&rest[..open]).ok()?;
    let argument = std::str::from_utf8(&rest[open + 1..close]).ok()?;
    let holds = match name {
        "feature" => {
            if argument.is_empty()
                || !argument.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            {
                return None;
            }
            FEATURES.contains(&argument)
        }
        "between_versions" => {
            let (from, to) = argument.split_once(',')?;
            compare(from.trim_matches(' '))?.is_ge() && compare(to.trim_matches(' '))?.is_le()
        }
        "minimum_version" => compare(argument)?.is_ge(),
        "maximum_version" => compare(argument)?.is_le(),
        "before_version" => compare(argument)?.is_lt(),
        "at_version" => compare(argument)?.is_eq(),
        "after_version" => compare(argument)?.is_gt(),
        _ => return None,
    };
    Some((Macro::If(holds), 4 + close + 1))
}

// How our version compares with the one given; parts left out are not compared.
fn compare(version: &str) -> Option<std::cmp::Ordering> {
    let parts: Vec<u32> = version
        .split('.')
        .map(|part| {
            let digits =
                !part.is_empty() && part.len() <= 5 && part.bytes().all(|b| b.is_ascii_digit());
            if digits { part.parse().ok() } else { None }
        })
        .collect::<Option<_>>()?;
    if parts.is_empty() || parts.len() > 3 {
        return None;
    }
    Some(VERSION[..parts.len()].cmp(&parts[..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_compare_with_our_version() {
        let table = [
            ("@if minimum_version(3.21)", Some(Macro::If(true))),
            ("@if minimum_version(3.21.1)", Some(Macro::If(false))),
            ("@if before_version(3.22)", Some(Macro::If(true))),
            ("@if at_version(3)", Some(Macro::If(true))),
            ("@if after_version(3.21.0)", Some(Macro::If(false))),
            ("@if between_versions(3.20, 3.21)", Some(Macro::If(true))),
            ("@if feature(xml)", Some(Macro::If(true))),
            ("@if feature(nonsense)", Some(Macro::If(false))),
            ("@if minimum_version(x)", None),
            ("@endif", Some(Macro::Endif)),
        ];
        for (text, expected) in table {
            assert_eq!(read(text.as_bytes()).map(|(found, _)| found), expected, "{text}");
        }
    }
}
