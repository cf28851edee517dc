//! MatchData.

use crate::encoding as e;
use crate::names as n;
use crate::natives::{Native, public};
use crate::object::{Alloc, c};
use crate::value::{FALSE, NIL, Value};
use crate::vm::Vm;

const METHODS: &[Native] = &[
    public("[]", 1, 2, |vm, a| {
        let i = vm.arg(a, 0);
        if a.argc == 2 || i.is_range() {
            let l = vm.call_name(a.recv, "to_a", &[])?;
            let args = vm.args(a);
            return vm.send(l, n::AREF, &args);
        }
        vm.match_ref(a.recv, i)
    }),
    public("to_a", 0, 0, |vm, a| {
        let len = vm.match_data(a.recv).map_or(0, |d| d.groups.len());
        let from = usize::from(vm.syms.bytes(vm.methods[a.method as usize].orig) != b"to_a");
        let l = (from..len).map(|i| vm.match_group(a.recv, i)).collect();
        Ok(vm.arr(l))
    })
    .also(&["deconstruct_", "captures", "deconstruct"]),
    public("length", 0, 0, |vm, a| {
        Ok(Value::fix(vm.match_data(a.recv).map_or(0, |d| d.groups.len()) as i64))
    })
    .also(&["size"]),
    public("string", 0, 0, |vm, a| Ok(vm.match_data(a.recv).map_or(NIL, |d| d.string))),
    public("regexp", 0, 0, |vm, a| Ok(vm.match_data(a.recv).map_or(NIL, |d| d.regex))),
    public("to_s", 0, 0, |vm, a| Ok(vm.match_group(a.recv, 0))),
    public("pre_match", 0, 0, |vm, a| {
        let Some(d) = vm.match_data(a.recv) else { return Ok(NIL) };
        let (s, x) = (d.string, d.groups[0].map_or(0, |g| g.0));
        let b = vm.bytes(s)[..x].to_vec();
        Ok(vm.like(s, b))
    }),
    public("post_match", 0, 0, |vm, a| {
        let Some(d) = vm.match_data(a.recv) else { return Ok(NIL) };
        let (s, y) = (d.string, d.groups[0].map_or(0, |g| g.1));
        let b = vm.bytes(s)[y..].to_vec();
        Ok(vm.like(s, b))
    }),
    public("names", 0, 0, |vm, a| {
        let re = vm.match_data(a.recv).map_or(NIL, |d| d.regex);
        vm.call_name(re, "names", &[])
    }),
    public("named_captures", 0, 1, |vm, mut a| {
        let kw = vm.take_kw(&mut a);
        let symbols = vm.kw(kw, "symbolize_names").is_some_and(Value::truthy);
        let re = vm.match_data(a.recv).map_or(NIL, |d| d.regex);
        let p = vm.program(re)?;
        let h = vm.hash();
        for (name, _) in &p.names {
            let sym = vm.intern(name);
            let v = vm.match_named(a.recv, sym);
            let key = if symbols { Value::sym(sym) } else { vm.str(name.as_bytes()) };
            vm.hash_set(h, key, v)?;
        }
        Ok(h)
    }),
    public("inspect", 0, 0, |vm, a| {
        let len = vm.match_data(a.recv).map_or(0, |d| d.groups.len());
        let re = vm.match_data(a.recv).map_or(NIL, |d| d.regex);
        let p = vm.program(re)?;
        let g0 = vm.match_group(a.recv, 0);
        let mut out = format!("#<MatchData {}", vm.inspect_string(g0)?);
        for i in 1..len {
            let g = vm.match_group(a.recv, i);
            let t = vm.inspect_string(g)?;
            let label = p
                .names
                .iter()
                .find(|(_, l)| l.contains(&i))
                .map_or(i.to_string(), |(n, _)| n.to_string());
            out.push_str(&format!(" {label}:{t}"))
        }
        out.push('>');
        Ok(vm.str(out))
    }),
    public("==", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let (Some(x), Some(y)) = (vm.match_data(a.recv), vm.match_data(o)) else {
            return Ok(FALSE);
        };
        let (s1, s2, r1, r2, g) = (x.string, y.string, x.regex, y.regex, x.groups == y.groups);
        Ok(Value::bool(g && vm.equal(s1, s2)? && vm.equal(r1, r2)?))
    })
    .also(&["eql?"]),
];

pub(crate) fn init(vm: &mut Vm) {
    let k = c::MATCH;
    vm.classes[k as usize].alloc = Alloc::None;
    vm.natives(c::MATCH, METHODS);
    for name in ["begin", "end", "offset", "byteoffset", "__byte_begin", "__byte_end"] {
        vm.def(
            k,
            name,
            |vm, a| {
                let i = vm.arg(a, 0);
                let negative = i.is_fix() && i.as_fix() < 0;
                if negative || (i.is_fix() && vm.match_ref(a.recv, i)?.is_nil()) {
                    let len = vm.match_data(a.recv).map_or(0, |d| d.groups.len() as i64);
                    if negative || i.as_fix() >= len {
                        let at = i.as_fix();
                        return vm.fail(c::INDEX_ERROR, format!("index {at} out of matches"));
                    }
                }
                let r = vm.match_range(a.recv, i)?;
                let name = vm.syms.bytes(vm.methods[a.method as usize].orig);
                let s = vm.match_data(a.recv).map_or(NIL, |d| d.string);
                let Some((x, y)) = r else {
                    return Ok(if name == b"offset" || name == b"byteoffset" {
                        vm.arr(vec![NIL, NIL])
                    } else {
                        NIL
                    });
                };
                let byte = name.starts_with(b"byte") || name.starts_with(b"__");
                let (x, y) = if byte {
                    (x, y)
                } else {
                    (e::index_of(vm.heap.str(s), x), e::index_of(vm.heap.str(s), y))
                };
                let (x, y) = (Value::fix(x as i64), Value::fix(y as i64));
                Ok(match name {
                    b"begin" | b"__byte_begin" => x,
                    b"end" | b"__byte_end" => y,
                    _ => vm.arr(vec![x, y]),
                })
            },
            1,
            1,
        );
    }
}
