//! From the tree of the large engine's parser to instructions.

use fancy_regex::{Assertion, Expr, LookAround};

use super::first::{follow, settle};
use super::set::{One, Set, read};
use super::{Backtracker, NONE, Op, Start};

/// Most instructions of an expression.
const MOST_CODE: usize = 10_000;
/// Unicode and Ruby's rules, as the large engine is given them.
const FLAGS: u32 = fancy_regex::internal::FLAG_UNICODE | fancy_regex::internal::FLAG_ONIGURUMA_MODE;

pub(super) struct Compiler {
    pub(super) code: Vec<Op>,
    pub(super) sets: Vec<Set>,
    texts: Vec<u8>,
    /// Sets that were read before.
    known: Vec<(String, bool, u32)>,
    groups: u32,
    /// Places that are kept while it runs, besides the ends of groups.
    registers: u32,
    /// The first register: groups are counted beforehand.
    first_register: u32,
}

impl Backtracker {
    /// Reads a pattern of the large engine's language; nothing for what is not known here.
    pub(in super::super) fn read(body: &str) -> Option<Backtracker> {
        let tree = Expr::parse_tree_with_flags(body, FLAGS).ok()?;
        let groups = count_groups(&tree.expr);
        let mut compiler = Compiler {
            code: Vec::new(),
            sets: Vec::new(),
            texts: Vec::new(),
            known: Vec::new(),
            groups: 0,
            registers: 0,
            first_register: (groups + 1) * 2,
        };
        compiler.expr(&tree.expr)?;
        compiler.push(Op::Done)?;
        let mut made = Backtracker {
            slots: (compiler.first_register + compiler.registers) as usize,
            groups: groups as usize,
            bytes: Vec::new(),
            start: Start::Anywhere,
            scratch: Default::default(),
            code: compiler.code,
            sets: compiler.sets,
            texts: compiler.texts.into(),
        };
        settle(&mut made);
        made.start = follow(&made);
        Some(made)
    }
}

fn count_groups(expr: &Expr) -> u32 {
    let own = u32::from(matches!(expr, Expr::Group(_)));
    own + expr.children_iter().map(count_groups).sum::<u32>()
}

/// How many characters a pattern takes, where that is always the same.
fn width(expr: &Expr) -> Option<u32> {
    Some(match expr {
        Expr::Empty | Expr::Assertion(_) | Expr::LookAround(..) => 0,
        Expr::Any { .. } | Expr::Delegate { .. } => 1,
        Expr::Literal { val, .. } => u32::try_from(val.chars().count()).ok()?,
        Expr::Concat(all) => all.iter().map(width).sum::<Option<u32>>()?,
        Expr::Alt(all) => {
            let first = width(all.first()?)?;
            all.iter().all(|one| width(one) == Some(first)).then_some(first)?
        }
        Expr::Group(inner) => width(inner)?,
        Expr::AtomicGroup(inner) => width(inner)?,
        Expr::Repeat { child, lo, hi, .. } if lo == hi => {
            width(child)?.checked_mul(u32::try_from(*lo).ok()?)?
        }
        _ => return None,
    })
}

/// Whether something may match without taking a character.
fn can_be_empty(expr: &Expr) -> bool {
    match expr {
        Expr::Any { .. } | Expr::Delegate { .. } => false,
        Expr::Literal { val, .. } => val.is_empty(),
        Expr::Concat(all) => all.iter().all(can_be_empty),
        Expr::Alt(all) => all.iter().any(can_be_empty),
        Expr::Group(inner) => can_be_empty(inner),
        Expr::AtomicGroup(inner) => can_be_empty(inner),
        Expr::Repeat { child, lo, .. } => *lo == 0 || can_be_empty(child),
        _ => true,
    }
}

impl Compiler {
    fn push(&mut self, op: Op) -> Option<usize> {
        self.code.push(op);
        (self.code.len() < MOST_CODE).then(|| self.code.len() - 1)
    }

    fn here(&self) -> u32 {
        self.code.len() as u32
    }

    fn register(&mut self) -> u32 {
        self.registers += 1;
        self.first_register + self.registers - 1
    }

    fn expr(&mut self, expr: &Expr) -> Option<()> {
        match expr {
            Expr::Empty => {}
            Expr::Any { crlf: false, .. } | Expr::Delegate { .. } => {
                let set = self.set(expr)?;
                self.push(Op::Set(set))?;
            }
            Expr::Assertion(assertion) => self.assertion(*assertion)?,
            Expr::Literal { val, casei } => self.literal(val, *casei)?,
            Expr::Concat(all) => self.sequence(all)?,
            Expr::Alt(all) => self.alternatives(all, Compiler::expr)?,
            Expr::Group(inner) => {
                self.groups += 1;
                let group = self.groups;
                self.push(Op::Save(group * 2))?;
                self.expr(inner)?;
                self.push(Op::Save(group * 2 + 1))?;
            }
            Expr::LookAround(inner, kind) => self.look(inner, *kind)?,
            Expr::Repeat { child, lo, hi, greedy } => self.repeat(child, *lo, *hi, *greedy)?,
            Expr::Backref { group, casei: false } => {
                let group = u32::try_from(*group).ok()?;
                // The large engine says what is wrong with the number.
                if group == 0 || group * 2 >= self.first_register {
                    return None;
                }
                self.push(Op::Same(group))?;
            }
            Expr::AtomicGroup(inner) => self.atomic(inner)?,
            Expr::KeepOut => drop(self.push(Op::Save(0))?),
            Expr::ContinueFromPreviousMatchEnd => drop(self.push(Op::Begun)?),
            _ => return None,
        }
        Some(())
    }

    /// The set of a pattern of one character.
    fn set(&mut self, expr: &Expr) -> Option<u32> {
        let (name, casei) = match expr {
            Expr::Any { newline, crlf: false } => ("", *newline),
            Expr::Delegate { inner, casei } => (inner.as_str(), *casei),
            Expr::Literal { val, casei } if val.chars().count() == 1 => (val.as_str(), *casei),
            _ => return None,
        };
        let plain = matches!(expr, Expr::Literal { .. });
        let escaped = if plain { regex_syntax::escape(name) } else { name.to_owned() };
        let seen = self.known.iter().find(|(known, c, _)| *known == escaped && *c == casei);
        if let Some((_, _, set)) = seen {
            return Some(*set);
        }
        let set = if name.is_empty() {
            Set::any(casei)
        } else {
            let mut all = read(&escaped, casei)?;
            match all.pop()? {
                One::Set(set) if all.is_empty() => set,
                One::Char(c) if all.is_empty() => Set::one(c),
                _ => return None,
            }
        };
        let number = self.sets.len() as u32;
        self.sets.push(set);
        self.known.push((escaped, casei, number));
        Some(number)
    }

    fn assertion(&mut self, assertion: Assertion) -> Option<()> {
        match assertion {
            Assertion::EndTextIgnoreTrailingNewlines { crlf: true }
            | Assertion::StartLine { crlf: true }
            | Assertion::StartLineOniguruma { crlf: true }
            | Assertion::EndLine { crlf: true } => None,
            _ => self.push(Op::Assert(assertion)).map(drop),
        }
    }

    fn literal(&mut self, text: &str, casei: bool) -> Option<()> {
        if casei {
            let mut buffer = [0; 4];
            for c in text.chars() {
                let val = c.encode_utf8(&mut buffer).to_owned();
                let set = self.set(&Expr::Literal { val, casei })?;
                self.push(Op::Set(set))?;
            }
            return Some(());
        }
        match text.as_bytes() {
            [] => {}
            [byte] => drop(self.push(Op::Byte(*byte))?),
            bytes => {
                let from = self.texts.len() as u32;
                self.texts.extend_from_slice(bytes);
                self.push(Op::Text(from, bytes.len() as u32))?;
            }
        }
        Some(())
    }

    fn sequence(&mut self, all: &[Expr]) -> Option<()> {
        let mut text = String::new();
        for one in all {
            if let Expr::Literal { val, casei: false } = one {
                text.push_str(val);
                continue;
            }
            self.literal(&text, false)?;
            text.clear();
            self.expr(one)?;
        }
        self.literal(&text, false)
    }

    fn alternatives(
        &mut self,
        all: &[Expr],
        mut each: impl FnMut(&mut Compiler, &Expr) -> Option<()>,
    ) -> Option<()> {
        let mut ends = Vec::new();
        for (number, one) in all.iter().enumerate() {
            if number + 1 == all.len() {
                each(self, one)?;
                break;
            }
            let fork = self.push(Op::Fail)?;
            each(self, one)?;
            ends.push(self.push(Op::Fail)?);
            self.code[fork] = Op::Fork(fork as u32 + 1, self.here(), NONE);
        }
        for end in ends {
            self.code[end] = Op::Jump(self.here());
        }
        Some(())
    }

    fn atomic(&mut self, inner: &Expr) -> Option<()> {
        if let Expr::Repeat { child, lo, hi, greedy: true } = inner
            && let Some(set) = self.one(child)
        {
            return self.span(set, *lo, *hi, true);
        }
        let register = self.register();
        self.push(Op::Hold(register))?;
        self.expr(inner)?;
        self.push(Op::Cut(register)).map(drop)
    }

    fn look(&mut self, inner: &Expr, kind: LookAround) -> Option<()> {
        let register = self.register();
        let place = self.register();
        let is_not = matches!(kind, LookAround::LookAheadNeg | LookAround::LookBehindNeg);
        let begin = self.push(Op::Fail)?;
        match kind {
            LookAround::LookAhead | LookAround::LookAheadNeg => self.expr(inner)?,
            LookAround::LookBehind | LookAround::LookBehindNeg => {
                let behind = |compiler: &mut Compiler, one: &Expr| {
                    compiler.push(Op::Back(width(one)?))?;
                    compiler.expr(one)
                };
                match inner {
                    Expr::Alt(all) => self.alternatives(all, behind)?,
                    one => behind(self, one)?,
                }
            }
        }
        debug_assert_eq!(place, register + 1);
        if is_not {
            self.push(Op::NotEnd(register))?;
            self.code[begin] = Op::Not(register, self.here());
        } else {
            self.push(Op::AheadEnd(register))?;
            self.code[begin] = Op::Ahead(register, self.here());
        }
        Some(())
    }

    /// The set of what takes exactly one character and remembers nothing.
    fn one(&mut self, child: &Expr) -> Option<u32> {
        match child {
            Expr::Any { .. } | Expr::Delegate { .. } | Expr::Literal { .. } => self.set(child),
            _ => None,
        }
    }

    fn span(&mut self, set: u32, lo: usize, hi: usize, all: bool) -> Option<()> {
        let least = u32::try_from(lo).ok()?;
        let most = if hi == usize::MAX { NONE } else { u32::try_from(hi).ok()? };
        self.push(Op::Span { set, least, most, all }).map(drop)
    }

    fn repeat(&mut self, child: &Expr, lo: usize, hi: usize, greedy: bool) -> Option<()> {
        if hi == 0 {
            return None;
        }
        if (lo, hi) == (1, 1) {
            return self.expr(child);
        }
        if greedy && let Some(set) = self.one(child) {
            return self.span(set, lo, hi, false);
        }
        // A copy of a group would count as another.
        let groups = self.groups;
        let once = |compiler: &mut Compiler| {
            compiler.groups = groups;
            compiler.expr(child)
        };
        for _ in 0..lo {
            once(self)?;
        }
        let fork = |inside: u32, outside: u32| {
            if greedy { Op::Fork(inside, outside, NONE) } else { Op::Fork(outside, inside, NONE) }
        };
        if hi == usize::MAX {
            let turn = can_be_empty(child).then(|| self.register());
            let start = self.push(Op::Fail)?;
            if let Some(turn) = turn {
                self.push(Op::Turn(turn))?;
            }
            once(self)?;
            match turn {
                Some(turn) => drop(self.push(Op::TurnEnd(turn, start as u32))?),
                None => drop(self.push(Op::Jump(start as u32))?),
            }
            self.code[start] = fork(start as u32 + 1, self.here());
        } else {
            let mut forks = Vec::new();
            for _ in lo..hi {
                forks.push(self.push(Op::Fail)?);
                once(self)?;
            }
            for at in forks {
                self.code[at] = fork(at as u32 + 1, self.here());
            }
        }
        Some(())
    }
}
