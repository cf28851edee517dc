//! Permission strings: octal or symbolic clauses, as bits to set and bits to clear.

/// Bits to add and bits to take away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    pub plus: u32,
    pub minus: u32,
}

/// Reads a permission string; `None` when it is not one.
pub fn parse(text: &str) -> Option<Mask> {
    let mut mask = Mask::default();
    for clause in text.split(',') {
        let bytes = clause.as_bytes();
        let who = bytes.iter().take_while(|byte| b"ugoa".contains(byte)).count();
        let mut affected = 0_u32;
        for byte in &bytes[..who] {
            affected |= match byte {
                b'a' => 0o7777,
                b'u' => 0o4700,
                b'g' => 0o2070,
                _ => 0o0007,
            };
        }
        let mut rest = &bytes[who..];
        let mut action = b'=';
        if let Some((first @ (b'+' | b'-' | b'='), tail)) = rest.split_first().map(|(f, t)| (*f, t))
        {
            action = first;
            rest = tail;
        } else if who > 0 {
            return None;
        }
        let value = if rest.first().is_some_and(u8::is_ascii_digit) {
            if rest.len() > 6 || !rest.iter().all(|byte| (b'0'..=b'7').contains(byte)) {
                return None;
            }
            affected = 0o7777;
            rest.iter().fold(0_u32, |value, byte| value * 8 + u32::from(byte - b'0')) & 0o7777
        } else {
            let mut value = 0;
            for byte in rest {
                value |= match byte {
                    b'r' => 0o444 & affected,
                    b'w' => 0o222 & affected,
                    b'x' => 0o111 & affected,
                    b's' => 0o6000 & affected,
                    b't' => 0o1000,
                    _ => return None,
                };
            }
            value
        };
        match action {
            b'+' => mask.plus |= value,
            b'-' => mask.minus |= value,
            _ => {
                mask.plus |= value;
                mask.minus |= affected & !value;
            }
        }
        let last_is_empty = value == 0 && text.ends_with(clause) && !matches!(text, "0000" | "000");
        if last_is_empty && action != b'-' {
            return None;
        }
    }
    Some(mask)
}

/// Whether the last clause asks for no bit at all, as one without `u`, `g`, `o` or `a` does.
pub(crate) fn is_incomplete(text: &str) -> bool {
    let last = text.rsplit(',').next().unwrap_or_default();
    let bits = last.trim_start_matches(['u', 'g', 'o', 'a']);
    let everybody = bits.len() == last.len();
    let bits = bits.trim_start_matches(['+', '-', '=']);
    if bits.starts_with(|char: char| char.is_ascii_digit()) {
        return bits.chars().all(|char| char == '0');
    }
    bits.is_empty() || everybody && bits.chars().all(|char| "rwxs".contains(char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_for_nobody_is_incomplete() {
        for (text, expected) in [
            ("=r", true),
            ("+x", true),
            ("u=rwx,go=", true),
            ("a+x", false),
            ("+t", false),
            ("755", false),
        ] {
            assert_eq!(is_incomplete(text), expected, "{text}");
        }
    }

    #[test]
    fn clauses_set_and_clear_bits() {
        let table = [
            ("644", 0o600, Some(0o644)),
            ("u+x,g=r", 0o600, Some(0o740)),
            ("a-w", 0o666, Some(0o444)),
            ("000", 0o600, Some(0)),
            ("", 0, None),
            ("89", 0, None),
            ("u?x", 0, None),
            ("ux", 0, None),
        ];
        for (text, old, expected) in table {
            let new = parse(text).map(|mask| (old & !mask.minus) | mask.plus);
            assert_eq!(new, expected, "{text}");
        }
    }
}
