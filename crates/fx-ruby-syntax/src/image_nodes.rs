//! How each node is written to an image and read back: one table for both directions.

use std::cell::{Cell, OnceCell};

use crate::Sym;
use crate::ast::{
    Args, Begin, Blk, Call, CaseInNode, CaseNode, ClassNode, Code, CodeKind, ConstScope, ConstSite,
    DefNode, InClause, IvarSite, Kind, KwParam, Multi, NO_SLOT, Node, Op, OptParam, Params, Pat,
    PatRest, RegexLit, Rescue, StrLit, Target, Var, WhenClause,
};
use crate::image::{Reader, Writer};
use crate::lower::{no_params, shared};

/// Something an image can hold.
pub(crate) trait Store: Sized {
    fn put(&self, w: &mut Writer);
    fn get(r: &mut Reader<'_>) -> Self;
}

impl Store for u8 {
    fn put(&self, w: &mut Writer) {
        w.byte(*self);
    }
    fn get(r: &mut Reader<'_>) -> u8 {
        r.byte()
    }
}

impl Store for bool {
    fn put(&self, w: &mut Writer) {
        w.byte(u8::from(*self));
    }
    fn get(r: &mut Reader<'_>) -> bool {
        r.byte() != 0
    }
}

impl Store for u32 {
    fn put(&self, w: &mut Writer) {
        w.number(u64::from(*self));
    }
    fn get(r: &mut Reader<'_>) -> u32 {
        r.number() as u32
    }
}

impl Store for i64 {
    // The sign goes to the lowest bit, so that small numbers are short.
    fn put(&self, w: &mut Writer) {
        w.number(((*self << 1) ^ (*self >> 63)) as u64);
    }
    fn get(r: &mut Reader<'_>) -> i64 {
        let value = r.number();
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }
}

impl Store for f64 {
    fn put(&self, w: &mut Writer) {
        w.raw(&self.to_le_bytes());
    }
    fn get(r: &mut Reader<'_>) -> f64 {
        let mut bytes = [0; 8];
        let raw = r.raw();
        if raw.len() == bytes.len() {
            bytes.copy_from_slice(raw);
        }
        f64::from_le_bytes(bytes)
    }
}

impl Store for Sym {
    fn put(&self, w: &mut Writer) {
        self.0.put(w);
    }
    fn get(r: &mut Reader<'_>) -> Sym {
        r.sym()
    }
}

impl<T: Store + 'static> Store for &'static T {
    fn put(&self, w: &mut Writer) {
        (**self).put(w);
    }
    fn get(r: &mut Reader<'_>) -> &'static T {
        let value = T::get(r);
        r.trees.alloc(value)
    }
}

impl<T: Store + 'static> Store for &'static [T] {
    fn put(&self, w: &mut Writer) {
        w.number(self.len() as u64);
        for item in *self {
            item.put(w);
        }
    }
    fn get(r: &mut Reader<'_>) -> &'static [T] {
        let len = r.number() as usize;
        if len == 0 { &[] } else { r.trees.alloc_slice_fill_with(len, |_| T::get(r)) }
    }
}

impl<T: Store> Store for Option<T> {
    fn put(&self, w: &mut Writer) {
        w.byte(u8::from(self.is_some()));
        if let Some(value) = self {
            value.put(w);
        }
    }
    fn get(r: &mut Reader<'_>) -> Option<T> {
        (r.byte() != 0).then(|| T::get(r))
    }
}

impl<A: Store, B: Store> Store for (A, B) {
    fn put(&self, w: &mut Writer) {
        self.0.put(w);
        self.1.put(w);
    }
    fn get(r: &mut Reader<'_>) -> (A, B) {
        let first = A::get(r);
        (first, B::get(r))
    }
}

impl Store for Cell<bool> {
    fn put(&self, w: &mut Writer) {
        self.get().put(w);
    }
    fn get(r: &mut Reader<'_>) -> Cell<bool> {
        Cell::new(bool::get(r))
    }
}

impl Store for StrLit {
    fn put(&self, w: &mut Writer) {
        w.raw(self.bytes);
        w.byte(self.enc << 1 | u8::from(self.frozen));
    }
    fn get(r: &mut Reader<'_>) -> StrLit {
        let bytes = r.raw();
        let flags = r.byte();
        StrLit { bytes, enc: flags >> 1, frozen: flags & 1 != 0, cached: Cell::new(0) }
    }
}

impl Store for Call {
    fn put(&self, w: &mut Writer) {
        let flags = [self.safe, self.fcall, self.vcall, self.asgn, self.recv.is_some()];
        w.byte(flags.iter().enumerate().fold(0, |sum, (i, on)| sum | u8::from(*on) << i));
        self.name.put(w);
        if let Some(recv) = self.recv {
            recv.put(w);
        }
        self.args.put(w);
        self.pos.put(w);
    }
    fn get(r: &mut Reader<'_>) -> Call {
        let flags = r.byte();
        Call {
            safe: flags & 1 != 0,
            fcall: flags & 2 != 0,
            vcall: flags & 4 != 0,
            asgn: flags & 8 != 0,
            name: Store::get(r),
            recv: if flags & 16 != 0 { Some(Store::get(r)) } else { None },
            args: Store::get(r),
            c_class: Cell::new(u32::MAX),
            c_epoch: Cell::new(0),
            c_meth: Cell::new(0),
            c_slot: Cell::new(NO_SLOT),
            pos: Store::get(r),
        }
    }
}

impl Store for Args {
    fn put(&self, w: &mut Writer) {
        self.pos.put(w);
        self.splat.put(w);
        self.kw().put(w);
        self.block().put(w);
    }
    fn get(r: &mut Reader<'_>) -> Args {
        let pos = Store::get(r);
        let splat = Store::get(r);
        let kw = Store::get(r);
        let block = Store::get(r);
        Args::new(pos, splat, kw, block)
    }
}

impl Store for Code {
    fn put(&self, w: &mut Writer) {
        self.kind.put(w);
        self.name.put(w);
        self.pos.put(w);
        self.end_pos.put(w);
        self.level.put(w);
        self.nstack.put(w);
        self.env_names.put(w);
        self.copies.put(w);
        self.params.put(w);
        self.body.put(w);
    }
    fn get(r: &mut Reader<'_>) -> Code {
        let kind = Store::get(r);
        let name = Store::get(r);
        let pos = Store::get(r);
        let end_pos = Store::get(r);
        let level = Store::get(r);
        let nstack = Store::get(r);
        let env_names = Store::get(r);
        let copies = Store::get(r);
        let params: Params = Store::get(r);
        let (shape, params) = (params.shape(), shared(params));
        let body = Store::get(r);
        let file = r.file();
        Code {
            kind,
            name,
            shape,
            params,
            body,
            nstack,
            env_names,
            copies,
            file,
            pos,
            end_pos,
            level,
        }
    }
}

/// Fields in the order in which they are written; those after `;` start anew.
macro_rules! fields {
    ($($type:ident { $($field:ident),* $(; $($cell:ident: $fresh:expr),*)? })*) => {$(
        impl Store for $type {
            fn put(&self, w: &mut Writer) {
                $(self.$field.put(w);)*
            }
            fn get(r: &mut Reader<'_>) -> $type {
                $(let $field = Store::get(r);)*
                $type { $($field,)* $($($cell: $fresh),*)? }
            }
        }
    )*};
}

fields! {
    Node { pos, kind }
    RegexLit { parts, flags, once; cached: Cell::new(0) }
    IvarSite { name; class: Cell::new(u32::MAX), slot: Cell::new(0) }
    ConstSite { name; epoch: Cell::new(0), cref: Cell::new(0), value: Cell::new(0) }
    CaseNode { subject, clauses, other; jump: OnceCell::new() }
    CaseInNode { subject, clauses, other }
    Multi { pre, rest, post }
    InClause { pat, guard, body }
    WhenClause { conds, body }
    Rescue { classes, target, body }
    Begin { body, rescues, else_body, ensure }
    OptParam { slot, var, default, name }
    KwParam { name, slot, var, default }
    DefNode { name, singleton, code }
    ClassNode { scope, name, superclass, code }
}

/// Parameters; most of them are plain names.
impl Store for Params {
    fn put(&self, w: &mut Writer) {
        let plain = self.simple
            && self.opt.is_empty()
            && self.rest.is_none()
            && self.post == 0
            && self.kw.is_empty()
            && self.kwrest.is_none()
            && self.block.is_none()
            && self.destructure.is_empty()
            && !self.implicit_rest
            && !self.no_kw
            && !self.forwarding
            && !self.spreads
            && self.numbered == 0;
        plain.put(w);
        self.req.put(w);
        self.req_names.put(w);
        if plain {
            return;
        }
        self.opt.put(w);
        self.rest.put(w);
        self.rest_name.put(w);
        self.implicit_rest.put(w);
        self.post.put(w);
        self.post_names.put(w);
        self.kw.put(w);
        self.kwrest.put(w);
        self.kwrest_name.put(w);
        self.no_kw.put(w);
        self.block.put(w);
        self.block_name.put(w);
        self.forwarding.put(w);
        self.destructure.put(w);
        self.simple.put(w);
        self.spreads.put(w);
        self.numbered.put(w);
    }
    fn get(r: &mut Reader<'_>) -> Params {
        let plain = bool::get(r);
        let mut params = no_params();
        params.req = Store::get(r);
        params.req_names = Store::get(r);
        if plain {
            return params;
        }
        params.opt = Store::get(r);
        params.rest = Store::get(r);
        params.rest_name = Store::get(r);
        params.implicit_rest = Store::get(r);
        params.post = Store::get(r);
        params.post_names = Store::get(r);
        params.kw = Store::get(r);
        params.kwrest = Store::get(r);
        params.kwrest_name = Store::get(r);
        params.no_kw = Store::get(r);
        params.block = Store::get(r);
        params.block_name = Store::get(r);
        params.forwarding = Store::get(r);
        params.destructure = Store::get(r);
        params.simple = Store::get(r);
        params.spreads = Store::get(r);
        params.numbered = Store::get(r);
        params
    }
}

/// Variants with their numbers; the last one also answers for numbers that are none.
macro_rules! variants {
    ($type:ident { $($tag:literal $name:ident $(($($field:ident),*))? $({ $($named:ident),* })?,)* _ $other:expr $(, $($never:tt)*)? }) => {
        impl Store for $type {
            fn put(&self, w: &mut Writer) {
                match self {
                    $($type::$name $(($($field),*))? $({ $($named),* })? => {
                        w.byte($tag);
                        $($($field.put(w);)*)?
                        $($($named.put(w);)*)?
                    })*
                    $($($never)*)?
                }
            }
            fn get(r: &mut Reader<'_>) -> $type {
                match r.byte() {
                    $($tag => {
                        $($(let $field = Store::get(r);)*)?
                        $($(let $named = Store::get(r);)*)?
                        $type::$name $(($($field),*))? $({ $($named),* })?
                    })*
                    _ => $other,
                }
            }
        }
    };
}

variants! { Var { 0 Stack(a), 1 Env(a, b), _ Var::Stack(0) } }
variants! { Blk { 0 None, 1 Pass(a), 2 Code(a), _ Blk::None } }
variants! { Op {
    0 Add, 1 Sub, 2 Mul, 3 Div, 4 Mod, 5 Lt, 6 Le, 7 Gt, 8 Ge, 9 Eq, 10 Ne, 11 Index, 12 Shl,
    13 And, 14 Or, 15 Shr, 16 Xor, 17 Cmp, _ Op::Add
} }
variants! { Target {
    0 Var(a), 1 Ivar(a), 2 Gvar(a), 3 Cvar(a), 4 Const(a, b), 5 Send(a), 6 Multi(a),
    _ Target::Var(Var::Stack(0))
} }
variants! { ConstScope { 0 Lexical, 1 Top, 2 In(a), _ ConstScope::Lexical } }
variants! { Pat {
    0 Value(a), 1 Bind(a), 2 Alt(a, b), 3 Capture(a, b), 4 Arr { konst, pre, rest, post },
    5 Find { konst, left, mid, right }, 6 Hash { konst, pairs, rest }, _ Pat::Bind(Var::Stack(0))
} }
variants! { PatRest { 0 None, 1 Nil, 2 Var(a), _ PatRest::None } }
variants! { CodeKind {
    0 Program, 1 Eval, 2 Method, 3 Block, 4 Lambda, 5 Class, _ CodeKind::Program
} }
variants! { Kind {
    0 Nil, 1 True, 2 False, 3 Zelf, 4 Int(a), 5 Float(a), 6 Big(a, b), 7 Rational(a, b),
    8 Imaginary(a), 9 Str(a), 10 DStr(a), 11 XStr(a), 12 Sym(a), 13 DSym(a), 14 Regex(a),
    15 MatchLast(a), 16 Array(a), 17 ArraySplat(a), 18 Splat(a), 19 Hash(a), 20 Range(a, b, c),
    21 LVar(a), 22 LSet(a, b), 23 EVar(a, b), 24 ESet(a, b, c), 25 IVar(a), 26 ISet(a, b),
    27 GVar(a), 28 GSet(a, b), 29 CVar(a), 30 CSet(a, b), 31 NthRef(a), 32 BackRef(a),
    33 Const(a), 34 ConstIn(a, b), 35 ConstSet(a, b, c), 36 Call(a), 37 Bin(a, b, c, d),
    38 BinLI(a, b, c, d), 39 Not(a, b), 40 Super(a), 41 ZSuper(a), 42 Yield(a), 43 And(a, b),
    44 Or(a, b), 45 If(a, b, c), 47 While(a, b, c, d), 48 For(a, b, c),
    49 Seq(a), 50 Case(a), 51 CaseBare(a, b), 52 CaseIn(a), 53 MatchPat(a, b),
    54 MatchReq(a, b), 55 MatchWrite(a, b), 56 Masgn(a, b), 57 Begin(a), 58 Def(a), 59 Class(a),
    60 Module(a), 61 SClass(a, b), 62 Lambda(a), 63 Return(a), 64 Break(a), 65 Next(a),
    66 LoopBreak(a), 67 LoopNext(a), 68 Redo, 69 LoopRedo, 70 Retry, 71 Alias(a, b),
    72 GAlias(a, b), 73 Undef(a), 74 FlipFlop(a, b, c), 75 PostExe(a, b), 76 Defined(a),
    77 File, 78 Encoding, 79 SafeSeq(a, b), 80 Spread(a, b), _ Kind::Nil,
    // Only a tree that came from an image has these, and such a tree is not written.
    Kind::Later(_) => {}
} }
