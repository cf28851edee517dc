//! Our own commands are argument vectors: the Ruby that ships has no line for a shell with a
//! value in it. What recipes give as a command, a guard or a script stays a line.

#![expect(clippy::disallowed_methods, reason = "a test reads the sources")]

/// Lines that may: what recipes give for a shell, and what is quoted for it.
const ALLOWED: &[&str] = &[
    // The recipe's own init script, a line for the shell as `init_command` is.
    r#"return shell_out([own, verb].join(" "), **opts) if own"#,
    // `verify` of a recipe, with the path of our own temporary file in it.
    r#"@last = Mixlib::ShellOut.new(line).run_command"#,
];

fn interpolates(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find("#{") {
        let value = &rest[at..rest[at..].find('}').map_or(rest.len(), |end| at + end)];
        if !value.contains("shellescape") {
            return true;
        }
        rest = &rest[at + 2..];
    }
    false
}

/// The first argument of a call, if it is one text.
fn text_argument<'a>(line: &'a str, call: &str) -> Option<&'a str> {
    let (_, after) = line.split_once(call)?;
    let after = after.trim_start_matches(['!', '(', ' ']);
    let text = after.strip_prefix('"')?;
    // To the quote that ends it: one followed by what follows an argument.
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '"' if depth == 0 => return Some(&text[..i]),
            _ => {}
        }
    }
    None
}

fn offences(name: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        if ALLOWED.iter().any(|allowed| line.contains(allowed)) {
            continue;
        }
        let near = lines[number.saturating_sub(1)..(number + 3).min(lines.len())].join("\n");
        let vector = near.contains("fx_words");
        let line_for_shell = ["shell_out", "fx_look", "Mixlib::ShellOut.new", "system", "IO.popen"]
            .iter()
            .any(|call| text_argument(line, call).is_some_and(interpolates));
        let joined =
            line.split_once("shell_out").is_some_and(|(_, words)| words.contains(".join(\" \")"));
        let command = text_argument(line, " command ").is_some_and(interpolates)
            || ["only_if", "not_if"]
                .iter()
                .any(|guard| text_argument(line, guard).is_some_and(interpolates))
            || text_argument(line, "execute ").is_some_and(interpolates)
                && !near.contains("command ");
        if line_for_shell || joined || command && !vector {
            found.push(format!("{name}:{}: {}", number + 1, line.trim()));
        }
    }
    found
}

#[test]
fn no_value_reaches_a_shell_in_the_ruby_that_ships() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/prelude");
    let (mut found, mut seen) = (Vec::new(), 0);
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "rb") {
            let text = std::fs::read_to_string(&path).unwrap();
            let calls = ["shell_out", "fx_tool", "fx_look"];
            seen += calls.iter().map(|call| text.matches(call).count()).sum::<usize>();
            found.extend(offences(&path.file_name().unwrap().to_string_lossy(), &text));
        }
    }
    assert!(seen > 100, "only {seen} calls were seen");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_scan_finds_what_it_is_for() {
    for bad in [
        r#"shell_out!("sysctl -n #{key}")"#,
        r#"shell_out "a #{b}""#,
        r##"shell_out!("setsebool#{" -P" if r.p} #{r.boolean}")"##,
        r#"shell_out!([TOOL, *words].join(" "))"#,
        r#"  command "/bin/hostname #{name}""#,
        r#"only_if "zypper lr #{word}""#,
    ] {
        assert_eq!(offences("x", bad).len(), 1, "{bad}");
    }
    for good in [
        r##"shell_out!("sysctl", "-n", "#{key}")"##,
        r#"only_if "zypper lr #{word.shellescape}""#,
        "  command \"/bin/hostname #{name}\"\n  self.fx_words = [\"/bin/hostname\", name]",
        r#"shell_out("apt -v")"#,
    ] {
        assert_eq!(offences("x", good), Vec::<String>::new(), "{good}");
    }
}
