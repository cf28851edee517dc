//! `fixpoint facts`: the neutral snapshot of the machine, whole or by name.

use fx_facts::Facts;
use fx_host::OsHost;
use fx_value::Value;

use crate::{exit, terminal};

/// Shows facts about the machine. Only what is asked for is probed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint facts                       everything
  fixpoint facts kernel os.id          one part, and one value
  fixpoint facts --format json mounts  for other programs")]
pub(crate) struct Args {
    /// Dotted names such as `os.id`; everything when none is given
    names: Vec<String>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A line for each value
    #[default]
    Text,
    /// JSON
    Json,
    /// YAML
    Yaml,
}

pub(crate) fn run(args: &Args) -> u8 {
    let host = OsHost::new();
    let facts = Facts::new(&host);
    let mut code = exit::OK;
    let chosen: Value = if args.names.is_empty() {
        facts.all()
    } else {
        let mut found = Vec::new();
        for name in &args.names {
            if let Some(value) = facts.get(name) {
                found.push((name.as_str(), value));
            } else {
                let known = Facts::names().join(", ");
                terminal::complain(format_args!(
                    "there is no fact '{name}'; the parts are {known}"
                ));
                code = exit::ERROR;
            }
        }
        found.into_iter().collect()
    };
    let text = match args.format {
        Format::Json => {
            let mut json = chosen.to_json();
            // Beside the facts, none of which has this name.
            json["schema"] = 1.into();
            format!("{json:#}\n")
        }
        Format::Yaml => chosen.to_yaml(),
        Format::Text => {
            let mut lines = String::new();
            // A single plain value is printed bare, for use in scripts.
            match single(&chosen, args) {
                Some(value) => lines = format!("{value}\n"),
                None => flatten(&mut lines, "", &chosen),
            }
            fx_source::visible(&lines).into_owned()
        }
    };
    let written = terminal::print(&text);
    for problem in facts.problems() {
        terminal::complain(format_args!("{}: {}", problem.fact, problem.message));
    }
    code.max(written)
}

fn single<'v>(chosen: &'v Value, args: &Args) -> Option<&'v Value> {
    let Value::Map(map) = chosen else { return None };
    let value = map.values().next().filter(|_| args.names.len() == 1)?;
    (!matches!(value, Value::Map(_) | Value::List(_))).then_some(value)
}

fn flatten(lines: &mut String, prefix: &str, value: &Value) {
    use std::fmt::Write;
    let join =
        |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    match value {
        Value::Map(map) => {
            for (key, value) in map {
                flatten(lines, &join(&key.to_text()), value);
            }
        }
        Value::List(items) => {
            for (number, value) in items.iter().enumerate() {
                flatten(lines, &join(&number.to_string()), value);
            }
        }
        value => {
            let _ = writeln!(lines, "{prefix} {value}");
        }
    }
}
