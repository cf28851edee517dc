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
mod hot;
mod load;
mod mismatch;
mod multi;
pub(crate) use load::{SHIPPED, to_path};
mod pattern;
pub(crate) mod refine;
mod site;
mod super_call;

pub(crate) use block::Over;
use fx_ruby_syntax::ast::{CodeKind, Kind, N, Op};

use crate::names as n;
use crate::object::c;
use crate::value::{FALSE, FIX_MAX, FIX_MIN, NIL, TRUE, Value};
use crate::vm::{Pending, R, Unwind, Vm};

/// What eval needs at every node: where locals are, and self. Two words, so that it travels in
/// registers and not through memory.
#[derive(Clone, Copy)]
pub(crate) struct Fp {
    places: u64,
    pub me: Value,
}

impl Fp {
    #[inline(always)]
    pub(crate) fn new(base: u32, env: u32, me: Value) -> Fp {
        Fp { places: u64::from(base) | u64::from(env) << 32, me }
    }

    /// Where its locals begin on the value stack.
    #[inline(always)]
    pub(crate) fn base(self) -> u32 {
        self.places as u32
    }

    /// The environment of captured variables, 0 for none.
    #[inline(always)]
    pub(crate) fn env(self) -> u32 {
        (self.places >> 32) as u32
    }
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
    pub(crate) fn quick(&mut self, fp: Fp, node: N) -> R {
        match &node.kind {
            Kind::LVar(slot) => Ok(self.stack[(fp.base() + slot) as usize]),
            Kind::Int(i) => Ok(Value::fix(*i)),
            _ => self.eval(fp, node),
        }
    }

    /// As [`Vm::quick`], and a local with a small integer too: what loops count and test by.
    #[expect(clippy::inline_always, reason = "measured on arithmetic loops")]
    #[inline(always)]
    pub(crate) fn quick_step(&mut self, fp: Fp, node: N) -> R {
        match &node.kind {
            Kind::LVar(slot) => return Ok(self.stack[(fp.base() + slot) as usize]),
            Kind::BinLI(op, slot, i, _) => {
                let l = self.stack[(fp.base() + slot) as usize];
                if l.is_fix()
                    && !self.redefined
                    && let Some(v) = int_step(*op, l.as_fix(), *i)
                {
                    return Ok(v);
                }
            }
            _ => {}
        }
        self.eval(fp, node)
    }

    /// Finds the code of a node. What takes an instruction or two is done here; all else is a call
    /// of its own at the very end, so that this function needs no frame on the machine's stack and
    /// saves no register.
    pub(crate) fn eval(&mut self, fp: Fp, node: N) -> R {
        match &node.kind {
            Kind::LVar(slot) => Ok(self.stack[(fp.base() + slot) as usize]),
            Kind::Int(i) => Ok(Value::fix(*i)),
            Kind::LSet(slot, value) => self.eval_lset(fp, *slot, value),
            Kind::EVar(up, slot) => self.eval_evar(fp, *up, *slot),
            Kind::ESet(up, slot, value) => self.eval_eset(fp, *up, *slot, value),
            Kind::Zelf => Ok(fp.me),
            Kind::Nil => Ok(NIL),
            Kind::True => Ok(TRUE),
            Kind::False => Ok(FALSE),
            Kind::Sym(sym) => Ok(Value::sym(*sym)),
            Kind::Call(call) => self.eval_call(fp, call),
            Kind::BinLI(..) => self.eval_bin_li(fp, node),
            Kind::Bin(op, ..) => match op {
                Op::Index => self.eval_index(fp, node),
                Op::Add => self.eval_add(fp, node),
                Op::Sub => self.eval_sub(fp, node),
                Op::Mul => self.eval_mul(fp, node),
                _ => self.eval_bin(fp, node),
            },
            Kind::IVar(site) => self.eval_ivar(fp, site),
            Kind::ISet(site, value) => self.eval_iset(fp, site, value),
            Kind::Seq(nodes) => self.eval_seq(fp, nodes),
            Kind::If(test, yes, no) => self.eval_if(fp, test, yes.0, no.0),
            Kind::And(l, r) => self.eval_and(fp, l, r),
            Kind::Or(l, r) => self.eval_or(fp, l, r),
            Kind::Not(inner, call) => self.eval_not(fp, inner, call),
            Kind::Float(f) => self.eval_float(fp, node, *f),
            Kind::Str(lit) => self.eval_str(lit),
            Kind::Const(site) => self.eval_const(node, site),
            Kind::Array(nodes) => self.eval_array(fp, nodes),
            Kind::While(test, body, _, last) => self.eval_while(fp, test, body, *last),
            Kind::Yield(_) => self.eval_yield(fp, node),
            Kind::Return(value) => self.eval_return_of(fp, value),
            Kind::Next(value) => self.eval_next(fp, value),
            Kind::DStr(parts) => self.eval_dstr(fp, parts),
            Kind::Hash(pairs) => self.eval_pairs(fp, pairs),
            Kind::Case(..) => self.eval_case(fp, node),
            Kind::Begin(begin) => self.eval_begin(fp, begin),
            Kind::Spread(multi, value) => self.eval_spread(fp, node, multi, value),
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
    pub(crate) fn each_of(&mut self, fp: Fp, nodes: &[N]) -> R {
        let mut last = NIL;
        for node in nodes {
            last = self.eval(fp, node)?;
        }
        Ok(last)
    }

    #[inline(never)]
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
                match self.test(fp, test) {
                    Ok(true) => {}
                    Ok(false) => return Ok(NIL),
                    Err(Unwind) => match self.pending.get() {
                        Pending::LoopBreak(v) => {
                            self.pending.set(Pending::None);
                            return Ok(v);
                        }
                        Pending::LoopNext => {
                            self.pending.set(Pending::None);
                            continue;
                        }
                        _ => return Err(Unwind),
                    },
                }
            }
            first = false;
            redo = false;
            if let Err(Unwind) = self.each_of(fp, statements) {
                match self.pending.get() {
                    Pending::LoopBreak(v) => {
                        self.pending.set(Pending::None);
                        self.stack.truncate(height);
                        return Ok(v);
                    }
                    Pending::LoopNext => {
                        self.pending.set(Pending::None);
                        self.stack.truncate(height);
                    }
                    Pending::LoopRedo => {
                        self.pending.set(Pending::None);
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
    pub(crate) fn bin_slow(&mut self, fp: Fp, node: N, l: Value, r: Value) -> R {
        let (Kind::Bin(op, _, _, call) | Kind::BinLI(op, _, _, call)) = &node.kind else {
            return Ok(NIL);
        };
        let op = *op;
        if !self.redefined {
            match op {
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
                Op::Shl if l.is_str() && self.heap.strings[l.index()].class == c::STRING => {
                    self.set_pos(call.pos);
                    return self.append(l, r);
                }
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
            Op::Cmp => Value::fix(x.partial_cmp(&y)? as i64),
            _ => return None,
        })
    }

    #[inline(never)]
    pub(crate) fn eval_return(&mut self, v: Value) -> R {
        if let Some(frame) = self.frames.last()
            && frame.code.kind == CodeKind::Method
        {
            self.pending.set(Pending::Return(frame.home, v));
            return Err(Unwind);
        }
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
        self.pending.set(Pending::Return(frame.home, v));
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
    // Not a table of jumps: where the operator is the same each time, these cost nothing.
    let sum = if op == Op::Add {
        x + y
    } else if op == Op::Sub {
        x - y
    } else if op == Op::And {
        return Some(Value::fix(x & y));
    } else if op == Op::Lt {
        return Some(Value::bool(x < y));
    } else {
        return None;
    };
    if (FIX_MIN..=FIX_MAX).contains(&sum) { Some(Value::fix(sum)) } else { None }
}

/// Which of less, equal and greater make a comparison true; none for other operators.
const fn wanted(op: Op) -> u8 {
    match op {
        Op::Lt => 1,
        Op::Eq => 2,
        Op::Le => 3,
        Op::Gt => 4,
        Op::Ne => 5,
        Op::Ge => 6,
        _ => 0,
    }
}

/// A comparison of two small integers, without a jump for each operator.
#[expect(clippy::inline_always, reason = "folds into the conditions of loops and branches")]
#[inline(always)]
pub(crate) fn int_compare(op: Op, x: i64, y: i64) -> Option<bool> {
    let wanted = wanted(op);
    if wanted == 0 {
        return None;
    }
    let is = u8::from(x < y) | u8::from(x == y) << 1 | u8::from(x > y) << 2;
    Some(wanted & is != 0)
}

/// The same of two floats; what is not a number is in no order with anything.
#[expect(clippy::inline_always, reason = "folds into the conditions of loops and branches")]
#[inline(always)]
pub(crate) fn float_compare(op: Op, x: f64, y: f64) -> Option<bool> {
    let wanted = wanted(op);
    if wanted == 0 || op == Op::Ne {
        return None;
    }
    let is = u8::from(x < y) | u8::from(x == y) << 1 | u8::from(x > y) << 2;
    Some(wanted & is != 0)
}

/// Operators on floats whose result needs no place on the heap.
#[expect(clippy::inline_always, reason = "folds into the operator node")]
#[inline(always)]
pub(crate) fn flonum_op(op: Op, x: f64, y: f64) -> Option<Value> {
    let made = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::Div => x / y,
        Op::Lt => return Some(Value::bool(x < y)),
        Op::Le => return Some(Value::bool(x <= y)),
        Op::Gt => return Some(Value::bool(x > y)),
        Op::Ge => return Some(Value::bool(x >= y)),
        _ => return None,
    };
    Value::flonum(made)
}

#[expect(clippy::inline_always, reason = "folds into eval's two operator arms")]
#[inline(always)]
pub(crate) fn int_op(op: Op, x: i64, y: i64) -> Option<Value> {
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
        Op::Xor => Some(Value::fix(x ^ y)),
        Op::Cmp => Some(Value::fix(x.cmp(&y) as i64)),
        Op::Index => Some(Value::fix(if y < 0 { 0 } else { x >> y.min(63) & 1 })),
        Op::Shl if (0..62).contains(&y) && x << y >> y == x => fits(x << y),
        Op::Div if y != 0 => fits(x.div_euclid(y) - i64::from(y < 0 && x.rem_euclid(y) != 0)),
        Op::Mod if y != 0 => {
            let m = x % y;
            Some(Value::fix(if m != 0 && (m < 0) != (y < 0) { m + y } else { m }))
        }
        Op::Shr if (0..63).contains(&y) => Some(Value::fix(x >> y)),
        _ => None,
    }
}
