//! The request for a catalog: a form in which the facts are encoded twice.

use serde_json::{Map, Value};

use super::encoding::{Pairs, percent_decoded, percent_encoded};

/// Facts of a node as it sends them.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeFacts {
    pub name: String,
    pub values: Map<String, Value>,
    pub timestamp: Option<String>,
}

impl NodeFacts {
    /// Reads the object that agents send; what is wrong with it otherwise.
    pub fn from_json(text: &[u8]) -> Result<NodeFacts, String> {
        let data: Value = serde_json::from_slice(text).map_err(|_| {
            let shown: String = String::from_utf8_lossy(text).chars().take(40).collect();
            format!("Could not intern from json: unexpected token at '{shown}'")
        })?;
        let Value::Object(mut data) = data else {
            return Err("Could not intern from json: facts are no hash".into());
        };
        let Some(Value::Object(values)) = data.remove("values") else {
            return Err("Could not intern from json: facts have no values".into());
        };
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let name =
            text(data.get("name")).ok_or("Could not intern from json: facts name no node")?;
        Ok(NodeFacts { name, values, timestamp: text(data.get("timestamp")) })
    }
}

/// What a node sends to get its catalog.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CatalogRequest {
    pub facts: Option<NodeFacts>,
    pub configured_environment: Option<String>,
    /// The node takes an empty catalog where its environment is another one.
    pub check_environment: bool,
    pub transaction_uuid: Option<String>,
    pub job_id: Option<String>,
    pub static_catalog: bool,
    /// Kinds of digests, the best first.
    pub checksum_types: Vec<String>,
}

impl CatalogRequest {
    /// Reads the fields of a form or of a query; the words are the original's.
    pub fn from_pairs(node: &str, pairs: &Pairs) -> Result<CatalogRequest, String> {
        let given = |name: &str| {
            let value = pairs.get(name).filter(|value| !value.is_empty());
            value.map(str::to_owned)
        };
        let facts = match pairs.get("facts") {
            Some(text) => {
                match pairs.get("facts_format") {
                    None | Some("") => {
                        return Err(format!("Facts but no fact format provided for {node}"));
                    }
                    Some("application/json" | "pson" | "text/pson") => {}
                    Some(other) => return Err(format!("Unsupported facts format: {other}")),
                }
                // The form is decoded already; this is the second time. Facts that were encoded
                // once, as some tools do, are as they should be unless they hold a percent sign.
                let decoded = percent_decoded(text, false);
                let facts = match decoded {
                    Some(bytes) => NodeFacts::from_json(&bytes),
                    None => NodeFacts::from_json(text.as_bytes()),
                }?;
                if facts.name != node {
                    return Err(format!(
                        "Catalog for {node:?} was requested with fact definition for the wrong node ({:?}).",
                        facts.name
                    ));
                }
                Some(facts)
            }
            None => None,
        };
        Ok(CatalogRequest {
            facts,
            configured_environment: given("configured_environment"),
            check_environment: pairs.get("check_environment") == Some("true"),
            transaction_uuid: given("transaction_uuid"),
            job_id: given("job_uuid"),
            static_catalog: pairs.get("static_catalog") == Some("true"),
            checksum_types: given("checksum_type")
                .map(|types| types.split('.').map(str::to_owned).collect())
                .unwrap_or_default(),
        })
    }
}

/// The form that an agent sends to get its catalog. The facts are encoded twice.
pub fn catalog_form(facts: &Value, environment: &str, configured: &str, uuid: &str) -> String {
    let facts = percent_encoded(&facts.to_string());
    let fields = [
        ("facts_format", "application/json"),
        ("facts", &facts),
        ("environment", environment),
        ("configured_environment", configured),
        ("check_environment", "true"),
        ("transaction_uuid", uuid),
        ("job_uuid", ""),
        ("static_catalog", "true"),
        ("checksum_type", "sha256.sha384.sha512.sha224.md5"),
    ];
    let pair = |(name, value): (&str, &str)| format!("{name}={}", percent_encoded(value));
    fields.map(pair).join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_sends_is_what_a_server_reads() {
        let facts = serde_json::json!({"name": "n1", "values": {"a": "50% of x+y é&="}});
        let sent = read(&catalog_form(&facts, "dev", "production", "u")).unwrap();
        assert_eq!(sent.facts.unwrap().values["a"], "50% of x+y é&=");
        assert_eq!(sent.configured_environment.as_deref(), Some("production"));
        assert_eq!((sent.job_id, sent.transaction_uuid.as_deref()), (None, Some("u")));
    }

    fn read(form: &str) -> Result<CatalogRequest, String> {
        CatalogRequest::from_pairs("n1", &Pairs::parse(form).unwrap())
    }

    #[test]
    fn facts_are_decoded_twice() {
        // {"name":"n1","values":{"a":"x y+%é"}}
        let json =
            "%7B%22name%22%3A%22n1%22%2C%22values%22%3A%7B%22a%22%3A%22x%20y%2B%25%C3%A9%22%7D%7D";
        let twice = json.replace('%', "%25");
        let form = format!(
            "facts_format=application%2Fjson&facts={twice}&environment=production&check_environment=true&job_uuid=&static_catalog=true&checksum_type=sha256.md5"
        );
        let request = read(&form).unwrap();
        assert_eq!(request.facts.unwrap().values["a"], "x y+%é");
        assert!(request.check_environment && request.static_catalog);
        assert_eq!(request.job_id, None);
        assert_eq!(request.checksum_types, ["sha256", "md5"]);
    }

    #[test]
    fn facts_that_do_not_fit_are_refused() {
        let facts = "facts=%7B%22name%22%3A%22n2%22%2C%22values%22%3A%7B%7D%7D";
        for (form, wanted) in [
            (facts.to_owned(), "Facts but no fact format provided for n1"),
            (format!("{facts}&facts_format=yaml"), "Unsupported facts format"),
            (format!("{facts}&facts_format=pson"), "the wrong node (\"n2\")"),
            ("facts=xx&facts_format=pson".into(), "unexpected token at 'xx'"),
            ("facts=%5B%5D&facts_format=pson".into(), "no hash"),
        ] {
            let error = read(&form).unwrap_err();
            assert!(error.contains(wanted), "{form}: {error}");
        }
        assert_eq!(read("").unwrap().facts, None);
    }
}
