//! The tree of a query, and how it is read from JSON.

use serde_json::Value;

use super::{Read, wrong};

/// What is queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    Nodes,
    Facts,
    FactNames,
    FactPaths,
    FactContents,
    Factsets,
    Inventory,
    Catalogs,
    Edges,
    Resources,
    Reports,
    Events,
    Environments,
    Producers,
    Packages,
    PackageInventory,
}

impl Entity {
    /// All, by the names that queries have.
    pub const ALL: &[(&'static str, Entity)] = &[
        ("nodes", Entity::Nodes),
        ("facts", Entity::Facts),
        ("fact_names", Entity::FactNames),
        ("fact_paths", Entity::FactPaths),
        ("fact_contents", Entity::FactContents),
        ("factsets", Entity::Factsets),
        ("inventory", Entity::Inventory),
        ("catalogs", Entity::Catalogs),
        ("edges", Entity::Edges),
        ("resources", Entity::Resources),
        ("reports", Entity::Reports),
        ("events", Entity::Events),
        ("environments", Entity::Environments),
        ("producers", Entity::Producers),
        ("packages", Entity::Packages),
        ("package_inventory", Entity::PackageInventory),
    ];

    pub fn named(name: &str) -> Option<Entity> {
        let name = name.replace('-', "_");
        Entity::ALL.iter().find(|(known, _)| *known == name).map(|(_, entity)| *entity)
    }

    pub fn name(self) -> &'static str {
        Entity::ALL.iter().find(|(_, entity)| *entity == self).map_or("", |(name, _)| name)
    }
}

/// A property of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// `certname`, `facts.os.family`.
    Named(String),
    /// A parameter of a resource.
    Parameter(String),
    /// A fact of a node.
    Fact(String),
    /// Whether a node is active.
    Active,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Equal,
    Greater,
    Less,
    AtLeast,
    AtMost,
    Matches,
    /// Each step of a path by a pattern of its own.
    PathMatches,
}

impl Op {
    pub(crate) const ALL: &[(&'static str, Op)] = &[
        ("=", Op::Equal),
        (">=", Op::AtLeast),
        ("<=", Op::AtMost),
        (">", Op::Greater),
        ("<", Op::Less),
        ("~>", Op::PathMatches),
        ("~", Op::Matches),
    ];

    pub(crate) fn text(self) -> &'static str {
        Op::ALL.iter().find(|(_, op)| *op == self).map_or("", |(text, _)| text)
    }
}

/// What a value must be among.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    Query(Box<Query>),
    Values(Vec<Value>),
}

/// Which records are meant.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    Compare {
        op: Op,
        field: Field,
        value: Value,
    },
    IsNull {
        field: Field,
        is_null: bool,
    },
    In {
        fields: Vec<Field>,
        source: Source,
    },
    /// Records of another kind that belong to it.
    Related(Entity, Option<Box<Filter>>),
}

/// What is computed of several records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Count,
    Avg,
    Sum,
    Min,
    Max,
    ToString,
}

impl Function {
    const ALL: &[(&'static str, Function)] = &[
        ("count", Function::Count),
        ("avg", Function::Avg),
        ("sum", Function::Sum),
        ("min", Function::Min),
        ("max", Function::Max),
        ("to_string", Function::ToString),
    ];

    pub(crate) fn named(name: &str) -> Option<Function> {
        Function::ALL.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    pub(crate) fn name(self) -> &'static str {
        Function::ALL.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }
}

/// What is shown of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    Field(Field),
    /// The template is that of `to_string`.
    Call {
        function: Function,
        field: Option<Field>,
        template: Option<String>,
    },
}

/// An order of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub field: Field,
    pub is_descending: bool,
}

/// A query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub entity: Entity,
    /// Everything, where nothing is named.
    pub columns: Vec<Column>,
    pub filter: Option<Filter>,
    pub group_by: Vec<Column>,
    pub order_by: Vec<Order>,
    pub limit: Option<u64>,
    pub offset: Option<u64>,
}

/// A query nested deeper is refused.
const DEEPEST: usize = 64;

impl Query {
    /// All records of a kind.
    pub fn all(entity: Entity) -> Query {
        Query {
            entity,
            columns: Vec::new(),
            filter: None,
            group_by: Vec::new(),
            order_by: Vec::new(),
            limit: None,
            offset: None,
        }
    }

    /// The same with a further condition.
    pub fn and(mut self, filter: Filter) -> Query {
        self.filter = Some(match self.filter.take() {
            Some(known) => Filter::And(vec![known, filter]),
            None => filter,
        });
        self
    }

    /// A query as text, in either language; what it is about where it does not say so itself.
    pub fn parse(text: &str, entity: Option<Entity>) -> Read<Query> {
        match (text.trim_start().starts_with('['), entity) {
            (false, None) => Ok(super::pql::parse(text)?.only_active()),
            _ => {
                let tree = serde_json::from_str(text)
                    .or_else(|error| wrong(format!("Json parse error at {error}")))?;
                Query::read(&tree, entity)
            }
        }
    }

    /// Reads the form with brackets.
    pub fn read(tree: &Value, entity: Option<Entity>) -> Read<Query> {
        let query = read_query(tree, entity, 0)?;
        Ok(if entity.is_none() { query.only_active() } else { query })
    }

    /// A query that says itself what it is about leaves out all that is of nodes that are gone,
    /// unless it is about their state.
    fn only_active(self) -> Query {
        use Entity::{Catalogs, Events, Reports};
        let says_so = self.filter.as_ref().is_some_and(Filter::is_about_state);
        if says_so || !matches!(self.entity, Catalogs | Events | Reports) {
            return self;
        }
        let field = Field::Named("node_state".into());
        self.and(Filter::Compare { op: Op::Equal, field, value: "active".into() })
    }
}

impl Filter {
    /// Whether it has a condition about the state of nodes.
    pub(crate) fn is_about_state(&self) -> bool {
        let is_state = |field: &Field| match field {
            Field::Active => true,
            Field::Named(name) => name == "node_state",
            _ => false,
        };
        match self {
            Filter::And(all) | Filter::Or(all) => all.iter().any(Filter::is_about_state),
            Filter::Not(inner) => inner.is_about_state(),
            Filter::Compare { field, .. } | Filter::IsNull { field, .. } => is_state(field),
            Filter::In { fields, .. } => fields.iter().any(is_state),
            Filter::Related(..) => false,
        }
    }
}

fn operator(tree: &Value) -> Option<(&str, &[Value])> {
    match tree.as_array()?.as_slice() {
        [Value::String(operator), rest @ ..] => Some((operator, rest)),
        _ => None,
    }
}

fn not_formed<T>(tree: &Value) -> Read<T> {
    wrong(format!("'{tree}' is not well-formed: queries must contain at least one operator"))
}

fn read_query(tree: &Value, entity: Option<Entity>, depth: usize) -> Read<Query> {
    if depth > DEEPEST {
        return wrong("the query is nested too deeply");
    }
    if let Some(("from", rest)) = operator(tree) {
        return read_from(rest, depth);
    }
    let Some(entity) = entity else {
        return wrong(
            "Your initial query must be of the form: [\"from\",<entity>,(<optional query>)]. Check your query and try again.",
        );
    };
    let mut query = Query::all(entity);
    match operator(tree) {
        Some(("extract", [columns, rest @ ..])) => {
            query.columns = read_columns(columns)?;
            for part in rest {
                match operator(part) {
                    Some(("group_by", groups)) => {
                        query.group_by = groups.iter().map(read_column).collect::<Read<_>>()?;
                    }
                    _ if part.is_null() => {}
                    _ if query.filter.is_some() => return not_formed(tree),
                    _ => query.filter = Some(read_filter(part, depth + 1)?),
                }
            }
        }
        Some(_) => query.filter = Some(read_filter(tree, depth + 1)?),
        None if tree.as_array().is_some_and(Vec::is_empty) => {}
        None => return not_formed(tree),
    }
    Ok(query)
}

/// `["from", ENTITY, QUERY, ["order_by", …], ["limit", N], ["offset", N]]`.
fn read_from(rest: &[Value], depth: usize) -> Read<Query> {
    let [Value::String(name), parts @ ..] = rest else {
        return wrong(
            "Your initial query must be of the form: [\"from\",<entity>,(<optional query>)]. Check your query and try again.",
        );
    };
    let Some(entity) = Entity::named(name) else {
        return wrong(format!("Invalid entity '{name}' in query"));
    };
    let mut query = Query::all(entity);
    let number = |value: Option<&Value>, what: &str| match value.and_then(Value::as_u64) {
        Some(number) => Ok(number),
        None => wrong(format!("Illegal value '{}' for :{what}", value.unwrap_or(&Value::Null))),
    };
    for part in parts {
        match operator(part) {
            Some(("limit", given)) => query.limit = Some(number(given.first(), "limit")?),
            Some(("offset", given)) => query.offset = Some(number(given.first(), "offset")?),
            Some(("order_by", [Value::Array(orders)])) => {
                query.order_by = orders.iter().map(read_order).collect::<Read<_>>()?;
            }
            _ => {
                let read = read_query(part, Some(entity), depth + 1)?;
                query = Query {
                    order_by: query.order_by,
                    limit: query.limit,
                    offset: query.offset,
                    ..read
                };
            }
        }
    }
    Ok(query)
}

fn read_order(order: &Value) -> Read<Order> {
    let (field, direction) = match order {
        Value::Array(parts) => (parts.first(), parts.get(1).and_then(Value::as_str)),
        other => (Some(other), None),
    };
    let field = read_field(field.unwrap_or(&Value::Null))?;
    Ok(Order { field, is_descending: direction == Some("desc") })
}

fn read_columns(columns: &Value) -> Read<Vec<Column>> {
    match columns {
        Value::Array(all) => all.iter().map(read_column).collect(),
        one => Ok(vec![read_column(one)?]),
    }
}

fn read_column(column: &Value) -> Read<Column> {
    let Some(("function", [Value::String(name), rest @ ..])) = operator(column) else {
        return Ok(Column::Field(read_field(column)?));
    };
    let Some(function) = Function::named(name) else {
        return wrong(format!("Unsupported function '{name}'"));
    };
    let field = rest.first().map(read_field).transpose()?;
    let template = rest.get(1).and_then(Value::as_str).map(str::to_owned);
    Ok(Column::Call { function, field, template })
}

fn read_field(field: &Value) -> Read<Field> {
    match field {
        Value::String(name) => Ok(Field::Named(name.clone())),
        Value::Array(parts) => match parts.as_slice() {
            [Value::String(kind), Value::String(name)] => match (kind.as_str(), name.as_str()) {
                ("parameter", name) => Ok(Field::Parameter(name.to_owned())),
                ("fact", name) => Ok(Field::Fact(name.to_owned())),
                ("node", "active") => Ok(Field::Active),
                _ => wrong(format!("{field} is not a queryable object")),
            },
            _ => wrong(format!("{field} is not a queryable object")),
        },
        _ => wrong(format!("{field} is not a queryable object")),
    }
}

fn read_fields(fields: &Value) -> Read<Vec<Field>> {
    match fields {
        // A pair may be one field, as `["parameter", NAME]` is.
        Value::Array(_) if read_field(fields).is_ok() => Ok(vec![read_field(fields)?]),
        Value::Array(all) => all.iter().map(read_field).collect(),
        one => Ok(vec![read_field(one)?]),
    }
}

fn read_filter(tree: &Value, depth: usize) -> Read<Filter> {
    if depth > DEEPEST {
        return wrong("the query is nested too deeply");
    }
    let Some((name, rest)) = operator(tree) else { return not_formed(tree) };
    let all = |rest: &[Value]| -> Read<Vec<Filter>> {
        match rest {
            [] => wrong(format!("{name} requires at least one term")),
            rest => rest.iter().map(|one| read_filter(one, depth + 1)).collect(),
        }
    };
    if let Some((_, op)) = Op::ALL.iter().find(|(known, _)| *known == name) {
        let [field, value] = rest else {
            return wrong(format!("{name} requires exactly two arguments"));
        };
        return Ok(Filter::Compare { op: *op, field: read_field(field)?, value: value.clone() });
    }
    match (name, rest) {
        ("and", rest) => Ok(Filter::And(all(rest)?)),
        ("or", rest) => Ok(Filter::Or(all(rest)?)),
        ("not", [one]) => Ok(Filter::Not(Box::new(read_filter(one, depth + 1)?))),
        ("not", rest) => {
            wrong(format!("'not' takes exactly one argument, but {} were supplied", rest.len()))
        }
        ("null?", [field, Value::Bool(is_null)]) => {
            Ok(Filter::IsNull { field: read_field(field)?, is_null: *is_null })
        }
        ("in", [fields, source]) => {
            let fields = read_fields(fields)?;
            Ok(Filter::In { fields, source: read_source(source, depth + 1)? })
        }
        ("subquery", [Value::String(name), rest @ ..]) => {
            let Some(entity) = Entity::named(name) else {
                return wrong(format!("Invalid entity '{name}' in query"));
            };
            let inner = rest.first().filter(|inner| !inner.is_null());
            let inner = inner.map(|inner| read_filter(inner, depth + 1)).transpose()?;
            Ok(Filter::Related(entity, inner.map(Box::new)))
        }
        _ => wrong(format!("'{tree}' is not well-formed: '{name}' is no operator of queries")),
    }
}

fn read_source(source: &Value, depth: usize) -> Read<Source> {
    match operator(source) {
        Some(("array", [Value::Array(values)])) => Ok(Source::Values(values.clone())),
        Some(("from", _)) => Ok(Source::Query(Box::new(read_query(source, None, depth)?))),
        // The old form has the columns outside: ["extract", COLUMNS, ["select_facts", FILTER]].
        Some(("extract", [columns, inner])) => {
            let (name, rest) = operator(inner).unwrap_or_default();
            let entity = name.strip_prefix("select_").and_then(Entity::named);
            let Some(entity) = entity else {
                return wrong(format!("'{source}' is not a query that 'in' takes"));
            };
            let mut query = Query::all(entity);
            query.columns = read_columns(columns)?;
            if let Some(inner) = rest.first().filter(|inner| !inner.is_null()) {
                query.filter = Some(read_filter(inner, depth + 1)?);
            }
            Ok(Source::Query(Box::new(query)))
        }
        _ => wrong(format!("'{source}' is not a query that 'in' takes")),
    }
}
