//! Tokens to a tree by recursive descent. Goes on after an error at the next statement.
//!
//! Messages keep the original's wording, because people grep for them.

use std::rc::Rc;

use fx_source::{Diagnostic, FileId, Span};

use crate::ast::{
    Attribute, Block, BlockKind, Bundle, File, Guard, Name, Promise, Rval, RvalKind, Section,
    Settings,
};
use crate::lexer::Lexer;
use crate::token::{Kind, Token};
use crate::{MAX_ERRORS, MAX_NESTING};

/// Parses a policy file. The tree holds what could be read, whatever the errors.
pub fn parse(file: FileId, text: &[u8]) -> (File, Vec<Diagnostic>) {
    let mut lexer = Lexer::new(file, text);
    let token = lexer.next();
    let mut parser = Parser { lexer, text, token, errors: Vec::new(), namespace: "default".into() };
    let mut blocks = Vec::new();
    while parser.token.kind != Kind::End && parser.errors.len() <= MAX_ERRORS {
        match parser.block() {
            Ok(block) => blocks.push(block),
            Err(Stop) => break,
        }
    }
    let mut errors = parser.lexer.errors;
    errors.append(&mut parser.errors);
    errors.sort_by_key(Diagnostic::primary);
    errors.truncate(MAX_ERRORS + 1);
    (File { blocks, skipped: parser.lexer.skipped }, errors)
}

/// The file cannot be read further.
struct Stop;

struct Parser<'a> {
    lexer: Lexer<'a>,
    text: &'a [u8],
    token: Token,
    errors: Vec<Diagnostic>,
    namespace: Rc<str>,
}

impl Parser<'_> {
    fn advance(&mut self) -> Token {
        let next = self.lexer.next();
        std::mem::replace(&mut self.token, next)
    }

    fn shown(&self) -> String {
        let span = self.token.span;
        String::from_utf8_lossy(&self.text[span.start as usize..span.end as usize]).into_owned()
    }

    fn error(&mut self, message: impl Into<String>) {
        let diagnostic = Diagnostic::error("cf-syntax", message).label(self.token.span, "");
        // One place is worth one error: what follows from it is noise.
        if self.errors.last().is_none_or(|last| last.primary() != diagnostic.primary()) {
            self.errors.push(diagnostic);
        }
    }

    fn is_char(&self, byte: u8) -> bool {
        self.token.kind == Kind::Char(byte)
    }

    fn take_char(&mut self, byte: u8) -> bool {
        let found = self.is_char(byte);
        if found {
            self.advance();
        }
        found
    }

    fn block(&mut self) -> Result<Block, Stop> {
        let start = self.token.span;
        match self.token.kind {
            Kind::Bundle => {
                self.advance();
                self.bundle(start).map(Block::Bundle)
            }
            Kind::Body => {
                self.advance();
                self.settings(start, BlockKind::Body).map(Block::Settings)
            }
            Kind::Promise => {
                self.advance();
                self.settings(start, BlockKind::Promise).map(Block::Settings)
            }
            _ => {
                let shown = self.shown();
                self.error(format!("Expected 'bundle' or 'body' keyword, wrong input '{shown}'"));
                Err(Stop)
            }
        }
    }

    fn name(&mut self, what: &str) -> Name {
        match &self.token.kind {
            Kind::Id(text) => {
                let name = Name { text: Rc::clone(text), span: self.token.span };
                self.advance();
                name
            }
            _ => {
                let shown = self.shown();
                self.error(format!("Expected {what}, wrong input '{shown}'"));
                let name = Name { text: "".into(), span: self.token.span };
                if !self.is_char(b'{') && !self.is_char(b'(') {
                    self.advance();
                }
                name
            }
        }
    }

    fn formal_args(&mut self) -> Vec<Name> {
        let mut args = Vec::new();
        if !self.take_char(b'(') {
            return args;
        }
        loop {
            if self.take_char(b')') {
                return args;
            }
            match &self.token.kind {
                Kind::Id(_) => args.push(self.name("identifier")),
                _ => {
                    let shown = self.shown();
                    self.error(format!("Expected identifier, wrong input '{shown}'"));
                    if self.is_char(b'{') || self.token.kind == Kind::End {
                        return args;
                    }
                    self.advance();
                }
            }
            if self.take_char(b',') || self.is_char(b')') {
                continue;
            }
            let shown = self.shown();
            self.error(format!(
                "Error in bundle parameter list, expected ')', wrong input '{shown}'"
            ));
            if self.is_char(b'{') || self.token.kind == Kind::End {
                return args;
            }
            self.advance();
        }
    }

    fn open_brace(&mut self) -> Result<(), Stop> {
        if self.take_char(b'{') {
            return Ok(());
        }
        let shown = self.shown();
        self.error(format!("Expected body open '{{', wrong input '{shown}'"));
        while self.token.kind != Kind::End {
            if self.take_char(b'{') {
                return Ok(());
            }
            self.advance();
        }
        Err(Stop)
    }

    fn bundle(&mut self, start: Span) -> Result<Bundle, Stop> {
        let kind = self.name("bundle type");
        let name = self.name("bundle identifier");
        let args = self.formal_args();
        self.open_brace()?;
        let namespace = Rc::clone(&self.namespace);
        let mut sections: Vec<Section> = Vec::new();
        let mut guard: Option<Guard> = None;
        loop {
            match &self.token.kind {
                Kind::PromiseType(text) => {
                    let kind = Name { text: Rc::clone(text), span: self.token.span };
                    self.advance();
                    guard = None;
                    sections.push(Section { kind, promises: Vec::new() });
                }
                Kind::Class(_) | Kind::VarClass(_) if !sections.is_empty() => guard = self.guard(),
                Kind::Quoted(_) if !sections.is_empty() => {
                    let promise = self.promise(guard.clone());
                    if let (Some(section), Some(promise)) = (sections.last_mut(), promise) {
                        section.promises.push(promise);
                    }
                }
                Kind::Char(b'}') => break,
                Kind::Bundle | Kind::Body | Kind::End => {
                    let shown = self.shown();
                    self.error(format!("Expected '}}', got '{shown}'"));
                    return Err(Stop);
                }
                _ => {
                    let shown = self.shown();
                    let what = if sections.is_empty() { "promise type" } else { "promiser string" };
                    self.error(format!("Expected {what}, got '{shown}'"));
                    self.recover();
                }
            }
            if self.errors.len() > MAX_ERRORS {
                return Err(Stop);
            }
        }
        let end = self.advance().span;
        Ok(Bundle { kind, name, namespace, args, sections, span: start.to(end) })
    }

    // Skips to the end of the statement, so that the next one is read afresh.
    fn recover(&mut self) {
        loop {
            match self.token.kind {
                Kind::Char(b';') => {
                    self.advance();
                    return;
                }
                Kind::Char(b'}') | Kind::Bundle | Kind::Body | Kind::End | Kind::PromiseType(_) => {
                    return;
                }
                _ => {
                    self.advance();
                }
            }
        }
    }

    fn guard(&mut self) -> Option<Guard> {
        let token = self.advance();
        match token.kind {
            Kind::Class(text) => Some(Guard::Plain(Name { text, span: token.span })),
            Kind::VarClass(text) => Some(Guard::Variable(Name { text, span: token.span })),
            _ => None,
        }
    }

    fn promise(&mut self, guard: Option<Guard>) -> Option<Promise> {
        let token = self.advance();
        let Kind::Quoted(text) = token.kind else { return None };
        let promiser = Name { text, span: token.span };
        let mut promisee = None;
        if self.token.kind == Kind::ThinArrow {
            self.advance();
            promisee = Some(self.rval(0)?);
        }
        let mut attributes: Vec<Attribute> = Vec::new();
        loop {
            if self.is_char(b';') {
                let end = self.advance().span;
                let span = promiser.span.to(end);
                return Some(Promise { guard, promiser, promisee, attributes, span });
            }
            if let Kind::Id(_) = self.token.kind {
                attributes.push(self.attribute(None)?);
                if self.take_char(b',') {
                    if let Kind::Id(_) = self.token.kind {
                        continue;
                    }
                    let shown = self.shown();
                    self.error(format!("Expected attribute, got '{shown}'"));
                    self.recover();
                    return None;
                }
                if self.is_char(b';') {
                    continue;
                }
                let shown = self.shown();
                let wanted = if matches!(self.token.kind, Kind::Id(_)) { "," } else { ";" };
                self.error(format!("Check previous line, Expected '{wanted}', got '{shown}'"));
            } else {
                let shown = self.shown();
                let message = match self.token.kind {
                    Kind::Char(b'-' | b'>') => format!("Expected '->', got '{shown}'"),
                    Kind::Char(b',') => format!(
                        "Expected attribute, got '{shown}' (comma after promiser is not allowed since 3.5.0)"
                    ),
                    _ => format!("Expected ';', got '{shown}'"),
                };
                self.error(message);
            }
            self.recover();
            return None;
        }
    }

    fn attribute(&mut self, guard: Option<Guard>) -> Option<Attribute> {
        let name = self.name("attribute");
        if self.token.kind == Kind::FatArrow {
            self.advance();
        } else {
            let shown = self.shown();
            self.error(format!("Expected '=>', got '{shown}'"));
            self.recover();
            return None;
        }
        let value = self.rval(0)?;
        Some(Attribute { name, value, guard })
    }

    fn rval(&mut self, depth: usize) -> Option<Rval> {
        if depth > MAX_NESTING {
            self.error("Nesting of functions is deeper than recommended");
            self.recover();
            return None;
        }
        let start = self.token.span;
        match self.token.kind.clone() {
            Kind::Id(text) | Kind::Naked(text) if self.lookahead_is_call() => {
                self.advance();
                self.call(start, text, depth)
            }
            Kind::Id(text) => self.leaf(RvalKind::Bare(text)),
            Kind::Naked(text) => self.leaf(RvalKind::Naked(text)),
            Kind::Quoted(text) => self.leaf(RvalKind::Quoted(text)),
            Kind::Char(b'{') if depth == 0 => {
                self.advance();
                self.list(start)
            }
            _ => {
                let shown = self.shown();
                self.error(format!("Invalid r-value type '{shown}'"));
                self.recover();
                None
            }
        }
    }

    fn leaf(&mut self, kind: RvalKind) -> Option<Rval> {
        let span = self.advance().span;
        Some(Rval { kind, span })
    }

    // A `(` after the word makes it a call; blanks between are allowed.
    fn lookahead_is_call(&self) -> bool {
        let mut at = self.token.span.end as usize;
        while matches!(self.text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            at += 1;
        }
        self.text.get(at) == Some(&b'(')
    }

    fn call(&mut self, start: Span, name: Rc<str>, depth: usize) -> Option<Rval> {
        self.advance();
        let mut args = Vec::new();
        if self.is_char(b')') {
            let end = self.advance().span;
            return Some(Rval { kind: RvalKind::Call { name, args }, span: start.to(end) });
        }
        // In the original's grammar nothing is a list too, so a comma may come first.
        self.take_char(b',');
        loop {
            match self.token.kind {
                Kind::Id(_) | Kind::Naked(_) | Kind::Quoted(_) => args.push(self.rval(depth + 1)?),
                _ => {
                    let shown = self.shown();
                    let message = match self.token.kind {
                        Kind::Char(b';') => format!("Expected ')', wrong input '{shown}'"),
                        Kind::FatArrow => format!(
                            "Check function statement  previous line, Expected ')', wrong input '{shown}'"
                        ),
                        _ => format!("Invalid function argument, wrong input '{shown}'"),
                    };
                    self.error(message);
                    self.recover();
                    return None;
                }
            }
            if self.take_char(b',') {
                continue;
            }
            if self.is_char(b')') {
                let end = self.advance().span;
                return Some(Rval { kind: RvalKind::Call { name, args }, span: start.to(end) });
            }
            let shown = self.shown();
            self.error(format!("Expected ',', wrong input '{shown}'"));
            self.recover();
            return None;
        }
    }

    fn list(&mut self, start: Span) -> Option<Rval> {
        let mut items = Vec::new();
        loop {
            if self.is_char(b'}') {
                let end = self.advance().span;
                return Some(Rval { kind: RvalKind::List(items), span: start.to(end) });
            }
            match self.token.kind {
                Kind::Id(_) | Kind::Naked(_) | Kind::Quoted(_) => items.push(self.rval(1)?),
                _ => {
                    let shown = self.shown();
                    self.error(format!("Invalid input for a list item, got '{shown}'"));
                    self.recover();
                    return None;
                }
            }
            if self.take_char(b',') || self.is_char(b'}') {
                continue;
            }
            let shown = self.shown();
            let message = match self.token.kind {
                Kind::Char(b';') => format!("Expected '}}', wrong input '{shown}'"),
                Kind::FatArrow => {
                    format!(
                        "Check list statement previous line, Expected '}}', wrong input '{shown}'"
                    )
                }
                _ => format!("Expected ',', wrong input '{shown}'"),
            };
            self.error(message);
            self.recover();
            return None;
        }
    }

    fn settings(&mut self, start: Span, block: BlockKind) -> Result<Settings, Stop> {
        let (kind, name) = match block {
            BlockKind::Body => (self.name("body type"), self.name("body identifier")),
            BlockKind::Promise => (self.name("'agent'"), self.name("promise type identifier")),
        };
        let args = self.formal_args();
        self.open_brace()?;
        let namespace = Rc::clone(&self.namespace);
        let mut attributes = Vec::new();
        let mut guard: Option<Guard> = None;
        loop {
            match &self.token.kind {
                Kind::Class(_) | Kind::VarClass(_) => guard = self.guard(),
                Kind::Id(_) => {
                    let Some(attribute) = self.attribute(guard.clone()) else { continue };
                    self.note_namespace(&kind, &name, &attribute);
                    attributes.push(attribute);
                    if !self.take_char(b';') {
                        let shown = self.shown();
                        self.error(format!("Expected ';' check previous statement, got '{shown}'"));
                        self.recover();
                    }
                }
                Kind::Char(b'}') => break,
                Kind::Bundle | Kind::Body | Kind::End => {
                    let shown = self.shown();
                    self.error(format!("Expected '}}', got '{shown}'"));
                    return Err(Stop);
                }
                _ => {
                    let shown = self.shown();
                    self.error(format!("Expected attribute, got '{shown}'"));
                    let before = self.token.span;
                    self.recover();
                    if self.token.span == before && !self.is_char(b'}') {
                        self.advance();
                    }
                }
            }
            if self.errors.len() > MAX_ERRORS {
                return Err(Stop);
            }
        }
        let end = self.advance().span;
        Ok(Settings { block, kind, name, namespace, args, attributes, span: start.to(end) })
    }

    // `body file control { namespace => "x"; }` changes the namespace of what follows.
    fn note_namespace(&mut self, kind: &Name, name: &Name, attribute: &Attribute) {
        if &*kind.text != "file" || &*name.text != "control" || &*attribute.name.text != "namespace"
        {
            return;
        }
        match &attribute.value.kind {
            RvalKind::Quoted(text) | RvalKind::Bare(text) | RvalKind::Naked(text) => {
                self.namespace = Rc::clone(text);
            }
            _ => self.error("namespace must be a constant scalar string"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_source::SourceMap;

    fn check(text: &str) -> (File, Vec<String>) {
        let map = SourceMap::new();
        let id = map.add("t.cf", text.as_bytes());
        let (file, errors) = parse(id, text.as_bytes());
        (file, errors.iter().map(|error| error.message.clone()).collect())
    }

    #[test]
    fn a_whole_policy_is_read() {
        let (file, errors) = check(
            r#"
body common control { bundlesequence => { "main", f("x") }; }
bundle agent main(a, b)
{
  vars:
    linux::
      "x" string => "1", if => not("c");
      "l" slist => { "a", @(m), };
    "$(v)"::
      "y" -> { "owner" } data => mergedata(x, '{"a": 1}');
  reports:
      "done";
}
body file control { namespace => "other"; }
body classes done(x) { any:: promise_kept => { "$(x)" }; }
promise agent git { path => "/x"; }
"#,
        );
        assert_eq!(errors, Vec::<String>::new());
        assert_eq!(file.blocks.len(), 5);
        let Block::Bundle(bundle) = &file.blocks[1] else { panic!("a bundle") };
        assert_eq!(bundle.sections.len(), 2);
        assert_eq!(bundle.sections[0].promises.len(), 3);
        assert_eq!(bundle.sections[0].promises[0].attributes.len(), 2);
        assert!(matches!(bundle.sections[0].promises[2].guard, Some(Guard::Variable(_))));
        let Block::Settings(body) = &file.blocks[3] else { panic!("a body") };
        assert_eq!(&*body.namespace, "other");
    }

    #[test]
    fn several_errors_are_found_in_one_run() {
        let (_, errors) = check(
            "bundle agent main\n{\nvars:\n  \"x\" string => \"1\"\n  \"y\" string => ;\n  \"z\", string => \"a\";\n}\n",
        );
        assert_eq!(
            errors,
            [
                "Check previous line, Expected ';', got '\"y\"'",
                "Expected attribute, got ',' (comma after promiser is not allowed since 3.5.0)",
            ]
        );
    }

    #[test]
    fn deep_nesting_is_an_error_not_a_crash() {
        let text = format!(
            "bundle agent m {{ vars: \"x\" string => {}\"a\"{}; }}",
            "f(".repeat(200),
            ")".repeat(200)
        );
        let (_, errors) = check(&text);
        assert_eq!(errors, ["Nesting of functions is deeper than recommended"]);
    }

    #[test]
    fn junk_never_panics() {
        let pieces = [
            "bundle", " agent ", "{", "}", "vars:", "\"a\"", "=>", ";", "x::", "@if ", "(", "$(",
            "'", "body",
        ];
        for seed in 0..2000_usize {
            let mut text = String::new();
            let mut state = seed;
            for _ in 0..12 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                text.push_str(pieces[(state >> 33) % pieces.len()]);
            }
            drop(check(&text));
        }
    }
}
