//! The tree as nested parentheses, as `puppet parser dump` prints it. The other form of the
//! original is in [`crate::pn`].

use crate::ast::{
    AttributeOp, BinaryOp, Definition, DefinitionKind, Expr, ExprKind, Form, Lambda, Param,
    Program, QueryForm, StringPart,
};

/// A program of the language, or the template that it is.
pub fn dump(program: &Program) -> String {
    let dumper = Dumper { definitions: &program.definitions };
    let parts = match &program.body.kind {
        ExprKind::Block(body) => match body.as_slice() {
            [] => Part::from(":nop"),
            [only] => dumper.statement(only),
            _ => dumper.block(body),
        },
        _ => dumper.expr(&program.body),
    };
    format(&parts)
}

/// A piece of what is printed.
enum Part {
    Text(String),
    List(Vec<Part>),
    Indent,
    Dedent,
    Break,
}

impl From<&str> for Part {
    fn from(text: &str) -> Part {
        Part::Text(text.to_owned())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Part {
        Part::Text(text)
    }
}

/// The text of a part, with blanks between words where none are yet.
fn format(part: &Part) -> String {
    let (mut words, mut depth) = (Vec::new(), 0_usize);
    collect(part, &mut depth, &mut words);
    let mut out = String::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 && word != ")" && !ends_open(&words[at - 1]) && !starts_blank(word) {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

// Some line of it ends with a blank or an opening parenthesis.
fn ends_open(word: &str) -> bool {
    let last = word.chars().last();
    let before_break =
        |pair: &[u8]| pair[1] == b'\n' && (pair[0].is_ascii_whitespace() || pair[0] == b'(');
    last.is_some_and(|c| c.is_ascii_whitespace() || c == '(')
        || word.as_bytes().windows(2).any(before_break)
}

// Some line of it starts with a blank.
fn starts_blank(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_whitespace())
        || word.as_bytes().windows(2).any(|pair| pair[0] == b'\n' && pair[1].is_ascii_whitespace())
}

fn collect(part: &Part, depth: &mut usize, words: &mut Vec<String>) {
    match part {
        Part::Text(text) => words.push(text.clone()),
        Part::List(parts) => {
            words.push("(".to_owned());
            for part in parts {
                collect(part, depth, words);
            }
            words.push(")".to_owned());
        }
        Part::Indent => *depth += 1,
        Part::Dedent => *depth = depth.saturating_sub(1),
        Part::Break => words.push(format!("\n{}", "  ".repeat(*depth))),
    }
}

/// A number as Ruby writes it.
pub(crate) fn float(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) && value.is_finite() {
        let text = format!("{value:e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = if digits.contains('.') { digits.to_owned() } else { format!("{digits}.0") };
        let power: i32 = power.parse().unwrap_or(0);
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", power.abs());
    }
    format!("{value:?}")
}

/// A word with the form of a resource before it, where it is virtual or exported.
fn in_form(form: Form, word: &str) -> String {
    match form_word(form) {
        Some(form) => format!("{form}-{word}"),
        None => word.to_owned(),
    }
}

/// The word before `resource` and its kin.
pub(crate) fn form_word(form: Form) -> Option<&'static str> {
    match form {
        Form::Regular => None,
        Form::Virtual => Some("virtual"),
        Form::Exported => Some("exported"),
    }
}

struct Dumper<'a> {
    definitions: &'a [Definition],
}

fn list(head: &str, rest: impl IntoIterator<Item = Part>) -> Part {
    let mut parts = vec![Part::from(head)];
    parts.extend(rest);
    Part::List(parts)
}

impl Dumper<'_> {
    fn all<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<Part> {
        exprs.into_iter().map(|expr| self.expr(expr)).collect()
    }

    /// A call whose value nobody asks for has another word.
    fn statement(&self, expr: &Expr) -> Part {
        match &expr.kind {
            ExprKind::Call { function, args, lambda, .. } => {
                self.call("invoke", self.expr(function), args, lambda.as_deref())
            }
            _ => self.expr(expr),
        }
    }

    fn block(&self, body: &[Expr]) -> Part {
        let mut parts = vec![Part::from("block"), Part::Indent];
        for expr in body {
            parts.extend([Part::Break, self.statement(expr)]);
        }
        parts.extend([Part::Dedent, Part::Break]);
        Part::List(parts)
    }

    /// The body of a definition: nothing, or a block of whatever length.
    fn body(&self, body: &Expr) -> Part {
        match &body.kind {
            ExprKind::Block(body) if body.is_empty() => Part::List(Vec::new()),
            ExprKind::Block(body) => self.block(body),
            _ => self.expr(body),
        }
    }

    /// A branch: one expression by itself, more as a block.
    fn branch(&self, body: &Expr) -> Part {
        match &body.kind {
            ExprKind::Block(body) => match body.as_slice() {
                [] => Part::List(Vec::new()),
                [only] => self.statement(only),
                _ => self.block(body),
            },
            _ => self.expr(body),
        }
    }

    fn params(&self, params: &[Param]) -> Part {
        let one = |param: &Param| {
            let star = if param.captures_rest { "*" } else { "" };
            let name = Part::from(format!("{star}{}", param.name));
            match (&param.ty, &param.default) {
                (Some(ty), Some(value)) => list("=t", [self.expr(ty), name, self.expr(value)]),
                (None, Some(value)) => list("=", [name, self.expr(value)]),
                (Some(ty), None) => list("t", [self.expr(ty), name]),
                (None, None) => name,
            }
        };
        list("parameters", params.iter().map(one))
    }

    fn lambda(&self, params: &[Param], return_type: Option<&Expr>, body: Part) -> Part {
        let mut parts = Vec::new();
        if !params.is_empty() {
            parts.push(self.params(params));
        }
        parts.extend(return_type.map(|ty| list("return_type", [self.expr(ty)])));
        parts.push(body);
        list("lambda", parts)
    }

    fn block_argument(&self, lambda: &Lambda) -> Part {
        self.lambda(&lambda.params, lambda.return_type.as_deref(), self.body(&lambda.body))
    }

    fn operations(&self, operations: &[AttributeOp]) -> Vec<Part> {
        let mut parts = vec![Part::Indent];
        for operation in operations {
            parts.push(Part::Break);
            parts.push(match operation {
                AttributeOp::Set { name, append, value, .. } => {
                    let arrow = if *append { "+>" } else { "=>" };
                    list(name, [Part::from(arrow), self.expr(value)])
                }
                AttributeOp::Splat { value, .. } => list("* =>", [self.expr(value)]),
            });
        }
        parts.push(Part::Dedent);
        parts
    }

    fn call(&self, head: &str, first: Part, args: &[Expr], lambda: Option<&Lambda>) -> Part {
        let mut parts = vec![first];
        parts.extend(self.all(args));
        parts.extend(lambda.map(|lambda| self.block_argument(lambda)));
        list(head, parts)
    }

    fn expr(&self, expr: &Expr) -> Part {
        let text = |text: &str| Part::from(format!("'{text}'"));
        match &expr.kind {
            ExprKind::Nop => ":nop".into(),
            ExprKind::Undef => ":undef".into(),
            ExprKind::Default => ":default".into(),
            ExprKind::Bool(value) => value.to_string().into(),
            ExprKind::Int { value, radix: 8 } => format!("0{value:o}").into(),
            ExprKind::Int { value, radix: 16 } => format!("0x{value:X}").into(),
            ExprKind::Int { value, .. } => value.to_string().into(),
            ExprKind::Float(value) => float(*value).into(),
            ExprKind::String(value) => text(value),
            ExprKind::Interpolated(parts) => list(
                "cat",
                parts.iter().map(|part| match part {
                    StringPart::Text(value) => text(value),
                    StringPart::Expr(expr) => list("str", [self.expr(expr)]),
                }),
            ),
            ExprKind::Heredoc { syntax, text } => list(
                &format!("@({syntax})"),
                [Part::Indent, Part::Break, self.expr(text), Part::Dedent, Part::Break],
            ),
            ExprKind::Regex(value) => format!("/{}/", value.replace('/', "\\/")).into(),
            ExprKind::Name(name) | ExprKind::Reference(name) => (&**name).into(),
            ExprKind::Reserved(name) => list("reserved", [Part::from(&**name)]),
            ExprKind::Variable(name) => format!("${name}").into(),
            ExprKind::Array(items) => list("[]", self.all(items)),
            ExprKind::Hash(pairs) => {
                let pair = |(key, value): &(Expr, Expr)| {
                    Part::List(vec![self.expr(key), self.expr(value)])
                };
                list("{}", pairs.iter().map(pair))
            }
            ExprKind::Access { left, keys } => {
                let keys = match keys.as_slice() {
                    [] => Part::from("()"),
                    [only] => self.expr(only),
                    _ => Part::List(self.all(keys)),
                };
                list("slice", [self.expr(left), keys])
            }
            ExprKind::Call { function, args, lambda, statement } => {
                let head = if *statement { "invoke" } else { "call" };
                self.call(head, self.expr(function), args, lambda.as_deref())
            }
            ExprKind::MethodCall { receiver, name, args, lambda, .. } => {
                let first = list(".", [self.expr(receiver), Part::from(&**name)]);
                self.call("call-method", first, args, lambda.as_deref())
            }
            // What is denied is written out by itself, its lines not indented.
            ExprKind::Not(operand) => list("!", [format(&self.expr(operand)).into()]),
            ExprKind::Negate(operand) => list("-", [self.expr(operand)]),
            ExprKind::Unfold(operand) => list("unfold", [self.expr(operand)]),
            ExprKind::Parenthesized(inner) => self.expr(inner),
            ExprKind::Binary { op, left, right, .. } => {
                let op = match op {
                    BinaryOp::And => "&&",
                    BinaryOp::Or => "||",
                    other => other.symbol(),
                };
                list(op, [self.expr(left), self.expr(right)])
            }
            ExprKind::Assign { left, right, .. } => list("=", [self.expr(left), self.expr(right)]),
            ExprKind::AppendAssign { op, left, right, .. } => {
                list(op, [self.expr(left), self.expr(right)])
            }
            ExprKind::Relationship { op, left, right, .. } => {
                list(op.symbol(), [self.expr(left), self.expr(right)])
            }
            ExprKind::Selector { left, options } => {
                let mut parts = vec![self.expr(left)];
                parts.extend(options.iter().map(|option| {
                    let mut entry = self.all(&option.values);
                    entry.extend([Part::from("=>"), self.expr(&option.then)]);
                    Part::List(entry)
                }));
                list("?", parts)
            }
            ExprKind::If { condition, then, otherwise, unless } => {
                self.conditional(condition, then, otherwise, *unless)
            }
            ExprKind::Case { subject, options } => {
                let mut parts = vec![self.expr(subject), Part::Indent];
                for option in options {
                    let then = list("then", [self.body(&option.then)]);
                    let values = Part::List(self.all(&option.values));
                    parts.extend([Part::Break, list("when", [values, then])]);
                }
                parts.push(Part::Dedent);
                list("case", parts)
            }
            ExprKind::Block(body) => self.block(body),
            ExprKind::Lambda(lambda) => self.block_argument(lambda),
            ExprKind::Resource { form, ty, bodies } => self.resource(*form, ty, bodies),
            ExprKind::ResourceDefaults { form, ty, operations } => {
                let mut parts = vec![self.expr(ty)];
                parts.extend(self.operations(operations));
                list(&in_form(*form, "resource-defaults"), parts)
            }
            ExprKind::ResourceOverride { form, resources, operations } => {
                let mut parts = vec![self.expr(resources)];
                parts.extend(self.operations(operations));
                list(&in_form(*form, "override"), parts)
            }
            ExprKind::Collector { ty, form, query, .. } => {
                self.collector(ty, *form, query.as_deref())
            }
            ExprKind::Definition(index) => self.definition(&self.definitions[*index]),
            ExprKind::RenderText(text) => list("render-s", [format!(" '{text}'").into()]),
            ExprKind::RenderExpr(value) => list("render", [self.expr(value)]),
            ExprKind::Epp { params, body, .. } => {
                let body = list("epp", [self.body(body)]);
                self.lambda(params, None, body)
            }
        }
    }

    fn resource(&self, form: Form, ty: &Expr, bodies: &[crate::ast::ResourceBody]) -> Part {
        let mut parts = vec![self.expr(ty), Part::Indent];
        for body in bodies {
            let mut inner = vec![self.expr(&body.title)];
            inner.extend(self.operations(&body.operations));
            parts.extend([Part::Break, Part::List(inner)]);
        }
        parts.push(Part::Dedent);
        list(&in_form(form, "resource"), parts)
    }

    /// What a collector changes is not shown, as in the original.
    fn collector(&self, ty: &Expr, form: QueryForm, query: Option<&Expr>) -> Part {
        let word = if form == QueryForm::Virtual { "<| |>" } else { "<<| |>>" };
        let query = list(word, query.map(|query| self.expr(query)));
        list(
            "collect",
            [
                self.expr(ty),
                Part::Indent,
                Part::Break,
                query,
                Part::Indent,
                Part::Dedent,
                Part::Dedent,
            ],
        )
    }

    fn conditional(&self, test: &Expr, then: &Expr, otherwise: &Expr, unless: bool) -> Part {
        let branch =
            |word: &str, body: &Expr| list(word, [Part::Indent, self.branch(body), Part::Dedent]);
        let mut parts = vec![self.expr(test), Part::Indent, Part::Break, branch("then", then)];
        let is_nothing = match &otherwise.kind {
            ExprKind::Nop => true,
            ExprKind::Block(body) => body.is_empty(),
            _ => false,
        };
        // Without another branch the original never takes the indentation back.
        if !is_nothing {
            parts.extend([Part::Break, branch("else", otherwise), Part::Dedent]);
        }
        list(if unless { "unless" } else { "if" }, parts)
    }

    fn definition(&self, definition: &Definition) -> Part {
        let word = match definition.kind {
            DefinitionKind::Class => "class",
            DefinitionKind::Define => "define",
            DefinitionKind::Function => "function",
            DefinitionKind::Plan => "plan",
            DefinitionKind::TypeAlias => {
                let name = Part::from(&*definition.name);
                return list("type-alias", [name, self.expr(&definition.body)]);
            }
            DefinitionKind::Node => {
                let matches = definition.node.iter().flat_map(|node| &node.matches);
                let matches = list("matches", matches.map(|one| self.node_match(one)));
                return list("node", [matches, self.body(&definition.body)]);
            }
        };
        let mut parts = vec![Part::from(&*definition.name)];
        let parent = definition.parent.as_deref();
        parts.extend(parent.map(|parent| list("inherits", [Part::from(parent)])));
        if !definition.params.is_empty() {
            parts.push(self.params(&definition.params));
        }
        let returns = definition.return_type.as_deref();
        parts.extend(returns.map(|ty| list("return_type", [self.expr(ty)])));
        parts.push(self.body(&definition.body));
        list(word, parts)
    }

    // A bare word names a node as a string does.
    fn node_match(&self, one: &Expr) -> Part {
        match &one.kind {
            ExprKind::Name(name) => format!("'{name}'").into(),
            _ => self.expr(one),
        }
    }
}
