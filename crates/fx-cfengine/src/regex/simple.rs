//! Patterns of single bytes, sets and repetitions, matched as PCRE would without asking it.
//!
//! Nearly every pattern of a policy is of this kind, and PCRE keeps twenty kilobytes for each
//! that was ever matched. Groups, counts, lazy or possessive repetitions and anything that is
//! not plain ASCII are left to PCRE.

/// Most repetitions in one alternative: each may have to give back what it took.
const MAX_REPEATS: usize = 4;

/// A pattern: alternatives in order, the first that matches wins.
#[derive(Debug)]
pub(super) struct Simple {
    alternatives: Vec<Vec<Step>>,
}

#[derive(Debug)]
struct Step {
    what: What,
    least: bool,
    many: bool,
}

#[derive(Debug)]
enum What {
    Byte(u8),
    Any,
    Set(Box<[bool; 256]>),
    /// `^`: at the start of a line.
    Start,
    /// `$`: at the end of a line.
    End,
}

impl What {
    fn takes(&self, byte: u8) -> bool {
        match self {
            What::Byte(wanted) => *wanted == byte,
            What::Any => true,
            What::Set(set) => set[byte as usize],
            What::Start | What::End => false,
        }
    }
}

impl Simple {
    /// The pattern, if it is as simple as that.
    pub(super) fn parse(pattern: &str) -> Option<Simple> {
        let bytes = pattern.as_bytes();
        let mut alternatives = vec![Vec::new()];
        let mut repeats = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            let what = match byte {
                b'|' => {
                    alternatives.push(Vec::new());
                    repeats = 0;
                    continue;
                }
                b'^' => What::Start,
                b'$' => What::End,
                b'.' => What::Any,
                b'[' => What::Set(set(bytes, &mut at)?),
                b'\\' => {
                    let escaped = *bytes.get(at)?;
                    at += 1;
                    match class(escaped) {
                        Some(class) => What::Set(class),
                        None if escaped.is_ascii_alphanumeric() => return None,
                        None => What::Byte(escaped),
                    }
                }
                b'(' | b')' | b'*' | b'+' | b'?' | b'{' | 0 | 0x80.. => return None,
                byte => What::Byte(byte),
            };
            let (least, many) = match bytes.get(at) {
                Some(b'*') => (false, true),
                Some(b'+') => (true, true),
                Some(b'?') => (false, false),
                Some(b'{') => return None,
                _ => {
                    alternatives.last_mut()?.push(Step { what, least: true, many: false });
                    continue;
                }
            };
            at += 1;
            repeats += 1;
            let anchor = matches!(what, What::Start | What::End);
            if anchor || repeats > MAX_REPEATS || matches!(bytes.get(at), Some(b'?' | b'+')) {
                return None;
            }
            alternatives.last_mut()?.push(Step { what, least, many });
        }
        Some(Simple { alternatives })
    }

    /// Whether the first match is all of the text.
    pub(super) fn covers(&self, text: &[u8]) -> bool {
        self.alternatives.iter().find_map(|steps| run(steps, text, 0)) == Some(text.len())
    }
}

// Where the first match of the steps ends, longest repetitions first.
fn run(steps: &[Step], text: &[u8], mut at: usize) -> Option<usize> {
    for (index, step) in steps.iter().enumerate() {
        match step.what {
            What::Start if at == 0 || text[at - 1] == b'\n' => continue,
            What::End if at == text.len() || text[at] == b'\n' => continue,
            What::Start | What::End => return None,
            _ => {}
        }
        if step.least && !step.many {
            if !text.get(at).is_some_and(|byte| step.what.takes(*byte)) {
                return None;
            }
            at += 1;
            continue;
        }
        let most = if step.many { text.len() - at } else { 1.min(text.len() - at) };
        let taken = match step.what {
            What::Any => most,
            _ => text[at..at + most].iter().take_while(|byte| step.what.takes(**byte)).count(),
        };
        let rest = &steps[index + 1..];
        let least = usize::from(step.least);
        if rest.is_empty() {
            return (taken >= least).then_some(at + taken);
        }
        return (least..=taken).rev().find_map(|count| run(rest, text, at + count));
    }
    Some(at)
}

fn class(letter: u8) -> Option<Box<[bool; 256]>> {
    let holds = |byte: u8| match letter.to_ascii_lowercase() {
        b'd' => Some(byte.is_ascii_digit()),
        b'w' => Some(byte.is_ascii_alphanumeric() || byte == b'_'),
        b's' => Some(byte.is_ascii_whitespace() || byte == 0x0b),
        _ => None,
    };
    let mut set = Box::new([false; 256]);
    for byte in 0..=255_u8 {
        set[byte as usize] = holds(byte)? != letter.is_ascii_uppercase();
    }
    Some(set)
}

// What stands after `[`, up to the bracket that closes it.
fn set(bytes: &[u8], at: &mut usize) -> Option<Box<[bool; 256]>> {
    let negated = bytes.get(*at) == Some(&b'^');
    *at += usize::from(negated);
    let mut set = Box::new([false; 256]);
    let first = *at;
    loop {
        let byte = *bytes.get(*at)?;
        if byte == b']' && *at > first {
            *at += 1;
            break;
        }
        let low = match member(bytes, at)? {
            Member::Byte(byte) => byte,
            Member::Class(class) => {
                set.iter_mut().zip(class.iter()).for_each(|(one, other)| *one |= *other);
                if bytes.get(*at) == Some(&b'-') {
                    return None;
                }
                continue;
            }
        };
        let ranged = bytes.get(*at) == Some(&b'-') && bytes.get(*at + 1) != Some(&b']');
        if !ranged {
            set[low as usize] = true;
            continue;
        }
        *at += 1;
        let Member::Byte(high) = member(bytes, at)? else { return None };
        if high < low {
            return None;
        }
        set[low as usize..=high as usize].fill(true);
    }
    if negated {
        set.iter_mut().for_each(|one| *one = !*one);
    }
    Some(set)
}

enum Member {
    Byte(u8),
    Class(Box<[bool; 256]>),
}

fn member(bytes: &[u8], at: &mut usize) -> Option<Member> {
    let byte = *bytes.get(*at)?;
    *at += 1;
    match byte {
        b'[' if matches!(bytes.get(*at), Some(b':' | b'.' | b'=')) => None,
        b'\\' => {
            let escaped = *bytes.get(*at)?;
            *at += 1;
            match class(escaped) {
                Some(class) => Some(Member::Class(class)),
                None if escaped.is_ascii_alphanumeric() => None,
                None => Some(Member::Byte(escaped)),
            }
        }
        0 | 0x80.. => None,
        byte => Some(Member::Byte(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_over_from_pcre_comes_out_as_pcre_has_it() {
        let patterns = [
            "a|ab",
            "ab|a",
            "a?ab?",
            "a*",
            "a*b",
            "[a-c]+",
            "[^a]b",
            "a.*b",
            ".*",
            ".+b.*c",
            "^a$",
            "a$",
            "^",
            "$",
            "^b",
            "",
            "|a",
            "a|",
            "[]a]+",
            "[^]a]",
            "[a\\]]+",
            "\\w+",
            "\\d*\\.\\d*",
            "\\s",
            "\\W",
            "[\\w.]+",
            "[a-]+",
            "[-a]+",
            "a\\.b",
            "a\\-b",
            "[$(){}]+",
            "x[ab]?y",
            "a?b?a?b?",
            "[a-zA-Z0-9_$(){}\\[\\].:]+",
            "[\\d\\s]+",
            "a#b",
            "a b",
            "\\*",
            "b*b?",
            "a+a+",
            ".*,.*,.*",
            "[\\^a]",
            "\\$a",
            "a,b",
        ];
        let texts = [
            "", "a", "b", "ab", "aab", "abc", "abab", "]", "a]", "b\na", "a\nb", "\n", "a.b",
            "a-b", "1.2", ".", " ", "$(x)", "xy", "xay", "a#b", "a b", "*", "bb", "aaaa", "a,b,c",
            "-", "^", "$a", "é", "_x9", "1 2",
        ];
        for pattern in patterns {
            let simple = Simple::parse(pattern).expect(pattern);
            let regex = crate::regex::compile(pattern).expect(pattern);
            for text in texts {
                let found = regex.find(text.as_bytes()).expect("matches or not");
                let covers = found.is_some_and(|at| at.start() == 0 && at.end() == text.len());
                assert_eq!(simple.covers(text.as_bytes()), covers, "{pattern:?} {text:?}");
            }
        }
    }

    #[test]
    fn the_rest_is_left_to_pcre() {
        let table = [
            "(a)",
            "a{2}",
            "a*?",
            "a++",
            "\\bx",
            "\\1",
            "[[:alpha:]]",
            "é",
            "*",
            "a**",
            "(?i)a",
            "[a",
            "[b-a]",
            "\\",
            "^*",
            "a?b?c?d?e?",
            "\\x41",
            "[\\w-z]",
            "[a-\\d]",
        ];
        for pattern in table {
            assert!(Simple::parse(pattern).is_none(), "{pattern}");
        }
    }
}
