//! Queries: parameters, pages, and the form of the answer.

use fx_fleet::{
    Column, Counting, Entity, Field, Filter, Order, Query, QueryError, Summary, Unanswered,
};
use serde_json::{Map, Value, json};

use super::paths::{self, Target, equal, target};
use crate::app::App;
use crate::message::{Reply, Request};

type Answer = Result<Reply, Reply>;

/// Parameters that all queries take.
const ALL: &[&str] =
    &["query", "limit", "offset", "order_by", "include_total", "pretty", "explain", "ast_only"];
/// What is counted of events, besides.
const COUNTS: &[&str] = &[
    "summarize_by",
    "count_by",
    "counts_filter",
    "distinct_resources",
    "distinct_start_time",
    "distinct_end_time",
];

fn bad(text: impl std::fmt::Display) -> Reply {
    Reply::text(400, text.to_string())
}

/// The parameters of a request, from its address or its body.
struct Parameters(Map<String, Value>);

impl Parameters {
    fn read(request: &Request, with_counts: bool) -> Result<Parameters, Reply> {
        let mut all = Map::new();
        for name in request.head.query.names() {
            if let Some(value) = request.head.query.get(name) {
                all.insert(name.to_owned(), value.into());
            }
        }
        if request.head.method == "POST" && !request.body.is_empty() {
            match serde_json::from_slice(&request.body) {
                Ok(Value::Object(given)) => all.extend(given),
                _ => return Err(bad("the body is no object of JSON")),
            }
        }
        let is_known = |name: &&str| ALL.contains(name) || (with_counts && COUNTS.contains(name));
        match all.keys().map(String::as_str).find(|name| !is_known(name)) {
            Some(name) => Err(bad(format!("Unsupported query parameter '{name}'"))),
            None => Ok(Parameters(all)),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(Value::Bool(true))) || self.text(name) == Some("true")
    }

    /// The query itself: text of either language, or JSON.
    fn query(&self, entity: Option<Entity>) -> Result<Query, Reply> {
        let read = match (self.0.get("query"), entity) {
            (Some(Value::String(text)), _) if !text.trim().is_empty() => Query::parse(text, entity),
            (None | Some(Value::Null | Value::String(_)), Some(entity)) => Ok(Query::all(entity)),
            (None | Some(Value::Null | Value::String(_)), None) => {
                Err(QueryError("Missing required query parameter 'query'".into()))
            }
            (Some(tree), entity) => Query::read(tree, entity),
        };
        read.map_err(bad)
    }

    fn number(&self, name: &str, what: &str, lowest: u64) -> Result<Option<u64>, Reply> {
        let Some(given) = self.0.get(name) else { return Ok(None) };
        let shown = given.as_str().map_or_else(|| given.to_string(), str::to_owned);
        match shown.parse::<u64>() {
            Ok(number) if number >= lowest && i64::try_from(number).is_ok() => Ok(Some(number)),
            _ => Err(bad(format!("Illegal value '{shown}' for :{name}; expected a {what}."))),
        }
    }

    fn order(&self) -> Result<Vec<Order>, Reply> {
        let illegal = |text: &str| {
            bad(format!("Illegal value '{text}' for :order_by; expected a JSON array of maps."))
        };
        let given = match self.0.get("order_by") {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) => serde_json::from_str(text).map_err(|_| illegal(text))?,
            Some(other) => other.clone(),
        };
        let Value::Array(all) = &given else { return Err(illegal(&given.to_string())) };
        all.iter()
            .map(|one| {
                let Some(field) = one["field"].as_str() else {
                    return Err(bad(format!(
                        "Illegal value '{one}' in :order_by; missing required key 'field'."
                    )));
                };
                let direction = one.get("order").map_or(Some("asc"), Value::as_str);
                let direction = direction.unwrap_or_default();
                let is_descending = match direction.to_lowercase().as_str() {
                    "asc" => false,
                    "desc" => true,
                    _ => {
                        return Err(bad(format!(
                            "Illegal value '{{:field {field:?}, :order {direction:?}}}' in :order_by; 'order' must be either 'asc' or 'desc'"
                        )));
                    }
                };
                Ok(Order { field: Field::Named(field.to_owned()), is_descending })
            })
            .collect()
    }

    /// The pages of the parameters count where the query has none.
    fn page(&self, query: &mut Query) -> Result<(), Reply> {
        query.limit = self.number("limit", "positive non-zero integer", 1)?.or(query.limit);
        query.offset = self.number("offset", "non-negative integer", 0)?.or(query.offset);
        let order = self.order()?;
        if !order.is_empty() {
            query.order_by = order;
        }
        Ok(())
    }

    fn reply(&self, value: &Value) -> Reply {
        let reply = Reply::json(200, value);
        if self.flag("pretty") {
            return Reply {
                body: serde_json::to_vec_pretty(value).unwrap_or_default().into(),
                ..reply
            };
        }
        reply
    }
}

/// The version whose queries these are.
pub(crate) fn puppetdb_version() -> Reply {
    Reply::json(200, &json!({"version": "7.12.1"}))
}

impl App {
    pub(crate) fn puppetdb_query(&self, parts: &[String], request: &Request) -> Answer {
        let Some(target) = target(parts) else { return Err(Reply::text(404, "Not Found")) };
        let counts = matches!(target, Target::Counts | Target::AggregateCounts);
        let parameters = Parameters::read(request, counts)?;
        match target {
            Target::Root => self.rows(&parameters, parameters.query(None)?),
            Target::Records { entity, conditions, parent } => {
                if let Some((outer, name)) = parent {
                    self.known(outer, &name)?;
                }
                let query =
                    conditions.into_iter().fold(parameters.query(Some(entity))?, Query::and);
                self.rows(&parameters, query)
            }
            Target::One { entity, name } => self.one(&parameters, entity, &name),
            Target::Part { hash, what } => {
                self.known(Entity::Reports, &hash)?;
                let mut query = Query::all(Entity::Reports).and(equal("hash", hash));
                query.columns = vec![Column::Field(Field::Named(what.to_owned()))];
                let rows = self.answered(&query, false)?.rows;
                Ok(parameters
                    .reply(&rows.first().map_or(Value::Null, |row| row[what]["data"].clone())))
            }
            Target::Counts => Ok(parameters.reply(&json!(self.counts(&parameters)?.1))),
            Target::AggregateCounts => self.aggregate(&parameters),
        }
    }

    fn answered(&self, query: &Query, with_total: bool) -> Result<fx_fleet::Page, Reply> {
        self.parts.fleet.query(query, with_total).map_err(|error| self.unanswered(&error))
    }

    fn unanswered(&self, error: &Unanswered) -> Reply {
        match error {
            Unanswered::Wrong(error) => bad(error),
            Unanswered::Store(error) => self.store_failed(error),
        }
    }

    fn known(&self, entity: Entity, name: &str) -> Result<(), Reply> {
        let known = self.parts.fleet.knows(entity, name);
        if known.map_err(|error| self.store_failed(&error))? {
            return Ok(());
        }
        let kind = entity.name().trim_end_matches('s');
        let text = format!("No information is known about {kind} {name}");
        Err(Reply::json(404, &json!({"error": text})))
    }

    fn rows(&self, parameters: &Parameters, mut query: Query) -> Answer {
        parameters.page(&mut query)?;
        let page = self.answered(&query, parameters.flag("include_total"))?;
        let rows = page.rows.into_iter();
        let rows: Vec<Value> = if query.entity == Entity::FactNames && query.columns.is_empty() {
            rows.map(|row| row["name"].clone()).collect()
        } else {
            rows.map(Value::Object).collect()
        };
        let reply = parameters.reply(&Value::Array(rows));
        Ok(match page.total {
            Some(total) => reply.with("x-records", total.to_string()),
            None => reply,
        })
    }

    fn one(&self, parameters: &Parameters, entity: Entity, name: &str) -> Answer {
        self.known(entity, name)?;
        let mut query = Query::all(entity).and(equal(paths::key(entity), name));
        if paths::key(entity) == "certname" {
            // Also one that is gone.
            query = query.and(equal("node_state", "any"));
        }
        let row = self.answered(&query, false)?.rows.into_iter().next();
        Ok(parameters.reply(&row.map_or(Value::Null, Value::Object)))
    }

    fn counts(&self, parameters: &Parameters) -> Result<(Summary, Vec<Map<String, Value>>), Reply> {
        let Some(by) = parameters.text("summarize_by") else {
            return Err(bad("Missing required query parameter 'summarize_by'"));
        };
        let by = Summary::named(by)
            .ok_or_else(|| bad(format!("Unsupported value for 'summarize_by': '{by}'")))?;
        let once_for_node = match parameters.text("count_by") {
            None | Some("resource") => false,
            Some("certname") => true,
            Some(other) => return Err(bad(format!("Unsupported value for 'count_by': '{other}'"))),
        };
        let only: Option<Filter> = match parameters.text("counts_filter") {
            Some(text) => Query::parse(text, Some(Entity::Events)).map_err(bad)?.filter,
            None => None,
        };
        let filter = parameters.query(Some(Entity::Events))?.filter;
        let counting = Counting { by, once_for_node, only };
        let counted = self.parts.fleet.count_events(filter, &counting);
        Ok((by, counted.map_err(|error| self.unanswered(&error))?))
    }

    /// How many subjects have events of each kind.
    fn aggregate(&self, parameters: &Parameters) -> Answer {
        let (by, rows) = self.counts(parameters)?;
        let having = |name: &str| rows.iter().filter(|row| row[name].as_u64() > Some(0)).count();
        Ok(parameters.reply(&json!([{
            "summarize_by": by.name(),
            "successes": having("successes"),
            "failures": having("failures"),
            "noops": having("noops"),
            "skips": having("skips"),
            "total": rows.len(),
        }])))
    }

    pub(crate) fn puppetdb_time(&self) -> Reply {
        let now = i64::try_from((self.parts.clock)()).unwrap_or(i64::MAX);
        Reply::json(200, &json!({"server_time": fx_fleet::shown_time(now)}))
    }
}
