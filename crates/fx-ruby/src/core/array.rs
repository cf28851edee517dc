//! Array: the methods that are hot or touch the vector. The rest is in `prelude/array.rb`.

mod transform;

use std::cmp::Ordering;

use crate::gc::Held;
use crate::names as n;
use crate::natives::{Native, on_class, private, public};
use crate::object::{Alloc, c};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, R, Res, Unwind, Vm};

fn at(vm: &Vm, v: Value, i: i64) -> Value {
    let items = vm.heap.arr(v);
    let i = if i < 0 { i + items.len() as i64 } else { i };
    usize::try_from(i).ok().and_then(|i| items.get(i).copied()).unwrap_or(NIL)
}

fn aref(vm: &mut Vm, a: Args) -> R {
    let i = vm.arg(a, 0);
    let len = vm.heap.arr(a.recv).len();
    let (from, n) = if let Some(l) = vm.opt(a, 1) {
        let (i, l) = (vm.to_int(i)?, vm.to_int(l)?);
        let i = if i < 0 { i + len as i64 } else { i };
        if i < 0 || i > len as i64 || l < 0 {
            return Ok(NIL);
        }
        (i as usize, (l as usize).min(len - i as usize))
    } else if i.is_fix() {
        return Ok(at(vm, a.recv, i.as_fix()));
    } else if i.is_range() {
        match crate::core::string::range_bounds(vm, i, len)? {
            Some(b) => b,
            None => return Ok(NIL),
        }
    } else if i.is_obj() && {
        let s = vm.intern("__aseq");
        vm.has_method(i, s)
    } {
        return vm.call_name(a.recv, "__slice_seq", &[i]);
    } else {
        let i = vm.to_int(i)?;
        return Ok(at(vm, a.recv, i));
    };
    let items = vm.heap.arr(a.recv)[from..from + n].to_vec();
    Ok(vm.arr(items))
}

fn aset(vm: &mut Vm, a: Args) -> R {
    vm.check_frozen(a.recv)?;
    let i = vm.arg(a, 0);
    let v = vm.arg(a, a.argc - 1);
    let len = vm.heap.arr(a.recv).len() as i64;
    let (from, n) = if a.argc == 3 {
        let l = vm.arg(a, 1);
        let (k, l) = (vm.to_int(i)?, vm.to_int(l)?);
        if l < 0 {
            return vm.fail(c::INDEX_ERROR, format!("negative length ({l})"));
        }
        let f = if k < 0 { k + len } else { k };
        if f < 0 {
            return vm
                .fail(c::INDEX_ERROR, format!("index {k} too small for array; minimum: -{len}"));
        }
        (f, l)
    } else if i.is_range() {
        let r = vm.heap.rng(i);
        let (lo, hi, excl) = (r.lo, r.hi, r.excl);
        let f = if lo.is_nil() { 0 } else { vm.to_int(lo)? };
        let t = if hi.is_nil() { -1 } else { vm.to_int(hi)? };
        let f2 = if f < 0 { f + len } else { f };
        if f2 < 0 {
            let t = vm.inspect_string(i)?;
            return vm.fail(c::RANGE_ERROR, format!("{t} out of range"));
        }
        let t = if t < 0 { t + len } else { t };
        (f2, (t - f2 + i64::from(!excl || hi.is_nil())).max(0))
    } else {
        let k = vm.to_int(i)?;
        let f = if k < 0 { k + len } else { k };
        if f < 0 {
            return vm
                .fail(c::INDEX_ERROR, format!("index {k} too small for array; minimum: -{len}"));
        }
        if f >= len {
            grow(vm, a.recv, f as usize + 1)?;
        }
        vm.heap.arr_mut(a.recv)[f as usize] = v;
        return Ok(v);
    };
    let new = match vm.check_ary(v)? {
        Some(l) => vm.heap.arr(l).clone(),
        None => vec![v],
    };
    if from > len {
        grow(vm, a.recv, from as usize)?;
    }
    let items = vm.heap.arr_mut(a.recv);
    let end = (from.saturating_add(n)).min(items.len() as i64) as usize;
    items.splice(from as usize..end.max(from as usize), new);
    Ok(v)
}

fn grow(vm: &mut Vm, v: Value, len: usize) -> Res<()> {
    if len > 1 << 36 {
        return vm.fail(c::INDEX_ERROR, format!("index {} too big", len - 1));
    }
    vm.reserve(len * 8)?;
    vm.heap.bytes += len * 8;
    vm.heap.arr_mut(v).resize(len, NIL);
    Ok(())
}

/// Sorts with an order that may raise.
pub(crate) fn sort_values(
    vm: &mut Vm,
    items: &mut [Value],
    mut cmp: impl FnMut(&mut Vm, Value, Value) -> Res<Ordering>,
) -> Res<()> {
    let mut failed = false;
    items.sort_by(|a, b| {
        if failed {
            return Ordering::Equal;
        }
        match cmp(vm, *b, *a) {
            Ok(o) => o.reverse(),
            Err(Unwind) => {
                failed = true;
                Ordering::Equal
            }
        }
    });
    if failed { Err(Unwind) } else { Ok(()) }
}

fn sorted(vm: &mut Vm, a: Args) -> Res<Vec<Value>> {
    let mut items = vm.heap.arr(a.recv).clone();
    if a.block.is_nil() {
        if items.iter().all(|v| v.is_fix()) && !vm.redefined {
            items.sort_unstable_by_key(|v| v.as_fix());
            return Ok(items);
        }
        sort_values(vm, &mut items, Vm::compare)?;
    } else {
        let held = vm.hold_call(a);
        let copy = vm.arr(items.clone());
        vm.hold(copy);
        sort_values(vm, &mut items, |vm, x, y| {
            let r = vm.open(held).yield2(a.block, x, y)?;
            vm.cmp_result(r, x, y)
        })?;
    }
    Ok(items)
}

fn flatten(
    vm: &mut Vm,
    v: Value,
    depth: i64,
    out: &mut Vec<Value>,
    seen: &mut Vec<Value>,
) -> Res<bool> {
    if seen.contains(&v) {
        return vm.arg_error("tried to flatten recursive array");
    }
    if seen.len() > 5000 {
        return vm.too_deep();
    }
    seen.push(v);
    let mut changed = false;
    for i in 0..vm.heap.arr(v).len() {
        let Some(item) = vm.heap.arr(v).get(i).copied() else { break };
        let sub = if depth == 0 { None } else { vm.check_ary(item)? };
        match sub {
            Some(l) => {
                changed = true;
                flatten(vm, l, depth - 1, out, seen)?;
            }
            None => out.push(item),
        }
    }
    seen.pop();
    Ok(changed)
}

fn join(
    vm: &mut Vm,
    v: Value,
    sep: &[u8],
    out: &mut Vec<u8>,
    enc: &mut u8,
    first: &mut bool,
) -> Res<()> {
    let r = vm.recurse(v, |vm| {
        for i in 0..vm.heap.arr(v).len() {
            let Some(item) = vm.heap.arr(v).get(i).copied() else { break };
            if let (false, true) = (*first, !item.is_arr()) {
                out.extend_from_slice(sep)
            }
            if item.is_arr() {
                if !*first && !vm.heap.arr(item).is_empty() {
                    out.extend_from_slice(sep);
                    *first = true
                }
                if vm.heap.arr(item).is_empty() && !*first {
                    out.extend_from_slice(sep)
                }
                let was = *first;
                *first = true;
                join(vm, item, sep, out, enc, first)?;
                *first = false;
                let _ = was;
                continue;
            }
            *first = false;
            let s = if item.is_str() {
                item
            } else if let Some(s) = vm.check_str(item)? {
                s
            } else if let Some(l) = vm.check_ary(item)? {
                *first = true;
                join(vm, l, sep, out, enc, first)?;
                *first = false;
                continue;
            } else {
                vm.interpolate(item)?
            };
            let st = vm.heap.str(s);
            if !st.bytes.is_ascii() {
                if *enc != st.enc && !out.is_ascii() {
                    let (x, y) = (crate::encoding::name(*enc), crate::encoding::name(st.enc));
                    let class = vm.compat_error_class();
                    return vm
                        .fail(class, format!("incompatible character encodings: {x} and {y}"));
                }
                *enc = st.enc;
            }
            let b = vm.bytes(s);
            out.extend_from_slice(b);
        }
        Ok(())
    })?;
    if r.is_none() {
        return vm.arg_error("recursive array join");
    }
    Ok(())
}

/// Removes what a block wants gone; true when anything was.
fn retain(vm: &mut Vm, a: Args, keep_when: bool) -> Res<bool> {
    vm.check_frozen(a.recv)?;
    let held = vm.hold_call(a);
    let from = vm.held_end();
    let mut count = 0;
    let mut i = 0;
    let mut result = Ok(());
    while i < vm.heap.arr(a.recv).len() {
        let v = vm.heap.arr(a.recv)[i];
        vm.hold(v);
        match vm.open(held).yield1(a.block, v) {
            Ok(r) if r.truthy() == keep_when => count += 1,
            Ok(_) => vm.stack.truncate(from + count),
            Err(u) => {
                result = Err(u);
                break;
            }
        }
        i += 1;
    }
    let rest = vm.heap.arr(a.recv)[i.min(vm.heap.arr(a.recv).len())..].to_vec();
    let before = vm.heap.arr(a.recv).len();
    let mut kept = vm.take_held(from, count);
    kept.extend(rest);
    let changed = kept.len() != before;
    *vm.heap.arr_mut(a.recv) = kept;
    result.map(|()| changed)
}

/// The first of those items that are the same, or for which a block gives the same.
fn uniq(vm: &mut Vm, items: Vec<Value>, block: Option<(Value, Held)>) -> Res<Vec<Value>> {
    let seen = vm.hash();
    vm.hold(seen);
    if block.is_some() {
        let copy = vm.arr(items.clone());
        vm.hold(copy);
    }
    let mut out = Vec::new();
    for v in items {
        let key = match block {
            None => v,
            Some((block, held)) => vm.open(held).yield1(block, v)?,
        };
        if vm.hash_get(seen, key)?.is_none() {
            vm.hash_set(seen, key, TRUE)?;
            out.push(v)
        }
    }
    Ok(out)
}

/// The items of the other array, to be asked for.
fn members(vm: &mut Vm, a: Args) -> R {
    let other = vm.arg(a, 0);
    let other = vm.to_ary(other)?;
    let seen = vm.hash();
    for v in vm.heap.arr(other).clone() {
        vm.hash_set(seen, v, TRUE)?;
    }
    Ok(seen)
}

/// Our items of which this is true, given the members of the other array.
fn filtered(vm: &mut Vm, a: Args, keep: fn(&mut Vm, Value, Value) -> Res<bool>) -> R {
    let seen = members(vm, a)?;
    let mut out = Vec::new();
    for v in vm.heap.arr(a.recv).clone() {
        if keep(vm, seen, v)? {
            out.push(v)
        }
    }
    Ok(vm.arr(out))
}

const METHODS: &[Native] = &[
    on_class("[]", 0, -1, |vm, a| {
        let items = vm.args(a);
        Ok(vm.heap.array(a.recv.index() as u32, items))
    }),
    on_class("try_convert", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        Ok(vm.check_ary(v)?.unwrap_or(NIL))
    }),
    private("initialize", 0, 2, |vm, a| {
        vm.check_frozen(a.recv)?;
        if a.argc == 0 {
            if !a.block.is_nil() {
                vm.warn_here("given block not used", true)?;
            }
            vm.heap.arr_mut(a.recv).clear();
            return Ok(a.recv);
        }
        let first = vm.arg(a, 0);
        if a.argc == 1
            && !first.is_fix()
            && let Some(l) = vm.check_ary(first)?
        {
            let items = vm.heap.arr(l).clone();
            *vm.heap.arr_mut(a.recv) = items;
            return Ok(a.recv);
        }
        let len = vm.to_int(first)?;
        if len < 0 {
            return vm.arg_error("negative array size");
        }
        if len > 1 << 40 {
            return vm.arg_error("array size too big");
        }
        vm.reserve(len as usize * 8)?;
        if a.block.is_nil() {
            let v = vm.opt(a, 1).unwrap_or(NIL);
            vm.heap.bytes += len as usize * 8;
            *vm.heap.arr_mut(a.recv) = vec![v; len as usize];
        } else {
            if a.argc == 2 {
                vm.warn_here("block supersedes default value argument", false)?;
            }
            vm.heap.arr_mut(a.recv).clear();
            let held = vm.hold_call(a);
            for i in 0..len {
                let v = vm.open(held).yield1(a.block, Value::fix(i))?;
                vm.heap.arr_mut(a.recv).push(v);
                vm.heap.bytes += 8;
            }
        }
        Ok(a.recv)
    }),
    public("initialize_copy", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        vm.check_frozen(a.recv)?;
        let o = vm.to_ary(o)?;
        let items = vm.heap.arr(o).clone();
        *vm.heap.arr_mut(a.recv) = items;
        Ok(a.recv)
    })
    .also(&["replace"]),
    public("[]", 1, 2, aref),
    public("slice", 1, 2, aref),
    public("[]=", 2, 3, aset),
    public("at", 1, 1, |vm, a| {
        let i = vm.arg(a, 0);
        let i = vm.to_int(i)?;
        Ok(at(vm, a.recv, i))
    }),
    public("length", 0, 0, |vm, a| Ok(Value::fix(vm.heap.arr(a.recv).len() as i64)))
        .also(&["size"]),
    public("empty?", 0, 0, |vm, a| Ok(Value::bool(vm.heap.arr(a.recv).is_empty()))),
    public("<<", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        vm.check_frozen(a.recv)?;
        vm.heap.bytes += 8;
        vm.heap.arr_mut(a.recv).push(v);
        Ok(a.recv)
    }),
    public("push", 0, -1, |vm, a| {
        vm.check_frozen(a.recv)?;
        let items = vm.args(a);
        vm.heap.bytes += 8 * items.len();
        vm.heap.arr_mut(a.recv).extend(items);
        Ok(a.recv)
    })
    .also(&["append"]),
    public("pop", 0, 1, |vm, a| {
        vm.check_frozen(a.recv)?;
        if let Some(nv) = vm.opt(a, 0) {
            let cnt = vm.to_int(nv)?;
            if cnt < 0 {
                return vm.arg_error("negative array size");
            }
            let items = vm.heap.arr_mut(a.recv);
            let cut = items.len().saturating_sub(cnt as usize);
            let tail = items.split_off(cut);
            return Ok(vm.arr(tail));
        }
        Ok(vm.heap.arr_mut(a.recv).pop().unwrap_or(NIL))
    }),
    public("shift", 0, 1, |vm, a| {
        vm.check_frozen(a.recv)?;
        if let Some(nv) = vm.opt(a, 0) {
            let cnt = vm.to_int(nv)?;
            if cnt < 0 {
                return vm.arg_error("negative array size");
            }
            let items = vm.heap.arr_mut(a.recv);
            let cut = items.len().min(cnt as usize);
            let head: Vec<Value> = items.drain(..cut).collect();
            return Ok(vm.arr(head));
        }
        let items = vm.heap.arr_mut(a.recv);
        Ok(if items.is_empty() { NIL } else { items.remove(0) })
    }),
    public("unshift", 0, -1, |vm, a| {
        vm.check_frozen(a.recv)?;
        let items = vm.args(a);
        vm.heap.arr_mut(a.recv).splice(0..0, items);
        Ok(a.recv)
    })
    .also(&["prepend"]),
    public("concat", 0, -1, |vm, a| {
        vm.check_frozen(a.recv)?;
        let mut all = Vec::new();
        for v in vm.args(a) {
            let l = vm.to_ary(v)?;
            all.extend(vm.heap.arr(l).clone())
        }
        vm.heap.bytes += 8 * all.len();
        vm.heap.arr_mut(a.recv).extend(all);
        Ok(a.recv)
    }),
    public("+", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let o = vm.to_ary(o)?;
        let mut items = vm.heap.arr(a.recv).clone();
        items.extend_from_slice(vm.heap.arr(o));
        Ok(vm.arr(items))
    }),
    public("-", 1, 1, |vm, a| filtered(vm, a, |vm, seen, v| Ok(vm.hash_get(seen, v)?.is_none()))),
    public("&", 1, 1, |vm, a| {
        filtered(vm, a, |vm, seen, v| Ok(vm.hash_delete(seen, v)?.is_some()))
    }),
    public("|", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let o = vm.to_ary(o)?;
        let mut items = vm.heap.arr(a.recv).clone();
        items.extend_from_slice(vm.heap.arr(o));
        let out = uniq(vm, items, None)?;
        Ok(vm.arr(out))
    }),
    public("*", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        if let Some(s) = vm.check_str(o)? {
            let j = vm.intern("join");
            return vm.send(a.recv, j, &[s]);
        }
        let times = vm.to_int(o)?;
        if times < 0 {
            return vm.arg_error("argument must be non-negative");
        }
        let items = vm.heap.arr(a.recv);
        if items.len().saturating_mul(times as usize) > 1 << 36 {
            return vm.arg_error("argument too big");
        }
        let total = items.len() * times as usize;
        vm.reserve(total * 8)?;
        let out = vm.heap.arr(a.recv).repeat(times as usize);
        Ok(vm.arr(out))
    }),
    public("==", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        if a.recv == o {
            return Ok(TRUE);
        }
        if !o.is_arr() {
            if o.is_obj() && vm.responds(o, n::TO_ARY, false)? {
                return Ok(Value::bool(vm.send(o, n::EQ, &[a.recv])?.truthy()));
            }
            return Ok(FALSE);
        }
        if vm.heap.arr(a.recv).len() != vm.heap.arr(o).len() {
            return Ok(FALSE);
        }
        let me = a.recv;
        let r = vm.recurse(me, |vm| {
            for i in 0..vm.heap.arr(me).len() {
                let (x, y) = (vm.heap.arr(me)[i], vm.heap.arr(o).get(i).copied().unwrap_or(NIL));
                if !vm.equal(x, y)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        Ok(Value::bool(r.unwrap_or(true)))
    }),
    public("eql?", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        if !o.is_arr() {
            return Ok(FALSE);
        }
        Ok(Value::bool(vm.eql(a.recv, o)?))
    }),
    public("hash", 0, 0, |vm, a| Ok(Value::fix((vm.hash_of(a.recv)? >> 3) as i64))),
    public("to_s", 0, 0, |vm, a| {
        let me = a.recv;
        let r = vm.recurse(me, |vm| {
            let mut out = Vec::from(&b"["[..]);
            for i in 0..vm.heap.arr(me).len() {
                if i > 0 {
                    out.extend_from_slice(b", ")
                }
                let Some(v) = vm.heap.arr(me).get(i).copied() else { break };
                let s = vm.inspect(v)?;
                out.extend_from_slice(vm.bytes(s))
            }
            out.push(b']');
            Ok(out)
        })?;
        Ok(vm.str(r.unwrap_or_else(|| b"[...]".to_vec())))
    })
    .also(&["inspect"]),
    public("to_a", 0, 0, |vm, a| {
        if vm.real_class(a.recv) == c::ARRAY {
            return Ok(a.recv);
        }
        let items = vm.heap.arr(a.recv).clone();
        Ok(vm.arr(items))
    }),
    public("entries", 0, 0, |vm, a| {
        let items = vm.heap.arr(a.recv).clone();
        Ok(vm.arr(items))
    }),
    public("to_ary", 0, 0, |_, a| Ok(a.recv)),
    public("each", 0, 0, |vm, a| {
        if a.block.is_nil() {
            let s = Value::fix(vm.heap.arr(a.recv).len() as i64);
            return vm.enumerator_sized(a, s);
        }
        let held = vm.hold_call(a);
        let mut i = 0;
        while i < vm.heap.arr(a.recv).len() {
            let v = vm.heap.arr(a.recv)[i];
            vm.open(held).yield1(a.block, v)?;
            i += 1
        }
        Ok(a.recv)
    }),
    public("each_index", 0, 0, |vm, a| {
        if a.block.is_nil() {
            let s = Value::fix(vm.heap.arr(a.recv).len() as i64);
            return vm.enumerator_sized(a, s);
        }
        let held = vm.hold_call(a);
        let mut i = 0;
        while i < vm.heap.arr(a.recv).len() {
            vm.open(held).yield1(a.block, Value::fix(i as i64))?;
            i += 1
        }
        Ok(a.recv)
    }),
    public("each_with_index", 0, -1, |vm, a| {
        if a.block.is_nil() {
            let s = Value::fix(vm.heap.arr(a.recv).len() as i64);
            return vm.enumerator_sized(a, s);
        }
        let held = vm.hold_call(a);
        let mut i = 0;
        while i < vm.heap.arr(a.recv).len() {
            let v = vm.heap.arr(a.recv)[i];
            vm.open(held).yield2(a.block, v, Value::fix(i as i64))?;
            i += 1
        }
        Ok(a.recv)
    }),
    public("reverse_each", 0, 0, |vm, a| {
        if a.block.is_nil() {
            let s = Value::fix(vm.heap.arr(a.recv).len() as i64);
            return vm.enumerator_sized(a, s);
        }
        let held = vm.hold_call(a);
        let mut i = vm.heap.arr(a.recv).len();
        while i > 0 {
            i -= 1;
            let Some(v) = vm.heap.arr(a.recv).get(i).copied() else { continue };
            vm.open(held).yield1(a.block, v)?;
        }
        Ok(a.recv)
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let k = c::ARRAY;
    vm.classes[k as usize].alloc = Alloc::Array;
    vm.include_module(k, c::ENUMERABLE);
    vm.natives(c::ARRAY, METHODS);
    transform::init(vm);
}
