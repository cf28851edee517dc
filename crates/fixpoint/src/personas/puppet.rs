//! The puppet persona: its subcommands, and a clear word for those that are not supported.

mod agent;
mod apply;
mod catalog;
mod config;
mod describe;
mod dump;
mod epp;
mod facts;
mod filebucket;
mod flags;
mod generate;
mod ground;
mod help;
mod logdest;
mod lookup;
mod module;
mod parser;
mod resource;
pub(crate) mod settings;
mod ssl;

use std::ffi::OsString;
use std::io::Write;

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
        Some("help" | "--help" | "-h") => help::run(&args[1..]),
        // Without a subcommand no flag but these is known.
        Some(flag) if flag.starts_with('-') => {
            say(&format!("Error: Could not parse application options: invalid option: {flag}"));
            1
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

/// Subcommands beside `apply`: their names, and what they do.
type Run = fn(&flags::Flags, &[String]) -> u8;
const SUBCOMMANDS: &[(&str, Run)] = &[
    ("agent", agent::run),
    ("catalog", catalog::run),
    ("config", config::run),
    ("describe", describe::run),
    ("epp", epp::run),
    ("facts", facts::run),
    ("filebucket", filebucket::run),
    ("generate", generate::run),
    ("lookup", lookup::run),
    ("module", module::run),
    ("parser", parser::run),
    ("resource", resource::run),
    ("ssl", ssl::run),
];

fn subcommand(name: &str, args: &[String]) -> u8 {
    let known = SUBCOMMANDS.iter().find(|(known, _)| *known == name).zip(help::about(name));
    if let Some(((_, run), about)) = known {
        let (flags, words) = flags::read(about.sub, args);
        if let Some(message) = flags.refusal(about.sub) {
            return ground::fail(message);
        }
        if flags.wants_help() {
            return help::of(name, &words);
        }
        if flags.has("version") {
            say(crate::version::version("puppet"));
            return 0;
        }
        return run(&flags, &words);
    }
    if let Some((_, why)) = help::UNSUPPORTED.iter().find(|(known, _)| *known == name) {
        return ground::fail(help::not_here(name, why));
    }
    say(&format!("Error: Unknown Puppet subcommand '{name}'"));
    say("See 'puppet help' for help on available puppet subcommands");
    1
}

/// An error of standard input in the words of Ruby.
fn unread_input(error: &std::io::Error) -> String {
    let text = error.to_string();
    let Some(code) = error.raw_os_error() else { return text };
    let text = text.strip_suffix(&format!(" (os error {code})")).unwrap_or(&text);
    format!("{text} @ io_fread - <STDIN>")
}
