//! Expressions by precedence climbing. The table is the original's: `==` binds tighter
//! than `<`, `in` tighter than `=~`, and unary minus looser than a method call.

use std::rc::Rc;

use fx_source::Span;

use crate::ast::{BinaryOp, CaseOption, Expr, ExprKind, Lambda, RelationOp};
use crate::parser::{Parsed, Parser, fail, tight};
use crate::token::Tok;

/// Binding strength of `in`, below which unary operators take their operand.
const UNARY: u8 = 10;

fn binary(tok: &Tok) -> Option<(u8, BinaryOp)> {
    Some(match tok {
        Tok::Keyword("or") => (1, BinaryOp::Or),
        Tok::Keyword("and") => (2, BinaryOp::And),
        Tok::Punct("<") => (3, BinaryOp::Less),
        Tok::Punct("<=") => (3, BinaryOp::LessEqual),
        Tok::Punct(">") => (3, BinaryOp::Greater),
        Tok::Punct(">=") => (3, BinaryOp::GreaterEqual),
        Tok::Punct("==") => (4, BinaryOp::Equal),
        Tok::Punct("!=") => (4, BinaryOp::NotEqual),
        Tok::Punct("<<") => (5, BinaryOp::ShiftLeft),
        Tok::Punct(">>") => (5, BinaryOp::ShiftRight),
        Tok::Punct("+") => (6, BinaryOp::Add),
        Tok::Punct("-") => (6, BinaryOp::Subtract),
        Tok::Punct("*") => (7, BinaryOp::Multiply),
        Tok::Punct("/") => (7, BinaryOp::Divide),
        Tok::Punct("%") => (7, BinaryOp::Modulo),
        Tok::Punct("=~") => (8, BinaryOp::Match),
        Tok::Punct("!~") => (8, BinaryOp::NotMatch),
        Tok::Keyword("in") => (9, BinaryOp::In),
        _ => return None,
    })
}

impl Parser {
    /// The loosest level: assignments, which lean to the right.
    pub(crate) fn assignment(&mut self) -> Parsed<Expr> {
        let left = self.relationship()?;
        let operator = match self.peek() {
            Tok::Punct(symbol @ ("=" | "+=" | "-=")) => *symbol,
            _ => return Ok(left),
        };
        let op_span = self.bump().span;
        let right = self.deeper(Parser::assignment)?;
        let span = left.span.to(right.span);
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = match operator {
            "=" => ExprKind::Assign { op_span, left, right },
            op => ExprKind::AppendAssign { op, op_span, left, right },
        };
        Ok(Expr::new(kind, span))
    }

    fn relationship(&mut self) -> Parsed<Expr> {
        let mut left = self.resource()?;
        loop {
            let op = match self.peek() {
                Tok::Punct("->") => RelationOp::Before,
                Tok::Punct("<-") => RelationOp::After,
                Tok::Punct("~>") => RelationOp::Notify,
                Tok::Punct("<~") => RelationOp::Subscribe,
                _ => return Ok(left),
            };
            let op_span = self.bump().span;
            let right = self.resource()?;
            let span = left.span.to(right.span);
            left = Expr::new(
                ExprKind::Relationship {
                    op,
                    op_span,
                    left: Box::new(left),
                    right: Box::new(right),
                },
                span,
            );
        }
    }

    pub(crate) fn expression(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| parser.climb(0))
    }

    fn climb(&mut self, floor: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        loop {
            // A selector takes all before it but `and` and `or`.
            if floor <= 2 && self.is("?") {
                let selector = self.selector(left)?;
                left = self.postfix_of(selector)?;
                continue;
            }
            let Some((strength, op)) =
                binary(self.peek()).filter(|(strength, _)| *strength > floor)
            else {
                break;
            };
            let op_span = self.bump().span;
            let right = self.deeper(|parser| parser.climb(strength))?;
            let span = left.span.to(right.span);
            left = Expr::new(
                ExprKind::Binary { op, op_span, left: Box::new(left), right: Box::new(right) },
                span,
            );
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let make: fn(Box<Expr>) -> ExprKind = match self.peek() {
            Tok::Punct("!") => ExprKind::Not,
            Tok::Punct("-") => ExprKind::Negate,
            Tok::Punct("*") => ExprKind::Unfold,
            _ => return self.postfix(),
        };
        let start = self.bump().span;
        let operand = self.deeper(|parser| parser.climb(UNARY))?;
        let span = start.to(operand.span);
        Ok(Expr::new(make(Box::new(operand)), span))
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let left = self.primary()?;
        self.postfix_of(left)
    }

    fn postfix_of(&mut self, mut left: Expr) -> Parsed<Expr> {
        loop {
            let spaced = self.peek_spaced();
            left = match self.peek() {
                Tok::Punct("[") if !spaced => self.access(left)?,
                Tok::Punct("(") if !spaced && is_callable(&left) => self.call(left)?,
                Tok::Punct(".") => self.method_call(left)?,
                Tok::Punct("<|" | "<<|") => self.collector(left)?,
                Tok::Punct("|")
                    if matches!(
                        left.kind,
                        ExprKind::Call { lambda: None, statement: false, .. }
                    ) && self.lambda_begins() =>
                {
                    let lambda = self.lambda()?;
                    let span = left.span.to(lambda.span);
                    let ExprKind::Call { function, args, .. } = left.kind else {
                        return Err(self.unexpected());
                    };
                    Expr::new(
                        ExprKind::Call {
                            function,
                            args,
                            lambda: Some(Box::new(lambda)),
                            statement: false,
                        },
                        span,
                    )
                }
                _ => return Ok(left),
            };
        }
    }

    /// A bar that opens parameters: `|$x`, `||`, `|Type $x`, `|*$x`.
    fn lambda_begins(&self) -> bool {
        matches!(self.peek_at(1), Tok::Variable(_) | Tok::Punct("|" | "*") | Tok::Reference(_))
    }

    /// Whether arguments begin, so many tokens ahead.
    pub(crate) fn is_call_at(&self, ahead: usize) -> bool {
        let token = self.tokens.get(self.at + ahead);
        token.is_some_and(|token| token.kind == Tok::Punct("(") && !token.spaced)
    }

    fn access(&mut self, left: Expr) -> Parsed<Expr> {
        self.bump();
        let keys = self.list_until("]")?;
        let end = self.expect("]")?;
        if keys.is_empty() {
            return fail(end, "Syntax error at ']'");
        }
        let span = left.span.to(end);
        Ok(Expr::new(ExprKind::Access { left: Box::new(left), keys }, span))
    }

    /// Values separated by commas, a last comma allowed; the closing token stays.
    pub(crate) fn list_until(&mut self, close: &'static str) -> Parsed<Vec<Expr>> {
        let mut items = Vec::new();
        while !self.is(close) {
            items.push(self.deeper(Parser::argument)?);
            if !self.eat(",") {
                break;
            }
        }
        Ok(tight(items))
    }

    /// A value in a list or a hash, where `type` and `function` are words.
    fn entry(&mut self) -> Parsed<Expr> {
        if let Tok::Keyword(word @ ("type" | "function")) = self.peek()
            && matches!(self.peek_at(1), Tok::Punct("," | "=>" | "]" | ")" | "}"))
        {
            let text = ExprKind::String((*word).into());
            return Ok(Expr::new(text, self.bump().span));
        }
        self.assignment()
    }

    /// An item of a list: any value, or `key => value` pairs without braces.
    fn argument(&mut self) -> Parsed<Expr> {
        let first = self.entry()?;
        if !self.is("=>") {
            return Ok(first);
        }
        let start = first.span;
        let mut pairs = Vec::new();
        let mut key = first;
        loop {
            self.expect("=>")?;
            let value = self.entry()?;
            pairs.push((key, value));
            // The next pair, if there is one, belongs to the same hash.
            let mark = self.at;
            if !self.eat(",") || self.is("]") || self.is(")") {
                self.at = mark;
                break;
            }
            key = self.entry()?;
            if !self.is("=>") {
                self.at = mark;
                break;
            }
        }
        let span = start.to(self.last_span());
        Ok(Expr::new(ExprKind::Hash(tight(pairs)), span))
    }

    fn call(&mut self, function: Expr) -> Parsed<Expr> {
        self.bump();
        let args = self.list_until(")")?;
        let end = self.expect(")")?;
        let span = function.span.to(end);
        Ok(Expr::new(
            ExprKind::Call { function: Box::new(function), args, lambda: None, statement: false },
            span,
        ))
    }

    fn method_call(&mut self, receiver: Expr) -> Parsed<Expr> {
        self.bump();
        let token = self.bump();
        let name: Rc<str> = match token.kind {
            Tok::Name(name) => name,
            Tok::Keyword(word @ ("type" | "in" | "default" | "site")) => word.into(),
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        };
        let parens = self.is("(") && !self.peek_spaced();
        let args = if parens {
            self.bump();
            let args = self.list_until(")")?;
            self.expect(")")?;
            args
        } else {
            Vec::new()
        };
        let lambda = if self.is("|") && self.lambda_begins() {
            Some(Box::new(self.lambda()?))
        } else {
            None
        };
        let span = receiver.span.to(self.last_span());
        let receiver = Box::new(receiver);
        Ok(Expr::new(
            ExprKind::MethodCall { receiver, name, name_span: token.span, parens, args, lambda },
            span,
        ))
    }

    pub(crate) fn lambda(&mut self) -> Parsed<Lambda> {
        let start = self.expect("|")?;
        let params = self.params_until("|")?;
        self.expect("|")?;
        let return_type =
            if self.eat(">>") { Some(Rc::new(self.type_expression()?)) } else { None };
        let body = self.block()?;
        let span = start.to(body.span);
        Ok(Lambda { params: params.into(), return_type, body: Rc::new(body), span })
    }

    fn selector(&mut self, left: Expr) -> Parsed<Expr> {
        self.bump();
        let mut options = Vec::new();
        if self.eat("{") {
            while !self.is("}") {
                options.push(self.selector_option()?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect("}")?;
        } else {
            options.push(self.selector_option()?);
        }
        let span = left.span.to(self.last_span());
        Ok(Expr::new(ExprKind::Selector { left: Box::new(left), options }, span))
    }

    fn selector_option(&mut self) -> Parsed<CaseOption> {
        let value = self.expression()?;
        self.expect("=>")?;
        let then = self.expression()?;
        Ok(CaseOption { values: vec![value], then })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.tokens[self.at].clone();
        let span = token.span;
        let kind = match token.kind {
            // A word like others, unless a name follows it.
            Tok::Name(name) if &*name == "plan" && matches!(self.peek_at(1), Tok::Name(_)) => {
                return self.deeper(Parser::definition);
            }
            Tok::Name(name) => ExprKind::Name(name),
            // A word that could be a variable's name is one in `"${_word}"`.
            Tok::Word(text) if text.contains('-') => ExprKind::String(text),
            Tok::Word(name) => ExprKind::Name(name),
            Tok::Reference(name) => ExprKind::Reference(name),
            Tok::Variable(name) => ExprKind::Variable(name),
            Tok::String(text) => ExprKind::String(text),
            Tok::Regex(text) => ExprKind::Regex(text),
            Tok::Number(text) => Self::number(&text, span)?,
            Tok::Interpolated(index) => {
                self.bump();
                let parts = self.string_parts(index)?;
                return Ok(Expr::new(ExprKind::Interpolated(parts), span));
            }
            Tok::Heredoc(syntax, index) => return self.heredoc(syntax, index, span),
            Tok::Keyword("undef") => ExprKind::Undef,
            Tok::Keyword("default") => ExprKind::Default,
            Tok::Keyword("true") => ExprKind::Bool(true),
            Tok::Keyword("false") => ExprKind::Bool(false),
            Tok::Keyword("if") => return self.deeper(Parser::if_expression),
            Tok::Keyword("unless") => return self.deeper(Parser::unless_expression),
            Tok::Keyword("case") => return self.deeper(Parser::case_expression),
            Tok::Keyword("class" | "define" | "node" | "function") => {
                return self.deeper(Parser::definition);
            }
            Tok::Keyword("type") => {
                if matches!(self.peek_at(1), Tok::Reference(_)) {
                    return self.deeper(Parser::definition);
                }
                // Else it is a function, or nothing.
                if !self.is_call_at(1) {
                    self.bump();
                    return Err(self.unexpected());
                }
                ExprKind::Name("type".into())
            }
            Tok::Keyword(word @ ("attr" | "private")) => ExprKind::Reserved(word.into()),
            Tok::Punct("(") => return self.parenthesized(),
            Tok::Punct("[") => return self.array(),
            Tok::Punct("{") => return self.hash(),
            Tok::RenderText(text) => ExprKind::RenderText(text),
            Tok::RenderExprStart => return self.render_expression(),
            _ => return Err(self.unexpected()),
        };
        self.bump();
        Ok(Expr::new(kind, span))
    }

    fn number(text: &str, span: Span) -> Parsed<ExprKind> {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        if let Some(digits) = digits {
            return match i64::from_str_radix(digits, 16) {
                Ok(value) => Ok(ExprKind::Int { value, radix: 16 }),
                Err(_) if digits.is_empty() => fail(span, format!("Not a valid hex number {text}")),
                Err(_) => Self::out_of_range(digits, 16, span),
            };
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            let octal = text.len() > 1 && text.starts_with('0');
            let radix = if octal { 8 } else { 10 };
            return match i64::from_str_radix(text, radix) {
                Ok(value) => Ok(ExprKind::Int { value, radix }),
                Err(_) => Self::out_of_range(text, radix, span),
            };
        }
        match text.parse() {
            Ok(value) => Ok(ExprKind::Float(value)),
            Err(_) => fail(span, format!("Illegal number '{text}'")),
        }
    }

    fn out_of_range(digits: &str, radix: u32, span: Span) -> Parsed<ExprKind> {
        let hex = u128::from_str_radix(digits, radix)
            .map_or_else(|_| "much more".to_owned(), |value| format!("+0x{value:X}"));
        fail(
            span,
            format!(
                "A Literal Integer resulted in a value outside of Puppet Integer max range, got '{hex}'"
            ),
        )
    }

    fn heredoc(&mut self, syntax: Rc<str>, index: usize, span: Span) -> Parsed<Expr> {
        self.bump();
        let mut parts = self.string_parts(index)?.into_iter();
        let text = match parts.next() {
            Some(crate::ast::StringPart::Text(text)) => Expr::new(ExprKind::String(text), span),
            Some(crate::ast::StringPart::Expr(expr)) => expr,
            None => Expr::new(ExprKind::String("".into()), span),
        };
        Ok(Expr::new(ExprKind::Heredoc { syntax, text: Box::new(text) }, span))
    }

    fn parenthesized(&mut self) -> Parsed<Expr> {
        let start = self.bump().span;
        let inner = self.deeper(Parser::assignment)?;
        let end = self.expect(")")?;
        Ok(Expr::new(ExprKind::Parenthesized(Box::new(inner)), start.to(end)))
    }

    fn array(&mut self) -> Parsed<Expr> {
        let start = self.bump().span;
        let items = self.list_until("]")?;
        let end = self.expect("]")?;
        Ok(Expr::new(ExprKind::Array(items), start.to(end)))
    }

    pub(crate) fn hash(&mut self) -> Parsed<Expr> {
        let start = self.bump().span;
        let mut pairs = Vec::new();
        while !self.is("}") {
            let key = self.deeper(Parser::entry)?;
            self.expect("=>")?;
            let value = self.deeper(Parser::entry)?;
            pairs.push((key, value));
            if !self.eat(",") {
                break;
            }
        }
        let end = self.expect("}")?;
        Ok(Expr::new(ExprKind::Hash(tight(pairs)), start.to(end)))
    }

    /// A type in a parameter list: a reference with optional brackets.
    pub(crate) fn type_expression(&mut self) -> Parsed<Expr> {
        if !matches!(self.peek(), Tok::Reference(_)) {
            return Err(self.unexpected());
        }
        let mut ty = self.primary()?;
        while self.is("[") && !self.peek_spaced() {
            ty = self.access(ty)?;
        }
        Ok(ty)
    }
}

fn is_callable(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Name(_)
            | ExprKind::Reference(_)
            | ExprKind::Access { .. }
            | ExprKind::Variable(_)
            | ExprKind::Reserved(_)
    )
}
