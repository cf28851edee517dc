//! Marking: follows references from the roots with a list of work, not by recursion.

use crate::heap::{BindFrame, Bits, Ext, Heap, ProcBody};
use crate::object::{Body, ClassKind, Cref, Method, RClass};
use crate::value::{Tag, Value};

/// What was reached, one set for each arena.
#[derive(Default)]
pub(crate) struct Marks {
    pub(crate) strings: Bits,
    pub(crate) arrays: Bits,
    pub(crate) hashes: Bits,
    pub(crate) objects: Bits,
    pub(crate) procs: Bits,
    pub(crate) envs: Bits,
    pub(crate) ranges: Bits,
    pub(crate) floats: Bits,
    pub(crate) bigs: Bits,
    pub(crate) regexes: Bits,
    pub(crate) classes: Bits,
    pub(crate) methods: Bits,
}

impl Marks {
    /// Whether a value outlives this collection.
    pub(crate) fn has(&self, v: Value) -> bool {
        let set = match v.tag() {
            Tag::Str => &self.strings,
            Tag::Arr => &self.arrays,
            Tag::Hash => &self.hashes,
            Tag::Obj => &self.objects,
            Tag::Proc => &self.procs,
            Tag::Range => &self.ranges,
            Tag::Float => &self.floats,
            Tag::Big => &self.bigs,
            Tag::Regex => &self.regexes,
            Tag::Class => &self.classes,
            _ => return true,
        };
        set.has(v.index())
    }
}

pub(crate) struct Marker<'a> {
    heap: &'a Heap,
    classes: &'a [RClass],
    methods: &'a [Method],
    marks: Marks,
    values: Vec<Value>,
    envs: Vec<u32>,
}

impl<'a> Marker<'a> {
    pub(crate) fn new(heap: &'a Heap, classes: &'a [RClass], methods: &'a [Method]) -> Marker<'a> {
        let marks = Marks {
            strings: Bits::for_slots(heap.strings.len()),
            arrays: Bits::for_slots(heap.arrays.len()),
            hashes: Bits::for_slots(heap.hashes.len()),
            objects: Bits::for_slots(heap.objects.len()),
            procs: Bits::for_slots(heap.procs.len()),
            envs: Bits::for_slots(heap.envs.len()),
            ranges: Bits::for_slots(heap.ranges.len()),
            floats: Bits::for_slots(heap.floats.len()),
            bigs: Bits::for_slots(heap.bigs.len()),
            regexes: Bits::for_slots(heap.regexes.len()),
            classes: Bits::for_slots(classes.len()),
            methods: Bits::for_slots(methods.len()),
        };
        Marker { heap, classes, methods, marks, values: Vec::new(), envs: Vec::new() }
    }

    /// Notes that a value is used; what it refers to is looked at later.
    #[inline]
    pub(crate) fn value(&mut self, v: Value) {
        if v.is_heap() {
            self.handle(v);
        }
    }

    fn handle(&mut self, v: Value) {
        let at = v.index();
        let new = match v.tag() {
            // A string refers to its class, and to others only as some value of any kind may.
            Tag::Str => {
                let new = self.marks.strings.add(at);
                if new {
                    self.class(self.heap.strings[at].class);
                }
                new && !self.heap.side_ivars.is_empty()
            }
            Tag::Arr => self.marks.arrays.add(at),
            Tag::Hash => self.marks.hashes.add(at),
            Tag::Obj => self.marks.objects.add(at),
            Tag::Proc => self.marks.procs.add(at),
            Tag::Range => self.marks.ranges.add(at),
            Tag::Regex => self.marks.regexes.add(at),
            Tag::Class => self.marks.classes.add(at),
            Tag::Float => {
                self.marks.floats.add(at);
                false
            }
            Tag::Big => {
                self.marks.bigs.add(at);
                false
            }
            _ => false,
        };
        if new {
            self.values.push(v);
        }
    }

    pub(crate) fn values<'v>(&mut self, list: impl IntoIterator<Item = &'v Value>) {
        for v in list {
            self.value(*v);
        }
    }

    pub(crate) fn env(&mut self, env: u32) {
        if self.marks.envs.add(env as usize) {
            self.envs.push(env);
        }
    }

    #[inline]
    pub(crate) fn class(&mut self, class: u32) {
        if self.marks.classes.add(class as usize) {
            self.values.push(Value::class(class));
        }
    }

    pub(crate) fn cref(&mut self, cref: &'static Cref) {
        let mut at = Some(cref);
        while let Some(cref) = at {
            self.class(cref.class);
            at = cref.up;
        }
    }

    /// A method by its number; the number of none is beyond the table.
    pub(crate) fn method(&mut self, id: u32) {
        let Some(method) = self.methods.get(id as usize) else { return };
        if !self.marks.methods.add(id as usize) {
            return;
        }
        self.class(method.owner);
        match method.body {
            Body::Proc(p) => self.value(p),
            Body::Ruby(_, cref) | Body::Stored(_, cref) => self.cref(cref),
            _ => {}
        }
    }

    pub(crate) fn bind(&mut self, frame: &BindFrame) {
        self.value(frame.block);
        self.method(frame.method);
        self.class(frame.owner);
        self.cref(frame.cref);
    }

    pub(crate) fn frame(&mut self, frame: &crate::vm::Frame) {
        self.values(&[frame.self_val, frame.block, frame.saved_match]);
        self.env(frame.env);
        self.method(frame.method);
        self.class(frame.owner);
        self.cref(frame.cref);
    }

    /// Follows all references from what was noted.
    pub(crate) fn finish(mut self) -> Marks {
        loop {
            if let Some(v) = self.values.pop() {
                self.trace(v);
            } else if let Some(env) = self.envs.pop() {
                let env = &self.heap.envs[env as usize];
                self.values(&env.vars);
                self.env(env.up);
            } else {
                return self.marks;
            }
        }
    }

    fn trace(&mut self, v: Value) {
        let (heap, at) = (self.heap, v.index());
        if !v.is_obj()
            && !heap.side_ivars.is_empty()
            && let Some(list) = heap.side_ivars.get(&v)
        {
            for (_, value) in list {
                self.value(*value);
            }
        }
        match v.tag() {
            Tag::Arr => {
                let array = &heap.arrays[at];
                self.class(array.class);
                self.values(&array.v);
            }
            Tag::Hash => {
                let hash = &heap.hashes[at];
                self.class(hash.class);
                self.value(hash.default);
                self.value(hash.default_proc);
                for (key, value) in hash.pairs() {
                    self.value(key);
                    self.value(value);
                }
            }
            Tag::Obj => {
                let object = &heap.objects[at];
                self.class(object.class);
                self.values(&object.ivars);
                self.ext(&object.ext);
            }
            Tag::Proc => {
                let p = &heap.procs[at];
                self.class(p.class);
                self.value(p.self_val);
                self.env(p.env);
                self.bind(&p.frame);
                match &p.body {
                    ProcBody::Method(method) => self.value(*method),
                    ProcBody::Native(_, _, kept) => self.values(kept.iter()),
                    ProcBody::Code(_) | ProcBody::Sym(_) => {}
                }
            }
            Tag::Range => {
                let range = &heap.ranges[at];
                self.class(range.class);
                self.value(range.lo);
                self.value(range.hi);
            }
            Tag::Regex => self.class(heap.regexes[at].class),
            Tag::Class => self.trace_class(at),
            _ => {}
        }
    }

    fn ext(&mut self, ext: &Ext) {
        match ext {
            Ext::None | Ext::Time(_) | Ext::Io(_) => {}
            Ext::Exception(data) => {
                self.values(data.message.iter().chain(&data.backtrace).chain(&data.cause));
            }
            Ext::Method(data) => {
                self.value(data.recv);
                self.method(data.id);
                self.class(data.owner);
                self.class(data.class);
            }
            Ext::Match(data) => {
                self.value(data.regex);
                self.value(data.string);
            }
            Ext::Binding(data) => {
                self.value(data.self_val);
                self.env(data.env);
                self.bind(&data.frame);
            }
            Ext::Enumerator(data) => {
                let outside = &data.outside;
                self.values(&[data.recv, data.size, outside.fiber]);
                self.values(&data.args);
                self.values(outside.ahead.iter().chain(&outside.ended).chain(&outside.feed));
            }
            Ext::Fiber(data) => data.trace(self),
            Ext::Fields(fields) => self.values(fields),
            Ext::Host(object) => object.trace(&mut |v| self.value(v)),
        }
    }

    fn trace_class(&mut self, id: usize) {
        let classes = self.classes;
        let class = &classes[id];
        if let ClassKind::Singleton(of) = class.kind {
            self.value(of);
        }
        self.class(class.class_class);
        self.class(class.shape_of);
        for other in class.superclass.iter().chain(&class.meta) {
            self.class(*other);
        }
        for module in class.includes.iter().chain(&class.prepends) {
            self.class(*module);
        }
        self.values(class.ivars.values().chain(class.cvars.values()));
        for known in class.consts.values() {
            self.value(known.value);
        }
        #[expect(clippy::iter_over_hash_type, reason = "what is marked does not depend on order")]
        for method in class.methods.values() {
            self.method(*method);
        }
    }
}
