//! One run of an agent: environment, plug-ins, facts, catalog, and the report.

use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::Level;
use fx_host::WriteOptions;
use fx_puppet::Machine;
use fx_puppet_apply::{AgentRun, Request};
use fx_remote::puppet::{Server, complaint};
use serde_json::{Value as Json, json};

use super::identity::Ready;
use super::log::Log;
use super::plugins::{self, Mount};
use super::servers;
use super::sources::ServerFiles;
use super::spool::Spool;
use crate::personas::puppet::settings::Settings;

/// How often the environment of a catalog may differ from the one that was asked for.
const MOST_ENVIRONMENTS: usize = 4;

/// What a run is given.
pub(super) struct Cycle<'a> {
    pub(super) machine: &'a Machine,
    pub(super) settings: &'a Settings,
    pub(super) log: &'a Log<'a>,
    pub(super) name: &'a str,
    pub(super) headers: &'a [(String, String)],
    pub(super) ready: &'a Ready,
    /// What is applied, without the catalog.
    pub(super) request: Request,
    pub(super) is_environment_given: bool,
}

/// A catalog, and how it was come by.
struct Found {
    text: Vec<u8>,
    data: Json,
    cached: &'static str,
    environment: String,
}

impl Cycle<'_> {
    fn is_on(&self, name: &str) -> bool {
        self.settings.get(name) == "true"
    }

    /// Runs; the exit code.
    pub(super) fn run(&self) -> u8 {
        let uuid = random_name(self.log);
        match self.attempt(&uuid) {
            Ok(code) => code,
            Err(message) => {
                self.log.say(Level::Error, &message);
                1
            }
        }
    }

    fn attempt(&self, uuid: &str) -> Result<u8, String> {
        let (server, used) = servers::find(self.settings, self.log, self.ready, self.headers)?;
        let asked = self.settings.get("environment");
        let first = self.first_environment(&server, &asked, uuid);
        self.log.say(Level::Info, &format!("Using environment '{first}'"));
        let Some(found) = self.catalog(&server, &first, uuid)? else {
            self.log.say(Level::Error, "Could not retrieve catalog; skipping run");
            self.send_failure(&server, &first, uuid, used);
            return Ok(1);
        };
        if !self.request.noop && found.cached == "not_used" {
            self.keep(&found)?;
        }
        let word = |name: &str| found.data.get(name).and_then(Json::as_str).map(str::to_owned);
        let spool = PathBuf::from(self.settings.get("statedir")).join("fetched");
        let spool = Spool::new(self.machine.run(), spool);
        let files = ServerFiles::new(server.clone(), &found.environment, &found.data, spool);
        let files = Rc::new(files);
        let request = Request {
            catalog: Some((self.name.to_owned(), found.text)),
            environment: found.environment.clone(),
            file_server: Some(files.clone()),
            server_bucket: Some(files),
            agent: Some(AgentRun {
                transaction_uuid: uuid.to_owned(),
                cached_catalog_status: found.cached,
                server_used: used,
                version: found.data.get("version").cloned().unwrap_or_default(),
                catalog_uuid: word("catalog_uuid"),
                initial_environment: first,
                log: self.log.take(),
            }),
            ..self.request.clone()
        };
        self.machine.forget_modules();
        let summary = fx_puppet_apply::run(self.machine, &request);
        if let Some(report) = &summary.report {
            self.send(&server, report, &found.environment);
        }
        Ok(summary.code)
    }

    /// The environment to begin with: what was given, what the last run ended with, or what the
    /// server says of the node.
    fn first_environment(&self, server: &Server, asked: &str, uuid: &str) -> String {
        if self.is_environment_given
            || self.is_on("use_cached_catalog")
            || self.is_on("strict_environment_mode")
        {
            return asked.to_owned();
        }
        if self.settings.get("use_last_environment") != "false"
            && let Some(last) = self.last_environment(asked)
        {
            return last;
        }
        let answer = match server.node(self.name, asked, uuid) {
            Ok(answer) if answer.is_success() => answer,
            Ok(answer) => {
                let text = format!(
                    "Unable to fetch my node definition, but the agent run will continue:\n{}",
                    complaint(&answer)
                );
                self.log.say(Level::Warning, &text);
                return asked.to_owned();
            }
            Err(error) => {
                let text = format!(
                    "Unable to fetch my node definition, but the agent run will continue:\n{error}"
                );
                self.log.say(Level::Warning, &text);
                return asked.to_owned();
            }
        };
        let data: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
        let given = data.get("environment").and_then(Json::as_str).unwrap_or(asked);
        if given != asked {
            let text = format!(
                "Local environment: '{asked}' doesn't match server specified node environment '{given}', switching agent to '{given}'."
            );
            self.log.say(Level::Notice, &text);
        }
        given.to_owned()
    }

    /// What the last run ended with: what was asked for, unless an agent was led elsewhere. Nothing
    /// where there was no run.
    fn last_environment(&self, asked: &str) -> Option<String> {
        let path = PathBuf::from(self.settings.get("lastrunfile"));
        let text = self.log.run.look().read_limited(&path, 1 << 20).ok()?;
        let data = fx_puppet::value_from_text(&String::from_utf8_lossy(&text)).ok()?;
        let data = fx_puppet::value_to_json(&data);
        let word = |name: &str| data.get("application")?.get(name)?.as_str();
        let (first, last) = (word("initial_environment"), word("converged_environment"));
        let is_led = word("run_mode") == Some("agent") && first != last;
        Some(last.filter(|_| is_led).unwrap_or(asked).to_owned())
    }

    /// The catalog for the environment that it and the server agree on.
    fn catalog(&self, server: &Server, first: &str, uuid: &str) -> Result<Option<Found>, String> {
        if self.is_on("use_cached_catalog")
            && let Some(found) = self.kept(None, "explicitly_requested")
        {
            return Ok(Some(found));
        }
        let mut environment = first.to_owned();
        for _ in 0..MOST_ENVIRONMENTS {
            if self.settings.get("pluginsync") != "false"
                && let Err(why) = self.sync(server, &environment)
            {
                self.log.say(Level::Error, &why);
                // The catalog may need what did not come: an older one does not.
                if self.settings.get("usecacheonfailure") != "false" {
                    return Ok(self.fallback(&environment));
                }
            }
            self.log.say(Level::Info, "Loading facts");
            let facts = self.facts();
            let found = match self.fetch(server, &facts, &environment, first, uuid) {
                Ok(found) => found,
                Err(message) => {
                    self.log.say(Level::Error, &message);
                    return Ok(self.fallback(&environment));
                }
            };
            if found.environment == environment {
                return Ok(Some(found));
            }
            if self.is_on("strict_environment_mode") {
                return Err(format!(
                    "Not using catalog because its environment '{}' does not match agent specified environment '{environment}' and strict_environment_mode is set",
                    found.environment
                ));
            }
            let text = format!(
                "Local environment: '{environment}' doesn't match server specified environment '{0}', restarting agent run with environment '{0}'",
                found.environment
            );
            self.log.say(Level::Notice, &text);
            environment = found.environment;
        }
        Err("Catalog environment didn't stabilize after 4 fetches, aborting run".into())
    }

    fn sync(&self, server: &Server, environment: &str) -> Result<(), String> {
        if !plugins::has_environment(server, environment)? {
            if self.is_on("strict_environment_mode") {
                return Err(format!(
                    "Environment '{environment}' not found on server, aborting run."
                ));
            }
            let text = format!(
                "Environment '{environment}' not found on server, skipping initial pluginsync."
            );
            self.log.say(Level::Notice, &text);
            return Ok(());
        }
        let mounts = [
            ("pluginfacts", "pluginfactdest", "Retrieving pluginfacts", true),
            ("plugins", "plugindest", "Retrieving plugin", false),
        ];
        for (name, setting, text, keeps_modes) in mounts {
            self.log.say(Level::Info, text);
            let directory = PathBuf::from(self.settings.get(setting));
            let made = self.log.run.own_state(|act| {
                fx_resources::directory::make_parents(act, &directory.join("x"), 0o755)
            });
            made.map_err(|failure| failure.to_string())?;
            let mount = Mount { name, directory, keeps_modes };
            if let Err(why) = mount.sync(self.log, server, environment) {
                let text = format!(
                    "/File[{}]: Could not evaluate: Could not retrieve information from environment {environment} source(s) puppet:///{name}: {why}",
                    mount.directory.display()
                );
                self.log.say(Level::Error, &text);
                if !self.is_on("ignore_plugin_errors") {
                    return Err(format!("Failed to retrieve {name}: {why}"));
                }
            }
        }
        Ok(())
    }

    /// The facts of this machine with those of the plug-ins.
    fn facts(&self) -> Json {
        let mut values = serde_json::Map::new();
        for (name, value) in fx_puppet::machine_facts(self.machine, self.name) {
            values.insert(name, fx_puppet::value_to_json(&value));
        }
        let mut folders = fx_puppet::external_fact_folders();
        folders.push(PathBuf::from(self.settings.get("pluginfactdest")));
        let rubies = [PathBuf::from(self.settings.get("plugindest")).join("facter")];
        values.extend(fx_puppet::more_facts(self.machine, &folders, &rubies, true, None));
        values.insert("clientnoop".into(), Json::from(self.request.noop));
        let now = self.log.run.look().now();
        let at = |secs: i64| {
            let at = jiff::Timestamp::from_second(secs).unwrap_or_default();
            format!("{}.{:09}+00:00", at.strftime("%Y-%m-%dT%H:%M:%S"), now.nanos)
        };
        json!({
            "name": self.name,
            "values": values,
            "timestamp": at(now.secs),
            "expiration": at(now.secs + 1800),
        })
    }

    fn fetch(
        &self,
        server: &Server,
        facts: &Json,
        environment: &str,
        configured: &str,
        uuid: &str,
    ) -> Result<Found, String> {
        let failed = |why: String| format!("Could not retrieve catalog from remote server: {why}");
        let answer = server
            .catalog(self.name, facts, environment, configured, uuid)
            .map_err(|error| failed(super::unanswered_text(&error)))?;
        if !answer.is_success() {
            return Err(failed(complaint(&answer)));
        }
        let data: Json = serde_json::from_slice(&answer.body)
            .map_err(|error| failed(format!("Could not intern from rich_data_json: {error}")))?;
        let own = data.get("environment").and_then(Json::as_str).unwrap_or(environment);
        let environment = own.to_owned();
        Ok(Found { text: answer.body, data, cached: "not_used", environment })
    }

    /// The catalog of an earlier run, where that may stand in for a new one.
    fn fallback(&self, environment: &str) -> Option<Found> {
        if self.settings.get("usecacheonfailure") == "false" {
            self.log.say(Level::Warning, "Not using cache on failed catalog");
            return None;
        }
        let found = self.kept(Some(environment), "on_failure")?;
        let text = format!("Using cached catalog from environment '{environment}'");
        self.log.say(Level::Notice, &text);
        Some(found)
    }

    fn kept_path(&self) -> PathBuf {
        let dir = PathBuf::from(self.settings.get("client_datadir"));
        dir.join("catalog").join(format!("{}.json", self.name))
    }

    fn kept(&self, environment: Option<&str>, cached: &'static str) -> Option<Found> {
        let text = self.log.run.look().read_trusted_data_opt(&self.kept_path()).ok().flatten()?;
        let data: Json = serde_json::from_slice(&text).ok()?;
        let own = data.get("environment").and_then(Json::as_str)?.to_owned();
        if environment.is_some_and(|wanted| wanted != own) {
            return None;
        }
        Some(Found { text, data, cached, environment: own })
    }

    /// Keeps the catalog for a run without a server.
    fn keep(&self, found: &Found) -> Result<(), String> {
        self.log.say(Level::Info, &format!("Caching catalog for {}", self.name));
        let path = self.kept_path();
        let options = WriteOptions { mode: Some(0o660), ..WriteOptions::default() };
        let kept = self.log.run.own_state(|act| {
            fx_resources::directory::make_parents(act, &path, 0o750)?;
            act.write(&path, &found.text, &options)?;
            Ok::<(), fx_engine::Failure>(())
        });
        kept.map_err(|failure| format!("Could not cache the catalog: {failure}"))
    }

    fn send(&self, server: &Server, report: &Json, environment: &str) {
        if self.settings.get("report") == "false" {
            return;
        }
        let why = match server.report(self.name, report, environment) {
            Ok(answer) if answer.is_success() => {
                let data: Option<Json> = serde_json::from_slice(&answer.body).ok();
                if data.is_some_and(|data| data.is_array()) {
                    return;
                }
                "the server's answer is no list of report processors".to_owned()
            }
            // A server without reports is no failure.
            Ok(answer) if answer.status == 404 => return,
            Ok(answer) => complaint(&answer),
            Err(error) => super::unanswered_text(&error),
        };
        self.log.say(Level::Error, &format!("Could not send report: {why}"));
    }

    /// The report of a run that had no catalog.
    fn send_failure(&self, server: &Server, environment: &str, uuid: &str, used: Option<String>) {
        let now = self.log.run.look().now();
        let at = jiff::Timestamp::from_second(now.secs).unwrap_or_default();
        let time = format!("{}.{:09}+00:00", at.strftime("%Y-%m-%dT%H:%M:%S"), now.nanos);
        let row = |(level, text): (Level, String)| {
            let level = super::level_word(level);
            json!({"level": level, "message": text, "source": "Puppet", "tags": [level],
                   "time": time, "file": null, "line": null})
        };
        let logs: Vec<Json> = self.log.take().into_iter().map(row).collect();
        let mut report = json!({
            "host": self.name,
            "time": time,
            "configuration_version": null,
            "transaction_uuid": uuid,
            "report_format": 12,
            "puppet_version": fx_puppet::VERSION,
            "status": "failed",
            "transaction_completed": false,
            "noop": self.request.noop,
            "noop_pending": false,
            "environment": environment,
            "logs": logs,
            "metrics": {},
            "resource_statuses": {},
            "corrective_change": false,
            "catalog_uuid": null,
            "cached_catalog_status": "not_used",
        });
        if let Some(used) = used {
            report["server_used"] = Json::from(used);
        }
        self.send(server, &report, environment);
    }
}

/// A random name for a run.
fn random_name(log: &Log<'_>) -> String {
    let mut bytes = [0; 16];
    log.run.look().random(&mut bytes);
    fx_puppet_apply::uuid(bytes)
}
