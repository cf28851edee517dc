//! Figures in the form of `/metrics/v2`, as far as dashboards of PuppetDB ask for them.

use fx_fleet::Query;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::message::{Reply, Request};

/// Names of the figures about the population.
const POPULATION: &[&str] = &["num-nodes", "num-resources", "avg-resources-per-node"];
const DOMAIN: &str = "puppetlabs.puppetdb.population";

impl App {
    pub(crate) fn metrics(&self, parts: &[String], request: &Request) -> Result<Reply, Reply> {
        match parts.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["list"] => Ok(self.metric_list()),
            ["read", name] => self.metric(name),
            [] if request.head.method == "POST" => {
                let wish: Value = request.json()?;
                match (wish["type"].as_str(), wish["mbean"].as_str()) {
                    (Some("list"), _) => Ok(self.metric_list()),
                    (Some("read"), Some(name)) => self.metric(name),
                    _ => Ok(self.metric_reply(&wish, Err("this kind of request is not known"))),
                }
            }
            _ => Ok(Reply::text(404, "Not Found")),
        }
    }

    fn metric_list(&self) -> Reply {
        let all: Map<String, Value> = POPULATION
            .iter()
            .map(|name| {
                let attribute = json!({"Value": {"rw": false, "type": "java.lang.Object"}});
                (format!("name={name}"), json!({"attr": attribute}))
            })
            .collect();
        self.metric_reply(&json!({"type": "list"}), Ok(json!({DOMAIN: all})))
    }

    fn metric(&self, name: &str) -> Result<Reply, Reply> {
        let wish = json!({"mbean": name, "type": "read"});
        let figure = name
            .strip_prefix(DOMAIN)
            .and_then(|rest| rest.strip_prefix(":name="))
            .filter(|figure| POPULATION.contains(figure));
        let Some(figure) = figure else {
            return Ok(self.metric_reply(&wish, Err("there is no figure of this name")));
        };
        let failed = |error: &dyn std::fmt::Display| Reply::text(500, error.to_string());
        let count = |what: &str| -> Result<u64, Reply> {
            let query = Query::parse(&format!("{what}[count()] {{ }}"), None);
            let query = query.map_err(|error| failed(&error))?;
            let found = self.parts.fleet.query(&query, false).map_err(|error| failed(&error))?;
            Ok(found.rows.first().and_then(|row| row["count"].as_u64()).unwrap_or(0))
        };
        let value = match figure {
            "num-nodes" => json!(count("nodes")?),
            "num-resources" => json!(count("resources")?),
            _ => {
                let nodes = count("nodes")?.max(1);
                json!(count("resources")? as f64 / nodes as f64)
            }
        };
        Ok(self.metric_reply(&wish, Ok(json!({"Value": value}))))
    }

    /// Errors are in the body too: the request itself was understood.
    fn metric_reply(&self, wish: &Value, result: Result<Value, &str>) -> Reply {
        let mut reply = json!({"request": wish, "timestamp": self.seconds()});
        match result {
            Ok(value) => {
                reply["value"] = value;
                reply["status"] = 200.into();
            }
            Err(why) => {
                reply["error"] = why.into();
                reply["status"] = 404.into();
            }
        }
        Reply::json(200, &reply)
    }
}
