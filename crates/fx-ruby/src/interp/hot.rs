//! The nodes that programs spend their time in: one small function for each, so that none has a
//! larger frame on the machine's stack than it needs.

use fx_ruby_syntax::ast::{Call, ConstSite, IvarSite, Kind, Multi, N, Op, StrLit};

use crate::interp::{Fp, float_compare, flonum_op, int_compare, int_op, int_step};
use crate::object::c;
use crate::value::{FIX_MAX, FIX_MIN, NIL, Value};
use crate::vm::{Pending, R, Res, Unwind, Vm};

impl Vm {
    #[inline(never)]
    pub(super) fn eval_lset(&mut self, fp: Fp, slot: u32, value: N) -> R {
        let v = self.quick_step(fp, value)?;
        self.stack[(fp.base() + slot) as usize] = v;
        Ok(v)
    }

    #[inline(never)]
    pub(super) fn eval_eset(&mut self, fp: Fp, up: u32, slot: u32, value: N) -> R {
        let v = self.quick_step(fp, value)?;
        let env = self.env_at(fp.env(), up);
        self.heap.envs[env as usize].vars[slot as usize] = v;
        Ok(v)
    }

    #[inline(never)]
    pub(super) fn eval_iset(&mut self, fp: Fp, site: &'static IvarSite, value: N) -> R {
        let v = self.quick_step(fp, value)?;
        self.iset(fp.me, site, v)?;
        Ok(v)
    }

    /// Sets an instance variable.
    #[inline]
    pub(super) fn iset(&mut self, me: Value, site: &'static IvarSite, v: Value) -> Res<()> {
        if me.is_obj() {
            let obj = &mut self.heap.objects[me.index()];
            if obj.class == site.class.get()
                && !obj.frozen
                && let Some(slot) = obj.ivars.get_mut(site.slot.get() as usize)
            {
                *slot = v;
                return Ok(());
            }
        }
        self.iset_slow(me, site, v)
    }

    #[inline(never)]
    pub(super) fn eval_seq(&mut self, fp: Fp, nodes: &'static [N]) -> R {
        let Some((last, before)) = nodes.split_last() else { return Ok(NIL) };
        for node in before {
            self.eval(fp, node)?;
        }
        self.eval(fp, last)
    }

    #[inline(never)]
    pub(super) fn eval_if(&mut self, fp: Fp, test: N, yes: N, no: N) -> R {
        let chosen = if self.test(fp, test)? { yes } else { no };
        self.eval(fp, chosen)
    }

    /// Whether a node's value is true. A comparison of small integers makes no value.
    #[expect(clippy::inline_always, reason = "measured on loops and branches")]
    #[inline(always)]
    pub(super) fn test(&mut self, fp: Fp, node: N) -> Res<bool> {
        match &node.kind {
            Kind::BinLI(op, slot, i, _) => {
                let l = self.stack[(fp.base() + slot) as usize];
                if l.is_fix()
                    && !self.redefined
                    && let Some(is) = int_compare(*op, l.as_fix(), *i)
                {
                    return Ok(is);
                }
            }
            Kind::LVar(slot) => return Ok(self.stack[(fp.base() + slot) as usize].truthy()),
            Kind::And(..) | Kind::Or(..) | Kind::Not(..) | Kind::Bin(..) => {
                return self.test_of(fp, node);
            }
            _ => {}
        }
        Ok(self.eval(fp, node)?.truthy())
    }

    #[inline(never)]
    fn test_of(&mut self, fp: Fp, node: N) -> Res<bool> {
        match &node.kind {
            Kind::And(l, r) => Ok(self.test(fp, l)? && self.test(fp, r)?),
            Kind::Or(l, r) => Ok(self.test(fp, l)? || self.test(fp, r)?),
            Kind::Not(inner, call) => {
                let v = self.quick_step(fp, inner)?;
                Ok(self.negated(fp, call, v)?.truthy())
            }
            Kind::Bin(op, l, r, _) if !matches!(op, Op::Index) => {
                let (l, r) = self.operands(fp, l, r)?;
                if l.is_fix()
                    && r.is_fix()
                    && !self.redefined
                    && let Some(is) = int_compare(*op, l.as_fix(), r.as_fix())
                {
                    return Ok(is);
                }
                if l.is_flonum()
                    && r.is_flonum()
                    && !self.redefined
                    && let Some(is) = float_compare(*op, l.as_flonum(), r.as_flonum())
                {
                    return Ok(is);
                }
                Ok(self.bin_of(fp, node, *op, l, r)?.truthy())
            }
            _ => Ok(self.eval(fp, node)?.truthy()),
        }
    }

    #[inline(never)]
    pub(super) fn eval_and(&mut self, fp: Fp, l: N, r: N) -> R {
        let v = self.quick_step(fp, l)?;
        if v.truthy() { self.eval(fp, r) } else { Ok(v) }
    }

    #[inline(never)]
    pub(super) fn eval_or(&mut self, fp: Fp, l: N, r: N) -> R {
        let v = self.quick_step(fp, l)?;
        if v.truthy() { Ok(v) } else { self.eval(fp, r) }
    }

    #[inline(never)]
    pub(super) fn eval_not(&mut self, fp: Fp, inner: N, call: &'static Call) -> R {
        let v = self.quick_step(fp, inner)?;
        self.negated(fp, call, v)
    }

    #[inline]
    fn negated(&mut self, fp: Fp, call: &'static Call, v: Value) -> R {
        if v.is_obj() || self.redefined {
            self.set_pos(call.pos);
            let start = self.stack.len();
            return self.call_with(fp, call, v, start, NIL, false);
        }
        Ok(Value::bool(!v.truthy()))
    }

    #[inline(never)]
    pub(super) fn eval_str(&mut self, lit: &'static StrLit) -> R {
        if lit.frozen {
            return Ok(self.frozen_literal(lit));
        }
        Ok(self.heap.string(c::STRING, std::borrow::Cow::Borrowed(lit.bytes), lit.enc))
    }

    #[inline(never)]
    pub(super) fn eval_const(&mut self, node: N, site: &'static ConstSite) -> R {
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

    #[inline(never)]
    pub(super) fn eval_array(&mut self, fp: Fp, nodes: &'static [N]) -> R {
        let start = self.stack.len();
        for node in nodes {
            let v = self.quick_step(fp, node)?;
            self.stack.push(v);
        }
        let items = self.stack[start..].to_vec();
        self.stack.truncate(start);
        Ok(self.heap.array(c::ARRAY, items))
    }

    #[inline(never)]
    pub(super) fn eval_return_of(&mut self, fp: Fp, value: N) -> R {
        let v = self.quick_step(fp, value)?;
        self.eval_return(v)
    }

    #[inline(never)]
    pub(super) fn eval_next(&mut self, fp: Fp, value: N) -> R {
        let v = self.quick_step(fp, value)?;
        self.pending.set(Pending::Next(v));
        Err(Unwind)
    }

    /// A captured local.
    #[inline(never)]
    pub(super) fn eval_evar(&mut self, fp: Fp, up: u32, slot: u32) -> R {
        let env = self.env_at(fp.env(), up);
        Ok(self.heap.envs[env as usize].vars[slot as usize])
    }

    #[inline(never)]
    pub(super) fn eval_ivar(&mut self, fp: Fp, site: &'static IvarSite) -> R {
        if fp.me.is_obj() {
            let obj = &self.heap.objects[fp.me.index()];
            if obj.class == site.class.get() {
                let v = obj.ivars.get(site.slot.get() as usize).copied().unwrap_or(NIL);
                return Ok(if v.is_undef() { NIL } else { v });
            }
        }
        self.ivar_slow(fp.me, site)
    }

    #[inline(never)]
    pub(super) fn eval_float(&mut self, fp: Fp, node: N, f: f64) -> R {
        match Value::flonum(f) {
            Some(v) => Ok(v),
            None => self.eval_cold(fp, node),
        }
    }

    /// A binary operator on a local and a small integer.
    #[inline(never)]
    pub(super) fn eval_bin_li(&mut self, fp: Fp, node: N) -> R {
        let Kind::BinLI(op, slot, i, _) = &node.kind else { return Ok(NIL) };
        let l = self.stack[(fp.base() + slot) as usize];
        if l.is_fix()
            && !self.redefined
            && let Some(v) = int_op(*op, l.as_fix(), *i)
        {
            return Ok(v);
        }
        if *op == Op::Index {
            return self.index_of(fp, node, l, Value::fix(*i));
        }
        self.bin_slow(fp, node, l, Value::fix(*i))
    }

    /// Both sides of an operator.
    #[expect(clippy::inline_always, reason = "folds into the operators")]
    #[inline(always)]
    fn operands(&mut self, fp: Fp, l: N, r: N) -> Res<(Value, Value)> {
        let l = self.quick(fp, l)?;
        let r = match &r.kind {
            Kind::LVar(slot) => self.stack[(fp.base() + slot) as usize],
            Kind::Int(i) => Value::fix(*i),
            Kind::EVar(0, slot) => self.heap.envs[fp.env() as usize].vars[*slot as usize],
            // These run no code, so the left side needs no place on the stack.
            Kind::Str(_) | Kind::EVar(..) | Kind::IVar(_) | Kind::Sym(_) | Kind::Zelf => {
                self.eval(fp, r)?
            }
            Kind::Float(f) => match Value::flonum(*f) {
                Some(r) => r,
                None => self.eval(fp, r)?,
            },
            _ if l.is_heap() => self.eval_beside(fp, l, r)?,
            _ => self.quick_step(fp, r)?,
        };
        Ok((l, r))
    }

    /// An element: of an array, most often.
    #[inline(never)]
    pub(super) fn eval_index(&mut self, fp: Fp, node: N) -> R {
        let Kind::Bin(_, l, r, _) = &node.kind else { return Ok(NIL) };
        if let Some(l) = self.leaf(fp, l).or_else(|| self.own(fp, l))
            && let Some(r) = self.key(fp, r)
        {
            return self.index_of(fp, node, l, r);
        }
        self.eval_index_deep(fp, node)
    }

    /// As [`Vm::leaf_step`], and a symbol too.
    #[expect(clippy::inline_always, reason = "folds into elements")]
    #[inline(always)]
    fn key(&self, fp: Fp, node: N) -> Option<Value> {
        if let Kind::Sym(sym) = &node.kind {
            return Some(Value::sym(*sym));
        }
        self.leaf_step(fp, node)
    }

    #[inline(never)]
    fn eval_index_deep(&mut self, fp: Fp, node: N) -> R {
        let Kind::Bin(_, l, r, _) = &node.kind else { return Ok(NIL) };
        let (l, r) = self.operands(fp, l, r)?;
        self.index_of(fp, node, l, r)
    }

    #[expect(clippy::inline_always, reason = "folds into the two nodes of an element")]
    #[inline(always)]
    fn index_of(&mut self, fp: Fp, node: N, l: Value, r: Value) -> R {
        if l.is_arr() && r.is_fix() && !self.redefined {
            let array = &self.heap.arrays[l.index()];
            if array.class == c::ARRAY {
                let i = r.as_fix();
                let at = if i < 0 { i + array.v.len() as i64 } else { i };
                let item = usize::try_from(at).ok().and_then(|at| array.v.get(at));
                return Ok(item.copied().unwrap_or(NIL));
            }
        } else if l.is_hash() {
            return self.bin_slow(fp, node, l, r);
        }
        self.bin_of(fp, node, Op::Index, l, r)
    }

    /// The value of what needs no call: a local, a small integer, most floats.
    #[expect(clippy::inline_always, reason = "folds into the operators")]
    #[inline(always)]
    fn leaf(&self, fp: Fp, node: N) -> Option<Value> {
        if let Kind::LVar(slot) = &node.kind {
            return Some(self.stack[(fp.base() + slot) as usize]);
        }
        if let Kind::Int(i) = &node.kind {
            return Some(Value::fix(*i));
        }
        if let Kind::Float(f) = &node.kind { Value::flonum(*f) } else { None }
    }

    /// As [`Vm::leaf`], and a local with a small integer too.
    #[expect(clippy::inline_always, reason = "folds into the operators")]
    #[inline(always)]
    fn leaf_step(&self, fp: Fp, node: N) -> Option<Value> {
        if let Kind::BinLI(op, slot, i, _) = &node.kind {
            let l = self.stack[(fp.base() + slot) as usize];
            return if l.is_fix() && !self.redefined {
                int_step(*op, l.as_fix(), *i)
            } else {
                None
            };
        }
        self.leaf(fp, node)
    }

    /// A captured local, or an instance variable whose place is known.
    #[expect(clippy::inline_always, reason = "folds into elements")]
    #[inline(always)]
    fn own(&self, fp: Fp, node: N) -> Option<Value> {
        if let Kind::EVar(0, slot) = &node.kind {
            return Some(self.heap.envs[fp.env() as usize].vars[*slot as usize]);
        }
        let Kind::IVar(site) = &node.kind else { return None };
        if !fp.me.is_obj() {
            return None;
        }
        let obj = &self.heap.objects[fp.me.index()];
        if obj.class != site.class.get() {
            return None;
        }
        obj.ivars.get(site.slot.get() as usize).copied().filter(|v| !v.is_undef())
    }

    /// A sum, difference or product. Of two leaves it calls nothing, and so saves no register.
    #[expect(clippy::inline_always, reason = "one function for each operator")]
    #[inline(always)]
    fn arithmetic(
        &mut self,
        fp: Fp,
        node: N,
        ints: impl Fn(i64, i64) -> Option<i64>,
        floats: impl Fn(f64, f64) -> f64,
    ) -> R {
        let Kind::Bin(_, l, r, _) = &node.kind else { return Ok(NIL) };
        if let Some(l) = self.leaf(fp, l)
            && let Some(r) = self.leaf_step(fp, r)
        {
            if self.redefined {
                return self.bin_slow(fp, node, l, r);
            }
            if l.is_flonum() && r.is_flonum() {
                if let Some(v) = Value::flonum(floats(l.as_flonum(), r.as_flonum())) {
                    return Ok(v);
                }
            } else if l.is_fix()
                && r.is_fix()
                && let Some(i) = ints(l.as_fix(), r.as_fix())
                && (FIX_MIN..=FIX_MAX).contains(&i)
            {
                return Ok(Value::fix(i));
            }
            return self.bin_slow(fp, node, l, r);
        }
        self.eval_bin(fp, node)
    }

    #[inline(never)]
    pub(super) fn eval_add(&mut self, fp: Fp, node: N) -> R {
        self.arithmetic(fp, node, |x, y| Some(x + y), |x, y| x + y)
    }

    #[inline(never)]
    pub(super) fn eval_sub(&mut self, fp: Fp, node: N) -> R {
        self.arithmetic(fp, node, |x, y| Some(x - y), |x, y| x - y)
    }

    #[inline(never)]
    pub(super) fn eval_mul(&mut self, fp: Fp, node: N) -> R {
        self.arithmetic(fp, node, i64::checked_mul, |x, y| x * y)
    }

    /// A binary operator on two nodes.
    #[inline(never)]
    pub(super) fn eval_bin(&mut self, fp: Fp, node: N) -> R {
        let Kind::Bin(op, l, r, _) = &node.kind else { return Ok(NIL) };
        let (l, r) = self.operands(fp, l, r)?;
        self.bin_of(fp, node, *op, l, r)
    }

    #[expect(clippy::inline_always, reason = "folds into the operators")]
    #[inline(always)]
    fn bin_of(&mut self, fp: Fp, node: N, op: Op, l: Value, r: Value) -> R {
        if !self.redefined {
            if l.is_fix() && r.is_fix() {
                if let Some(v) = int_op(op, l.as_fix(), r.as_fix()) {
                    return Ok(v);
                }
            } else if l.is_flonum()
                && r.is_flonum()
                && let Some(v) = flonum_op(op, l.as_flonum(), r.as_flonum())
            {
                return Ok(v);
            }
        }
        self.bin_slow(fp, node, l, r)
    }

    /// `a, b = b, a` whose value nobody uses: no array is made.
    #[inline(never)]
    pub(super) fn eval_spread(
        &mut self,
        fp: Fp,
        node: N,
        multi: &'static Multi,
        values: &'static [N],
    ) -> R {
        let start = self.stack.len();
        for value in values {
            let v = self.quick_step(fp, value)?;
            self.stack.push(v);
        }
        self.set_pos(node.pos);
        for (i, target) in multi.pre.iter().enumerate() {
            let v = self.stack[start + i];
            self.assign(fp, target, v)?;
        }
        self.stack.truncate(start);
        Ok(NIL)
    }
}
