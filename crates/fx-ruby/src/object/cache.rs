//! Methods that were found, and by which names: a definition makes what is known untrue only where
//! somebody has asked for its name.

use fx_ruby_syntax::Sym;
use rustc_hash::FxHashMap;

use crate::heap::Bits;
use crate::names as n;

/// Look-ups that are remembered: names that a program makes up are not kept for ever.
const MOST: usize = 1 << 16;

/// Methods by class and name; nothing for a name that a class has not.
#[derive(Default)]
pub struct MethodCache {
    found: FxHashMap<(u32, Sym), Option<u32>>,
    /// Names that were looked for since all was forgotten, here or for a cache of a call site.
    asked: Bits,
    /// Classes with a method of somebody that is called when a method comes or goes.
    pub(crate) hooked: Vec<u32>,
}

impl MethodCache {
    #[inline]
    pub(crate) fn get(&self, class: u32, name: Sym) -> Option<&Option<u32>> {
        self.found.get(&(class, name))
    }

    pub(crate) fn insert(&mut self, class: u32, name: Sym, found: Option<u32>) {
        self.asked(name);
        if self.found.len() >= MOST {
            self.found.clear();
        }
        self.found.insert((class, name), found);
    }

    /// Notes a name that something is kept for elsewhere.
    #[inline]
    pub(crate) fn asked(&mut self, name: Sym) {
        self.asked.add(name.0 as usize);
    }

    /// Whether a method of this name changes what is known.
    pub(crate) fn knows(&self, name: Sym) -> bool {
        self.asked.has(name.0 as usize)
    }

    pub(crate) fn forget(&mut self) {
        self.found.clear();
        self.asked.clear();
    }

    /// Notes a definition.
    pub(crate) fn defined(&mut self, class: u32, name: Sym) {
        let hook = matches!(
            name,
            n::METHOD_ADDED
                | n::SINGLETON_METHOD_ADDED
                | n::METHOD_REMOVED
                | n::SINGLETON_METHOD_REMOVED
                | n::METHOD_UNDEFINED
                | n::SINGLETON_METHOD_UNDEFINED
        );
        if hook && !self.hooked.contains(&class) {
            self.hooked.push(class);
        }
    }
}
