//! `defined?`: what an expression is, found without running more of it than is needed.

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::{Call, ConstScope, Kind, N};

use crate::interp::Fp;
use crate::object::{Cref, Vis, c};
use crate::value::{NIL, TRUE, Value};
use crate::vm::{NO_METHOD, R, Res, Vm};

impl Vm {
    pub(crate) fn eval_defined(&mut self, fp: Fp, node: N) -> R {
        let text = match &node.kind {
            Kind::Nil => "nil",
            Kind::Array(items) => {
                for item in *items {
                    if self.eval_defined(fp, item)?.is_nil() {
                        return Ok(NIL);
                    }
                }
                "expression"
            }
            Kind::Zelf => "self",
            Kind::True => "true",
            Kind::False => "false",
            Kind::LVar(_) | Kind::EVar(..) => "local-variable",
            Kind::LSet(..)
            | Kind::ESet(..)
            | Kind::ISet(..)
            | Kind::GSet(..)
            | Kind::CSet(..)
            | Kind::ConstSet(..)
            | Kind::Masgn(..)
            | Kind::Spread(..) => "assignment",
            Kind::IVar(site) => {
                if self.ivar_get(fp.me, site.name).is_none() {
                    return Ok(NIL);
                }
                "instance-variable"
            }
            Kind::GVar(name) => {
                if !self.gvar_defined(*name) {
                    return Ok(NIL);
                }
                "global-variable"
            }
            Kind::CVar(name) => {
                if !self.cvar_defined(*name) {
                    return Ok(NIL);
                }
                "class variable"
            }
            Kind::NthRef(i) => {
                if self.match_group(self.last_match, *i as usize).is_nil() {
                    return Ok(NIL);
                }
                "global-variable"
            }
            Kind::BackRef(which) => {
                if self.back_ref(*which)?.is_nil() {
                    return Ok(NIL);
                }
                "global-variable"
            }
            Kind::Const(site) => {
                let cref = self.frames[self.frames.len() - 1].cref;
                if !self.const_known(cref, site.name) {
                    return Ok(NIL);
                }
                "constant"
            }
            Kind::ConstIn(scope, site) => {
                if !self.defined_const(fp, scope, site.name)? {
                    return Ok(NIL);
                }
                "constant"
            }
            Kind::Yield(_) => {
                if self.frames[self.frames.len() - 1].block.is_nil() {
                    return Ok(NIL);
                }
                "yield"
            }
            Kind::Super(_) | Kind::ZSuper(_) => {
                let frame = self.frames[self.frames.len() - 1];
                if frame.method == NO_METHOD {
                    return Ok(NIL);
                }
                let class = self.class_of(fp.me);
                let name = self.methods[frame.method as usize].orig;
                if self.find_super(class, frame.owner, name).is_none() {
                    return Ok(NIL);
                }
                "super"
            }
            Kind::Call(call)
            | Kind::Bin(_, _, _, call)
            | Kind::BinLI(_, _, _, call)
            | Kind::Not(_, call) => match self.defined_call(fp, node, call)? {
                Some(text) => text,
                None => return Ok(NIL),
            },
            Kind::Or(_, set) | Kind::And(_, set)
                if matches!(
                    set.kind,
                    Kind::LSet(..)
                        | Kind::ESet(..)
                        | Kind::ISet(..)
                        | Kind::GSet(..)
                        | Kind::CSet(..)
                        | Kind::ConstSet(..)
                ) || is_assigning(set) =>
            {
                "assignment"
            }
            Kind::Seq([first, .., last]) if is_temporary(first) && is_assigning(last) => {
                "assignment"
            }
            _ => "expression",
        };
        // Operator assignments are lowered to other nodes; their outermost one decides.
        let v = self.str_static(text);
        self.freeze(v);
        Ok(v)
    }

    /// Whether a constant of a scope is there.
    fn defined_const(&mut self, fp: Fp, scope: &'static ConstScope, name: Sym) -> Res<bool> {
        let base = match scope {
            ConstScope::In(inner) => {
                if self.eval_defined(fp, inner)?.is_nil() {
                    return Ok(false);
                }
                match self.forgetting(|vm| vm.eval(fp, inner))? {
                    Some(v) => v,
                    None => return Ok(false),
                }
            }
            _ => Value::class(c::OBJECT),
        };
        let Some(class) = base.as_class() else { return Ok(false) };
        let found = self.mro(class).iter().any(|at| {
            (*at != c::OBJECT || class == c::OBJECT)
                && self.classes[*at as usize]
                    .consts
                    .get(&name)
                    .is_some_and(|k| !k.private || class == c::OBJECT)
        });
        Ok(found)
    }

    /// What a call is, if its receiver and arguments are something and the method is there.
    fn defined_call(&mut self, fp: Fp, node: N, call: &'static Call) -> Res<Option<&'static str>> {
        if matches!(node.kind, Kind::Not(..))
            && let Some(recv) = call.recv
            && self.eval_defined(fp, recv)?.is_nil()
        {
            return Ok(None);
        }
        for arg in call.args.pos {
            if self.eval_defined(fp, arg)?.is_nil() && !matches!(arg.kind, Kind::Splat(_)) {
                return Ok(None);
            }
        }
        let recv = match call.recv {
            Some(inner) => {
                if self.eval_defined(fp, inner)?.is_nil() {
                    return Ok(None);
                }
                match self.forgetting(|vm| vm.eval(fp, inner))? {
                    Some(v) => v,
                    None => return Ok(None),
                }
            }
            None => fp.me,
        };
        let class = self.class_of(recv);
        match self.find_method(class, call.name) {
            Some(id) => {
                let m = self.methods[id as usize];
                let seen = match m.vis {
                    Vis::Public => true,
                    Vis::Private => call.fcall,
                    Vis::Protected => call.fcall || self.is_a(fp.me, m.owner),
                };
                if !seen {
                    return Ok(None);
                }
            }
            None => {
                let hit = self.forgetting(|vm| {
                    let private = call.fcall;
                    vm.responds(recv, call.name, private).map(Value::bool)
                })?;
                if hit != Some(TRUE) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(if call.asgn { "assignment" } else { "method" }))
    }

    fn const_known(&mut self, cref: &'static Cref, name: Sym) -> bool {
        let mut at = Some(cref);
        while let Some(scope) = at {
            if scope.up.is_some() && self.classes[scope.class as usize].consts.contains_key(&name) {
                return true;
            }
            at = scope.up;
        }
        let mut scope = cref;
        while scope.eval {
            match scope.up {
                Some(up) => scope = up,
                None => break,
            }
        }
        let known = self
            .mro(scope.class)
            .iter()
            .any(|at| self.classes[*at as usize].consts.contains_key(&name));
        known
            || self
                .mro(c::OBJECT)
                .iter()
                .any(|at| self.classes[*at as usize].consts.contains_key(&name))
    }
}

/// Whether a node is what an operator assignment to an attribute or an element ends with.
fn is_assigning(node: N) -> bool {
    match &node.kind {
        Kind::Call(call) => call.asgn,
        Kind::Or(_, set) | Kind::And(_, set) => is_assigning(set),
        Kind::Seq([.., last]) => is_assigning(last),
        _ => false,
    }
}

/// Whether a node keeps a receiver for what follows it, as operator assignments are lowered.
fn is_temporary(node: N) -> bool {
    matches!(node.kind, Kind::LSet(..) | Kind::ESet(..))
}
