//! From the tree of a query to SQL.

use std::fmt::Write;

use serde_json::Value;

use super::ast::{Column, Entity, Field, Filter, Function, Op, Query, Source};
use super::entities::{Kind, Row, Table, relation, table};
use super::{Read, listed, wrong};
use crate::engine::{Cell, Dialect};
use crate::times;

/// A statement with its cells and what each column of its rows is.
pub(super) struct Statement {
    pub(super) text: String,
    pub(super) cells: Vec<Cell<'static>>,
    pub(super) shown: Vec<Shown>,
}

/// A column of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// A field, found.
struct Resolved {
    sql: String,
    kind: Kind,
    /// The fact that it is of, as text and as number.
    fact: Option<(String, String)>,
}

pub(super) struct Translator {
    dialect: Dialect,
    cells: Vec<Cell<'static>>,
}

/// The statement of a query; without its pages for who counts all.
pub(super) fn statement(query: &Query, dialect: Dialect, with_pages: bool) -> Read<Statement> {
    let mut translator = Translator { dialect, cells: Vec::new() };
    let (text, shown) = translator.select(query, true, with_pages)?;
    Ok(Statement { text, cells: translator.cells, shown })
}

const ACTIVE: &str = "(n.deactivated IS NULL AND n.expired IS NULL)";

impl Translator {
    fn cell(&mut self, cell: impl Into<Cell<'static>>) -> String {
        self.cells.push(cell.into());
        format!("${}", self.cells.len())
    }

    fn text(&mut self, text: &str) -> String {
        // Without its type a placeholder is anything to PostgreSQL.
        format!("CAST({} AS TEXT)", self.cell(text.to_owned()))
    }

    fn select(
        &mut self,
        query: &Query,
        is_outer: bool,
        with_pages: bool,
    ) -> Read<(String, Vec<Shown>)> {
        let table = table(query.entity);
        let (mut columns, mut shown) = (Vec::new(), Vec::new());
        if query.columns.is_empty() {
            for (name, sql, kind, _) in table.fields.iter().filter(|(.., is_shown)| *is_shown) {
                columns.push((*sql).to_owned());
                shown.push(Shown { name: (*name).to_owned(), kind: *kind });
            }
        }
        for column in &query.columns {
            let (sql, one) = self.column(query.entity, &table, column)?;
            columns.push(sql);
            shown.push(one);
        }
        let mut conditions = Vec::new();
        if !table.condition.is_empty() {
            conditions.push(table.condition.to_owned());
        }
        if let Some(filter) = &query.filter {
            conditions.push(self.filter(query.entity, &table, filter)?);
        }
        if is_outer
            && table.only_active
            && !query.filter.as_ref().is_some_and(Filter::is_about_state)
        {
            conditions.push(ACTIVE.to_owned());
        }
        let distinct =
            if table.is_distinct && query.group_by.is_empty() { "DISTINCT " } else { "" };
        let mut text = format!("SELECT {distinct}{} FROM {}", columns.join(", "), table.from);
        if !conditions.is_empty() {
            let _ = write!(text, " WHERE {}", conditions.join(" AND "));
        }
        let mut groups = Vec::new();
        for column in &query.group_by {
            groups.push(self.group(query, &table, column, &columns)?);
        }
        if !groups.is_empty() {
            let _ = write!(text, " GROUP BY {}", groups.join(", "));
        }
        if with_pages {
            self.pages(query, &table, &mut text)?;
        }
        Ok((text, shown))
    }

    /// What is grouped by a column that is shown is grouped by its place: written anew it would
    /// have placeholders of its own and be another expression to the engine.
    fn group(
        &mut self,
        query: &Query,
        table: &Table,
        column: &Column,
        columns: &[String],
    ) -> Read<String> {
        match query.columns.iter().position(|one| one == column) {
            Some(at) if at < columns.len() => Ok(format!("{}", at + 1)),
            _ => Ok(self.column(query.entity, table, column)?.0),
        }
    }

    fn pages(&mut self, query: &Query, table: &Table, text: &mut String) -> Read<()> {
        let mut orders = Vec::new();
        for order in &query.order_by {
            let shown =
                query.columns.iter().position(|one| *one == Column::Field(order.field.clone()));
            let sql = match shown {
                Some(at) => format!("{}", at + 1),
                None => match self.field(query.entity, table, &order.field) {
                    Ok(found) => found.sql,
                    Err(_) => return wrong(no_order(table, &order.field)),
                },
            };
            let direction = if order.is_descending { "DESC NULLS FIRST" } else { "ASC NULLS LAST" };
            orders.push(format!("{sql} {direction}"));
        }
        if !orders.is_empty() {
            let _ = write!(text, " ORDER BY {}", orders.join(", "));
        }
        // SQLite takes an offset only after a limit.
        let limit = query.limit.or(query.offset.map(|_| i64::MAX as u64));
        if let Some(limit) = limit {
            let _ = write!(text, " LIMIT {limit}");
        }
        if let Some(offset) = query.offset {
            let _ = write!(text, " OFFSET {offset}");
        }
        Ok(())
    }

    fn column(&mut self, entity: Entity, table: &Table, column: &Column) -> Read<(String, Shown)> {
        match column {
            Column::Field(field) => {
                let Ok(found) = self.field(entity, table, field) else {
                    return wrong(no_column(entity, table, field));
                };
                Ok((found.sql, Shown { name: field_name(field), kind: found.kind }))
            }
            Column::Call { function, field, template } => {
                let found = match field {
                    None => None,
                    Some(field) => match self.field(entity, table, field) {
                        Ok(found) => Some(found),
                        Err(_) => return wrong(no_column(entity, table, field)),
                    },
                };
                let (sql, kind) = self.call(*function, found, template.as_deref())?;
                Ok((sql, Shown { name: function.name().to_owned(), kind }))
            }
        }
    }

    fn call(
        &mut self,
        function: Function,
        field: Option<Resolved>,
        template: Option<&str>,
    ) -> Read<(String, Kind)> {
        let Some(found) = field else {
            return match function {
                Function::Count => Ok(("COUNT(*)".into(), Kind::Number)),
                other => wrong(format!("the function '{}' needs a field", other.name())),
            };
        };
        let number = found.fact.map(|(_, number)| number);
        let sql = number.as_ref().unwrap_or(&found.sql);
        let kind = if number.is_some() { Kind::Number } else { found.kind };
        Ok(match function {
            Function::Count => (format!("COUNT({})", found.sql), Kind::Number),
            Function::Avg => (format!("CAST(AVG({sql}) AS DOUBLE PRECISION)"), Kind::Number),
            Function::Sum => (format!("CAST(SUM({sql}) AS DOUBLE PRECISION)"), Kind::Number),
            Function::Min => (format!("MIN({sql})"), kind),
            Function::Max => (format!("MAX({sql})"), kind),
            Function::ToString => {
                let template = self.text(template.unwrap_or_default());
                match found.kind {
                    Kind::Time => (self.dialect.time_text(&found.sql, &template), Kind::Text),
                    _ => (format!("CAST({sql} AS TEXT)"), Kind::Text),
                }
            }
        })
    }

    fn field(&mut self, entity: Entity, table: &Table, field: &Field) -> Read<Resolved> {
        let find = |name: &str| table.fields.iter().find(|(known, ..)| *known == name);
        let plain = |row: &Row| {
            let (_, sql, kind, _) = *row;
            let fact = (kind == Kind::Fact).then(|| ("f.text".to_owned(), "f.number".to_owned()));
            Resolved { sql: sql.to_owned(), kind, fact }
        };
        match field {
            Field::Named(name) => {
                if let Some(row) = find(name) {
                    return Ok(plain(row));
                }
                let mut steps = steps(name);
                let root = if steps.is_empty() { Value::Null } else { steps.remove(0) };
                match (root.as_str(), find("certname"), find("parameters")) {
                    (Some("facts" | "trusted"), Some(node), _) if entity == Entity::Inventory => {
                        if root == "trusted" {
                            steps.insert(0, root);
                        }
                        Ok(self.fact(node.1, &Value::Array(steps)))
                    }
                    (Some("parameters"), _, Some(parameters)) => {
                        Ok(self.parameter(parameters.1, &steps))
                    }
                    _ => wrong(unknown(entity, table, field)),
                }
            }
            Field::Fact(name) => match find("certname") {
                Some(node) => Ok(self.fact(node.1, &Value::from(vec![name.as_str()]))),
                None => wrong(unknown(entity, table, field)),
            },
            Field::Parameter(name) => match find("parameters") {
                Some(parameters) => Ok(self.parameter(parameters.1, &[name.as_str().into()])),
                None => wrong(unknown(entity, table, field)),
            },
            Field::Active => match find("node_state") {
                Some(row) => Ok(plain(row)),
                None => wrong(unknown(entity, table, field)),
            },
        }
    }

    /// The fact of a node at a path.
    fn fact(&mut self, node: &str, path: &Value) -> Resolved {
        let path = self.text(&path.to_string());
        let of = |what: &str| {
            format!("(SELECT q.{what} FROM fact q WHERE q.node = {node} AND q.path = {path})")
        };
        Resolved { sql: of("value"), kind: Kind::Fact, fact: Some((of("text"), of("number"))) }
    }

    fn parameter(&mut self, parameters: &str, steps: &[Value]) -> Resolved {
        let mut sql = parameters.to_owned();
        for step in steps {
            sql = match step.as_u64() {
                Some(at) => format!("({sql} -> {at})"),
                None => format!("({sql} -> {})", self.text(step.as_str().unwrap_or_default())),
            };
        }
        Resolved { sql, kind: Kind::Parameters, fact: None }
    }

    fn filter(&mut self, entity: Entity, table: &Table, filter: &Filter) -> Read<String> {
        let join = |parts: Vec<String>, word: &str| format!("({})", parts.join(word));
        match filter {
            Filter::And(all) => {
                let all = all.iter().map(|one| self.filter(entity, table, one));
                Ok(join(all.collect::<Read<_>>()?, " AND "))
            }
            Filter::Or(all) => {
                let all = all.iter().map(|one| self.filter(entity, table, one));
                Ok(join(all.collect::<Read<_>>()?, " OR "))
            }
            Filter::Not(inner) => Ok(format!("(NOT {})", self.filter(entity, table, inner)?)),
            Filter::Compare { op, field, value } => {
                let found = self.field(entity, table, field)?;
                let test = self.compare(*op, field, &found, value)?;
                // A node without the fact and a resource without the parameter differ from any
                // value; a field without value is neither equal nor different.
                Ok(match field {
                    Field::Fact(_) | Field::Parameter(_) => format!("COALESCE({test}, FALSE)"),
                    _ => test,
                })
            }
            Filter::IsNull { field, is_null } => {
                let found = self.field(entity, table, field)?;
                Ok(format!("({} IS {}NULL)", found.sql, if *is_null { "" } else { "NOT " }))
            }
            Filter::In { fields, source } => self.among(entity, table, fields, source),
            Filter::Related(other, inner) => {
                let pairs = relation(entity, *other);
                let fields = pairs.iter().map(|(outer, _)| Field::Named((*outer).to_owned()));
                let columns = pairs.iter();
                let columns =
                    columns.map(|(_, inner)| Column::Field(Field::Named((*inner).to_owned())));
                let mut query = Query::all(*other);
                query.columns = columns.collect();
                query.filter = inner.as_deref().cloned();
                let source = Source::Query(Box::new(query));
                self.among(entity, table, &fields.collect::<Vec<_>>(), &source)
            }
        }
    }

    fn among(
        &mut self,
        entity: Entity,
        table: &Table,
        fields: &[Field],
        source: &Source,
    ) -> Read<String> {
        match source {
            Source::Values(values) => {
                let [field] = fields else { return wrong("'in' takes one field before a list") };
                let found = self.field(entity, table, field)?;
                let tests =
                    values.iter().map(|value| self.compare(Op::Equal, field, &found, value));
                let tests = tests.collect::<Read<Vec<String>>>()?;
                Ok(if tests.is_empty() {
                    "(1 = 0)".into()
                } else {
                    format!("({})", tests.join(" OR "))
                })
            }
            Source::Query(query) => {
                if query.columns.len() != fields.len() {
                    return wrong(
                        "Column size mismatch: 'in' compares as many fields as its query extracts",
                    );
                }
                let outer = fields.iter().map(|field| Ok(self.field(entity, table, field)?.sql));
                let outer = outer.collect::<Read<Vec<String>>>()?.join(", ");
                let (inner, _) = self.select(query, false, true)?;
                Ok(format!("(({outer}) IN ({inner}))"))
            }
        }
    }

    fn compare(&mut self, op: Op, field: &Field, found: &Resolved, value: &Value) -> Read<String> {
        let not_so = |why: &str| wrong(format!("Argument {value} of '{}' {why}", op.text()));
        let sign = op.text();
        match (found.kind, op, value) {
            (Kind::State, Op::Equal, value) => Ok(match (field, value) {
                (Field::Active, Value::Bool(true)) => ACTIVE.into(),
                (Field::Active, Value::Bool(false)) => format!("(NOT {ACTIVE})"),
                (_, Value::String(state)) if state == "active" => ACTIVE.into(),
                (_, Value::String(state)) if state == "inactive" => format!("(NOT {ACTIVE})"),
                (_, Value::String(state)) if state == "any" => "(1 = 1)".into(),
                _ => return not_so("is no state of a node"),
            }),
            (Kind::Path, Op::PathMatches, Value::Array(patterns)) => {
                let pattern = self.text(&path_pattern(patterns));
                Ok(self.dialect.matches(&found.sql, &pattern))
            }
            (_, Op::PathMatches, _) => not_so("is no list of patterns for a path"),
            (Kind::Tags, Op::Equal, Value::String(tag)) => {
                let part = self.text(&Value::from(tag.to_lowercase()).to_string());
                Ok(self.dialect.contains(&found.sql, &part))
            }
            (Kind::Path | Kind::Json, Op::Equal, value) => {
                Ok(format!("({} = {})", found.sql, self.text(&value.to_string())))
            }
            (Kind::Parameters, Op::Equal, value) => {
                let text = self.cell(value.to_string());
                Ok(format!("({} = CAST({text} AS {}))", found.sql, self.dialect.json()))
            }
            (
                Kind::Text | Kind::Path | Kind::Json | Kind::Parameters | Kind::Tags,
                Op::Matches,
                Value::String(pattern),
            ) => self.matches(&format!("CAST({} AS TEXT)", found.sql), pattern),
            (Kind::Fact, op, value) => self.compare_fact(op, found, value),
            (Kind::Time, Op::Matches, _) => not_so("needs a field of text"),
            (Kind::Time, _, Value::String(text)) => match times::parse(text) {
                Some(time) => Ok(format!("({} {sign} {})", found.sql, self.cell(time))),
                None => wrong(format!("'{text}' is not a valid timestamp value")),
            },
            (Kind::Flag, Op::Equal, value) => {
                let is_true = match value {
                    Value::Bool(is_true) => *is_true,
                    Value::String(text) if text == "true" => true,
                    Value::String(text) if text == "false" => false,
                    _ => return not_so("is neither true nor false"),
                };
                Ok(format!("({} = {})", found.sql, i64::from(is_true)))
            }
            (Kind::Number, _, Value::Number(number)) if op != Op::Matches => {
                let number = self.cell(number.as_f64().unwrap_or(f64::NAN));
                Ok(format!("({} {sign} CAST({number} AS DOUBLE PRECISION))", found.sql))
            }
            (
                Kind::Text,
                Op::Equal | Op::Greater | Op::Less | Op::AtLeast | Op::AtMost,
                Value::String(text),
            ) => Ok(format!("({} {sign} {})", found.sql, self.text(text))),
            (Kind::Text, Op::Equal, other) => {
                Ok(format!("({} = {})", found.sql, self.text(&other.to_string())))
            }
            _ => not_so(&format!("does not fit '{}'", field_name(field))),
        }
    }

    fn matches(&mut self, sql: &str, pattern: &str) -> Read<String> {
        if let Err(error) = regex::Regex::new(pattern) {
            return wrong(format!("ERROR: invalid regular expression: {error}"));
        }
        let pattern = self.text(pattern);
        Ok(self.dialect.matches(sql, &pattern))
    }

    fn compare_fact(&mut self, op: Op, found: &Resolved, value: &Value) -> Read<String> {
        let (text, number) = found.fact.clone().unwrap_or_default();
        match (op, value) {
            (Op::Matches, Value::String(pattern)) => self.matches(&text, pattern),
            // The text finds the rows by an index; a number of that text is none of them.
            (Op::Equal, Value::String(wanted)) => {
                let json = self.text(&value.to_string());
                Ok(format!("({text} = {} AND {} = {json})", self.text(wanted), found.sql))
            }
            (
                Op::Equal | Op::Greater | Op::Less | Op::AtLeast | Op::AtMost,
                Value::Number(wanted),
            ) => {
                let wanted = self.cell(wanted.as_f64().unwrap_or(f64::NAN));
                Ok(format!("({number} {} CAST({wanted} AS DOUBLE PRECISION))", op.text()))
            }
            (Op::Equal, other) => {
                Ok(format!("({} = {})", found.sql, self.text(&other.to_string())))
            }
            _ => wrong(format!(
                "Argument \"{value}\" and operator \"{}\" have incompatible types.",
                op.text()
            )),
        }
    }
}

/// The steps of a dotted name: `facts.a."b.c".d[0]`.
fn steps(name: &str) -> Vec<Value> {
    let mut steps = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let end;
        if let Some(inner) = rest.strip_prefix('"') {
            end = inner.find('"').map_or(rest.len(), |at| at + 2);
            steps.push(rest[1..].get(..end.saturating_sub(2)).unwrap_or_default().into());
        } else if let Some(inner) = rest.strip_prefix('[') {
            end = inner.find(']').map_or(rest.len(), |at| at + 2);
            let inner = inner.get(..end.saturating_sub(2)).unwrap_or_default();
            steps.push(inner.parse::<u64>().map_or_else(|_| inner.into(), Value::from));
        } else {
            end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(rest[..end].into());
        }
        rest = rest.get(end..).unwrap_or_default();
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    steps
}

/// One pattern for a path in JSON, of one pattern for each of its steps. What stands for any
/// sign must not lead out of its step.
fn path_pattern(patterns: &[Value]) -> String {
    let steps = patterns.iter().map(|pattern| match pattern {
        Value::String(pattern) => {
            let bare = pattern.strip_prefix('^').unwrap_or(pattern);
            let bare = bare.strip_suffix('$').unwrap_or(bare);
            let of =
                |any: &str| bare.replace("\\.", "\u{1}").replace('.', any).replace('\u{1}', "\\.");
            format!("(\"({})\"|({}))", of("[^\"]"), of("[0-9]"))
        }
        other => other.to_string(),
    });
    format!("^\\[{}\\]$", steps.collect::<Vec<_>>().join(","))
}

fn field_name(field: &Field) -> String {
    match field {
        Field::Named(name) => name.clone(),
        Field::Parameter(name) => format!("parameter {name}"),
        Field::Fact(name) => format!("fact {name}"),
        Field::Active => "node active".into(),
    }
}

/// The kind of record as messages name it.
fn shown_entity(entity: Entity) -> String {
    entity.name().replace('_', "-")
}

fn sorted(table: &Table) -> Vec<&'static str> {
    let mut names: Vec<&str> = table.fields.iter().map(|(name, ..)| *name).collect();
    names.sort_unstable();
    names
}

fn unknown(entity: Entity, table: &Table, field: &Field) -> String {
    format!(
        "'{}' is not a queryable object for {}. Known queryable objects are {}",
        field_name(field),
        shown_entity(entity),
        listed(sorted(table).into_iter())
    )
}

fn no_column(entity: Entity, table: &Table, field: &Field) -> String {
    format!(
        "Can't extract unknown '{}' field '{}'. Acceptable fields are {}",
        shown_entity(entity),
        field_name(field),
        listed(sorted(table).into_iter())
    )
}

fn no_order(table: &Table, field: &Field) -> String {
    format!(
        "Unrecognized column '{}' specified in :order_by; Supported columns are {}",
        field_name(field),
        listed(sorted(table).into_iter())
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn dotted_names_have_steps() {
        for (name, wanted) in [
            ("facts.os.family", json!(["facts", "os", "family"])),
            ("facts.\"a.b\".c", json!(["facts", "a.b", "c"])),
            ("facts.models[1].x", json!(["facts", "models", 1, "x"])),
            ("", json!([])),
            ("a.\"b", json!(["a", ""])),
            ("a[", json!(["a", ""])),
        ] {
            let found = Value::Array(steps(name));
            assert_eq!(found.as_array().map(Vec::len), wanted.as_array().map(Vec::len), "{name}");
            if !name.ends_with(['[', 'b']) {
                assert_eq!(found, wanted, "{name}");
            }
        }
    }

    #[test]
    fn a_step_of_a_path_is_matched_alone() {
        let pattern = |patterns: Value| {
            regex::Regex::new(&path_pattern(patterns.as_array().map_or(&[], Vec::as_slice)))
        };
        let eth = pattern(json!(["networking", ".*", "eth.*", ".*"])).expect("sound");
        assert!(eth.is_match(r#"["networking","interfaces","eth0","ip"]"#));
        assert!(!eth.is_match(r#"["networking","interfaces","eth0","a","b"]"#));
        let first = pattern(json!(["models", "\\d+"])).expect("sound");
        assert!(first.is_match(r#"["models",12]"#));
        assert!(!first.is_match(r#"["models","x"]"#));
    }
}
