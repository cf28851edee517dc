//! Heredocs: `@(TAG)`, `@("TAG":syntax/flags)`, and the text below with its margin.

use std::borrow::Cow;

use crate::escape::Escapes;
use crate::lexer::{LexResult, Lexer};
use crate::names;
use crate::token::Tok;

/// The head of a heredoc, taken apart.
struct Head {
    tag: Vec<u8>,
    interpolate: bool,
    syntax: Vec<u8>,
    escapes: Escapes,
    end: usize,
}

impl Lexer<'_> {
    pub(crate) fn heredoc(&mut self, spaced: bool) -> LexResult<()> {
        let start = self.at;
        let head = self.heredoc_head(start)?;
        let line_end = |from: usize| {
            self.bytes[from..]
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(self.bytes.len(), |n| from + n + 1)
        };
        let body = self.after_heredocs.unwrap_or_else(|| line_end(head.end));
        let mut at = body;
        let (end, margin, chomp) = loop {
            if at >= self.bytes.len() {
                let message = if body >= self.bytes.len() {
                    "Heredoc without any following lines of text"
                } else {
                    "Heredoc without end-tagged line"
                };
                return Err(self.error(body.min(self.bytes.len()), message));
            }
            let next = line_end(at);
            let line = self.bytes[at..next].strip_suffix(b"\n").unwrap_or(&self.bytes[at..next]);
            if let Some((margin, chomp)) = end_tag(line, &head.tag) {
                break (at, margin, chomp);
            }
            at = next;
        };
        self.after_heredocs = Some(line_end(end));
        let (text, map) = cut_margin(&self.bytes[body..end], body, margin, chomp);
        // The text is lexed on its own: cutting the margin moved everything in it.
        let mut inner = Lexer::new(&text, self.file);
        inner.map = Some(match &self.map {
            None => map,
            Some(_) => map.into_iter().map(|(here, there)| (here, self.place(there))).collect(),
        });
        inner.depth = self.depth + 1;
        inner.strings = std::mem::take(&mut self.strings);
        let parts = inner.string_parts(0, None, &head.escapes, head.interpolate)?;
        inner.push_parts(parts, 0, text.len(), false);
        let text_token = inner.tokens.pop().expect("one string was pushed");
        self.strings = std::mem::take(&mut inner.strings);
        self.warnings.append(&mut inner.warnings);
        self.at = head.end;
        self.strings.push(vec![match text_token.kind {
            Tok::String(text) => crate::token::RawPart::Text(text),
            _ => crate::token::RawPart::Tokens(
                vec![
                    text_token.clone(),
                    crate::token::Token { kind: Tok::End, ..text_token.clone() },
                ],
                text_token.span,
            ),
        }]);
        let index = self.strings.len() - 1;
        self.push(Tok::Heredoc(names::text(&head.syntax), index), start, head.end, spaced);
        Ok(())
    }

    fn heredoc_head(&self, start: usize) -> LexResult<Head> {
        let bad = |message: &str| self.error(start, message);
        let rest = &self.bytes[start + 2..];
        let close = rest
            .iter()
            .position(|byte| *byte == b')' || *byte == b'\n')
            .filter(|at| rest[*at] == b')');
        let Some(close) = close else {
            return Err(bad("Unclosed parenthesis after '@(' followed by heredoc tag"));
        };
        let head = &rest[..close];
        let (head, flags) = match head.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (&head[..slash], Some(head[slash + 1..].trim_ascii())),
            None => (head, None),
        };
        let (tag, syntax) = match head.iter().position(|byte| *byte == b':') {
            Some(colon) => (head[..colon].trim_ascii(), head[colon + 1..].trim_ascii()),
            None => (head.trim_ascii(), &b""[..]),
        };
        let quoted = tag.strip_prefix(b"\"").and_then(|tag| tag.strip_suffix(b"\""));
        let interpolate = quoted.is_some();
        let tag = quoted.unwrap_or(tag).trim_ascii();
        if tag.is_empty() {
            let end = start + 2 + close + 1;
            return Err(
                self.error(end, "Invalid syntax in heredoc expected @(endtag[:syntax][/escapes])")
            );
        }
        let known: Cow<'static, [u8]> = match flags {
            None => Cow::Borrowed(b""),
            Some(b"") => Cow::Borrowed(b"tnrsu$\\\n"),
            Some(flags) => {
                let end = start + 2 + close + 1;
                if let Some(wrong) = flags.iter().find(|flag| !b"tnrsuL$".contains(flag)) {
                    let wrong = char::from(*wrong);
                    return Err(self.error(
                        end,
                        format!(
                            "Invalid heredoc escape char. Only t, r, n, s,  u, L, $ allowed. Got '{wrong}'"
                        ),
                    ));
                }
                let again = |at: usize| flags[..at].contains(&flags[at]);
                if (0..flags.len()).any(again) {
                    let all: Vec<String> =
                        flags.iter().map(|flag| char::from(*flag).to_string()).collect();
                    return Err(self.error(
                        end,
                        format!(
                            "An escape char for @() may only appear once. Got '{}'",
                            all.join(", ")
                        ),
                    ));
                }
                let mut known = vec![b'\\'];
                known.extend(flags.iter().map(|flag| if *flag == b'L' { b'\n' } else { *flag }));
                Cow::Owned(known)
            }
        };
        Ok(Head {
            tag: tag.to_owned(),
            interpolate,
            syntax: syntax.to_owned(),
            escapes: Escapes { known, warn: false },
            end: start + 2 + close + 1,
        })
    }
}

/// If the line ends the heredoc: the width of the margin and whether the last line end goes.
fn end_tag(line: &[u8], tag: &[u8]) -> Option<(usize, bool)> {
    let blank = |text: &[u8]| text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let indent = blank(line);
    let mut rest = &line[indent..];
    let mut margin = 0;
    let mut chomp = false;
    if let Some(after) = rest.strip_prefix(b"|") {
        margin = indent;
        rest = &after[blank(after)..];
    }
    if let Some(after) = rest.strip_prefix(b"-") {
        chomp = true;
        rest = &after[blank(after)..];
    }
    (rest.trim_ascii() == tag && rest.starts_with(tag)).then_some((margin, chomp))
}

/// The text without its margin, and where each line came from.
fn cut_margin(
    body: &[u8],
    offset: usize,
    margin: usize,
    chomp: bool,
) -> (Vec<u8>, Vec<(usize, usize)>) {
    let mut text = Vec::with_capacity(body.len());
    let mut map = Vec::new();
    let mut at = offset;
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        // A line with less of a margin keeps what it has.
        let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let cut = if blanks >= margin { margin } else { 0 };
        map.push((text.len(), at + cut));
        text.extend_from_slice(&line[cut..]);
        at += line.len();
    }
    if chomp {
        if text.ends_with(b"\n") {
            text.pop();
        }
        if text.ends_with(b"\r") {
            text.pop();
        }
    }
    (text, map)
}
