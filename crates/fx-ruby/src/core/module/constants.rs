//! Module: constants, autoload and class variables.

use fx_ruby_syntax::Sym;

use super::{me, valid_const};
use crate::natives::{Native, on_class, private, public};
use crate::object::c;
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, R, Res, Vm};

/// One part of the path of a constant, which is refused as a whole.
fn part_name(vm: &mut Vm, part: &str, path: Sym, recv: Value) -> Res<Sym> {
    if valid_const(part) {
        return Ok(vm.intern(part));
    }
    let wrong = format!("wrong constant name {}", vm.sym_str(path));
    let e = vm.name_error(c::NAME_ERROR, &wrong, path, recv)?;
    vm.throw(e)
}

const METHODS: &[Native] = &[
    public("const_get", 1, 2, |vm, a| {
        let v = vm.arg(a, 0);
        let inherit = vm.opt(a, 1).unwrap_or(TRUE).truthy();
        let sym = vm.to_sym(v)?;
        let text = vm.sym_str(sym).into_owned();
        if !text.contains("::") || v.is_sym() {
            let sym = vm.const_name(Value::sym(sym), a.recv)?;
            return const_step(vm, me(a), sym, inherit, true);
        }
        let mut at = a.recv;
        for (i, part) in text.split("::").enumerate() {
            if part.is_empty() && i == 0 {
                at = Value::class(c::OBJECT);
                continue;
            }
            let sym = part_name(vm, part, sym, a.recv)?;
            let Some(id) = at.as_class() else {
                let shown = vm.inspect_string(at)?;
                return vm.type_error(format!("{shown} does not refer to class/module"));
            };
            at = const_step(vm, id, sym, inherit, i == 0)?;
        }
        Ok(at)
    }),
    public("const_set", 2, 2, |vm, a| {
        let (name, v) = (vm.arg(a, 0), vm.arg(a, 1));
        let sym = vm.const_name(name, a.recv)?;
        vm.assign_const(me(a), sym, v)?;
        Ok(v)
    }),
    public("const_defined?", 1, 2, |vm, a| {
        let v = vm.arg(a, 0);
        let inherit = vm.opt(a, 1).unwrap_or(TRUE).truthy();
        let sym = vm.to_sym(v)?;
        let text = vm.sym_str(sym).into_owned();
        let mut class = me(a);
        for (i, part) in text.split("::").enumerate() {
            if part.is_empty() && i == 0 {
                class = c::OBJECT;
                continue;
            }
            let sym = part_name(vm, part, sym, a.recv)?;
            let last = text.ends_with(part) && i + 1 == text.split("::").count();
            let known = if inherit {
                vm.mro(class).iter().any(|id| vm.classes[*id as usize].consts.contains_key(&sym))
                    || (i == 0
                        && vm.classes[class as usize].is_module()
                        && vm.classes[c::OBJECT as usize].consts.contains_key(&sym))
            } else {
                vm.classes[class as usize].consts.contains_key(&sym)
            };
            if !known {
                return Ok(FALSE);
            }
            if !last {
                match const_step(vm, class, sym, inherit, i == 0)?.as_class() {
                    Some(id) => class = id,
                    None => return Ok(FALSE),
                }
            }
        }
        Ok(TRUE)
    }),
    public("const_missing", 1, 1, |vm, a| {
        let name = vm.arg(a, 0);
        let name = vm.to_sym(name)?;
        let full = vm.const_full(me(a), name);
        let e =
            vm.name_error(c::NAME_ERROR, &format!("uninitialized constant {full}"), name, a.recv)?;
        vm.throw(e)
    }),
    public("constants", 0, 1, |vm, a| {
        let all = vm.opt(a, 0).unwrap_or(TRUE).truthy();
        let own = me(a);
        let mut out: Vec<Value> = Vec::new();
        for id in vm.mro(own).iter() {
            if *id == c::OBJECT && own != c::OBJECT {
                break;
            }
            for (name, k) in &vm.classes[*id as usize].consts {
                let v = Value::sym(*name);
                if !k.private && !out.contains(&v) {
                    out.push(v);
                }
            }
            if !all {
                break;
            }
        }
        Ok(vm.arr(out))
    }),
    on_class("constants", 0, 1, |vm, a| {
        let list: Vec<Value> =
            vm.classes[c::OBJECT as usize].consts.keys().map(|s| Value::sym(*s)).collect();
        let _ = a;
        Ok(vm.arr(list))
    }),
    private("remove_const", 1, 1, |vm, a| {
        let name = vm.arg(a, 0);
        let sym = vm.const_name(name, a.recv)?;
        match vm.classes[me(a) as usize].consts.shift_remove(&sym) {
            Some(k) => {
                vm.const_epoch += 1;
                Ok(if k.value.is_undef() { NIL } else { k.value })
            }
            None => {
                let full = vm.const_full(me(a), sym);
                let e = vm.name_error(
                    c::NAME_ERROR,
                    &format!("constant {full} not defined"),
                    sym,
                    a.recv,
                )?;
                vm.throw(e)
            }
        }
    }),
    public("const_source_location", 1, 2, const_source_location),
    public("autoload", 2, 2, |vm, a| {
        let (name, path) = (vm.arg(a, 0), vm.arg(a, 1));
        vm.set_autoload(me(a), name, path)
    }),
    public("autoload?", 1, 2, |vm, a| {
        let name = vm.arg(a, 0);
        let name = vm.to_sym(name)?;
        let all = vm.opt(a, 1).unwrap_or(TRUE).truthy();
        for id in vm.mro(me(a)).iter().take(if all { usize::MAX } else { 1 }) {
            if let Some(k) = vm.classes[*id as usize].consts.get(&name) {
                let p = if k.value.is_undef() { k.autoload.clone() } else { None };
                return Ok(match p {
                    Some(p) => vm.str(p.as_bytes()),
                    None => NIL,
                });
            }
        }
        Ok(NIL)
    }),
    public("class_variable_get", 1, 1, |vm, a| {
        let name = cvar_name(vm, a)?;
        vm.cvar_of(me(a), name)
    }),
    public("class_variable_set", 2, 2, |vm, a| {
        let name = cvar_name(vm, a)?;
        let v = vm.arg(a, 1);
        vm.cvar_put(me(a), name, v)?;
        Ok(v)
    }),
    public("class_variable_defined?", 1, 1, |vm, a| {
        let name = cvar_name(vm, a)?;
        Ok(Value::bool(vm.cvar_find(me(a), name).is_some()))
    }),
    public("class_variables", 0, 1, |vm, a| {
        let all = vm.opt(a, 0).unwrap_or(TRUE).truthy();
        let mut out: Vec<Value> = Vec::new();
        for id in vm.mro(me(a)).iter().take(if all { usize::MAX } else { 1 }) {
            for name in vm.classes[*id as usize].cvars.keys() {
                let v = Value::sym(*name);
                if !out.contains(&v) {
                    out.push(v);
                }
            }
        }
        Ok(vm.arr(out))
    }),
    public("remove_class_variable", 1, 1, |vm, a| {
        let name = cvar_name(vm, a)?;
        vm.check_frozen(a.recv)?;
        match vm.classes[me(a) as usize].cvars.shift_remove(&name) {
            Some(v) => Ok(v),
            None => {
                let text = vm.sym_str(name).into_owned();
                let owner = vm.class_name(me(a));
                let e = vm.name_error(
                    c::NAME_ERROR,
                    &format!("class variable {text} not defined for {owner}"),
                    name,
                    a.recv,
                )?;
                vm.throw(e)
            }
        }
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    vm.natives(c::MODULE, METHODS);
}

fn cvar_name(vm: &mut Vm, a: Args) -> Res<Sym> {
    let v = vm.arg(a, 0);
    let name = vm.to_sym(v)?;
    let text = vm.syms.bytes(name);
    if !(text.starts_with(b"@@") && text.len() > 2 && !text[2].is_ascii_digit()) {
        let shown = vm.quoted(&String::from_utf8_lossy(text));
        let e = vm.name_error(
            c::NAME_ERROR,
            &format!("{shown} is not allowed as a class variable name"),
            name,
            a.recv,
        )?;
        return vm.throw(e);
    }
    Ok(name)
}

fn const_step(vm: &mut Vm, class: u32, sym: Sym, inherit: bool, object: bool) -> R {
    let found = if inherit { vm.const_in(class, sym, object)? } else { vm.const_own(class, sym)? };
    match found {
        Some(v) => Ok(v),
        None => vm.const_missing(class, sym),
    }
}

/// Where a constant was set; a path leads through modules.
fn const_source_location(vm: &mut Vm, a: Args) -> R {
    let v = vm.arg(a, 0);
    let inherit = vm.opt(a, 1).unwrap_or(TRUE).truthy();
    let whole = vm.to_sym(v)?;
    let text = vm.sym_str(whole).into_owned();
    if v.is_sym() || !text.contains("::") {
        let name = vm.const_name(Value::sym(whole), a.recv)?;
        return Ok(place_of(vm, me(a), name, inherit, true));
    }
    let parts: Vec<&str> = text.split("::").collect();
    let mut class = me(a);
    for (i, part) in parts.iter().enumerate() {
        if part.is_empty() && i == 0 && parts.len() > 1 {
            class = c::OBJECT;
            continue;
        }
        if !valid_const(part) {
            let message = format!("wrong constant name {text}");
            let e = vm.name_error(c::NAME_ERROR, &message, whole, a.recv)?;
            return vm.throw(e);
        }
        let name = vm.intern(part);
        if i + 1 == parts.len() {
            return Ok(place_of(vm, class, name, inherit, i == 0));
        }
        match const_step(vm, class, name, inherit, i == 0)?.as_class() {
            Some(id) => class = id,
            None => return Ok(NIL),
        }
    }
    Ok(NIL)
}

fn place_of(vm: &mut Vm, class: u32, name: Sym, inherit: bool, top: bool) -> Value {
    let mut order = vec![class];
    if inherit {
        order = vm.mro(class).to_vec();
        if top && vm.classes[class as usize].is_module() {
            order.push(c::OBJECT);
        }
    }
    for id in order {
        let Some(k) = vm.classes[id as usize].consts.get(&name) else { continue };
        let (file, pos) = (k.file, k.pos);
        if vm.files.is_empty() || (file == 0 && pos == 0) {
            return vm.arr(vec![]);
        }
        let path = vm.path_of(file);
        let path = vm.str(path.as_bytes());
        let line = Value::fix(i64::from(vm.line_of(file, pos)));
        return vm.arr(vec![path, line]);
    }
    NIL
}
