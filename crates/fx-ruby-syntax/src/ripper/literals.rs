//! Numbers, texts, symbols, patterns, arrays and hashes.

use std::ops::Range;

use ruby_prism as p;

use super::{Maker, Sexp, Start, sexp};

impl Maker<'_> {
    /// A number; the sign of a negative one is an operator.
    pub(super) fn number(&self, kind: &'static str, at: &p::Location<'_>) -> Sexp {
        let text = at.as_slice();
        match text.strip_prefix(b"-") {
            Some(rest) => {
                let start = at.end() - rest.len() as u32;
                sexp!("unary", Sexp::Sym("-@"), self.token_of(kind, rest, start))
            }
            None => self.token(kind, at),
        }
    }

    pub(super) fn literal(&self, node: &p::Node<'_>) -> Sexp {
        if let Some(it) = node.as_string_node() {
            return self.string(&it);
        }
        if let Some(it) = node.as_interpolated_string_node() {
            let Some(opening) = it.opening_loc() else {
                let mut parts = it.parts().iter().map(|part| self.node(&part));
                let first = parts.next().unwrap_or(Sexp::Nil);
                return parts.fold(first, |all, next| sexp!("string_concat", all, next));
            };
            let closing = it.closing_loc().expect("what was opened is closed");
            return sexp!("string_literal", content(self.parts(&it.parts(), &opening, &closing)));
        }
        if let Some(it) = node.as_x_string_node() {
            let parts = self.text(&it.content_loc(), Some(&it.opening_loc()));
            return sexp!("xstring_literal", Sexp::List(parts));
        }
        if let Some(it) = node.as_interpolated_x_string_node() {
            let parts = self.parts(&it.parts(), &it.opening_loc(), &it.closing_loc());
            return sexp!("xstring_literal", Sexp::List(parts));
        }
        if node.as_symbol_node().is_some() || node.as_interpolated_symbol_node().is_some() {
            return self.symbol(node);
        }
        if let Some(it) = node.as_regular_expression_node() {
            return self.regexp(&it.content_loc(), &it.closing_loc());
        }
        if let Some(it) = node.as_match_last_line_node() {
            return self.regexp(&it.content_loc(), &it.closing_loc());
        }
        if let Some(it) = node.as_interpolated_regular_expression_node() {
            let parts = self.parts(&it.parts(), &it.opening_loc(), &it.closing_loc());
            let end = self.token("@regexp_end", &it.closing_loc());
            return sexp!("regexp_literal", Sexp::List(parts), end);
        }
        if let Some(it) = node.as_interpolated_match_last_line_node() {
            let parts = self.parts(&it.parts(), &it.opening_loc(), &it.closing_loc());
            let end = self.token("@regexp_end", &it.closing_loc());
            return sexp!("regexp_literal", Sexp::List(parts), end);
        }
        if let Some(it) = node.as_array_node() {
            return self.array(&it);
        }
        if let Some(it) = node.as_hash_node() {
            if it.elements().is_empty() {
                return sexp!("hash", Sexp::Nil);
            }
            return sexp!("hash", sexp!("assoclist_from_args", self.pairs(&it.elements())));
        }
        if let Some(it) = node.as_keyword_hash_node() {
            return sexp!("bare_assoc_hash", self.pairs(&it.elements()));
        }
        if let Some(it) = node.as_assoc_node() {
            let value = it.value();
            let key = self.label(&it.key());
            let value =
                if value.as_implicit_node().is_some() { Sexp::Nil } else { self.node(&value) };
            return sexp!("assoc_new", key, value);
        }
        let it = node.as_assoc_splat_node().expect("the last kind");
        sexp!("assoc_splat", self.maybe(it.value()))
    }

    fn pairs(&self, list: &p::NodeList<'_>) -> Sexp {
        Sexp::List(self.nodes(list))
    }

    /// The key of a pair: `name:` is one token.
    pub(super) fn label(&self, node: &p::Node<'_>) -> Sexp {
        match node.as_symbol_node() {
            Some(it) if it.opening_loc().is_none() => self.token("@label", &it.location()),
            _ => self.node(node),
        }
    }

    fn string(&self, it: &p::StringNode<'_>) -> Sexp {
        let Some(opening) = it.opening_loc() else {
            return self.token("@tstring_content", &it.content_loc());
        };
        if opening.as_slice() == b"?" {
            return self.token("@CHAR", &it.location());
        }
        sexp!("string_literal", content(self.text(&it.content_loc(), Some(&opening))))
    }

    /// A text without insertions.
    fn text(&self, at: &p::Location<'_>, opening: Option<&p::Location<'_>>) -> Vec<Sexp> {
        self.pieces(at.start()..at.end(), &[], opening)
    }

    /// Texts and insertions in turns. Prism leaves out what it has no use for, so a text is what
    /// lies between the insertions.
    fn pieces(
        &self,
        range: Range<u32>,
        list: &[p::Node<'_>],
        opening: Option<&p::Location<'_>>,
    ) -> Vec<Sexp> {
        let mut made: Vec<Sexp> = Vec::with_capacity(list.len());
        let mut start = range.start;
        let text = |made: &mut Vec<Sexp>, start: u32, end: u32| {
            if start < end {
                made.push(self.token_of("@tstring_content", self.slice(start..end), start));
            }
        };
        for part in list {
            let inserted = if let Some(it) = part.as_embedded_statements_node() {
                let from = it.opening_loc().end();
                sexp!("string_embexpr", self.statements(it.statements(), from, Start::Open))
            } else if let Some(it) = part.as_embedded_variable_node() {
                sexp!("string_dvar", self.node(&it.variable()))
            } else {
                continue;
            };
            text(&mut made, start, part.location().start());
            made.push(inserted);
            start = part.location().end();
        }
        text(&mut made, start, range.end);
        self.dedented(made, opening)
    }

    /// The same of a literal with its marks.
    fn parts(
        &self,
        list: &p::NodeList<'_>,
        opening: &p::Location<'_>,
        closing: &p::Location<'_>,
    ) -> Vec<Sexp> {
        let nodes: Vec<_> = list.iter().collect();
        let start = match nodes.first() {
            Some(first) if opening.as_slice().starts_with(b"<<") => {
                self.lines.start(first.location().start())
            }
            _ => opening.end(),
        };
        self.pieces(start..closing.start(), &nodes, Some(opening))
    }

    /// A word of `%W` or `%I`.
    fn word_parts(&self, node: &p::Node<'_>, list: &p::NodeList<'_>) -> Sexp {
        let (at, nodes): (_, Vec<_>) = (node.location(), list.iter().collect());
        Sexp::List(self.pieces(at.start()..at.end(), &nodes, None))
    }

    fn symbol(&self, node: &p::Node<'_>) -> Sexp {
        let Some(it) = node.as_symbol_node() else {
            let parts = node.as_interpolated_symbol_node().and_then(|it| {
                Some(self.parts(&it.parts(), &it.opening_loc()?, &it.closing_loc()?))
            });
            return sexp!("dyna_symbol", content(parts.unwrap_or_default()));
        };
        let at = it.content_loc();
        match it.opening_loc().as_ref().map(p::Location::as_slice) {
            None => self.token("@tstring_content", &at),
            Some(b":") => sexp!("symbol_literal", sexp!("symbol", self.word(&at))),
            Some(_) => sexp!("dyna_symbol", content(self.text(&at, None))),
        }
    }

    fn regexp(&self, at: &p::Location<'_>, closing: &p::Location<'_>) -> Sexp {
        let end = self.token("@regexp_end", closing);
        sexp!("regexp_literal", Sexp::List(self.text(at, None)), end)
    }

    fn array(&self, it: &p::ArrayNode<'_>) -> Sexp {
        let nodes: Vec<_> = it.elements().iter().collect();
        let Some(opening) = it.opening_loc() else { return self.right_side(&nodes) };
        let words = opening.as_slice();
        if words.starts_with(b"[") {
            let list = if nodes.is_empty() { Sexp::Nil } else { self.list_with_splats(&nodes) };
            return sexp!("array", list);
        }
        let inserted = matches!(words.get(1), Some(b'W' | b'I'));
        let words = nodes.iter().map(|node| {
            if !inserted {
                return self.node(node);
            }
            if let Some(it) = node.as_interpolated_string_node() {
                return self.word_parts(node, &it.parts());
            }
            if let Some(it) = node.as_interpolated_symbol_node() {
                return self.word_parts(node, &it.parts());
            }
            Sexp::List(vec![self.node(node)])
        });
        sexp!("array", Sexp::List(words.collect()))
    }

    /// The texts of a here document with `~`, without the indentation they share.
    fn dedented(&self, parts: Vec<Sexp>, opening: Option<&p::Location<'_>>) -> Vec<Sexp> {
        if !opening.is_some_and(|at| at.as_slice().starts_with(b"<<~")) {
            return parts;
        }
        let lines = self.lines_of(parts);
        let width = shared_width(&lines);
        lines
            .into_iter()
            .map(|(part, _)| match text_of(&part) {
                Some((text, line, column)) => {
                    let cut = prefix(text, width);
                    let place = vec![Sexp::Int(line), Sexp::Int(column + cut as u32)];
                    let text = Sexp::Text(text[cut..].to_vec());
                    Sexp::List(vec![Sexp::Sym("@tstring_content"), text, Sexp::List(place)])
                }
                None => part,
            })
            .collect()
    }

    /// Each line a part of its own, with whether it starts one.
    fn lines_of(&self, parts: Vec<Sexp>) -> Vec<(Sexp, bool)> {
        let (mut made, mut fresh) = (Vec::new(), true);
        for part in parts {
            let Some((text, line, column)) = text_of(&part) else {
                made.push((part, false));
                fresh = false;
                continue;
            };
            let (mut line, mut column) = (line, column);
            for piece in text.split_inclusive(|byte| *byte == b'\n') {
                let place = Sexp::List(vec![Sexp::Int(line), Sexp::Int(column)]);
                let text = Sexp::Text(piece.to_vec());
                made.push((Sexp::List(vec![Sexp::Sym("@tstring_content"), text, place]), fresh));
                fresh = piece.ends_with(b"\n");
                (line, column) = (line + 1, 0);
            }
        }
        made
    }
}

fn content(parts: Vec<Sexp>) -> Sexp {
    let mut list = vec![Sexp::Sym("string_content")];
    list.extend(parts);
    Sexp::List(list)
}

fn text_of(part: &Sexp) -> Option<(&[u8], u32, u32)> {
    let Sexp::List(items) = part else { return None };
    match items.as_slice() {
        [Sexp::Sym("@tstring_content"), Sexp::Text(text), Sexp::List(place)] => {
            match place.as_slice() {
                [Sexp::Int(line), Sexp::Int(column)] => Some((text, *line, *column)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The least indentation of lines that are more than spaces.
fn shared_width(lines: &[(Sexp, bool)]) -> usize {
    let mut least = usize::MAX;
    for (index, (part, fresh)) in lines.iter().enumerate() {
        let Some((text, ..)) = text_of(part) else {
            // An insertion at the start of a line leaves nothing to take away.
            if index == 0 || ends_line(&lines[index - 1].0) {
                least = 0;
            }
            continue;
        };
        if !fresh {
            continue;
        }
        let followed = index + 1 < lines.len();
        match indentation(text) {
            Some(width) => least = least.min(width),
            None if followed && !text.ends_with(b"\n") => least = least.min(columns(text)),
            None => {}
        }
    }
    if least == usize::MAX { 0 } else { least }
}

fn columns(text: &[u8]) -> usize {
    text.iter().fold(0, |column, byte| if *byte == b'\t' { column / 8 * 8 + 8 } else { column + 1 })
}

/// The columns before the first byte of a line that is no space.
pub(super) fn indentation(line: &[u8]) -> Option<usize> {
    let spaces = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match line.get(spaces) {
        None | Some(b'\n') => None,
        Some(_) => Some(columns(&line[..spaces])),
    }
}

fn ends_line(part: &Sexp) -> bool {
    text_of(part).is_some_and(|(text, ..)| text.ends_with(b"\n"))
}

/// How many bytes of indentation are `width` columns at most.
pub(super) fn prefix(text: &[u8], width: usize) -> usize {
    let mut column = 0;
    for (at, byte) in text.iter().enumerate() {
        let next = match byte {
            b' ' => column + 1,
            b'\t' => column / 8 * 8 + 8,
            _ => return at,
        };
        if next > width {
            return at;
        }
        column = next;
    }
    text.len()
}
