//! YAML text as libyaml writes it: which quotes a scalar needs, where its lines break, how deep
//! things stand. What is written was decided by who made the nodes.

use std::borrow::Cow;

/// How a text may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of YAML")]
pub enum Style {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

/// What may stand before a node's content. Most nodes have none: it is kept small.
#[derive(Clone, Default)]
pub struct Head {
    pub anchor: Option<Box<str>>,
    pub tag: Option<Box<str>>,
}

/// A text and how it may stand. The text is borrowed where it can be: a report has many.
pub struct Scalar<'a> {
    pub text: Cow<'a, str>,
    pub style: Style,
    /// Whether the tag can be left out if the text stands plain, and if it stands quoted.
    pub plain: bool,
    pub quoted: bool,
}

pub enum Node<'a> {
    Alias(Cow<'a, str>),
    Scalar(Head, Scalar<'a>),
    List(Head, Vec<Node<'a>>),
    Map(Head, Vec<(Node<'a>, Node<'a>)>),
}

/// What a text allows, seen from its characters.
#[derive(Default)]
struct Shape {
    multiline: bool,
    flow_plain: bool,
    block_plain: bool,
    single: bool,
    block: bool,
}

pub struct Emitter {
    pub out: String,
    /// Steps of indentation, and the column after which a line breaks.
    step: i32,
    width: usize,
    column: usize,
    indent: i32,
    flow: u32,
    /// The last character written was white, or began a line.
    whitespace: bool,
    indention: bool,
    /// A block scalar ended with empty lines: the end of the document must be marked.
    open_ended: bool,
    in_map: bool,
    is_key: bool,
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// libyaml takes no character beyond the first plane as printable. It does take the two line
/// ends of Unicode, which readers of YAML 1.1 fold and readers of 1.2 keep; escaped, all read
/// the same.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && !matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}')
}

/// White space, a break, or the end.
fn is_blank(c: Option<char>) -> bool {
    c.is_none_or(|c| matches!(c, ' ' | '\t' | '\0') || is_break(c))
}

/// Whether a text is letters, digits and what may stand between them anywhere.
fn is_word(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"_./-".contains(&byte);
    text.as_bytes().first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && text.bytes().all(inner)
}

/// Whether a text can stand in double quotes as it is, on one line.
fn is_unescaped(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte))
}

fn shape(text: &str) -> Shape {
    if text.is_empty() {
        return Shape { block_plain: true, single: true, ..Shape::default() };
    }
    let marker = text.starts_with("---") || text.starts_with("...");
    let (mut block_sign, mut flow_sign) = (marker, marker);
    let (mut breaks, mut special) = (false, false);
    let (mut break_space, mut space_break) = (false, false);
    let mut before: Option<char> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let is_first = before.is_none();
        let before_blank = || is_blank(rest.clone().next());
        match c {
            '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' | ',' | '[' | ']'
            | '{' | '}'
                if is_first =>
            {
                (flow_sign, block_sign) = (true, true);
            }
            '-' if is_first && before_blank() => (flow_sign, block_sign) = (true, true),
            ',' | '[' | ']' | '{' | '}' => flow_sign = true,
            '?' => {
                flow_sign = true;
                block_sign |= is_first && before_blank();
            }
            ':' => {
                flow_sign = true;
                block_sign |= before_blank();
            }
            '#' if is_blank(before) => (flow_sign, block_sign) = (true, true),
            _ => {}
        }
        let is_break = is_break(c);
        special |= !is_printable(c);
        breaks |= is_break;
        break_space |= c == ' ' && before.is_some_and(self::is_break);
        space_break |= is_break && before == Some(' ');
        before = Some(c);
    }
    let edge = |c: Option<char>| c.is_some_and(|c| c == ' ' || is_break(c));
    let trailing_space = text.ends_with(' ');
    let unplain = edge(text.chars().next())
        || edge(before)
        || break_space
        || space_break
        || special
        || breaks;
    Shape {
        multiline: breaks,
        flow_plain: !unplain && !flow_sign,
        block_plain: !unplain && !block_sign,
        single: !break_space && !space_break && !special,
        block: !trailing_space && !space_break && !special,
    }
}

impl Emitter {
    /// A width below zero is none.
    pub fn new(step: i64, width: i64) -> Emitter {
        let step = if (2..=9).contains(&step) { step as i32 } else { 2 };
        let width = match usize::try_from(width) {
            Ok(width) if width > 2 * step as usize => width,
            Ok(_) => 80,
            Err(_) => usize::MAX,
        };
        Emitter {
            out: String::new(),
            step,
            width,
            column: 0,
            indent: -1,
            flow: 0,
            whitespace: true,
            indention: true,
            open_ended: false,
            in_map: false,
            is_key: false,
        }
    }

    pub fn document(&mut self, root: &Node<'_>) {
        self.open_ended = false;
        self.sign("---", true, false, false);
        self.node(root, false, false);
        self.line();
    }

    /// After the last document.
    pub fn finish(mut self) -> String {
        if self.open_ended {
            self.sign("...", true, false, false);
            self.line();
        }
        self.out
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn break_line(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    fn sign(&mut self, text: &str, apart: bool, white: bool, indention: bool) {
        if apart && !self.whitespace {
            self.put(' ');
        }
        self.out.push_str(text);
        self.column += text.chars().count();
        self.whitespace = white;
        self.indention &= indention;
    }

    /// Goes to the place where something at this depth begins.
    fn line(&mut self) {
        let indent = usize::try_from(self.indent).unwrap_or(0);
        let here = self.column == indent && self.whitespace;
        if !self.indention || self.column > indent || self.column == indent && !here {
            self.break_line();
        }
        while self.column < indent {
            self.put(' ');
        }
        (self.whitespace, self.indention) = (true, true);
    }

    fn deeper(&mut self, flow: bool, indentless: bool) -> i32 {
        let before = self.indent;
        if self.indent < 0 {
            self.indent = if flow { self.step } else { 0 };
        } else if !indentless {
            self.indent += self.step;
        }
        before
    }

    fn node(&mut self, node: &Node<'_>, in_map: bool, is_key: bool) {
        (self.in_map, self.is_key) = (in_map, is_key);
        match node {
            Node::Alias(name) => {
                self.sign(&format!("*{name}"), true, false, false);
                if is_key {
                    self.put(' ');
                }
            }
            Node::Scalar(head, scalar) => self.scalar(head, scalar),
            Node::List(head, items) => {
                self.head(head, "");
                if self.flow > 0 || items.is_empty() {
                    self.flow_list(items);
                } else {
                    self.block_list(items, in_map);
                }
            }
            Node::Map(head, pairs) => {
                self.head(head, "");
                if self.flow > 0 || pairs.is_empty() {
                    self.flow_map(pairs);
                } else {
                    self.block_map(pairs);
                }
            }
        }
    }

    fn head(&mut self, head: &Head, no_tag: &str) {
        if let Some(anchor) = &head.anchor {
            self.sign(&format!("&{anchor}"), true, false, false);
        }
        let text = match head.tag.as_deref() {
            None => no_tag.to_owned(),
            Some(tag) => match tag.strip_prefix("tag:yaml.org,2002:") {
                Some(short) if !short.is_empty() => format!("!!{short}"),
                _ if tag.starts_with('!') && tag.len() > 1 => tag.to_owned(),
                _ => format!("!<{tag}>"),
            },
        };
        if !text.is_empty() {
            self.sign(&text, true, false, false);
        }
    }

    fn block_list(&mut self, items: &[Node<'_>], in_map: bool) {
        let before = self.deeper(false, in_map && !self.indention);
        for item in items {
            self.line();
            self.sign("-", true, false, true);
            self.node(item, false, false);
        }
        self.indent = before;
    }

    fn block_map(&mut self, pairs: &[(Node<'_>, Node<'_>)]) {
        let before = self.deeper(false, false);
        for (key, value) in pairs {
            self.line();
            if simple(key) {
                self.node(key, true, true);
                self.sign(":", false, false, false);
            } else {
                self.sign("?", true, false, true);
                self.node(key, true, false);
                self.line();
                self.sign(":", true, false, true);
            }
            self.node(value, true, false);
        }
        self.indent = before;
    }

    fn flow_list(&mut self, items: &[Node<'_>]) {
        self.sign("[", true, true, false);
        let before = self.deeper(true, false);
        self.flow += 1;
        for (i, item) in items.iter().enumerate() {
            self.flow_step(i);
            self.node(item, false, false);
        }
        self.flow -= 1;
        self.indent = before;
        self.sign("]", false, false, false);
    }

    fn flow_map(&mut self, pairs: &[(Node<'_>, Node<'_>)]) {
        self.sign("{", true, true, false);
        let before = self.deeper(true, false);
        self.flow += 1;
        for (i, (key, value)) in pairs.iter().enumerate() {
            self.flow_step(i);
            if simple(key) {
                self.node(key, true, true);
                self.sign(":", false, false, false);
            } else {
                self.sign("?", true, false, false);
                self.node(key, true, false);
                self.sign(":", true, false, false);
            }
            self.node(value, true, false);
        }
        self.flow -= 1;
        self.indent = before;
        self.sign("}", false, false, false);
    }

    fn flow_step(&mut self, i: usize) {
        if i > 0 {
            self.sign(",", false, false, false);
        }
        if self.column > self.width {
            self.line();
        }
    }

    /// Writes a text as it is, if nothing in it could be escaped, folded or taken for a mark:
    /// most texts of a large document are so.
    fn unbroken(&mut self, head: &Head, scalar: &Scalar<'_>) -> bool {
        let Scalar { text, style, plain, quoted } = scalar;
        if head.anchor.is_some() || head.tag.is_some() || !plain {
            return false;
        }
        let quote = match style {
            Style::Plain if is_word(text) => "",
            Style::Single if *quoted && is_word(text) => "'",
            Style::Double if *quoted && is_unescaped(text) => "\"",
            _ => return false,
        };
        self.put_whole(quote, text);
        true
    }

    fn scalar(&mut self, head: &Head, scalar: &Scalar<'_>) {
        if !self.unbroken(head, scalar) {
            self.shaped(head, scalar);
        }
    }

    /// Writes a text in the style that it can have.
    fn shaped(&mut self, head: &Head, scalar: &Scalar<'_>) {
        let Scalar { text, plain, quoted, .. } = scalar;
        let shape = shape(text);
        let no_tag = head.tag.is_none() || *plain || *quoted;
        let mut style = scalar.style;
        if self.is_key && shape.multiline {
            style = Style::Double;
        }
        let plain_allowed = if self.flow > 0 { shape.flow_plain } else { shape.block_plain };
        if style == Style::Plain
            && (!plain_allowed
                || text.is_empty() && (self.flow > 0 || self.is_key)
                || no_tag && !plain)
        {
            style = Style::Single;
        }
        let block = matches!(style, Style::Literal | Style::Folded);
        if style == Style::Single && !shape.single
            || block && (!shape.block || self.flow > 0 || self.is_key)
        {
            style = Style::Double;
        }
        let sign = if no_tag && !quoted && style != Style::Plain { "!" } else { "" };
        let shown = Head { anchor: head.anchor.clone(), tag: head.tag.clone().filter(|_| !no_tag) };
        self.head(&shown, sign);
        if !self.on_one_line(text, style) {
            self.by_characters(text, style);
        }
    }

    fn by_characters(&mut self, text: &str, style: Style) {
        let text = &text.chars().collect::<Vec<char>>();
        let before = self.deeper(true, false);
        let breaks = !self.is_key;
        match style {
            Style::Plain => self.plain(text, breaks),
            Style::Single => self.single(text, breaks),
            Style::Double => self.double(text, breaks),
            Style::Literal => self.literal(text),
            Style::Folded => self.folded(text),
        }
        self.indent = before;
    }

    /// Writes a text that needs no escape and ends before the line has to break.
    fn on_one_line(&mut self, text: &str, style: Style) -> bool {
        let is_simple = |byte: u8| match byte {
            b'\'' => style != Style::Single,
            b'"' | b'\\' => style != Style::Double,
            b' '..=b'~' => true,
            _ => false,
        };
        let quote = match style {
            Style::Plain => "",
            Style::Single => "'",
            Style::Double => "\"",
            Style::Literal | Style::Folded => return false,
        };
        // One column for the blank before it, one for the quote.
        if text.is_empty()
            || self.column + text.len() + 2 > self.width
            || !text.bytes().all(is_simple)
        {
            return false;
        }
        self.put_whole(quote, text);
        true
    }

    fn put_whole(&mut self, quote: &str, text: &str) {
        if !self.whitespace {
            self.put(' ');
        }
        for part in [quote, text, quote] {
            self.out.push_str(part);
            self.column += part.len();
        }
        (self.whitespace, self.indention) = (false, false);
    }

    /// A run of spaces may become the end of a line.
    fn may_fold(&self, text: &[char], i: usize, after_space: bool) -> bool {
        !after_space && self.column > self.width && text.get(i + 1) != Some(&' ')
    }

    fn plain(&mut self, text: &[char], breaks: bool) {
        if !self.whitespace && !text.is_empty() {
            self.put(' ');
        }
        let mut after_space = false;
        for (i, &c) in text.iter().enumerate() {
            if c == ' ' && breaks && self.may_fold(text, i, after_space) {
                self.line();
            } else {
                self.put(c);
                self.indention &= c == ' ';
            }
            after_space = c == ' ';
        }
        (self.whitespace, self.indention) = (false, false);
    }

    fn single(&mut self, text: &[char], breaks: bool) {
        self.sign("'", true, false, false);
        let (mut after_space, mut after_break) = (false, false);
        for (i, &c) in text.iter().enumerate() {
            let inner = i > 0 && i + 1 < text.len();
            if c == ' ' {
                if breaks && inner && self.may_fold(text, i, after_space) {
                    self.line();
                } else {
                    self.put(c);
                }
            } else if is_break(c) {
                if !after_break && c == '\n' {
                    self.break_line();
                }
                self.write_break(c);
                self.indention = true;
            } else {
                if after_break {
                    self.line();
                }
                if c == '\'' {
                    self.put(c);
                }
                self.put(c);
                self.indention = false;
            }
            (after_space, after_break) = (c == ' ', is_break(c));
        }
        if after_break {
            self.line();
        }
        self.sign("'", false, false, false);
        (self.whitespace, self.indention) = (false, false);
    }

    fn write_break(&mut self, c: char) {
        if c == '\n' {
            self.break_line();
        } else {
            self.out.push(c);
            self.column = 0;
        }
    }

    fn double(&mut self, text: &[char], breaks: bool) {
        self.sign("\"", true, false, false);
        let mut after_space = false;
        for (i, &c) in text.iter().enumerate() {
            if !is_printable(c) || is_break(c) || c == '"' || c == '\\' {
                self.escaped(c);
                after_space = false;
            } else if c == ' ' {
                let inner = i > 0 && i + 1 < text.len();
                if breaks && !after_space && inner && self.column > self.width {
                    self.line();
                    if text.get(i + 1) == Some(&' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                after_space = true;
            } else {
                self.put(c);
                after_space = false;
            }
        }
        self.sign("\"", false, false, false);
        (self.whitespace, self.indention) = (false, false);
    }

    fn escaped(&mut self, c: char) {
        let text = match c {
            '\0' => "0".into(),
            '\x07' => "a".into(),
            '\x08' => "b".into(),
            '\t' => "t".into(),
            '\n' => "n".into(),
            '\x0b' => "v".into(),
            '\x0c' => "f".into(),
            '\r' => "r".into(),
            '\x1b' => "e".into(),
            '"' | '\\' => String::from(c),
            '\u{85}' => "N".into(),
            '\u{a0}' => "_".into(),
            '\u{2028}' => "L".into(),
            '\u{2029}' => "P".into(),
            c if u32::from(c) <= 0xFF => format!("x{:02X}", u32::from(c)),
            c if u32::from(c) <= 0xFFFF => format!("u{:04X}", u32::from(c)),
            c => format!("U{:08X}", u32::from(c)),
        };
        self.put('\\');
        text.chars().for_each(|c| self.put(c));
    }

    /// How deep the first line stands, if that is not seen from it, and what becomes of the
    /// breaks at the end.
    fn block_hints(&mut self, text: &[char]) {
        if text.first().is_some_and(|c| *c == ' ' || is_break(*c)) {
            let step = self.step.to_string();
            self.sign(&step, false, false, false);
        }
        let broken = |from_end: usize| {
            text.len()
                .checked_sub(from_end)
                .and_then(|at| text.get(at))
                .copied()
                .is_some_and(is_break)
        };
        let keep = broken(1) && (text.len() == 1 || broken(2));
        if keep {
            self.sign("+", false, false, false);
        } else if !broken(1) {
            self.sign("-", false, false, false);
        }
        self.open_ended = keep;
        self.break_line();
        (self.whitespace, self.indention) = (true, true);
    }

    fn literal(&mut self, text: &[char]) {
        self.sign("|", true, false, false);
        self.block_hints(text);
        let mut after_break = true;
        for &c in text {
            if is_break(c) {
                self.write_break(c);
                self.indention = true;
            } else {
                if after_break {
                    self.line();
                }
                self.put(c);
                self.indention = false;
            }
            after_break = is_break(c);
        }
    }

    fn folded(&mut self, text: &[char]) {
        self.sign(">", true, false, false);
        self.block_hints(text);
        let (mut after_break, mut leading) = (true, true);
        for (i, &c) in text.iter().enumerate() {
            if is_break(c) {
                if !after_break && !leading && c == '\n' {
                    let next = text[i..].iter().position(|c| !is_break(*c));
                    if next.is_some_and(|next| !is_blank(text.get(i + next).copied())) {
                        self.break_line();
                    }
                }
                self.write_break(c);
                self.indention = true;
            } else {
                if after_break {
                    self.line();
                    leading = c == ' ' || c == '\t';
                }
                if !after_break && c == ' ' && self.may_fold(text, i, false) {
                    self.line();
                } else {
                    self.put(c);
                }
                self.indention = false;
            }
            after_break = is_break(c);
        }
    }
}

/// Whether a key can stand before its colon without a question mark.
fn simple(key: &Node<'_>) -> bool {
    let head = |head: &Head| {
        let length = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        length(&head.anchor) + length(&head.tag)
    };
    let length = match key {
        Node::Alias(name) => name.len(),
        Node::Scalar(of, scalar) => {
            if scalar.text.chars().any(is_break) {
                return false;
            }
            let tag = if scalar.plain || scalar.quoted { 0 } else { head(of) };
            tag + scalar.text.len()
        }
        Node::List(of, items) if items.is_empty() => head(of),
        Node::Map(of, pairs) if pairs.is_empty() => head(of),
        _ => return false,
    };
    length <= 128
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_short_way_writes_what_the_long_way_writes(
            text in "[a-z0-9_./:'\"{} #-]{0,12}",
            style in prop::sample::select(vec![Style::Plain, Style::Single, Style::Double]),
            before in prop::sample::select(vec!["", "---", "- ", "a long key that stands before it"]),
            is_key: bool,
        ) {
            let write = |way: fn(&mut Emitter, &Head, &Scalar<'_>)| {
                let mut emitter = Emitter::new(2, 20);
                emitter.is_key = is_key;
                emitter.sign(before, true, before.ends_with(' '), false);
                let scalar = Scalar { text: text.as_str().into(), style, plain: true, quoted: true };
                way(&mut emitter, &Head::default(), &scalar);
                (emitter.out, emitter.column, emitter.whitespace, emitter.indention)
            };
            prop_assert_eq!(write(Emitter::scalar), write(Emitter::shaped));
        }

        #[test]
        fn a_text_on_one_line_is_written_as_by_its_characters(
            text in "[a-z:'\"\\\\ é#\n-]{0,12}",
            style in prop::sample::select(vec![Style::Plain, Style::Single, Style::Double]),
            before in prop::sample::select(vec!["", "---", "- ", "a longer key"]),
            is_key: bool,
        ) {
            let begin = || {
                let mut emitter = Emitter::new(2, 20);
                emitter.is_key = is_key;
                emitter.sign(before, true, before.ends_with(' '), false);
                emitter
            };
            let end = |emitter: Emitter| {
                (emitter.out, emitter.column, emitter.whitespace, emitter.indention)
            };
            let (mut short, mut long) = (begin(), begin());
            if short.on_one_line(&text, style) {
                long.by_characters(&text, style);
                prop_assert_eq!(end(short), end(long));
            }
        }
    }
}
