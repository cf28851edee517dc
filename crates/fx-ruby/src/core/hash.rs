//! Hash: the table operations every other part uses, and the methods.

mod methods;

use crate::names as n;
use crate::object::c;
use crate::value::{NIL, Tag, Value};
use crate::vm::{R, Res, Vm};

pub(crate) use methods::init;

impl Vm {
    fn key_hash(&mut self, h: Value, key: Value) -> Res<u64> {
        if self.heap.h(h).identity {
            let x = key.bits().wrapping_mul(0x9E37_79B9_7F4A_7C15);
            return Ok(x ^ (x >> 32));
        }
        match key.tag() {
            Tag::Sym | Tag::Int | Tag::Nil | Tag::True | Tag::False | Tag::Flonum => {
                let x = key.bits().wrapping_mul(0x9E37_79B9_7F4A_7C15);
                Ok(x ^ (x >> 32))
            }
            _ => self.hash_of(key),
        }
    }

    /// Index of a key's entry.
    pub(crate) fn find_entry(&mut self, h: Value, key: Value, hash: u64) -> Res<Option<usize>> {
        let table = self.heap.h(h);
        if table.table.is_empty() {
            let mut i = table.head;
            loop {
                let table = self.heap.h(h);
                let Some(e) = table.entries.get(i) else { return Ok(None) };
                if e.hash == hash && !e.key.is_undef() {
                    let (k, identity) = (e.key, table.identity);
                    if k == key || (!identity && self.eql(k, key)?) {
                        return Ok(Some(i));
                    }
                }
                i += 1;
            }
        }
        let mask = table.table.len() - 1;
        let mut at = (hash as usize) & mask;
        loop {
            let table = self.heap.h(h);
            if table.table.len() != mask + 1 {
                // Changed by a user's eql?; start again.
                return self.find_entry(h, key, hash);
            }
            let i = table.table[at];
            if i == u32::MAX {
                return Ok(None);
            }
            let e = table.entries[i as usize];
            if e.hash == hash
                && !e.key.is_undef()
                && (e.key == key || (!table.identity && self.eql(e.key, key)?))
            {
                return Ok(Some(i as usize));
            }
            at = (at + 1) & mask;
        }
    }

    pub fn hash_get(&mut self, h: Value, key: Value) -> Res<Option<Value>> {
        if self.heap.h(h).live == 0 {
            return Ok(None);
        }
        let hash = self.key_hash(h, key)?;
        Ok(self.find_entry(h, key, hash)?.map(|i| self.heap.h(h).entries[i].value))
    }

    pub fn hash_set(&mut self, h: Value, key: Value, value: Value) -> Res<()> {
        let hash = self.key_hash(h, key)?;
        if let Some(i) = self.find_entry(h, key, hash)? {
            self.heap.h_mut(h).entries[i].value = value;
            return Ok(());
        }
        if self.heap.h(h).iterating > 0 {
            return self.fail(c::RUNTIME_ERROR, "can't add a new key into hash during iteration");
        }
        let key = if key.is_str() && !self.heap.h(h).identity && !self.frozen(key) {
            let s = self.heap.str(key);
            let (bytes, enc) = (s.bytes.clone(), s.enc);
            let copy = self.heap.string(c::STRING, bytes, enc);
            self.heap.strings[copy.index()].frozen = true;
            copy
        } else {
            key
        };
        self.heap.bytes += 32;
        self.heap.h_mut(h).append(hash, key, value);
        Ok(())
    }

    /// Sets by a name known to the runtime.
    pub fn hash_put(&mut self, h: Value, key: &str, value: Value) -> Res<()> {
        let key = Value::sym(self.intern(key));
        self.hash_set(h, key, value)
    }

    pub fn hash_delete(&mut self, h: Value, key: Value) -> Res<Option<Value>> {
        if self.heap.h(h).live == 0 {
            return Ok(None);
        }
        let hash = self.key_hash(h, key)?;
        Ok(self.find_entry(h, key, hash)?.map(|i| self.heap.h_mut(h).remove(i)))
    }

    /// A copy with plain class Hash, without default.
    pub fn hash_dup(&mut self, h: Value) -> Value {
        let mut copy = self.heap.h(h).clone();
        copy.class = c::HASH;
        copy.frozen = false;
        copy.iterating = 0;
        copy.default = NIL;
        copy.default_proc = NIL;
        let new = self.hash();
        *self.heap.h_mut(new) = copy;
        self.heap.bytes += self.heap.h(new).entries.len() * 32;
        new
    }

    /// `hash[key]` with default and default proc.
    pub fn hash_aref(&mut self, h: Value, key: Value) -> R {
        if let Some(v) = self.hash_get(h, key)? {
            return Ok(v);
        }
        let table = self.heap.h(h);
        if table.class != c::HASH && !self.is_native(h, n::DEFAULT) {
            return self.send(h, n::DEFAULT, &[key]);
        }
        let table = self.heap.h(h);
        let (p, default) = (table.default_proc, table.default);
        if !p.is_nil() {
            return self.call_proc(p, &[h, key], NIL, false);
        }
        Ok(default)
    }

    pub fn hash_pairs(&self, h: Value) -> Vec<(Value, Value)> {
        self.heap.h(h).pairs().collect()
    }

    /// Calls a function for each pair, with the hash marked as being walked.
    pub fn hash_each(
        &mut self,
        h: Value,
        mut f: impl FnMut(&mut Vm, Value, Value) -> Res<bool>,
    ) -> Res<()> {
        self.heap.h_mut(h).iterating += 1;
        let mut i = self.heap.h(h).head;
        let result = loop {
            let table = self.heap.h(h);
            if i >= table.entries.len() {
                break Ok(());
            }
            let e = table.entries[i];
            i += 1;
            if e.key.is_undef() {
                continue;
            }
            match f(self, e.key, e.value) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(u) => break Err(u),
            }
        };
        self.heap.h_mut(h).iterating -= 1;
        result
    }
}
