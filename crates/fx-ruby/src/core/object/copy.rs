//! Copying objects, definition targets of instance_eval, and lists of method names.

use fx_ruby_syntax::Sym;

use crate::heap::{Ext, MethodData};
use crate::names as n;
use crate::object::{Body, Cref, Vis, c};
use crate::value::{Tag, Value};
use crate::vm::{Args, R, Vm};

impl Vm {
    pub(crate) fn is_immediate(&self, v: Value) -> bool {
        matches!(
            v.tag(),
            Tag::Int
                | Tag::Flonum
                | Tag::Float
                | Tag::Big
                | Tag::Nil
                | Tag::True
                | Tag::False
                | Tag::Sym
        ) || matches!(self.heap.ext(v), Some(Ext::Method(_)))
    }

    /// Evaluates text arguments (`code, file, line`) with another self.
    pub(crate) fn eval_string_args(
        &mut self,
        a: Args,
        me: Value,
        cref: Option<&'static Cref>,
    ) -> R {
        let text = self.arg(a, 0);
        let text = self.to_str_bytes(text)?;
        let path = match self.opt_nil(a, 1) {
            Some(p) => {
                let p = self.to_str(p)?;
                self.text(p)
            }
            None => "(eval)".into(),
        };
        let line = match self.opt_nil(a, 2) {
            Some(l) => self.to_int(l)? as i32,
            None => 1,
        };
        let mut b = self.caller_binding();
        b.self_val = me;
        self.eval_in(&mut b, &text, &path, line, cref, Vis::Public)
    }

    /// Definition target for instance_eval: the singleton class, where there can be one.
    pub(crate) fn instance_cref(&mut self, me: Value, block: Value) -> Option<&'static Cref> {
        let up = self.heap.pr(block).frame.cref;
        let class = self.instance_definee(me)?;
        Some(self.cref_below(up, class, true))
    }

    fn instance_definee(&mut self, me: Value) -> Option<u32> {
        match me.tag() {
            Tag::Int | Tag::Flonum | Tag::Float | Tag::Big | Tag::Sym => None,
            // Most blocks define nothing: the singleton class is made when a method is.
            _ => self.singleton_class(me).ok(),
        }
    }

    pub(crate) fn instance_cref_here(&mut self, me: Value) -> Option<&'static Cref> {
        let class = self.instance_definee(me)?;
        Some(self.new_cref(class, true))
    }

    /// A shallow copy without singleton and frozen state.
    pub(crate) fn copy(&mut self, v: Value) -> R {
        let real = self.real_class(v);
        let copy = match v.tag() {
            Tag::Str => {
                let s = self.heap.str(v);
                let (bytes, enc) = (s.bytes.clone(), s.enc);
                self.heap.string(real, bytes, enc)
            }
            Tag::Arr => {
                let items = self.heap.arr(v).clone();
                self.heap.array(real, items)
            }
            Tag::Hash => {
                let mut h = self.heap.h(v).clone();
                h.class = real;
                h.frozen = false;
                h.iterating = 0;
                let new = self.heap.hash(real);
                *self.heap.h_mut(new) = h;
                new
            }
            Tag::Range => {
                let r = self.heap.rng(v);
                let (lo, hi, excl) = (r.lo, r.hi, r.excl);
                let copy = self.heap.range(real, lo, hi, excl);
                self.heap.ranges[copy.index()].frozen = false;
                copy
            }
            Tag::Regex => {
                let r = &self.heap.regexes[v.index()];
                let copy = crate::heap::RRegex {
                    class: real,
                    frozen: false,
                    source: r.source.clone(),
                    flags: r.flags,
                    enc: r.enc,
                    prog: r.prog.clone(),
                };
                self.heap.regex(copy)
            }
            Tag::Proc => {
                self.heap.escape(v);
                let mut p = self.heap.pr(v).clone();
                p.class = real;
                p.frozen = false;
                self.heap.proc_(p)
            }
            Tag::Class => return self.copy_class(v.index() as u32),
            Tag::Obj => {
                let ext = match &self.heap.obj(v).ext {
                    Ext::None => Ext::None,
                    Ext::Exception(d) => Ext::Exception(Box::new(crate::heap::ExcData {
                        message: d.message,
                        frames: d.frames.clone(),
                        backtrace: d.backtrace,
                        cause: d.cause,
                        captured: d.captured,
                    })),
                    Ext::Method(d) => Ext::Method(d.clone()),
                    Ext::Match(d) => Ext::Match(d.clone()),
                    Ext::Binding(d) => Ext::Binding(d.clone()),
                    Ext::Fields(f) => Ext::Fields(f.clone()),
                    Ext::Time(t) => Ext::Time(t.clone()),
                    Ext::Io(d) => Ext::Io(d.clone()),
                    Ext::Host(h) => Ext::Host(std::rc::Rc::clone(h)),
                    Ext::Enumerator(e) => Ext::Enumerator(Box::new(crate::heap::EnumData {
                        recv: e.recv,
                        meth: e.meth,
                        args: e.args.clone(),
                        kw: e.kw,
                        size: e.size,
                        outside: crate::heap::Outside::default(),
                    })),
                    Ext::Fiber(_) => return self.type_error("allocator undefined for Fiber"),
                };
                let ivars = self.heap.obj(v).ivars.clone();
                let copy = self.heap.object(real, ext);
                self.heap.obj_mut(copy).ivars = ivars;
                copy
            }
            _ => return Ok(v),
        };
        if let Some(list) = self.heap.side_ivars.get(&v).cloned() {
            self.heap.side_ivars.insert(copy, list);
        }
        Ok(copy)
    }

    fn copy_class(&mut self, id: u32) -> R {
        let kind = self.classes[id as usize].kind;
        let sup = self.classes[id as usize].superclass;
        let new = self.new_class(kind, sup);
        self.copy_class_body(id, new);
        self.classes[new as usize].class_class = self.classes[id as usize].class_class;
        if let Some(meta) = self.classes[id as usize].meta {
            let target = self.singleton_class(Value::class(new))?;
            self.copy_class_body(meta, target);
        }
        Ok(Value::class(new))
    }

    pub(crate) fn copy_class_body(&mut self, from: u32, to: u32) {
        let order = self.classes[from as usize].order.clone();
        for name in order {
            if let Some(id) = self.classes[from as usize].methods.get(&name).copied() {
                let mut m = self.methods[id as usize];
                m.owner = to;
                let new = self.methods.len() as u32;
                self.methods.push(m);
                self.put_method(to, name, new);
            }
        }
        let src = &self.classes[from as usize];
        let (includes, prepends, ivars, cvars) =
            (src.includes.clone(), src.prepends.clone(), src.ivars.clone(), src.cvars.clone());
        let consts: Vec<(Sym, Value)> = src.consts.iter().map(|(k, v)| (*k, v.value)).collect();
        let dst = &mut self.classes[to as usize];
        dst.includes = includes;
        dst.prepends = prepends;
        dst.ivars = ivars;
        dst.cvars = cvars;
        for (name, value) in consts {
            self.const_set(to, name, value);
        }
        self.hierarchy += 1;
        self.bump();
    }

    pub fn dup(&mut self, v: Value) -> R {
        if self.is_immediate(v) {
            return Ok(v);
        }
        let copy = self.copy(v)?;
        self.send(copy, n::INITIALIZE_DUP, &[v])?;
        Ok(copy)
    }

    pub(crate) fn method_object(&mut self, recv: Value, id: u32, name: Sym, class: u32) -> Value {
        let owner = self.methods[id as usize].owner;
        let data = MethodData { recv, id, name, owner, class, unbound: false, missing: false };
        self.heap.escape(recv);
        self.new_obj(c::METHOD, Ext::Method(Box::new(data)))
    }

    /// Names of methods along the ancestors that pass a test of their visibility.
    pub(crate) fn method_names(
        &mut self,
        class: u32,
        all: bool,
        keep: impl Fn(Vis) -> bool,
    ) -> Vec<Value> {
        self.load_lazy(class);
        let mro = self.mro(class);
        let mut seen = rustc_hash::FxHashSet::default();
        let mut out = Vec::new();
        for at in mro.iter() {
            for name in &self.classes[*at as usize].order {
                let Some(id) = self.classes[*at as usize].methods.get(name) else { continue };
                if !seen.insert(*name) {
                    continue;
                }
                let m = &self.methods[*id as usize];
                if !matches!(m.body, Body::Undef) && keep(m.vis) {
                    out.push(Value::sym(*name));
                }
            }
            if !all && *at == class {
                break;
            }
        }
        out
    }

    pub(crate) fn singleton_names(&mut self, v: Value, all: bool) -> Vec<Value> {
        let Some(single) = self.singleton_of(v) else {
            if !v.is_class() || !all {
                return Vec::new();
            }
            let class = self.class_of(v);
            return self.singleton_chain(class, all);
        };
        self.singleton_chain(single, all)
    }

    fn singleton_chain(&mut self, single: u32, all: bool) -> Vec<Value> {
        let mut out: Vec<Value> = Vec::new();
        for at in self.mro(single).iter() {
            let class = &self.classes[*at as usize];
            if !class.is_singleton() && !class.is_module() || *at == c::KERNEL {
                break;
            }
            if *at != single && !all {
                break;
            }
            for name in &class.order {
                let Some(id) = class.methods.get(name) else { continue };
                let m = &self.methods[*id as usize];
                let v = Value::sym(*name);
                if m.vis != Vis::Private && !matches!(m.body, Body::Undef) && !out.contains(&v) {
                    out.push(v);
                }
            }
        }
        out
    }
}
