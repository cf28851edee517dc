//! A small matcher for what most expressions are: literals, sets, groups, alternatives,
//! repetition, anchors. It is ready at once, where the large engine takes its time to prepare.
//! What it does not know it refuses, and the large engine is asked.

/// Most instructions of an expression.
const MOST_CODE: usize = 2000;
/// Most steps of one search; past them the large engine is asked.
const MOST_STEPS: usize = 50_000;
/// Deepest nesting of groups.
const MOST_DEEP: u32 = 50;

#[derive(Clone, Debug)]
enum Node {
    Char(char),
    /// Any character, a line end too or not.
    Any(bool),
    Set(usize),
    Assert(Assert),
    Group(Option<usize>, Vec<Vec<Node>>),
    Repeat {
        inner: Box<Node>,
        least: u32,
        most: Option<u32>,
        lazy: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Assert {
    TextStart,
    TextEnd,
    /// The end, or before a last newline.
    LastLineEnd,
    LineStart,
    LineEnd,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Char(char),
    Any(bool),
    Set(usize),
    Assert(Assert),
    Save(usize),
    Jump(usize),
    /// The first way is tried first.
    Split(usize, usize),
    Done,
}

/// Characters, or all but these.
#[derive(Debug, Default)]
struct Set {
    negated: bool,
    ranges: Vec<(char, char)>,
}

impl Set {
    fn holds(&self, c: char) -> bool {
        self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != self.negated
    }
}

/// An expression that is ready to be matched.
#[derive(Debug)]
pub struct Simple {
    code: Vec<Op>,
    sets: Vec<Set>,
    groups: usize,
    /// It can only match at the start.
    held: bool,
    /// Some letters match without case: those outside ASCII are the large engine's matter.
    folds: bool,
}

/// It takes too many steps to find out, or more knowledge of letters than is here.
#[derive(Debug)]
pub struct TooLong;

/// Where groups begin and end.
pub type Slots = Vec<Option<usize>>;

const DIGITS: &[(char, char)] = &[('0', '9')];
const WORD: &[(char, char)] = &[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')];
const SPACE: &[(char, char)] = &[(' ', ' '), ('\t', '\r')];
const HEX: &[(char, char)] = &[('0', '9'), ('a', 'f'), ('A', 'F')];

fn class(letter: char) -> Option<&'static [(char, char)]> {
    Some(match letter.to_ascii_lowercase() {
        'd' => DIGITS,
        'w' => WORD,
        's' => SPACE,
        'h' => HEX,
        _ => return None,
    })
}

fn plain_escape(letter: char, next: Option<&char>) -> Option<char> {
    Some(match letter {
        // The number of a character.
        '0' if next.is_some_and(char::is_ascii_digit) => return None,
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'f' => '\x0c',
        'v' => '\x0b',
        'e' => '\x1b',
        '0' => '\0',
        c if c.is_ascii_punctuation() || c == ' ' => c,
        _ => return None,
    })
}

struct Reader<'s> {
    chars: std::iter::Peekable<std::str::Chars<'s>>,
    sets: Vec<Set>,
    groups: usize,
    /// Letters match without case here.
    folds: bool,
    has_folded: bool,
    /// A dot stands for a line end too.
    dot_is_all: bool,
}

impl Reader<'_> {
    fn eat(&mut self, wanted: char) -> bool {
        self.chars.next_if_eq(&wanted).is_some()
    }

    /// Alternatives up to a closing bracket or the end.
    fn alternatives(&mut self, depth: u32) -> Option<Vec<Vec<Node>>> {
        if depth > MOST_DEEP {
            return None;
        }
        let mut all = vec![Vec::new()];
        loop {
            match self.chars.peek() {
                None | Some(')') => return Some(all),
                Some('|') => {
                    self.chars.next();
                    all.push(Vec::new());
                }
                Some(_) => {
                    let node = self.repeated(depth)?;
                    all.last_mut()?.push(node);
                }
            }
        }
    }

    fn repeated(&mut self, depth: u32) -> Option<Node> {
        let node = self.atom(depth)?;
        let (least, most) = match self.chars.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.chars.next();
                let bounds = self.bounds()?;
                return self.repeat(node, bounds.0, bounds.1);
            }
            _ => return Some(node),
        };
        self.chars.next();
        self.repeat(node, least, most)
    }

    fn repeat(&mut self, node: Node, least: u32, most: Option<u32>) -> Option<Node> {
        let lazy = self.eat('?');
        // Repeated again, or possessive, or nothing: not this matcher's matter.
        if matches!(self.chars.peek(), Some('*' | '+' | '?' | '{')) || can_be_empty(&node) {
            return None;
        }
        if least > 100 || most.is_some_and(|most| most > 100 || most < least) {
            return None;
        }
        Some(Node::Repeat { inner: Box::new(node), least, most, lazy })
    }

    /// `n}`, `n,}`, `n,m}` or `,m}`.
    fn bounds(&mut self) -> Option<(u32, Option<u32>)> {
        let mut text = String::new();
        loop {
            match self.chars.next()? {
                '}' => break,
                c if c.is_ascii_digit() || c == ',' => text.push(c),
                _ => return None,
            }
        }
        match text.split_once(',') {
            None => text.parse().ok().map(|count| (count, Some(count))),
            Some(("", "")) => None,
            Some(("", most)) => most.parse().ok().map(|most| (0, Some(most))),
            Some((least, "")) => least.parse().ok().map(|least| (least, None)),
            Some((least, most)) => Some((least.parse().ok()?, Some(most.parse().ok()?))),
        }
    }

    fn atom(&mut self, depth: u32) -> Option<Node> {
        Some(match self.chars.next()? {
            '.' => Node::Any(self.dot_is_all),
            '^' => Node::Assert(Assert::LineStart),
            '$' => Node::Assert(Assert::LineEnd),
            '[' => self.set()?,
            '(' => {
                let folded = self.folds;
                let number = if self.eat('?') {
                    self.folds |= self.eat('i');
                    self.has_folded |= self.folds;
                    if !self.eat(':') {
                        return None;
                    }
                    None
                } else {
                    self.groups += 1;
                    Some(self.groups)
                };
                let inner = self.alternatives(depth + 1)?;
                self.folds = folded;
                if !self.eat(')') {
                    return None;
                }
                Node::Group(number, inner)
            }
            '\\' => match self.chars.next()? {
                'A' => Node::Assert(Assert::TextStart),
                'z' => Node::Assert(Assert::TextEnd),
                'Z' => Node::Assert(Assert::LastLineEnd),
                letter => match class(letter) {
                    Some(ranges) => {
                        let negated = letter.is_ascii_uppercase();
                        self.add(Set { negated, ranges: ranges.to_vec() })
                    }
                    None => Node::Char(plain_escape(letter, self.chars.peek())?),
                },
            },
            ']' | '}' | '{' | '*' | '+' | '?' => return None,
            c if self.folds && c.is_ascii_alphabetic() => {
                self.add(Set { negated: false, ranges: vec![(c, c)] })
            }
            c if self.folds && !c.is_ascii() => return None,
            c => Node::Char(c),
        })
    }

    fn add(&mut self, mut set: Set) -> Node {
        if self.folds {
            for (from, to) in set.ranges.clone() {
                for (low, high, shift) in [('a', 'z', -32_i32), ('A', 'Z', 32)] {
                    let (from, to) = (from.max(low), to.min(high));
                    if from <= to {
                        let moved = |c: char| char::from((c as i32 + shift) as u8);
                        set.ranges.push((moved(from), moved(to)));
                    }
                }
            }
        }
        self.sets.push(set);
        Node::Set(self.sets.len() - 1)
    }

    fn set(&mut self) -> Option<Node> {
        let mut set = Set { negated: self.eat('^'), ranges: Vec::new() };
        if self.chars.peek() == Some(&']') {
            return None;
        }
        loop {
            let from = match self.chars.next()? {
                ']' => break,
                '[' => {
                    // Of the named classes the one whose members are all ASCII.
                    for wanted in ":xdigit:]".chars() {
                        if !self.eat(wanted) {
                            return None;
                        }
                    }
                    set.ranges.extend(HEX);
                    continue;
                }
                '&' if self.chars.peek() == Some(&'&') => return None,
                '\\' => {
                    let letter = self.chars.next()?;
                    if let Some(ranges) = class(letter) {
                        if letter.is_ascii_uppercase() {
                            return None;
                        }
                        set.ranges.extend(ranges);
                        // A dash after a class is no range.
                        if self.eat('-') {
                            set.ranges.push(('-', '-'));
                        }
                        continue;
                    }
                    plain_escape(letter, self.chars.peek())?
                }
                c => c,
            };
            if self.chars.peek() != Some(&'-') {
                set.ranges.push((from, from));
                continue;
            }
            self.chars.next();
            let to = match self.chars.next()? {
                ']' => {
                    set.ranges.extend([(from, from), ('-', '-')]);
                    break;
                }
                '[' | '&' => return None,
                '\\' => {
                    let letter = self.chars.next()?;
                    plain_escape(letter, self.chars.peek())?
                }
                c => c,
            };
            if to < from {
                return None;
            }
            set.ranges.push((from, to));
        }
        Some(self.add(set))
    }
}

/// Whether something may match without taking a character.
fn can_be_empty(node: &Node) -> bool {
    match node {
        Node::Char(_) | Node::Any(_) | Node::Set(_) => false,
        Node::Assert(_) => true,
        Node::Group(_, ways) => ways.iter().any(|way| way.iter().all(can_be_empty)),
        Node::Repeat { inner, least, .. } => *least == 0 || can_be_empty(inner),
    }
}

fn emit(code: &mut Vec<Op>, node: &Node) -> Option<()> {
    if code.len() > MOST_CODE {
        return None;
    }
    match node {
        Node::Char(c) => code.push(Op::Char(*c)),
        Node::Any(all) => code.push(Op::Any(*all)),
        Node::Set(set) => code.push(Op::Set(*set)),
        Node::Assert(assert) => code.push(Op::Assert(*assert)),
        Node::Group(number, ways) => {
            code.extend(number.map(|number| Op::Save(number * 2)));
            emit_ways(code, ways)?;
            code.extend(number.map(|number| Op::Save(number * 2 + 1)));
        }
        Node::Repeat { inner, least, most, lazy } => {
            for _ in 0..*least {
                emit(code, inner)?;
            }
            let fork = |enter: usize, leave: usize| {
                if *lazy { Op::Split(leave, enter) } else { Op::Split(enter, leave) }
            };
            match most {
                None => {
                    let start = code.len();
                    code.push(Op::Done);
                    emit(code, inner)?;
                    code.push(Op::Jump(start));
                    code[start] = fork(start + 1, code.len());
                }
                Some(most) => {
                    let mut forks = Vec::new();
                    for _ in *least..*most {
                        forks.push(code.len());
                        code.push(Op::Done);
                        emit(code, inner)?;
                    }
                    for at in forks {
                        code[at] = fork(at + 1, code.len());
                    }
                }
            }
        }
    }
    Some(())
}

fn emit_ways(code: &mut Vec<Op>, ways: &[Vec<Node>]) -> Option<()> {
    let mut jumps = Vec::new();
    for (number, way) in ways.iter().enumerate() {
        let fork = code.len();
        let is_last = number + 1 == ways.len();
        if !is_last {
            code.push(Op::Done);
        }
        for node in way {
            emit(code, node)?;
        }
        if !is_last {
            jumps.push(code.len());
            code.push(Op::Done);
            code[fork] = Op::Split(fork + 1, code.len());
        }
    }
    for at in jumps {
        code[at] = Op::Jump(code.len());
    }
    Some(())
}

impl Simple {
    /// Reads an expression; nothing if it is beyond this matcher, or wrong.
    pub fn read(source: &str) -> Option<Simple> {
        Simple::read_with(source, false, false)
    }

    /// Reads an expression whose letters match without case, or whose dots are line ends too.
    pub(super) fn read_with(source: &str, folds: bool, dot_is_all: bool) -> Option<Simple> {
        let mut reader = Reader {
            chars: source.chars().peekable(),
            sets: Vec::new(),
            groups: 0,
            folds,
            has_folded: folds,
            dot_is_all,
        };
        let ways = reader.alternatives(0)?;
        if reader.chars.peek().is_some() {
            return None;
        }
        let start = Node::Assert(Assert::TextStart);
        let held = ways.iter().all(|way| {
            matches!((way.first(), &start), (Some(Node::Assert(first)), Node::Assert(start)) if first == start)
        });
        let mut code = Vec::new();
        emit_ways(&mut code, &ways)?;
        code.push(Op::Done);
        let (sets, groups, folds) = (reader.sets, reader.groups, reader.has_folded);
        Some(Simple { code, sets, groups, held, folds })
    }

    /// The first match.
    pub fn search(&self, text: &str) -> Result<Option<Slots>, TooLong> {
        self.search_from(text, 0, false)
    }

    /// The first match at or after a place, or only at it.
    pub(super) fn search_from(
        &self,
        text: &str,
        mut start: usize,
        only_there: bool,
    ) -> Result<Option<Slots>, TooLong> {
        if self.folds && !text.is_ascii() {
            return Err(TooLong);
        }
        let mut steps = 0;
        loop {
            if let Some(slots) = self.at(text, start, &mut steps)? {
                return Ok(Some(slots));
            }
            if self.held || only_there {
                return Ok(None);
            }
            match text[start..].chars().next() {
                Some(c) => start += c.len_utf8(),
                None => return Ok(None),
            }
        }
    }

    fn at(&self, text: &str, start: usize, steps: &mut usize) -> Result<Option<Slots>, TooLong> {
        let bytes = text.as_bytes();
        let mut slots: Slots = vec![None; (self.groups + 1) * 2];
        slots[0] = Some(start);
        // Ways not tried yet, and what groups were before they were set.
        enum Back {
            Way(usize, usize),
            Slot(usize, Option<usize>),
        }
        let mut back: Vec<Back> = Vec::new();
        let (mut pc, mut pos) = (0, start);
        loop {
            *steps += 1;
            if *steps > MOST_STEPS {
                return Err(TooLong);
            }
            let next = || {
                let byte = *bytes.get(pos)?;
                if byte < 0x80 { Some(char::from(byte)) } else { text[pos..].chars().next() }
            };
            let goes_on = match self.code[pc] {
                Op::Char(wanted) => next().filter(|c| *c == wanted),
                Op::Any(all) => next().filter(|c| all || *c != '\n'),
                Op::Set(set) => next().filter(|c| self.sets[set].holds(*c)),
                Op::Assert(assert) => {
                    let holds = match assert {
                        Assert::TextStart => pos == 0,
                        Assert::TextEnd => pos == bytes.len(),
                        Assert::LastLineEnd => {
                            pos == bytes.len() || (pos + 1 == bytes.len() && bytes[pos] == b'\n')
                        }
                        // After a last newline no line begins.
                        Assert::LineStart => {
                            pos == 0 || (bytes[pos - 1] == b'\n' && pos < bytes.len())
                        }
                        Assert::LineEnd => pos == bytes.len() || bytes[pos] == b'\n',
                    };
                    if holds {
                        pc += 1;
                        continue;
                    }
                    None
                }
                Op::Save(slot) => {
                    back.push(Back::Slot(slot, slots[slot]));
                    slots[slot] = Some(pos);
                    pc += 1;
                    continue;
                }
                Op::Jump(to) => {
                    pc = to;
                    continue;
                }
                Op::Split(first, second) => {
                    back.push(Back::Way(second, pos));
                    pc = first;
                    continue;
                }
                Op::Done => {
                    slots[1] = Some(pos);
                    return Ok(Some(slots));
                }
            };
            if let Some(c) = goes_on {
                pos += c.len_utf8();
                pc += 1;
                continue;
            }
            loop {
                match back.pop() {
                    None => return Ok(None),
                    Some(Back::Slot(slot, old)) => slots[slot] = old,
                    Some(Back::Way(to, from)) => {
                        (pc, pos) = (to, from);
                        break;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, expected: Option<&[&str]>) {
        let simple = Simple::read(pattern).unwrap_or_else(|| panic!("/{pattern}/ is simple"));
        let found = simple.search(text).expect("within bounds");
        let texts: Option<Vec<&str>> = found.map(|slots| {
            let pairs = slots.chunks(2);
            pairs
                .map(|pair| match (pair[0], pair[1]) {
                    (Some(from), Some(to)) => &text[from..to],
                    _ => "-",
                })
                .collect()
        });
        assert_eq!(texts.as_deref(), expected, "/{pattern}/ on {text:?}");
    }

    #[test]
    fn the_first_way_that_fits_wins() {
        check("a|ab", "ab", Some(&["a"]));
        check("(a+)(b*)", "xaabb", Some(&["aabb", "aa", "bb"]));
        check("(a)|(b)", "b", Some(&["b", "-", "b"]));
        check("a+?", "aaa", Some(&["a"]));
        check("^b$", "a\nb\nc", Some(&["b"]));
        check(r"\Ab", "ab", None);
        check(r"\A[^/]+\z", "abé", Some(&["abé"]));
        check(r"\A(?:[a-z]+\.)*[a-z]{2,3}\Z", "www.org\n", Some(&["www.org"]));
        check(r"x{2}y{,2}", "xxyyy", Some(&["xxyy"]));
        check(r"^[\w.-]+$", "a-b.c", Some(&["a-b.c"]));
        check(r"^([a-z]\w*)::(\d+)$", "ab::12", Some(&["ab::12", "ab", "12"]));
        check("(a|b)*c", "abac", Some(&["abac", "a"]));
        check("", "x", Some(&[""]));
        check("^(?i:a[b-d])x$", "ACx", Some(&["ACx"]));
        check("^(?i:a)b$", "AB", None);
        check(r"\A[[:xdigit:]]{1,4}:\z", "fE0:", Some(&["fE0:"]));
        check(r"\A\/([^\n\/\0]+\/*)*\z", "/a/b/", Some(&["/a/b/", "b/"]));
        check("^[a&]+$", "a&", Some(&["a&"]));
        check(".", "\n", None);
        check(r"^\z", "a\n", None);
        check("^", "", Some(&[""]));
    }

    #[test]
    fn flags_change_letters_and_dots() {
        let read = |folds, all| Simple::read_with("a.(B)", folds, all).expect("it is simple");
        let found = |simple: Simple, text| simple.search(text).map(|slots| slots.is_some()).ok();
        assert_eq!(found(read(true, false), "Axb"), Some(true));
        assert_eq!(found(read(true, false), "A\nb"), Some(false));
        assert_eq!(found(read(false, true), "a\nB"), Some(true));
        assert_eq!(found(read(false, true), "A\nB"), Some(false));
        // Letters outside ASCII may fold to those inside.
        assert_eq!(found(read(true, false), "é axb"), None);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for pattern in [
            "(?i:é)",
            "(?=a)",
            r"\bx",
            r"\012",
            r"[\012]",
            r"(a)\1",
            "[[:alpha:]]",
            "a**",
            "(a*)*",
            "[b-a]",
            "(",
            ")",
            "[",
            "*a",
            "a{2,1}",
            "x{1000}",
            "a++",
            "[]a]",
        ] {
            assert!(Simple::read(pattern).is_none(), "/{pattern}/");
        }
    }
}
