//! Predicates of XPath 1.0 that are more than one test: boolean operators, comparisons and
//! the functions policy uses. Text in, a tree out; `xml` asks it about a node.
//!
//! Positions are not here: the original refuses a path that depends on them.

use std::cmp::Ordering;

use super::xml::{Document, Id};

/// Deepest nesting of a predicate.
const MAX_DEPTH: usize = 32;

/// An expression in brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expr {
    Or(Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Compare(&'static str, Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    /// Names of child elements one in the other, then an attribute or text.
    Path(Vec<String>, Leaf),
    Literal(String),
    Number(String),
}

/// What of the elements at the end of a path is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    Itself,
    Attribute(String),
    Text,
}

enum Value {
    /// Texts of the nodes that were found.
    Nodes(Vec<String>),
    Text(String),
    Number(f64),
    Truth(bool),
}

impl Value {
    fn truth(&self) -> bool {
        match self {
            Value::Nodes(nodes) => !nodes.is_empty(),
            Value::Text(text) => !text.is_empty(),
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Truth(truth) => *truth,
        }
    }

    fn text(&self) -> String {
        match self {
            Value::Nodes(nodes) => nodes.first().cloned().unwrap_or_default(),
            Value::Text(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Truth(truth) => truth.to_string(),
        }
    }

    fn number(&self) -> f64 {
        match self {
            Value::Number(number) => *number,
            Value::Truth(truth) => f64::from(u8::from(*truth)),
            other => other.text().trim().parse().unwrap_or(f64::NAN),
        }
    }
}

impl Expr {
    /// Reads a predicate; `None` when it is none of ours.
    pub(crate) fn parse(text: &str) -> Option<Expr> {
        let mut reader = Reader { text, at: 0 };
        let expr = reader.any_of(0)?;
        reader.blank();
        (reader.at == text.len()).then_some(expr)
    }

    /// Whether it holds for an element.
    pub(crate) fn holds(&self, document: &Document, id: Id) -> bool {
        self.value(document, id).truth()
    }

    fn value(&self, document: &Document, id: Id) -> Value {
        match self {
            Expr::Or(a, b) => Value::Truth(a.holds(document, id) || b.holds(document, id)),
            Expr::And(a, b) => Value::Truth(a.holds(document, id) && b.holds(document, id)),
            Expr::Compare(operator, a, b) => {
                Value::Truth(compare(operator, &a.value(document, id), &b.value(document, id)))
            }
            Expr::Literal(text) => Value::Text(text.clone()),
            Expr::Number(text) => Value::Number(text.parse().unwrap_or(f64::NAN)),
            Expr::Path(names, leaf) => {
                let mut found = vec![id];
                for name in names {
                    found =
                        found.iter().flat_map(|at| document.child_elements(*at, name)).collect();
                }
                Value::Nodes(match leaf {
                    Leaf::Itself => found.iter().map(|at| document.text(*at)).collect(),
                    Leaf::Attribute(name) => found
                        .iter()
                        .filter_map(|at| document.attribute(*at, name).map(str::to_owned))
                        .collect(),
                    Leaf::Text => found
                        .iter()
                        .map(|at| document.text(*at))
                        .filter(|text| !text.is_empty())
                        .collect(),
                })
            }
            Expr::Call(name, args) => {
                let arg = |at: usize| match args.get(at) {
                    Some(arg) => arg.value(document, id),
                    None => Value::Text(document.text(id)),
                };
                match name.as_str() {
                    "not" => Value::Truth(!arg(0).truth()),
                    "true" => Value::Truth(true),
                    "false" => Value::Truth(false),
                    "contains" => Value::Truth(arg(0).text().contains(&arg(1).text())),
                    "starts-with" => Value::Truth(arg(0).text().starts_with(&arg(1).text())),
                    "string-length" => Value::Number(arg(0).text().chars().count() as f64),
                    "normalize-space" => {
                        let text = arg(0).text();
                        Value::Text(text.split_whitespace().collect::<Vec<_>>().join(" "))
                    }
                    "count" => Value::Number(match arg(0) {
                        Value::Nodes(nodes) => nodes.len() as f64,
                        _ => f64::NAN,
                    }),
                    "number" => Value::Number(arg(0).number()),
                    _ => Value::Text(arg(0).text()),
                }
            }
        }
    }
}

// With a set of nodes it is enough that it holds for one of them.
fn compare(operator: &str, a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Nodes(nodes), other) => {
            nodes.iter().any(|node| compare(operator, &Value::Text(node.clone()), other))
        }
        (other, Value::Nodes(nodes)) => {
            nodes.iter().any(|node| compare(operator, other, &Value::Text(node.clone())))
        }
        _ => {
            let (left, right) = (a.number(), b.number());
            let numbers = matches!(a, Value::Number(_)) || matches!(b, Value::Number(_));
            match operator {
                "=" if numbers => left.partial_cmp(&right) == Some(Ordering::Equal),
                "!=" if numbers => left.partial_cmp(&right) != Some(Ordering::Equal),
                "=" => a.text() == b.text(),
                "!=" => a.text() != b.text(),
                "<=" => left <= right,
                "<" => left < right,
                ">=" => left >= right,
                _ => left > right,
            }
        }
    }
}

const FUNCTIONS: [&str; 10] = [
    "not",
    "true",
    "false",
    "contains",
    "starts-with",
    "string-length",
    "normalize-space",
    "count",
    "number",
    "string",
];

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, word: &str) -> bool {
        self.blank();
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    // A word that ends there, such as `or` but not `order`.
    fn take_word(&mut self, word: &str) -> bool {
        self.blank();
        let tail = self.rest().strip_prefix(word);
        let found = tail.is_some_and(|tail| !tail.starts_with(is_name));
        if found {
            self.at += word.len();
        }
        found
    }

    fn any_of(&mut self, depth: usize) -> Option<Expr> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut left = self.all_of(depth)?;
        while self.take_word("or") {
            left = Expr::Or(Box::new(left), Box::new(self.all_of(depth)?));
        }
        Some(left)
    }

    fn all_of(&mut self, depth: usize) -> Option<Expr> {
        let mut left = self.comparison(depth)?;
        while self.take_word("and") {
            left = Expr::And(Box::new(left), Box::new(self.comparison(depth)?));
        }
        Some(left)
    }

    fn comparison(&mut self, depth: usize) -> Option<Expr> {
        let left = self.operand(depth)?;
        for operator in ["!=", "<=", ">=", "=", "<", ">"] {
            if self.take(operator) {
                let right = self.operand(depth)?;
                return Some(Expr::Compare(operator, Box::new(left), Box::new(right)));
            }
        }
        Some(left)
    }

    fn operand(&mut self, depth: usize) -> Option<Expr> {
        if self.take("(") {
            let inner = self.any_of(depth + 1)?;
            return self.take(")").then_some(inner);
        }
        self.blank();
        let first = self.rest().chars().next()?;
        if matches!(first, '"' | '\'') {
            let end = self.rest()[1..].find(first)?;
            let literal = self.rest()[1..=end].to_owned();
            self.at += end + 2;
            return Some(Expr::Literal(literal));
        }
        if first.is_ascii_digit() {
            let end = self.rest().find(|c: char| !c.is_ascii_digit() && c != '.');
            let number = self.rest()[..end.unwrap_or(self.rest().len())].to_owned();
            self.at += number.len();
            return Some(Expr::Number(number));
        }
        self.path(depth)
    }

    fn name(&mut self) -> Option<String> {
        self.blank();
        let end = self.rest().find(|c| !is_name(c)).unwrap_or(self.rest().len());
        let name = self.rest()[..end].to_owned();
        self.at += end;
        (!name.is_empty()).then_some(name)
    }

    fn path(&mut self, depth: usize) -> Option<Expr> {
        let mut names = Vec::new();
        loop {
            if self.take("@") || self.take("attribute::") {
                return Some(Expr::Path(names, Leaf::Attribute(self.name()?)));
            }
            if self.take(".") {
                return Some(Expr::Path(names, Leaf::Itself));
            }
            self.take("child::");
            let name = self.name()?;
            if self.take("(") {
                if name == "text" {
                    return self.take(")").then_some(Expr::Path(names, Leaf::Text));
                }
                if !names.is_empty() || !FUNCTIONS.contains(&name.as_str()) {
                    return None;
                }
                let mut args = Vec::new();
                while !self.take(")") {
                    if !args.is_empty() && !self.take(",") {
                        return None;
                    }
                    args.push(self.any_of(depth + 1)?);
                }
                return Some(Expr::Call(name, args));
            }
            names.push(name);
            if !self.take("/") {
                return Some(Expr::Path(names, Leaf::Itself));
            }
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_hold_for_an_element_or_do_not() {
        let document = Document::parse("<h name='b' id='2'><port>80</port><a><b>deep</b></a></h>")
            .expect("a document");
        let root = document.root().expect("a root");
        let table = [
            ("@id='7' or @id='2'", true),
            ("@name='b' and @id='1'", false),
            ("contains(@name,'b')", true),
            ("starts-with(port, '8') and not(@x)", true),
            ("port > 79 and port<=80", true),
            ("@name!='b'", false),
            ("a/b = 'deep'", true),
            ("count(port)=1", true),
            ("string-length(@name) = 1", true),
            ("(@id=2)", true),
            ("normalize-space(port/text())='80'", true),
        ];
        for (text, expected) in table {
            let expr = Expr::parse(text).expect(text);
            assert_eq!(expr.holds(&document, root), expected, "{text}");
        }
        for text in ["@", "position()=1", "foo(1)", "a b", "(@a", "'x"] {
            assert_eq!(Expr::parse(text), None, "{text}");
        }
    }
}
