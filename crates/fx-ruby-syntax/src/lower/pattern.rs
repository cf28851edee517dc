//! Patterns of `case … in`, `=>` and `in`.

use ruby_prism as p;

use crate::ast::{Branch, CaseInNode, InClause, Kind, N, Pat, PatRest, Var};
use crate::lower::{Lower, keep, keep_all};

impl Lower<'_> {
    pub(crate) fn case_in(&mut self, node: &p::CaseMatchNode<'_>) -> N {
        let at = node.location().start();
        let subject = self.optional(node.predicate(), at);
        let mut clauses = Vec::new();
        for condition in &node.conditions() {
            let Some(clause) = condition.as_in_node() else { continue };
            let (pat, guard) = self.guarded_pattern(&clause.pattern());
            let body = self.maybe_statements(clause.statements(), clause.location().start());
            clauses.push(InClause { pat, guard, body: Branch(body) });
        }
        let other = node.else_clause().map(|n| self.maybe_statements(n.statements(), at));
        let clauses = keep_all(clauses);
        self.node(at, Kind::CaseIn(keep(CaseInNode { subject, clauses, other })))
    }

    fn guarded_pattern(&mut self, node: &p::Node<'_>) -> (Pat, Option<N>) {
        if let Some(n) = node.as_if_node() {
            let inner = n.statements().and_then(|s| s.body().first());
            if let Some(inner) = inner {
                let pat = self.pattern(&inner);
                let guard = self.expr(&n.predicate());
                return (pat, Some(guard));
            }
        }
        if let Some(n) = node.as_unless_node() {
            let inner = n.statements().and_then(|s| s.body().first());
            if let Some(inner) = inner {
                let pat = self.pattern(&inner);
                let test = self.expr(&n.predicate());
                let name = self.syms.intern(b"!");
                let call = keep(self.new_call(test.pos, Some(test), name, Vec::new()));
                let guard = self.node(test.pos, Kind::Not(test, call));
                return (pat, Some(guard));
            }
        }
        (self.pattern(node), None)
    }

    fn splat_var(&mut self, node: &p::Node<'_>) -> Option<Var> {
        let splat = node.as_splat_node()?;
        let target = splat.expression()?;
        let target = target.as_local_variable_target_node()?;
        Some(self.resolve(target.name().as_slice(), target.depth()))
    }

    pub(crate) fn pattern(&mut self, node: &p::Node<'_>) -> Pat {
        if let Some(n) = node.as_local_variable_target_node() {
            return Pat::Bind(self.resolve(n.name().as_slice(), n.depth()));
        }
        if let Some(n) = node.as_alternation_pattern_node() {
            let (l, r) = (self.pattern(&n.left()), self.pattern(&n.right()));
            return Pat::Alt(keep(l), keep(r));
        }
        if let Some(n) = node.as_capture_pattern_node() {
            let inner = self.pattern(&n.value());
            let target = n.target();
            let var = self.resolve(target.name().as_slice(), target.depth());
            return Pat::Capture(keep(inner), var);
        }
        if let Some(n) = node.as_array_pattern_node() {
            let konst = n.constant().map(|c| self.expr(&c));
            let pre = n.requireds().iter().map(|r| self.pattern(&r)).collect();
            let rest = n.rest().map(|r| self.splat_var(&r));
            let post = n.posts().iter().map(|r| self.pattern(&r)).collect();
            return Pat::Arr { konst, pre: keep_all(pre), rest, post: keep_all(post) };
        }
        if let Some(n) = node.as_find_pattern_node() {
            let konst = n.constant().map(|c| self.expr(&c));
            let left = self.splat_var(&n.left().as_node());
            let mid = n.requireds().iter().map(|r| self.pattern(&r)).collect();
            let right = self.splat_var(&n.right().as_node());
            return Pat::Find { konst, left, mid: keep_all(mid), right };
        }
        if let Some(n) = node.as_hash_pattern_node() {
            return self.hash_pattern(&n);
        }
        if let Some(n) = node.as_parentheses_node()
            && let Some(inner) =
                n.body().and_then(|b| b.as_statements_node()).and_then(|s| s.body().first())
        {
            return self.pattern(&inner);
        }
        if let Some(n) = node.as_implicit_node() {
            return self.pattern(&n.value());
        }
        if let Some(n) = node.as_pinned_variable_node() {
            return Pat::Value(self.expr(&n.variable()));
        }
        if let Some(n) = node.as_pinned_expression_node() {
            return Pat::Value(self.expr(&n.expression()));
        }
        Pat::Value(self.expr(node))
    }

    fn hash_pattern(&mut self, n: &p::HashPatternNode<'_>) -> Pat {
        let konst = n.constant().map(|c| self.expr(&c));
        let mut pairs = Vec::new();
        for element in &n.elements() {
            let Some(assoc) = element.as_assoc_node() else { continue };
            let key = assoc.key();
            let name = key.as_symbol_node().map(|s| s.unescaped().to_vec()).unwrap_or_default();
            let sym = self.syms.intern(&name);
            pairs.push((sym, self.pattern(&assoc.value())));
        }
        let rest = match n.rest() {
            None => PatRest::None,
            Some(r) if r.as_no_keywords_parameter_node().is_some() => PatRest::Nil,
            Some(r) => {
                let var = r
                    .as_assoc_splat_node()
                    .and_then(|s| s.value())
                    .and_then(|v| v.as_local_variable_target_node())
                    .map(|t| self.resolve(t.name().as_slice(), t.depth()));
                PatRest::Var(var)
            }
        };
        Pat::Hash { konst, pairs: keep_all(pairs), rest }
    }
}
