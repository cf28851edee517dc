//! StringScanner natives: one step over the string, without a copy of what is left of it.

use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Vm};

pub(crate) fn init(vm: &mut Vm) {
    let k = vm.define_class(c::OBJECT, "StringScanner", c::OBJECT);
    // pattern, only here, move on, give text (or a length)
    vm.def_private(k, "__do", step, 4, 4);
}

/// Keeps the offsets of the groups in `@m`, start and end in turns, and the pattern in `@re`.
fn step(vm: &mut Vm, a: Args) -> R {
    let [string_name, pos_name, match_name] = ["@string", "@pos", "@m"].map(|name| vm.intern(name));
    let [regex_name, before_name, fixed_name] =
        ["@re", "@prev", "@fixed"].map(|name| vm.intern(name));
    let get = |vm: &Vm, name| vm.ivar_get(a.recv, name).unwrap_or(NIL);
    let (pattern, string) = (vm.arg(a, 0), get(vm, string_name));
    let [here, advance, text] = [1, 2, 3].map(|i| vm.arg(a, i).truthy());
    let pattern = if here && !pattern.is_regex() { vm.to_str(pattern)? } else { pattern };
    if !string.is_str() {
        return vm.arg_error("uninitialized StringScanner object");
    }
    let size = vm.bytes(string).len();
    let pos = (get(vm, pos_name).fixnum().unwrap_or(0).max(0) as usize).min(size);
    let found = if pattern.is_str() {
        let (rest, wanted) = (&vm.bytes(string)[pos..], vm.bytes(pattern));
        let at = if here {
            rest.starts_with(wanted).then_some(0)
        } else {
            crate::regex::find(rest, wanted)
        };
        at.map(|at| vec![Some((pos + at, pos + at + wanted.len()))])
    } else if pattern.is_regex() {
        let fixed = get(vm, fixed_name).truthy();
        vm.regex_scan(pattern, string, pos, here, fixed)?
    } else {
        let class = vm.type_name(pattern);
        return vm.type_error(format!("wrong argument type {class} (expected Regexp)"));
    };
    let Some(groups) = found else {
        vm.ivar_set(a.recv, match_name, NIL);
        return Ok(NIL);
    };
    let mut offsets = Vec::with_capacity(groups.len() * 2);
    for group in &groups {
        let (from, to) = group.map_or((NIL, NIL), |(from, to)| (int(from), int(to)));
        offsets.extend([from, to]);
    }
    let end = groups.first().copied().flatten().map_or(pos, |(_, end)| end);
    let offsets = vm.arr(offsets);
    vm.ivar_set(a.recv, match_name, offsets);
    vm.ivar_set(a.recv, regex_name, pattern);
    vm.ivar_set(a.recv, before_name, int(pos));
    if advance {
        vm.ivar_set(a.recv, pos_name, int(end));
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
