//! The puppet persona: its subcommands, and a clear word for those that are not supported.

mod apply;
mod catalog;
mod config;
mod describe;
mod dump;
mod epp;
mod facts;
mod filebucket;
mod flags;
mod ground;
mod logdest;
mod lookup;
mod module;
mod parser;
mod resource;
mod settings;

use std::ffi::OsString;
use std::io::Write;

use flags::Sub;

use crate::persona::Invocation;

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
        Some(other) => {
            let (name, args) = (other.to_owned(), args[1..].to_vec());
            let worker = crate::deep::spawn(move || subcommand(&name, &args));
            worker.map_or(1, |worker| worker.join().unwrap_or(1))
        }
    }
}

/// Subcommands beside `apply`: their names, flags, and what they do.
type Run = fn(&flags::Flags, &[String]) -> u8;
const SUBCOMMANDS: &[(&str, Sub, Run)] = &[
    ("catalog", Sub::Catalog, catalog::run),
    ("config", Sub::Config, config::run),
    ("describe", Sub::Describe, describe::run),
    ("epp", Sub::Epp, epp::run),
    ("facts", Sub::Facts, facts::run),
    ("filebucket", Sub::Filebucket, filebucket::run),
    ("lookup", Sub::Lookup, lookup::run),
    ("module", Sub::Module, module::run),
    ("parser", Sub::Parser, parser::run),
    ("resource", Sub::Resource, resource::run),
];

/// Subcommands of the original that are not here.
const UNSUPPORTED: &[&str] = &[
    "agent", "ca", "cert", "device", "doc", "generate", "key", "node", "plugin", "report",
    "script", "ssl", "status",
];

fn subcommand(name: &str, args: &[String]) -> u8 {
    if let Some((_, sub, run)) = SUBCOMMANDS.iter().find(|(known, ..)| *known == name) {
        let (flags, words) = flags::read(*sub, args);
        return run(&flags, &words);
    }
    if UNSUPPORTED.contains(&name) {
        complain(&format!("Error: the subcommand '{name}' is not supported"));
    } else {
        say(&format!("Error: Unknown Puppet subcommand '{name}'"));
        say("See 'puppet help' for help on available puppet subcommands");
    }
    1
}

/// An error of standard input in the words of Ruby.
fn unread_input(error: &std::io::Error) -> String {
    let text = error.to_string();
    let Some(code) = error.raw_os_error() else { return text };
    let text = text.strip_suffix(&format!(" (os error {code})")).unwrap_or(&text);
    format!("{text} @ io_fread - <STDIN>")
}
