//! Requests to the authority of a running server, with the certificate of this machine.

use std::path::PathBuf;

use fx_host::{OsHost, Request, Requests, Response};

use crate::personas::puppet::settings::Settings;

/// A connection to an authority.
pub(super) struct Client<'a> {
    host: &'a OsHost,
    url: String,
    ca: PathBuf,
    identity: (PathBuf, PathBuf),
}

impl<'a> Client<'a> {
    pub(super) fn new(host: &'a OsHost, settings: &Settings) -> Client<'a> {
        let path = |name: &str| PathBuf::from(settings.get(name));
        let (server, port) = (settings.get("ca_server"), settings.get("ca_port"));
        Client {
            host,
            url: format!("https://{server}:{port}/puppet-ca/v1"),
            ca: path("localcacert"),
            identity: (path("hostcert"), path("hostprivkey")),
        }
    }

    /// One exchange; what went wrong on the way otherwise.
    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        content_type: &str,
        body: &str,
    ) -> Result<Response, String> {
        let mut request = Request::get(format!("{}/{path}", self.url));
        method.clone_into(&mut request.method);
        request.headers = [
            ("User-Agent", "PuppetserverCaCli"),
            ("Accept", "application/json"),
            ("Content-Type", content_type),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
        request.body = body.as_bytes().to_vec();
        request.ca_file = Some(self.ca.clone());
        request.identity = Some(self.identity.clone());
        // The authority is reached directly, whatever the environment says of proxies.
        self.host.http(&request).map_err(|error| {
            format!("    Failed connecting to {}\n    Root cause: {error}", self.url)
        })
    }

    /// Wishes a state for a name.
    pub(super) fn wish(&self, name: &str, body: &str) -> Result<Response, String> {
        self.send("PUT", &format!("certificate_status/{name}"), "application/json", body)
    }
}
