//! The facts of a spec as JSON: those that every machine has, the configuration's, the group's own.
//! Names are lower case at every level, and symbols are texts.

use std::fmt::Write;

use fx_ruby::{Args, Value, Vm};
use indexmap::IndexMap;
use serde_json::Value as Json;

/// Who the facts are of.
struct Node {
    name: String,
    environment: String,
    /// Whether the spec names the node: then its name counts more than its facts.
    given: bool,
}

/// What a spec says of one fact: a value of Ruby, or what is known here.
enum Fact {
    Ruby(Value),
    Known(Json),
}

/// `FxPuppet.facts(default facts, own facts, node, environment, named)`; nothing where only Ruby can
/// tell what a value becomes.
pub(crate) fn text(vm: &Vm, a: Args) -> Option<String> {
    let word = |at| Some(vm.text(vm.opt(a, at).filter(|v| v.is_str())?));
    let node = Node {
        name: word(2)?,
        environment: word(3)?,
        given: vm.opt(a, 4).is_some_and(Value::truthy),
    };
    let (short, domain) = node.name.split_once('.').unwrap_or((&node.name, ""));
    let names = [("hostname", short), ("fqdn", &node.name), ("domain", domain)];
    let mut facts: IndexMap<String, Fact> = IndexMap::new();
    let mut put = |name: &str, text: &str| {
        facts.insert(name.to_owned(), Fact::Known(text.into()));
    };
    for (name, text) in names {
        put(name, text);
    }
    put("clientcert", &node.name);
    put("ipaddress6", "FE80:0000:0000:0000:AAAA:AAAA:AAAA");
    put("clientversion", "7.23.0");
    put("environment", &node.environment);
    for at in [0, 1] {
        let Some(more) = vm.opt(a, at).filter(|v| v.truthy()) else { continue };
        if !more.is_hash() {
            return None;
        }
        for (key, value) in vm.heap.h(more).pairs() {
            facts.insert(name(vm, key)?, Fact::Ruby(value));
        }
    }
    if node.given {
        for (name, text) in names.into_iter().chain([("clientcert", node.name.as_str())]) {
            facts.insert(name.to_owned(), Fact::Known(text.into()));
        }
    }
    let networking = networking(vm, facts.get("networking"), names, node.given)?;
    facts.insert("networking".to_owned(), Fact::Known(networking));
    let mut out = String::with_capacity(1 << 14);
    out.push('{');
    for (at, (name, fact)) in facts.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        quoted(name, &mut out)?;
        out.push(':');
        match fact {
            Fact::Ruby(value) => write(vm, *value, 0, &mut out)?,
            Fact::Known(value) => write!(out, "{value}").ok()?,
        }
    }
    out.push('}');
    Some(out)
}

/// The structured fact: names of the node are in it, below what the facts say or above it.
fn networking(
    vm: &Vm,
    known: Option<&Fact>,
    names: [(&str, &str); 3],
    given: bool,
) -> Option<Json> {
    let own = names.map(|(name, text)| (name.to_owned(), Json::from(text)));
    let mut all: serde_json::Map<String, Json> = own.iter().cloned().collect();
    if let Some(Fact::Ruby(value)) = known
        && value.is_hash()
    {
        let mut text = String::new();
        write(vm, *value, 0, &mut text)?;
        let more: serde_json::Map<String, Json> = serde_json::from_str(&text).ok()?;
        all.extend(more);
    }
    if given {
        all.extend(own);
    }
    Some(Json::Object(all))
}

/// A name as facts have it.
fn name(vm: &Vm, key: Value) -> Option<String> {
    let bytes = if key.is_str() { vm.bytes(key) } else { vm.syms.bytes(key.as_sym()?) };
    // What is lower case elsewhere in Unicode is Ruby's affair.
    bytes.is_ascii().then(|| String::from_utf8_lossy(bytes).to_ascii_lowercase())
}

fn quoted(text: &str, out: &mut String) -> Option<()> {
    let plain = !text.bytes().any(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f));
    if plain {
        out.push('"');
        out.push_str(text);
        out.push('"');
        return Some(());
    }
    write!(out, "{}", Json::from(text)).ok()
}

fn write(vm: &Vm, value: Value, depth: u32, out: &mut String) -> Option<()> {
    if depth > 90 {
        return None;
    }
    if value.is_nil() {
        out.push_str("null");
    } else if value == fx_ruby::value::TRUE || value == fx_ruby::value::FALSE {
        out.push_str(if value.truthy() { "true" } else { "false" });
    } else if let Some(number) = value.fixnum() {
        write!(out, "{number}").ok()?;
    } else if value.is_float() {
        let number = serde_json::Number::from_f64(vm.heap.float_of(value))?;
        write!(out, "{number}").ok()?;
    } else if value.is_str() {
        quoted(plain_text(vm, value)?, out)?;
    } else if let Some(sym) = value.as_sym() {
        match std::str::from_utf8(vm.syms.bytes(sym)).ok()? {
            "undef" => out.push_str("null"),
            text => quoted(text, out)?,
        }
    } else if value.is_arr() {
        out.push('[');
        for (at, one) in vm.heap.arr(value).iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            write(vm, *one, depth + 1, out)?;
        }
        out.push(']');
    } else if value.is_hash() {
        out.push('{');
        for (at, (key, one)) in vm.heap.h(value).pairs().enumerate() {
            if at > 0 {
                out.push(',');
            }
            quoted(&name(vm, key)?, out)?;
            out.push(':');
            write(vm, one, depth + 1, out)?;
        }
        out.push('}');
    } else {
        return None;
    }
    Some(())
}

/// A string that is UTF-8, or ASCII in any encoding.
fn plain_text(vm: &Vm, value: Value) -> Option<&str> {
    let string = vm.heap.str(value);
    let text = std::str::from_utf8(&string.bytes).ok()?;
    (string.enc == 0 || text.is_ascii()).then_some(text)
}
