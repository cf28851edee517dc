//! Names as numbers: every method, variable and symbol name is interned once per run.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// An interned name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Sym(pub u32);

/// A name: one that ships, or one that ends with its table.
enum Name {
    Static(&'static [u8]),
    Own(Box<[u8]>),
}

impl Name {
    fn bytes(&self) -> &[u8] {
        match self {
            Name::Static(bytes) => bytes,
            Name::Own(bytes) => bytes,
        }
    }
}

impl Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        self.bytes()
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Name {}

/// The table of names. Names are bytes: Ruby symbols may hold any.
#[derive(Default)]
pub struct Interner {
    names: IndexSet<Name, FxBuildHasher>,
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
            None => Sym(self.names.insert_full(Name::Own(name.into())).0 as u32),
        }
    }

    /// The number of a name that lives as long as the program.
    pub fn intern_static(&mut self, name: &'static [u8]) -> Sym {
        Sym(self.names.insert_full(Name::Static(name)).0 as u32)
    }

    /// The number of a name already known.
    pub fn get(&self, name: &[u8]) -> Option<Sym> {
        self.names.get_index_of(name).map(|id| Sym(id as u32))
    }

    /// The bytes of a name.
    pub fn bytes(&self, sym: Sym) -> &[u8] {
        self.names[sym.0 as usize].bytes()
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
