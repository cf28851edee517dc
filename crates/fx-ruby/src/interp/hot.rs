//! The nodes that programs spend their time in: one small function for each, so that none has a
//! larger frame on the machine's stack than it needs.

use fx_ruby_syntax::ast::{Call, ConstSite, IvarSite, Kind, Multi, N, StrLit};

use crate::interp::{Fp, flonum_op, int_op};
use crate::object::c;
use crate::value::{NIL, Value};
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
        let chosen = if self.quick_step(fp, test)?.truthy() { yes } else { no };
        self.eval(fp, chosen)
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
        self.pending = Pending::Next(v);
        Err(Unwind)
    }

    /// A binary operator on two nodes.
    #[inline(never)]
    pub(super) fn eval_bin(&mut self, fp: Fp, node: N) -> R {
        let Kind::Bin(op, l, r, _) = &node.kind else { return Ok(NIL) };
        let l = self.quick(fp, l)?;
        let r = match &r.kind {
            Kind::LVar(slot) => self.stack[(fp.base() + slot) as usize],
            Kind::Int(i) => Value::fix(*i),
            // These run no code, so the left side needs no place on the stack.
            Kind::Str(_)
            | Kind::EVar(..)
            | Kind::IVar(_)
            | Kind::Sym(_)
            | Kind::Float(_)
            | Kind::Zelf => self.eval(fp, r)?,
            _ if l.is_heap() => self.eval_beside(fp, l, r)?,
            _ => self.quick_step(fp, r)?,
        };
        if !self.redefined {
            if l.is_fix()
                && r.is_fix()
                && let Some(v) = int_op(*op, l.as_fix(), r.as_fix())
            {
                return Ok(v);
            }
            if l.is_flonum()
                && r.is_flonum()
                && let Some(v) = flonum_op(*op, l.as_flonum(), r.as_flonum())
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
