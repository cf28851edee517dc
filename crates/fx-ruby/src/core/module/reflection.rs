//! Module methods that look and change by name: the second half of the table.

use super::{
    block_cref, define_method, defined, instance_method, main_vis, me, names, names_of, new_object,
};
use crate::interp::refine;
use crate::object::{Alloc, Body, ClassKind, Cref, Vis, c};
use crate::value::{NIL, Value};
use crate::vm::Vm;

pub(super) fn init(vm: &mut Vm) {
    let m = c::MODULE;
    vm.def(
        m,
        "undef_method",
        |vm, a| {
            for name in names_of(vm, a)? {
                vm.undef_method(me(a), name)?;
            }
            Ok(a.recv)
        },
        0,
        -1,
    );
    vm.def(m, "instance_methods", |vm, a| names(vm, a, |v| v != Vis::Private), 0, 1);
    vm.def(m, "public_instance_methods", |vm, a| names(vm, a, |v| v == Vis::Public), 0, 1);
    vm.def(m, "private_instance_methods", |vm, a| names(vm, a, |v| v == Vis::Private), 0, 1);
    vm.def(m, "protected_instance_methods", |vm, a| names(vm, a, |v| v == Vis::Protected), 0, 1);
    vm.def(
        m,
        "undefined_instance_methods",
        |vm, a| {
            let class = &vm.classes[me(a) as usize];
            let list = class
                .order
                .iter()
                .filter(|s| {
                    class
                        .methods
                        .get(s)
                        .is_some_and(|id| matches!(vm.methods[*id as usize].body, Body::Undef))
                })
                .map(|s| Value::sym(*s))
                .collect();
            Ok(vm.arr(list))
        },
        0,
        0,
    );
    vm.def(m, "method_defined?", |vm, a| defined(vm, a, |v| v != Vis::Private), 1, 2);
    vm.def(m, "public_method_defined?", |vm, a| defined(vm, a, |v| v == Vis::Public), 1, 2);
    vm.def(m, "private_method_defined?", |vm, a| defined(vm, a, |v| v == Vis::Private), 1, 2);
    vm.def(m, "protected_method_defined?", |vm, a| defined(vm, a, |v| v == Vis::Protected), 1, 2);
    vm.def(m, "instance_method", |vm, a| instance_method(vm, a, true), 1, 1);
    vm.def(m, "public_instance_method", |vm, a| instance_method(vm, a, false), 1, 1);
    for name in ["class_eval", "module_eval"] {
        vm.def(
            m,
            name,
            |vm, a| {
                if a.block.is_nil() {
                    if a.argc == 0 {
                        return vm.arg_error("wrong number of arguments (given 0, expected 1..3)");
                    }
                    let cref = vm.new_cref(me(a), false);
                    return vm.eval_string_args(a, a.recv, Some(cref));
                }
                if a.argc > 0 {
                    return vm.wrong_args(a.argc as usize, 0, Some(0));
                }
                let cref = block_cref(vm, a);
                vm.open_call(a).yield_self(a.block, a.recv, &[a.recv], Some(cref))
            },
            0,
            3,
        );
    }
    for name in ["class_exec", "module_exec"] {
        vm.def(
            m,
            name,
            |vm, a| {
                if a.block.is_nil() {
                    return vm.jump_error("no block given (yield)", "noreason", NIL);
                }
                let cref = block_cref(vm, a);
                let over = crate::interp::Over {
                    me: a.recv,
                    cref: Some(cref),
                    method: None,
                    lambda: false,
                };
                vm.call_over(a.block, a.start as usize, a.kw, NIL, over)
            },
            0,
            -1,
        );
    }
    super::constants::init(vm);
    vm.def(
        m,
        "freeze",
        |vm, a| {
            vm.freeze(a.recv);
            Ok(a.recv)
        },
        0,
        0,
    );
    vm.def(
        m,
        "singleton_class?",
        |vm, a| Ok(Value::bool(vm.classes[me(a) as usize].is_singleton())),
        0,
        0,
    );
    vm.def_private(m, "refine", refine::refine, 1, 1);
    vm.def_private(m, "using", refine::using, 1, 1);
    vm.def_single(m, "used_modules", refine::used_modules, 0, 0);
    vm.def_private(c::REFINEMENT, "import_methods", refine::import_methods, 1, -1);
    vm.def_private(
        m,
        "ruby2_keywords",
        |vm, a| {
            for name in names_of(vm, a)? {
                if let Some(id) = vm.classes[me(a) as usize].methods.get(&name).copied() {
                    vm.methods[id as usize].ruby2 = true;
                    if let Body::Proc(p) = vm.methods[id as usize].body {
                        vm.heap.pr_mut(p).ruby2 = true;
                    }
                } else {
                    return vm.undefined_in(me(a), name);
                }
            }
            Ok(NIL)
        },
        0,
        -1,
    );
    vm.def_private(
        m,
        "initialize",
        |vm, a| {
            if !a.block.is_nil() {
                let cref = block_cref(vm, a);
                vm.open_call(a).yield_self(a.block, a.recv, &[a.recv], Some(cref))?;
            }
            Ok(NIL)
        },
        0,
        0,
    );
    let k = c::CLASS;
    vm.def(k, "new", new_object, 0, -1);
    vm.def(k, "allocate", |vm, a| vm.allocate(me(a)), 0, 0);
    vm.def(
        k,
        "superclass",
        |vm, a| {
            let mut at = vm.classes[me(a) as usize].superclass;
            while let Some(id) = at {
                if !vm.classes[id as usize].is_module() {
                    return Ok(Value::class(id));
                }
                at = vm.classes[id as usize].superclass;
            }
            Ok(NIL)
        },
        0,
        0,
    );
    vm.def(
        k,
        "subclasses",
        |vm, a| {
            let list = vm.classes[me(a) as usize]
                .subclasses
                .iter()
                .rev()
                .map(|id| Value::class(*id))
                .collect();
            Ok(vm.arr(list))
        },
        0,
        0,
    );
    vm.def(
        k,
        "attached_object",
        |vm, a| match vm.classes[me(a) as usize].kind {
            ClassKind::Singleton(v) => Ok(v),
            _ => {
                let name = vm.quoted(&vm.class_name(me(a)));
                vm.type_error(format!("{name} is not a singleton class"))
            }
        },
        0,
        0,
    );
    vm.def_single(
        c::CLASS,
        "new",
        |vm, a| {
            let sup = match vm.opt(a, 0) {
                None => c::OBJECT,
                Some(v) => match v.as_class() {
                    Some(id) if vm.classes[id as usize].is_singleton() => {
                        return vm.type_error("can't make subclass of singleton class");
                    }
                    Some(c::CLASS) => return vm.type_error("can't make subclass of Class"),
                    Some(id) if !vm.classes[id as usize].is_module() => id,
                    _ => {
                        let name = vm.type_name(v);
                        return vm.type_error(format!(
                            "superclass must be an instance of Class (given an instance of {name})"
                        ));
                    }
                },
            };
            let id = vm.new_class(ClassKind::Class, Some(sup));
            vm.inherited(sup, id)?;
            if !a.block.is_nil() {
                let up = vm.heap.pr(a.block).frame.cref;
                let cref: &'static Cref =
                    Box::leak(Box::new(Cref { class: id, up: Some(up), eval: true }));
                let v = Value::class(id);
                vm.open_call(a).yield_self(a.block, v, &[v], Some(cref))?;
            }
            Ok(Value::class(id))
        },
        0,
        1,
    );
    vm.def_single(
        c::MODULE,
        "nesting",
        |vm, _| {
            let mut out = Vec::new();
            let mut at = Some(vm.frames[vm.frames.len() - 1].cref);
            while let Some(cref) = at {
                if cref.up.is_some() && !cref.eval {
                    out.push(Value::class(cref.class));
                }
                at = cref.up;
            }
            Ok(vm.arr(out))
        },
        0,
        0,
    );
    vm.classes[c::CLASS as usize].alloc = Alloc::Class;
    vm.classes[c::MODULE as usize].alloc = Alloc::Module;
    // The program's own object has the verbs of a module body.
    let main = vm.main;
    if let Ok(s) = vm.singleton_class(main) {
        vm.def(s, "public", |vm, a| main_vis(vm, a, Vis::Public), 0, -1);
        vm.def(s, "private", |vm, a| main_vis(vm, a, Vis::Private), 0, -1);
        vm.def(
            s,
            "include",
            |vm, a| {
                let args = vm.args(a);
                vm.call_name(Value::class(c::OBJECT), "include", &args)
            },
            0,
            -1,
        );
        vm.def(s, "define_method", |vm, a| define_method(vm, a, c::OBJECT, None), 1, 2);
        vm.def_private(s, "using", refine::using, 1, 1);
    }
}
