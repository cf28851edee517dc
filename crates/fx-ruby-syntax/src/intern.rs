//! Names as numbers: every method, variable and symbol name is interned once per run.

use std::collections::HashMap;

/// An interned name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Sym(pub u32);

/// The table of names. Names are bytes: Ruby symbols may hold any.
#[derive(Default)]
pub struct Interner {
    names: Vec<&'static [u8]>,
    index: HashMap<&'static [u8], u32>,
}

impl Interner {
    /// An empty table.
    pub fn new() -> Interner {
        Interner::default()
    }

    /// A table whose first names stand at fixed numbers.
    pub fn with_names(names: &[&'static str]) -> Interner {
        let mut table = Interner {
            names: Vec::with_capacity(names.len() * 4),
            index: HashMap::with_capacity(names.len() * 4),
        };
        for name in names {
            table.intern_static(name.as_bytes());
        }
        table
    }

    /// The number of a name.
    pub fn intern(&mut self, name: &[u8]) -> Sym {
        if let Some(id) = self.index.get(name) {
            return Sym(*id);
        }
        self.insert(Box::leak(name.to_vec().into_boxed_slice()))
    }

    /// The number of a name that lives as long as the program.
    pub fn intern_static(&mut self, name: &'static [u8]) -> Sym {
        if let Some(id) = self.index.get(name) {
            return Sym(*id);
        }
        self.insert(name)
    }

    fn insert(&mut self, name: &'static [u8]) -> Sym {
        let id = self.names.len() as u32;
        self.names.push(name);
        self.index.insert(name, id);
        Sym(id)
    }

    /// The number of a name already known.
    pub fn get(&self, name: &[u8]) -> Option<Sym> {
        self.index.get(name).map(|id| Sym(*id))
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
