//! The cfengine personas: cf-agent and cf-promises with their own flags and exit codes,
//! and the names of the other tools, which say that they are not here yet.

mod options;

use std::ffi::OsString;
use std::io::{BufWriter, IsTerminal, LineWriter, Write};
use std::rc::Rc;

use fx_cfengine::{Request, Simulate};
use fx_engine::{Cancel, Ledger, Level, Run};
use fx_host::OsHost;
use fx_report::console::cfengine::CfengineConsole;
use fx_source::SourceMap;

use crate::persona::Invocation;
use options::{Flag, Parsed, Takes};

const AGENT: &[Flag] = &[
    Flag::new("bootstrap", Some('B'), Takes::Value, "Bootstrap to a policy server (not supported)"),
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

const PROMISES: &[Flag] = &[
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

pub(crate) fn agent(invocation: &Invocation) -> u8 {
    start(invocation, AGENT, false)
}

pub(crate) fn promises(invocation: &Invocation) -> u8 {
    start(invocation, PROMISES, true)
}

/// The tools of CFEngine that are not here yet: they answer `--version` and refuse the rest.
pub(crate) fn absent(invocation: &Invocation) -> u8 {
    if invocation.args.iter().any(|arg| arg == "-V" || arg == "--version") {
        say(crate::version::version(invocation.name));
        return 0;
    }
    complain(&format!("   error: {} is not supported", invocation.name));
    1
}

fn say(text: &str) {
    let _closed = writeln!(std::io::stdout(), "{text}");
}

fn complain(text: &str) {
    let _closed = writeln!(std::io::stderr(), "{text}");
}

fn usage(name: &str, flags: &[Flag]) -> String {
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

fn log_modules() -> String {
    let names = LOG_MODULES.map(|module| format!("    {module}\n")).concat();
    format!(
        "\n--log-modules accepts a comma separated list of one or more of the following:\n\n    help\n    all\n{names}"
    )
}

fn level(word: &str) -> Option<Level> {
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

/// What the flags ask for; `Err` is an exit code, the reason having been said.
fn request(
    invocation: &Invocation,
    flags: &[Flag],
    parsed: &Parsed,
    check: bool,
) -> Result<(Request, bool, bool), u8> {
    let mut request = Request { check, ..Request::default() };
    let mut stamp = false;
    let mut coloured = false;
    let list = |text: &str| {
        text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    for (name, value) in &parsed.flags {
        let text = value.clone().unwrap_or_default();
        match name.as_str() {
            "help" => {
                say(&usage(invocation.name, flags));
                return Err(0);
            }
            "version" => {
                say(crate::version::version(invocation.name));
                return Err(0);
            }
            "file" => request.file = Some(text),
            "workdir" => request.workdir = Some(text),
            "define" => request.define.extend(list(&text)),
            "negate" => request.negate.extend(list(&text)),
            "bundlesequence" => {
                request.bundles = Some(list(&text)).filter(|bundles| !bundles.is_empty());
            }
            "inform" => request.level = Some(Level::Info),
            "verbose" => {
                request.level = Some(Level::Verbose);
                request.no_lock |= !check;
            }
            "debug" => request.level = Some(Level::Debug),
            "log-level" => {
                if let Some(level) = level(&text) {
                    request.level = Some(level)
                } else {
                    complain(&format!("Invalid log level: '{text}'"));
                    return Err(1);
                }
            }
            "dry-run" => {
                request.dry_run = true;
                request.no_lock = true;
            }
            "no-lock" => request.no_lock = true,
            "timestamp" => stamp = true,
            "ignore-preferred-augments" => request.ignore_preferred_augments = true,
            "show-evaluated-classes" | "show-classes" => request.show_classes = Some(text),
            "show-evaluated-vars" | "show-vars" => request.show_vars = Some(text),
            "full-check" => request.full_check = true,
            "eval-functions" => {
                request.no_functions = matches!(text.as_str(), "no" | "false" | "off")
            }
            "warn" => {
                let list = text.strip_prefix("error=").unwrap_or(&text);
                let unknown = list
                    .split(',')
                    .find(|word| !matches!(*word, "deprecated" | "removed" | "all" | "error"));
                if let Some(word) = unknown {
                    say(&format!("   error: Unrecognized warning '{word}'"));
                    say("   error: Error parsing warning option");
                    return Err(1);
                }
                request.warnings = Some(text);
            }
            "policy-output-format" => match text.as_str() {
                "none" | "json" | "json-full" | "cf" | "cf-full" => request.output = Some(text),
                _ => {
                    say(&format!(
                        "   error: Invalid policy output format: '{text}'. Possible values are 'none', 'cf', 'json', 'cf-full', 'json-full'"
                    ));
                    return Err(1);
                }
            },
            "simulate" => {
                request.simulate = match text.as_str() {
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
            }
            "syntax-description" => match text.as_str() {
                "json" => {
                    say(&fx_cfengine::syntax_description());
                    return Err(0);
                }
                "none" => {}
                _ => {
                    complain(&format!(
                        "   error: Invalid syntax description output format: '{text}'. Possible values are 'none', 'json'"
                    ));
                    return Err(1);
                }
            },
            "tag-release" => {
                request.file = Some(format!("{text}/promises.cf"));
                request.tag_release = Some(text);
            }
            "self-diagnostics" => {
                say(&fx_cfengine::diagnose(&OsHost::new(), &request));
                return Err(0);
            }
            "diagnostic" => {
                say("   error: Self-diagnostic functionality is retired.");
                return Err(0);
            }
            "color" => {
                coloured = match text.as_str() {
                    "" | "auto" => interactive(),
                    "always" => true,
                    "never" => false,
                    _ => {
                        say(&format!("   error: Unrecognized color mode '{text}'"));
                        return Err(1);
                    }
                };
            }
            "log-modules" => {
                for module in text.split(',') {
                    if module == "help" {
                        say(&log_modules());
                        return Err(1);
                    }
                    if module != "all" && !LOG_MODULES.contains(&module) {
                        say(&format!(" warning: Unknown debug logging module '{module}'"));
                    }
                }
            }
            "skip-db-check" if !matches!(text.as_str(), "" | "yes" | "no") => {
                say(&format!("   error: Invalid argument for --skip-db-check(yes/no): '{text}'"));
                return Err(1);
            }
            "trust-server" => {
                say("   error: Option --trust-server can only be used when bootstrapping");
                return Err(1);
            }
            "bootstrap" => {
                complain(&format!("   error: option '--{name}' is not supported"));
                return Err(1);
            }
            _ => {}
        }
    }
    match parsed.rest.as_slice() {
        [] => {}
        [file] => {
            request.file = Some(file.clone());
            request.here = true;
        }
        _ => {
            say("   error: Too many arguments");
            return Err(1);
        }
    }
    request.interactive = interactive();
    Ok((request, stamp, coloured))
}

/// The tool as it was called, with the path to it if there was one.
fn called_as(name: &str) -> String {
    let called = std::env::args_os().next().unwrap_or_default();
    if std::path::Path::new(&called).file_name().is_some_and(|file| file == name) {
        called.to_string_lossy().into_owned()
    } else {
        name.to_owned()
    }
}

/// Whether somebody sits at both ends.
fn interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

fn start(invocation: &Invocation, flags: &[Flag], check: bool) -> u8 {
    let args: Vec<String> =
        invocation.args.iter().map(|arg: &OsString| arg.to_string_lossy().into_owned()).collect();
    let parsed = match options::parse(flags, &args) {
        Ok(parsed) => parsed,
        Err(message) => {
            complain(&format!("{}: {message}", called_as(invocation.name)));
            say(&usage(invocation.name, flags));
            return 1;
        }
    };
    let (request, stamp, coloured) = match request(invocation, flags, &parsed, check) {
        Ok(asked) => asked,
        Err(code) => return code,
    };
    let flag = fx_host::stop_on_signals();
    let host = OsHost::cancelled_by(std::sync::Arc::clone(&flag));
    let cancel = Cancel::from_flag(flag);
    let ledger = Ledger::new();
    let sources = SourceMap::new();
    // Somebody who looks on sees each line as it comes.
    let stdout = std::io::stdout();
    let out: Box<dyn Write> = if stdout.is_terminal() {
        Box::new(LineWriter::new(stdout))
    } else {
        Box::new(BufWriter::with_capacity(1 << 16, stdout))
    };
    let mut console = CfengineConsole::new(out, Box::new(BufWriter::new(std::io::stderr())));
    console = console.coloured(coloured);
    if stamp {
        console = console
            .stamped(Box::new(|| jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%z").to_string()));
    }
    ledger.watch(Rc::new(console));
    let run = Run::new(&host, &ledger, &cancel);
    let summary = if request.check {
        fx_cfengine::check(run, &sources, &request)
    } else {
        fx_cfengine_agent::run(run, &sources, &request)
    };
    ledger.flush();
    // What was written and not yet put in place, where the run ended early.
    drop(host);
    fx_host::leave(summary.code)
}
