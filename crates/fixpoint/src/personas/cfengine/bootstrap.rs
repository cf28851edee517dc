//! `cf-agent --bootstrap`: makes this host a client of a hub, or the hub itself.

use std::path::Path;

use fx_cfengine::Request;
use fx_cfengine::config::{Paths, configure};
use fx_cfengine::peers::Peers;
use fx_formats::base64;
use fx_host::{Edits, Env, Files, HostError, Net, OsHost, WriteOptions};
use fx_wire::cfengine::{Direction, HostPort};

use super::say;

const ID_BYTES: usize = 30;

/// What was asked for on the command line.
#[derive(Clone, Debug, Default)]
pub(super) struct Bootstrap {
    /// The hub as it was given.
    pub(super) hub: String,
    pub(super) distrusts: bool,
    pub(super) skips_policy: bool,
}

fn error(text: &str) {
    say(&format!("   error: {text}"));
}

impl Bootstrap {
    /// Prepares the work directory and turns the request into a run of the built-in policy;
    /// `None` where that cannot be, the reason having been printed.
    pub(super) fn begin(&self, host: &OsHost, request: &Request) -> Option<Request> {
        if host.euid() != 0 {
            error("Not enough privileges to bootstrap CFEngine");
            return None;
        }
        let hub = HostPort::parse(&self.hub);
        let address = host.resolve(&hub.host).ok().and_then(|found| found.first().copied());
        let Some(address) = address else {
            error(&format!("Could not resolve hostname '{}', unable to bootstrap", self.hub));
            return None;
        };
        if address.is_loopback() {
            let text = "Bootstrapping to loopback interface (localhost), other hosts will not be able to bootstrap to this server";
            say(&format!(" warning: {text}"));
        }
        let paths = configure(host, request).paths;
        let interfaces = host.interfaces().unwrap_or_default();
        let own = interfaces.iter().flat_map(|one| &one.addresses);
        let is_hub = own.into_iter().any(|one| one.ip == address);
        let master = format!("{}/promises.cf", paths.masterfiles);
        if is_hub && !host.exists(Path::new(&master)).unwrap_or(false) {
            error(&format!(
                "In order to bootstrap as a policy server, the file '{master}' must exist."
            ));
            return None;
        }
        if let Err(problem) = self.prepare(host, &paths, is_hub, &address.to_string()) {
            error(&problem.to_string());
            return None;
        }
        let mut classes = vec!["bootstrap_mode"];
        if is_hub {
            classes.extend(["am_policy_hub", "policy_server"]);
        } else if !self.distrusts {
            say(
                "  notice: Bootstrap mode: implicitly trusting server, use --trust-server=no if server trust is already established",
            );
            classes.push("trust_server");
        }
        if self.skips_policy {
            classes.push("skip_policy_on_bootstrap");
        }
        let mut define = request.define.clone();
        define.extend(classes.into_iter().map(str::to_owned));
        let file = Some(format!("{}/failsafe.cf", paths.inputs));
        Some(Request { file, define, no_lock: true, fallback: true, ..request.clone() })
    }

    fn prepare(
        &self,
        host: &OsHost,
        paths: &Paths,
        is_hub: bool,
        address: &str,
    ) -> Result<(), HostError> {
        let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
        let put = |file: &str, text: &[u8]| host.write(Path::new(file), text, &options);
        let inputs = Path::new(&paths.inputs);
        if host.exists(inputs)? {
            for entry in host.list(inputs)? {
                remove(host, &inputs.join(&entry.name), 0)?;
            }
        } else {
            host.make_dir(inputs, 0o700)?;
        }
        put(&format!("{}/failsafe.cf", paths.inputs), fx_cfengine_agent::FAILSAFE.as_bytes())?;
        put(&format!("{}/policy_server.dat", paths.workdir), format!("{}\n", self.hub).as_bytes())?;
        let mut id = [0; ID_BYTES];
        host.random(&mut id);
        let id = format!("{}\n", base64::encode(&id));
        put(&format!("{}/bootstrap_id.dat", paths.workdir), id.as_bytes())?;
        if is_hub {
            put(&format!("{}/am_policy_hub", paths.state), b"")?;
            let peers = Peers::new(&paths.workdir);
            if let Ok(key) = peers.own_public_key(host) {
                peers.trust(host, "root", &key)?;
                let contact = [(key.digest(), address.to_owned())];
                peers.saw(host, &contact, Direction::Incoming)?;
            }
        }
        host.commit()
    }

    /// Whether the first policy is here and the scheduler runs; what it takes otherwise is taken
    /// back.
    pub(super) fn end(&self, host: &OsHost, request: &Request) -> u8 {
        let paths = configure(host, request).paths;
        let policy = format!("{}/promises.cf", paths.inputs);
        let why = if !host.exists(Path::new(&policy)).unwrap_or(false) {
            format!("Bootstrapping failed, no input file at '{policy}' after bootstrap")
        } else if !self.skips_policy && !runs(host, "cf-execd") {
            "Bootstrapping failed, cf-execd is not running".to_owned()
        } else {
            say(&format!("  notice: Bootstrap to '{}' completed successfully!", self.hub));
            return 0;
        };
        error(&why);
        for file in [
            format!("{}/policy_server.dat", paths.workdir),
            format!("{}/am_policy_hub", paths.state),
        ] {
            // Where there is none there is nothing to take back.
            let _absent = host.remove_file(Path::new(&file));
        }
        1
    }
}

fn remove(host: &OsHost, path: &Path, depth: u32) -> Result<(), HostError> {
    if !host.lstat(path)?.is_dir() || depth > 100 {
        return host.remove_file(path);
    }
    for entry in host.list(path)? {
        remove(host, &path.join(&entry.name), depth + 1)?;
    }
    host.remove_dir(path)
}

// Whether a process of this name runs.
fn runs(host: &OsHost, name: &str) -> bool {
    let entries = host.list(Path::new("/proc")).unwrap_or_default();
    entries.iter().any(|entry| {
        let file = Path::new("/proc").join(&entry.name).join("cmdline");
        let is_process = entry.name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit);
        is_process
            && host.read(&file).is_ok_and(|line| String::from_utf8_lossy(&line).contains(name))
    })
}
