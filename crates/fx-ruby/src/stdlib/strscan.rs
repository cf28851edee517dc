//! StringScanner natives: one step over the string, without a copy of what is left of it.

use fx_ruby_syntax::Sym;

use crate::names as n;
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Vm};

pub(crate) fn init(vm: &mut Vm) {
    let k = vm.define_class(c::OBJECT, "StringScanner", c::OBJECT);
    // pattern, only here, move on, give text (or a length)
    vm.def_private(
        k,
        "__do",
        |vm, a| {
            let [here, advance, text] = [1, 2, 3].map(|i| vm.arg(a, i).truthy());
            step(vm, a, here, advance, text)
        },
        4,
        4,
    );
    vm.def(k, "scan", |vm, a| step(vm, a, true, true, true), 1, 1);
    vm.def(k, "match?", |vm, a| step(vm, a, true, false, false), 1, 1);
    vm.def(k, "skip", |vm, a| step(vm, a, true, true, false), 1, 1);
    vm.def(k, "check", |vm, a| step(vm, a, true, false, true), 1, 1);
    vm.def(k, "eos?", eos, 0, 0);
    vm.def(k, "[]", group, 1, 1);
}

fn get(vm: &Vm, a: Args, name: Sym) -> Value {
    vm.ivar_get(a.recv, name).unwrap_or(NIL)
}

fn eos(vm: &mut Vm, a: Args) -> R {
    let (string, pos) = (get(vm, a, n::SCAN_STRING), get(vm, a, n::SCAN_POS));
    let size = if string.is_str() { vm.bytes(string).len() as i64 } else { 0 };
    Ok(Value::bool(pos.fixnum().is_none_or(|pos| pos >= size)))
}

/// A group by its number; by name and from the end Ruby finds it.
fn group(vm: &mut Vm, a: Args) -> R {
    let (wanted, groups) = (vm.arg(a, 0), get(vm, a, n::SCAN_GROUPS));
    if groups.is_nil() {
        return Ok(NIL);
    }
    let Some(number) = wanted.fixnum().and_then(|i| usize::try_from(i).ok()) else {
        return vm.send(a.recv, n::SCAN_AREF, &[wanted]);
    };
    let string = get(vm, a, n::SCAN_STRING);
    let offsets = vm.heap.arr(groups);
    let place = |i: usize| offsets.get(i)?.fixnum().and_then(|i| usize::try_from(i).ok());
    let found = place(number * 2).zip(place(number * 2 + 1));
    let text = found.and_then(|(from, to)| vm.bytes(string).get(from..to));
    match text.map(<[u8]>::to_vec) {
        Some(text) => Ok(vm.like(string, text)),
        None => Ok(NIL),
    }
}

/// Keeps the offsets of the groups in `@m`, start and end in turns, and the pattern in `@re`.
fn step(vm: &mut Vm, a: Args, here: bool, advance: bool, text: bool) -> R {
    let (pattern, string) = (vm.arg(a, 0), get(vm, a, n::SCAN_STRING));
    let pattern = if here && !pattern.is_regex() { vm.to_str(pattern)? } else { pattern };
    if !string.is_str() {
        return vm.arg_error("uninitialized StringScanner object");
    }
    let size = vm.bytes(string).len();
    let pos = (get(vm, a, n::SCAN_POS).fixnum().unwrap_or(0).max(0) as usize).min(size);
    let found = if pattern.is_str() {
        let (rest, wanted) = (&vm.bytes(string)[pos..], vm.bytes(pattern));
        let at = if here {
            rest.starts_with(wanted).then_some(0)
        } else {
            crate::regex::find(rest, wanted)
        };
        at.map(|at| vec![Some((pos + at, pos + at + wanted.len()))])
    } else if pattern.is_regex() {
        let fixed = get(vm, a, n::SCAN_FIXED).truthy();
        vm.regex_scan(pattern, string, pos, here, fixed)?
    } else {
        let class = vm.type_name(pattern);
        return vm.type_error(format!("wrong argument type {class} (expected Regexp)"));
    };
    let Some(groups) = found else {
        vm.ivar_set(a.recv, n::SCAN_GROUPS, NIL);
        return Ok(NIL);
    };
    let mut offsets = Vec::with_capacity(groups.len() * 2);
    for group in &groups {
        let (from, to) = group.map_or((NIL, NIL), |(from, to)| (int(from), int(to)));
        offsets.extend([from, to]);
    }
    let end = groups.first().copied().flatten().map_or(pos, |(_, end)| end);
    let offsets = vm.arr(offsets);
    vm.ivar_set(a.recv, n::SCAN_GROUPS, offsets);
    vm.ivar_set(a.recv, n::SCAN_PATTERN, pattern);
    vm.ivar_set(a.recv, n::SCAN_BEFORE, int(pos));
    if advance {
        vm.ivar_set(a.recv, n::SCAN_POS, int(end));
    }
    if !text {
        return Ok(int(end.saturating_sub(pos)));
    }
    let taken = vm.bytes(string)[pos..end.max(pos)].to_vec();
    Ok(vm.like(string, taken))
}

fn int(i: usize) -> Value {
    Value::fix(i as i64)
}
