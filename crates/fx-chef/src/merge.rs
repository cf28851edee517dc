//! Merging attribute levels into what recipes read: deep for hashes, union of arrays
//! inside a group of levels, the higher one elsewhere. The result is a read-only copy.

use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Sym, Value, Vm};

use crate::machine::{Machine, Method, path};

pub(crate) const METHODS: &[(&str, Method)] =
    &[("merge", merge), ("merge_some", merge_some), ("vivid", vivid)];

// Defaults are four levels, then normal, then four of override, then automatic.
const GROUPS: [std::ops::Range<usize>; 4] = [0..4, 4..5, 5..9, 9..10];

fn classes(machine: &Machine, vm: &mut Vm) -> Res<(u32, u32)> {
    let known = machine.immutable.get();
    if known.0 != 0 {
        return Ok(known);
    }
    let hash = path(vm, &["Chef", "Node", "ImmutableMash"])?.as_class().unwrap_or(0);
    let array = path(vm, &["Chef", "Node", "ImmutableArray"])?.as_class().unwrap_or(0);
    machine.immutable.set((hash, array));
    Ok((hash, array))
}

/// `FX.merge(stores, key)`: the merged value of one top-level key, or of everything.
fn merge(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let classes = classes(machine, vm)?;
    let stores = vm.heap.arr(vm.arg(a, 0)).clone();
    let key = vm.arg(a, 1);
    let mut merged = None;
    for (number, group) in GROUPS.into_iter().enumerate() {
        let mut inner = None;
        for store in &stores[group] {
            let part = if key.is_nil() { Some(*store) } else { vm.hash_get(*store, key)? };
            inner = both(vm, classes, inner, part, number == 0 || number == 2)?;
        }
        merged = both(vm, classes, merged, inner, false)?;
    }
    match merged {
        Some(v) => settle(vm, classes, v, 0),
        None => Ok(NIL),
    }
}

/// `FX.merge_some(stores, path)`: the union of some levels at a path.
fn merge_some(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let classes = classes(machine, vm)?;
    let stores = vm.heap.arr(vm.arg(a, 0)).clone();
    let keys = vm.heap.arr(vm.arg(a, 1)).clone();
    let mut merged = None;
    for store in stores {
        let mut at = Some(store);
        for key in &keys {
            let key = match key.as_sym() {
                Some(sym) => {
                    let text = vm.sym_str(sym).into_owned();
                    vm.str(text)
                }
                None => *key,
            };
            at = match at {
                Some(h) if h.is_hash() => vm.hash_get(h, key)?,
                _ => None,
            };
        }
        merged = both(vm, classes, merged, at, true)?;
    }
    match merged {
        Some(v) => settle(vm, classes, v, 0),
        None => Ok(NIL),
    }
}

fn both(
    vm: &mut Vm,
    classes: (u32, u32),
    low: Option<Value>,
    high: Option<Value>,
    union: bool,
) -> Res<Option<Value>> {
    let (low, high) = match (low, high) {
        (Some(low), Some(high)) => (low, high),
        (low, high) => return Ok(high.or(low)),
    };
    if low.is_hash() && high.is_hash() {
        if vm.heap.h(high).live == 0 {
            return Ok(Some(low));
        }
        let result = vm.heap.hash(classes.0);
        for (key, value) in vm.hash_pairs(low) {
            let value = match vm.hash_get(high, key)? {
                Some(other) => both(vm, classes, Some(value), Some(other), union)?.unwrap_or(NIL),
                None => value,
            };
            vm.hash_set(result, key, value)?;
        }
        for (key, value) in vm.hash_pairs(high) {
            if vm.hash_get(low, key)?.is_none() {
                vm.hash_set(result, key, value)?;
            }
        }
        return Ok(Some(result));
    }
    if union && low.is_arr() && high.is_arr() {
        let low = vm.heap.arr(low).clone();
        let low = vm.arr(low);
        let high = vm.heap.arr(high).clone();
        let high = vm.arr(high);
        return vm.call_name(low, "|", &[high]).map(Some);
    }
    Ok(Some(high))
}

/// `FX.vivid(value, attributes, top)`: a deep copy for one level of a node's attributes. Its parts know whose they
/// are, and below which name, so that a write forgets what was merged of that.
fn vivid(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let (value, store, top) = (vm.arg(a, 0), vm.arg(a, 1), vm.arg(a, 2));
    let mut class =
        |name: &str| -> Res<u32> { Ok(path(vm, &["Chef", "Node", name])?.as_class().unwrap_or(0)) };
    let classes = (class("VividMash")?, class("AttrArray")?);
    let bound = (vm.intern("@store"), vm.intern("@top"), store, top);
    writable(vm, classes, bound, value, 0)
}

fn writable(
    vm: &mut Vm,
    classes: (u32, u32),
    bound: (Sym, Sym, Value, Value),
    value: Value,
    depth: u32,
) -> R {
    if depth > 500 {
        return vm.arg_error("attributes are nested too deeply");
    }
    let made = if value.is_hash() {
        let made = vm.heap.hash(classes.0);
        for (key, part) in vm.hash_pairs(value) {
            let part = writable(vm, classes, bound, part, depth + 1)?;
            let key = match key.as_sym() {
                Some(sym) => {
                    let text = vm.sym_str(sym).into_owned();
                    vm.str(text)
                }
                None => key,
            };
            vm.hash_set(made, key, part)?;
        }
        made
    } else if value.is_arr() {
        let mut list = Vec::new();
        for part in vm.heap.arr(value).clone() {
            list.push(writable(vm, classes, bound, part, depth + 1)?);
        }
        vm.heap.array(classes.1, list)
    } else if value.is_str() && !vm.frozen(value) {
        let (bytes, encoding) = (vm.bytes(value).to_vec(), vm.heap.str(value).enc);
        return Ok(vm.str_enc(bytes, encoding));
    } else {
        return Ok(value);
    };
    vm.ivar_set(made, bound.0, bound.2);
    vm.ivar_set(made, bound.1, bound.3);
    Ok(made)
}

/// A deep copy that cannot be written to.
fn settle(vm: &mut Vm, classes: (u32, u32), v: Value, depth: u32) -> R {
    if depth > 500 {
        return vm.arg_error("attributes are nested too deeply");
    }
    if v.is_hash() {
        let result = vm.heap.hash(classes.0);
        for (key, value) in vm.hash_pairs(v) {
            let value = settle(vm, classes, value, depth + 1)?;
            vm.hash_set(result, key, value)?;
        }
        return Ok(result);
    }
    if v.is_arr() {
        let items = vm.heap.arr(v).clone();
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            list.push(settle(vm, classes, item, depth + 1)?);
        }
        return Ok(vm.heap.array(classes.1, list));
    }
    if v.is_str() && !vm.frozen(v) {
        let (bytes, enc) = (vm.bytes(v).to_vec(), vm.heap.str(v).enc);
        let copy = vm.str_enc(bytes, enc);
        vm.freeze(copy);
        return Ok(copy);
    }
    Ok(v)
}
