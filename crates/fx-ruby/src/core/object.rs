//! Object and BasicObject: identity, reflection, copying, sending.

mod copy;

use fx_ruby_syntax::Sym;

use crate::heap::{Ext, MethodData};
use crate::names as n;
use crate::object::{Vis, c};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, R, Res, Vm};

pub(crate) fn init(vm: &mut Vm) {
    let b = c::BASIC_OBJECT;
    vm.def_private(b, "initialize", |_, _| Ok(NIL), 0, -1);
    vm.def(b, "==", eq, 1, 1);
    vm.def(b, "equal?", eq, 1, 1);
    vm.def(b, "!", |_, a| Ok(Value::bool(!a.recv.truthy())), 0, 0);
    vm.def(
        b,
        "!=",
        |vm, a| {
            let other = vm.arg(a, 0);
            Ok(Value::bool(!vm.equal(a.recv, other)?))
        },
        1,
        1,
    );
    vm.def(b, "__id__", |vm, a| Ok(Value::fix(vm.identity(a.recv) as i64)), 0, 0);
    vm.def(b, "__send__", send, 0, -1);
    vm.def(b, "instance_eval", instance_eval, 0, 3);
    vm.def(
        b,
        "instance_exec",
        |vm, a| {
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
        },
        0,
        -1,
    );
    vm.def_private(
        b,
        "method_missing",
        |vm, a| {
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
            vm.undefined_method(a.recv, name, &args[1..], false, hidden)
        },
        0,
        -1,
    );
    for name in ["singleton_method_added", "singleton_method_removed", "singleton_method_undefined"]
    {
        vm.def_private(b, name, |_, _| Ok(NIL), 1, 1);
    }
    let k = c::KERNEL;
    vm.def(k, "class", |vm, a| Ok(Value::class(vm.real_class(a.recv))), 0, 0);
    vm.def(k, "singleton_class", |vm, a| Ok(Value::class(vm.singleton_class(a.recv)?)), 0, 0);
    vm.def(k, "frozen?", |vm, a| Ok(Value::bool(vm.frozen(a.recv))), 0, 0);
    vm.def(
        k,
        "freeze",
        |vm, a| {
            vm.freeze(a.recv);
            Ok(a.recv)
        },
        0,
        0,
    );
    vm.def(k, "nil?", |_, a| Ok(Value::bool(a.recv.is_nil())), 0, 0);
    vm.def(
        k,
        "===",
        |vm, a| {
            let o = vm.arg(a, 0);
            Ok(Value::bool(a.recv == o || vm.equal(a.recv, o)?))
        },
        1,
        1,
    );
    vm.def(k, "=~", |_, _| Ok(NIL), 1, 1);
    vm.def(
        k,
        "!~",
        |vm, a| {
            let o = vm.arg(a, 0);
            Ok(Value::bool(!vm.send(a.recv, n::MATCH_OP, &[o])?.truthy()))
        },
        1,
        1,
    );
    vm.def(k, "eql?", eq, 1, 1);
    vm.def(
        k,
        "<=>",
        |vm, a| {
            let o = vm.arg(a, 0);
            Ok(if a.recv == o || vm.equal(a.recv, o)? { Value::fix(0) } else { NIL })
        },
        1,
        1,
    );
    vm.def(
        k,
        "hash",
        |vm, a| {
            let h = vm.object_id(a.recv).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 4;
            Ok(Value::fix(h as i64))
        },
        0,
        0,
    );
    vm.def(k, "object_id", |vm, a| Ok(Value::fix(vm.identity(a.recv) as i64)), 0, 0);
    vm.def(
        k,
        "to_s",
        |vm, a| {
            if a.recv == vm.main {
                return Ok(vm.str_static("main"));
            }
            vm.any_to_s(a.recv)
        },
        0,
        0,
    );
    vm.def(k, "inspect", inspect, 0, 0);
    vm.def(k, "is_a?", is_a, 1, 1);
    vm.def(k, "kind_of?", is_a, 1, 1);
    vm.def(
        k,
        "instance_of?",
        |vm, a| {
            let class = vm.arg(a, 0);
            match class.as_class() {
                Some(id) => Ok(Value::bool(vm.real_class(a.recv) == id)),
                None => vm.type_error("class or module required"),
            }
        },
        1,
        1,
    );
    vm.def(
        k,
        "respond_to?",
        |vm, a| {
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
        },
        1,
        2,
    );
    vm.def_private(k, "respond_to_missing?", |_, _| Ok(FALSE), 2, 2);
    vm.def(k, "send", send, 0, -1);
    vm.def(
        k,
        "public_send",
        |vm, a| {
            if a.argc == 0 {
                return vm.arg_error("no method name given");
            }
            let args = vm.args(a);
            let name = vm.to_sym(args[0])?;
            vm.open_call(a).send_public(a.recv, name, &args[1..], a.block, a.kw)
        },
        0,
        -1,
    );
    vm.def(k, "dup", |vm, a| vm.dup(a.recv), 0, 0);
    vm.def(k, "clone", clone, 0, 1);
    vm.def(k, "itself", |_, a| Ok(a.recv), 0, 0);
    vm.def(k, "then", then, 0, 0);
    vm.def(k, "yield_self", then, 0, 0);
    vm.def(
        k,
        "tap",
        |vm, a| {
            if a.block.is_nil() {
                return vm.fail(c::LOCAL_JUMP, "no block given (yield)");
            }
            vm.open_call(a).yield1(a.block, a.recv)?;
            Ok(a.recv)
        },
        0,
        0,
    );
    vm.def(
        k,
        "extend",
        |vm, a| {
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
        },
        0,
        -1,
    );
    vm.def_private(
        k,
        "initialize_copy",
        |vm, a| {
            let o = vm.arg(a, 0);
            if o != a.recv {
                vm.check_frozen(a.recv)?;
                if vm.real_class(a.recv) != vm.real_class(o) {
                    return vm.type_error("initialize_copy should take same class object");
                }
            }
            Ok(a.recv)
        },
        1,
        1,
    );
    vm.def_private(
        k,
        "initialize_dup",
        |vm, a| {
            let o = vm.arg(a, 0);
            vm.send(a.recv, n::INITIALIZE_COPY, &[o])
        },
        1,
        1,
    );
    vm.def_private(
        k,
        "initialize_clone",
        |vm, a| {
            let o = vm.arg(a, 0);
            vm.send(a.recv, n::INITIALIZE_COPY, &[o])
        },
        1,
        2,
    );
    vm.def(
        k,
        "instance_variable_get",
        |vm, a| {
            let name = ivar_name(vm, a)?;
            Ok(vm.ivar_get(a.recv, name).unwrap_or(NIL))
        },
        1,
        1,
    );
    vm.def(
        k,
        "instance_variable_set",
        |vm, a| {
            let name = ivar_name(vm, a)?;
            vm.check_frozen(a.recv)?;
            let v = vm.arg(a, 1);
            vm.ivar_set(a.recv, name, v);
            Ok(v)
        },
        2,
        2,
    );
    vm.def(
        k,
        "instance_variable_defined?",
        |vm, a| {
            let name = ivar_name(vm, a)?;
            Ok(Value::bool(vm.ivar_get(a.recv, name).is_some()))
        },
        1,
        1,
    );
    vm.def(
        k,
        "remove_instance_variable",
        |vm, a| {
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
        },
        1,
        1,
    );
    vm.def(
        k,
        "instance_variables",
        |vm, a| {
            let names: Vec<Value> = vm
                .ivar_names(a.recv)
                .into_iter()
                .filter(|s| !vm.syms.bytes(*s).starts_with(b"@__"))
                .map(Value::sym)
                .collect();
            Ok(vm.arr(names))
        },
        0,
        0,
    );
    vm.def(k, "method", |vm, a| method(vm, a, true), 1, 1);
    vm.def(k, "public_method", |vm, a| method(vm, a, false), 1, 1);
    vm.def(
        k,
        "singleton_method",
        |vm, a| {
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
        },
        1,
        1,
    );
    vm.def(
        k,
        "methods",
        |vm, a| {
            if vm.opt(a, 0) == Some(FALSE) {
                let names = vm.singleton_names(a.recv, false);
                return Ok(vm.arr(names));
            }
            let class = vm.class_of(a.recv);
            let names = vm.method_names(class, true, |v| v != Vis::Private);
            Ok(vm.arr(names))
        },
        0,
        1,
    );
    vm.def(
        k,
        "singleton_methods",
        |vm, a| {
            let all = vm.opt(a, 0).unwrap_or(TRUE).truthy();
            let names = vm.singleton_names(a.recv, all);
            Ok(vm.arr(names))
        },
        0,
        1,
    );
    vm.def(k, "public_methods", |vm, a| listed(vm, a, Vis::Public), 0, 1);
    vm.def(k, "private_methods", |vm, a| listed(vm, a, Vis::Private), 0, 1);
    vm.def(k, "protected_methods", |vm, a| listed(vm, a, Vis::Protected), 0, 1);
    vm.def(
        k,
        "define_singleton_method",
        |vm, a| {
            let class = vm.singleton_class(a.recv)?;
            vm.check_frozen(a.recv)?;
            crate::core::module::define_method(vm, a, class, Some(Vis::Public))
        },
        1,
        2,
    );
    vm.def(k, "enum_for", enum_for, 0, -1);
    vm.def(k, "to_enum", enum_for, 0, -1);
    vm.def(
        k,
        "display",
        |vm, a| {
            let out = match vm.opt(a, 0) {
                Some(v) => v,
                None => vm.global(n::GV_STDOUT),
            };
            let s = vm.interpolate(a.recv)?;
            vm.send(out, n::WRITE, &[s])?;
            Ok(NIL)
        },
        0,
        1,
    );
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
            parts.push(format!("{}={}", vm.sym_str(*name), vm.inspect_string(value)?));
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
    let names = vm.method_names(class, all, |v| v == vis);
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
