//! JSON natives: writing values as text. Objects that bring a `to_json` of their own are written
//! by Ruby code, `JSON::State#other`.

use crate::names as n;
use crate::object::c;
use crate::value::{Tag, Value};
use crate::vm::{Args, R, Res, Vm};

/// What a `JSON::State` says about the text, and the text so far.
struct Writer {
    out: Vec<u8>,
    state: Value,
    indent: Vec<u8>,
    space: Vec<u8>,
    space_before: Vec<u8>,
    object_nl: Vec<u8>,
    array_nl: Vec<u8>,
    nan: bool,
    script: bool,
    ascii: bool,
    /// How deep values may be nested; 0 for as deep as the machine can.
    max: usize,
    depth: usize,
}

/// `__generate(state, value, plain)`: `plain` writes the value by its kind even when its class
/// has its own `to_json`, which is what called.
pub(super) fn generate(vm: &mut Vm, a: Args) -> R {
    let (state, value, plain) = (vm.arg(a, 0), vm.arg(a, 1), vm.arg(a, 2));
    let mut w = Writer::new(vm, state);
    w.value(vm, value, plain.truthy())?;
    Ok(vm.str(w.out))
}

fn ivar(vm: &mut Vm, state: Value, name: &str) -> Value {
    let sym = vm.intern(name);
    vm.ivar_get(state, sym).unwrap_or(crate::value::NIL)
}

impl Writer {
    fn new(vm: &mut Vm, state: Value) -> Writer {
        let mut text = |name: &str| {
            let v = ivar(vm, state, name);
            if v.is_str() { vm.bytes(v).to_vec() } else { Vec::new() }
        };
        let (indent, space, space_before) =
            (text("@indent"), text("@space"), text("@space_before"));
        let (object_nl, array_nl) = (text("@object_nl"), text("@array_nl"));
        let mut on = |name: &str| ivar(vm, state, name).truthy();
        let (nan, script, ascii) = (on("@nan"), on("@script"), on("@ascii"));
        let mut number = |name: &str| ivar(vm, state, name).fixnum().unwrap_or(0).max(0) as usize;
        let (max, depth) = (number("@max_nesting"), number("@depth"));
        Writer {
            out: Vec::new(),
            state,
            indent,
            space,
            space_before,
            object_nl,
            array_nl,
            nan,
            script,
            ascii,
            max,
            depth,
        }
    }

    fn value(&mut self, vm: &mut Vm, v: Value, plain: bool) -> Res<()> {
        match v.tag() {
            Tag::Nil => self.out.extend_from_slice(b"null"),
            Tag::True => self.out.extend_from_slice(b"true"),
            Tag::False => self.out.extend_from_slice(b"false"),
            Tag::Int | Tag::Big => self.out.extend_from_slice(vm.int_text(v, 10).as_bytes()),
            Tag::Flonum | Tag::Float => {
                let f = vm.heap.float_of(v);
                let text = crate::convert::float_text(f);
                if !self.nan && !f.is_finite() {
                    return fail(vm, &format!("{text} not allowed in JSON"));
                }
                self.out.extend_from_slice(text.as_bytes());
            }
            Tag::Str if plain || vm.heap.str(v).class == c::STRING || usual(vm, v) => {
                self.string(vm, v)?;
            }
            Tag::Hash if plain || usual(vm, v) => self.hash(vm, v)?,
            Tag::Arr if plain || usual(vm, v) => self.array(vm, v)?,
            Tag::Sym if usual(vm, v) => self.symbol(vm, v)?,
            _ => {
                let depth = vm.intern("@depth");
                vm.ivar_set(self.state, depth, Value::fix(self.depth as i64));
                let text = vm.call_name(self.state, "other", &[v])?;
                self.out.extend_from_slice(vm.bytes(text));
            }
        }
        Ok(())
    }

    fn enter(&mut self, vm: &mut Vm) -> Res<()> {
        vm.tick()?;
        self.depth += 1;
        if self.max > 0 && self.depth > self.max {
            return super::too_nested(vm, self.depth - 1);
        }
        if self.depth > vm.limits.depth as usize {
            return vm.too_deep();
        }
        Ok(())
    }

    fn indented(&mut self, depth: usize) {
        for _ in 0..depth {
            self.out.extend_from_slice(&self.indent);
        }
    }

    fn hash(&mut self, vm: &mut Vm, v: Value) -> Res<()> {
        self.out.push(b'{');
        self.out.extend_from_slice(&self.object_nl);
        if vm.heap.h(v).live == 0 {
            if !self.object_nl.is_empty() {
                self.indented(self.depth);
            }
            self.out.push(b'}');
            return Ok(());
        }
        self.enter(vm)?;
        for (i, (key, value)) in vm.hash_pairs(v).into_iter().enumerate() {
            if i > 0 {
                self.out.push(b',');
                self.out.extend_from_slice(&self.object_nl);
            }
            self.indented(self.depth);
            match key.tag() {
                Tag::Str => self.string(vm, key)?,
                Tag::Sym => self.symbol(vm, key)?,
                _ => {
                    let name = vm.send(key, n::TO_S, &[])?;
                    self.string(vm, name)?;
                }
            }
            self.out.extend_from_slice(&self.space_before);
            self.out.push(b':');
            self.out.extend_from_slice(&self.space);
            self.value(vm, value, false)?;
        }
        self.depth -= 1;
        if !self.object_nl.is_empty() {
            self.out.extend_from_slice(&self.object_nl);
            self.indented(self.depth);
        }
        self.out.push(b'}');
        Ok(())
    }

    fn array(&mut self, vm: &mut Vm, v: Value) -> Res<()> {
        self.out.push(b'[');
        self.out.extend_from_slice(&self.array_nl);
        if vm.heap.arr(v).is_empty() {
            self.out.extend_from_slice(&self.array_nl);
            if !self.array_nl.is_empty() {
                self.indented(self.depth);
            }
            self.out.push(b']');
            return Ok(());
        }
        self.enter(vm)?;
        let mut i = 0;
        while let Some(item) = vm.heap.arr(v).get(i).copied() {
            if i > 0 {
                self.out.push(b',');
                self.out.extend_from_slice(&self.array_nl);
            }
            self.indented(self.depth);
            self.value(vm, item, false)?;
            i += 1;
        }
        self.depth -= 1;
        if !self.array_nl.is_empty() {
            self.out.extend_from_slice(&self.array_nl);
            self.indented(self.depth);
        }
        self.out.push(b']');
        Ok(())
    }

    fn string(&mut self, vm: &mut Vm, v: Value) -> Res<()> {
        let s = vm.heap.str(v);
        let text = if s.enc == 0 || s.bytes.is_ascii() {
            v
        } else {
            let name = vm.str("UTF-8");
            vm.call_name(v, "encode", &[name])?
        };
        let Ok(text) = std::str::from_utf8(vm.bytes(text)) else {
            return fail(vm, "source sequence is illegal/malformed utf-8");
        };
        self.quoted(text);
        Ok(())
    }

    fn symbol(&mut self, vm: &mut Vm, v: Value) -> Res<()> {
        let Some(sym) = v.as_sym() else { return Ok(()) };
        let Ok(text) = std::str::from_utf8(vm.syms.bytes(sym)) else {
            return fail(vm, "source sequence is illegal/malformed utf-8");
        };
        self.quoted(text);
        Ok(())
    }

    fn quoted(&mut self, text: &str) {
        self.out.push(b'"');
        let bytes = text.as_bytes();
        let mut from = 0;
        for (at, byte) in bytes.iter().enumerate() {
            let special = match byte {
                b'"' | b'\\' | 0..=31 => true,
                b'/' => self.script,
                128..=255 => self.ascii,
                _ => false,
            };
            if !special {
                continue;
            }
            self.out.extend_from_slice(&bytes[from..at]);
            from = at + 1;
            let short = match byte {
                b'"' => b'"',
                b'\\' => b'\\',
                b'/' => b'/',
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                8 => b'b',
                12 => b'f',
                // The first byte of a character stands for all of them.
                _ => {
                    let units = text.get(at..).and_then(|rest| rest.chars().next());
                    for unit in units.iter().flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec()) {
                        self.out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                    }
                    continue;
                }
            };
            self.out.extend_from_slice(&[b'\\', short]);
        }
        self.out.extend_from_slice(&bytes[from..]);
        self.out.push(b'"');
    }
}

/// Whether a value is written by its kind: nothing but the library has given it a `to_json`.
fn usual(vm: &mut Vm, v: Value) -> bool {
    let class = vm.class_of(v);
    let Some(id) = vm.find_method(class, n::TO_JSON) else { return true };
    let owner = vm.methods[id as usize].owner;
    matches!(owner, c::HASH | c::ARRAY | c::STRING | c::OBJECT | c::KERNEL)
}

fn fail<T>(vm: &mut Vm, message: &str) -> Res<T> {
    let m = vm.define_module(c::OBJECT, "JSON");
    let base = vm.define_class(m, "JSONError", c::STANDARD_ERROR);
    let class = vm.define_class(m, "GeneratorError", base);
    vm.fail(class, message)
}
