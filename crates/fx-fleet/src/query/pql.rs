//! PQL, the language for people: `nodes[certname] { facts { name = "x" } order by certname }`.

use serde_json::Value;

use super::ast::{Column, Entity, Field, Filter, Function, Op, Order, Query, Source};
use super::{QueryError, Read};

/// A query nested deeper is refused.
const DEEPEST: usize = 64;

struct Parser<'a> {
    text: &'a str,
    /// Bytes that were read.
    at: usize,
    depth: usize,
}

pub(super) fn parse(text: &str) -> Read<Query> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    parser.space();
    let query = parser.query()?;
    parser.space();
    match parser.rest() {
        "" => Ok(query),
        _ => parser.expected(&["end of query"]),
    }
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The error at this place, as the original shows it.
    fn expected<T>(&self, what: &[&str]) -> Read<T> {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        let shown = self.text.lines().nth(line - 1).unwrap_or_default();
        Err(QueryError(format!(
            "PQL parse error at line {line}, column {}:\n\n{shown}\n{}^\n\nExpected one of:\n\n{}\n",
            column + 1,
            " ".repeat(column),
            what.join("\n")
        )))
    }

    /// Takes a sign, if it is next.
    fn take(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    fn need(&mut self, sign: &str) -> Read<()> {
        self.space();
        if self.take(sign) { Ok(()) } else { self.expected(&[sign]) }
    }

    /// Takes words, with any space between them, if they are next.
    fn words(&mut self, words: &str) -> bool {
        let start = self.at;
        for word in words.split(' ') {
            self.space();
            let after = self.rest().strip_prefix(word);
            match after {
                Some(after) if !after.starts_with(is_word) => self.at += word.len(),
                _ => {
                    self.at = start;
                    return false;
                }
            }
        }
        true
    }

    fn word(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let word = rest.get(..end).filter(|word| !word.is_empty())?;
        self.at += end;
        Some(word)
    }

    fn entity(&mut self) -> Option<Entity> {
        let start = self.at;
        let found = self.word().filter(|word| !word.contains('-')).and_then(Entity::named);
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn query(&mut self) -> Read<Query> {
        let Some(entity) = self.entity() else {
            let names: Vec<&str> = Entity::ALL.iter().map(|(name, _)| *name).collect();
            return self.expected(&names);
        };
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(QueryError("the query is nested too deeply".into()));
        }
        let mut query = Query::all(entity);
        self.space();
        if self.take("[") {
            query.columns = self.columns()?;
        }
        self.need("{")?;
        self.space();
        if !self.rest().starts_with('}') && !self.is_modifier() {
            query.filter = Some(self.any()?);
        }
        self.modifiers(&mut query)?;
        self.space();
        if !self.take("}") {
            return self.expected(&["}", "order by", "limit", "offset", "group by", "and", "or"]);
        }
        self.depth -= 1;
        Ok(query)
    }

    fn is_modifier(&mut self) -> bool {
        let start = self.at;
        let found = ["order by", "group by", "limit", "offset"].iter().any(|one| self.words(one));
        self.at = start;
        found
    }

    fn modifiers(&mut self, query: &mut Query) -> Read<()> {
        loop {
            if self.words("order by") {
                loop {
                    let field = self.field()?;
                    let is_descending = self.words("desc");
                    if !is_descending {
                        self.words("asc");
                    }
                    query.order_by.push(Order { field, is_descending });
                    if !self.comma() {
                        break;
                    }
                }
            } else if self.words("group by") {
                loop {
                    query.group_by.push(self.column()?);
                    if !self.comma() {
                        break;
                    }
                }
            } else if self.words("limit") {
                query.limit = Some(self.count()?);
            } else if self.words("offset") {
                query.offset = Some(self.count()?);
            } else {
                return Ok(());
            }
        }
    }

    fn comma(&mut self) -> bool {
        self.space();
        self.take(",")
    }

    fn count(&mut self) -> Read<u64> {
        self.space();
        let digits: String = self.rest().chars().take_while(char::is_ascii_digit).collect();
        match digits.parse() {
            Ok(number) => {
                self.at += digits.len();
                Ok(number)
            }
            Err(_) => self.expected(&["#\"[0-9]+\""]),
        }
    }

    fn columns(&mut self) -> Read<Vec<Column>> {
        let mut columns = Vec::new();
        self.space();
        if self.take("]") {
            return Ok(columns);
        }
        loop {
            columns.push(self.column()?);
            self.space();
            if self.take("]") {
                return Ok(columns);
            }
            if !self.take(",") {
                return self.expected(&["]", ","]);
            }
        }
    }

    fn column(&mut self) -> Read<Column> {
        self.space();
        let start = self.at;
        if let Some(function) = self.word().and_then(Function::named)
            && self.take("(")
        {
            self.space();
            let mut field = None;
            let mut template = None;
            if !self.rest().starts_with(')') {
                field = Some(self.field()?);
                if self.comma() {
                    self.space();
                    template = Some(self.string()?);
                }
            }
            self.need(")")?;
            return Ok(Column::Call { function, field, template });
        }
        self.at = start;
        Ok(Column::Field(self.field()?))
    }

    /// `certname`, `latest_report?`, `facts.os."a.b".models[0]`.
    fn field(&mut self) -> Read<Field> {
        self.space();
        let start = self.at;
        let Some(_) = self.word() else { return self.expected(&["#\"[a-zA-Z0-9_]+\\??\""]) };
        self.take("?");
        loop {
            if self.take(".") {
                match self.rest().chars().next() {
                    Some('"') => drop(self.string()?),
                    _ if self.word().is_some() => {}
                    _ => return self.expected(&["#\"[a-zA-Z0-9_]+\\??\""]),
                }
            } else if self.rest().starts_with('[')
                && self.rest()[1..].starts_with(|c: char| c.is_ascii_digit())
            {
                self.at += 1;
                self.count()?;
                self.need("]")?;
            } else {
                break;
            }
        }
        Ok(Field::Named(self.text.get(start..self.at).unwrap_or_default().to_owned()))
    }

    fn any(&mut self) -> Read<Filter> {
        let mut parts = vec![self.each()?];
        while self.words("or") {
            parts.push(self.each()?);
        }
        Ok(one_or(parts, Filter::Or))
    }

    fn each(&mut self) -> Read<Filter> {
        let mut parts = vec![self.term()?];
        while self.words("and") {
            parts.push(self.term()?);
        }
        Ok(one_or(parts, Filter::And))
    }

    fn term(&mut self) -> Read<Filter> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(QueryError("the query is nested too deeply".into()));
        }
        self.space();
        let found = if self.take("!") {
            Filter::Not(Box::new(self.term()?))
        } else if self.take("(") {
            let inner = self.any()?;
            self.need(")")?;
            inner
        } else {
            self.condition()?
        };
        self.depth -= 1;
        Ok(found)
    }

    fn condition(&mut self) -> Read<Filter> {
        let start = self.at;
        if let Some(entity) = self.entity() {
            self.space();
            if self.take("{") {
                self.space();
                let inner = if self.rest().starts_with('}') { None } else { Some(self.any()?) };
                self.need("}")?;
                return Ok(Filter::Related(entity, inner.map(Box::new)));
            }
        }
        self.at = start;
        if self.take("[") {
            let mut fields = vec![self.field()?];
            while self.comma() {
                fields.push(self.field()?);
            }
            self.need("]")?;
            self.space();
            if !self.words("in") {
                return self.expected(&["in"]);
            }
            return Ok(Filter::In { fields, source: self.source()? });
        }
        let field = self.field()?;
        self.space();
        if self.words("is not null") {
            return Ok(Filter::IsNull { field, is_null: false });
        }
        if self.words("is null") {
            return Ok(Filter::IsNull { field, is_null: true });
        }
        if self.words("in") {
            return Ok(Filter::In { fields: vec![field], source: self.source()? });
        }
        for (sign, op) in [("!=", Op::Equal), ("!~", Op::Matches)] {
            if self.take(sign) {
                let value = self.value()?;
                return Ok(Filter::Not(Box::new(Filter::Compare { op, field, value })));
            }
        }
        for (sign, op) in Op::ALL {
            if self.take(sign) {
                return Ok(Filter::Compare { op: *op, field, value: self.value()? });
            }
        }
        self.expected(&[
            "is not null",
            "is null",
            "in",
            "!~",
            "!=",
            "=",
            ">",
            "<",
            "<=",
            ">=",
            "~>",
            "~",
        ])
    }

    fn source(&mut self) -> Read<Source> {
        self.space();
        if self.rest().starts_with('[') {
            return match self.value()? {
                Value::Array(values) => Ok(Source::Values(values)),
                other => Ok(Source::Values(vec![other])),
            };
        }
        Ok(Source::Query(Box::new(self.query()?)))
    }

    fn value(&mut self) -> Read<Value> {
        self.space();
        match self.rest().chars().next() {
            Some('"' | '\'') => Ok(self.string()?.into()),
            Some('[') => {
                self.at += 1;
                let mut values = Vec::new();
                self.space();
                if self.take("]") {
                    return Ok(values.into());
                }
                loop {
                    self.space();
                    if self.rest().starts_with('[') {
                        return self.expected(&["a string, a number, true or false"]);
                    }
                    values.push(self.value()?);
                    self.space();
                    if self.take("]") {
                        return Ok(values.into());
                    }
                    if !self.take(",") {
                        return self.expected(&["]", ","]);
                    }
                }
            }
            Some('-' | '0'..='9') => {
                let rest = self.rest();
                let is_part =
                    |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                match serde_json::from_str::<Value>(&rest[..end]) {
                    Ok(number) => {
                        self.at += end;
                        Ok(number)
                    }
                    Err(_) => self.expected(&["a number"]),
                }
            }
            _ if self.words("true") => Ok(true.into()),
            _ if self.words("false") => Ok(false.into()),
            _ => self.expected(&["a string, a number, true or false"]),
        }
    }

    /// With single quotes as it stands, with double quotes as in JSON.
    fn string(&mut self) -> Read<String> {
        let rest = self.rest();
        if let Some(inner) = rest.strip_prefix('\'') {
            let Some(end) = inner.find('\'') else { return self.expected(&["'"]) };
            self.at += end + 2;
            return Ok(inner[..end].to_owned());
        }
        let mut escaped = false;
        let end = rest.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let Some((end, _)) = end.filter(|_| rest.starts_with('"')) else {
            return self.expected(&["\""]);
        };
        match serde_json::from_str(&rest[..=end]) {
            Ok(text) => {
                self.at += end + 1;
                Ok(text)
            }
            Err(_) => self.expected(&["a string"]),
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn one_or(mut parts: Vec<Filter>, several: impl Fn(Vec<Filter>) -> Filter) -> Filter {
    match parts.len() {
        1 => parts.remove(0),
        _ => several(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_languages_make_the_same_tree() {
        for (pql, ast) in [
            ("nodes { }", json!(["from", "nodes"])),
            (
                "nodes[certname] { certname ~ 'a' order by certname desc limit 2 }",
                json!([
                    "from",
                    "nodes",
                    ["extract", ["certname"], ["~", "certname", "a"]],
                    ["order_by", [["certname", "desc"]]],
                    ["limit", 2]
                ]),
            ),
            (
                "facts[value, count()] { name = \"x\\n\" and (value > 1 or !(value = true)) group by value }",
                json!([
                    "from",
                    "facts",
                    [
                        "extract",
                        ["value", ["function", "count"]],
                        [
                            "and",
                            ["=", "name", "x\n"],
                            ["or", [">", "value", 1], ["not", ["=", "value", true]]]
                        ],
                        ["group_by", "value"]
                    ]
                ]),
            ),
            (
                "nodes { certname in facts[certname] { name = 'x' } and reports { } }",
                json!([
                    "from",
                    "nodes",
                    [
                        "and",
                        [
                            "in",
                            "certname",
                            ["from", "facts", ["extract", ["certname"], ["=", "name", "x"]]]
                        ],
                        ["subquery", "reports"]
                    ]
                ]),
            ),
            (
                "inventory { facts.a.\"b c\"[0] != -1.5 and trusted.x is not null }",
                json!([
                    "from",
                    "inventory",
                    [
                        "and",
                        ["not", ["=", "facts.a.\"b c\"[0]", -1.5]],
                        ["null?", "trusted.x", false]
                    ]
                ]),
            ),
        ] {
            assert_eq!(Query::parse(pql, None), Query::read(&ast, None), "{pql}");
            assert!(parse(pql).is_ok(), "{pql}: {:?}", parse(pql));
        }
    }

    #[test]
    fn what_is_no_query_is_an_error_and_no_panic() {
        let deep = format!("nodes {{ {}certname = 1 }}", "(".repeat(10_000));
        for text in [
            "",
            "nodes",
            "nodes {",
            "nodes[",
            "nodes { a }",
            "nodes { a = }",
            "é { }",
            "nodes { a = \"",
            "nodes { a = '",
            "nodes { limit x }",
            "nodes { a. = 1 }",
            "nodes { a[9 = 1 }",
            "nodes { a = [[1]] }",
            "nodes { } x",
            &deep,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
