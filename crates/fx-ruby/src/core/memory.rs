//! `GC` and `ObjectSpace`: the collector as programs see it.

use crate::names as n;
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Vm};

pub(crate) fn init(vm: &mut Vm) {
    vm.def_single(c::GC, "start", start, 0, 1);
    vm.def_single(c::OBJECTSPACE, "garbage_collect", start, 0, 1);
    vm.def_single(c::GC, "enable", |vm, _| Ok(switch(vm, false)), 0, 0);
    vm.def_single(c::GC, "disable", |vm, _| Ok(switch(vm, true)), 0, 0);
    vm.def_single(c::GC, "count", |vm, _| Ok(Value::fix(vm.gc.count as i64)), 0, 0);
    vm.def_single(c::GC, "stress", |vm, _| Ok(Value::bool(vm.gc.stress > 0)), 0, 0);
    vm.def_single(c::GC, "stress=", set_stress, 1, 1);
    vm.def_single(c::GC, "stat", stat, 0, 1);
    vm.def_single(c::OBJECTSPACE, "each_object", each_object, 0, 1);
    vm.def_single(c::OBJECTSPACE, "count_objects", count_objects, 0, 1);
    vm.def_single(c::OBJECTSPACE, "define_finalizer", define_finalizer, 1, 2);
    vm.def_single(c::OBJECTSPACE, "undefine_finalizer", undefine_finalizer, 1, 1);
    vm.def_single(c::OBJECTSPACE, "__similar", super::exception::similar::similar_in_list, 2, 2);
    vm.def_single(c::OBJECTSPACE, "__watch", super::trace::watch, 1, 1);
    // What ObjectSpace::WeakMap is made of.
    vm.def_single(c::OBJECTSPACE, "__weak_get", weak_get, 2, 2);
    vm.def_single(c::OBJECTSPACE, "__weak_set", weak_set, 3, 3);
    vm.def_single(c::OBJECTSPACE, "__weak_pairs", weak_pairs, 1, 1);
}

fn start(vm: &mut Vm, _: Args) -> R {
    if vm.gc.deferred == 0 {
        vm.collect();
    }
    // Finalizers run at the next safepoint, and what is deferred too.
    vm.collect_soon();
    Ok(NIL)
}

/// Turns collections off or on; gives whether they were off.
fn switch(vm: &mut Vm, disabled: bool) -> Value {
    Value::bool(std::mem::replace(&mut vm.gc.disabled, disabled))
}

fn set_stress(vm: &mut Vm, a: Args) -> R {
    let v = vm.arg(a, 0);
    let every = match v.fixnum() {
        Some(every) => u32::try_from(every).unwrap_or(0),
        None => u32::from(v.truthy()),
    };
    vm.set_gc_stress(every);
    Ok(v)
}

fn stat(vm: &mut Vm, a: Args) -> R {
    let rows = [
        ("count", vm.gc.count as i64),
        ("heap_live_slots", vm.objects_in_use() as i64),
        ("total_freed_objects", vm.gc.freed as i64),
        ("total_allocated_objects", (vm.objects_in_use() as u64 + vm.gc.freed) as i64),
        ("live_bytes", vm.gc.live as i64),
        ("malloc_increase_bytes", vm.heap.bytes.saturating_sub(vm.gc.live) as i64),
    ];
    if let Some(name) = vm.opt(a, 0).and_then(Value::as_sym) {
        let name = vm.sym_str(name).into_owned();
        return match rows.iter().find(|(row, _)| *row == name) {
            Some((_, number)) => Ok(Value::fix(*number)),
            None => vm.arg_error(format!("unknown key: {name}")),
        };
    }
    let hash = match vm.opt(a, 0) {
        Some(hash) if hash.is_hash() => hash,
        _ => vm.hash(),
    };
    for (name, number) in rows {
        vm.hash_put(hash, name, Value::fix(number))?;
    }
    Ok(hash)
}

fn each_object(vm: &mut Vm, a: Args) -> R {
    let want = vm.opt(a, 0).and_then(Value::as_class);
    let mut found = vm.live_values();
    found.retain(|v| {
        let singleton = v.as_class().is_some_and(|id| vm.classes[id as usize].is_singleton());
        !singleton && want.is_none_or(|want| vm.is_a(*v, want))
    });
    let list = vm.arr(found);
    if a.block.is_nil() {
        return vm.call_name(list, "each", &[]);
    }
    let held = vm.hold_call(a);
    vm.hold(list);
    let mut at = 0;
    while let Some(v) = vm.heap.arr(list).get(at).copied() {
        vm.open(held).yield1(a.block, v)?;
        at += 1;
    }
    Ok(Value::fix(at as i64))
}

fn count_objects(vm: &mut Vm, _: Args) -> R {
    let rows = [
        ("TOTAL", vm.objects_in_use()),
        ("T_OBJECT", vm.heap.objects.in_use()),
        ("T_CLASS", vm.classes.len()),
        ("T_FLOAT", vm.heap.floats.in_use()),
        ("T_STRING", vm.heap.strings.in_use()),
        ("T_REGEXP", vm.heap.regexes.in_use()),
        ("T_ARRAY", vm.heap.arrays.in_use()),
        ("T_HASH", vm.heap.hashes.in_use()),
        ("T_BIGNUM", vm.heap.bigs.in_use()),
    ];
    let hash = vm.hash();
    for (name, number) in rows {
        vm.hash_put(hash, name, Value::fix(number as i64))?;
    }
    Ok(hash)
}

fn define_finalizer(vm: &mut Vm, a: Args) -> R {
    let object = vm.arg(a, 0);
    let call = vm.opt(a, 1).unwrap_or(a.block);
    if !call.is_proc() && !vm.responds(call, n::CALL, true)? {
        let class = vm.real_class(call);
        let name = vm.class_name(class);
        return vm.arg_error(format!("wrong type argument {name} (should be callable)"));
    }
    if !object.is_heap() {
        let name = vm.type_name(object);
        return vm.arg_error(format!("cannot define finalizer for {name}"));
    }
    vm.check_frozen(object)?;
    vm.heap.escape(call);
    vm.define_finalizer(object, call);
    Ok(vm.arr(vec![Value::fix(0), call]))
}

fn undefine_finalizer(vm: &mut Vm, a: Args) -> R {
    let object = vm.arg(a, 0);
    vm.undefine_finalizer(object);
    Ok(object)
}

fn weak_get(vm: &mut Vm, a: Args) -> R {
    let (map, key) = (vm.arg(a, 0), vm.arg(a, 1));
    Ok(vm.weak_pairs(map).get(&key).copied().unwrap_or(NIL))
}

fn weak_set(vm: &mut Vm, a: Args) -> R {
    let (map, key, value) = (vm.arg(a, 0), vm.arg(a, 1), vm.arg(a, 2));
    vm.weak_pairs(map).insert(key, value);
    Ok(value)
}

/// The pairs of a weak map as a hash that compares by identity.
fn weak_pairs(vm: &mut Vm, a: Args) -> R {
    let map = vm.arg(a, 0);
    let pairs: Vec<(Value, Value)> = vm.weak_pairs(map).iter().map(|(k, v)| (*k, *v)).collect();
    let hash = vm.hash();
    vm.heap.h_mut(hash).identity = true;
    for (key, value) in pairs {
        vm.hash_set(hash, key, value)?;
    }
    Ok(hash)
}
