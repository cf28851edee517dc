//! Versions: parts that are compared as text, separators that must agree.

use std::cmp::Ordering;

/// How a version must stand to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Select {
    Equal,
    NotEqual,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
}

impl Select {
    pub(super) fn parse(text: &str) -> Select {
        match text {
            "!=" => Select::NotEqual,
            "<" => Select::Less,
            ">" => Select::Greater,
            "<=" => Select::LessOrEqual,
            ">=" => Select::GreaterOrEqual,
            _ => Select::Equal,
        }
    }
}

/// Whether `left` is equal to or less than `right` by the built-in rule; nothing when their
/// separators differ.
pub(super) fn compare(left: &str, right: &str, less: bool) -> Option<bool> {
    let (left_parts, left_separators) = split(left);
    let (right_parts, right_separators) = split(right);
    if left_separators.iter().zip(&right_separators).any(|(one, other)| one != other) {
        return None;
    }
    if !less {
        return Some(left == right);
    }
    for (one, other) in left_parts.iter().zip(&right_parts) {
        match one.cmp(other) {
            Ordering::Less => return Some(true),
            Ordering::Greater => return Some(false),
            Ordering::Equal => {}
        }
    }
    Some(right_parts.len() > left_parts.len())
}

// Alternating runs of letters or digits and of single separators.
fn split(version: &str) -> (Vec<&str>, Vec<&str>) {
    let mut parts = Vec::new();
    let mut separators = Vec::new();
    let mut rest = version;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if end > 0 {
            parts.push(&rest[..end]);
            rest = &rest[end..];
        }
        if let Some(c) = rest.chars().next() {
            separators.push(&rest[..c.len_utf8()]);
            rest = &rest[c.len_utf8()..];
        }
    }
    (parts, separators)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_part_by_part_as_text() {
        let table = [
            ("1.0", "1.0", false, Some(true)),
            ("1.0", "1.1", true, Some(true)),
            ("1.10", "1.9", true, Some(true)),
            ("2.0", "1.9", true, Some(false)),
            ("1.0", "1.0.1", true, Some(true)),
            ("1-0", "1.0", true, None),
        ];
        for (left, right, less, expected) in table {
            assert_eq!(compare(left, right, less), expected, "{left} {right}");
        }
    }
}
