//! Calls: of functions built in and written in the language, of types, of blocks; and how
//! arguments that do not fit are reported.

use std::rc::Rc;

use fx_puppet_syntax::{Expr, ExprKind, Lambda, Param};
use fx_source::Span;

use super::error::Flow;
use super::{Evaluated, Evaluator, Frame, FrameKind, Scope, label};
use crate::functions::{self, Call};
use crate::types::{
    Mismatch, Range, Size, Step, Type, common, describe, describe_mismatch, infer_set, is_instance,
};
use crate::value::Value;

/// A block or function body together with what it sees.
#[derive(Clone, Debug)]
pub(crate) struct Closure {
    /// Name of the function; a block has none.
    pub(crate) name: Option<Rc<str>>,
    pub(crate) params: Rc<[Param]>,
    pub(crate) returns: Option<Rc<Expr>>,
    pub(crate) body: Rc<Expr>,
    pub(crate) scope: Rc<Scope>,
    /// A block written in Ruby.
    pub(crate) native: Option<NativeBlock>,
}

/// Code outside the language that takes and gives values.
#[derive(Clone)]
pub(crate) struct NativeBlock {
    pub(crate) call: Rc<dyn Fn(&Evaluator, Vec<Value>) -> Evaluated>,
    pub(crate) arity: Size,
}

impl std::fmt::Debug for NativeBlock {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("NativeBlock")
    }
}

impl Closure {
    /// How many arguments it takes.
    pub(crate) fn arity(&self) -> Size {
        if let Some(native) = &self.native {
            return native.arity;
        }
        let required = self
            .params
            .iter()
            .filter(|param| param.default.is_none() && !param.captures_rest)
            .count();
        let rest = self.params.iter().any(|param| param.captures_rest);
        Range::new(Some(required as i64), (!rest).then_some(self.params.len() as i64))
    }
}

/// Parameters of a function built in.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) params: Vec<(Rc<str>, Rc<Type>)>,
    pub(crate) size: Size,
    pub(crate) block: Option<(Rc<Type>, bool)>,
    pub(crate) shown: String,
}

impl Evaluator {
    pub(super) fn call_expression(
        &self,
        function: &Expr,
        args: &[Expr],
        lambda: Option<&Lambda>,
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated {
        let block = lambda.map(|lambda| self.closure(lambda, scope));
        match &function.kind {
            ExprKind::Name(name) => {
                let values = self.list(args, scope)?;
                self.call_function(name, values, block, span, scope)
            }
            ExprKind::Reference(_) | ExprKind::Access { .. } | ExprKind::Parenthesized(_) => {
                let mut values = vec![self.eval(function, scope)?];
                if !matches!(values[0], Value::Type(_)) {
                    return Err(Flow::at(
                        function.span,
                        "Illegal call: the left side is neither a function nor a type",
                    ));
                }
                values.extend(self.list(args, scope)?);
                self.call_function("new", values, block, span, scope)
            }
            _ => Err(Flow::at(
                function.span,
                "Illegal call: the left side is neither a function nor a type",
            )),
        }
    }

    pub(super) fn method_call(
        &self,
        expr: &Expr,
        receiver: &Expr,
        name: &Rc<str>,
        args: &[Expr],
        lambda: Option<&Lambda>,
        scope: &Rc<Scope>,
    ) -> Evaluated {
        let mut values = match &receiver.kind {
            ExprKind::Unfold(inner) => self.unfold(inner, scope)?,
            _ => vec![self.eval(receiver, scope)?],
        };
        if args.is_empty()
            && lambda.is_none()
            && let [value] = values.as_slice()
            && let Some(found) = super::object::attribute(value, name)
        {
            return Ok(found);
        }
        values.extend(self.list(args, scope)?);
        let block = lambda.map(|lambda| self.closure(lambda, scope));
        if let [receiver @ Value::Object(..), rest @ ..] = values.as_slice() {
            let place = label::place(expr);
            let found = self.context_method(receiver, name, rest, block.as_ref(), place, scope)?;
            if let Some(found) = found {
                return Ok(found);
            }
        }
        self.call_function(name, values, block, label::place(expr), scope)
    }

    /// Calls a function by name.
    pub(crate) fn call_function(
        &self,
        name: &str,
        args: Vec<Value>,
        block: Option<Closure>,
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated {
        self.called_at(span, false, || match self.call_known(name, args, block, span, scope)? {
            Some(value) => Ok(value),
            None => {
                let name = name.trim_start_matches("::");
                Err(Flow::at(span, format!("Unknown function: '{name}'."))
                    .with(super::Issue::UnknownFunction(name.into())))
            }
        })
    }

    /// Calls a function by name; nothing where there is none of it.
    pub(crate) fn call_known(
        &self,
        name: &str,
        args: Vec<Value>,
        block: Option<Closure>,
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated<Option<Value>> {
        let name = name.trim_start_matches("::");
        if let Some(native) = functions::find(name) {
            let sigs = self.parameters(native)?;
            check(native.name, &sigs, &args, block.as_ref())?;
            if sigs.is_empty()
                && let Some(why) = functions::too_few(native.name, args.len())
            {
                return Err(Flow::raw(why));
            }
            let call = Call { evaluator: self, args: &args, block: block.as_ref(), scope, span };
            return (native.run)(&call).map(Some);
        }
        if let Some(function) = self.function_named(name)? {
            return self.call_closure(&function, args).map(Some);
        }
        self.call_ruby_function(name, args, block, scope)
    }

    /// Parameters of a function, read from their text once.
    fn parameters(&self, native: &'static functions::Native) -> Evaluated<Rc<[Parameters]>> {
        if let Some(known) = self.machine.read.signatures.borrow().get(native.name) {
            return Ok(Rc::clone(known));
        }
        let mut all = Vec::new();
        for text in native.signatures {
            all.push(self.read_parameters(text)?);
        }
        let all: Rc<[Parameters]> = all.into();
        self.machine.read.signatures.borrow_mut().insert(native.name, Rc::clone(&all));
        Ok(all)
    }

    pub(crate) fn read_parameters(&self, text: &str) -> Evaluated<Parameters> {
        let mut found = Parameters {
            params: Vec::new(),
            size: Size::exactly(0),
            block: None,
            shown: String::new(),
        };
        let (mut least, mut most) = (0, Some(0));
        let mut shown = Vec::new();
        for part in split_top(text) {
            let (is_block, part) =
                part.strip_prefix('&').map_or((false, part), |part| (true, part));
            let (ty, name) = part.rsplit_once(' ').unwrap_or(("Any", part));
            // `Name = Type`: a name that only this signature knows.
            let ty = match ty.split_once(" = ") {
                Some((name, target)) if !name.contains('[') => {
                    Rc::new(Type::Alias { name: name.into(), target: self.type_from_text(target)? })
                }
                _ => self.type_from_text(ty)?,
            };
            let bare = name.trim_end_matches(['?', '*', '+']);
            shown.push(format!("{} {name}", crate::types::expanded(&ty)));
            if is_block {
                found.block = Some((ty, name.ends_with('?')));
                continue;
            }
            match name.chars().last() {
                Some('?') => most = most.map(|most| most + 1),
                Some('*') => most = None,
                Some('+') => {
                    least += 1;
                    most = None;
                }
                _ => {
                    least += 1;
                    most = most.map(|most| most + 1);
                }
            }
            found.params.push((bare.into(), ty));
        }
        found.size = Range::new(Some(least), most);
        found.shown = format!("({})", shown.join(", "));
        Ok(found)
    }

    /// A type from its text.
    pub(crate) fn type_from_text(&self, text: &str) -> Evaluated<Rc<Type>> {
        let (program, errors) = fx_puppet_syntax::parse(text.as_bytes(), self.builtin);
        if let Some(error) = errors.last() {
            return Err(Flow::raw(error.message.clone()));
        }
        let scope = Scope::new(Rc::clone(&self.top));
        match &program.body.kind {
            ExprKind::Block(body) if body.len() == 1 => match &body[0].kind {
                // Names of the runtime that no program can use.
                ExprKind::Reference(name)
                    if Type::named(name).is_none() && self.alias(name, body[0].span)?.is_none() =>
                {
                    Ok(Rc::new(Type::Reference(Rc::clone(name))))
                }
                _ => self.type_of(&body[0], &scope),
            },
            _ => Err(Flow::raw(format!(
                "The expression <{text}> is not a valid type specification."
            ))),
        }
    }

    /// Calls a block or a function of the language.
    pub(crate) fn call_closure(&self, closure: &Closure, args: Vec<Value>) -> Evaluated {
        if let Some(native) = &closure.native {
            return (native.call)(self, args);
        }
        let kind = if closure.name.is_some() { FrameKind::Function } else { FrameKind::Lambda };
        let frame: Rc<Frame> = closure.scope.frame.inner(kind);
        let scope = closure.scope.over(frame);
        if let Some(name) = &closure.name {
            self.check_closure(name, closure, &args)?;
        }
        let mut args = args.into_iter();
        for param in &*closure.params {
            let value = if param.captures_rest && (args.len() > 0 || param.default.is_none()) {
                Value::array(args.by_ref().collect())
            } else if let Some(value) = args.next() {
                value
            } else if let Some(default) = &param.default {
                self.eval(default, &scope)?
            } else {
                return Err(Flow::at(
                    param.span,
                    format!("Parameter ${} is required but no value was given", param.name),
                ));
            };
            if closure.name.is_none()
                && let Some(ty) = &param.ty
            {
                let ty = self.type_of(ty, &scope)?;
                let fits = match (&value, param.captures_rest) {
                    (Value::Array(items), true) => items.iter().all(|item| is_instance(&ty, item)),
                    _ => is_instance(&ty, &value),
                };
                if !fits {
                    let bad = match (&value, param.captures_rest) {
                        (Value::Array(items), true) => items.to_vec(),
                        _ => vec![value],
                    };
                    let parameters = Parameters {
                        size: Size::exactly(bad.len() as i64),
                        params: vec![(Rc::clone(&param.name), ty)],
                        block: None,
                        shown: String::new(),
                    };
                    check_as("block", &[parameters], &bad, None)?;
                    continue;
                }
            }
            scope.frame.set(&param.name, value);
        }
        let result = match self.eval(&closure.body, &scope) {
            Err(Flow::Next(value, _)) => value,
            // What is returned early is not checked, as in the original.
            Err(Flow::Return(value, _)) if closure.name.is_some() => return Ok(value),
            Err(flow @ Flow::Break(_)) if closure.name.is_some() => return Err(flow.misplaced()),
            other => other?,
        };
        if let Some(returns) = &closure.returns {
            let ty = self.type_of(returns, &scope)?;
            if !is_instance(&ty, &result) {
                let place = match &closure.name {
                    Some(name) => format!("value returned from {name}"),
                    None => "value returned from lambda".to_owned(),
                };
                return Err(Flow::raw(mismatch_text(
                    &format!("{place} has wrong type,"),
                    &ty,
                    &result,
                )));
            }
        }
        Ok(result)
    }

    /// Checks the arguments of a function of the language as a whole.
    fn check_closure(&self, name: &str, closure: &Closure, args: &[Value]) -> Evaluated<()> {
        let mut params = Vec::new();
        for param in &*closure.params {
            let ty = match &param.ty {
                Some(ty) => self.type_of(ty, &closure.scope)?,
                None => Rc::new(Type::Any),
            };
            params.push((Rc::clone(&param.name), ty));
        }
        let parameters =
            Parameters { params, size: closure.arity(), block: None, shown: String::new() };
        check(name, &[parameters], args, None)
    }
}

/// Parts between commas that are in no bracket.
fn split_top(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(text[start..].trim());
    }
    parts
}

/// What is wrong with a value, in one text; several lines where several things are.
pub(crate) fn mismatch_text(place: &str, ty: &Type, value: &Value) -> String {
    let lines = describe_mismatch(place, ty, &infer_set(value));
    match lines.as_slice() {
        [line] => line.clone(),
        lines => format!(" {}", lines.join("\n  ")),
    }
}

/// Checks a call of a function.
pub(crate) fn check<P: std::borrow::Borrow<Parameters>>(
    name: &str,
    signatures: &[P],
    args: &[Value],
    block: Option<&Closure>,
) -> Evaluated<()> {
    check_as(&format!("'{name}'"), signatures, args, block)
}

/// Checks a call of what messages call by a label.
fn check_as<P: std::borrow::Borrow<Parameters>>(
    label: &str,
    signatures: &[P],
    args: &[Value],
    block: Option<&Closure>,
) -> Evaluated<()> {
    let mut reasons = Vec::new();
    for signature in signatures {
        let found = arguments_against(signature.borrow(), args);
        if found.is_empty() && block_against(signature.borrow(), block).is_empty() {
            return Ok(());
        }
        reasons.push(found);
    }
    if reasons.is_empty() {
        return Ok(());
    }
    // Blocks count only where the arguments of some signature fit.
    if reasons.iter().any(Vec::is_empty) {
        let blocks: Vec<Vec<Mismatch>> =
            signatures.iter().map(|one| block_against(one.borrow(), block)).collect();
        if blocks.iter().all(|found| !found.is_empty()) {
            reasons = blocks;
        } else {
            for (found, block) in reasons.iter_mut().zip(blocks) {
                if found.is_empty() {
                    *found = block;
                }
            }
        }
    }
    if let Some(one) = common(&reasons) {
        return Err(Flow::raw(format!("{label} {}", one.text())).with(super::Issue::Arguments));
    }
    let mut text = match signatures {
        [only] => format!("{label} expects {}", only.borrow().text()),
        _ => format!(
            "The function {label} was called with arguments it does not accept. It expects one of:"
        ),
    };
    for (signature, found) in signatures.iter().zip(&reasons) {
        let indent = if signatures.len() == 1 { "  " } else { "    " };
        if signatures.len() > 1 {
            text.push_str(&format!("\n  {}", signature.borrow().text()));
        }
        for one in found.iter().filter(|one| !one.is_untold()) {
            text.push_str(&format!("\n{indent}rejected: {}", one.text()));
        }
    }
    Err(Flow::raw(text).with(super::Issue::Arguments))
}

/// What is wrong with the arguments of a call, of the first that does not fit.
fn arguments_against(signature: &Parameters, args: &[Value]) -> Vec<Mismatch> {
    if !signature.size.contains(args.len() as i64) {
        return vec![Mismatch::count(signature.size, args.len())];
    }
    for (index, arg) in args.iter().enumerate() {
        let Some((name, ty)) =
            signature.params.get(index.min(signature.params.len().saturating_sub(1)))
        else {
            break;
        };
        if matches!(**ty, Type::Any) || is_instance(ty, arg) {
            continue;
        }
        let found = describe(ty, &infer_set(arg), &[Step::Parameter(Rc::clone(name))]);
        // What does not fit is refused, even where nothing can be said about it.
        return if found.is_empty() { vec![Mismatch::untold()] } else { found };
    }
    Vec::new()
}

fn block_against(signature: &Parameters, block: Option<&Closure>) -> Vec<Mismatch> {
    match (&signature.block, block) {
        (None, Some(_)) => vec![Mismatch::unexpected_block()],
        (Some((_, false)), None) => vec![Mismatch::missing_block()],
        (Some((ty, _)), Some(block)) => {
            let Type::Callable(Some(wanted)) = &**ty else { return Vec::new() };
            let arity = block.arity();
            let fits = match (wanted.size.min, wanted.size.max) {
                (Some(least), Some(most)) => (least..=most).any(|count| arity.contains(count)),
                _ => true,
            };
            if fits { Vec::new() } else { vec![Mismatch::block_count(wanted.size, arity)] }
        }
        _ => Vec::new(),
    }
}

/// What is wrong with a call, in lines.
pub(crate) fn reasons_against(
    signature: &Parameters,
    args: &[Value],
    block: Option<&Closure>,
) -> Vec<String> {
    let mut found = arguments_against(signature, args);
    if found.is_empty() {
        found = block_against(signature, block);
    }
    found.iter().map(Mismatch::text).collect()
}

impl Parameters {
    /// The parameters as a reader sees them: `(String a, Integer b?)`.
    fn text(&self) -> String {
        if !self.shown.is_empty() {
            return self.shown.clone();
        }
        let least = usize::try_from(self.size.min.unwrap_or(0)).unwrap_or(0);
        let last = self.params.len().saturating_sub(1);
        let shown = self.params.iter().enumerate().map(|(index, (name, ty))| {
            let is_rest = self.size.max.is_none() && index == last;
            match (is_rest, index >= least) {
                (true, _) => {
                    format!("{ty} {name}{}", if least == self.params.len() { "+" } else { "*" })
                }
                (false, true) => match &**ty {
                    Type::Optional(Some(inner)) => format!("{inner} {name}?"),
                    ty => format!("{ty} {name}?"),
                },
                (false, false) => format!("{ty} {name}"),
            }
        });
        format!("({})", shown.collect::<Vec<_>>().join(", "))
    }
}

/// `expects 2 arguments, got 1`
pub(crate) fn count_text(size: Size, got: usize) -> String {
    let plural = |count: i64| format!("{count} argument{}", if count == 1 { "" } else { "s" });
    let wanted = match (size.min.unwrap_or(0), size.max) {
        (0, Some(0)) => "no arguments".to_owned(),
        (least, Some(most)) if least == most => plural(least),
        (least, Some(most)) => format!("between {least} and {}", plural(most)),
        (least, None) => format!("at least {}", plural(least)),
    };
    format!("expects {wanted}, got {}", if got == 0 { "none".to_owned() } else { got.to_string() })
}
