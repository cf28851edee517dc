//! What a scalar without quotes is, as Psych decides it: YAML 1.1 with habits of its own.

/// A scalar without quotes.
#[derive(Clone, Debug, PartialEq)]
pub enum Plain<'a> {
    Null,
    Bool(bool),
    Integer(Integer),
    Float(f64),
    /// `:name`, without the colon and without quotes around it.
    Symbol(&'a str),
    Date,
    Time,
    Text,
}

/// A whole number of any size: digits of a base, perhaps with a minus before them.
#[derive(Clone, Debug, PartialEq)]
pub struct Integer {
    pub base: u32,
    pub digits: String,
}

impl Integer {
    /// The number, if it is not too large.
    pub fn to_i64(&self) -> Option<i64> {
        i64::from_str_radix(&self.digits, self.base).ok()
    }
}

/// What a text stands for.
pub fn plain(text: &str) -> Plain<'_> {
    if text.is_empty() {
        return Plain::Null;
    }
    if is_wordy(text) {
        return word(text);
    }
    if is_time(text) {
        return Plain::Time;
    }
    if is_date(text) {
        return Plain::Date;
    }
    if let Some(float) = special(text) {
        return Plain::Float(float);
    }
    if let Some(name) = text.strip_prefix(':').filter(|name| !name.is_empty()) {
        return Plain::Symbol(unquoted(name));
    }
    if let Some(number) = base_sixty(text) {
        return number;
    }
    float(text)
        .map(Plain::Float)
        .or_else(|| integer(text).map(Plain::Integer))
        .unwrap_or(Plain::Text)
}

/// Whether a text begins like a word, so that it is no number and no symbol.
fn is_wordy(text: &str) -> bool {
    let is_letter =
        |c: char| c.is_alphabetic() || c.is_whitespace() || r"_!@#$%^&*(){}<>|/\~;=".contains(c);
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    let is_lead = !first.is_ascii_digit() && !".:-".contains(first);
    is_letter(first) || (is_lead && chars.next().is_some_and(is_letter)) || text.contains('\n')
}

fn word(text: &str) -> Plain<'static> {
    match text.to_ascii_lowercase().as_str() {
        "~" | "null" => Plain::Null,
        "yes" | "true" | "on" => Plain::Bool(true),
        "no" | "false" | "off" => Plain::Bool(false),
        _ => Plain::Text,
    }
}

fn special(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        ".inf" | "+.inf" => Some(f64::INFINITY),
        "-.inf" => Some(f64::NEG_INFINITY),
        ".nan" => Some(f64::NAN),
        _ => None,
    }
}

/// The name of a symbol without the quotes it may stand in.
fn unquoted(name: &str) -> &str {
    let quote = name.chars().next().filter(|first| matches!(first, '"' | '\''));
    match quote.and_then(|quote| name[1..].rfind(quote)) {
        Some(end) => {
            let inside = &name[1..=end];
            inside.strip_prefix(':').unwrap_or(inside)
        }
        None => name,
    }
}

/// A reader of the parts of a date or a number.
struct Scan<'a>(&'a str);

impl<'a> Scan<'a> {
    fn take(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(|c| !accept(c)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }

    fn digits(&mut self) -> &'a str {
        self.take(|c| c.is_ascii_digit())
    }

    /// So many digits and no more.
    fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        let digits = self.digits();
        (least..=most).contains(&digits.len()).then(|| digits.parse().unwrap_or(0))
    }

    fn one(&mut self, any: &str) -> Option<char> {
        let first = self.0.chars().next().filter(|c| any.contains(*c))?;
        self.0 = &self.0[first.len_utf8()..];
        Some(first)
    }
}

/// `2026-11-17 12:30:00.5 +01:00` and its variants.
fn is_time(text: &str) -> bool {
    let mut scan = Scan(text.strip_prefix('-').unwrap_or(text));
    let mut day = || {
        scan.number(4, 4)?;
        scan.one("-")?;
        scan.number(1, 2)?;
        scan.one("-")?;
        scan.number(1, 2)?;
        if scan.one("Tt").is_none() && scan.take(char::is_whitespace).is_empty() {
            return None;
        }
        scan.number(1, 2)?;
        scan.one(":")?;
        scan.number(2, 2)?;
        scan.one(":")?;
        scan.number(2, 2)?;
        if scan.one(".").is_some() {
            scan.digits();
        }
        scan.take(char::is_whitespace);
        if scan.one("Z").is_none() && scan.one("+-").is_some() {
            let hours = scan.digits();
            let colon = scan.one(":").is_some();
            let minutes = scan.digits();
            let is_zone = matches!(
                (hours.len(), colon, minutes.len()),
                (1 | 2, _, 0) | (1 | 2, true, 2) | (3 | 4, false, 0)
            );
            is_zone.then_some(())?;
        }
        scan.0.is_empty().then_some(())
    };
    day().is_some()
}

/// Like a day of the calendar; whether there is such a day, who makes a date of it says.
fn is_date(text: &str) -> bool {
    let mut scan = Scan(text);
    let mut day = || {
        scan.number(4, 4)?;
        scan.one("-")?;
        let month = scan.number(1, 2)?;
        scan.one("-")?;
        let day = scan.number(1, 2)?;
        (month <= 12 && day <= 31 && scan.0.is_empty()).then_some(())
    };
    day().is_some()
}

/// `1:30` and `1:30:15`, of which the first part counts as hours whatever follows.
fn base_sixty(text: &str) -> Option<Plain<'static>> {
    let (sign, rest) = signed(text);
    let (whole, fraction) = match rest.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (rest, None),
    };
    let parts: Vec<&str> = whole.split(':').collect();
    let [first, others @ ..] = parts.as_slice() else { return None };
    let is_first = first.starts_with(|c: char| c.is_ascii_digit())
        && first.chars().all(|c| c.is_ascii_digit() || c == '_');
    let is_part = |part: &&str| match part.as_bytes() {
        [one] => one.is_ascii_digit(),
        [ten, one] => (b'0'..=b'5').contains(ten) && one.is_ascii_digit(),
        _ => false,
    };
    let is_number = is_first && matches!(others.len(), 1 | 2) && others.iter().all(is_part);
    let is_fraction = fraction.is_none_or(|f| f.chars().all(|c| c.is_ascii_digit() || c == '_'));
    if !is_number || !is_fraction {
        return None;
    }
    // The sign is the first part's alone.
    let hours = sign * first.replace('_', "").parse::<i64>().ok()?.checked_mul(3600)?;
    let rest = others.iter().zip([60, 1]).map(|(part, unit)| part.parse().unwrap_or(0) * unit);
    let sum: i64 = hours.checked_add(rest.sum())?;
    Some(match fraction {
        None => Plain::Integer(Integer { base: 10, digits: sum.to_string() }),
        Some(fraction) => {
            let unit = if others.len() == 1 { 60.0 } else { 1.0 };
            let part = format!("0.{}", fraction.replace('_', ""));
            Plain::Float(sum as f64 + part.parse::<f64>().unwrap_or(0.0) * unit)
        }
    })
}

fn signed(text: &str) -> (i64, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    }
}

fn float(text: &str) -> Option<f64> {
    let (sign, rest) = signed(text);
    let mut scan = Scan(rest);
    let whole = scan.take(|c| c.is_ascii_digit() || c == '_' || c == ',');
    if !whole.is_empty() && !whole.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    scan.one(".")?;
    let part = scan.digits();
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let mut exponent = String::new();
    if scan.one("eE").is_some() {
        let sign = scan.one("+-")?;
        let digits = scan.digits();
        if digits.is_empty() {
            return None;
        }
        exponent = format!("e{sign}{digits}");
    }
    if !scan.0.is_empty() {
        return None;
    }
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    format!("0{whole}.{part}0{exponent}").parse::<f64>().ok().map(|value| sign as f64 * value)
}

fn integer(text: &str) -> Option<Integer> {
    let (sign, rest) = signed(text);
    let (base, digits) = if let Some(digits) = rest.strip_prefix("0b") {
        (2, digits)
    } else if let Some(digits) = rest.strip_prefix("0x") {
        (16, digits)
    } else if rest.len() > 1 && rest.starts_with('0') {
        (8, &rest[1..])
    } else {
        (10, rest)
    };
    // Between decimal digits a single comma or underscore may stand, elsewhere any number.
    let mut before = ',';
    for c in digits.chars() {
        let is_gap = matches!(c, ',' | '_');
        if !(c.is_digit(base) || is_gap) || (base == 10 && is_gap && matches!(before, ',' | '_')) {
            return None;
        }
        before = c;
    }
    if base == 10 && matches!(before, ',' | '_') {
        return None;
    }
    let clean: String = digits.chars().filter(char::is_ascii_alphanumeric).collect();
    let minus = if sign < 0 { "-" } else { "" };
    // `0_` is an octal number without a digit: zero.
    let clean = if clean.is_empty() && base == 8 { "0".to_owned() } else { clean };
    (!clean.is_empty()).then(|| Integer { base, digits: format!("{minus}{clean}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from Psych 4.0.4.
    #[test]
    fn scalars_are_what_psych_makes_of_them() {
        let int = |base, digits: &str| Plain::Integer(Integer { base, digits: digits.into() });
        for (text, expected) in [
            ("", Plain::Null),
            ("~", Plain::Null),
            ("NULL", Plain::Null),
            ("yes", Plain::Bool(true)),
            ("oFF", Plain::Bool(false)),
            ("y", Plain::Text),
            ("017", int(8, "17")),
            ("0o17", Plain::Text),
            ("018", Plain::Text),
            ("0x1F", int(16, "1F")),
            ("-0b1_0", int(2, "-10")),
            ("1,000", int(10, "1000")),
            ("1__0", Plain::Text),
            ("12345678901234567890", int(10, "12345678901234567890")),
            ("1:30", int(10, "5400")),
            ("12:30:45", int(10, "45045")),
            ("-1:30", int(10, "-1800")),
            ("1:30:15:1", Plain::Text),
            ("1:60", Plain::Text),
            ("1:30.5", Plain::Float(5430.0)),
            ("1e3", Plain::Text),
            ("1.5e3", Plain::Text),
            ("1.5e+3", Plain::Float(1500.0)),
            ("1.", Plain::Float(1.0)),
            (".5", Plain::Float(0.5)),
            (".", Plain::Text),
            ("-1_0.5", Plain::Float(-10.5)),
            ("-.INF", Plain::Float(f64::NEG_INFINITY)),
            ("10.0.0.1", Plain::Text),
            (":a b", Plain::Symbol("a b")),
            (":\"a\"", Plain::Symbol("a")),
            (":", Plain::Text),
            ("2026-11-17", Plain::Date),
            ("2026-02-30", Plain::Date),
            ("2026-13-01", Plain::Text),
            ("2026-11-17 12:30:00 +01:00", Plain::Time),
            ("2026-11-17T12:30:00Z", Plain::Time),
            ("-1a", Plain::Text),
            ("+", Plain::Text),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }
}
