//! Assignment to targets, `$` variables, class variables.

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::{ConstScope, IvarSite, Multi, Target};

use crate::interp::Fp;
use crate::interp::multi::multi_calls;
use crate::names as n;
use crate::object::{ClassKind, c};
use crate::value::{NIL, UNDEF, Value};
use crate::vm::{R, Res, Vm};

impl Vm {
    #[inline(never)]
    pub(crate) fn ivar_slow(&mut self, me: Value, site: &'static IvarSite) -> R {
        if me.is_obj() {
            let class = self.heap.obj(me).class;
            let shape = self.classes[class as usize].shape_of;
            if let Some(slot) = self.classes[shape as usize].shape.get(&site.name) {
                site.class.set(class);
                site.slot.set(*slot);
            }
        }
        Ok(self.ivar_get(me, site.name).unwrap_or(NIL))
    }

    #[inline(never)]
    pub(crate) fn iset_slow(&mut self, me: Value, site: &'static IvarSite, v: Value) -> Res<()> {
        self.check_frozen(me)?;
        if me.is_obj() {
            let slot = self.ivar_slot(me, site.name);
            let width = {
                let class = self.heap.obj(me).class;
                let shape = self.classes[class as usize].shape_of;
                self.classes[shape as usize].shape.len()
            };
            let obj = self.heap.obj_mut(me);
            site.class.set(obj.class);
            site.slot.set(slot as u32);
            if obj.ivars.len() <= slot {
                // Room for all the variables seen so far, so that later writes are fast.
                obj.ivars.resize(width.max(slot + 1), UNDEF);
                let bytes = obj.ivars.capacity() * 8;
                obj.ivars[slot] = v;
                self.heap.bytes += bytes;
                return Ok(());
            }
            obj.ivars[slot] = v;
            return Ok(());
        }
        self.ivar_set(me, site.name, v);
        Ok(())
    }

    pub(crate) fn assign(&mut self, fp: Fp, target: &'static Target, v: Value) -> Res<()> {
        match target {
            Target::Var(var) => self.store(fp, *var, v),
            Target::Ivar(site) => self.iset(fp.me, site, v)?,
            Target::Gvar(name) => self.gvar_set(*name, v)?,
            Target::Cvar(name) => self.cvar_set(*name, v)?,
            Target::Const(scope, name) => {
                let start = self.stack.len();
                self.stack.push(v);
                let class = self.const_target(fp, scope)?;
                self.stack.truncate(start);
                self.assign_const(class, *name, v)?;
            }
            Target::Send(call) => {
                let held = self.stack.len();
                self.stack.push(v);
                let recv = match call.recv {
                    Some(node) => self.eval(fp, node)?,
                    None => fp.me,
                };
                if call.safe && recv.is_nil() {
                    self.stack.truncate(held);
                    return Ok(());
                }
                self.stack.push(recv);
                let start = self.stack.len();
                self.push_args(fp, &call.args)?;
                self.stack.push(v);
                self.call_with(fp, call, recv, start, NIL, false)?;
                self.stack.truncate(held);
            }
            Target::Multi(multi) => self.assign_multi(fp, multi, v)?,
        }
        Ok(())
    }

    /// Spreads a value over targets.
    pub(crate) fn assign_multi(&mut self, fp: Fp, multi: &'static Multi, v: Value) -> Res<()> {
        let items = self.items_of(v)?;
        self.assign_items(fp, multi, &items)
    }

    /// The values that a value is spread into.
    pub(crate) fn items_of(&mut self, v: Value) -> Res<Vec<Value>> {
        Ok(if v.is_arr() {
            self.heap.arr(v).clone()
        } else if v.is_obj() && self.responds(v, n::TO_ARY, true)? {
            let list = self.send(v, n::TO_ARY, &[])?;
            if list.is_arr() {
                self.heap.arr(list).clone()
            } else if list.is_nil() {
                vec![v]
            } else {
                let (a, b) = (self.type_name(v), self.type_name(list));
                return self
                    .type_error(format!("can't convert {a} to Array ({a}#to_ary gives {b})"));
            }
        } else {
            vec![v]
        })
    }

    pub(crate) fn assign_items(
        &mut self,
        fp: Fp,
        multi: &'static Multi,
        items: &[Value],
    ) -> Res<()> {
        let get = |i: usize| items.get(i).copied().unwrap_or(NIL);
        let start = self.stack.len();
        // Targets that are calls may change the array that the items come from.
        if multi_calls(multi) {
            self.stack.extend_from_slice(items);
        }
        for (i, target) in multi.pre.iter().enumerate() {
            self.assign(fp, target, get(i))?;
        }
        let pre = multi.pre.len();
        let Some(rest) = &multi.rest else {
            self.stack.truncate(start);
            return Ok(());
        };
        let post = multi.post.len();
        let end = items.len().saturating_sub(post).max(pre);
        if let Some(target) = rest {
            let list = items.get(pre..end.min(items.len())).unwrap_or(&[]).to_vec();
            let list = self.arr(list);
            self.assign(fp, target, list)?;
        }
        for (i, target) in multi.post.iter().enumerate() {
            self.assign(fp, target, get(end + i))?;
        }
        self.stack.truncate(start);
        Ok(())
    }

    pub(crate) fn const_target(&mut self, fp: Fp, scope: &'static ConstScope) -> Res<u32> {
        match scope {
            ConstScope::Top => Ok(c::OBJECT),
            ConstScope::Lexical => {
                let mut cref = self.frames[self.frames.len() - 1].cref;
                while cref.eval {
                    match cref.up {
                        Some(up) => cref = up,
                        None => break,
                    }
                }
                Ok(cref.class)
            }
            ConstScope::In(node) => {
                let v = self.eval(fp, node)?;
                match v.as_class() {
                    Some(id) => Ok(id),
                    None => {
                        let text = self.inspect_string(v)?;
                        self.type_error(format!("{text} is not a class/module"))
                    }
                }
            }
        }
    }

    pub(crate) fn assign_const(&mut self, class: u32, name: Sym, v: Value) -> Res<()> {
        self.check_frozen(Value::class(class))?;
        let old = self.classes[class as usize].consts.get(&name).map(|k| (k.value, k.file, k.pos));
        if let Some((old, file, pos)) = old
            && !old.is_undef()
        {
            let (here_file, here_pos) = self.here();
            let full = self.const_full(class, name);
            let at = format!("{}:{}", self.path_of(here_file), self.line_of(here_file, here_pos));
            let was = format!("{}:{}", self.path_of(file), self.line_of(file, pos));
            let tail = self.sym_str(name).into_owned();
            self.warn(&format!("{at}: warning: already initialized constant {full}\n{was}: warning: previous definition of {tail} was here\n"))?;
        }
        self.const_set(class, name, v);
        Ok(())
    }

    /// Class a class variable belongs to, seen from the current scope.
    fn cvar_scope(&mut self) -> Res<u32> {
        let mut cref = self.frames[self.frames.len() - 1].cref;
        loop {
            let singleton =
                matches!(self.classes[cref.class as usize].kind, ClassKind::Singleton(_));
            match cref.up {
                Some(up) if singleton || cref.eval => cref = up,
                _ => break,
            }
        }
        if cref.up.is_none() {
            return self.fail(c::RUNTIME_ERROR, "class variable access from toplevel");
        }
        Ok(cref.class)
    }

    pub(crate) fn cvar_find(&mut self, class: u32, name: Sym) -> Option<u32> {
        let start = match self.classes[class as usize].kind {
            ClassKind::Singleton(v) => v.as_class().unwrap_or(class),
            _ => class,
        };
        let mut found = None;
        for id in self.mro(class).iter().chain(self.mro(start).iter()) {
            if self.classes[*id as usize].cvars.contains_key(&name) {
                found = Some(*id);
                break;
            }
        }
        found
    }

    pub(crate) fn cvar_get(&mut self, name: Sym) -> R {
        let class = self.cvar_scope()?;
        self.cvar_of(class, name)
    }

    pub(crate) fn cvar_of(&mut self, class: u32, name: Sym) -> R {
        match self.cvar_find(class, name) {
            Some(id) => Ok(self.classes[id as usize].cvars[&name]),
            None => {
                let text = self.sym_str(name).into_owned();
                let owner = self.class_name(class);
                let message = format!("uninitialized class variable {text} in {owner}");
                let e = self.name_error(c::NAME_ERROR, &message, name, Value::class(class))?;
                self.throw(e)
            }
        }
    }

    pub(crate) fn cvar_defined(&mut self, name: Sym) -> bool {
        match self.cvar_scope() {
            Ok(class) => self.cvar_find(class, name).is_some(),
            Err(_) => false,
        }
    }

    pub(crate) fn cvar_set(&mut self, name: Sym, v: Value) -> Res<()> {
        let class = self.cvar_scope()?;
        self.cvar_put(class, name, v)
    }

    pub(crate) fn cvar_put(&mut self, class: u32, name: Sym, v: Value) -> Res<()> {
        let at = self.cvar_find(class, name).unwrap_or(class);
        self.check_frozen(Value::class(at))?;
        self.classes[at as usize].cvars.insert(name, v);
        Ok(())
    }
}
