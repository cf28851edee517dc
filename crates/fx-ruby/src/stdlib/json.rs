//! JSON natives: reading text into values; `write` is the other way.

mod write;

use crate::object::c;
use crate::value::{FALSE, NIL, TRUE};
use crate::vm::{R, Res, Vm};

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    symbols: bool,
    nan: bool,
    max: usize,
}

pub(crate) fn init(vm: &mut Vm) {
    let m = vm.define_module(c::OBJECT, "JSON");
    // text, symbolize, allow_nan, max_nesting
    vm.def_single(
        m,
        "__parse",
        |vm, a| {
            let (t, s, nan, max) = (vm.arg(a, 0), vm.arg(a, 1), vm.arg(a, 2), vm.arg(a, 3));
            let text = vm.bytes(t).to_vec();
            let max = vm.to_int(max)?.max(0) as usize;
            let mut r = Reader {
                text: &text,
                at: 0,
                symbols: s.truthy(),
                nan: nan.truthy(),
                max: if max == 0 { 5000 } else { max },
            };
            r.space(vm)?;
            let v = r.value(vm, 1)?;
            r.space(vm)?;
            if r.at < r.text.len() {
                return r.fail(vm);
            }
            Ok(v)
        },
        4,
        4,
    );
    vm.def_single(m, "__generate", write::generate, 3, 3);
}

fn too_nested<T>(vm: &mut Vm, depth: usize) -> Res<T> {
    let m = vm.define_module(c::OBJECT, "JSON");
    let base = vm.define_class(m, "JSONError", c::STANDARD_ERROR);
    let parser = vm.define_class(m, "ParserError", base);
    let class = vm.define_class(m, "NestingError", parser);
    vm.fail(class, format!("nesting of {depth} is too deep"))
}

impl Reader<'_> {
    fn fail<T>(&self, vm: &mut Vm) -> Res<T> {
        let m = vm.define_module(c::OBJECT, "JSON");
        let base = vm.define_class(m, "JSONError", c::STANDARD_ERROR);
        let class = vm.define_class(m, "ParserError", base);
        let rest = String::from_utf8_lossy(&self.text[self.at.min(self.text.len())..]).into_owned();
        if rest.is_empty() {
            return vm.fail(class, "unexpected token at ''");
        }
        vm.fail(class, format!("unexpected token at '{rest}'"))
    }

    fn space(&mut self, vm: &mut Vm) -> Res<()> {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'/') if self.text.get(self.at + 1) == Some(&b'/') => {
                    while self.text.get(self.at).is_some_and(|b| *b != b'\n') {
                        self.at += 1;
                    }
                }
                Some(b'/') if self.text.get(self.at + 1) == Some(&b'*') => {
                    match crate::regex::find(&self.text[self.at..], b"*/") {
                        Some(i) => self.at += i + 2,
                        None => return self.fail(vm),
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn word(&mut self, text: &[u8]) -> bool {
        if self.text[self.at..].starts_with(text) {
            self.at += text.len();
            return true;
        }
        false
    }

    fn value(&mut self, vm: &mut Vm, depth: usize) -> R {
        match self.text.get(self.at) {
            Some(b'{') => self.object(vm, depth),
            Some(b'[') => self.array(vm, depth),
            Some(b'"') => self.string(vm),
            Some(b't') if self.word(b"true") => Ok(TRUE),
            Some(b'f') if self.word(b"false") => Ok(FALSE),
            Some(b'n') if self.word(b"null") => Ok(NIL),
            Some(b'N') if self.nan && self.word(b"NaN") => Ok(vm.float(f64::NAN)),
            Some(b'I') if self.nan && self.word(b"Infinity") => Ok(vm.float(f64::INFINITY)),
            Some(b'-') if self.nan && self.word(b"-Infinity") => Ok(vm.float(f64::NEG_INFINITY)),
            Some(b'-' | b'0'..=b'9') => self.number(vm),
            _ => self.fail(vm),
        }
    }

    fn object(&mut self, vm: &mut Vm, depth: usize) -> R {
        self.nest(vm, depth)?;
        self.at += 1;
        let h = vm.hash();
        self.space(vm)?;
        if self.text.get(self.at) == Some(&b'}') {
            self.at += 1;
            return Ok(h);
        }
        loop {
            self.space(vm)?;
            if self.text.get(self.at) != Some(&b'"') {
                let m = vm.define_module(c::OBJECT, "JSON");
                let base = vm.define_class(m, "JSONError", c::STANDARD_ERROR);
                let class = vm.define_class(m, "ParserError", base);
                let rest = String::from_utf8_lossy(&self.text[self.at..]).into_owned();
                return vm.fail(
                    class,
                    format!(
                        "expected object key, got '{}' at line 1 column {}",
                        rest.chars().take(10).collect::<String>(),
                        self.at + 1
                    ),
                );
            }
            let k = self.string(vm)?;
            self.space(vm)?;
            if self.text.get(self.at) != Some(&b':') {
                return self.fail(vm);
            }
            self.at += 1;
            self.space(vm)?;
            let v = self.value(vm, depth + 1)?;
            let key = if self.symbols { vm.str_to_sym(k) } else { k };
            // A key of its own, which need not be copied to be one.
            if key.is_str() {
                vm.heap.strings[key.index()].frozen = true;
            }
            vm.hash_set(h, key, v)?;
            self.space(vm)?;
            match self.text.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(h);
                }
                _ => return self.fail(vm),
            }
        }
    }

    fn array(&mut self, vm: &mut Vm, depth: usize) -> R {
        self.nest(vm, depth)?;
        self.at += 1;
        let mut l = Vec::new();
        self.space(vm)?;
        if self.text.get(self.at) == Some(&b']') {
            self.at += 1;
            return Ok(vm.arr(l));
        }
        loop {
            self.space(vm)?;
            l.push(self.value(vm, depth + 1)?);
            self.space(vm)?;
            match self.text.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(vm.arr(l));
                }
                _ => return self.fail(vm),
            }
        }
    }

    fn number(&mut self, vm: &mut Vm) -> R {
        let start = self.at;
        self.at += 1;
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        let mut float = false;
        if self.text.get(self.at) == Some(&b'.')
            && self.text.get(self.at + 1).is_some_and(u8::is_ascii_digit)
        {
            float = true;
            self.at += 1;
            while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
                self.at += 1;
            }
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            float = true;
            self.at += 1;
            while self
                .text
                .get(self.at)
                .is_some_and(|b| b.is_ascii_digit() || *b == b'-' || *b == b'+')
            {
                self.at += 1;
            }
        }
        let t = &self.text[start..self.at];
        if t == b"-" || (t.len() > 1 && t[0] == b'0' && t[1].is_ascii_digit()) {
            self.at = start;
            return self.fail(vm);
        }
        let number = std::str::from_utf8(t).unwrap_or("");
        if float {
            let f = number.parse();
            return Ok(vm.float(f.unwrap_or_else(|_| crate::core::float::parse_prefix(t))));
        }
        if let Ok(i) = number.parse::<i64>() {
            return Ok(vm.int(i));
        }
        Ok(crate::core::integer::parse_prefix(vm, t, 10))
    }

    fn nest(&self, vm: &mut Vm, depth: usize) -> Res<()> {
        if depth > self.max { too_nested(vm, depth) } else { Ok(()) }
    }

    fn string(&mut self, vm: &mut Vm) -> R {
        let start = self.at;
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let Some(b) = self.text.get(self.at).copied() else {
                self.at = start;
                return self.fail(vm);
            };
            self.at += 1;
            match b {
                b'"' => return Ok(vm.str(out)),
                b'\\' => {
                    let e = self.text.get(self.at).copied().unwrap_or(0);
                    self.at += 1;
                    match e {
                        b'n' => out.push(b'\n'),
                        b't' => out.push(b'\t'),
                        b'r' => out.push(b'\r'),
                        b'b' => out.push(8),
                        b'f' => out.push(12),
                        b'u' => {
                            let mut code = self.hex();
                            if (0xD800..0xDC00).contains(&code)
                                && self.text[self.at.min(self.text.len())..].starts_with(b"\\u")
                            {
                                self.at += 2;
                                let low = self.hex();
                                code = 0x10000
                                    + ((code - 0xD800) << 10)
                                    + (low.wrapping_sub(0xDC00) & 0x3FF);
                            }
                            out.extend(
                                crate::encoding::encode_char(code, 0)
                                    .unwrap_or_else(|| "\u{FFFD}".as_bytes().to_vec()),
                            );
                        }
                        other => out.push(other),
                    }
                }
                b if b < 32 => {
                    self.at = start;
                    return self.fail(vm);
                }
                _ => {
                    let rest = &self.text[self.at..];
                    let plain = rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..32));
                    let end = self.at + plain.unwrap_or(rest.len());
                    out.extend_from_slice(&self.text[self.at - 1..end]);
                    self.at = end;
                }
            }
        }
    }

    fn hex(&mut self) -> u32 {
        let end = (self.at + 4).min(self.text.len());
        let v = std::str::from_utf8(&self.text[self.at..end])
            .ok()
            .and_then(|t| u32::from_str_radix(t, 16).ok())
            .unwrap_or(0xFFFD);
        self.at = end;
        v
    }
}
