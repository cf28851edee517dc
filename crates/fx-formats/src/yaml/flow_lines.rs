//! Lines of flow collections in YAML, put further in. The parser wants them deeper than what
//! they stand in, the original's takes them at any column; texts that the parser refuses for
//! their indentation are tried again so. It does not judge whether a text is YAML otherwise.

/// Further in than anything people write.
const FURTHER: &str = "                                                                ";

/// The text with lines inside brackets and braces put further in; nothing if there are none.
pub(super) fn flow_further_in(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 1024);
    let (mut depth, mut quote, mut changed) = (0usize, None, false);
    let mut block: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let is_blank = line.trim().is_empty();
        if let Some(above) = block {
            if is_blank || indent > above {
                out.push_str(line);
                continue;
            }
            block = None;
        }
        if depth > 0 && !is_blank {
            out.push_str(FURTHER);
            changed = true;
        }
        out.push_str(line);
        let mut before = ' ';
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            match (quote, c) {
                (Some('"'), '\\') => drop(chars.next()),
                (Some(open), c) if open == c => quote = None,
                (Some(_), _) => {}
                (None, '#') if before.is_whitespace() => break,
                (None, '"' | '\'') if before.is_whitespace() || "[{,:".contains(before) => {
                    quote = Some(c);
                }
                (None, '[' | '{') if depth > 0 || before.is_whitespace() => depth += 1,
                (None, ']' | '}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            before = c;
        }
        if depth == 0 && quote.is_none() && opens_block(line) {
            block = Some(indent);
        }
    }
    changed.then_some(out)
}

/// Whether a text kept line by line follows.
fn opens_block(line: &str) -> bool {
    let mark = line.trim_end().rsplit(' ').next().unwrap_or_default();
    let mut rest = mark.chars();
    matches!(rest.next(), Some('|' | '>'))
        && rest.all(|c| c == '+' || c == '-' || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::flow_further_in;

    fn check(text: &str, expected: Option<&str>) {
        let found = flow_further_in(text);
        assert_eq!(found.map(|text| text.replace(super::FURTHER, "~")).as_deref(), expected);
    }

    #[test]
    fn only_lines_inside_of_flow_collections_move() {
        check("a: [\n  b,\n]\nc: 1\n", Some("a: [\n~  b,\n~]\nc: 1\n"));
        check("a: {b: 'x]',\nc: [1,\n2]}\nd: 1\n", Some("a: {b: 'x]',\n~c: [1,\n~2]}\nd: 1\n"));
        check("a: [b]\nc: it's\nd: a[\ne: 1\n", None);
        check("a: |\n  [x\n\n  y\nb: 1\n", None);
        check("# it's [\na: 1 # {\nb: 2\n", None);
    }
}
