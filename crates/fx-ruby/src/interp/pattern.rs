//! Pattern matching.

use fx_ruby_syntax::ast::{InClause, N, Pat, PatRest};

use crate::interp::Fp;
use crate::names as n;
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{R, Res, Vm};

impl Vm {
    pub(crate) fn eval_case_in(
        &mut self,
        fp: Fp,
        subject: N,
        clauses: &'static [InClause],
        other: Option<N>,
    ) -> R {
        let v = self.eval(fp, subject)?;
        let start = self.stack.len();
        self.stack.push(v);
        for clause in clauses {
            if self.matches(fp, &clause.pat, v)? {
                if let Some(guard) = clause.guard
                    && !self.eval(fp, guard)?.truthy()
                {
                    continue;
                }
                self.stack.truncate(start);
                return self.eval(fp, clause.body.0);
            }
        }
        self.stack.truncate(start);
        match other {
            Some(node) => self.eval(fp, node),
            None => match clauses {
                [only] => self.deferring(|vm| vm.mismatch(fp, &only.pat, v)),
                _ => self.no_match(v),
            },
        }
    }

    pub(crate) fn no_match(&mut self, v: Value) -> R {
        let text = self.inspect_string(v)?;
        self.fail(c::NO_PATTERN, text)
    }

    /// `value => pattern`.
    pub(crate) fn match_required(&mut self, fp: Fp, pat: &'static Pat, v: Value) -> R {
        if self.matches(fp, pat, v)? {
            return Ok(NIL);
        }
        self.deferring(|vm| vm.mismatch(fp, pat, v))
    }

    fn const_matches(&mut self, fp: Fp, konst: &Option<N>, v: Value) -> Res<bool> {
        match konst {
            Some(node) => {
                let k = self.eval(fp, node)?;
                Ok(self.send(k, n::EQQ, &[v])?.truthy())
            }
            None => Ok(true),
        }
    }

    pub(super) fn deconstruct(&mut self, v: Value) -> Res<Option<Vec<Value>>> {
        if v.is_arr() && self.class_of(v) == c::ARRAY {
            return Ok(Some(self.heap.arr(v).clone()));
        }
        if !self.responds(v, n::DECONSTRUCT, false)? {
            return Ok(None);
        }
        let list = self.send(v, n::DECONSTRUCT, &[])?;
        if !list.is_arr() {
            return self.type_error("deconstruct must return Array");
        }
        Ok(Some(self.heap.arr(list).clone()))
    }

    /// Whether a value, which the caller keeps on the stack, fits a pattern.
    pub(crate) fn matches(&mut self, fp: Fp, pat: &'static Pat, v: Value) -> Res<bool> {
        let start = self.stack.len();
        let matched = self.matches_pat(fp, pat, v)?;
        self.stack.truncate(start);
        Ok(matched)
    }

    fn matches_pat(&mut self, fp: Fp, pat: &'static Pat, v: Value) -> Res<bool> {
        match pat {
            Pat::Value(node) => {
                let p = self.eval(fp, node)?;
                Ok(self.send(p, n::EQQ, &[v])?.truthy())
            }
            Pat::Bind(var) => {
                self.store(fp, *var, v);
                Ok(true)
            }
            Pat::Alt(l, r) => Ok(self.matches(fp, l, v)? || self.matches(fp, r, v)?),
            Pat::Capture(inner, var) => {
                if !self.matches(fp, inner, v)? {
                    return Ok(false);
                }
                self.store(fp, *var, v);
                Ok(true)
            }
            Pat::Arr { konst, pre, rest, post } => {
                if !self.const_matches(fp, konst, v)? {
                    return Ok(false);
                }
                let Some(items) = self.deconstruct(v)? else { return Ok(false) };
                self.stack.extend_from_slice(&items);
                let fixed = pre.len() + post.len();
                if items.len() < fixed || (rest.is_none() && items.len() > fixed) {
                    return Ok(false);
                }
                for (i, p) in pre.iter().enumerate() {
                    if !self.matches(fp, p, items[i])? {
                        return Ok(false);
                    }
                }
                let end = items.len() - post.len();
                if let Some(Some(var)) = rest {
                    let list = self.arr(items[pre.len()..end].to_vec());
                    self.store(fp, *var, list);
                }
                for (i, p) in post.iter().enumerate() {
                    if !self.matches(fp, p, items[end + i])? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Pat::Find { konst, left, mid, right } => {
                if !self.const_matches(fp, konst, v)? {
                    return Ok(false);
                }
                let Some(items) = self.deconstruct(v)? else { return Ok(false) };
                if items.len() < mid.len() {
                    return Ok(false);
                }
                self.stack.extend_from_slice(&items);
                for at in 0..=items.len() - mid.len() {
                    let mut good = true;
                    for (i, p) in mid.iter().enumerate() {
                        if !self.matches(fp, p, items[at + i])? {
                            good = false;
                            break;
                        }
                    }
                    if good {
                        if let Some(var) = left {
                            let list = self.arr(items[..at].to_vec());
                            self.store(fp, *var, list);
                        }
                        if let Some(var) = right {
                            let list = self.arr(items[at + mid.len()..].to_vec());
                            self.store(fp, *var, list);
                        }
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Pat::Hash { konst, pairs, rest } => {
                if !self.const_matches(fp, konst, v)? {
                    return Ok(false);
                }
                self.matches_hash(fp, pairs, rest, v)
            }
        }
    }

    fn matches_hash(
        &mut self,
        fp: Fp,
        pairs: &'static [(fx_ruby_syntax::Sym, Pat)],
        rest: &'static PatRest,
        v: Value,
    ) -> Res<bool> {
        let Some(hash) = self.deconstruct_keys(pairs, rest, v)? else { return Ok(false) };
        if pairs.is_empty() && matches!(rest, PatRest::None) && self.heap.h(hash).live > 0 {
            return Ok(false);
        }
        self.stack.push(hash);
        for (key, pat) in pairs {
            let Some(found) = self.hash_get(hash, Value::sym(*key))? else { return Ok(false) };
            self.stack.push(found);
            if !self.matches(fp, pat, found)? {
                return Ok(false);
            }
        }
        match rest {
            PatRest::None | PatRest::Var(None) => Ok(true),
            PatRest::Nil => Ok(self.heap.h(hash).live == pairs.len()),
            PatRest::Var(Some(var)) => {
                let copy = self.hash_dup(hash);
                for (key, _) in pairs {
                    self.hash_delete(copy, Value::sym(*key))?;
                }
                self.store(fp, *var, copy);
                Ok(true)
            }
        }
    }

    /// The hash a hash pattern looks into; none if the object has none.
    pub(super) fn deconstruct_keys(
        &mut self,
        pairs: &'static [(fx_ruby_syntax::Sym, Pat)],
        rest: &'static PatRest,
        v: Value,
    ) -> Res<Option<Value>> {
        if v.is_hash() && self.class_of(v) == c::HASH {
            return Ok(Some(v));
        }
        if !self.responds(v, n::DECONSTRUCT_KEYS, false)? {
            return Ok(None);
        }
        let keys = if matches!(rest, PatRest::Var(Some(_))) {
            NIL
        } else {
            let keys = pairs.iter().map(|(k, _)| Value::sym(*k)).collect();
            self.arr(keys)
        };
        let h = self.send(v, n::DECONSTRUCT_KEYS, &[keys])?;
        if !h.is_hash() {
            return self.type_error("deconstruct_keys must return Hash");
        }
        Ok(Some(h))
    }
}
