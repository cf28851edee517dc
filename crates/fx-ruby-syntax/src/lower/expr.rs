//! Expressions and statements: which group a node of prism is in, and what several groups need.

use std::cell::{Cell, OnceCell};

use ruby_prism as p;
use ruby_prism::Node as P;

use crate::Sym;
use crate::ast::{
    Begin, Branch, CaseNode, ConstScope, ConstSite, Kind, N, RegexLit, Rescue, StrLit, Target,
    WhenClause,
};
use crate::lower::{Lower, keep, keep_all};

macro_rules! cast {
    ($node:expr, $f:ident) => {
        $node.$f().expect("the kind was just matched")
    };
}
pub(super) use cast;

impl Lower<'_> {
    pub(crate) fn optional(&mut self, node: Option<P<'_>>, at: u32) -> N {
        match node {
            Some(node) => self.expr(&node),
            None => self.nil(at),
        }
    }

    pub(crate) fn statements(&mut self, node: &p::StatementsNode<'_>) -> N {
        let body = node.body();
        let mut nodes: Vec<N> = body.iter().map(|n| self.expr(&n)).collect();
        let last = nodes.len().saturating_sub(1);
        for node in &mut nodes[..last] {
            *node = self.unused(node);
        }
        match nodes.len() {
            0 => self.nil(node.location().start()),
            1 => nodes.remove(0),
            _ => self.node(node.location().start(), Kind::Seq(keep_all(nodes))),
        }
    }

    /// A statement whose value nobody uses: `a, b = c, d` needs no array.
    fn unused(&self, node: N) -> N {
        if let Kind::Masgn(multi, value) = &node.kind
            && let Kind::Array(values) = &value.kind
            && multi.rest.is_none()
            && multi.post.is_empty()
            && multi.pre.len() == values.len()
            && multi.pre.iter().all(|target| matches!(target, Target::Var(_) | Target::Ivar(_)))
        {
            return self.node(node.pos, Kind::Spread(multi, values));
        }
        node
    }

    pub(crate) fn maybe_statements(&mut self, node: Option<p::StatementsNode<'_>>, at: u32) -> N {
        match node {
            Some(node) => self.statements(&node),
            None => self.nil(at),
        }
    }

    pub(crate) fn constant(&mut self, at: u32, name: &p::ConstantId<'_>) -> N {
        let name = self.sym(name);
        self.node(at, Kind::Const(keep(ConstSite::new(name))))
    }

    pub(crate) fn enc_of(&self, node: &p::StringNode<'_>) -> u8 {
        if node.is_forced_binary_encoding() {
            1
        } else if node.is_forced_utf8_encoding() {
            0
        } else {
            self.source_enc
        }
    }

    pub(crate) fn string(&self, at: u32, bytes: &[u8], enc: u8, frozen: bool) -> N {
        let bytes = keep_all(bytes.to_vec());
        self.node(at, Kind::Str(keep(StrLit { bytes, enc, frozen, cached: Cell::new(0) })))
    }

    pub(super) fn parts(&mut self, parts: &p::NodeList<'_>) -> Vec<N> {
        let mut out = Vec::new();
        for part in parts {
            let at = part.location().start();
            if let Some(n) = part.as_embedded_statements_node() {
                out.push(self.maybe_statements(n.statements(), at));
            } else if let Some(n) = part.as_embedded_variable_node() {
                out.push(self.expr(&n.variable()));
            } else if let Some(n) = part.as_interpolated_string_node() {
                out.extend(self.parts(&n.parts()));
            } else {
                out.push(self.expr(&part));
            }
        }
        out
    }

    pub(super) fn integer(&self, at: u32, integer: &p::Integer<'_>) -> N {
        let (negative, digits) = integer.to_u32_digits();
        let mut value: i128 = 0;
        let small = digits.len() <= 2;
        if small {
            for digit in digits.iter().rev() {
                value = (value << 32) | i128::from(*digit);
            }
            if negative {
                value = -value;
            }
            if (-(1 << 62)..(1 << 62)).contains(&value) {
                return self.node(at, Kind::Int(value as i64));
            }
        }
        self.node(at, Kind::Big(negative, keep_all(digits.to_vec())))
    }

    pub(super) fn regex(&mut self, at: u32, parts: Vec<N>, flags: u32, once: bool) -> N {
        let lit = RegexLit { parts: keep_all(parts), flags, once, cached: Cell::new(0) };
        self.node(at, Kind::Regex(keep(lit)))
    }

    pub(super) fn const_scope(&mut self, path: &P<'_>) -> (ConstScope, Sym) {
        if let Some(n) = path.as_constant_path_node() {
            let scope = match n.parent() {
                Some(parent) => ConstScope::In(self.expr(&parent)),
                None => ConstScope::Top,
            };
            let name = n.name().map_or(Sym(0), |id| self.sym(&id));
            return (scope, name);
        }
        let name = path.as_constant_read_node().map_or(Sym(0), |n| self.sym(&n.name()));
        (ConstScope::Lexical, name)
    }

    pub(super) fn looped(&mut self, body: impl FnOnce(&mut Self) -> N) -> N {
        self.scope().loops += 1;
        let node = body(self);
        self.scope().loops -= 1;
        node
    }

    pub(super) fn begin(&mut self, node: &p::BeginNode<'_>) -> N {
        let at = node.location().start();
        let body = self.maybe_statements(node.statements(), at);
        let mut rescues = Vec::new();
        let mut clause = node.rescue_clause();
        while let Some(n) = clause {
            let classes: Vec<N> = n.exceptions().iter().map(|e| self.expr(&e)).collect();
            let target = n.reference().map(|r| self.target(&r));
            let body = self.maybe_statements(n.statements(), n.location().start());
            rescues.push(Rescue { classes: keep_all(classes), target, body: Branch(body) });
            clause = n.subsequent();
        }
        let else_body = node.else_clause().map(|n| self.maybe_statements(n.statements(), at));
        let ensure = node
            .ensure_clause()
            .map(|n| self.maybe_statements(n.statements(), n.location().start()));
        if rescues.is_empty() && else_body.is_none() && ensure.is_none() {
            return body;
        }
        let begin = Begin { body, rescues: keep_all(rescues), else_body, ensure };
        self.node(at, Kind::Begin(keep(begin)))
    }

    pub(super) fn case(&mut self, node: &p::CaseNode<'_>) -> N {
        let at = node.location().start();
        let subject = node.predicate().map(|n| self.expr(&n));
        let mut clauses = Vec::new();
        for condition in &node.conditions() {
            let Some(clause) = condition.as_when_node() else { continue };
            let conds: Vec<N> = clause.conditions().iter().map(|c| self.expr(&c)).collect();
            let body = self.maybe_statements(clause.statements(), clause.location().start());
            clauses.push(WhenClause { conds: keep_all(conds), body: Branch(body) });
        }
        let other = match node.else_clause() {
            Some(n) => self.maybe_statements(n.statements(), at),
            None => self.nil(at),
        };
        match subject {
            Some(subject) => {
                let clauses = keep_all(clauses);
                let jump = OnceCell::new();
                self.node(at, Kind::Case(keep(CaseNode { subject, clauses, other, jump })))
            }
            None => self.node(at, Kind::CaseBare(keep_all(clauses), other)),
        }
    }

    pub(super) fn while_node(
        &mut self,
        at: u32,
        test: &P<'_>,
        body: Option<p::StatementsNode<'_>>,
        until: bool,
        last: bool,
    ) -> N {
        let (test, body) = {
            self.scope().loops += 1;
            let test = self.expr(test);
            let body = self.maybe_statements(body, at);
            self.scope().loops -= 1;
            (test, body)
        };
        let test = if until {
            let name = self.syms.intern(b"!");
            let call = keep(self.new_call(at, Some(test), name, Vec::new()));
            // `until` negates the truth, never through a method.
            let _ = call;
            let (yes, no) = (self.node(at, Kind::True), self.node(at, Kind::False));
            self.node(at, Kind::If(test, Branch(no), Branch(yes)))
        } else {
            test
        };
        self.node(at, Kind::While(test, body, false, last))
    }

    /// One node and all below it. The kinds of nodes are in groups, one function each.
    pub(crate) fn expr(&mut self, node: &P<'_>) -> N {
        let at = node.location().start();
        let lowered = self.flow(node, at);
        let lowered = lowered.or_else(|| self.variable(node, at));
        let lowered = lowered.or_else(|| self.literal(node, at));
        let lowered = lowered.or_else(|| self.collection(node, at));
        let lowered = lowered.or_else(|| self.jump(node, at));
        let lowered = lowered.or_else(|| self.definition(node, at));
        lowered.unwrap_or_else(|| self.combine(node, at))
    }
}
