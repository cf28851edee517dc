//! `csr_attributes.yaml`: what a node says of itself in its request for a certificate.

use fx_wire::x509::{Extension, RequestOptions, oids};
use serde_json::Value as Json;

/// Names of attributes that are not Puppet's own.
const KNOWN: &[(&str, &str)] =
    &[("challengePassword", "1.2.840.113549.1.9.7"), ("unstructuredName", "1.2.840.113549.1.9.2")];

/// What a file says; what is wrong with it otherwise.
pub(super) fn options(text: Option<&str>, file: &str) -> Result<RequestOptions, String> {
    let mut options = RequestOptions::default();
    let Some(text) = text else { return Ok(options) };
    let data = fx_puppet::value_from_text(text).map_err(|why| format!("{file}: {why}"))?;
    let Json::Object(data) = fx_puppet::value_to_json(&data) else {
        return Err(format!("invalid CSR attributes, expected instance of Hash, received {file}"));
    };
    for (key, value) in &data {
        let into = match key.as_str() {
            "custom_attributes" => &mut options.attributes,
            "extension_requests" => &mut options.extensions,
            other => return Err(format!("unexpected attributes [\"{other}\"] in {file:?}")),
        };
        for (name, value) in value.as_object().into_iter().flatten() {
            let known = KNOWN.iter().find(|(known, _)| known == name);
            let oid = known.map(|(_, oid)| (*oid).to_owned()).or_else(|| oids::identifier(name));
            let oid = oid.ok_or_else(|| {
                format!("Cannot create CSR with extension request {name}: OID is invalid")
            })?;
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            into.push(Extension { oid, text });
        }
    }
    Ok(options)
}

/// The names of a setting with our own, in order; none where none is given.
pub(super) fn alt_names(setting: &str, own: &str) -> Vec<String> {
    let mut names: Vec<String> = setting
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| if name.contains(':') { name.to_owned() } else { format!("DNS:{name}") })
        .collect();
    if !names.is_empty() {
        names.push(format!("DNS:{own}"));
        names.sort();
        names.dedup();
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_extensions_are_read() {
        let text = "custom_attributes:\n  1.2.840.113549.1.9.7: secret\nextension_requests:\n  pp_role: web\n  1.3.6.1.4.1.34380.1.2.1: 5\n";
        let found = options(Some(text), "f").unwrap();
        let pair = |one: &Extension| (one.oid.clone(), one.text.clone());
        assert_eq!(
            found.attributes.iter().map(pair).collect::<Vec<_>>(),
            [("1.2.840.113549.1.9.7".into(), "secret".into())]
        );
        assert_eq!(
            found.extensions.iter().map(pair).collect::<Vec<_>>(),
            [
                ("1.3.6.1.4.1.34380.1.1.13".into(), "web".into()),
                ("1.3.6.1.4.1.34380.1.2.1".into(), "5".into())
            ]
        );
        for bad in ["- a", "other: {}", "extension_requests: {nothing: x}"] {
            assert!(options(Some(bad), "f").is_err(), "{bad}");
        }
    }

    #[test]
    fn our_own_name_is_among_the_others() {
        assert_eq!(alt_names("", "n1"), [""; 0]);
        assert_eq!(alt_names("b, IP:1.2.3.4,n1", "n1"), ["DNS:b", "DNS:n1", "IP:1.2.3.4"]);
    }
}
