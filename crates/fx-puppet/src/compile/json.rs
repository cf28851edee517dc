//! The catalog in Puppet's wire form, rich data included.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value as Json, json};

use super::catalog::{Catalog, Resource, kind_name};
use crate::eval::Evaluator;
use crate::types::Type;
use crate::value::Value;

impl Evaluator {
    /// The text of the finished catalog.
    pub(crate) fn catalog_text(&self, version: &Json) -> Result<String, String> {
        let whole = Whole { evaluator: self, catalog: &self.catalog.borrow(), version };
        serde_json::to_string(&whole).map_err(|error| error.to_string())
    }

    /// What is exported and not part of the catalog.
    pub(crate) fn exported(&self) -> Vec<Json> {
        let catalog = self.catalog.borrow();
        let exported = catalog.resources.iter().filter(|resource| {
            resource.form == fx_puppet_syntax::Form::Exported && !resource.is_real()
        });
        exported.map(|resource| self.resource_json(resource)).collect()
    }

    fn resource_json(&self, resource: &Resource) -> Json {
        let mut data = Map::new();
        data.insert("type".into(), Json::from(&*resource.kind));
        data.insert("title".into(), Json::from(&*resource.shown_title()));
        let tags: Vec<Json> = resource.tags.iter().map(|tag| Json::from(&**tag)).collect();
        data.insert("tags".into(), Json::from(tags));
        if resource.span.file != self.builtin {
            let at = self.sources.location(resource.span);
            if !at.file.is_empty() {
                data.insert("file".into(), Json::from(at.file.to_string()));
            }
            data.insert("line".into(), Json::from(at.line));
        }
        let native = if resource.definition.is_none() {
            self.native_kind(&resource.low).ok().flatten()
        } else {
            None
        };
        let kind = match (&*resource.low, &native) {
            ("class", _) => "class",
            (_, Some(_)) => "compilable_type",
            _ => "defined_type",
        };
        data.insert("kind".into(), Json::from(kind));
        data.insert(
            "exported".into(),
            Json::from(resource.form == fx_puppet_syntax::Form::Exported),
        );
        let mut parameters = Map::new();
        let namevar = native.as_ref().map_or("name", |native| native.namevar());
        let title = resource.shown_title();
        let put = |parameters: &mut Map<String, Json>, name: &str, value: Json| {
            let name = if name == "name" { namevar } else { name };
            if name == namevar && value.as_str() == Some(&*title) {
                parameters.remove(name);
            } else {
                parameters.insert(name.into(), value);
            }
        };
        if resource.definition.is_none()
            && &*resource.title == "main"
            && matches!(&*resource.low, "class" | "stage")
        {
            parameters.insert("name".into(), Json::from("main"));
        } else {
            let parts = native.as_ref().and_then(|native| native.parse_title(&resource.title));
            if resource.odd_title {
                parameters.insert("name".into(), Json::from(&*title));
            }
            for (name, text) in parts.unwrap_or_default() {
                put(&mut parameters, &name, Json::from(&*text));
            }
        }
        for (name, given) in &resource.attributes {
            if matches!(given.value, Value::Undef) {
                continue;
            }
            let relation = matches!(&**name, "before" | "notify" | "require" | "subscribe");
            let value = match &given.value {
                Value::Array(_) => parameter_array(&given.value, relation),
                value => to_json(value),
            };
            put(&mut parameters, name, value);
        }
        if !parameters.is_empty() {
            data.insert("parameters".into(), Json::Object(parameters));
        }
        if !resource.sensitive.is_empty() {
            let names: Vec<Json> =
                resource.sensitive.iter().map(|name| Json::from(&**name)).collect();
            data.insert("sensitive_parameters".into(), Json::from(names));
        }
        Json::Object(data)
    }
}

/// A catalog on its way to text: one resource at a time is data.
struct Whole<'a> {
    evaluator: &'a Evaluator,
    catalog: &'a Catalog,
    version: &'a Json,
}

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Whole { evaluator, catalog, version } = self;
        let settings = &evaluator.settings;
        let resources = catalog.resources.iter().filter(|resource| resource.is_real());
        let edges = catalog.edges.iter().map(|(outer, inner)| {
            let [outer, inner] = [outer, inner].map(|at| &catalog.resources[*at]);
            (outer, inner)
        });
        let edges = edges.filter(|(outer, inner)| outer.is_real() && inner.is_real());
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("tags", &Each(|| catalog.tags.iter().map(|tag| &**tag)))?;
        map.serialize_entry("name", &settings.node)?;
        map.serialize_entry("version", version)?;
        map.serialize_entry("code_id", &())?;
        map.serialize_entry("catalog_uuid", &uuid(catalog, &settings.node, version))?;
        map.serialize_entry("catalog_format", &2)?;
        map.serialize_entry("environment", &settings.environment)?;
        map.serialize_entry(
            "resources",
            &Each(|| resources.clone().map(|resource| evaluator.resource_json(resource))),
        )?;
        map.serialize_entry(
            "edges",
            &Each(|| {
                edges.clone().map(|(outer, inner)| {
                    json!({"source": outer.reference(), "target": inner.reference()})
                })
            }),
        )?;
        map.serialize_entry("classes", &Each(|| catalog.classes.iter().map(|name| &**name)))?;
        map.end()
    }
}

/// A list whose items are made as they are written.
struct Each<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((self.0)())
    }
}

/// Lists with references in them lose their inner brackets.
fn parameter_array(value: &Value, relation: bool) -> Json {
    fn flat<'v>(value: &'v Value, into: &mut Vec<&'v Value>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| flat(item, into)),
            other => into.push(other),
        }
    }
    let mut items = Vec::new();
    flat(value, &mut items);
    let has_reference = items.iter().any(|item| match item {
        Value::Type(ty) => reference_text(ty).is_some(),
        _ => false,
    });
    if !relation && !has_reference {
        return to_json(value);
    }
    let kept = items.iter().filter(|item| !relation || !matches!(item, Value::Undef));
    Json::from(kept.map(|item| to_json(item)).collect::<Vec<Json>>())
}

/// A reference to a resource as text.
pub(crate) fn reference_text(ty: &Type) -> Option<String> {
    match ty {
        Type::Resource { name: Some(name), title: Some(title) } => {
            Some(format!("{}[{title}]", kind_name(name)))
        }
        Type::Class(Some(name)) => Some(format!("Class[{}]", kind_name(name))),
        _ => None,
    }
}

/// A value as data, with marks where plain JSON has no form for it.
pub(crate) fn to_json(value: &Value) -> Json {
    let marked = |kind: &str, value: Json| json!({"__ptype": kind, "__pvalue": value});
    match value {
        Value::Undef => Json::Null,
        Value::Default => json!({"__ptype": "Default"}),
        Value::Bool(value) => Json::from(*value),
        Value::Int(value) => Json::from(*value),
        Value::Float(value) => Json::from(*value),
        Value::String(text) => Json::from(&**text),
        Value::Regex(regex) => marked("Regexp", Json::from(regex.source())),
        Value::Array(items) | Value::Iterator(items, _) => {
            Json::from(items.iter().map(to_json).collect::<Vec<Json>>())
        }
        Value::Hash(hash) => {
            if hash.keys().all(|key| matches!(key, Value::String(_)))
                && !hash.contains_key(&Value::from("__ptype"))
            {
                Json::Object(
                    hash.iter()
                        .map(|(key, value)| {
                            (key.as_str().unwrap_or_default().to_owned(), to_json(value))
                        })
                        .collect(),
                )
            } else {
                let pairs = hash.iter().flat_map(|(key, value)| [to_json(key), to_json(value)]);
                marked("Hash", Json::from(pairs.collect::<Vec<Json>>()))
            }
        }
        Value::Type(ty) => match reference_text(ty) {
            Some(text) => Json::from(text),
            None => marked("Type", Json::from(ty.to_string())),
        },
        Value::Sensitive(inner) => marked("Sensitive", to_json(inner)),
        Value::Binary(bytes) => marked("Binary", Json::from(fx_formats::base64::encode(bytes))),
        Value::Timespan(_) => marked("Timespan", Json::from(crate::eval::interpolated(value))),
        Value::Timestamp(_) => marked("Timestamp", Json::from(crate::eval::interpolated(value))),
        Value::SemVer(text) => marked("SemVer", Json::from(&**text)),
        Value::SemVerRange(text) => marked("SemVerRange", Json::from(&**text)),
        Value::Uri(text) => marked("URI", Json::from(&**text)),
        Value::Deferred(name, args) => json!({
            "__ptype": "Deferred",
            "name": &**name,
            "arguments": args.iter().map(to_json).collect::<Vec<Json>>(),
        }),
        Value::Object(ty, attributes) => {
            let mut data = Map::new();
            data.insert("__ptype".into(), Json::from(ty.to_string()));
            for (name, value) in &**attributes {
                data.insert(crate::eval::interpolated(name), to_json(value));
            }
            Json::Object(data)
        }
    }
}

/// Plain JSON as a value.
pub(crate) fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Undef,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(value) => Value::Int(value),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::array(items.iter().map(from_json).collect()),
        Json::Object(map) => Value::hash(
            map.iter().map(|(key, value)| (Value::from(key.as_str()), from_json(value))),
        ),
    }
}

/// A name for this very catalog, in the form of a random UUID.
fn uuid(catalog: &Catalog, node: &str, version: &Json) -> String {
    use sha2::Digest;
    let mut digest = sha2::Sha256::new();
    digest.update(node.as_bytes());
    digest.update(version.to_string().as_bytes());
    for resource in &catalog.resources {
        digest.update(resource.title.as_bytes());
    }
    let hex = fx_formats::hex(&digest.finalize()[..16]);
    format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}
