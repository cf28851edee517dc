//! String#encode and the class Encoding.

use crate::encoding as e;
use crate::heap::Ext;
use crate::names as n;
use crate::natives::{Native, on_class, public};
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Res, Vm};

/// An encoding named in a conversion, and none if nobody knows it.
fn end_of_conversion(
    vm: &mut Vm,
    v: Option<Value>,
    or: crate::heap::Enc,
) -> Res<(String, Option<crate::heap::Enc>)> {
    match v {
        None => Ok((e::name(or).to_owned(), Some(or))),
        Some(v) if v.is_obj() && vm.real_class(v) == c::ENCODING => {
            let enc = vm.to_encoding(v)?;
            Ok((e::name(enc).to_owned(), Some(enc)))
        }
        Some(v) => {
            let text = vm.to_str(v)?;
            let text = vm.text(text);
            let found = e::find(&text);
            Ok((text, found))
        }
    }
}

pub(crate) fn encode(vm: &mut Vm, mut a: Args) -> R {
    let kw = vm.take_kw(&mut a);
    let own = vm.heap.str(a.recv).enc;
    let (to, from) = (vm.opt_nil(a, 0), vm.opt_nil(a, 1));
    let (to_name, to) = end_of_conversion(vm, to, e::UTF8)?;
    let (from_name, from) = end_of_conversion(vm, from, own)?;
    let (Some(to), Some(from)) = (to, from) else {
        let class = vm.define_class(c::ENCODING, "ConverterNotFoundError", c::ENCODING_ERROR);
        return vm.fail(class, format!("code converter not found ({from_name} to {to_name})"));
    };
    let replace_word = |vm: &Vm, v: Option<Value>| {
        v.and_then(Value::as_sym).is_some_and(|s| vm.syms.bytes(s) == b"replace")
    };
    let (inv, undef) = (vm.kw(kw, "invalid"), vm.kw(kw, "undef"));
    let (inv, undef) = (replace_word(vm, inv), replace_word(vm, undef));
    let rep = vm.kw(kw, "replace").filter(|v| !v.is_nil());
    let xml = vm.kw(kw, "xml").and_then(Value::as_sym).map(|s| vm.sym_str(s).into_owned());
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
            if good
                && xml.is_some()
                && let Some(cp) = code
            {
                out.extend_from_slice(format!("&#x{cp:X};").as_bytes());
                continue;
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
                b'&' => t.extend_from_slice(b"&amp;"),
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

const METHODS: &[Native] = &[
    public("inspect", 0, 0, |vm, a| {
        let enc = vm.to_encoding(a.recv)?;
        Ok(vm.str(format!("#<Encoding:{}>", e::name(enc))))
    }),
    public("ascii_compatible?", 0, 0, |vm, a| {
        let enc = vm.to_encoding(a.recv)?;
        Ok(Value::bool(e::ascii_compatible(enc)))
    }),
    public("dummy?", 0, 0, |vm, a| {
        let enc = vm.to_encoding(a.recv)?;
        Ok(Value::bool(matches!(enc, 17..=20)))
    }),
    public("names", 0, 0, |vm, a| {
        let enc = vm.to_encoding(a.recv)?;
        let (name, aliases) = e::NAMES[enc as usize];
        let list = std::iter::once(&name).chain(aliases.iter()).map(|t| vm.str(*t)).collect();
        Ok(vm.arr(list))
    }),
    on_class("list", 0, 0, |vm, _| {
        let mut list = Vec::new();
        for i in 0..e::NAMES.len() {
            list.push(vm.encoding_object(i as u8)?)
        }
        Ok(vm.arr(list))
    }),
    on_class("name_list", 0, 0, |vm, _| {
        let list = e::NAMES.iter().map(|(n, _)| vm.str(*n)).collect();
        Ok(vm.arr(list))
    }),
    on_class("find", 1, 1, |vm, a| {
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
    }),
    on_class("default_external=", 1, 1, |vm, a| {
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
    })
    .also(&["default_internal="]),
    on_class("compatible?", 2, 2, |vm, a| {
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
                let x = vm.forgetting(|vm| vm.to_encoding(x))?;
                let y = vm.forgetting(|vm| vm.to_encoding(y))?;
                match (x, y) {
                    (Some(x), Some(y)) if x == y => vm.encoding_object(x),
                    _ => Ok(NIL),
                }
            }
        }
    }),
    on_class("aliases", 0, 0, |vm, _| {
        let h = vm.hash();
        for (name, aliases) in e::NAMES {
            for alias in *aliases {
                let (x, y) = (vm.str(*alias), vm.str(*name));
                vm.hash_set(h, x, y)?;
            }
        }
        Ok(h)
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let k = c::ENCODING;
    vm.classes[k as usize].alloc = crate::object::Alloc::None;
    vm.natives(c::ENCODING, METHODS);
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
}
