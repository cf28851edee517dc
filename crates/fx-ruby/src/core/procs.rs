//! Proc, Method, UnboundMethod and Binding.

use crate::core::kernel::boxed;
use crate::heap::{Ext, MethodData, ProcBody};
use crate::names as n;
use crate::natives::{Native, on_class, public};
use crate::object::{Body, c};
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Res, Vm};

const METHODS: &[Native] = &[
    on_class("new", 0, -1, |vm, a| {
        if a.block.is_nil() {
            return vm.arg_error("tried to create Proc object without a block");
        }
        vm.heap.escape(a.block);
        let class = a.recv.index() as u32;
        let v = if class == c::PROC {
            a.block
        } else {
            let copy = vm.copy(a.block)?;
            vm.heap.pr_mut(copy).class = class;
            copy
        };
        if class != c::PROC {
            let args = vm.args(a);
            vm.send_full(v, n::INITIALIZE, &args, NIL, a.kw)?;
        }
        Ok(v)
    }),
    public("to_proc", 0, 0, |_, a| Ok(a.recv)),
    public("lambda?", 0, 0, |vm, a| Ok(Value::bool(vm.heap.pr(a.recv).lambda))),
    public("arity", 0, 0, |vm, a| Ok(Value::fix(vm.proc_arity(a.recv)))),
    public("parameters", 0, 1, |vm, mut a| {
        let kw = vm.take_kw(&mut a);
        let lambda = match vm.kw(kw, "lambda") {
            Some(v) if !v.is_nil() => v.truthy(),
            _ => vm.heap.pr(a.recv).lambda,
        };
        match vm.heap.pr(a.recv).body.clone() {
            ProcBody::Code(code) => Ok(vm.parameters(code, lambda)),
            ProcBody::Method(m) => vm.call_name(m, "parameters", &[]),
            ProcBody::Sym(_) => {
                let (req, rest) =
                    (vm.intern(if lambda { "req" } else { "opt" }), vm.intern("rest"));
                let x = vm.arr(vec![Value::sym(req)]);
                let y = vm.arr(vec![Value::sym(rest)]);
                Ok(vm.arr(vec![x, y]))
            }
            ProcBody::Native(..) => {
                let rest = vm.intern("rest");
                let y = vm.arr(vec![Value::sym(rest)]);
                Ok(vm.arr(vec![y]))
            }
        }
    }),
    public("binding", 0, 0, |vm, a| {
        let pr = vm.heap.pr(a.recv).clone();
        if !matches!(pr.body, ProcBody::Code(_)) {
            return vm.arg_error("Can't create Binding from C level Proc");
        }
        vm.heap.escape(a.recv);
        Ok(vm.new_binding(crate::heap::BindingData {
            self_val: pr.self_val,
            env: pr.env,
            frame: pr.frame,
        }))
    }),
    public("source_location", 0, 0, |vm, a| match vm.heap.pr(a.recv).body {
        ProcBody::Code(code) => Ok(vm.location_pair(code.file, code.pos)),
        ProcBody::Method(method) => vm.call_name(method, "source_location", &[]),
        _ => Ok(NIL),
    }),
    public("curry", 0, 1, |vm, a| {
        let arity = vm.proc_arity(a.recv);
        let need = match vm.opt(a, 0) {
            Some(v) => {
                let want = vm.to_int(v)?;
                if vm.heap.pr(a.recv).lambda
                    && (arity >= 0 && want != arity || arity < 0 && want < -arity - 1)
                {
                    let min = if arity >= 0 { arity } else { -arity - 1 };
                    return vm.wrong_args(
                        want as usize,
                        min as usize,
                        if arity >= 0 { Some(arity as usize) } else { None },
                    );
                }
                want
            }
            None => {
                if arity < 0 {
                    -arity - 1
                } else {
                    arity
                }
            }
        };
        let lambda = vm.heap.pr(a.recv).lambda;
        Ok(curry(vm, &[a.recv], need as usize, lambda))
    }),
    public(">>", 1, 1, |vm, a| compose(vm, a, true)),
    public("<<", 1, 1, |vm, a| compose(vm, a, false)),
    public("hash", 0, 0, |vm, a| Ok(Value::fix(vm.proc_key(a.recv) as i64 >> 3))),
    public("==", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        Ok(Value::bool(a.recv == o || o.is_proc() && vm.proc_key(a.recv) == vm.proc_key(o)))
    })
    .also(&["eql?"]),
    public("to_s", 0, 0, |vm, a| {
        let pr = vm.heap.pr(a.recv).clone();
        let lambda = if pr.lambda { " (lambda)" } else { "" };
        let class = vm.real_class(a.recv);
        let class = vm.class_name(class);
        let id = vm.object_id(a.recv) * 8;
        let text = match pr.body {
            ProcBody::Code(code) => format!(
                "#<{class}:0x{id:016x} {}:{}{lambda}>",
                vm.path_of(code.file),
                vm.line_of(code.file, code.pos)
            ),
            ProcBody::Sym(s) => {
                format!("#<{class}:0x{id:016x}(&:{}) (lambda)>", vm.sym_str(s))
            }
            _ => format!("#<{class}:0x{id:016x}{lambda}>"),
        };
        Ok(vm.str_enc(text, crate::encoding::BINARY))
    })
    .also(&["inspect"]),
    public("ruby2_keywords", 0, 0, |vm, a| {
        vm.check_frozen(a.recv)?;
        vm.heap.pr_mut(a.recv).ruby2 = true;
        Ok(a.recv)
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let p = c::PROC;
    vm.classes[p as usize].alloc = crate::object::Alloc::Proc;
    vm.natives(c::PROC, METHODS);
    for name in ["call", "()", "yield", "===", "[]"] {
        vm.def(p, name, |vm, a| vm.call_block(a.recv, a.start as usize, a.kw, a.block), 0, -1);
    }
    init_method(vm);
    init_binding(vm);
}

fn compose(vm: &mut Vm, a: Args, forward: bool) -> R {
    let (f, g) = (a.recv, vm.arg(a, 0));
    if !g.is_proc() && !vm.responds(g, n::CALL, true)? {
        return vm.type_error("callable object is expected");
    }
    vm.heap.escape(f);
    vm.heap.escape(g);
    let lambda = if forward {
        !f.is_proc() || vm.heap.pr(f).lambda
    } else {
        !g.is_proc() || vm.heap.pr(g).lambda
    };
    Ok(vm.native_proc(
        -1,
        lambda,
        &if forward { [f, g] } else { [g, f] },
        boxed(|vm, kept, args, block| {
            let v = vm.send_block(kept[0], n::CALL, args, block)?;
            vm.send(kept[1], n::CALL, &[v])
        }),
    ))
}

/// A proc that calls another once it has enough arguments. `kept` is that proc and the arguments
/// so far.
fn curry(vm: &mut Vm, kept: &[Value], need: usize, lambda: bool) -> Value {
    vm.heap.escape(kept[0]);
    vm.native_proc(
        -1,
        lambda,
        kept,
        boxed(move |vm, kept, args, _| {
            let all = [kept, args].concat();
            if all.len() > need {
                vm.send(all[0], n::CALL, &all[1..])
            } else {
                Ok(curry(vm, &all, need, lambda))
            }
        }),
    )
}

fn data(vm: &Vm, v: Value) -> Option<MethodData> {
    match vm.heap.ext(v) {
        Some(Ext::Method(d)) => Some((**d).clone()),
        _ => None,
    }
}

fn method_data(vm: &mut Vm, a: Args) -> Res<MethodData> {
    let Some(d) = data(vm, a.recv) else { return vm.type_error("uninitialized method") };
    if !d.missing {
        vm.read_method(d.id);
    }
    Ok(d)
}

/// The class that has a method: of an alias the one it was made in.
fn owner_of(vm: &mut Vm, d: &MethodData) -> u32 {
    let method = vm.methods[d.id as usize];
    if d.name == method.orig {
        return method.owner;
    }
    let mro = vm.mro(d.class);
    let has = |at: &&u32| vm.classes[**at as usize].methods.get(&d.name) == Some(&d.id);
    mro.iter().find(has).copied().unwrap_or(method.owner)
}

const METHOD_METHODS: &[Native] = &[
    public("receiver", 0, 0, |vm, a| Ok(method_data(vm, a)?.recv)),
    public("unbind", 0, 0, |vm, a| {
        let d = method_data(vm, a)?;
        let class = vm.class_of(d.recv);
        let new = MethodData { recv: NIL, unbound: true, class, ..d };
        Ok(vm.new_obj(c::UNBOUND, Ext::Method(Box::new(new))))
    }),
    public("to_proc", 0, 0, |vm, a| {
        let stub = vm.native_proc_stub();
        let mut p = vm.heap.pr(stub).clone();
        p.body = ProcBody::Method(a.recv);
        p.lambda = true;
        p.escaped = true;
        Ok(vm.heap.proc_(p))
    }),
    public("curry", 0, 1, |vm, a| {
        let p = vm.call_name(a.recv, "to_proc", &[])?;
        let args = vm.args(a);
        vm.call_name(p, "curry", &args)
    }),
    public(">>", 1, 1, |vm, a| compose(vm, a, true)),
    public("<<", 1, 1, |vm, a| compose(vm, a, false)),
    public("call", 0, -1, |vm, a| match data(vm, a.recv) {
        // The arguments are where the method wants them.
        Some(d) if !d.missing => vm.invoke(d.id, d.recv, d.name, a.start as usize, a.block, a.kw),
        _ => {
            let args = vm.args(a);
            vm.call_method_object(a.recv, &args, a.block, a.kw)
        }
    })
    .also(&["()", "===", "[]"]),
];

const UNBOUND_METHODS: &[Native] = &[
    public("bind", 1, 1, |vm, a| {
        let d = method_data(vm, a)?;
        let recv = vm.arg(a, 0);
        check_bind(vm, &d, recv)?;
        let class = vm.class_of(recv);
        let new = MethodData { recv, unbound: false, class, ..d };
        Ok(vm.new_obj(c::METHOD, Ext::Method(Box::new(new))))
    }),
    public("bind_call", 1, -1, |vm, a| {
        let d = method_data(vm, a)?;
        let args = vm.args(a);
        check_bind(vm, &d, args[0])?;
        let start = vm.stack.len();
        vm.stack.extend_from_slice(&args[1..]);
        vm.invoke(d.id, args[0], d.name, start, a.block, a.kw)
    }),
];

/// What bound and unbound methods have in common.
const BOTH_METHODS: &[Native] = &[
    public("name", 0, 0, |vm, a| Ok(Value::sym(method_data(vm, a)?.name))),
    public("owner", 0, 0, |vm, a| {
        let d = method_data(vm, a)?;
        let owner = if d.missing { d.owner } else { owner_of(vm, &d) };
        Ok(Value::class(owner))
    }),
    public("original_name", 0, 0, |vm, a| {
        let d = method_data(vm, a)?;
        Ok(Value::sym(vm.methods[d.id as usize].orig))
    }),
    public("arity", 0, 0, |vm, a| {
        let d = method_data(vm, a)?;
        if d.missing {
            return Ok(Value::fix(-1));
        }
        Ok(Value::fix(vm.method_arity(d.id)))
    }),
    public("parameters", 0, 0, |vm, a| {
        let d = method_data(vm, a)?;
        let body = if d.missing { None } else { Some(vm.methods[d.id as usize].body) };
        match body {
            Some(Body::Ruby(code, _)) => Ok(vm.parameters(code, true)),
            Some(Body::Proc(p)) => match vm.heap.pr(p).body {
                ProcBody::Code(code) => Ok(vm.parameters(code, true)),
                _ => Ok(vm.arr(vec![])),
            },
            Some(Body::Writer(_) | Body::SetField(_)) => {
                let s = vm.intern("unnamed");
                let _ = s;
                let req = vm.intern("req");
                let row = vm.arr(vec![Value::sym(req)]);
                Ok(vm.arr(vec![row]))
            }
            Some(Body::Reader(_) | Body::Field(_)) => Ok(vm.arr(vec![])),
            Some(Body::Native(_, min, max)) => {
                let mut rows = Vec::new();
                let (req, opt, rest) = (vm.intern("req"), vm.intern("opt"), vm.intern("rest"));
                if min == max {
                    for _ in 0..min {
                        rows.push(vm.arr(vec![Value::sym(req)]));
                    }
                } else if max < 0 || max > min {
                    let _ = opt;
                    rows.push(vm.arr(vec![Value::sym(rest)]));
                }
                Ok(vm.arr(rows))
            }
            _ => {
                let rest = vm.intern("rest");
                let row = vm.arr(vec![Value::sym(rest)]);
                Ok(vm.arr(vec![row]))
            }
        }
    }),
    public("source_location", 0, 0, |vm, a| {
        let d = method_data(vm, a)?;
        match vm.methods[d.id as usize].body {
            Body::Ruby(code, _) => Ok(vm.location_pair(code.file, code.pos)),
            Body::Proc(p) => match vm.heap.pr(p).body {
                ProcBody::Code(code) => Ok(vm.location_pair(code.file, code.pos)),
                _ => Ok(NIL),
            },
            _ => Ok(NIL),
        }
    }),
    public("hash", 0, 0, |vm, a| {
        let d = method_data(vm, a)?;
        // Aliases are equal, so the body and not the name is what counts.
        let body = match vm.methods[d.id as usize].body {
            Body::Native(f, ..) => f as usize as u64,
            Body::Ruby(code, _) => std::ptr::from_ref(code) as usize as u64,
            Body::Proc(p) => p.bits(),
            _ => u64::from(d.id),
        };
        let x = (body << 12) ^ d.recv.bits();
        Ok(Value::fix((x >> 3) as i64))
    }),
    public("==", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let d = method_data(vm, a)?;
        let Some(e) = data(vm, o) else { return Ok(Value::bool(false)) };
        let same = d.unbound == e.unbound
            && d.recv == e.recv
            && d.missing == e.missing
            && vm.same_body(d.id, e.id)
            && vm.methods[d.id as usize].owner == vm.methods[e.id as usize].owner;
        Ok(Value::bool(same && d.class == e.class))
    })
    .also(&["eql?"]),
    public("to_s", 0, 0, |vm, a| {
        let d = method_data(vm, a)?;
        let kind = if d.unbound { "UnboundMethod" } else { "Method" };
        let owner = vm.methods[d.id as usize].owner;
        let mut name = vm.sym_str(d.name).into_owned();
        let orig = vm.methods[d.id as usize].orig;
        if !d.missing && orig != d.name {
            name.push_str(&format!("({})", vm.sym_str(orig)));
        }
        let single = vm.classes[owner as usize].is_singleton();
        let on = if single && !d.unbound {
            format!("{}.", vm.inspect_string(d.recv)?)
        } else {
            let class = if d.unbound { owner_of(vm, &d) } else { vm.real_class(d.recv) };
            let own = vm.class_name(owner);
            let cn = vm.class_name(class);
            if class == owner { format!("{cn}#") } else { format!("{cn}({own})#") }
        };
        let params = vm.call_name(a.recv, "parameters", &[])?;
        let params = vm.params_text(params);
        let at = match vm.methods[d.id as usize].body {
            Body::Ruby(code, _) => {
                format!(" {}:{}", vm.path_of(code.file), vm.line_of(code.file, code.pos))
            }
            _ => String::new(),
        };
        Ok(vm.str(format!("#<{kind}: {on}{name}({params}){at}>")))
    })
    .also(&["inspect"]),
    public("super_method", 0, 0, |vm, a| {
        let d = method_data(vm, a)?;
        let m = vm.methods[d.id as usize];
        let class = if d.unbound { d.class } else { vm.class_of(d.recv) };
        match vm.find_super(class, m.owner, m.orig) {
            Some(id) => {
                let owner = vm.methods[id as usize].owner;
                let new = MethodData { id, owner, class: owner, ..d };
                let class = vm.real_class(a.recv);
                Ok(vm.new_obj(class, Ext::Method(Box::new(new))))
            }
            None => Ok(NIL),
        }
    }),
];

fn init_method(vm: &mut Vm) {
    vm.natives(c::METHOD, METHOD_METHODS);
    vm.natives(c::UNBOUND, UNBOUND_METHODS);
    for class in [c::METHOD, c::UNBOUND] {
        vm.classes[class as usize].alloc = crate::object::Alloc::None;
        vm.natives(class, BOTH_METHODS);
    }
}

fn check_bind(vm: &mut Vm, d: &MethodData, recv: Value) -> Res<()> {
    let owner = vm.methods[d.id as usize].owner;
    if vm.classes[owner as usize].is_module() || vm.is_a(recv, owner) {
        return Ok(());
    }
    if vm.classes[owner as usize].is_singleton() {
        return vm.type_error("singleton method called for a different object");
    }
    let name = vm.class_name(owner);
    vm.type_error(format!("bind argument must be an instance of {name}"))
}

fn init_binding(vm: &mut Vm) {
    let b = c::BINDING;
    vm.classes[b as usize].alloc = crate::object::Alloc::None;
    vm.def(
        b,
        "eval",
        |vm, a| {
            let mut args = vm.args(a);
            args.insert(1, a.recv);
            vm.call_name(vm.main, "eval", &args)
        },
        1,
        3,
    );
    vm.def(b, "receiver", |vm, a| Ok(binding(vm, a.recv).0), 0, 0);
    vm.def(
        b,
        "local_variables",
        |vm, a| {
            let (_, env) = binding(vm, a.recv);
            Ok(vm.local_names(env))
        },
        0,
        0,
    );
    vm.def(
        b,
        "local_variable_defined?",
        |vm, a| {
            let name = vm.arg(a, 0);
            let name = vm.to_sym(name)?;
            let (_, env) = binding(vm, a.recv);
            Ok(Value::bool(vm.find_local(env, name).is_some()))
        },
        1,
        1,
    );
    vm.def(
        b,
        "local_variable_get",
        |vm, a| {
            let name = local_name(vm, a)?;
            let (_, env) = binding(vm, a.recv);
            match vm.find_local(env, name) {
                Some((env, slot)) => Ok(vm.heap.envs[env as usize].vars[slot]),
                None => {
                    let text = vm.quoted_sym(name);
                    let what = vm.inspect_string(a.recv)?;
                    let e = vm.name_error(
                        c::NAME_ERROR,
                        &format!("local variable {text} is not defined for {what}"),
                        name,
                        a.recv,
                    )?;
                    vm.throw(e)
                }
            }
        },
        1,
        1,
    );
    vm.def(
        b,
        "local_variable_set",
        |vm, a| {
            let name = local_name(vm, a)?;
            let v = vm.arg(a, 1);
            let (_, env) = binding(vm, a.recv);
            match vm.find_local(env, name) {
                Some((env, slot)) => vm.heap.envs[env as usize].vars[slot] = v,
                None => {
                    let names: &'static [fx_ruby_syntax::Sym] =
                        Box::leak(vec![name].into_boxed_slice());
                    let new = vm.heap.env(names, env);
                    vm.heap.envs[new as usize].vars[0] = v;
                    vm.heap.escape_env(new);
                    if let Ext::Binding(d) = &mut vm.heap.obj_mut(a.recv).ext {
                        d.env = new;
                    }
                }
            }
            Ok(v)
        },
        2,
        2,
    );
    vm.def(
        b,
        "source_location",
        |vm, a| match vm.heap.ext(a.recv) {
            Some(Ext::Binding(d)) => {
                let f = d.frame;
                Ok(vm.location_pair(f.file, f.pos))
            }
            _ => Ok(NIL),
        },
        0,
        0,
    );
    vm.def(b, "irb", |_, _| Ok(NIL), 0, 0);
}

fn local_name(vm: &mut Vm, a: Args) -> Res<fx_ruby_syntax::Sym> {
    let v = vm.arg(a, 0);
    let name = vm.to_sym(v)?;
    let text = vm.sym_str(name).into_owned();
    if !text.starts_with(|ch: char| ch.is_lowercase() || ch == '_' || ch > '\u{7f}') {
        let what = vm.inspect_string(a.recv)?;
        let e = vm.name_error(
            c::NAME_ERROR,
            &format!("wrong local variable name {} for {what}", vm.quoted(&text)),
            name,
            a.recv,
        )?;
        return vm.throw(e);
    }
    Ok(name)
}

fn binding(vm: &Vm, v: Value) -> (Value, u32) {
    match vm.heap.ext(v) {
        Some(Ext::Binding(d)) => (d.self_val, d.env),
        _ => (NIL, 0),
    }
}

impl Vm {
    fn native_proc_stub(&mut self) -> Value {
        self.native_proc(-1, true, &[], boxed(|_, _, _, _| Ok(NIL)))
    }

    fn find_local(&self, mut env: u32, name: fx_ruby_syntax::Sym) -> Option<(u32, usize)> {
        while env != 0 {
            if let Some(slot) = self.heap.envs[env as usize].names.iter().position(|n| *n == name) {
                return Some((env, slot));
            }
            env = self.heap.envs[env as usize].up;
        }
        None
    }

    pub(crate) fn location_pair(&mut self, file: u32, pos: u32) -> Value {
        let path = self.path_of(file);
        let path = self.str(path.as_bytes());
        let line = Value::fix(i64::from(self.line_of(file, pos)));
        self.arr(vec![path, line])
    }

    fn proc_key(&self, v: Value) -> u64 {
        let p = self.heap.pr(v);
        match &p.body {
            ProcBody::Code(code) => {
                // Another run of the method or lambda makes another one, whatever they share.
                let made = p.frame.home.rotate_left(36);
                let code = std::ptr::from_ref(*code) as u64;
                code ^ u64::from(p.env) << 8 ^ p.self_val.bits() << 20 ^ made
            }
            ProcBody::Sym(s) => u64::from(s.0) << 8 | 1,
            ProcBody::Method(m) => m.bits() << 1,
            ProcBody::Native(..) => (v.index() as u64) << 4 | 3,
        }
    }

    pub(crate) fn proc_arity(&mut self, v: Value) -> i64 {
        let p = self.heap.pr(v);
        let lambda = p.lambda;
        match p.body.clone() {
            ProcBody::Code(code) => Vm::arity(code, lambda),
            ProcBody::Sym(_) => -2,
            ProcBody::Method(m) => match data(self, m) {
                Some(d) => self.method_arity(d.id),
                None => -1,
            },
            ProcBody::Native(_, n, _) => i64::from(n),
        }
    }

    pub(crate) fn method_arity(&mut self, id: u32) -> i64 {
        self.read_method(id);
        match self.methods[id as usize].body {
            Body::Ruby(code, _) => Vm::arity(code, true),
            Body::Native(_, min, max) => {
                if min == max {
                    i64::from(min)
                } else {
                    -i64::from(min) - 1
                }
            }
            Body::Writer(_) | Body::SetField(_) => 1,
            Body::Proc(p) => match self.heap.pr(p).body {
                ProcBody::Code(code) => Vm::arity(code, true),
                _ => self.proc_arity(p),
            },
            Body::Host(_) => -1,
            _ => 0,
        }
    }

    fn same_body(&mut self, a: u32, b: u32) -> bool {
        self.read_method(a);
        self.read_method(b);
        match (self.methods[a as usize].body, self.methods[b as usize].body) {
            (Body::Ruby(x, _), Body::Ruby(y, _)) => std::ptr::eq(x, y),
            (Body::Native(x, ..), Body::Native(y, ..)) => std::ptr::fn_addr_eq(x, y),
            (Body::Proc(x), Body::Proc(y)) => x == y,
            (Body::Reader(x), Body::Reader(y)) | (Body::Writer(x), Body::Writer(y)) => x == y,
            _ => a == b,
        }
    }

    fn params_text(&mut self, list: Value) -> String {
        let mut out = Vec::new();
        for row in self.heap.arr(list).clone() {
            let row = self.heap.arr(row).clone();
            let kind = row
                .first()
                .and_then(|v| v.as_sym())
                .map(|s| self.sym_str(s).into_owned())
                .unwrap_or_default();
            let name = row.get(1).and_then(|v| v.as_sym()).map(|s| self.sym_str(s).into_owned());
            let n = name.clone().unwrap_or_else(|| "_".into());
            out.push(match kind.as_str() {
                "req" => n,
                "opt" => format!("{n}=..."),
                "rest" => format!("*{}", name.unwrap_or_default()),
                "keyreq" => format!("{n}:"),
                "key" => format!("{n}: ..."),
                "keyrest" => format!("**{}", name.unwrap_or_default()),
                "nokey" => "**nil".into(),
                _ => format!("&{}", name.unwrap_or_default()),
            });
        }
        out.join(", ")
    }

    pub(crate) fn call_method_object(
        &mut self,
        m: Value,
        args: &[Value],
        block: Value,
        kw: bool,
    ) -> R {
        let Some(d) = data(self, m) else { return self.type_error("not a method") };
        if d.missing {
            let mut all = vec![Value::sym(d.name)];
            all.extend_from_slice(args);
            return self.send_full(d.recv, n::METHOD_MISSING, &all, block, kw);
        }
        let start = self.stack.len();
        self.stack.extend_from_slice(args);
        self.invoke(d.id, d.recv, d.name, start, block, kw)
    }
}
