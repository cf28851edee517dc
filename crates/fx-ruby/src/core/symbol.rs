//! Symbol.

use crate::natives::{Native, on_class, public};
use crate::object::{Alloc, c};
use crate::value::{NIL, Value};
use crate::vm::{Args, Vm};

fn plain(bytes: &[u8]) -> bool {
    let Ok(t) = std::str::from_utf8(bytes) else { return false };
    if matches!(
        t,
        "[]" | "[]="
            | "+"
            | "-"
            | "*"
            | "/"
            | "%"
            | "**"
            | "=="
            | "!="
            | "==="
            | "=~"
            | "!~"
            | "<"
            | "<="
            | ">"
            | ">="
            | "<=>"
            | "<<"
            | ">>"
            | "!"
            | "~"
            | "&"
            | "|"
            | "^"
            | "+@"
            | "-@"
            | "`"
            | "~@"
            | "!@"
    ) {
        return true;
    }
    let body = t
        .strip_prefix("@@")
        .or_else(|| t.strip_prefix('@'))
        .or_else(|| t.strip_prefix('$'))
        .unwrap_or(t);
    let sigil = body.len() != t.len();
    if t.starts_with('$')
        && (body.len() == 1 && !body.starts_with(char::is_whitespace)
            || (body.len() == 2 && body.starts_with('-'))
            || body.chars().all(|c| c.is_ascii_digit()) && !body.is_empty())
    {
        return body.chars().all(|c| c.is_ascii_graphic());
    }
    let body = if sigil { body } else { body.strip_suffix(['?', '!', '=']).unwrap_or(body) };
    body.starts_with(|c: char| c.is_alphabetic() || c == '_' || c as u32 > 127)
        && body.chars().all(|c| c.is_alphanumeric() || c == '_' || c as u32 > 127)
}

fn text(vm: &Vm, a: Args) -> &[u8] {
    a.recv.as_sym().map(|s| vm.syms.bytes(s)).unwrap_or(b"")
}

const METHODS: &[Native] = &[
    public("to_s", 0, 0, |vm, a| {
        let t = text(vm, a).to_vec();
        let enc = a
            .recv
            .as_sym()
            .and_then(|s| vm.sym_encs.get(&s).copied())
            .unwrap_or(if t.is_ascii() { 2 } else { 0 });
        let frozen = vm.syms.bytes(vm.methods[a.method as usize].orig) == b"name";
        if !frozen {
            return Ok(vm.str_enc(t, enc));
        }
        let key = (t, enc);
        if let Some(v) = vm.fstrings.get(&key) {
            return Ok(*v);
        }
        let s = vm.str_enc(&*key.0, enc);
        vm.freeze(s);
        vm.fstrings.insert(key, s);
        Ok(s)
    })
    .also(&["id2name", "name"]),
    public("to_sym", 0, 0, |_, a| Ok(a.recv)),
    public("inspect", 0, 0, |vm, a| {
        let t = text(vm, a);
        if plain(t) {
            let mut b = vec![b':'];
            b.extend_from_slice(t);
            return Ok(vm.str(b));
        }
        let mut b = vec![b':'];
        let enc = if t.is_ascii() { crate::encoding::ASCII } else { crate::encoding::UTF8 };
        b.extend(crate::core::string::inspect_bytes(t, enc));
        Ok(vm.str(b))
    }),
    public("to_proc", 0, 0, |vm, a| {
        Ok(match a.recv.as_sym() {
            Some(s) => vm.sym_proc(s),
            None => NIL,
        })
    }),
    public("length", 0, 0, |vm, a| {
        let n = String::from_utf8_lossy(text(vm, a)).chars().count();
        Ok(Value::fix(n as i64))
    })
    .also(&["size"]),
    public("==", 1, 1, |vm, a| Ok(Value::bool(a.recv == vm.arg(a, 0)))),
    public("===", 1, 1, |vm, a| Ok(Value::bool(a.recv == vm.arg(a, 0)))),
    public("hash", 0, 0, |_, a| {
        Ok(Value::fix((a.recv.bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 3) as i64))
    }),
    public("<=>", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        Ok(match o.as_sym() {
            Some(s) => Value::fix(text(vm, a).cmp(vm.syms.bytes(s)) as i64),
            None => NIL,
        })
    }),
    public("empty?", 0, 0, |vm, a| Ok(Value::bool(text(vm, a).is_empty()))),
    on_class("all_symbols", 0, 0, |vm, _| {
        let l = (0..vm.syms.len() as u32).map(|i| Value::sym(fx_ruby_syntax::Sym(i))).collect();
        Ok(vm.arr(l))
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let k = c::SYMBOL;
    vm.classes[k as usize].alloc = Alloc::None;
    vm.include_module(k, c::COMPARABLE);
    vm.natives(c::SYMBOL, METHODS);
    // Text methods work on the name; those giving text give a symbol again.
    for name in ["upcase", "downcase", "capitalize", "swapcase", "succ", "next"] {
        vm.def(
            k,
            name,
            |vm, a| {
                let t = text(vm, a).to_vec();
                let s = vm.str(t);
                let name = vm.methods[a.method as usize].orig;
                let args = vm.args(a);
                let r = vm.send(s, name, &args)?;
                Ok(vm.str_to_sym(r))
            },
            0,
            -1,
        );
    }
    for name in ["[]", "slice", "=~", "match", "match?", "start_with?", "end_with?", "encoding"] {
        vm.def(
            k,
            name,
            |vm, a| {
                let s = vm.call_name(a.recv, "to_s", &[])?;
                let name = vm.methods[a.method as usize].orig;
                let args = vm.args(a);
                vm.hold(s);
                vm.open_call(a).send_full(s, name, &args, a.block, false)
            },
            0,
            -1,
        );
    }
    for name in ["casecmp", "casecmp?"] {
        vm.def(
            k,
            name,
            |vm, a| {
                let other = vm.arg(a, 0);
                if !other.is_sym() {
                    return Ok(NIL);
                }
                let s = vm.call_name(a.recv, "to_s", &[])?;
                let other = vm.call_name(other, "to_s", &[])?;
                let name = vm.methods[a.method as usize].orig;
                vm.send(s, name, &[other])
            },
            1,
            1,
        );
    }
}
