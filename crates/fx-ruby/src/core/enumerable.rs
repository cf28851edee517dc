//! The methods of Enumerable and Array that programs spend their time in, for what the runtime
//! can walk by itself: arrays, short ranges of integers, hashes. Everything else, and every form
//! without a block, is done by the method of the same name with `__` before it, in Ruby.

use crate::core::kernel::boxed;
use crate::heap::NativeBlock;
use crate::names as n;
use crate::object::c;
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, NativeFn, R, Res, Vm};

/// Ranges up to so many integers are walked as an array.
const SHORT: i64 = 10_000;

pub(crate) fn init(vm: &mut Vm) {
    let walks: [(&'static str, NativeFn); 16] = [
        ("map", map),
        ("collect", map),
        ("inject", inject),
        ("reduce", inject),
        ("each_slice", each_slice),
        ("each_cons", each_cons),
        ("each_with_object", each_with_object),
        ("partition", partition),
        ("group_by", group_by),
        ("any?", |vm, a| until(vm, a, true, TRUE)),
        ("all?", |vm, a| until(vm, a, false, FALSE)),
        ("none?", |vm, a| until(vm, a, true, FALSE)),
        ("find", find),
        ("detect", find),
        ("min_by", |vm, a| best_by(vm, a, std::cmp::Ordering::Less)),
        ("max_by", |vm, a| best_by(vm, a, std::cmp::Ordering::Greater)),
    ];
    for (name, f) in walks {
        vm.def(c::ENUMERABLE, name, f, 0, -1);
    }
    vm.def_private(c::ENUMERABLE, "__each", each, 0, -1);
    let arrays: [(&'static str, NativeFn); 10] = [
        ("count", count),
        ("take_while", take_while),
        ("flat_map", flat_map),
        ("filter_map", filter_map),
        ("to_h", to_h),
        ("fetch", fetch),
        ("map!", map_bang),
        ("min", |vm, a| best(vm, a, std::cmp::Ordering::Less)),
        ("max", |vm, a| best(vm, a, std::cmp::Ordering::Greater)),
        ("zip", zip),
    ];
    for (name, f) in arrays {
        vm.def(c::ARRAY, name, f, 0, -1);
    }
}

/// Leaves a call to the method in Ruby.
fn elsewhere(vm: &mut Vm, a: Args) -> R {
    let name = vm.sym_str(vm.methods[a.method as usize].orig);
    let name = vm.intern(&format!("__{name}"));
    let args = vm.args(a);
    vm.open_call(a).send_full(a.recv, name, &args, a.block, a.kw)
}

/// The elements of a receiver as an array that stays as it is, if its `each` is the usual one.
/// A hash gives no pairs to a lambda: those count their arguments.
fn listed(vm: &mut Vm, a: Args) -> Option<Value> {
    if a.recv.is_arr() {
        return vm.is_native(a.recv, n::EACH).then_some(a.recv);
    }
    if a.recv.is_range() {
        let r = vm.heap.rng(a.recv);
        let (lo, hi) = (r.lo.fixnum()?, r.hi.fixnum()?.checked_sub(i64::from(r.excl))?);
        if hi.checked_sub(lo)? > SHORT || !vm.is_native(a.recv, n::EACH) {
            return None;
        }
        return Some(vm.arr((lo..=hi).map(Value::fix).collect()));
    }
    if a.recv.is_hash() && !vm.heap.pr(a.block).lambda && vm.is_native(a.recv, n::EACH) {
        let mut pairs = vm.hash_pairs(a.recv).into_iter().map(|(k, v)| vec![k, v]);
        let pairs = pairs.by_ref().map(|pair| vm.arr(pair)).collect::<Vec<_>>();
        return Some(vm.arr(pairs));
    }
    None
}

/// Calls a function with each element and what the block gives for it, until it gives false.
/// The value that it works on is held.
fn walk(
    vm: &mut Vm,
    a: Args,
    list: Value,
    mut f: impl FnMut(&mut Vm, Value, Value) -> Res<bool>,
) -> Res<()> {
    let held = vm.hold_call(a);
    vm.hold(list);
    let element = vm.hold(NIL);
    let mut i = 0;
    while let Some(v) = vm.heap.arr(list).get(i).copied() {
        vm.set_held(element, v);
        let made = vm.open(held).yield1(a.block, v)?;
        if !f(vm, v, made)? {
            break;
        }
        i += 1;
    }
    Ok(())
}

/// Whether a call is the usual one: a block, no arguments.
fn usual(vm: &mut Vm, a: Args) -> Option<Value> {
    if a.block.is_nil() || a.argc > 0 { None } else { listed(vm, a) }
}

/// An array to be filled, held from now on.
fn held_array(vm: &mut Vm) -> Value {
    let out = vm.arr(Vec::new());
    vm.hold(out);
    out
}

fn push(vm: &mut Vm, list: Value, v: Value) {
    vm.heap.bytes += 8;
    vm.heap.arr_mut(list).push(v);
}

/// Several values that `each` yields at once are one array to the block.
fn each(vm: &mut Vm, a: Args) -> R {
    if let Some(list) = usual(vm, a) {
        walk(vm, a, list, |_, _, _| Ok(true))?;
        return Ok(a.recv);
    }
    if a.block.is_nil() {
        return vm.arg_error("no block given");
    }
    let forward = boxed(|vm: &mut Vm, kept: &[Value], args: &[Value], _| {
        let v = match args {
            [] => NIL,
            [one] => *one,
            several => vm.arr(several.to_vec()),
        };
        vm.block_call(kept[0], &[v])
    });
    through(vm, a, &[a.block], forward)
}

/// Calls `each` of the receiver with a native block and the arguments given.
fn through(vm: &mut Vm, a: Args, kept: &[Value], block: NativeBlock) -> R {
    // Whoever keeps the native block keeps the one that it calls.
    vm.keep_block(a.block);
    let block = vm.native_proc(-1, false, kept, block);
    vm.hold(block);
    let args = vm.args(a);
    vm.open_call(a).send_full(a.recv, n::EACH, &args, block, a.kw)
}

/// What the block gives for all that `each` yields, several values at once as several arguments.
fn map(vm: &mut Vm, a: Args) -> R {
    if a.block.is_nil() || a.argc > 0 {
        return elsewhere(vm, a);
    }
    let out = held_array(vm);
    let collect = boxed(|vm: &mut Vm, kept: &[Value], args: &[Value], _| {
        let made = vm.block_call(kept[0], args)?;
        push(vm, kept[1], made);
        Ok(made)
    });
    through(vm, a, &[a.block, out], collect)?;
    Ok(out)
}

fn inject(vm: &mut Vm, a: Args) -> R {
    let op = match (a.argc, a.block.is_nil()) {
        (1, true) => vm.arg(a, 0).as_sym(),
        (2, true) => vm.arg(a, 1).as_sym(),
        (0 | 1, false) => None,
        _ => return elsewhere(vm, a),
    };
    if a.kw || a.block.is_nil() && (op.is_none() || a.recv.is_hash()) {
        return elsewhere(vm, a);
    }
    let Some(list) = listed(vm, a) else { return elsewhere(vm, a) };
    let given = a.argc == 2 || a.argc == 1 && op.is_none();
    let (mut sum, mut i) = if given {
        (vm.arg(a, 0), 0)
    } else {
        (vm.heap.arr(list).first().copied().unwrap_or(NIL), 1)
    };
    let held = vm.hold_call(a);
    vm.hold(list);
    let slot = vm.hold(sum);
    while let Some(v) = vm.heap.arr(list).get(i).copied() {
        sum = match op {
            None => vm.open(held).yield2(a.block, sum, v)?,
            Some(n::ADD) if sum.is_fix() && v.is_fix() && !vm.redefined => vm.int_add(sum, v),
            Some(op) => vm.open(held).send(sum, op, &[v])?,
        };
        vm.set_held(slot, sum);
        i += 1;
    }
    Ok(sum)
}

/// The size that `each_slice` and `each_cons` are given, and the elements.
fn sized(vm: &mut Vm, a: Args) -> Option<(usize, Value)> {
    if a.block.is_nil() || a.argc != 1 {
        return None;
    }
    let size = usize::try_from(vm.arg(a, 0).fixnum()?).ok().filter(|size| *size > 0)?;
    Some((size, listed(vm, a)?))
}

fn each_slice(vm: &mut Vm, a: Args) -> R {
    let Some((size, list)) = sized(vm, a) else { return elsewhere(vm, a) };
    let held = vm.hold_call(a);
    vm.hold(list);
    let mut from = 0;
    while from < vm.heap.arr(list).len() {
        let end = (from + size).min(vm.heap.arr(list).len());
        let part = vm.heap.arr(list)[from..end].to_vec();
        let part = vm.arr(part);
        vm.open(held).yield1(a.block, part)?;
        from = end;
    }
    Ok(a.recv)
}

fn each_cons(vm: &mut Vm, a: Args) -> R {
    let Some((size, list)) = sized(vm, a) else { return elsewhere(vm, a) };
    let held = vm.hold_call(a);
    vm.hold(list);
    let mut from = 0;
    while from + size <= vm.heap.arr(list).len() {
        let part = vm.heap.arr(list)[from..from + size].to_vec();
        let part = vm.arr(part);
        vm.open(held).yield1(a.block, part)?;
        from += 1;
    }
    Ok(a.recv)
}

fn each_with_object(vm: &mut Vm, a: Args) -> R {
    if a.block.is_nil() || a.argc != 1 || a.kw {
        return elsewhere(vm, a);
    }
    let Some(list) = listed(vm, a) else { return elsewhere(vm, a) };
    let memo = vm.arg(a, 0);
    let held = vm.hold_call(a);
    vm.hold(list);
    let mut i = 0;
    while let Some(v) = vm.heap.arr(list).get(i).copied() {
        vm.open(held).yield2(a.block, v, memo)?;
        i += 1;
    }
    Ok(memo)
}

fn partition(vm: &mut Vm, a: Args) -> R {
    let Some(list) = usual(vm, a) else { return elsewhere(vm, a) };
    let (yes, no) = (held_array(vm), held_array(vm));
    walk(vm, a, list, |vm, v, made| {
        push(vm, if made.truthy() { yes } else { no }, v);
        Ok(true)
    })?;
    Ok(vm.arr(vec![yes, no]))
}

fn group_by(vm: &mut Vm, a: Args) -> R {
    let Some(list) = usual(vm, a) else { return elsewhere(vm, a) };
    let groups = vm.hash();
    vm.hold(groups);
    walk(vm, a, list, |vm, v, key| {
        let group = match vm.hash_get(groups, key)? {
            Some(group) => group,
            None => {
                let group = vm.arr(Vec::new());
                vm.hash_set(groups, key, group)?;
                group
            }
        };
        push(vm, group, v);
        Ok(true)
    })?;
    Ok(groups)
}

/// `any?` and its kin: ends with a value at the first element whose truth is as given.
fn until(vm: &mut Vm, a: Args, truth: bool, found: Value) -> R {
    let Some(list) = usual(vm, a) else { return elsewhere(vm, a) };
    let mut result = Value::bool(!found.truthy());
    walk(vm, a, list, |_, _, made| {
        if made.truthy() == truth {
            result = found;
            return Ok(false);
        }
        Ok(true)
    })?;
    Ok(result)
}

fn find(vm: &mut Vm, a: Args) -> R {
    let Some(list) = usual(vm, a) else { return elsewhere(vm, a) };
    let mut found = NIL;
    walk(vm, a, list, |_, v, made| {
        if made.truthy() {
            found = v;
        }
        Ok(!made.truthy())
    })?;
    Ok(found)
}

fn best_by(vm: &mut Vm, a: Args, wanted: std::cmp::Ordering) -> R {
    let Some(list) = usual(vm, a) else { return elsewhere(vm, a) };
    let (element, key) = (vm.hold(NIL), vm.hold(NIL));
    let mut first = true;
    walk(vm, a, list, |vm, v, made| {
        let best = vm.held(key);
        if first || vm.compare(made, best)? == wanted {
            vm.set_held(element, v);
            vm.set_held(key, made);
        }
        first = false;
        Ok(true)
    })?;
    Ok(vm.held(element))
}

fn best(vm: &mut Vm, a: Args, wanted: std::cmp::Ordering) -> R {
    if a.argc > 0 || !a.block.is_nil() {
        return elsewhere(vm, a);
    }
    let mut best = vm.heap.arr(a.recv).first().copied().unwrap_or(NIL);
    let mut i = 1;
    while let Some(v) = vm.heap.arr(a.recv).get(i).copied() {
        if vm.compare(best, v)? == wanted.reverse() {
            best = v;
        }
        i += 1;
    }
    Ok(best)
}

fn zip(vm: &mut Vm, a: Args) -> R {
    let others = vm.args(a);
    if !a.block.is_nil() || a.kw || !others.iter().all(|v| v.is_arr()) {
        return elsewhere(vm, a);
    }
    let mut rows = Vec::with_capacity(vm.heap.arr(a.recv).len());
    for i in 0..vm.heap.arr(a.recv).len() {
        let mut row = vec![vm.heap.arr(a.recv)[i]];
        row.extend(others.iter().map(|v| vm.heap.arr(*v).get(i).copied().unwrap_or(NIL)));
        rows.push(vm.arr(row));
    }
    Ok(vm.arr(rows))
}

fn count(vm: &mut Vm, a: Args) -> R {
    if a.argc == 0 && a.block.is_nil() {
        return Ok(Value::fix(vm.heap.arr(a.recv).len() as i64));
    }
    if a.block.is_nil() || a.argc > 0 {
        return elsewhere(vm, a);
    }
    let list = a.recv;
    let mut found = 0;
    walk(vm, a, list, |_, _, made| {
        found += i64::from(made.truthy());
        Ok(true)
    })?;
    Ok(Value::fix(found))
}

fn take_while(vm: &mut Vm, a: Args) -> R {
    if a.block.is_nil() || a.argc > 0 {
        return elsewhere(vm, a);
    }
    let list = a.recv;
    let out = held_array(vm);
    walk(vm, a, list, |vm, v, made| {
        if made.truthy() {
            push(vm, out, v);
        }
        Ok(made.truthy())
    })?;
    Ok(out)
}

fn flat_map(vm: &mut Vm, a: Args) -> R {
    if a.block.is_nil() || a.argc > 0 {
        return elsewhere(vm, a);
    }
    let list = a.recv;
    let out = held_array(vm);
    walk(vm, a, list, |vm, _, made| {
        let list = if made.is_obj() {
            vm.call_name(Value::class(c::ARRAY), "try_convert", &[made])?
        } else {
            made
        };
        if list.is_arr() {
            let items = vm.heap.arr(list).clone();
            vm.heap.bytes += items.len() * 8;
            vm.heap.arr_mut(out).extend_from_slice(&items);
        } else {
            push(vm, out, made);
        }
        Ok(true)
    })?;
    Ok(out)
}

fn filter_map(vm: &mut Vm, a: Args) -> R {
    if a.block.is_nil() || a.argc > 0 {
        return elsewhere(vm, a);
    }
    let list = a.recv;
    let out = held_array(vm);
    walk(vm, a, list, |vm, _, made| {
        if made.truthy() {
            push(vm, out, made);
        }
        Ok(true)
    })?;
    Ok(out)
}

fn to_h(vm: &mut Vm, a: Args) -> R {
    if a.block.is_nil() || a.argc > 0 {
        return elsewhere(vm, a);
    }
    let list = a.recv;
    let hash = vm.hash();
    vm.hold(hash);
    let mut i = 0;
    walk(vm, a, list, |vm, _, made| {
        let pair = if made.is_arr() { vm.heap.arr(made).as_slice() } else { &[] };
        if let &[key, value] = pair {
            vm.hash_set(hash, key, value)?;
        } else {
            vm.call_name(a.recv, "__pair", &[hash, made, Value::fix(i)])?;
        }
        i += 1;
        Ok(true)
    })?;
    Ok(hash)
}

fn fetch(vm: &mut Vm, a: Args) -> R {
    if a.argc == 1
        && let Some(i) = vm.arg(a, 0).fixnum()
        && let items = vm.heap.arr(a.recv)
        && let at = if i < 0 { i + items.len() as i64 } else { i }
        && let Some(v) = usize::try_from(at).ok().and_then(|at| items.get(at))
    {
        return Ok(*v);
    }
    elsewhere(vm, a)
}

fn map_bang(vm: &mut Vm, a: Args) -> R {
    if a.block.is_nil() || a.argc > 0 {
        return elsewhere(vm, a);
    }
    let list = a.recv;
    vm.check_frozen(list)?;
    let mut i = 0;
    walk(vm, a, list, |vm, _, made| {
        if let Some(place) = vm.heap.arr_mut(list).get_mut(i) {
            *place = made;
        }
        i += 1;
        Ok(true)
    })?;
    Ok(a.recv)
}
