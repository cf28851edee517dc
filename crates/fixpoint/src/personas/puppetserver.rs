//! The persona `puppetserver ca`: certificates of a running server over HTTPS, and the files of an
//! authority that does not run.

mod client;
mod offline;
mod online;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use fx_host::{Files, OsHost};

use crate::persona::Invocation;
use crate::personas::puppet::settings::Settings;

/// The version of the original's program that this equals.
const VERSION: &str = "2.4.0";

fn inform(text: &str) {
    let _closed = writeln!(std::io::stdout(), "{text}");
}

/// Prints errors as the original does; the exit code.
fn errors(lines: &[String]) -> u8 {
    let _closed = writeln!(std::io::stderr(), "Error:\n{}", lines.join("\n"));
    1
}

/// The same with how the action is called.
fn errors_with_usage(lines: &[String], action: &Action) -> u8 {
    errors(lines);
    let _closed = writeln!(std::io::stderr(), "\n{}", action.usage());
    1
}

/// An action with the options that it takes.
struct Action {
    name: &'static str,
    about: &'static str,
    /// Options with a value; those without one.
    valued: &'static [&'static str],
    plain: &'static [&'static str],
    run: fn(&Options) -> u8,
}

const ACTIONS: &[Action] = &[
    Action {
        name: "clean",
        about: "Revokes certificates and removes them and their requests",
        valued: &["certname", "config"],
        plain: &[],
        run: online::clean,
    },
    Action {
        name: "generate",
        about: "Makes a key and has a certificate for it signed",
        valued: &["certname", "config", "subject-alt-names", "ttl"],
        plain: &["ca-client", "force"],
        run: online::generate,
    },
    Action {
        name: "list",
        about: "Lists requests, or all certificates too",
        valued: &["certname", "config", "format"],
        plain: &["all"],
        run: online::list,
    },
    Action {
        name: "revoke",
        about: "Revokes certificates",
        valued: &["certname", "config"],
        plain: &[],
        run: online::revoke,
    },
    Action {
        name: "sign",
        about: "Signs requests",
        valued: &["certname", "config", "ttl"],
        plain: &["all"],
        run: online::sign,
    },
    Action {
        name: "import",
        about: "Takes over an authority from its key, certificates and lists",
        valued: &[
            "config",
            "private-key",
            "cert-bundle",
            "crl-chain",
            "certname",
            "subject-alt-names",
        ],
        plain: &[],
        run: offline::import,
    },
    Action {
        name: "setup",
        about: "Makes a root, an authority below it, and the server's certificate",
        valued: &["config", "subject-alt-names", "ca-name", "certname"],
        plain: &[],
        run: offline::setup,
    },
];

impl Action {
    fn usage(&self) -> String {
        let valued = self.valued.iter().map(|name| format!(" [--{name} VALUE]"));
        let plain = self.plain.iter().map(|name| format!(" [--{name}]"));
        let options: String = valued.chain(plain).collect();
        format!("Usage:\n  puppetserver ca {}{options}\n\n{}.", self.name, self.about)
    }
}

/// What the command line says.
struct Options {
    action: &'static Action,
    given: Vec<(String, String)>,
    host: OsHost,
}

impl Options {
    fn get(&self, name: &str) -> Option<&str> {
        self.given.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Names with commas between them.
    fn names(&self) -> Vec<String> {
        let given = self.given.iter().filter(|(name, _)| name == "certname");
        let names = given.flat_map(|(_, value)| value.split(','));
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// The settings of the file that is named, or of the usual one.
    fn settings(&self) -> Result<Settings, u8> {
        let mut given = std::collections::BTreeMap::new();
        if let Some(config) = self.get("config") {
            if self.host.stat(config.as_ref()).is_err() {
                return Err(errors(&[format!("Could not read file '{config}'")]));
            }
            given.insert("config".to_owned(), config.to_owned());
            // Other files lie beside it.
            let dir = PathBuf::from(config).parent().map(|dir| dir.to_string_lossy().into_owned());
            given.insert("confdir".to_owned(), dir.unwrap_or_default());
        }
        let overridden = [
            ("certname", "certname"),
            ("ca-name", "ca_name"),
            ("subject-alt-names", "dns_alt_names"),
        ];
        if matches!(self.action.name, "setup" | "import") {
            for (option, setting) in overridden {
                if let Some(value) = self.get(option) {
                    given.insert(setting.to_owned(), value.to_owned());
                }
            }
        }
        let settings = Settings::with(&self.host, given, "server");
        if settings.get("certname").is_empty() {
            let machine = fx_puppet::Machine::new(
                std::rc::Rc::new(OsHost::new()),
                fx_engine::Cancel::default(),
            );
            return Ok(settings.and("certname", &fx_puppet::node_name(&machine)));
        }
        Ok(settings)
    }
}

pub(crate) fn main(invocation: &Invocation) -> u8 {
    let args: Vec<String> =
        invocation.args.iter().map(|arg: &OsString| arg.to_string_lossy().into_owned()).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["ca", "--version"] => {
            inform(VERSION);
            0
        }
        ["ca", "--help"] => {
            inform(&general_usage());
            0
        }
        ["ca"] => {
            let _closed = writeln!(std::io::stderr(), "{}", general_usage());
            1
        }
        ["ca", name, rest @ ..] => match ACTIONS.iter().find(|action| action.name == *name) {
            Some(action) => run(action, rest),
            None => {
                let text = format!("Unknown action: {name}\n{}", general_usage());
                let _closed = writeln!(std::io::stderr(), "{text}");
                1
            }
        },
        _ => {
            let text =
                "puppetserver: only 'puppetserver ca' is here; the server is 'fixpoint serve'";
            let _closed = writeln!(std::io::stderr(), "{text}");
            1
        }
    }
}

fn general_usage() -> String {
    let actions: String =
        ACTIONS.iter().map(|action| format!("    {}\t{}\n", action.name, action.about)).collect();
    format!(
        "Usage: puppetserver ca <action> [options]\n\nActions:\n\n{actions}\nSee `puppetserver ca <action> --help` for each"
    )
}

fn run(action: &'static Action, args: &[&str]) -> u8 {
    let mut given = Vec::new();
    let mut wrong = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let Some(option) = arg.strip_prefix("--") else {
            wrong.push(format!("    Unexpected argument: {arg}"));
            continue;
        };
        let (name, attached) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        if name == "help" {
            inform(&action.usage());
            return 0;
        }
        if action.plain.contains(&name) {
            given.push((name.to_owned(), String::new()));
        } else if action.valued.contains(&name) {
            match attached.or_else(|| args.next().map(|&value| value.to_owned())) {
                Some(value) => given.push((name.to_owned(), value)),
                None => wrong.push(format!("    Missing argument: --{name}")),
            }
        } else {
            wrong.push(format!("    Invalid option: --{name}"));
        }
    }
    if !wrong.is_empty() {
        return errors_with_usage(&wrong, action);
    }
    (action.run)(&Options { action, given, host: OsHost::new() })
}
