//! The tree that CRuby 3.1's Ripper makes of a text, from prism's. Test libraries look in it for
//! the expression of a line. The tokens of the same text are in [`lex`].

mod calls;
mod definitions;
mod flow;
mod lex;
mod lex_state;
mod literals;
mod marks;
mod params;
mod patterns;
mod targets;

use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::ops::Range;

use ruby_prism as p;

use crate::locals;

pub use lex::{Token, lex};

/// A part of Ripper's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sexp {
    Nil,
    False,
    Sym(&'static str),
    /// A symbol whose name is in the text: an operator.
    Operator(Vec<u8>),
    Text(Vec<u8>),
    Int(u32),
    List(Vec<Sexp>),
}

impl Sexp {
    fn list(self) -> Vec<Sexp> {
        if let Sexp::List(items) = self { items } else { vec![self] }
    }
}

/// A node: its name and its parts.
macro_rules! sexp {
    ($name:literal $(, $part:expr)* $(,)?) => {
        $crate::ripper::Sexp::List(vec![$crate::ripper::Sexp::Sym($name) $(, $part)*])
    };
}
pub(crate) use sexp;

/// The tree of a program; nothing where the text is none.
pub fn tree(source: &[u8]) -> Option<Sexp> {
    if crate::errors(source).iter().any(|error| !is_late(&error.message)) {
        return None;
    }
    let options = p::Options::default().version(p::Version::CRuby3_3).main_script(true).build();
    let result = p::parse_with_options(source, &options);
    let root = result.node();
    locals::analyse(&root).ok()?;
    let lines = Lines::of(source);
    let maker = Maker {
        source,
        heredocs: marks::heredocs(source, &root, &lines),
        lines,
        argument_parens: RefCell::default(),
    };
    let program = root.as_program_node()?;
    Some(sexp!("program", maker.statements(Some(program.statements()), 0, Start::Open)))
}

/// What the parser says of errors that CRuby finds after Ripper has made its tree.
const LATE: [&str; 4] = ["Invalid ", "both block arg", "multiple block", "no such local variable"];

fn is_late(message: &str) -> bool {
    LATE.iter().any(|words| message.contains(words))
}

/// Where lines begin.
struct Lines(Vec<u32>);

impl Lines {
    fn of(source: &[u8]) -> Lines {
        let ends = source.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        Lines(std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect())
    }

    /// Where the line of a place begins.
    fn start(&self, at: u32) -> u32 {
        self.0[self.0.partition_point(|start| *start <= at) - 1]
    }

    /// Line, from 1, and column, in bytes from 0.
    fn place(&self, at: u32) -> (u32, u32) {
        let line = self.0.partition_point(|start| *start <= at);
        (line as u32, at - self.0[line - 1])
    }
}

/// What stands before the first statement of a list and belongs to what opened it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Nothing: a keyword or a bracket opened the list.
    Open,
    /// One end of a line or one semicolon, as after the condition of an `if`.
    Term,
    /// A name came before, so that even the end of its line is an empty statement.
    Name,
}

struct Maker<'s> {
    source: &'s [u8],
    lines: Lines,
    /// Where the bodies of here documents are; none of it is code of the line.
    heredocs: Vec<Range<u32>>,
    /// Brackets that open an argument after a space, as in `p (1)`.
    argument_parens: RefCell<FxHashSet<u32>>,
}

impl<'s> Maker<'s> {
    fn slice(&self, range: Range<u32>) -> &'s [u8] {
        self.source.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    fn byte(&self, at: u32) -> u8 {
        self.source.get(at as usize).copied().unwrap_or_default()
    }

    fn token_of(&self, name: &'static str, text: &[u8], at: u32) -> Sexp {
        let (line, column) = self.lines.place(at);
        let place = Sexp::List(vec![Sexp::Int(line), Sexp::Int(column)]);
        Sexp::List(vec![Sexp::Sym(name), Sexp::Text(text.to_vec()), place])
    }

    fn token(&self, name: &'static str, at: &p::Location<'_>) -> Sexp {
        self.token_of(name, at.as_slice(), at.start())
    }

    /// The token of a name: an identifier, a constant, an operator.
    fn name(&self, at: &p::Location<'_>) -> Sexp {
        self.token(name_kind(at.as_slice()), at)
    }

    /// The same where keywords are told from names.
    fn word(&self, at: &p::Location<'_>) -> Sexp {
        let text = at.as_slice();
        self.token(if is_keyword(text) { "@kw" } else { name_kind(text) }, at)
    }

    fn statements(&self, node: Option<p::StatementsNode<'_>>, from: u32, start: Start) -> Sexp {
        let Some(node) = node else { return Sexp::List(vec![sexp!("void_stmt")]) };
        let mut list = Vec::with_capacity(node.body().len());
        if self.starts_empty(from, node.location().start(), start) {
            list.push(sexp!("void_stmt"));
        }
        list.extend(node.body().iter().map(|statement| self.node(&statement)));
        if list.is_empty() {
            list.push(sexp!("void_stmt"));
        }
        Sexp::List(list)
    }

    /// Whether an empty statement comes before the first one.
    fn starts_empty(&self, from: u32, to: u32, start: Start) -> bool {
        let (mut at, mut terms) = (from, Vec::new());
        while at < to {
            if let Some(body) = self.heredocs.iter().find(|body| body.contains(&at)) {
                at = body.end;
                continue;
            }
            match self.byte(at) {
                b'#' => {
                    while at < to && self.byte(at) != b'\n' {
                        at += 1;
                    }
                    continue;
                }
                b'=' if self.lines.place(at).1 == 0 => {
                    at = self.end_of_document(at).min(to);
                    continue;
                }
                b'\\' => at += 1,
                term @ (b'\n' | b';') => terms.push(term),
                _ => {}
            }
            at += 1;
        }
        let rest = if start == Start::Term { terms.get(1..).unwrap_or_default() } else { &terms };
        rest.contains(&b';') || start == Start::Name && rest.first() == Some(&b'\n')
    }

    /// The place after `=end` and its line.
    fn end_of_document(&self, at: u32) -> u32 {
        let rest = &self.source[at as usize..];
        let mut end = at;
        for line in rest.split_inclusive(|byte| *byte == b'\n') {
            end += line.len() as u32;
            if line.starts_with(b"=end") {
                break;
            }
        }
        end
    }

    fn nodes(&self, list: &p::NodeList<'_>) -> Vec<Sexp> {
        list.iter().map(|node| self.node(&node)).collect()
    }

    fn maybe(&self, node: Option<p::Node<'_>>) -> Sexp {
        node.map_or(Sexp::Nil, |node| self.node(&node))
    }

    fn variable(&self, kind: &'static str, node: &p::Node<'_>) -> Sexp {
        sexp!("var_ref", self.token(kind, &node.location()))
    }

    fn node(&self, node: &p::Node<'_>) -> Sexp {
        use p::Node as N;
        let at = node.location();
        match node {
            N::LocalVariableReadNode { .. } | N::ItLocalVariableReadNode { .. } => {
                self.variable("@ident", node)
            }
            N::InstanceVariableReadNode { .. } => self.variable("@ivar", node),
            N::ClassVariableReadNode { .. } => self.variable("@cvar", node),
            N::GlobalVariableReadNode { .. } => self.variable("@gvar", node),
            N::ConstantReadNode { .. } => self.variable("@const", node),
            N::BackReferenceReadNode { .. } | N::NumberedReferenceReadNode { .. } => {
                self.token("@backref", &at)
            }
            N::SelfNode { .. }
            | N::NilNode { .. }
            | N::TrueNode { .. }
            | N::FalseNode { .. }
            | N::SourceFileNode { .. }
            | N::SourceLineNode { .. }
            | N::SourceEncodingNode { .. } => self.variable("@kw", node),
            N::IntegerNode { .. } => self.number("@int", &at),
            N::FloatNode { .. } => self.number("@float", &at),
            N::RationalNode { .. } => self.number("@rational", &at),
            N::ImaginaryNode { .. } => self.number("@imaginary", &at),
            N::RedoNode { .. } => sexp!("redo"),
            N::RetryNode { .. } => sexp!("retry"),
            N::ForwardingArgumentsNode { .. } => sexp!("args_forward"),
            N::CallNode { .. }
            | N::SuperNode { .. }
            | N::ForwardingSuperNode { .. }
            | N::YieldNode { .. }
            | N::ReturnNode { .. }
            | N::BreakNode { .. }
            | N::NextNode { .. }
            | N::LambdaNode { .. }
            | N::DefinedNode { .. }
            | N::AndNode { .. }
            | N::OrNode { .. }
            | N::RangeNode { .. }
            | N::FlipFlopNode { .. }
            | N::MatchWriteNode { .. } => self.call_like(node),
            N::StringNode { .. }
            | N::InterpolatedStringNode { .. }
            | N::XStringNode { .. }
            | N::InterpolatedXStringNode { .. }
            | N::SymbolNode { .. }
            | N::InterpolatedSymbolNode { .. }
            | N::RegularExpressionNode { .. }
            | N::InterpolatedRegularExpressionNode { .. }
            | N::MatchLastLineNode { .. }
            | N::InterpolatedMatchLastLineNode { .. }
            | N::ArrayNode { .. }
            | N::HashNode { .. }
            | N::KeywordHashNode { .. }
            | N::AssocNode { .. }
            | N::AssocSplatNode { .. } => self.literal(node),
            N::IfNode { .. }
            | N::UnlessNode { .. }
            | N::WhileNode { .. }
            | N::UntilNode { .. }
            | N::ForNode { .. }
            | N::CaseNode { .. }
            | N::CaseMatchNode { .. }
            | N::MatchPredicateNode { .. }
            | N::MatchRequiredNode { .. }
            | N::BeginNode { .. }
            | N::RescueModifierNode { .. }
            | N::ParenthesesNode { .. }
            | N::StatementsNode { .. } => self.flow(node),
            N::DefNode { .. }
            | N::ClassNode { .. }
            | N::ModuleNode { .. }
            | N::SingletonClassNode { .. }
            | N::AliasMethodNode { .. }
            | N::AliasGlobalVariableNode { .. }
            | N::UndefNode { .. }
            | N::PreExecutionNode { .. }
            | N::PostExecutionNode { .. } => self.definition(node),
            _ => self.assignment(node),
        }
    }
}

/// How the lexer classes the name of a method.
fn name_kind(text: &[u8]) -> &'static str {
    match text.first() {
        Some(b'`') => "@backtick",
        Some(b'@') if text.starts_with(b"@@") => "@cvar",
        Some(b'@') => "@ivar",
        Some(b'$') if is_backref(text) => "@backref",
        Some(b'$') => "@gvar",
        Some(first) if first.is_ascii_alphabetic() || *first == b'_' || !first.is_ascii() => {
            let upper = std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.chars().next())
                .is_some_and(char::is_uppercase);
            let plain = !matches!(text.last(), Some(b'?' | b'!' | b'='));
            if upper && plain { "@const" } else { "@ident" }
        }
        _ => "@op",
    }
}

fn is_backref(text: &[u8]) -> bool {
    match text.get(1..) {
        Some([b'&' | b'`' | b'\'' | b'+']) => true,
        Some([first, rest @ ..]) => {
            matches!(first, b'1'..=b'9') && rest.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

const KEYWORDS: &[&str] = &[
    "BEGIN",
    "END",
    "__ENCODING__",
    "__FILE__",
    "__LINE__",
    "alias",
    "and",
    "begin",
    "break",
    "case",
    "class",
    "def",
    "defined?",
    "do",
    "else",
    "elsif",
    "end",
    "ensure",
    "false",
    "for",
    "if",
    "in",
    "module",
    "next",
    "nil",
    "not",
    "or",
    "redo",
    "rescue",
    "retry",
    "return",
    "self",
    "super",
    "then",
    "true",
    "undef",
    "unless",
    "until",
    "when",
    "while",
    "yield",
];

fn is_keyword(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| KEYWORDS.contains(&text))
}
