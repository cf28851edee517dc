//! What each kind of object looks like in a slot that nothing uses, and what it weighs.

use std::borrow::Cow;
use std::cell::Cell;
use std::mem::size_of;
use std::rc::Rc;

use fx_ruby_syntax::Sym;

use super::{
    BindFrame, Entry, Ext, ProcBody, RArray, RBig, REnv, RHash, RObject, RProc, RRange, RRegex,
    RString, Slot,
};
use crate::bignum::Big;
use crate::object::Cref;
use crate::value::{NIL, Value};

/// The scope of a proc that is none.
static NOWHERE: Cref = Cref { class: 0, up: None, eval: true };

impl Slot for RString {
    fn empty() -> RString {
        let (range, known) = (Cell::new(0), Cell::new(0));
        RString { class: 0, frozen: true, enc: 0, range, known, bytes: Cow::Borrowed(b"") }
    }
    fn bytes(&self) -> usize {
        let owned = match &self.bytes {
            Cow::Owned(bytes) => bytes.capacity(),
            Cow::Borrowed(_) => 0,
        };
        size_of::<RString>() + owned
    }
}

impl Slot for RArray {
    fn empty() -> RArray {
        RArray { class: 0, frozen: true, v: Vec::new() }
    }
    fn bytes(&self) -> usize {
        size_of::<RArray>() + self.v.capacity() * size_of::<Value>()
    }
}

impl Slot for RHash {
    fn empty() -> RHash {
        RHash {
            class: 0,
            frozen: true,
            identity: false,
            ruby2: false,
            iterating: 0,
            entries: Vec::new(),
            table: Vec::new(),
            live: 0,
            head: 0,
            default: NIL,
            default_proc: NIL,
        }
    }
    fn bytes(&self) -> usize {
        size_of::<RHash>()
            + self.entries.capacity() * size_of::<Entry>()
            + self.table.capacity() * 4
    }
}

impl Slot for RObject {
    fn empty() -> RObject {
        RObject { class: 0, frozen: true, ivars: Vec::new(), ext: Ext::None }
    }
    fn bytes(&self) -> usize {
        let beside = match &self.ext {
            Ext::None => 0,
            Ext::Fields(fields) => fields.capacity() * size_of::<Value>(),
            Ext::Exception(data) => 100 + data.frames.capacity() * 12,
            Ext::Match(data) => 56 + data.groups.capacity() * 24,
            Ext::Enumerator(data) => 160 + data.args.capacity() * 8,
            _ => 100,
        };
        size_of::<RObject>() + self.ivars.capacity() * size_of::<Value>() + beside
    }
}

impl Slot for RProc {
    fn empty() -> RProc {
        RProc {
            class: 0,
            frozen: true,
            body: ProcBody::Sym(Sym(0)),
            self_val: NIL,
            env: 0,
            frame: BindFrame {
                method: crate::vm::NO_METHOD,
                owner: 0,
                block: NIL,
                cref: &NOWHERE,
                home: 0,
                file: 0,
                pos: 0,
                name: Sym(0),
            },
            tag: 0,
            lambda: false,
            escaped: false,
            from_method: false,
            ruby2: false,
        }
    }
    fn bytes(&self) -> usize {
        size_of::<RProc>()
    }
}

impl Slot for REnv {
    fn empty() -> REnv {
        REnv { vars: Vec::new(), up: 0, names: &[], escaped: false }
    }
    fn bytes(&self) -> usize {
        size_of::<REnv>() + self.vars.capacity() * size_of::<Value>()
    }
}

impl Slot for RRange {
    fn empty() -> RRange {
        RRange { class: 0, lo: NIL, hi: NIL, excl: false, frozen: true, ready: false }
    }
    fn bytes(&self) -> usize {
        size_of::<RRange>()
    }
}

impl Slot for RRegex {
    fn empty() -> RRegex {
        RRegex { class: 0, frozen: true, source: Rc::from([]), flags: 0, enc: 0, prog: None }
    }
    fn bytes(&self) -> usize {
        size_of::<RRegex>() + self.source.len()
    }
}

impl Slot for RBig {
    fn empty() -> RBig {
        RBig { big: Big::new(false, Vec::new()) }
    }
    fn bytes(&self) -> usize {
        size_of::<RBig>() + self.big.digits.capacity() * 4
    }
}

impl Slot for f64 {
    fn empty() -> f64 {
        f64::NAN
    }
    fn bytes(&self) -> usize {
        8
    }
}
