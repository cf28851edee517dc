//! Lines of source that hold a secret are not shown. What is a secret is known of the values a
//! step changed, and seen of a text that says so.

use crate::visible::{REDACTED, without_passwords};

/// Lines of a declaration that are looked at for the words, from its first.
const LOOKED_AT: u32 = 40;

/// What a text calls its secrets: Puppet and Chef mark values, and passwords are what they are.
const WORDS: [&str; 2] = ["sensitive", "password"];

/// A line as it is shown: what it declares may say later that it is sensitive.
pub fn shown_line(line: u32, text: &dyn Fn(u32) -> String) -> String {
    let first = text(line).trim().to_owned();
    if says_so((line..line + LOOKED_AT).map(text)) {
        return hidden_line(&first);
    }
    without_passwords(&first).into_owned()
}

/// A line that is shown because of a mistake in it, which may be anywhere in what it is part of.
/// It keeps its columns as far as it is shown.
pub fn shown_among(line: u32, text: &dyn Fn(u32) -> String) -> String {
    let this = text(line);
    let above = (line.saturating_sub(LOOKED_AT).max(1)..=line).rev().map(text);
    if says_so(above) || says_so((line..line + LOOKED_AT).map(text)) {
        // It need not be the line with the name.
        return hidden_from(&this, 0);
    }
    without_passwords(&this).into_owned()
}

/// Whether lines up to the first empty one speak of secrets.
fn says_so(lines: impl Iterator<Item = String>) -> bool {
    lines.take_while(|text| !text.trim().is_empty()).any(|text| {
        let text = text.to_lowercase();
        WORDS.iter().any(|word| text.contains(word))
    })
}

/// The line up to its second text in quotes: the first is the name of what is declared, which
/// is shown anyway.
pub fn hidden_line(line: &str) -> String {
    hidden_from(line, 2)
}

/// The line up to this mark of a quote, counted from none, or what else begins a value.
fn hidden_from(line: &str, quote: usize) -> String {
    let mut quotes = line.match_indices(['\'', '"', '`']).map(|(at, _)| at);
    // A name that is no text has no quotes; what follows an arrow, a bracket or a brace is not it.
    let ends = [line.find("=>"), line.find('('), line.find('<'), line.find('%'), quotes.nth(quote)];
    match ends.into_iter().flatten().min() {
        Some(end) => format!("{} {REDACTED}", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_holds_besides_the_name_is_hidden() {
        let check = |text: &str, expected: &str| {
            let lines: Vec<&str> = text.lines().collect();
            let line = |at: u32| lines.get(at as usize - 1).map_or("", |line| *line).to_owned();
            assert_eq!(shown_line(1, &line), expected, "{text}");
        };
        check("file { '/a': content => 'open' }", "file { '/a': content => 'open' }");
        check("file { '/a': content => Sensitive('x') }", "file { '/a': content [redacted]");
        check("file '/a' do\n content 'x'\n sensitive true\nend", "file '/a' do");
        check("file('/a') { content 'x'; sensitive true }", "file [redacted]");
        check("file '/a', content: 'x' do\n sensitive true", "file '/a', content: [redacted]");
        check("file \"/a\" do content %q(x)\n sensitive true", "file \"/a\" do content [redacted]");
        check("file '/a' do\n content 'x'\nend\n\nlog 'sensitive'", "file '/a' do");
        check(
            "file { '/a': content => 'x',\n}\n$y = Sensitive(1)",
            "file { '/a': content [redacted]",
        );
        check("\"u\" policy => \"present\", password => plain(\"x\");", "\"u\" policy [redacted]");
    }

    #[test]
    fn a_line_with_a_mistake_is_part_of_what_is_around_it() {
        let lines = ["body password p", "{", "  data => 'x' }", "", "a => 'b'"];
        let line = |at: u32| lines.get(at as usize - 1).map_or("", |line| *line).to_owned();
        assert_eq!(shown_among(3, &line), "  data [redacted]");
        assert_eq!(shown_among(5, &line), "a => 'b'");
        assert_eq!(shown_among(2, &line), "{");
        let line = |at: u32| if at == 1 { "content 'x'; sensitive true" } else { "" }.to_owned();
        assert_eq!(shown_among(1, &line), "content [redacted]");
    }
}
