//! `puppet agent`: takes its catalog from a server and applies it, once or again and again.

mod attributes;
mod cycle;
mod daemon;
pub(super) mod identity;
mod locks;
pub(super) mod log;
mod plugins;
pub(super) mod servers;
mod sources;
mod spool;

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fx_engine::{Cancel, Level};
use fx_host::OsHost;
use fx_puppet::Machine;
use fx_puppet_apply::Request;
use fx_remote::NetError;
use fx_remote::puppet::Unanswered;
use fx_report::console::puppet::PuppetConsole;

use super::flags::Flags;
use super::ground::{fail, say};
use super::settings::Settings;
use super::{apply, complain};
use cycle::Cycle;
use identity::{Files, NoIdentity, Ready};
use log::Log;

/// What each request says of us. Servers look at the version.
pub(super) fn headers() -> Vec<(String, String)> {
    let version = fx_puppet::VERSION;
    let agent = format!("Puppet/{version} fixpoint/{}", env!("CARGO_PKG_VERSION"));
    vec![("X-Puppet-Version".into(), version.into()), ("User-Agent".into(), agent)]
}

/// Why a server could not be reached, in the words of the original.
pub(super) fn unreachable_text(unanswered: &Unanswered) -> String {
    let place = unanswered.url.strip_prefix("https://").unwrap_or(&unanswered.url);
    let place = place.split('/').next().unwrap_or(place);
    let why = match &unanswered.error {
        NetError::Refused => "Connection refused - connect(2)",
        NetError::Name => "getaddrinfo: Name or service not known",
        other => return other.to_string(),
    };
    format!("Failed to open TCP connection to {place} ({why})")
}

/// A request that had no answer, as errors show it.
pub(super) fn unanswered_text(unanswered: &Unanswered) -> String {
    format!(
        "Request to {} failed after {:.3} seconds: {}",
        unanswered.url,
        unanswered.after.as_secs_f64(),
        unreachable_text(unanswered)
    )
}

/// A level as reports name it.
fn level_word(level: Level) -> &'static str {
    match level {
        Level::Error => "err",
        Level::Warning => "warning",
        Level::Notice => "notice",
        Level::Info => "info",
        _ => "debug",
    }
}

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, _words: &[String]) -> u8 {
    let args: Vec<String> = flags.written().collect();
    let stop = fx_host::stop_on_signals();
    let host = Rc::new(OsHost::cancelled_by(std::sync::Arc::clone(&stop)));
    let mut settings = Settings::read(&host, flags, "agent");
    let is_environment_given = flags.setting("environment").is_some();
    if flags.has("test") {
        // What the flag stands for, unless said otherwise.
        for (name, value) in [
            ("onetime", "true"),
            ("daemonize", "false"),
            ("usecacheonfailure", "false"),
            ("splay", "false"),
            ("show_diff", "true"),
        ] {
            settings.fill(name, value);
        }
    }
    let machine = Machine::new(Rc::clone(&host), Cancel::from_flag(std::sync::Arc::clone(&stop)));
    machine.given_by_flags(flags.settings());
    let name = settings.certname(&machine);
    settings.fill("run_mode", "agent");
    let console = apply::console(flags, &settings);
    machine.run().ledger.watch(console.clone());
    let agent = Agent {
        flags,
        settings: &settings,
        machine: &machine,
        name: &name,
        headers: headers(),
        is_environment_given,
        stop: &stop,
        console: &console,
        args: &args,
    };
    let code = agent.run();
    console.flush();
    code
}

struct Agent<'a> {
    flags: &'a Flags,
    settings: &'a Settings,
    machine: &'a Machine,
    name: &'a str,
    headers: Vec<(String, String)>,
    is_environment_given: bool,
    stop: &'a AtomicBool,
    console: &'a PuppetConsole,
    /// The command line, without the name of the subcommand.
    args: &'a [String],
}

impl Agent<'_> {
    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(self.settings.get(name))
    }

    fn is_on(&self, name: &str) -> bool {
        self.settings.get(name) == "true"
    }

    fn run(&self) -> u8 {
        let run = self.machine.run();
        let lock = self.path("agent_disabled_lockfile");
        if self.flags.has("enable") || self.flags.has("disable") {
            let done = match self.flags.get("disable") {
                Some(message) => locks::disable(run, &lock, message),
                None => locks::enable(run, &lock),
            };
            return done.map_or_else(fail, |()| 0);
        }
        if self.flags.has("fingerprint") {
            return self.fingerprint();
        }
        if self.is_on("onetime") {
            let pause = self.splay();
            if !pause.is_zero() {
                let log = Log::new(run);
                log.say(
                    Level::Info,
                    &format!("Sleeping for {} seconds (splay is enabled)", pause.as_secs()),
                );
                self.pause(pause);
            }
            return self.once();
        }
        daemon::run(self)
    }

    /// A random time up to `splaylimit`, where `splay` is on.
    fn splay(&self) -> Duration {
        if !self.is_on("splay") {
            return Duration::ZERO;
        }
        let limit = self.settings.shown("splaylimit").parse::<u64>().unwrap_or(1800).max(1);
        let mut bytes = [0; 8];
        self.machine.run().look().random(&mut bytes);
        Duration::from_secs(u64::from_le_bytes(bytes) % limit)
    }

    /// Waits, unless it is time to stop.
    fn pause(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.stop.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(500)));
        }
    }

    fn fingerprint(&self) -> u8 {
        use fx_crypto::digest::Algorithm;
        let word = self.flags.get("digest").unwrap_or("SHA256").to_uppercase();
        let algorithm = match word.as_str() {
            "SHA1" => Algorithm::Sha1,
            "SHA512" => Algorithm::Sha512,
            "MD5" => Algorithm::Md5,
            _ => Algorithm::Sha256,
        };
        let look = self.machine.run().look();
        let read = |name: &str| {
            let text = look.read_opt(&self.path(name)).ok().flatten()?;
            Some(String::from_utf8_lossy(&text).into_owned())
        };
        let of_certificate = read("hostcert")
            .and_then(|text| fx_wire::x509::Certificate::from_pem(&text).ok())
            .map(|certificate| certificate.fingerprint(algorithm));
        let of_request = || {
            let request = fx_wire::x509::Request::from_pem(&read("hostcsr")?).ok()?;
            Some(request.fingerprint(algorithm))
        };
        match of_certificate.or_else(of_request) {
            Some(found) => say(&format!("({word}) {found}")),
            None => {
                complain(
                    "Fingerprint asked but neither the certificate, nor the certificate request have been issued",
                );
                1
            }
        }
    }

    /// One run; its exit code.
    fn once(&self) -> u8 {
        let run = self.machine.run();
        let log = Log::new(run);
        match locks::disabled(run, &self.path("agent_disabled_lockfile")) {
            Ok(None) => {}
            Ok(Some(reason)) => {
                log.say(
                    Level::Notice,
                    &format!(
                        "Skipping run of Puppet configuration client; administratively disabled (Reason: '{reason}');\nUse 'puppet agent --enable' to re-enable."
                    ),
                );
                return 1;
            }
            Err(why) => return failed(&log, &why),
        }
        let Some(ready) = self.identity(&log) else { return 1 };
        let path = self.path("agent_catalog_run_lockfile");
        let lock = match locks::take(run, &path) {
            Ok(Some(lock)) => lock,
            Ok(None) => {
                log.say(
                    Level::Notice,
                    &format!(
                        "Run of Puppet configuration client already in progress; skipping  ({} exists)",
                        path.display()
                    ),
                );
                return 1;
            }
            Err(why) => return failed(&log, &why),
        };
        let cycle = Cycle {
            machine: self.machine,
            settings: self.settings,
            log: &log,
            name: self.name,
            headers: &self.headers,
            ready: &ready,
            request: self.request(),
            is_environment_given: self.is_environment_given,
        };
        let code = cycle.run();
        drop(lock);
        match run.own_state(|act| act.commit()) {
            Ok(()) => code,
            Err(error) => failed(&log, &error.to_string()),
        }
    }

    /// Key and certificate; waits for the signature where that is wanted.
    fn identity(&self, log: &Log<'_>) -> Option<Ready> {
        let files = Files { settings: self.settings, log, name: self.name, headers: &self.headers };
        // A single run waits only if the setting is given.
        let wait = self.settings.is_given("waitforcert");
        let wait = wait.then(|| self.settings.shown("waitforcert").parse().ok()).flatten();
        let wait: u64 = wait.unwrap_or(0);
        loop {
            match files.bootstrap() {
                Ok(ready) => return Some(ready),
                Err(NoIdentity::Failed(why)) => {
                    log.say(Level::Error, &why);
                    return None;
                }
                Err(NoIdentity::Unsigned) => {
                    log.say(
                        Level::Info,
                        &format!("Certificate for {} has not been signed yet", self.name),
                    );
                    self.console.flush();
                    say(&format!(
                        "Couldn't fetch certificate from CA server; you might still need to sign this agent's certificate ({}).",
                        self.name
                    ));
                    if wait == 0 {
                        say("Exiting now because the waitforcert setting is set to 0.");
                        return None;
                    }
                    self.pause(Duration::from_secs(wait));
                    if self.stop.load(Ordering::Relaxed) {
                        return None;
                    }
                }
            }
        }
    }

    /// What is applied, without the catalog.
    fn request(&self) -> Request {
        let words = |name: &str| -> Vec<String> {
            let list = self.settings.get(name);
            let list = if self.settings.is_given(name) { list } else { String::new() };
            let words = list.split(',').map(|tag| tag.trim().to_owned());
            words.filter(|tag| !tag.is_empty()).collect()
        };
        let hook = |name: &str| Some(self.settings.get(name)).filter(|text| !text.is_empty());
        let vardir = self.path("vardir");
        Request {
            noop: self.is_on("noop"),
            tags: words("tags"),
            skip_tags: words("skip_tags"),
            prerun: hook("prerun_command"),
            postrun: hook("postrun_command"),
            show_diff: self.is_on("show_diff"),
            plugins: Some(vardir.clone()),
            vardir: Some(vardir),
            certname: Some(self.name.to_owned()),
            report: Some(self.path("lastrunreport")),
            summary: Some(self.path("lastrunfile")),
            class_list: Some(self.path("classfile")),
            resource_list: Some(self.path("resourcefile")),
            given: self.settings.values().clone(),
            level: Some(apply::level(self.flags, self.settings)),
            detailed_exitcodes: self.flags.has("detailed-exitcodes") || self.flags.has("test"),
            ..Request::default()
        }
    }
}

/// Logs why there is no run; the exit code.
fn failed(log: &Log<'_>, why: &str) -> u8 {
    log.say(Level::Error, why);
    1
}
