//! Lines of source that hold a secret are not shown. What is a secret is known of the values a
//! step changed, and seen of a text that says so.

use fx_value::REDACTED;

/// Lines of a declaration that are looked at for the word, from its first.
const LOOKED_AT: u32 = 40;

/// A line as it is shown: what it declares may say later that it is sensitive.
pub(super) fn shown(line: u32, text: &dyn Fn(u32) -> String) -> String {
    let first = text(line).trim().to_owned();
    let said = (line..line + LOOKED_AT)
        .map(text)
        .take_while(|text| !text.trim().is_empty())
        .any(|text| text.to_lowercase().contains("sensitive"));
    if said { hidden(&first) } else { first }
}

/// The line up to its second text in quotes: the first is the name of what is declared, which
/// is shown anyway.
pub(super) fn hidden(line: &str) -> String {
    let mut quotes = line.match_indices(['\'', '"', '`']).map(|(at, _)| at);
    // A name that is no text has no quotes; what follows an arrow, a bracket or a brace is not it.
    let ends = [line.find("=>"), line.find('('), line.find('<'), line.find('%'), quotes.nth(2)];
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
            assert_eq!(shown(1, &line), expected, "{text}");
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
    }
}
