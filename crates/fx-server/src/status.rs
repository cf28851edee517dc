//! Whether the server runs, for balancers, agents and who watches it.

use serde_json::{Map, Value, json};

use crate::app::App;
use crate::message::{Reply, Request};

/// Services by the names of the original.
const SERVICES: &[&str] =
    &["ca", "jruby-metrics", "master", "puppet-profiler", "server", "status-service"];

impl App {
    pub(crate) fn status_simple(&self, parts: &[String]) -> Reply {
        match parts.first() {
            Some(name) if !self.has_service(name) => Reply::text(404, format!("not found: {name}")),
            _ => Reply::text(200, "running"),
        }
    }

    pub(crate) fn status_services(&self, parts: &[String], request: &Request) -> Reply {
        let level = request.head.query.get("level").unwrap_or("info");
        if !matches!(level, "critical" | "info" | "debug") {
            let text = format!("Invalid level: :{level}");
            return Reply::json(400, &json!({"kind": "data-invalid", "msg": text}));
        }
        let one = |_: &str| {
            json!({
                "service_version": self.parts.version,
                "service_status_version": 1,
                "detail_level": level,
                "state": "running",
                "status": {},
                "active_alerts": [],
            })
        };
        if let Some(name) = parts.first() {
            if !self.has_service(name) {
                let text = format!("No status function registered for service {name}");
                return Reply::json(404, &json!({"kind": "service-not-found", "msg": text}));
            }
            let mut status = one(name);
            status["service_name"] = name.as_str().into();
            return Reply::json(200, &status);
        }
        let there = SERVICES.iter().filter(|name| self.has_service(name));
        let all: Map<String, Value> = there.map(|name| ((*name).to_owned(), one(name))).collect();
        Reply::json(200, &Value::Object(all))
    }

    fn has_service(&self, name: &str) -> bool {
        SERVICES.contains(&name) && (name != "ca" || self.parts.signing.is_some())
    }
}
