//! `format`: values of the runtime for the directives of a format.

use fx_formats::printf::{self, Arguments, Spec};

use crate::encoding as e;
use crate::heap::Enc;
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{R, Res, Unwind, Vm};

/// What is made so far.
struct Built {
    bytes: Vec<u8>,
    enc: Enc,
    /// The format's own text is not ASCII.
    fixed: bool,
}

/// The arguments of a call of `format`, and the text it makes.
struct Formatting<'a> {
    vm: &'a mut Vm,
    args: &'a [Value],
    /// The one hash of a format with names.
    hash: Option<Value>,
    out: Built,
}

impl Arguments for Formatting<'_> {
    type Value = Value;
    type Error = Unwind;

    fn at(&mut self, index: usize) -> Option<Value> {
        self.args.get(index).copied()
    }

    fn named(&mut self, name: &[u8], shown: &str) -> R {
        let hash = match self.hash {
            Some(hash) => hash,
            None => self.only_hash()?,
        };
        self.hash = Some(hash);
        let vm = &mut *self.vm;
        let key = Value::sym(vm.syms.intern(name));
        if let Some(value) = vm.hash_get(hash, key)? {
            return Ok(value);
        }
        let table = vm.heap.h(hash);
        let has_default = !table.default_proc.is_nil() || !table.default.is_nil();
        let value = if has_default { vm.hash_aref(hash, key)? } else { NIL };
        if !value.is_nil() {
            return Ok(value);
        }
        let error = vm.make_error(c::KEY_ERROR, format!("key{shown} not found"))?;
        vm.ivar_set(error, crate::names::IV_RECEIVER, hash);
        vm.ivar_set(error, crate::names::IV_KEY, key);
        vm.throw(error)
    }

    fn whole(&mut self, value: Value) -> Res<i32> {
        let n = self.vm.to_int(value)?;
        i32::try_from(n).or_else(|_| {
            let (how, int) = (if n < 0 { "small" } else { "big" }, self.vm.quoted("int"));
            self.vm.fail(c::RANGE_ERROR, format!("integer {n} too {how} to convert to {int}"))
        })
    }

    fn reserve(&mut self, bytes: usize) -> Res<()> {
        self.vm.reserve(bytes)
    }

    fn literal(&mut self, text: &[u8]) {
        self.out.bytes.extend_from_slice(text);
    }

    fn put(&mut self, letter: u8, spec: &Spec, value: Value) -> Res<()> {
        match letter {
            b's' => {
                let text = self.vm.interpolate(value)?;
                self.vm.put_text(&mut self.out, spec, text)
            }
            b'p' => {
                let text = self.vm.inspect(value)?;
                self.vm.put_text(&mut self.out, spec, text)
            }
            b'c' => {
                let text = self.vm.format_char(value, self.out.enc)?;
                self.vm.put_text(&mut self.out, &Spec { precision: None, ..*spec }, text)
            }
            _ => {
                let text = self.vm.format_number(letter, spec, value)?;
                self.out.bytes.extend_from_slice(text.as_bytes());
                Ok(())
            }
        }
    }

    fn refuse<T>(&mut self, message: String) -> Res<T> {
        self.vm.arg_error(message)
    }
}

impl Formatting<'_> {
    fn only_hash(&mut self) -> R {
        match self.args {
            [one] if one.is_hash() || one.is_obj() => self.vm.to_hash(*one),
            _ => self.vm.arg_error("one hash required"),
        }
    }
}

impl Vm {
    pub fn format(&mut self, args: &[Value]) -> R {
        let f = self.to_str(args[0])?;
        let text = self.bytes(f).to_vec();
        let args = &args[1..];
        // What is put in must fit the whole text, also what comes behind it.
        let out = Built { bytes: Vec::new(), enc: self.heap.str(f).enc, fixed: !text.is_ascii() };
        let mut formatting = Formatting { vm: self, args, hash: None, out };
        let used = printf::format(&text, &mut formatting)?;
        let out = formatting.out;
        if used.is_some_and(|used| used < args.len()) {
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
    fn put_text(&mut self, out: &mut Built, spec: &Spec, text: Value) -> Res<()> {
        let st = self.heap.str(text);
        if st.enc != out.enc && !e::is_ascii(st) {
            if out.fixed || !out.bytes.is_ascii() {
                let (x, y) = (e::name(out.enc), e::name(st.enc));
                let class = self.compat_error_class();
                return self.fail(class, format!("incompatible character encodings: {x} and {y}"));
            }
            out.enc = st.enc;
        }
        let end = match spec.precision {
            Some(p) => e::offset(st, p).unwrap_or(st.bytes.len()),
            None => st.bytes.len(),
        };
        let len = match spec.width {
            Some(_) => e::chars(&st.bytes[..end], st.enc).len(),
            None => 0,
        };
        let fill = spec.width.unwrap_or(0).saturating_sub(len);
        let before = if spec.minus { 0 } else { fill };
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

    fn format_number(&mut self, letter: u8, spec: &Spec, value: Value) -> Res<String> {
        if matches!(letter, b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'b' | b'B') {
            let whole = self.format_int_value(value)?;
            let text = self.int_text(whole, printf::base(letter));
            let (negative, digits) = signed(&text);
            return Ok(spec.integer(letter, negative, digits));
        }
        let float = self.format_float_value(value)?;
        if letter == b'f' && value.is_int() {
            let text = self.int_text(value, 10);
            let (negative, digits) = signed(&text);
            return Ok(spec.whole(negative, digits));
        }
        Ok(spec.float(letter, float))
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

/// Whether there is a minus, and the digits.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    }
}
