//! Array methods that make, combine and reorder: the second half of the table.

use super::{flatten, grow, join, retain, sort_values, sorted, uniq};
use crate::names as n;
use crate::natives::{Native, public};
use crate::object::c;
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::Vm;

const METHODS: &[Native] = &[
    public("map", 0, 0, |vm, a| {
        if a.block.is_nil() {
            let s = Value::fix(vm.heap.arr(a.recv).len() as i64);
            return vm.enumerator_sized(a, s);
        }
        let held = vm.hold_call(a);
        let out = vm.arr(Vec::with_capacity(vm.heap.arr(a.recv).len()));
        vm.hold(out);
        let mut i = 0;
        while let Some(v) = vm.heap.arr(a.recv).get(i).copied() {
            let made = vm.open(held).yield1(a.block, v)?;
            vm.heap.arr_mut(out).push(made);
            i += 1
        }
        vm.heap.bytes += i * 8;
        Ok(out)
    })
    .also(&["collect"]),
    public("first", 0, 1, |vm, a| {
        let Some(cnt) = vm.opt(a, 0) else {
            return Ok(vm.heap.arr(a.recv).first().copied().unwrap_or(NIL));
        };
        let cnt = vm.to_int(cnt)?;
        if cnt < 0 {
            return vm.arg_error("negative array size (or size too big)");
        }
        let items = vm.heap.arr(a.recv).iter().take(cnt as usize).copied().collect();
        Ok(vm.arr(items))
    }),
    public("last", 0, 1, |vm, a| {
        let Some(cnt) = vm.opt(a, 0) else {
            return Ok(vm.heap.arr(a.recv).last().copied().unwrap_or(NIL));
        };
        let cnt = vm.to_int(cnt)?;
        if cnt < 0 {
            return vm.arg_error("negative array size");
        }
        let items = vm.heap.arr(a.recv);
        let items = items[items.len().saturating_sub(cnt as usize)..].to_vec();
        Ok(vm.arr(items))
    }),
    public("include?", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let mut i = 0;
        while i < vm.heap.arr(a.recv).len() {
            let v = vm.heap.arr(a.recv)[i];
            if vm.equal(v, o)? {
                return Ok(TRUE);
            }
            i += 1
        }
        Ok(FALSE)
    }),
    public("index", 0, 1, |vm, a| {
        if a.argc == 0 && a.block.is_nil() {
            return vm.enumerator(a);
        }
        let held = vm.hold_call(a);
        let mut i = 0;
        while i < vm.heap.arr(a.recv).len() {
            let v = vm.heap.arr(a.recv)[i];
            let hit = if a.argc > 0 {
                let o = vm.arg(a, 0);
                vm.equal(v, o)?
            } else {
                vm.open(held).yield1(a.block, v)?.truthy()
            };
            if hit {
                return Ok(Value::fix(i as i64));
            }
            i += 1;
        }
        Ok(NIL)
    })
    .also(&["find_index"]),
    public("join", 0, 1, |vm, a| {
        let sep = match vm.opt(a, 0) {
            Some(v) if !v.is_nil() => {
                let s = vm.to_str(v)?;
                vm.bytes(s).to_vec()
            }
            _ => {
                let o = vm.global(n::GV_OFS);
                if o.is_str() { vm.bytes(o).to_vec() } else { Vec::new() }
            }
        };
        let (mut out, mut enc, mut first) = (Vec::new(), 0, true);
        if vm.heap.arr(a.recv).is_empty() {
            return Ok(vm.ascii(""));
        }
        if let Some(f) = vm.heap.arr(a.recv).first().copied() {
            if f.is_str() {
                enc = vm.heap.str(f).enc
            } else if f.is_fix() {
                enc = 2
            }
        }
        let me = a.recv;
        join(vm, me, &sep, &mut out, &mut enc, &mut first)?;
        if enc == 2 {
            enc = if out.is_ascii()
                && vm.heap.arr(a.recv).iter().all(|v| v.is_int())
                && sep.is_empty()
            {
                2
            } else {
                0
            }
        }
        Ok(vm.str_enc(out, enc))
    }),
    public("reverse", 0, 0, |vm, a| {
        let items = vm.heap.arr(a.recv).iter().rev().copied().collect();
        Ok(vm.arr(items))
    }),
    public("reverse!", 0, 0, |vm, a| {
        vm.check_frozen(a.recv)?;
        vm.heap.arr_mut(a.recv).reverse();
        Ok(a.recv)
    }),
    public("sort", 0, 0, |vm, a| {
        let items = sorted(vm, a)?;
        Ok(vm.arr(items))
    }),
    public("sort!", 0, 0, |vm, a| {
        vm.check_frozen(a.recv)?;
        let items = sorted(vm, a)?;
        *vm.heap.arr_mut(a.recv) = items;
        Ok(a.recv)
    }),
    public("sort_by", 0, 0, |vm, a| {
        if a.block.is_nil() {
            let s = Value::fix(vm.heap.arr(a.recv).len() as i64);
            return vm.enumerator_sized(a, s);
        }
        let held = vm.hold_call(a);
        let mut pairs = Vec::new();
        let copy = vm.heap.arr(a.recv).clone();
        let items = vm.arr(copy);
        vm.hold(items);
        let mut i = 0;
        while let Some(v) = vm.heap.arr(items).get(i).copied() {
            let key = vm.open(held).yield1(a.block, v)?;
            vm.hold(key);
            pairs.push((key, v));
            i += 1;
        }
        let mut order: Vec<Value> = (0..pairs.len()).map(|i| Value::fix(i as i64)).collect();
        sort_values(vm, &mut order, |vm, x, y| {
            vm.compare(pairs[x.as_fix() as usize].0, pairs[y.as_fix() as usize].0)
        })?;
        let out = order.iter().map(|i| pairs[i.as_fix() as usize].1).collect();
        Ok(vm.arr(out))
    }),
    public("uniq", 0, 0, |vm, a| {
        let items = vm.heap.arr(a.recv).clone();
        let block = if a.block.is_nil() { None } else { Some((a.block, vm.hold_call(a))) };
        let out = uniq(vm, items, block)?;
        Ok(vm.arr(out))
    }),
    public("flatten", 0, 1, |vm, a| {
        let depth = match vm.opt_nil(a, 0) {
            Some(v) => vm.to_int(v)?,
            None => -1,
        };
        let mut out = Vec::new();
        flatten(vm, a.recv, depth, &mut out, &mut Vec::new())?;
        Ok(vm.arr(out))
    }),
    public("flatten!", 0, 1, |vm, a| {
        vm.check_frozen(a.recv)?;
        let depth = match vm.opt_nil(a, 0) {
            Some(v) => vm.to_int(v)?,
            None => -1,
        };
        let mut out = Vec::new();
        let changed = flatten(vm, a.recv, depth, &mut out, &mut Vec::new())?;
        *vm.heap.arr_mut(a.recv) = out;
        Ok(if changed { a.recv } else { NIL })
    }),
    public("compact", 0, 0, |vm, a| {
        let items = vm.heap.arr(a.recv).iter().filter(|v| !v.is_nil()).copied().collect();
        Ok(vm.arr(items))
    }),
    public("clear", 0, 0, |vm, a| {
        vm.check_frozen(a.recv)?;
        vm.heap.arr_mut(a.recv).clear();
        Ok(a.recv)
    }),
    public("delete", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let (mut i, mut found) = (0, None);
        while i < vm.heap.arr(a.recv).len() {
            let v = vm.heap.arr(a.recv)[i];
            if vm.equal(v, o)? {
                if found.is_none() {
                    vm.check_frozen(a.recv)?;
                }
                found = Some(v);
                vm.heap.arr_mut(a.recv).remove(i);
            } else {
                i += 1
            }
        }
        match found {
            Some(v) => Ok(v),
            None if !a.block.is_nil() => vm.open_call(a).yield1(a.block, o),
            None => Ok(NIL),
        }
    }),
    public("delete_at", 1, 1, |vm, a| {
        let i = vm.arg(a, 0);
        let i = vm.to_int(i)?;
        vm.check_frozen(a.recv)?;
        let len = vm.heap.arr(a.recv).len() as i64;
        let i = if i < 0 { i + len } else { i };
        Ok(if i < 0 || i >= len { NIL } else { vm.heap.arr_mut(a.recv).remove(i as usize) })
    }),
    public("insert", 1, -1, |vm, a| {
        vm.check_frozen(a.recv)?;
        let i = vm.arg(a, 0);
        let i = vm.to_int(i)?;
        if a.argc == 1 {
            return Ok(a.recv);
        }
        let len = vm.heap.arr(a.recv).len() as i64;
        let at = if i < 0 { i + len + 1 } else { i };
        if at < 0 {
            return vm.fail(
                c::INDEX_ERROR,
                format!("index {i} too small for array; minimum: -{}", len + 1),
            );
        }
        if at > len {
            grow(vm, a.recv, at as usize)?;
        }
        let items = vm.args(a)[1..].to_vec();
        vm.heap.arr_mut(a.recv).splice(at as usize..at as usize, items);
        Ok(a.recv)
    }),
    public("fill", 0, 3, |vm, a| {
        let args = vm.args(a);
        vm.check_frozen(a.recv)?;
        let name = vm.intern("__fill");
        vm.open_call(a).send_full(a.recv, name, &args, a.block, false)
    }),
    public("__resize", 1, 1, |vm, a| {
        let n = vm.arg(a, 0);
        let n = vm.to_int(n)?;
        grow(vm, a.recv, n as usize)?;
        Ok(a.recv)
    }),
    public("pack", 1, 2, crate::core::pack::pack),
    public("<=>", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let Some(o) = vm.check_ary(o)? else { return Ok(NIL) };
        let me = a.recv;
        let r = vm.recurse(me, |vm| {
            for i in 0..vm.heap.arr(me).len().min(vm.heap.arr(o).len()) {
                let (x, y) = (vm.heap.arr(me)[i], vm.heap.arr(o)[i]);
                let r = vm.send(x, n::CMP, &[y])?;
                if r != Value::fix(0) {
                    return Ok(r);
                }
            }
            Ok(Value::fix(vm.heap.arr(me).len().cmp(&vm.heap.arr(o).len()) as i64))
        })?;
        Ok(r.unwrap_or(NIL))
    }),
    public("sum", 0, 1, |vm, a| {
        let mut acc = vm.opt(a, 0).unwrap_or(Value::fix(0));
        let held = vm.hold_call(a);
        let sum = vm.hold(acc);
        let mut i = 0;
        // Kahan-Babuska, as soon as a float comes in.
        let (mut f, mut comp, mut floating) = (0.0, 0.0, false);
        while i < vm.heap.arr(a.recv).len() {
            let mut v = vm.heap.arr(a.recv)[i];
            if !a.block.is_nil() {
                vm.set_held(sum, acc);
                v = vm.open(held).yield1(a.block, v)?
            }
            i += 1;
            if floating
                || (v.is_float() && (acc.is_int() || acc.is_float()))
                || (acc.is_float() && v.is_int())
            {
                if !floating {
                    floating = true;
                    f = vm.to_f(acc)?;
                    comp = 0.0
                }
                if !(v.is_int() || v.is_float()) {
                    acc = vm.float(f + comp);
                    floating = false;
                    acc = vm.send(acc, n::ADD, &[v])?;
                    continue;
                }
                let x = vm.to_f(v)?;
                if !x.is_finite() || !f.is_finite() {
                    f += x;
                    continue;
                }
                let t = f + x;
                comp += if f.abs() >= x.abs() { (f - t) + x } else { (x - t) + f };
                f = t;
                continue;
            }
            acc = if acc.is_int() && v.is_int() {
                vm.int_add(acc, v)
            } else {
                vm.send(acc, n::ADD, &[v])?
            };
        }
        Ok(if floating { vm.float(f + comp) } else { acc })
    }),
    public("__shuffle", 0, 0, |vm, a| {
        let mut items = vm.heap.arr(a.recv).clone();
        for i in (1..items.len()).rev() {
            let j = vm.rng.limited(i as u64) as usize;
            items.swap(i, j)
        }
        Ok(vm.arr(items))
    }),
];

pub(super) fn init(vm: &mut Vm) {
    let k = c::ARRAY;
    vm.natives(c::ARRAY, METHODS);
    for (name, keep) in [("select", true), ("filter", true), ("reject", false)] {
        let _ = keep;
        vm.def(
            k,
            name,
            |vm, a| {
                if a.block.is_nil() {
                    let s = Value::fix(vm.heap.arr(a.recv).len() as i64);
                    return vm.enumerator_sized(a, s);
                }
                let keep = vm.syms.bytes(vm.methods[a.method as usize].orig) != b"reject";
                let held = vm.hold_call(a);
                let out = vm.arr(Vec::new());
                vm.hold(out);
                let element = vm.hold(NIL);
                let mut i = 0;
                while let Some(v) = vm.heap.arr(a.recv).get(i).copied() {
                    vm.set_held(element, v);
                    if vm.open(held).yield1(a.block, v)?.truthy() == keep {
                        vm.heap.bytes += 8;
                        vm.heap.arr_mut(out).push(v);
                    }
                    i += 1
                }
                Ok(out)
            },
            0,
            0,
        );
    }
    for name in ["select!", "filter!", "keep_if", "reject!", "delete_if"] {
        vm.def(
            k,
            name,
            |vm, a| {
                if a.block.is_nil() {
                    let s = Value::fix(vm.heap.arr(a.recv).len() as i64);
                    return vm.enumerator_sized(a, s);
                }
                let name = vm.syms.bytes(vm.methods[a.method as usize].orig);
                let (keeps, tells) =
                    (!matches!(name, b"reject!" | b"delete_if"), name.ends_with(b"!"));
                let changed = retain(vm, a, keeps)?;
                Ok(if !changed && tells { NIL } else { a.recv })
            },
            0,
            0,
        );
    }
}
