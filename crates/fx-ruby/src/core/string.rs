//! String: the methods that touch bytes. What is simpler in Ruby is in `prelude/string.rb`.

mod around;
mod convert;
mod crypt;
mod encodings;
mod index;
mod letter_case;
mod search;

use std::cmp::Ordering;

use crate::encoding as e;
use crate::names as n;
use crate::natives::{Native, on_class, private, public};
use crate::object::{Alloc, c};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, R, Res, Vm};

pub(crate) use index::range_bounds;

const METHODS: &[Native] = &[
    private("initialize", 0, 2, |vm, mut a| {
        let kw = vm.take_kw(&mut a);
        if let Some(v) = vm.opt(a, 0) {
            vm.check_frozen(a.recv)?;
            let v = vm.to_str(v)?;
            let (bytes, enc) = (vm.heap.str(v).bytes.clone(), vm.heap.str(v).enc);
            let me = vm.heap.str_mut(a.recv);
            me.bytes = bytes;
            me.enc = enc;
        } else if vm.frozen(a.recv) {
            return Ok(a.recv);
        } else if kw.is_none() || vm.kw(kw, "encoding").is_none() {
            vm.heap.str_mut(a.recv).enc = e::BINARY;
        }
        if let Some(enc) = vm.kw(kw, "encoding").filter(|v| !v.is_nil()) {
            let enc = vm.to_encoding(enc)?;
            vm.heap.str_mut(a.recv).enc = enc;
        }
        Ok(a.recv)
    }),
    public("initialize_copy", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        vm.check_frozen(a.recv)?;
        let v = vm.to_str(v)?;
        let (bytes, enc) = (vm.heap.str(v).bytes.clone(), vm.heap.str(v).enc);
        let me = vm.heap.str_mut(a.recv);
        me.bytes = bytes;
        me.enc = enc;
        Ok(a.recv)
    })
    .also(&["replace"]),
    public("==", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        if o.is_str() {
            return Ok(Value::bool(vm.str_equal(a.recv, o)));
        }
        if o.is_obj() && vm.responds(o, n::TO_STR, false)? {
            return Ok(Value::bool(vm.send(o, n::EQ, &[a.recv])?.truthy()));
        }
        Ok(FALSE)
    })
    .also(&["==="]),
    public("eql?", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        Ok(Value::bool(o.is_str() && vm.str_equal(a.recv, o)))
    }),
    public("hash", 0, 0, |vm, a| Ok(Value::fix((vm.hash_of(a.recv)? >> 3) as i64))),
    public("<=>", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        if !o.is_str() {
            if o.is_obj() {
                let r = vm.try_send(o, n::CMP, &[a.recv])?.unwrap_or(NIL);
                if r.is_nil() {
                    return Ok(NIL);
                }
                return vm.send(Value::fix(0), n::SUB, &[r]);
            }
            return Ok(NIL);
        }
        let ord = vm.bytes(a.recv).cmp(vm.bytes(o));
        if ord == Ordering::Equal && !e::comparable(vm.heap.str(a.recv), vm.heap.str(o)) {
            let (x, y) = (vm.heap.str(a.recv).enc, vm.heap.str(o).enc);
            return Ok(Value::fix(if x > y { 1 } else { -1 }));
        }
        Ok(Value::fix(ord as i64))
    }),
    public("+", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let o = vm.to_str(o)?;
        let enc = vm.compat(a.recv, o)?;
        let mut bytes = Vec::with_capacity(vm.bytes(a.recv).len() + vm.bytes(o).len());
        bytes.extend_from_slice(vm.bytes(a.recv));
        bytes.extend_from_slice(vm.bytes(o));
        Ok(vm.str_enc(bytes, enc))
    }),
    public("*", 1, 1, |vm, a| {
        let times = vm.arg(a, 0);
        let times = vm.to_int(times)?;
        if times < 0 {
            return vm.arg_error("negative argument");
        }
        let len = vm.bytes(a.recv).len();
        let Some(total) = len.checked_mul(times as usize).filter(|t| *t < 1 << 40) else {
            return vm.arg_error("argument too big");
        };
        vm.reserve(total)?;
        let bytes = vm.bytes(a.recv).repeat(times as usize);
        let enc = vm.heap.str(a.recv).enc;
        Ok(vm.str_enc(bytes, enc))
    }),
    public("%", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let mut args = vec![a.recv];
        match vm.check_ary(o)? {
            Some(list) => args.extend(vm.heap.arr(list).clone()),
            None => args.push(o),
        }
        vm.format(&args)
    }),
    public("<<", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        vm.append(a.recv, o)
    }),
    public("concat", 0, -1, |vm, a| {
        vm.check_frozen(a.recv)?;
        let mut parts = Vec::new();
        for v in vm.args(a) {
            parts.push(if v == a.recv { vm.copy(v)? } else { v });
        }
        for v in parts {
            vm.append(a.recv, v)?;
        }
        Ok(a.recv)
    }),
    public("length", 0, 0, |vm, a| Ok(Value::fix(e::count(vm.heap.str(a.recv)) as i64)))
        .also(&["size"]),
    public("bytesize", 0, 0, |vm, a| Ok(Value::fix(vm.bytes(a.recv).len() as i64))),
    public("empty?", 0, 0, |vm, a| Ok(Value::bool(vm.bytes(a.recv).is_empty()))),
    public("to_s", 0, 0, |vm, a| {
        if vm.real_class(a.recv) == c::STRING {
            return Ok(a.recv);
        }
        let (b, enc) = (vm.bytes(a.recv).to_vec(), vm.heap.str(a.recv).enc);
        Ok(vm.str_enc(b, enc))
    })
    .also(&["to_str"]),
    public("inspect", 0, 0, |vm, a| {
        let str_ = vm.heap.str(a.recv);
        let t = inspect_bytes(&str_.bytes, str_.enc);
        Ok(vm.str(t))
    }),
    public("dump", 0, 0, |vm, a| {
        let t = dump_bytes(vm.bytes(a.recv), vm.heap.str(a.recv).enc);
        let enc = vm.heap.str(a.recv).enc;
        Ok(vm.str_enc(t, enc))
    }),
    public("reverse", 0, 0, |vm, a| {
        let str_ = vm.heap.str(a.recv);
        let enc = str_.enc;
        let bytes: Vec<u8> = if e::single(str_) {
            str_.bytes.iter().rev().copied().collect()
        } else {
            e::chars(&str_.bytes, enc)
                .iter()
                .rev()
                .flat_map(|(x, y)| str_.bytes[*x..*y].to_vec())
                .collect()
        };
        Ok(vm.str_enc(bytes, enc))
    }),
    public("chars", 0, 0, |vm, a| {
        if !a.block.is_nil() {
            let name = vm.intern("each_char");
            return vm.open_call(a).send_full(a.recv, name, &[], a.block, false);
        }
        let list = vm.char_values(a.recv);
        Ok(vm.arr(list))
    }),
    public("each_char", 0, 0, |vm, a| {
        if a.block.is_nil() {
            let size = Value::fix(e::count(vm.heap.str(a.recv)) as i64);
            return vm.enumerator_sized(a, size);
        }
        let held = vm.hold_call(a);
        let chars = vm.char_values(a.recv);
        let list = vm.arr(chars);
        vm.hold(list);
        let mut i = 0;
        while let Some(v) = vm.heap.arr(list).get(i).copied() {
            vm.open(held).yield1(a.block, v)?;
            i += 1;
        }
        Ok(a.recv)
    }),
    public("bytes", 0, 0, |vm, a| {
        if !a.block.is_nil() {
            return vm.open_call(a).send_full(a.recv, n::EACH_BYTE, &[], a.block, false);
        }
        let list = vm.bytes(a.recv).iter().map(|b| Value::fix(i64::from(*b))).collect();
        Ok(vm.arr(list))
    }),
    public("getbyte", 1, 1, |vm, a| {
        let i = vm.arg(a, 0);
        let i = vm.to_int(i)?;
        let b = vm.bytes(a.recv);
        let i = if i < 0 { i + b.len() as i64 } else { i };
        Ok(usize::try_from(i)
            .ok()
            .and_then(|i| b.get(i))
            .map_or(NIL, |b| Value::fix(i64::from(*b))))
    }),
    public("setbyte", 2, 2, |vm, a| {
        let (i, v) = (vm.arg(a, 0), vm.arg(a, 1));
        let (i, v) = (vm.to_int(i)?, vm.to_int(v)?);
        vm.check_frozen(a.recv)?;
        let len = vm.bytes(a.recv).len() as i64;
        if i < -len || i >= len {
            return vm.fail(c::INDEX_ERROR, format!("index {i} out of string"));
        }
        let at = if i < 0 { i + len } else { i } as usize;
        vm.heap.str_mut(a.recv).bytes.to_mut()[at] = v as u8;
        Ok(Value::fix(v))
    }),
    public("codepoints", 0, 0, |vm, a| {
        let str_ = vm.heap.str(a.recv);
        let enc = str_.enc;
        let bytes = str_.bytes.to_vec();
        let mut out = Vec::new();
        for (x, y) in e::chars(&bytes, enc) {
            match e::codepoint(&bytes[x..y], enc) {
                Some(cp) => out.push(Value::fix(i64::from(cp))),
                None => {
                    return vm.arg_error(format!("invalid byte sequence in {}", e::name(enc)));
                }
            }
        }
        Ok(vm.arr(out))
    }),
    public("ord", 0, 0, |vm, a| {
        let str_ = vm.heap.str(a.recv);
        if str_.bytes.is_empty() {
            return vm.arg_error("empty string");
        }
        match e::codepoint(&str_.bytes, str_.enc) {
            Some(cp) => Ok(Value::fix(i64::from(cp))),
            None => {
                let n = e::name(str_.enc);
                vm.arg_error(format!("invalid byte sequence in {n}"))
            }
        }
    }),
    public("__lines", 0, 2, lines),
    public("__chomp", 0, 1, |vm, a| {
        let sep = vm.opt(a, 0);
        let b = vm.bytes(a.recv).to_vec();
        let cut: &[u8] = match sep {
            None => chomp(&b, None),
            Some(v) if v.is_nil() => &b,
            Some(v) => {
                let v = vm.to_str(v)?;
                let sep = vm.bytes(v).to_vec();
                let l = chomp(&b, Some(&sep)).len();
                &b[..l]
            }
        };
        let enc = vm.heap.str(a.recv).enc;
        Ok(vm.str_enc(cut, enc))
    }),
    public("freeze", 0, 0, |vm, a| {
        vm.freeze(a.recv);
        Ok(a.recv)
    }),
    public("+@", 0, 0, |vm, a| if vm.frozen(a.recv) { vm.dup(a.recv) } else { Ok(a.recv) }),
    public("-@", 0, 0, |vm, a| {
        let bare = vm.real_class(a.recv) == c::STRING && !vm.heap.side_ivars.contains_key(&a.recv);
        if vm.frozen(a.recv) && !bare {
            return Ok(a.recv);
        }
        let key = (vm.bytes(a.recv).to_vec(), vm.heap.str(a.recv).enc);
        if let Some(v) = vm.fstrings.get(&key) {
            return Ok(*v);
        }
        let v = if vm.frozen(a.recv) { a.recv } else { vm.copy(a.recv)? };
        vm.freeze(v);
        vm.fstrings.insert(key, v);
        Ok(v)
    })
    .also(&["dedup"]),
    public("crypt", 1, 1, crypt::crypt),
    public("unpack", 1, 2, crate::core::pack::unpack),
    on_class("try_convert", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        Ok(vm.check_str(v)?.unwrap_or(NIL))
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let s = c::STRING;
    vm.classes[s as usize].alloc = Alloc::String;
    vm.natives(c::STRING, METHODS);
    for name in ["to_sym", "intern"] {
        vm.def(
            s,
            name,
            |vm, a| {
                if !e::valid(vm.heap.str(a.recv)) {
                    let t = vm.inspect_string(a.recv)?;
                    return vm.fail(
                        c::ENCODING_ERROR,
                        format!(
                            "invalid symbol in encoding {} :{t}",
                            e::name(vm.heap.str(a.recv).enc)
                        ),
                    );
                }
                Ok(vm.str_to_sym(a.recv))
            },
            0,
            0,
        );
    }
    for (name, left, right) in
        [("strip", true, true), ("lstrip", true, false), ("rstrip", false, true)]
    {
        let _ = (left, right);
        vm.def(
            s,
            name,
            |vm, a| {
                let b = vm.bytes(a.recv);
                let name = vm.syms.bytes(vm.methods[a.method as usize].orig);
                let mut t: &[u8] = b;
                if name != b"rstrip" {
                    while let [x, rest @ ..] = t {
                        if x.is_ascii_whitespace() || *x == 0x0B || *x == 0 {
                            t = rest
                        } else {
                            break;
                        }
                    }
                }
                if name != b"lstrip" {
                    while let [rest @ .., x] = t {
                        if x.is_ascii_whitespace() || *x == 0x0B || *x == 0 {
                            t = rest
                        } else {
                            break;
                        }
                    }
                }
                let (t, enc) = (t.to_vec(), vm.heap.str(a.recv).enc);
                Ok(vm.str_enc(t, enc))
            },
            0,
            0,
        );
    }
    around::init(vm);
    convert::init(vm);
    index::init(vm);
    search::init(vm);
    let _ = TRUE;
}

/// Length without a trailing newline or separator.
pub(crate) fn chomp<'a>(b: &'a [u8], sep: Option<&[u8]>) -> &'a [u8] {
    match sep {
        None | Some(b"\n") => b
            .strip_suffix(b"\r\n")
            .or_else(|| b.strip_suffix(b"\n"))
            .or_else(|| b.strip_suffix(b"\r"))
            .unwrap_or(b),
        Some(b"") => {
            let mut t = b;
            while let Some(x) = t.strip_suffix(b"\r\n").or_else(|| t.strip_suffix(b"\n")) {
                t = x;
            }
            t
        }
        Some(sep) => b.strip_suffix(sep).unwrap_or(b),
    }
}

/// Lines with their ends.
pub(crate) fn split_lines(b: &[u8], sep: &[u8]) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut at = 0;
    let para = sep.is_empty();
    let sep: &[u8] = if para { b"\n\n" } else { sep };
    while at < b.len() {
        match crate::regex::find(&b[at..], sep) {
            Some(i) => {
                let mut end = at + i + sep.len();
                out.push(b[at..end].to_vec());
                while para && end < b.len() && b[end] == b'\n' {
                    end += 1;
                }
                at = end;
            }
            None => {
                out.push(b[at..].to_vec());
                break;
            }
        }
    }
    out
}

fn lines(vm: &mut Vm, a: Args) -> R {
    let sep = vm.opt(a, 0).unwrap_or(NIL);
    let chomped = vm.opt(a, 1).unwrap_or(FALSE).truthy();
    let enc = vm.heap.str(a.recv).enc;
    let b = vm.bytes(a.recv).to_vec();
    let parts = if sep.is_nil() {
        vec![b]
    } else {
        let sep = vm.to_str_bytes(sep)?;
        let mut parts = split_lines(&b, &sep);
        if chomped {
            for p in &mut parts {
                let l = if sep.is_empty() {
                    chomp(p, Some(b"")).len()
                } else {
                    chomp(p, Some(&sep)).len()
                };
                p.truncate(l);
            }
        }
        parts
    };
    let list = parts.into_iter().map(|p| vm.str_enc(p, enc)).collect();
    Ok(vm.arr(list))
}

pub(crate) fn inspect_bytes(bytes: &[u8], enc: crate::heap::Enc) -> Vec<u8> {
    let mut out = vec![b'"'];
    let unicode = e::is_unicode(enc);
    for (x, y) in e::chars(bytes, enc) {
        let ch = &bytes[x..y];
        let code = e::codepoint(ch, enc);
        let next = bytes.get(y);
        match code {
            Some(34) => out.extend_from_slice(b"\\\""),
            Some(92) => out.extend_from_slice(b"\\\\"),
            Some(35) => {
                if matches!(next, Some(b'{' | b'$' | b'@')) {
                    out.push(b'\\');
                }
                out.push(b'#');
            }
            Some(10) => out.extend_from_slice(b"\\n"),
            Some(13) => out.extend_from_slice(b"\\r"),
            Some(9) => out.extend_from_slice(b"\\t"),
            Some(12) => out.extend_from_slice(b"\\f"),
            Some(11) => out.extend_from_slice(b"\\v"),
            Some(8) => out.extend_from_slice(b"\\b"),
            Some(7) => out.extend_from_slice(b"\\a"),
            Some(27) => out.extend_from_slice(b"\\e"),
            Some(cp) if (32..127).contains(&cp) => out.push(cp as u8),
            Some(cp) if unicode => {
                let printable = char::from_u32(cp).is_some_and(|c| !c.is_control() && !matches!(cp, 0xE000..=0xF8FF | 0xFFF0..=0xFFFB | 0x2028 | 0x2029 | 0xFEFF | 0xE0000..=0xE0FFF | 0xF0000..));
                if printable && enc == e::UTF8 {
                    out.extend_from_slice(ch);
                } else if printable {
                    if let Some(b) = e::encode_char(cp, e::UTF8) {
                        out.extend_from_slice(&b);
                    }
                } else if cp > 0xFFFF {
                    out.extend_from_slice(format!("\\u{{{cp:X}}}").as_bytes());
                } else {
                    out.extend_from_slice(format!("\\u{cp:04X}").as_bytes());
                }
            }
            _ => {
                for b in ch {
                    out.extend_from_slice(format!("\\x{b:02X}").as_bytes());
                }
            }
        }
    }
    out.push(b'"');
    // Control characters of Unicode strings print as \u in Ruby.
    out
}

fn dump_bytes(bytes: &[u8], enc: crate::heap::Enc) -> Vec<u8> {
    let mut out = vec![b'"'];
    for (x, y) in e::chars(bytes, enc) {
        let ch = &bytes[x..y];
        if ch.len() > 1
            && enc == e::UTF8
            && let Some(cp) = e::codepoint(ch, enc)
        {
            out.extend_from_slice(
                if cp > 0xFFFF { format!("\\u{{{cp:X}}}") } else { format!("\\u{cp:04X}") }
                    .as_bytes(),
            );
            continue;
        }
        for b in ch {
            match b {
                b'"' => out.extend_from_slice(b"\\\""),
                b'\\' => out.extend_from_slice(b"\\\\"),
                b'#' => {
                    if matches!(bytes.get(y), Some(b'{' | b'$' | b'@')) {
                        out.push(b'\\');
                    }
                    out.push(b'#');
                }
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                b'\t' => out.extend_from_slice(b"\\t"),
                12 => out.extend_from_slice(b"\\f"),
                11 => out.extend_from_slice(b"\\v"),
                8 => out.extend_from_slice(b"\\b"),
                7 => out.extend_from_slice(b"\\a"),
                27 => out.extend_from_slice(b"\\e"),
                32..=126 => out.push(*b),
                _ => out.extend_from_slice(format!("\\x{b:02X}").as_bytes()),
            }
        }
    }
    out.push(b'"');
    out
}

impl Vm {
    pub(crate) fn compat_error_class(&mut self) -> u32 {
        self.define_class(c::ENCODING, "CompatibilityError", c::ENCODING_ERROR)
    }

    /// Encoding of a combination, or Encoding::CompatibilityError.
    pub(crate) fn compat(&mut self, a: Value, b: Value) -> Res<crate::heap::Enc> {
        match e::compatible(self.heap.str(a), self.heap.str(b)) {
            Some(enc) => Ok(enc),
            None => {
                let (x, y) = (e::name(self.heap.str(a).enc), e::name(self.heap.str(b).enc));
                let class = self.compat_error_class();
                self.fail(class, format!("incompatible character encodings: {x} and {y}"))
            }
        }
    }

    pub(crate) fn append(&mut self, me: Value, o: Value) -> R {
        if o.is_str() && !self.heap.strings[me.index()].frozen {
            let (x, y) = (self.heap.str(me), self.heap.str(o));
            if x.enc == y.enc && me != o {
                let (target, source) = self.heap.strings.pair(me.index(), o.index());
                target.range.set(0);
                target.known.set(0);
                target.bytes.to_mut().extend_from_slice(&source.bytes);
                self.heap.bytes += source.bytes.len();
                return Ok(me);
            }
        }
        self.check_frozen(me)?;
        if o.is_int() {
            let enc = self.heap.str(me).enc;
            let code = o.fixnum().filter(|x| (0..=0xFFFF_FFFF).contains(x));
            let Some(code) = code else {
                let t = self.int_text(o, 10);
                return self.fail(
                    c::RANGE_ERROR,
                    if o.is_big() {
                        "bignum out of char range".to_owned()
                    } else {
                        format!("{t} out of char range")
                    },
                );
            };
            let (bytes, enc) = if enc == e::ASCII && code > 127 && code < 256 {
                (Some(vec![code as u8]), e::BINARY)
            } else {
                (e::encode_char(code as u32, enc), enc)
            };
            let Some(bytes) = bytes else {
                return self.fail(
                    c::RANGE_ERROR,
                    if enc == 0 {
                        format!("invalid codepoint 0x{code:X} in UTF-8")
                    } else {
                        format!("{code} out of char range")
                    },
                );
            };
            let s = self.heap.str_mut(me);
            s.enc = enc;
            s.bytes.to_mut().extend_from_slice(&bytes);
            return Ok(me);
        }
        let o = self.to_str(o)?;
        let enc = self.compat(me, o)?;
        let bytes = self.bytes(o).to_vec();
        self.heap.bytes += bytes.len();
        let s = self.heap.str_mut(me);
        s.enc = enc;
        s.bytes.to_mut().extend_from_slice(&bytes);
        Ok(me)
    }

    pub(crate) fn char_values(&mut self, v: Value) -> Vec<Value> {
        let s = self.heap.str(v);
        let enc = s.enc;
        let bytes = s.bytes.to_vec();
        let ranges = if e::single(s) {
            (0..bytes.len()).map(|i| (i, i + 1)).collect()
        } else {
            e::chars(&bytes, enc)
        };
        ranges.into_iter().map(|(x, y)| self.str_enc(&bytes[x..y], enc)).collect()
    }

    /// A new string of the same encoding.
    pub(crate) fn like(&mut self, v: Value, bytes: impl Into<Vec<u8>>) -> Value {
        let enc = self.heap.str(v).enc;
        self.str_enc(bytes, enc)
    }
}
