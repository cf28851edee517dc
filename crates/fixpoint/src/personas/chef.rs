//! The Chef personas: chef-client, chef-solo, chef-apply, and ohai.
//!
//! Flags are the originals'; `--fx-report`, `--fx-facts`, `--fx-collection` and `--fx-findings` are ours.

mod daemon;
mod flags;

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use fx_chef::Request;
use fx_engine::{Cancel, Ledger};
use fx_host::{Env, OsHost};
use fx_source::SourceMap;
use serde_json::{Value as J, json};

use crate::persona::Invocation;
use flags::Given;

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

/// Options that are a flag's value as it stands, by the name of the flag.
const TEXTS: &[(&str, &str)] = &[
    ("config", "config"),
    ("json-attributes", "json"),
    ("environment", "environment"),
    ("log_level", "log_level"),
    ("log-level", "log_level"),
    ("logfile", "log_location"),
    ("format", "formatter"),
    ("node-name", "node_name"),
    ("cookbook-path", "cookbook_path"),
    ("fx-collection", "collection"),
    ("named-run-list", "named_run_list"),
    ("recipe-url", "recipe_url"),
    ("run-lock-timeout", "run_lock_timeout"),
    ("lockfile", "lockfile"),
    ("server", "server"),
    ("client_key", "client_key"),
    ("validation_key", "validation_key"),
    ("execute", "recipe_text"),
];

/// Options that a flag switches on.
const SWITCHES: &[(&str, &str)] = &[
    ("why-run", "why_run"),
    ("delete-entire-chef-repo", "delete_repo"),
    ("fx-findings", "findings"),
    ("disable-config", "no_config"),
];

/// Flags whose work is not done here, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("user", "is not supported: start it as that user"),
    ("group", "is not supported: start it as that user"),
    ("target", "target mode is not supported"),
    ("legacy-mode", "chef-solo's legacy mode is not supported"),
    ("stdin", "is not supported: give the recipe as a file or with -e"),
    ("yaml", "is not supported: recipes are Ruby"),
    ("directory", "is not supported: plugins of others are not run"),
];

fn set(request: &mut Request, key: &str, value: J) {
    request.options.entry("set").or_insert_with(|| json!({}))[key] = value;
}

fn seconds(flag: &str, value: &str) -> Result<J, String> {
    let number = value.parse::<u64>().map(J::from);
    number.map_err(|_| format!("--{flag}: '{value}' is no number of seconds"))
}

fn parse(given: Given, local: bool) -> Result<Request, String> {
    let mut request = Request::default();
    let mut local = local;
    for (flag, value) in given.flags {
        if let Some((_, why)) = REFUSED.iter().find(|(known, _)| *known == flag) {
            return Err(format!("--{flag}: {why}"));
        }
        if let Some((_, option)) = SWITCHES.iter().find(|(known, _)| *known == flag) {
            request.options.insert((*option).into(), json!(true));
            continue;
        }
        let count = value.clone();
        let value = value.unwrap_or_default();
        if let Some((_, option)) = TEXTS.iter().find(|(known, _)| *known == flag) {
            request.options.insert((*option).into(), json!(value));
            continue;
        }
        match flag {
            "local-mode" => local = true,
            "fx-report" => request.report = Some(value.into()),
            "fx-facts" => request.facts = Some(value.into()),
            "policy-name" => set(&mut request, "policy_name", json!(value)),
            "policy-group" => set(&mut request, "policy_group", json!(value)),
            "skip-cookbook-sync" => set(&mut request, "skip_cookbook_sync", json!(true)),
            "interval" | "splay" => set(&mut request, flag, seconds(flag, &value)?),
            "daemonize" => {
                let wait = count.and_then(|text| text.parse::<u64>().ok());
                set(&mut request, flag, wait.map_or(json!(true), J::from));
            }
            "once" => set(&mut request, flag, json!(true)),
            "fork" => set(&mut request, "client_fork", json!(true)),
            "no-fork" => set(&mut request, "client_fork", json!(false)),
            "pid" => set(&mut request, "pid_file", json!(value)),
            "minimal-ohai" => set(&mut request, "minimal_ohai", json!(true)),
            "fips" => set(&mut request, "fips", json!(true)),
            "slow-report" => set(&mut request, "slow_report", count.map_or(json!(true), J::from)),
            "override-runlist" | "runlist" => {
                request.options.insert("run_list".into(), list(&value));
                if flag == "override-runlist" {
                    request.options.insert("override".into(), json!(true));
                }
            }
            "config-option" => {
                if let Some((key, value)) = value.split_once('=') {
                    let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
                    set(&mut request, key, value);
                }
            }
            // What else the originals know changes nothing here.
            _ => {}
        }
    }
    if local {
        request.options.insert("local".into(), json!(true));
    }
    if !request.options.contains_key("config") && !request.options.contains_key("no_config") {
        request.options.insert("find_config".into(), json!(true));
    }
    if !given.words.is_empty() {
        let recipes = given.words.into_iter().map(J::from).collect();
        request.options.insert("recipe_files".into(), J::Array(recipes));
    }
    Ok(request)
}

fn arguments(invocation: &Invocation) -> Vec<String> {
    invocation.args.iter().map(|arg: &OsString| arg.to_string_lossy().into_owned()).collect()
}

/// Reads the flags of a tool; `Err` is the code with which it ends now.
fn read(invocation: &Invocation, tool: u8) -> Result<Given, u8> {
    let given = match flags::read(tool, &arguments(invocation)) {
        Ok(given) => given,
        Err(refused) => {
            complain(&format!("{}: {refused}", invocation.name));
            return Err(1);
        }
    };
    let has = |name: &str| given.flags.iter().any(|(flag, _)| *flag == name);
    if has("version") {
        say(crate::version::version(invocation.name));
        return Err(0);
    }
    if has("help") {
        let banner = if tool == flags::APPLY { "[RECIPE_FILE | -e RECIPE_TEXT]" } else { "" };
        say(&format!("Usage: {} {banner} (options)", invocation.name).replace("  ", " "));
        for (short, long, takes) in flags::known(tool) {
            let short = if short.is_empty() { String::new() } else { format!("-{short}, ") };
            say(&format!("    {short}--{long}{}", if takes { " VALUE" } else { "" }));
        }
        return Err(0);
    }
    Ok(given)
}

/// `chef-client`.
pub(crate) fn client(invocation: &Invocation) -> u8 {
    start(invocation, flags::CLIENT)
}

/// `chef-solo`, which since version 14 is the client in local mode.
pub(crate) fn solo(invocation: &Invocation) -> u8 {
    start(invocation, flags::SOLO)
}

fn start(invocation: &Invocation, tool: u8) -> u8 {
    let given = match read(invocation, tool) {
        Ok(given) => given,
        Err(code) => return code,
    };
    match parse(given, tool == flags::SOLO) {
        Ok(mut request) => {
            request.options.insert("run_lock".into(), json!(true));
            if tool == flags::SOLO {
                request.options.insert("solo_config".into(), json!(true));
            }
            let schedule = Arc::new(Mutex::new(None));
            request.schedule = Some(Arc::clone(&schedule));
            let code = launch(request);
            let wanted = schedule.lock().unwrap_or_else(PoisonError::into_inner).take();
            match wanted {
                Some(wanted) if code == 0 => daemon::run(invocation, wanted),
                _ => code,
            }
        }
        Err(message) => {
            complain(&format!("{}: {message}", invocation.name));
            1
        }
    }
}

/// `chef-apply RECIPE`, or `-e TEXT`.
pub(crate) fn apply(invocation: &Invocation) -> u8 {
    let given = match read(invocation, flags::APPLY) {
        Ok(given) => given,
        Err(code) => return code,
    };
    match parse(given, true) {
        Ok(mut request) => {
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

/// `ohai [ATTRIBUTE…]`. Nothing is logged, so the level and the place of the log change nothing.
pub(crate) fn ohai(invocation: &Invocation) -> u8 {
    let given = match read(invocation, flags::OHAI) {
        Ok(given) => given,
        Err(code) => return code,
    };
    let reasons = REFUSED.iter().chain(&[("config", "is not supported: there is nothing to set")]);
    for (flag, why) in reasons {
        if given.flags.iter().any(|(one, _)| one == flag) {
            complain(&format!("ohai: --{flag}: {why}"));
            return 1;
        }
    }
    let names = given.words;
    let all = fx_chef::automatic(&OsHost::new(), &[]);
    if names.is_empty() {
        say(&serde_json::to_string_pretty(&all).unwrap_or_default());
        return 0;
    }
    for name in names {
        let found = name.split('/').try_fold(&all, |at, key| at.get(key));
        let shown = match found {
            Some(J::Null) | None => {
                complain(&format!(
                    "ERROR: Encountered error while running plugins: #<Ohai::Exceptions::AttributeNotFound: No such attribute: '{name}'>"
                ));
                return 1;
            }
            Some(value @ (J::Object(_) | J::Array(_))) => serde_json::to_string_pretty(value),
            Some(other) => serde_json::to_string_pretty(&json!([other])),
        };
        say(&shown.unwrap_or_default());
    }
    0
}

fn launch(mut request: Request) -> u8 {
    let flag = fx_host::stop_on_signals();
    crate::deep::ruby(move || {
        let host = Rc::new(OsHost::cancelled_by(Arc::clone(&flag)));
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
