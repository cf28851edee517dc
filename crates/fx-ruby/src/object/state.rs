//! The state of objects: instance variables, freezing, allocation, mixing in modules.

use std::rc::Rc;

use fx_ruby_syntax::Sym;

use crate::heap::Ext;
use crate::names as n;
use crate::object::{Alloc, ClassKind, c};
use crate::value::{NIL, Tag, UNDEF, Value};
use crate::vm::{R, Res, Vm};

impl Vm {
    pub fn ivar_get(&self, v: Value, name: Sym) -> Option<Value> {
        match v.tag() {
            Tag::Obj => {
                let obj = self.heap.obj(v);
                let shape = self.classes[obj.class as usize].shape_of;
                let slot = *self.classes[shape as usize].shape.get(&name)?;
                obj.ivars.get(slot as usize).copied().filter(|v| !v.is_undef())
            }
            Tag::Class => self.classes[v.index()].ivars.get(&name).copied(),
            _ => {
                let list = self.heap.side_ivars.get(&v)?;
                list.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
            }
        }
    }

    pub fn ivar_set(&mut self, v: Value, name: Sym, value: Value) {
        match v.tag() {
            Tag::Obj => {
                let slot = self.ivar_slot(v, name);
                let obj = self.heap.obj_mut(v);
                let room = obj.ivars.capacity();
                if obj.ivars.len() <= slot {
                    obj.ivars.resize(slot + 1, UNDEF);
                }
                obj.ivars[slot] = value;
                let grown = obj.ivars.capacity() - room;
                self.heap.bytes += grown * size_of::<Value>();
            }
            Tag::Class => {
                self.classes[v.index()].ivars.insert(name, value);
            }
            _ => {
                let list = self.heap.side_ivars.entry(v).or_default();
                match list.iter_mut().find(|(key, _)| *key == name) {
                    Some(pair) => pair.1 = value,
                    None => list.push((name, value)),
                }
            }
        }
    }

    /// The slot of an instance variable in objects of a class, once one has had it.
    pub(crate) fn known_slot(&self, class: u32, name: Sym) -> Option<u32> {
        let shape = self.classes[class as usize].shape_of;
        self.classes[shape as usize].shape.get(&name).copied()
    }

    pub fn ivar_slot(&mut self, v: Value, name: Sym) -> usize {
        let class = self.heap.obj(v).class;
        let shape = self.classes[class as usize].shape_of;
        let table = &mut self.classes[shape as usize].shape;
        let next = table.len() as u32;
        *table.entry(name).or_insert(next) as usize
    }

    pub fn ivar_names(&self, v: Value) -> Vec<Sym> {
        match v.tag() {
            Tag::Obj => {
                let obj = self.heap.obj(v);
                let shape = self.classes[obj.class as usize].shape_of;
                self.classes[shape as usize]
                    .shape
                    .iter()
                    .filter(|(_, slot)| {
                        obj.ivars.get(**slot as usize).is_some_and(|v| !v.is_undef())
                    })
                    .map(|(name, _)| *name)
                    .collect()
            }
            Tag::Class => self.classes[v.index()].ivars.keys().copied().collect(),
            _ => self
                .heap
                .side_ivars
                .get(&v)
                .map(|l| l.iter().map(|p| p.0).collect())
                .unwrap_or_default(),
        }
    }

    pub fn ivar_remove(&mut self, v: Value, name: Sym) -> Option<Value> {
        let old = self.ivar_get(v, name)?;
        match v.tag() {
            Tag::Obj => {
                let slot = self.ivar_slot(v, name);
                self.heap.obj_mut(v).ivars[slot] = UNDEF;
            }
            Tag::Class => {
                self.classes[v.index()].ivars.shift_remove(&name);
            }
            _ => {
                if let Some(list) = self.heap.side_ivars.get_mut(&v) {
                    list.retain(|p| p.0 != name);
                }
            }
        }
        Some(old)
    }

    pub fn frozen(&self, v: Value) -> bool {
        let i = v.index();
        match v.tag() {
            Tag::Obj => self.heap.objects[i].frozen,
            Tag::Str => self.heap.strings[i].frozen,
            Tag::Arr => self.heap.arrays[i].frozen,
            Tag::Hash => self.heap.hashes[i].frozen,
            Tag::Class => self.classes[i].frozen,
            Tag::Proc => self.heap.procs[i].frozen,
            Tag::Regex => self.heap.regexes[i].frozen,
            Tag::Range => self.heap.ranges[i].frozen,
            _ => true,
        }
    }

    pub fn freeze(&mut self, v: Value) {
        let i = v.index();
        match v.tag() {
            Tag::Obj => self.heap.objects[i].frozen = true,
            Tag::Str => self.heap.strings[i].frozen = true,
            Tag::Arr => self.heap.arrays[i].frozen = true,
            Tag::Hash => self.heap.hashes[i].frozen = true,
            Tag::Class => self.classes[i].frozen = true,
            Tag::Proc => self.heap.procs[i].frozen = true,
            Tag::Regex => self.heap.regexes[i].frozen = true,
            Tag::Range => self.heap.ranges[i].frozen = true,
            _ => return,
        }
        if let Some(single) = self.singleton_of(v) {
            self.classes[single as usize].frozen = true;
        }
    }

    pub fn check_frozen(&mut self, v: Value) -> Res<()> {
        if !self.frozen(v) {
            return Ok(());
        }
        self.frozen_error(v)
    }

    #[cold]
    pub fn frozen_error<T>(&mut self, v: Value) -> Res<T> {
        let text = self.inspect_string(v)?;
        let class = self.real_class(v);
        let class =
            if v.is_class() && self.classes[v.index()].is_module() { c::MODULE } else { class };
        let kind = if v.is_class() && self.classes[v.index()].is_singleton() {
            "object".to_owned()
        } else if let Some(ClassKind::Class) = v.as_class().map(|id| self.classes[id as usize].kind)
        {
            "class".to_owned()
        } else {
            self.class_name(class)
        };
        let e = self.make_error(c::FROZEN_ERROR, format!("can't modify frozen {kind}: {text}"))?;
        self.ivar_set(e, n::IV_RECEIVER, v);
        self.throw(e)
    }

    /// A new object of a class, as `allocate` makes it.
    pub fn allocate(&mut self, class: u32) -> R {
        let known = &self.classes[class as usize];
        if known.is_singleton() {
            return self.fail(c::TYPE_ERROR, "can't create instance of singleton class");
        }
        Ok(match known.alloc {
            Alloc::Object => self.heap.object(class, Ext::None),
            Alloc::String => {
                self.heap.string(class, std::borrow::Cow::Borrowed(b""), crate::encoding::BINARY)
            }
            Alloc::Array => self.heap.array(class, Vec::new()),
            Alloc::Hash => self.heap.hash(class),
            Alloc::Exception => self.heap.object(class, Ext::Exception(Box::default())),
            Alloc::Struct => {
                let size = self.struct_members(class).map_or(0, |m| m.len());
                self.heap.object(class, Ext::Fields(vec![NIL; size]))
            }
            Alloc::Range => {
                let v = self.heap.range(class, NIL, NIL, false);
                let made = &mut self.heap.ranges[v.index()];
                (made.frozen, made.ready) = (false, false);
                v
            }
            Alloc::Regexp => self.heap.regex(crate::heap::RRegex {
                class,
                frozen: false,
                source: Rc::from([]),
                flags: 0,
                enc: 0,
                prog: None,
            }),
            Alloc::Class => {
                let id = self.new_class(ClassKind::Class, Some(c::OBJECT));
                Value::class(id)
            }
            Alloc::Module => {
                let id = self.new_class(ClassKind::Module, None);
                self.classes[id as usize].class_class = class;
                Value::class(id)
            }
            Alloc::Time => self.heap.object(class, Ext::Time(Box::default())),
            Alloc::Io => self.heap.object(class, Ext::Io(Box::default())),
            Alloc::Enumerator => self.heap.object(class, Ext::None),
            Alloc::Proc | Alloc::None => {
                let name = self.class_name(class);
                return self.fail(c::TYPE_ERROR, format!("allocator undefined for {name}"));
            }
        })
    }

    /// Members of a Struct class, looked for upwards.
    pub fn struct_members(&self, class: u32) -> Option<Vec<Sym>> {
        let mut at = Some(class);
        while let Some(id) = at {
            if let Some(list) = self.classes[id as usize].ivars.get(&n::IV_MEMBERS) {
                return Some(self.heap.arr(*list).iter().filter_map(|v| v.as_sym()).collect());
            }
            at = self.classes[id as usize].superclass;
        }
        None
    }

    pub fn include_module(&mut self, class: u32, module: u32) {
        let mro = self.mro(module);
        if (self.classes[class as usize].includes.contains(&module)
            || mro.contains(&class) && mro[0] != class)
            && self.classes[class as usize].includes.contains(&module)
        {
            return;
        }
        self.classes[class as usize].includes.push(module);
        self.hierarchy += 1;
        self.const_epoch += 1;
        self.bump();
    }

    pub fn prepend_module(&mut self, class: u32, module: u32) {
        if self.classes[class as usize].prepends.contains(&module) {
            return;
        }
        self.classes[class as usize].prepends.push(module);
        self.hierarchy += 1;
        self.const_epoch += 1;
        self.bump();
        if matches!(class, c::INTEGER | c::FLOAT | c::STRING | c::ARRAY | c::HASH) {
            self.redefined = true;
        }
    }

    pub fn as_module(&mut self, v: Value) -> Res<u32> {
        match v.as_class() {
            Some(id) => Ok(id),
            None => {
                let name = self.type_name(v);
                self.fail(c::TYPE_ERROR, format!("wrong argument type {name} (expected module)"))
            }
        }
    }
}
