//! Statements: sequences, calls without parentheses, conditionals.

use crate::ast::{CaseOption, Expr, ExprKind};
use crate::parser::{Parsed, Parser, tight};
use crate::token::Tok;

/// Functions that may be called without parentheses.
const STATEMENT_CALLS: [&str; 15] = [
    "require", "realize", "include", "contain", "tag", "debug", "info", "notice", "warning", "err",
    "fail", "import", "break", "next", "return",
];

pub(super) fn is_statement_call(name: &str) -> bool {
    STATEMENT_CALLS.contains(&name)
}

impl Parser {
    /// Statements up to a token, which stays.
    pub(crate) fn statements_until(&mut self, is_end: &dyn Fn(&Tok) -> bool) -> Parsed<Vec<Expr>> {
        let mut list: Vec<Expr> = Vec::new();
        loop {
            // One semicolon may follow a statement.
            if !list.is_empty() {
                self.eat(";");
            }
            if is_end(self.peek()) {
                return Ok(tight(list));
            }
            if *self.peek() == Tok::End {
                return Err(self.unexpected());
            }
            let before = list.last();
            let statement = self.deeper(|parser| parser.statement(before))?;
            list.push(statement);
        }
    }

    /// `{ … }` as a block.
    pub(crate) fn block(&mut self) -> Parsed<Expr> {
        let start = self.expect("{")?;
        let body = self.deeper(|parser| parser.statements_until(&|tok| *tok == Tok::Punct("}")))?;
        let end = self.expect("}")?;
        Ok(Expr::new(ExprKind::Block(body), start.to(end)))
    }

    /// A statement, behind another one.
    fn statement(&mut self, before: Option<&Expr>) -> Parsed<Expr> {
        if let Some(call) = self.statement_call()? {
            return Ok(call);
        }
        let first = self.assignment()?;
        // `a, b` after a value is only legal behind a statement call, handled above.
        if self.is(",") {
            let next_is_value = !matches!(self.peek_at(1), Tok::End);
            if next_is_value {
                let message = match before.map(|before| &before.kind) {
                    Some(ExprKind::Name(name)) => format!(
                        "attempt to pass argument list to the function '{name}' which cannot be called without parentheses"
                    ),
                    _ => "illegal comma separated argument list".to_owned(),
                };
                return super::fail(self.peek_span(), message);
            }
            return Err(self.unexpected());
        }
        Ok(first)
    }

    /// `notice 'x', 'y'`: a known name followed by something that begins a value.
    fn statement_call(&mut self) -> Parsed<Option<Expr>> {
        let Tok::Name(name) = self.peek() else { return Ok(None) };
        if !is_statement_call(name) {
            return Ok(None);
        }
        let next = self.peek_at(1).clone();
        // Brackets that stand at the name are an access to it.
        let access = next == Tok::Punct("[") && !self.tokens[self.at + 1].spaced;
        let adjacent_parenthesis = next == Tok::Punct("(");
        let begins_value = match &next {
            Tok::Punct(symbol) => matches!(*symbol, "[" | "!"),
            Tok::Keyword("type") => self.is_call_at(2),
            Tok::Keyword(word) => {
                matches!(
                    *word,
                    "undef"
                        | "true"
                        | "false"
                        | "default"
                        | "if"
                        | "unless"
                        | "case"
                        | "attr"
                        | "private"
                )
            }
            Tok::End | Tok::EppEnd | Tok::RenderText(_) | Tok::RenderExprStart => false,
            _ => true,
        };
        if adjacent_parenthesis || access || !begins_value {
            // `return` and its kin stand alone as well.
            return Ok(None);
        }
        let token = self.bump();
        let Tok::Name(name) = token.kind else { return Err(self.unexpected()) };
        let mut args = vec![self.assignment()?];
        while self.eat(",") {
            args.push(self.assignment()?);
        }
        let span = token.span.to(self.last_span());
        let function = Box::new(Expr::new(ExprKind::Name(name), token.span));
        Ok(Some(Expr::new(ExprKind::Call { function, args, lambda: None, statement: true }, span)))
    }

    pub(crate) fn if_expression(&mut self) -> Parsed<Expr> {
        let start = self.bump().span;
        let condition = Box::new(self.expression()?);
        let then = Box::new(self.block()?);
        let otherwise = Box::new(self.else_part()?);
        let span = start.to(self.last_span());
        Ok(Expr::new(ExprKind::If { condition, then, otherwise, unless: false }, span))
    }

    fn else_part(&mut self) -> Parsed<Expr> {
        if self.is_keyword("elsif") {
            return self.deeper(Parser::if_expression);
        }
        if self.eat_keyword("else") {
            return self.block();
        }
        Ok(Expr::new(ExprKind::Nop, self.last_span()))
    }

    pub(crate) fn unless_expression(&mut self) -> Parsed<Expr> {
        let start = self.bump().span;
        let condition = Box::new(self.expression()?);
        let then = Box::new(self.block()?);
        let otherwise = if self.eat_keyword("else") {
            self.block()?
        } else {
            Expr::new(ExprKind::Nop, self.last_span())
        };
        let span = start.to(self.last_span());
        Ok(Expr::new(
            ExprKind::If { condition, then, otherwise: Box::new(otherwise), unless: true },
            span,
        ))
    }

    pub(crate) fn case_expression(&mut self) -> Parsed<Expr> {
        let start = self.bump().span;
        let subject = Box::new(self.expression()?);
        self.expect("{")?;
        let mut options = Vec::new();
        if self.is("}") {
            return Err(self.unexpected());
        }
        while !self.is("}") {
            let mut values = vec![self.expression()?];
            while self.eat(",") {
                if self.is(":") {
                    break;
                }
                values.push(self.expression()?);
            }
            self.expect(":")?;
            let then = self.block()?;
            options.push(CaseOption { values, then });
        }
        let end = self.expect("}")?;
        Ok(Expr::new(ExprKind::Case { subject, options }, start.to(end)))
    }
}
