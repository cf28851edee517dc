//! Commands: what others tell the store. An answer is given when the command was carried out.

use std::io::Read;

use fx_crypto::digest::Algorithm;
use serde_json::{Value, json};

use super::records::{catalog_record, facts_record, report_record};
use crate::app::App;
use crate::message::{Reply, Request};

/// A body is unpacked up to here.
const MOST: u64 = 256 << 20;

/// What is wrong with a command.
fn refused(text: impl std::fmt::Display) -> Reply {
    Reply::json(400, &json!({"error": text.to_string()}))
}

/// The body, unpacked where the client packed it.
fn unpacked(request: &Request) -> Result<Vec<u8>, Reply> {
    match request.head.field("content-encoding") {
        None | Some("identity") => Ok(request.body.clone()),
        Some("gzip") => {
            let mut bytes = Vec::new();
            let mut packed = flate2::read::GzDecoder::new(request.body.as_slice()).take(MOST + 1);
            packed.read_to_end(&mut bytes).map_err(|_| refused("the body is no gzip"))?;
            if bytes.len() as u64 > MOST {
                return Err(Reply::text(413, "the body is too large"));
            }
            Ok(bytes)
        }
        Some(other) => Err(Reply::text(415, format!("Unsupported content encoding {other}"))),
    }
}

/// Name, lowest and highest version.
const KNOWN: &[(&str, u64, u64)] = &[
    ("replace facts", 4, 5),
    ("replace catalog", 6, 9),
    ("store report", 5, 8),
    ("deactivate node", 3, 3),
    ("configure expiration", 1, 1),
    ("replace catalog inputs", 1, 1),
];

impl App {
    pub(crate) fn command(&self, request: &Request) -> Result<Reply, Reply> {
        let body = unpacked(request)?;
        let sent: Value = serde_json::from_slice(&body)
            .map_err(|error| refused(format!("the command is not JSON: {error}")))?;
        let query = &request.head.query;
        let (name, version, payload) = match query.get("command") {
            // The original's clients send a checksum of the old form, which is not what they send;
            // the original's store does not look at it.
            Some(name) => {
                let version = query.get("version").and_then(|version| version.parse().ok());
                (name.replace('_', " "), version, sent)
            }
            // The old form has everything in the body.
            None => {
                let name = sent["command"].as_str().unwrap_or_default().to_owned();
                (name, sent["version"].as_u64(), sent["payload"].clone())
            }
        };
        let Some((_, lowest, highest)) = KNOWN.iter().find(|(known, ..)| *known == name) else {
            return Err(refused(format!(
                "Supported commands are {}. Received command '{name}'.",
                supported()
            )));
        };
        match version {
            Some(version) if (*lowest..=*highest).contains(&version) => {}
            Some(version) => {
                return Err(refused(format!("version {version} of '{name}' is not supported")));
            }
            None => return Err(refused("the version is missing")),
        }
        let payload = match payload {
            // Some clients write the payload as text of JSON.
            Value::String(text) => serde_json::from_str(&text)
                .map_err(|error| refused(format!("the payload is not JSON: {error}")))?,
            other => other,
        };
        self.carry_out_command(&name, &payload)?;
        let hex =
            Algorithm::Sha1.hex(&[body.as_slice(), &(self.parts.clock)().to_be_bytes()].concat());
        let uuid = format!(
            "{}-{}-4{}-a{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[13..16],
            &hex[17..20],
            &hex[20..32]
        );
        Ok(match query.get("secondsToWaitForCompletion") {
            Some(_) => {
                Reply::json(200, &json!({"uuid": uuid, "processed": true, "timed_out": false}))
            }
            None => Reply::json(200, &json!({"uuid": uuid})),
        })
    }

    fn carry_out_command(&self, name: &str, payload: &Value) -> Result<(), Reply> {
        let (fleet, now) = (&self.parts.fleet, (self.parts.clock)());
        let saved = match name {
            "replace facts" => fleet.save_facts(&facts_record(payload, now).map_err(refused)?),
            "replace catalog" => {
                fleet.save_catalog(&catalog_record(payload, now).map_err(refused)?)
            }
            "store report" => fleet.save_report(&report_record(payload, now).map_err(refused)?),
            "deactivate node" => {
                let node = payload.get("certname").unwrap_or(payload).as_str();
                let node = node.ok_or_else(|| refused("'certname' is missing or no text"))?;
                let at = payload.get("producer_timestamp").and_then(Value::as_str);
                let at = at.and_then(fx_fleet::parse_time).and_then(|at| u64::try_from(at).ok());
                fleet.deactivate(node, at.unwrap_or(now))
            }
            // What is kept of a node does not depend on these.
            _ => Ok(()),
        };
        saved.map_err(|error| self.store_failed(&error))
    }
}

fn supported() -> String {
    KNOWN.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ")
}
