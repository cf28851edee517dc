//! Reads the text of a format, directive by directive.

use super::{Arguments, Spec};

/// Follows a format to its end. How many arguments were taken in order, or none if they were
/// numbered or named.
pub fn format<A: Arguments>(text: &[u8], args: &mut A) -> Result<Option<usize>, A::Error> {
    let mut reader = Reader { text, at: 0, args, next: 0, is_numbered: false, is_named: false };
    while let Some(found) = text[reader.at..].iter().position(|byte| *byte == b'%') {
        let start = reader.at;
        reader.args.literal(&text[start..start + found]);
        reader.at = start + found + 1;
        reader.directive()?;
    }
    let rest = reader.at;
    reader.args.literal(&text[rest..]);
    Ok((!reader.is_numbered && !reader.is_named).then_some(reader.next))
}

struct Reader<'a, A> {
    text: &'a [u8],
    at: usize,
    args: &'a mut A,
    /// How many arguments were taken in order.
    next: usize,
    is_numbered: bool,
    is_named: bool,
}

/// Numbers at least this large are refused.
const TOO_BIG: usize = 1 << 31;

impl<A: Arguments> Reader<'_, A> {
    fn directive(&mut self) -> Result<(), A::Error> {
        let mut spec = Spec::default();
        let mut value = None;
        loop {
            let Some(byte) = self.text.get(self.at).copied() else {
                if self.text[self.at - 1] == b'%' {
                    return self.refuse("incomplete format specifier; use %% (double %) instead");
                }
                return self.percent(&spec, b"%");
            };
            self.at += 1;
            match byte {
                b'-' => spec.minus = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'0' => spec.zero = true,
                b'#' => spec.alt = true,
                b'1'..=b'9' => self.number(&mut spec, &mut value)?,
                b'*' => self.starred_width(&mut spec)?,
                b'.' => self.precision(&mut spec)?,
                b'<' | b'{' => {
                    let named = self.named(byte, value.is_some())?;
                    if byte == b'{' {
                        return self.args.put(b's', &spec, named);
                    }
                    value = Some(named);
                }
                b'%' => return self.percent(&spec, b"%"),
                b'\n' | 0 => return self.percent(&spec, &[b'%', byte]),
                b'd' | b'i' | b'u' | b'f' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' | b's'
                | b'p' | b'c' | b'x' | b'X' | b'o' | b'b' | b'B' => {
                    let value = match value {
                        Some(value) => value,
                        None => self.in_order()?,
                    };
                    self.args.reserve(spec.precision.unwrap_or(0))?;
                    return self.args.put(byte, &spec, value);
                }
                _ => {
                    let shown = String::from_utf8_lossy(&[byte]).into_owned();
                    return self.refuse(format!("malformed format string - %{shown}"));
                }
            }
        }
    }

    /// A percent sign that stands for itself takes nothing before it but the number of an
    /// argument.
    fn percent(&mut self, spec: &Spec, text: &[u8]) -> Result<(), A::Error> {
        if *spec != Spec::default() {
            return self.refuse("invalid format character - %");
        }
        self.args.literal(text);
        Ok(())
    }

    fn refuse<T>(&mut self, message: impl Into<String>) -> Result<T, A::Error> {
        self.args.refuse(message.into())
    }

    /// The digits from here; too many of them are the largest number. Something must follow.
    fn digits(&mut self) -> Result<Option<usize>, A::Error> {
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == rest.len() {
            return self.refuse("malformed format string - %*[0-9]");
        }
        let digits = std::str::from_utf8(&rest[..length]).unwrap_or_default();
        self.at += length;
        Ok((length > 0).then(|| digits.parse().unwrap_or(usize::MAX)))
    }

    fn argument(&mut self, index: usize) -> Result<A::Value, A::Error> {
        match self.args.at(index) {
            Some(value) => Ok(value),
            None => self.refuse("too few arguments"),
        }
    }

    fn in_order(&mut self) -> Result<A::Value, A::Error> {
        let number = self.next + 1;
        if self.is_named {
            return self.refuse(format!("unnumbered({number}) mixed with named"));
        }
        if self.is_numbered {
            return self.refuse(format!("unnumbered({number}) mixed with numbered"));
        }
        self.next = number;
        self.argument(number - 1)
    }

    /// A width, or the number of an argument before `$`.
    fn number(&mut self, spec: &mut Spec, value: &mut Option<A::Value>) -> Result<(), A::Error> {
        self.at -= 1;
        let number = self.digits()?.unwrap_or(0);
        if self.text.get(self.at) != Some(&b'$') {
            if spec.width.is_some() {
                return self.refuse("width given twice");
            }
            if number >= TOO_BIG {
                return self.refuse("width too big");
            }
            spec.width = Some(number);
            return self.args.reserve(number);
        }
        self.at += 1;
        if self.next > 0 {
            let next = self.next;
            return self.refuse(format!("numbered({number}) after unnumbered({next})"));
        }
        if value.is_some() {
            return self.refuse(format!("value given twice - {number}$"));
        }
        self.is_numbered = true;
        *value = Some(self.argument(number - 1)?);
        Ok(())
    }

    fn starred_width(&mut self, spec: &mut Spec) -> Result<(), A::Error> {
        if spec.width.is_some() {
            return self.refuse("width given twice");
        }
        let width = self.starred()?;
        spec.minus |= width < 0;
        spec.width = Some(width.unsigned_abs() as usize);
        self.args.reserve(width.unsigned_abs() as usize)
    }

    /// A width or precision that an argument gives: the next one, or of `*2$` the second.
    fn starred(&mut self) -> Result<i32, A::Error> {
        let start = self.at;
        let number = self.digits()?.filter(|number| *number > 0);
        let value = match number {
            Some(number) if self.text.get(self.at) == Some(&b'$') => {
                self.at += 1;
                self.is_numbered = true;
                self.argument(number - 1)?
            }
            _ => {
                self.at = start;
                self.in_order()?
            }
        };
        self.args.whole(value)
    }

    fn precision(&mut self, spec: &mut Spec) -> Result<(), A::Error> {
        if spec.precision.is_some() {
            return self.refuse("precision given twice");
        }
        if self.text.get(self.at) == Some(&b'*') {
            self.at += 1;
            spec.precision = usize::try_from(self.starred()?).ok();
            return Ok(());
        }
        let precision = self.digits()?.unwrap_or(0);
        if precision >= TOO_BIG {
            return self.refuse("precision too big");
        }
        spec.precision = Some(precision);
        Ok(())
    }

    /// `<name>` or `{name}`: the argument of that name.
    fn named(&mut self, open: u8, has_value: bool) -> Result<A::Value, A::Error> {
        let close = if open == b'<' { b'>' } else { b'}' };
        let start = self.at;
        let Some(length) = self.text[start..].iter().position(|byte| *byte == close) else {
            return self.refuse("malformed name - unmatched parenthesis");
        };
        self.at = start + length + 1;
        let name = &self.text[start..start + length];
        let shown = String::from_utf8_lossy(&self.text[start - 1..self.at]).into_owned();
        if has_value {
            let name = String::from_utf8_lossy(name).into_owned();
            return self.refuse(format!("named{shown} after <{name}>"));
        }
        if self.next > 0 {
            let next = self.next;
            return self.refuse(format!("named{shown} after unnumbered({next})"));
        }
        if self.is_numbered {
            return self.refuse(format!("named{shown} after numbered"));
        }
        self.is_named = true;
        self.args.named(name, &shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers, and their sum under any name.
    struct Numbers(Vec<i64>, String);

    impl Arguments for Numbers {
        type Value = i64;
        type Error = String;

        fn at(&mut self, index: usize) -> Option<i64> {
            self.0.get(index).copied()
        }

        fn named(&mut self, name: &[u8], shown: &str) -> Result<i64, String> {
            if name == b"sum" {
                Ok(self.0.iter().sum())
            } else {
                Err(format!("key{shown} not found"))
            }
        }

        fn whole(&mut self, value: i64) -> Result<i32, String> {
            i32::try_from(value).map_err(|why| why.to_string())
        }

        fn reserve(&mut self, bytes: usize) -> Result<(), String> {
            if bytes > 1000 { Err("too much".into()) } else { Ok(()) }
        }

        fn literal(&mut self, text: &[u8]) {
            self.1.push_str(&String::from_utf8_lossy(text));
        }

        fn put(&mut self, letter: u8, spec: &Spec, value: i64) -> Result<(), String> {
            let digits = value.unsigned_abs().to_string();
            self.1.push_str(&spec.integer(letter, value < 0, &digits));
            Ok(())
        }

        fn refuse<T>(&mut self, message: String) -> Result<T, String> {
            Err(message)
        }
    }

    /// Recorded from Ruby 3.1.2.
    #[test]
    fn directives_are_read_as_ruby_reads_them() {
        for (text, expected) in [
            ("a %d b", Ok("a 7 b")),
            ("%3d|%-3d|", Ok("  7|8  |")),
            ("%2$d %1$d", Ok("8 7")),
            ("%*d", Ok("      8")),
            ("%-*d|", Ok("8      |")),
            ("%.*d", Ok("0000008")),
            ("%<sum>03d %<sum>d", Ok("015 15")),
            ("%{sum}", Ok("15")),
            ("%% %1$% %1$", Ok("% % %")),
            ("%\n", Ok("%\n")),
            ("%", Err("incomplete format specifier; use %% (double %) instead")),
            ("%-", Err("invalid format character - %")),
            ("%5%", Err("invalid format character - %")),
            ("%5", Err("malformed format string - %*[0-9]")),
            ("%.", Err("malformed format string - %*[0-9]")),
            ("%y", Err("malformed format string - %y")),
            ("%d %d %d", Err("too few arguments")),
            ("%3$d", Err("too few arguments")),
            ("%5 5d", Err("width given twice")),
            ("%.5.5d", Err("precision given twice")),
            ("%99999999999d", Err("width too big")),
            ("%1$2$d", Err("value given twice - 2$")),
            ("%d %1$d", Err("numbered(1) after unnumbered(1)")),
            ("%1$d %d", Err("unnumbered(1) mixed with numbered")),
            ("%<sum>d %d", Err("unnumbered(1) mixed with named")),
            ("%d %<sum>d", Err("named<sum> after unnumbered(1)")),
            ("%1$d %<sum>d", Err("named<sum> after numbered")),
            ("%<no>d", Err("key<no> not found")),
            ("%<sum", Err("malformed name - unmatched parenthesis")),
        ] {
            let mut numbers = Numbers(vec![7, 8], String::new());
            let made = format(text.as_bytes(), &mut numbers).map(|_| numbers.1);
            assert_eq!(made.as_deref().map_err(String::as_str), expected, "{text:?}");
        }
    }

    #[test]
    fn arguments_in_order_are_counted() {
        let used = |text: &[u8]| format(text, &mut Numbers(vec![7, 8], String::new()));
        assert_eq!(
            (used(b"x"), used(b"%d"), used(b"%*d")),
            (Ok(Some(0)), Ok(Some(1)), Ok(Some(2)))
        );
        assert_eq!((used(b"%1$d"), used(b"%<sum>d")), (Ok(None), Ok(None)));
    }
}
