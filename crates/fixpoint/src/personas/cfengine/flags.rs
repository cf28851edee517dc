//! What the flags of cf-agent and cf-promises mean: their tables, and a setter for each name.

use std::io::IsTerminal;

use fx_cfengine::{Request, Simulate};
use fx_engine::Level;
use fx_host::OsHost;

use super::bootstrap::Bootstrap;
use super::options::{Flag, Parsed, Takes};
use super::{complain, say};

pub(super) const AGENT: &[Flag] = &[
    Flag::new("bootstrap", Some('B'), Takes::Value, "Bootstrap to a policy server"),
    Flag::new(
        "bundlesequence",
        Some('b'),
        Takes::Value,
        "Bundles to run instead of those of the policy",
    ),
    Flag::new("workdir", Some('w'), Takes::Value, "Work directory instead of /var/cfengine"),
    Flag::new("debug", Some('d'), Takes::Nothing, "Say everything"),
    Flag::new(
        "define",
        Some('D'),
        Takes::Value,
        "Classes, separated by commas, defined from the start",
    ),
    Flag::new(
        "self-diagnostics",
        Some('x'),
        Takes::Optional,
        "Tell what this installation has and lacks",
    ),
    Flag::new("dry-run", Some('n'), Takes::Nothing, "Change nothing, tell what is not as promised"),
    Flag::new("file", Some('f'), Takes::Value, "Policy file; a file given as argument comes first"),
    Flag::new("help", Some('h'), Takes::Nothing, "Print this help"),
    Flag::new("inform", Some('I'), Takes::Nothing, "Tell what is repaired"),
    Flag::new(
        "log-level",
        Some('g'),
        Takes::Value,
        "How much to say: 'error', 'warning', 'notice', 'info', 'verbose', 'debug'",
    ),
    Flag::new(
        "negate",
        Some('N'),
        Takes::Value,
        "Classes, separated by commas, that are never defined",
    ),
    Flag::new("no-lock", Some('K'), Takes::Nothing, "Do not mind when promises were last kept"),
    Flag::new("verbose", Some('v'), Takes::Nothing, "Tell what is done and why"),
    Flag::new("version", Some('V'), Takes::Nothing, "Print the version"),
    Flag::new("timing-output", Some('t'), Takes::Nothing, "Taken, without effect"),
    Flag::new(
        "trust-server",
        Some('T'),
        Takes::Optional,
        "Trust the server when bootstrapping: 'yes' or 'no'",
    ),
    Flag::new("color", Some('C'), Takes::Optional, "Colours: 'always', 'auto', 'never'"),
    Flag::new("no-extensions", Some('E'), Takes::Nothing, "Taken, without effect"),
    Flag::new("timestamp", Some('l'), Takes::Nothing, "A time before each line of the log"),
    Flag::new(
        "ignore-preferred-augments",
        None,
        Takes::Nothing,
        "Read def.json even where def_preferred.json is there",
    ),
    Flag::new(
        "log-modules",
        None,
        Takes::Value,
        "Modules to debug, separated by commas; 'help' lists them",
    ),
    Flag::new(
        "show-evaluated-classes",
        None,
        Takes::Optional,
        "Show the classes of the end, or those that match",
    ),
    Flag::new(
        "show-evaluated-vars",
        None,
        Takes::Optional,
        "Show the variables of the end, or those that match",
    ),
    Flag::new(
        "skip-bootstrap-policy-run",
        None,
        Takes::Nothing,
        "Do not run policy after a bootstrap",
    ),
    Flag::new("skip-db-check", None, Takes::Optional, "Taken, without effect: 'yes' or 'no'"),
    Flag::new(
        "simulate",
        None,
        Takes::Value,
        "Change copies of files and tell 'manifest', 'manifest-full' or 'diff'",
    ),
    Flag::new("", Some('M'), Takes::Nothing, ""),
];

pub(super) const PROMISES: &[Flag] = &[
    Flag::new("workdir", Some('w'), Takes::Value, "Work directory instead of /var/cfengine"),
    Flag::new(
        "eval-functions",
        None,
        Takes::Optional,
        "Call functions while checking: 'yes' or 'no'",
    ),
    Flag::new("show-classes", None, Takes::Optional, "Show the classes found, or those that match"),
    Flag::new("show-vars", None, Takes::Optional, "Show the variables found, or those that match"),
    Flag::new("help", Some('h'), Takes::Nothing, "Print this help"),
    Flag::new(
        "bundlesequence",
        Some('b'),
        Takes::Value,
        "Bundles to run instead of those of the policy",
    ),
    Flag::new("debug", Some('d'), Takes::Nothing, "Say everything"),
    Flag::new("verbose", Some('v'), Takes::Nothing, "Tell what is done and why"),
    Flag::new(
        "log-level",
        Some('g'),
        Takes::Value,
        "How much to say: 'error', 'warning', 'notice', 'info', 'verbose', 'debug'",
    ),
    Flag::new("dry-run", Some('n'), Takes::Nothing, "Change nothing, tell what is not as promised"),
    Flag::new("version", Some('V'), Takes::Nothing, "Print the version"),
    Flag::new("file", Some('f'), Takes::Value, "Policy file; a file given as argument comes first"),
    Flag::new(
        "define",
        Some('D'),
        Takes::Value,
        "Classes, separated by commas, defined from the start",
    ),
    Flag::new(
        "negate",
        Some('N'),
        Takes::Value,
        "Classes, separated by commas, that are never defined",
    ),
    Flag::new("inform", Some('I'), Takes::Nothing, "Tell what is repaired"),
    Flag::new("diagnostic", Some('x'), Takes::Nothing, "Retired"),
    Flag::new(
        "policy-output-format",
        Some('p'),
        Takes::Value,
        "Print the policy: 'none', 'cf', 'json' (this file), 'cf-full', 'json-full' (all)",
    ),
    Flag::new(
        "syntax-description",
        Some('s'),
        Takes::Value,
        "Describe the language: 'none' or 'json'",
    ),
    Flag::new("full-check", Some('c'), Takes::Nothing, "Check all, with functions called"),
    Flag::new("warn", Some('W'), Takes::Value, "Warnings to show, separated by commas, or error=…"),
    Flag::new("color", Some('C'), Takes::Optional, "Colours: 'always', 'auto', 'never'"),
    Flag::new(
        "tag-release",
        Some('T'),
        Takes::Value,
        "Check a directory of policy and mark it as a release",
    ),
    Flag::new("timestamp", Some('l'), Takes::Nothing, "A time before each line of the log"),
    Flag::new(
        "ignore-preferred-augments",
        None,
        Takes::Nothing,
        "Read def.json even where def_preferred.json is there",
    ),
    Flag::new(
        "log-modules",
        None,
        Takes::Value,
        "Modules to debug, separated by commas; 'help' lists them",
    ),
    Flag::new("", Some('M'), Takes::Nothing, ""),
];

/// What a command line asks for.
pub(super) struct Asked {
    pub(super) request: Request,
    /// A time before each line.
    pub(super) stamp: bool,
    pub(super) coloured: bool,
    pub(super) bootstrap: Option<Bootstrap>,
    /// What `--trust-server` says, and whether policy is left alone after a bootstrap.
    trust: Option<String>,
    skips_policy: bool,
    tool: &'static str,
    flags: &'static [Flag],
}

/// Takes a flag with its value; `Err` is an exit code, the reason having been printed.
type Set = fn(&mut Asked, String) -> Result<(), u8>;

/// The setters, by long name. Flags without one are taken and have no effect.
const SETTERS: &[(&str, Set)] = &[
    ("bootstrap", bootstrap),
    ("bundlesequence", |asked, text| {
        asked.request.bundles = Some(list(&text)).filter(|bundles| !bundles.is_empty());
        Ok(())
    }),
    ("color", color),
    ("debug", |asked, _| asked.level(Level::Debug)),
    ("define", |asked, text| {
        asked.request.define.extend(list(&text));
        Ok(())
    }),
    ("diagnostic", |_, _| {
        say("   error: Self-diagnostic functionality is retired.");
        Err(0)
    }),
    ("dry-run", |asked, _| {
        asked.request.dry_run = true;
        asked.request.no_lock = true;
        Ok(())
    }),
    ("eval-functions", |asked, text| {
        asked.request.no_functions = matches!(text.as_str(), "no" | "false" | "off");
        Ok(())
    }),
    ("file", |asked, text| {
        asked.request.file = Some(text);
        Ok(())
    }),
    ("full-check", |asked, _| {
        asked.request.full_check = true;
        Ok(())
    }),
    ("help", |asked, _| {
        say(&usage(asked.tool, asked.flags));
        Err(0)
    }),
    ("ignore-preferred-augments", |asked, _| {
        asked.request.ignore_preferred_augments = true;
        Ok(())
    }),
    ("inform", |asked, _| asked.level(Level::Info)),
    ("log-level", log_level),
    ("log-modules", log_modules),
    ("negate", |asked, text| {
        asked.request.negate.extend(list(&text));
        Ok(())
    }),
    ("no-lock", |asked, _| {
        asked.request.no_lock = true;
        Ok(())
    }),
    ("policy-output-format", output_format),
    ("self-diagnostics", |asked, _| {
        say(&fx_cfengine::diagnose(&OsHost::new(), &asked.request));
        Err(0)
    }),
    ("show-classes", show_classes),
    ("show-evaluated-classes", show_classes),
    ("show-evaluated-vars", show_vars),
    ("show-vars", show_vars),
    ("simulate", simulate),
    ("skip-db-check", skip_db_check),
    ("syntax-description", syntax_description),
    ("tag-release", |asked, text| {
        asked.request.file = Some(format!("{text}/promises.cf"));
        asked.request.tag_release = Some(text);
        Ok(())
    }),
    ("timestamp", |asked, _| {
        asked.stamp = true;
        Ok(())
    }),
    ("skip-bootstrap-policy-run", |asked, _| {
        asked.skips_policy = true;
        Ok(())
    }),
    ("trust-server", |asked, text| {
        asked.trust = Some(text);
        Ok(())
    }),
    ("verbose", |asked, _| {
        asked.request.no_lock |= !asked.request.check;
        asked.level(Level::Verbose)
    }),
    ("version", |asked, _| {
        say(crate::version::version(asked.tool));
        Err(0)
    }),
    ("warn", warn),
    ("workdir", |asked, text| {
        asked.request.workdir = Some(text);
        Ok(())
    }),
];

impl Asked {
    /// What the flags ask for; `Err` is an exit code, the reason having been printed.
    pub(super) fn read(
        tool: &'static str,
        flags: &'static [Flag],
        parsed: &Parsed,
        check: bool,
    ) -> Result<Asked, u8> {
        let request = Request { check, ..Request::default() };
        let mut asked = Asked {
            request,
            stamp: false,
            coloured: false,
            bootstrap: None,
            trust: None,
            skips_policy: false,
            tool,
            flags,
        };
        for (name, value) in &parsed.flags {
            if let Some((_, set)) = SETTERS.iter().find(|(known, _)| known == name) {
                set(&mut asked, value.clone().unwrap_or_default())?;
            }
        }
        match parsed.rest.as_slice() {
            [] => {}
            [file] => {
                asked.request.file = Some(file.clone());
                asked.request.here = true;
            }
            _ => {
                say("   error: Too many arguments");
                return Err(1);
            }
        }
        asked.request.interactive = interactive();
        complete_bootstrap(&mut asked)?;
        Ok(asked)
    }

    fn level(&mut self, level: Level) -> Result<(), u8> {
        self.request.level = Some(level);
        Ok(())
    }
}

/// Whether somebody sits at both ends.
fn interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

fn list(text: &str) -> Vec<String> {
    text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn bootstrap(asked: &mut Asked, hub: String) -> Result<(), u8> {
    asked.bootstrap = Some(Bootstrap { hub, ..Bootstrap::default() });
    Ok(())
}

// What belongs to a bootstrap is known once all flags were read.
fn complete_bootstrap(asked: &mut Asked) -> Result<(), u8> {
    let distrusts = match asked.trust.as_deref() {
        None | Some("" | "yes") => false,
        Some("no") => true,
        Some(other) => {
            say(&format!("   error: Invalid argument for --trust-server(yes/no): '{other}'"));
            return Err(1);
        }
    };
    match &mut asked.bootstrap {
        Some(bootstrap) => {
            bootstrap.distrusts = distrusts;
            bootstrap.skips_policy = asked.skips_policy;
            Ok(())
        }
        None if asked.trust.is_some() => {
            say("   error: Option --trust-server can only be used when bootstrapping");
            Err(1)
        }
        None => Ok(()),
    }
}

fn color(asked: &mut Asked, text: String) -> Result<(), u8> {
    asked.coloured = match text.as_str() {
        "" | "auto" => interactive(),
        "always" => true,
        "never" => false,
        _ => {
            say(&format!("   error: Unrecognized color mode '{text}'"));
            return Err(1);
        }
    };
    Ok(())
}

fn log_level(asked: &mut Asked, text: String) -> Result<(), u8> {
    let Some(level) = level(&text) else {
        complain(&format!("Invalid log level: '{text}'"));
        return Err(1);
    };
    asked.level(level)
}

fn log_modules(_: &mut Asked, text: String) -> Result<(), u8> {
    for module in text.split(',') {
        if module == "help" {
            say(&module_list());
            return Err(1);
        }
        if module != "all" && !LOG_MODULES.contains(&module) {
            say(&format!(" warning: Unknown debug logging module '{module}'"));
        }
    }
    Ok(())
}

fn output_format(asked: &mut Asked, text: String) -> Result<(), u8> {
    if !matches!(text.as_str(), "none" | "json" | "json-full" | "cf" | "cf-full") {
        say(&format!(
            "   error: Invalid policy output format: '{text}'. Possible values are 'none', 'cf', 'json', 'cf-full', 'json-full'"
        ));
        return Err(1);
    }
    asked.request.output = Some(text);
    Ok(())
}

fn show_classes(asked: &mut Asked, text: String) -> Result<(), u8> {
    asked.request.show_classes = Some(text);
    Ok(())
}

fn show_vars(asked: &mut Asked, text: String) -> Result<(), u8> {
    asked.request.show_vars = Some(text);
    Ok(())
}

fn simulate(asked: &mut Asked, text: String) -> Result<(), u8> {
    asked.request.simulate = match text.as_str() {
        "diff" => Some(Simulate::Diff),
        "manifest" => Some(Simulate::Manifest),
        "manifest-full" => Some(Simulate::ManifestFull),
        _ => {
            say(&format!(
                "   error: Invalid argument for --simulate, 'manifest' or 'diff' required, not '{text}'"
            ));
            return Err(1);
        }
    };
    Ok(())
}

fn skip_db_check(_: &mut Asked, text: String) -> Result<(), u8> {
    if matches!(text.as_str(), "" | "yes" | "no") {
        return Ok(());
    }
    say(&format!("   error: Invalid argument for --skip-db-check(yes/no): '{text}'"));
    Err(1)
}

fn syntax_description(_: &mut Asked, text: String) -> Result<(), u8> {
    match text.as_str() {
        "json" => {
            say(&fx_cfengine::syntax_description());
            Err(0)
        }
        "none" => Ok(()),
        _ => {
            say(&format!(
                "   error: Invalid syntax description output format: '{text}'. Possible values are 'none', 'json'"
            ));
            Err(1)
        }
    }
}

fn warn(asked: &mut Asked, text: String) -> Result<(), u8> {
    let words = text.strip_prefix("error=").unwrap_or(&text);
    let unknown =
        words.split(',').find(|word| !matches!(*word, "deprecated" | "removed" | "all" | "error"));
    if let Some(word) = unknown {
        say(&format!("   error: Unrecognized warning '{word}'"));
        say("   error: Error parsing warning option");
        return Err(1);
    }
    asked.request.warnings = Some(text);
    Ok(())
}

/// What `--help` prints.
pub(super) fn usage(name: &str, flags: &[Flag]) -> String {
    let mut text = format!("Usage: {name} [OPTIONS] [FILE]\n\nOptions:\n");
    for flag in flags.iter().filter(|flag| !flag.long.is_empty()) {
        let short = flag.short.map_or_else(|| "-".to_owned(), |short| format!("-{short}"));
        let value = if flag.takes == Takes::Nothing { "      " } else { " value" };
        let _ = std::fmt::Write::write_fmt(
            &mut text,
            format_args!("  --{:<12}, {short}{value} - {}\n", flag.long, flag.help),
        );
    }
    text
}

/// Areas the original can debug one by one. Ours debugs all of them with `-d`.
const LOG_MODULES: [&str; 8] =
    ["evalctx", "expand", "iterations", "parser", "vartable", "vars", "locks", "ps"];

fn module_list() -> String {
    let names = LOG_MODULES.map(|module| format!("    {module}\n")).concat();
    format!(
        "\n--log-modules accepts a comma separated list of one or more of the following:\n\n    help\n    all\n{names}"
    )
}

pub(super) fn level(word: &str) -> Option<Level> {
    let word = word.to_ascii_lowercase();
    let table = [
        ("error", Level::Error),
        ("warning", Level::Warning),
        ("notice", Level::Notice),
        ("inform", Level::Info),
        ("info", Level::Info),
        ("verbose", Level::Verbose),
        ("debug", Level::Debug),
        ("critical", Level::Error),
    ];
    table
        .iter()
        .find(|(name, _)| !word.is_empty() && name.starts_with(&word))
        .map(|(_, level)| *level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setter_belongs_to_a_flag() {
        for (name, _) in SETTERS {
            let known = AGENT.iter().chain(PROMISES).any(|flag| flag.long == *name);
            assert!(known, "no flag --{name}");
        }
    }
}
