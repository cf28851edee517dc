//! File modes as policy writes them: octal or symbolic, applied to what a file has now.
//!
//! The grammar is chmod's, with a missing "who" meaning everybody: no umask takes part,
//! since the result of a policy must not depend on who runs it.

/// A wish for permission bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Exactly these bits.
    Exact(u32),
    /// Clauses applied in order to the bits a file has.
    Symbolic(Vec<Clause>),
}

/// One part of a symbolic mode such as `ug+rX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Bits of the affected who, out of 07777.
    who: u32,
    operator: Operator,
    bits: Bits,
    /// The set-id and sticky bits asked for.
    special: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Remove,
    Set,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bits {
    /// `rwx` as one octal digit, and whether `X` asks for execute where it makes sense.
    Given(u32, bool),
    /// Those of user, group or others: the shift to their digit.
    CopyOf(u32),
}

impl Mode {
    /// Reads `0644`, `u=rw,go=r`, `a+X,o-w`, `+x`. Octal and symbolic parts may be mixed
    /// with commas; each part works on the result of the one before.
    pub fn parse(text: &str) -> Result<Mode, String> {
        let invalid = || format!("'{text}' is not a file mode");
        let is_octal = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if is_octal(text) {
            return octal(text).map(Mode::Exact).ok_or_else(invalid);
        }
        let mut clauses = Vec::new();
        for part in text.split(',') {
            let part = part.trim();
            if is_octal(part) {
                let bits = octal(part).ok_or_else(invalid)?;
                clauses.extend(exact_clauses(bits));
            } else {
                parse_part(part, &mut clauses).ok_or_else(invalid)?;
            }
        }
        Ok(Mode::Symbolic(clauses))
    }

    /// The bits a file that has `current` should have.
    pub fn apply(&self, current: u32, is_dir: bool) -> u32 {
        match self {
            Mode::Exact(bits) => *bits,
            Mode::Symbolic(clauses) => {
                clauses.iter().fold(current, |mode, clause| clause.apply(mode, is_dir))
            }
        }
    }
}

impl From<u32> for Mode {
    fn from(bits: u32) -> Mode {
        Mode::Exact(bits & 0o7777)
    }
}

impl Clause {
    fn apply(self, mode: u32, is_dir: bool) -> u32 {
        let digit = match self.bits {
            Bits::CopyOf(shift) => mode >> shift & 7,
            Bits::Given(digit, false) => digit,
            Bits::Given(digit, true) if is_dir || mode & 0o111 != 0 => digit | 1,
            Bits::Given(digit, true) => digit,
        };
        let bits = (digit << 6 | digit << 3 | digit | self.special) & self.who;
        match self.operator {
            Operator::Add => mode | bits,
            Operator::Remove => mode & !bits,
            Operator::Set => mode & !self.who | bits,
        }
    }
}

// An octal part in the middle of a list sets everything.
fn exact_clauses(bits: u32) -> [Clause; 3] {
    let clause = |shift: u32, special: u32| Clause {
        who: 7 << shift | special,
        operator: Operator::Set,
        bits: Bits::Given(bits >> shift & 7, false),
        special: bits & special,
    };
    [clause(6, 0o4000), clause(3, 0o2000), clause(0, 0o1000)]
}

fn octal(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 8).ok().filter(|bits| *bits <= 0o7777)
}

fn parse_part(part: &str, clauses: &mut Vec<Clause>) -> Option<()> {
    let mut rest = part.bytes().peekable();
    let mut who = 0;
    while let Some(letter) = rest.peek() {
        who |= match letter {
            b'u' => 0o4700,
            b'g' => 0o2070,
            b'o' => 0o1007,
            b'a' => 0o7777,
            _ => break,
        };
        rest.next();
    }
    if who == 0 {
        who = 0o7777;
    }
    // One who may be followed by several operators: `u=rw-x+s`.
    rest.peek()?;
    while let Some(letter) = rest.next() {
        let operator = match letter {
            b'+' => Operator::Add,
            b'-' => Operator::Remove,
            b'=' => Operator::Set,
            _ => return None,
        };
        let (mut digit, mut special, mut search, mut copy) = (0, 0, false, None);
        while let Some(letter) = rest.next_if(|letter| !b"+-=".contains(letter)) {
            match letter {
                b'r' => digit |= 4,
                b'w' => digit |= 2,
                b'x' => digit |= 1,
                b'X' => search = true,
                b's' => special |= 0o6000,
                b't' => special |= 0o1000,
                b'u' => copy = Some(6),
                b'g' => copy = Some(3),
                b'o' => copy = Some(0),
                _ => return None,
            }
        }
        // The sticky bit belongs to nobody in particular.
        let who = if special & 0o1000 != 0 { who | 0o1000 } else { who };
        let bits = copy.map_or(Bits::Given(digit, search), Bits::CopyOf);
        clauses.push(Clause { who, operator, bits, special });
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mode: &str, current: u32, expected: u32) {
        let got = Mode::parse(mode).unwrap().apply(current, false);
        assert_eq!(got, expected, "{mode} on {current:o} gave {got:o}");
    }

    #[test]
    fn modes_give_what_chmod_gives() {
        check("644", 0o777, 0o644);
        check("04755", 0, 0o4755);
        check("0", 0o777, 0);
        check("u=rw,go=r", 0o777, 0o644);
        check("a+r", 0o600, 0o644);
        check("+x", 0o644, 0o755);
        check("o-rwx", 0o777, 0o770);
        check("ug+s", 0o755, 0o6755);
        check("u+s", 0o755, 0o4755);
        check("+t", 0o777, 0o1777);
        check("o+t", 0o777, 0o1777);
        check("g=u", 0o740, 0o770);
        check("o=g-w", 0o775, 0o775 & !2);
        check("u=rwx,g=rx,o=", 0o4777, 0o750);
        check("a=rX", 0o600, 0o444);
        check("a=rX", 0o700, 0o555);
        check("600,g+r", 0o777, 0o640);
        check("=", 0o777, 0);
    }

    #[test]
    fn search_permission_is_given_to_directories() {
        assert_eq!(Mode::parse("a+rX").unwrap().apply(0o600, true), 0o755);
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["", "u", "rw", "u+q", "888", "77777", "u+r,", "0x1", "u~r"] {
            assert_eq!(Mode::parse(text), Err(format!("'{text}' is not a file mode")));
        }
    }
}
