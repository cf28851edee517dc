//! `format`: directives, flags, widths, named references.

use fx_value::decimal;

use crate::bignum::Big;
use crate::encoding as e;
use crate::heap::Enc;
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{R, Res, Vm};

#[derive(Default, Clone)]
struct Spec {
    minus: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alt: bool,
    width: Option<usize>,
    prec: Option<usize>,
}

/// What is made so far.
struct Built {
    bytes: Vec<u8>,
    enc: Enc,
    /// The format's own text is not ASCII.
    fixed: bool,
}

fn pad(s: &Spec, body: String, sign: &str, numeric: bool) -> String {
    let len = body.chars().count() + sign.chars().count();
    let width = s.width.unwrap_or(0);
    if len >= width {
        return format!("{sign}{body}");
    }
    let fill = width - len;
    if s.minus {
        format!("{sign}{body}{}", " ".repeat(fill))
    } else if s.zero && numeric {
        format!("{sign}{}{body}", "0".repeat(fill))
    } else {
        format!("{}{sign}{body}", " ".repeat(fill))
    }
}

fn sign_text(s: &Spec, neg: bool) -> &'static str {
    if neg {
        "-"
    } else if s.plus {
        "+"
    } else if s.space {
        " "
    } else {
        ""
    }
}

/// `%e` as C prints it.
pub(crate) fn exponent(f: f64, prec: usize, alt: bool, upper: bool) -> String {
    let t = decimal::scientific(f, prec);
    let (m, e) = t.split_once('e').unwrap_or((&t, "0"));
    let e: i32 = e.parse().unwrap_or(0);
    let dot = if alt && prec == 0 { "." } else { "" };
    let t = format!("{m}{dot}e{}{:02}", if e < 0 { '-' } else { '+' }, e.abs());
    if upper { t.to_uppercase() } else { t }
}

fn general(f: f64, prec: usize, alt: bool, upper: bool) -> String {
    if f == 0.0 {
        return if alt { decimal::fixed(0.0, prec.max(1) - 1) } else { "0".into() };
    }
    let p = prec.max(1);
    let shown = decimal::scientific(f, p - 1);
    let e: i32 = shown.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let t = if e < -4 || e >= p as i32 {
        exponent(f, p - 1, alt, upper)
    } else {
        let digits = (p as i32 - 1 - e).max(0) as usize;
        decimal::fixed(f, digits) + if alt && digits == 0 { "." } else { "" }
    };
    if alt || !t.contains('.') {
        return t;
    }
    match t.find(['e', 'E']) {
        Some(i) => format!("{}{}", t[..i].trim_end_matches('0').trim_end_matches('.'), &t[i..]),
        None => t.trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

fn hex_float(f: f64, prec: Option<usize>, alt: bool) -> String {
    if f == 0.0 {
        return if alt { "0x0.p+0".into() } else { "0x0p+0".into() };
    }
    let bits = f.to_bits();
    let mut e = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mut m = bits & ((1 << 52) - 1);
    let lead = if e == -1023 {
        e = -1022;
        0
    } else {
        1
    };
    if let Some(p) = prec
        && p < 13
    {
        let shift = 52 - 4 * p;
        m = (m + (1u64 << (shift - 1))) >> shift << shift
    }
    let mut d = format!("{m:013x}");
    match prec {
        Some(p) => d.truncate(p),
        None => d = d.trim_end_matches('0').to_owned(),
    }
    let dot = if d.is_empty() && !alt { String::new() } else { format!(".{d}") };
    format!("0x{lead}{dot}p{e:+}")
}

impl Vm {
    pub fn format(&mut self, args: &[Value]) -> R {
        let f = self.to_str(args[0])?;
        let text = self.bytes(f).to_vec();
        let args = &args[1..];
        // What is put in must fit the whole text, also what comes behind it.
        let mut out =
            Built { bytes: Vec::new(), enc: self.heap.str(f).enc, fixed: !text.is_ascii() };
        let mut next = 0;
        let mut i = 0;
        let mut used_pos = false;
        let mut hash: Option<Value> = None;
        while i < text.len() {
            if text[i] != b'%' {
                out.bytes.push(text[i]);
                i += 1;
                continue;
            }
            i += 1;
            let mut s = Spec::default();
            let mut value: Option<Value> = None;
            loop {
                let Some(ch) = text.get(i).copied() else {
                    if value.is_some() && text[i - 1] == b'$' {
                        out.bytes.push(b'%');
                        break;
                    }
                    return self
                        .arg_error("incomplete format specifier; use %% (double %) instead");
                };
                i += 1;
                match ch {
                    b'-' => s.minus = true,
                    b'+' => s.plus = true,
                    b' ' => s.space = true,
                    b'0' => s.zero = true,
                    b'#' => s.alt = true,
                    b'1'..=b'9' => {
                        let start = i - 1;
                        while text.get(i).is_some_and(u8::is_ascii_digit) {
                            i += 1
                        }
                        let n: usize =
                            String::from_utf8_lossy(&text[start..i]).parse().unwrap_or(usize::MAX);
                        if text.get(i) == Some(&b'$') {
                            i += 1;
                            if next > 0 {
                                return self
                                    .arg_error(format!("numbered({n}) after unnumbered({next})"));
                            }
                            if value.is_some() {
                                return self.arg_error(format!("value given twice - {n}$"));
                            }
                            used_pos = true;
                            match args.get(n - 1) {
                                Some(v) => value = Some(*v),
                                None => return self.arg_error("too few arguments"),
                            }
                        } else {
                            if s.width.is_some() {
                                return self.arg_error("width given twice");
                            }
                            if n >= 1 << 31 {
                                return self.arg_error("width too big");
                            }
                            self.reserve(n)?;
                            s.width = Some(n);
                        }
                    }
                    b'*' => {
                        if s.width.is_some() {
                            return self.arg_error("width given twice");
                        }
                        let w = self.starred(&text, &mut i, args, &mut next, &mut used_pos)?;
                        if w < 0 {
                            s.minus = true
                        }
                        self.reserve(w.unsigned_abs() as usize)?;
                        s.width = Some(w.unsigned_abs() as usize);
                    }
                    b'.' => {
                        if s.prec.is_some() {
                            return self.arg_error("precision given twice");
                        }
                        if text.get(i) == Some(&b'*') {
                            i += 1;
                            let p = self.starred(&text, &mut i, args, &mut next, &mut used_pos)?;
                            s.prec = if p < 0 { None } else { Some(p as usize) }
                        } else {
                            let start = i;
                            while text.get(i).is_some_and(u8::is_ascii_digit) {
                                i += 1
                            }
                            let digits = String::from_utf8_lossy(&text[start..i]);
                            let p: usize = match digits.parse() {
                                Ok(p) => p,
                                Err(_) if digits.is_empty() => 0,
                                Err(_) => usize::MAX,
                            };
                            if p >= 1 << 31 {
                                return self.arg_error("precision too big");
                            }
                            s.prec = Some(p);
                        }
                    }
                    b'<' | b'{' => {
                        let close = if ch == b'<' { b'>' } else { b'}' };
                        let start = i;
                        while text.get(i).is_some_and(|b| *b != close) {
                            i += 1
                        }
                        if i >= text.len() {
                            return self.arg_error("malformed name - unmatched parenthesis");
                        }
                        let name = text[start..i].to_vec();
                        i += 1;
                        let shown = String::from_utf8_lossy(&text[start - 1..i]).into_owned();
                        if value.is_some() {
                            return self.arg_error(format!(
                                "named{shown} after <{}>",
                                String::from_utf8_lossy(&name)
                            ));
                        }
                        if next > 0 {
                            return self
                                .arg_error(format!("named{shown} after unnumbered({next})"));
                        }
                        if used_pos {
                            return self.arg_error(format!("named{shown} after numbered"));
                        }
                        let h = match hash {
                            Some(h) => h,
                            None => {
                                if args.len() != 1 {
                                    return self.arg_error("one hash required");
                                }
                                if !args[0].is_hash() && !args[0].is_obj() {
                                    return self.arg_error("one hash required");
                                }
                                let h = self.to_hash(args[0])?;
                                hash = Some(h);
                                h
                            }
                        };
                        let key = Value::sym(self.syms.intern(&name));
                        let v = match self.hash_get(h, key)? {
                            Some(v) => v,
                            None => {
                                let t = self.heap.h(h);
                                let none = t.default_proc.is_nil() && t.default.is_nil();
                                let v = if none { NIL } else { self.hash_aref(h, key)? };
                                if v.is_nil() {
                                    let e = self.make_error(
                                        c::KEY_ERROR,
                                        format!("key{shown} not found"),
                                    )?;
                                    self.ivar_set(e, crate::names::IV_RECEIVER, h);
                                    self.ivar_set(e, crate::names::IV_KEY, key);
                                    return self.throw(e);
                                }
                                v
                            }
                        };
                        if ch == b'{' {
                            let sv = self.interpolate(v)?;
                            self.put_text(&mut out, &s, sv)?;
                            break;
                        }
                        value = Some(v);
                    }
                    b'%' => {
                        if s.width.is_some() || s.minus || s.zero || s.plus || value.is_some() {
                            return self.arg_error("invalid format character - %");
                        }
                        out.bytes.push(b'%');
                        break;
                    }
                    b'\n' | 0 => {
                        if text[i - 2] != b'%' {
                            return self.arg_error("invalid format character - %");
                        }
                        out.bytes.push(b'%');
                        out.bytes.push(ch);
                        break;
                    }
                    b'd' | b'i' | b'u' | b'f' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' | b's'
                    | b'p' | b'c' | b'x' | b'X' | b'o' | b'b' | b'B' => {
                        let v = match value {
                            Some(v) => v,
                            None => {
                                if hash.is_some() {
                                    let n = next;
                                    return self.arg_error(format!(
                                        "unnumbered({}) mixed with named",
                                        n + 1
                                    ));
                                }
                                self.next_arg(args, &mut next, used_pos)?
                            }
                        };
                        match ch {
                            b's' => {
                                let sv = self.interpolate(v)?;
                                self.put_text(&mut out, &s, sv)?;
                            }
                            b'p' => {
                                let sv = self.inspect(v)?;
                                self.put_text(&mut out, &s, sv)?;
                            }
                            b'c' => {
                                let sv = self.format_char(v, out.enc)?;
                                self.put_text(&mut out, &Spec { prec: None, ..s }, sv)?;
                            }
                            _ => {
                                let piece = self.directive(ch, &s, v)?;
                                out.bytes.extend_from_slice(&piece);
                            }
                        }
                        break;
                    }
                    _ => {
                        let t = String::from_utf8_lossy(&[ch]).into_owned();
                        return self.arg_error(format!("malformed format string - %{t}"));
                    }
                }
            }
        }
        if !used_pos && hash.is_none() && next < args.len() {
            if self.global(crate::names::GV_DEBUG).truthy() {
                return self.arg_error("too many arguments for format string");
            }
            if self.global(crate::names::GV_VERBOSE) == crate::value::TRUE {
                self.warn_here("too many arguments for format string", true)?;
            }
        }
        Ok(self.str_enc(out.bytes, out.enc))
    }

    /// A text in its width and precision, in an encoding that fits what is there.
    fn put_text(&mut self, out: &mut Built, s: &Spec, text: Value) -> Res<()> {
        let st = self.heap.str(text);
        if st.enc != out.enc && !e::is_ascii(st) {
            if out.fixed || !out.bytes.is_ascii() {
                let (x, y) = (e::name(out.enc), e::name(st.enc));
                let class = self.compat_error_class();
                return self.fail(class, format!("incompatible character encodings: {x} and {y}"));
            }
            out.enc = st.enc;
        }
        let end = match s.prec {
            Some(p) => e::offset(st, p).unwrap_or(st.bytes.len()),
            None => st.bytes.len(),
        };
        let len = match s.width {
            Some(_) => e::chars(&st.bytes[..end], st.enc).len(),
            None => 0,
        };
        let fill = s.width.unwrap_or(0).saturating_sub(len);
        let before = if s.minus { 0 } else { fill };
        out.bytes.extend(std::iter::repeat_n(b' ', before));
        out.bytes.extend_from_slice(&st.bytes[..end]);
        out.bytes.extend(std::iter::repeat_n(b' ', fill - before));
        Ok(())
    }

    fn format_char(&mut self, v: Value, enc: Enc) -> R {
        if let Some(text) = self.check_str(v)? {
            let st = self.heap.str(text);
            if st.bytes.is_empty() {
                return self.arg_error("%c requires a character");
            }
            let (len, _) = e::char_len(&st.bytes, st.enc);
            let (bytes, enc) = (st.bytes[..len].to_vec(), st.enc);
            return Ok(self.str_enc(bytes, enc));
        }
        let i = self.to_int(v)?;
        if i == -1 {
            return Ok(self.str_enc(vec![0xFF], enc));
        }
        let Ok(code) = u32::try_from(i) else { return self.arg_error("invalid character") };
        if matches!(enc, e::BINARY | e::ASCII) {
            return match u8::try_from(code) {
                Ok(byte) => Ok(self.str_enc(vec![byte], enc)),
                Err(_) => self.fail(c::RANGE_ERROR, format!("{code} out of char range")),
            };
        }
        match e::encode_char(code, enc) {
            Some(bytes) => Ok(self.str_enc(bytes, enc)),
            None => self.arg_error("invalid character"),
        }
    }

    fn next_arg(&mut self, args: &[Value], next: &mut usize, pos: bool) -> R {
        if pos {
            return self.arg_error(format!("unnumbered({}) mixed with numbered", *next + 1));
        }
        *next += 1;
        match args.get(*next - 1) {
            Some(v) => Ok(*v),
            None => self.arg_error("too few arguments"),
        }
    }

    /// A width or precision that an argument gives: the next one, or of `*2$` the second.
    fn starred(
        &mut self,
        text: &[u8],
        i: &mut usize,
        args: &[Value],
        next: &mut usize,
        used_pos: &mut bool,
    ) -> Res<i64> {
        let (number, at) = numbered(text, *i);
        let given = match number {
            Some(number) => {
                (*i, *used_pos) = (at, true);
                match args.get(number - 1) {
                    Some(v) => *v,
                    None => return self.arg_error("too few arguments"),
                }
            }
            None => self.next_arg(args, next, *used_pos)?,
        };
        let n = self.to_int(given)?;
        match i32::try_from(n) {
            Ok(n) => Ok(i64::from(n)),
            Err(_) => {
                let (how, int) = (if n < 0 { "small" } else { "big" }, self.quoted("int"));
                self.fail(c::RANGE_ERROR, format!("integer {n} too {how} to convert to {int}"))
            }
        }
    }

    fn directive(&mut self, ch: u8, s: &Spec, v: Value) -> Res<Vec<u8>> {
        self.reserve(s.prec.unwrap_or(0))?;
        Ok(match ch {
            b'd' | b'i' | b'u' => {
                let i = self.format_int_value(v)?;
                let t = self.int_text(i, 10);
                let (neg, digits) = match t.strip_prefix('-') {
                    Some(d) => (true, d.to_owned()),
                    None => (false, t),
                };
                self.int_pad(s, digits, neg)
            }
            b'x' | b'X' | b'o' | b'b' | b'B' => {
                let i = self.format_int_value(v)?;
                let radix = match ch {
                    b'x' | b'X' => 16,
                    b'o' => 8,
                    _ => 2,
                };
                let big = self.big_value(i);
                let prefix = if s.alt {
                    match ch {
                        b'x' => "0x",
                        b'X' => "0X",
                        b'o' => "0",
                        b'b' => "0b",
                        _ => "0B",
                    }
                } else {
                    ""
                };
                let dots = big.neg && !s.plus && !s.space;
                // An octal zero is its own prefix, and so is a sign of dots.
                let prefix = if big.is_zero() || (ch == b'o' && dots) { "" } else { prefix };
                if big.neg && !s.plus && !s.space {
                    // Two's complement with its infinite sign shown as dots.
                    let bits = match radix {
                        16 => 4,
                        8 => 3,
                        _ => 1,
                    };
                    let n = big.bit_length() / bits + 1;
                    let m = Big::from_i64(1).shl(n * bits).add(&big);
                    let mut d = m.to_radix(radix);
                    let top = match radix {
                        16 => 'f',
                        8 => '7',
                        _ => '1',
                    };
                    while d.len() < n {
                        d.insert(0, '0')
                    }
                    while d.len() > 1 && d.starts_with(top) && d[1..].starts_with(top) {
                        d.remove(0);
                    }
                    if !d.starts_with(top) {
                        d.insert(0, top)
                    }
                    let mut d = if ch == b'X' { d.to_uppercase() } else { d };
                    let fill = if ch == b'X' { top.to_ascii_uppercase() } else { top };
                    let least = match s.prec {
                        Some(p) => p.saturating_sub(2),
                        None if s.zero && !s.minus => {
                            s.width.unwrap_or(0).saturating_sub(prefix.len() + 2)
                        }
                        None => 0,
                    };
                    if d.len() < least {
                        d.insert_str(0, &fill.to_string().repeat(least - d.len()));
                    }
                    return Ok(pad(
                        &Spec { zero: false, ..s.clone() },
                        format!("..{d}"),
                        prefix,
                        true,
                    )
                    .into_bytes());
                }
                let mut d = Big { neg: false, digits: big.digits.clone() }.to_radix(radix);
                if ch == b'X' {
                    d = d.to_uppercase()
                }
                if big.is_zero() && s.prec == Some(0) && !(ch == b'o' && s.alt) {
                    d.clear();
                }
                let sign = format!("{}{prefix}", sign_text(s, big.neg));
                let mut s2 = s.clone();
                if let Some(p) = s.prec {
                    while d.len() < p {
                        d.insert(0, '0')
                    }
                    s2.zero = false
                }
                pad(&s2, d, &sign, true).into_bytes()
            }
            _ => {
                let f = self.format_float_value(v)?;
                let sign = sign_text(s, f.is_sign_negative() && !f.is_nan());
                let a = f.abs();
                if !a.is_finite() {
                    let s2 = Spec { zero: false, ..s.clone() };
                    return Ok(pad(
                        &s2,
                        if a.is_nan() { "NaN".into() } else { "Inf".into() },
                        sign,
                        false,
                    )
                    .into_bytes());
                }
                let body = match ch {
                    b'f' => {
                        let p = s.prec.unwrap_or(6);
                        if v.is_int() {
                            let t = self.int_text(v, 10);
                            let t = t.trim_start_matches('-').to_owned();
                            if p == 0 { t } else { format!("{t}.{}", "0".repeat(p)) }
                        } else {
                            let t = decimal::fixed(a, p);
                            if s.alt && p == 0 { format!("{t}.") } else { t }
                        }
                    }
                    b'e' | b'E' => exponent(a, s.prec.unwrap_or(6), s.alt, ch == b'E'),
                    b'g' | b'G' => general(a, s.prec.unwrap_or(6), s.alt, ch == b'G'),
                    _ => {
                        let t = hex_float(a, s.prec, s.alt);
                        if ch == b'A' { t.to_uppercase() } else { t }
                    }
                };
                if matches!(ch, b'a' | b'A') && s.zero && !s.minus {
                    let (p, r) = body.split_at(2);
                    let s3 = format!("{sign}{p}");
                    return Ok(pad(s, r.to_owned(), &s3, true).into_bytes());
                }
                pad(s, body, sign, true).into_bytes()
            }
        })
    }

    fn int_pad(&self, s: &Spec, mut digits: String, neg: bool) -> Vec<u8> {
        let mut s2 = s.clone();
        if let Some(p) = s.prec {
            if p == 0 && digits == "0" {
                digits.clear();
            }
            if digits.len() < p {
                digits.insert_str(0, &"0".repeat(p - digits.len()));
            }
            s2.zero = false
        }
        pad(&s2, digits, sign_text(s, neg), true).into_bytes()
    }

    fn format_int_value(&mut self, v: Value) -> R {
        if v.is_int() {
            return Ok(v);
        }
        if v.is_float() {
            let f = self.heap.float_of(v);
            return self.float_to_int(f.trunc());
        }
        let m = self.main;
        self.call_name(m, "Integer", &[v])
    }

    fn format_float_value(&mut self, v: Value) -> Res<f64> {
        if v.is_nil() {
            return self.type_error("can't convert nil into Float");
        }
        let m = self.main;
        let f = self.call_name(m, "Float", &[v])?;
        self.to_f(f)
    }
}

/// The number of an argument, as in `2$`, and where the text goes on behind it.
fn numbered(text: &[u8], at: usize) -> (Option<usize>, usize) {
    let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&text[at..at + digits]).ok().and_then(|n| n.parse().ok());
    match (number, text.get(at + digits)) {
        (Some(number), Some(b'$')) if number > 0 => (Some(number), at + digits + 1),
        _ => (None, at),
    }
}
