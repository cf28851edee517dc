//! What a parsed program must not do, found without running it. Reports all it finds, in
//! the original's words (its checker 4.0).

use fx_source::{Diagnostic, Span};

use crate::ast::{
    AttributeOp, Definition, DefinitionKind, Expr, ExprKind, Form, Lambda, Param, Program,
    QueryForm, StringPart,
};

/// How much the `strict` setting asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// Nothing is said of what is merely unwise.
    Off,
    /// It is a warning.
    #[default]
    Warning,
    /// It is an error.
    Error,
}

/// All that is wrong with a program, in the order of the text.
pub fn validate(program: &Program, strict: Strictness) -> Vec<Diagnostic> {
    let mut checker = Checker { definitions: &program.definitions, strict, found: Vec::new() };
    if let ExprKind::Block(body) = &program.body.kind {
        checker.statements(body, Place::Top, LastValue::Used);
    } else {
        checker.expr(&program.body, Place::Nested);
    }
    checker.found.sort_by_key(Diagnostic::primary);
    checker.found
}

/// Whether definitions may stand here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Top,
    InClass,
    Nested,
}

/// Whether the value of a body's last statement is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastValue {
    Used,
    /// By what the body belongs to.
    Lost(&'static str),
}

struct Checker<'a> {
    definitions: &'a [Definition],
    strict: Strictness,
    found: Vec<Diagnostic>,
}

/// What parameters are of: a class or define, code that is called, or a template.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParamsOf {
    Class,
    Define,
    Code,
    Template,
}

const RESERVED_PARAMETERS: [&str; 2] = ["name", "title"];
const RESERVED_TYPES: [&str; 13] = [
    "any",
    "unit",
    "scalar",
    "boolean",
    "numeric",
    "integer",
    "float",
    "collection",
    "array",
    "hash",
    "tuple",
    "struct",
    "variant",
];

impl Checker<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.found.push(Diagnostic::error("puppet-semantic", message).label(span, ""));
    }

    fn statements(&mut self, body: &[Expr], place: Place, last: LastValue) {
        for (index, statement) in body.iter().enumerate() {
            let is_last = index + 1 == body.len();
            self.expr(statement, place);
            if (!is_last || last != LastValue::Used)
                && let Some((label, span)) = without_effect(statement)
            {
                self.error(span, match last {
                    LastValue::Lost(container) if is_last => format!("This {label} has no effect. {container} can not end with a value-producing expression without other effect"),
                    _ => format!("This {label} has no effect. A value was produced and then forgotten (one or more preceding expressions may have the wrong form)"),
                });
                // The original stops at the first of a row: the rest follows from it.
                return;
            }
        }
    }

    fn block(&mut self, expr: &Expr, place: Place, last: LastValue) {
        match &expr.kind {
            ExprKind::Block(body) => self.statements(body, place, last),
            _ => self.expr(expr, place),
        }
    }

    fn each(&mut self, exprs: &[Expr]) {
        for expr in exprs {
            self.expr(expr, Place::Nested);
        }
    }

    fn lambda(&mut self, lambda: Option<&Lambda>) {
        if let Some(lambda) = lambda {
            self.params(&lambda.params, ParamsOf::Code);
            self.block(&lambda.body, Place::Nested, LastValue::Used);
        }
    }

    /// Only a type can be collected.
    fn collected(&mut self, ty: &Expr, form: QueryForm) {
        if !matches!(ty.kind, ExprKind::Reference(_)) {
            let what = article(&label(ty));
            let form = match form {
                QueryForm::Virtual => "a Virtual Query",
                QueryForm::Exported => "an Exported Query",
            };
            let text = format!("Illegal expression. {what} is unacceptable as type name in {form}");
            self.error(ty.span, text);
        }
    }

    fn expr(&mut self, expr: &Expr, place: Place) {
        match &expr.kind {
            ExprKind::Definition(index) => self.definition(*index, expr.span, place),
            ExprKind::Assign { left, right, .. } => {
                self.assigned(left);
                self.expr(right, Place::Nested);
            }
            ExprKind::AppendAssign { op, op_span, .. } => {
                self.error(*op_span, format!("The operator '{op}' is no longer supported. See http://links.puppet.com/remove-plus-equals"));
            }
            ExprKind::Variable(name) => self.variable_name(name, expr.span),
            ExprKind::Interpolated(parts) => {
                for part in parts {
                    if let StringPart::Expr(inner) = part {
                        self.expr(inner, Place::Nested);
                    }
                }
            }
            ExprKind::Heredoc { text: inner, .. }
            | ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::Unfold(inner)
            | ExprKind::Parenthesized(inner)
            | ExprKind::RenderExpr(inner) => self.expr(inner, Place::Nested),
            ExprKind::Array(items) => self.each(items),
            ExprKind::Hash(pairs) => {
                for (key, value) in pairs {
                    self.expr(key, Place::Nested);
                    self.expr(value, Place::Nested);
                }
                self.duplicate_keys(pairs);
            }
            ExprKind::Access { left, keys } => {
                self.expr(left, Place::Nested);
                self.each(keys);
            }
            ExprKind::Call { function, args, lambda, .. } => {
                if matches!(function.kind, ExprKind::Reserved(_)) {
                    self.expr(function, Place::Nested);
                }
                self.each(args);
                self.lambda(lambda.as_deref());
            }
            ExprKind::MethodCall { receiver, args, lambda, .. } => {
                self.expr(receiver, Place::Nested);
                self.each(args);
                self.lambda(lambda.as_deref());
            }
            ExprKind::Binary { left, right, .. } | ExprKind::Relationship { left, right, .. } => {
                self.expr(left, Place::Nested);
                self.expr(right, Place::Nested);
            }
            ExprKind::Selector { left, options } => {
                self.expr(left, Place::Nested);
                self.one_default(options, "Selector Expression");
                for option in options {
                    self.each(&option.values);
                    self.expr(&option.then, Place::Nested);
                }
            }
            ExprKind::If { condition, then, otherwise, .. } => {
                self.expr(condition, Place::Nested);
                self.block(then, Place::Nested, LastValue::Used);
                self.block(otherwise, Place::Nested, LastValue::Used);
            }
            ExprKind::Case { subject, options } => {
                self.expr(subject, Place::Nested);
                self.one_default(options, "'case' statement");
                for option in options {
                    self.each(&option.values);
                    self.block(&option.then, Place::Nested, LastValue::Used);
                }
            }
            ExprKind::Block(body) => self.statements(body, Place::Nested, LastValue::Used),
            ExprKind::Lambda(lambda) => self.lambda(Some(lambda)),
            ExprKind::Resource { form, ty, bodies } => self.resource(*form, ty, bodies, expr.span),
            ExprKind::ResourceDefaults { form, ty, operations } => {
                if *form != Form::Regular {
                    self.error(expr.span, "Resource Defaults are not virtualizable");
                }
                // A name and a hash: what was meant is reported.
                if let ExprKind::Name(name) = &ty.kind {
                    self.error(ty.span, format!("This expression is invalid. Did you try declaring a '{name}' resource without a title?"));
                    return;
                }
                self.added(operations, "Resource Defaults Expression");
                self.operations(operations);
            }
            ExprKind::ResourceOverride { form, resources, operations } => {
                if *form != Form::Regular {
                    self.error(expr.span, "Resource Overrides are not virtualizable");
                }
                self.expr(resources, Place::Nested);
                self.operations(operations);
            }
            ExprKind::Collector { ty, form, query, operations } => {
                self.collected(ty, *form);
                if let Some(query) = query {
                    self.query(query);
                }
                self.operations(operations);
            }
            ExprKind::Reserved(word) => self.error(
                expr.span,
                format!(
                    "Use of reserved word: {word}, must be quoted if intended to be a String value"
                ),
            ),
            ExprKind::Epp { params, body, .. } => {
                self.params(params, ParamsOf::Template);
                self.block(body, Place::Nested, LastValue::Used);
            }
            _ => {}
        }
    }

    fn one_default(&mut self, options: &[crate::ast::CaseOption], of: &str) {
        let defaults = options
            .iter()
            .flat_map(|option| &option.values)
            .filter(|value| matches!(value.kind, ExprKind::Default));
        let again: Vec<Span> = defaults.skip(1).map(|value| value.span).collect();
        for span in again {
            self.error(
                span,
                format!("This {of} already has a 'default' entry - this is a duplicate"),
            );
        }
    }

    fn assigned(&mut self, left: &Expr) {
        match &left.kind {
            ExprKind::Variable(name) => {
                if name.starts_with(|c: char| c.is_ascii_digit()) {
                    self.error(left.span, format!("Illegal attempt to assign to the numeric match result variable '${name}'. Numeric variables are not assignable"));
                } else if name.contains("::") {
                    self.error(left.span, format!("Illegal attempt to assign to '{name}'. Cannot assign to variables in other namespaces"));
                } else {
                    self.variable_name(name, left.span);
                }
            }
            ExprKind::Array(items) => {
                for item in items {
                    self.assigned(item);
                }
            }
            ExprKind::Access { .. } => self.error(
                left.span,
                "Illegal attempt to assign via [index/key]. Not an assignable reference",
            ),
            _ => {
                let label = label(left);
                let article = if label.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
                self.error(
                    left.span,
                    format!(
                        "Illegal attempt to assign to '{article} {label}'. Not an assignable reference"
                    ),
                );
            }
        }
    }

    fn variable_name(&mut self, name: &str, span: Span) {
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            let decimal = name.bytes().all(|byte| byte.is_ascii_digit())
                && (name == "0" || !name.starts_with('0'));
            if !decimal {
                self.error(span, format!("Illegal numeric variable name, The given name '{name}' must be a decimal value if it starts with a digit 0-9"));
            }
            return;
        }
        let plain = name.strip_prefix("::").unwrap_or(name);
        let segments: Vec<&str> = plain.split("::").collect();
        let last = segments.len() - 1;
        let good = segments.iter().enumerate().all(|(index, segment)| {
            let lower = |c: char| c.is_ascii_lowercase();
            segment.starts_with(lower)
                || (index == last && segment.starts_with('_') && segments.len() == 1)
                || (index == last && segment.starts_with('_'))
        });
        if !good {
            self.error(span, format!("Illegal variable name, The given name '{name}' does not conform to the naming rule /^((::)?[a-z]\\w*)*((::)?[a-z_]\\w*)$/"));
        }
    }

    fn duplicate_keys(&mut self, pairs: &[(Expr, Expr)]) {
        if self.strict == Strictness::Off {
            return;
        }
        let key = |expr: &Expr| match &expr.kind {
            ExprKind::String(text) | ExprKind::Name(text) => Some(text.to_string()),
            ExprKind::Int { value, .. } => Some(value.to_string()),
            _ => None,
        };
        let mut seen: Vec<String> = Vec::new();
        for (expr, value) in pairs {
            let Some(name) = key(expr) else { continue };
            if seen.contains(&name) {
                let message = format!("The key '{name}' is declared more than once");
                let diagnostic = if self.strict == Strictness::Error {
                    Diagnostic::error("puppet-duplicate-key", message)
                } else {
                    Diagnostic::warning("puppet-duplicate-key", message)
                };
                // The arrow is the place that is reported; it stands close to the value.
                let gap = value.span.start.saturating_sub(expr.span.end);
                let start = if gap > 3 { value.span.start - 3 } else { expr.span.end };
                let arrow = Span::new(expr.span.file, start, start + 2);
                self.found.push(diagnostic.label(arrow, ""));
            }
            seen.push(name);
        }
    }

    fn query(&mut self, query: &Expr) {
        use crate::ast::BinaryOp::{And, Equal, NotEqual, Or};
        match &query.kind {
            ExprKind::Parenthesized(inner) => self.query(inner),
            ExprKind::Binary { op: And | Or, left, right, .. } => {
                self.query(left);
                self.query(right);
            }
            ExprKind::Binary { op: Equal | NotEqual, .. }
            | ExprKind::Name(_)
            | ExprKind::String(_)
            | ExprKind::Variable(_)
            | ExprKind::Int { .. }
            | ExprKind::Bool(_) => {}
            _ => {
                let label = label(query);
                let span = if let ExprKind::Binary { op_span, .. } = &query.kind {
                    *op_span
                } else {
                    query.span
                };
                self.error(
                    span,
                    format!(
                        "Illegal query expression. {} cannot be used in a query",
                        article(&label)
                    ),
                );
            }
        }
    }

    fn resource(&mut self, form: Form, ty: &Expr, bodies: &[crate::ast::ResourceBody], span: Span) {
        if form != Form::Regular && matches!(&ty.kind, ExprKind::Name(name) if &**name == "class") {
            self.error(span, "Classes are not virtualizable");
        }
        if !matches!(ty.kind, ExprKind::Name(_)) {
            self.expr(ty, Place::Nested);
        }
        for body in bodies {
            self.expr(&body.title, Place::Nested);
            self.added(&body.operations, "Resource Expression");
            self.operations(&body.operations);
        }
    }

    /// `+>` where there is nothing to add to.
    fn added(&mut self, operations: &[AttributeOp], to: &str) {
        for operation in operations {
            if let AttributeOp::Set { name, append: true, span, .. } = operation {
                self.error(
                    *span,
                    format!("Illegal +> operation on attribute {name}. This operator can not be used in {}", article(to).replacen('A', "a", 1)),
                );
            }
        }
    }

    fn operations(&mut self, operations: &[AttributeOp]) {
        let mut splats = 0;
        for operation in operations {
            match operation {
                AttributeOp::Set { value, .. } => self.expr(value, Place::Nested),
                AttributeOp::Splat { value, span } => {
                    splats += 1;
                    if splats > 1 {
                        self.error(*span, "Unfolding of attributes from Hash can only be used once per resource body");
                    }
                    self.expr(value, Place::Nested);
                }
            }
        }
    }

    fn params(&mut self, params: &[Param], of: ParamsOf) {
        let mut seen: Vec<&str> = Vec::new();
        let mut optional_before = false;
        for (index, param) in params.iter().enumerate() {
            if seen.contains(&&*param.name) {
                self.error(
                    param.span,
                    format!(
                        "The parameter '{}' is declared more than once in the parameter list",
                        param.name
                    ),
                );
            }
            seen.push(&param.name);
            let definition = match of {
                ParamsOf::Class => Some("Host Class Definition"),
                ParamsOf::Define => Some("'define' expression"),
                _ => None,
            };
            if let Some(definition) = definition
                && RESERVED_PARAMETERS.contains(&&*param.name)
            {
                self.error(
                    param.span,
                    format!(
                        "The parameter ${} redefines a built in parameter in the {definition}",
                        param.name
                    ),
                );
            }
            if param.name.starts_with(|c: char| c.is_ascii_digit()) {
                self.error(param.span, format!("The numeric parameter name '${}' cannot be used (clashes with numeric match result variables)", param.name));
            } else if param.name.contains("::")
                || param.name.starts_with(|c: char| c.is_ascii_uppercase())
            {
                self.error(param.span, format!("Illegal parameter name. The given name '{}' does not conform to the naming rule /^[a-z_]\\w*$/", param.name));
            }
            if let Some(definition) = definition
                && param.captures_rest
            {
                self.error(
                    param.span,
                    format!(
                        "Parameter ${} has 'captures rest' - not supported in a {definition}",
                        param.name
                    ),
                );
            } else if param.captures_rest && index + 1 != params.len() {
                self.error(
                    param.span,
                    format!("Parameter ${} is not last, and has 'captures rest'", param.name),
                );
            }
            if of == ParamsOf::Code
                && optional_before
                && param.default.is_none()
                && !param.captures_rest
            {
                self.error(
                    param.span,
                    format!(
                        "Parameter ${} is required but appears after optional parameters",
                        param.name
                    ),
                );
            }
            optional_before |= param.default.is_some();
            if let Some(default) = &param.default {
                self.expr(default, Place::Nested);
            }
        }
    }

    fn definition(&mut self, index: usize, span: Span, place: Place) {
        let definition = &self.definitions[index];
        let inner = definition.kind;
        let allowed = match inner {
            DefinitionKind::Class | DefinitionKind::Define => place != Place::Nested,
            _ => place == Place::Top,
        };
        if !allowed {
            let message = match inner {
                DefinitionKind::Function | DefinitionKind::TypeAlias => format!("{}s may only appear at toplevel", if inner == DefinitionKind::Function { "Function" } else { "Type Aliase" }),
                _ => "Classes, definitions, and nodes may only appear at toplevel or inside other classes".to_owned(),
            };
            self.error(span, message);
        }
        match inner {
            DefinitionKind::Class | DefinitionKind::Define => {
                self.name(definition);
                let (of, place) = match inner {
                    DefinitionKind::Class => (ParamsOf::Class, Place::InClass),
                    _ => (ParamsOf::Define, Place::Nested),
                };
                self.params(&definition.params, of);
                let container = if of == ParamsOf::Class {
                    "A Host Class Definition"
                } else {
                    "A 'define' expression"
                };
                self.block(&definition.body, place, LastValue::Lost(container));
            }
            DefinitionKind::Function | DefinitionKind::Plan => {
                self.name(definition);
                self.params(&definition.params, ParamsOf::Code);
                self.block(&definition.body, Place::Nested, LastValue::Used);
            }
            DefinitionKind::Node => {
                for name in definition.node.iter().flat_map(|node| &node.matches) {
                    if let ExprKind::Interpolated(parts) = &name.kind
                        && let Some(StringPart::Expr(inner)) =
                            parts.iter().find(|part| matches!(part, StringPart::Expr(_)))
                    {
                        self.error(
                            inner.span,
                            "An interpolated expression is not allowed in a hostname of a node",
                        );
                    }
                }
                self.block(&definition.body, Place::Nested, LastValue::Lost("A Node Definition"));
            }
            DefinitionKind::TypeAlias => {
                let name = definition.name.to_lowercase();
                if RESERVED_TYPES.contains(&name.as_str()) {
                    let span = definition.name_span;
                    let shown = definition.name.to_string();
                    self.error(span, format!("The name: '{shown}' is already defined by Puppet and can not be used as the name of a type alias."));
                }
                self.expr(&definition.body, Place::Nested);
            }
        }
    }

    fn name(&mut self, definition: &Definition) {
        let (name, kind) = (&*definition.name, definition.kind);
        let (form, whole) = match kind {
            DefinitionKind::Class => ("Host Class Definition", definition.span),
            DefinitionKind::Define => ("'define' expression", definition.span),
            _ => ("Function Definition", definition.span),
        };
        let span = definition.name_span;
        let word = if kind == DefinitionKind::Class { "class" } else { "resource type" };
        let segments_good = name.split("::").all(|segment| {
            segment.starts_with(|c: char| c.is_ascii_lowercase())
                && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        if !segments_good {
            self.error(
                whole,
                format!(
                    "Unacceptable name. The name '{name}' is unacceptable as the name of a {form}"
                ),
            );
        } else if kind == DefinitionKind::Function {
        } else if RESERVED_TYPES.contains(&name) {
            self.error(span, format!("The name: '{name}' is already defined by Puppet and can not be used as a {word} name"));
        }
    }
}

/// The label and place of a statement whose value goes nowhere.
fn without_effect(expr: &Expr) -> Option<(String, Span)> {
    let span = match &expr.kind {
        ExprKind::Binary { op_span, op, left, right } => {
            use crate::ast::BinaryOp::{And, Or};
            // Either side may have been written for what it does.
            if matches!(op, And | Or)
                && (without_effect(left).is_none() || without_effect(right).is_none())
            {
                return None;
            }
            *op_span
        }
        ExprKind::Parenthesized(inner) => return without_effect(inner),
        ExprKind::If { condition, then, otherwise, .. } => {
            let idle = |expr: &Expr| is_idle(expr);
            if !(idle(condition) && idle(then) && idle(otherwise)) {
                return None;
            }
            expr.span
        }
        ExprKind::Case { subject, options } => {
            let idle = is_idle(subject)
                && options
                    .iter()
                    .all(|option| option.values.iter().all(is_idle) && is_idle(&option.then));
            if !idle {
                return None;
            }
            expr.span
        }
        ExprKind::Undef
        | ExprKind::Default
        | ExprKind::Bool(_)
        | ExprKind::Int { .. }
        | ExprKind::Float(_)
        | ExprKind::String(_)
        | ExprKind::Interpolated(_)
        | ExprKind::Heredoc { .. }
        | ExprKind::Regex(_)
        | ExprKind::Name(_)
        | ExprKind::Reference(_)
        | ExprKind::Variable(_)
        | ExprKind::Array(_)
        | ExprKind::Hash(_)
        | ExprKind::Access { .. }
        | ExprKind::Not(_)
        | ExprKind::Negate(_)
        | ExprKind::Unfold(_)
        | ExprKind::Selector { .. } => expr.span,
        _ => return None,
    };
    Some((label(expr), span))
}

/// Whether evaluating does nothing but give a value.
fn is_idle(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Nop => true,
        ExprKind::Block(body) => body.iter().all(is_idle),
        _ => without_effect(expr).is_some(),
    }
}

fn article(label: &str) -> String {
    let vowel = label.starts_with(|c: char| "AEIOUaeiou".contains(c));
    format!("{} {label}", if vowel { "An" } else { "A" })
}

/// What the original calls an expression.
fn label(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Undef => "'undef' value".into(),
        ExprKind::Default => "'default' expression".into(),
        ExprKind::Bool(_) => "Literal Boolean".into(),
        ExprKind::Int { .. } => "Literal Integer".into(),
        ExprKind::Float(_) => "Literal Float".into(),
        ExprKind::String(_) => "String".into(),
        ExprKind::Interpolated(_) => "Double Quoted String".into(),
        ExprKind::Heredoc { .. } => "Heredoc".into(),
        ExprKind::Regex(_) => "Regular Expression".into(),
        ExprKind::Name(_) => "Name".into(),
        ExprKind::Reference(_) => "Type-Name".into(),
        ExprKind::Variable(_) => "Variable".into(),
        ExprKind::Array(_) => "Array Expression".into(),
        ExprKind::Hash(_) => "Hash Expression".into(),
        ExprKind::Access { .. } => "'[]' expression".into(),
        ExprKind::Not(_) => "'not' expression".into(),
        ExprKind::Negate(_) => "Unary Minus".into(),
        ExprKind::Unfold(_) => "Unfold".into(),
        ExprKind::Binary { op, .. } => format!("'{}' expression", op.symbol()),
        ExprKind::Selector { .. } => "Selector Expression".into(),
        ExprKind::If { unless: false, .. } => "'if' statement".into(),
        ExprKind::If { .. } => "'unless' statement".into(),
        ExprKind::Case { .. } => "'case' statement".into(),
        ExprKind::Call { .. } => "Function Call".into(),
        ExprKind::MethodCall { .. } => "Method call".into(),
        ExprKind::Resource { .. } => "Resource Statement".into(),
        ExprKind::Parenthesized(inner) => label(inner),
        _ => "expression".into(),
    }
}
