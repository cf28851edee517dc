//! Calling blocks and procs.

use std::rc::Rc;

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::Code;

use crate::heap::{ProcBody, RProc};
use crate::interp::Fp;
use crate::names as n;
use crate::object::{Cref, Method, Vis, c};
use crate::value::{NIL, UNDEF, Value};
use crate::vm::{Frame, Pending, R, Res, Unwind, Vm};

/// How a block runs other than where it was written.
#[derive(Clone, Copy)]
pub(crate) struct Over {
    pub(crate) me: Value,
    pub(crate) cref: Option<&'static Cref>,
    /// Method id, owner and name for `define_method`.
    pub(crate) method: Option<(u32, u32, Sym)>,
    pub(crate) lambda: bool,
}

/// Calls of blocks from native code. These defer collections; see [`Vm::open`] for the others.
impl Vm {
    /// Calls a block with no argument.
    pub fn yield0(&mut self, block: Value) -> R {
        self.yield_n(block, &[])
    }

    pub fn yield1(&mut self, block: Value, v: Value) -> R {
        self.yield_n(block, &[v])
    }

    pub fn yield2(&mut self, block: Value, a: Value, b: Value) -> R {
        self.yield_n(block, &[a, b])
    }

    pub fn yield_n(&mut self, block: Value, args: &[Value]) -> R {
        self.deferring(|vm| vm.block_call(block, args))
    }

    /// One `[key, value]` argument, without the array where the block takes it apart.
    pub fn yield_pair(&mut self, block: Value, k: Value, v: Value) -> R {
        self.deferring(|vm| vm.pair_call(block, k, v))
    }

    /// Calls with another self, as `instance_exec` does.
    pub fn yield_self(
        &mut self,
        block: Value,
        me: Value,
        args: &[Value],
        cref: Option<&'static Cref>,
    ) -> R {
        self.deferring(|vm| vm.self_call(block, me, args, cref))
    }

    /// `Proc#call`.
    pub fn call_proc(&mut self, p: Value, args: &[Value], block: Value, kw: bool) -> R {
        self.deferring(|vm| vm.proc_call(p, args, block, kw))
    }
}

impl Vm {
    #[inline]
    pub(crate) fn block_call(&mut self, block: Value, args: &[Value]) -> R {
        let start = self.stack.len();
        self.stack.extend_from_slice(args);
        self.call_block(block, start, false, NIL)
    }

    pub(crate) fn pair_call(&mut self, block: Value, k: Value, v: Value) -> R {
        let start = self.stack.len();
        let apart = match &self.heap.procs[block.index()].body {
            ProcBody::Code(code) => {
                code.shape.simple && code.shape.req >= 2 && !self.heap.procs[block.index()].lambda
            }
            _ => false,
        };
        if apart {
            self.stack.push(k);
            self.stack.push(v);
        } else {
            let pair = self.heap.array(c::ARRAY, vec![k, v]);
            self.stack.push(pair);
        }
        self.call_block(block, start, false, NIL)
    }

    pub(crate) fn self_call(
        &mut self,
        block: Value,
        me: Value,
        args: &[Value],
        cref: Option<&'static Cref>,
    ) -> R {
        let start = self.stack.len();
        self.stack.extend_from_slice(args);
        self.call_over(block, start, false, NIL, Over { me, cref, method: None, lambda: false })
    }

    pub(crate) fn proc_call(&mut self, p: Value, args: &[Value], block: Value, kw: bool) -> R {
        let start = self.stack.len();
        self.stack.extend_from_slice(args);
        self.call_block(p, start, kw, block)
    }

    /// Arguments are on the stack from `start` and are dropped.
    pub(crate) fn call_block(&mut self, block: Value, start: usize, kw: bool, passed: Value) -> R {
        let p = &self.heap.procs[block.index()];
        if let ProcBody::Code(code) = p.body
            && !p.lambda
        {
            let (me, env, frame, tag, ruby2) = (p.self_val, p.env, p.frame, p.tag, p.ruby2);
            let params = code.shape;
            if params.simple && !kw {
                let argc = self.stack.len() - start;
                let req = params.req as usize;
                if argc != req {
                    if argc == 1 && params.spreads {
                        self.spread(start)?;
                    }
                    self.stack.resize(start + req, NIL);
                }
                let end = start + code.nstack as usize;
                if self.stack.len() < end {
                    self.stack.resize(end, NIL);
                }
            } else {
                if params.spreads && self.stack.len() - start == 1 + usize::from(kw) && !kw {
                    self.spread(start)?;
                }
                self.bind_args(code, start, kw, false, ruby2, passed)?;
            }
            if self.frames.len() >= self.limits.depth as usize {
                self.stack.truncate(start);
                return self.too_deep();
            }
            let own = !code.env_names.is_empty();
            let env = if own { self.open_env(code, env, start) } else { env };
            self.frames.push(Frame {
                code,
                self_val: me,
                block: frame.block,
                method: frame.method,
                owner: frame.owner,
                cref: frame.cref,
                home: frame.home,
                break_tag: tag,
                env,
                base: start as u32,
                pos: code.pos,
                name: frame.name,
                vis: Vis::Public,
                module_function: false,
                lambda: false,
                saved_match: NIL,
            });
            let fp = Fp::new(start as u32, env, me);
            let result = match self.safepoint() {
                Ok(()) if params.simple => self.eval(fp, code.body),
                Ok(()) => self.eval_filled(fp, code),
                Err(Unwind) => Err(Unwind),
            };
            let result = match result {
                Ok(v) => Ok(v),
                Err(Unwind) => self.block_jump(fp, code),
            };
            self.frames.pop();
            self.stack.truncate(start);
            if own {
                self.heap.release_env(env);
            }
            return result;
        }
        self.call_over(
            block,
            start,
            kw,
            passed,
            Over { me: UNDEF, cref: None, method: None, lambda: false },
        )
    }

    fn eval_filled(&mut self, fp: Fp, code: &'static Code) -> R {
        self.fill_defaults(fp, code)?;
        self.eval(fp, code.body)
    }

    /// `next` ends the block with a value, `redo` runs it again.
    fn block_jump(&mut self, fp: Fp, code: &'static Code) -> R {
        loop {
            match self.pending.get() {
                Pending::Next(v) => {
                    self.pending.set(Pending::None);
                    return Ok(v);
                }
                Pending::Redo => {
                    self.pending.set(Pending::None);
                    self.safepoint()?;
                    // What it fails with is judged as the first time.
                    if let Ok(v) = self.eval(fp, code.body) {
                        return Ok(v);
                    }
                }
                _ => return Err(Unwind),
            }
        }
    }

    /// One array argument becomes several.
    fn spread(&mut self, start: usize) -> Res<()> {
        let v = self.stack[start];
        let list = if v.is_arr() {
            v
        } else if v.is_obj() && self.responds(v, n::TO_ARY, true)? {
            let list = self.send(v, n::TO_ARY, &[])?;
            if list.is_nil() {
                return Ok(());
            }
            if !list.is_arr() {
                let (a, b) = (self.type_name(v), self.type_name(list));
                return self
                    .type_error(format!("can't convert {a} to Array ({a}#to_ary gives {b})"));
            }
            list
        } else {
            return Ok(());
        };
        self.stack.truncate(start);
        self.stack.extend_from_slice(&self.heap.arrays[list.index()].v);
        Ok(())
    }

    /// The general form: lambdas, other self, other definition target.
    pub(crate) fn call_over(
        &mut self,
        block: Value,
        start: usize,
        kw: bool,
        passed: Value,
        over: Over,
    ) -> R {
        let ProcBody::Code(code) = self.heap.procs[block.index()].body else {
            return self.call_codeless(block, start, kw, passed);
        };
        let p: RProc = self.heap.procs[block.index()].clone();
        if self.frames.len() >= self.limits.depth as usize {
            self.stack.truncate(start);
            return self.too_deep();
        }
        let lambda = p.lambda || over.lambda;
        let me = if over.me.is_undef() { p.self_val } else { over.me };
        self.serial += 1;
        let own_serial = self.serial;
        let (method, owner, name) =
            over.method.unwrap_or((p.frame.method, p.frame.owner, p.frame.name));
        self.frames.push(Frame {
            code,
            self_val: me,
            block: p.frame.block,
            method,
            owner,
            cref: over.cref.unwrap_or(p.frame.cref),
            home: if lambda { own_serial } else { p.frame.home },
            break_tag: if lambda { own_serial } else { p.tag },
            env: p.env,
            base: start as u32,
            pos: code.pos,
            name,
            vis: Vis::Public,
            module_function: false,
            lambda,
            saved_match: self.last_match,
        });
        let saved_match = self.last_match;
        let result = self.run_over(code, start, kw, passed, me, p.env, lambda, p.ruby2);
        if lambda {
            self.last_match = saved_match;
        }
        self.frames.pop();
        self.stack.truncate(start);
        if let Err(Unwind) = result
            && lambda
        {
            if let Pending::Break(to, v) = self.pending.get()
                && (to == own_serial || to == p.tag && to != 0)
            {
                self.pending.set(Pending::None);
                return Ok(v);
            }
            return self.catch_return(own_serial);
        }
        result
    }

    /// Procs made of something else than a block.
    fn call_codeless(&mut self, block: Value, start: usize, kw: bool, passed: Value) -> R {
        let p = &self.heap.procs[block.index()];
        match &p.body {
            ProcBody::Code(_) => Ok(NIL),
            ProcBody::Sym(sym) => {
                let (sym, file, pos) = (*sym, p.frame.file, p.frame.pos);
                if self.stack.len() == start {
                    return self.arg_error("no receiver given");
                }
                let recv = self.stack.remove(start);
                let refined = if self.refining.idle() {
                    None
                } else {
                    self.refined(self.class_of(recv), sym, file, pos)
                };
                let result = match refined {
                    Some(id) => self.invoke(id, recv, sym, start, passed, kw),
                    None => self.dispatch(recv, sym, start, passed, kw, false),
                };
                self.stack.truncate(start);
                result
            }
            ProcBody::Method(m) => {
                let m = *m;
                let args: Vec<Value> = self.stack[start..].to_vec();
                self.stack.truncate(start);
                self.call_method_object(m, &args, passed, kw)
            }
            ProcBody::Native(f, arity, kept) => {
                let (f, kept, arity, lambda) = (Rc::clone(f), Rc::clone(kept), *arity, p.lambda);
                let args: Vec<Value> = self.stack[start..].to_vec();
                self.stack.truncate(start);
                if lambda && arity >= 0 && args.len() != arity as usize {
                    return self.wrong_args(args.len(), arity as usize, Some(arity as usize));
                }
                f(self, &kept, &args, passed)
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the state of a call")]
    fn run_over(
        &mut self,
        code: &'static Code,
        start: usize,
        kw: bool,
        passed: Value,
        me: Value,
        up: u32,
        lambda: bool,
        ruby2: bool,
    ) -> R {
        if !lambda && code.shape.spreads && self.stack.len() - start == 1 && !kw {
            self.spread(start)?;
        }
        self.bind_args(code, start, kw, lambda, ruby2, passed)?;
        let own = !code.env_names.is_empty();
        let env = if own { self.open_env(code, up, start) } else { up };
        let top = self.frames.len() - 1;
        self.frames[top].env = env;
        let fp = Fp::new(start as u32, env, me);
        let ready = self.safepoint().and_then(|()| self.fill_defaults(fp, code));
        let result = match ready {
            Ok(()) => self.eval(fp, code.body),
            Err(Unwind) => Err(Unwind),
        };
        let result = match result {
            Ok(v) => Ok(v),
            Err(Unwind) => self.block_jump(fp, code),
        };
        if own {
            self.heap.release_env(env);
        }
        result
    }

    /// A method made by `define_method`.
    #[expect(clippy::too_many_arguments, reason = "the state of a call")]
    pub(crate) fn call_method_proc(
        &mut self,
        p: Value,
        recv: Value,
        args: &[Value],
        block: Value,
        kw: bool,
        id: u32,
        method: Method,
    ) -> R {
        let start = self.stack.len();
        self.stack.extend_from_slice(args);
        let over = Over {
            me: recv,
            cref: None,
            method: Some((id, method.owner, method.orig)),
            lambda: true,
        };
        self.call_over(p, start, kw, block, over)
    }

    /// The block of the current call as a value that may be kept.
    pub fn keep_block(&mut self, block: Value) -> Value {
        self.heap.escape(block);
        block
    }
}
