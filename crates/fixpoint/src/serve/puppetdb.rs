//! A PuppetDB of the site as back end: what nodes leave is handed on to it as commands, and queries
//! of manifests are answered by it. Which one is said by `puppetdb.conf`, as to the original.

use std::path::PathBuf;
use std::time::Duration;

use fx_crypto::digest::Algorithm;
use fx_host::{Files, OsHost};
use fx_remote::{Answer, Client, Content, Identity, Timeouts, Trust};
use fx_wire::puppet::percent_encoded;
use serde_json::{Value, json};

use super::workers::Log;
use crate::personas::puppet::settings::{Settings, sections};

/// What `puppetdb.conf` says.
#[derive(Debug, PartialEq, Eq)]
struct Conf {
    /// `https://host:port`, tried in this order.
    urls: Vec<String>,
    timeout: Duration,
    /// A command that does not arrive fails nothing.
    is_soft: bool,
}

/// Settings of the original that change nothing here: they are about its own caches and reads.
const WITHOUT_EFFECT: &[&str] =
    &["sticky_read_failover", "verify_client_certificate", "include_catalog_edges"];

impl Conf {
    fn read(shown: &str, text: &str) -> Result<Conf, String> {
        let mut conf = Conf {
            urls: vec!["https://puppetdb:8081".to_owned()],
            timeout: Duration::from_secs(30),
            is_soft: false,
        };
        for (_, name, value) in sections(text) {
            let wrong = |why: &str| format!("{shown}: {name}: {why}");
            match name.as_str() {
                "server_urls" => {
                    let urls = value.split(',').map(|url| url.trim().trim_end_matches('/'));
                    conf.urls = urls.filter(|url| !url.is_empty()).map(str::to_owned).collect();
                    if !conf.urls.iter().all(|url| url.starts_with("https://")) {
                        return Err(wrong("each must begin with https://"));
                    }
                    if conf.urls.is_empty() {
                        return Err(wrong("there is none"));
                    }
                }
                "server_url_timeout" => {
                    let seconds = value.parse().map_err(|_| wrong("no number of seconds"))?;
                    conf.timeout = Duration::from_secs(seconds);
                }
                "soft_write_failure" => conf.is_soft = value == "true",
                name if WITHOUT_EFFECT.contains(&name) => {}
                _ => return Err(wrong("is not supported; remove it")),
            }
        }
        Ok(conf)
    }
}

/// The site's PuppetDB.
pub(crate) struct PuppetDb {
    conf: Conf,
    client: Client,
    log: Log,
}

impl PuppetDb {
    /// The one that settings name, with the identity of this server. It is asked nothing yet.
    pub(crate) fn of_site(
        host: &OsHost,
        settings: &Settings,
        trust: &Trust,
        identity: &Identity,
        log: &Log,
    ) -> Result<Option<PuppetDb>, String> {
        let is_given = settings.is_given("storeconfigs_backend");
        if !is_given || settings.get("storeconfigs_backend") != "puppetdb" {
            return Ok(None);
        }
        let file = PathBuf::from(settings.get("confdir")).join("puppetdb.conf");
        let text = host.read_trusted_data_opt(&file).map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        let conf = Conf::read(&file.display().to_string(), &text)?;
        let timeouts = Timeouts { connect: conf.timeout, read: conf.timeout };
        let headers = vec![("X-Puppet-Version".into(), fx_puppet::VERSION.into())];
        let client = Client::new(trust, Some(identity), headers, timeouts)
            .map_err(|error| error.to_string())?;
        Ok(Some(PuppetDb { conf, client, log: log.clone() }))
    }

    /// Asks one after the other until one answers.
    fn send(&self, path: &str, body: &str) -> Result<Answer, String> {
        let mut said = String::new();
        for url in &self.conf.urls {
            let content =
                Content { kind: "application/json; charset=utf-8", bytes: body.as_bytes() };
            let address = format!("{url}{path}");
            match self.client.send("POST", &address, "application/json", &[], Some(content)) {
                Ok(answer) if answer.is_success() => return Ok(answer),
                // It understood and refuses; another would say the same.
                Ok(answer) if answer.status == 400 => return Err(answer.text()),
                Ok(answer) => said = format!("[{}] {}", answer.status, answer.text()),
                Err((error, _)) => said = error.to_string(),
            }
            (self.log)(&format!("{url}: {said}"));
        }
        let urls = self.conf.urls.join(",");
        Err(format!(
            "Failed to execute '{path}' on at least 1 of the following 'server_urls': {urls} ({said})"
        ))
    }

    /// The rows that a query finds.
    pub(super) fn query(&self, query: &Value) -> Result<Value, String> {
        let answer = self.send("/pdb/query/v4", &json!({"query": query}).to_string())?;
        serde_json::from_slice(&answer.body).map_err(|error| error.to_string())
    }
}

impl fx_server::PuppetDb for PuppetDb {
    fn submit(
        &self,
        command: &str,
        version: u32,
        node: &str,
        payload: &Value,
    ) -> Result<(), String> {
        let body = payload.to_string();
        let at = payload["producer_timestamp"].as_str().unwrap_or_default();
        let path = format!(
            "/pdb/cmd/v1?checksum={}&version={version}&certname={}&command={command}&producer-timestamp={}",
            Algorithm::Sha1.hex(body.as_bytes()),
            percent_encoded(node),
            percent_encoded(at),
        );
        match self.send(&path, &body) {
            Ok(_) => Ok(()),
            Err(why) if self.conf.is_soft => {
                (self.log)(&why);
                Ok(())
            }
            Err(why) => Err(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_as_by_the_original_and_what_is_not_supported_is_said() {
        let read = |text: &str| Conf::read("puppetdb.conf", text);
        let conf = read(
            "[main]\nserver_urls = https://a:8081/, https://b:8081\nsoft_write_failure = true\nserver_url_timeout = 5\n",
        );
        let conf = conf.expect("a sound file");
        assert_eq!(conf.urls, ["https://a:8081", "https://b:8081"]);
        assert_eq!((conf.is_soft, conf.timeout), (true, Duration::from_secs(5)));
        assert_eq!(read("").map(|conf| conf.urls), Ok(vec!["https://puppetdb:8081".to_owned()]));
        for wrong in ["server_urls = http://a:8080", "server_urls =", "command_broadcast = true"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
