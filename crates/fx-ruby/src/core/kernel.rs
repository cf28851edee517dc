//! Kernel: output, raising, loading, conversion functions, evaluation.

mod numbers;
mod process;

use std::rc::Rc;

use crate::heap::Ext;
use crate::names as n;
use crate::natives::{Native, function, private};
use crate::object::{Vis, c};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, Pending, R, Res, Unwind, Vm};

const METHODS: &[Native] = &[
    function("puts", 0, -1, |vm, a| {
        let out = vm.global(n::GV_STDOUT);
        let args = vm.args(a);
        vm.send(out, n::PUTS, &args)
    }),
    function("print", 0, -1, |vm, a| {
        let out = vm.global(n::GV_STDOUT);
        let args = vm.args(a);
        vm.send(out, n::PRINT, &args)
    }),
    function("p", 0, -1, |vm, a| {
        let args = vm.args(a);
        for v in &args {
            let s = vm.inspect(*v)?;
            let mut bytes = vm.bytes(s).to_vec();
            bytes.push(b'\n');
            let out = vm.global(n::GV_STDOUT);
            let line = vm.str(bytes);
            vm.send(out, n::WRITE, &[line])?;
        }
        Ok(match args.as_slice() {
            [] => NIL,
            [one] => *one,
            _ => vm.arr(args),
        })
    }),
    function("require", 1, 1, |vm, a| {
        let path = vm.arg(a, 0);
        let path = vm.to_path(path)?;
        vm.require(&String::from_utf8_lossy(&path))
    }),
    function("require_relative", 1, 1, |vm, a| {
        let path = vm.arg(a, 0);
        let path = vm.to_path(path)?;
        let here = vm.path_of(vm.here().0);
        let dir = match here.rfind('/') {
            Some(i) => here[..i].to_owned(),
            None => ".".to_owned(),
        };
        let path = String::from_utf8_lossy(&path).into_owned();
        let full = if path.starts_with('/') { path } else { format!("{dir}/{path}") };
        let full = vm.absolute(full.as_bytes());
        vm.require(&String::from_utf8_lossy(&full))
    }),
    function("load", 1, 2, load),
    function("raise", 0, -1, raise),
    function("fail", 0, -1, raise),
    function("block_given?", 0, 0, |vm, _| {
        Ok(Value::bool(!vm.frames[vm.frames.len() - 1].block.is_nil()))
    }),
    function("loop", 0, 0, |vm, a| {
        if a.block.is_nil() {
            let inf = vm.float(f64::INFINITY);
            return vm.enumerator_sized(a, inf);
        }
        let held = vm.hold_call(a);
        loop {
            if let Err(Unwind) = vm.open(held).yield0(a.block) {
                if let Pending::Raise(e) = vm.pending.get()
                    && vm.is_a(e, c::STOP_ITERATION)
                {
                    vm.pending.set(Pending::None);
                    return Ok(vm.ivar_get(e, n::RESULT).unwrap_or(NIL));
                }
                return Err(Unwind);
            }
        }
    }),
    function("lambda", 0, 0, |vm, a| {
        if a.block.is_nil() {
            return vm.arg_error("tried to create Proc object without a block");
        }
        let fresh = !vm.heap.pr(a.block).escaped;
        vm.heap.escape(a.block);
        if fresh {
            vm.heap.pr_mut(a.block).lambda = true;
        }
        Ok(a.block)
    }),
    function("proc", 0, 0, |vm, a| {
        if a.block.is_nil() {
            return vm.arg_error("tried to create Proc object without a block");
        }
        Ok(vm.keep_block(a.block))
    }),
    function("catch", 0, 1, |vm, a| {
        if a.block.is_nil() {
            return vm.fail(c::LOCAL_JUMP, "no block given");
        }
        let tag = match vm.opt(a, 0) {
            Some(v) => v,
            None => vm.new_obj(c::OBJECT, Ext::None),
        };
        vm.serial += 1;
        let id = vm.serial;
        vm.catching.push((id, tag));
        let held = vm.hold_call(a);
        let height = vm.stack.len();
        let result = vm.open(held).yield1(a.block, tag);
        vm.catching.pop();
        if let (Err(Unwind), Pending::Throw(to, v)) = (&result, vm.pending.get())
            && to == id
        {
            vm.pending.set(Pending::None);
            vm.stack.truncate(height);
            return Ok(v);
        }
        result
    }),
    function("throw", 1, 2, |vm, a| {
        let tag = vm.arg(a, 0);
        let value = vm.opt(a, 1).unwrap_or(NIL);
        let found = vm.catching.iter().rev().find(|(_, t)| *t == tag).map(|(id, _)| *id);
        match found {
            Some(id) => {
                vm.pending.set(Pending::Throw(id, value));
                Err(Unwind)
            }
            None => {
                let text = vm.inspect_string(tag)?;
                let e = vm.make_error(c::UNCAUGHT_THROW, format!("uncaught throw {text}"))?;
                vm.ivar_set(e, n::TAG, tag);
                vm.ivar_set(e, n::VALUE, value);
                vm.throw(e)
            }
        }
    }),
    function("exit", 0, 1, |vm, a| exit(vm, a, false)),
    function("exit!", 0, 1, |vm, a| exit(vm, a, true)),
    function("abort", 0, 1, |vm, a| {
        let text = match vm.opt(a, 0) {
            Some(v) => {
                let s = vm.to_str(v)?;
                let err = vm.global(n::GV_STDERR);
                vm.send(err, n::PUTS, &[s])?;
                vm.text(s)
            }
            None => "exit".into(),
        };
        let e = vm.make_error(c::SYSTEM_EXIT, text)?;
        vm.ivar_set(e, n::STATUS, Value::fix(1));
        vm.throw(e)
    }),
    function("at_exit", 0, 0, |vm, a| {
        if a.block.is_nil() {
            return vm.arg_error("called without a block");
        }
        let p = vm.keep_block(a.block);
        vm.at_exit.push(p);
        Ok(p)
    }),
    function("binding", 0, 0, |vm, _| {
        let b = vm.caller_binding();
        Ok(vm.new_binding(b))
    }),
    function("local_variables", 0, 0, |vm, _| {
        let b = vm.caller_binding();
        Ok(vm.local_names(b.env))
    }),
    function("global_variables", 0, 0, |vm, _| {
        let mut names: Vec<Value> =
            vm.globals.keys().chain(vm.galiases.keys()).map(|s| Value::sym(*s)).collect();
        names.sort_by_key(|v| v.bits());
        Ok(vm.arr(names))
    }),
    private("__note", 2, 2, |vm, a| {
        let (text, quiet) = (vm.arg(a, 0), vm.arg(a, 1).truthy());
        let text = vm.text(text);
        vm.warn_here(&text, quiet)?;
        Ok(NIL)
    }),
    private("__gems?", 0, 0, |vm, _| Ok(Value::bool(vm.hooks.gems))),
    // What `trace_var` was given, by name.
    private("__traced", 0, 0, |vm, _| {
        if let Some(table) = vm.globals.get(&n::TRACED) {
            return Ok(*table);
        }
        let table = vm.hash();
        vm.globals.insert(n::TRACED, table);
        Ok(table)
    }),
    // The modules that an object was extended with.
    private("__extensions", 1, 1, |vm, a| {
        let object = vm.arg(a, 0);
        let own = vm.singleton_of(object).map(|class| vm.classes[class as usize].includes.clone());
        let modules = own.unwrap_or_default().into_iter().map(Value::class).collect();
        Ok(vm.arr(modules))
    }),
    function("eval", 1, 4, eval),
    function("__method__", 0, 0, |vm, _| {
        let f = vm.frames[vm.frames.len() - 1];
        Ok(if f.method == crate::vm::NO_METHOD {
            NIL
        } else {
            Value::sym(vm.methods[f.method as usize].orig)
        })
    }),
    function("__callee__", 0, 0, |vm, _| {
        let f = vm.frames[vm.frames.len() - 1];
        Ok(if f.method == crate::vm::NO_METHOD {
            NIL
        } else {
            Value::sym(vm.methods[f.method as usize].name)
        })
    }),
    function("__dir__", 0, 0, |vm, _| {
        let path = vm.path_of(vm.here().0);
        let full = vm.absolute(path.as_bytes());
        let dir = crate::core::file::dirname(&full);
        Ok(vm.str(dir))
    }),
    function("caller", 0, 2, |vm, a| caller(vm, a, false)),
    function("caller_locations", 0, 2, |vm, a| caller(vm, a, true)),
    function("Integer", 1, 3, numbers::to_integer),
    function("Float", 1, 2, numbers::to_float),
    function("String", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        if let Some(s) = vm.check_str(v)? {
            return Ok(s);
        }
        if !vm.responds(v, n::TO_S, true)? {
            let name = vm.type_name(v);
            return vm.type_error(format!("can't convert {name} into String"));
        }
        let s = vm.send(v, n::TO_S, &[])?;
        if s.is_str() {
            return Ok(s);
        }
        let (x, y) = (vm.type_name(v), vm.type_name(s));
        vm.type_error(format!("can't convert {x} to String ({x}#to_s gives {y})"))
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    vm.natives(c::KERNEL, METHODS);
    process::init(vm);
}

impl Vm {
    pub(crate) fn local_names(&mut self, mut env: u32) -> Value {
        let mut names: Vec<Value> = Vec::new();
        while env != 0 {
            for name in self.heap.envs[env as usize].names {
                let v = Value::sym(*name);
                let text = self.syms.bytes(*name);
                let plain =
                    text.first().is_some_and(|b| b.is_ascii_lowercase() || *b == b'_' || *b >= 128);
                if plain && !names.contains(&v) {
                    names.push(v);
                }
            }
            env = self.heap.envs[env as usize].up;
        }
        self.arr(names)
    }

    /// Prints to `$stderr` unless warnings are off.
    /// A warning that names the line of the program that runs now; a quiet one only under `-w`.
    pub fn warn_here(&mut self, text: &str, quiet: bool) -> Res<()> {
        let level = self.global(n::GV_VERBOSE);
        if level.is_nil() || (quiet && level != TRUE) {
            return Ok(());
        }
        let at = self.frames.iter().rev().find(|f| !self.is_internal(f.code.file)).copied();
        let (file, pos) = at.map_or((0, 0), |f| (f.code.file, f.pos));
        let at = format!("{}:{}", self.path_of(file), self.line_of(file, pos));
        self.warn(&format!("{at}: warning: {text}\n"))
    }

    pub fn warn(&mut self, text: &str) -> Res<()> {
        if self.global(n::GV_VERBOSE).is_nil() {
            return Ok(());
        }
        let s = self.str(text);
        let err = self.global(n::GV_STDERR);
        self.send(err, n::WRITE, &[s])?;
        Ok(())
    }

    /// The exception object that `raise` with these arguments means.
    pub(crate) fn make_exception(&mut self, args: &[Value]) -> R {
        let first = args[0];
        if first.is_str() {
            if args.len() > 1 {
                return self.type_error("exception class/object expected");
            }
            return self.send(Value::class(c::RUNTIME_ERROR), n::NEW, &[first]);
        }
        let rest = &args[1..args.len().min(2)];
        let e = match first.as_class() {
            Some(_) if self.responds(first, n::EXCEPTION, true)? => {
                self.send(first, n::EXCEPTION, rest)?
            }
            _ if self.responds(first, n::EXCEPTION, true)? => {
                self.send(first, n::EXCEPTION, rest)?
            }
            _ => return self.type_error("exception class/object expected"),
        };
        if !self.is_exception(e) {
            return self.type_error("exception object expected");
        }
        if let Some(bt) = args.get(2) {
            self.send(e, n::SET_BACKTRACE, &[*bt])?;
        }
        Ok(e)
    }
}

fn raise(vm: &mut Vm, mut a: Args) -> R {
    let mut cause = None;
    let mut kw = vm.take_kw(&mut a);
    if let Some(h) = kw {
        let key = Value::sym(n::CAUSE);
        if let Some(v) = vm.hash_get(h, key)? {
            cause = Some(v);
            let copy = vm.hash_dup(h);
            vm.hash_delete(copy, key)?;
            kw = if vm.heap.h(copy).live == 0 { None } else { Some(copy) };
        }
    }
    let mut args = vm.args(a);
    if let Some(h) = kw {
        args.push(h);
    }
    if args.is_empty() {
        if cause.is_some() {
            return vm.arg_error("only cause is given with no arguments");
        }
        if !vm.errinfo.is_nil() {
            let e = vm.errinfo;
            return vm.throw(e);
        }
        return vm.fail(c::RUNTIME_ERROR, "unhandled exception");
    }
    let e = if let (Some(h), Some(_)) = (kw, args[0].as_class()) {
        let rest = if args.len() == 2 { vec![h] } else { args[1..].to_vec() };
        vm.send_full(args[0], n::NEW, &rest, NIL, true)?
    } else {
        vm.make_exception(&args)?
    };
    if let Some(v) = cause {
        if !v.is_nil() && !vm.is_exception(v) {
            return vm.type_error("exception object expected");
        }
        let mut at = v;
        while vm.is_exception(at) {
            if at == e && v != e {
                return vm.arg_error("circular causes");
            }
            at = vm.exc_mut(at).and_then(|d| d.cause).unwrap_or(NIL);
        }
        if v != e
            && let Some(d) = vm.exc_mut(e)
        {
            d.cause = Some(v);
        }
    }
    vm.throw(e)
}

fn exit(vm: &mut Vm, a: Args, now: bool) -> R {
    if now {
        vm.at_exit.clear();
    }
    let status = match vm.opt(a, 0) {
        None | Some(TRUE) => 0,
        Some(FALSE) => 1,
        Some(v) => vm.to_int(v)?,
    };
    let e = vm.make_error(c::SYSTEM_EXIT, "exit")?;
    vm.ivar_set(e, n::STATUS, Value::fix(status));
    vm.throw(e)
}

fn load(vm: &mut Vm, a: Args) -> R {
    let v = vm.arg(a, 0);
    let path = vm.to_path(v)?;
    let name = String::from_utf8_lossy(&path).into_owned();
    let full = match vm.home_path(&path) {
        Some(path) => path,
        None => vm.absolute(&path),
    };
    let full = String::from_utf8_lossy(&full).into_owned();
    let text = match vm.read_source(&full)? {
        Some(t) => Some((full, t)),
        None if name.starts_with("./") || name.starts_with("../") => None,
        None => {
            let list = vm.global(n::GV_LOAD_PATH);
            let dirs = vm.heap.arr(list).clone();
            let mut found = None;
            for d in dirs {
                let d = match vm.try_send(d, n::TO_PATH, &[])? {
                    Some(path) if path.is_str() => vm.text(path),
                    _ if d.is_str() => vm.text(d),
                    _ => continue,
                };
                let p = format!("{d}/{name}");
                if let Some(t) = vm.read_source(&p)? {
                    found = Some((p, t));
                    break;
                }
            }
            found
        }
    };
    let Some((full, text)) = text else { return vm.load_error(&name) };
    let (code, _) = vm.compile_file(&text, &full, false)?;
    let wrap = vm.opt(a, 1).unwrap_or(NIL);
    if wrap.truthy() {
        let module = match wrap.as_class() {
            Some(id) => id,
            None => vm.new_class(crate::object::ClassKind::Module, None),
        };
        let cref = vm.cref_below(vm.top_cref, module, false);
        let me = vm.new_obj(c::OBJECT, Ext::None);
        let single = vm.singleton_class(me)?;
        vm.include_module(single, module);
        vm.run_program(code, me, cref)?;
    } else {
        vm.run_program(code, vm.main, vm.top_cref)?;
    }
    Ok(TRUE)
}

fn eval(vm: &mut Vm, a: Args) -> R {
    let text = vm.arg(a, 0);
    let text = vm.to_str_bytes(text)?;
    let b = vm.opt_nil(a, 1);
    let mut path = "(eval)".to_owned();
    let mut line = 1;
    if let Some(p) = vm.opt_nil(a, 2) {
        let p = vm.to_str(p)?;
        path = vm.text(p);
    }
    if let Some(l) = vm.opt_nil(a, 3) {
        line = vm.to_int(l)? as i32;
    }
    match b {
        Some(b) => {
            let mut data = match vm.heap.ext(b) {
                Some(Ext::Binding(d)) => (**d).clone(),
                _ => {
                    let name = vm.type_name(b);
                    return vm.type_error(format!("wrong argument type {name} (expected binding)"));
                }
            };
            let result = vm.eval_in(&mut data, &text, &path, line, None, Vis::Public);
            if let Ext::Binding(d) = &mut vm.heap.obj_mut(b).ext {
                d.env = data.env;
            }
            result
        }
        None => {
            let mut data = vm.caller_binding();
            let vis = vm.frames[vm.frames.len() - 1].vis;
            vm.eval_in(&mut data, &text, &path, line, None, vis)
        }
    }
}

fn caller(vm: &mut Vm, a: Args, locations: bool) -> R {
    let frames = vm.capture();
    let (mut skip, mut count) = (1usize, usize::MAX);
    if let Some(v) = vm.opt_nil(a, 0) {
        if v.is_range() {
            let r = vm.heap.rng(v);
            let (lo, hi, excl) = (r.lo, r.hi, r.excl);
            skip = vm.to_int(lo)?.max(0) as usize;
            if !hi.is_nil() {
                let hi = vm.to_int(hi)?;
                let end = if hi < 0 { frames.len() as i64 + hi } else { hi };
                count = (end - skip as i64 + i64::from(!excl)).max(0) as usize;
            }
        } else {
            let i = vm.to_int(v)?;
            if i < 0 {
                return vm.arg_error(format!("negative level ({i})"));
            }
            skip = i as usize;
        }
    }
    if let Some(v) = vm.opt_nil(a, 1) {
        let i = vm.to_int(v)?;
        if i < 0 {
            return vm.arg_error(format!("negative size ({i})"));
        }
        count = i as usize;
    }
    if skip > frames.len() {
        return Ok(NIL);
    }
    let frames: Vec<_> = frames.into_iter().skip(skip).take(count).collect();
    let list = vm.format_frames(&frames);
    if !locations {
        return Ok(list);
    }
    vm.locations(list)
}

impl Vm {
    /// Backtrace lines as location objects.
    pub(crate) fn locations(&mut self, list: Value) -> R {
        let thread = self.define_class(c::OBJECT, "Thread", c::OBJECT);
        let bt = self.define_module(thread, "Backtrace");
        let class = self.define_class(bt, "Location", c::OBJECT);
        let iv = self.intern("@line");
        let mut out = Vec::new();
        for v in self.heap.arr(list).clone() {
            let o = self.new_obj(class, Ext::None);
            self.ivar_set(o, iv, v);
            out.push(o);
        }
        Ok(self.arr(out))
    }
}

fn warn(vm: &mut Vm, mut a: Args) -> R {
    let kw = vm.take_kw(&mut a);
    let mut text = Vec::new();
    if let Some(up) = vm.kw(kw, "uplevel").filter(|v| !v.is_nil()) {
        let up = vm.to_int(up)?;
        if up < 0 {
            return vm.arg_error(format!("negative level ({up})"));
        }
        let frames = vm.capture();
        match frames.get(up as usize) {
            Some((file, pos, _)) => text.extend_from_slice(
                format!("{}:{}: warning: ", vm.path_of(*file), vm.line_of(*file, *pos)).as_bytes(),
            ),
            None => text.extend_from_slice(b"warning: "),
        }
    }
    let mut items = Vec::new();
    for v in vm.args(a) {
        if v.is_arr() {
            items.extend(vm.heap.arr(v).clone());
        } else {
            items.push(v);
        }
    }
    if items.is_empty() || vm.global(n::GV_VERBOSE).is_nil() {
        return Ok(NIL);
    }
    for v in items {
        let s = vm.interpolate(v)?;
        text.extend_from_slice(vm.bytes(s));
        if text.last() != Some(&b'\n') {
            text.push(b'\n');
        }
    }
    let s = vm.str(text);
    vm.send(Value::class(c::WARNING), vm.syms.get(b"warn").unwrap_or(n::WRITE), &[s])?;
    Ok(NIL)
}

pub(crate) fn boxed(
    f: impl Fn(&mut Vm, &[Value], &[Value], Value) -> R + 'static,
) -> crate::heap::NativeBlock {
    Rc::new(f)
}
