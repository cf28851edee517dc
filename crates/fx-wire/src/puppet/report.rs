//! What a server must know of a report to keep it.

use serde_json::Value;

/// The head of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportHead {
    pub host: String,
    pub status: String,
    pub environment: String,
    pub is_noop: bool,
    /// As the agent writes it.
    pub time: String,
}

impl ReportHead {
    /// Reads it; `None` where this is no report.
    pub fn read(report: &Value) -> Option<ReportHead> {
        let text = |name: &str| report.get(name).and_then(Value::as_str).map(str::to_owned);
        // Without these it would be an object of any kind.
        report.get("logs")?.as_array()?;
        report.get("metrics")?.as_object()?;
        Some(ReportHead {
            host: text("host")?,
            status: text("status").unwrap_or_else(|| "failed".into()),
            environment: text("environment").unwrap_or_default(),
            is_noop: report.get("noop").and_then(Value::as_bool).unwrap_or(false),
            time: text("time")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_report_is_known_by_its_parts() {
        let report = json!({"host": "n1", "time": "t", "status": "changed", "noop": true,
            "environment": "production", "logs": [], "metrics": {}});
        let head = ReportHead::read(&report).unwrap();
        assert_eq!(
            (head.host.as_str(), head.status.as_str(), head.is_noop),
            ("n1", "changed", true)
        );
        for other in [json!({}), json!([]), json!({"host": "n1", "time": "t"}), json!(null)] {
            assert_eq!(ReportHead::read(&other), None);
        }
    }
}
