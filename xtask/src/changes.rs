//! `cargo xtask changes PROGRAM`: how many changes of plans are whole, with target, property,
//! from and to. Takes the same policies as `truth`, and fails below the share that we promise.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::truth;

/// Changes that must be whole, in percent.
const WHOLE: u64 = 95;

pub(crate) fn run() -> Result<()> {
    let (program, policies) = truth::asked_for("changes")?;
    let mut counted = Counted::default();
    let mut unread = 0;
    for policy in &policies {
        match truth::output(&program, &["plan", "--format", "json"], policy) {
            Ok(plan) => plan
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .for_each(|event| counted.add(&event)),
            Err(error) => {
                unread += 1;
                println!("{}: no plan: {error:#}", policy.name);
            }
        }
    }
    for (kind, number) in &counted.broken {
        println!("{number:>6} without {kind}");
    }
    println!(
        "{} policies ({unread} without a plan): {} changes, {} whole, {:.1} %",
        policies.len(),
        counted.all,
        counted.whole,
        100.0 * counted.whole as f64 / counted.all.max(1) as f64
    );
    if counted.all == 0 || counted.whole * 100 < counted.all * WHOLE {
        bail!("fewer than {WHOLE} % of the changes are whole");
    }
    Ok(())
}

#[derive(Default)]
struct Counted {
    all: u64,
    whole: u64,
    /// What is missing, by the kind of resource and property.
    broken: BTreeMap<String, u64>,
    /// Kind of the resource of each open step.
    kinds: BTreeMap<u64, String>,
}

impl Counted {
    fn add(&mut self, event: &Value) {
        let step = event["step"].as_u64().unwrap_or_default();
        match event["event"].as_str().unwrap_or_default() {
            "step_opened" => {
                let resource = event["resource"].as_str().unwrap_or_default();
                let kind = resource.split('[').next().unwrap_or_default();
                self.kinds.insert(step, kind.to_owned());
            }
            "change_made" | "change_withheld" | "change_failed" => {
                self.all += 1;
                match missing(event) {
                    None => self.whole += 1,
                    Some(part) => {
                        let kind = self.kinds.get(&step).map_or("?", String::as_str);
                        let property = &event["property"];
                        *self.broken.entry(format!("{part}: {kind} {property}")).or_default() += 1;
                    }
                }
            }
            _ => {}
        }
    }
}

/// The first part of a change that is not there.
fn missing(change: &Value) -> Option<&'static str> {
    let is_text = |value: &Value| value.as_str().map_or(!value.is_null(), |text| !text.is_empty());
    let secret = change["sensitive"] == true;
    match () {
        () if !is_text(&change["target"]["kind"]) => Some("target"),
        () if !is_text(&change["target"]["name"]) => Some("target"),
        () if !is_text(&change["property"]) => Some("property"),
        () if change["from"] == change["to"] && !secret => Some("from and to"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let whole = json!({ "target": { "kind": "file", "name": "/x" }, "property": "mode", "from": "1", "to": "2" });
        assert_eq!(missing(&whole), None);
        for (path, value, part) in [
            ("name", json!(""), "target"),
            ("kind", json!(null), "target"),
            ("property", json!(""), "property"),
            ("to", json!("1"), "from and to"),
        ] {
            let mut broken = whole.clone();
            let place =
                if matches!(path, "name" | "kind") { &mut broken["target"] } else { &mut broken };
            place[path] = value;
            assert_eq!(missing(&broken), Some(part), "{path}");
        }
        let secret = json!({ "target": { "kind": "user", "name": "a" }, "property": "password", "from": "x", "to": "x", "sensitive": true });
        assert_eq!(missing(&secret), None);
    }

    #[test]
    fn changes_are_counted_by_what_they_lack() {
        let mut counted = Counted::default();
        counted.add(&json!({ "event": "step_opened", "step": 3, "resource": "files[/x]" }));
        counted.add(&json!({ "event": "change_withheld", "step": 3, "property": "" }));
        counted.add(&json!({ "event": "note" }));
        assert_eq!((counted.all, counted.whole), (1, 0));
        assert_eq!(counted.broken, BTreeMap::from([("target: files \"\"".to_owned(), 1)]));
    }
}
