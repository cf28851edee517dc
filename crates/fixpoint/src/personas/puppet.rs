//! The puppet persona: `puppet apply`, `puppet parser`, and a clear word for the rest.

mod filebucket;
mod logdest;

use std::ffi::OsString;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_engine::{Cancel, Level};
use fx_host::{Files, OsHost};
use fx_puppet::Request;
use fx_puppet_syntax::Strictness;
use fx_report::console::puppet::PuppetConsole;
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
    "--config",
    "--certname",
    "--bucket",
    "-b",
    "--fromdate",
    "--todate",
    "--digest_algorithm",
    "--clientbucketdir",
    "--log_level",
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
            say(fx_puppet::VERSION);
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
            // Deep recursion in a manifest must end in a message, not in a crash.
            let thread = std::thread::Builder::new().stack_size(fx_puppet::STACK);
            match thread.spawn(move || apply(&args)) {
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
            let thread = std::thread::Builder::new().stack_size(fx_puppet::STACK);
            let worker = thread.spawn(move || {
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
        } else if WITH_VALUE.contains(&arg.as_str()) {
            flags.push((arg.clone(), args.next().cloned().unwrap_or_default()));
        } else {
            flags.push((arg.clone(), String::new()));
        }
    }
    (flags, rest)
}

/// Flags that are known and change what happens, but not here yet.
const NOT_YET: [&str; 3] = ["--catalog", "--summarize", "--write-catalog-summary"];

/// Flags without a value that are known. Directories of state are in `WITH_VALUE`; they are
/// taken and not used, since no state is kept there.
const PLAIN: [&str; 26] = [
    "--version",
    "-V",
    "--debug",
    "-d",
    "--verbose",
    "-v",
    "--test",
    "-t",
    "--noop",
    "--no-noop",
    "--detailed-exitcodes",
    "--no-color",
    "--show_diff",
    "--no-show_diff",
    "--evaltrace",
    "--parseonly",
    "--strict_variables",
    "--no-strict_variables",
    "--write_catalog_summary",
    "--no-write_catalog_summary",
    "--trace",
    "--no-report",
    "--graph",
    "--no-graph",
    "--loadclasses",
    "-L",
];

/// Why a flag cannot be taken, if so.
fn refusal(name: &str) -> Option<String> {
    if NOT_YET.contains(&name) {
        return Some(format!("The option '{name}' is not supported yet"));
    }
    let known = PLAIN.contains(&name) || WITH_VALUE.contains(&name);
    (!known).then(|| format!("Could not parse application options: invalid option: {name}"))
}

fn apply(args: &[String]) -> u8 {
    let (flags, rest) = options(args);
    let flag = |names: &[&str]| {
        flags
            .iter()
            .rev()
            .find(|(name, _)| names.contains(&name.as_str()))
            .map(|(_, value)| value.clone())
    };
    let has = |names: &[&str]| flag(names).is_some();
    if let Some(message) = flags.iter().find_map(|(name, _)| refusal(name)) {
        complain(&format!("Error: {message}"));
        return 1;
    }
    if has(&["--version", "-V"]) {
        say(fx_puppet::VERSION);
        return 0;
    }
    if has(&["--parseonly"]) {
        say("--parseonly has been removed. Please use 'puppet parser validate <manifest>'");
        return 1;
    }
    if let Some(word) = flag(&["--strict"])
        && !matches!(word.as_str(), "off" | "warning" | "error")
    {
        complain(&format!(
            "Error: Could not initialize global default settings: Invalid value '{word}' for parameter strict. Allowed values are 'off', 'warning', 'error'"
        ));
        return 1;
    }
    let stop = fx_host::stop_on_signals();
    let host = Rc::new(OsHost::cancelled_by(std::sync::Arc::clone(&stop)));
    let mut console = PuppetConsole::new(
        Box::new(BufWriter::new(std::io::stdout())),
        Box::new(BufWriter::new(std::io::stderr())),
    );
    if flag(&["--color"]).is_some_and(|color| matches!(color.as_str(), "ansi" | "true" | "yes")) {
        console = console.colored();
    }
    let level = if has(&["--debug", "-d"]) {
        Level::Debug
    } else if has(&["--verbose", "-v", "--test", "-t"]) {
        Level::Info
    } else {
        Level::Notice
    };
    console = console.telling(level);
    let console = Rc::new(console);
    let manifests = match (flag(&["-e", "--execute"]), rest.first()) {
        (Some(code), _) => vec![(String::new(), code.into_bytes())],
        (None, Some(path)) => {
            let full = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
            match fx_puppet::manifests(&*host, &full) {
                Ok(found) => found,
                Err(_) => {
                    complain(&format!("Error: Could not run: Could not find file {path}"));
                    return 1;
                }
            }
        }
        (None, None) => {
            let mut text = Vec::new();
            let _unread = std::io::stdin().read_to_end(&mut text);
            vec![(String::new(), text)]
        }
    };
    let settings = crate::puppet_settings::Settings::read(&host, &flags, "user");
    let environment = settings.request(&*host);
    let words = |name: &str| -> Vec<String> {
        flag(&[name])
            .iter()
            .flat_map(|list| list.split(','))
            .map(|tag| tag.trim().to_owned())
            .filter(|tag| !tag.is_empty())
            .collect()
    };
    let machine = fx_puppet::Machine::new(Rc::clone(&host), Cancel::from_flag(stop));
    let certname = Some(settings.get("certname")).filter(|name| !name.is_empty());
    let mut classification = fx_puppet::Classification::default();
    if settings.get("node_terminus") == "exec" {
        let node = certname.clone().unwrap_or_else(|| fx_puppet::node_name(&machine));
        match fx_puppet::classify(&machine, &settings.get("external_nodes"), &node) {
            Ok(found) => classification = found,
            Err(message) => {
                complain(&format!("Error: {message}"));
                return 1;
            }
        }
    }
    // State goes where it was told to go, and nowhere else.
    let keeps = ["vardir", "statedir", "publicdir"].iter().any(|name| settings.is_given(name));
    let kept =
        |name: &str| (keeps || settings.is_given(name)).then(|| PathBuf::from(settings.get(name)));
    let is_on = |name: &str| settings.is_given(name) && settings.get(name) == "true";
    let request = Request {
        manifests,
        modulepath: environment.modulepath,
        noop: is_on("noop"),
        prerun: flag(&["--prerun_command"]),
        postrun: flag(&["--postrun_command"]),
        tags: words("--tags"),
        skip_tags: words("--skip_tags"),
        report: kept("lastrunreport"),
        summary: kept("lastrunfile"),
        alone: false,
        graphs: is_on("graph").then(|| PathBuf::from(settings.get("graphdir"))),
        detailed_exitcodes: has(&["--detailed-exitcodes", "--test", "-t"]),
        show_diff: is_on("show_diff") || (has(&["--test", "-t"]) && !has(&["--no-show_diff"])),
        vardir: settings.is_given("vardir").then(|| PathBuf::from(settings.get("vardir"))),
        certname,
        given: environment.given,
        level: Some(level),
        trace: false,
        explains: false,
        environment_dir: environment.environment_dir,
        environment: classification.environment.unwrap_or(environment.environment),
        hiera_config: environment.hiera_config,
        classes: classification.classes,
        variables: classification.variables,
    };
    let mut files = Vec::new();
    let mut on_console = true;
    for (name, places) in &flags {
        if !matches!(name.as_str(), "--logdest" | "-l") {
            continue;
        }
        on_console = false;
        for place in places.split(',') {
            match place {
                "console" => on_console = true,
                path if path.starts_with('/') => {
                    let file = logdest::LogFile::new(PathBuf::from(path), Rc::clone(&host), level);
                    files.push(Rc::new(file));
                }
                other => {
                    complain(&format!("Error: Could not set logdest to {other}."));
                    complain(&format!(
                        "Error: Could not parse application options: Could not set logdest to {other}.\nUnknown destination type {other}"
                    ));
                    return 1;
                }
            }
        }
    }
    if on_console || files.is_empty() {
        machine.run().ledger.watch(console.clone());
    }
    for file in &files {
        machine.run().ledger.watch(Rc::<logdest::LogFile>::clone(file));
    }
    let summary = fx_puppet::run(&machine, &request);
    for file in &files {
        if let Err(message) = file.write() {
            complain(&format!("Error: {message}"));
        }
    }
    if let Err(error) = machine.run().host.commit() {
        complain(&format!("Error: {error}"));
    }
    console.flush();
    summary.code
}

fn parser(args: &[String]) -> u8 {
    let (flags, rest) = options(args);
    let host = OsHost::cancelled_by(fx_host::stop_on_signals());
    let Some((action, files)) = rest.split_first() else {
        complain("Error: 'parser' has no default action.  See `puppet help parser`.");
        return 1;
    };
    if !matches!(action.as_str(), "validate" | "dump") {
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
            if action == "dump" {
                say(&fx_puppet_syntax::dump(&program));
            }
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
fn place(sources: &SourceMap, found: &fx_source::Diagnostic) -> String {
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
