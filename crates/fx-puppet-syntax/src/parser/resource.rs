//! Resources, their defaults and overrides, and collectors.

use fx_source::Span;

use crate::ast::{AttributeOp, Expr, ExprKind, Form, QueryForm, ResourceBody};
use crate::parser::statement::is_statement_call;
use crate::parser::{Parsed, Parser, fail, tight};
use crate::token::Tok;

impl Parser {
    /// An expression, made a resource by the brace behind it.
    pub(crate) fn resource(&mut self) -> Parsed<Expr> {
        let start = self.peek_span();
        let (wanted, what) = match self.peek() {
            Tok::Punct("@") => (Form::Virtual, "Virtual (@)"),
            Tok::Punct("@@") => (Form::Exported, "Exported (@@)"),
            _ => return self.regular_resource(),
        };
        self.bump();
        let mut expr = self.deeper(Parser::resource)?;
        match &mut expr.kind {
            ExprKind::Resource { form, .. }
            | ExprKind::ResourceDefaults { form, .. }
            | ExprKind::ResourceOverride { form, .. } => *form = wanted,
            _ => {
                let message = format!("{what} can only be applied to a Resource Expression");
                return fail(start, message);
            }
        }
        Ok(Expr { span: start.to(expr.span), ..expr })
    }

    fn regular_resource(&mut self) -> Parsed<Expr> {
        let start = self.peek_span();
        let ty = if self.is_keyword("class") && *self.peek_at(1) == Tok::Punct("{") {
            let span = self.bump().span;
            Expr::new(ExprKind::Name("class".into()), span)
        } else {
            self.expression()?
        };
        if !self.is("{") || !may_declare(&ty) {
            return Ok(ty);
        }
        let open = self.bump().span;
        let expr = self.deeper(|parser| parser.resource_rest(ty, open))?;
        Ok(Expr { span: start.to(expr.span), ..expr })
    }

    /// What stands behind `type {`, which opens at `start`.
    fn resource_rest(&mut self, ty: Expr, start: Span) -> Parsed<Expr> {
        let form = Form::Regular;
        let titled = !self.is("}") && !self.is(",") && !self.attributes_begin();
        let kind = if titled {
            ExprKind::Resource { form, ty: Box::new(ty), bodies: self.resource_bodies()? }
        } else {
            let operations = self.attributes()?;
            match ty.kind {
                ExprKind::Name(_) if operations.iter().any(is_append) => {
                    let message = "Syntax error resource body without title or hash with +>";
                    return fail(start, message);
                }
                ExprKind::Name(ref name) if is_statement_call(name) => {
                    let end = self.expect("}")?;
                    return Ok(call_with_hash(ty, operations, start.to(end)));
                }
                // A name here is found by the checks.
                ExprKind::Reference(_) | ExprKind::Name(_) => {
                    ExprKind::ResourceDefaults { form, ty: Box::new(ty), operations }
                }
                ExprKind::Access { .. } => {
                    ExprKind::ResourceOverride { form, resources: Box::new(ty), operations }
                }
                _ => {
                    let message = "Expression is not valid as a resource, resource-default, or resource-override";
                    return fail(ty.span, message);
                }
            }
        };
        let end = self.expect("}")?;
        Ok(Expr::new(kind, start.to(end)))
    }

    /// Whether `name =>`, `name +>` or `* =>` stands here.
    fn attributes_begin(&self) -> bool {
        let named =
            matches!(self.peek(), Tok::Name(_) | Tok::Word(_) | Tok::Keyword(_) | Tok::Punct("*"));
        named && matches!(self.peek_at(1), Tok::Punct("=>" | "+>"))
    }

    fn resource_bodies(&mut self) -> Parsed<Vec<ResourceBody>> {
        let mut bodies = Vec::new();
        loop {
            let title = self.expression()?;
            self.expect(":")?;
            let operations = self.attributes()?;
            bodies.push(ResourceBody { title, operations });
            if !self.eat(";") || self.is("}") {
                return Ok(tight(bodies));
            }
        }
    }

    pub(crate) fn attributes(&mut self) -> Parsed<Vec<AttributeOp>> {
        let mut list = Vec::new();
        // The list may begin with the comma that follows none.
        self.eat(",");
        // A name alone promises an arrow.
        let alone = matches!(self.peek(), Tok::Name(_) | Tok::Word(_) | Tok::Keyword(_));
        if alone && !self.attributes_begin() {
            self.bump();
            return Err(self.unexpected());
        }
        while self.attributes_begin() {
            let token = self.bump();
            let append = self.is("+>");
            self.bump();
            let value = self.expression_or_resource_value()?;
            list.push(match token.kind {
                Tok::Name(name) | Tok::Word(name) => {
                    AttributeOp::Set { name, append, value, span: token.span }
                }
                Tok::Keyword(word) => {
                    AttributeOp::Set { name: word.into(), append, value, span: token.span }
                }
                _ => AttributeOp::Splat { value, span: token.span },
            });
            if !self.eat(",") {
                break;
            }
        }
        Ok(tight(list))
    }

    fn expression_or_resource_value(&mut self) -> Parsed<Expr> {
        self.expression()
    }

    pub(crate) fn collector(&mut self, ty: Expr) -> Parsed<Expr> {
        let start = ty.span;
        let (form, close) =
            if self.is("<|") { (QueryForm::Virtual, "|>") } else { (QueryForm::Exported, "|>>") };
        self.bump();
        let query = if self.is(close) { None } else { Some(Box::new(self.expression()?)) };
        self.expect(close)?;
        let operations = if self.is("{") {
            self.bump();
            let operations = self.attributes()?;
            self.expect("}")?;
            operations
        } else {
            Vec::new()
        };
        let span = start.to(self.last_span());
        Ok(Expr::new(ExprKind::Collector { ty: Box::new(ty), form, query, operations }, span))
    }
}

/// What a brace turns into a resource: all but what ends with a block of its own.
fn may_declare(ty: &Expr) -> bool {
    !matches!(
        ty.kind,
        ExprKind::If { .. }
            | ExprKind::Case { .. }
            | ExprKind::Block(_)
            | ExprKind::Nop
            | ExprKind::Collector { .. }
            | ExprKind::Resource { .. }
            | ExprKind::ResourceDefaults { .. }
            | ExprKind::ResourceOverride { .. }
            | ExprKind::RenderText(_)
            | ExprKind::RenderExpr(_)
    )
}

fn is_append(operation: &AttributeOp) -> bool {
    matches!(operation, AttributeOp::Set { append: true, .. })
}

/// `return { a => 1 }`: a function that needs no parentheses, and a hash. Its keys are bare words,
/// because it was read as the attributes of a resource.
fn call_with_hash(function: Expr, operations: Vec<AttributeOp>, hash: Span) -> Expr {
    let pairs = operations.into_iter().map(|operation| match operation {
        AttributeOp::Set { name, value, span, .. } => {
            (Expr::new(ExprKind::Name(name), span), value)
        }
        AttributeOp::Splat { value, span } => (Expr::new(ExprKind::Name("*".into()), span), value),
    });
    let args = vec![Expr::new(ExprKind::Hash(tight(pairs.collect())), hash)];
    let span = function.span.to(hash);
    let call = ExprKind::Call { function: Box::new(function), args, lambda: None, statement: true };
    Expr::new(call, span)
}
