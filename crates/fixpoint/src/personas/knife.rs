//! `knife`, for those who have no Ruby: the calls that people make daily, as a table over the
//! requests of a Chef server, with the original's output.

mod calls;
mod config;
mod cookbooks;
mod help;
mod http;
mod ssl;
mod text;

use std::io::Write;

use serde_json::Value as J;

use crate::persona::Invocation;
use crate::terminal;
use calls::{CALLS, Call};
use config::Settings;
use http::Wrong;

/// What a call works with.
struct Knife {
    settings: Settings,
    server: std::cell::OnceCell<fx_remote::chef::Server>,
    flags: Vec<(&'static str, Option<String>)>,
}

/// A flag: its letter, its name, and whether it takes a value.
type Flag = (char, &'static str, bool);

/// Flags that every call knows.
const SHARED: &[Flag] = &[
    ('c', "config", true),
    ('s', "server-url", true),
    ('u', "user", true),
    ('k', "key", true),
    ('F', "format", true),
    ('y', "yes", false),
    ('d', "disable-editing", false),
    ('V', "verbose", false),
    ('\0', "profile", true),
    ('\0', "no-color", false),
    ('\0', "color", false),
    ('\0', "config-option", true),
    ('w', "with-uri", false),
];

/// Code of an unknown call, and of a failed request.
const UNKNOWN: u8 = 10;
const FAILED: u8 = 100;

pub(crate) fn main(invocation: &Invocation) -> u8 {
    let args: Vec<String> =
        invocation.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    if args.iter().any(|arg| arg == "--version" || arg == "-v") {
        return terminal::print(&format!("{}\n", crate::version::version("knife")));
    }
    let wants_help = args.iter().any(|arg| arg == "--help" || arg == "-h");
    let is_wordless = args.iter().all(|arg| arg.starts_with('-'));
    if is_wordless {
        let version = crate::version::version("knife");
        let head = if wants_help {
            format!("{version}\n")
        } else {
            "ERROR: You need to pass a sub-command (e.g., knife SUB-COMMAND)\n".to_owned()
        };
        let printed = terminal::print(&format!("{head}\n{}\n{}", help::options(), help::calls("")));
        return if wants_help { printed } else { 1 };
    }
    let Some(call) = find(&args) else { return unknown(&args) };
    if wants_help {
        return terminal::print(&format!("{}\n", help::usage(call)));
    }
    let (flags, words) = match read(call, &args) {
        Ok(read) => read,
        Err(message) => {
            Knife::tell(&format!("Error: {message}"));
            return 1;
        }
    };
    let words = &words[call.words.len()..];
    if words.len() < call.least {
        terminal::print(&format!("USAGE: {}\n", help::usage(call)));
        Knife::tell("FATAL: You must specify more arguments");
        return 1;
    }
    let flag = |name: &str| {
        flags.iter().rev().find(|(known, _)| *known == name).and_then(|(_, value)| value.clone())
    };
    let settings = match Settings::read(&flag) {
        Ok(settings) => settings,
        Err(message) => {
            Knife::tell(&format!("ERROR: {message}"));
            return 1;
        }
    };
    let knife = Knife { settings, server: std::cell::OnceCell::new(), flags };
    match (call.run)(&knife, words) {
        Ok(()) => 0,
        Err(Wrong::Code(code)) => code,
        Err(wrong) => {
            http::explain(&knife, &wrong);
            FAILED
        }
    }
}

/// The call with the most words that the arguments begin with.
fn find(args: &[String]) -> Option<&'static Call> {
    let words: Vec<&str> =
        args.iter().map(String::as_str).take_while(|word| !word.starts_with('-')).collect();
    // Words may also be joined by dashes, as in `data-bag`.
    let fits = |call: &&Call| {
        words.len() >= call.words.len() && call.words.iter().zip(&words).all(|(a, b)| a == b)
    };
    CALLS.iter().filter(fits).max_by_key(|call| call.words.len())
}

fn unknown(args: &[String]) -> u8 {
    Knife::tell(&format!("FATAL: Cannot find subcommand for: '{}'", args.join(" ")));
    terminal::print(&help::calls(args.first().map_or("", String::as_str)));
    UNKNOWN
}

type Read = (Vec<(&'static str, Option<String>)>, Vec<String>);

/// Flags with their values, and the other words.
fn read(call: &Call, args: &[String]) -> Result<Read, String> {
    let known = || call.flags.iter().chain(SHARED);
    let (mut flags, mut words) = (Vec::new(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (found, inline) = if let Some(long) = arg.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            (known().find(|(_, known, _)| *known == name), value)
        } else if let Some(letters) = arg.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            let letter = letters.chars().next().unwrap_or_default();
            let rest = letters[letter.len_utf8()..].to_owned();
            (known().find(|(short, ..)| *short == letter), Some(rest).filter(|r| !r.is_empty()))
        } else {
            words.push(arg.clone());
            continue;
        };
        let Some((_, name, takes)) = found else { return Err(format!("invalid option: {arg}")) };
        let value = match (takes, inline) {
            (true, None) => {
                Some(args.next().cloned().ok_or_else(|| format!("missing argument: {arg}"))?)
            }
            (true, value) => value,
            (false, _) => None,
        };
        flags.push((*name, value));
    }
    Ok((flags, words))
}

impl Knife {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|(known, _)| *known == flag)
    }

    fn flag(&self, flag: &str) -> Option<&str> {
        let found = self.flags.iter().rev().find(|(known, _)| *known == flag);
        found.and_then(|(_, value)| value.as_deref())
    }

    /// Every value of a flag that may be given more than once.
    fn all(&self, flag: &str) -> Vec<&str> {
        let found = self.flags.iter().filter(|(known, _)| *known == flag);
        found.filter_map(|(_, value)| value.as_deref()).collect()
    }

    fn wants_json(&self) -> bool {
        self.flag("format").is_some_and(|format| format.starts_with('j'))
    }

    /// Prints data in the form that was asked for.
    fn output(&self, data: &J) {
        terminal::print(&if self.wants_json() { text::json(data) } else { text::text(data) });
    }

    fn say(line: &str) {
        terminal::print(&format!("{line}\n"));
    }

    /// What is said beside the output.
    fn tell(line: &str) {
        let _closed = writeln!(std::io::stderr(), "{line}");
    }

    /// Asks before something is gone, unless the answer was given.
    fn confirmed(&self, what: &str) -> Result<(), Wrong> {
        if self.has("yes") {
            return Ok(());
        }
        terminal::print(&format!("{what}? (Y/N) "));
        let answer = crate::stdin::line().unwrap_or_default();
        match answer.trim() {
            "y" | "Y" => Ok(()),
            _ => {
                Knife::say("You said no, so I'm done here.");
                Err(Wrong::Code(3))
            }
        }
    }
}
