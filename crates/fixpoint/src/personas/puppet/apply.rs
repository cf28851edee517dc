//! `puppet apply`: what its flags mean, and where its log is written.

use std::io::BufWriter;
use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::{Cancel, Level};
use fx_host::{Files, OsHost};
use fx_puppet_apply::Request;
use fx_report::console::puppet::PuppetConsole;

use super::flags::{self, Flags, Sub};
use super::settings::Settings;
use super::{complain, logdest, say, unread_input};
use crate::stdin;

/// What is wrong with settings that take one of a few words.
fn misworded(settings: &Settings, host: &OsHost) -> Option<String> {
    let wrong = |why: String| Some(format!("Could not initialize global default settings: {why}"));
    let strict = settings.get("strict");
    if !matches!(strict.as_str(), "off" | "warning" | "error") {
        return wrong(format!(
            "Invalid value '{strict}' for parameter strict. Allowed values are 'off', 'warning', 'error'"
        ));
    }
    let level = settings.get("log_level");
    if settings.is_given("log_level") && level_of(&level).is_none() {
        return wrong(format!("Invalid loglevel {level}"));
    }
    let environment = settings.get("environment");
    if environment != "production" && settings.environment_dir(host).is_none() {
        return Some(format!(
            "Could not find a directory environment named '{environment}' anywhere in the path: {}. Does the directory exist?",
            settings.get("environmentpath")
        ));
    }
    None
}

/// The level of a name; those above an error count as one.
fn level_of(name: &str) -> Option<Level> {
    Some(match name {
        "debug" => Level::Debug,
        "info" => Level::Info,
        "notice" => Level::Notice,
        "warning" => Level::Warning,
        "err" | "alert" | "emerg" | "crit" => Level::Error,
        _ => return None,
    })
}

/// Runs the subcommand; its exit code.
pub(super) fn run(args: &[String]) -> u8 {
    let (flags, rest) = flags::read(Sub::Apply, args);
    let failed = |message: &str| {
        complain(&format!("Error: {message}"));
        1
    };
    if let Some(message) = flags.refusal(Sub::Apply) {
        return failed(&message);
    }
    if flags.wants_help() {
        return super::help::of("apply", &[]);
    }
    if flags.has("version") {
        say(crate::version::version("puppet"));
        return 0;
    }
    if flags.has("parseonly") {
        say("--parseonly has been removed. Please use 'puppet parser validate <manifest>'");
        return 1;
    }
    let stop = fx_host::stop_on_signals();
    let host = Rc::new(OsHost::cancelled_by(std::sync::Arc::clone(&stop)));
    let settings = Settings::read(&host, &flags, "user");
    if let Some(message) = misworded(&settings, &host) {
        return failed(&message);
    }
    let level = level(&flags, &settings);
    let console = console(&flags, &settings);
    let input = match Input::read(&flags, &rest, &host) {
        Ok(input) => input,
        Err(message) => return failed(&message),
    };
    let machine = fx_puppet::Machine::new(Rc::clone(&host), Cancel::from_flag(stop));
    machine.given_by_flags(flags.settings());
    let request = match request(&flags, &settings, &host, &machine, input, level) {
        Ok(request) => request,
        Err(message) => return failed(&message),
    };
    let (files, on_console) = match destinations(&flags, &host, level) {
        Ok(found) => found,
        Err(code) => return code,
    };
    if on_console || files.is_empty() {
        machine.run().ledger.watch(console.clone());
    }
    for file in &files {
        machine.run().ledger.watch(Rc::<logdest::LogFile>::clone(file));
    }
    if level == Level::Debug {
        let run = machine.run();
        host.on_command(Rc::new(move |spec| {
            let text = command_line(spec);
            let shown = run.ledger.secrets().shown(&text);
            run.ledger.message(Level::Debug, &shown, &fx_source::Origin::default());
        }));
    }
    let summary = fx_puppet_apply::run(&machine, &request);
    for file in &files {
        if let Err(message) = file.write() {
            complain(&format!("Error: {message}"));
        }
    }
    let mut code = summary.code;
    if let Err(error) = machine.run().own_state(|act| act.commit()) {
        complain(&format!("Error: {error}"));
        // Of the detailed codes 4 stands for failures.
        code = if request.detailed_exitcodes { code | 4 } else { code.max(1) };
    }
    console.flush();
    if !summary.figures.is_empty() {
        say(summary.figures.trim_end());
    }
    code
}

/// Where the log is shown.
pub(super) fn console(flags: &Flags, settings: &Settings) -> Rc<PuppetConsole> {
    let mut console = PuppetConsole::new(
        Box::new(BufWriter::new(std::io::stdout())),
        Box::new(BufWriter::new(std::io::stderr())),
    );
    if matches!(flags.setting("color"), Some("ansi" | "true" | "yes")) {
        console = console.colored();
    }
    Rc::new(console.telling(level(flags, settings)))
}

/// A command in the words of the original: the account it runs as, if another, and its line.
fn command_line(spec: &fx_host::Spec) -> String {
    let accounts = [("uid", spec.uid), ("gid", spec.gid)];
    let accounts: String = accounts
        .iter()
        .filter_map(|(name, number)| number.map(|number| format!(" {name}={number}")))
        .collect();
    let with = if accounts.is_empty() { "" } else { " with" };
    let line = match &spec.program {
        fx_host::Program::Argv(words) if !spec.sensitive => {
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        }
        _ => spec.display(),
    };
    format!("Executing{with}{accounts}: '{line}'")
}

pub(super) fn level(flags: &Flags, settings: &Settings) -> Level {
    if flags.has("debug") {
        Level::Debug
    } else if flags.has("verbose") || flags.has("test") {
        Level::Info
    } else {
        level_of(&settings.get("log_level")).unwrap_or(Level::Notice)
    }
}

/// What is applied: manifests, or a catalog.
struct Input {
    manifests: Vec<(String, Vec<u8>)>,
    catalog: Option<(String, Vec<u8>)>,
}

impl Input {
    fn read(flags: &Flags, words: &[String], host: &OsHost) -> Result<Input, String> {
        let unread = |error| format!("Could not run: {}", unread_input(&error));
        let catalog = match flags.get("catalog") {
            None => None,
            Some("-") => Some(("-".to_owned(), stdin::data().map_err(unread)?)),
            Some(path) => match host.read_trusted_data(std::path::Path::new(path)) {
                Ok(text) => Some((path.to_owned(), text)),
                Err(_) => {
                    let missing = || {
                        format!("Could not run: No such file or directory @ rb_sysopen - {path}")
                    };
                    return Err(host.refused().unwrap_or_else(missing));
                }
            },
        };
        let manifests = match (&catalog, flags.get("execute"), words.first()) {
            (Some(_), ..) => Vec::new(),
            (None, Some(code), _) => vec![(String::new(), code.as_bytes().to_vec())],
            (None, None, Some(path)) => {
                let full = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
                fx_puppet::manifests(host, &full).map_err(|why| match host.refused() {
                    Some(_) => why,
                    None => format!("Could not run: Could not find file {path}"),
                })?
            }
            (None, None, None) => vec![(String::new(), stdin::policy().map_err(unread)?)],
        };
        Ok(Input { manifests, catalog })
    }
}

/// What flags and settings say, as one request.
fn request(
    flags: &Flags,
    settings: &Settings,
    host: &OsHost,
    machine: &fx_puppet::Machine,
    input: Input,
    level: Level,
) -> Result<Request, String> {
    let environment = settings.request(host);
    let certname = Some(settings.get("certname")).filter(|name| !name.is_empty());
    let mut classification = fx_puppet::Classification::default();
    if settings.get("node_terminus") == "exec" {
        let node = certname.clone().unwrap_or_else(|| fx_puppet::node_name(machine));
        classification = fx_puppet::classify(machine, &settings.get("external_nodes"), &node)?;
    }
    let words = |name: &str| -> Vec<String> {
        let list = if settings.is_given(name) { settings.get(name) } else { String::new() };
        let words = list.split(',').map(|tag| tag.trim().to_owned());
        words.filter(|tag| !tag.is_empty()).collect()
    };
    // State is kept where the settings say, and nowhere else.
    let keeps = ["vardir", "statedir", "publicdir"].iter().any(|name| settings.is_given(name));
    let reports = settings.get("report") != "false";
    let kept =
        |name: &str| (keeps || settings.is_given(name)).then(|| PathBuf::from(settings.get(name)));
    let is_on = |name: &str| settings.is_given(name) && settings.get(name) == "true";
    let hook = |name: &str| Some(settings.get(name)).filter(|command| !command.is_empty());
    let writes_summary = flags.has("write-catalog-summary") || is_on("write_catalog_summary");
    let listed = |name: &str| (writes_summary && keeps).then(|| PathBuf::from(settings.get(name)));
    Ok(Request {
        manifests: input.manifests,
        catalog: input.catalog,
        modulepath: environment.modulepath,
        noop: is_on("noop"),
        prerun: hook("prerun_command"),
        postrun: hook("postrun_command"),
        tags: words("tags"),
        skip_tags: words("skip_tags"),
        report: kept("lastrunreport").filter(|_| reports),
        summary: kept("lastrunfile"),
        class_list: listed("classfile"),
        resource_list: listed("resourcefile"),
        summarizes: is_on("summarize"),
        agent: None,
        file_server: None,
        server_bucket: None,
        plugins: None,
        alone: false,
        graphs: is_on("graph").then(|| PathBuf::from(settings.get("graphdir"))),
        detailed_exitcodes: flags.has("detailed-exitcodes") || flags.has("test"),
        show_diff: is_on("show_diff")
            || (flags.has("test") && flags.setting("no-show_diff").is_none()),
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
    })
}

/// Files that the log is written to, and whether it is shown on the console, too.
fn destinations(
    flags: &Flags,
    host: &Rc<OsHost>,
    level: Level,
) -> Result<(Vec<Rc<logdest::LogFile>>, bool), u8> {
    let mut files = Vec::new();
    let mut on_console = true;
    for places in flags.all("logdest") {
        on_console = false;
        for place in places.split(',') {
            match place {
                "console" => on_console = true,
                path if path.starts_with('/') => {
                    let file = logdest::LogFile::new(PathBuf::from(path), Rc::clone(host), level);
                    files.push(Rc::new(file));
                }
                other => {
                    complain(&format!("Error: Could not set logdest to {other}."));
                    complain(&format!(
                        "Error: Could not parse application options: Could not set logdest to {other}.\nUnknown destination type {other}"
                    ));
                    return Err(1);
                }
            }
        }
    }
    Ok((files, on_console))
}
