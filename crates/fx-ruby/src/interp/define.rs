//! Definitions: methods, classes, modules, alias and undef.

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::{ClassNode, Code, CodeKind, ConstScope, DefNode};

use crate::core::trace;
use crate::interp::Fp;
use crate::names as n;
use crate::object::{Body, ClassKind, Cref, Vis, c};
use crate::value::{NIL, Value};
use crate::vm::{NO_METHOD, R, Res, Vm};

impl Vm {
    /// Where `def` puts methods.
    pub(crate) fn definee(&self) -> u32 {
        self.frames[self.frames.len() - 1].cref.class
    }

    /// Where `def` puts methods when the text around it runs on an object of its own: a block
    /// in it that was given another self defines them on that one.
    fn definee_of(&mut self, cref: &'static Cref, me: Value) -> Res<u32> {
        match self.classes[cref.class as usize].kind {
            ClassKind::Singleton(of)
                if of.as_class().is_none() && of != me && me.as_class().is_none() =>
            {
                self.singleton_class(me)
            }
            _ => Ok(cref.class),
        }
    }

    pub(crate) fn eval_def(&mut self, fp: Fp, def: &'static DefNode) -> R {
        let cref = self.frames[self.frames.len() - 1].cref;
        if let Some(node) = def.singleton {
            let v = self.eval(fp, node)?;
            let class = self.singleton_class(v)?;
            self.check_frozen(v)?;
            if self.loading_lazy && self.classes[class as usize].methods.contains_key(&def.name) {
                return Ok(NIL);
            }
            self.add_method(class, def.name, Body::Ruby(def.code, cref), Vis::Public);
            self.method_added(class, def.name)?;
            return Ok(Value::sym(def.name));
        }
        let class = self.definee_of(cref, fp.me)?;
        self.check_frozen(Value::class(class))?;
        if self.loading_lazy && self.classes[class as usize].methods.contains_key(&def.name) {
            return Ok(NIL);
        }
        let frame = self.scope_frame();
        let mut vis = match frame {
            Some(i) => self.frames[i].vis,
            None => Vis::Public,
        };
        let module_function = frame.is_some_and(|i| self.frames[i].module_function);
        if matches!(
            def.name,
            n::INITIALIZE
                | n::INITIALIZE_COPY
                | n::INITIALIZE_CLONE
                | n::INITIALIZE_DUP
                | n::RESPOND_TO_MISSING
        ) {
            vis = Vis::Private;
        }
        if module_function {
            vis = Vis::Private;
        }
        self.add_method(class, def.name, Body::Ruby(def.code, cref), vis);
        if module_function {
            let meta = self.singleton_class(Value::class(class))?;
            self.add_method(meta, def.name, Body::Ruby(def.code, cref), Vis::Public);
        }
        self.method_added(class, def.name)?;
        Ok(Value::sym(def.name))
    }

    /// The frame whose default visibility holds for a `def` here, if any.
    pub(crate) fn scope_frame(&self) -> Option<usize> {
        let top = self.frames.len().checked_sub(1)?;
        match self.frames[top].code.kind {
            CodeKind::Program | CodeKind::Class | CodeKind::Eval => Some(top),
            // A block run by class_eval, or by Class.new, has its own.
            CodeKind::Block | CodeKind::Lambda => Some(top),
            CodeKind::Method => None,
        }
    }

    /// Calls `method_added` or `singleton_method_added` when somebody defined them.
    pub(crate) fn method_added(&mut self, class: u32, name: Sym) -> Res<()> {
        self.method_hook(class, name, n::METHOD_ADDED, n::SINGLETON_METHOD_ADDED)
    }

    pub(crate) fn method_hook(
        &mut self,
        class: u32,
        name: Sym,
        plain: Sym,
        single: Sym,
    ) -> Res<()> {
        let (target, hook) = match self.classes[class as usize].kind {
            ClassKind::Singleton(v) => (v, single),
            _ => (Value::class(class), plain),
        };
        if self.has_method(target, hook) && !self.is_native(target, hook) {
            self.send(target, hook, &[Value::sym(name)])?;
        }
        Ok(())
    }

    pub(crate) fn eval_class(&mut self, fp: Fp, node: &'static ClassNode) -> R {
        let superclass = match node.superclass {
            Some(n) => {
                let v = self.eval(fp, n)?;
                match v.as_class() {
                    Some(id) if self.classes[id as usize].kind == ClassKind::Class => Some(id),
                    Some(id) if self.classes[id as usize].is_singleton() => {
                        return self.type_error("can't make subclass of singleton class");
                    }
                    _ => {
                        let t = self.type_name(v);
                        return self.type_error(format!(
                            "superclass must be an instance of Class (given an instance of {t})"
                        ));
                    }
                }
            }
            None => None,
        };
        let under = self.const_target(fp, &node.scope)?;
        let id = match self.open_existing(under, node)? {
            Some(v) => {
                let found =
                    v.as_class().filter(|id| self.classes[*id as usize].kind == ClassKind::Class);
                let Some(id) = found else {
                    let name = self.const_full(under, node.name);
                    return self.type_error(format!("{name} is not a class"));
                };
                if let Some(sup) = superclass
                    && self.classes[id as usize].superclass != Some(sup)
                {
                    let name = self.class_name(id);
                    return self.type_error(format!("superclass mismatch for class {name}"));
                }
                id
            }
            None => {
                let sup = superclass.unwrap_or(c::OBJECT);
                if sup == c::CLASS {
                    return self.type_error("can't make subclass of Class");
                }
                let id = self.new_class(ClassKind::Class, Some(sup));
                self.const_set(under, node.name, Value::class(id));
                self.inherited(sup, id)?;
                id
            }
        };
        self.run_class_body(id, node.code)
    }

    pub(crate) fn inherited(&mut self, sup: u32, id: u32) -> Res<()> {
        let target = Value::class(sup);
        if !self.is_native(target, n::INHERITED) {
            self.send(target, n::INHERITED, &[Value::class(id)])?;
        }
        Ok(())
    }

    fn open_existing(&mut self, under: u32, node: &'static ClassNode) -> Res<Option<Value>> {
        if let Some(v) = self.const_own(under, node.name)? {
            // Reached through its scope: what is private there is not seen.
            if matches!(node.scope, ConstScope::In(_))
                && self.classes[under as usize].consts.get(&node.name).is_some_and(|k| k.private)
            {
                let full = self.const_full(under, node.name);
                let text = format!("private constant {full} referenced");
                let e = self.name_error(c::NAME_ERROR, &text, node.name, Value::class(under))?;
                return self.throw(e);
            }
            return Ok(Some(v));
        }
        if under == c::OBJECT && !matches!(node.scope, ConstScope::In(_)) {
            return self.const_in(c::OBJECT, node.name, true);
        }
        Ok(None)
    }

    pub(crate) fn eval_module(&mut self, fp: Fp, node: &'static ClassNode) -> R {
        let under = self.const_target(fp, &node.scope)?;
        let id = match self.open_existing(under, node)? {
            Some(v) => {
                let found = v.as_class().filter(|id| self.classes[*id as usize].is_module());
                let Some(id) = found else {
                    let name = self.const_full(under, node.name);
                    return self.type_error(format!("{name} is not a module"));
                };
                id
            }
            None => {
                let id = self.new_class(ClassKind::Module, None);
                self.const_set(under, node.name, Value::class(id));
                id
            }
        };
        self.run_class_body(id, node.code)
    }

    pub(crate) fn new_cref(&mut self, class: u32, eval: bool) -> &'static Cref {
        let up = self.frames.last().map_or(self.top_cref, |f| f.cref);
        self.cref_below(up, class, eval)
    }

    /// A class inside a scope. The same is the same scope however often it is entered, so what is
    /// leaked is bounded by the classes and scopes there are.
    pub(crate) fn cref_below(
        &mut self,
        up: &'static Cref,
        class: u32,
        eval: bool,
    ) -> &'static Cref {
        let key = (std::ptr::from_ref(up) as usize, class, eval);
        self.crefs.entry(key).or_insert_with(|| leaked(Cref { class, up: Some(up), eval }))
    }

    pub(crate) fn run_class_body(&mut self, class: u32, code: &'static Code) -> R {
        if self.frames.len() >= self.limits.depth as usize {
            return self.too_deep();
        }
        let cref = self.new_cref(class, false);
        let start = self.stack.len();
        self.stack.resize(start + code.nstack as usize, NIL);
        let env = if code.env_names.is_empty() { 0 } else { self.open_env(code, 0, start) };
        let me = Value::class(class);
        let short = self.sym_str(code.name).into_owned();
        let label = match self.classes[class as usize].kind {
            ClassKind::Singleton(_) => "singleton class".to_owned(),
            ClassKind::Module => format!("<module:{short}>"),
            ClassKind::Class => format!("<class:{short}>"),
        };
        let label = self.intern(&label);
        self.push_frame(code, cref, me, NIL, NO_METHOD, class, label, start as u32, env);
        let result = self.traced_body(Fp::new(start as u32, env, me), code);
        self.frames.pop();
        self.stack.truncate(start);
        if env != 0 {
            self.heap.release_env(env);
        }
        result
    }

    fn traced_body(&mut self, fp: Fp, code: &'static Code) -> R {
        if self.tracing & trace::CLASS != 0 {
            self.trace(trace::CLASS, Some(code.pos), NIL)?;
        }
        let result = self.eval(fp, code.body.get())?;
        if self.tracing & trace::END != 0 {
            self.trace(trace::END, Some(code.end_pos.saturating_sub(1)), NIL)?;
        }
        Ok(result)
    }

    pub(crate) fn alias(&mut self, class: u32, new: Sym, old: Sym) -> Res<()> {
        self.check_frozen(Value::class(class))?;
        let found = self.find_for_module(class, old);
        let Some(id) = found else { return self.undefined_in(class, old) };
        let id = self.real_method(class, id).unwrap_or(id);
        let method = self.methods[id as usize];
        let mut copy = method;
        copy.name = new;
        if matches!(
            new,
            n::INITIALIZE
                | n::INITIALIZE_COPY
                | n::INITIALIZE_CLONE
                | n::INITIALIZE_DUP
                | n::RESPOND_TO_MISSING
        ) {
            copy.vis = Vis::Private;
        }
        // `super` inside an alias goes on from where the original was defined.
        let copy_id = self.methods.len() as u32;
        self.methods.push(copy);
        self.put_method(class, new, copy_id);
        self.method_added(class, new)
    }

    /// A method of a class; for a module also those every object has.
    pub(crate) fn find_for_module(&mut self, class: u32, name: Sym) -> Option<u32> {
        match self.find_method(class, name) {
            Some(id) => Some(id),
            None if self.classes[class as usize].is_module() => self.find_method(c::OBJECT, name),
            None => None,
        }
    }

    pub(crate) fn undefined_in<T>(&mut self, class: u32, name: Sym) -> Res<T> {
        let kind = if self.classes[class as usize].is_module() { "module" } else { "class" };
        let text = self.quoted_sym(name);
        let owner = self.quoted(&self.class_name(class));
        let message = format!("undefined method {text} for {kind} {owner}");
        let e = self.name_error(c::NAME_ERROR, &message, name, Value::class(class))?;
        self.throw(e)
    }

    pub(crate) fn undef_method(&mut self, class: u32, name: Sym) -> Res<()> {
        self.check_frozen(Value::class(class))?;
        if self.find_for_module(class, name).is_none() {
            return self.undefined_in(class, name);
        }
        self.add_method(class, name, Body::Undef, Vis::Public);
        self.method_hook(class, name, n::METHOD_UNDEFINED, n::SINGLETON_METHOD_UNDEFINED)
    }
}

/// A scope that lives as long as the code which refers to it.
pub(crate) fn leaked(cref: Cref) -> &'static Cref {
    Box::leak(Box::new(cref))
}
