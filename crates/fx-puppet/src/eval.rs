//! Evaluating expressions to values. Resources and definitions go to the compiler through
//! [`Effects`]; everything here is pure but for what functions do.

mod access;
mod call;
mod error;
mod operators;
mod scope;
mod text;
mod type_access;

use std::rc::Rc;

use fx_puppet_syntax::{BinaryOp, CaseOption, Expr, ExprKind, Lambda, StringPart};
use fx_source::Span;

use crate::regex::Regex;
use crate::types::Type;
use crate::value::Value;

pub use call::{Callable, Closure};
pub use error::{Flow, Issue};
pub use scope::{Scope, ScopeKind};
pub use text::{format_value, interpolated, program_text};

/// What an evaluation yields, or how it was left.
pub type Evaluated<T = Value> = Result<T, Flow>;

/// Deepest nesting of calls and expressions.
const MAX_DEPTH: u32 = 400;

/// What expressions can cause outside themselves. The compiler implements it; a plain
/// evaluation of values refuses.
pub trait Effects {
    /// A function by name, given its arguments and block; `None` if there is no such name.
    fn call(&self, eval: &Evaluator<'_>, name: &str, args: &[Value], block: Option<&Closure>, scope: &Rc<Scope>, span: Span) -> Option<Evaluated>;
    /// A resource, collector, relationship or definition as an expression.
    fn statement(&self, eval: &Evaluator<'_>, expr: &Expr, scope: &Rc<Scope>) -> Evaluated;
    /// A type that is not part of the language: an alias, a define, a resource type.
    fn named_type(&self, eval: &Evaluator<'_>, name: &str, span: Span) -> Evaluated<Option<Type>>;
    /// A variable that is not in any scope around: facts, settings, other classes.
    fn variable(&self, name: &str) -> Option<Value>;
    /// Says something unwise was done.
    fn warn(&self, message: &str, span: Option<Span>);
}

/// Evaluates expressions in a scope.
pub struct Evaluator<'a> {
    /// What happens outside.
    pub effects: &'a dyn Effects,
    depth: std::cell::Cell<u32>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator over these effects.
    pub fn new(effects: &'a dyn Effects) -> Evaluator<'a> {
        Evaluator { effects, depth: 0.into() }
    }

    /// The value of an expression.
    pub fn eval(&self, expr: &Expr, scope: &Rc<Scope>) -> Evaluated {
        if self.depth.get() >= MAX_DEPTH {
            return Err(Flow::fail(expr.span, "stack level too deep"));
        }
        self.depth.set(self.depth.get() + 1);
        let value = self.dispatch(expr, scope);
        self.depth.set(self.depth.get() - 1);
        value
    }

    fn dispatch(&self, expr: &Expr, scope: &Rc<Scope>) -> Evaluated {
        let span = expr.span;
        Ok(match &expr.kind {
            ExprKind::Nop | ExprKind::Undef => Value::Undef,
            ExprKind::Default => Value::Default,
            ExprKind::Bool(value) => Value::Bool(*value),
            ExprKind::Int { value, .. } => Value::Int(*value),
            ExprKind::Float(value) => Value::Float(*value),
            ExprKind::String(text) | ExprKind::Name(text) => Value::String(Rc::clone(text)),
            ExprKind::Regex(source) => Value::Regex(Rc::new(Regex::new(source))),
            ExprKind::Interpolated(parts) => self.interpolate(parts, scope)?,
            ExprKind::Heredoc { text, .. } => self.eval(text, scope)?,
            ExprKind::Reference(name) => self.type_named(name, span)?,
            ExprKind::Variable(name) => self.variable(name, span, scope)?,
            ExprKind::Array(items) => Value::array(self.list(items, scope)?),
            ExprKind::Hash(pairs) => self.hash(pairs, scope)?,
            ExprKind::Access { left, keys } => self.access(left, keys, span, scope)?,
            ExprKind::Call { function, args, lambda, .. } => self.call(function, args, lambda.as_deref(), span, scope)?,
            ExprKind::MethodCall { receiver, name, name_span, args, lambda } => {
                self.method_call(receiver, name, *name_span, args, lambda.as_deref(), scope)?
            }
            ExprKind::Not(operand) => Value::Bool(!self.eval(operand, scope)?.is_true()),
            ExprKind::Negate(operand) => self.negate(operand, scope)?,
            ExprKind::Unfold(operand) => match self.unfold(operand, scope)? {
                items if items.len() == 1 => items.into_iter().next().unwrap_or(Value::Undef),
                items => Value::array(items),
            },
            ExprKind::Parenthesized(inner) => self.eval(inner, scope)?,
            ExprKind::Binary { op: BinaryOp::And, left, right, .. } => {
                Value::Bool(self.eval(left, scope)?.is_true() && self.eval(right, scope)?.is_true())
            }
            ExprKind::Binary { op: BinaryOp::Or, left, right, .. } => {
                Value::Bool(self.eval(left, scope)?.is_true() || self.eval(right, scope)?.is_true())
            }
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right, scope)?,
            ExprKind::Assign { left, right, .. } => {
                let value = self.eval(right, scope)?;
                self.assign(left, value, scope)?
            }
            ExprKind::Selector { left, options } => self.selector(left, options, span, scope)?,
            ExprKind::If { condition, then, otherwise, unless } => {
                // What a match captures holds in the branches and no further.
                let inner = scope.with_matches();
                let holds = self.eval(condition, &inner)?.is_true() != *unless;
                self.eval(if holds { then } else { otherwise }, &inner)?
            }
            ExprKind::Case { subject, options } => self.case(subject, options, scope)?,
            ExprKind::Block(body) => self.block(body, scope)?,
            ExprKind::Lambda(_) => return Err(Flow::fail(span, "a lambda stands alone; give it to a function")),
            ExprKind::RenderText(text) => {
                scope.render(text);
                Value::Undef
            }
            ExprKind::RenderExpr(inner) => {
                let value = self.eval(inner, scope)?;
                scope.render(&interpolated(&value));
                Value::Undef
            }
            ExprKind::Epp { body, .. } => self.eval(body, scope)?,
            ExprKind::Reserved(word) => return Err(Flow::fail(span, format!("Use of reserved word: {word}"))),
            ExprKind::AppendAssign { op, .. } => return Err(Flow::fail(span, format!("The operator '{op}' is no longer supported"))),
            ExprKind::Resource { .. }
            | ExprKind::ResourceDefaults { .. }
            | ExprKind::ResourceOverride { .. }
            | ExprKind::Collector { .. }
            | ExprKind::Relationship { .. }
            | ExprKind::Definition(_) => self.effects.statement(self, expr, scope)?,
        })
    }

    /// The value of the last statement.
    pub fn block(&self, body: &[Expr], scope: &Rc<Scope>) -> Evaluated {
        let mut last = Value::Undef;
        for statement in body {
            last = self.eval(statement, scope)?;
        }
        Ok(last)
    }

    /// Items of a list, with `*x` spread out.
    pub(crate) fn list(&self, items: &[Expr], scope: &Rc<Scope>) -> Evaluated<Vec<Value>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match &item.kind {
                ExprKind::Unfold(inner) => values.extend(self.unfold(inner, scope)?),
                _ => values.push(self.eval(item, scope)?),
            }
        }
        Ok(values)
    }

    fn unfold(&self, inner: &Expr, scope: &Rc<Scope>) -> Evaluated<Vec<Value>> {
        Ok(match self.eval(inner, scope)? {
            Value::Array(items) => items.to_vec(),
            Value::Hash(hash) => hash.iter().map(|(key, value)| Value::array(vec![key.clone(), value.clone()])).collect(),
            Value::Undef => Vec::new(),
            value => vec![value],
        })
    }

    fn hash(&self, pairs: &[(Expr, Expr)], scope: &Rc<Scope>) -> Evaluated {
        let mut hash = crate::value::Hash::default();
        for (key, value) in pairs {
            let key = self.eval(key, scope)?;
            let value = self.eval(value, scope)?;
            hash.insert(key, value);
        }
        Ok(Value::Hash(Rc::new(hash)))
    }

    fn variable(&self, name: &Rc<str>, span: Span, scope: &Rc<Scope>) -> Evaluated {
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            let number: usize = name.parse().unwrap_or(usize::MAX);
            return Ok(scope.captured(number).map_or(Value::Undef, Value::from));
        }
        if let Some(value) = scope.get(name) {
            return Ok(value);
        }
        if let Some(value) = self.effects.variable(name) {
            return Ok(value);
        }
        self.effects.warn(&format!("Unknown variable: '{name}'."), Some(span));
        Ok(Value::Undef)
    }

    fn assign(&self, left: &Expr, value: Value, scope: &Rc<Scope>) -> Evaluated {
        match &left.kind {
            ExprKind::Variable(name) => {
                if !scope.set(name, value.clone()) {
                    return Err(Flow::fail(left.span, format!("Cannot reassign variable '${name}'")));
                }
                Ok(value)
            }
            ExprKind::Array(items) => {
                match &value {
                    Value::Array(values) => {
                        if values.len() != items.len() {
                            let message = format!("Mismatched number of assignable entries and values, expected {}, got {}", items.len(), values.len());
                            return Err(Flow::fail(left.span, message));
                        }
                        for (item, value) in items.iter().zip(&**values) {
                            self.assign(item, value.clone(), scope)?;
                        }
                    }
                    Value::Hash(hash) => {
                        for item in items {
                            let ExprKind::Variable(name) = &item.kind else { continue };
                            let Some(value) = hash.get(&Value::String(Rc::clone(name))) else {
                                let message = format!("No value for required key '{name}' in assignment to variables from hash");
                                return Err(Flow::fail(item.span, message));
                            };
                            self.assign(item, value.clone(), scope)?;
                        }
                    }
                    other => {
                        let message = format!("The value '{}' cannot be assigned to {} variables", program_text(other), items.len());
                        return Err(Flow::fail(left.span, message));
                    }
                }
                Ok(value)
            }
            _ => Err(Flow::fail(left.span, "Illegal attempt to assign. Not an assignable reference")),
        }
    }

    fn selector(&self, left: &Expr, options: &[CaseOption], span: Span, scope: &Rc<Scope>) -> Evaluated {
        let inner = scope.with_matches();
        let value = self.eval(left, &inner)?;
        let mut fallback = None;
        for option in options {
            if matches!(option.values[0].kind, ExprKind::Default) {
                fallback = Some(&option.then);
            } else if self.option_matches(&value, &option.values[0], &inner)? {
                return self.eval(&option.then, &inner);
            }
        }
        match fallback {
            Some(then) => self.eval(then, &inner),
            None => Err(Flow::fail(span, format!("No matching entry for selector parameter with value '{}'", interpolated(&value)))),
        }
    }

    fn case(&self, subject: &Expr, options: &[CaseOption], scope: &Rc<Scope>) -> Evaluated {
        let inner = scope.with_matches();
        let value = self.eval(subject, &inner)?;
        let mut fallback = None;
        for option in options {
            for candidate in &option.values {
                if matches!(candidate.kind, ExprKind::Default) {
                    fallback = Some(&option.then);
                } else if self.option_matches(&value, candidate, &inner)? {
                    return self.eval(&option.then, &inner);
                }
            }
        }
        fallback.map_or(Ok(Value::Undef), |then| self.eval(then, &inner))
    }

    fn option_matches(&self, value: &Value, candidate: &Expr, scope: &Rc<Scope>) -> Evaluated<bool> {
        if let ExprKind::Unfold(inner) = &candidate.kind {
            for item in self.unfold(inner, scope)? {
                if self.value_matches(value, &item, candidate.span, scope)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let option = self.eval(candidate, scope)?;
        self.value_matches(value, &option, candidate.span, scope)
    }

    /// Whether a value is met by an option: a regular expression by matching, a type by
    /// instance, collections part by part, the rest by equality.
    pub(crate) fn value_matches(&self, value: &Value, option: &Value, span: Span, scope: &Rc<Scope>) -> Evaluated<bool> {
        Ok(match (option, value) {
            (Value::Regex(regex), Value::String(text)) => match regex.captures(text).map_err(|message| Flow::fail(span, message))? {
                Some(captures) => {
                    scope.capture(captures);
                    true
                }
                None => false,
            },
            (Value::Regex(_), _) => option == value,
            (Value::Type(ty), Value::Type(other)) => ty == other || crate::types::is_instance(ty, value),
            (Value::Type(ty), _) => crate::types::is_instance(ty, value),
            (Value::SemVerRange(range), Value::SemVer(version)) => crate::semver::satisfies(version, range),
            (Value::Array(options), Value::Array(values)) => {
                if options.len() != values.len() {
                    return Ok(false);
                }
                for (option, value) in options.iter().zip(&**values) {
                    if !matches!(option, Value::Default) && !self.value_matches(value, option, span, scope)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Value::Hash(options), Value::Hash(values)) => {
                for (key, option) in &**options {
                    let Some(value) = values.get(key) else { return Ok(false) };
                    if !matches!(option, Value::Default) && !self.value_matches(value, option, span, scope)? {
                        return Ok(false);
                    }
                }
                true
            }
            _ => value.equals(option),
        })
    }

    fn interpolate(&self, parts: &[StringPart], scope: &Rc<Scope>) -> Evaluated {
        let mut text = String::new();
        for part in parts {
            match part {
                StringPart::Text(literal) => text.push_str(literal),
                StringPart::Expr(expr) => text.push_str(&interpolated(&self.eval(expr, scope)?)),
            }
        }
        Ok(Value::from(text))
    }

    /// A block as a value that can be called.
    pub(crate) fn closure(&self, lambda: &Lambda, scope: &Rc<Scope>) -> Closure {
        Closure { params: Rc::clone(&lambda.params), returns: lambda.return_type.clone(), body: Rc::clone(&lambda.body), scope: Rc::clone(scope), span: lambda.span }
    }
}
