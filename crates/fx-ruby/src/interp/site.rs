//! Call sites with plain arguments, which most are, and what needs no call at all: attributes and
//! elements of arrays.

use fx_ruby_syntax::ast::{Call, Kind, N, NO_SLOT};

use crate::interp::Fp;
use crate::names as n;
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{R, Vm};

impl Vm {
    /// A call. What it passes on to has a frame of its own; here none is needed.
    #[inline(never)]
    pub(crate) fn eval_call(&mut self, fp: Fp, call: &'static Call) -> R {
        if !call.args.simple || call.safe {
            return self.eval_call_full(fp, call);
        }
        match call.recv {
            None if call.args.pos.is_empty() => self.call_bare(fp, call, fp.me),
            None => self.call_pushed(fp, call, fp.me),
            Some(node) => {
                if call.args.pos.is_empty()
                    && let Kind::LVar(slot) = &node.kind
                {
                    let recv = self.stack[(fp.base() + slot) as usize];
                    return self.call_bare(fp, call, recv);
                }
                self.call_on(fp, call, node)
            }
        }
    }

    /// A call with a receiver that has to be found out first.
    #[inline(never)]
    fn call_on(&mut self, fp: Fp, call: &'static Call, node: N) -> R {
        let recv = self.quick(fp, node)?;
        if call.args.pos.is_empty() {
            return self.call_bare(fp, call, recv);
        }
        if call.asgn && call.c_slot.get() != NO_SLOT && recv.is_obj() {
            return self.call_writer(fp, call, recv);
        }
        if recv.is_heap() || call.asgn {
            return self.call_held(fp, call, recv);
        }
        self.call_pushed(fp, call, recv)
    }

    /// An attribute is set, as it was the last time.
    #[inline(never)]
    fn call_writer(&mut self, fp: Fp, call: &'static Call, recv: Value) -> R {
        let &[node] = call.args.pos else { return self.call_held(fp, call, recv) };
        let held = self.stack.len();
        self.stack.push(recv);
        let v = self.quick_step(fp, node)?;
        let obj = &mut self.heap.objects[recv.index()];
        if obj.class == call.c_class.get()
            && call.c_epoch.get() == self.epoch
            && !obj.frozen
            && let Some(place) = obj.ivars.get_mut(call.c_slot.get() as usize)
        {
            *place = v;
        } else {
            self.stack.extend_from_slice(&[NIL, v]);
            self.set_pos(call.pos);
            self.call_asgn(fp, call, recv, held + 2, NIL, false)?;
        }
        self.stack.truncate(held);
        Ok(v)
    }

    #[inline(never)]
    fn call_pushed(&mut self, fp: Fp, call: &'static Call, recv: Value) -> R {
        let start = self.stack.len();
        for node in call.args.pos {
            let v = self.quick_step(fp, node)?;
            self.stack.push(v);
        }
        self.set_pos(call.pos);
        self.call_plain(fp.me, call, recv, start, NIL)
    }

    #[inline(never)]
    fn eval_call_full(&mut self, fp: Fp, call: &'static Call) -> R {
        let recv = match call.recv {
            Some(node) => self.quick(fp, node)?,
            None => fp.me,
        };
        self.call_full(fp, call, recv)
    }

    /// A call without arguments: most often the read of an attribute.
    #[inline]
    fn call_bare(&mut self, fp: Fp, call: &'static Call, recv: Value) -> R {
        let slot = call.c_slot.get();
        if slot != NO_SLOT && recv.is_obj() && call.c_epoch.get() == self.epoch {
            let obj = &self.heap.objects[recv.index()];
            if obj.class == call.c_class.get() {
                let v = obj.ivars.get(slot as usize).copied().unwrap_or(NIL);
                return Ok(if v.is_undef() { NIL } else { v });
            }
        }
        self.set_pos(call.pos);
        let start = self.stack.len();
        self.call_plain(fp.me, call, recv, start, NIL)
    }

    /// A call with plain arguments, its receiver on the stack below them until they are there.
    #[inline(never)]
    fn call_held(&mut self, fp: Fp, call: &'static Call, recv: Value) -> R {
        let held = self.stack.len();
        self.stack.push(recv);
        if call.asgn {
            // The place of what is assigned.
            self.stack.push(NIL);
        }
        let first = self.stack.len();
        for node in call.args.pos {
            let v = self.quick_step(fp, node)?;
            self.stack.push(v);
        }
        let result = if call.asgn {
            match self.assigned(call, recv, first) {
                Some(v) => Ok(v),
                None => {
                    self.set_pos(call.pos);
                    self.call_asgn(fp, call, recv, first, NIL, false)
                }
            }
        } else {
            self.set_pos(call.pos);
            self.call_plain(fp.me, call, recv, first, NIL)
        };
        self.stack.truncate(held);
        result
    }

    /// Does the assignment that needs no call: to an element of an array.
    #[inline]
    fn assigned(&mut self, call: &'static Call, recv: Value, first: usize) -> Option<Value> {
        let &[i, v] = &self.stack[first..] else { return None };
        if recv.is_arr() {
            let array = &mut self.heap.arrays[recv.index()];
            if call.name == n::ASET
                && array.class == c::ARRAY
                && !array.frozen
                && !self.redefined
                && let Some(i) = i.fixnum()
                && let Some(place) = usize::try_from(i).ok().and_then(|i| array.v.get_mut(i))
            {
                *place = v;
                return Some(v);
            }
        }
        None
    }
}
