//! The facter persona: its flags and its output, from our own facts.

use std::ffi::OsString;

use fx_facts::Facts;
use fx_host::OsHost;
use fx_puppet::facter;
use fx_value::{Map, Value};

use crate::persona::Invocation;
use crate::{exit, terminal};

/// How the answer is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Yaml,
}

struct Options {
    format: Format,
    legacy: bool,
    strict: bool,
    queries: Vec<String>,
}

pub(crate) fn main(invocation: &Invocation) -> u8 {
    let options = match parse(&invocation.args) {
        Ok(Some(options)) => options,
        Ok(None) => return terminal::print(&format!("{}\n", facter::VERSION)),
        Err(message) => {
            terminal::complain_as("facter", message);
            return exit::ERROR;
        }
    };
    let host = OsHost::new();
    let facts = Facts::new(&host);
    let all = facter::facts(&host, &facts);
    let old = facter::legacy(&all);
    let (text, missing) = if options.queries.is_empty() {
        let Value::Map(mut shown) = all else { return exit::ERROR };
        if options.legacy {
            shown.extend(old);
            shown.sort_keys();
        }
        (whole(&options, shown), false)
    } else {
        answers(&options, &all, &old)
    };
    let written = terminal::print(&text);
    if missing && options.strict { exit::ERROR } else { written }
}

fn whole(options: &Options, facts: Map) -> String {
    match options.format {
        Format::Text => facter::text(&facts),
        Format::Json => format!("{:#}\n", Value::Map(facts).to_json()),
        Format::Yaml => Value::Map(facts).to_yaml(),
    }
}

fn answers(options: &Options, all: &Value, old: &Map) -> (String, bool) {
    let mut found: Vec<(String, Value)> = options
        .queries
        .iter()
        .map(|query| {
            let path: Vec<&str> = query.split('.').collect();
            let value = all.dig(&path).or_else(|| old.get(query.as_bytes()).cloned());
            (query.clone(), value.unwrap_or_default())
        })
        .collect();
    // Answers come in the order of their names, whatever the order of the questions.
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let missing = found.iter().any(|(_, value)| *value == Value::Undef);
    let text = match options.format {
        Format::Text => facter::query_text(&found),
        Format::Json | Format::Yaml => {
            whole(options, found.into_iter().map(|(name, value)| (name.into(), value)).collect())
        }
    };
    (text, missing)
}

/// The options; `None` when the version is asked for.
fn parse(args: &[OsString]) -> Result<Option<Options>, String> {
    let mut options =
        Options { format: Format::Text, legacy: false, strict: false, queries: Vec::new() };
    let mut args = args.iter().map(|arg| arg.to_string_lossy().into_owned());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-v" | "--version" => return Ok(None),
            "-j" | "--json" => options.format = Format::Json,
            "-y" | "--yaml" => options.format = Format::Yaml,
            "--show-legacy" => options.legacy = true,
            "--strict" => options.strict = true,
            "--no-color"
            | "--color"
            | "--no-block"
            | "--no-cache"
            | "--no-custom-facts"
            | "--no-external-facts"
            | "--no-ruby"
            | "--trace"
            | "--verbose"
            | "--sequential"
            | "-d"
            | "--debug" => {}
            "-l" | "--log-level" | "-c" | "--config" => {
                args.next();
            }
            "--hocon"
            | "--custom-dir"
            | "--external-dir"
            | "-p"
            | "--puppet"
            | "-t"
            | "--timing"
            | "--list-block-groups"
            | "--list-cache-groups"
            | "--http-debug" => {
                return Err(format!("the option '{arg}' is not supported yet"));
            }
            flag if flag.starts_with('-') && flag.len() > 1 => {
                return Err(format!("unrecognised option '{flag}'"));
            }
            query => options.queries.push(query.to_owned()),
        }
    }
    Ok(Some(options))
}
