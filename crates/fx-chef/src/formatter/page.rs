//! The page a formatter writes on: indentation, lines that are begun and continued later, and
//! streams, whose lines stay together. It knows no resources; it writes what the rows give it.

/// Whom a piece of text belongs to: a change of stream begins a new line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stream {
    /// The formatter itself.
    #[default]
    Own,
    /// The action of a resource, by its row.
    Row(usize),
    /// What a command of that row writes.
    Command(usize),
}

/// How a piece of text stands on its line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place<'a> {
    pub(crate) start: bool,
    pub(crate) end: bool,
    pub(crate) stream: Stream,
    /// Shown in brackets before the first line of a stream; the next ones are moved in.
    pub(crate) name: Option<&'a str>,
}

/// State of the page; text goes to the string that each call is given.
#[derive(Debug, Default)]
pub(crate) struct Page {
    indent: usize,
    started: bool,
    stream: Stream,
}

impl Page {
    pub(crate) fn indent(&mut self) {
        self.indent += 2;
    }

    pub(crate) fn unindent(&mut self) {
        self.indent = self.indent.saturating_sub(2);
    }

    /// Begins a line and leaves it open.
    pub(crate) fn start_line(&mut self, out: &mut String, text: &str, stream: Stream) {
        self.print(out, text, Place { start: true, stream, ..Place::default() });
    }

    /// Continues the open line, or begins one, and ends it.
    pub(crate) fn puts(&mut self, out: &mut String, text: &str, stream: Stream) {
        self.print(out, text, Place { end: true, stream, ..Place::default() });
    }

    /// A whole line.
    pub(crate) fn puts_line(&mut self, out: &mut String, text: &str) {
        self.print(out, text, Place { start: true, end: true, ..Place::default() });
    }

    pub(crate) fn print(&mut self, out: &mut String, text: &str, place: Place<'_>) {
        if place.start || self.stream != place.stream {
            self.end_line(out);
        }
        if text.is_empty() {
            if place.end {
                self.line(out, "", place);
            }
        } else {
            for line in text.split_inclusive('\n') {
                self.line(out, line, place);
            }
        }
        if place.end {
            self.end_line(out);
        }
    }

    fn end_line(&mut self, out: &mut String) {
        if self.started {
            out.push('\n');
            self.started = false;
        }
    }

    fn line(&mut self, out: &mut String, line: &str, place: Place<'_>) {
        if !self.started {
            let width = match place.name {
                Some(name) if self.stream == place.stream => self.indent + 3 + name.len(),
                _ => self.indent,
            };
            out.extend(std::iter::repeat_n(' ', width));
            if let Some(name) = place.name.filter(|_| self.stream != place.stream) {
                out.push('[');
                out.push_str(name);
                out.push_str("] ");
            }
            self.stream = place.stream;
            self.started = true;
        }
        out.push_str(line);
        if line.ends_with('\n') {
            self.started = false;
        }
    }

    /// A failure: its title between rules, then each section under its heading.
    pub(crate) fn failure(&mut self, out: &mut String, title: &str, sections: &[(String, String)]) {
        let rule = "=".repeat(80);
        for line in ["", &rule, title, &rule, "\n"] {
            self.puts(out, line, Stream::Own);
        }
        for (heading, text) in sections {
            self.puts(out, heading, Stream::Own);
            self.puts(out, &"-".repeat(heading.chars().count()), Stream::Own);
            match text.char_indices().nth(LONGEST_SECTION) {
                Some((end, _)) => {
                    let left = text.chars().count() - LONGEST_SECTION;
                    self.puts(out, &text[..end], Stream::Own);
                    let told = format!("\n... [truncated {left} characters of output]");
                    self.puts(out, &told, Stream::Own);
                }
                None => self.puts(out, text, Stream::Own),
            }
            self.puts(out, "\n", Stream::Own);
        }
    }
}

/// Characters of a section's text that are shown.
const LONGEST_SECTION: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_continued_by_its_own_stream_only() {
        let (mut page, mut out) = (Page::default(), String::new());
        page.indent();
        page.start_line(&mut out, "* log[a]", Stream::Row(0));
        page.indent();
        page.puts(&mut out, " (up to date)", Stream::Row(0));
        page.unindent();
        page.start_line(&mut out, "* log[b]", Stream::Row(1));
        page.puts(&mut out, "other", Stream::Own);
        assert_eq!(out, "  * log[a] (up to date)\n  * log[b]\n  other\n");
    }

    #[test]
    fn a_named_stream_is_named_once() {
        let (mut page, mut out) = (Page::default(), String::new());
        let place = Place { stream: Stream::Command(0), name: Some("execute"), ..Place::default() };
        page.print(&mut out, "one\ntwo\n", place);
        assert_eq!(out, "[execute] one\n          two\n");
    }
}
