//! The server of an agent: the one that is named, or the first of a list that answers.

use fx_engine::Level;
use fx_remote::puppet::Server;
use fx_remote::{Client, Timeouts};

use super::identity::Ready;
use super::log::Log;
use crate::personas::puppet::settings::Settings;

/// The server, and its name where it was found in a list.
pub(in crate::personas::puppet) fn find(
    settings: &Settings,
    log: &Log<'_>,
    ready: &Ready,
    headers: &[(String, String)],
) -> Result<(Server, Option<String>), String> {
    let headers = headers.to_vec();
    let client = Client::new(&ready.trust, Some(&ready.identity), headers, Timeouts::default())
        .map_err(|error| error.to_string())?;
    let port: u16 = settings.shown("serverport").parse().unwrap_or(8140);
    let list = settings.get("server_list");
    let mut names = list.split(',').map(str::trim).filter(|name| !name.is_empty()).peekable();
    if names.peek().is_none() {
        return Ok((Server::new(client, &settings.get("server"), port), None));
    }
    let mut failed = Vec::new();
    for name in names {
        let (host, at) = match name.rsplit_once(':') {
            Some((host, at)) => (host, at.parse().unwrap_or(port)),
            None => (name, port),
        };
        let server = Server::new(client.clone(), host, at);
        match server.status("server") {
            Ok(answer) if answer.is_success() => {
                return Ok((server, Some(format!("{host}:{at}"))));
            }
            Ok(answer) => {
                let text = format!(
                    "Puppet server {host}:{at} is unavailable: {} {}",
                    answer.status,
                    answer.text()
                );
                log.say(Level::Debug, text.trim_end());
            }
            Err(error) => {
                let text = format!("Unable to connect to server from server_list setting: {error}");
                log.say(Level::Warning, &text);
            }
        }
        failed.push(format!("{host}:{at}"));
    }
    Err(format!(
        "Could not select a functional puppet server from server_list: '{}'",
        failed.join(",")
    ))
}
