//! The evaluator: a walk over the tree. Hot nodes are here, cold ones in the submodules.
//!
//! `eval` is kept small so that its machine frame stays small; everything rare is in a
//! function of its own that is never inlined.

mod args;
mod assign;
mod block;
mod call;
mod cold;
pub(crate) mod compiled;
mod define;
mod defined;
mod flip_flop;
mod load;
mod mismatch;
mod multi;
pub(crate) use load::{SHIPPED, to_path};
mod pattern;
pub(crate) mod refine;
mod super_call;

pub(crate) use block::Over;
use fx_ruby_syntax::ast::{CodeKind, Kind, N, Op};

use crate::names as n;
use crate::object::c;
use crate::value::{FALSE, FIX_MAX, FIX_MIN, NIL, TRUE, UNDEF, Value};
use crate::vm::{Pending, R, Unwind, Vm};

/// What eval needs at every node: where locals are, and self.
#[derive(Clone, Copy)]
pub(crate) struct Fp {
    pub base: u32,
    pub env: u32,
    pub me: Value,
}

impl Vm {
    #[expect(clippy::inline_always, reason = "measured: the call costs more than the body")]
    #[inline(always)]
    pub(crate) fn env_at(&self, mut env: u32, up: u32) -> u32 {
        for _ in 0..up {
            env = self.heap.envs[env as usize].up;
        }
        env
    }

    /// Locals and small integers without a call of eval.
    #[expect(clippy::inline_always, reason = "measured on arithmetic loops")]
    #[inline(always)]
    fn quick(&mut self, fp: Fp, node: N) -> R {
        match &node.kind {
            Kind::LVar(slot) => Ok(self.stack[(fp.base + slot) as usize]),
            Kind::Int(i) => Ok(Value::fix(*i)),
            _ => self.eval(fp, node),
        }
    }

    /// As [`Vm::quick`], and a local with a small integer too: what loops count and test by.
    #[expect(clippy::inline_always, reason = "measured on arithmetic loops")]
    #[inline(always)]
    fn quick_step(&mut self, fp: Fp, node: N) -> R {
        if let Kind::BinLI(op, slot, i, _) = &node.kind {
            let l = self.stack[(fp.base + slot) as usize];
            if l.is_fix()
                && !self.redefined
                && let Some(v) = int_step(*op, l.as_fix(), *i)
            {
                return Ok(v);
            }
        }
        self.eval(fp, node)
    }

    pub(crate) fn eval(&mut self, fp: Fp, node: N) -> R {
        match &node.kind {
            Kind::LVar(slot) => Ok(self.stack[(fp.base + slot) as usize]),
            Kind::Int(i) => Ok(Value::fix(*i)),
            Kind::LSet(slot, value) => {
                let v = self.quick_step(fp, value)?;
                self.stack[(fp.base + slot) as usize] = v;
                Ok(v)
            }
            Kind::EVar(up, slot) => {
                let env = self.env_at(fp.env, *up);
                Ok(self.heap.envs[env as usize].vars[*slot as usize])
            }
            Kind::ESet(up, slot, value) => {
                let v = self.eval(fp, value)?;
                let env = self.env_at(fp.env, *up);
                self.heap.envs[env as usize].vars[*slot as usize] = v;
                Ok(v)
            }
            Kind::Zelf => Ok(fp.me),
            Kind::Nil => Ok(NIL),
            Kind::True => Ok(TRUE),
            Kind::False => Ok(FALSE),
            Kind::Sym(sym) => Ok(Value::sym(*sym)),
            Kind::Call(call) => self.eval_call(fp, call),
            Kind::BinLI(op, slot, i, call) => {
                let l = self.stack[(fp.base + slot) as usize];
                if l.is_fix()
                    && !self.redefined
                    && let Some(v) = int_op(*op, l.as_fix(), *i)
                {
                    return Ok(v);
                }
                self.bin_slow(*op, l, Value::fix(*i), call, fp)
            }
            Kind::Bin(op, l, r, call) => {
                let l = self.quick(fp, l)?;
                let r = match &r.kind {
                    Kind::LVar(slot) => self.stack[(fp.base + slot) as usize],
                    Kind::Int(i) => Value::fix(*i),
                    Kind::Sym(sym) => Value::sym(*sym),
                    // These run no code, so the left side needs no place on the stack.
                    Kind::Str(_) | Kind::EVar(..) | Kind::Zelf => self.eval(fp, r)?,
                    _ if l.is_heap() => self.eval_beside(fp, l, r)?,
                    _ => self.quick_step(fp, r)?,
                };
                if l.is_fix()
                    && r.is_fix()
                    && !self.redefined
                    && let Some(v) = int_op(*op, l.as_fix(), r.as_fix())
                {
                    return Ok(v);
                }
                self.bin_slow(*op, l, r, call, fp)
            }
            Kind::IVar(site) => {
                if fp.me.is_obj() {
                    let obj = &self.heap.objects[fp.me.index()];
                    if obj.class == site.class.get() {
                        let v = obj.ivars.get(site.slot.get() as usize).copied().unwrap_or(NIL);
                        return Ok(if v == UNDEF { NIL } else { v });
                    }
                }
                Ok(self.ivar_slow(fp.me, site))
            }
            Kind::ISet(site, value) => {
                let v = self.eval(fp, value)?;
                if fp.me.is_obj() {
                    let obj = &mut self.heap.objects[fp.me.index()];
                    if obj.class == site.class.get()
                        && !obj.frozen
                        && let Some(slot) = obj.ivars.get_mut(site.slot.get() as usize)
                    {
                        *slot = v;
                        return Ok(v);
                    }
                }
                self.iset_slow(fp.me, site, v)?;
                Ok(v)
            }
            Kind::Seq(nodes) => self.each_of(fp, nodes),
            Kind::If(test, yes, no) | Kind::Ternary(test, yes, no) => {
                if self.eval(fp, test)?.truthy() { self.eval(fp, yes) } else { self.eval(fp, no) }
            }
            Kind::And(l, r) => {
                let v = self.eval(fp, l)?;
                if v.truthy() { self.eval(fp, r) } else { Ok(v) }
            }
            Kind::Or(l, r) => {
                let v = self.eval(fp, l)?;
                if v.truthy() { Ok(v) } else { self.eval(fp, r) }
            }
            Kind::Not(inner, call) => {
                let v = self.eval(fp, inner)?;
                if v.is_obj() || self.redefined {
                    return self.not_slow(v, call, fp);
                }
                Ok(Value::bool(!v.truthy()))
            }
            Kind::Str(lit) => {
                if lit.frozen {
                    return Ok(self.frozen_literal(lit));
                }
                Ok(self.heap.string(c::STRING, std::borrow::Cow::Borrowed(lit.bytes), lit.enc))
            }
            Kind::Const(site) => {
                let cref = self.frames[self.frames.len() - 1].cref;
                if site.epoch.get() == self.const_epoch
                    && site.cref.get() == std::ptr::from_ref(cref) as usize
                    && let Some(v) = Value::from_bits(site.value.get())
                {
                    return Ok(v);
                }
                self.set_pos(node.pos);
                self.const_slow(cref, site)
            }
            Kind::Array(nodes) => {
                let start = self.stack.len();
                for node in *nodes {
                    let v = self.eval(fp, node)?;
                    self.stack.push(v);
                }
                let items = self.stack[start..].to_vec();
                self.stack.truncate(start);
                Ok(self.heap.array(c::ARRAY, items))
            }
            Kind::While(test, body, _, last) => self.eval_while(fp, test, body, *last),
            Kind::Yield(args) => {
                self.set_pos(node.pos);
                self.eval_yield(fp, args)
            }
            Kind::Return(value) => {
                let v = self.eval(fp, value)?;
                self.eval_return(v)
            }
            Kind::Next(value) => {
                let v = self.eval(fp, value)?;
                self.pending = Pending::Next(v);
                Err(Unwind)
            }
            _ => self.eval_cold(fp, node),
        }
    }

    #[expect(clippy::inline_always, reason = "one store on the hottest path")]
    #[inline(always)]
    pub(crate) fn set_pos(&mut self, pos: u32) {
        let last = self.frames.len() - 1;
        self.frames[last].pos = pos;
    }

    /// Statements in order; the value of the last.
    #[expect(clippy::inline_always, reason = "the body of every method and loop")]
    #[inline(always)]
    fn each_of(&mut self, fp: Fp, nodes: &[N]) -> R {
        let mut last = NIL;
        for node in nodes {
            last = self.eval(fp, node)?;
        }
        Ok(last)
    }

    fn eval_while(&mut self, fp: Fp, test: N, body: N, do_first: bool) -> R {
        // The statements of the body, spared the node that only holds them together.
        let statements: &[N] = match &body.kind {
            Kind::Seq(nodes) => nodes,
            _ => &[body],
        };
        let mut first = do_first;
        let height = self.stack.len();
        let mut redo = false;
        loop {
            if !first && !redo {
                match self.quick_step(fp, test) {
                    Ok(v) if v.truthy() => {}
                    Ok(_) => return Ok(NIL),
                    Err(Unwind) => match self.pending {
                        Pending::LoopBreak(v) => {
                            self.pending = Pending::None;
                            return Ok(v);
                        }
                        Pending::LoopNext => {
                            self.pending = Pending::None;
                            continue;
                        }
                        _ => return Err(Unwind),
                    },
                }
            }
            first = false;
            redo = false;
            if let Err(Unwind) = self.each_of(fp, statements) {
                match self.pending {
                    Pending::LoopBreak(v) => {
                        self.pending = Pending::None;
                        self.stack.truncate(height);
                        return Ok(v);
                    }
                    Pending::LoopNext => {
                        self.pending = Pending::None;
                        self.stack.truncate(height);
                    }
                    Pending::LoopRedo => {
                        self.pending = Pending::None;
                        self.stack.truncate(height);
                        redo = true;
                    }
                    _ => return Err(Unwind),
                }
            }
            self.safepoint()?;
        }
    }

    /// Evaluates a node while another value is held: on the stack, so that it is not freed.
    pub(crate) fn eval_beside(&mut self, fp: Fp, held: Value, node: N) -> R {
        let start = self.stack.len();
        self.stack.push(held);
        let v = self.eval(fp, node)?;
        self.stack.truncate(start);
        Ok(v)
    }

    /// Operators on anything but two small integers.
    #[inline(never)]
    pub(crate) fn bin_slow(
        &mut self,
        op: Op,
        l: Value,
        r: Value,
        call: &'static fx_ruby_syntax::ast::Call,
        fp: Fp,
    ) -> R {
        if !self.redefined {
            match op {
                Op::Index
                    if l.is_arr()
                        && r.is_fix()
                        && self.heap.arrays[l.index()].class == c::ARRAY =>
                {
                    let items = &self.heap.arrays[l.index()].v;
                    let i = r.as_fix();
                    let at = if i < 0 { i + items.len() as i64 } else { i };
                    return Ok(usize::try_from(at)
                        .ok()
                        .and_then(|i| items.get(i).copied())
                        .unwrap_or(NIL));
                }
                Op::Index if l.is_hash() && self.heap.hashes[l.index()].class == c::HASH => {
                    return self.hash_aref(l, r);
                }
                Op::Shl if l.is_arr() && self.heap.arrays[l.index()].class == c::ARRAY => {
                    let a = &mut self.heap.arrays[l.index()];
                    if !a.frozen {
                        a.v.push(r);
                        self.heap.bytes += 8;
                        return Ok(l);
                    }
                }
                Op::Eq if l.is_sym() => return Ok(Value::bool(l == r)),
                Op::Eq if l.is_str() && r.is_str() => return Ok(Value::bool(self.str_equal(l, r))),
                Op::Ne if l.is_sym() => return Ok(Value::bool(l != r)),
                Op::Ne if l.is_str() && r.is_str() => {
                    return Ok(Value::bool(!self.str_equal(l, r)));
                }
                Op::Eq if l.is_nil() => return Ok(Value::bool(r.is_nil())),
                _ if l.is_float() && (r.is_float() || r.is_fix()) => {
                    let x = self.heap.float_of(l);
                    let y = if r.is_fix() { r.as_fix() as f64 } else { self.heap.float_of(r) };
                    if let Some(v) = self.float_op(op, x, y) {
                        return Ok(v);
                    }
                }
                _ if l.is_fix() && r.is_float() => {
                    let (x, y) = (l.as_fix() as f64, self.heap.float_of(r));
                    if let Some(v) = self.float_op(op, x, y) {
                        return Ok(v);
                    }
                }
                _ => {}
            }
        }
        self.set_pos(call.pos);
        let start = self.stack.len();
        self.stack.push(r);
        self.call_with(fp, call, l, start, NIL, false)
    }

    fn float_op(&mut self, op: Op, x: f64, y: f64) -> Option<Value> {
        Some(match op {
            Op::Add => self.heap.float(x + y),
            Op::Sub => self.heap.float(x - y),
            Op::Mul => self.heap.float(x * y),
            Op::Div => self.heap.float(x / y),
            Op::Lt => Value::bool(x < y),
            Op::Le => Value::bool(x <= y),
            Op::Gt => Value::bool(x > y),
            Op::Ge => Value::bool(x >= y),
            Op::Eq => Value::bool(x == y),
            _ => return None,
        })
    }

    #[inline(never)]
    fn not_slow(&mut self, v: Value, call: &'static fx_ruby_syntax::ast::Call, fp: Fp) -> R {
        self.set_pos(call.pos);
        let start = self.stack.len();
        self.call_with(fp, call, v, start, NIL, false)
    }

    #[inline(never)]
    pub(crate) fn eval_return(&mut self, v: Value) -> R {
        // The body of `class << x` returns from the method around it.
        let within = self.frames.iter().rposition(|f| f.code.kind != CodeKind::Class);
        let frame = self.frames[within.unwrap_or(self.frames.len() - 1)];
        let kind = frame.code.kind;
        // A text given to `eval` ends its method, and not the program.
        let returns = |f: &crate::vm::Frame| match f.code.kind {
            CodeKind::Block => f.lambda,
            CodeKind::Eval => false,
            CodeKind::Program => kind != CodeKind::Eval,
            _ => true,
        };
        if matches!(kind, CodeKind::Block | CodeKind::Eval)
            && !self.frames.iter().any(|f| f.home == frame.home && returns(f))
        {
            return self.jump_error("unexpected return", "return", v);
        }
        self.pending = Pending::Return(frame.home, v);
        Err(Unwind)
    }

    #[cold]
    pub(crate) fn jump_error(&mut self, message: &str, reason: &str, value: Value) -> R {
        let e = self.make_error(c::LOCAL_JUMP, message)?;
        let reason = self.intern(reason);
        self.ivar_set(e, n::REASON, Value::sym(reason));
        self.ivar_set(e, n::RESULT, value);
        self.throw(e)
    }
}

/// The few operators that loops step and end by; the others go the usual way.
#[expect(clippy::inline_always, reason = "folds into the loops that use it")]
#[inline(always)]
fn int_step(op: Op, x: i64, y: i64) -> Option<Value> {
    let sum = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Lt => return Some(Value::bool(x < y)),
        Op::And => return Some(Value::fix(x & y)),
        _ => return None,
    };
    if (FIX_MIN..=FIX_MAX).contains(&sum) { Some(Value::fix(sum)) } else { None }
}

#[expect(clippy::inline_always, reason = "folds into eval's two operator arms")]
#[inline(always)]
fn int_op(op: Op, x: i64, y: i64) -> Option<Value> {
    let fits = |i: i64| if (FIX_MIN..=FIX_MAX).contains(&i) { Some(Value::fix(i)) } else { None };
    match op {
        Op::Add => fits(x + y),
        Op::Sub => fits(x - y),
        Op::Mul => x.checked_mul(y).and_then(fits),
        Op::Lt => Some(Value::bool(x < y)),
        Op::Le => Some(Value::bool(x <= y)),
        Op::Gt => Some(Value::bool(x > y)),
        Op::Ge => Some(Value::bool(x >= y)),
        Op::Eq => Some(Value::bool(x == y)),
        Op::Ne => Some(Value::bool(x != y)),
        Op::And => Some(Value::fix(x & y)),
        Op::Or => Some(Value::fix(x | y)),
        Op::Div if y != 0 => fits(x.div_euclid(y) - i64::from(y < 0 && x.rem_euclid(y) != 0)),
        Op::Mod if y != 0 => {
            let m = x % y;
            Some(Value::fix(if m != 0 && (m < 0) != (y < 0) { m + y } else { m }))
        }
        Op::Shr if (0..63).contains(&y) => Some(Value::fix(x >> y)),
        _ => None,
    }
}
