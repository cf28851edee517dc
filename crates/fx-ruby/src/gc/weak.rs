//! Tables whose entries end with the objects they are about: `ObjectSpace::WeakMap` and the
//! finalizers of `ObjectSpace.define_finalizer`.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::mark::{Marker, Marks};
use crate::names as n;
use crate::value::{NIL, Value};
use crate::vm::Vm;

type Pairs = IndexMap<Value, Value, FxBuildHasher>;

#[derive(Default)]
pub(crate) struct WeakTable {
    /// What is called with the number of an object after the object has ended.
    finalizers: IndexMap<Value, (u64, Vec<Value>), FxBuildHasher>,
    /// Finalizers of objects that have ended, to be called.
    due: Vec<(u64, Value)>,
    /// Pairs of each weak map, by the map.
    maps: IndexMap<Value, Pairs, FxBuildHasher>,
}

impl WeakTable {
    pub(super) fn roots(&self, m: &mut Marker<'_>) {
        for (_, list) in self.finalizers.values() {
            m.values(list);
        }
        for (_, call) in &self.due {
            m.value(*call);
        }
    }

    pub(super) fn sweep(&mut self, marks: &Marks) {
        self.maps.retain(|map, _| marks.has(*map));
        for pairs in self.maps.values_mut() {
            pairs.retain(|key, value| marks.has(*key) && marks.has(*value));
        }
        let due = &mut self.due;
        self.finalizers.retain(|object, (id, list)| {
            let lives = marks.has(*object);
            if !lives {
                due.extend(list.iter().map(|call| (*id, *call)));
            }
            lives
        });
    }
}

impl Vm {
    /// `object_id`: a number that no other object ever has.
    pub(crate) fn identity(&mut self, v: Value) -> u64 {
        if !v.is_heap() {
            return self.object_id(v);
        }
        let next = &mut self.gc.last_id;
        *self.object_ids.entry(v).or_insert_with(|| {
            *next += 8;
            *next
        })
    }

    /// The pairs of a weak map.
    pub(crate) fn weak_pairs(&mut self, map: Value) -> &mut Pairs {
        self.gc.weak.maps.entry(map).or_default()
    }

    pub(crate) fn define_finalizer(&mut self, object: Value, call: Value) {
        let id = self.identity(object);
        self.gc.weak.finalizers.entry(object).or_insert_with(|| (id, Vec::new())).1.push(call);
    }

    pub(crate) fn undefine_finalizer(&mut self, object: Value) {
        self.gc.weak.finalizers.shift_remove(&object);
    }

    /// Calls the finalizers of objects that have ended; what they raise is dropped.
    pub(super) fn run_finalizers(&mut self) {
        while let Some((id, call)) = self.gc.weak.due.pop() {
            self.finalize(id, call);
        }
    }

    /// Calls all finalizers there are, at the end of the program.
    pub(crate) fn finalize_all(&mut self) {
        for (id, list) in std::mem::take(&mut self.gc.weak.finalizers).into_values() {
            for call in list {
                self.finalize(id, call);
            }
        }
    }

    fn finalize(&mut self, id: u64, call: Value) {
        let saved = self.errinfo;
        let args = [Value::fix(id as i64)];
        // What it raises is lost; that the run has ended is found at the next safepoint.
        let done = self.forgetting(|vm| vm.send_block(call, n::CALL, &args, NIL));
        if !matches!(done, Ok(Some(_))) {
            self.errinfo = saved;
        }
    }
}
