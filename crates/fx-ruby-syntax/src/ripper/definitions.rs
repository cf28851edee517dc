//! Methods, classes, modules, other names of methods.

use ruby_prism as p;

use super::{Maker, Sexp, Start, sexp};

impl Maker<'_> {
    pub(super) fn definition(&self, node: &p::Node<'_>) -> Sexp {
        if let Some(it) = node.as_def_node() {
            return self.method(&it);
        }
        if let Some(it) = node.as_class_node() {
            let path = it.constant_path();
            let name = self.defined_constant(&path);
            let parent = it.superclass();
            let (from, start) = match &parent {
                Some(parent) => (parent.location().end(), Start::Term),
                None => (path.location().end(), Start::Name),
            };
            let parent = self.maybe(parent);
            return sexp!("class", name, parent, self.body(it.body(), from, start));
        }
        if let Some(it) = node.as_module_node() {
            let path = it.constant_path();
            let body = self.body(it.body(), path.location().end(), Start::Name);
            return sexp!("module", self.defined_constant(&path), body);
        }
        if let Some(it) = node.as_singleton_class_node() {
            let of = it.expression();
            let body = self.body(it.body(), of.location().end(), Start::Term);
            return sexp!("sclass", self.node(&of), body);
        }
        if let Some(it) = node.as_alias_method_node() {
            let new = self.method_name(&it.new_name());
            return sexp!("alias", new, self.method_name(&it.old_name()));
        }
        if let Some(it) = node.as_alias_global_variable_node() {
            let new = self.name(&it.new_name().location());
            return sexp!("var_alias", new, self.name(&it.old_name().location()));
        }
        if let Some(it) = node.as_undef_node() {
            let names = it.names().iter().map(|name| self.method_name(&name)).collect();
            return sexp!("undef", Sexp::List(names));
        }
        if let Some(it) = node.as_pre_execution_node() {
            let from = it.opening_loc().end();
            return sexp!("BEGIN", self.statements(it.statements(), from, Start::Open));
        }
        let it = node.as_post_execution_node().expect("the last kind");
        let from = it.opening_loc().end();
        sexp!("END", self.statements(it.statements(), from, Start::Open))
    }

    fn defined_constant(&self, path: &p::Node<'_>) -> Sexp {
        if path.as_constant_read_node().is_some() {
            return sexp!("const_ref", self.token("@const", &path.location()));
        }
        self.constant_path(path)
    }

    /// A name after `alias` or `undef`: bare, or a symbol.
    fn method_name(&self, node: &p::Node<'_>) -> Sexp {
        match node.as_symbol_node() {
            Some(symbol) if symbol.opening_loc().is_none() => {
                sexp!("symbol_literal", self.word(&symbol.content_loc()))
            }
            _ => self.node(node),
        }
    }

    fn method(&self, node: &p::DefNode<'_>) -> Sexp {
        let name = self.word(&node.name_loc());
        let parameters = self.method_parameters(node.parameters());
        let (parameters, from, start) = match node.rparen_loc() {
            Some(close) => (sexp!("paren", parameters), close.end(), Start::Open),
            None => {
                let end = node.parameters().map(|it| it.location().end());
                (parameters, end.unwrap_or(node.name_loc().end()), Start::Term)
            }
        };
        let body = if node.equal_loc().is_some() {
            let only = node.body().as_ref().and_then(p::Node::as_statements_node);
            let only = only.and_then(|list| list.body().first());
            sexp!("bodystmt", self.maybe(only), Sexp::Nil, Sexp::Nil, Sexp::Nil)
        } else {
            self.body(node.body(), from, start)
        };
        let Some(receiver) = node.receiver() else { return sexp!("def", name, parameters, body) };
        let operator = node.operator_loc().map_or(Sexp::Nil, |at| {
            self.token(if at.as_slice() == b"." { "@period" } else { "@op" }, &at)
        });
        let receiver = match receiver.as_parentheses_node() {
            Some(brackets) => {
                let body = brackets.body();
                let list = body.as_ref().and_then(p::Node::as_statements_node);
                sexp!("paren", self.maybe(list.and_then(|list| list.body().first()).or(body)))
            }
            None => self.node(&receiver),
        };
        sexp!("defs", receiver, operator, name, parameters, body)
    }
}
