//! Equality, hashing, order, text forms and the implicit conversions of Ruby.

use std::cmp::Ordering;
use std::hash::Hasher;

use crate::heap::Ext;
use crate::names as n;
use crate::object::c;
use crate::value::{NIL, Tag, Value};
use crate::vm::{R, Res, Vm};

/// A float as Ruby prints it: shortest digits, fixed between 1e-4 and 1e15.
pub(crate) fn float_text(f: f64) -> String {
    if f.is_nan() {
        return "NaN".into();
    }
    if f.is_infinite() {
        return if f > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    if f == 0.0 {
        return if f.is_sign_negative() { "-0.0".into() } else { "0.0".into() };
    }
    let a = f.abs();
    if (1e-4..1e15).contains(&a) {
        let text = format!("{f}");
        return if text.contains('.') { text } else { format!("{text}.0") };
    }
    let text = format!("{f:e}");
    let (mantissa, exp) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa =
        if mantissa.contains('.') { mantissa.to_owned() } else { format!("{mantissa}.0") };
    match exp.strip_prefix('-') {
        Some(exp) => format!("{mantissa}e-{exp:0>2}"),
        None => format!("{mantissa}e+{exp:0>2}"),
    }
}

impl Vm {
    pub fn str_equal(&self, a: Value, b: Value) -> bool {
        let (x, y) = (self.heap.str(a), self.heap.str(b));
        if x.bytes != y.bytes {
            return false;
        }
        x.enc == y.enc || crate::encoding::comparable(x, y)
    }

    /// `a == b`.
    pub fn equal(&mut self, a: Value, b: Value) -> Res<bool> {
        if a == b {
            return Ok(true);
        }
        match (a.tag(), b.tag()) {
            (Tag::Int, Tag::Int)
            | (Tag::Sym, _)
            | (Tag::Nil, _)
            | (Tag::True, _)
            | (Tag::False, _) => Ok(a == b),
            (Tag::Str, Tag::Str) => Ok(self.str_equal(a, b)),
            _ => Ok(self.send(a, n::EQ, &[b])?.truthy()),
        }
    }

    /// `a.eql?(b)` as hash keys are compared.
    pub fn eql(&mut self, a: Value, b: Value) -> Res<bool> {
        if a == b {
            return Ok(true);
        }
        match (a.tag(), b.tag()) {
            (Tag::Str, Tag::Str) => Ok(self.str_equal(a, b)),
            (Tag::Float | Tag::Flonum, Tag::Float | Tag::Flonum) => {
                Ok(self.heap.float_of(a) == self.heap.float_of(b))
            }
            (Tag::Big, Tag::Big) => Ok(self.heap.big_of(a) == self.heap.big_of(b)),
            (
                Tag::Int
                | Tag::Sym
                | Tag::Nil
                | Tag::True
                | Tag::False
                | Tag::Str
                | Tag::Flonum
                | Tag::Float
                | Tag::Big,
                _,
            ) => Ok(false),
            (Tag::Arr, Tag::Arr) => {
                if self.heap.arr(a).len() != self.heap.arr(b).len() {
                    return Ok(false);
                }
                self.recurse(a, |vm| {
                    for i in 0..vm.heap.arr(a).len() {
                        let (x, y) =
                            (vm.heap.arr(a)[i], vm.heap.arr(b).get(i).copied().unwrap_or(NIL));
                        if !vm.eql(x, y)? {
                            return Ok(false);
                        }
                    }
                    Ok(true)
                })
                .map(|r| r.unwrap_or(true))
            }
            _ => Ok(self.send(a, n::EQL, &[b])?.truthy()),
        }
    }

    /// Guards against walking a structure that contains itself: None when already inside.
    pub fn recurse<T>(&mut self, v: Value, f: impl FnOnce(&mut Vm) -> Res<T>) -> Res<Option<T>> {
        if self.inspecting.contains(&v) {
            return Ok(None);
        }
        if self.inspecting.len() > 3000 {
            return self.too_deep();
        }
        self.inspecting.push(v);
        let result = f(self);
        self.inspecting.pop();
        result.map(Some)
    }

    pub fn hash_of(&mut self, v: Value) -> Res<u64> {
        let mut h = rustc_hash::FxHasher::default();
        match v.tag() {
            Tag::Str => h.write(self.bytes(v)),
            Tag::Float => h.write_u64(self.heap.float_of(v).to_bits()),
            Tag::Big => {
                let big = self.heap.big_of(v);
                h.write_u8(u8::from(big.neg));
                for d in &big.digits {
                    h.write_u32(*d);
                }
            }
            Tag::Arr => {
                let len = self.heap.arr(v).len();
                h.write_usize(len);
                let parts = self.recurse(v, |vm| {
                    let mut parts = Vec::new();
                    for i in 0..len {
                        let Some(item) = vm.heap.arr(v).get(i).copied() else { break };
                        parts.push(vm.hash_of(item)?);
                    }
                    Ok(parts)
                })?;
                for p in parts.unwrap_or_default() {
                    h.write_u64(p);
                }
            }
            Tag::Obj | Tag::Hash | Tag::Range | Tag::Regex | Tag::Class | Tag::Proc => {
                let r = self.send(v, n::HASH, &[])?;
                match r.tag() {
                    Tag::Int => h.write_i64(r.as_fix()),
                    Tag::Big => return self.hash_of(r),
                    _ => {
                        let i = self.to_int(r)?;
                        h.write_i64(i);
                    }
                }
            }
            _ => h.write_u64(v.bits()),
        }
        // Spread to the low bits, which index the table.
        let x = h.finish();
        Ok(x ^ (x >> 32))
    }

    // ---- text -------------------------------------------------------------

    /// `"#{v}"`: to_s, or the plain form when to_s gives no string.
    pub fn interpolate(&mut self, v: Value) -> R {
        if v.is_str() {
            return Ok(v);
        }
        if let Some(sym) = v.as_sym()
            && self.is_native(v, n::TO_S)
        {
            let bytes = self.syms.bytes(sym).to_vec();
            return Ok(self.str(bytes));
        }
        let s = self.send(v, n::TO_S, &[])?;
        if s.is_str() { Ok(s) } else { self.any_to_s(v) }
    }

    pub fn to_s(&mut self, v: Value) -> Res<String> {
        let s = self.interpolate(v)?;
        Ok(self.text(s))
    }

    pub fn any_to_s(&mut self, v: Value) -> R {
        let class = self.real_class(v);
        let text = format!("#<{}:0x{:016x}>", self.class_name(class), self.object_id(v) * 8);
        Ok(self.str(text))
    }

    pub fn inspect(&mut self, v: Value) -> R {
        let s = self.send(v, n::INSPECT, &[])?;
        if s.is_str() { Ok(s) } else { self.interpolate(s) }
    }

    pub fn inspect_string(&mut self, v: Value) -> Res<String> {
        let s = self.inspect(v)?;
        Ok(self.text(s))
    }

    /// How a value's class is named in conversion errors.
    pub fn type_name(&mut self, v: Value) -> String {
        match v.tag() {
            Tag::Nil => "nil".into(),
            Tag::True => "true".into(),
            Tag::False => "false".into(),
            _ => {
                let class = self.real_class(v);
                self.class_name(class)
            }
        }
    }

    // ---- order ------------------------------------------------------------

    /// `a <=> b` for sorting; an error when there is no order.
    pub fn compare(&mut self, a: Value, b: Value) -> Res<Ordering> {
        if a.is_fix() && b.is_fix() {
            return Ok(a.as_fix().cmp(&b.as_fix()));
        }
        if a.is_str() && b.is_str() && !self.redefined {
            return Ok(self.bytes(a).cmp(self.bytes(b)));
        }
        let r = self.send(a, n::CMP, &[b])?;
        if r.is_nil() {
            return self.cmp_failed(a, b);
        }
        self.cmp_result(r, a, b)
    }

    pub fn cmp_failed<T>(&mut self, a: Value, b: Value) -> Res<T> {
        let left = self.real_class(a);
        let left = self.class_name(left);
        let right = match b.tag() {
            Tag::Nil | Tag::True | Tag::False | Tag::Int | Tag::Flonum | Tag::Float | Tag::Big => {
                self.inspect_string(b)?
            }
            _ => {
                let class = self.real_class(b);
                self.class_name(class)
            }
        };
        self.arg_error(format!("comparison of {left} with {right} failed"))
    }

    /// What a `<=>` or a sort block gave, as an order.
    pub fn cmp_result(&mut self, r: Value, a: Value, b: Value) -> Res<Ordering> {
        match r.tag() {
            Tag::Int => Ok(r.as_fix().cmp(&0)),
            Tag::Flonum | Tag::Float => {
                Ok(self.heap.float_of(r).partial_cmp(&0.0).unwrap_or(Ordering::Equal))
            }
            Tag::Big => {
                Ok(if self.heap.big_of(r).neg { Ordering::Less } else { Ordering::Greater })
            }
            Tag::Nil => self.cmp_failed(a, b),
            _ => {
                if self.send(r, n::GT, &[Value::fix(0)])?.truthy() {
                    return Ok(Ordering::Greater);
                }
                if self.send(r, n::LT, &[Value::fix(0)])?.truthy() {
                    return Ok(Ordering::Less);
                }
                Ok(Ordering::Equal)
            }
        }
    }

    // ---- conversions ------------------------------------------------------

    fn convert(
        &mut self,
        v: Value,
        method: fx_ruby_syntax::Sym,
        target: &str,
        ok: fn(Value) -> bool,
    ) -> R {
        if self.responds(v, method, true)? {
            let r = self.send(v, method, &[])?;
            if ok(r) {
                return Ok(r);
            }
            let (a, b) = (self.type_name(v), self.type_name(r));
            let m = self.sym_str(method).into_owned();
            return self.type_error(format!("can't convert {a} to {target} ({a}#{m} gives {b})"));
        }
        let a = self.type_name(v);
        self.type_error(format!("no implicit conversion of {a} into {target}"))
    }

    pub fn to_int_value(&mut self, v: Value) -> R {
        match v.tag() {
            Tag::Int | Tag::Big => Ok(v),
            Tag::Flonum | Tag::Float => {
                let f = self.heap.float_of(v);
                self.float_to_int(f)
            }
            Tag::Nil | Tag::True | Tag::False => {
                let name = self.type_name(v);
                let how = if v.is_nil() {
                    format!("no implicit conversion from {name} to integer")
                } else {
                    format!("no implicit conversion of {name} into Integer")
                };
                self.type_error(how)
            }
            _ => self.convert(v, n::TO_INT, "Integer", Value::is_int),
        }
    }

    pub fn float_to_int(&mut self, f: f64) -> R {
        if f.is_nan() || f.is_infinite() {
            let text = float_text(f);
            return self.fail(c::FLOAT_DOMAIN, text);
        }
        if f.abs() < 4e18 {
            return Ok(self.int(f as i64));
        }
        Ok(self.heap.big(crate::bignum::Big::from_f64(f)))
    }

    pub fn to_int(&mut self, v: Value) -> Res<i64> {
        if v.is_fix() {
            return Ok(v.as_fix());
        }
        let i = self.to_int_value(v)?;
        if i.is_fix() {
            return Ok(i.as_fix());
        }
        if let Some(x) = self.heap.big_of(i).to_i128()
            && let Ok(x) = i64::try_from(x)
        {
            return Ok(x);
        }
        self.fail(c::RANGE_ERROR, "bignum too big to convert into `long'")
    }

    pub fn to_f(&mut self, v: Value) -> Res<f64> {
        match v.tag() {
            Tag::Int => Ok(v.as_fix() as f64),
            Tag::Flonum | Tag::Float => Ok(self.heap.float_of(v)),
            Tag::Big => Ok(self.heap.big_of(v).to_f64()),
            Tag::Nil => self.type_error("can't convert nil into Float"),
            Tag::True => self.type_error("can't convert true into Float"),
            Tag::False => self.type_error("can't convert false into Float"),
            Tag::Obj if self.is_a(v, c::NUMERIC) => {
                let f = self.send(v, n::TO_F, &[])?;
                if f.is_float() {
                    return Ok(self.heap.float_of(f));
                }
                let (a, b) = (self.type_name(v), self.type_name(f));
                self.type_error(format!("can't convert {a} to Float ({a}#to_f gives {b})"))
            }
            _ => {
                let name = self.type_name(v);
                self.type_error(format!("can't convert {name} into Float"))
            }
        }
    }

    /// A string, through `to_str`.
    pub fn to_str(&mut self, v: Value) -> R {
        if v.is_str() { Ok(v) } else { self.convert(v, n::TO_STR, "String", Value::is_str) }
    }

    pub fn to_str_bytes(&mut self, v: Value) -> Res<Vec<u8>> {
        let s = self.to_str(v)?;
        Ok(self.bytes(s).to_vec())
    }

    pub fn to_ary(&mut self, v: Value) -> R {
        if v.is_arr() { Ok(v) } else { self.convert(v, n::TO_ARY, "Array", Value::is_arr) }
    }

    pub fn to_hash(&mut self, v: Value) -> R {
        if v.is_hash() { Ok(v) } else { self.convert(v, n::TO_HASH, "Hash", Value::is_hash) }
    }

    /// An array if the value has `to_ary`, else None.
    pub fn check_ary(&mut self, v: Value) -> Res<Option<Value>> {
        if v.is_arr() {
            return Ok(Some(v));
        }
        if !v.is_obj() || !self.responds(v, n::TO_ARY, true)? {
            return Ok(None);
        }
        let r = self.send(v, n::TO_ARY, &[])?;
        if r.is_nil() {
            return Ok(None);
        }
        if r.is_arr() {
            return Ok(Some(r));
        }
        let (a, b) = (self.type_name(v), self.type_name(r));
        self.type_error(format!("can't convert {a} to Array ({a}#to_ary gives {b})"))
    }

    pub fn check_str(&mut self, v: Value) -> Res<Option<Value>> {
        if v.is_str() {
            return Ok(Some(v));
        }
        if !v.is_obj() || !self.responds(v, n::TO_STR, true)? {
            return Ok(None);
        }
        let r = self.send(v, n::TO_STR, &[])?;
        if r.is_nil() { Ok(None) } else { self.to_str(r).map(Some) }
    }

    /// A name given as symbol or string.
    pub fn to_sym(&mut self, v: Value) -> Res<fx_ruby_syntax::Sym> {
        if let Some(sym) = v.as_sym() {
            return Ok(sym);
        }
        if v.is_str() {
            let bytes = self.bytes(v).to_vec();
            return Ok(self.syms.intern(&bytes));
        }
        if let Some(s) = self.check_str(v)? {
            let bytes = self.bytes(s).to_vec();
            return Ok(self.syms.intern(&bytes));
        }
        let text = self.inspect_string(v)?;
        self.type_error(format!("{text} is not a symbol nor a string"))
    }

    pub fn str_to_sym(&mut self, v: Value) -> Value {
        let (bytes, enc) = (self.bytes(v).to_vec(), self.heap.str(v).enc);
        let sym = self.syms.intern(&bytes);
        if enc != 0 && !bytes.is_ascii() {
            self.sym_encs.insert(sym, enc);
        }
        Value::sym(sym)
    }

    /// A path given as string or through `to_path`.
    pub fn to_path(&mut self, v: Value) -> Res<Vec<u8>> {
        let v = if !v.is_str() && v.is_obj() && self.responds(v, n::TO_PATH, true)? {
            self.send(v, n::TO_PATH, &[])?
        } else {
            v
        };
        let bytes = self.to_str_bytes(v)?;
        if bytes.contains(&0) {
            return self.arg_error("string contains null byte");
        }
        Ok(bytes)
    }

    /// All values an object's `each` yields.
    pub fn each_to_vec(&mut self, v: Value) -> Res<Vec<Value>> {
        if v.is_arr() {
            return Ok(self.heap.arr(v).clone());
        }
        if v.is_range() {
            let r = self.heap.rng(v);
            if let (Some(lo), Some(hi)) = (r.lo.fixnum(), r.hi.fixnum()) {
                let hi = if r.excl { hi - 1 } else { hi };
                if hi >= lo {
                    self.reserve((hi - lo) as usize * 8)?;
                }
                return Ok((lo..=hi).map(Value::fix).collect());
            }
        }
        self.collect_each(v, n::EACH, &[])
    }

    /// Collects what a method yields; several values become an array. Collections may run
    /// meanwhile: what the caller still uses is on the value stack.
    pub fn collect_each(
        &mut self,
        v: Value,
        method: fx_ruby_syntax::Sym,
        args: &[Value],
    ) -> Res<Vec<Value>> {
        let out = self.arr(Vec::new());
        let block = self.native_proc(-1, false, &[out], std::rc::Rc::new(collect_one));
        let start = self.stack.len();
        self.stack.extend_from_slice(&[v, out, block]);
        let result = self.method_call(v, method, args, block, false, true);
        self.stack.truncate(start);
        result?;
        Ok(std::mem::take(self.heap.arr_mut(out)))
    }

    pub fn ext_name(&self, v: Value) -> &'static str {
        match self.heap.ext(v) {
            Some(Ext::Exception(_)) => "exception",
            Some(Ext::Host(_)) => "host",
            _ => "object",
        }
    }
}

/// The block of [`Vm::collect_each`]: adds what it is given to the list it keeps.
fn collect_one(vm: &mut Vm, kept: &[Value], args: &[Value], _: Value) -> R {
    let v = match args {
        [] => NIL,
        [one] => *one,
        many => vm.arr(many.to_vec()),
    };
    if let [out] = kept {
        vm.heap.arr_mut(*out).push(v);
        vm.heap.bytes += 8;
    }
    vm.tick()?;
    Ok(NIL)
}
