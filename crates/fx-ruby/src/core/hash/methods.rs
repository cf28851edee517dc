//! Hash methods that are hot or touch the table. The rest is in `prelude/hash.rb`.

use crate::names as n;
use crate::natives::{Native, on_class, private, public};
use crate::object::{Alloc, c};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, R, Res, Vm};

fn size(vm: &Vm, a: Args) -> Value {
    Value::fix(vm.heap.h(a.recv).live as i64)
}

pub(crate) fn key_error<T>(vm: &mut Vm, recv: Value, key: Value) -> Res<T> {
    let t = vm.inspect_string(key)?;
    let e = vm.make_error(c::KEY_ERROR, format!("key not found: {t}"))?;
    vm.ivar_set(e, n::IV_RECEIVER, recv);
    vm.ivar_set(e, n::IV_KEY, key);
    vm.throw(e)
}

fn same(vm: &mut Vm, a: Args, eql: bool) -> R {
    let o = vm.arg(a, 0);
    if a.recv == o {
        return Ok(TRUE);
    }
    if !o.is_hash() {
        if o.is_obj() && vm.responds(o, n::TO_HASH, false)? {
            return Ok(Value::bool(
                vm.send(o, if eql { n::EQL } else { n::EQ }, &[a.recv])?.truthy(),
            ));
        }
        return Ok(FALSE);
    }
    if vm.heap.h(a.recv).live != vm.heap.h(o).live {
        return Ok(FALSE);
    }
    let me = a.recv;
    let r = vm.recurse(me, |vm| {
        for (k, v) in vm.hash_pairs(me) {
            let Some(w) = vm.hash_get(o, k)? else { return Ok(false) };
            if !(if eql { vm.eql(v, w)? } else { vm.equal(v, w)? }) {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    Ok(Value::bool(r.unwrap_or(true)))
}

/// Puts the arguments of a native call into a hash, by its block where a key is there already.
fn merge_into(vm: &mut Vm, a: Args, target: Value) -> Res<()> {
    let held = vm.hold_call(a);
    vm.hold(target);
    let from = vm.held_end();
    for i in 0..a.argc {
        let other = vm.arg(a, i);
        let other = vm.to_hash(other)?;
        let pairs = vm.hash_pairs(other);
        if !a.block.is_nil() {
            // The block may change the other hash.
            for (k, v) in &pairs {
                vm.hold(*k);
                vm.hold(*v);
            }
        }
        for (k, v) in pairs {
            let v = match if a.block.is_nil() { None } else { vm.hash_get(target, k)? } {
                Some(old) => vm.open(held).yield_n(a.block, &[k, old, v])?,
                None => v,
            };
            vm.hash_set(target, k, v)?;
        }
        vm.stack.truncate(from);
    }
    Ok(())
}

fn filter(vm: &mut Vm, a: Args, keep: bool, bang: bool) -> R {
    if a.block.is_nil() {
        let s = size(vm, a);
        return vm.enumerator_sized(a, s);
    }
    if bang {
        vm.check_frozen(a.recv)?;
        let before = vm.heap.h(a.recv).live;
        let h = a.recv;
        let held = vm.hold_call(a);
        let key = vm.hold(NIL);
        vm.hash_each(h, |vm, k, v| {
            vm.set_held(key, k);
            if vm.open(held).yield2(a.block, k, v)?.truthy() != keep {
                vm.hash_delete(h, k)?;
            }
            Ok(true)
        })?;
        return Ok(if vm.heap.h(a.recv).live == before { NIL } else { a.recv });
    }
    let out = vm.hash();
    vm.heap.h_mut(out).identity = vm.heap.h(a.recv).identity;
    let h = a.recv;
    let held = vm.hold_call(a);
    vm.hold(out);
    let (key, value) = (vm.hold(NIL), vm.hold(NIL));
    vm.hash_each(h, |vm, k, v| {
        vm.set_held(key, k);
        vm.set_held(value, v);
        if vm.open(held).yield2(a.block, k, v)?.truthy() == keep {
            vm.hash_set(out, k, v)?;
        }
        Ok(true)
    })?;
    Ok(out)
}

const METHODS: &[Native] = &[
    private("initialize", 0, 1, |vm, mut a| {
        vm.check_frozen(a.recv)?;
        if a.kw {
            let kw = vm.take_kw(&mut a);
            if let Some(h) = kw {
                vm.heap.h_mut(a.recv).default = h;
                if !a.block.is_nil() {
                    return vm.wrong_args(1, 0, Some(0));
                }
                return Ok(a.recv);
            }
        }
        if a.block.is_nil() {
            let default = vm.opt(a, 0).unwrap_or(NIL);
            let me = vm.heap.h_mut(a.recv);
            me.default = default;
            me.default_proc = NIL;
        } else {
            if a.argc > 0 {
                return vm.wrong_args(a.argc as usize, 0, Some(0));
            }
            let p = vm.keep_block(a.block);
            if vm.heap.pr(p).lambda {
                let ar = vm.proc_arity(p);
                if ar != 2 && !(-3..0).contains(&ar) {
                    let want = if ar < 0 { -ar - 1 } else { ar };
                    return vm
                        .type_error(format!("default_proc takes two arguments (2 for {want})"));
                }
            }
            vm.heap.h_mut(a.recv).default_proc = p;
        }
        Ok(a.recv)
    }),
    public("initialize_copy", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        vm.check_frozen(a.recv)?;
        let o = vm.to_hash(o)?;
        if vm.heap.h(a.recv).iterating > 0 && o != a.recv {
            return vm.fail(c::RUNTIME_ERROR, "can't replace hash during iteration");
        }
        let mut h = vm.heap.h(o).clone();
        let me = vm.heap.h(a.recv);
        h.class = me.class;
        h.frozen = false;
        h.iterating = me.iterating;
        *vm.heap.h_mut(a.recv) = h;
        Ok(a.recv)
    })
    .also(&["replace"]),
    on_class("try_convert", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        if v.is_hash() {
            return Ok(v);
        }
        match vm.try_send(v, n::TO_HASH, &[])? {
            Some(h) if h.is_hash() || h.is_nil() => Ok(h),
            Some(h) => {
                let (x, y) = (vm.type_name(v), vm.type_name(h));
                vm.type_error(format!("can't convert {x} to Hash ({x}#to_hash gives {y})"))
            }
            None => Ok(NIL),
        }
    }),
    public("[]", 1, 1, |vm, a| {
        let key = vm.arg(a, 0);
        vm.hash_aref(a.recv, key)
    }),
    public("fetch", 1, 2, |vm, a| {
        let key = vm.arg(a, 0);
        if a.argc == 2 && !a.block.is_nil() {
            vm.warn_here("block supersedes default value argument", false)?;
        }
        if let Some(v) = vm.hash_get(a.recv, key)? {
            return Ok(v);
        }
        if !a.block.is_nil() {
            return vm.open_call(a).yield1(a.block, key);
        }
        if let Some(d) = vm.opt(a, 1) {
            return Ok(d);
        }
        key_error(vm, a.recv, key)
    }),
    public("key?", 1, 1, |vm, a| {
        let key = vm.arg(a, 0);
        Ok(Value::bool(vm.hash_get(a.recv, key)?.is_some()))
    })
    .also(&["has_key?", "include?", "member?"]),
    public("delete", 1, 1, |vm, a| {
        vm.check_frozen(a.recv)?;
        let key = vm.arg(a, 0);
        match vm.hash_delete(a.recv, key)? {
            Some(v) => Ok(v),
            None if !a.block.is_nil() => vm.open_call(a).yield1(a.block, key),
            None => Ok(NIL),
        }
    }),
    public("length", 0, 0, |vm, a| Ok(size(vm, a))).also(&["size"]),
    public("empty?", 0, 0, |vm, a| Ok(Value::bool(vm.heap.h(a.recv).live == 0))),
    public("keys", 0, 0, |vm, a| {
        let l = vm.heap.h(a.recv).pairs().map(|p| p.0).collect();
        Ok(vm.arr(l))
    }),
    public("values", 0, 0, |vm, a| {
        let l = vm.heap.h(a.recv).pairs().map(|p| p.1).collect();
        Ok(vm.arr(l))
    }),
    public("to_a", 0, 0, |vm, a| {
        let l = vm.hash_pairs(a.recv).into_iter().map(|(x, y)| vm.arr(vec![x, y])).collect();
        Ok(vm.arr(l))
    }),
    public("to_hash", 0, 0, |_, a| Ok(a.recv)),
    public("each", 0, 0, |vm, a| {
        if a.block.is_nil() {
            let s = size(vm, a);
            return vm.enumerator_sized(a, s);
        }
        let h = a.recv;
        let two = vm.heap.pr(a.block).lambda && vm.proc_arity(a.block) == 2;
        let held = vm.hold_call(a);
        vm.hash_each(h, |vm, k, v| {
            if two {
                vm.open(held).yield2(a.block, k, v)?;
            } else {
                vm.open(held).yield_pair(a.block, k, v)?;
            }
            Ok(true)
        })?;
        Ok(a.recv)
    })
    .also(&["each_pair"]),
    public("each_key", 0, 0, |vm, a| {
        if a.block.is_nil() {
            let s = size(vm, a);
            return vm.enumerator_sized(a, s);
        }
        let h = a.recv;
        let held = vm.hold_call(a);
        vm.hash_each(h, |vm, k, _| {
            vm.open(held).yield1(a.block, k)?;
            Ok(true)
        })?;
        Ok(a.recv)
    }),
    public("each_value", 0, 0, |vm, a| {
        if a.block.is_nil() {
            let s = size(vm, a);
            return vm.enumerator_sized(a, s);
        }
        let h = a.recv;
        let held = vm.hold_call(a);
        vm.hash_each(h, |vm, _, v| {
            vm.open(held).yield1(a.block, v)?;
            Ok(true)
        })?;
        Ok(a.recv)
    }),
    public("map", 0, 0, |vm, a| {
        if a.block.is_nil() {
            let s = size(vm, a);
            return vm.enumerator_sized(a, s);
        }
        let h = a.recv;
        let held = vm.hold_call(a);
        let from = vm.held_end();
        vm.hash_each(h, |vm, k, v| {
            let made = vm.open(held).yield_pair(a.block, k, v)?;
            vm.hold(made);
            Ok(true)
        })?;
        let out = vm.take_held(from, vm.held_end() - from);
        Ok(vm.arr(out))
    })
    .also(&["collect"]),
    public("select", 0, 0, |vm, a| filter(vm, a, true, false)).also(&["filter"]),
    public("reject", 0, 0, |vm, a| filter(vm, a, false, false)),
    public("select!", 0, 0, |vm, a| filter(vm, a, true, true)).also(&["filter!"]),
    public("reject!", 0, 0, |vm, a| filter(vm, a, false, true)),
    public("keep_if", 0, 0, |vm, a| {
        if a.block.is_nil() {
            return filter(vm, a, true, true);
        }
        filter(vm, a, true, true)?;
        Ok(a.recv)
    }),
    public("delete_if", 0, 0, |vm, a| {
        if a.block.is_nil() {
            return filter(vm, a, false, true);
        }
        filter(vm, a, false, true)?;
        Ok(a.recv)
    }),
    public("merge", 0, -1, |vm, a| {
        let out = vm.copy(a.recv)?;
        merge_into(vm, a, out)?;
        Ok(out)
    }),
    public("merge!", 0, -1, |vm, a| {
        vm.check_frozen(a.recv)?;
        merge_into(vm, a, a.recv)?;
        Ok(a.recv)
    })
    .also(&["update"]),
    public("==", 1, 1, |vm, a| same(vm, a, false)),
    public("eql?", 1, 1, |vm, a| same(vm, a, true)),
    public("hash", 0, 0, |vm, a| {
        let me = a.recv;
        let r = vm.recurse(me, |vm| {
            let mut h = vm.heap.h(me).live as u64;
            for (k, v) in vm.hash_pairs(me) {
                let (x, y) = (vm.hash_of(k)?, vm.hash_of(v)?);
                h = h.wrapping_add(x.wrapping_mul(31) ^ y.rotate_left(17))
            }
            Ok(h)
        })?;
        Ok(Value::fix((r.unwrap_or(7) >> 3) as i64))
    }),
    public("to_s", 0, 0, |vm, a| {
        let me = a.recv;
        let r = vm.recurse(me, |vm| {
            let pairs = vm.hash_pairs(me);
            if pairs.is_empty() {
                return Ok(b"{}".to_vec());
            }
            let mut out = Vec::from(&b"{"[..]);
            for (i, (k, v)) in pairs.into_iter().enumerate() {
                if i > 0 {
                    out.extend_from_slice(b", ")
                }
                out.extend(vm.inspect_key(k)?);
                let s = vm.inspect(v)?;
                out.extend_from_slice(vm.bytes(s));
            }
            out.push(b'}');
            Ok(out)
        })?;
        Ok(vm.str(r.unwrap_or_else(|| b"{...}".to_vec())))
    })
    .also(&["inspect"]),
    public("clear", 0, 0, |vm, a| {
        vm.check_frozen(a.recv)?;
        if vm.heap.h(a.recv).iterating > 0 {
            for (k, _) in vm.hash_pairs(a.recv) {
                vm.hash_delete(a.recv, k)?;
            }
        } else {
            vm.heap.h_mut(a.recv).clear()
        }
        Ok(a.recv)
    }),
    public("shift", 0, 0, |vm, a| {
        vm.check_frozen(a.recv)?;
        let first = vm.heap.h(a.recv).pairs().next();
        match first {
            Some((k, v)) => {
                vm.hash_delete(a.recv, k)?;
                Ok(vm.arr(vec![k, v]))
            }
            None => Ok(NIL),
        }
    }),
    public("first", 0, 1, |vm, a| {
        if let Some(c) = vm.opt(a, 0) {
            let c = vm.to_int(c)?;
            if c < 0 {
                return vm.arg_error("attempt to take negative size");
            }
            let l = vm
                .hash_pairs(a.recv)
                .into_iter()
                .take(c as usize)
                .map(|(x, y)| vm.arr(vec![x, y]))
                .collect();
            return Ok(vm.arr(l));
        }
        let first = vm.heap.h(a.recv).pairs().next();
        Ok(first.map_or(NIL, |(x, y)| vm.arr(vec![x, y])))
    }),
    public("default", 0, 1, |vm, a| {
        let h = vm.heap.h(a.recv);
        let (p, d) = (h.default_proc, h.default);
        if !p.is_nil() {
            return match vm.opt(a, 0) {
                Some(key) => vm.open_call(a).call_proc(p, &[a.recv, key], NIL, false),
                None => Ok(NIL),
            };
        }
        Ok(d)
    }),
    public("default=", 1, 1, |vm, a| {
        vm.check_frozen(a.recv)?;
        let v = vm.arg(a, 0);
        let h = vm.heap.h_mut(a.recv);
        h.default = v;
        h.default_proc = NIL;
        Ok(v)
    }),
    public("default_proc", 0, 0, |vm, a| Ok(vm.heap.h(a.recv).default_proc)),
    public("default_proc=", 1, 1, |vm, a| {
        vm.check_frozen(a.recv)?;
        let v = vm.arg(a, 0);
        let p = if v.is_nil() || v.is_proc() {
            v
        } else {
            match vm.try_send(v, n::TO_PROC, &[])? {
                Some(p) if p.is_proc() => p,
                _ => {
                    let t = vm.type_name(v);
                    return vm.type_error(format!("wrong default_proc type {t} (expected Proc)"));
                }
            }
        };
        if p.is_proc() && vm.heap.pr(p).lambda {
            let ar = vm.proc_arity(p);
            if ar != 2 && !(-3..0).contains(&ar) {
                let want = if ar < 0 { -ar - 1 } else { ar };
                return vm.type_error(format!("default_proc takes two arguments (2 for {want})"));
            }
        }
        vm.heap.escape(p);
        let h = vm.heap.h_mut(a.recv);
        h.default_proc = p;
        h.default = NIL;
        Ok(v)
    }),
    public("compare_by_identity", 0, 0, |vm, a| {
        if vm.heap.h(a.recv).identity {
            return Ok(a.recv);
        }
        vm.check_frozen(a.recv)?;
        if vm.heap.h(a.recv).iterating > 0 {
            return vm.fail(c::RUNTIME_ERROR, "compare_by_identity during iteration");
        }
        let pairs = vm.hash_pairs(a.recv);
        let h = vm.heap.h_mut(a.recv);
        h.clear();
        h.identity = true;
        for (k, v) in pairs {
            vm.hash_set(a.recv, k, v)?;
        }
        Ok(a.recv)
    }),
    public("compare_by_identity?", 0, 0, |vm, a| Ok(Value::bool(vm.heap.h(a.recv).identity))),
    public("rehash", 0, 0, |vm, a| {
        if vm.heap.h(a.recv).iterating > 0 {
            return vm.fail(c::RUNTIME_ERROR, "rehash during iteration");
        }
        vm.check_frozen(a.recv)?;
        let pairs = vm.hash_pairs(a.recv);
        vm.heap.h_mut(a.recv).clear();
        for (k, v) in pairs {
            if vm.hash_get(a.recv, k)?.is_none() {
                vm.hash_set(a.recv, k, v)?;
            }
        }
        Ok(a.recv)
    }),
    on_class("ruby2_keywords_hash?", 1, 1, |vm, a| {
        let h = vm.arg(a, 0);
        let h = vm.to_hash(h)?;
        Ok(Value::bool(vm.heap.h(h).ruby2))
    }),
    on_class("ruby2_keywords_hash", 1, 1, |vm, a| {
        let h = vm.arg(a, 0);
        let h = vm.to_hash(h)?;
        let c2 = vm.copy(h)?;
        vm.heap.h_mut(c2).ruby2 = true;
        Ok(c2)
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let k = c::HASH;
    vm.classes[k as usize].alloc = Alloc::Hash;
    vm.include_module(k, c::ENUMERABLE);
    vm.natives(c::HASH, METHODS);
    for name in ["[]=", "store"] {
        vm.def(
            k,
            name,
            |vm, a| {
                vm.check_frozen(a.recv)?;
                let (key, v) = (vm.arg(a, 0), vm.arg(a, 1));
                vm.hash_set(a.recv, key, v)?;
                Ok(v)
            },
            2,
            2,
        );
    }
}
