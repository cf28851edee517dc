//! String indexing: `[]`, `[]=`, substrings, insert.

use crate::encoding as e;
use crate::names as n;
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Res, Vm};

/// Start and length of a range over `len` items; None when it starts outside.
pub(crate) fn range_bounds(vm: &mut Vm, range: Value, len: usize) -> Res<Option<(usize, usize)>> {
    let r = vm.heap.rng(range);
    let (lo, hi, excl) = (r.lo, r.hi, r.excl);
    let len = len as i64;
    let mut from = if lo.is_nil() { 0 } else { vm.to_int(lo)? };
    let mut to = if hi.is_nil() { -1 } else { vm.to_int(hi)? };
    let excl = excl && !hi.is_nil();
    if from < 0 {
        from += len;
        if from < 0 {
            return Ok(None);
        }
    }
    if from > len {
        return Ok(None);
    }
    if to < 0 {
        to += len;
    }
    if !excl {
        to += 1;
    }
    let n = (to.min(len) - from).max(0);
    Ok(Some((from as usize, n as usize)))
}

impl Vm {
    /// Characters from an index.
    pub(crate) fn substr(&mut self, v: Value, from: i64, len: i64) -> Value {
        if len < 0 {
            return NIL;
        }
        let s = self.heap.str(v);
        let enc = s.enc;
        if e::single(s) {
            let total = s.bytes.len() as i64;
            let from = if from < 0 { from + total } else { from };
            if from < 0 || from > total {
                return NIL;
            }
            let end = from.saturating_add(len).min(total);
            let bytes = s.bytes[from as usize..end as usize].to_vec();
            return self.str_enc(bytes, enc);
        }
        let total = e::count(s) as i64;
        let from = if from < 0 { from + total } else { from };
        if from < 0 || from > total {
            return NIL;
        }
        let end = from.saturating_add(len).min(total);
        let x = e::offset(s, from as usize).unwrap_or(s.bytes.len());
        let rest = crate::heap::RString {
            class: 0,
            frozen: false,
            enc,
            known: Default::default(),
            range: std::cell::Cell::new(0),
            bytes: std::borrow::Cow::Owned(s.bytes[x..].to_vec()),
        };
        let y = x + e::offset(&rest, (end - from) as usize).unwrap_or(rest.bytes.len());
        let bytes = s.bytes[x..y].to_vec();
        self.str_enc(bytes, enc)
    }
}

fn aref(vm: &mut Vm, a: Args) -> R {
    let i = vm.arg(a, 0);
    if let Some(l) = vm.opt(a, 1) {
        if i.is_regex() {
            let m = vm.regex_match(i, a.recv, 0)?;
            return vm.match_ref(m, l);
        }
        let (i, l) = (vm.to_int(i)?, vm.to_int(l)?);
        return Ok(vm.substr(a.recv, i, l));
    }
    if i.is_fix() {
        return one(vm, a.recv, i.as_fix());
    }
    if i.is_range() {
        let len = e::count(vm.heap.str(a.recv));
        return Ok(match range_bounds(vm, i, len)? {
            Some((from, len)) => vm.substr(a.recv, from as i64, len as i64),
            None => NIL,
        });
    }
    if i.is_str() {
        let found = crate::regex::find(vm.bytes(a.recv), vm.bytes(i)).is_some();
        if !found {
            return Ok(NIL);
        }
        let bytes = vm.bytes(i).to_vec();
        return Ok(vm.like(i, bytes));
    }
    if i.is_regex() {
        let m = vm.regex_match(i, a.recv, 0)?;
        return vm.match_ref(m, Value::fix(0));
    }
    let i = vm.to_int(i)?;
    one(vm, a.recv, i)
}

fn one(vm: &mut Vm, v: Value, i: i64) -> R {
    let total = e::count(vm.heap.str(v)) as i64;
    let i = if i < 0 { i + total } else { i };
    Ok(if i < 0 || i >= total { NIL } else { vm.substr(v, i, 1) })
}

/// Replaces bytes in place.
pub(crate) fn splice(vm: &mut Vm, me: Value, from: usize, to: usize, with: Value) -> Res<()> {
    let enc = vm.compat(me, with)?;
    let new = vm.bytes(with).to_vec();
    let s = vm.heap.str_mut(me);
    s.enc = enc;
    s.bytes.to_mut().splice(from..to, new);
    Ok(())
}

fn aset(vm: &mut Vm, a: Args) -> R {
    vm.check_frozen(a.recv)?;
    let i = vm.arg(a, 0);
    let v = vm.arg(a, a.argc - 1);
    if i.is_regex() {
        let group = if a.argc == 3 { vm.arg(a, 1) } else { Value::fix(0) };
        let m = vm.regex_match(i, a.recv, 0)?;
        if m.is_nil() {
            return vm.fail(c::INDEX_ERROR, "regexp not matched");
        }
        let groups = vm.match_data(m).map_or(0, |d| d.groups.len() as i64);
        let group = match group.fixnum() {
            Some(i) if i < 0 && i + groups > 0 => Value::fix(i + groups),
            _ => group,
        };
        let Some((x, y)) = vm.match_range(m, group)? else {
            let t = vm.inspect_string(group)?;
            return vm.fail(c::INDEX_ERROR, format!("regexp group {t} not matched"));
        };
        let w = vm.to_str(v)?;
        splice(vm, a.recv, x, y, w)?;
        return Ok(v);
    }
    let total = e::count(vm.heap.str(a.recv)) as i64;
    let (from, len) = if a.argc == 3 {
        let l = vm.arg(a, 1);
        let (i, l) = (vm.to_int(i)?, vm.to_int(l)?);
        if l < 0 {
            return vm.fail(c::INDEX_ERROR, format!("negative length {l}"));
        }
        if i > total || i < -total {
            return vm.fail(c::INDEX_ERROR, format!("index {i} out of string"));
        }
        (if i < 0 { i + total } else { i }, l)
    } else if i.is_range() {
        match range_bounds(vm, i, total as usize)? {
            Some((f, l)) => (f as i64, l as i64),
            None => {
                let t = vm.inspect_string(i)?;
                return vm.fail(c::RANGE_ERROR, format!("{t} out of range"));
            }
        }
    } else if i.is_str() {
        let Some(x) = crate::regex::find(vm.bytes(a.recv), vm.bytes(i)) else {
            return vm.fail(c::INDEX_ERROR, "string not matched");
        };
        let y = x + vm.bytes(i).len();
        let w = vm.to_str(v)?;
        splice(vm, a.recv, x, y, w)?;
        return Ok(v);
    } else {
        let k = vm.to_int(i)?;
        if k >= total || k < -total {
            return vm.fail(c::INDEX_ERROR, format!("index {k} out of string"));
        }
        (if k < 0 { k + total } else { k }, 1)
    };
    let w = vm.to_str(v)?;
    let s = vm.heap.str(a.recv);
    let x = e::offset(s, from as usize).unwrap_or(s.bytes.len());
    let y = e::offset(s, (from.saturating_add(len)).min(total) as usize).unwrap_or(s.bytes.len());
    splice(vm, a.recv, x, y, w)?;
    Ok(v)
}

pub(crate) fn init(vm: &mut Vm) {
    let s = c::STRING;
    vm.def(s, "[]", aref, 1, 2);
    vm.def(s, "slice", aref, 1, 2);
    vm.def(s, "[]=", aset, 2, 3);
    vm.def(
        s,
        "byteslice",
        |vm, a| {
            let i = vm.arg(a, 0);
            let total = vm.bytes(a.recv).len();
            let (from, len) = if i.is_range() && a.argc == 1 {
                match range_bounds(vm, i, total)? {
                    Some(b) => b,
                    None => return Ok(NIL),
                }
            } else {
                let k = vm.to_int(i)?;
                let len = match vm.opt(a, 1) {
                    Some(l) => vm.to_int(l)?,
                    None => 1,
                };
                let k = if k < 0 { k + total as i64 } else { k };
                if k < 0 || k > total as i64 || len < 0 || (a.argc == 1 && k == total as i64) {
                    return Ok(NIL);
                }
                (k as usize, (len as usize).min(total - k as usize))
            };
            let b = vm.bytes(a.recv)[from..from + len].to_vec();
            Ok(vm.like(a.recv, b))
        },
        1,
        2,
    );
    vm.def(
        s,
        "insert",
        |vm, a| {
            let (i, w) = (vm.arg(a, 0), vm.arg(a, 1));
            let i = vm.to_int(i)?;
            let w = vm.to_str(w)?;
            vm.check_frozen(a.recv)?;
            let total = e::count(vm.heap.str(a.recv)) as i64;
            let at = if i < 0 { i + total + 1 } else { i };
            if at < 0 || at > total {
                return vm.fail(c::INDEX_ERROR, format!("index {i} out of string"));
            }
            let str_ = vm.heap.str(a.recv);
            let x = e::offset(str_, at as usize).unwrap_or(str_.bytes.len());
            splice(vm, a.recv, x, x, w)?;
            Ok(a.recv)
        },
        2,
        2,
    );
    let _ = n::AREF;
}
