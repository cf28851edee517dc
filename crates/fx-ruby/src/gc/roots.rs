//! Where marking starts: everything in the machine that holds values.

use super::mark::{Marker, Marks};
use crate::object::ClassKind;
use crate::vm::Vm;

impl Vm {
    /// Marks all that can still be used.
    pub(crate) fn mark(&self) -> Marks {
        let mut m = Marker::new(&self.heap, &self.classes, &self.methods);
        m.env(0);
        m.values(&self.stack);
        for frame in &self.frames {
            m.frame(frame);
        }
        self.fibers.trace(&mut m);
        m.value(self.pending.get().value());
        m.values(self.globals.values());
        m.values(&[self.last_match, self.last_line, self.errinfo, self.main]);
        m.values(&self.at_exit);
        m.values(&self.inspecting);
        for (a, b) in &self.comparing {
            m.value(*a);
            m.value(*b);
        }
        for (_, tag) in &self.catching {
            m.value(*tag);
        }
        m.values(&self.gc.literals);
        m.values(&self.gc.pins);
        self.gc.weak.roots(&mut m);
        if let Some(object) = &self.resident {
            object.trace(&mut |v| m.value(v));
        }
        m.cref(self.top_cref);
        m.cref(self.file_cref);
        // A class is never freed; the singleton class of an object ends with the object.
        for (id, class) in self.classes.iter().enumerate() {
            match class.kind {
                ClassKind::Singleton(of) if !of.is_class() => {}
                _ => m.class(id as u32),
            }
        }
        for id in [self.nil_class, self.true_class, self.false_class] {
            m.class(id);
        }
        m.finish()
    }
}
