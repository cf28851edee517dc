//! The command of a remote run: words without a shell, as the original splits them.

/// Words of a command. White space separates them; a quote, an apostrophe or a backquote holds
/// one together, and without its end it takes all that follows. Policy of the original counts on
/// that: what is appended lands inside.
pub fn split_command(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = command.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = if matches!(first, '"' | '\'' | '`') {
            rest[1..].split_once(first).unwrap_or((&rest[1..], ""))
        } else {
            rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()))
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

/// The first word of a command, which must be a path from the root.
pub fn without_quotes(command: &str) -> Option<String> {
    split_command(command).into_iter().next().filter(|word| word.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_without_a_shell() {
        let table: &[(&str, &[&str])] = &[
            ("/bin/echo a  b", &["/bin/echo", "a", "b"]),
            ("\"/bin/my echo\" -x", &["/bin/my echo", "-x"]),
            ("/bin/sh -c 'a && b' -D x", &["/bin/sh", "-c", "a && b", "-D", "x"]),
            ("/bin/sh -c 'a && b -D x", &["/bin/sh", "-c", "a && b -D x"]),
            ("/bin/sh -c \"", &["/bin/sh", "-c", ""]),
            ("  ", &[]),
        ];
        for (command, expected) in table {
            assert_eq!(split_command(command), *expected, "{command}");
        }
        assert_eq!(without_quotes("echo x"), None);
    }
}
