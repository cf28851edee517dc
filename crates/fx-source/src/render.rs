//! Diagnostics as text: source snippets for people, one JSON object a line for machines.
//!
//! Returns strings; where they go and whether colour is wanted is the caller's business.
//! The wording of the original tools is made by each language, not here.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};

use crate::{Diagnostic, Severity, SourceMap, Span, visible, visible_name};

/// Whether the text may carry terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// Plain bytes, for pipes and files.
    Never,
    /// For a terminal.
    Always,
}

/// What follows a place is cut behind this much; what stands before it gives the renderer the
/// column, and is cut there.
const MAX_LINE: usize = 400;

/// Renders diagnostics with their source lines, in the order given.
pub fn render_text(map: &SourceMap, diagnostics: &[Diagnostic], color: Color) -> String {
    let renderer = match color {
        Color::Never => Renderer::plain(),
        Color::Always => Renderer::styled(),
    };
    diagnostics.iter().map(|diagnostic| render_one(map, diagnostic, &renderer)).collect()
}

fn render_one(map: &SourceMap, diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let message = printable(&diagnostic.message);
    let mut excerpts: Vec<Excerpt> = Vec::new();
    for (index, label) in diagnostic.labels.iter().enumerate() {
        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let excerpt = Excerpt::around(map, label.span, kind, printable(&label.text));
        match excerpts.iter_mut().find(|e| e.name == excerpt.name && e.line == excerpt.line) {
            Some(same) => same.marks.extend(excerpt.marks),
            None => excerpts.push(excerpt),
        }
    }
    let title = level.primary_title(message.as_str()).id(diagnostic.code);
    let snippets = excerpts.iter().map(Excerpt::snippet);
    let mut groups = vec![Group::with_title(title).elements(snippets)];
    let help = diagnostic.help.as_deref().map(printable);
    if let Some(help) = &help {
        groups.push(Group::with_title(Level::HELP.secondary_title(help.as_str())));
    }
    renderer.render(&groups) + "\n"
}

/// The one source line a label points into, with the marks on it.
struct Excerpt {
    name: String,
    line: u32,
    text: String,
    marks: Vec<(std::ops::Range<usize>, AnnotationKind, String)>,
}

impl Excerpt {
    fn around(map: &SourceMap, span: Span, kind: AnnotationKind, text: String) -> Excerpt {
        let file = map.file(span.file);
        let at = map.location(span);
        let line = crate::secret_lines::shown_among(at.line, &|line| file.line_text(line));
        let column = at.column as usize - 1;
        let shown: String = line.chars().take(column + MAX_LINE).map(one).collect();
        let upto = |chars: usize| shown.chars().take(chars).map(char::len_utf8).sum::<usize>();
        let length = map.text(span).lines().next().map_or(0, |first| first.chars().count());
        let range = upto(column)..upto(column + length);
        Excerpt {
            name: visible_name(file.name()).into_owned(),
            line: at.line,
            text: shown,
            marks: vec![(range, kind, text)],
        }
    }

    fn snippet(&self) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
        let marks = self
            .marks
            .iter()
            .map(|(range, kind, text)| kind.span(range.clone()).label(text.as_str()));
        Snippet::source(self.text.as_str())
            .path(self.name.as_str())
            .line_start(self.line as usize)
            .annotations(marks)
    }
}

// Control characters in policy text must not drive the reader's terminal. Columns are counted
// in letters, so each becomes one.
fn one(c: char) -> char {
    match c {
        '\t' => ' ',
        c if *visible_name(c.encode_utf8(&mut [0; 4])) != *c.encode_utf8(&mut [0; 4]) => '\u{fffd}',
        c => c,
    }
}

fn printable(text: &str) -> String {
    visible(text).replace('\t', " ")
}

/// Renders diagnostics as JSON lines: code, severity, message, labels with places, help.
pub fn render_json(map: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| one_json(map, diagnostic).to_string() + "\n").collect()
}

fn one_json(map: &SourceMap, diagnostic: &Diagnostic) -> Value {
    let labels: Vec<Value> = diagnostic
        .labels
        .iter()
        .map(|label| {
            let start = map.location(label.span);
            let end = map.location(Span::new(label.span.file, label.span.end, label.span.end));
            json!({
                "file": &*start.file,
                "line": start.line, "column": start.column,
                "end_line": end.line, "end_column": end.column,
                "text": label.text,
            })
        })
        .collect();
    json!({
        "code": diagnostic.code,
        "severity": diagnostic.severity.word(),
        "message": diagnostic.message,
        "labels": labels,
        "help": diagnostic.help,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_labels() -> (SourceMap, Diagnostic) {
        let map = SourceMap::new();
        let id = map.add("site.cf", b"bundle agent main\n{\n  file:\n}\n".as_slice());
        let diagnostic = Diagnostic::error("cf-type", "unknown promise type 'file'")
            .label(Span::new(id, 22, 26), "not a promise type")
            .label(Span::new(id, 13, 17), "in this bundle")
            .help("did you mean 'files'?");
        (map, diagnostic)
    }

    #[test]
    fn people_see_the_source_lines_and_what_to_do() {
        let (map, diagnostic) = two_labels();
        expect_test::expect![[r#"
            error[cf-type]: unknown promise type 'file'
             --> site.cf:3:3
              |
            3 |   file:
              |   ^^^^ not a promise type
              |
             ::: site.cf:1:14
              |
            1 | bundle agent main
              |              ---- in this bundle
              |
            help: did you mean 'files'?
        "#]]
        .assert_eq(&render_text(&map, &[diagnostic], Color::Never));
    }

    #[test]
    fn machines_see_one_object_a_line() {
        let (map, diagnostic) = two_labels();
        expect_test::expect![[r#"
            {"code":"cf-type","severity":"error","message":"unknown promise type 'file'","labels":[{"file":"site.cf","line":3,"column":3,"end_line":3,"end_column":7,"text":"not a promise type"},{"file":"site.cf","line":1,"column":14,"end_line":1,"end_column":18,"text":"in this bundle"}],"help":"did you mean 'files'?"}
        "#]].assert_eq(&render_json(&map, &[diagnostic]));
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let map = SourceMap::new();
        let id = map.add("x", b"a\x1b[31m b".as_slice());
        let diagnostic = Diagnostic::warning("x", "bad \x1b[2J").label(Span::new(id, 0, 1), "\x07");
        let text = render_text(&map, &[diagnostic], Color::Never);
        assert!(!text.contains('\x1b') && !text.contains('\x07'), "{text:?}");
    }

    #[test]
    fn a_span_at_the_end_of_the_text_and_a_huge_line_are_shown() {
        let map = SourceMap::new();
        let id = map.add("x", vec![b'['; 1_000_000]);
        let end = Span::new(id, 1_000_000, 1_000_000);
        let text = render_text(
            &map,
            &[Diagnostic::error("x", "unclosed").label(end, "here")],
            Color::Never,
        );
        assert!(text.contains("x:1:1000001") && text.contains("here"), "{text}");
        assert!(text.len() < 4000);
    }
}
