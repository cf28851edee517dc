//! The puppet persona: `puppet apply`, `puppet parser`, and a clear word for the rest.

mod apply;
mod filebucket;
mod logdest;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use fx_host::{Files, OsHost};
use fx_puppet_syntax::Strictness;
use fx_source::{Severity, SourceMap};

use crate::persona::Invocation;

/// Flags that take a value, beside those of the form `--flag=value`.
const WITH_VALUE: &[&str] = &[
    "--modulepath",
    "--confdir",
    "--vardir",
    "--lastrunreport",
    "--lastrunfile",
    "--statedir",
    "--statefile",
    "--environment",
    "--environmentpath",
    "--certname",
    "--logdest",
    "-l",
    "--execute",
    "-e",
    "--tags",
    "--catalog",
    "--codedir",
    "--rundir",
    "--logdir",
    "--ssldir",
    "--publicdir",
    "--strict",
    "--external_nodes",
    "--graphdir",
    "--hiera_config",
    "--basemodulepath",
    "--node_terminus",
    "--prerun_command",
    "--postrun_command",
    "--transactionstorefile",
    "--skip_tags",
    "--color",
    "--facts",
    "--node",
    "--merge",
    "--type",
    "--knock-out-prefix",
    "--default",
    "--render-as",
    "--values",
    "--values_file",
    "--section",
    "--param",
    "-p",
    "--config",
    "--certname",
    "--bucket",
    "-b",
    "--fromdate",
    "--todate",
    "--digest_algorithm",
    "--clientbucketdir",
    "--log_level",
    "--format",
    "--e",
];

fn say(text: &str) {
    let _closed = writeln!(std::io::stdout(), "{text}");
}

fn complain(text: &str) {
    let _closed = writeln!(std::io::stderr(), "{text}");
}

pub(crate) fn main(invocation: &Invocation) -> u8 {
    let args: Vec<String> =
        invocation.args.iter().map(|arg: &OsString| arg.to_string_lossy().into_owned()).collect();
    match args.first().map(String::as_str) {
        Some("--version" | "-V") => {
            say(crate::version::version("puppet"));
            0
        }
        None => {
            say("See 'puppet help' for help on available puppet subcommands");
            0
        }
        Some("help" | "--help" | "-h") => {
            say(
                "Usage: puppet <subcommand> [options] <action> [options]\n\nSubcommands: apply, catalog, config, describe, epp, facts, lookup, module, parser, resource",
            );
            0
        }
        Some("apply") => {
            let args = args[1..].to_vec();
            match crate::deep::spawn(move || apply::run(&args)) {
                Ok(worker) => worker.join().unwrap_or(1),
                Err(error) => {
                    complain(&format!("Error: {error}"));
                    1
                }
            }
        }
        Some("parser") => parser(&args[1..]),
        Some("filebucket") => {
            // Here `-l` means the bucket of this machine, and takes no value.
            let long = |arg: &String| if arg == "-l" { "--local".into() } else { arg.clone() };
            let args: Vec<String> = args[1..].iter().map(long).collect();
            let (flags, words) = options(&args);
            filebucket::run(&flags, &words)
        }
        Some(other) => {
            let (name, args) = (other.to_owned(), args[1..].to_vec());
            let worker = crate::deep::spawn(move || {
                let (flags, words) = options(&args);
                crate::puppet_tools::run(&name, &flags, &words).unwrap_or_else(|| {
                    let known = ["agent", "ca", "cert", "device", "doc", "generate"];
                    let more = ["key", "node", "plugin", "report", "script", "ssl", "status"];
                    if known.contains(&name.as_str()) || more.contains(&name.as_str()) {
                        complain(&format!("Error: the subcommand '{name}' is not supported"));
                    } else {
                        say(&format!("Error: Unknown Puppet subcommand '{name}'"));
                        say("See 'puppet help' for help on available puppet subcommands");
                    }
                    1
                })
            });
            worker.map_or(1, |worker| worker.join().unwrap_or(1))
        }
    }
}

/// Whether a flag is a setting that is given a value.
fn is_valued_setting(flag: &str) -> bool {
    use fx_puppet::settings::{Kind, kind};
    flag.strip_prefix("--").and_then(kind).is_some_and(|kind| kind != Kind::Bool)
}

/// Flags by name, and the words that are none.
fn options(args: &[String]) -> (Vec<(String, String)>, Vec<String>) {
    let (mut flags, mut rest) = (Vec::new(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if !arg.starts_with('-') || arg == "-" {
            rest.push(arg.clone());
        } else if let Some((name, value)) =
            arg.split_once('=').filter(|(name, _)| name.starts_with("--"))
        {
            flags.push((name.to_owned(), value.to_owned()));
        } else if WITH_VALUE.contains(&arg.as_str()) || is_valued_setting(arg) {
            flags.push((arg.clone(), args.next().cloned().unwrap_or_default()));
        } else {
            flags.push((arg.clone(), String::new()));
        }
    }
    (flags, rest)
}

fn parser(args: &[String]) -> u8 {
    let (flags, rest) = options(args);
    let host = OsHost::cancelled_by(fx_host::stop_on_signals());
    let Some((action, files)) = rest.split_first() else {
        complain("Error: 'parser' has no default action.  See `puppet help parser`.");
        return 1;
    };
    if action == "dump" {
        return crate::puppet_dump::parser(&flags, files);
    }
    if action != "validate" {
        complain(&format!("Error: 'parser' has no '{action}' action.  See `puppet help parser`."));
        return 1;
    }
    let code = flags.iter().find(|(name, _)| name == "-e").map(|(_, code)| code.clone());
    let mut worst = 0;
    let texts = files
        .iter()
        .map(|file| (file.clone(), host.read(Path::new(file)).ok()))
        .chain(code.map(|code| (String::new(), Some(code.into_bytes()))));
    for (name, text) in texts {
        let Some(text) = text else {
            complain(&format!(
                "Error: One or more file(s) specified did not exist:\n[\"   {name}\\n\"]"
            ));
            complain("Error: Try 'puppet help parser validate' for usage");
            worst = 1;
            continue;
        };
        let sources = SourceMap::new();
        let file = sources.add(&name, text.clone());
        let (program, mut found) = fx_puppet_syntax::parse(&text, file);
        if found.iter().all(|found| found.severity != Severity::Error) {
            found.extend(fx_puppet_syntax::validate(&program, Strictness::Warning));
        }
        let errors = found.iter().filter(|found| found.severity == Severity::Error).count();
        for found in &found {
            let place = place(&sources, found);
            match found.severity {
                // One error is told as that of the whole, several each for itself.
                Severity::Error if errors == 1 => complain(&format!(
                    "Error: Could not parse for environment production: {}{place}",
                    found.message
                )),
                Severity::Error => complain(&format!("Error: {}{place}", found.message)),
                _ => complain(&format!("Warning: {}{place}", found.message)),
            }
        }
        if errors > 1 {
            complain(&format!("Error: Language validation logged {errors} errors. Giving up"));
        }
        if errors > 0 {
            worst = 1;
        }
    }
    worst
}

/// Where something was found, as messages end; of the end of a file the file alone is told.
pub(crate) fn place(sources: &SourceMap, found: &fx_source::Diagnostic) -> String {
    let Some(at) = found.primary().map(|span| sources.location(span)) else {
        return String::new();
    };
    match (at.file.is_empty(), found.message.ends_with("at end of input")) {
        (true, true) => String::new(),
        (false, true) => format!(" (file: {})", at.file),
        (true, false) => format!(" (line: {}, column: {})", at.line, at.column),
        (false, false) => {
            format!(" (file: {}, line: {}, column: {})", at.file, at.line, at.column)
        }
    }
}
