//! House rules for the Ruby that we ship: no linter reads it, so its shape is kept here.

/// A longer file is two things.
const MAX_LINES: usize = 500;
/// A longer line is not read to its end.
const MAX_COLUMNS: usize = 120;

/// What is wrong with the shape of a file.
pub(crate) fn check(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let lines = text.lines().count();
    if lines > MAX_LINES {
        problems.push(format!("{lines} lines: over {MAX_LINES} a file is two things"));
    }
    let wide = text.lines().enumerate().filter(|(_, line)| line.chars().count() > MAX_COLUMNS);
    problems.extend(
        wide.map(|(number, _)| format!("line {}: wider than {MAX_COLUMNS} columns", number + 1)),
    );
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_and_wide_lines_are_found() {
        let wide = format!("a\n{}\n", "é".repeat(121));
        assert_eq!(check(&wide), ["line 2: wider than 120 columns"]);
        let long = "a\n".repeat(501);
        assert_eq!(check(&long).len(), 1);
        assert!(check(&"é".repeat(120)).is_empty());
    }
}
