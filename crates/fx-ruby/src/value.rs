//! A Ruby value as one machine word: small integers, most floats, symbols and handles.
//!
//! Low bit 1 is a 63-bit integer, low bits 10 a float kept inline, else the low byte is
//! the kind and the upper bits an index into the arena of that kind. A wrong index is a
//! wrong object or a panic, never undefined behaviour.

use std::num::NonZeroU64;

use fx_ruby_syntax::Sym;

/// One word. `Copy`, compared by identity.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value(NonZeroU64);

/// What a value is, decided by its low bits alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tag {
    Int,
    Flonum,
    Nil,
    False,
    True,
    Undef,
    Sym,
    Str,
    Arr,
    Hash,
    Obj,
    Class,
    Proc,
    Range,
    Float,
    Big,
    Regex,
}

const K_NIL: u64 = 0x04;
const K_FALSE: u64 = 0x0C;
const K_TRUE: u64 = 0x14;
const K_UNDEF: u64 = 0x1C;
const K_SYM: u64 = 0x24;
pub(crate) const K_STR: u64 = 0x30;
pub(crate) const K_ARR: u64 = 0x34;
pub(crate) const K_HASH: u64 = 0x38;
pub(crate) const K_OBJ: u64 = 0x3C;
pub(crate) const K_CLASS: u64 = 0x40;
pub(crate) const K_PROC: u64 = 0x44;
pub(crate) const K_RANGE: u64 = 0x48;
pub(crate) const K_FLOAT: u64 = 0x4C;
pub(crate) const K_BIG: u64 = 0x50;
pub(crate) const K_REGEX: u64 = 0x54;

const fn word(bits: u64) -> Value {
    match NonZeroU64::new(bits) {
        Some(bits) => Value(bits),
        None => NIL,
    }
}

impl Default for Value {
    fn default() -> Value {
        NIL
    }
}

pub const NIL: Value = match NonZeroU64::new(K_NIL) {
    Some(bits) => Value(bits),
    None => panic!("nil has bits"),
};
pub const FALSE: Value = word(K_FALSE);
pub const TRUE: Value = word(K_TRUE);
/// Marks an absent argument or a free slot; no program ever sees it.
pub const UNDEF: Value = word(K_UNDEF);

/// Largest and smallest integer that fits the word.
pub const FIX_MAX: i64 = (1 << 62) - 1;
pub const FIX_MIN: i64 = -(1 << 62);

impl Value {
    #[inline(always)]
    pub fn bits(self) -> u64 {
        self.0.get()
    }

    #[inline]
    pub fn from_bits(bits: u64) -> Option<Value> {
        NonZeroU64::new(bits).map(Value)
    }

    #[inline(always)]
    pub fn fix(i: i64) -> Value {
        word(((i as u64) << 1) | 1)
    }

    #[inline(always)]
    pub fn is_fix(self) -> bool {
        self.bits() & 1 == 1
    }

    #[inline(always)]
    pub fn as_fix(self) -> i64 {
        (self.bits() as i64) >> 1
    }

    #[inline(always)]
    pub fn fixnum(self) -> Option<i64> {
        if self.is_fix() { Some(self.as_fix()) } else { None }
    }

    #[inline(always)]
    pub fn bool(b: bool) -> Value {
        if b { TRUE } else { FALSE }
    }

    #[inline(always)]
    pub fn truthy(self) -> bool {
        self.bits() & !0x08 != K_NIL
    }

    #[inline(always)]
    pub fn is_nil(self) -> bool {
        self.bits() == K_NIL
    }

    #[inline(always)]
    pub fn is_undef(self) -> bool {
        self.bits() == K_UNDEF
    }

    #[inline(always)]
    pub fn sym(sym: Sym) -> Value {
        word((u64::from(sym.0) << 8) | K_SYM)
    }

    #[inline(always)]
    pub fn as_sym(self) -> Option<Sym> {
        if self.bits() & 0xFF == K_SYM { Some(Sym((self.bits() >> 8) as u32)) } else { None }
    }

    #[inline(always)]
    pub(crate) fn heap(kind: u64, index: usize) -> Value {
        word(((index as u64) << 8) | kind)
    }

    /// Whether it is a handle of something in an arena, or of a class.
    #[inline(always)]
    pub(crate) fn is_heap(self) -> bool {
        self.bits() & 3 == 0 && self.kind() >= K_STR
    }

    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        (self.bits() >> 8) as usize
    }

    #[inline(always)]
    pub(crate) fn kind(self) -> u64 {
        self.bits() & 0xFF
    }

    /// CRuby's rotation: floats with a common exponent keep all bits inline.
    #[inline(always)]
    pub(crate) fn flonum(f: f64) -> Option<Value> {
        let bits = f.to_bits();
        let top = (bits >> 60) & 7;
        if bits != 0x3000_0000_0000_0000 && (top == 3 || top == 4) {
            return Some(word((bits.rotate_left(3) & !3) | 2));
        }
        if bits == 0 {
            return Some(word(0x8000_0000_0000_0002));
        }
        None
    }

    #[inline(always)]
    pub(crate) fn is_flonum(self) -> bool {
        self.bits() & 3 == 2
    }

    #[inline(always)]
    pub(crate) fn as_flonum(self) -> f64 {
        let bits = self.bits();
        if bits == 0x8000_0000_0000_0002 {
            return 0.0;
        }
        let b63 = bits >> 63;
        let restored = (2 - b63) | (bits & !3);
        f64::from_bits(restored.rotate_right(3))
    }

    #[inline]
    pub fn tag(self) -> Tag {
        if self.is_fix() {
            return Tag::Int;
        }
        if self.is_flonum() {
            return Tag::Flonum;
        }
        match self.kind() {
            K_NIL => Tag::Nil,
            K_FALSE => Tag::False,
            K_TRUE => Tag::True,
            K_SYM => Tag::Sym,
            K_STR => Tag::Str,
            K_ARR => Tag::Arr,
            K_HASH => Tag::Hash,
            K_OBJ => Tag::Obj,
            K_CLASS => Tag::Class,
            K_PROC => Tag::Proc,
            K_RANGE => Tag::Range,
            K_FLOAT => Tag::Float,
            K_BIG => Tag::Big,
            K_REGEX => Tag::Regex,
            _ => Tag::Undef,
        }
    }

    #[inline(always)]
    pub fn is_str(self) -> bool {
        self.kind() == K_STR
    }
    #[inline(always)]
    pub fn is_arr(self) -> bool {
        self.kind() == K_ARR
    }
    #[inline(always)]
    pub fn is_hash(self) -> bool {
        self.kind() == K_HASH
    }
    #[inline(always)]
    pub fn is_obj(self) -> bool {
        self.kind() == K_OBJ
    }
    #[inline(always)]
    pub fn is_class(self) -> bool {
        self.kind() == K_CLASS
    }
    #[inline(always)]
    pub fn is_proc(self) -> bool {
        self.kind() == K_PROC
    }
    #[inline(always)]
    pub fn is_range(self) -> bool {
        self.kind() == K_RANGE
    }
    #[inline(always)]
    pub fn is_regex(self) -> bool {
        self.kind() == K_REGEX
    }
    #[inline(always)]
    pub fn is_big(self) -> bool {
        self.kind() == K_BIG
    }
    #[inline(always)]
    pub fn is_float(self) -> bool {
        self.is_flonum() || self.kind() == K_FLOAT
    }
    #[inline(always)]
    pub fn is_int(self) -> bool {
        self.is_fix() || self.kind() == K_BIG
    }
    #[inline(always)]
    pub fn is_sym(self) -> bool {
        self.kind() == K_SYM
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}#{:x}", self.tag(), self.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_survive_the_word() {
        for f in [0.0, 1.0, -1.5, 3.25e10, -2.0e-10, 1.7e100, 5e-324, f64::MAX] {
            if let Some(v) = Value::flonum(f) {
                assert_eq!(v.as_flonum().to_bits(), f.to_bits(), "{f}");
                assert!(v.is_float() && !v.is_fix());
            }
        }
        assert!(Value::flonum(1.0).is_some() && Value::flonum(-0.0).is_none());
    }

    #[test]
    fn only_nil_and_false_are_false() {
        assert!(!NIL.truthy() && !FALSE.truthy());
        assert!(TRUE.truthy() && Value::fix(0).truthy() && UNDEF.truthy());
    }
}
