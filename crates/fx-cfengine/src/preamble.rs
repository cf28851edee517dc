//! What `-v` logs around a run: the machine, the classes found, and how it ended.
//!
//! People look for classes in it. What the original logs of its own internals (plug-ins,
//! databases, the helper that validates) has no counterpart here and is left out.

use fx_engine::Level;

use crate::eval::Context;
use crate::eval::vars::Found;
use crate::load::lower::Component;
use crate::text::{Str, path};

const RULER: &str = "----------------------------------------------------------------";

impl Context<'_> {
    fn banner(&self, title: &str) {
        self.verbose(RULER);
        self.verbose(&format!(" {title} "));
        self.verbose(RULER);
    }

    /// Before the machine is looked at.
    pub(crate) fn log_start(&self) {
        if !self.logs(Level::Verbose) {
            return;
        }
        self.verbose(" CFEngine Core 3.21.0");
        self.banner("Initialization preamble");
        self.verbose(&format!("Work directory is {}", self.config.paths.workdir));
        let now = self.host().now().secs;
        let date = crate::clock::format(self, now, false, "%a %b %e %H:%M:%S %Y");
        self.verbose(&format!("Reference time set to '{}'", date.unwrap_or_default()));
        self.verbose("CFEngine Core 3.21.0 - ready");
    }

    /// After the machine was looked at.
    pub(crate) fn log_machine(&self) {
        if !self.logs(Level::Verbose) {
            return;
        }
        let sys = |name: &str| -> Str {
            self.vars.get("sys", name).and_then(Found::scalar).unwrap_or_default()
        };
        self.banner("Environment discovery");
        self.verbose(&format!("Host name is: {}", sys("uqhost")));
        self.verbose(&format!("Operating System Type is {}", sys("os")));
        self.verbose(&format!("Operating System Release is {}", sys("release")));
        self.verbose(&format!("Architecture = {}", sys("arch")));
        self.verbose(&format!(
            "CFEngine detected operating system description is {}",
            sys("class")
        ));
        self.verbose(&format!("The time is now {}", sys("date")));
        let (os, release, arch) = (sys("os"), sys("release"), sys("arch"));
        let bits = if self.hard.contains_key("64_bit") { "64_bit" } else { "32_bit" };
        let release = crate::text::canonify(&release);
        for class in [
            bits.to_owned(),
            format!("{os}_{release}"),
            format!("{os}_{arch}"),
            format!("{os}_{arch}_{release}"),
        ] {
            self.verbose(&format!("Additional hard class defined as: {class}"));
        }
        self.verbose("GNU autoconf class from compile time: compiled_on_linux_gnu");
        let interfaces = self.host().interfaces().unwrap_or_default();
        for (number, interface) in interfaces.iter().enumerate() {
            self.verbose(&format!("Interface {}: {}", number + 1, interface.name));
        }
        self.verbose(&format!("Found {} processors", sys("cpus")));
        self.verbose("Loading persistent classes");
    }

    /// Whether this host has a hub.
    pub(crate) fn log_hub(&self) {
        let dir = &self.config.paths.workdir;
        let file = format!("{dir}/policy_server.dat");
        if self.logs(Level::Verbose) && self.host().stat(&path(&file)).is_err() {
            self.verbose(&format!(
                "This agent is not bootstrapped - can't find policy_server.dat in: {dir}"
            ));
        }
    }

    /// Before policy is read.
    pub(crate) fn log_loading(&self) {
        if self.logs(Level::Verbose) {
            self.banner("Loading policy");
        }
    }

    /// After all policy was read: what prefixes mean, and all classes.
    pub(crate) fn log_classes(&self) {
        if !self.logs(Level::Verbose) {
            return;
        }
        self.verbose(RULER);
        self.verbose("PREFIX LEGEND:");
        self.verbose(" V: variable or parameter new definition in scope");
        self.verbose(" C: class/context new definition ");
        self.verbose(" B: bundle start/end execution marker");
        self.verbose(" P: promise execution output ");
        self.verbose(" A: accounting output ");
        self.verbose(" T: time measurement for stated object (promise or bundle)");
        self.verbose(RULER);
        self.verbose(RULER);
        self.verbose("BEGIN Discovered hard classes:");
        for name in sorted(self.hard.keys()) {
            self.verbose(&format!("C: discovered hard class {name}"));
        }
        self.verbose("END Discovered hard classes");
        self.verbose(RULER);
        if !self.soft.is_empty() {
            self.verbose("BEGIN initial soft classes:");
            for name in sorted(self.soft.keys()) {
                let base = name.split_once(':').map_or(&**name, |(_, base)| base);
                self.verbose(&format!("C: added soft class {base}"));
            }
            self.verbose("END initial soft classes");
        }
        if self.config.component == Component::Agent {
            self.banner("Preliminary variable/class-context convergence");
        }
    }

    /// Before the first bundle.
    pub fn log_begin(&self) {
        if !self.logs(Level::Verbose) {
            return;
        }
        let key = format!("{}/ppkeys/localhost.priv", self.config.paths.workdir);
        if self.host().stat(&path(&key)).is_err() {
            self.verbose("No public/private key pair is loaded, please create one using cf-key");
        }
        self.banner("Begin policy/promise evaluation");
    }

    /// The version that policy gives itself.
    pub fn policy_version(&self) -> Option<Str> {
        let body = self.policy.body("common", "default", "control")?;
        self.effective(body, "version")?.as_scalar().cloned()
    }
}

fn sorted<'a>(names: impl Iterator<Item = &'a Str>) -> Vec<&'a Str> {
    let mut names: Vec<&Str> = names.collect();
    names.sort();
    names
}
