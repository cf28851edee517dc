//! Constants: setting them, naming classes by them, finding them by scope and ancestors.

use fx_ruby_syntax::Sym;

use crate::names as n;
use crate::object::{ClassKind, Const, Cref, c};
use crate::value::Value;
use crate::vm::{R, Res, Vm};

impl Vm {
    pub fn const_set(&mut self, class: u32, name: Sym, value: Value) {
        if let Some(id) = value.as_class()
            && !self.classes[id as usize].permanent
        {
            let text = String::from_utf8_lossy(self.syms.bytes(name)).into_owned();
            let under = &self.classes[class as usize];
            let (full, permanent) = if class == c::OBJECT {
                (text, true)
            } else if under.is_singleton() {
                (format!("{}::{text}", self.class_name(class)), false)
            } else {
                (format!("{}::{text}", self.class_name(class)), under.permanent)
            };
            let known = &mut self.classes[id as usize];
            if known.name.is_none() || permanent {
                known.name = Some(full.into());
                known.permanent = permanent;
                known.lexical = class;
                if permanent {
                    self.rename_inner(id, 0);
                }
            }
        }
        let (file, pos) = self.here();
        let old = self.classes[class as usize].consts.get(&name).map(|k| (k.private, k.deprecated));
        let (private, deprecated) = old.unwrap_or_default();
        let entry = Const { value, private, deprecated, autoload: None, file, pos };
        self.classes[class as usize].consts.insert(name, entry);
        self.const_epoch += 1;
    }

    /// Gives classes inside a newly named one their full names.
    fn rename_inner(&mut self, id: u32, depth: u32) {
        if depth > 50 {
            return;
        }
        let inner: Vec<(Sym, u32)> = self.classes[id as usize]
            .consts
            .iter()
            .filter_map(|(name, k)| k.value.as_class().map(|class| (*name, class)))
            .collect();
        let outer = self.class_name(id);
        for (name, class) in inner {
            if !self.classes[class as usize].permanent && class != id {
                let text = String::from_utf8_lossy(self.syms.bytes(name)).into_owned();
                let known = &mut self.classes[class as usize];
                known.name = Some(format!("{outer}::{text}").into());
                known.permanent = true;
                self.rename_inner(class, depth + 1);
            }
        }
    }

    /// A constant of a class itself, loading it when it is to be autoloaded.
    pub fn const_own(&mut self, class: u32, name: Sym) -> Res<Option<Value>> {
        let Some(found) = self.classes[class as usize].consts.get(&name) else {
            return Ok(None);
        };
        if !found.value.is_undef() {
            return Ok(Some(found.value));
        }
        let Some(path) = found.autoload.clone() else { return Ok(None) };
        if self.autoloading.contains(&(class, name)) {
            return Ok(None);
        }
        self.autoloading.push((class, name));
        let result = self.autoload(&path);
        self.autoloading.pop();
        result?;
        let found = self.classes[class as usize].consts.get(&name).map(|k| k.value);
        match found {
            Some(v) if !v.is_undef() => Ok(Some(v)),
            _ => {
                self.classes[class as usize].consts.shift_remove(&name);
                self.const_epoch += 1;
                Ok(None)
            }
        }
    }

    /// A constant of a class or its ancestors.
    pub fn const_in(&mut self, class: u32, name: Sym, object_too: bool) -> Res<Option<Value>> {
        let found = self.const_search(class, name, object_too)?;
        if found.is_none() && !self.lazy.is_empty() && class != c::OBJECT && self.load_lazy(class) {
            return self.const_search(class, name, object_too);
        }
        Ok(found)
    }

    fn const_search(&mut self, class: u32, name: Sym, object_too: bool) -> Res<Option<Value>> {
        for at in self.mro(class).iter() {
            if *at == c::OBJECT && class != c::OBJECT && !object_too {
                break;
            }
            if let Some(v) = self.const_own(*at, name)? {
                return Ok(Some(v));
            }
        }
        if object_too && self.classes[class as usize].is_module() {
            for at in self.mro(c::OBJECT).iter() {
                if let Some(v) = self.const_own(*at, name)? {
                    return Ok(Some(v));
                }
            }
        }
        Ok(None)
    }

    pub fn const_lexical(&mut self, cref: &'static Cref, name: Sym) -> Res<Option<Value>> {
        let mut at = Some(cref);
        while let Some(cref) = at {
            if cref.up.is_some()
                && !cref.eval
                && let Some(v) = self.const_own(cref.class, name)?
            {
                return Ok(Some(v));
            }
            at = cref.up;
        }
        let mut scope = cref;
        while scope.eval {
            match scope.up {
                Some(up) => scope = up,
                None => break,
            }
        }
        self.const_in(scope.class, name, true)
    }

    /// What `C` means here, through `const_missing` when it means nothing.
    pub fn const_get(&mut self, cref: &'static Cref, name: Sym) -> R {
        match self.const_lexical(cref, name)? {
            Some(v) => Ok(v),
            None => self.const_missing_from(cref, name),
        }
    }

    /// `const_missing` of what a scope belongs to.
    pub(crate) fn const_missing_from(&mut self, cref: &'static Cref, name: Sym) -> R {
        let mut scope = cref;
        while scope.eval {
            match scope.up {
                Some(up) => scope = up,
                None => break,
            }
        }
        // Text that runs on an object misses a constant in the object's class.
        let class = match self.classes[scope.class as usize].kind {
            ClassKind::Singleton(of) if of.as_class().is_none() => self.real_class(of),
            _ => scope.class,
        };
        self.const_missing(class, name)
    }

    pub fn const_missing(&mut self, class: u32, name: Sym) -> R {
        self.send(Value::class(class), n::CONST_MISSING, &[Value::sym(name)])
    }

    /// `A::B` for a value that must be a class or module.
    pub fn const_path(&mut self, scope: Value, name: Sym) -> R {
        let class = self.const_base(scope)?;
        match self.const_below(class, name)? {
            Some(v) => Ok(v),
            None => self.const_missing(class, name),
        }
    }

    /// The class or module before `::`.
    pub(crate) fn const_base(&mut self, scope: Value) -> Res<u32> {
        if let Some(class) = scope.as_class() {
            return Ok(class);
        }
        let text = self.inspect_string(scope)?;
        self.fail(c::TYPE_ERROR, format!("{text} is not a class/module"))
    }

    /// `A::B`, where `A` or an ancestor has it.
    pub(crate) fn const_below(&mut self, class: u32, name: Sym) -> Res<Option<Value>> {
        let object_too = class == c::OBJECT;
        let Some(v) = self.const_in(class, name, object_too)? else { return Ok(None) };
        let private = self
            .mro(class)
            .iter()
            .find_map(|at| self.classes[*at as usize].consts.get(&name).map(|k| k.private));
        if private == Some(true) {
            let full = self.const_full(class, name);
            let text = format!("private constant {full} referenced");
            let e = self.name_error(c::NAME_ERROR, &text, name, Value::class(class))?;
            return self.throw(e);
        }
        Ok(Some(v))
    }

    pub fn const_full(&self, class: u32, name: Sym) -> String {
        let text = String::from_utf8_lossy(self.syms.bytes(name));
        if class == c::OBJECT {
            text.into_owned()
        } else {
            format!("{}::{text}", self.class_name(class))
        }
    }
}
