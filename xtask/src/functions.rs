//! How long functions are. A scan by indentation: the tree is formatted, so a function ends at
//! the first brace as deep as its head.

/// Functions longer than this are two things.
pub(crate) const MOST: usize = 120;

/// Functions that are longer all the same: file and name. The list only shrinks.
const LONG: &[(&str, &str)] = &[
    ("crates/fx-ruby/src/core/pack.rs", "pack"),
    ("crates/fx-ruby/src/core/pack.rs", "unpack"),
    ("crates/fx-ruby/src/core/string/search.rs", "split_list"),
    ("crates/fx-ruby/src/core/structs.rs", "new_struct"),
    ("crates/fx-ruby/src/interp/cold.rs", "eval_cold"),
];

/// Functions of a file that are too long and not listed, and listed ones that are no longer so.
pub(crate) fn check(file: &str, text: &str) -> Vec<String> {
    let long: Vec<(String, usize, usize)> =
        lengths(text).into_iter().filter(|(_, _, length)| *length > MOST).collect();
    let is_listed = |name: &str| LONG.contains(&(file, name));
    let mut problems: Vec<String> = long
        .iter()
        .filter(|(name, ..)| !is_listed(name))
        .map(|(name, line, length)| {
            format!(
                "line {line}: `{name}` has {length} lines: over {MOST} a function is two things"
            )
        })
        .collect();
    let listed = LONG.iter().filter(|(listed, _)| *listed == file);
    problems.extend(
        listed
            .filter(|(_, name)| !long.iter().any(|(other, ..)| other == name))
            .map(|(_, name)| format!("`{name}` is not long any more: take it off the list")),
    );
    problems
}

/// Name, first line and length of each function of a formatted file, from 1.
pub(crate) fn lengths(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some(name) = name(code) else { continue };
        if code.ends_with('}') {
            found.push((name.to_owned(), number + 1, 1));
            continue;
        }
        let depth = line.len() - code.len();
        let close = format!("{}}}", &line[..depth]);
        let end = lines[number..].iter().position(|line| {
            *line == close
                || line.trim_end().ends_with(';') && line.len() - line.trim_start().len() == depth
        });
        if let Some(end) = end {
            found.push((name.to_owned(), number + 1, end + 1));
        }
    }
    found
}

/// The name of the function that a line begins.
fn name(code: &str) -> Option<&str> {
    let head = code
        .strip_prefix("pub(crate) ")
        .or_else(|| code.strip_prefix("pub(super) "))
        .or_else(|| code.strip_prefix("pub "))
        .unwrap_or(code);
    let head = head.strip_prefix("const ").unwrap_or(head);
    let rest = head.strip_prefix("fn ")?;
    rest.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_from_head_to_brace() {
        let text = "//! x\nfn a() {}\npub(crate) fn b<T>(\n    x: T,\n) -> T {\n    x\n}\nimpl A {\n    pub fn c(&self) {\n        fn d();\n    }\n}\n";
        let found = lengths(text);
        let names: Vec<(&str, usize)> =
            found.iter().map(|(name, _, length)| (name.as_str(), *length)).collect();
        assert_eq!(names, [("a", 1), ("b", 5), ("c", 3), ("d", 1)]);
    }
}
