//! Evaluating expressions to values. Resources and definitions go to [`crate::compile`];
//! functions to [`crate::functions`].

mod access;
mod call;
mod constructors;
mod error;
mod format;
mod label;
mod new;
mod object;
mod operators;
mod scope;
pub(crate) mod sprintf;
mod text;
mod time;
mod type_access;
mod uri;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use fx_engine::{Level, Run};
use fx_puppet_syntax::{BinaryOp, CaseOption, Expr, ExprKind, Lambda, Strictness, StringPart};
use fx_source::{FileId, Origin, SourceMap, Span};
use rustc_hash::FxHashSet;

use crate::compile::{Catalog, Definitions, Pending, Settings};
use crate::lookup::Lookups;
use crate::machine::Machine;
use crate::regex::Regex;
use crate::types::Type;
use crate::value::Value;

pub(crate) use call::{
    Closure, NativeBlock, Parameters, check, count_text, mismatch_text, reasons_against,
};
pub(crate) use error::{Failure, Flow, Issue, Place};
pub use format::capitalize;
pub(crate) use format::format_value;
pub(crate) use label::with_article;
pub(crate) use object::attribute as object_attribute;
pub(crate) use operators::{kind, number_from, order};
pub(crate) use scope::{Frame, FrameKind, Scope};
pub(crate) use text::ruby_text;
pub use text::{inspected, interpolated, program_text};
pub use time::{local_time, strftime_of};
pub(crate) use time::{strfspan, strftime};
pub(crate) use uri::{fits as uri_fits, type_text as uri_type_text};

/// What an evaluation yields, or how it was left.
pub(crate) type Evaluated<T = Value> = Result<T, Flow>;

/// Deepest nesting of calls and expressions.
const MAX_DEPTH: u32 = 1500;

/// Evaluates expressions in scopes, and knows all that has been defined and declared.
pub(crate) struct Evaluator {
    pub(crate) run: Run<'static>,
    pub(crate) sources: &'static SourceMap,
    pub(crate) machine: Machine,
    pub(crate) this: std::rc::Weak<Evaluator>,
    /// Which compilation of its machine it is.
    pub(crate) number: u64,
    pub(crate) settings: Settings,
    pub(crate) top: Rc<Frame>,
    pub(crate) definitions: RefCell<Definitions>,
    pub(crate) catalog: RefCell<Catalog>,
    pub(crate) pending: RefCell<Pending>,
    pub(crate) lookups: RefCell<Lookups>,
    pub(crate) node_frame: RefCell<Option<Rc<Frame>>>,
    pub(crate) known_facts: std::cell::OnceCell<Vec<(String, Value)>>,
    pub(crate) builtin: FileId,
    warned: RefCell<FxHashSet<String>>,
    /// Calls that are under way, as far as they stand in text that somebody wrote; a whole
    /// file counts as its line 0.
    calls: RefCell<Vec<(Span, bool)>>,
    depth: Cell<u32>,
    steps: Cell<u32>,
}

impl Evaluator {
    /// An evaluator with nothing defined yet.
    pub(crate) fn new(machine: &Machine, settings: Settings) -> Rc<Evaluator> {
        let top = Frame::new(None, FrameKind::Top, "Class[main]".into(), 2, "".into(), "".into());
        let sources = machine.sources;
        Rc::new_cyclic(|this| Evaluator {
            run: machine.run,
            sources,
            machine: machine.clone(),
            this: this.clone(),
            number: machine.ruby.next_compilation(),
            settings,
            top,
            definitions: RefCell::default(),
            catalog: RefCell::default(),
            pending: RefCell::default(),
            lookups: RefCell::default(),
            node_frame: RefCell::default(),
            known_facts: std::cell::OnceCell::new(),
            builtin: machine.builtin,
            warned: RefCell::default(),
            calls: RefCell::default(),
            depth: 0.into(),
            steps: 0.into(),
        })
    }

    /// ` (file: F, line: L, column: C)`
    pub(crate) fn place_text(&self, span: Span) -> String {
        let at = self.sources.location(span);
        if at.file.is_empty() {
            return format!("(line: {}, column: {})", at.line, at.column);
        }
        format!("(file: {}, line: {}, column: {})", at.file, at.line, at.column)
    }

    /// Where a text is wrong; of its end the file alone is named.
    pub(crate) fn diagnostic_text(&self, found: &fx_source::Diagnostic) -> String {
        let Some(span) = found.primary() else { return found.message.clone() };
        if found.code == fx_puppet_syntax::END_OF_INPUT {
            return match &*self.sources.location(span).file {
                "" => found.message.clone(),
                file => format!("{} (file: {file})", found.message),
            };
        }
        format!("{} {}", found.message, self.place_text(span))
    }

    /// `(file: F, line: L)`
    pub(crate) fn line_text(&self, span: Span) -> String {
        let at = self.sources.location(span);
        if at.file.is_empty() {
            return format!("(line: {})", at.line);
        }
        format!("(file: {}, line: {})", at.file, at.line)
    }

    /// Evaluates something that a call at this place asks for, or a whole file.
    pub(crate) fn called_at<T>(&self, span: Span, is_file: bool, run: impl FnOnce() -> T) -> T {
        if span.file == self.builtin {
            return run();
        }
        self.calls.borrow_mut().push((span, is_file));
        let made = run();
        self.calls.borrow_mut().pop();
        made
    }

    /// Where the innermost call stands that somebody wrote.
    pub(crate) fn innermost_call(&self) -> Span {
        let last = self.calls.borrow().last().map(|(span, _)| *span);
        last.unwrap_or_else(|| Span::new(self.builtin, 0, 0))
    }

    /// File and line of all calls that are under way, the innermost first.
    pub(crate) fn calls(&self) -> Vec<(Rc<str>, u32)> {
        let place = |(span, is_file): &(Span, bool)| {
            let at = self.sources.location(*span);
            let file = if at.file.is_empty() { Rc::from("unknown") } else { Rc::from(&*at.file) };
            (file, if *is_file { 0 } else { at.line })
        };
        self.calls.borrow().iter().rev().map(place).collect()
    }

    /// Says that something unwise was done, once for each place.
    pub(crate) fn warn(&self, message: &str, span: Option<Span>) {
        let text = match span {
            Some(span) => format!("{message} {}", self.place_text(span)),
            None => message.to_owned(),
        };
        if self.warned.borrow_mut().insert(text.clone()) {
            self.run.ledger.message(Level::Warning, &text, &Origin::default());
        }
    }

    /// The value of an expression.
    pub(crate) fn eval(&self, expr: &Expr, scope: &Rc<Scope>) -> Evaluated {
        if self.depth.get() >= MAX_DEPTH {
            return Err(Flow::at(expr.span, "stack level too deep"));
        }
        // Asked now and then: a program may go on and on.
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if steps.is_multiple_of(1024) && self.run.cancel.is_cancelled() {
            return Err(Flow::at(expr.span, "stopped"));
        }
        self.depth.set(self.depth.get() + 1);
        let value = self.dispatch(expr, scope);
        self.depth.set(self.depth.get() - 1);
        value.map_err(|flow| flow.placed(expr))
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
            ExprKind::Regex(source) => {
                let regex = Regex::new(source);
                if let Err(why) = regex.check() {
                    return Err(Flow::bare(format!(
                        "Could not parse for environment {}: {why}",
                        self.settings.environment
                    )));
                }
                Value::Regex(Rc::new(regex))
            }
            ExprKind::Interpolated(parts) => self.interpolate(parts, scope)?,
            ExprKind::Heredoc { text, syntax } => {
                let value = self.eval(text, scope)?;
                if &**syntax == "json"
                    && let Value::String(json) = &value
                    && serde_json::from_str::<serde_json::Value>(json).is_err()
                {
                    let shown = json.replace('\n', "\\n");
                    return Err(Flow::bare(format!(
                        "Could not parse for environment {}: Invalid produced text having syntax: 'json'. JSON syntax checker: Cannot parse invalid JSON string. \"unexpected token at '{shown}'\" {}",
                        self.settings.environment,
                        self.place_text(span)
                    )));
                }
                value
            }
            ExprKind::Reference(name) => self.type_named(name, span)?,
            ExprKind::Variable(name) => self.variable(name, span, scope)?,
            ExprKind::Array(items) => Value::array(self.list(items, scope)?),
            ExprKind::Hash(pairs) => self.hash(pairs, scope)?,
            ExprKind::Access { left, keys } => self.access(left, keys, scope)?,
            ExprKind::Call { function, args, lambda, .. } => {
                self.call_expression(function, args, lambda.as_deref(), span, scope)?
            }
            ExprKind::MethodCall { receiver, name, args, lambda, .. } => {
                self.method_call(expr, receiver, name, args, lambda.as_deref(), scope)?
            }
            ExprKind::Not(operand) => Value::Bool(!self.eval(operand, scope)?.is_true()),
            ExprKind::Negate(operand) => self.negate(operand, span, scope)?,
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
            ExprKind::Binary { op, op_span, left, right } => {
                self.binary(expr, *op, *op_span, left, right, scope)?
            }
            ExprKind::Assign { left, right, op_span } => {
                let value = self.eval(right, scope)?;
                self.assign(left, value, *op_span, scope)?
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
            ExprKind::Lambda(_) => {
                return Err(Flow::at(span, "a lambda stands alone; give it to a function"));
            }
            ExprKind::RenderText(text) => {
                scope.render(text);
                Value::Undef
            }
            ExprKind::RenderExpr(inner) => {
                let value = self.eval(inner, scope)?;
                // A template shows secrets; what it makes of them is one.
                if let Value::Sensitive(inner) = &value {
                    scope.render(&interpolated(inner));
                    scope.render_secret();
                } else {
                    scope.render(&interpolated(&value));
                }
                Value::Undef
            }
            ExprKind::Epp { body, .. } => self.eval(body, scope)?,
            ExprKind::Reserved(word) => {
                return Err(Flow::at(span, format!("Use of reserved word: {word}")));
            }
            ExprKind::AppendAssign { op, .. } => {
                return Err(Flow::at(span, format!("The operator '{op}' is no longer supported")));
            }
            ExprKind::Resource { .. }
            | ExprKind::ResourceDefaults { .. }
            | ExprKind::ResourceOverride { .. }
            | ExprKind::Collector { .. }
            | ExprKind::Relationship { .. } => self.statement(expr, scope)?,
            ExprKind::Definition(_) => Value::Undef,
        })
    }

    /// The value of the last statement.
    pub(crate) fn block(&self, body: &[Expr], scope: &Rc<Scope>) -> Evaluated {
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

    pub(crate) fn unfold(&self, inner: &Expr, scope: &Rc<Scope>) -> Evaluated<Vec<Value>> {
        Ok(match self.eval(inner, scope)? {
            Value::Array(items) | Value::Iterator(items, _) => items.to_vec(),
            Value::Hash(hash) => hash
                .iter()
                .map(|(key, value)| Value::array(vec![key.clone(), value.clone()]))
                .collect(),
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
        if let Some(value) = self.find_variable(name, scope) {
            return Ok(value);
        }
        // What a class has no module for is undef without a word.
        if matches!(&**name, "module_name" | "caller_module_name") {
            return Ok(Value::Undef);
        }
        let message = format!("Unknown variable: '{name}'.");
        match self.settings.strictness() {
            _ if self.settings.strict_variables() => return Err(Flow::at(span, message)),
            Strictness::Error => return Err(Flow::at(span, message)),
            Strictness::Warning => self.warn(&message, Some(span)),
            Strictness::Off => {}
        }
        Ok(Value::Undef)
    }

    /// A variable by its name, plain or qualified.
    pub(crate) fn find_variable(&self, name: &str, scope: &Rc<Scope>) -> Option<Value> {
        match name.trim_start_matches("::").rsplit_once("::") {
            None => {
                let find = || match name.strip_prefix("::") {
                    Some(bare) => self.top.own(bare),
                    None => scope.frame.get(name),
                };
                let found = find();
                // What nothing has set may be a fact that nobody has asked for yet.
                if found.is_none() && self.known_facts.get().is_none() {
                    self.facts();
                    return find();
                }
                found
            }
            Some((class, variable)) => {
                let frame = self.pending.borrow().class_frames.get(class).cloned()?;
                if class == "settings" && frame.own(variable).is_none() {
                    return crate::settings::value(&self.settings.given, variable);
                }
                // What a class inherits is seen through it; the scopes around are not.
                let mut at = Some(&frame);
                while let Some(frame) = at {
                    if frame.kind != FrameKind::Class {
                        break;
                    }
                    if let Some(value) = frame.own(variable) {
                        return Some(value);
                    }
                    at = frame.parent.as_ref();
                }
                None
            }
        }
    }

    fn assign(&self, left: &Expr, value: Value, op_span: Span, scope: &Rc<Scope>) -> Evaluated {
        match &left.kind {
            ExprKind::Variable(name) => {
                if matches!(&**name, "trusted" | "facts" | "server_facts") {
                    return Err(Flow::at(
                        op_span,
                        format!("Attempt to assign to a reserved variable name: '${name}'"),
                    ));
                }
                if Rc::ptr_eq(&scope.frame, &self.top) && self.may_be_fact(name) {
                    self.facts();
                }
                if !scope.frame.set(name, value.clone()) {
                    let built_in = matches!(&**name, "title" | "name")
                        && scope.frame.kind != FrameKind::Lambda;
                    let what = if built_in { "built in (or already assigned) " } else { "" };
                    return Err(Flow::at(
                        op_span,
                        format!("Cannot reassign {what}variable '${name}'"),
                    ));
                }
                Ok(value)
            }
            ExprKind::Array(items) => {
                match &value {
                    Value::Array(values) => {
                        if values.len() != items.len() {
                            let message = format!(
                                "Mismatched number of assignable entries and values, expected {}, got {}",
                                items.len(),
                                values.len()
                            );
                            return Err(Flow::at(op_span, message));
                        }
                        for (item, value) in items.iter().zip(&**values) {
                            self.assign(item, value.clone(), op_span, scope)?;
                        }
                    }
                    Value::Hash(hash) => {
                        for item in items {
                            let ExprKind::Variable(name) = &item.kind else { continue };
                            let Some(value) = hash.get(&Value::String(Rc::clone(name))) else {
                                let message = format!(
                                    "No value for required key '{name}' in assignment to variables from hash"
                                );
                                return Err(Flow::at(op_span, message));
                            };
                            self.assign(item, value.clone(), op_span, scope)?;
                        }
                    }
                    // Taken for one value.
                    _ => {
                        let message = format!(
                            "Mismatched number of assignable entries and values, expected {}, got 1",
                            items.len()
                        );
                        return Err(Flow::at(op_span, message));
                    }
                }
                Ok(value)
            }
            _ => Err(Flow::at(left.span, "Illegal attempt to assign. Not an assignable reference")),
        }
    }

    fn selector(
        &self,
        left: &Expr,
        options: &[CaseOption],
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated {
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
            None => Err(Flow::at(
                span,
                format!(
                    "No matching entry for selector parameter with value '{}'",
                    interpolated(&value)
                ),
            )),
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

    fn option_matches(
        &self,
        value: &Value,
        candidate: &Expr,
        scope: &Rc<Scope>,
    ) -> Evaluated<bool> {
        if let ExprKind::Unfold(inner) = &candidate.kind {
            for item in self.unfold(inner, scope)? {
                if Self::value_matches(value, &item, candidate.span, scope)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let option = self.eval(candidate, scope)?;
        Self::value_matches(value, &option, candidate.span, scope)
    }

    /// Whether a value is met by an option: a regular expression by matching, a type by
    /// instance, collections part by part, the rest by equality.
    pub(crate) fn value_matches(
        value: &Value,
        option: &Value,
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated<bool> {
        Ok(match (option, value) {
            (Value::Regex(regex), Value::String(text)) => {
                match regex.captures(text).map_err(|message| Flow::at(span, message))? {
                    Some(captures) => {
                        scope.capture(captures);
                        true
                    }
                    None => false,
                }
            }
            (Value::Regex(_), _) => option == value,
            (Value::Type(ty), Value::Type(other)) => {
                ty == other || crate::types::is_instance(ty, value)
            }
            (Value::Type(ty), _) => crate::types::is_instance(ty, value),
            (Value::SemVerRange(range), Value::SemVer(version) | Value::String(version)) => {
                crate::semver::satisfies(version, range)
            }
            (Value::SemVer(version), Value::String(text)) => {
                crate::semver::Version::parse(version) == crate::semver::Version::parse(text)
            }
            (Value::Array(options), Value::Array(values)) => {
                if options.len() != values.len() {
                    return Ok(false);
                }
                for (option, value) in options.iter().zip(&**values) {
                    if !matches!(option, Value::Default)
                        && !Self::value_matches(value, option, span, scope)?
                    {
                        return Ok(false);
                    }
                }
                true
            }
            (Value::Hash(options), Value::Hash(values)) => {
                for (key, option) in &**options {
                    let Some(value) = values.get(key) else { return Ok(false) };
                    if !matches!(option, Value::Default)
                        && !Self::value_matches(value, option, span, scope)?
                    {
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
        Closure {
            name: None,
            params: Rc::clone(&lambda.params),
            returns: lambda.return_type.clone(),
            body: Rc::clone(&lambda.body),
            scope: Rc::clone(scope),
            native: None,
        }
    }

    /// A type of the language, an alias, a define or a resource type by name.
    pub(crate) fn known_type(&self, name: &str, span: Span) -> Evaluated<Option<Type>> {
        match name {
            "Puppet::LookupContext" => return Ok(Some(Type::Reference(name.into()))),
            "Error" => return self.error_type().map(|ty| Some((*ty).clone())),
            _ => {}
        }
        if let Some(ty) = Type::named(name).or_else(|| Type::named_otherwise(name)) {
            // A type that only the runtime uses.
            let hidden = ty == Type::Unit && span.file != self.builtin;
            return Ok((!hidden).then_some(ty));
        }
        let lower = name.trim_start_matches("::").to_lowercase();
        // What is known to be a resource type is no alias.
        if self.machine.read.kinds.borrow().get(lower.as_str()).is_some_and(Option::is_some) {
            return Ok(Some(Type::Resource { name: Some(lower.into()), title: None }));
        }
        if let Some(ty) = self.alias(name, span)? {
            return Ok(Some(ty));
        }
        Ok(self
            .is_resource_type(&lower)?
            .then(|| Type::Resource { name: Some(lower.into()), title: None }))
    }

    fn type_named(&self, name: &str, span: Span) -> Evaluated {
        match self.known_type(name, span)? {
            Some(ty) => Ok(Value::ty(ty)),
            // Types of the runtime, which only signatures name.
            None if span.file == self.builtin => Ok(Value::ty(Type::Reference(name.into()))),
            None => Err(Flow::at(span, format!("Resource type not found: {name}"))),
        }
    }

    /// A type written as an expression.
    pub(crate) fn type_of(&self, expr: &Expr, scope: &Rc<Scope>) -> Evaluated<Rc<Type>> {
        let key = expr.span;
        let known = self.machine.read.types.borrow().get(&key).cloned();
        if let Some(Some(ty)) = known {
            return Ok(ty);
        }
        match self.eval(expr, scope)? {
            Value::Type(ty) => {
                // Text of no file has no place of its own.
                if known.is_none() && key.file != self.builtin {
                    let kept = is_constant(expr, 0).then(|| Rc::clone(&ty));
                    self.machine.read.types.borrow_mut().insert(key, kept);
                }
                Ok(ty)
            }
            other => Err(Flow::at(expr.span, format!("{} is not a type", program_text(&other)))),
        }
    }
}

/// Whether a type means the same wherever it is asked for.
pub(crate) fn is_constant(expr: &Expr, depth: u32) -> bool {
    let inner = |expr: &Expr| is_constant(expr, depth + 1);
    depth < 100
        && match &expr.kind {
            ExprKind::Reference(_)
            | ExprKind::Undef
            | ExprKind::Default
            | ExprKind::Bool(_)
            | ExprKind::Int { .. }
            | ExprKind::Float(_)
            | ExprKind::String(_)
            | ExprKind::Name(_)
            | ExprKind::Regex(_) => true,
            ExprKind::Negate(operand) => inner(operand),
            ExprKind::Array(items) => items.iter().all(inner),
            ExprKind::Hash(pairs) => pairs.iter().all(|(key, value)| inner(key) && inner(value)),
            ExprKind::Access { left, keys } => inner(left) && keys.iter().all(inner),
            _ => false,
        }
}
