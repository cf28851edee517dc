//! `knife ssl check`: whether the server's certificate is one that we trust.

use std::time::Duration;

use fx_remote::{CertificateProblem, Client, NetError, Reach, Timeouts, Trust};

use super::Knife;
use super::http::Wrong;

pub(super) fn check(knife: &Knife, words: &[String]) -> Result<(), Wrong> {
    let url = words.first().cloned().unwrap_or_else(|| knife.settings.url());
    let Some((host, port)) = place(&url) else {
        Knife::tell(&format!("ERROR: Given URI: `{url}' is invalid"));
        return Err(Wrong::Code(1));
    };
    Knife::say(&format!("Connecting to host {host}:{port}"));
    let trust = Trust::Known(knife.settings.certificates()?);
    let limit = Duration::from_secs(30);
    let timeouts = Timeouts { connect: limit, read: limit };
    let client = Client::reaching(&trust, None, Vec::new(), timeouts, &Reach::default())
        .map_err(|error| Wrong::Here(error.to_string()))?;
    let answer = client.send("GET", &format!("https://{host}:{port}/_status"), "*/*", &[], None);
    match answer {
        Ok(_) => {
            Knife::say(&format!("Successfully verified certificates from `{host}'"));
            Ok(())
        }
        Err((NetError::Certificate(CertificateProblem::Host(names)), _)) => {
            Knife::tell(
                "ERROR: The SSL cert is signed by a trusted authority but is not valid for the given hostname",
            );
            Knife::tell(&format!("ERROR: You are attempting to connect to:   '{host}'"));
            let names: Vec<&str> =
                names.iter().map(|name| name.trim_start_matches("DNS:")).collect();
            Knife::tell(&format!(
                "ERROR: The server's certificate belongs to '{}'",
                names.join(", ")
            ));
            Err(Wrong::Code(1))
        }
        Err((NetError::Certificate(why), _)) => {
            Knife::tell(&format!("ERROR: The SSL certificate of {host} could not be verified"));
            Knife::tell(&format!("The reason: {why}"));
            let dir = knife.settings.trusted_dir();
            for line in [
                "",
                "If the server you are connecting to uses a self-signed certificate, you must",
                "configure Chef Infra Client to trust that server's certificate.",
                &format!("Copy it to your trusted_certs_dir (currently: {})", dir.display()),
            ] {
                Knife::tell(line);
            }
            Err(Wrong::Code(1))
        }
        Err((error, _)) => Err(Wrong::Unanswered(fx_remote::chef::AskError::Net { url, error })),
    }
}

/// Host and port of an address.
fn place(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split('/').next().filter(|authority| !authority.is_empty())?;
    let default = if scheme == "http" { 80 } else { 443 };
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => Some((host.to_owned(), port.parse().ok()?)),
        _ => Some((authority.to_owned(), default)),
    }
}
