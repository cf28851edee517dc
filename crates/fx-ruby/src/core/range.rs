//! Range: making, walking over integers, membership. The rest is in `prelude/range.rb`.

use crate::names as n;
use crate::natives::{Native, on_class, private, public};
use crate::object::{Alloc, c};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, R, Vm};

impl Vm {
    pub(crate) fn new_range(&mut self, lo: Value, hi: Value, excl: bool) -> R {
        if !(lo.is_fix() && hi.is_fix() || lo.is_nil() || hi.is_nil() || lo.is_str() && hi.is_str())
        {
            let ordered = self.has_method(lo, n::CMP) || self.responds(lo, n::CMP, true)?;
            if !ordered || self.send(lo, n::CMP, &[hi])?.is_nil() {
                return self.arg_error("bad value for range");
            }
        }
        Ok(self.heap.range(c::RANGE, lo, hi, excl))
    }
}

fn parts(vm: &Vm, a: Args) -> (Value, Value, bool) {
    let r = vm.heap.rng(a.recv);
    (r.lo, r.hi, r.excl)
}

const METHODS: &[Native] = &[
    on_class("new", 0, -1, |vm, a| {
        let class = a.recv.index() as u32;
        if class == c::RANGE {
            if !(2..=3).contains(&a.argc) {
                return vm.wrong_args(a.argc as usize, 2, Some(3));
            }
            let (lo, hi) = (vm.arg(a, 0), vm.arg(a, 1));
            let excl = vm.opt(a, 2).unwrap_or(FALSE).truthy();
            return vm.new_range(lo, hi, excl);
        }
        let v = vm.allocate(class)?;
        let args = vm.args(a);
        vm.send_full(v, n::INITIALIZE, &args, a.block, a.kw)?;
        Ok(v)
    }),
    private("initialize", 2, 3, |vm, a| {
        vm.check_frozen(a.recv)?;
        if vm.heap.rng(a.recv).ready {
            let text = "`initialize' called twice";
            let e = vm.name_error(c::NAME_ERROR, text, n::INITIALIZE, a.recv)?;
            return vm.throw(e);
        }
        let (lo, hi) = (vm.arg(a, 0), vm.arg(a, 1));
        let excl = vm.opt(a, 2).unwrap_or(FALSE).truthy();
        vm.new_range(lo, hi, excl)?;
        let me = &mut vm.heap.ranges[a.recv.index()];
        (me.lo, me.hi, me.excl, me.ready) = (lo, hi, excl, true);
        me.frozen = me.class == c::RANGE;
        Ok(NIL)
    }),
    public("begin", 0, 0, |vm, a| Ok(parts(vm, a).0)).also(&["__lo"]),
    public("end", 0, 0, |vm, a| Ok(parts(vm, a).1)).also(&["__hi"]),
    public("exclude_end?", 0, 0, |vm, a| Ok(Value::bool(parts(vm, a).2))),
    public("each", 0, 0, |vm, a| {
        let (lo, hi, excl) = parts(vm, a);
        if a.block.is_nil() {
            let size = if lo.is_int() { vm.call_name(a.recv, "size", &[])? } else { NIL };
            return vm.enumerator_sized(a, size);
        }
        if let (Some(x), Some(y)) = (lo.fixnum(), hi.fixnum()) {
            let end = if excl { y } else { y + 1 };
            let held = vm.hold_call(a);
            let mut i = x;
            while i < end {
                vm.open(held).yield1(a.block, Value::fix(i))?;
                i += 1
            }
            return Ok(a.recv);
        }
        let each = vm.intern("__each");
        vm.open_call(a).send_full(a.recv, each, &[], a.block, false)
    }),
    public("to_a", 0, 0, |vm, a| {
        let (lo, hi, _) = parts(vm, a);
        if hi.is_nil() {
            return vm.fail(c::RANGE_ERROR, "cannot convert endless range to an array");
        }
        let _ = lo;
        vm.hold_call(a);
        let items = vm.each_to_vec(a.recv)?;
        Ok(vm.arr(items))
    })
    .also(&["to_ary_", "entries"]),
    public("==", 1, 1, |vm, a| same(vm, a, false)),
    public("eql?", 1, 1, |vm, a| same(vm, a, true)),
    public("hash", 0, 0, |vm, a| {
        let (lo, hi, e) = parts(vm, a);
        let (x, y) = (vm.hash_of(lo)?, vm.hash_of(hi)?);
        let x = x.rotate_left(9) ^ y ^ (u64::from(e) << 40);
        Ok(Value::fix((x >> 3) as i64))
    }),
    public("cover?", 1, 1, |vm, a| {
        let (lo, hi, e) = parts(vm, a);
        let v = vm.arg(a, 0);
        if v.is_range() {
            return vm.call_name(a.recv, "__cover_range", &[v]);
        }
        if !lo.is_nil() {
            let r = vm.send(lo, n::CMP, &[v])?;
            if r.is_nil() || vm.cmp_result(r, lo, v)?.is_gt() {
                return Ok(FALSE);
            }
        }
        if !hi.is_nil() {
            let r = vm.send(v, n::CMP, &[hi])?;
            if r.is_nil() {
                return Ok(FALSE);
            }
            let o = vm.cmp_result(r, v, hi)?;
            if o.is_gt() || (e && o.is_eq()) {
                return Ok(FALSE);
            }
        }
        Ok(TRUE)
    }),
    public("===", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        let r = vm.call_name(a.recv, "cover?", &[v]);
        match r {
            Ok(v) => Ok(v),
            Err(u) => {
                if vm.take_raise().is_some() {
                    Ok(FALSE)
                } else {
                    Err(u)
                }
            }
        }
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let k = c::RANGE;
    vm.classes[k as usize].alloc = Alloc::Range;
    vm.include_module(k, c::ENUMERABLE);
    vm.natives(c::RANGE, METHODS);
    for (name, inspect) in [("to_s", false), ("inspect", true)] {
        let _ = inspect;
        vm.def(
            k,
            name,
            |vm, a| {
                let (lo, hi, e) = parts(vm, a);
                let ins = vm.syms.bytes(vm.methods[a.method as usize].orig) == b"inspect";
                let f = |vm: &mut Vm, v: Value| -> crate::vm::Res<String> {
                    if ins {
                        if v.is_nil() { Ok(String::new()) } else { vm.inspect_string(v) }
                    } else {
                        vm.to_s(v)
                    }
                };
                let (x, y) = (f(vm, lo)?, f(vm, hi)?);
                let (x, y) = if ins && lo.is_nil() && hi.is_nil() {
                    ("nil".to_owned(), "nil".to_owned())
                } else {
                    (x, y)
                };
                Ok(vm.str(format!("{x}{}{y}", if e { "..." } else { ".." })))
            },
            0,
            0,
        );
    }
}

fn same(vm: &mut Vm, a: Args, eql: bool) -> R {
    let o = vm.arg(a, 0);
    if !o.is_range() {
        return Ok(FALSE);
    }
    let (x, y) = (vm.heap.rng(a.recv), vm.heap.rng(o));
    let (l1, h1, e1, l2, h2, e2) = (x.lo, x.hi, x.excl, y.lo, y.hi, y.excl);
    if e1 != e2 {
        return Ok(FALSE);
    }
    let r = if eql {
        vm.eql(l1, l2)? && vm.eql(h1, h2)?
    } else {
        vm.equal(l1, l2)? && vm.equal(h1, h2)?
    };
    Ok(Value::bool(r))
}
