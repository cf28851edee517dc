//! Object and BasicObject: identity, reflection, copying, sending.

mod copy;

use fx_ruby_syntax::Sym;

use crate::heap::{Ext, MethodData};
use crate::names as n;
use crate::natives::{Native, private, public};
use crate::object::{Vis, c};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, R, Res, Vm};

const BASIC_OBJECT_METHODS: &[Native] = &[
    private("initialize", 0, -1, |_, _| Ok(NIL)),
    public("==", 1, 1, eq),
    public("equal?", 1, 1, eq),
    public("!", 0, 0, |_, a| Ok(Value::bool(!a.recv.truthy()))),
    public("!=", 1, 1, |vm, a| {
        let other = vm.arg(a, 0);
        Ok(Value::bool(!vm.equal(a.recv, other)?))
    }),
    public("__id__", 0, 0, |vm, a| Ok(Value::fix(vm.identity(a.recv) as i64))),
    public("__send__", 0, -1, send),
    public("instance_eval", 0, 3, instance_eval),
    public("instance_exec", 0, -1, |vm, a| {
        if a.block.is_nil() {
            return vm.jump_error("no block given (yield)", "noreason", NIL);
        }
        let cref = vm.instance_cref(a.recv, a.block);
        let start = a.start as usize;
        vm.call_over(
            a.block,
            start,
            a.kw,
            NIL,
            crate::interp::Over { me: a.recv, cref, method: None, lambda: false },
        )
    }),
    private("method_missing", 0, -1, |vm, a| {
        let args = vm.args(a);
        let Some(name) = args.first().and_then(|v| v.as_sym()) else {
            return vm.arg_error("no method name given");
        };
        let class = vm.class_of(a.recv);
        let hidden = match vm.find_method(class, name).map(|id| vm.methods[id as usize].vis) {
            Some(Vis::Private) => Some("private"),
            Some(Vis::Protected) => Some("protected"),
            _ => None,
        };
        // What a `method_missing` of Ruby hands on with `super` failed as it was written.
        let bare = vm.bare_name && args.len() == 1;
        vm.undefined_method(a.recv, name, &args[1..], bare, hidden)
    }),
    private("singleton_method_added", 1, 1, |_, _| Ok(NIL))
        .also(&["singleton_method_removed", "singleton_method_undefined"]),
];

const KERNEL_METHODS: &[Native] = &[
    public("class", 0, 0, |vm, a| Ok(Value::class(vm.real_class(a.recv)))),
    public("singleton_class", 0, 0, |vm, a| Ok(Value::class(vm.singleton_class(a.recv)?))),
    public("frozen?", 0, 0, |vm, a| Ok(Value::bool(vm.frozen(a.recv)))),
    public("freeze", 0, 0, |vm, a| {
        vm.freeze(a.recv);
        Ok(a.recv)
    }),
    public("nil?", 0, 0, |_, a| Ok(Value::bool(a.recv.is_nil()))),
    public("===", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        Ok(Value::bool(a.recv == o || vm.equal(a.recv, o)?))
    }),
    public("=~", 1, 1, |_, _| Ok(NIL)),
    public("!~", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        Ok(Value::bool(!vm.send(a.recv, n::MATCH_OP, &[o])?.truthy()))
    }),
    public("eql?", 1, 1, eq),
    public("<=>", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        Ok(if a.recv == o || vm.equal(a.recv, o)? { Value::fix(0) } else { NIL })
    }),
    public("hash", 0, 0, |vm, a| {
        let h = vm.object_id(a.recv).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 4;
        Ok(Value::fix(h as i64))
    }),
    public("object_id", 0, 0, |vm, a| Ok(Value::fix(vm.identity(a.recv) as i64))),
    public("to_s", 0, 0, |vm, a| {
        if a.recv == vm.main {
            return Ok(vm.str_static("main"));
        }
        vm.any_to_s(a.recv)
    }),
    public("inspect", 0, 0, inspect),
    public("is_a?", 1, 1, is_a),
    public("kind_of?", 1, 1, is_a),
    public("instance_of?", 1, 1, |vm, a| {
        let class = vm.arg(a, 0);
        match class.as_class() {
            Some(id) => Ok(Value::bool(vm.real_class(a.recv) == id)),
            None => vm.type_error("class or module required"),
        }
    }),
    public("respond_to?", 1, 2, |vm, a| {
        let name = vm.arg(a, 0);
        let name = vm.to_sym(name)?;
        let private = vm.opt(a, 1).unwrap_or(FALSE).truthy();
        let class = vm.class_of(a.recv);
        if let Some(id) = vm.find_method(class, name)
            && (private || vm.methods[id as usize].vis == Vis::Public)
        {
            return Ok(TRUE);
        }
        if !vm.has_method(a.recv, n::RESPOND_TO_MISSING) {
            return Ok(FALSE);
        }
        Ok(Value::bool(
            vm.send(a.recv, n::RESPOND_TO_MISSING, &[Value::sym(name), Value::bool(private)])?
                .truthy(),
        ))
    }),
    private("respond_to_missing?", 2, 2, |_, _| Ok(FALSE)),
    public("send", 0, -1, send),
    public("public_send", 0, -1, |vm, a| {
        if a.argc == 0 {
            return vm.arg_error("no method name given");
        }
        let args = vm.args(a);
        let name = vm.to_sym(args[0])?;
        vm.open_call(a).send_public(a.recv, name, &args[1..], a.block, a.kw)
    }),
    public("dup", 0, 0, |vm, a| vm.dup(a.recv)),
    public("clone", 0, 1, clone),
    public("itself", 0, 0, |_, a| Ok(a.recv)),
    public("then", 0, 0, then),
    public("yield_self", 0, 0, then),
    public("tap", 0, 0, |vm, a| {
        if a.block.is_nil() {
            return vm.fail(c::LOCAL_JUMP, "no block given (yield)");
        }
        vm.open_call(a).yield1(a.block, a.recv)?;
        Ok(a.recv)
    }),
    public("extend", 0, -1, |vm, a| {
        let mods = vm.args(a);
        if mods.is_empty() {
            return vm.wrong_args(0, 1, None);
        }
        for m in mods.iter().rev() {
            let id = vm.as_module(*m)?;
            if !vm.classes[id as usize].is_module() {
                let name = vm.type_name(*m);
                return vm.type_error(format!("wrong argument type {name} (expected module)"));
            }
            vm.send(*m, n::EXTEND_OBJECT, &[a.recv])?;
            vm.send(*m, n::EXTENDED, &[a.recv])?;
        }
        Ok(a.recv)
    }),
    private("initialize_copy", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        if o != a.recv {
            vm.check_frozen(a.recv)?;
            if vm.real_class(a.recv) != vm.real_class(o) {
                return vm.type_error("initialize_copy should take same class object");
            }
        }
        Ok(a.recv)
    }),
    private("initialize_dup", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        vm.send(a.recv, n::INITIALIZE_COPY, &[o])
    }),
    private("initialize_clone", 1, 2, |vm, a| {
        let o = vm.arg(a, 0);
        vm.send(a.recv, n::INITIALIZE_COPY, &[o])
    }),
    public("instance_variable_get", 1, 1, |vm, a| {
        let name = ivar_name(vm, a)?;
        Ok(vm.ivar_get(a.recv, name).unwrap_or(NIL))
    }),
    public("instance_variable_set", 2, 2, |vm, a| {
        let name = ivar_name(vm, a)?;
        vm.check_frozen(a.recv)?;
        let v = vm.arg(a, 1);
        vm.ivar_set(a.recv, name, v);
        Ok(v)
    }),
    public("instance_variable_defined?", 1, 1, |vm, a| {
        let name = ivar_name(vm, a)?;
        Ok(Value::bool(vm.ivar_get(a.recv, name).is_some()))
    }),
    public("remove_instance_variable", 1, 1, |vm, a| {
        let name = ivar_name(vm, a)?;
        vm.check_frozen(a.recv)?;
        match vm.ivar_remove(a.recv, name) {
            Some(v) => Ok(v),
            None => {
                let text = vm.sym_str(name).into_owned();
                let what = vm.describe(a.recv)?;
                let e = vm.name_error(
                    c::NAME_ERROR,
                    &format!("instance variable {text} not defined for {what}"),
                    name,
                    a.recv,
                )?;
                vm.throw(e)
            }
        }
    }),
    public("instance_variables", 0, 0, |vm, a| {
        let names: Vec<Value> = vm
            .ivar_names(a.recv)
            .into_iter()
            .filter(|s| !vm.syms.bytes(*s).starts_with(b"@__"))
            .map(Value::sym)
            .collect();
        Ok(vm.arr(names))
    }),
    public("method", 1, 1, |vm, a| method(vm, a, true)),
    public("public_method", 1, 1, |vm, a| method(vm, a, false)),
    public("singleton_method", 1, 1, |vm, a| {
        let name = vm.arg(a, 0);
        let name = vm.to_sym(name)?;
        if let Some(single) = vm.singleton_of(a.recv)
            && let Some(id) = vm.classes[single as usize].methods.get(&name).copied()
        {
            return Ok(vm.method_object(a.recv, id, name, single));
        }
        let text = vm.quoted_sym(name);
        let what = vm.inspect_string(a.recv)?;
        let e = vm.name_error(
            c::NAME_ERROR,
            &format!("undefined singleton method {text} for {what}"),
            name,
            a.recv,
        )?;
        vm.throw(e)
    }),
    public("methods", 0, 1, |vm, a| {
        if vm.opt(a, 0) == Some(FALSE) {
            let names = vm.singleton_names(a.recv, false);
            return Ok(vm.arr(names));
        }
        let class = vm.class_of(a.recv);
        let names = vm.method_names(class, true, |v| v != Vis::Private);
        Ok(vm.arr(names))
    }),
    public("singleton_methods", 0, 1, |vm, a| {
        let all = vm.opt(a, 0).unwrap_or(TRUE).truthy();
        let names = vm.singleton_names(a.recv, all);
        Ok(vm.arr(names))
    }),
    public("public_methods", 0, 1, |vm, a| listed(vm, a, Vis::Public)),
    public("private_methods", 0, 1, |vm, a| listed(vm, a, Vis::Private)),
    public("protected_methods", 0, 1, |vm, a| listed(vm, a, Vis::Protected)),
    public("define_singleton_method", 1, 2, |vm, a| {
        let class = vm.singleton_class(a.recv)?;
        vm.check_frozen(a.recv)?;
        crate::core::module::define_method(vm, a, class, Some(Vis::Public))
    }),
    public("enum_for", 0, -1, enum_for),
    public("to_enum", 0, -1, enum_for),
    public("display", 0, 1, |vm, a| {
        let out = match vm.opt(a, 0) {
            Some(v) => v,
            None => vm.global(n::GV_STDOUT),
        };
        let s = vm.interpolate(a.recv)?;
        vm.send(out, n::WRITE, &[s])?;
        Ok(NIL)
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    vm.natives(c::BASIC_OBJECT, BASIC_OBJECT_METHODS);
    vm.natives(c::KERNEL, KERNEL_METHODS);
}

fn eq(vm: &mut Vm, a: Args) -> R {
    Ok(Value::bool(a.recv == vm.arg(a, 0)))
}

fn is_a(vm: &mut Vm, a: Args) -> R {
    let class = vm.arg(a, 0);
    match class.as_class() {
        Some(id) => Ok(Value::bool(vm.is_a(a.recv, id))),
        None => vm.type_error("class or module required"),
    }
}

fn send(vm: &mut Vm, a: Args) -> R {
    if a.argc == 0 {
        return vm.arg_error("no method name given");
    }
    let name = vm.arg(a, 0);
    let name = vm.to_sym(name)?;
    let start = vm.stack.len();
    for i in 1..a.argc {
        let v = vm.arg(a, i);
        vm.stack.push(v);
    }
    if let Some(id) = vm.refined_here(vm.class_of(a.recv), name) {
        return vm.invoke(id, a.recv, name, start, a.block, a.kw);
    }
    vm.dispatch(a.recv, name, start, a.block, a.kw, true)
}

fn then(vm: &mut Vm, a: Args) -> R {
    if a.block.is_nil() {
        return vm.enumerator_sized(a, Value::fix(1));
    }
    vm.open_call(a).yield1(a.block, a.recv)
}

fn ivar_name(vm: &mut Vm, a: Args) -> Res<Sym> {
    let v = vm.arg(a, 0);
    let name = vm.to_sym(v)?;
    let text = vm.syms.bytes(name);
    let good = text.len() > 1
        && text[0] == b'@'
        && (text[1].is_ascii_alphabetic() || text[1] == b'_' || text[1] >= 128);
    if !good {
        let shown = vm.quoted(&String::from_utf8_lossy(text));
        let e = vm.name_error(
            c::NAME_ERROR,
            &format!("{shown} is not allowed as an instance variable name"),
            name,
            a.recv,
        )?;
        return vm.throw(e);
    }
    Ok(name)
}

fn inspect(vm: &mut Vm, a: Args) -> R {
    let v = a.recv;
    if v == vm.main {
        return Ok(vm.str_static("main"));
    }
    let names: Vec<Sym> =
        vm.ivar_names(v).into_iter().filter(|s| !vm.syms.bytes(*s).starts_with(b"@__")).collect();
    if names.is_empty() || v.is_class() {
        return vm.any_to_s(v);
    }
    let class = vm.real_class(v);
    let head = format!("#<{}:0x{:016x}", vm.class_name(class), vm.object_id(v) * 8);
    let parts = vm.recurse(v, |vm| {
        let mut parts = Vec::new();
        for name in &names {
            let value = vm.ivar_get(v, *name).unwrap_or(NIL);
            let value = vm.inspect_string(value)?;
            parts.push(format!("{}={value}", vm.sym_str(*name)));
        }
        Ok(parts)
    })?;
    let text = match parts {
        Some(parts) => format!("{head} {}>", parts.join(", ")),
        None => format!("{head} ...>"),
    };
    Ok(vm.str(text))
}

fn clone(vm: &mut Vm, mut a: Args) -> R {
    let kw = vm.take_kw(&mut a);
    let freeze = vm.kw(kw, "freeze");
    match freeze {
        None | Some(NIL | TRUE | FALSE) => {}
        Some(v) => {
            let name = vm.type_name(v);
            return vm.arg_error(format!("unexpected value for freeze: {name}"));
        }
    }
    let v = a.recv;
    if vm.is_immediate(v) {
        if freeze == Some(FALSE) {
            let name = vm.type_name(v);
            return vm.arg_error(format!("can't unfreeze {name}"));
        }
        return Ok(v);
    }
    let copy = vm.copy(v)?;
    if let Some(single) = vm.singleton_of(v)
        && !v.is_class()
    {
        let target = vm.singleton_class(copy)?;
        vm.copy_class_body(single, target);
    }
    match freeze {
        Some(f) if f == TRUE || f == FALSE => {
            let args = [v, kw.unwrap_or(NIL)];
            vm.send_full(copy, n::INITIALIZE_CLONE, &args, NIL, true)?;
        }
        _ => {
            vm.send(copy, n::INITIALIZE_CLONE, &[v])?;
        }
    }
    if freeze == Some(TRUE) || (freeze != Some(FALSE) && vm.frozen(v)) {
        vm.freeze(copy);
    }
    Ok(copy)
}

fn method(vm: &mut Vm, a: Args, private: bool) -> R {
    let name = vm.arg(a, 0);
    let name = vm.to_sym(name)?;
    let class = vm.class_of(a.recv);
    if let Some(id) = vm.find_method(class, name)
        && (private || vm.methods[id as usize].vis == Vis::Public)
    {
        let id = vm.real_method(class, id).unwrap_or(id);
        return Ok(vm.method_object(a.recv, id, name, class));
    }
    if vm.send(a.recv, n::RESPOND_TO_MISSING, &[Value::sym(name), Value::bool(private)])?.truthy() {
        let data = MethodData {
            recv: a.recv,
            id: 0,
            name,
            owner: class,
            class,
            unbound: false,
            missing: true,
        };
        return Ok(vm.new_obj(c::METHOD, Ext::Method(Box::new(data))));
    }
    let text = vm.quoted_sym(name);
    let real = vm.real_class(a.recv);
    let (kind, owner) = match a.recv.as_class() {
        Some(_) => ("class", {
            let s = vm.class_of(a.recv);
            if vm.classes[s as usize].is_singleton() {
                vm.class_name(s)
            } else {
                format!("#<Class:{}>", vm.class_name(a.recv.index() as u32))
            }
        }),
        None => ("class", vm.class_name(real)),
    };
    let owner = vm.quoted(&owner);
    let e = vm.name_error(
        c::NAME_ERROR,
        &format!("undefined method {text} for {kind} {owner}"),
        name,
        a.recv,
    )?;
    vm.throw(e)
}

fn listed(vm: &mut Vm, a: Args, vis: Vis) -> R {
    let all = vm.opt(a, 0).unwrap_or(TRUE).truthy();
    let class = vm.class_of(a.recv);
    let mut names = vm.method_names(class, all, |v| v == vis);
    // A singleton class is no ancestor: its object's class belongs to it.
    if !all && vm.classes[class as usize].is_singleton() && !a.recv.is_class() {
        let real = vm.real_class(a.recv);
        for name in vm.method_names(real, false, |v| v == vis) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Ok(vm.arr(names))
}

fn enum_for(vm: &mut Vm, a: Args) -> R {
    let args = vm.args(a);
    let (meth, rest) = match args.split_first() {
        Some((m, rest)) => (vm.to_sym(*m)?, rest.to_vec()),
        None => (n::EACH, Vec::new()),
    };
    let e = vm.new_enumerator(a.recv, meth, rest, a.kw);
    if !a.block.is_nil() {
        let p = vm.keep_block(a.block);
        vm.set_enum_size(e, p);
    }
    Ok(e)
}

fn instance_eval(vm: &mut Vm, a: Args) -> R {
    if !a.block.is_nil() {
        if a.argc > 0 {
            return vm.wrong_args(a.argc as usize, 0, Some(0));
        }
        let cref = vm.instance_cref(a.recv, a.block);
        return vm.open_call(a).yield_self(a.block, a.recv, &[a.recv], cref);
    }
    if a.argc == 0 {
        return vm.arg_error("wrong number of arguments (given 0, expected 1..3)");
    }
    let cref = vm.instance_cref_here(a.recv);
    vm.eval_string_args(a, a.recv, cref)
}
