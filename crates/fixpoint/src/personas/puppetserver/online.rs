//! Actions on a running server.

use std::fmt::Write as _;

use fx_host::{Edits, Response};
use fx_wire::x509::{Request as Csr, RequestOptions};
use serde_json::{Map, Value, json};

use super::client::Client;
use super::{Options, errors, errors_with_usage, inform};
use crate::serve::{self, Paths};

/// Exit code where a name was not in the state that the action needs.
const INVALID: u8 = 24;

/// How one name ended; the worst decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ended {
    Well,
    Invalid,
    NotFound,
    Badly,
}

impl Ended {
    fn code(self) -> u8 {
        match self {
            Ended::Well => 0,
            Ended::Invalid => INVALID,
            Ended::NotFound | Ended::Badly => 1,
        }
    }
}

fn body(response: &Response) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

/// An answer that nobody expected.
fn unexpected(doing: &str, response: &Response) -> Ended {
    let lines = [
        format!("    When attempting to {doing}"),
        format!("      code: {}", response.status),
        format!("      body: {}", body(response)),
    ];
    errors(&lines);
    Ended::Badly
}

fn not_found(text: String) -> Ended {
    errors(&[text]);
    Ended::NotFound
}

/// All statuses, or those of a state.
fn statuses(client: &Client<'_>, state: Option<&str>) -> Result<Vec<Value>, String> {
    let query = state.map(|state| format!("?state={state}")).unwrap_or_default();
    let path = format!("certificate_statuses/any_key{query}");
    let response = client.send("GET", &path, "application/json", "")?;
    if response.status != 200 {
        return Err(format!("    code: {}\n    body: {}", response.status, body(&response)));
    }
    match serde_json::from_slice(&response.body) {
        Ok(Value::Array(all)) => Ok(all),
        _ => Err("    the answer is no list".into()),
    }
}

pub(super) fn list(options: &Options) -> u8 {
    let format = options.get("format").unwrap_or("text");
    if !matches!(format, "text" | "json") {
        let text = format!("Unknown format flag '{format}'. Valid formats are 'text', 'json'.");
        return errors(&[text]);
    }
    let (names, all) = (options.names(), options.has("all"));
    if all && !names.is_empty() {
        return errors(&["Cannot combine use of --all and --certname.".into()]);
    }
    let settings = match options.settings() {
        Ok(settings) => settings,
        Err(code) => return code,
    };
    let client = Client::new(&options.host, &settings);
    let state = (!all && names.is_empty()).then_some("requested");
    let mut found = match statuses(&client, state) {
        Ok(found) => found,
        Err(error) => return errors(&[error]),
    };
    found.retain(|one| names.is_empty() || names.iter().any(|name| one["name"] == name.as_str()));
    let missing: Vec<Value> = names
        .iter()
        .filter(|name| found.iter().all(|one| one["name"] != name.as_str()))
        .map(|name| name.as_str().into())
        .collect();
    let of = |state: &str| -> Vec<Value> {
        found.iter().filter(|one| one["state"] == state).cloned().collect()
    };
    let groups =
        [("requested", of("requested")), ("signed", of("signed")), ("revoked", of("revoked"))];
    if format == "json" {
        let mut shown: Map<String, Value> = groups
            .into_iter()
            .filter(|(_, group)| all || !group.is_empty())
            .map(|(name, group)| (name.to_owned(), group.into()))
            .collect();
        if !missing.is_empty() {
            shown.insert("missing".into(), missing.clone().into());
        }
        if shown.is_empty() {
            shown.insert("requested".into(), json!([]));
        }
        inform(&Value::Object(shown).to_string());
    } else {
        show(&groups, &missing);
    }
    u8::from(!missing.is_empty())
}

fn show(groups: &[(&str, Vec<Value>)], missing: &[Value]) {
    if missing.is_empty() && groups.iter().all(|(_, group)| group.is_empty()) {
        return inform("No certificates to list");
    }
    for (state, group) in groups.iter().filter(|(_, group)| !group.is_empty()) {
        let title = state[..1].to_uppercase() + &state[1..];
        inform(&format!("{title} Certificates:"));
        let name = |one: &Value| one["name"].as_str().unwrap_or_default().to_owned();
        let width = group.iter().map(|one| name(one).chars().count()).max().unwrap_or(0) + 6;
        for one in group {
            let print = one["fingerprints"]["SHA256"].as_str().unwrap_or_default();
            let mut line = format!("    {:width$} (SHA256)  {print}", name(one));
            let names = one["subject_alt_names"].as_array().cloned().unwrap_or_default();
            if !names.is_empty() {
                let names: Vec<String> = names.iter().map(Value::to_string).collect();
                let _ = write!(line, "\talt names: [{}]", names.join(", "));
            }
            let rights = one["authorization_extensions"].as_object().cloned().unwrap_or_default();
            if !rights.is_empty() {
                let rights: Vec<String> = rights
                    .iter()
                    .map(|(name, value)| format!("{name}: {}", value.as_str().unwrap_or_default()))
                    .collect();
                let _ = write!(line, "\tauthorization extensions: [{}]", rights.join(", "));
            }
            inform(&line);
        }
    }
    if !missing.is_empty() {
        inform("Missing Certificates:");
        for name in missing {
            inform(&format!("    {}", name.as_str().unwrap_or_default()));
        }
    }
}

/// The wish to sign; nothing where the time makes no sense, which is printed.
fn sign_wish(options: &Options) -> Option<String> {
    let Some(ttl) = options.get("ttl") else {
        return Some(json!({"desired_state": "signed"}).to_string());
    };
    let Some(ttl) = fx_puppet::settings::seconds(ttl) else {
        errors(&[
            format!(" '{ttl}' is an invalid ttl value"),
            "Value should match regex \"^(d+)(s|m|h|d|y)?$\"".into(),
        ]);
        return None;
    };
    Some(json!({"desired_state": "signed", "cert_ttl": ttl}).to_string())
}

fn sign_one(client: &Client<'_>, name: &str, wish: &str) -> Ended {
    match client.wish(name, wish) {
        Ok(response) if response.status == 204 => {
            inform(&format!("Successfully signed certificate request for {name}"));
            Ended::Well
        }
        Ok(response) if response.status == 404 => {
            not_found(format!("    Could not find certificate request for {name}"))
        }
        Ok(response) => {
            unexpected(&format!("sign certificate request '{name}', received"), &response)
        }
        Err(error) => not_found(error),
    }
}

pub(super) fn sign(options: &Options) -> u8 {
    let (mut names, all) = (options.names(), options.has("all"));
    match (names.is_empty(), all) {
        (false, true) => {
            let text = "--all and --certname cannot be used together";
            return errors_with_usage(&[text.into()], options.action);
        }
        (true, false) => return errors_with_usage(&["No arguments given".into()], options.action),
        _ => {}
    }
    let settings = match options.settings() {
        Ok(settings) => settings,
        Err(code) => return code,
    };
    let client = Client::new(&options.host, &settings);
    if all {
        names = match statuses(&client, Some("requested")) {
            Ok(found) => {
                found.iter().filter_map(|one| Some(one["name"].as_str()?.to_owned())).collect()
            }
            Err(error) => return errors(&[error]),
        };
        if names.is_empty() {
            errors(&["    No waiting certificate requests to sign".into()]);
            return INVALID;
        }
    }
    let Some(wish) = sign_wish(options) else { return 1 };
    let ended = names.iter().map(|name| sign_one(&client, name, &wish));
    u8::from(ended.fold(Ended::Well, Ended::max) != Ended::Well)
}

const REVOKE: &str = r#"{"desired_state":"revoked"}"#;

/// Names and settings of an action that needs both.
fn needed(
    options: &Options,
    doing: &str,
) -> Result<crate::personas::puppet::settings::Settings, u8> {
    if options.names().is_empty() {
        let text = format!("{doing}At least one certname is required to {}", options.action.name);
        return Err(errors_with_usage(&[text], options.action));
    }
    options.settings()
}

pub(super) fn revoke(options: &Options) -> u8 {
    let settings = match needed(options, "  ") {
        Ok(settings) => settings,
        Err(code) => return code,
    };
    let client = Client::new(&options.host, &settings);
    let one = |name: &String| match client.wish(name, REVOKE) {
        Ok(response) if matches!(response.status, 200 | 204) => {
            inform(&format!("Certificate for {name} has been revoked"));
            Ended::Well
        }
        Ok(response) if response.status == 404 => {
            not_found(format!("    Could not find certificate for {name}"))
        }
        Ok(response) if response.status == 409 => {
            errors(&[format!("    Could not revoke unsigned csr for {name}")]);
            Ended::Invalid
        }
        Ok(response) => unexpected(&format!("revoke certificate '{name}', received:"), &response),
        Err(error) => not_found(error),
    };
    options.names().iter().map(one).fold(Ended::Well, Ended::max).code()
}

pub(super) fn clean(options: &Options) -> u8 {
    let settings = match needed(options, "  ") {
        Ok(settings) => settings,
        Err(code) => return code,
    };
    let client = Client::new(&options.host, &settings);
    let one = |name: &String| {
        let revoked = match client.wish(name, REVOKE) {
            Ok(response) if matches!(response.status, 200 | 204) => {
                inform(&format!("Certificate for {name} has been revoked"));
                Ended::Well
            }
            Ok(response) if response.status == 404 => Ended::Well,
            Ok(response) if response.status == 409 => Ended::Invalid,
            Ok(response) => {
                return unexpected(&format!("revoke certificate '{name}', received:"), &response);
            }
            Err(error) => return not_found(error),
        };
        let path = format!("certificate_status/{name}");
        match client.send("DELETE", &path, "application/json", "") {
            Ok(response) if matches!(response.status, 200 | 204) => {
                inform(&format!("Cleaned files related to {name}"));
                revoked
            }
            Ok(response) if response.status == 404 => {
                not_found(format!("    Could not find files to clean for {name}"))
            }
            Ok(response) => {
                unexpected(&format!("clean certificate '{name}', received:"), &response)
            }
            Err(error) => not_found(error),
        }
    };
    options.names().iter().map(one).fold(Ended::Well, Ended::max).code()
}

pub(super) fn generate(options: &Options) -> u8 {
    let settings = match needed(options, "    ") {
        Ok(settings) => settings,
        Err(code) => return code,
    };
    if options.has("ca-client") {
        let text = "certificates are signed by the running server alone; the server's own is made by 'fixpoint serve'";
        return errors(&[text.into()]);
    }
    let client = Client::new(&options.host, &settings);
    let Some(wish) = sign_wish(options) else { return 1 };
    let one = |name: &String| match make(options, &client, &settings, name, &wish) {
        Ok(ended) => ended,
        Err(text) => {
            errors(&[text]);
            Ended::Badly
        }
    };
    u8::from(options.names().iter().map(one).fold(Ended::Well, Ended::max) != Ended::Well)
}

/// Makes a key, has a certificate signed for it, and saves both.
fn make(
    options: &Options,
    client: &Client<'_>,
    settings: &crate::personas::puppet::settings::Settings,
    name: &str,
    wish: &str,
) -> Result<Ended, String> {
    let in_words = |error: fx_wire::x509::Error| error.to_string();
    let host = &options.host;
    let paths = Paths::of(settings, name);
    let files = [&paths.host_certificate, &paths.host_key, &paths.host_public];
    let there: Vec<String> = files
        .iter()
        .filter(|path| serve::exists(host, path))
        .map(|path| format!("Existing file at '{}'", path.display()))
        .collect();
    if !there.is_empty() {
        let advice = format!(
            "Please delete these files if you really want to generate a new cert for {name}."
        );
        return Err(there.join("\n") + "\n" + &advice);
    }
    let key = serve::new_key(host, settings)?;
    let alt_names = options.get("subject-alt-names").unwrap_or_default().split(',');
    let alt_names = alt_names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let request = RequestOptions { alt_names, ..RequestOptions::default() };
    let csr = Csr::new(&key, name, &request).map_err(in_words)?;
    let save = |path: &std::path::Path, what: &str, text: String, mode: u32| {
        serve::put(host, path, &text, mode)?;
        inform(&format!("Successfully saved {what} for {name} to {}", path.display()));
        host.commit().map_err(|error| error.to_string())
    };
    save(&paths.host_key, "private key", key.to_pem().map_err(in_words)?, 0o640)?;
    save(&paths.host_public, "public key", key.public().to_pem().map_err(in_words)?, 0o644)?;
    let path = format!("certificate_request/{name}");
    let response = client.send("PUT", &path, "text/plain", &csr.to_pem())?;
    if !matches!(response.status, 200 | 204) {
        let doing = format!("submit certificate request for '{name}', received:");
        return Ok(unexpected(&doing, &response));
    }
    inform(&format!("Successfully submitted certificate request for {name}"));
    // The site may have signed it already.
    let path = format!("certificate/{name}");
    let mut response = client.send("GET", &path, "text/plain", "")?;
    if response.status != 200 {
        // The original prints this, too, though nothing went wrong.
        errors(&[format!("    Signed certificate {name} could not be found on the CA")]);
        let ended = sign_one(client, name, wish);
        if ended != Ended::Well {
            return Ok(ended);
        }
        response = client.send("GET", &path, "text/plain", "")?;
    }
    if response.status != 200 {
        return Ok(unexpected(&format!("download certificate '{name}', received:"), &response));
    }
    save(&paths.host_certificate, "certificate", body(&response), 0o644)?;
    Ok(Ended::Well)
}
