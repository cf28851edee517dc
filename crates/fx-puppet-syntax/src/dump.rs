//! The tree as nested parentheses, for tests and for `puppet parser dump`.

use std::fmt::Write;

use crate::ast::{
    AttributeOp, Definition, DefinitionKind, Expr, ExprKind, Form, Lambda, Param, Program,
    QueryForm, StringPart,
};

/// The program on one line for each statement.
pub fn dump(program: &Program) -> String {
    let dumper = Dumper { definitions: &program.definitions };
    match &program.body.kind {
        ExprKind::Block(body) => body.iter().map(|expr| dumper.expr(expr) + "\n").collect(),
        _ => dumper.expr(&program.body) + "\n",
    }
}

struct Dumper<'a> {
    definitions: &'a [Definition],
}

impl Dumper<'_> {
    fn list(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|expr| format!(" {}", self.expr(expr))).collect()
    }

    fn params(&self, params: &[Param]) -> String {
        let one = |param: &Param| {
            let mut text = String::new();
            if let Some(ty) = &param.ty {
                let _ = write!(text, "{} ", self.expr(ty));
            }
            let _ = write!(text, "{}${}", if param.captures_rest { "*" } else { "" }, param.name);
            match &param.default {
                Some(default) => format!("(= {text} {})", self.expr(default)),
                None => text,
            }
        };
        format!("(parameters {})", params.iter().map(one).collect::<Vec<_>>().join(" "))
    }

    fn lambda(&self, lambda: &Lambda) -> String {
        format!("(lambda {} {})", self.params(&lambda.params), self.expr(&lambda.body))
    }

    fn operations(&self, operations: &[AttributeOp]) -> String {
        operations
            .iter()
            .map(|operation| match operation {
                AttributeOp::Set { name, append, value, .. } => {
                    format!(" ({name} {} {})", if *append { "+>" } else { "=>" }, self.expr(value))
                }
                AttributeOp::Splat { value, .. } => format!(" (* => {})", self.expr(value)),
            })
            .collect()
    }

    fn call(&self, head: &str, args: &[Expr], lambda: Option<&Lambda>) -> String {
        let lambda = lambda.map(|lambda| format!(" {}", self.lambda(lambda))).unwrap_or_default();
        format!("({head}{}{lambda})", self.list(args))
    }

    fn expr(&self, expr: &Expr) -> String {
        let form = |form: &Form| match form {
            Form::Regular => "",
            Form::Virtual => "virtual-",
            Form::Exported => "exported-",
        };
        match &expr.kind {
            ExprKind::Nop => "()".to_owned(),
            ExprKind::Undef => ":undef".to_owned(),
            ExprKind::Default => ":default".to_owned(),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Int { value, radix: 8 } => format!("0{value:o}"),
            ExprKind::Int { value, radix: 16 } => format!("0x{value:X}"),
            ExprKind::Int { value, .. } => value.to_string(),
            ExprKind::Float(value) => format!("{value:?}"),
            ExprKind::String(text) => format!("'{text}'"),
            ExprKind::Interpolated(parts) => {
                let parts = parts.iter().map(|part| match part {
                    StringPart::Text(text) => format!(" '{text}'"),
                    StringPart::Expr(expr) => format!(" (str {})", self.expr(expr)),
                });
                format!("(cat{})", parts.collect::<String>())
            }
            ExprKind::Heredoc { syntax, text } => format!("(@({syntax}) {})", self.expr(text)),
            ExprKind::Regex(text) => format!("/{text}/"),
            ExprKind::Name(name) | ExprKind::Reference(name) => name.to_string(),
            ExprKind::Reserved(name) => format!("(reserved {name})"),
            ExprKind::Variable(name) => format!("${name}"),
            ExprKind::Array(items) => format!("([]{})", self.list(items)),
            ExprKind::Hash(pairs) => {
                let pairs = pairs
                    .iter()
                    .map(|(key, value)| format!(" ({} {})", self.expr(key), self.expr(value)));
                format!("({{}}{})", pairs.collect::<String>())
            }
            ExprKind::Access { left, keys } => {
                format!("(slice {}{})", self.expr(left), self.list(keys))
            }
            ExprKind::Call { function, args, lambda, statement } => {
                let head = format!(
                    "{} {}",
                    if *statement { "invoke" } else { "call" },
                    self.expr(function)
                );
                self.call(&head, args, lambda.as_deref())
            }
            ExprKind::MethodCall { receiver, name, args, lambda, .. } => self.call(
                &format!("call-method (. {} {name})", self.expr(receiver)),
                args,
                lambda.as_deref(),
            ),
            ExprKind::Not(operand) => format!("(! {})", self.expr(operand)),
            ExprKind::Negate(operand) => format!("(- {})", self.expr(operand)),
            ExprKind::Unfold(operand) => format!("(unfold {})", self.expr(operand)),
            ExprKind::Parenthesized(inner) => self.expr(inner),
            ExprKind::Binary { op, left, right, .. } => {
                format!("({} {} {})", op.symbol(), self.expr(left), self.expr(right))
            }
            ExprKind::Assign { left, right, .. } => {
                format!("(= {} {})", self.expr(left), self.expr(right))
            }
            ExprKind::AppendAssign { op, left, right, .. } => {
                format!("({op} {} {})", self.expr(left), self.expr(right))
            }
            ExprKind::Relationship { op, left, right, .. } => {
                format!("({} {} {})", op.symbol(), self.expr(left), self.expr(right))
            }
            ExprKind::Selector { left, options } => {
                let options = options.iter().map(|option| {
                    format!(" ({} => {})", self.expr(&option.values[0]), self.expr(&option.then))
                });
                format!("(? {}{})", self.expr(left), options.collect::<String>())
            }
            ExprKind::If { condition, then, otherwise, unless } => {
                let word = if *unless { "unless" } else { "if" };
                let mut text =
                    format!("({word} {} (then {})", self.expr(condition), self.expr(then));
                if !matches!(otherwise.kind, ExprKind::Nop) {
                    let _ = write!(text, " (else {})", self.expr(otherwise));
                }
                text + ")"
            }
            ExprKind::Case { subject, options } => {
                let options = options.iter().map(|option| {
                    format!(
                        " (when ({}) (then {}))",
                        self.list(&option.values).trim(),
                        self.expr(&option.then)
                    )
                });
                format!("(case {}{})", self.expr(subject), options.collect::<String>())
            }
            ExprKind::Block(body) => format!("(block{})", self.list(body)),
            ExprKind::Lambda(lambda) => self.lambda(lambda),
            ExprKind::Resource { form: kind, ty, bodies } => {
                let bodies = bodies.iter().map(|body| {
                    format!(" ({}{})", self.expr(&body.title), self.operations(&body.operations))
                });
                format!("({}resource {}{})", form(kind), self.expr(ty), bodies.collect::<String>())
            }
            ExprKind::ResourceDefaults { form: kind, ty, operations } => format!(
                "({}resource-defaults {}{})",
                form(kind),
                self.expr(ty),
                self.operations(operations)
            ),
            ExprKind::ResourceOverride { form: kind, resources, operations } => format!(
                "({}override {}{})",
                form(kind),
                self.expr(resources),
                self.operations(operations)
            ),
            ExprKind::Collector { ty, form, query, operations } => {
                let (open, close) =
                    if *form == QueryForm::Virtual { ("<|", "|>") } else { ("<<|", "|>>") };
                let query = query
                    .as_deref()
                    .map(|query| format!(" {} ", self.expr(query)))
                    .unwrap_or_default();
                format!(
                    "(collect {} ({open}{query}{close}){})",
                    self.expr(ty),
                    self.operations(operations)
                )
            }
            ExprKind::Definition(index) => self.definition(&self.definitions[*index]),
            ExprKind::RenderText(text) => format!("(render-s '{text}')"),
            ExprKind::RenderExpr(value) => format!("(render {})", self.expr(value)),
            ExprKind::Epp { params, body, .. } => {
                format!("(epp {} {})", self.params(params), self.expr(body))
            }
        }
    }

    fn definition(&self, definition: &Definition) -> String {
        let word = match definition.kind {
            DefinitionKind::Class => "class",
            DefinitionKind::Define => "define",
            DefinitionKind::Function => "function",
            DefinitionKind::TypeAlias => {
                return format!("(type-alias {} {})", definition.name, self.expr(&definition.body));
            }
            DefinitionKind::Plan => "plan",
            DefinitionKind::Node => {
                let matches = definition
                    .node
                    .as_ref()
                    .map(|node| self.list(&node.matches))
                    .unwrap_or_default();
                return format!("(node (matches{matches}) {})", self.expr(&definition.body));
            }
        };
        let mut text = format!("({word} {}", definition.name);
        if let Some(parent) = &definition.parent {
            let _ = write!(text, " (inherits {parent})");
        }
        if !definition.params.is_empty() {
            let _ = write!(text, " {}", self.params(&definition.params));
        }
        if let Some(ty) = &definition.return_type {
            let _ = write!(text, " (return_type {})", self.expr(ty));
        }
        let _ = write!(text, " {})", self.expr(&definition.body));
        text
    }
}
