//! Enumerator: a receiver, a method and arguments; `next` runs the iteration in a fiber.

use fx_ruby_syntax::Sym;

use crate::core::kernel::boxed;
use crate::fiber::State;
use crate::heap::{EnumData, Ext, Outside};
use crate::names as n;
use crate::natives::{Native, private, public};
use crate::object::{Alloc, c};
use crate::value::{NIL, UNDEF, Value};
use crate::vm::{Args, R, Res, Unwind, Vm};

impl Vm {
    pub fn new_enumerator(&mut self, recv: Value, meth: Sym, args: Vec<Value>, kw: bool) -> Value {
        let data = EnumData { recv, meth, args, kw, size: UNDEF, outside: Outside::default() };
        self.heap.escape(recv);
        self.new_obj(c::ENUMERATOR, Ext::Enumerator(Box::new(data)))
    }
    pub(crate) fn set_enum_size(&mut self, e: Value, size: Value) {
        if let Ext::Enumerator(d) = &mut self.heap.obj_mut(e).ext {
            d.size = size
        }
    }
    /// What a native method called without a block gives.
    pub fn enumerator(&mut self, a: Args) -> R {
        let args = self.args(a);
        let name = self.methods[a.method as usize].name;
        Ok(self.new_enumerator(a.recv, name, args, a.kw))
    }
    pub fn enumerator_sized(&mut self, a: Args, size: Value) -> R {
        let e = self.enumerator(a)?;
        self.set_enum_size(e, size);
        Ok(e)
    }
}

fn data(vm: &mut Vm, v: Value) -> Res<&mut EnumData> {
    let good = v.is_obj() && matches!(vm.heap.obj(v).ext, Ext::Enumerator(_));
    if !good {
        return vm.arg_error("uninitialized enumerator");
    }
    match &mut vm.heap.obj_mut(v).ext {
        Ext::Enumerator(d) => Ok(d),
        _ => Err(Unwind),
    }
}

/// The fiber that runs the iteration and hands out each value it is given.
fn iteration(vm: &mut Vm, e: Value) -> Value {
    let body = vm.native_proc(
        -1,
        false,
        &[e],
        boxed(|vm, kept, _, _| {
            let e = kept[0];
            let out = vm.native_proc(
                -1,
                false,
                &[e],
                boxed(|vm, kept, args, _| {
                    let values = vm.arr(args.to_vec());
                    vm.yield_fiber(values)?;
                    Ok(data(vm, kept[0])?.outside.feed.take().unwrap_or(NIL))
                }),
            );
            let d = data(vm, e)?;
            let (recv, meth, args, kw) = (d.recv, d.meth, d.args.clone(), d.kw);
            vm.hold(out);
            vm.method_call(recv, meth, &args, out, kw, true)
        }),
    );
    vm.new_fiber(c::FIBER, body, false)
}

fn next_values(vm: &mut Vm, a: Args, advance: bool) -> R {
    vm.hold_call(a);
    let e = a.recv;
    let outside = &mut data(vm, e)?.outside;
    if let Some(v) = outside.ahead {
        if advance {
            outside.ahead = None;
        }
        return Ok(v);
    }
    if let Some(error) = outside.ended {
        return vm.throw(error);
    }
    let mut fiber = outside.fiber;
    if fiber.is_nil() {
        fiber = iteration(vm, e);
        data(vm, e)?.outside.fiber = fiber;
    }
    vm.hold(fiber);
    let result = vm.resume(fiber, NIL);
    let Ok(v) = result else {
        data(vm, e)?.outside = Outside::default();
        return Err(Unwind);
    };
    if vm.fiber(fiber)?.state == State::Ended {
        let error = vm.make_error(c::STOP_ITERATION, "iteration reached an end")?;
        vm.ivar_set(error, n::RESULT, v);
        let outside = &mut data(vm, e)?.outside;
        outside.ended = Some(error);
        outside.fiber = NIL;
        return vm.throw(error);
    }
    if !advance {
        data(vm, e)?.outside.ahead = Some(v);
    }
    Ok(v)
}

fn single(vm: &Vm, v: Value) -> Value {
    match vm.heap.arr(v).as_slice() {
        [] => NIL,
        [one] => *one,
        _ => v,
    }
}

const METHODS: &[Native] = &[
    private("initialize", 0, 1, |vm, a| {
        vm.check_frozen(a.recv)?;
        if a.block.is_nil() {
            return vm.arg_error("no block given");
        }
        let p = vm.keep_block(a.block);
        vm.load_prelude_file("enumerator.rb")?;
        let generator = vm.define_class(c::ENUMERATOR, "Generator", c::OBJECT);
        let g = vm.send_block(Value::class(generator), n::NEW, &[], p)?;
        let size = vm.opt(a, 0).unwrap_or(NIL);
        let d = EnumData {
            recv: g,
            meth: n::EACH,
            args: Vec::new(),
            kw: false,
            size,
            outside: Outside::default(),
        };
        vm.heap.obj_mut(a.recv).ext = Ext::Enumerator(Box::new(d));
        Ok(a.recv)
    }),
    public("each", 0, -1, |vm, a| {
        let extra = vm.args(a);
        let d = data(vm, a.recv)?;
        let (recv, meth, mut args, kw) = (d.recv, d.meth, d.args.clone(), d.kw);
        args.extend(extra.iter().copied());
        if a.block.is_nil() {
            if extra.is_empty() {
                return Ok(a.recv);
            }
            let class = vm.real_class(a.recv);
            let e = vm.new_enumerator(recv, meth, args, kw);
            vm.heap.obj_mut(e).class = class;
            return Ok(e);
        }
        vm.open_call(a).send_full(recv, meth, &args, a.block, kw)
    }),
    public("next", 0, 0, |vm, a| {
        let v = next_values(vm, a, true)?;
        Ok(single(vm, v))
    }),
    public("peek", 0, 0, |vm, a| {
        let v = next_values(vm, a, false)?;
        Ok(single(vm, v))
    }),
    public("next_values", 0, 0, |vm, a| next_values(vm, a, true)),
    public("peek_values", 0, 0, |vm, a| next_values(vm, a, false)),
    public("feed", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        let outside = &mut data(vm, a.recv)?.outside;
        if outside.feed.is_some() {
            return vm.type_error("feed value already set");
        }
        outside.feed = Some(v);
        Ok(NIL)
    }),
    public("rewind", 0, 0, |vm, a| {
        let d = data(vm, a.recv)?;
        d.outside = Outside::default();
        let recv = d.recv;
        let s = vm.intern("rewind");
        if recv.is_obj() && vm.responds(recv, s, false)? {
            vm.send(recv, s, &[])?;
        }
        Ok(a.recv)
    }),
    public("size", 0, 0, |vm, a| {
        let d = data(vm, a.recv)?;
        let (size, recv, args) = (d.size, d.recv, d.args.clone());
        if size.is_undef() {
            let _ = recv;
            return Ok(NIL);
        }
        if size.is_proc() {
            return vm.yield_self(size, recv, &args, None);
        }
        if size.is_obj() && vm.responds(size, n::CALL, false)? {
            return vm.send(size, n::CALL, &[]);
        }
        Ok(size)
    }),
    public("__recv", 0, 0, |vm, a| Ok(data(vm, a.recv)?.recv)),
    public("__meth", 0, 0, |vm, a| Ok(Value::sym(data(vm, a.recv)?.meth))),
    public("__args", 0, 0, |vm, a| {
        let l = data(vm, a.recv)?.args.clone();
        Ok(vm.arr(l))
    }),
    public("__set_size", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        vm.set_enum_size(a.recv, v);
        Ok(a.recv)
    }),
    public("__init", 2, -1, |vm, a| {
        let args = vm.args(a);
        let meth = vm.to_sym(args[1])?;
        let d = EnumData {
            recv: args[0],
            meth,
            args: args[2..].to_vec(),
            kw: false,
            size: UNDEF,
            outside: Outside::default(),
        };
        vm.heap.obj_mut(a.recv).ext = Ext::Enumerator(Box::new(d));
        Ok(a.recv)
    }),
    public("inspect", 0, 0, |vm, a| {
        let class = vm.real_class(a.recv);
        let class = vm.class_name(class);
        let Ok(d) = data(vm, a.recv) else {
            vm.take_raise();
            return Ok(vm.str(format!("#<{class}: uninitialized>")));
        };
        let (recv, meth, args) = (d.recv, d.meth, d.args.clone());
        let me = a.recv;
        let r = vm.recurse(me, |vm| {
            let mut t = format!("#<{class}: {}:{}", vm.inspect_string(recv)?, vm.sym_str(meth));
            if !args.is_empty() {
                let mut l = Vec::new();
                for v in &args {
                    l.push(vm.inspect_string(*v)?)
                }
                t.push_str(&format!("({})", l.join(", ")))
            }
            t.push('>');
            Ok(t)
        })?;
        Ok(vm.str(r.unwrap_or(format!("#<{class}: ...>"))))
    })
    .also(&["to_s"]),
];

pub(crate) fn init(vm: &mut Vm) {
    let k = c::ENUMERATOR;
    vm.classes[k as usize].alloc = Alloc::Enumerator;
    vm.include_module(k, c::ENUMERABLE);
    vm.natives(c::ENUMERATOR, METHODS);
}
