//! String case, numbers, translation, encodings, succ.

use crate::encoding as e;
use crate::heap::Ext;
use crate::names as n;
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Res, Vm};

fn case(vm: &mut Vm, a: Args, f: fn(&str) -> String, g: fn(&mut [u8])) -> R {
    let mut ascii = false;
    for v in vm.args(a) {
        match v.as_sym().map(|s| vm.syms.bytes(s)) {
            Some(b"ascii") => ascii = true,
            Some(b"turkic" | b"lithuanian" | b"fold") => {}
            _ => return vm.arg_error("invalid option"),
        }
    }
    let s = vm.heap.str(a.recv);
    if e::is_ascii(s) || ascii || s.enc != e::UTF8 {
        let mut b = s.bytes.to_vec();
        g(&mut b);
        return Ok(vm.like(a.recv, b));
    }
    if !e::valid(s) {
        return vm.arg_error("input string invalid");
    }
    let t = f(&String::from_utf8_lossy(&s.bytes));
    Ok(vm.like(a.recv, t))
}

/// Characters a `tr`-style set names; the flag says it was negated.
fn expand(vm: &mut Vm, set: &str) -> Res<(Vec<char>, bool)> {
    let mut chars: Vec<char> = set.chars().collect();
    let negated = chars.len() > 1 && chars[0] == '^';
    if negated {
        chars.remove(0);
    }
    let mut out = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let mut c0 = chars[i];
        if c0 == '\\' && i + 1 < chars.len() {
            i += 1;
            c0 = chars[i];
        }
        if i + 2 < chars.len() && chars[i + 1] == '-' {
            let hi = chars[i + 2];
            if c0 > hi {
                return vm
                    .arg_error(format!("invalid range \"{c0}-{hi}\" in string transliteration"));
            }
            out.extend(c0..=hi);
            i += 3;
            continue;
        }
        out.push(c0);
        i += 1;
    }
    Ok((out, negated))
}

fn text_of(vm: &Vm, v: Value) -> String {
    let s = vm.heap.str(v);
    if s.enc == e::UTF8 && e::valid(s) {
        vm.text(v)
    } else {
        s.bytes.iter().map(|b| *b as char).collect()
    }
}

fn back(vm: &mut Vm, like: Value, t: String) -> Value {
    let s = vm.heap.str(like);
    if s.enc == e::UTF8 && e::valid(s) {
        return vm.like(like, t);
    }
    let b: Vec<u8> = t.chars().map(|c| c as u8).collect();
    vm.like(like, b)
}

fn tr(vm: &mut Vm, a: Args, squeeze: bool) -> R {
    let (from, to) = (vm.arg(a, 0), vm.arg(a, 1));
    let (from, to) = (vm.to_str(from)?, vm.to_str(to)?);
    let (from, to) = (text_of(vm, from), text_of(vm, to));
    let (set, negated) = expand(vm, &from)?;
    let (target, _) =
        if to.starts_with('^') { expand(vm, &format!("\\{to}"))? } else { expand(vm, &to)? };
    let last = target.last().copied();
    let mut out = String::new();
    let mut prev = None;
    for ch in text_of(vm, a.recv).chars() {
        let at = set.iter().position(|x| *x == ch);
        let hit = at.is_some() != negated;
        if !hit {
            out.push(ch);
            prev = None;
            continue;
        }
        let new = if negated { last } else { at.and_then(|i| target.get(i).copied()).or(last) };
        if let Some(new) = new {
            if !(squeeze && prev == Some(new)) {
                out.push(new);
            }
            prev = Some(new);
        }
    }
    Ok(back(vm, a.recv, out))
}

/// A test for membership in all the given sets.
fn member(vm: &mut Vm, a: Args) -> Res<Vec<(Vec<char>, bool)>> {
    let mut sets = Vec::new();
    for v in vm.args(a) {
        let v = vm.to_str(v)?;
        let t = text_of(vm, v);
        sets.push(expand(vm, &t)?);
    }
    Ok(sets)
}

fn hit(sets: &[(Vec<char>, bool)], ch: char) -> bool {
    sets.iter().all(|(set, negated)| set.contains(&ch) != *negated)
}

/// The next string after one, as `succ` counts.
pub(crate) fn succ(bytes: &[u8]) -> Vec<u8> {
    let mut b = bytes.to_vec();
    if b.is_empty() {
        return b;
    }
    let alnum = |x: u8| x.is_ascii_alphanumeric();
    if !b.iter().any(|x| alnum(*x)) {
        let mut i = b.len();
        while i > 0 {
            i -= 1;
            if b[i] < 255 {
                b[i] += 1;
                if b[i] >= 128 && std::str::from_utf8(&b).is_err() {
                    if let Ok(s) = std::str::from_utf8(bytes) {
                        let mut chars: Vec<char> = s.chars().collect();
                        if let Some(last) = chars.pop() {
                            chars.push(char::from_u32(last as u32 + 1).unwrap_or(last));
                        }
                        return chars.into_iter().collect::<String>().into_bytes();
                    }
                }
                return b;
            }
            b[i] = 0;
        }
        b.insert(0, 1);
        return b;
    }
    let mut i = b.iter().rposition(|x| alnum(*x)).unwrap_or(0);
    loop {
        let (carry, first) = match b[i] {
            b'z' => {
                b[i] = b'a';
                (true, b'a')
            }
            b'Z' => {
                b[i] = b'A';
                (true, b'A')
            }
            b'9' => {
                b[i] = b'0';
                (true, b'1')
            }
            x => {
                b[i] = x + 1;
                (false, x)
            }
        };
        if !carry {
            return b;
        }
        // The next place to the left; punctuation between alphanumerics is skipped.
        let mut j = i;
        let mut next = None;
        while j > 0 {
            j -= 1;
            if alnum(b[j]) {
                next = Some(j);
                break;
            }
        }
        match next {
            Some(j)
                if i - j == 1
                    || b[..i].iter().rev().take(i - j - 1).all(|x| !alnum(*x))
                        && (i - j <= 2 || true) =>
            {
                let gap = i - j > 1;
                if gap
                    && !(b[j].is_ascii_digit() == bytes[i].is_ascii_digit()
                        || b[j].is_ascii_alphabetic() == bytes[i].is_ascii_alphabetic())
                {
                    b.insert(i, first);
                    return b;
                }
                i = j;
            }
            _ => {
                b.insert(i, first);
                return b;
            }
        }
    }
}

fn justify(vm: &mut Vm, a: Args) -> R {
    let (width, pad) = (vm.arg(a, 0), vm.opt(a, 1));
    let width = vm.to_int(width)?;
    let pad = match pad {
        Some(p) => vm.to_str(p)?,
        None => vm.str_static(" "),
    };
    if vm.bytes(pad).is_empty() {
        return vm.arg_error("zero width padding");
    }
    let enc = vm.compat(a.recv, pad)?;
    let len = e::count(vm.heap.str(a.recv)) as i64;
    if width <= len {
        let b = vm.bytes(a.recv).to_vec();
        return Ok(vm.like(a.recv, b));
    }
    let total = (width - len) as usize;
    vm.reserve(total)?;
    let chars = vm.char_values(pad);
    let make = |vm: &Vm, n: usize| -> Vec<u8> {
        (0..n).flat_map(|i| vm.bytes(chars[i % chars.len()]).to_vec()).collect()
    };
    let (l, r) = match vm.syms.bytes(vm.methods[a.method as usize].orig) {
        b"ljust" => (0, total),
        b"rjust" => (total, 0),
        _ => (total / 2, total - total / 2),
    };
    let mut out = make(vm, l);
    out.extend_from_slice(vm.bytes(a.recv));
    out.extend(make(vm, r));
    Ok(vm.str_enc(out, enc))
}

pub(crate) fn init(vm: &mut Vm) {
    let s = c::STRING;
    vm.def(
        s,
        "upcase",
        |vm, a| case(vm, a, |t| t.to_uppercase(), |b| b.make_ascii_uppercase()),
        0,
        -1,
    );
    vm.def(
        s,
        "downcase",
        |vm, a| case(vm, a, |t| t.to_lowercase(), |b| b.make_ascii_lowercase()),
        0,
        -1,
    );
    vm.def(
        s,
        "capitalize",
        |vm, a| {
            case(
                vm,
                a,
                |t| {
                    let mut c = t.chars();
                    match c.next() {
                        Some(f) => {
                            let up: String = f.to_uppercase().collect();
                            let up = if up.chars().count() > 1 {
                                let mut u = up.chars();
                                u.next()
                                    .map(|x| x.to_string() + &u.collect::<String>().to_lowercase())
                                    .unwrap_or_default()
                            } else {
                                up
                            };
                            up + &c.as_str().to_lowercase()
                        }
                        None => String::new(),
                    }
                },
                |b| {
                    b.make_ascii_lowercase();
                    if let Some(f) = b.first_mut() {
                        f.make_ascii_uppercase()
                    }
                },
            )
        },
        0,
        -1,
    );
    vm.def(
        s,
        "swapcase",
        |vm, a| {
            case(
                vm,
                a,
                |t| {
                    t.chars()
                        .map(|c| {
                            if c.is_uppercase() {
                                c.to_lowercase().collect::<String>()
                            } else {
                                c.to_uppercase().collect()
                            }
                        })
                        .collect()
                },
                |b| {
                    for x in b {
                        if x.is_ascii_uppercase() {
                            x.make_ascii_lowercase()
                        } else {
                            x.make_ascii_uppercase()
                        }
                    }
                },
            )
        },
        0,
        -1,
    );
    vm.def(s, "tr", |vm, a| tr(vm, a, false), 2, 2);
    vm.def(s, "tr_s", |vm, a| tr(vm, a, true), 2, 2);
    vm.def(
        s,
        "delete",
        |vm, a| {
            if a.argc == 0 {
                return vm.arg_error("wrong number of arguments (given 0, expected 1+)");
            }
            let sets = member(vm, a)?;
            let t: String = text_of(vm, a.recv).chars().filter(|ch| !hit(&sets, *ch)).collect();
            Ok(back(vm, a.recv, t))
        },
        0,
        -1,
    );
    vm.def(
        s,
        "squeeze",
        |vm, a| {
            let sets = member(vm, a)?;
            let mut out = String::new();
            for ch in text_of(vm, a.recv).chars() {
                if out.ends_with(ch) && hit(&sets, ch) {
                    continue;
                }
                out.push(ch);
            }
            Ok(back(vm, a.recv, out))
        },
        0,
        -1,
    );
    vm.def(
        s,
        "count",
        |vm, a| {
            if a.argc == 0 {
                return vm.arg_error("wrong number of arguments (given 0, expected 1+)");
            }
            let sets = member(vm, a)?;
            Ok(Value::fix(text_of(vm, a.recv).chars().filter(|ch| hit(&sets, *ch)).count() as i64))
        },
        0,
        -1,
    );
    for name in ["succ", "next"] {
        vm.def(
            s,
            name,
            |vm, a| {
                let b = succ(vm.bytes(a.recv));
                Ok(vm.like(a.recv, b))
            },
            0,
            0,
        );
    }
    for name in ["ljust", "rjust", "center"] {
        vm.def(s, name, justify, 1, 2);
    }
    vm.def(
        s,
        "to_i",
        |vm, a| {
            let base = match vm.opt(a, 0) {
                Some(v) => vm.to_int(v)?,
                None => 10,
            };
            if base < 0 || base == 1 || base > 36 {
                return vm.arg_error(format!("invalid radix {base}"));
            }
            let b = vm.bytes(a.recv).to_vec();
            Ok(crate::core::integer::parse_prefix(vm, &b, base as u32))
        },
        0,
        1,
    );
    vm.def(
        s,
        "to_f",
        |vm, a| {
            let f = crate::core::float::parse_prefix(vm.bytes(a.recv));
            Ok(vm.float(f))
        },
        0,
        0,
    );
    vm.def(
        s,
        "hex",
        |vm, a| {
            let b = vm.bytes(a.recv).to_vec();
            Ok(crate::core::integer::parse_prefix(vm, &b, 16))
        },
        0,
        0,
    );
    vm.def(
        s,
        "oct",
        |vm, a| {
            let b = vm.bytes(a.recv).to_vec();
            let t = b.trim_ascii_start();
            let u = t.strip_prefix(b"-").or_else(|| t.strip_prefix(b"+")).unwrap_or(t);
            let base = if u.len() > 1 && u[0] == b'0' && !u[1].is_ascii_digit() && u[1] != b'_' {
                0
            } else {
                8
            };
            Ok(crate::core::integer::parse_prefix(vm, &b, base))
        },
        0,
        0,
    );
    vm.def(
        s,
        "sum",
        |vm, a| {
            let bits = match vm.opt(a, 0) {
                Some(v) => vm.to_int(v)?,
                None => 16,
            };
            let t: u64 = vm.bytes(a.recv).iter().map(|b| u64::from(*b)).sum();
            Ok(Value::fix(if bits > 0 && bits < 62 { t & ((1 << bits) - 1) } else { t } as i64))
        },
        0,
        1,
    );
    vm.def(
        s,
        "encoding",
        |vm, a| {
            let enc = vm.heap.str(a.recv).enc;
            vm.encoding_object(enc)
        },
        0,
        0,
    );
    vm.def(
        s,
        "force_encoding",
        |vm, a| {
            let enc = vm.arg(a, 0);
            vm.check_frozen(a.recv)?;
            let enc = vm.to_encoding(enc)?;
            vm.heap.str_mut(a.recv).enc = enc;
            Ok(a.recv)
        },
        1,
        1,
    );
    vm.def(
        s,
        "b",
        |vm, a| {
            let b = vm.bytes(a.recv).to_vec();
            Ok(vm.str_enc(b, e::BINARY))
        },
        0,
        0,
    );
    vm.def(s, "valid_encoding?", |vm, a| Ok(Value::bool(e::valid(vm.heap.str(a.recv)))), 0, 0);
    vm.def(s, "ascii_only?", |vm, a| Ok(Value::bool(e::is_ascii(vm.heap.str(a.recv)))), 0, 0);
    vm.def(s, "encode", encode, 0, 3);
    vm.def(s, "unicode_normalize", |vm, a| vm.dup(a.recv), 0, 1);
    vm.def(s, "unicode_normalized?", |_, _| Ok(Value::bool(true)), 0, 1);
    vm.def(
        s,
        "scrub",
        |vm, a| {
            let rep = vm.opt_nil(a, 0);
            let st = vm.heap.str(a.recv);
            let enc = st.enc;
            if e::valid(st) {
                let b = st.bytes.to_vec();
                return Ok(vm.str_enc(b, enc));
            }
            let bytes = st.bytes.to_vec();
            let mut out = Vec::new();
            let mut i = 0;
            while i < bytes.len() {
                let (len, good) = e::char_len(&bytes[i..], enc);
                if good {
                    out.extend_from_slice(&bytes[i..i + len]);
                    i += len;
                    continue;
                }
                let mut end = i + 1;
                if enc == e::UTF8 && bytes[i] >= 0xC2 && bytes[i] <= 0xF4 {
                    let want = if bytes[i] >= 0xF0 {
                        4
                    } else if bytes[i] >= 0xE0 {
                        3
                    } else {
                        2
                    };
                    while end < bytes.len() && end - i < want - 1 && bytes[end] & 0xC0 == 0x80 {
                        end += 1
                    }
                }
                let piece = if !a.block.is_nil() {
                    let bad = vm.str_enc(&bytes[i..end], enc);
                    let r = vm.yield1(a.block, bad)?;
                    vm.to_str_bytes(r)?
                } else if let Some(r) = rep {
                    let r = vm.to_str(r)?;
                    if !e::valid(vm.heap.str(r)) {
                        return vm.arg_error("replacement must be valid byte sequence");
                    }
                    vm.bytes(r).to_vec()
                } else if e::is_unicode(enc) {
                    "\u{FFFD}".as_bytes().to_vec()
                } else {
                    b"?".to_vec()
                };
                out.extend(piece);
                i = end;
            }
            Ok(vm.str_enc(out, enc))
        },
        0,
        1,
    );
    init_encoding(vm);
}

fn encode(vm: &mut Vm, mut a: Args) -> R {
    let kw = vm.take_kw(&mut a);
    let to = match vm.opt_nil(a, 0) {
        Some(v) => vm.to_encoding(v)?,
        None => e::UTF8,
    };
    let from = match vm.opt_nil(a, 1) {
        Some(v) => vm.to_encoding(v)?,
        None => vm.heap.str(a.recv).enc,
    };
    let replace_word = |vm: &Vm, v: Option<Value>| {
        v.and_then(|v| v.as_sym()).map(|s| vm.syms.bytes(s) == b"replace").unwrap_or(false)
    };
    let (inv, undef) = (vm.kw(kw, "invalid"), vm.kw(kw, "undef"));
    let (inv, undef) = (replace_word(vm, inv), replace_word(vm, undef));
    let rep = vm.kw(kw, "replace").filter(|v| !v.is_nil());
    let xml = vm.kw(kw, "xml").and_then(|v| v.as_sym()).map(|s| vm.sym_str(s).into_owned());
    let newline = vm.kw(kw, "universal_newline").is_some_and(Value::truthy);
    let crlf = vm.kw(kw, "crlf_newline").is_some_and(Value::truthy);
    let fallback = vm.kw(kw, "fallback").filter(|v| !v.is_nil());
    let bytes = vm.bytes(a.recv).to_vec();
    let ascii = e::ascii_compatible(from) && e::ascii_compatible(to) && bytes.is_ascii();
    let mut out = Vec::with_capacity(bytes.len());
    if ascii || (from == to && !inv && xml.is_none()) {
        out = bytes;
    } else {
        for (x, y) in e::chars(&bytes, from) {
            let ch = &bytes[x..y];
            let (_, good) = e::char_len(ch, from);
            let code = if good { e::to_unicode(ch, from) } else { None };
            let new = code.and_then(|cp| e::from_unicode(cp, to));
            if let Some(new) = new {
                out.extend(new);
                continue;
            }
            if good && xml.is_some() {
                if let Some(cp) = code {
                    out.extend_from_slice(format!("&#x{cp:X};").as_bytes());
                    continue;
                }
            }
            if let (true, Some(f)) = (good, fallback) {
                let chv = vm.str_enc(ch, from);
                let r =
                    if f.is_hash() { vm.hash_aref(f, chv)? } else { vm.send(f, n::CALL, &[chv])? };
                if !r.is_nil() {
                    let b = vm.to_str_bytes(r)?;
                    out.extend(b);
                    continue;
                }
            }
            if (!good && inv) || (good && undef) {
                match rep {
                    Some(r) => {
                        let b = vm.to_str_bytes(r)?;
                        out.extend(b)
                    }
                    None => out.extend(if e::is_unicode(to) {
                        e::from_unicode(0xFFFD, to).unwrap_or_default()
                    } else {
                        b"?".to_vec()
                    }),
                }
                continue;
            }
            let (f, t) = (e::name(from), e::name(to));
            if !good {
                let class =
                    vm.define_class(c::ENCODING, "InvalidByteSequenceError", c::ENCODING_ERROR);
                return vm.fail(class, format!("\"\\x{:02X}\" on {f}", ch[0]));
            }
            let class = vm.define_class(c::ENCODING, "UndefinedConversionError", c::ENCODING_ERROR);
            let shown = match code {
                Some(cp) => format!("U+{cp:04X}"),
                None => ch.iter().map(|b| format!("\\x{b:02X}")).collect::<String>(),
            };
            let message = match code {
                Some(_) if from == e::UTF8 => format!("{shown} from UTF-8 to {t}"),
                Some(_) => format!("{shown} to {t} in conversion from {f} to UTF-8 to {t}"),
                None if to == e::UTF8 => format!("\"{shown}\" from {f} to UTF-8"),
                None => format!("\"{shown}\" to UTF-8 in conversion from {f} to UTF-8 to {t}"),
            };
            return vm.fail(class, message);
        }
    }
    if let Some(kind) = xml {
        let mut t = Vec::new();
        if kind == "attr" {
            t.push(b'"')
        }
        for b in &out {
            match b {
                b'&' if !(kind != "" && out.len() > 1 && false) => t.extend_from_slice(b"&amp;"),
                b'<' => t.extend_from_slice(b"&lt;"),
                b'>' => t.extend_from_slice(b"&gt;"),
                b'"' if kind == "attr" => t.extend_from_slice(b"&quot;"),
                _ => t.push(*b),
            }
        }
        if kind == "attr" {
            t.push(b'"')
        }
        out = t;
    }
    if newline {
        out = String::from_utf8_lossy(&out).replace("\r\n", "\n").replace('\r', "\n").into_bytes()
    }
    if crlf {
        out = String::from_utf8_lossy(&out).replace('\n', "\r\n").into_bytes()
    }
    Ok(vm.str_enc(out, to))
}

impl Vm {
    pub(crate) fn encoding_object(&mut self, enc: crate::heap::Enc) -> R {
        let sym = self.intern(&format!("@__{enc}"));
        if let Some(v) = self.ivar_get(Value::class(c::ENCODING), sym) {
            return Ok(v);
        }
        let v = self.new_obj(c::ENCODING, Ext::Fields(vec![Value::fix(i64::from(enc))]));
        self.ivar_set(Value::class(c::ENCODING), sym, v);
        Ok(v)
    }

    pub(crate) fn to_encoding(&mut self, v: Value) -> Res<crate::heap::Enc> {
        if v.is_obj() && self.real_class(v) == c::ENCODING {
            return Ok(self.field(v, 0).fixnum().unwrap_or(0) as u8);
        }
        let s = self.to_str(v)?;
        let t = self.text(s);
        match e::find(&t) {
            Some(enc) => Ok(enc),
            None => self.arg_error(format!("unknown encoding name - {t}")),
        }
    }
}

fn init_encoding(vm: &mut Vm) {
    let k = c::ENCODING;
    vm.classes[k as usize].alloc = crate::object::Alloc::None;
    for (i, (name, aliases)) in e::NAMES.iter().enumerate() {
        if let Ok(v) = vm.encoding_object(i as u8) {
            for name in std::iter::once(name).chain(aliases.iter()) {
                let konst: String =
                    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
                if konst.starts_with(|c: char| c.is_ascii_digit()) {
                    continue;
                }
                for text in [konst.clone(), konst.to_ascii_uppercase()] {
                    if text.starts_with(|c: char| c.is_ascii_uppercase()) {
                        let sym = vm.intern(&text);
                        vm.const_set(k, sym, v);
                    }
                }
            }
        }
    }
    vm.compat_error_class();
    vm.define_class(k, "InvalidByteSequenceError", c::ENCODING_ERROR);
    vm.define_class(k, "UndefinedConversionError", c::ENCODING_ERROR);
    vm.define_class(k, "ConverterNotFoundError", c::ENCODING_ERROR);
    for name in ["name", "to_s"] {
        vm.def(
            k,
            name,
            |vm, a| {
                let enc = vm.to_encoding(a.recv)?;
                Ok(vm.ascii(e::name(enc)))
            },
            0,
            0,
        );
    }
    vm.def(
        k,
        "inspect",
        |vm, a| {
            let enc = vm.to_encoding(a.recv)?;
            Ok(vm.str(format!("#<Encoding:{}>", e::name(enc))))
        },
        0,
        0,
    );
    vm.def(
        k,
        "ascii_compatible?",
        |vm, a| {
            let enc = vm.to_encoding(a.recv)?;
            Ok(Value::bool(e::ascii_compatible(enc)))
        },
        0,
        0,
    );
    vm.def(
        k,
        "dummy?",
        |vm, a| {
            let enc = vm.to_encoding(a.recv)?;
            Ok(Value::bool(matches!(enc, 17..=20)))
        },
        0,
        0,
    );
    vm.def(
        k,
        "names",
        |vm, a| {
            let enc = vm.to_encoding(a.recv)?;
            let (name, aliases) = e::NAMES[enc as usize];
            let list = std::iter::once(&name).chain(aliases.iter()).map(|t| vm.str(*t)).collect();
            Ok(vm.arr(list))
        },
        0,
        0,
    );
    vm.def_single(
        k,
        "list",
        |vm, _| {
            let mut list = Vec::new();
            for i in 0..e::NAMES.len() {
                list.push(vm.encoding_object(i as u8)?)
            }
            Ok(vm.arr(list))
        },
        0,
        0,
    );
    vm.def_single(
        k,
        "name_list",
        |vm, _| {
            let list = e::NAMES.iter().map(|(n, _)| vm.str(*n)).collect();
            Ok(vm.arr(list))
        },
        0,
        0,
    );
    vm.def_single(
        k,
        "find",
        |vm, a| {
            let v = vm.arg(a, 0);
            let v = match v.as_sym() {
                Some(s) => {
                    let t = vm.sym_str(s).into_owned();
                    vm.str(t)
                }
                None => v,
            };
            let enc = vm.to_encoding(v)?;
            vm.encoding_object(enc)
        },
        1,
        1,
    );
    for (name, iv) in [("default_external", "@__ext"), ("default_internal", "@__int")] {
        let _ = iv;
        vm.def_single(
            k,
            name,
            |vm, a| {
                let int = vm.syms.bytes(a.name) == b"default_internal";
                let iv = vm.intern(if int { "@__int" } else { "@__ext" });
                match vm.ivar_get(a.recv, iv) {
                    Some(v) => Ok(v),
                    None if int => Ok(NIL),
                    None => vm.encoding_object(0),
                }
            },
            0,
            0,
        );
    }
    for name in ["default_external=", "default_internal="] {
        vm.def_single(
            k,
            name,
            |vm, a| {
                let int = vm.syms.bytes(a.name) == b"default_internal=";
                let iv = vm.intern(if int { "@__int" } else { "@__ext" });
                let v = vm.arg(a, 0);
                if v.is_nil() && !int {
                    return vm.arg_error("default external can not be nil");
                }
                let v = if v.is_nil() {
                    v
                } else {
                    let enc = vm.to_encoding(v)?;
                    vm.encoding_object(enc)?
                };
                vm.ivar_set(a.recv, iv, v);
                Ok(v)
            },
            1,
            1,
        );
    }
    vm.def_single(
        k,
        "compatible?",
        |vm, a| {
            let (x, y) = (vm.arg(a, 0), vm.arg(a, 1));
            let conv = |vm: &mut Vm, v: Value| -> Option<Value> {
                if v.is_str() {
                    Some(v)
                } else if let Some(s) = v.as_sym() {
                    let t = vm.syms.bytes(s).to_vec();
                    Some(if t.is_ascii() { vm.ascii(t) } else { vm.str(t) })
                } else {
                    None
                }
            };
            match (conv(vm, x), conv(vm, y)) {
                (Some(x), Some(y)) => match e::compatible(vm.heap.str(x), vm.heap.str(y)) {
                    Some(enc) => vm.encoding_object(enc),
                    None => Ok(NIL),
                },
                _ => {
                    let (x, y) = (vm.to_encoding(x).ok(), vm.to_encoding(y).ok());
                    match (x, y) {
                        (Some(x), Some(y)) if x == y => vm.encoding_object(x),
                        _ => {
                            vm.take_raise();
                            Ok(NIL)
                        }
                    }
                }
            }
        },
        2,
        2,
    );
    vm.def_single(
        k,
        "aliases",
        |vm, _| {
            let h = vm.hash();
            for (name, aliases) in e::NAMES {
                for alias in *aliases {
                    let (x, y) = (vm.str(*alias), vm.str(*name));
                    vm.hash_set(h, x, y)?;
                }
            }
            Ok(h)
        },
        0,
        0,
    );
}
