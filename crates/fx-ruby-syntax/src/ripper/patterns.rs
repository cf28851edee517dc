//! Patterns of `in` and `=>`.

use ruby_prism as p;

use super::{Maker, Sexp, sexp};

impl Maker<'_> {
    /// A pattern with the guard that may follow it.
    pub(super) fn top_pattern(&self, node: &p::Node<'_>) -> Sexp {
        if let Some(it) = node.as_if_node() {
            let pattern = only(it.statements()).map_or(Sexp::Nil, |node| self.pattern(&node));
            return sexp!("if_mod", self.node(&it.predicate()), pattern);
        }
        if let Some(it) = node.as_unless_node() {
            let pattern = only(it.statements()).map_or(Sexp::Nil, |node| self.pattern(&node));
            return sexp!("unless_mod", self.node(&it.predicate()), pattern);
        }
        self.pattern(node)
    }

    fn pattern(&self, node: &p::Node<'_>) -> Sexp {
        if let Some(it) = node.as_array_pattern_node() {
            return self.array_pattern(&it);
        }
        if let Some(it) = node.as_find_pattern_node() {
            let constant = self.maybe(it.constant());
            let between = it.requireds().iter().map(|it| self.pattern(&it)).collect();
            let (left, right) = (self.rest(&it.left()), self.rest(&it.right()));
            return sexp!("fndptn", constant, left, Sexp::List(between), right);
        }
        if let Some(it) = node.as_hash_pattern_node() {
            return self.hash_pattern(&it);
        }
        if let Some(it) = node.as_alternation_pattern_node() {
            let left = self.pattern(&it.left());
            return sexp!("binary", left, Sexp::Sym("|"), self.pattern(&it.right()));
        }
        if let Some(it) = node.as_capture_pattern_node() {
            let value = self.pattern(&it.value());
            return sexp!("binary", value, Sexp::Sym("=>"), self.target(&it.target().as_node()));
        }
        if let Some(it) = node.as_pinned_variable_node() {
            return self.node(&it.variable());
        }
        if let Some(it) = node.as_pinned_expression_node() {
            return sexp!("begin", self.node(&it.expression()));
        }
        if let Some(it) = node.as_parentheses_node() {
            let only = it.body().as_ref().and_then(p::Node::as_statements_node);
            let only = only.and_then(|list| list.body().first()).or(it.body());
            return only.map_or(Sexp::Nil, |node| self.pattern(&node));
        }
        if node.as_local_variable_target_node().is_some() {
            return self.target(node);
        }
        self.node(node)
    }

    fn rest(&self, splat: &p::SplatNode<'_>) -> Sexp {
        splat.expression().map_or_else(|| sexp!("var_field", Sexp::Nil), |it| self.target(&it))
    }

    fn array_pattern(&self, node: &p::ArrayPatternNode<'_>) -> Sexp {
        let list = |nodes: &p::NodeList<'_>| {
            let list: Vec<_> = nodes.iter().map(|node| self.pattern(&node)).collect();
            if list.is_empty() { Sexp::Nil } else { Sexp::List(list) }
        };
        let rest = node.rest().map_or(Sexp::Nil, |it| match it.as_splat_node() {
            Some(splat) => self.rest(&splat),
            None => sexp!("var_field", Sexp::Nil),
        });
        let constant = self.maybe(node.constant());
        sexp!("aryptn", constant, list(&node.requireds()), rest, list(&node.posts()))
    }

    fn hash_pattern(&self, node: &p::HashPatternNode<'_>) -> Sexp {
        let pairs: Vec<_> = node.elements().iter().filter_map(|it| self.pair(&it)).collect();
        let pairs = if pairs.is_empty() { Sexp::Nil } else { Sexp::List(pairs) };
        let rest = match node.rest() {
            Some(p::Node::NoKeywordsParameterNode { .. }) => sexp!("var_field", Sexp::Sym("nil")),
            Some(it) => {
                let named = it.as_assoc_splat_node().and_then(|it| it.value());
                named.map_or(Sexp::Nil, |it| self.target(&it))
            }
            None => Sexp::Nil,
        };
        sexp!("hshptn", self.maybe(node.constant()), pairs, rest)
    }

    fn pair(&self, node: &p::Node<'_>) -> Option<Sexp> {
        let pair = node.as_assoc_node()?;
        // A name in quotes is its content alone here.
        let mut key = self.label(&pair.key());
        if let Sexp::List(parts) = &mut key
            && parts.first() == Some(&Sexp::Sym("dyna_symbol"))
        {
            key = parts.remove(1);
        }
        let value = pair.value();
        let value =
            if value.as_implicit_node().is_some() { Sexp::Nil } else { self.pattern(&value) };
        Some(Sexp::List(vec![key, value]))
    }
}

/// The pattern before a guard.
fn only(list: Option<p::StatementsNode<'_>>) -> Option<p::Node<'_>> {
    list.and_then(|list| list.body().first())
}
