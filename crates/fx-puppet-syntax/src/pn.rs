//! The tree in the extended notation of S-expressions that `puppet parser dump --format pn`
//! prints, and the same as JSON. The older form is in [`crate::dump`].

use std::fmt::Write as _;

use crate::ast::{
    AttributeOp, CaseOption, Definition, DefinitionKind, Expr, ExprKind, Form, Lambda, Param,
    Program, QueryForm, StringPart,
};
use crate::dump::{float, form_word};

/// A tree of calls, lists, maps and plain values.
#[derive(Clone, Debug)]
pub enum Pn {
    /// A text.
    Text(String),
    /// Anything that is written as it is: numbers, `true`, `nil`.
    Bare(String),
    /// A call with what it is given.
    Call(String, Vec<Pn>),
    /// A list.
    List(Vec<Pn>),
    /// Names with their values.
    Map(Vec<(String, Pn)>),
}

/// The tree of a program, or of the template that it is.
pub fn tree(program: &Program) -> Pn {
    let maker = Maker { definitions: &program.definitions };
    match &program.body.kind {
        ExprKind::Block(body) => match body.as_slice() {
            [] => call("nop", []),
            [only] => maker.statement(only),
            _ => call("block", maker.lines(body)),
        },
        _ => maker.expr(&program.body),
    }
}

impl Pn {
    /// The notation, on one line or one part a line.
    pub fn text(&self, pretty: bool) -> String {
        let mut out = String::new();
        self.write(pretty.then_some(0), &mut out);
        out
    }

    fn write(&self, depth: Option<usize>, out: &mut String) {
        let inner = depth.map(|depth| depth + 1);
        let apart = |number: usize, out: &mut String| match inner {
            Some(depth) => {
                out.push('\n');
                out.push_str(&"  ".repeat(depth));
            }
            None if number > 0 => out.push(' '),
            None => {}
        };
        match self {
            Pn::Text(text) => quote(text, out),
            Pn::Bare(text) => out.push_str(text),
            Pn::Call(name, parts) => {
                out.push('(');
                out.push_str(name);
                for part in parts {
                    apart(1, out);
                    part.write(inner, out);
                }
                out.push(')');
            }
            Pn::List(parts) => {
                out.push('[');
                for (number, part) in parts.iter().enumerate() {
                    apart(number, out);
                    part.write(inner, out);
                }
                out.push(']');
            }
            Pn::Map(entries) => {
                out.push('{');
                for (number, (name, value)) in entries.iter().enumerate() {
                    apart(number, out);
                    let _ = write!(out, ":{name} ");
                    value.write(inner, out);
                }
                out.push('}');
            }
        }
    }

    /// The same as JSON: calls under `^`, maps as lists under `#`.
    pub fn json(&self, pretty: bool) -> String {
        let mut out = String::new();
        self.write_json(pretty.then_some(0), &mut out);
        out
    }

    fn write_json(&self, depth: Option<usize>, out: &mut String) {
        let wrapped = |key: &str, items: Vec<Json<'_>>, out: &mut String| {
            let inner = depth.map(|depth| depth + 1);
            out.push('{');
            line(inner, out);
            json_text(key, out);
            out.push_str(if depth.is_some() { ": " } else { ":" });
            json_list(&items, inner, out);
            line(depth, out);
            out.push('}');
        };
        match self {
            Pn::Text(text) => json_text(text, out),
            Pn::Bare(text) if text == "nil" => out.push_str("null"),
            Pn::Bare(text) => out.push_str(text),
            Pn::Call(name, parts) => {
                let mut items = vec![Json::Name(name)];
                items.extend(parts.iter().map(Json::Tree));
                wrapped("^", items, out);
            }
            Pn::List(parts) => {
                json_list(&parts.iter().map(Json::Tree).collect::<Vec<_>>(), depth, out);
            }
            Pn::Map(entries) => {
                let pair = |(name, value)| [Json::Name(name), Json::Tree(value)];
                let entries = entries.iter().map(|(name, value)| (name.as_str(), value));
                wrapped("#", entries.flat_map(pair).collect(), out);
            }
        }
    }
}

enum Json<'a> {
    Name(&'a str),
    Tree(&'a Pn),
}

fn line(depth: Option<usize>, out: &mut String) {
    if let Some(depth) = depth {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    }
}

fn json_list(items: &[Json<'_>], depth: Option<usize>, out: &mut String) {
    if items.is_empty() {
        return out.push_str("[]");
    }
    let inner = depth.map(|depth| depth + 1);
    out.push('[');
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        line(inner, out);
        match item {
            Json::Name(name) => json_text(name, out),
            Json::Tree(tree) => tree.write_json(inner, out),
        }
    }
    line(depth, out);
    out.push(']');
}

fn json_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\o{:03o}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn call(name: &str, parts: impl IntoIterator<Item = Pn>) -> Pn {
    Pn::Call(name.to_owned(), parts.into_iter().collect())
}

/// A call that is given one map.
fn with(name: &str, entries: Vec<(&str, Pn)>) -> Pn {
    let entries = entries.into_iter().map(|(name, value)| (name.to_owned(), value));
    call(name, [Pn::Map(entries.collect())])
}

fn text(text: &str) -> Pn {
    Pn::Text(text.to_owned())
}

/// Adds the form of a resource that is not plain.
fn with_form(mut entries: Vec<(&str, Pn)>, form: Form) -> Vec<(&str, Pn)> {
    entries.extend(form_word(form).map(|word| ("form", text(word))));
    entries
}

struct Maker<'a> {
    definitions: &'a [Definition],
}

impl Maker<'_> {
    fn all<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<Pn> {
        exprs.into_iter().map(|expr| self.expr(expr)).collect()
    }

    /// What a block holds, or the one expression, as a list.
    fn statements(&self, body: &Expr) -> Pn {
        match &body.kind {
            ExprKind::Block(body) => Pn::List(self.lines(body)),
            _ => Pn::List(vec![self.expr(body)]),
        }
    }

    /// A call whose value nobody asks for has another word.
    fn statement(&self, expr: &Expr) -> Pn {
        match &expr.kind {
            ExprKind::Call { function, args, lambda, .. } => {
                self.called("invoke", self.expr(function), args, lambda.as_deref())
            }
            _ => self.expr(expr),
        }
    }

    fn lines(&self, body: &[Expr]) -> Vec<Pn> {
        body.iter().map(|expr| self.statement(expr)).collect()
    }

    fn params(&self, params: &[Param]) -> Pn {
        let one = |param: &Param| {
            let mut entries = Vec::new();
            entries.extend(param.ty.as_ref().map(|ty| ("type".to_owned(), self.expr(ty))));
            if param.captures_rest {
                entries.push(("splat".to_owned(), Pn::Bare("true".into())));
            }
            let value = param.default.as_ref();
            entries.extend(value.map(|value| ("value".to_owned(), self.expr(value))));
            (param.name.to_string(), Pn::Map(entries))
        };
        Pn::Map(params.iter().map(one).collect())
    }

    fn lambda(&self, lambda: &Lambda) -> Pn {
        let mut entries = Vec::new();
        if !lambda.params.is_empty() {
            entries.push(("params", self.params(&lambda.params)));
        }
        entries.extend(lambda.return_type.as_deref().map(|ty| ("returns", self.expr(ty))));
        if !is_empty(&lambda.body) {
            entries.push(("body", self.statements(&lambda.body)));
        }
        with("lambda", entries)
    }

    fn operations(&self, operations: &[AttributeOp]) -> Pn {
        let one = |operation: &AttributeOp| match operation {
            AttributeOp::Set { name, append, value, .. } => {
                call(if *append { "+>" } else { "=>" }, [text(name), self.expr(value)])
            }
            AttributeOp::Splat { value, .. } => call("splat-hash", [self.expr(value)]),
        };
        Pn::List(operations.iter().map(one).collect())
    }

    fn called(&self, name: &str, function: Pn, args: &[Expr], lambda: Option<&Lambda>) -> Pn {
        let mut entries = vec![("functor", function), ("args", Pn::List(self.all(args)))];
        entries.extend(lambda.map(|lambda| ("block", self.lambda(lambda))));
        with(name, entries)
    }

    fn expr(&self, expr: &Expr) -> Pn {
        let two =
            |name: &str, left: &Expr, right: &Expr| call(name, [self.expr(left), self.expr(right)]);
        match &expr.kind {
            ExprKind::Nop => call("nop", []),
            ExprKind::Undef => Pn::Bare("nil".into()),
            ExprKind::Default => call("default", []),
            ExprKind::Bool(value) => Pn::Bare(value.to_string()),
            ExprKind::Int { value, radix: 10 } => Pn::Bare(value.to_string()),
            ExprKind::Int { value, radix } => {
                let number = |number: String| Pn::Bare(number);
                let radix = number(radix.to_string());
                with("int", vec![("radix", radix), ("value", number(value.to_string()))])
            }
            ExprKind::Float(value) => Pn::Bare(float(*value)),
            ExprKind::String(value) => text(value),
            ExprKind::Interpolated(parts) => {
                let part = |part: &StringPart| match part {
                    StringPart::Text(value) => text(value),
                    StringPart::Expr(expr) => call("str", [self.expr(expr)]),
                };
                call("concat", parts.iter().map(part))
            }
            ExprKind::Heredoc { syntax, text } => self.heredoc(syntax, text),
            ExprKind::Regex(value) => call("regexp", [text(value)]),
            ExprKind::Name(name) => call("qn", [text(name)]),
            ExprKind::Reference(name) => call("qr", [text(name)]),
            ExprKind::Reserved(name) => call("reserved", [text(name)]),
            ExprKind::Variable(name) => call("var", [text(name)]),
            ExprKind::Array(items) => call("array", self.all(items)),
            ExprKind::Hash(pairs) => call("hash", pairs.iter().map(|(k, v)| two("=>", k, v))),
            ExprKind::Access { left, keys } => {
                let mut parts = vec![self.expr(left)];
                parts.extend(self.all(keys));
                call("access", parts)
            }
            ExprKind::Call { function, args, lambda, statement } => {
                let name = if *statement { "invoke" } else { "call" };
                self.called(name, self.expr(function), args, lambda.as_deref())
            }
            ExprKind::MethodCall { receiver, name, args, lambda, .. } => {
                let function = call(".", [self.expr(receiver), call("qn", [text(name)])]);
                self.called("call-method", function, args, lambda.as_deref())
            }
            ExprKind::Not(operand) => call("!", [self.expr(operand)]),
            ExprKind::Negate(operand) => match &operand.kind {
                ExprKind::Int { value, .. } => Pn::Bare(format!("-{value}")),
                ExprKind::Float(value) => Pn::Bare(float(-value)),
                _ => call("-", [self.expr(operand)]),
            },
            ExprKind::Unfold(operand) => call("unfold", [self.expr(operand)]),
            ExprKind::Parenthesized(inner) => call("paren", [self.expr(inner)]),
            ExprKind::Binary { op, left, right, .. } => two(op.symbol(), left, right),
            ExprKind::Assign { left, right, .. } => two("=", left, right),
            ExprKind::AppendAssign { op, left, right, .. } => two(op, left, right),
            ExprKind::Relationship { op, left, right, .. } => two(op.symbol(), left, right),
            ExprKind::Selector { left, options } => {
                let entry = |option: &CaseOption| {
                    let mut parts = self.all(&option.values);
                    parts.push(self.expr(&option.then));
                    call("=>", parts)
                };
                let entries = Pn::List(options.iter().map(entry).collect());
                call("?", [self.expr(left), entries])
            }
            ExprKind::If { condition, then, otherwise, unless } => {
                let mut entries = vec![("test", self.expr(condition))];
                for (name, branch) in [("then", then), ("else", otherwise)] {
                    if !is_empty(branch) {
                        entries.push((name, self.statements(branch)));
                    }
                }
                with(if *unless { "unless" } else { "if" }, entries)
            }
            ExprKind::Case { subject, options } => self.case(subject, options),
            ExprKind::Block(body) => call("block", self.lines(body)),
            ExprKind::Lambda(lambda) => self.lambda(lambda),
            ExprKind::Resource { form, ty, bodies } => {
                let body = |body: &crate::ast::ResourceBody| {
                    let title = ("title".to_owned(), self.expr(&body.title));
                    Pn::Map(vec![title, ("ops".to_owned(), self.operations(&body.operations))])
                };
                let bodies = Pn::List(bodies.iter().map(body).collect());
                let entries = vec![("type", self.expr(ty)), ("bodies", bodies)];
                with("resource", with_form(entries, *form))
            }
            ExprKind::ResourceDefaults { form, ty, operations } => {
                let entries = vec![("type", self.expr(ty)), ("ops", self.operations(operations))];
                with("resource-defaults", with_form(entries, *form))
            }
            ExprKind::ResourceOverride { form, resources, operations } => {
                let operations = self.operations(operations);
                let entries = vec![("resources", self.expr(resources)), ("ops", operations)];
                with("resource-override", with_form(entries, *form))
            }
            ExprKind::Collector { ty, form, query, operations } => {
                let virtual_one = *form == QueryForm::Virtual;
                let name = if virtual_one { "virtual-query" } else { "exported-query" };
                let query = call(name, query.as_deref().map(|query| self.expr(query)));
                let mut entries = vec![("type", self.expr(ty)), ("query", query)];
                if !operations.is_empty() {
                    entries.push(("ops", self.operations(operations)));
                }
                with("collect", entries)
            }
            ExprKind::Definition(index) => self.definition(&self.definitions[*index]),
            ExprKind::RenderText(value) => call("render-s", [text(value)]),
            ExprKind::RenderExpr(value) => call("render", [self.expr(value)]),
            ExprKind::Epp { params, body, .. } => self.epp(params, body),
        }
    }

    fn case(&self, subject: &Expr, options: &[CaseOption]) -> Pn {
        let option = |option: &CaseOption| {
            let then = if is_empty(&option.then) {
                Pn::List(vec![call("nop", [])])
            } else {
                self.statements(&option.then)
            };
            let values = Pn::List(self.all(&option.values));
            Pn::Map(vec![("when".to_owned(), values), ("then".to_owned(), then)])
        };
        let options = Pn::List(options.iter().map(option).collect());
        call("case", [self.expr(subject), options])
    }

    fn epp(&self, params: &[Param], body: &Expr) -> Pn {
        let inner = match &body.kind {
            ExprKind::Block(body) => call("epp", self.lines(body)),
            _ => call("epp", [self.expr(body)]),
        };
        let mut entries = Vec::new();
        if !params.is_empty() {
            entries.push(("params", self.params(params)));
        }
        entries.push(("body", Pn::List(vec![inner])));
        with("lambda", entries)
    }

    fn heredoc(&self, syntax: &str, inner: &Expr) -> Pn {
        let mut entries = Vec::new();
        if !syntax.is_empty() {
            entries.push(("syntax", text(syntax)));
        }
        entries.push(("text", self.expr(inner)));
        with("heredoc", entries)
    }

    fn definition(&self, definition: &Definition) -> Pn {
        let body = || (!is_empty(&definition.body)).then(|| self.statements(&definition.body));
        let word = match definition.kind {
            DefinitionKind::Class => "class",
            DefinitionKind::Define => "define",
            DefinitionKind::Function => "function",
            DefinitionKind::Plan => "plan",
            DefinitionKind::TypeAlias => {
                return call("type-alias", [text(&definition.name), self.expr(&definition.body)]);
            }
            DefinitionKind::Node => {
                let matches = definition.node.iter().flat_map(|node| &node.matches);
                let one = |one: &Expr| match &one.kind {
                    ExprKind::Name(name) => text(name),
                    _ => self.expr(one),
                };
                let mut entries = vec![("matches", Pn::List(matches.map(one).collect()))];
                entries.extend(body().map(|body| ("body", body)));
                return with("node", entries);
            }
        };
        let mut entries = vec![("name", text(&definition.name))];
        entries.extend(definition.parent.as_deref().map(|parent| ("parent", text(parent))));
        if !definition.params.is_empty() {
            entries.push(("params", self.params(&definition.params)));
        }
        entries.extend(body().map(|body| ("body", body)));
        let returns = definition.return_type.as_deref();
        entries.extend(returns.map(|ty| ("returns", self.expr(ty))));
        with(word, entries)
    }
}

fn is_empty(body: &Expr) -> bool {
    match &body.kind {
        ExprKind::Nop => true,
        ExprKind::Block(body) => body.is_empty(),
        _ => false,
    }
}
