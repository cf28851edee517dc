//! Module methods that look and change by name: the second half of the table.

use super::{
    block_cref, define_method, defined, instance_method, main_vis, me, names, names_of, new_object,
};
use crate::interp::refine;
use crate::natives::{Native, on_class, private, public};
use crate::object::{Alloc, Body, ClassKind, Vis, c};
use crate::value::{NIL, Value};
use crate::vm::Vm;

const MODULE_METHODS: &[Native] = &[
    public("undef_method", 0, -1, |vm, a| {
        for name in names_of(vm, a)? {
            vm.undef_method(me(a), name)?;
        }
        Ok(a.recv)
    }),
    public("instance_methods", 0, 1, |vm, a| names(vm, a, |v| v != Vis::Private)),
    public("public_instance_methods", 0, 1, |vm, a| names(vm, a, |v| v == Vis::Public)),
    public("private_instance_methods", 0, 1, |vm, a| names(vm, a, |v| v == Vis::Private)),
    public("protected_instance_methods", 0, 1, |vm, a| names(vm, a, |v| v == Vis::Protected)),
    public("undefined_instance_methods", 0, 0, |vm, a| {
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
    }),
    public("method_defined?", 1, 2, |vm, a| defined(vm, a, |v| v != Vis::Private)),
    public("public_method_defined?", 1, 2, |vm, a| defined(vm, a, |v| v == Vis::Public)),
    public("private_method_defined?", 1, 2, |vm, a| defined(vm, a, |v| v == Vis::Private)),
    public("protected_method_defined?", 1, 2, |vm, a| defined(vm, a, |v| v == Vis::Protected)),
    public("instance_method", 1, 1, |vm, a| instance_method(vm, a, true)),
    public("public_instance_method", 1, 1, |vm, a| instance_method(vm, a, false)),
    public("class_eval", 0, 3, |vm, a| {
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
    })
    .also(&["module_eval"]),
    public("class_exec", 0, -1, |vm, a| {
        if a.block.is_nil() {
            return vm.jump_error("no block given (yield)", "noreason", NIL);
        }
        let cref = block_cref(vm, a);
        let over =
            crate::interp::Over { me: a.recv, cref: Some(cref), method: None, lambda: false };
        vm.call_over(a.block, a.start as usize, a.kw, NIL, over)
    })
    .also(&["module_exec"]),
    public("freeze", 0, 0, |vm, a| {
        vm.freeze(a.recv);
        Ok(a.recv)
    }),
    public("singleton_class?", 0, 0, |vm, a| {
        Ok(Value::bool(vm.classes[me(a) as usize].is_singleton()))
    }),
    private("refine", 1, 1, refine::refine),
    private("using", 1, 1, refine::using),
    on_class("used_modules", 0, 0, refine::used_modules),
    private("ruby2_keywords", 0, -1, |vm, a| {
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
    }),
    private("initialize", 0, 0, |vm, a| {
        if !a.block.is_nil() {
            let cref = block_cref(vm, a);
            vm.open_call(a).yield_self(a.block, a.recv, &[a.recv], Some(cref))?;
        }
        Ok(NIL)
    }),
    on_class("nesting", 0, 0, |vm, _| {
        let mut out = Vec::new();
        let mut at = Some(vm.frames[vm.frames.len() - 1].cref);
        while let Some(cref) = at {
            if cref.up.is_some() && !cref.eval {
                out.push(Value::class(cref.class));
            }
            at = cref.up;
        }
        Ok(vm.arr(out))
    }),
];

const REFINEMENT_METHODS: &[Native] = &[private("import_methods", 1, -1, refine::import_methods)];

const CLASS_METHODS: &[Native] = &[
    public("new", 0, -1, new_object),
    public("allocate", 0, 0, |vm, a| vm.allocate(me(a))),
    public("superclass", 0, 0, |vm, a| {
        let mut at = vm.classes[me(a) as usize].superclass;
        while let Some(id) = at {
            if !vm.classes[id as usize].is_module() {
                return Ok(Value::class(id));
            }
            at = vm.classes[id as usize].superclass;
        }
        Ok(NIL)
    }),
    public("subclasses", 0, 0, |vm, a| {
        let list = vm.classes[me(a) as usize]
            .subclasses
            .iter()
            .rev()
            .map(|id| Value::class(*id))
            .collect();
        Ok(vm.arr(list))
    }),
    public("attached_object", 0, 0, |vm, a| match vm.classes[me(a) as usize].kind {
        ClassKind::Singleton(v) => Ok(v),
        _ => {
            let name = vm.quoted(&vm.class_name(me(a)));
            vm.type_error(format!("{name} is not a singleton class"))
        }
    }),
    on_class("new", 0, 1, |vm, a| {
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
            let cref = vm.cref_below(up, id, true);
            let v = Value::class(id);
            vm.open_call(a).yield_self(a.block, v, &[v], Some(cref))?;
        }
        Ok(Value::class(id))
    }),
];

pub(super) fn init(vm: &mut Vm) {
    vm.natives(c::MODULE, MODULE_METHODS);
    vm.natives(c::REFINEMENT, REFINEMENT_METHODS);
    vm.natives(c::CLASS, CLASS_METHODS);
    super::constants::init(vm);
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
