//! Ruby's pattern syntax to that of the engine.

use std::rc::Rc;

pub(crate) struct Translator {
    pub(crate) chars: Vec<char>,
    pub(crate) at: usize,
    pub(crate) out: String,
    pub(crate) named: bool,
    pub(crate) names: Vec<(Rc<str>, Vec<usize>)>,
    pub(crate) groups: usize,
    /// Plain groups in the whole pattern, to tell a back reference from an octal escape.
    pub(crate) total: usize,
}

fn posix(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => r"\p{Alphabetic}",
        "digit" => r"\p{Nd}",
        "alnum" => r"\p{Alphabetic}\p{Nd}",
        "upper" => r"\p{Uppercase}",
        "lower" => r"\p{Lowercase}",
        "space" => r"\s\x{85}",
        "blank" => r"\p{Zs}\t",
        "cntrl" => r"\p{Cc}",
        "punct" => r"\p{P}$+<=>^`|~",
        "graph" => r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}",
        "print" => r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs}",
        "xdigit" => "0-9a-fA-F",
        "word" => r"\p{L}\p{M}\p{Nd}\p{Pc}",
        "ascii" => r"\x00-\x7F",
        _ => return None,
    })
}

impl Translator {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn looking(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(i, c)| self.chars.get(self.at + i) == Some(&c))
    }

    /// Counts groups and sees whether any has a name.
    pub(crate) fn survey(&mut self) {
        let mut i = 0;
        let mut class = 0;
        while i < self.chars.len() {
            match self.chars[i] {
                '\\' => i += 1,
                '[' => class += 1,
                ']' if class > 0 => class -= 1,
                '(' if class == 0 => {
                    if self.chars.get(i + 1) != Some(&'?') {
                        self.total += 1;
                    } else if (self.chars.get(i + 2) == Some(&'<')
                        && !matches!(self.chars.get(i + 3), Some('=' | '!')))
                        || self.chars.get(i + 2) == Some(&'\'')
                    {
                        self.named = true;
                    }
                }
                _ => {}
            }
            i += 1;
        }
        self.at = 0;
    }

    pub(crate) fn sequence(&mut self, mut extended: bool, depth: usize) -> Result<(), String> {
        if depth > 250 {
            return Err("too deeply nested".into());
        }
        let mut can_repeat = false;
        // Where what can be repeated begins.
        let mut item = self.out.len();
        while let Some(c) = self.peek() {
            if !matches!(c, '*' | '+' | '?' | '{') {
                item = self.out.len();
            }
            match c {
                ')' => return Ok(()),
                '(' => {
                    let flags_only = self.group(&mut extended, depth)?;
                    can_repeat = !flags_only;
                }
                '[' => {
                    self.class(0)?;
                    can_repeat = true;
                }
                '\\' => {
                    self.escape()?;
                    can_repeat = true;
                }
                '^' => {
                    self.at += 1;
                    self.out.push_str("(?m:^)");
                    can_repeat = true;
                }
                '$' => {
                    self.at += 1;
                    self.out.push_str("(?m:$)");
                    can_repeat = true;
                }
                '#' if extended => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                c if extended && c.is_ascii_whitespace() => self.at += 1,
                '*' | '+' | '?' => {
                    if !can_repeat {
                        return Err("target of repeat operator is not specified".into());
                    }
                    self.at += 1;
                    self.out.push(c);
                    self.suffix();
                    if c != '+' {
                        self.keep_apart(item);
                    }
                }
                '{' => {
                    if let Some((quantifier, next)) = self.quantifier()
                        && can_repeat
                    {
                        self.out.push_str(&quantifier);
                        self.at = next;
                        if self.peek() == Some('?') {
                            self.out.push('?');
                            self.at += 1;
                        }
                        if quantifier.starts_with("{0") {
                            self.keep_apart(item);
                        }
                        continue;
                    }
                    item = self.out.len();
                    self.out.push_str("\\{");
                    self.at += 1;
                    can_repeat = true;
                }
                '}' => {
                    self.out.push_str("\\}");
                    self.at += 1;
                    can_repeat = true;
                }
                ']' => {
                    self.out.push_str("\\]");
                    self.at += 1;
                    can_repeat = true;
                }
                '|' => {
                    self.out.push('|');
                    self.at += 1;
                    can_repeat = false;
                }
                '.' => {
                    self.out.push('.');
                    self.at += 1;
                    can_repeat = true;
                }
                c => {
                    self.literal(c);
                    self.at += 1;
                    can_repeat = true;
                }
            }
        }
        Ok(())
    }

    /// The engine takes `a+x*a+` for `a+(?:x+a+)?`, which a single `a` fulfils. It leaves what
    /// may be missing alone where that is said to be there once.
    fn keep_apart(&mut self, item: usize) {
        if !matches!(self.peek(), None | Some('|' | '{')) {
            self.out.insert_str(item, "(?:");
            self.out.push_str("){1}");
        }
    }

    /// Lazy and possessive marks after `*`, `+` and `?`.
    fn suffix(&mut self) {
        if let Some(c @ ('?' | '+')) = self.peek() {
            self.out.push(c);
            self.at += 1;
        }
    }

    fn literal(&mut self, c: char) {
        if c.is_ascii_punctuation()
            && !matches!(
                c,
                '_' | ',' | ':' | ';' | '=' | '!' | '"' | '\'' | '%' | '@' | '`' | '/' | '<' | '>'
            )
            || c == ' '
        {
            self.out.push('\\');
        }
        self.out.push(c);
    }

    fn quantifier(&self) -> Option<(String, usize)> {
        let mut i = self.at + 1;
        let mut text = String::new();
        while let Some(c) = self.chars.get(i) {
            match c {
                '0'..='9' | ',' => text.push(*c),
                '}' => break,
                _ => return None,
            }
            i += 1;
        }
        if self.chars.get(i) != Some(&'}')
            || text.is_empty()
            || text == ","
            || text.matches(',').count() > 1
        {
            return None;
        }
        let text = if text.starts_with(',') { format!("0{text}") } else { text };
        Some((format!("{{{text}}}"), i + 1))
    }

    /// True for `(?i)`, which only sets flags for what follows.
    fn group(&mut self, extended: &mut bool, depth: usize) -> Result<bool, String> {
        self.at += 1;
        let mut inner = *extended;
        if self.peek() != Some('?') {
            if self.named {
                self.out.push_str("(?:");
            } else {
                self.groups += 1;
                self.out.push('(');
            }
        } else if self.looking("?#") {
            while self.peek().is_some_and(|c| c != ')') {
                self.at += 1;
            }
            self.at += 1;
            return Ok(true);
        } else if self.looking("?<=") || self.looking("?<!") {
            self.out.push('(');
            self.take(3);
        } else if self.looking("?<") || self.looking("?'") {
            let close = if self.looking("?<") { '>' } else { '\'' };
            self.at += 2;
            let mut name = String::new();
            loop {
                match self.peek() {
                    Some(c) if c == close => break,
                    Some(c) => name.push(c),
                    None => return Err("invalid group name <>".into()),
                }
                self.at += 1;
            }
            self.at += 1;
            if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(format!("group name is empty or invalid <{name}>"));
            }
            self.groups += 1;
            let number = self.groups;
            match self.names.iter_mut().find(|(n, _)| **n == *name) {
                Some((_, list)) => list.push(number),
                None => self.names.push((name.as_str().into(), vec![number])),
            }
            self.out.push_str("(?<");
            self.out.push_str(&name);
            self.out.push('>');
        } else if self.looking("?:")
            || self.looking("?=")
            || self.looking("?!")
            || self.looking("?>")
            || self.looking("?~")
        {
            self.out.push('(');
            self.take(2);
        } else if self.looking("?(") {
            self.out.push_str("(?(");
            self.at += 2;
            while let Some(c) = self.peek() {
                self.out.push(c);
                self.at += 1;
                if c == ')' {
                    break;
                }
            }
        } else {
            // Flags.
            self.at += 1;
            let mut on = true;
            let (mut yes, mut no) = (String::new(), String::new());
            loop {
                match self.peek() {
                    Some('-') => on = false,
                    Some('i') => {
                        if on {
                            yes.push('i')
                        } else {
                            no.push('i')
                        }
                    }
                    Some('m') => {
                        if on {
                            yes.push('s')
                        } else {
                            no.push('s')
                        }
                    }
                    Some('x') => inner = on,
                    Some('a' | 'd' | 'u') if on => {}
                    Some(c @ (':' | ')')) => {
                        self.at += 1;
                        let no = if no.is_empty() { String::new() } else { format!("-{no}") };
                        if c == ')' {
                            // Holds to the end of the enclosing group.
                            *extended = inner;
                            if yes.is_empty() && no.is_empty() {
                                return Ok(true);
                            }
                            self.out.push_str(&format!("(?{yes}{no}:"));
                            self.sequence(inner, depth + 1)?;
                            self.out.push(')');
                            return Ok(true);
                        }
                        self.out.push_str(&format!("(?{yes}{no}:"));
                        break;
                    }
                    _ => return Err("undefined group option".into()),
                }
                self.at += 1;
            }
        }
        self.sequence(inner, depth + 1)?;
        if self.peek() != Some(')') {
            return Err("end pattern with unmatched parenthesis".into());
        }
        self.at += 1;
        self.out.push(')');
        Ok(false)
    }

    fn take(&mut self, n: usize) {
        for _ in 0..n {
            if let Some(c) = self.peek() {
                self.out.push(c);
                self.at += 1;
            }
        }
    }

    fn hex(&mut self, max: usize) -> Option<u32> {
        let mut v = None;
        for _ in 0..max {
            match self.peek().and_then(|c| c.to_digit(16)) {
                Some(d) => {
                    v = Some(v.unwrap_or(0) * 16 + d);
                    self.at += 1;
                }
                None => break,
            }
        }
        v
    }

    fn code(&mut self, code: u32) {
        self.out.push_str(&format!("\\x{{{code:X}}}"));
    }

    /// Escapes common to patterns and classes; true when it was one.
    fn char_escape(&mut self, c: char) -> Result<bool, String> {
        match c {
            'n' => self.out.push_str("\\n"),
            't' => self.out.push_str("\\t"),
            'r' => self.out.push_str("\\r"),
            'f' => self.out.push_str("\\x0C"),
            'v' => self.out.push_str("\\x0B"),
            'a' => self.out.push_str("\\x07"),
            'e' => self.out.push_str("\\x1B"),
            'x' => {
                self.at += 1;
                let mut bytes = Vec::new();
                match self.hex(2) {
                    Some(v) => bytes.push(v as u8),
                    None => return Err("invalid hex escape".into()),
                }
                // A run of high bytes spells one UTF-8 character.
                while bytes[0] >= 0xC0
                    && self.looking("\\x")
                    && bytes.len() < 4
                    && std::str::from_utf8(&bytes).is_err()
                {
                    self.at += 2;
                    match self.hex(2) {
                        Some(v) => bytes.push(v as u8),
                        None => break,
                    }
                }
                match std::str::from_utf8(&bytes) {
                    Ok(s) if bytes[0] >= 0x80 => self.out.push_str(s),
                    _ => {
                        for b in bytes {
                            self.code(u32::from(b));
                        }
                    }
                }
                return Ok(true);
            }
            'u' => {
                self.at += 1;
                if self.peek() == Some('{') {
                    self.at += 1;
                    let mut any = false;
                    loop {
                        while self.peek() == Some(' ') {
                            self.at += 1;
                        }
                        match self.hex(7) {
                            Some(v) if v > 0x10_FFFF => return Err("invalid Unicode range".into()),
                            Some(v) => self.code(v),
                            None => break,
                        }
                        any = true;
                    }
                    if self.peek() != Some('}') || !any {
                        return Err("invalid Unicode list".into());
                    }
                    self.at += 1;
                } else {
                    let from = self.at;
                    match self.hex(4) {
                        Some(v) if self.at == from + 4 => self.code(v),
                        _ => return Err("invalid Unicode escape".into()),
                    }
                }
                return Ok(true);
            }
            'c' => {
                self.at += 1;
                let Some(c) = self.peek() else { return Err("too short control sequence".into()) };
                self.code(c as u32 & 0x1F);
            }
            'C' if self.chars.get(self.at + 1) == Some(&'-') => {
                self.at += 2;
                let Some(c) = self.peek() else { return Err("too short control sequence".into()) };
                self.code(c as u32 & 0x1F);
            }
            _ => return Ok(false),
        }
        self.at += 1;
        Ok(true)
    }

    fn property(&mut self, in_class: bool) -> Result<(), String> {
        let negative = self.peek() == Some('P');
        self.at += 1;
        if self.peek() != Some('{') {
            self.out.push(if negative { 'P' } else { 'p' });
            return Ok(());
        }
        self.at += 1;
        let mut name = String::new();
        while let Some(c) = self.peek() {
            self.at += 1;
            if c == '}' {
                break;
            }
            name.push(c);
        }
        let (negative, name) = match name.strip_prefix('^') {
            Some(rest) => (!negative, rest.to_owned()),
            None => (negative, name),
        };
        let lower = name.to_ascii_lowercase();
        let set = match posix(&lower) {
            Some(set) => set.to_owned(),
            None if lower == "any" => r"\s\S".to_owned(),
            None => format!("\\p{{{name}}}"),
        };
        if in_class && !negative {
            self.out.push_str(&set);
        } else {
            self.out.push_str(if negative { "[^" } else { "[" });
            self.out.push_str(&set);
            self.out.push(']');
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        self.at += 1;
        let Some(c) = self.peek() else { return Err("too short escape sequence".into()) };
        match c {
            'd' => self.out.push_str("[0-9]"),
            'D' => self.out.push_str("[^0-9]"),
            'w' => self.out.push_str("[a-zA-Z0-9_]"),
            'W' => self.out.push_str("[^a-zA-Z0-9_]"),
            's' => self.out.push_str(r"[ \t\r\n\x0C\x0B]"),
            'S' => self.out.push_str(r"[^ \t\r\n\x0C\x0B]"),
            'h' => self.out.push_str("[0-9a-fA-F]"),
            'H' => self.out.push_str("[^0-9a-fA-F]"),
            'R' => self.out.push_str(r"(?>\r\n|[\n\x0B\x0C\r\x{85}\x{2028}\x{2029}])"),
            'X' => self.out.push_str(r"(?>\r\n|\P{M}\p{M}*|\p{M}+)"),
            'Z' => self.out.push_str(r"(?=\n?\z)"),
            'A' | 'z' | 'b' | 'B' | 'G' | 'K' => {
                self.out.push('\\');
                self.out.push(c);
            }
            'p' | 'P' => return self.property(false),
            'k' | 'g' => {
                self.out.push('\\');
                let close = match self.chars.get(self.at + 1) {
                    Some('<') => '>',
                    Some('\'') => '\'',
                    _ => {
                        self.out.push(c);
                        self.at += 1;
                        return Ok(());
                    }
                };
                self.out.push(c);
                self.out.push('<');
                self.at += 2;
                while let Some(c) = self.peek() {
                    self.at += 1;
                    if c == close {
                        break;
                    }
                    self.out.push(c);
                }
                self.out.push('>');
                return Ok(());
            }
            '0' => {
                let code = self.octal();
                self.code(code);
                return Ok(());
            }
            '1'..='9' => {
                let mut i = self.at;
                let mut number = 0usize;
                while let Some(d) = self.chars.get(i).and_then(|c| c.to_digit(10)) {
                    number = number.saturating_mul(10).saturating_add(d as usize);
                    i += 1;
                }
                if number <= self.total.max(9) && !self.named {
                    if number > self.total {
                        // Refers to a group that cannot match: never matches.
                        self.out.push_str("(?!)");
                    } else {
                        self.out.push_str(&format!("(?:\\{number})"));
                    }
                    self.at = i;
                    return Ok(());
                }
                if self.named {
                    return Err("numbered backref/call is not allowed. (use name)".into());
                }
                let code = self.octal();
                self.code(code);
                return Ok(());
            }
            c => {
                if self.char_escape(c)? {
                    return Ok(());
                }
                self.literal(c);
            }
        }
        self.at += 1;
        Ok(())
    }

    fn octal(&mut self) -> u32 {
        let mut v = 0;
        for _ in 0..3 {
            match self.peek().and_then(|c| c.to_digit(8)) {
                Some(d) => {
                    v = v * 8 + d;
                    self.at += 1;
                }
                None => break,
            }
        }
        v
    }

    fn class(&mut self, depth: usize) -> Result<(), String> {
        if depth > 100 {
            return Err("too deeply nested".into());
        }
        self.at += 1;
        self.out.push('[');
        if self.peek() == Some('^') {
            self.out.push('^');
            self.at += 1;
        }
        let mut first = true;
        loop {
            let Some(c) = self.peek() else { return Err("premature end of char-class".into()) };
            match c {
                ']' if !first => {
                    self.at += 1;
                    self.out.push(']');
                    return Ok(());
                }
                ']' => {
                    if !self.chars[self.at + 1..].contains(&']') {
                        return Err("empty char-class".into());
                    }
                    self.out.push_str("\\]");
                    self.at += 1;
                }
                '[' if self.chars.get(self.at + 1) == Some(&':') => self.posix_class()?,
                '[' => self.class(depth + 1)?,
                '&' if self.looking("&&") => {
                    self.out.push_str("&&");
                    self.at += 2;
                }
                '\\' => {
                    self.at += 1;
                    let Some(c) = self.peek() else {
                        return Err("premature end of char-class".into());
                    };
                    self.class_escape(c)?;
                }
                '-' => {
                    let next = self.chars.get(self.at + 1);
                    if first || next == Some(&']') || next == Some(&'-') || next == Some(&'[') {
                        self.out.push_str("\\-");
                    } else {
                        self.out.push('-');
                    }
                    self.at += 1;
                }
                c => {
                    if c.is_ascii_punctuation() || c == ' ' {
                        self.out.push('\\');
                    }
                    self.out.push(c);
                    self.at += 1;
                }
            }
            first = false;
        }
    }

    fn posix_class(&mut self) -> Result<(), String> {
        let rest: String = self.chars[self.at + 2..].iter().take(12).collect();
        if let Some(end) = rest.find(":]") {
            let (negative, name) = match rest[..end].strip_prefix('^') {
                Some(name) => (true, name),
                None => (false, &rest[..end]),
            };
            if let Some(set) = posix(name) {
                self.at += 2 + end + 2;
                if negative {
                    self.out.push_str("[^");
                    self.out.push_str(set);
                    self.out.push(']');
                } else {
                    self.out.push_str(set);
                }
                return Ok(());
            }
        }
        self.class(1)
    }

    fn class_escape(&mut self, c: char) -> Result<(), String> {
        match c {
            'd' => self.out.push_str("0-9"),
            'D' => self.out.push_str("[^0-9]"),
            'w' => self.out.push_str("a-zA-Z0-9_"),
            'W' => self.out.push_str("[^a-zA-Z0-9_]"),
            's' => self.out.push_str(r" \t\r\n\x0C\x0B"),
            'S' => self.out.push_str(r"[^ \t\r\n\x0C\x0B]"),
            'h' => self.out.push_str("0-9a-fA-F"),
            'H' => self.out.push_str("[^0-9a-fA-F]"),
            'b' => self.out.push_str("\\x08"),
            'p' | 'P' => return self.property(true),
            '0'..='7' => {
                let code = self.octal();
                self.code(code);
                return Ok(());
            }
            c => {
                if self.char_escape(c)? {
                    return Ok(());
                }
                if c.is_ascii_punctuation() || c == ' ' {
                    self.out.push('\\');
                }
                self.out.push(c);
            }
        }
        self.at += 1;
        Ok(())
    }
}
