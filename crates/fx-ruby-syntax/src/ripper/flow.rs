//! Conditions, loops, brackets and exceptions.

use ruby_prism as p;

use super::{Maker, Sexp, Start, sexp};

impl Maker<'_> {
    pub(super) fn flow(&self, node: &p::Node<'_>) -> Sexp {
        if let Some(node) = node.as_if_node() {
            return self.if_node(&node);
        }
        if let Some(node) = node.as_unless_node() {
            return self.unless(&node);
        }
        if let Some(it) = node.as_while_node() {
            let (keyword, end) = (it.do_keyword_loc(), it.end_keyword_loc());
            let names = ["while", "while_mod"];
            return self.repeat(names, &it.predicate(), it.statements(), keyword, end.is_none());
        }
        if let Some(it) = node.as_until_node() {
            let (keyword, end) = (it.do_keyword_loc(), it.end_keyword_loc());
            let names = ["until", "until_mod"];
            return self.repeat(names, &it.predicate(), it.statements(), keyword, end.is_none());
        }
        if let Some(it) = node.as_for_node() {
            let index = self.index_of_for(&it.index());
            let collection = self.node(&it.collection());
            let (from, start) = after(it.do_keyword_loc(), it.collection().location().end());
            return sexp!("for", index, collection, self.statements(it.statements(), from, start));
        }
        if let Some(it) = node.as_case_node() {
            let predicate = self.maybe(it.predicate());
            let conditions: Vec<_> = it.conditions().iter().collect();
            return sexp!("case", predicate, self.branches(&conditions, it.else_clause()));
        }
        if let Some(it) = node.as_case_match_node() {
            let predicate = self.maybe(it.predicate());
            let conditions: Vec<_> = it.conditions().iter().collect();
            return sexp!("case", predicate, self.branches(&conditions, it.else_clause()));
        }
        if let Some(it) = node.as_match_predicate_node() {
            return self.one_line_match(&it.value(), &it.pattern());
        }
        if let Some(it) = node.as_match_required_node() {
            return self.one_line_match(&it.value(), &it.pattern());
        }
        if let Some(it) = node.as_begin_node() {
            let from = it.begin_keyword_loc().map_or(it.location().start(), |at| at.end());
            return sexp!("begin", self.begin_body(&it, from, Start::Open));
        }
        if let Some(it) = node.as_rescue_modifier_node() {
            let expression = self.node(&it.expression());
            return sexp!("rescue_mod", expression, self.node(&it.rescue_expression()));
        }
        if let Some(it) = node.as_parentheses_node() {
            return self.parentheses(&it);
        }
        let list = node.as_statements_node();
        let from = node.location().start();
        self.statements(list, from, Start::Open)
    }

    fn parentheses(&self, node: &p::ParenthesesNode<'_>) -> Sexp {
        let opening = node.opening_loc();
        let argument = self.argument_parens.borrow().contains(&opening.start());
        let body = node.body();
        if argument {
            let Some(body) = &body else { return sexp!("paren", Sexp::False) };
            let only = body.as_statements_node().filter(|list| list.body().len() == 1);
            if let Some(only) = only.and_then(|list| list.body().first()) {
                return sexp!("paren", self.node(&only));
            }
        }
        let Some(body) = &body else {
            return sexp!("paren", self.statements(None, 0, Start::Open));
        };
        match body.as_statements_node() {
            Some(list) => sexp!("paren", self.statements(Some(list), opening.end(), Start::Open)),
            None => sexp!("paren", Sexp::List(vec![self.node(body)])),
        }
    }

    fn one_line_match(&self, value: &p::Node<'_>, pattern: &p::Node<'_>) -> Sexp {
        let value = self.node(value);
        sexp!("case", value, sexp!("in", self.top_pattern(pattern), Sexp::Nil, Sexp::Nil))
    }

    /// The one statement before a modifier.
    fn modified(&self, statements: Option<p::StatementsNode<'_>>) -> Sexp {
        statements.and_then(|list| list.body().first()).map_or(Sexp::Nil, |it| self.node(&it))
    }

    fn if_node(&self, node: &p::IfNode<'_>) -> Sexp {
        let predicate = node.predicate();
        let Some(keyword) = node.if_keyword_loc() else {
            let (condition, yes) = (self.node(&predicate), self.modified(node.statements()));
            let other = node.subsequent().and_then(|it| it.as_else_node());
            let other = self.modified(other.and_then(|it| it.statements()));
            return sexp!("ifop", condition, yes, other);
        };
        if keyword.start() > node.location().start() {
            let condition = self.node(&predicate);
            return sexp!("if_mod", condition, self.modified(node.statements()));
        }
        let condition = self.node(&predicate);
        let (from, start) = after(node.then_keyword_loc(), predicate.location().end());
        let body = self.statements(node.statements(), from, start);
        let other = node.subsequent().map_or(Sexp::Nil, |it| match it.as_else_node() {
            Some(other) => self.else_clause(&other),
            None => self.node(&it),
        });
        if keyword.as_slice() == b"elsif" {
            return sexp!("elsif", condition, body, other);
        }
        sexp!("if", condition, body, other)
    }

    fn unless(&self, node: &p::UnlessNode<'_>) -> Sexp {
        let predicate = node.predicate();
        let condition = self.node(&predicate);
        if node.unless_keyword_loc().start() > node.location().start() {
            return sexp!("unless_mod", condition, self.modified(node.statements()));
        }
        let (from, start) = after(node.then_keyword_loc(), predicate.location().end());
        let body = self.statements(node.statements(), from, start);
        let other = node.else_clause().map_or(Sexp::Nil, |it| self.else_clause(&it));
        sexp!("unless", condition, body, other)
    }

    fn else_clause(&self, node: &p::ElseNode<'_>) -> Sexp {
        sexp!("else", self.else_list(node))
    }

    fn else_list(&self, node: &p::ElseNode<'_>) -> Sexp {
        self.statements(node.statements(), node.else_keyword_loc().end(), Start::Open)
    }

    fn repeat(
        &self,
        [plain, modifier]: [&'static str; 2],
        predicate: &p::Node<'_>,
        statements: Option<p::StatementsNode<'_>>,
        keyword: Option<p::Location<'_>>,
        after_statement: bool,
    ) -> Sexp {
        let condition = self.node(predicate);
        let modifies = after_statement
            && statements
                .as_ref()
                .is_some_and(|it| it.location().start() < predicate.location().start());
        if modifies {
            let body = self.modified(statements);
            return Sexp::List(vec![Sexp::Sym(modifier), condition, body]);
        }
        let (from, start) = after(keyword, predicate.location().end());
        let body = self.statements(statements, from, start);
        Sexp::List(vec![Sexp::Sym(plain), condition, body])
    }

    /// The branches of a `case`, each holding the next.
    fn branches(&self, conditions: &[p::Node<'_>], other: Option<p::ElseNode<'_>>) -> Sexp {
        let mut rest = other.map_or(Sexp::Nil, |it| self.else_clause(&it));
        for node in conditions.iter().rev() {
            if let Some(it) = node.as_when_node() {
                let values: Vec<_> = it.conditions().iter().collect();
                let end = values.last().map_or(it.when_keyword_loc().end(), |v| v.location().end());
                let (from, start) = after(it.then_keyword_loc(), end);
                let body = self.statements(it.statements(), from, start);
                rest = sexp!("when", self.list_with_splats(&values), body, rest);
            } else if let Some(it) = node.as_in_node() {
                let (from, start) = after(it.then_keyword_loc(), it.pattern().location().end());
                let body = self.statements(it.statements(), from, start);
                rest = sexp!("in", self.top_pattern(&it.pattern()), body, rest);
            }
        }
        rest
    }

    /// The body of a block with `do`, a method or a class, with its `rescue` and `ensure`.
    pub(super) fn body(&self, body: Option<p::Node<'_>>, from: u32, start: Start) -> Sexp {
        if let Some(begin) = body.as_ref().and_then(p::Node::as_begin_node)
            && begin.begin_keyword_loc().is_none()
        {
            return self.begin_body(&begin, from, start);
        }
        let list = body.as_ref().and_then(p::Node::as_statements_node);
        let list = match (list, body) {
            (None, Some(only)) => Sexp::List(vec![self.node(&only)]),
            (list, _) => self.statements(list, from, start),
        };
        sexp!("bodystmt", list, Sexp::Nil, Sexp::Nil, Sexp::Nil)
    }

    fn begin_body(&self, node: &p::BeginNode<'_>, from: u32, start: Start) -> Sexp {
        let list = self.statements(node.statements(), from, start);
        let rescue = node.rescue_clause().map_or(Sexp::Nil, |it| self.rescue(&it));
        let other = node.else_clause().map_or(Sexp::Nil, |it| self.else_list(&it));
        let ensure = node.ensure_clause().map_or(Sexp::Nil, |it| {
            let from = it.ensure_keyword_loc().end();
            sexp!("ensure", self.statements(it.statements(), from, Start::Open))
        });
        sexp!("bodystmt", list, rescue, other, ensure)
    }

    fn rescue(&self, node: &p::RescueNode<'_>) -> Sexp {
        let classes: Vec<_> = node.exceptions().iter().collect();
        let list = match classes.as_slice() {
            [] => Sexp::Nil,
            [one] if one.as_splat_node().is_none() => Sexp::List(vec![self.node(one)]),
            more => self.right_side(more),
        };
        let variable = node.reference().map_or(Sexp::Nil, |it| self.target(&it));
        let end = node
            .reference()
            .map(|it| it.location().end())
            .or(classes.last().map(|it| it.location().end()))
            .unwrap_or(node.keyword_loc().end());
        let (from, start) = after(node.then_keyword_loc(), end);
        let body = self.statements(node.statements(), from, start);
        let next = node.subsequent().map_or(Sexp::Nil, |it| self.rescue(&it));
        sexp!("rescue", list, variable, body, next)
    }
}

/// Where a list begins: after its `then` or `do`, or after the end of the condition's line.
fn after(keyword: Option<p::Location<'_>>, condition: u32) -> (u32, Start) {
    match keyword.filter(|at| matches!(at.as_slice(), b"then" | b"do")) {
        Some(at) => (at.end(), Start::Open),
        None => (condition, Start::Term),
    }
}
