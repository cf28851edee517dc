//! The Chef personas: chef-client in local mode, chef-solo, chef-apply, and ohai.
//!
//! Flags are the originals'; `--fx-report`, `--fx-facts`, `--fx-collection` and `--fx-findings` are ours. A
//! server is not talked to: without `-z` the client says so.

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::rc::Rc;

use fx_chef::Request;
use fx_engine::{Cancel, Ledger};
use fx_host::{Env, OsHost};
use fx_source::SourceMap;
use serde_json::{Value as J, json};

use crate::persona::Invocation;

/// Long flags that take a value, with the option each sets; an empty name is read and dropped.
const WITH_VALUE: &[(&str, &str)] = &[
    ("-c", "config"),
    ("--config", "config"),
    ("-j", "json"),
    ("--json-attributes", "json"),
    ("-o", "run_list"),
    ("--override-runlist", "run_list"),
    ("-r", "run_list"),
    ("--runlist", "run_list"),
    ("-E", "environment"),
    ("--environment", "environment"),
    ("-l", "log_level"),
    ("--log_level", "log_level"),
    ("--log-level", "log_level"),
    ("-L", "log_location"),
    ("--logfile", "log_location"),
    ("-F", "formatter"),
    ("--format", "formatter"),
    ("-N", "node_name"),
    ("--node-name", "node_name"),
    ("--cookbook-path", "cookbook_path"),
    ("--fx-collection", "collection"),
    ("-n", "named_run_list"),
    ("--named-run-list", "named_run_list"),
    ("--recipe-url", "recipe_url"),
    ("--config-option", "config_option"),
    ("--chef-license", ""),
    ("-S", ""),
    ("--server", ""),
    ("-s", ""),
    ("--splay", ""),
    ("--run-lock-timeout", "run_lock_timeout"),
    ("--chef-zero-host", ""),
    ("-K", ""),
    ("--validation_key", ""),
    ("-k", ""),
    ("--client_key", ""),
    ("-P", ""),
    ("--pid", ""),
    ("--lockfile", "lockfile"),
    ("--chef-zero-port", ""),
    ("--config-file-jail", ""),
];

/// Flags without a value that change nothing here.
const IGNORED: &[&str] = &[
    "--once",
    "--no-fork",
    "-f",
    "--fork",
    "--no-color",
    "--color",
    "--force-formatter",
    "--force-logger",
    "--no-listen",
    "--profile-ruby",
    "--no-profile-ruby",
    "--minimal-ohai",
    "--always-dump-stacktrace",
    "--no-always-dump-stacktrace",
    "--no-slow-report",
    "--slow-report",
    "--enable-reporting",
    "--skip-cookbook-sync",
    "--no-skip-cookbook-sync",
    "--listen",
    "--fips",
    "--no-fips",
    "--ez",
];

fn say(text: &str) {
    let _closed = writeln!(std::io::stdout(), "{text}");
}

fn complain(text: &str) {
    let _closed = writeln!(std::io::stderr(), "{text}");
}

fn list(value: &str) -> J {
    J::Array(
        value
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(|item| json!(item))
            .collect(),
    )
}

fn parse(args: &[String], local: bool) -> Result<Request, String> {
    let mut request = Request::default();
    let mut recipes = Vec::new();
    let mut local = local;
    let mut at = 0;
    while at < args.len() {
        let arg = &args[at];
        at += 1;
        let (flag, inline) = match arg.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => {
                (flag.to_owned(), Some(value.to_owned()))
            }
            _ => (arg.clone(), None),
        };
        let mut value = || -> Result<String, String> {
            if let Some(value) = &inline {
                return Ok(value.clone());
            }
            let value = args.get(at).cloned().ok_or_else(|| format!("missing argument: {flag}"))?;
            at += 1;
            Ok(value)
        };
        match flag.as_str() {
            "-z" | "--local-mode" => local = true,
            "-W" | "--why-run" => {
                request.options.insert("why_run".into(), json!(true));
            }
            "--delete-entire-chef-repo" => {
                request.options.insert("delete_repo".into(), json!(true));
            }
            "--fx-findings" => {
                request.options.insert("findings".into(), json!(true));
            }
            "--fx-report" => request.report = Some(value()?.into()),
            "--fx-facts" => request.facts = Some(value()?.into()),
            "-u" | "--user" | "-g" | "--group" => {
                return Err(format!("{flag} is not supported: start it as that user"));
            }
            "-t" | "--target" => return Err(format!("{flag}: target mode is not supported")),
            "--legacy-mode" => return Err("chef-solo's legacy mode is not supported".into()),
            "--disable-config" => {
                request.options.insert("no_config".into(), json!(true));
            }
            "-i" | "--interval" | "-d" | "--daemonize" => {
                return Err("a daemon is not supported yet; use a timer of the system".into());
            }
            name if IGNORED.contains(&name) => {}
            name => match WITH_VALUE.iter().find(|(known, _)| *known == name) {
                Some((_, "")) => drop(value()?),
                Some((_, "run_list")) => {
                    let value = value()?;
                    request.options.insert("run_list".into(), list(&value));
                    if matches!(name, "-o" | "--override-runlist") {
                        request.options.insert("override".into(), json!(true));
                    }
                }
                Some((_, "config_option")) => {
                    let value = value()?;
                    if let Some((key, value)) = value.split_once('=') {
                        let set = request.options.entry("set").or_insert_with(|| json!({}));
                        set[key] = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
                    }
                }
                Some((_, option)) => {
                    let value = value()?;
                    request.options.insert((*option).into(), json!(value));
                }
                None if name.starts_with('-') => return Err(format!("invalid option: {name}")),
                None => recipes.push(json!(name)),
            },
        }
    }
    if !local {
        return Err(
            "talking to a Chef Infra Server is not supported yet; use --local-mode (-z)".into()
        );
    }
    request.options.insert("local".into(), json!(true));
    if !request.options.contains_key("config") && !request.options.contains_key("no_config") {
        request.options.insert("find_config".into(), json!(true));
    }
    if !recipes.is_empty() {
        request.options.insert("recipe_files".into(), J::Array(recipes));
    }
    Ok(request)
}

fn arguments(invocation: &Invocation) -> Vec<String> {
    invocation.args.iter().map(|arg: &OsString| arg.to_string_lossy().into_owned()).collect()
}

fn asked_about(args: &[String], name: &str) -> Option<u8> {
    if args.iter().any(|arg| arg == "--version" || arg == "-v") {
        say(crate::version::version(name));
        return Some(0);
    }
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        say(&format!("Usage: {name} (options)\n\nOptions:"));
        for (flag, option) in
            WITH_VALUE.iter().filter(|(flag, option)| !option.is_empty() && flag.starts_with("--"))
        {
            say(&format!("    {flag} VALUE    sets {option}"));
        }
        say("    -z, --local-mode\n    -W, --why-run\n    --fx-report FILE\n    --fx-facts FILE");
        return Some(0);
    }
    None
}

/// `chef-client`.
pub(crate) fn client(invocation: &Invocation) -> u8 {
    start(invocation, false)
}

/// `chef-solo`, which since version 14 is the client in local mode.
pub(crate) fn solo(invocation: &Invocation) -> u8 {
    start(invocation, true)
}

fn start(invocation: &Invocation, local: bool) -> u8 {
    let args = arguments(invocation);
    if let Some(code) = asked_about(&args, invocation.name) {
        return code;
    }
    match parse(&args, local) {
        Ok(mut request) => {
            request.options.insert("run_lock".into(), json!(true));
            if invocation.name == "chef-solo" {
                request.options.insert("solo_config".into(), json!(true));
            }
            launch(request)
        }
        Err(message) => {
            complain(&format!("{}: {message}", invocation.name));
            1
        }
    }
}

/// `chef-apply RECIPE`, or `-e TEXT`.
pub(crate) fn apply(invocation: &Invocation) -> u8 {
    let args = arguments(invocation);
    if let Some(code) = asked_about(&args, invocation.name) {
        return code;
    }
    let mut rest = args.clone();
    let mut text = None;
    if let Some(at) = rest.iter().position(|arg| arg == "-e" || arg == "--execute") {
        if at + 1 >= rest.len() {
            complain("chef-apply: missing argument: -e");
            return 1;
        }
        text = Some(rest.remove(at + 1));
        rest.remove(at);
    }
    match parse(&rest, true) {
        Ok(mut request) => {
            if let Some(text) = text {
                request.options.insert("recipe_text".into(), json!(text));
            }
            if !request.options.contains_key("recipe_text")
                && !request.options.contains_key("recipe_files")
            {
                complain("No recipe file provided");
                return 1;
            }
            request.options.insert("no_save".into(), json!(true));
            // It looks for no configuration.
            request.options.remove("find_config");
            request.options.insert("apply".into(), json!(true));
            launch(request)
        }
        Err(message) => {
            complain(&format!("chef-apply: {message}"));
            1
        }
    }
}

/// `ohai [ATTRIBUTE…]`.
pub(crate) fn ohai(invocation: &Invocation) -> u8 {
    let args = arguments(invocation);
    if args.iter().any(|arg| arg == "--version" || arg == "-v") {
        say(crate::version::version(invocation.name));
        return 0;
    }
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        say(
            "Usage: ohai (options)\n    -l, --log_level LEVEL            Set the log level (debug, info, warn, error, fatal)\n    -L, --logfile LOGLOCATION        Set the log file location, defaults to STDOUT\n    -v, --version                    Show Ohai version\n    -h, --help                       Show this message",
        );
        return 0;
    }
    let mut names = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            // Nothing is logged here, so the level and the place change nothing.
            "-l" | "--log_level" | "-L" | "--logfile" => drop(rest.next()),
            flag if flag.starts_with('-') => {
                complain(&format!("ohai: {flag} is not supported"));
                return 1;
            }
            name => names.push(name),
        }
    }
    let all = fx_chef::automatic(&OsHost::new(), &[]);
    if names.is_empty() {
        say(&serde_json::to_string_pretty(&all).unwrap_or_default());
        return 0;
    }
    for name in names {
        let found = name.split('/').try_fold(&all, |at, key| at.get(key));
        match found {
            Some(J::String(text)) => {
                say(&serde_json::to_string_pretty(&json!([text])).unwrap_or_default())
            }
            Some(J::Null) | None => {
                complain(&format!(
                    "ERROR: Encountered error while running plugins: #<Ohai::Exceptions::AttributeNotFound: No such attribute: '{name}'>"
                ));
                return 1;
            }
            Some(value @ (J::Object(_) | J::Array(_))) => {
                say(&serde_json::to_string_pretty(value).unwrap_or_default())
            }
            Some(other) => say(&serde_json::to_string_pretty(&json!([other])).unwrap_or_default()),
        }
    }
    0
}

fn launch(mut request: Request) -> u8 {
    let flag = fx_host::stop_on_signals();
    crate::deep::ruby(move || {
        let host = Rc::new(OsHost::cancelled_by(std::sync::Arc::clone(&flag)));
        request.cwd = host.cwd();
        let out = Box::new(BufWriter::with_capacity(1 << 16, std::io::stdout()));
        fx_chef::run(
            host,
            Rc::new(Ledger::new()),
            Cancel::from_flag(flag),
            Rc::new(SourceMap::new()),
            request,
            out,
            Box::new(std::io::stderr()),
        )
    })
    .unwrap_or(70)
}
