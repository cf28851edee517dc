//! Reports and facts that nodes send.

use fx_wire::puppet::{Environment, Format, NodeFacts, ReportHead};
use serde_json::{Value, json};

use super::{Answer, environment, node};
use crate::app::App;
use crate::message::{Issue, Reply, Request};
use crate::puppetdb::{report_payload, report_record};

impl App {
    pub(crate) fn save_report(&self, name: &str, request: &Request) -> Answer {
        node(name)?;
        let environment = self.stored_under(request)?;
        let format = reply_format(request)?;
        let mut report = request.json()?;
        let Some(head) = ReportHead::read(&report) else {
            let text = "The request body is invalid: it is not a report";
            return Err(Reply::issue(Issue::BadRequest, text));
        };
        if head.host != name {
            return Err(Reply::issue(Issue::Failed, &mismatch(&head.host, name)));
        }
        if head.environment.is_empty() {
            report["environment"] = environment.as_str().into();
        }
        let now = (self.parts.clock)();
        let payload = report_payload(&report, now, &self.parts.name);
        let record = report_record(&payload, now).map_err(|text| {
            Reply::issue(Issue::BadRequest, &format!("The request body is invalid: {text}"))
        })?;
        self.parts.fleet.save_report(&record).map_err(|error| self.store_failed(&error))?;
        // A processor that fails is logged; the agent has done its part.
        if self.parts.reports.iter().any(|processor| processor == "puppetdb") {
            let _ = self.hand_on("store_report", 8, name, &payload);
        }
        // Agents take anything but a list for a failure.
        Ok(Reply::data(format, json!(self.parts.reports).to_string().into_bytes()))
    }

    pub(crate) fn save_facts(&self, name: &str, request: &Request) -> Answer {
        let node = node(name)?;
        let environment = self.stored_under(request)?;
        let format = reply_format(request)?;
        request.json()?;
        let facts = NodeFacts::from_json(&request.body)
            .map_err(|text| Reply::issue(Issue::BadRequest, &text))?;
        if facts.name != name {
            return Err(Reply::issue(Issue::Failed, &mismatch(&facts.name, name)));
        }
        let extensions = request.head.caller.identity().map(|one| one.extensions.as_slice());
        self.keep_facts(&node, &environment, &facts.values, extensions.unwrap_or_default())?;
        Ok(Reply::data(format, Value::from(0).to_string().into_bytes()))
    }

    fn stored_under(&self, request: &Request) -> Result<Environment, Reply> {
        let environment = environment(request)?;
        if !self.parts.code.has_environment(&environment) {
            let text = format!("Could not find environment '{environment}'");
            return Err(Reply::issue(Issue::NoEnvironment, &text));
        }
        Ok(environment)
    }
}

/// What is saved is answered in JSON to who does not say what he takes.
fn reply_format(request: &Request) -> Result<Format, Reply> {
    match request.head.field("accept") {
        None => Ok(Format::Json),
        Some(_) => request.format(&[Format::Json, Format::Pson]),
    }
}

fn mismatch(found: &str, wanted: &str) -> String {
    format!("Instance name {found:?} does not match requested key {wanted:?}")
}
