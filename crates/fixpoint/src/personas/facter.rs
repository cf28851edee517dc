//! The facter persona: its flags and its output, from our own facts and those that files,
//! programs and Ruby add.

mod groups;
mod options;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::{Cancel, Event, Level, Sink};
use fx_facts::Facts;
use fx_host::{Clock, Env, OsHost};
use fx_puppet::Machine;
use fx_value::{Map, Value};

use crate::persona::Invocation;
use crate::{exit, terminal};
use options::{Asked, Options};

/// Where external facts lie unless somebody says otherwise.
const EXTERNAL: [&str; 3] =
    ["/opt/puppetlabs/facter/facts.d", "/etc/facter/facts.d", "/etc/puppetlabs/facter/facts.d"];

/// What is logged in detail before facts are gathered.
const BEGINNING: [(&str, &str); 5] = [
    ("Facter", "Facter version: 4.3.0"),
    ("Facter::FactManager", "Resolving facts sequentially"),
    ("Facter::FactLoader", "Loading all internal facts"),
    ("Facter::FactLoader", "Loading custom facts"),
    ("Facter::FactLoader", "Loading external facts"),
];

const HELP: &str = include_str!("facter/help.txt");

/// What is logged while facts are gathered.
#[derive(Default)]
struct Logged {
    /// Level, text, and the program that complained, if it was one.
    lines: RefCell<Vec<(Level, String, Option<String>)>>,
    program: RefCell<Option<String>>,
}

impl Sink for Logged {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Note { code: "facter.complaint", fields, .. } => {
                let name = fields.iter().find(|(name, _)| name == "program");
                *self.program.borrow_mut() = name.map(|(_, program)| program.to_string());
            }
            // What a fact prints itself comes as it is printed.
            Event::Note { code: code @ ("puppet.print" | "puppet.stderr"), fields, .. } => {
                let text = fields.iter().find(|(name, _)| name == "text");
                let line = text.map(|(_, text)| text.to_string()).unwrap_or_default();
                if *code == "puppet.stderr" {
                    terminal::hand_on(&format!("{line}\n"));
                } else {
                    terminal::print(&format!("{line}\n"));
                }
            }
            Event::Message { level, text, .. } => {
                let program = self.program.take();
                self.lines.borrow_mut().push((*level, (*text).to_owned(), program));
            }
            _ => {}
        }
    }
}

pub(crate) fn main(invocation: &Invocation) -> u8 {
    let host = Rc::new(OsHost::new());
    let args: Vec<String> =
        invocation.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let options = match options::read(&args, &*host) {
        Asked::Facts(options) => options,
        Asked::Version => {
            return terminal::print(&format!("{}\n", crate::version::version(invocation.name)));
        }
        Asked::Help => return terminal::print(HELP),
        Asked::Groups(groups) => return terminal::print(&groups.list()),
        Asked::Wrong(message) => {
            tell(&host, Level::Error, "Facter::OptionsValidator", &message);
            terminal::print(HELP);
            return exit::ERROR;
        }
    };
    let log = |level: Level, by: &str, text: &str| {
        if options.level.is_some_and(|shown| level <= shown) {
            tell(&host, level, by, text);
        }
    };
    log(Level::Info, "Facter", &format!("executed with command line: {}", args.join(" ")));
    for (by, text) in BEGINNING {
        log(Level::Debug, by, text);
    }
    let facts = Facts::new(&*host);
    let Value::Map(mut all) = fx_facter::facts(&*host, &facts) else { return exit::ERROR };
    let mut old = fx_facter::legacy(&*host, &Value::Map(all.clone()));
    let failed = add(&mut all, &host, &options);
    if options.puppet {
        all.insert("puppetversion".into(), fx_puppet::VERSION.into());
    }
    for name in &options.blocked {
        all.shift_remove(name.as_bytes());
        old.shift_remove(name.as_bytes());
    }
    all.sort_keys();
    if options.level == Some(Level::Debug) {
        for (name, value) in resolved(&options, &all) {
            let text = format!("fact \"{name}\" has resolved to: {value}");
            log(Level::Debug, "Facter::FactManager", &text);
        }
        if options.format == fx_facter::Format::Text {
            let text = match options.queries.len() {
                0 => "Formatting for no user query",
                1 => "Formatting for single user query",
                _ => "Formatting for multiple user queries",
            };
            log(Level::Debug, "Facter::LegacyFactFormatter", text);
        }
    }
    let (text, missing) = if options.queries.is_empty() {
        if options.legacy {
            // A fact that somebody sets wins over the machine's of the same name.
            for (name, value) in old {
                all.entry(name).or_insert(value);
            }
            all.sort_keys();
        }
        (fx_facter::all_text(options.format, all), Vec::new())
    } else {
        answers(&options, &Value::Map(all), &old)
    };
    if options.strict {
        for name in &missing {
            tell(&host, Level::Error, "Facter", &format!("fact \"{name}\" does not exist."));
        }
    }
    let timed = options.queries.iter().filter(|_| options.timing);
    let times: String =
        timed.map(|query| format!("fact '{query}', took: (0.000000) seconds\n")).collect();
    let written = terminal::print(&format!("{times}{text}"));
    if failed || (options.strict && !missing.is_empty()) { exit::ERROR } else { written }
}

/// Adds facts of files, programs and Ruby; whether some could not be found out.
fn add(all: &mut Map, host: &Rc<OsHost>, options: &Options) -> bool {
    let mut folders = options.external_dirs.clone();
    if !options.external {
        folders.clear();
    } else if folders.is_empty() {
        folders = EXTERNAL.iter().map(PathBuf::from).collect();
    }
    let mut rubies = Vec::new();
    if options.custom {
        if let Some(path) = host.var("FACTERLIB".as_ref()) {
            rubies.extend(std::env::split_paths(&path));
        }
        rubies.extend(options.custom_dirs.iter().cloned());
    }
    let machine = Machine::new(Rc::clone(host), Cancel::default());
    let logged = Rc::new(Logged::default());
    machine.run().ledger.watch(Rc::<Logged>::clone(&logged));
    let only = Some(options.queries.as_slice()).filter(|queries| !queries.is_empty());
    for (name, value) in fx_puppet::more_facts(&machine, &folders, &rubies, options.custom, only) {
        all.insert(name.as_str().into(), Value::from_json(&value));
    }
    let mut failed = false;
    let lines = logged.lines.borrow();
    let is_shown = |level: Level| options.level.is_some_and(|shown| level <= shown);
    for (level, text, program) in lines.iter() {
        failed |= *level == Level::Error;
        let text = text.trim_start_matches("Facter: ");
        // A program complains under its own name.
        if is_shown(*level) {
            tell(host, *level, program.as_deref().unwrap_or("Facter"), text);
        }
    }
    failed
}

/// Facts by the names that they are resolved under: what was asked for, or all, part by part.
fn resolved(options: &Options, all: &Map) -> Vec<(String, Value)> {
    let all = Value::Map(all.clone());
    let mut found = Vec::new();
    if options.queries.is_empty() {
        parts("", &all, &mut found);
    }
    for query in &options.queries {
        let path: Vec<&str> = query.split('.').collect();
        found.extend(all.dig(&path).map(|value| (query.clone(), value)));
    }
    found
}

/// The values in a map and in the maps in it, by their whole names.
fn parts(name: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Map(map) => {
            for (key, value) in map {
                let key = key.to_text();
                let name = if name.is_empty() { key.to_string() } else { format!("{name}.{key}") };
                parts(&name, value, found);
            }
        }
        value => found.push((name.to_owned(), value.clone())),
    }
}

/// A line of Facter's log.
fn tell(host: &OsHost, level: Level, by: &str, text: &str) {
    let (word, color) = match level {
        Level::Error => ("ERROR", 31),
        Level::Warning => ("WARN", 33),
        Level::Notice | Level::Info => ("INFO", 32),
        Level::Verbose | Level::Debug => ("DEBUG", 36),
    };
    let now = host.now();
    let stamp = fx_puppet::strftime(now.secs, now.nanos, "%Y-%m-%d %H:%M:%S.%6N");
    terminal::hand_on(&format!("[{stamp} ] {word} {by} - \u{1b}[{color}m{text}\u{1b}[0m \n"));
}

fn answers(options: &Options, all: &Value, old: &Map) -> (String, Vec<String>) {
    let mut found: Vec<(String, Value)> = options
        .queries
        .iter()
        .map(|query| {
            let path: Vec<&str> = query.split('.').collect();
            let flat = || match all {
                Value::Map(map) => map.get(query.as_bytes()).cloned(),
                _ => None,
            };
            let value =
                flat().or_else(|| all.dig(&path)).or_else(|| old.get(query.as_bytes()).cloned());
            (query.clone(), value.unwrap_or_default())
        })
        // What Facter knows and the machine lacks is no answer; what it never heard of is one.
        .filter(|(query, value)| *value != Value::Undef || !fx_facter::may_be_absent(query))
        .collect();
    // Answers come in the order of their names, whatever the order of the questions.
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let answered = |query: &&String| {
        found.iter().any(|(name, value)| name == *query && *value != Value::Undef)
    };
    let missing = options.queries.iter().filter(|query| !answered(query)).cloned().collect();
    (fx_facter::answers_text(options.format, found), missing)
}
