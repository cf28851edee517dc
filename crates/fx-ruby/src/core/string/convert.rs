//! String case, numbers, translation, encodings, succ.

use crate::encoding as e;
use crate::natives::{Native, public};
use crate::object::c;
use crate::value::Value;
use crate::vm::{Args, R, Res, Vm};

use super::letter_case;

fn case(
    vm: &mut Vm,
    a: Args,
    down: bool,
    f: fn(&str, letter_case::Options) -> String,
    g: fn(&mut [u8]),
) -> R {
    let o = letter_case::options(vm, a, down)?;
    let s = vm.heap.str(a.recv);
    if (e::is_ascii(s) && !o.turkic) || o.ascii || s.enc != e::UTF8 {
        let mut b = s.bytes.to_vec();
        g(&mut b);
        return Ok(vm.like(a.recv, b));
    }
    if !e::valid(s) {
        return vm.arg_error("input string invalid");
    }
    let t = f(&String::from_utf8_lossy(&s.bytes), o);
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
                if b[i] >= 128
                    && std::str::from_utf8(&b).is_err()
                    && let Ok(s) = std::str::from_utf8(bytes)
                {
                    let mut chars: Vec<char> = s.chars().collect();
                    if let Some(last) = chars.pop() {
                        chars.push(char::from_u32(last as u32 + 1).unwrap_or(last));
                    }
                    return chars.into_iter().collect::<String>().into_bytes();
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
            Some(j) if i - j == 1 || b[..i].iter().rev().take(i - j - 1).all(|x| !alnum(*x)) => {
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

const METHODS: &[Native] = &[
    public("upcase", 0, -1, |vm, a| {
        let each = |t: &str, o| t.chars().map(|c| letter_case::up(c, o)).collect();
        case(vm, a, false, each, <[u8]>::make_ascii_uppercase)
    }),
    public("downcase", 0, -1, |vm, a| {
        let each = |t: &str, o| t.chars().map(|c| letter_case::down(c, o)).collect();
        case(vm, a, true, each, <[u8]>::make_ascii_lowercase)
    }),
    public("capitalize", 0, -1, |vm, a| {
        case(
            vm,
            a,
            false,
            |t, o| {
                let mut c = t.chars();
                let first = c.next().map(|f| letter_case::title(f, o)).unwrap_or_default();
                first + &c.map(|x| letter_case::down(x, o)).collect::<String>()
            },
            |b| {
                b.make_ascii_lowercase();
                if let Some(f) = b.first_mut() {
                    f.make_ascii_uppercase()
                }
            },
        )
    }),
    public("swapcase", 0, -1, |vm, a| {
        case(
            vm,
            a,
            false,
            |t, o| t.chars().map(|c| letter_case::swap(c, o)).collect(),
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
    }),
    public("tr", 2, 2, |vm, a| tr(vm, a, false)),
    public("tr_s", 2, 2, |vm, a| tr(vm, a, true)),
    public("delete", 0, -1, |vm, a| {
        if a.argc == 0 {
            return vm.arg_error("wrong number of arguments (given 0, expected 1+)");
        }
        let sets = member(vm, a)?;
        let t: String = text_of(vm, a.recv).chars().filter(|ch| !hit(&sets, *ch)).collect();
        Ok(back(vm, a.recv, t))
    }),
    public("squeeze", 0, -1, |vm, a| {
        let sets = member(vm, a)?;
        let mut out = String::new();
        for ch in text_of(vm, a.recv).chars() {
            if out.ends_with(ch) && hit(&sets, ch) {
                continue;
            }
            out.push(ch);
        }
        Ok(back(vm, a.recv, out))
    }),
    public("count", 0, -1, |vm, a| {
        if a.argc == 0 {
            return vm.arg_error("wrong number of arguments (given 0, expected 1+)");
        }
        let sets = member(vm, a)?;
        Ok(Value::fix(text_of(vm, a.recv).chars().filter(|ch| hit(&sets, *ch)).count() as i64))
    }),
    public("succ", 0, 0, |vm, a| {
        let b = succ(vm.bytes(a.recv));
        Ok(vm.like(a.recv, b))
    })
    .also(&["next"]),
    public("ljust", 1, 2, justify).also(&["rjust", "center"]),
    public("to_i", 0, 1, |vm, a| {
        let base = match vm.opt(a, 0) {
            Some(v) => vm.to_int(v)?,
            None => 10,
        };
        if base < 0 || base == 1 || base > 36 {
            return vm.arg_error(format!("invalid radix {base}"));
        }
        let b = vm.bytes(a.recv).to_vec();
        Ok(crate::core::integer::parse_prefix(vm, &b, base as u32))
    }),
    public("to_f", 0, 0, |vm, a| {
        let f = crate::core::float::parse_prefix(vm.bytes(a.recv));
        Ok(vm.float(f))
    }),
    public("hex", 0, 0, |vm, a| {
        let b = vm.bytes(a.recv).to_vec();
        Ok(crate::core::integer::parse_prefix(vm, &b, 16))
    }),
    public("oct", 0, 0, |vm, a| {
        let b = vm.bytes(a.recv).to_vec();
        let t = b.trim_ascii_start();
        let u = t.strip_prefix(b"-").or_else(|| t.strip_prefix(b"+")).unwrap_or(t);
        let base = if u.len() > 1 && u[0] == b'0' && !u[1].is_ascii_digit() && u[1] != b'_' {
            0
        } else {
            8
        };
        Ok(crate::core::integer::parse_prefix(vm, &b, base))
    }),
    public("sum", 0, 1, |vm, a| {
        let bits = match vm.opt(a, 0) {
            Some(v) => vm.to_int(v)?,
            None => 16,
        };
        let t: u64 = vm.bytes(a.recv).iter().map(|b| u64::from(*b)).sum();
        Ok(Value::fix(if bits > 0 && bits < 62 { t & ((1 << bits) - 1) } else { t } as i64))
    }),
    public("encoding", 0, 0, |vm, a| {
        let enc = vm.heap.str(a.recv).enc;
        vm.encoding_object(enc)
    }),
    public("force_encoding", 1, 1, |vm, a| {
        let enc = vm.arg(a, 0);
        vm.check_frozen(a.recv)?;
        let enc = vm.to_encoding(enc)?;
        vm.heap.str_mut(a.recv).enc = enc;
        Ok(a.recv)
    }),
    public("b", 0, 0, |vm, a| {
        let b = vm.bytes(a.recv).to_vec();
        Ok(vm.str_enc(b, e::BINARY))
    }),
    public("valid_encoding?", 0, 0, |vm, a| Ok(Value::bool(e::valid(vm.heap.str(a.recv))))),
    public("ascii_only?", 0, 0, |vm, a| Ok(Value::bool(e::is_ascii(vm.heap.str(a.recv))))),
    public("encode", 0, 3, super::encodings::encode),
    public("unicode_normalize", 0, 1, |vm, a| {
        let text = normalized(vm, a)?;
        Ok(vm.str(text))
    }),
    public("unicode_normalized?", 0, 1, |vm, a| {
        let text = normalized(vm, a)?;
        Ok(Value::bool(vm.bytes(a.recv) == text.as_bytes()))
    }),
    public("scrub", 0, 1, |vm, a| {
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
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    vm.natives(c::STRING, METHODS);
    super::encodings::init(vm);
}

/// The receiver in the Unicode form asked for, which is `:nfc` unless said otherwise.
fn normalized(vm: &mut Vm, a: Args) -> Res<String> {
    use unicode_normalization::UnicodeNormalization;
    let form = match vm.opt(a, 0) {
        Some(v) => vm.to_s(v)?,
        None => "nfc".to_owned(),
    };
    let enc = vm.heap.str(a.recv).enc;
    if !e::is_unicode(enc) && enc != e::ASCII {
        let class = vm.define_class(c::ENCODING, "CompatibilityError", c::ENCODING_ERROR);
        let name = e::name(enc);
        return vm.fail(class, format!("Unicode Normalization not appropriate for {name}"));
    }
    if !e::valid(vm.heap.str(a.recv)) {
        return vm.arg_error(format!("invalid byte sequence in {}", e::name(enc)));
    }
    let text = vm.text(a.recv);
    Ok(match form.as_str() {
        "nfc" => text.nfc().collect(),
        "nfd" => text.nfd().collect(),
        "nfkc" => text.nfkc().collect(),
        "nfkd" => text.nfkd().collect(),
        _ => return vm.arg_error(format!("Invalid normalization form {form}.")),
    })
}
