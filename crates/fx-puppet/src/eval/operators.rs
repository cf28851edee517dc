//! Operators on values: arithmetic, comparison, matching, membership.

use std::cmp::Ordering;
use std::rc::Rc;

use fx_puppet_syntax::{BinaryOp, Expr};
use fx_source::Span;

use super::error::Flow;
use super::label::{self, with_article};
use super::text::program_text;
use super::{Evaluated, Evaluator, Scope};
use crate::regex::Regex;
use crate::semver::Version;
use crate::types::{Type, infer, is_instance};
use crate::value::{Hash, Value};

const NANOS: f64 = 1e9;

/// A number read from text as the language writes numbers.
pub(crate) fn number_from(text: &str) -> Option<Value> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest.trim_start()),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let radix = |digits: &str, radix| {
        i64::from_str_radix(digits, radix).ok().map(|number| Value::Int(sign * number))
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return radix(hex, 16);
    }
    if let Some(binary) = digits.strip_prefix("0b").or_else(|| digits.strip_prefix("0B")) {
        return radix(binary, 2);
    }
    if digits.len() > 1
        && digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return radix(&digits[1..], 8);
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return radix(digits, 10);
    }
    let good = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'-' | b'+'))
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && !digits.ends_with('.');
    if good {
        digits.parse::<f64>().ok().map(|number| Value::Float(f64::from(sign as i32) * number))
    } else {
        None
    }
}

impl Evaluator {
    pub(super) fn negate(&self, operand: &Expr, span: Span, scope: &Rc<Scope>) -> Evaluated {
        let value = self.eval(operand, scope)?;
        Ok(match self.numeric(&value, span)? {
            Value::Int(number) => Value::Int(
                number
                    .checked_neg()
                    .ok_or_else(|| Flow::at(operand.span, "integer out of range"))?,
            ),
            Value::Float(number) => Value::Float(-number),
            Value::Timespan(span) => Value::Timespan(-span),
            other => other,
        })
    }

    /// Says that a text was taken for a number; an error where the settings ask for it.
    pub(super) fn warn_coerced(&self, text: &str, number: &str, span: Span) -> Evaluated<()> {
        let message = format!(
            "The string '{text}' was automatically coerced to the numerical value {number}"
        );
        match self.settings.strictness() {
            fx_puppet_syntax::Strictness::Error => return Err(Flow::at(span, message)),
            fx_puppet_syntax::Strictness::Warning => self.warn(&message, Some(span)),
            fx_puppet_syntax::Strictness::Off => {}
        }
        Ok(())
    }

    /// A number, or what can be read as one.
    fn numeric(&self, value: &Value, span: Span) -> Evaluated {
        match value {
            Value::Int(_) | Value::Float(_) | Value::Timespan(_) | Value::Timestamp(_) => {
                Ok(value.clone())
            }
            Value::String(text) => match number_from(text) {
                Some(number) => {
                    self.warn_coerced(text, &program_text(&number), span)?;
                    Ok(number)
                }
                None => Err(Flow::at(
                    span,
                    format!("The value '{text}' cannot be converted to Numeric."),
                )),
            },
            other => Err(Flow::at(
                span,
                format!(
                    "The value '{}' cannot be converted to Numeric.",
                    super::text::ruby_text(other)
                ),
            )),
        }
    }

    pub(super) fn binary(
        &self,
        expr: &Expr,
        op: BinaryOp,
        op_span: Span,
        left: &Expr,
        right: &Expr,
        scope: &Rc<Scope>,
    ) -> Evaluated {
        let a = self.eval(left, scope)?;
        let b = self.eval(right, scope)?;
        Ok(match op {
            BinaryOp::Equal => Value::Bool(a.equals(&b)),
            BinaryOp::NotEqual => Value::Bool(!a.equals(&b)),
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                Value::Bool(compares(op, &a, &b, op_span)?)
            }
            BinaryOp::Match | BinaryOp::NotMatch => {
                let matched =
                    self.matches(&a, &b, label::place(left), label::place(right), scope)?;
                Value::Bool(matched == (op == BinaryOp::Match))
            }
            BinaryOp::In => Value::Bool(self.is_in(&a, &b, op_span, scope)?),
            BinaryOp::Add => match (&a, &b) {
                (Value::Array(_) | Value::Hash(_) | Value::Uri(_), _) => {
                    concatenated(&a, &b, label::operand(left))?
                }
                _ => self.arithmetic(op, &a, &b, expr, left, right)?,
            },
            BinaryOp::Subtract => match &a {
                Value::Array(_) | Value::Hash(_) => without(&a, &b),
                _ => self.arithmetic(op, &a, &b, expr, left, right)?,
            },
            BinaryOp::ShiftLeft => match &a {
                Value::Array(items) => {
                    let mut items = items.to_vec();
                    items.push(b);
                    Value::array(items)
                }
                _ => self.arithmetic(op, &a, &b, expr, left, right)?,
            },
            _ => self.arithmetic(op, &a, &b, expr, left, right)?,
        })
    }

    fn arithmetic(
        &self,
        op: BinaryOp,
        a: &Value,
        b: &Value,
        expr: &Expr,
        left: &Expr,
        right: &Expr,
    ) -> Evaluated {
        let semver = |value: &Value| matches!(value, Value::SemVer(_));
        if semver(a) || semver(b) {
            return Err(self.not_applicable(op, a, label::operand(left)));
        }
        let x = self.numeric(a, label::operand(left))?;
        let y = self.numeric(b, label::operand(right))?;
        let place = label::place(expr);
        let overflow = |exact: i128| {
            let sign = if exact < 0 { "-" } else { "+" };
            let word = if exact < 0 { "min" } else { "max" };
            Flow::at(
                place,
                format!(
                    "{} resulted in a value outside of Puppet Integer {word} range, got '{sign}{:#x}'",
                    format_args!("A {}", label::of(expr).0),
                    exact.unsigned_abs()
                ),
            )
        };
        let fit = |exact: i128| i64::try_from(exact).map(Value::Int).map_err(|_| overflow(exact));
        match (&x, &y) {
            (Value::Int(x), Value::Int(y)) => {
                let (x, y) = (*x as i128, *y as i128);
                match op {
                    BinaryOp::Add => fit(x + y),
                    BinaryOp::Subtract => fit(x - y),
                    BinaryOp::Multiply => fit(x * y),
                    BinaryOp::Divide | BinaryOp::Modulo if y == 0 => {
                        Err(Flow::at(right.span, "Division by 0"))
                    }
                    BinaryOp::Divide => fit(floor_div(x, y)),
                    BinaryOp::Modulo => fit(x - floor_div(x, y) * y),
                    BinaryOp::ShiftLeft => fit(shift(x, y)),
                    BinaryOp::ShiftRight => fit(shift(x, -y)),
                    _ => Err(self.not_applicable(op, a, label::operand(left))),
                }
            }
            (Value::Timestamp(_) | Value::Timespan(_), _)
            | (_, Value::Timestamp(_) | Value::Timespan(_)) => {
                self.time_arithmetic(op, &x, &y, left, right)
            }
            (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
                let float = |value: &Value| match value {
                    Value::Int(number) => *number as f64,
                    Value::Float(number) => *number,
                    _ => 0.0,
                };
                let is_float = |value: &Value| matches!(value, Value::Float(_));
                let (left_float, right_float) = (is_float(&x), is_float(&y));
                let (p, q) = (&x, &y);
                let (x, y) = (float(&x), float(&y));
                let made = match op {
                    BinaryOp::Add => x + y,
                    BinaryOp::Subtract => x - y,
                    BinaryOp::Multiply => x * y,
                    BinaryOp::Divide if y == 0.0 && !left_float && !right_float => {
                        return Err(Flow::at(right.span, "Division by 0"));
                    }
                    BinaryOp::Divide => x / y,
                    _ => {
                        let (value, span) =
                            if left_float { (p, left.span) } else { (q, right.span) };
                        return Err(self.not_applicable(op, value, span));
                    }
                };
                if made.is_infinite() && x.is_finite() && y.is_finite() {
                    let message =
                        format!("The result of the {} expression is Infinity", op.symbol());
                    return Err(Flow::at(left.span, message));
                }
                Ok(Value::Float(made))
            }
            _ => Err(self.not_applicable(op, a, label::operand(left))),
        }
    }

    fn not_applicable(&self, op: BinaryOp, value: &Value, span: Span) -> Flow {
        Flow::at(
            span,
            format!("Operator '{}' is not applicable to {}.", op.symbol(), with_article(value)),
        )
    }

    fn time_arithmetic(
        &self,
        op: BinaryOp,
        x: &Value,
        y: &Value,
        left: &Expr,
        right: &Expr,
    ) -> Evaluated {
        let nanos = |value: &Value| match value {
            Value::Int(number) => i128::from(*number) * 1_000_000_000,
            Value::Float(number) => (number * NANOS).round() as i128,
            Value::Timespan(nanos) | Value::Timestamp(nanos) => *nanos,
            _ => 0,
        };
        let (p, q) = (nanos(x), nanos(y));
        Ok(match (x, op, y) {
            (Value::Timestamp(_), BinaryOp::Subtract, Value::Timestamp(_)) => {
                Value::Timespan(p - q)
            }
            (Value::Timestamp(_), BinaryOp::Add, Value::Timestamp(_)) => {
                return Err(self.not_applicable(op, y, right.span));
            }
            (Value::Timestamp(_), BinaryOp::Add, _) | (_, BinaryOp::Add, Value::Timestamp(_)) => {
                Value::Timestamp(p + q)
            }
            (Value::Timestamp(_), BinaryOp::Subtract, _) => Value::Timestamp(p - q),
            (_, BinaryOp::Add, _) => Value::Timespan(p + q),
            (Value::Timespan(_), BinaryOp::Subtract, _)
            | (_, BinaryOp::Subtract, Value::Timespan(_)) => Value::Timespan(p - q),
            (Value::Timespan(span), BinaryOp::Multiply, Value::Int(times))
            | (Value::Int(times), BinaryOp::Multiply, Value::Timespan(span)) => {
                Value::Timespan(span * i128::from(*times))
            }
            (Value::Timespan(span), BinaryOp::Multiply, Value::Float(times))
            | (Value::Float(times), BinaryOp::Multiply, Value::Timespan(span)) => {
                Value::Timespan((*span as f64 * times) as i128)
            }
            (Value::Timespan(_), BinaryOp::Divide | BinaryOp::Modulo, _) if q == 0 => {
                return Err(Flow::at(right.span, "Division by 0"));
            }
            (Value::Timespan(span), BinaryOp::Divide, Value::Timespan(other)) => {
                Value::Float(*span as f64 / *other as f64)
            }
            (Value::Timespan(span), BinaryOp::Divide, Value::Int(parts)) => {
                Value::Timespan(span / i128::from(*parts))
            }
            (Value::Timespan(span), BinaryOp::Divide, Value::Float(parts)) => {
                Value::Timespan((*span as f64 / parts) as i128)
            }
            // The rest of whole seconds is a number.
            (Value::Timespan(span), BinaryOp::Modulo, Value::Int(by)) => {
                let seconds = span.div_euclid(1_000_000_000);
                let by = i128::from(*by);
                Value::Int((seconds - floor_div(seconds, by) * by) as i64)
            }
            (Value::Timespan(_), BinaryOp::Modulo, Value::Float(_)) => {
                let message =
                    "Operator '%' is not applicable to a Timespan when right side is a Float.";
                return Err(Flow::at(label::operand(left), message));
            }
            (Value::Timestamp(_) | Value::Timespan(_), ..) => {
                return Err(self.not_applicable(op, x, left.span));
            }
            _ => return Err(self.not_applicable(op, y, right.span)),
        })
    }

    /// `left =~ right`
    pub(crate) fn matches(
        &self,
        left: &Value,
        right: &Value,
        left_span: Span,
        right_span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated<bool> {
        match right {
            Value::Type(ty) => return Ok(is_instance(ty, left)),
            Value::SemVerRange(range) => return Ok(in_range(left, range)),
            _ => {}
        }
        let regex = match right {
            Value::Regex(regex) => Rc::clone(regex),
            Value::String(source) => {
                let regex = Rc::new(Regex::new(source));
                regex.check().map_err(|message| Flow::at(right_span, format!("Can not convert right match operand to a regular expression. Caused by '{message}'.")))?;
                regex
            }
            other => {
                let message = format!(
                    "Can not convert right match operand to a regular expression. Caused by 'no implicit conversion of {} into String'.",
                    match other {
                        Value::Undef => "nil".to_owned(),
                        Value::Bool(truth) => truth.to_string(),
                        Value::Default => "Symbol".to_owned(),
                        Value::SemVer(_) => "SemanticPuppet::Version".to_owned(),
                        Value::Sensitive(_) => {
                            "Puppet::Pops::Types::PSensitiveType::Sensitive".to_owned()
                        }
                        Value::Binary(_) => {
                            "Puppet::Pops::Types::PBinaryType::Binary".to_owned()
                        }
                        Value::Timespan(_) => "Puppet::Pops::Time::Timespan".to_owned(),
                        Value::Timestamp(_) => "Puppet::Pops::Time::Timestamp".to_owned(),
                        Value::Uri(_) => "URI::HTTP".to_owned(),
                        other => label::value_label(other),
                    }
                );
                return Err(Flow::at(right_span, message));
            }
        };
        let Value::String(text) = left else {
            return Err(Flow::at(
                left_span,
                format!(
                    "Left match operand must result in a String value. Got {}.",
                    with_article(left)
                ),
            ));
        };
        self.match_regex(&regex, text, right_span, scope)
    }

    fn match_regex(
        &self,
        regex: &Regex,
        text: &str,
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated<bool> {
        match regex.captures(text).map_err(|message| Flow::at(span, message))? {
            Some(captures) => {
                scope.capture(captures);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn is_in(&self, a: &Value, b: &Value, span: Span, scope: &Rc<Scope>) -> Evaluated<bool> {
        match (a, b) {
            (Value::String(part), Value::String(text)) => {
                Ok(text.to_lowercase().contains(&part.to_lowercase()))
            }
            (Value::Regex(regex), Value::String(text)) => {
                self.match_regex(regex, text, span, scope)
            }
            (Value::Type(ty), Value::String(_)) => Ok(is_instance(ty, b)),
            (_, Value::String(_)) => Ok(false),
            (Value::Regex(regex), Value::Array(items)) => {
                for text in items.iter().filter_map(Value::as_str) {
                    if self.match_regex(regex, text, span, scope)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (_, Value::SemVerRange(range)) => Ok(in_range(a, range)),
            (_, Value::Binary(bytes)) => Ok(match a {
                Value::Int(byte) => bytes.iter().any(|own| i64::from(*own) == *byte),
                Value::Binary(part) => holds(bytes, part),
                Value::String(part) => holds(bytes, part.as_bytes()),
                _ => false,
            }),
            // What is in the array may be a pattern for it.
            (Value::String(_) | Value::SemVer(_), Value::Array(items)) => {
                for item in items.iter() {
                    if matches!(item, Value::Default) || Self::value_matches(a, item, span, scope)?
                    {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (Value::Type(ty), Value::Array(items)) => {
                Ok(items.iter().any(|item| is_instance(ty, item)))
            }
            (_, Value::Array(items)) => Ok(items.iter().any(|item| item.equals(a))),
            (_, Value::Hash(hash)) => {
                let keys: Vec<Value> = hash.keys().cloned().collect();
                self.is_in(a, &Value::array(keys), span, scope)
            }
            _ => Ok(false),
        }
    }
}

/// Whether a version, or a text that is one, lies in a range.
fn in_range(value: &Value, range: &str) -> bool {
    match value {
        Value::SemVer(version) | Value::String(version) => crate::semver::satisfies(version, range),
        _ => false,
    }
}

/// Whether bytes occur among others, one after the other.
fn holds(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
}

fn floor_div(x: i128, y: i128) -> i128 {
    let quotient = x / y;
    if x % y != 0 && (x < 0) != (y < 0) { quotient - 1 } else { quotient }
}

fn shift(x: i128, by: i128) -> i128 {
    if by >= 0 {
        if by > 62 && x.unsigned_abs().leading_zeros() <= by.min(128) as u32 + 1 {
            if x == 0 { 0 } else { i128::MAX }
        } else {
            x << by
        }
    } else {
        x >> (-by).min(100)
    }
}

fn concatenated(a: &Value, b: &Value, span: Span) -> Evaluated {
    Ok(match (a, b) {
        (Value::Array(items), other) => {
            let mut items = items.to_vec();
            match other {
                Value::Array(more) => items.extend(more.iter().cloned()),
                Value::Hash(hash) => items.extend(
                    hash.iter().map(|(key, value)| Value::array(vec![key.clone(), value.clone()])),
                ),
                other => items.push(other.clone()),
            }
            Value::array(items)
        }
        (Value::Hash(hash), Value::Hash(more)) => {
            let mut hash = Hash::clone(hash);
            hash.extend(more.iter().map(|(key, value)| (key.clone(), value.clone())));
            Value::Hash(Rc::new(hash))
        }
        (Value::Hash(hash), Value::Array(items)) => {
            let mut hash = Hash::clone(hash);
            let pairs =
                items.iter().all(|item| matches!(item, Value::Array(pair) if pair.len() == 2));
            if pairs {
                for item in items.iter() {
                    if let Value::Array(pair) = item {
                        hash.insert(pair[0].clone(), pair[1].clone());
                    }
                }
            } else if items.len() % 2 == 0 {
                for pair in items.chunks(2) {
                    hash.insert(pair[0].clone(), pair[1].clone());
                }
            } else {
                return Err(Flow::raw("odd number of arguments for Hash"));
            }
            Value::Hash(Rc::new(hash))
        }
        (Value::Uri(base), Value::String(path) | Value::Uri(path)) => {
            Value::Uri(crate::eval::uri::joined(base, path).into())
        }
        (Value::Hash(_), _) => {
            return Err(Flow::raw("Can only append Array or Hash to a Hash"));
        }
        (a, _) => {
            return Err(Flow::at(
                span,
                format!(
                    "Operator '+' is not applicable to {} when adding {}.",
                    with_article(a),
                    with_article(b)
                ),
            ));
        }
    })
}

fn without(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Array(items), other) => {
            let gone: Vec<Value> = match other {
                Value::Array(gone) => gone.to_vec(),
                Value::Hash(hash) => hash
                    .iter()
                    .map(|(key, value)| Value::array(vec![key.clone(), value.clone()]))
                    .collect(),
                other => vec![other.clone()],
            };
            Value::array(items.iter().filter(|item| !gone.contains(item)).cloned().collect())
        }
        (Value::Hash(hash), other) => {
            let gone: Vec<Value> = match other {
                Value::Array(gone) => gone.to_vec(),
                Value::Hash(other) => other.keys().cloned().collect(),
                other => vec![other.clone()],
            };
            Value::hash(
                hash.iter()
                    .filter(|(key, _)| !gone.contains(key))
                    .map(|(key, value)| (key.clone(), value.clone())),
            )
        }
        (other, _) => other.clone(),
    }
}

fn compares(op: BinaryOp, a: &Value, b: &Value, span: Span) -> Evaluated<bool> {
    if let (Value::Type(a), Value::Type(b)) = (a, b) {
        return Ok(match op {
            BinaryOp::Less => b.accepts(a) && a != b,
            BinaryOp::LessEqual => b.accepts(a),
            BinaryOp::Greater => a.accepts(b) && a != b,
            _ => a.accepts(b),
        });
    }
    // A type is compared with types; it is no kind of anything else.
    if matches!(a, Value::Type(_)) {
        return Ok(false);
    }
    let order = order(a, b).map_err(|reason| {
        let message = format!(
            "Comparison of: {} {} {}, is not possible. Caused by '{reason}'.",
            label::value_label(a),
            op.symbol(),
            label::value_label(b)
        );
        Flow::at(span, message)
    })?;
    Ok(match op {
        BinaryOp::Less => order == Ordering::Less,
        BinaryOp::LessEqual => order != Ordering::Greater,
        BinaryOp::Greater => order == Ordering::Greater,
        _ => order != Ordering::Less,
    })
}

/// The bytes of a text with its ASCII letters small: other letters keep their case.
fn without_case(text: &str) -> impl Iterator<Item = u8> + '_ {
    text.bytes().map(|byte| byte.to_ascii_lowercase())
}

/// Which comes first, or why that cannot be said.
pub(crate) fn order(a: &Value, b: &Value) -> Result<Ordering, String> {
    let float = |value: &Value| match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Timespan(nanos) | Value::Timestamp(nanos) => Some(*nanos as f64 / NANOS),
        _ => None,
    };
    match (a, b) {
        (Value::String(a), Value::String(b)) => Ok(without_case(a).cmp(without_case(b))),
        (Value::String(_), _) => Err("A String is not comparable to a non String".into()),
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
        (Value::Timespan(a), Value::Timespan(b)) | (Value::Timestamp(a), Value::Timestamp(b)) => {
            Ok(a.cmp(b))
        }
        (Value::Timespan(_), b) if !matches!(b, Value::Int(_) | Value::Float(_)) => {
            Err("Timespans are only comparable to Timespans, Integers, and Floats".into())
        }
        (Value::Timestamp(_), b) if !matches!(b, Value::Int(_) | Value::Float(_)) => {
            Err("Timestamps are only comparable to Timestamps, Integers, and Floats".into())
        }
        (Value::Int(_) | Value::Float(_) | Value::Timespan(_) | Value::Timestamp(_), _) => {
            match (float(a), float(b)) {
                (Some(a), Some(b)) => Ok(a.partial_cmp(&b).unwrap_or(Ordering::Equal)),
                _ => Err("A Numeric is not comparable to non Numeric".into()),
            }
        }
        (Value::SemVer(a), Value::SemVer(b)) => match (Version::parse(a), Version::parse(b)) {
            (Some(a), Some(b)) => Ok(a.compare(&b)),
            _ => Ok(a.cmp(b)),
        },
        (Value::Default, Value::Default) => Ok(Ordering::Equal),
        (Value::Default, _) => Err("Symbol not comparable to non Symbol".into()),
        (Value::SemVer(_), _) => Err("Versions not comparable to non Versions".into()),
        _ => {
            Err("Only Strings, Numbers, Timespans, Timestamps, and Versions are comparable".into())
        }
    }
}

/// The type's name for messages about values.
pub(crate) fn kind(value: &Value) -> String {
    label::short(&match value {
        Value::Type(ty) => Type::Meta(Some(Rc::clone(ty))),
        value => infer(value),
    })
}
