//! Struct: classes with numbered fields. The rest is in `prelude/struct.rb`.

use crate::names as n;
use crate::natives::{Native, on_class, private, public};
use crate::object::{Alloc, Body, ClassKind, Vis, c};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, R, Vm};

const METHODS: &[Native] = &[
    on_class("new", 0, -1, new_struct),
    private("initialize", 0, -1, |vm, a| {
        vm.check_frozen(a.recv)?;
        let class = vm.class_of(a.recv);
        let members = vm.struct_members(class).unwrap_or_default();
        let kwinit = struct_kw(vm, class);
        if kwinit == Some(TRUE) {
            if a.argc > 1 || (a.argc == 1 && !a.kw && !vm.arg(a, 0).is_hash()) {
                return vm.wrong_args(a.argc as usize, 0, Some(0));
            }
            if a.argc == 0 {
                return Ok(NIL);
            }
            let h = vm.arg(a, 0);
            let mut unknown = Vec::new();
            for (key, v) in vm.hash_pairs(h) {
                match members.iter().position(|m| Value::sym(*m) == key) {
                    Some(i) => vm.set_field(a.recv, i, v),
                    None => unknown.push(vm.to_s(key)?),
                }
            }
            if !unknown.is_empty() {
                return vm.arg_error(format!("unknown keywords: {}", unknown.join(", ")));
            }
            return Ok(NIL);
        }
        if a.argc as usize > members.len() {
            return vm.arg_error("struct size differs");
        }
        for (i, v) in vm.args(a).into_iter().enumerate() {
            vm.set_field(a.recv, i, v)
        }
        Ok(NIL)
    }),
    public("__get", 1, 1, |vm, a| {
        let i = vm.arg(a, 0);
        let i = vm.to_int(i)?;
        Ok(vm.field(a.recv, i as usize))
    }),
    public("__put", 2, 2, |vm, a| {
        vm.check_frozen(a.recv)?;
        let (i, v) = (vm.arg(a, 0), vm.arg(a, 1));
        let i = vm.to_int(i)?;
        vm.set_field(a.recv, i as usize, v);
        Ok(v)
    }),
    public("to_a", 0, 0, |vm, a| {
        let f = fields(vm, a.recv);
        Ok(vm.arr(f))
    })
    .also(&["values", "deconstruct"]),
    public("members", 0, 0, |vm, a| {
        let class = vm.class_of(a.recv);
        let l = vm.struct_members(class).unwrap_or_default().into_iter().map(Value::sym).collect();
        Ok(vm.arr(l))
    }),
    public("__init_copy", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let f = fields(vm, o);
        for (i, v) in f.into_iter().enumerate() {
            vm.set_field(a.recv, i, v)
        }
        Ok(a.recv)
    }),
    public("hash", 0, 0, |vm, a| {
        let f = fields(vm, a.recv);
        let me = a.recv;
        let r = vm.recurse(me, |vm| {
            let mut h = 17u64;
            for v in f {
                h = h.rotate_left(7) ^ vm.hash_of(v)?
            }
            Ok(h)
        })?;
        let class = u64::from(vm.real_class(a.recv)) << 24;
        Ok(Value::fix(((r.unwrap_or(3) ^ class) >> 3) as i64))
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let k = c::STRUCT;
    vm.classes[k as usize].alloc = Alloc::Struct;
    vm.include_module(k, c::ENUMERABLE);
    vm.natives(c::STRUCT, METHODS);
    for (name, eql) in [("==", false), ("eql?", true)] {
        let _ = eql;
        vm.def(
            k,
            name,
            |vm, a| {
                let o = vm.arg(a, 0);
                if a.recv == o {
                    return Ok(TRUE);
                }
                if vm.real_class(a.recv) != vm.real_class(o) {
                    return Ok(FALSE);
                }
                let eql = vm.syms.bytes(vm.methods[a.method as usize].orig) == b"eql?";
                let (x, y) = (fields(vm, a.recv), fields(vm, o));
                let me = a.recv;
                let r = vm.recurse(me, |vm| {
                    for (p, q) in x.iter().zip(&y) {
                        if !(if eql { vm.eql(*p, *q)? } else { vm.equal(*p, *q)? }) {
                            return Ok(false);
                        }
                    }
                    Ok(true)
                })?;
                Ok(Value::bool(r.unwrap_or(true)))
            },
            1,
            1,
        );
    }
}

fn fields(vm: &Vm, v: Value) -> Vec<Value> {
    match vm.heap.ext(v) {
        Some(crate::heap::Ext::Fields(f)) => f.clone(),
        _ => Vec::new(),
    }
}

fn struct_kw(vm: &Vm, class: u32) -> Option<Value> {
    let mut at = Some(class);
    while let Some(id) = at {
        if let Some(v) = vm.classes[id as usize].ivars.get(&n::IV_KWINIT) {
            return Some(*v);
        }
        at = vm.classes[id as usize].superclass
    }
    None
}

fn new_struct(vm: &mut Vm, mut a: Args) -> R {
    let base = a.recv.index() as u32;
    // Its `inspect` would stay hidden behind the one every object has.
    vm.load_prelude_file("struct.rb")?;
    let kw = vm.take_kw(&mut a);
    let mut args = vm.args(a);
    let mut name = None;
    if let Some(f) = args.first().copied() {
        if f.is_str() {
            name = Some(f);
            args.remove(0);
        } else if f.is_nil() && args.len() > 1 {
            args.remove(0);
        } else if !f.is_sym() && f.is_obj() {
            let s = vm.to_str(f)?;
            name = Some(s);
            args.remove(0);
        }
    } else if kw.is_none() {
        return vm.wrong_args(0, 1, None);
    }
    let mut members = Vec::new();
    for v in args {
        let s = if v.is_sym() || v.is_str() {
            vm.to_sym(v)?
        } else {
            let t = vm.inspect_string(v)?;
            return vm.type_error(format!("{t} is not a symbol nor a string"));
        };
        if members.contains(&Value::sym(s)) {
            let t = vm.sym_str(s).into_owned();
            return vm.arg_error(format!("duplicate member: {t}"));
        }
        members.push(Value::sym(s));
    }
    let class = vm.new_class(ClassKind::Class, Some(base));
    if let Some(nm) = name {
        let t = vm.text(nm);
        if !t.starts_with(|ch: char| ch.is_uppercase()) {
            let s = vm.intern(&t);
            let e = vm.name_error(
                c::NAME_ERROR,
                &format!("identifier {t} needs to be constant"),
                s,
                a.recv,
            )?;
            return vm.throw(e);
        }
        let s = vm.intern(&t);
        vm.const_set(base, s, Value::class(class));
    }
    for (i, m) in members.iter().enumerate() {
        if let Some(s) = m.as_sym() {
            vm.add_method(class, s, Body::Field(i as u16), Vis::Public);
            let setter = format!("{}=", vm.sym_str(s));
            let setter = vm.intern(&setter);
            vm.add_method(class, setter, Body::SetField(i as u16), Vis::Public);
        }
    }
    let list = vm.arr(members);
    vm.freeze(list);
    vm.classes[class as usize].ivars.insert(n::IV_MEMBERS, list);
    if let Some(v) = vm.kw(kw, "keyword_init") {
        vm.classes[class as usize].ivars.insert(n::IV_KWINIT, Value::bool(v.truthy()));
        if v.is_nil() {
            vm.classes[class as usize].ivars.shift_remove(&n::IV_KWINIT);
        }
    }
    let meta = vm.singleton_class(Value::class(class))?;
    vm.def(
        meta,
        "new",
        |vm, a| {
            let v = vm.allocate(a.recv.index() as u32)?;
            let args = vm.args(a);
            vm.hold(v);
            vm.open_call(a).send_full(v, n::INITIALIZE, &args, a.block, a.kw)?;
            Ok(v)
        },
        0,
        -1,
    );
    vm.def(
        meta,
        "[]",
        |vm, a| {
            let args = vm.args(a);
            vm.open_call(a).send_full(a.recv, n::NEW, &args, a.block, a.kw)
        },
        0,
        -1,
    );
    vm.def(
        meta,
        "members",
        |vm, a| {
            let l = vm
                .struct_members(a.recv.index() as u32)
                .unwrap_or_default()
                .into_iter()
                .map(Value::sym)
                .collect();
            Ok(vm.arr(l))
        },
        0,
        0,
    );
    vm.def(
        meta,
        "keyword_init?",
        |vm, a| Ok(struct_kw(vm, a.recv.index() as u32).unwrap_or(NIL)),
        0,
        0,
    );
    vm.inherited(base, class)?;
    if !a.block.is_nil() {
        let up = vm.heap.pr(a.block).frame.cref;
        let cref = vm.cref_below(up, class, true);
        let it = Value::class(class);
        vm.open_call(a).yield_self(a.block, it, &[it], Some(cref))?;
    }
    Ok(Value::class(class))
}
