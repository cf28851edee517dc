//! Calls: finding the method, passing arguments, running it.

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::{Args as ArgNodes, Blk, Call, Code, Kind, NO_SLOT, Pair};

use crate::heap::{ProcBody, RProc};
use crate::interp::Fp;
use crate::names as n;
use crate::object::{Body, Cref, Method, Vis, c};
use crate::value::{NIL, Value};
use crate::vm::{Args, Frame, NO_METHOD, Pending, R, Res, Unwind, Vm};

impl Vm {
    /// Splats, keywords, blocks, safe navigation.
    #[inline(never)]
    pub(super) fn call_full(&mut self, fp: Fp, call: &'static Call, recv: Value) -> R {
        if call.safe && recv.is_nil() {
            return Ok(NIL);
        }
        // The receiver, the block and what is assigned stay on the stack below the arguments.
        let held = self.stack.len();
        self.stack.extend_from_slice(&[recv, NIL, NIL]);
        let start = held + 3;
        let kw = self.push_args(fp, &call.args)?;
        let result = match call.args.block() {
            Blk::Code(code) => {
                let block = self.make_block(fp, code);
                self.stack[held + 1] = block;
                let tag = self.heap.procs[block.index()].tag;
                self.set_pos(call.pos);
                let result = self.call_with(fp, call, recv, start, block, kw);
                self.finish_block(result, block, tag)
            }
            Blk::Pass(node) => {
                let v = self.eval(fp, node)?;
                self.set_pos(call.pos);
                let block = self.to_block(v)?;
                self.stack[held + 1] = block;
                if call.asgn {
                    self.call_asgn(fp, call, recv, start, block, kw)
                } else {
                    self.call_with(fp, call, recv, start, block, kw)
                }
            }
            Blk::None => {
                self.set_pos(call.pos);
                if call.asgn {
                    self.call_asgn(fp, call, recv, start, NIL, kw)
                } else {
                    self.call_with(fp, call, recv, start, NIL, kw)
                }
            }
        };
        if result.is_ok() {
            self.stack.truncate(held);
        }
        result
    }

    /// After a call with a literal block: `break` ends here, and the block may be reused.
    /// The caller cuts the stack.
    pub(crate) fn finish_block(&mut self, result: R, block: Value, tag: u64) -> R {
        self.heap.release_proc(block);
        if let Err(Unwind) = result
            && let Pending::Break(to, v) = self.pending.get()
            && to == tag
        {
            self.pending.set(Pending::None);
            return Ok(v);
        }
        result
    }

    /// An assignment call: its value is what was assigned, held below the arguments meanwhile.
    pub(super) fn call_asgn(
        &mut self,
        fp: Fp,
        call: &'static Call,
        recv: Value,
        start: usize,
        block: Value,
        kw: bool,
    ) -> R {
        let value = self.stack.last().copied().unwrap_or(NIL);
        self.stack[start - 1] = value;
        self.call_with(fp, call, recv, start, block, kw)?;
        Ok(value)
    }

    pub(crate) fn make_block(&mut self, fp: Fp, code: &'static Code) -> Value {
        self.serial += 1;
        let frame = &self.frames[self.frames.len() - 1];
        let bind = crate::heap::BindFrame {
            method: frame.method,
            owner: frame.owner,
            block: frame.block,
            cref: frame.cref,
            home: frame.home,
            file: code.file,
            pos: code.pos,
            name: frame.name,
        };
        self.heap.proc_(RProc {
            class: c::PROC,
            frozen: false,
            body: ProcBody::Code(code),
            self_val: fp.me,
            env: fp.env(),
            frame: bind,
            tag: self.serial,
            lambda: false,
            escaped: false,
            from_method: false,
            ruby2: false,
        })
    }

    /// Pushes arguments; true when the last one is a hash of keywords.
    pub(crate) fn push_args(&mut self, fp: Fp, args: &'static ArgNodes) -> Res<bool> {
        for node in args.pos {
            if let Kind::Splat(inner) = &node.kind {
                let v = self.eval(fp, inner)?;
                if v.is_arr() && !self.heap.arr(v).last().is_some_and(|last| last.is_hash()) {
                    self.stack.extend_from_slice(&self.heap.arrays[v.index()].v);
                    continue;
                }
                let items = self.splat(v)?;
                let only = args.pos.len() == 1 || std::ptr::eq(*node, args.pos[args.pos.len() - 1]);
                if only && args.kw().is_none() {
                    // A hash flagged by ruby2_keywords becomes keywords again.
                    if let Some(last) = items.last().copied()
                        && last.is_hash()
                        && self.heap.h(last).ruby2
                    {
                        self.stack.extend_from_slice(&items);
                        let copy = self.hash_dup(last);
                        self.heap.h_mut(copy).ruby2 = false;
                        let top = self.stack.len() - 1;
                        if self.heap.h(copy).live == 0 {
                            self.stack.pop();
                            return Ok(false);
                        }
                        self.stack[top] = copy;
                        return Ok(true);
                    }
                }
                self.stack.extend_from_slice(&items);
            } else {
                let v = self.eval(fp, node)?;
                self.stack.push(v);
            }
        }
        match args.kw() {
            None => Ok(false),
            Some(pairs) => {
                let hash = self.eval_pairs(fp, pairs)?;
                if self.heap.h(hash).live == 0 && pairs.iter().all(|p| p.0.is_none()) {
                    return Ok(false);
                }
                self.stack.push(hash);
                Ok(true)
            }
        }
    }

    #[inline(never)]
    pub(crate) fn eval_pairs(&mut self, fp: Fp, pairs: &'static [Pair]) -> R {
        let hash = self.hash();
        let start = self.stack.len();
        self.stack.push(hash);
        for (key, value) in pairs {
            match key {
                Some(key) => {
                    let k = self.eval(fp, key)?;
                    let v = if k.is_heap() {
                        self.eval_beside(fp, k, value)?
                    } else {
                        self.eval(fp, value)?
                    };
                    self.hash_set(hash, k, v)?;
                }
                None => {
                    let v = self.eval(fp, value)?;
                    if v.is_nil() {
                        continue;
                    }
                    let other = self.to_hash(v)?;
                    let items: Vec<(Value, Value)> = self.heap.h(other).pairs().collect();
                    for (k, v) in items {
                        self.hash_set(hash, k, v)?;
                    }
                }
            }
        }
        self.stack.truncate(start);
        Ok(hash)
    }

    pub(crate) fn splat(&mut self, v: Value) -> Res<Vec<Value>> {
        if v.is_arr() {
            return Ok(self.heap.arr(v).clone());
        }
        if v.is_nil() {
            return Ok(Vec::new());
        }
        if v.is_hash() && self.is_native(v, n::TO_A) || !v.is_hash() {
            if v.is_fix() || v.is_str() || v.is_sym() {
                return Ok(vec![v]);
            }
            match self.try_send(v, n::TO_A, &[])? {
                Some(list) if list.is_arr() => return Ok(self.heap.arr(list).clone()),
                Some(list) if list.is_nil() => return Ok(vec![v]),
                Some(list) => {
                    let (a, b) = (self.type_name(v), self.type_name(list));
                    return self
                        .type_error(format!("can't convert {a} to Array ({a}#to_a gives {b})"));
                }
                None => return Ok(vec![v]),
            }
        }
        let list = self.send(v, n::TO_A, &[])?;
        Ok(if list.is_arr() { self.heap.arr(list).clone() } else { vec![v] })
    }

    /// What `&expression` passes.
    pub(crate) fn to_block(&mut self, v: Value) -> R {
        if v.is_nil() || v.is_proc() {
            return Ok(v);
        }
        if let Some(sym) = v.as_sym() {
            return Ok(self.sym_proc(sym));
        }
        match self.try_send(v, n::TO_PROC, &[])? {
            Some(p) if p.is_proc() => Ok(p),
            Some(p) => {
                let (a, b) = (self.type_name(v), self.type_name(p));
                self.type_error(format!("can't convert {a} to Proc ({a}#to_proc gives {b})"))
            }
            None => {
                let name = self.type_name(v);
                self.type_error(format!("wrong argument type {name} (expected Proc)"))
            }
        }
    }

    pub(crate) fn sym_proc(&mut self, sym: Sym) -> Value {
        let frame = self.bind_frame();
        self.heap.proc_(RProc {
            class: c::PROC,
            frozen: false,
            body: ProcBody::Sym(sym),
            self_val: NIL,
            env: 0,
            frame,
            tag: 0,
            lambda: true,
            escaped: true,
            from_method: false,
            ruby2: false,
        })
    }

    /// Arguments are on the stack from `start`; finds the method through the site's cache.
    #[inline(never)]
    pub(crate) fn call_with(
        &mut self,
        fp: Fp,
        call: &'static Call,
        recv: Value,
        start: usize,
        block: Value,
        kw: bool,
    ) -> R {
        if !kw {
            return self.call_plain(fp.me, call, recv, start, block);
        }
        match self.site_method(fp.me, call, recv)? {
            Some(id) => self.invoke(id, recv, call.name, start, block, kw),
            None => self.call_missing(recv, call.name, start, block, kw, call.vcall, call.fcall),
        }
    }

    /// As [`Vm::call_with`] without keywords. What it is given fits the registers.
    #[inline(never)]
    pub(crate) fn call_plain(
        &mut self,
        me: Value,
        call: &'static Call,
        recv: Value,
        start: usize,
        block: Value,
    ) -> R {
        let Some(id) = self.site_method(me, call, recv)? else {
            return self.call_missing(recv, call.name, start, block, false, call.vcall, call.fcall);
        };
        if let Body::Ruby(code, _) = self.methods[id as usize].body
            && code.shape.simple
            && self.stack.len() - start == code.shape.req as usize
        {
            return self.run_method_here(code, id, recv, start, block);
        }
        self.invoke(id, recv, call.name, start, block, false)
    }

    /// The method that a site calls; nothing if there is none that may be called.
    #[expect(clippy::inline_always, reason = "a comparison, on every call")]
    #[inline(always)]
    fn site_method(&mut self, me: Value, call: &'static Call, recv: Value) -> Res<Option<u32>> {
        let class =
            if recv.is_obj() { self.heap.objects[recv.index()].class } else { self.class_of(recv) };
        if call.c_class.get() == class && call.c_epoch.get() == self.epoch {
            return Ok(Some(call.c_meth.get()));
        }
        self.lookup(me, call, recv, class)
    }

    #[inline(never)]
    fn lookup(
        &mut self,
        me: Value,
        call: &'static Call,
        recv: Value,
        class: u32,
    ) -> Res<Option<u32>> {
        let refined = self.refined_here(class, call.name);
        let Some(id) = refined.or_else(|| self.find_method(class, call.name)) else {
            return Ok(None);
        };
        let method = self.methods[id as usize];
        match method.vis {
            Vis::Public => {}
            Vis::Private => {
                if !call.fcall {
                    return Ok(None);
                }
            }
            Vis::Protected => {
                let owner = method.owner;
                if !call.fcall && !self.is_a(me, owner) {
                    return Ok(None);
                }
                if !call.fcall {
                    let real = self.real_method(class, id);
                    return Ok(real);
                }
            }
        }
        let Some(id) = self.real_method(class, id) else { return Ok(None) };
        self.method_cache.asked(call.name);
        call.c_class.set(class);
        call.c_epoch.set(self.epoch);
        call.c_meth.set(id);
        let slot = match self.methods[id as usize].body {
            Body::Reader(name) if recv.is_obj() && call.args.pos.is_empty() => {
                self.known_slot(class, name).unwrap_or(NO_SLOT)
            }
            Body::Writer(name) if recv.is_obj() && call.asgn => self.ivar_slot(recv, name) as u32,
            _ => NO_SLOT,
        };
        call.c_slot.set(slot);
        Ok(Some(id))
    }

    /// Dynamic call: arguments on the stack from `start`.
    pub(crate) fn dispatch(
        &mut self,
        recv: Value,
        name: Sym,
        start: usize,
        block: Value,
        kw: bool,
        private: bool,
    ) -> R {
        let class = self.class_of(recv);
        if let Some(id) = self.find_method(class, name) {
            let vis = self.methods[id as usize].vis;
            if (private || vis == Vis::Public)
                && let Some(id) = self.real_method(class, id)
            {
                return self.invoke(id, recv, name, start, block, kw);
            }
        }
        self.call_missing(recv, name, start, block, kw, false, private)
    }

    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "the state of a failed call")]
    pub(crate) fn call_missing(
        &mut self,
        recv: Value,
        name: Sym,
        start: usize,
        block: Value,
        kw: bool,
        vcall: bool,
        fcall: bool,
    ) -> R {
        let class = self.class_of(recv);
        if let Some(id) = self.find_method(class, n::METHOD_MISSING)
            && !matches!(self.methods[id as usize].body, Body::Native(..))
        {
            self.stack.insert(start, Value::sym(name));
            self.bare_name = vcall;
            return self.invoke(id, recv, n::METHOD_MISSING, start, block, kw);
        }
        let hidden = match self.find_method(class, name) {
            Some(id) if !fcall => match self.methods[id as usize].vis {
                Vis::Private => Some("private"),
                Vis::Protected => Some("protected"),
                Vis::Public => None,
            },
            _ => None,
        };
        let args: Vec<Value> = self.stack[start..].to_vec();
        self.undefined_method(recv, name, &args, vcall, hidden)
    }

    /// Runs a method with the arguments on the stack from `start`, and drops them.
    pub(crate) fn invoke(
        &mut self,
        id: u32,
        recv: Value,
        name: Sym,
        start: usize,
        block: Value,
        kw: bool,
    ) -> R {
        let method: Method = self.methods[id as usize];
        match method.body {
            Body::Ruby(code, cref) => {
                if code.shape.simple && !kw {
                    let argc = self.stack.len() - start;
                    if argc != code.shape.req as usize {
                        return self.method_args_error(code, method, recv, argc, cref, start);
                    }
                    return self.run_method(code, id, recv, start, block);
                }
                self.invoke_slow(code, cref, id, method, recv, start, block, kw)
            }
            Body::Native(f, min, max) => {
                let argc = self.stack.len() - start;
                if argc < min as usize || (max >= 0 && argc > max as usize) {
                    let max = if max < 0 { None } else { Some(max as usize) };
                    return self.wrong_args(argc, min as usize, max);
                }
                if self.native_depth > self.limits.depth * 2 {
                    return self.too_deep();
                }
                self.native_depth += 1;
                let a = Args {
                    recv,
                    start: start as u32,
                    argc: argc as u32,
                    block,
                    kw,
                    name,
                    method: id,
                };
                let result = f(self, a);
                self.native_depth -= 1;
                self.stack.truncate(start);
                result
            }
            Body::Reader(ivar) => {
                let argc = self.stack.len() - start;
                if argc != 0 {
                    return self.wrong_args(argc, 0, Some(0));
                }
                Ok(self.ivar_get(recv, ivar).unwrap_or(NIL))
            }
            Body::Writer(ivar) => {
                let argc = self.stack.len() - start;
                if argc != 1 {
                    return self.wrong_args(argc, 1, Some(1));
                }
                let v = self.stack[start];
                self.stack.truncate(start);
                self.check_frozen(recv)?;
                self.ivar_set(recv, ivar, v);
                Ok(v)
            }
            _ => self.invoke_other(id, method, recv, name, start, block, kw),
        }
    }

    #[cold]
    fn method_args_error(
        &mut self,
        code: &'static Code,
        method: Method,
        recv: Value,
        argc: usize,
        cref: &'static Cref,
        start: usize,
    ) -> R {
        // The error belongs to the callee's line, as its own frame shows.
        self.push_frame(
            code,
            cref,
            recv,
            NIL,
            NO_METHOD,
            method.owner,
            method.orig,
            start as u32,
            0,
        );
        let req = code.shape.req as usize;
        let r = self.wrong_args(argc, req, Some(req));
        self.frames.pop();
        r
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of a frame")]
    #[inline]
    pub(crate) fn push_frame(
        &mut self,
        code: &'static Code,
        cref: &'static Cref,
        me: Value,
        block: Value,
        method: u32,
        owner: u32,
        name: Sym,
        base: u32,
        env: u32,
    ) {
        self.serial += 1;
        let home = self.serial;
        self.frames.push(Frame {
            code,
            self_val: me,
            block,
            method,
            owner,
            cref,
            home,
            break_tag: 0,
            env,
            base,
            pos: code.pos,
            name,
            vis: Vis::Public,
            module_function: false,
            lambda: false,
            saved_match: self.last_match,
        });
    }

    /// Arguments are in place and as many as there are parameters; runs the body.
    #[inline(never)]
    fn run_method(
        &mut self,
        code: &'static Code,
        id: u32,
        recv: Value,
        start: usize,
        block: Value,
    ) -> R {
        self.run_method_here(code, id, recv, start, block)
    }

    /// As [`Vm::run_method`], in the frame of the caller.
    #[expect(clippy::inline_always, reason = "measured on calls")]
    #[inline(always)]
    fn run_method_here(
        &mut self,
        code: &'static Code,
        id: u32,
        recv: Value,
        start: usize,
        block: Value,
    ) -> R {
        let Method { owner, orig: name, body: Body::Ruby(_, cref), .. } = self.methods[id as usize]
        else {
            return Ok(NIL);
        };
        if self.frames.len() >= self.limits.depth as usize {
            self.stack.truncate(start);
            return self.too_deep();
        }
        let end = start + code.nstack as usize;
        if self.stack.len() < end {
            self.stack.resize(end, NIL);
        }
        let env = if code.env_names.is_empty() { 0 } else { self.open_env(code, 0, start) };
        self.push_frame(code, cref, recv, block, id, owner, name, start as u32, env);
        let home = self.serial;
        let saved_match = self.last_match;
        self.last_match = NIL;
        let result = match self.safepoint() {
            Ok(()) => self.eval(Fp::new(start as u32, env, recv), code.body),
            Err(Unwind) => Err(Unwind),
        };
        self.last_match = saved_match;
        self.frames.pop();
        self.stack.truncate(start);
        if env != 0 {
            self.heap.release_env(env);
        }
        match result {
            Ok(v) => Ok(v),
            Err(Unwind) => self.catch_return(home),
        }
    }

    #[inline]
    pub(crate) fn catch_return(&mut self, home: u64) -> R {
        if let Pending::Return(to, v) = self.pending.get()
            && to == home
        {
            self.pending.set(Pending::None);
            return Ok(v);
        }
        Err(Unwind)
    }

    pub(crate) fn open_env(&mut self, code: &'static Code, up: u32, base: usize) -> u32 {
        let env = self.heap.env(code.env_names, up);
        for (slot, at) in code.copies {
            self.heap.envs[env as usize].vars[*at as usize] = self.stack[base + *slot as usize];
        }
        env
    }

    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "the state of a call")]
    fn invoke_slow(
        &mut self,
        code: &'static Code,
        cref: &'static Cref,
        id: u32,
        method: Method,
        recv: Value,
        start: usize,
        block: Value,
        kw: bool,
    ) -> R {
        if self.frames.len() >= self.limits.depth as usize {
            self.stack.truncate(start);
            return self.too_deep();
        }
        self.push_frame(code, cref, recv, block, id, method.owner, method.orig, start as u32, 0);
        let home = self.serial;
        let saved_match = self.last_match;
        self.last_match = NIL;
        let result = match self.bind_args(code, start, kw, true, method.ruby2, block) {
            Ok(()) => {
                let env = if code.env_names.is_empty() { 0 } else { self.open_env(code, 0, start) };
                let top = self.frames.len() - 1;
                self.frames[top].env = env;
                let fp = Fp::new(start as u32, env, recv);
                let ready = self.safepoint().and_then(|()| self.fill_defaults(fp, code));
                let result = match ready {
                    Ok(()) => self.eval(fp, code.body),
                    Err(Unwind) => Err(Unwind),
                };
                if env != 0 {
                    self.heap.release_env(env);
                }
                result
            }
            Err(Unwind) => Err(Unwind),
        };
        self.last_match = saved_match;
        self.frames.pop();
        self.stack.truncate(start);
        match result {
            Ok(v) => Ok(v),
            Err(Unwind) => self.catch_return(home),
        }
    }

    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "the state of a call")]
    fn invoke_other(
        &mut self,
        id: u32,
        method: Method,
        recv: Value,
        name: Sym,
        start: usize,
        block: Value,
        kw: bool,
    ) -> R {
        match method.body {
            Body::Proc(p) => {
                let args: Vec<Value> = self.stack[start..].to_vec();
                self.stack.truncate(start);
                self.call_method_proc(p, recv, &args, block, kw, id, method)
            }
            Body::Field(i) => {
                let argc = self.stack.len() - start;
                if argc != 0 {
                    return self.wrong_args(argc, 0, Some(0));
                }
                Ok(self.field(recv, i as usize))
            }
            Body::SetField(i) => {
                let argc = self.stack.len() - start;
                if argc != 1 {
                    return self.wrong_args(argc, 1, Some(1));
                }
                let v = self.stack[start];
                self.stack.truncate(start);
                self.check_frozen(recv)?;
                self.set_field(recv, i as usize, v);
                Ok(v)
            }
            Body::Host(number) => {
                let argc = (self.stack.len() - start) as u32;
                let a = Args { recv, start: start as u32, argc, block, kw, name, method: id };
                let result = self.call_host(number, a);
                self.stack.truncate(start);
                result
            }
            Body::Stored(..) => {
                self.read_method(id);
                self.invoke(id, recv, name, start, block, kw)
            }
            _ => self.call_missing(recv, name, start, block, kw, false, true),
        }
    }

    pub(crate) fn field(&self, v: Value, i: usize) -> Value {
        match self.heap.ext(v) {
            Some(crate::heap::Ext::Fields(f)) => f.get(i).copied().unwrap_or(NIL),
            _ => NIL,
        }
    }

    pub(crate) fn set_field(&mut self, v: Value, i: usize, value: Value) {
        if let crate::heap::Ext::Fields(f) = &mut self.heap.obj_mut(v).ext {
            if i >= f.len() {
                f.resize(i + 1, NIL);
            }
            f[i] = value;
        }
    }
}
