//! The nodes that are not on the hot path.

use fx_ruby_syntax::ast::{
    Begin, ConstScope, ConstSite, Jump, Kind, N, RegexLit, StrLit, Target, WhenClause,
};

use crate::interp::Fp;
use crate::interp::multi::multi_calls;
use crate::names as n;
use crate::object::{Cref, c};
use crate::value::{NIL, Value};
use crate::vm::{Pending, R, Res, Unwind, Vm};

impl Vm {
    pub(crate) fn frozen_literal(&mut self, lit: &'static StrLit) -> Value {
        if let Some(v) = Value::from_bits(lit.cached.get()) {
            return v;
        }
        let v = match self.fstrings.get(&(lit.bytes.to_vec(), lit.enc)) {
            Some(v) => *v,
            None => {
                let v = self.heap.string(c::STRING, std::borrow::Cow::Borrowed(lit.bytes), lit.enc);
                self.heap.strings[v.index()].frozen = true;
                self.fstrings.insert((lit.bytes.to_vec(), lit.enc), v);
                v
            }
        };
        lit.cached.set(v.bits());
        self.gc.literals.push(v);
        v
    }

    #[inline(never)]
    pub(crate) fn const_slow(&mut self, cref: &'static Cref, site: &'static ConstSite) -> R {
        // What `const_missing` gives is asked for each time: no class keeps it.
        let Some(v) = self.const_lexical(cref, site.name)? else {
            return self.const_missing_from(cref, site.name);
        };
        site.epoch.set(self.const_epoch);
        site.cref.set(std::ptr::from_ref(cref) as usize);
        site.value.set(v.bits());
        Ok(v)
    }

    fn const_in_slow(&mut self, base: Value, site: &'static ConstSite) -> R {
        let class = self.const_base(base)?;
        let Some(v) = self.const_below(class, site.name)? else {
            return self.const_missing(class, site.name);
        };
        site.epoch.set(self.const_epoch);
        site.cref.set(base.bits() as usize);
        site.value.set(v.bits());
        Ok(v)
    }

    #[inline(never)]
    pub(crate) fn eval_cold(&mut self, fp: Fp, node: N) -> R {
        match &node.kind {
            Kind::Float(f) => Ok(self.float(*f)),
            Kind::Big(neg, digits) => {
                Ok(self.heap.big(crate::bignum::Big::new(*neg, digits.to_vec())))
            }
            Kind::Rational(num, den) => {
                let (a, b) = (self.eval(fp, num)?, self.eval(fp, den)?);
                self.call_name(self.main, "Rational", &[a, b])
            }
            Kind::Imaginary(inner) => {
                let v = self.eval(fp, inner)?;
                self.call_name(self.main, "Complex", &[Value::fix(0), v])
            }
            Kind::XStr(text) => {
                let v = self.eval(fp, text)?;
                if matches!(text.kind, Kind::Str(_)) {
                    self.freeze(v);
                }
                self.set_pos(node.pos);
                self.send(fp.me, n::BACKTICK, &[v])
            }
            Kind::DSym(parts) => {
                let v = self.eval_dstr(fp, parts)?;
                Ok(self.str_to_sym(v))
            }
            Kind::Regex(lit) => {
                self.set_pos(node.pos);
                self.eval_regex(fp, lit)
            }
            Kind::MatchLast(regex) => {
                let r = self.eval(fp, regex)?;
                let line = self.last_line;
                self.send(r, n::MATCH_OP, &[line])
            }
            Kind::ArraySplat(nodes) => {
                let start = self.stack.len();
                for node in *nodes {
                    if let Kind::Splat(inner) = &node.kind {
                        let v = self.eval(fp, inner)?;
                        let items = self.splat(v)?;
                        self.stack.extend_from_slice(&items);
                    } else {
                        let v = self.eval(fp, node)?;
                        self.stack.push(v);
                    }
                }
                let items = self.stack[start..].to_vec();
                self.stack.truncate(start);
                Ok(self.arr(items))
            }
            Kind::Splat(inner) => {
                let v = self.eval(fp, inner)?;
                let items = self.splat(v)?;
                Ok(self.arr(items))
            }
            Kind::Range(lo, hi, excl) => {
                let lo = self.eval(fp, lo)?;
                let hi = self.eval_beside(fp, lo, hi)?;
                self.set_pos(node.pos);
                self.new_range(lo, hi, *excl)
            }
            Kind::GVar(name) => self.gvar_get(*name),
            Kind::GSet(name, value) => {
                let v = self.eval(fp, value)?;
                self.set_pos(node.pos);
                self.gvar_set(*name, v)?;
                Ok(v)
            }
            Kind::CVar(name) => {
                self.set_pos(node.pos);
                self.cvar_get(*name)
            }
            Kind::CSet(name, value) => {
                let v = self.eval(fp, value)?;
                self.set_pos(node.pos);
                self.cvar_set(*name, v)?;
                Ok(v)
            }
            Kind::NthRef(i) => Ok(self.match_group(self.last_match, *i as usize)),
            Kind::BackRef(which) => self.back_ref(*which),
            Kind::ConstIn(scope, site) => {
                let base = match scope {
                    ConstScope::In(node) => self.eval(fp, node)?,
                    _ => Value::class(c::OBJECT),
                };
                let known =
                    site.epoch.get() == self.const_epoch && site.cref.get() as u64 == base.bits();
                match Value::from_bits(site.value.get()).filter(|_| known) {
                    Some(v) => Ok(v),
                    None => {
                        self.set_pos(node.pos);
                        self.const_in_slow(base, site)
                    }
                }
            }
            Kind::ConstSet(scope, name, value) => {
                let class = self.const_target(fp, scope)?;
                let v = self.eval(fp, value)?;
                self.set_pos(node.pos);
                self.assign_const(class, *name, v)?;
                Ok(v)
            }
            Kind::Super(call) => self.eval_super(fp, call, false, node),
            Kind::ZSuper(call) => self.eval_super(fp, call, true, node),
            Kind::For(target, collection, body) => self.eval_for(fp, target, collection, body),
            Kind::CaseBare(clauses, other) => {
                for clause in *clauses {
                    for cond in clause.conds {
                        let v = self.eval(fp, cond)?;
                        let hit = match cond.kind {
                            Kind::Splat(_) => self.heap.arr(v).iter().any(|v| v.truthy()),
                            _ => v.truthy(),
                        };
                        if hit {
                            return self.eval(fp, clause.body.0);
                        }
                    }
                }
                self.eval(fp, other)
            }
            Kind::CaseIn(case) => {
                self.set_pos(node.pos);
                self.eval_case_in(fp, case.subject, case.clauses, case.other)
            }
            Kind::MatchPat(value, pat) => {
                let v = self.eval(fp, value)?;
                let start = self.stack.len();
                self.stack.push(v);
                let matched = self.matches(fp, pat, v)?;
                self.stack.truncate(start);
                Ok(Value::bool(matched))
            }
            Kind::MatchReq(value, pat) => {
                let v = self.eval(fp, value)?;
                self.set_pos(node.pos);
                let start = self.stack.len();
                self.stack.push(v);
                let result = self.match_required(fp, pat, v)?;
                self.stack.truncate(start);
                Ok(result)
            }
            Kind::MatchWrite(call, vars) => {
                let v = self.eval(fp, call)?;
                for (name, var) in *vars {
                    let group = self.match_named(self.last_match, *name);
                    self.store(fp, *var, group);
                }
                Ok(v)
            }
            Kind::Masgn(multi, value) => {
                if multi_calls(multi) {
                    return self.masgn_in_order(fp, node, multi, value);
                }
                let v = self.eval(fp, value)?;
                self.set_pos(node.pos);
                self.assign_multi(fp, multi, v)?;
                Ok(v)
            }
            Kind::Def(def) => {
                self.set_pos(node.pos);
                self.eval_def(fp, def)
            }
            Kind::Class(class) => {
                self.set_pos(node.pos);
                self.eval_class(fp, class)
            }
            Kind::Module(class) => {
                self.set_pos(node.pos);
                self.eval_module(fp, class)
            }
            Kind::SClass(object, code) => {
                let v = self.eval(fp, object)?;
                let class = self.singleton_class(v)?;
                self.run_class_body(class, code)
            }
            Kind::Lambda(code) => {
                let p = self.make_block(fp, code);
                self.heap.escape(p);
                self.heap.pr_mut(p).lambda = true;
                Ok(p)
            }
            Kind::Break(value) => {
                let v = self.eval(fp, value)?;
                let tag = self.frames[self.frames.len() - 1].break_tag;
                if tag == 0 {
                    return self.jump_error("break from proc-closure", "break", v);
                }
                // A proc whose call has ended has lost its tag meanwhile.
                self.pending.set(Pending::Break(tag, v));
                Err(Unwind)
            }
            Kind::LoopBreak(value) => {
                let v = self.eval(fp, value)?;
                self.pending.set(Pending::LoopBreak(v));
                Err(Unwind)
            }
            Kind::LoopNext(value) => {
                self.eval(fp, value)?;
                self.pending.set(Pending::LoopNext);
                Err(Unwind)
            }
            Kind::Redo => {
                self.pending.set(Pending::Redo);
                Err(Unwind)
            }
            Kind::LoopRedo => {
                self.pending.set(Pending::LoopRedo);
                Err(Unwind)
            }
            Kind::Retry => {
                self.pending.set(Pending::Retry);
                Err(Unwind)
            }
            Kind::Alias(new, old) => {
                let (new, old) = (self.eval(fp, new)?, self.eval(fp, old)?);
                let class = self.definee();
                if let (Some(new), Some(old)) = (new.as_sym(), old.as_sym()) {
                    self.set_pos(node.pos);
                    self.alias(class, new, old)?;
                }
                Ok(NIL)
            }
            Kind::GAlias(new, old) => {
                let target = self.galiases.get(old).copied().unwrap_or(*old);
                self.galiases.insert(*new, target);
                Ok(NIL)
            }
            Kind::Undef(names) => {
                let class = self.definee();
                for name in *names {
                    let v = self.eval(fp, name)?;
                    if let Some(sym) = v.as_sym() {
                        self.set_pos(node.pos);
                        self.undef_method(class, sym)?;
                    }
                }
                Ok(NIL)
            }
            Kind::FlipFlop(lo, hi, excl) => self.flip_flop(fp, node, lo, hi, *excl),
            Kind::PostExe(code, done) => {
                if !done.get() {
                    done.set(true);
                    let p = self.make_block(fp, code);
                    self.heap.escape(p);
                    self.at_exit.push(p);
                }
                Ok(NIL)
            }
            Kind::Defined(inner) => self.eval_defined(fp, inner),
            Kind::Later(later) => {
                let node = later.node(&mut self.syms);
                self.eval(fp, node)
            }
            Kind::SafeSeq(first, then) => {
                if self.eval(fp, first)?.is_nil() {
                    Ok(NIL)
                } else {
                    self.eval(fp, then)
                }
            }
            Kind::File => {
                let path = self.path_of(self.here().0);
                Ok(self.str(path.as_bytes()))
            }
            Kind::Encoding => self.source_encoding(),
            // The hot kinds never come here.
            _ => Ok(NIL),
        }
    }

    #[inline(never)]
    pub(crate) fn eval_dstr(&mut self, fp: Fp, parts: &'static [N]) -> R {
        let mut out: Vec<u8> = Vec::with_capacity(32);
        let mut enc = 0;
        let mut decided = false;
        for part in parts {
            match &part.kind {
                Kind::Str(lit) => {
                    out.extend_from_slice(lit.bytes);
                    if lit.enc != 0 && !lit.bytes.is_ascii() {
                        enc = lit.enc;
                    }
                    decided |= !lit.bytes.is_ascii();
                }
                _ => {
                    let v = self.eval(fp, part)?;
                    if v.is_fix() && !self.redefined {
                        let mut buffer = itoa_buffer();
                        out.extend_from_slice(format_int(v.as_fix(), &mut buffer));
                        continue;
                    }
                    let s = if v.is_str() { v } else { self.interpolate(v)? };
                    let piece = self.heap.str(s);
                    let ascii = piece.bytes.is_ascii();
                    if !ascii && piece.enc != enc {
                        if decided && enc != piece.enc {
                            let (a, b) =
                                (crate::encoding::name(enc), crate::encoding::name(piece.enc));
                            let class = self.compat_error_class();
                            return self.fail(
                                class,
                                format!("incompatible character encodings: {a} and {b}"),
                            );
                        }
                        enc = piece.enc;
                    }
                    decided |= !ascii;
                    out.extend_from_slice(&self.heap.str(s).bytes);
                }
            }
        }
        self.tick()?;
        Ok(self.str_enc(out, enc))
    }

    fn eval_regex(&mut self, fp: Fp, lit: &'static RegexLit) -> R {
        if let Some(v) = Value::from_bits(lit.cached.get()) {
            return Ok(v);
        }
        let mut source = Vec::new();
        let mut enc = 0;
        for part in lit.parts {
            match &part.kind {
                Kind::Str(s) => source.extend_from_slice(s.bytes),
                _ => {
                    let v = self.eval(fp, part)?;
                    let s = if v.is_str() { v } else { self.interpolate(v)? };
                    let piece = self.heap.str(s);
                    if !piece.bytes.is_ascii() {
                        enc = piece.enc;
                    }
                    source.extend_from_slice(&piece.bytes);
                }
            }
        }
        let v = self.new_regex(&source, lit.flags, enc)?;
        self.freeze(v);
        if lit.once {
            lit.cached.set(v.bits());
            self.gc.literals.push(v);
        }
        Ok(v)
    }

    fn eval_for(&mut self, fp: Fp, target: &'static Target, collection: N, body: N) -> R {
        let list = self.eval(fp, collection)?;
        let start = self.stack.len();
        let walked = if list.is_arr() {
            list
        } else {
            let items = self.each_to_vec(list)?;
            self.arr(items)
        };
        self.stack.extend_from_slice(&[list, walked]);
        let height = self.stack.len();
        let mut i = 0;
        loop {
            let Some(v) = self.heap.arr(walked).get(i).copied() else {
                self.stack.truncate(start);
                return Ok(list);
            };
            i += 1;
            self.assign(fp, target, v)?;
            loop {
                if let Err(Unwind) = self.eval(fp, body) {
                    self.stack.truncate(height);
                    match self.pending.get() {
                        Pending::LoopBreak(v) => {
                            self.pending.set(Pending::None);
                            self.stack.truncate(start);
                            return Ok(v);
                        }
                        Pending::LoopNext => self.pending.set(Pending::None),
                        Pending::LoopRedo => {
                            self.pending.set(Pending::None);
                            continue;
                        }
                        _ => return Err(Unwind),
                    }
                }
                break;
            }
            self.safepoint()?;
        }
    }

    #[inline(never)]
    pub(super) fn eval_case(&mut self, fp: Fp, node: N) -> R {
        let Kind::Case(case) = &node.kind else { return Ok(NIL) };
        let v = self.quick(fp, case.subject)?;
        if v.is_fix()
            && !self.redefined
            && let Some(jump) = case.jump.get_or_init(|| jump_table(case.clauses))
        {
            let at = v.as_fix().wrapping_sub(jump.low);
            let body = usize::try_from(at).ok().and_then(|at| jump.bodies.get(at).copied());
            return self.eval(fp, body.flatten().unwrap_or(case.other));
        }
        let start = self.stack.len();
        self.stack.push(v);
        let chosen = self.choose(fp, v, case.clauses)?.unwrap_or(case.other);
        self.stack.truncate(start);
        self.eval(fp, chosen)
    }

    /// The body of the first clause that a value fits.
    fn choose(&mut self, fp: Fp, v: Value, clauses: &'static [WhenClause]) -> Res<Option<N>> {
        for clause in clauses {
            for cond in clause.conds {
                if let Kind::Splat(inner) = &cond.kind {
                    let list = self.eval(fp, inner)?;
                    for item in self.splat(list)? {
                        if self.case_eq(item, v)? {
                            return Ok(Some(clause.body.0));
                        }
                    }
                    continue;
                }
                if let Kind::Str(lit) = &cond.kind
                    && v.is_str()
                    && !self.redefined
                    && self.heap.str(v).enc == lit.enc
                {
                    if self.heap.str(v).bytes.as_ref() == lit.bytes {
                        return Ok(Some(clause.body.0));
                    }
                    continue;
                }
                let test = self.eval(fp, cond)?;
                self.set_pos(cond.pos);
                if self.case_eq(test, v)? {
                    return Ok(Some(clause.body.0));
                }
            }
        }
        Ok(None)
    }

    pub(crate) fn case_eq(&mut self, test: Value, v: Value) -> Res<bool> {
        if !self.redefined {
            if test.is_sym() || test.is_nil() {
                return Ok(test == v);
            }
            if test.is_fix() && v.is_fix() {
                return Ok(test == v);
            }
            if test.is_str() && v.is_str() {
                return Ok(self.str_equal(test, v));
            }
        }
        if let Some(class) = test.as_class()
            && self.is_native(test, n::EQQ)
        {
            return Ok(self.is_a(v, class));
        }
        Ok(self.send(test, n::EQQ, &[v])?.truthy())
    }

    #[inline(never)]
    pub(super) fn eval_begin(&mut self, fp: Fp, b: &'static Begin) -> R {
        let start = self.stack.len();
        // What `$!` is here, held while clauses run that change it.
        self.stack.push(self.errinfo);
        let result = self.eval_rescue(fp, b, start + 1);
        let Some(ensure) = b.ensure else {
            if result.is_ok() {
                self.stack.truncate(start);
            }
            return result;
        };
        let saved = self.pending.get();
        if result.is_err() && matches!(saved, Pending::Spent) {
            return result;
        }
        let saved_err = self.errinfo;
        if let (Err(Unwind), Pending::Raise(e)) = (&result, saved) {
            self.errinfo = e;
        }
        self.pending.set(Pending::None);
        self.stack.truncate(start + 1);
        // A value about to be returned must survive what the clause does, and so must what is
        // on its way up.
        self.stack.push(result.unwrap_or(NIL));
        self.stack.push(saved.value());
        let done = self.eval(fp, ensure);
        self.errinfo = saved_err;
        done?;
        self.stack.truncate(start);
        self.pending.set(saved);
        result
    }

    fn eval_rescue(&mut self, fp: Fp, b: &'static Begin, height: usize) -> R {
        loop {
            let result = self.eval(fp, b.body);
            if result.is_ok() {
                return match b.else_body {
                    Some(node) => self.eval(fp, node),
                    None => result,
                };
            }
            let Pending::Raise(e) = self.pending.get() else { return Err(Unwind) };
            self.stack.truncate(height);
            self.pending.set(Pending::None);
            let saved = self.errinfo;
            self.errinfo = e;
            let mut chosen = None;
            'clauses: for clause in b.rescues {
                if clause.classes.is_empty() {
                    if self.is_a(e, c::STANDARD_ERROR) {
                        chosen = Some(clause);
                        break;
                    }
                    continue;
                }
                for class in clause.classes {
                    let v = match self.eval(fp, class) {
                        Ok(v) => v,
                        Err(Unwind) => {
                            self.errinfo = saved;
                            return Err(Unwind);
                        }
                    };
                    let list = if let Kind::Splat(_) = class.kind {
                        self.heap.arr(v).clone()
                    } else {
                        vec![v]
                    };
                    for v in list {
                        let hit = match v.as_class() {
                            Some(id) if self.is_native(v, n::EQQ) => self.is_a(e, id),
                            Some(_) => match self.send(v, n::EQQ, &[e]) {
                                Ok(r) => r.truthy(),
                                Err(Unwind) => {
                                    self.errinfo = saved;
                                    return Err(Unwind);
                                }
                            },
                            None => {
                                self.errinfo = saved;
                                return self
                                    .type_error("class or module required for rescue clause");
                            }
                        };
                        if hit {
                            chosen = Some(clause);
                            break 'clauses;
                        }
                    }
                }
            }
            let Some(clause) = chosen else {
                self.errinfo = saved;
                self.pending.set(Pending::Raise(e));
                return Err(Unwind);
            };
            let result = match &clause.target {
                Some(target) => {
                    self.assign(fp, target, e).and_then(|()| self.eval(fp, clause.body.0))
                }
                None => self.eval(fp, clause.body.0),
            };
            self.errinfo = saved;
            if result.is_err()
                && let Pending::Retry = self.pending.get()
            {
                self.pending.set(Pending::None);
                self.stack.truncate(height);
                self.safepoint()?;
                continue;
            }
            return result;
        }
    }
}

/// The clauses of a `case` by integer, if all conditions are small integers close together.
fn jump_table(clauses: &'static [WhenClause]) -> Option<Jump> {
    let int = |cond: &N| match &cond.kind {
        Kind::Int(i) => Some(*i),
        _ => None,
    };
    let numbers: Option<Vec<i64>> = clauses.iter().flat_map(|c| c.conds).map(int).collect();
    let numbers = numbers?;
    let (low, high) = (*numbers.iter().min()?, *numbers.iter().max()?);
    let span = usize::try_from(high.checked_sub(low)?).ok()? + 1;
    if numbers.len() < 4 || span > numbers.len() * 8 + 64 {
        return None;
    }
    let mut bodies: Vec<Option<N>> = vec![None; span];
    for clause in clauses {
        for number in clause.conds.iter().filter_map(int) {
            bodies[(number - low) as usize].get_or_insert(clause.body.0);
        }
    }
    Some(Jump { low, bodies })
}

pub(crate) fn itoa_buffer() -> [u8; 24] {
    [0; 24]
}

/// Decimal digits without an allocation.
pub(crate) fn format_int(i: i64, buffer: &mut [u8; 24]) -> &[u8] {
    let mut at = buffer.len();
    let mut m = i.unsigned_abs();
    loop {
        at -= 1;
        buffer[at] = b'0' + (m % 10) as u8;
        m /= 10;
        if m == 0 {
            break;
        }
    }
    if i < 0 {
        at -= 1;
        buffer[at] = b'-';
    }
    &buffer[at..]
}
