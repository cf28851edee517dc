//! The cfengine personas: cf-agent and cf-promises with their own flags and exit codes,
//! and the names of the other tools, which say that they are not here yet.

mod options;

use std::ffi::OsString;
use std::io::{BufWriter, IsTerminal, Write};
use std::rc::Rc;

use fx_cfengine::{Request, Simulate};
use fx_engine::{Cancel, Ledger, Level, Run};
use fx_host::OsHost;
use fx_report::console::cfengine::CfengineConsole;
use fx_source::SourceMap;

use crate::persona::Invocation;
use options::{Flag, Parsed, Takes};

const VERSION: &str = "CFEngine Core 3.21.0";

const AGENT: &[Flag] = &[
    Flag::new("bootstrap", Some('B'), Takes::Value),
    Flag::new("bundlesequence", Some('b'), Takes::Value),
    Flag::new("workdir", Some('w'), Takes::Value),
    Flag::new("debug", Some('d'), Takes::Nothing),
    Flag::new("define", Some('D'), Takes::Value),
    Flag::new("self-diagnostics", Some('x'), Takes::Optional),
    Flag::new("dry-run", Some('n'), Takes::Nothing),
    Flag::new("file", Some('f'), Takes::Value),
    Flag::new("help", Some('h'), Takes::Nothing),
    Flag::new("inform", Some('I'), Takes::Nothing),
    Flag::new("log-level", Some('g'), Takes::Value),
    Flag::new("negate", Some('N'), Takes::Value),
    Flag::new("no-lock", Some('K'), Takes::Nothing),
    Flag::new("verbose", Some('v'), Takes::Nothing),
    Flag::new("version", Some('V'), Takes::Nothing),
    Flag::new("timing-output", Some('t'), Takes::Nothing),
    Flag::new("trust-server", Some('T'), Takes::Optional),
    Flag::new("color", Some('C'), Takes::Optional),
    Flag::new("no-extensions", Some('E'), Takes::Nothing),
    Flag::new("timestamp", Some('l'), Takes::Nothing),
    Flag::new("ignore-preferred-augments", None, Takes::Nothing),
    Flag::new("log-modules", None, Takes::Value),
    Flag::new("show-evaluated-classes", None, Takes::Optional),
    Flag::new("show-evaluated-vars", None, Takes::Optional),
    Flag::new("skip-bootstrap-policy-run", None, Takes::Nothing),
    Flag::new("skip-db-check", None, Takes::Optional),
    Flag::new("simulate", None, Takes::Value),
    Flag::new("", Some('M'), Takes::Nothing),
];

const PROMISES: &[Flag] = &[
    Flag::new("workdir", Some('w'), Takes::Value),
    Flag::new("eval-functions", None, Takes::Value),
    Flag::new("show-classes", None, Takes::Optional),
    Flag::new("show-vars", None, Takes::Optional),
    Flag::new("help", Some('h'), Takes::Nothing),
    Flag::new("bundlesequence", Some('b'), Takes::Value),
    Flag::new("debug", Some('d'), Takes::Nothing),
    Flag::new("verbose", Some('v'), Takes::Nothing),
    Flag::new("log-level", Some('g'), Takes::Value),
    Flag::new("dry-run", Some('n'), Takes::Nothing),
    Flag::new("version", Some('V'), Takes::Nothing),
    Flag::new("file", Some('f'), Takes::Value),
    Flag::new("define", Some('D'), Takes::Value),
    Flag::new("negate", Some('N'), Takes::Value),
    Flag::new("inform", Some('I'), Takes::Nothing),
    Flag::new("diagnostic", Some('x'), Takes::Nothing),
    Flag::new("policy-output-format", Some('p'), Takes::Value),
    Flag::new("syntax-description", Some('s'), Takes::Value),
    Flag::new("full-check", Some('c'), Takes::Nothing),
    Flag::new("warn", Some('W'), Takes::Value),
    Flag::new("color", Some('C'), Takes::Optional),
    Flag::new("tag-release", Some('T'), Takes::Value),
    Flag::new("timestamp", Some('l'), Takes::Nothing),
    Flag::new("ignore-preferred-augments", None, Takes::Nothing),
    Flag::new("log-modules", None, Takes::Value),
    Flag::new("", Some('M'), Takes::Nothing),
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
        say(VERSION);
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
    let mut text = format!(
        "Usage: {name} [OPTION]...{}\n\nOptions:\n",
        if name == "cf-agent" { " [FILE]" } else { "" }
    );
    for flag in flags.iter().filter(|flag| !flag.long.is_empty()) {
        let short = flag.short.map_or_else(|| "  ".to_owned(), |short| format!("-{short}"));
        let comma = if flag.short.is_some() { "," } else { " " };
        let value = match flag.takes {
            Takes::Nothing => "",
            Takes::Value => " value",
            Takes::Optional => "[=value]",
        };
        let _ = std::fmt::Write::write_fmt(
            &mut text,
            format_args!("  --{:<21}{comma} {short}{value}\n", flag.long),
        );
    }
    text
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
) -> Result<(Request, bool), u8> {
    let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let mut request = Request { check, interactive, ..Request::default() };
    let mut stamp = false;
    let list = |text: &str| {
        text.split([',', ' '])
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for (name, value) in &parsed.flags {
        let text = value.clone().unwrap_or_default();
        match name.as_str() {
            "help" => {
                say(&usage(invocation.name, flags));
                return Err(0);
            }
            "version" => {
                say(VERSION);
                return Err(0);
            }
            "file" => request.file = Some(text),
            "workdir" => request.workdir = Some(text),
            "define" => request.define.extend(list(&text)),
            "negate" => request.negate.extend(list(&text)),
            "bundlesequence" => request.bundles = Some(list(&text)),
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
                    complain(&format!("   error: Invalid log-level: '{text}'"));
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
            "warn" => request.warnings = Some(text),
            "policy-output-format" => match text.as_str() {
                "none" | "json" | "json-full" => request.output = Some(text),
                "cf" | "cf-full" => {
                    complain(&format!(
                        "   error: option '--policy-output-format={text}' is not supported"
                    ));
                    return Err(1);
                }
                _ => {
                    complain(&format!(
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
                        complain(&format!("   error: Invalid simulate mode: '{text}'"));
                        return Err(1);
                    }
                };
            }
            "bootstrap" | "syntax-description" | "tag-release" | "self-diagnostics" => {
                complain(&format!("   error: option '--{name}' is not supported"));
                return Err(1);
            }
            _ => {}
        }
    }
    match parsed.rest.as_slice() {
        [] => {}
        [file] => request.file = Some(file.clone()),
        _ => {
            complain("   error: Too many arguments");
            return Err(1);
        }
    }
    Ok((request, stamp))
}

fn start(invocation: &Invocation, flags: &[Flag], check: bool) -> u8 {
    let args: Vec<String> =
        invocation.args.iter().map(|arg: &OsString| arg.to_string_lossy().into_owned()).collect();
    let parsed = match options::parse(flags, &args) {
        Ok(parsed) => parsed,
        Err(message) => {
            complain(&format!("{}: {message}", invocation.name));
            say(&usage(invocation.name, flags));
            return 1;
        }
    };
    let (request, stamp) = match request(invocation, flags, &parsed, check) {
        Ok(asked) => asked,
        Err(code) => return code,
    };
    let flag = fx_host::stop_on_signals();
    let host = OsHost::cancelled_by(std::sync::Arc::clone(&flag));
    let cancel = Cancel::from_flag(flag);
    let ledger = Ledger::messages_only();
    let sources = SourceMap::new();
    let mut console = CfengineConsole::new(
        Box::new(BufWriter::with_capacity(1 << 16, std::io::stdout())),
        Box::new(BufWriter::new(std::io::stderr())),
    );
    if stamp {
        console = console
            .stamped(Box::new(|| jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%z").to_string()));
    }
    let console = Rc::new(console);
    ledger.watch(console.clone());
    let summary =
        fx_cfengine::run(Run { host: &host, ledger: &ledger, cancel: &cancel }, &sources, &request);
    console.flush();
    // What was written and not yet put in place, where the run ended early.
    drop(host);
    fx_host::leave(summary.code)
}
