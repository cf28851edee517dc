//! Classes, defines, nodes, functions and type aliases.

use std::rc::Rc;

use fx_source::Span;

use crate::ast::{Definition, DefinitionKind, Expr, ExprKind, NodeDefinition, Param};
use crate::parser::{Parsed, Parser, fail, tight};
use crate::token::Tok;

impl Parser {
    pub(crate) fn definition(&mut self) -> Parsed<Expr> {
        let start = self.peek_span();
        let word = match self.bump().kind {
            Tok::Keyword(word) => word,
            Tok::Name(_) => "plan",
            _ => return Err(self.unexpected()),
        };
        let index = self.definitions.len();
        match word {
            "class" => self.class(start)?,
            "define" => self.define(start)?,
            "node" => self.node(start)?,
            "function" => self.function(start, DefinitionKind::Function)?,
            "plan" => self.function(start, DefinitionKind::Plan)?,
            _ => self.type_alias(start)?,
        }
        // Definitions inside were added first; this one is the last.
        let own = self.definitions.len() - 1;
        debug_assert!(own >= index, "a definition was added");
        Ok(Expr::new(ExprKind::Definition(own), start.to(self.last_span())))
    }

    /// The name of what is being defined; one that is no good is found by the checks.
    fn new_name(&mut self) -> Parsed<(Rc<str>, Span)> {
        let (token, span) = (self.peek().clone(), self.peek_span());
        match token {
            Tok::Reference(name) => {
                self.bump();
                Ok((name, span))
            }
            _ => self.definition_name(),
        }
    }

    fn definition_name(&mut self) -> Parsed<(Rc<str>, Span)> {
        let token = self.bump();
        match token.kind {
            Tok::Name(name) | Tok::Word(name) => Ok((name, token.span)),
            Tok::Keyword("class") => {
                fail(token.span, "'class' keyword not allowed at this location")
            }
            Tok::Keyword(word @ ("site" | "application" | "attr" | "private")) => {
                Ok((word.into(), token.span))
            }
            Tok::String(_) => {
                self.at -= 1;
                fail(token.span, "A quoted string is not valid as a name here")
            }
            // The end stays where it is.
            Tok::End => Err(self.unexpected()),
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    /// A class or define inside a class belongs to it by name.
    fn qualified(&self, name: &str) -> Rc<str> {
        match self.namespace.last() {
            Some(outer) if !outer.is_empty() => format!("{outer}::{name}").into(),
            _ => name.into(),
        }
    }

    fn class(&mut self, start: Span) -> Parsed<()> {
        let (name, name_span) = self.new_name()?;
        let name = self.qualified(&name);
        let params = self.optional_params()?;
        let parent = if self.eat_keyword("inherits") {
            if self.eat_keyword("default") {
                Some("default".into())
            } else {
                let name = self.definition_name()?.0;
                Some(name.strip_prefix("::").map_or_else(|| Rc::clone(&name), Rc::from))
            }
        } else {
            None
        };
        self.namespace.push(Rc::clone(&name));
        let body = self.block();
        self.namespace.pop();
        self.add(DefinitionKind::Class, name, name_span, params, parent, None, body?, start);
        Ok(())
    }

    fn define(&mut self, start: Span) -> Parsed<()> {
        let (name, name_span) = self.new_name()?;
        let name = self.qualified(&name);
        let params = self.optional_params()?;
        let body = self.block()?;
        self.add(DefinitionKind::Define, name, name_span, params, None, None, body, start);
        Ok(())
    }

    fn function(&mut self, start: Span, kind: DefinitionKind) -> Parsed<()> {
        let (name, name_span) = self.new_name()?;
        let params = self.optional_params()?;
        let return_type =
            if self.eat(">>") { Some(Rc::new(self.type_expression()?)) } else { None };
        let body = self.block()?;
        self.add(kind, name, name_span, params, None, return_type, body, start);
        Ok(())
    }

    fn type_alias(&mut self, start: Span) -> Parsed<()> {
        let token = self.bump();
        let Tok::Reference(name) = token.kind else {
            if token.kind != Tok::End {
                self.at -= 1;
            }
            return Err(self.unexpected());
        };
        if self.is("[") {
            return fail(
                token.span,
                "Expressions of type a Type Mapping are not supported in this version of Puppet",
            );
        }
        if self.is("{") || self.is_keyword("inherits") {
            let message =
                "Expressions of type a Type Definition are not supported in this version of Puppet";
            return fail(start, message);
        }
        self.expect("=")?;
        let body = self.expression()?;
        let body = self.object_type(body)?;
        self.add(DefinitionKind::TypeAlias, name, token.span, Vec::new(), None, None, body, start);
        Ok(())
    }

    /// A hash describes a type of objects, and `Parent { … }` one that has a parent.
    fn object_type(&mut self, body: Expr) -> Parsed<Expr> {
        let (hash, parent) = match body.kind {
            ExprKind::Hash(_) => (body, None),
            ExprKind::Reference(_) if self.is("{") => (self.hash()?, Some(body)),
            _ => return Ok(body),
        };
        let span = hash.span;
        let ExprKind::Hash(mut pairs) = hash.kind else { return Err(self.unexpected()) };
        if let Some(parent) = parent {
            pairs.push((Expr::new(ExprKind::Name("parent".into()), parent.span), parent));
        }
        let left = Box::new(Expr::new(ExprKind::Reference("Object".into()), span));
        let keys = vec![Expr::new(ExprKind::Hash(pairs), span)];
        Ok(Expr::new(ExprKind::Access { left, keys }, span))
    }

    fn node(&mut self, start: Span) -> Parsed<()> {
        let mut matches = vec![self.node_match()?];
        while self.eat(",") {
            if self.is("{") || self.is_keyword("inherits") {
                break;
            }
            matches.push(self.node_match()?);
        }
        let parent = if self.eat_keyword("inherits") {
            let parent = self.node_match()?;
            return fail(
                parent.span,
                "Node inheritance is not supported in Puppet >= 4.0.0. See http://links.puppet.com/puppet-node-inheritance-deprecation",
            );
        } else {
            None
        };
        let body = self.block()?;
        let span = start.to(body.span);
        self.definitions.push(Definition {
            kind: DefinitionKind::Node,
            name: "".into(),
            params: Rc::from([]),
            parent,
            return_type: None,
            body: Rc::new(body),
            node: Some(NodeDefinition { matches }),
            span,
            name_span: start,
        });
        Ok(())
    }

    /// `default`, a string, a regular expression, or a name of words, numbers and dots.
    fn node_match(&mut self) -> Parsed<Expr> {
        let start = self.peek_span();
        match self.peek().clone() {
            Tok::Keyword("default") | Tok::Regex(_) | Tok::String(_) | Tok::Interpolated(_) => {
                return self.expression();
            }
            Tok::Name(_) | Tok::Word(_) | Tok::Number(_) => {}
            _ => return Err(self.unexpected()),
        }
        let mut name = String::new();
        loop {
            let token = self.bump();
            match token.kind {
                Tok::Name(word) | Tok::Word(word) | Tok::Number(word) => name.push_str(&word),
                Tok::Keyword(word) => name.push_str(word),
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            }
            if !self.eat(".") {
                break;
            }
            name.push('.');
        }
        Ok(Expr::new(ExprKind::String(name.into()), start.to(self.last_span())))
    }

    fn optional_params(&mut self) -> Parsed<Vec<Param>> {
        if !self.eat("(") {
            return Ok(Vec::new());
        }
        let params = self.params_until(")")?;
        self.expect(")")?;
        Ok(tight(params))
    }

    /// Parameters up to a token, which stays.
    pub(crate) fn params_until(&mut self, close: &str) -> Parsed<Vec<Param>> {
        let mut params = Vec::new();
        while !self.is(close) {
            let ty = if matches!(self.peek(), Tok::Reference(_)) {
                Some(self.type_expression()?)
            } else {
                None
            };
            let captures_rest = self.eat("*");
            let token = self.bump();
            let Tok::Variable(name) = token.kind else {
                self.at -= 1;
                return Err(self.unexpected());
            };
            let default = if self.eat("=") { Some(self.expression()?) } else { None };
            params.push(Param { name, ty, default, captures_rest, span: token.span });
            if !self.eat(",") {
                break;
            }
        }
        Ok(tight(params))
    }

    #[expect(clippy::too_many_arguments, reason = "one call for each part of a definition")]
    fn add(
        &mut self,
        kind: DefinitionKind,
        name: Rc<str>,
        name_span: Span,
        params: Vec<Param>,
        parent: Option<Rc<str>>,
        return_type: Option<Rc<Expr>>,
        body: Expr,
        start: Span,
    ) {
        let span = start.to(body.span);
        self.definitions.push(Definition {
            kind,
            name,
            params: params.into(),
            parent,
            return_type,
            body: Rc::new(body),
            node: None,
            span,
            name_span,
        });
    }
}
