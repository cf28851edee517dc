//! URIs taken apart and put together. Resolves references as RFC 3986 does for paths.

use crate::value::Value;

/// The parts of a URI.
#[derive(Debug, Default, Clone)]
pub(crate) struct Parts {
    pub(crate) scheme: Option<String>,
    pub(crate) userinfo: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) port: Option<i64>,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) fragment: Option<String>,
}

fn usual_port(scheme: &str) -> Option<i64> {
    Some(match scheme {
        "http" => 80,
        "https" => 443,
        "ftp" => 21,
        "ldap" => 389,
        "ldaps" => 636,
        _ => return None,
    })
}

/// Whether a text can be a URI at all.
pub(crate) fn is_sound(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic() && !"\"<>\\^`{|}".contains(c))
}

/// A URI from its parts by name.
pub(crate) fn from_hash(hash: &crate::value::Hash) -> Parts {
    let get = |name: &str| hash.get(&Value::from(name));
    let text = |name: &str| get(name).and_then(Value::as_str).map(str::to_owned);
    Parts {
        scheme: text("scheme"),
        userinfo: text("userinfo"),
        host: text("host"),
        port: if let Some(Value::Int(port)) = get("port") { Some(*port) } else { None },
        path: text("path").or_else(|| text("opaque")).unwrap_or_default(),
        query: text("query"),
        fragment: text("fragment"),
    }
}

/// The parts that are there, as a hash of the language.
fn listed(parts: &Parts) -> Vec<(&'static str, String)> {
    let path = (!parts.path.is_empty()).then(|| parts.path.clone());
    let opaque = parts.host.is_none() && parts.scheme.is_some();
    let port =
        parts.port.filter(|port| parts.scheme.as_deref().and_then(usual_port) != Some(*port));
    let all = [
        ("scheme", parts.scheme.clone()),
        ("userinfo", parts.userinfo.clone()),
        ("host", parts.host.clone()),
        ("port", port.map(|port| port.to_string())),
        (if opaque { "opaque" } else { "path" }, path),
        ("query", parts.query.clone()),
        ("fragment", parts.fragment.clone()),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A type of URIs as text: `URI[{'scheme' => 'http'}]`.
pub(crate) fn type_text(text: &str) -> String {
    if text.starts_with('{') {
        return format!("URI[{text}]");
    }
    let parts = parse(text);
    let pair =
        |(name, value): &(&str, String)| format!("'{name}' => {}", super::text::quoted(value));
    format!("URI[{{{}}}]", listed(&parts).iter().map(pair).collect::<Vec<_>>().join(", "))
}

/// Whether a URI has all parts that a type names.
pub(crate) fn fits(wanted: &str, text: &str) -> bool {
    let has = listed(&parse(text));
    if wanted.starts_with('{') {
        let shown: Vec<String> = has
            .iter()
            .map(|(name, value)| format!("'{name}' => {}", super::text::quoted(value)))
            .collect();
        return wanted
            .trim_matches(['{', '}'])
            .split(", ")
            .all(|part| shown.iter().any(|one| one == part));
    }
    listed(&parse(wanted)).iter().all(|part| has.contains(part))
}

/// Takes a URI apart.
pub(crate) fn parse(text: &str) -> Parts {
    let mut parts = Parts::default();
    let (rest, fragment) =
        text.split_once('#').map_or((text, None), |(rest, part)| (rest, Some(part)));
    parts.fragment = fragment.map(str::to_owned);
    let (rest, query) =
        rest.split_once('?').map_or((rest, None), |(rest, part)| (rest, Some(part)));
    parts.query = query.map(str::to_owned);
    let mut rest = rest;
    if let Some((scheme, after)) = rest.split_once(':')
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    {
        parts.scheme = Some(scheme.to_ascii_lowercase());
        rest = after;
    }
    if let Some(after) = rest.strip_prefix("//") {
        let (authority, path) = after.find('/').map_or((after, ""), |at| after.split_at(at));
        let host = match authority.rsplit_once('@') {
            Some((user, host)) => {
                parts.userinfo = Some(user.to_owned());
                host
            }
            None => authority,
        };
        match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                parts.port = port.parse().ok();
                parts.host = Some(name.to_owned());
            }
            _ => parts.host = Some(host.to_owned()),
        }
        rest = path;
    }
    rest.clone_into(&mut parts.path);
    parts
}

/// Puts the parts together; a port that goes without saying is left out.
pub(crate) fn text(parts: &Parts) -> String {
    let mut out = String::new();
    if let Some(scheme) = &parts.scheme {
        out.push_str(&format!("{scheme}:"));
    }
    if let Some(host) = &parts.host {
        out.push_str("//");
        if let Some(user) = &parts.userinfo {
            out.push_str(&format!("{user}@"));
        }
        out.push_str(host);
        if let Some(port) = parts.port
            && parts.scheme.as_deref().and_then(usual_port) != Some(port)
        {
            out.push_str(&format!(":{port}"));
        }
    }
    out.push_str(&parts.path);
    if let Some(query) = &parts.query {
        out.push_str(&format!("?{query}"));
    }
    if let Some(fragment) = &parts.fragment {
        out.push_str(&format!("#{fragment}"));
    }
    out
}

/// A reference resolved against a base.
pub(crate) fn joined(base: &str, reference: &str) -> String {
    let other = parse(reference);
    if other.scheme.is_some() {
        return reference.to_owned();
    }
    let mut parts = parse(base);
    if other.path.starts_with('/') {
        parts.path = other.path;
    } else if !other.path.is_empty() {
        let folder = parts.path.rfind('/').map_or("/", |at| &parts.path[..=at]);
        let mut kept: Vec<&str> = Vec::new();
        let whole = format!("{folder}{}", other.path);
        for part in whole.split('/') {
            match part {
                "." => {}
                ".." => {
                    kept.pop();
                }
                part => kept.push(part),
            }
        }
        parts.path = kept.join("/");
    }
    parts.query = other.query;
    parts.fragment = other.fragment;
    text(&parts)
}

/// An attribute of a URI by name.
pub(crate) fn attribute(uri: &str, name: &str) -> Option<Value> {
    let parts = parse(uri);
    let text = |text: Option<String>| text.map_or(Value::Undef, Value::from);
    Some(match name {
        "scheme" => text(parts.scheme),
        "userinfo" => text(parts.userinfo),
        "host" => text(parts.host),
        "port" => parts
            .port
            .or_else(|| usual_port(parts.scheme.as_deref()?))
            .map_or(Value::Undef, Value::Int),
        "path" => text(Some(parts.path)),
        "query" => text(parts.query),
        "fragment" => text(parts.fragment),
        "opaque" => Value::Undef,
        _ => return None,
    })
}
