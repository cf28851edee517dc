//! Why a pattern did not match. Told only where an error says so, so the pattern is walked again.

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::{N, Pat, PatRest};

use crate::interp::Fp;
use crate::names as n;
use crate::object::c;
use crate::value::Value;
use crate::vm::{R, Res, Vm};

enum Why {
    Says(String),
    /// What has no such key.
    Key(Value, Sym),
}

impl Vm {
    /// The error of a pattern that stood alone.
    pub(crate) fn mismatch(&mut self, fp: Fp, pat: &'static Pat, v: Value) -> R {
        let shown = self.inspect_string(v)?;
        match self.why(fp, pat, v)? {
            // It matched: what was asked besides did not hold.
            None => self.fail(c::NO_PATTERN, format!("{shown}: guard clause does not return true")),
            Some(Why::Says(text)) => self.fail(c::NO_PATTERN, format!("{shown}: {text}")),
            Some(Why::Key(of, key)) => {
                let name = self.inspect_string(Value::sym(key))?;
                let message = format!("{shown}: key not found: {name}");
                let e = self.make_error(c::NO_PATTERN_KEY, message)?;
                let matchee = self.intern("@matchee");
                self.ivar_set(e, n::IV_KEY, Value::sym(key));
                self.ivar_set(e, matchee, of);
                self.throw(e)
            }
        }
    }

    fn says(&mut self, v: Value, text: &str) -> Res<Option<Why>> {
        let shown = self.inspect_string(v)?;
        Ok(Some(Why::Says(format!("{shown} {text}"))))
    }

    fn why_not(&mut self, fp: Fp, node: N, v: Value) -> Res<Option<Why>> {
        let p = self.eval(fp, node)?;
        if self.send(p, n::EQQ, &[v])?.truthy() {
            return Ok(None);
        }
        let shown = self.inspect_string(v)?;
        self.says(p, &format!("=== {shown} does not return true"))
    }

    fn why(&mut self, fp: Fp, pat: &'static Pat, v: Value) -> Res<Option<Why>> {
        let konst = match pat {
            Pat::Value(node) => return self.why_not(fp, node, v),
            Pat::Bind(_) => return Ok(None),
            Pat::Capture(inner, _) => return self.why(fp, inner, v),
            Pat::Alt(left, right) => {
                return if self.matches(fp, left, v)? { Ok(None) } else { self.why(fp, right, v) };
            }
            Pat::Arr { konst, .. } | Pat::Find { konst, .. } | Pat::Hash { konst, .. } => konst,
        };
        if let Some(node) = konst
            && let Some(why) = self.why_not(fp, node, v)?
        {
            return Ok(Some(why));
        }
        if let Pat::Hash { pairs, rest, .. } = pat {
            return self.why_not_hash(fp, pairs, rest, v);
        }
        let Some(items) = self.deconstruct(v)? else {
            return self.says(v, "does not respond to #deconstruct");
        };
        let Pat::Arr { pre, rest, post, .. } = pat else {
            return if self.matches(fp, pat, v)? {
                Ok(None)
            } else {
                self.says(v, "does not match to find pattern")
            };
        };
        let fixed = pre.len() + post.len();
        if items.len() < fixed || rest.is_none() && items.len() > fixed {
            let more = if rest.is_some() { "+" } else { "" };
            let given = items.len();
            return self
                .says(v, &format!("length mismatch (given {given}, expected {fixed}{more})"));
        }
        let last = items.len() - post.len();
        let parts = pre.iter().zip(&items).chain(post.iter().zip(&items[last..]));
        for (part, item) in parts {
            if let Some(why) = self.why(fp, part, *item)? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }

    fn why_not_hash(
        &mut self,
        fp: Fp,
        pairs: &'static [(Sym, Pat)],
        rest: &'static PatRest,
        v: Value,
    ) -> Res<Option<Why>> {
        let Some(hash) = self.deconstruct_keys(pairs, rest, v)? else {
            return self.says(v, "does not respond to #deconstruct_keys");
        };
        if pairs.is_empty() && matches!(rest, PatRest::None) && self.heap.h(hash).live > 0 {
            return self.says(hash, "is not empty");
        }
        for (key, part) in pairs {
            let Some(found) = self.hash_get(hash, Value::sym(*key))? else {
                return Ok(Some(Why::Key(hash, *key)));
            };
            if let Some(why) = self.why(fp, part, found)? {
                return Ok(Some(why));
            }
        }
        if matches!(rest, PatRest::Nil) && self.heap.h(hash).live > pairs.len() {
            let left = self.hash_dup(hash);
            for (key, _) in pairs {
                self.hash_delete(left, Value::sym(*key))?;
            }
            let left = self.inspect_string(left)?;
            return Ok(Some(Why::Says(format!("rest of {left} is not empty"))));
        }
        Ok(None)
    }
}
