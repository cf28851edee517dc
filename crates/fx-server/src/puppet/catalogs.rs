//! Catalogs and what is known of a node before them.

use fx_wire::puppet::{CatalogRequest, CertName, Environment, Format, Pairs};
use serde_json::{Map, Value, json};

use super::{Answer, environment, node};
use crate::app::{App, busy, refusal};
use crate::code::{CatalogMade, CatalogWish, Refusal};
use crate::message::{Issue, Reply, Request};
use crate::puppetdb::{
    Circumstances, catalog_payload, catalog_record, facts_payload, facts_record,
};

const FORMATS: &[Format] = &[Format::RichJson, Format::Json, Format::Pson];

impl App {
    pub(crate) fn catalog(&self, name: &str, request: &Request) -> Answer {
        let node = node(name)?;
        let is_form = |kind: &str| kind.starts_with("application/x-www-form-urlencoded");
        let form = match request.head.field("content-type") {
            Some(kind) if request.head.method == "POST" && is_form(kind) => {
                let text = std::str::from_utf8(&request.body).ok().and_then(Pairs::parse);
                text.ok_or_else(|| {
                    Reply::issue(Issue::BadRequest, "the form of the request is not well formed")
                })?
            }
            _ => request.head.query.clone(),
        };
        // The query counts first; clients that send a form alone name the environment there.
        let named = request.head.query.get("environment").or_else(|| form.get("environment"));
        let environment = match named {
            None => return Err(environment(request).err().unwrap_or_else(busy)),
            Some(name) => Environment::parse(name).ok_or_else(|| {
                let text = format!("The environment must be purely alphanumeric, not '{name}'");
                Reply::text(400, text)
            })?,
        };
        let format = request.format(FORMATS)?;
        let wanted = CatalogRequest::from_pairs(name, &form)
            .map_err(|text| Reply::issue(Issue::Failed, &text))?;
        let facts = match wanted.facts {
            Some(facts) => {
                let extensions =
                    request.head.caller.identity().map(|one| one.extensions.as_slice());
                self.keep_facts(
                    &node,
                    &environment,
                    &facts.values,
                    extensions.unwrap_or_default(),
                )?;
                facts.values
            }
            None => self.stored_facts(name)?.unwrap_or_default(),
        };
        let identity = request.head.caller.identity();
        let wish = CatalogWish {
            node: node.clone(),
            environment,
            facts,
            extensions: identity.map(|one| one.extensions.clone()).unwrap_or_default(),
            is_authenticated: identity.is_some_and(|one| one.name == name),
            transaction_uuid: wanted.transaction_uuid,
            static_catalog: wanted.static_catalog,
            checksum_types: wanted.checksum_types,
            prefers_requested: false,
        };
        let made = self.compile(&wish)?;
        self.keep_catalog(&made, wish.transaction_uuid.as_deref())?;
        let text = match format {
            Format::RichJson => made.text,
            _ => plain(&made.text)?,
        };
        Ok(Reply::data(format, text.into_bytes()))
    }

    fn compile(&self, wish: &CatalogWish) -> Result<CatalogMade, Reply> {
        self.parts.code.catalog(wish).map_err(|why| {
            if let Refusal::Failed(text) = &why {
                (self.parts.log)(text);
            }
            refusal(why, wish.environment.as_str())
        })
    }

    pub(crate) fn keep_facts(
        &self,
        node: &CertName,
        environment: &Environment,
        values: &Map<String, Value>,
        extensions: &[(String, String)],
    ) -> Result<(), Reply> {
        let now = (self.parts.clock)();
        let mut values = values.clone();
        values.insert("trusted".into(), trusted(node.as_str(), extensions));
        let (environment, server) = (environment.as_str(), &self.parts.name);
        let payload = facts_payload(node.as_str(), environment, values, now, server);
        let record = facts_record(&payload, now);
        let record = record.map_err(|text| Reply::issue(Issue::Failed, &text))?;
        self.parts.fleet.save_facts(&record).map_err(|error| self.store_failed(&error))?;
        self.hand_on("replace_facts", 5, node.as_str(), &payload)
    }

    fn keep_catalog(&self, made: &CatalogMade, transaction: Option<&str>) -> Result<(), Reply> {
        let failed = |text: String| Reply::issue(Issue::Failed, &text);
        let in_store = |error: fx_fleet::Error| self.store_failed(&error);
        let now = (self.parts.clock)();
        let circumstances = Circumstances {
            transaction_uuid: transaction,
            produced: now,
            producer: &self.parts.name,
        };
        // Most catalogs are those of the last time: of them only the head is new.
        let same = self.catalogs.find(made).map_err(failed)?;
        if self.parts.puppetdb.is_none()
            && let Some(head) = same.known_head(made, &circumstances)
            && self.parts.fleet.renew_catalog(&head).map_err(in_store)?
        {
            return Ok(());
        }
        let payload = catalog_payload(made, &circumstances).map_err(failed)?;
        let record = catalog_record(&payload, now).map_err(failed)?;
        self.parts.fleet.save_catalog(&record).map_err(in_store)?;
        self.hand_on("replace_catalog", 9, &record.node, &payload)?;
        self.catalogs.keep(same, &record.hash);
        Ok(())
    }

    /// A catalog for tools: of any node, with the facts they give, kept only where they say so.
    pub(crate) fn catalog_v4(&self, request: &Request) -> Answer {
        let bad = |text: &str| Reply::text(400, format!("Invalid input: {text}"));
        let wish: Value = serde_json::from_slice(&request.body).map_err(|_| bad("not JSON"))?;
        let text = |name: &str| wish[name].as_str();
        let name = text("certname").ok_or_else(|| bad("certname is missing"))?;
        let node = CertName::parse(name).map_err(|error| bad(&error.to_string()))?;
        let environment = text("environment").and_then(Environment::parse);
        let environment = environment.ok_or_else(|| bad("environment is missing"))?;
        let keeps = |what: &str| wish["persistence"][what].as_bool();
        let (Some(keeps_facts), Some(keeps_catalog)) = (keeps("facts"), keeps("catalog")) else {
            return Err(bad("persistence needs facts and catalog"));
        };
        let facts = match wish["facts"].get("values") {
            Some(Value::Object(values)) => values.clone(),
            Some(_) => return Err(bad("facts are no hash")),
            None => self.stored_facts(name)?.unwrap_or_default(),
        };
        let trusted = wish["trusted_facts"]["values"]["extensions"].as_object();
        let extensions = trusted.into_iter().flatten();
        let extensions: Vec<(String, String)> = extensions
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect();
        if keeps_facts {
            self.keep_facts(&node, &environment, &facts, &extensions)?;
        }
        let made = self.compile(&CatalogWish {
            node: node.clone(),
            environment,
            facts,
            extensions,
            is_authenticated: true,
            transaction_uuid: text("transaction_uuid").map(str::to_owned),
            static_catalog: false,
            checksum_types: Vec::new(),
            prefers_requested: wish["options"]["prefer_requested_environment"] == true,
        })?;
        if keeps_catalog {
            self.keep_catalog(&made, text("transaction_uuid"))?;
        }
        let body = format!("{{\"catalog\":{}}}", made.text);
        Ok(Reply::new(200, Some("application/json"), body.into_bytes()))
    }

    pub(crate) fn node(&self, name: &str, request: &Request) -> Answer {
        let node = node(name)?;
        let environment = environment(request)?;
        let format = request.format(&[Format::Json, Format::Pson])?;
        let facts = self.stored_facts(name)?;
        let info = self.parts.code.node(&node, &environment, facts.as_ref());
        let info = info.map_err(|why| refusal(why, environment.as_str()))?;
        let mut body = Map::new();
        body.insert("name".into(), name.into());
        if !info.parameters.is_empty() {
            body.insert("parameters".into(), info.parameters.into());
        }
        if !is_empty(&info.classes) {
            body.insert("classes".into(), info.classes);
        }
        body.insert("environment".into(), info.environment.into());
        Ok(Reply::data(format, json!(body).to_string().into_bytes()))
    }
}

/// What a certificate says of a node, as manifests see it.
fn trusted(node: &str, extensions: &[(String, String)]) -> Value {
    let (host, domain) = match node.split_once('.') {
        Some((host, domain)) => (host, Value::from(domain)),
        None => (node, Value::Null),
    };
    let extensions = extensions.iter();
    let extensions: Map<String, Value> =
        extensions.map(|(name, text)| (name.clone(), text.as_str().into())).collect();
    json!({
        "authenticated": "remote", "certname": node, "domain": domain,
        "extensions": extensions, "external": {}, "hostname": host,
    })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(items) => items.is_empty(),
        _ => true,
    }
}

/// A catalog for clients that know no types but JSON's: what has another type is its text.
fn plain(text: &str) -> Result<String, Reply> {
    if !text.contains("\"__p") {
        return Ok(text.to_owned());
    }
    let failed = |error: serde_json::Error| Reply::issue(Issue::Failed, &error.to_string());
    let mut catalog: Value = serde_json::from_str(text).map_err(failed)?;
    let resources = catalog["resources"].as_array_mut();
    for resource in resources.into_iter().flatten() {
        for value in resource["parameters"].as_object_mut().into_iter().flat_map(Map::values_mut) {
            flatten(value);
        }
    }
    Ok(catalog.to_string())
}

pub(crate) fn flatten(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(flatten),
        Value::Object(object) => match object.get("__ptype").and_then(Value::as_str) {
            Some("Default") => *value = "default".into(),
            Some("Sensitive") => {
                let mut inner = object.remove("__pvalue").unwrap_or(Value::Null);
                flatten(&mut inner);
                *value = inner;
            }
            Some("Hash") => *value = shown(value).into(),
            Some(kind) => {
                *value = match object.get("__pvalue") {
                    Some(Value::String(text)) => text.as_str().into(),
                    _ => object_text(kind, object).into(),
                }
            }
            None => object.values_mut().for_each(flatten),
        },
        _ => {}
    }
}

/// `Deferred({'name' => 'x', 'arguments' => []})`.
fn object_text(kind: &str, object: &Map<String, Value>) -> String {
    let fields = object.iter().filter(|(name, _)| *name != "__ptype");
    let fields: Vec<String> =
        fields.map(|(name, value)| format!("'{name}' => {}", shown(value))).collect();
    format!("{kind}({{{}}})", fields.join(", "))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "undef".into(),
        Value::String(text) => format!("'{}'", text.replace('\'', "\\'")),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(object) => match object.get("__ptype").and_then(Value::as_str) {
            Some("Hash") => {
                let flat = object.get("__pvalue").and_then(Value::as_array);
                let pairs = flat.map(Vec::as_slice).unwrap_or_default().chunks(2);
                let pairs: Vec<String> = pairs
                    .map(|pair| pair.iter().map(shown).collect::<Vec<_>>().join(" => "))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
            Some(kind) => object_text(kind, object),
            None => {
                let pairs: Vec<String> = object
                    .iter()
                    .map(|(name, value)| format!("'{name}' => {}", shown(value)))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_other_types_become_text() {
        let rich = json!({"resources": [{"parameters": {
            "a": {"__ptype": "Deferred", "name": "sprintf", "arguments": ["%s", 1]},
            "b": {"__ptype": "Regexp", "__pvalue": "x"},
            "c": {"__ptype": "Sensitive", "__pvalue": "secret"},
            "d": [{"__ptype": "Default"}],
            "e": {"plain": 1},
        }}]});
        let flat: Value = serde_json::from_str(&plain(&rich.to_string()).unwrap()).unwrap();
        let parameters = &flat["resources"][0]["parameters"];
        assert_eq!(parameters["a"], "Deferred({'name' => 'sprintf', 'arguments' => ['%s', 1]})");
        assert_eq!(parameters["b"], "x");
        assert_eq!(parameters["c"], "secret");
        assert_eq!(parameters["d"], json!(["default"]));
        assert_eq!(parameters["e"], json!({"plain": 1}));
    }
}
