//! Names as numbers: every method, variable and symbol name is interned once per run.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::trees::trees;

/// An interned name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Sym(pub u32);

/// The table of names. Names are bytes: Ruby symbols may hold any.
#[derive(Default)]
pub struct Interner {
    names: IndexSet<&'static [u8], FxBuildHasher>,
}

impl Interner {
    /// An empty table.
    pub fn new() -> Interner {
        Interner::default()
    }

    /// A table whose first names stand at fixed numbers.
    pub fn with_names(names: &[&'static str]) -> Interner {
        let mut table =
            Interner { names: IndexSet::with_capacity_and_hasher(names.len() * 8, FxBuildHasher) };
        for name in names {
            table.intern_static(name.as_bytes());
        }
        table
    }

    /// The number of a name.
    pub fn intern(&mut self, name: &[u8]) -> Sym {
        match self.get(name) {
            Some(sym) => sym,
            None => self.intern_static(trees().alloc_slice_copy(name)),
        }
    }

    /// The number of a name that lives as long as the program.
    pub fn intern_static(&mut self, name: &'static [u8]) -> Sym {
        Sym(self.names.insert_full(name).0 as u32)
    }

    /// The number of a name already known.
    pub fn get(&self, name: &[u8]) -> Option<Sym> {
        self.names.get_index_of(name).map(|id| Sym(id as u32))
    }

    /// The bytes of a name.
    pub fn bytes(&self, sym: Sym) -> &'static [u8] {
        self.names[sym.0 as usize]
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no name yet.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
