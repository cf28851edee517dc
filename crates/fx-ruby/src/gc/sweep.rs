//! Sweeping: empties what was not marked, in the arenas and in the tables that hold weakly, and
//! counts what is left.

use super::mark::Marks;
use crate::object::{CLASS_BYTES, ClassKind, RClass};
use crate::value::{
    K_ARR, K_BIG, K_CLASS, K_FLOAT, K_HASH, K_OBJ, K_PROC, K_RANGE, K_REGEX, K_STR, NIL, Value,
};
use crate::vm::Vm;

/// Bytes that a compiled pattern takes, roughly.
const PATTERN: usize = 2000;
/// Compiled patterns that are kept although no regular expression uses them.
const SPARE_PATTERNS: usize = 500;

impl Vm {
    /// Frees everything that nothing refers to.
    pub(crate) fn collect(&mut self) {
        let marks = self.mark();
        let before = self.objects_in_use();
        self.gc.weak.sweep(&marks);
        self.heap.side_ivars.retain(|key, _| marks.has(*key));
        self.object_ids.retain(|key, _| marks.has(*key));
        self.fstrings.retain(|_, v| marks.has(*v));
        self.subject = self.subject.filter(|(of, copy)| marks.has(*of) && marks.has(*copy));
        self.searched = self.searched.take().filter(|(of, _)| marks.has(*of));
        self.sweep_singletons(&marks);
        let poison = self.heap.poison;
        let heap = &mut self.heap;
        let mut live = heap.strings.sweep(&marks.strings, poison);
        live += heap.arrays.sweep(&marks.arrays, poison);
        live += heap.hashes.sweep(&marks.hashes, poison);
        live += heap.objects.sweep(&marks.objects, poison);
        live += heap.procs.sweep(&marks.procs, poison);
        live += heap.envs.sweep(&marks.envs, poison);
        live += heap.ranges.sweep(&marks.ranges, poison);
        live += heap.floats.sweep(&marks.floats, poison);
        live += heap.bigs.sweep(&marks.bigs, poison);
        live += heap.regexes.sweep(&marks.regexes, poison);
        if self.regex_cache.len() > SPARE_PATTERNS {
            self.regex_cache.retain(|_, program| std::rc::Rc::strong_count(program) > 1);
        }
        let spare: usize = self.spare_singletons.values().map(Vec::len).sum();
        live += (self.classes.len() - spare) * CLASS_BYTES + self.regex_cache.len() * PATTERN;
        let objects = live;
        live += self.io.streams.iter().map(|stream| stream.data.capacity()).sum::<usize>();
        self.heap.bytes = live;
        self.gc.live = live;
        self.gc.count += 1;
        self.gc.freed += before.saturating_sub(self.objects_in_use()) as u64;
        if self.gc.stress == 0 {
            self.heap.rest(objects);
        }
    }

    /// Everything that is in use, found by marking.
    pub(crate) fn live_values(&self) -> Vec<Value> {
        let marks = self.mark();
        let h = &self.heap;
        let arenas = [
            (K_STR, h.strings.len(), &marks.strings),
            (K_ARR, h.arrays.len(), &marks.arrays),
            (K_HASH, h.hashes.len(), &marks.hashes),
            (K_OBJ, h.objects.len(), &marks.objects),
            (K_PROC, h.procs.len(), &marks.procs),
            (K_RANGE, h.ranges.len(), &marks.ranges),
            (K_FLOAT, h.floats.len(), &marks.floats),
            (K_BIG, h.bigs.len(), &marks.bigs),
            (K_REGEX, h.regexes.len(), &marks.regexes),
            (K_CLASS, self.classes.len(), &marks.classes),
        ];
        let mut found = Vec::new();
        for (kind, slots, used) in arenas {
            found.extend((0..slots).filter(|at| used.has(*at)).map(|at| Value::heap(kind, at)));
        }
        found
    }

    /// Objects in all arenas.
    pub(crate) fn objects_in_use(&self) -> usize {
        let h = &self.heap;
        h.strings.in_use()
            + h.arrays.in_use()
            + h.hashes.in_use()
            + h.objects.in_use()
            + h.procs.in_use()
            + h.envs.in_use()
            + h.ranges.in_use()
            + h.floats.in_use()
            + h.bigs.in_use()
            + h.regexes.in_use()
    }

    /// The singleton class of a freed object holds nothing more, and its number is free for another
    /// one: what caches in the code know of it ends with the epoch.
    fn sweep_singletons(&mut self, marks: &Marks) {
        let mut freed = false;
        for (id, class) in self.classes.iter_mut().enumerate() {
            if let ClassKind::Singleton(of) = class.kind
                && !of.is_class()
                && !of.is_nil()
                && !marks.classes.has(id)
            {
                let (shape, id) = (class.shape_of, id as u32);
                *class = RClass::new(ClassKind::Singleton(NIL), class.superclass, id);
                // While the collector is tested no number is used again.
                if !self.heap.poison {
                    self.spare_singletons.entry(shape).or_default().push(id);
                }
                freed = true;
            }
        }
        if freed {
            self.const_epoch += 1;
            self.bump();
        }
    }
}
