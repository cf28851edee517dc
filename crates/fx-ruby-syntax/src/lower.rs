//! From prism's tree to ours: scopes, slots and the entry point. Expressions are in the submodules.

mod assign;
mod call;
mod combine;
mod definitions;
mod expr;
mod flow;
mod literals;
mod params;
mod pattern;
mod variables;

use rustc_hash::FxHashMap;
use std::cell::Cell;

use ruby_prism as p;

use crate::ast::{Args, Blk, Call, Code, CodeKind, Kind, N, Node, Params, Target, Var};
use crate::locals::{self, Captured, Key};
use crate::trees::{keep, keep_all};
use crate::{Interner, Sym};

/// What to parse and how.
pub struct Request<'a> {
    pub source: &'a [u8],
    pub path: &'a str,
    /// Number of the runtime's file table, copied into every `Code`.
    pub file: u32,
    /// Line of the first line.
    pub line: i32,
    /// Environments the text can see, outermost first: names by slot. `Some` for `eval`.
    pub scopes: Option<Vec<Vec<Sym>>>,
    /// Default for `frozen_string_literal`.
    pub frozen: bool,
    /// The text is the program itself (`__END__` is honoured).
    pub main: bool,
}

/// A syntax error with its place.
#[derive(Debug, Clone)]
pub struct ParseError {
    pub message: String,
    pub start: u32,
    pub end: u32,
    pub line: i32,
}

/// A parsed program.
pub struct Parsed {
    pub code: &'static Code,
    /// Offset after `__END__`.
    pub data: Option<u32>,
}

/// What is wrong with a text, without making anything of it.
pub fn errors(source: &[u8]) -> Vec<ParseError> {
    if let Some(error) = long_prefix(source, 1) {
        return vec![error];
    }
    let options = p::Options::default().version(p::Version::CRuby3_3).build();
    errors_of(&p::parse_with_options(source, &options))
}

/// After so many errors nobody reads on; a hostile text has one for each byte.
const MAX_ERRORS: usize = 100;
/// So many prefix operators in a row are no program. The parser gives up at 10,000, takes the
/// rest for the next statement, and so on to the end, each time with all that came before.
const MAX_PREFIXES: usize = 20_000;

fn too_deep(start: u32, line: i32) -> ParseError {
    ParseError { message: "nesting too deep".to_owned(), start, end: start, line }
}

/// The place where a run of prefix operators is too long.
fn long_prefix(source: &[u8], first_line: i32) -> Option<ParseError> {
    if source.len() < MAX_PREFIXES {
        return None;
    }
    let (mut run, mut at) = (0, 0);
    while at < source.len() {
        let rest = &source[at..];
        let step = match rest[0] {
            b'!' | b'~' | b'-' | b'(' | b'[' | b'{' => 1,
            b' ' | b'\t' if run > 0 => {
                at += 1;
                continue;
            }
            b'n' if rest.starts_with(b"not") => 3,
            _ if rest[1..].starts_with(b"{") && rest[0].is_ascii_alphabetic() => 2,
            _ => {
                run = 0;
                at += 1;
                continue;
            }
        };
        run += 1;
        at += step;
        if run > MAX_PREFIXES {
            let lines = source[..at].split(|byte| *byte == b'\n').count() - 1;
            let line = first_line.saturating_add(i32::try_from(lines).unwrap_or(i32::MAX));
            return Some(too_deep(u32::try_from(at).unwrap_or(u32::MAX), line));
        }
    }
    None
}

fn errors_of(result: &p::ParseResult<'_>) -> Vec<ParseError> {
    result
        .errors()
        .take(MAX_ERRORS)
        .map(|e| {
            let at = e.location();
            ParseError {
                message: String::from_utf8_lossy(e.message()).into_owned(),
                start: at.start(),
                // Of a here-document without an end the parser may say that it ends before it begins.
                end: at.end().max(at.start()),
                line: at.start_line(),
            }
        })
        .collect()
}

/// Parses and lowers a whole text.
pub fn parse(request: &Request<'_>, syms: &mut Interner) -> Result<Parsed, Vec<ParseError>> {
    let path: String = request.path.chars().filter(|c| *c != '\0').collect();
    let mut options = p::Options::default()
        .filepath(&path)
        .line(request.line)
        .version(p::Version::CRuby3_3)
        .main_script(request.main);
    if request.frozen {
        options = options.frozen_string_literal(Some(true));
    }
    if let Some(scopes) = &request.scopes {
        for names in scopes {
            let locals = names.iter().map(|name| syms.bytes(*name).to_vec()).collect();
            options = options.scope(p::Scope::default().locals(locals));
        }
    }
    if let Some(error) = long_prefix(request.source, request.line) {
        return Err(vec![error]);
    }
    let options = options.build();
    let result = p::parse_with_options(request.source, &options);
    let errors = errors_of(&result);
    if !errors.is_empty() {
        return Err(errors);
    }
    let root = result.node();
    let captured = locals::analyse(&root).map_err(|(start, line)| vec![too_deep(start, line)])?;
    let mut source_enc = 0;
    for comment in result.magic_comments() {
        if matches!(comment.key(), b"encoding" | b"coding") {
            let value = comment.value().to_ascii_lowercase();
            source_enc = match value.as_slice() {
                b"binary" | b"ascii-8bit" => 1,
                b"us-ascii" | b"ascii" => 2,
                _ => 0,
            };
        }
    }
    let mut lower = Lower {
        syms,
        scopes: Vec::new(),
        captured,
        file: request.file,
        source_enc,
        error: None,
        eval_scopes: request.scopes.as_ref().map_or(0, Vec::len),
    };
    let is_eval = request.scopes.is_some();
    for names in request.scopes.iter().flatten() {
        let vars = names
            .iter()
            .enumerate()
            .map(|(slot, name)| (lower.syms.bytes(*name).to_vec(), Var::Env(0, slot as u32)))
            .collect();
        lower.scopes.push(Scope {
            vars,
            has_env: !names.is_empty(),
            block: true,
            ..Scope::default()
        });
    }
    let program = root.as_program_node().expect("the root of a parse is a program");
    let kind = if is_eval { CodeKind::Eval } else { CodeKind::Program };
    let code = lower.program(&program, kind);
    if let Some(error) = lower.error {
        return Err(vec![error]);
    }
    let data = result.data_loc().map(|at| at.start());
    Ok(Parsed { code, data })
}

/// A scope under construction.
#[derive(Default)]
pub(crate) struct Scope {
    pub(crate) vars: FxHashMap<Vec<u8>, Var>,
    pub(crate) nstack: u32,
    pub(crate) env_names: Vec<Sym>,
    pub(crate) has_env: bool,
    /// Sees the scope around it.
    pub(crate) block: bool,
    pub(crate) loops: u32,
    /// What `super` without arguments passes on.
    pub(crate) zsuper: Option<ZArgs>,
}

/// Parameters by role, for implicit `super`.
#[derive(Default, Clone)]
pub(crate) struct ZArgs {
    pub(crate) pos: Vec<Vec<u8>>,
    pub(crate) rest: Option<Vec<u8>>,
    pub(crate) post: Vec<Vec<u8>>,
    pub(crate) kw: Vec<Vec<u8>>,
    pub(crate) kwrest: Option<Vec<u8>>,
}

pub(crate) struct Lower<'a> {
    pub(crate) syms: &'a mut Interner,
    pub(crate) scopes: Vec<Scope>,
    captured: FxHashMap<Key, Captured>,
    pub(crate) file: u32,
    pub(crate) source_enc: u8,
    pub(crate) error: Option<ParseError>,
    /// How many scopes around the text were given.
    eval_scopes: usize,
}

impl Lower<'_> {
    pub(crate) fn sym(&mut self, id: &p::ConstantId<'_>) -> Sym {
        self.syms.intern(id.as_slice())
    }

    pub(crate) fn node(&self, pos: u32, kind: Kind) -> N {
        keep(Node { pos, kind })
    }

    pub(crate) fn nil(&self, pos: u32) -> N {
        self.node(pos, Kind::Nil)
    }

    pub(crate) fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("a scope is open while lowering")
    }

    pub(crate) fn fail(&mut self, at: &p::Location<'_>, message: &str) {
        if self.error.is_none() {
            self.error = Some(ParseError {
                message: message.to_owned(),
                start: at.start(),
                // Of a here-document without an end the parser may say that it ends before it begins.
                end: at.end().max(at.start()),
                line: at.start_line(),
            });
        }
    }

    /// A fresh slot that no name reaches.
    pub(crate) fn temp(&mut self) -> u32 {
        let scope = self.scope();
        scope.nstack += 1;
        scope.nstack - 1
    }

    /// Declares a parameter: always a stack slot, and an environment slot when captured.
    pub(crate) fn declare_param(
        &mut self,
        name: &[u8],
        captured: bool,
        copies: &mut Vec<(u32, u32)>,
    ) -> (u32, Var) {
        let slot = self.temp();
        let var = if captured {
            let env = self.env_slot(name);
            copies.push((slot, env));
            Var::Env(0, env)
        } else {
            Var::Stack(slot)
        };
        self.scope().vars.insert(name.to_vec(), var);
        (slot, var)
    }

    fn env_slot(&mut self, name: &[u8]) -> u32 {
        let sym = self.syms.intern(name);
        let scope = self.scope();
        scope.env_names.push(sym);
        scope.has_env = true;
        scope.env_names.len() as u32 - 1
    }

    pub(crate) fn declare_locals(&mut self, locals: &p::ConstantList<'_>, captured: &Captured) {
        for id in locals {
            let name = id.as_slice();
            let last = self.scopes.len() - 1;
            let outer = self.eval_scopes > 0
                && last == self.eval_scopes
                && self.scopes[..last].iter().any(|s| s.vars.contains_key(name));
            if outer || self.scope().vars.contains_key(name) {
                continue;
            }
            let var = if captured.all || captured.names.contains(name) {
                Var::Env(0, self.env_slot(name))
            } else {
                Var::Stack(self.temp())
            };
            self.scope().vars.insert(name.to_vec(), var);
        }
    }

    pub(crate) fn take_captured(&mut self, key: Key) -> Captured {
        self.captured.remove(&key).unwrap_or_default()
    }

    /// Where a name lives, seen from the innermost scope.
    pub(crate) fn resolve(&mut self, name: &[u8], depth: u32) -> Var {
        let last = self.scopes.len() - 1;
        let mut at = last.saturating_sub(depth as usize);
        // Hidden scopes (END blocks) are not counted by prism, so look outwards too.
        while !self.scopes[at].vars.contains_key(name) && at > 0 && self.scopes[at].block {
            at -= 1;
        }
        match self.scopes[at].vars.get(name) {
            Some(Var::Env(_, slot)) => {
                let up = self.scopes[at + 1..].iter().filter(|s| s.has_env).count() as u32;
                Var::Env(up, *slot)
            }
            Some(Var::Stack(slot)) if at == last => Var::Stack(*slot),
            _ => {
                // A name prism knows and we do not: a fresh slot reads as nil.
                let slot = self.temp();
                self.scope().vars.insert(name.to_vec(), Var::Stack(slot));
                Var::Stack(slot)
            }
        }
    }

    pub(crate) fn read(&self, pos: u32, var: Var) -> N {
        match var {
            Var::Stack(slot) => self.node(pos, Kind::LVar(slot)),
            Var::Env(up, slot) => self.node(pos, Kind::EVar(up, slot)),
        }
    }

    pub(crate) fn write(&self, pos: u32, var: Var, value: N) -> N {
        match var {
            Var::Stack(slot) => self.node(pos, Kind::LSet(slot, value)),
            Var::Env(up, slot) => self.node(pos, Kind::ESet(up, slot, value)),
        }
    }

    fn program(&mut self, program: &p::ProgramNode<'_>, kind: CodeKind) -> &'static Code {
        let at = program.location();
        let mut captured = self.take_captured(locals::key(&at, locals::PROGRAM));
        if kind == CodeKind::Eval {
            captured.all = true;
        }
        self.scopes.push(Scope { block: kind == CodeKind::Eval, ..Scope::default() });
        self.declare_locals(&program.locals(), &captured);
        let body = self.statements(&program.statements());
        let name = self.syms.intern(b"<main>");
        self.close(kind, name, no_params(), body, Vec::new(), at.start(), at.end())
    }

    /// A class or module body.
    pub(crate) fn class_body(
        &mut self,
        at: &p::Location<'_>,
        locals: &p::ConstantList<'_>,
        body: Option<p::Node<'_>>,
        name: Sym,
    ) -> &'static Code {
        let captured = self.take_captured(locals::key(at, locals::CLASS));
        self.scopes.push(Scope::default());
        self.declare_locals(locals, &captured);
        let body = self.optional(body, at.start());
        self.close(CodeKind::Class, name, no_params(), body, Vec::new(), at.start(), at.end())
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of Code, once")]
    pub(crate) fn close(
        &mut self,
        kind: CodeKind,
        name: Sym,
        params: Params,
        body: N,
        copies: Vec<(u32, u32)>,
        pos: u32,
        end_pos: u32,
    ) -> &'static Code {
        let scope = self.scopes.pop().expect("every opened scope is closed once");
        let around = self.scopes.iter().rev().take_while(|scope| scope.block).count() as u32;
        let level = if scope.block { around + 1 } else { 0 };
        keep(Code {
            kind,
            name,
            shape: params.shape(),
            params: shared(params),
            body,
            nstack: scope.nstack,
            env_names: keep_all(scope.env_names),
            copies: keep_all(copies),
            file: self.file,
            pos,
            end_pos,
            level,
        })
    }

    pub(crate) fn new_call(&self, pos: u32, recv: Option<N>, name: Sym, pos_args: Vec<N>) -> Call {
        let splat = pos_args.iter().any(|n| matches!(n.kind, Kind::Splat(_)));
        Call {
            fcall: recv.is_none_or(|n| matches!(n.kind, Kind::Zelf)),
            recv,
            name,
            args: Args::new(keep_all(pos_args), splat, None, Blk::None),
            safe: false,
            vcall: false,
            asgn: false,
            c_class: Cell::new(u32::MAX),
            c_epoch: Cell::new(0),
            c_meth: Cell::new(0),
            c_slot: Cell::new(crate::ast::NO_SLOT),
            pos,
        }
    }

    pub(crate) fn target_var(&mut self, name: &[u8], depth: u32) -> Target {
        Target::Var(self.resolve(name, depth))
    }
}

/// Parameters where code refers to them: much code has none, and then it is one place for all.
pub(crate) fn shared(params: Params) -> &'static Params {
    let none = params.simple && params.req == 0 && !params.spreads && params.numbered == 0;
    if none { &NO_PARAMS } else { keep(params) }
}

pub(crate) fn no_params() -> Params {
    NO_PARAMS
}

const NO_PARAMS: Params = Params {
    req: 0,
    req_names: &[],
    opt: &[],
    rest: None,
    rest_name: None,
    implicit_rest: false,
    post: 0,
    post_names: &[],
    kw: &[],
    kwrest: None,
    kwrest_name: None,
    no_kw: false,
    block: None,
    block_name: None,
    forwarding: false,
    destructure: &[],
    simple: true,
    spreads: false,
    numbered: 0,
};
