//! Module and Class: definition, reflection, visibility, constants.

mod constants;
mod reflection;

use fx_ruby_syntax::Sym;

use crate::heap::{Ext, MethodData, ProcBody};
use crate::names as n;
use crate::natives::{Native, private, public};
use crate::object::{Alloc, Body, ClassKind, Const, Cref, Vis, c};
use crate::value::{FALSE, NIL, TRUE, UNDEF, Value};
use crate::vm::{Args, R, Res, Vm};

fn me(a: Args) -> u32 {
    a.recv.index() as u32
}

const MODULE_METHODS: &[Native] = &[
    public("name", 0, 0, |vm, a| {
        let name = vm.classes[me(a) as usize].name.clone();
        Ok(match name {
            Some(name) => {
                let s = vm.str(name.as_bytes());
                vm.freeze(s);
                s
            }
            None => NIL,
        })
    }),
    public("to_s", 0, 0, |vm, a| {
        let text = match vm.classes[me(a) as usize].kind {
            ClassKind::Singleton(v) if !v.is_class() => {
                let inner = vm.any_to_s(v)?;
                format!("#<Class:{}>", vm.text(inner))
            }
            _ => vm.class_name(me(a)),
        };
        Ok(vm.str(text))
    }),
    public("===", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        Ok(Value::bool(vm.is_a(v, me(a))))
    }),
    public("==", 1, 1, |vm, a| Ok(Value::bool(a.recv == vm.arg(a, 0)))),
    public("<", 1, 1, relation).also(&["<=", ">", ">="]),
    public("<=>", 1, 1, |vm, a| {
        let Some(y) = vm.arg(a, 0).as_class() else { return Ok(NIL) };
        let x = me(a);
        Ok(if x == y {
            Value::fix(0)
        } else if vm.inherits(x, y) {
            Value::fix(-1)
        } else if vm.inherits(y, x) {
            Value::fix(1)
        } else {
            NIL
        })
    }),
    public("hash", 0, 0, |_, a| Ok(Value::fix(i64::from(me(a)) * 2_654_435_761))),
    public("ancestors", 0, 0, |vm, a| {
        let list = vm.mro(me(a)).iter().map(|id| Value::class(*id)).collect();
        Ok(vm.arr(list))
    }),
    public("included_modules", 0, 0, |vm, a| {
        let own = me(a);
        let list = vm
            .mro(own)
            .iter()
            .filter(|id| **id != own && vm.classes[**id as usize].is_module())
            .map(|id| Value::class(*id))
            .collect();
        Ok(vm.arr(list))
    }),
    public("include?", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let id = vm.as_module(o)?;
        if !vm.classes[id as usize].is_module() {
            return vm.type_error("wrong argument type Class (expected Module)");
        }
        Ok(Value::bool(id != me(a) && vm.mro(me(a)).contains(&id)))
    }),
    public("include", 0, -1, |vm, a| mix(vm, a, n::APPEND_FEATURES, n::INCLUDED)),
    public("prepend", 0, -1, |vm, a| mix(vm, a, n::PREPEND_FEATURES, n::PREPENDED)),
    private("append_features", 1, 1, |vm, a| {
        let target = vm.arg(a, 0);
        let target = vm.as_module(target)?;
        vm.check_frozen(Value::class(target))?;
        if vm.mro(me(a)).contains(&target) {
            return vm.arg_error("cyclic include detected");
        }
        vm.include_module(target, me(a));
        Ok(a.recv)
    }),
    private("prepend_features", 1, 1, |vm, a| {
        let target = vm.arg(a, 0);
        let target = vm.as_module(target)?;
        vm.check_frozen(Value::class(target))?;
        if vm.mro(me(a)).contains(&target) {
            return vm.arg_error("cyclic prepend detected");
        }
        vm.prepend_module(target, me(a));
        Ok(a.recv)
    }),
    private("extend_object", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        vm.check_frozen(o)?;
        let single = vm.singleton_class(o)?;
        vm.include_module(single, me(a));
        Ok(o)
    }),
    private("included", 1, 1, |_, _| Ok(NIL)).also(&[
        "extended",
        "prepended",
        "method_added",
        "method_removed",
        "method_undefined",
        "const_added",
    ]),
    private("public", 0, -1, visibility).also(&["private", "protected"]),
    private("module_function", 0, -1, |vm, a| {
        if !vm.classes[me(a) as usize].is_module() {
            let name = vm.sym_str(a.name).into_owned();
            return vm.undefined_method(
                a.recv,
                vm.syms.get(name.as_bytes()).unwrap_or(a.name),
                &[],
                false,
                None,
            );
        }
        if a.argc == 0 {
            if let Some(i) = vm.scope_frame() {
                vm.frames[i].module_function = true;
            }
            return Ok(NIL);
        }
        let names = names_of(vm, a)?;
        let meta = vm.singleton_class(a.recv)?;
        for name in &names {
            let Some(id) = vm.find_for_module(me(a), *name) else {
                return vm.undefined_in(me(a), *name);
            };
            let id = vm.real_method(me(a), id).unwrap_or(id);
            let mut copy = vm.methods[id as usize];
            copy.vis = Vis::Public;
            copy.owner = meta;
            let new = vm.methods.len() as u32;
            vm.methods.push(copy);
            vm.put_method(meta, *name, new);
            vm.set_visibility(me(a), *name, Vis::Private)?;
        }
        Ok(if a.argc == 1 {
            vm.arg(a, 0)
        } else {
            let l = vm.args(a);
            vm.arr(l)
        })
    }),
    public("private_class_method", 0, -1, |vm, a| class_vis(vm, a, Vis::Private)),
    public("public_class_method", 0, -1, |vm, a| class_vis(vm, a, Vis::Public)),
    public("private_constant", 0, -1, |vm, a| const_flag(vm, a, |k| k.private = true)),
    public("public_constant", 0, -1, |vm, a| const_flag(vm, a, |k| k.private = false)),
    public("deprecate_constant", 0, -1, |vm, a| {
        const_flag(vm, a, |k| k.deprecated = true).map(|_| a.recv)
    }),
    public("attr_reader", 0, -1, |vm, a| attr(vm, a, true, false)),
    public("attr_writer", 0, -1, |vm, a| attr(vm, a, false, true)),
    public("attr_accessor", 0, -1, |vm, a| attr(vm, a, true, true)),
    public("attr", 0, -1, |vm, mut a| {
        if a.argc == 2 {
            let flag = vm.arg(a, 1);
            if flag == TRUE || flag == FALSE {
                a.argc = 1;
                return attr(vm, a, true, flag == TRUE);
            }
        }
        attr(vm, a, true, false)
    }),
    public("define_method", 1, 2, |vm, a| define_method(vm, a, me(a), None)),
    public("alias_method", 2, 2, |vm, a| {
        let (new, old) = (vm.arg(a, 0), vm.arg(a, 1));
        let (new, old) = (vm.to_sym(new)?, vm.to_sym(old)?);
        vm.alias(me(a), new, old)?;
        Ok(Value::sym(new))
    }),
    public("remove_method", 0, -1, |vm, a| {
        for name in names_of(vm, a)? {
            vm.check_frozen(a.recv)?;
            let found = vm.classes[me(a) as usize].methods.get(&name).copied();
            if found.is_none_or(|id| matches!(vm.methods[id as usize].body, Body::Undef)) {
                let text = vm.quoted_sym(name);
                let owner = vm.class_name(me(a));
                let e = vm.name_error(
                    c::NAME_ERROR,
                    &format!("method {text} not defined in {owner}"),
                    name,
                    a.recv,
                )?;
                return vm.throw(e);
            }
            let class = &mut vm.classes[me(a) as usize];
            class.methods.remove(&name);
            class.order.retain(|s| *s != name);
            vm.bump();
            vm.method_hook(me(a), name, n::METHOD_REMOVED, n::SINGLETON_METHOD_REMOVED)?;
        }
        Ok(a.recv)
    }),
];

const CLASS_METHODS: &[Native] = &[private("inherited", 1, 1, |_, _| Ok(NIL))];

pub(crate) fn init(vm: &mut Vm) {
    let m = c::MODULE;
    vm.natives(c::MODULE, MODULE_METHODS);
    vm.natives(c::CLASS, CLASS_METHODS);
    let (to_s, inspect) = (vm.intern("to_s"), vm.intern("inspect"));
    let _ = vm.alias(m, inspect, to_s);
    reflection::init(vm);
}

fn relation(vm: &mut Vm, a: Args) -> R {
    let Some(y) = vm.arg(a, 0).as_class() else {
        return vm.type_error("compared with non class/module");
    };
    let x = me(a);
    let (down, up) = (vm.inherits(x, y), vm.inherits(y, x));
    let op = vm.syms.bytes(vm.methods[a.method as usize].orig);
    Ok(match op {
        b"<" if x == y => FALSE,
        b">" if x == y => FALSE,
        b"<" | b"<=" => {
            if down {
                TRUE
            } else if up {
                FALSE
            } else {
                NIL
            }
        }
        _ => {
            if up {
                TRUE
            } else if down {
                FALSE
            } else {
                NIL
            }
        }
    })
}

fn block_cref(vm: &mut Vm, a: Args) -> &'static Cref {
    let up = vm.heap.pr(a.block).frame.cref;
    vm.cref_below(up, me(a), true)
}

fn new_object(vm: &mut Vm, a: Args) -> R {
    let class = me(a);
    if vm.classes[class as usize].is_singleton() {
        return vm.type_error("can't create instance of singleton class");
    }
    let fast = vm.classes[class as usize].alloc == Alloc::Object;
    let v = if fast && vm.is_native(a.recv, n::ALLOCATE) {
        vm.heap.object(class, Ext::None)
    } else {
        vm.send(a.recv, n::ALLOCATE, &[])?
    };
    let Some(id) = vm.find_method(class, n::INITIALIZE) else { return Ok(v) };
    let id = vm.real_method(class, id).unwrap_or(id);
    if id == vm.basic_initialize() {
        if a.argc > 0 && fast {
            return vm.wrong_args(a.argc as usize, 0, Some(0));
        }
        return Ok(v);
    }
    vm.invoke(id, v, n::INITIALIZE, a.start as usize, a.block, a.kw)?;
    Ok(v)
}

fn mix(vm: &mut Vm, a: Args, how: Sym, hook: Sym) -> R {
    let mods = vm.args(a);
    if mods.is_empty() {
        return vm.wrong_args(0, 1, None);
    }
    for m in &mods {
        let id = vm.as_module(*m)?;
        if !vm.classes[id as usize].is_module() {
            return vm.type_error("wrong argument type Class (expected Module)");
        }
    }
    for m in mods.iter().rev() {
        vm.send(*m, how, &[a.recv])?;
        vm.send(*m, hook, &[a.recv])?;
    }
    Ok(a.recv)
}

fn names_of(vm: &mut Vm, a: Args) -> Res<Vec<Sym>> {
    let mut out = Vec::new();
    for v in vm.args(a) {
        if v.is_arr() {
            for item in vm.heap.arr(v).clone() {
                out.push(vm.to_sym(item)?);
            }
        } else {
            out.push(vm.to_sym(v)?);
        }
    }
    Ok(out)
}

fn visibility(vm: &mut Vm, a: Args) -> R {
    let vis = match vm.syms.bytes(a.name) {
        b"private" => Vis::Private,
        b"protected" => Vis::Protected,
        _ => Vis::Public,
    };
    if a.argc == 0 {
        if let Some(i) = vm.scope_frame() {
            vm.frames[i].vis = vis;
            vm.frames[i].module_function = false;
        }
        return Ok(NIL);
    }
    for name in names_of(vm, a)? {
        vm.set_visibility(me(a), name, vis)?;
    }
    Ok(if a.argc == 1 {
        vm.arg(a, 0)
    } else {
        let l = vm.args(a);
        vm.arr(l)
    })
}

fn main_vis(vm: &mut Vm, a: Args, vis: Vis) -> R {
    if a.argc == 0 {
        if let Some(i) = vm.scope_frame() {
            vm.frames[i].vis = vis;
        }
        return Ok(NIL);
    }
    for name in names_of(vm, a)? {
        vm.set_visibility(c::OBJECT, name, vis)?;
    }
    Ok(if a.argc == 1 {
        vm.arg(a, 0)
    } else {
        let l = vm.args(a);
        vm.arr(l)
    })
}

fn class_vis(vm: &mut Vm, a: Args, vis: Vis) -> R {
    let meta = vm.singleton_class(a.recv)?;
    for name in names_of(vm, a)? {
        vm.set_visibility(meta, name, vis)?;
    }
    Ok(NIL)
}

fn const_flag(vm: &mut Vm, a: Args, set: fn(&mut Const)) -> R {
    for name in names_of(vm, a)? {
        let class = me(a);
        match vm.classes[class as usize].consts.get_mut(&name) {
            Some(k) => set(k),
            None => {
                let full = vm.const_full(class, name);
                let e = vm.name_error(
                    c::NAME_ERROR,
                    &format!("constant {full} not defined"),
                    name,
                    a.recv,
                )?;
                return vm.throw(e);
            }
        }
    }
    vm.const_epoch += 1;
    Ok(NIL)
}

fn attr(vm: &mut Vm, a: Args, read: bool, write: bool) -> R {
    let class = me(a);
    let frame = vm.scope_frame();
    let vis = frame
        .filter(|i| vm.frames[*i].self_val == a.recv)
        .map_or(Vis::Public, |i| vm.frames[i].vis);
    let mut made = Vec::new();
    for name in names_of(vm, a)? {
        vm.check_frozen(a.recv)?;
        let text = vm.sym_str(name).into_owned();
        let good = text.starts_with(|ch: char| ch.is_alphabetic() || ch == '_')
            && !text.ends_with(['?', '!', '=']);
        if !good {
            let e = vm.name_error(
                c::NAME_ERROR,
                &format!("invalid attribute name {}", vm.quoted(&text)),
                name,
                a.recv,
            )?;
            return vm.throw(e);
        }
        let ivar = vm.intern(&format!("@{text}"));
        if read {
            vm.add_method(class, name, Body::Reader(ivar), vis);
            vm.method_added(class, name)?;
            made.push(Value::sym(name));
        }
        if write {
            let setter = vm.intern(&format!("{text}="));
            vm.add_method(class, setter, Body::Writer(ivar), vis);
            vm.method_added(class, setter)?;
            made.push(Value::sym(setter));
        }
    }
    Ok(vm.arr(made))
}

pub(crate) fn define_method(vm: &mut Vm, a: Args, class: u32, vis: Option<Vis>) -> R {
    let name = vm.arg(a, 0);
    let name = vm.to_sym(name)?;
    vm.check_frozen(Value::class(class))?;
    let vis = vis.unwrap_or_else(|| {
        let same = vm.frames.last().is_some_and(|f| {
            f.self_val == Value::class(class)
                && f.code.kind != fx_ruby_syntax::ast::CodeKind::Method
        });
        vm.scope_frame().filter(|_| same).map_or(Vis::Public, |i| vm.frames[i].vis)
    });
    let body = match vm.opt(a, 1) {
        Some(v) if v.is_proc() => v,
        Some(v) => match vm.heap.ext(v) {
            Some(Ext::Method(d)) => {
                let d = (**d).clone();
                let owner = vm.classes[d.owner as usize].is_module();
                if !owner && !vm.inherits(class, d.owner) {
                    let name = vm.class_name(d.owner);
                    return vm.type_error(if vm.classes[d.owner as usize].is_singleton() {
                        "can't bind singleton method to a different class".to_owned()
                    } else {
                        format!("bind argument must be a subclass of {name}")
                    });
                }
                let mut m = vm.methods[d.id as usize];
                m.owner = class;
                m.vis = vis;
                m.name = name;
                let id = vm.methods.len() as u32;
                vm.methods.push(m);
                vm.put_method(class, name, id);
                vm.method_added(class, name)?;
                return Ok(Value::sym(name));
            }
            _ => {
                let name = vm.type_name(v);
                return vm.type_error(format!(
                    "wrong argument type {name} (expected Proc/Method/UnboundMethod)"
                ));
            }
        },
        None if a.block.is_nil() => {
            return vm.arg_error("tried to create Proc object without a block");
        }
        None => a.block,
    };
    vm.heap.escape(body);
    let copy = vm.copy(body)?;
    vm.heap.pr_mut(copy).escaped = true;
    if !matches!(vm.heap.pr(copy).body, ProcBody::Native(..)) {
        vm.heap.pr_mut(copy).from_method = true;
    }
    vm.add_method(class, name, Body::Proc(copy), vis);
    vm.method_added(class, name)?;
    Ok(Value::sym(name))
}

fn names(vm: &mut Vm, a: Args, keep: fn(Vis) -> bool) -> R {
    let all = vm.opt(a, 0).unwrap_or(TRUE).truthy();
    let list = vm.method_names(me(a), all, keep);
    Ok(vm.arr(list))
}

fn defined(vm: &mut Vm, a: Args, keep: fn(Vis) -> bool) -> R {
    let name = vm.arg(a, 0);
    let name = vm.to_sym(name)?;
    let all = vm.opt(a, 1).unwrap_or(TRUE).truthy();
    let id = if all {
        vm.find_method(me(a), name)
    } else {
        vm.classes[me(a) as usize].methods.get(&name).copied()
    };
    Ok(Value::bool(id.is_some_and(|id| {
        !matches!(vm.methods[id as usize].body, Body::Undef) && keep(vm.methods[id as usize].vis)
    })))
}

fn instance_method(vm: &mut Vm, a: Args, any: bool) -> R {
    let name = vm.arg(a, 0);
    let name = vm.to_sym(name)?;
    let class = me(a);
    if let Some(id) = vm.find_method(class, name)
        && (any || vm.methods[id as usize].vis == Vis::Public)
    {
        let id = vm.real_method(class, id).unwrap_or(id);
        let owner = vm.methods[id as usize].owner;
        let data = MethodData { recv: NIL, id, name, owner, class, unbound: true, missing: false };
        return Ok(vm.new_obj(c::UNBOUND, Ext::Method(Box::new(data))));
    }
    vm.undefined_in(class, name)
}

impl Vm {
    pub(crate) fn basic_initialize(&self) -> u32 {
        self.classes[c::BASIC_OBJECT as usize]
            .methods
            .get(&n::INITIALIZE)
            .copied()
            .unwrap_or(u32::MAX)
    }

    pub(crate) fn set_visibility(&mut self, class: u32, name: Sym, vis: Vis) -> Res<()> {
        self.check_frozen(Value::class(class))?;
        if let Some(id) = self.classes[class as usize].methods.get(&name).copied()
            && !matches!(self.methods[id as usize].body, Body::Undef)
        {
            let mut m = self.methods[id as usize];
            m.vis = vis;
            let new = self.methods.len() as u32;
            self.methods.push(m);
            self.put_method(class, name, new);
            return Ok(());
        }
        match self.find_for_module(class, name) {
            Some(id) => {
                if self.methods[id as usize].vis != vis {
                    self.add_method(class, name, Body::Super, vis);
                }
                Ok(())
            }
            None => self.undefined_in(class, name),
        }
    }

    pub(crate) fn set_autoload(&mut self, class: u32, name: Value, path: Value) -> R {
        let sym = self.to_sym(name)?;
        let text = self.syms.bytes(sym);
        if !text.first().is_some_and(u8::is_ascii_uppercase) {
            let shown = String::from_utf8_lossy(text).into_owned();
            let e = self.name_error(
                c::NAME_ERROR,
                &format!("autoload must be constant name: {shown}"),
                sym,
                Value::class(class),
            )?;
            return self.throw(e);
        }
        let path = self.to_path(path)?;
        if path.is_empty() {
            return self.arg_error("empty file name");
        }
        if self.classes[class as usize].consts.get(&sym).is_some_and(|k| !k.value.is_undef()) {
            return Ok(NIL);
        }
        self.check_frozen(Value::class(class))?;
        let autoload = Some(String::from_utf8_lossy(&path).into_owned().into());
        let (file, pos) = self.here();
        self.classes[class as usize].consts.insert(
            sym,
            Const { value: UNDEF, private: false, deprecated: false, autoload, file, pos },
        );
        self.const_epoch += 1;
        Ok(NIL)
    }

    fn const_name(&mut self, v: Value, recv: Value) -> Res<Sym> {
        let sym = self.to_sym(v)?;
        let text = self.sym_str(sym).into_owned();
        if !valid_const(&text) {
            let e =
                self.name_error(c::NAME_ERROR, &format!("wrong constant name {text}"), sym, recv)?;
            return self.throw(e);
        }
        Ok(sym)
    }
}

fn valid_const(text: &str) -> bool {
    text.starts_with(|ch: char| ch.is_uppercase())
        && text.chars().all(|ch| ch.is_alphanumeric() || ch == '_')
}
