//! Patterns that call their own groups (`\g<name>`): a backtracking matcher with a limit of
//! steps. The large engine may search without end in them.
//!
//! A pattern becomes a list of instructions. Open calls, loops and groups without a way back are
//! one list of frames, which branches share, so that a step back costs nothing but itself.

use std::rc::Rc;

use fancy_regex::{Assertion, Expr, LookAround};

use super::Groups;

/// Most steps of one search.
const STEPS: usize = 5_000_000;
/// Most calls and loops that are open at once.
const FRAMES: usize = 100_000;
/// Longest list of instructions.
const LONGEST: usize = 20_000;

/// Unicode and Ruby's rules, as the large engine is given them.
const FLAGS: u32 = fancy_regex::internal::FLAG_UNICODE | fancy_regex::internal::FLAG_ONIGURUMA_MODE;

pub(crate) struct Recursive {
    code: Vec<Step>,
    groups: usize,
}

enum Step {
    Text {
        text: String,
        casei: bool,
    },
    Any {
        newline: bool,
    },
    One(Box<regex::Regex>),
    Assert(Assertion),
    /// Goes on at the first; at the second if that fails.
    Split(usize, usize),
    Jump(usize),
    /// Notes where a group begins or ends.
    Save(usize),
    Call(usize),
    Return,
    /// A loop's turn begins; one that took nothing ends the loop.
    Turn,
    TurnEnd,
    /// A part that is left without a way back.
    Hold,
    HoldEnd,
    /// The same, at the place where it began.
    AheadEnd,
    /// A part that must not match.
    NotEnd,
    /// That many characters back.
    Back(usize),
    Same {
        group: usize,
        casei: bool,
    },
    /// Where the search began.
    Start,
    Match,
}

/// What is open, the innermost first.
#[derive(Clone)]
enum Frame {
    Return(usize, Chain),
    Turn(usize, Chain),
    Hold { height: usize, at: usize, next: Chain },
}

type Chain = Option<Rc<(Frame, usize)>>;

impl Drop for Frame {
    // A long chain is let go of one by one, not by calls inside calls.
    fn drop(&mut self) {
        let (Frame::Return(_, next) | Frame::Turn(_, next) | Frame::Hold { next, .. }) = self;
        let mut next = next.take();
        while let Some(one) = next.and_then(|one| Rc::try_unwrap(one).ok()) {
            let (mut frame, _) = one;
            let (Frame::Return(_, rest) | Frame::Turn(_, rest) | Frame::Hold { next: rest, .. }) =
                &mut frame;
            next = rest.take();
        }
    }
}

fn depth(chain: &Chain) -> usize {
    chain.as_ref().map_or(0, |one| one.1)
}

fn pushed(frame: Frame, below: usize) -> Chain {
    Some(Rc::new((frame, below + 1)))
}

struct Compiler {
    code: Vec<Step>,
    /// Groups that are called.
    called: Vec<usize>,
    /// Where those begin.
    starts: Vec<Option<usize>>,
    /// Calls whose target is not known yet.
    open: Vec<(usize, usize)>,
    groups: usize,
}

impl Recursive {
    /// Reads a pattern of the engine's language; nothing for what is not known here.
    pub(crate) fn read(body: &str) -> Option<Recursive> {
        let tree = Expr::parse_tree_with_flags(body, FLAGS).ok()?;
        let mut called = Vec::new();
        calls(&tree.expr, &mut called);
        if called.is_empty() {
            return None;
        }
        let mut compiler =
            Compiler { code: Vec::new(), called, starts: vec![None], open: Vec::new(), groups: 0 };
        let whole = compiler.called.contains(&0);
        if whole {
            compiler.call(0);
            compiler.code.push(Step::Match);
            compiler.starts[0] = Some(compiler.code.len());
        }
        compiler.expr(&tree.expr)?;
        compiler.code.push(if whole { Step::Return } else { Step::Match });
        for (at, group) in std::mem::take(&mut compiler.open) {
            compiler.code[at] = Step::Call(compiler.starts.get(group).copied().flatten()?);
        }
        Some(Recursive { code: compiler.code, groups: compiler.groups })
    }

    /// Searches from a byte offset on. An error is the limit of steps.
    pub(crate) fn search(
        &self,
        text: &str,
        from: usize,
        anchored: bool,
    ) -> Result<Option<Groups>, String> {
        let mut steps = STEPS;
        let mut at = from;
        loop {
            let mut search = Search {
                code: &self.code,
                text,
                from,
                saved: vec![None; 2 * (self.groups + 1)],
                undo: Vec::new(),
                back: Vec::new(),
                steps: &mut steps,
            };
            if let Some(end) = search.run(at)? {
                let mut saved = search.saved;
                saved[0] = saved[0].or(Some(at));
                saved[1] = Some(end);
                return Ok(Some(saved.chunks(2).map(|pair| pair[0].zip(pair[1])).collect()));
            }
            let Some(next) = text[at..].chars().next().filter(|_| !anchored) else {
                return Ok(None);
            };
            at += next.len_utf8();
        }
    }
}

/// The groups that a pattern calls.
fn calls(expr: &Expr, into: &mut Vec<usize>) {
    if let Expr::SubroutineCall(group) = expr {
        into.push(*group);
    }
    for child in expr.children_iter() {
        calls(child, into);
    }
}

/// How many characters a pattern takes, where that is always the same.
fn width(expr: &Expr) -> Option<usize> {
    Some(match expr {
        Expr::Empty | Expr::Assertion(_) | Expr::LookAround(..) => 0,
        Expr::Any { .. } | Expr::Delegate { .. } => 1,
        Expr::Literal { val, .. } => val.chars().count(),
        Expr::Concat(all) => all.iter().map(width).sum::<Option<usize>>()?,
        Expr::Alt(all) => {
            let first = width(all.first()?)?;
            all.iter().all(|one| width(one) == Some(first)).then_some(first)?
        }
        Expr::Group(inner) => width(inner)?,
        Expr::AtomicGroup(inner) => width(inner)?,
        Expr::Repeat { child, lo, hi, .. } if lo == hi => width(child)?.checked_mul(*lo)?,
        _ => return None,
    })
}

impl Compiler {
    fn call(&mut self, group: usize) {
        self.open.push((self.code.len(), group));
        self.code.push(Step::Return);
    }

    fn push(&mut self, step: Step) -> Option<usize> {
        self.code.push(step);
        (self.code.len() < LONGEST).then(|| self.code.len() - 1)
    }

    fn expr(&mut self, expr: &Expr) -> Option<()> {
        match expr {
            Expr::Empty => {}
            Expr::Any { newline, crlf: false } => drop(self.push(Step::Any { newline: *newline })?),
            Expr::Assertion(assertion) => drop(self.push(Step::Assert(*assertion))?),
            Expr::Literal { val, casei } => {
                self.push(Step::Text { text: val.clone(), casei: *casei })?;
            }
            Expr::Delegate { inner, casei } => {
                let flag = if *casei { "(?i)" } else { "" };
                let one = regex::Regex::new(&format!("\\A{flag}(?:{inner})\\z")).ok()?;
                self.push(Step::One(Box::new(one)))?;
            }
            Expr::Concat(all) => all.iter().try_for_each(|one| self.expr(one))?,
            Expr::Alt(all) => self.alternatives(all)?,
            Expr::Group(inner) => self.group(inner)?,
            Expr::LookAround(inner, kind) => self.look(inner, *kind)?,
            Expr::Repeat { child, lo, hi, greedy } => self.repeat(child, *lo, *hi, *greedy)?,
            Expr::Backref { group, casei } => {
                self.push(Step::Same { group: *group, casei: *casei })?;
            }
            Expr::AtomicGroup(inner) => {
                self.push(Step::Hold)?;
                self.expr(inner)?;
                self.push(Step::HoldEnd)?;
            }
            Expr::KeepOut => drop(self.push(Step::Save(0))?),
            Expr::ContinueFromPreviousMatchEnd => drop(self.push(Step::Start)?),
            Expr::SubroutineCall(group) => self.call(*group),
            _ => return None,
        }
        Some(())
    }

    fn alternatives(&mut self, all: &[Expr]) -> Option<()> {
        let mut ends = Vec::new();
        for (number, one) in all.iter().enumerate() {
            if number + 1 == all.len() {
                self.expr(one)?;
                break;
            }
            let split = self.push(Step::Match)?;
            self.expr(one)?;
            ends.push(self.push(Step::Match)?);
            self.code[split] = Step::Split(split + 1, self.code.len());
        }
        for end in ends {
            self.code[end] = Step::Jump(self.code.len());
        }
        Some(())
    }

    fn group(&mut self, inner: &Expr) -> Option<()> {
        self.groups += 1;
        let group = self.groups;
        self.starts.resize(self.starts.len().max(group + 1), None);
        let is_called = self.called.contains(&group);
        let mut over = None;
        if is_called {
            self.call(group);
            over = self.push(Step::Match);
            self.starts[group] = Some(self.code.len());
        }
        self.push(Step::Save(2 * group))?;
        self.expr(inner)?;
        self.push(Step::Save(2 * group + 1))?;
        if let Some(over) = over {
            self.push(Step::Return)?;
            self.code[over] = Step::Jump(self.code.len());
        }
        Some(())
    }

    fn look(&mut self, inner: &Expr, kind: LookAround) -> Option<()> {
        let is_not = matches!(kind, LookAround::LookAheadNeg | LookAround::LookBehindNeg);
        let back = match kind {
            LookAround::LookBehind | LookAround::LookBehindNeg => Some(width(inner)?),
            _ => None,
        };
        self.push(Step::Hold)?;
        let split = if is_not { self.push(Step::Match) } else { None };
        if let Some(back) = back {
            self.push(Step::Back(back))?;
        }
        self.expr(inner)?;
        match split {
            Some(split) => {
                self.push(Step::NotEnd)?;
                self.code[split] = Step::Split(split + 1, self.code.len());
                self.push(Step::HoldEnd)?;
            }
            None => drop(self.push(Step::AheadEnd)?),
        }
        Some(())
    }

    fn repeat(&mut self, child: &Expr, lo: usize, hi: usize, greedy: bool) -> Option<()> {
        // A copy of a group would count as another.
        let groups = self.groups;
        let once = |compiler: &mut Compiler| {
            compiler.groups = groups;
            compiler.expr(child)
        };
        for _ in 0..lo {
            once(self)?;
        }
        let split = |inside: usize, outside: usize| {
            if greedy { Step::Split(inside, outside) } else { Step::Split(outside, inside) }
        };
        if hi == usize::MAX {
            let start = self.push(Step::Match)?;
            self.push(Step::Turn)?;
            once(self)?;
            self.push(Step::TurnEnd)?;
            self.push(Step::Jump(start))?;
            self.code[start] = split(start + 1, self.code.len());
        } else {
            let mut splits = Vec::new();
            for _ in lo..hi {
                splits.push(self.push(Step::Match)?);
                once(self)?;
            }
            for at in splits {
                self.code[at] = split(at + 1, self.code.len());
            }
        }
        if lo == 0 && hi == 0 {
            // What is never matched can be called all the same.
            let over = self.push(Step::Match)?;
            once(self)?;
            self.code[over] = Step::Jump(self.code.len());
        }
        Some(())
    }
}

/// A way to go back to.
struct Back {
    pc: usize,
    at: usize,
    open: Chain,
    undo: usize,
}

struct Search<'s> {
    code: &'s [Step],
    text: &'s str,
    from: usize,
    saved: Vec<Option<usize>>,
    /// What was saved before, to be put back.
    undo: Vec<(usize, Option<usize>)>,
    back: Vec<Back>,
    steps: &'s mut usize,
}

impl Search<'_> {
    /// Matches at one place; where the match ends.
    fn run(&mut self, start: usize) -> Result<Option<usize>, String> {
        let (mut pc, mut at, mut open) = (0, start, None);
        loop {
            *self.steps = self.steps.checked_sub(1).ok_or("match takes too many steps")?;
            if depth(&open) > FRAMES || self.back.len() > FRAMES * 10 {
                return Err("match calls itself too deeply".to_owned());
            }
            if matches!(self.code[pc], Step::Match) {
                return Ok(Some(at));
            }
            match self.step(pc, at, &mut open) {
                Some((next, place)) => (pc, at) = (next, place),
                None => {
                    let Some(back) = self.back.pop() else { return Ok(None) };
                    for (slot, old) in self.undo.drain(back.undo..).rev() {
                        self.saved[slot] = old;
                    }
                    (pc, at, open) = (back.pc, back.at, back.open);
                }
            }
        }
    }

    /// One instruction: where to go on, nothing when it does not match.
    fn step(&mut self, pc: usize, at: usize, open: &mut Chain) -> Option<(usize, usize)> {
        let rest = &self.text[at..];
        let on = |taken: usize| Some((pc + 1, at + taken));
        match &self.code[pc] {
            Step::Text { text, casei } => on(taken(rest, text, *casei)?),
            Step::Any { newline } => {
                let next = rest.chars().next().filter(|next| *newline || *next != '\n')?;
                on(next.len_utf8())
            }
            Step::One(one) => {
                let width = rest.chars().next()?.len_utf8();
                one.is_match(&rest[..width]).then(|| on(width))?
            }
            Step::Assert(assertion) => holds(*assertion, self.text, at).then(|| on(0))?,
            Step::Split(first, second) => {
                let undo = self.undo.len();
                self.back.push(Back { pc: *second, at, open: open.clone(), undo });
                Some((*first, at))
            }
            Step::Jump(to) => Some((*to, at)),
            Step::Save(slot) => {
                self.undo.push((*slot, self.saved[*slot]));
                self.saved[*slot] = Some(at);
                on(0)
            }
            Step::Call(to) => {
                let below = depth(open);
                *open = pushed(Frame::Return(pc + 1, open.take()), below);
                Some((*to, at))
            }
            Step::Return => match open.clone()?.0.clone() {
                Frame::Return(to, ref next) => {
                    *open = next.clone();
                    Some((to, at))
                }
                _ => None,
            },
            Step::Turn => {
                let below = depth(open);
                *open = pushed(Frame::Turn(at, open.take()), below);
                on(0)
            }
            Step::TurnEnd => match open.clone()?.0.clone() {
                Frame::Turn(began, ref next) => {
                    *open = next.clone();
                    // A turn that took nothing is the last one.
                    Some((if began == at { pc + 2 } else { pc + 1 }, at))
                }
                _ => None,
            },
            Step::Hold => {
                let (below, height) = (depth(open), self.back.len());
                *open = pushed(Frame::Hold { height, at, next: open.take() }, below);
                on(0)
            }
            step @ (Step::HoldEnd | Step::AheadEnd | Step::NotEnd) => {
                let Frame::Hold { height, at: began, ref next } = open.clone()?.0.clone() else {
                    return None;
                };
                self.back.truncate(height);
                *open = next.clone();
                match step {
                    Step::HoldEnd => on(0),
                    Step::AheadEnd => Some((pc + 1, began)),
                    _ => None,
                }
            }
            Step::Back(count) => {
                let mut before = self.text[..at].char_indices().rev();
                match count.checked_sub(1) {
                    None => on(0),
                    Some(skipped) => Some((pc + 1, before.nth(skipped)?.0)),
                }
            }
            Step::Same { group, casei } => {
                let (from, to) = (self.saved.get(2 * group)?, self.saved.get(2 * group + 1)?);
                let text = self.text.get((*from)?..(*to)?)?;
                on(taken(rest, text, *casei)?)
            }
            Step::Start => (at == self.from).then(|| on(0))?,
            Step::Match => None,
        }
    }
}

/// How many bytes of a text a word takes.
fn taken(rest: &str, word: &str, casei: bool) -> Option<usize> {
    if rest.starts_with(word) {
        return Some(word.len());
    }
    if !casei {
        return None;
    }
    let mut chars = rest.char_indices();
    for wanted in word.chars() {
        let (_, next) = chars.next()?;
        if next != wanted && !next.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    Some(chars.next().map_or(rest.len(), |(at, _)| at))
}

fn holds(assertion: Assertion, text: &str, at: usize) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..at].chars().next_back();
    let after = text[at..].chars().next();
    let (left, right) = (before.is_some_and(is_word), after.is_some_and(is_word));
    match assertion {
        Assertion::StartText => at == 0,
        Assertion::EndText => at == text.len(),
        Assertion::EndTextIgnoreTrailingNewlines { .. } => text[at..].chars().all(|c| c == '\n'),
        Assertion::StartLine { .. } => at == 0 || before == Some('\n'),
        Assertion::StartLineOniguruma { .. } => {
            at == 0 || (before == Some('\n') && after.is_some())
        }
        Assertion::EndLine { .. } => after.is_none() || after == Some('\n'),
        Assertion::LeftWordBoundary => !left && right,
        Assertion::LeftWordHalfBoundary => !left,
        Assertion::RightWordBoundary => left && !right,
        Assertion::RightWordHalfBoundary => !right,
        Assertion::WordBoundary => left != right,
        Assertion::NotWordBoundary => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Program;

    fn found(pattern: &str, text: &str) -> String {
        let program = match Program::compile(pattern.as_bytes(), 0, false) {
            Ok(program) => program,
            Err(why) => return format!("error: {why}"),
        };
        match program.search(text.as_bytes(), 0, false) {
            Ok(Some(groups)) => groups[0].map_or_else(String::new, |(a, b)| text[a..b].to_owned()),
            Ok(None) => "no".to_owned(),
            Err(why) => format!("error: {why}"),
        }
    }

    #[test]
    fn groups_that_call_themselves_match_as_in_ruby() {
        for (pattern, text, expected) in [
            (r"(?<re>\((?:[^()]|\g<re>)*\))", "x(a(b)c)y", "(a(b)c)"),
            (r"(?<re>\((?:(?>[^()]+)|\g<re>)*\))", "((a)(b(c)))", "((a)(b(c)))"),
            (
                r#"(?<v>\[(?:\g<v>(?:,\g<v>)*)?\]|\d+|"[^"]*")"#,
                r#"[1,[2,"a"],[]]"#,
                r#"[1,[2,"a"],[]]"#,
            ),
            (r"\A(?<re>a|b\g<re>+c|\(\g<re>+\))\z", "(abacbbacc)", "(abacbbacc)"),
            (r"\A(?<re>(?:a|\(\g<re>+\)|\[\g<re>*\])+)\z", "(a[a(a)])", "(a[a(a)])"),
            (r"\A(?<re>(?:a|\(\g<re>+\)|\[\g<re>*\])+)\z", "(a[a(a])", "no"),
            (
                r"\A(?<e>(?<t>\d+|\(\g<e>\))(?:[+*]\g<t>)*)\z",
                "1+(2*3)+4*(5+(6))",
                "1+(2*3)+4*(5+(6))",
            ),
            (r"(\((?:[^()]|\g<1>)*\))", "x(a(b)c)y", "(a(b)c)"),
            (r"\((?:[^()]|\g<0>)*\)", "x(a(b)c)y", "(a(b)c)"),
            (r"(?<n>\d){0}a\g<n>(?!\g<n>)(?<=\d)", "a12 a3", "a3"),
            (r"(?<x>a|\g<y>)(?<y>b|c){2}", "abc", "abc"),
        ] {
            assert_eq!(found(pattern, text), expected, "/{pattern}/ on {text}");
        }
    }

    #[test]
    fn a_call_without_end_is_an_error() {
        let told = found(r"\A(?<re>(?:a|\g<re>\g<re>)+)+b\z", &"a".repeat(60));
        assert!(told.starts_with("error: match "), "{told}");
        let told = found(r"(?<re>(?:a+|\(\g<re>\))+)+\z", &("a".repeat(40) + "b"));
        assert!(told.starts_with("error: match ") || told == "no", "{told}");
    }
}
