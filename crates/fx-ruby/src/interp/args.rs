//! Binding arguments to parameters: optional, rest, post, keywords, block.

use fx_ruby_syntax::ast::{Code, Var};

use crate::interp::Fp;
use crate::object::c;
use crate::value::{NIL, UNDEF, Value};
use crate::vm::{Res, Vm};

impl Vm {
    /// Moves the arguments on the stack from `start` into the slots of the parameters.
    pub(crate) fn bind_args(
        &mut self,
        code: &'static Code,
        start: usize,
        kw: bool,
        strict: bool,
        ruby2: bool,
        block: Value,
    ) -> Res<()> {
        let p = code.params;
        if !kw && p.post == 0 && p.kw.is_empty() && p.kwrest.is_none() {
            let (argc, req) = (self.stack.len() - start, p.req as usize);
            let open = p.rest.is_some() || (p.implicit_rest && !strict);
            if !strict || argc >= req && (open || argc <= req + p.opt.len()) {
                self.bind_in_place(code, start, block);
                return Ok(());
            }
        }
        let mut args: Vec<Value> = self.stack[start..].to_vec();
        self.stack.truncate(start);
        self.stack.resize(start + code.nstack as usize, NIL);
        let takes_kw = !p.kw.is_empty() || p.kwrest.is_some();
        let mut keywords = None;
        if kw {
            if takes_kw {
                keywords = args.pop();
            } else if p.no_kw {
                return self.arg_error("no keywords accepted");
            } else if let Some(hash) = args.last().copied()
                && ruby2
                && p.rest.is_some()
            {
                self.heap.h_mut(hash).ruby2 = true;
            }
        }
        let (req, post, opt) = (p.req as usize, p.post as usize, p.opt.len());
        let min = req + post;
        // A trailing comma opens the parameters of a block, not those of a lambda.
        let open = p.rest.is_some() || (p.implicit_rest && !strict);
        if strict {
            if args.len() < min || (!open && args.len() > min + opt) {
                let max = if open { None } else { Some(min + opt) };
                let missing: Vec<String> = match keywords {
                    None => {
                        p.kw.iter()
                            .filter(|k| k.default.is_none())
                            .map(|k| self.sym_str(k.name).into_owned())
                            .collect()
                    }
                    Some(_) => Vec::new(),
                };
                if !missing.is_empty() && args.len() >= min {
                    let expected = match max {
                        Some(max) if max == min => format!("{min}"),
                        Some(max) => format!("{min}..{max}"),
                        None => format!("{min}+"),
                    };
                    let s = if missing.len() > 1 { "s" } else { "" };
                    return self.arg_error(format!(
                        "wrong number of arguments (given {}, expected {expected}; required keyword{s}: {})",
                        args.len(),
                        missing.join(", ")
                    ));
                }
                return self.wrong_args(args.len(), min, max);
            }
        } else {
            if args.len() < min {
                args.resize(min, NIL);
            }
            if !open && args.len() > min + opt {
                args.truncate(min + opt);
            }
        }
        let n = args.len();
        let base = start;
        self.stack[base..base + req].copy_from_slice(&args[..req]);
        let given = (n - min).min(opt);
        for (i, o) in p.opt.iter().enumerate() {
            self.stack[base + o.slot as usize] = if i < given { args[req + i] } else { UNDEF };
        }
        let rest_end = n - post;
        if let Some(slot) = p.rest {
            let items = args[(req + given).min(rest_end)..rest_end].to_vec();
            let list = self.arr(items);
            self.stack[base + slot as usize] = list;
        }
        let post_slot = req + opt + usize::from(p.rest.is_some());
        for i in 0..post {
            self.stack[base + post_slot + i] = args[rest_end + i];
        }
        if takes_kw {
            self.bind_keywords(code, base, keywords)?;
        }
        if let Some(slot) = p.block {
            self.heap.escape(block);
            self.stack[base + slot as usize] = block;
        }
        Ok(())
    }

    /// Arguments for required and optional parameters are where they belong; what is left over
    /// goes to the rest, if there is one.
    fn bind_in_place(&mut self, code: &'static Code, start: usize, block: Value) {
        let p = code.params;
        let req = p.req as usize;
        let argc = self.stack.len() - start;
        let given = argc.saturating_sub(req).min(p.opt.len());
        let rest = p.rest.map(|slot| {
            let from = (start + req + given).min(self.stack.len());
            let items = self.stack[from..].to_vec();
            (slot, self.arr(items))
        });
        self.stack.truncate(start + req + given);
        self.stack.resize(start + code.nstack as usize, NIL);
        for o in &p.opt[given..] {
            self.stack[start + o.slot as usize] = UNDEF;
        }
        if let Some((slot, list)) = rest {
            self.stack[start + slot as usize] = list;
        }
        if let Some(slot) = p.block {
            self.heap.escape(block);
            self.stack[start + slot as usize] = block;
        }
    }

    fn bind_keywords(
        &mut self,
        code: &'static Code,
        base: usize,
        keywords: Option<Value>,
    ) -> Res<()> {
        let p = code.params;
        let mut used = 0;
        let mut missing = Vec::new();
        for k in p.kw {
            let key = Value::sym(k.name);
            let found = keywords.and_then(|h| self.heap.h(h).pairs().find(|(k, _)| *k == key));
            match found {
                Some((_, v)) => {
                    used += 1;
                    self.stack[base + k.slot as usize] = v;
                }
                None if k.default.is_none() => missing.push(k.name),
                None => self.stack[base + k.slot as usize] = UNDEF,
            }
        }
        if !missing.is_empty() {
            let names: Vec<String> =
                missing.iter().map(|s| format!(":{}", self.sym_str(*s))).collect();
            let s = if names.len() > 1 { "s" } else { "" };
            return self.arg_error(format!("missing keyword{s}: {}", names.join(", ")));
        }
        if p.kwrest.is_none() && keywords.is_none_or(|h| self.heap.h(h).live == used) {
            return Ok(());
        }
        let pairs: Vec<(Value, Value)> =
            keywords.map(|h| self.heap.h(h).pairs().collect()).unwrap_or_default();
        if let Some(slot) = p.kwrest {
            let rest = self.hash();
            for (k, v) in pairs {
                if !p.kw.iter().any(|param| Value::sym(param.name) == k) {
                    self.hash_set(rest, k, v)?;
                }
            }
            self.stack[base + slot as usize] = rest;
        } else if used < pairs.len() {
            let mut names = Vec::new();
            for (k, _) in pairs {
                if !p.kw.iter().any(|param| Value::sym(param.name) == k) {
                    names.push(self.inspect_string(k)?);
                }
            }
            let s = if names.len() > 1 { "s" } else { "" };
            return self.arg_error(format!("unknown keyword{s}: {}", names.join(", ")));
        }
        Ok(())
    }

    /// Evaluates defaults of what was not given, and takes `(a, b)` parameters apart.
    pub(crate) fn fill_defaults(&mut self, fp: Fp, code: &'static Code) -> Res<()> {
        let p = code.params;
        for (slot, multi) in p.destructure {
            let v = self.stack[(fp.base() + slot) as usize];
            self.assign_multi(fp, multi, v)?;
        }
        for o in p.opt {
            if self.stack[(fp.base() + o.slot) as usize].is_undef() {
                self.store(fp, o.var, NIL);
                self.stack[(fp.base() + o.slot) as usize] = NIL;
                let v = self.eval(fp, o.default)?;
                self.store(fp, o.var, v);
            }
        }
        for k in p.kw {
            if let Some(default) = k.default
                && self.stack[(fp.base() + k.slot) as usize].is_undef()
            {
                self.store(fp, k.var, NIL);
                self.stack[(fp.base() + k.slot) as usize] = NIL;
                let v = self.eval(fp, default)?;
                self.store(fp, k.var, v);
            }
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn store(&mut self, fp: Fp, var: Var, v: Value) {
        match var {
            Var::Stack(slot) => self.stack[(fp.base() + slot) as usize] = v,
            Var::Env(up, slot) => {
                let env = self.env_at(fp.env(), up);
                self.heap.envs[env as usize].vars[slot as usize] = v;
            }
        }
    }

    /// Arity as `Method#arity` and `Proc#arity` give it.
    pub(crate) fn arity(code: &'static Code, lambda: bool) -> i64 {
        let p = code.params;
        let req = i64::from(p.req + p.post);
        let required_kw = p.kw.iter().any(|k| k.default.is_none());
        if !p.opt.is_empty() && lambda || p.rest.is_some() {
            return -(req + i64::from(required_kw)) - 1;
        }
        if required_kw {
            return req + 1;
        }
        if (!p.kw.is_empty() || p.kwrest.is_some()) && lambda {
            return -req - 1;
        }
        req
    }

    pub(crate) fn parameters(&mut self, code: &'static Code, lambda: bool) -> Value {
        let p = code.params;
        let mut rows: Vec<(&str, Option<fx_ruby_syntax::Sym>)> = Vec::new();
        let req = if lambda { "req" } else { "opt" };
        for name in p.req_names {
            rows.push((req, *name));
        }
        for o in p.opt {
            rows.push(("opt", Some(o.name)));
        }
        if p.rest.is_some() {
            rows.push(("rest", p.rest_name));
        }
        for name in p.post_names {
            rows.push((req, *name));
        }
        for k in p.kw {
            if k.default.is_none() {
                rows.push(("keyreq", Some(k.name)));
            }
        }
        for k in p.kw {
            if k.default.is_some() {
                rows.push(("key", Some(k.name)));
            }
        }
        if p.kwrest.is_some() {
            rows.push(("keyrest", p.kwrest_name));
        }
        if p.no_kw {
            rows.push(("nokey", None));
        }
        if p.block.is_some() {
            rows.push(("block", p.block_name));
        }
        let mut list = Vec::new();
        for (kind, name) in rows {
            let kind = self.intern(kind);
            let mut row = vec![Value::sym(kind)];
            if let Some(name) = name {
                // Ruby 3.1 names the sign of a nameless block and not of the others.
                let anonymous = matches!(self.syms.bytes(name), b"*" | b"**") && !p.forwarding;
                if !anonymous {
                    row.push(Value::sym(name));
                }
            }
            let row = self.heap.array(c::ARRAY, row);
            list.push(row);
        }
        self.arr(list)
    }
}
