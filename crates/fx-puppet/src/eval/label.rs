//! What an expression is called in messages, and which place of it is meant.

use fx_puppet_syntax::{Expr, ExprKind};
use fx_source::Span;

use crate::types::Type;
use crate::value::Value;

/// The name of an expression's kind, and its telling place.
pub(crate) fn of(expr: &Expr) -> (String, Span) {
    let label: String = match &expr.kind {
        ExprKind::Call { .. } => "Function Call".into(),
        ExprKind::MethodCall { .. } => "Method call".into(),
        ExprKind::Access { .. } => "'[]' expression".into(),
        ExprKind::Binary { op, .. } => format!("'{}' expression", op.symbol()),
        ExprKind::Relationship { op, .. } => format!("'{}' expression", op.symbol()),
        ExprKind::Assign { .. } => "'=' expression".into(),
        ExprKind::Resource { .. } => "Resource Statement".into(),
        ExprKind::ResourceOverride { .. } => "Resource Override".into(),
        ExprKind::ResourceDefaults { .. } => "Resource Defaults Expression".into(),
        ExprKind::Collector { form, .. } => match form {
            fx_puppet_syntax::QueryForm::Virtual => "Virtual Query".into(),
            fx_puppet_syntax::QueryForm::Exported => "Exported Query".into(),
        },
        ExprKind::Selector { .. } => "Selector Expression".into(),
        ExprKind::Case { .. } => "'case' statement".into(),
        ExprKind::If { unless: true, .. } => "'unless' statement".into(),
        ExprKind::If { .. } => "'if' statement".into(),
        ExprKind::Block(_) => "Block Expression".into(),
        ExprKind::Variable(_) => "Variable".into(),
        ExprKind::Interpolated(_) => "Interpolated String".into(),
        ExprKind::Reference(_) => "Type-Name".into(),
        ExprKind::Not(_) => "'!' expression".into(),
        ExprKind::Negate(_) => "'-' expression".into(),
        ExprKind::Array(_) => "Array Expression".into(),
        ExprKind::Hash(_) => "Hash Expression".into(),
        ExprKind::Epp { .. } => "Epp Template".into(),
        _ => "expression".into(),
    };
    (label, place(expr))
}

/// The place messages give for an expression.
pub(crate) fn place(expr: &Expr) -> Span {
    match &expr.kind {
        ExprKind::Binary { op_span, .. }
        | ExprKind::Relationship { op_span, .. }
        | ExprKind::Assign { op_span, .. } => *op_span,
        // The parenthesis after the name, or the dot before it.
        ExprKind::MethodCall { name_span, parens: true, .. } => {
            Span::new(name_span.file, name_span.end, name_span.end + 1)
        }
        ExprKind::MethodCall { name_span, .. } => {
            Span::new(name_span.file, name_span.start.saturating_sub(1), name_span.end)
        }
        ExprKind::Parenthesized(inner) => place(inner),
        _ => expr.span,
    }
}

/// The place of an operand: what is in parentheses begins with them.
pub(crate) fn operand(expr: &Expr) -> Span {
    match &expr.kind {
        ExprKind::Parenthesized(_) => expr.span,
        _ => place(expr),
    }
}

/// `an Integer`, `a String`: a value's kind with its article.
pub(crate) fn with_article(value: &Value) -> String {
    article(&value_label(value))
}

/// A name with its article.
pub(crate) fn article(label: &str) -> String {
    let vowel = label.starts_with(|c: char| "AEIOU".contains(c));
    format!("{} {label}", if vowel { "an" } else { "a" })
}

/// What a value is called in messages.
pub(crate) fn value_label(value: &Value) -> String {
    match value {
        Value::Undef => "Undef Value".into(),
        Value::Default
        | Value::Uri(_)
        | Value::Deferred(..)
        | Value::Iterator(..)
        | Value::Object(..) => "Object".into(),
        Value::SemVer(_) => "Semver".into(),
        Value::SemVerRange(_) => "SemverRange".into(),
        Value::Type(ty) => match &**ty {
            Type::Resource { title: Some(_), .. } => format!("{ty} Resource-Reference"),
            ty => format!("{ty}-Type"),
        },
        value => short(&crate::types::infer(value)),
    }
}

/// A type's name without parameters.
pub(crate) fn short(ty: &Type) -> String {
    match ty {
        Type::Alias { name, .. } => name.to_string(),
        Type::Object(Some(object)) => object.name.to_string(),
        Type::Resource { name: Some(name), .. } => crate::types::capitalized(name),
        ty => {
            let text = ty.to_string();
            text.split('[').next().unwrap_or_default().to_owned()
        }
    }
}
