//! Questions about a program that need an evaluator but no catalog: lookups and templates.

use crate::catalogs::CatalogRequest;
use crate::compile::Settings;
use crate::eval::{Evaluator, Flow, Scope};
use crate::lookup::{Query, Strategy};
use crate::machine::Machine;
use crate::value::Value;

pub(crate) fn evaluator(
    machine: &Machine,
    request: &CatalogRequest,
    node: &str,
    facts: Vec<(String, Value)>,
) -> std::rc::Rc<Evaluator> {
    let settings = Settings {
        node: node.to_owned(),
        environment: request.environment.clone(),
        modulepath: request.modulepath.clone(),
        environment_dir: request.environment_dir.clone(),
        hiera_config: request.hiera_config.clone(),
        facts: Some(facts),
        given: request.given.clone(),
        ..Settings::default()
    };
    let evaluator = Evaluator::new(machine, settings);
    evaluator.prepare();
    evaluator
}

/// `puppet lookup`: the value of the first key that has one.
pub fn lookup(
    machine: &Machine,
    request: &CatalogRequest,
    node: &str,
    facts: Vec<(String, Value)>,
    keys: &[String],
    merge: Option<&Value>,
) -> Result<Option<Value>, String> {
    let evaluator = evaluator(machine, request, node, facts);
    let strategy = match merge {
        Some(merge) => Some(Strategy::read(merge)?),
        None => None,
    };
    let scope = Scope::new(std::rc::Rc::clone(&evaluator.top));
    let mut found = None;
    for key in keys {
        let mut query = Query::new(&scope);
        found = evaluator.lookup(key, strategy.as_ref(), &mut query).map_err(Flow::text)?;
        if found.is_some() {
            break;
        }
    }
    machine.run.look().refused().map_or(Ok(found), Err)
}

/// `puppet lookup --explain`: how the value of a key is found.
pub fn explain_lookup(
    machine: &Machine,
    request: &CatalogRequest,
    node: &str,
    facts: Vec<(String, Value)>,
    key: &str,
    merge: Option<&Value>,
) -> Result<String, String> {
    let evaluator = evaluator(machine, request, node, facts);
    let strategy = merge.map(Strategy::read).transpose()?;
    let scope = Scope::new(std::rc::Rc::clone(&evaluator.top));
    let mut query = Query::new(&scope);
    evaluator.explain_lookup(key, strategy.as_ref(), &mut query).map_err(Flow::text)
}

/// `puppet lookup --explain-options`: where the options for a key come from.
pub fn explain_lookup_options(
    machine: &Machine,
    request: &CatalogRequest,
    node: &str,
    facts: Vec<(String, Value)>,
    key: Option<&str>,
) -> Result<String, String> {
    let evaluator = evaluator(machine, request, node, facts);
    let scope = Scope::new(std::rc::Rc::clone(&evaluator.top));
    let mut query = Query::new(&scope);
    evaluator.explain_options(key, &mut query).map_err(Flow::text)
}

/// `puppet epp render`: a template with values. Names of modules' templates work as well.
pub fn epp(
    machine: &Machine,
    request: &CatalogRequest,
    node: &str,
    facts: Vec<(String, Value)>,
    template: &str,
    inline: bool,
    values: Option<Value>,
) -> Result<String, String> {
    let evaluator = evaluator(machine, request, node, facts);
    let scope = Scope::new(std::rc::Rc::clone(&evaluator.top));
    let span = fx_source::Span::new(evaluator.builtin, 0, 0);
    let mut args = vec![Value::from(template)];
    args.extend(values);
    let name = if inline { "inline_epp" } else { "epp" };
    let made = evaluator.call_function(name, args, None, span, &scope);
    match made {
        Ok(Value::Sensitive(inner)) => Ok(crate::eval::interpolated(&inner)),
        Ok(value) => Ok(crate::eval::interpolated(&value)),
        Err(flow) => Err(flow.text()),
    }
}

/// A value from JSON, YAML or a hash as the language writes it.
pub fn value_from_text(text: &str) -> Result<Value, String> {
    if let Ok(json) = serde_json::from_str::<serde_json::Value>(text) {
        return Ok(crate::compile::from_json(&json));
    }
    crate::yaml::parse(text)
}

/// The value of an expression of the language.
pub fn evaluate(machine: &Machine, request: &CatalogRequest, text: &str) -> Result<Value, String> {
    let evaluator = evaluator(machine, request, "", Vec::new());
    let scope = Scope::new(std::rc::Rc::clone(&evaluator.top));
    evaluator.evaluate_text(text, &scope).map_err(Flow::text)
}

/// A value of the language as JSON for people: secrets are redacted.
pub fn shown_json(value: &Value) -> serde_json::Value {
    crate::compile::to_json(&without_secrets(value))
}

fn without_secrets(value: &Value) -> Value {
    match value {
        Value::Sensitive(_) => Value::from(crate::eval::interpolated(value)),
        Value::Array(items) => Value::array(items.iter().map(without_secrets).collect()),
        Value::Hash(hash) => {
            let mut out = crate::value::Hash::default();
            for (key, value) in &**hash {
                out.insert(without_secrets(key), without_secrets(value));
            }
            Value::Hash(std::rc::Rc::new(out))
        }
        other => other.clone(),
    }
}

/// A value of the language as JSON, as catalogs have it.
pub fn value_to_json(value: &Value) -> serde_json::Value {
    crate::compile::to_json(value)
}

/// Facts that files of Ruby define, who may ask for those given.
pub(crate) fn ruby_facts(
    machine: &Machine,
    node: &str,
    facts: Vec<(String, Value)>,
    files: &[std::path::PathBuf],
    only: Option<&[String]>,
) -> Result<Vec<(String, Value)>, String> {
    let evaluator = evaluator(machine, &CatalogRequest::default(), node, facts);
    evaluator.prepare();
    let facts = machine.effects.author("custom facts", || evaluator.ruby_facts(files, only));
    facts.map_err(Flow::text)
}

/// The facts of this machine as a compilation takes them.
pub fn machine_facts(machine: &Machine, node: &str) -> Vec<(String, Value)> {
    let host = machine.run.look();
    let facts = fx_facts::Facts::new(host);
    let all = fx_facter::facts(host, &facts);
    let mut out: Vec<(String, Value)> = Vec::new();
    if let fx_value::Value::Map(map) = &all {
        out.extend(map.iter().map(|(name, value)| (name.to_text().into_owned(), from_data(value))));
    }
    for (name, value) in fx_facter::legacy(host, &all) {
        out.push((name.to_text().into_owned(), from_data(&value)));
    }
    let (short, domain) = node.split_once('.').unwrap_or((node, ""));
    for (name, value) in [
        ("clientcert", Value::from(node)),
        ("clientversion", crate::VERSION.into()),
        ("clientnoop", false.into()),
        ("puppetversion", crate::VERSION.into()),
    ] {
        out.push((name.to_owned(), value));
    }
    if !out.iter().any(|(name, _)| name == "fqdn") {
        out.push(("fqdn".into(), Value::from(node)));
        out.push(("hostname".into(), Value::from(short)));
        out.push(("domain".into(), Value::from(domain)));
    }
    out
}

fn from_data(value: &fx_value::Value) -> Value {
    match value {
        fx_value::Value::Undef => Value::Undef,
        fx_value::Value::Bool(value) => Value::Bool(*value),
        fx_value::Value::Int(value) => Value::Int(*value),
        fx_value::Value::Float(value) => Value::Float(*value),
        fx_value::Value::Bytes(bytes) => Value::from(bytes.to_text().into_owned()),
        fx_value::Value::List(items) => Value::array(items.iter().map(from_data).collect()),
        fx_value::Value::Map(map) => Value::hash(
            map.iter()
                .map(|(key, value)| (Value::from(key.to_text().into_owned()), from_data(value))),
        ),
        fx_value::Value::Sensitive(inner) => {
            Value::Sensitive(std::rc::Rc::new(from_data(inner.reveal())))
        }
    }
}

/// Whether a value is of a type given as text; what is wrong otherwise.
pub fn assert_type(
    machine: &Machine,
    request: &CatalogRequest,
    ty: &str,
    value: &Value,
) -> Result<(), String> {
    let evaluator = evaluator(machine, request, "", Vec::new());
    let ty = evaluator.type_from_text(ty).map_err(Flow::text)?;
    if crate::types::is_instance(&ty, value) {
        return Ok(());
    }
    Err(crate::eval::mismatch_text("Found value has wrong type,", &ty, value))
}

/// A value as Ruby writes it.
pub fn ruby_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => crate::eval::ruby_text(other),
    }
}
