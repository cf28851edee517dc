//! Tables of native methods: a class lists its methods as data, one row each.

use crate::vm::{NativeFn, Vm};

/// Where a method is found.
#[derive(Clone, Copy)]
enum Place {
    Public,
    Private,
    OnClass,
    Function,
}

/// A row: a method under one or more names.
#[derive(Clone, Copy)]
pub(crate) struct Native {
    name: &'static str,
    aliases: &'static [&'static str],
    call: NativeFn,
    /// Least and most arguments; -1 for no limit.
    least: i16,
    most: i16,
    place: Place,
}

impl Native {
    const fn new(
        place: Place,
        name: &'static str,
        least: i16,
        most: i16,
        call: NativeFn,
    ) -> Native {
        Native { name, aliases: &[], call, least, most, place }
    }

    /// The same method under these names too.
    pub(crate) const fn also(self, aliases: &'static [&'static str]) -> Native {
        Native { aliases, ..self }
    }
}

pub(crate) const fn public(name: &'static str, least: i16, most: i16, call: NativeFn) -> Native {
    Native::new(Place::Public, name, least, most, call)
}

pub(crate) const fn private(name: &'static str, least: i16, most: i16, call: NativeFn) -> Native {
    Native::new(Place::Private, name, least, most, call)
}

/// A method of the class itself.
pub(crate) const fn on_class(name: &'static str, least: i16, most: i16, call: NativeFn) -> Native {
    Native::new(Place::OnClass, name, least, most, call)
}

/// Public on the module itself and private in those that include it.
pub(crate) const fn function(name: &'static str, least: i16, most: i16, call: NativeFn) -> Native {
    Native::new(Place::Function, name, least, most, call)
}

impl Vm {
    /// Gives a class the methods of a table, in its order.
    pub(crate) fn natives(&mut self, class: u32, table: &'static [Native]) {
        let own = table.iter().filter(|row| !matches!(row.place, Place::OnClass));
        let count = own.map(|row| 1 + row.aliases.len()).sum();
        let known = &mut self.classes[class as usize];
        known.methods.reserve(count);
        known.order.reserve(count);
        for row in table {
            for name in std::iter::once(&row.name).chain(row.aliases) {
                match row.place {
                    Place::Public => self.def(class, name, row.call, row.least, row.most),
                    Place::Private => self.def_private(class, name, row.call, row.least, row.most),
                    Place::OnClass => self.def_single(class, name, row.call, row.least, row.most),
                    Place::Function => {
                        self.def_module_function(class, name, row.call, row.least, row.most);
                    }
                }
            }
        }
    }
}
