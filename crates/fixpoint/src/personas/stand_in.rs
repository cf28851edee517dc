//! Stands in for `systemctl` inside a copy of the machine: starting and stopping is recorded,
//! not done, and asking is answered from the machine's state and that record. What works on
//! files alone, such as enabling, is left to the original. Refuses to run anywhere else.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use fx_host::{Commands, Edits, Files, ORIGINALS, OsHost, Sandbox, Spec, WriteOptions};

use crate::persona::Invocation;
use crate::{exit, terminal};

/// What was requested of services, one `VERB UNIT` a line.
pub(crate) fn record() -> PathBuf {
    Path::new(ORIGINALS).join("services")
}

/// Units that run on the machine, one a line.
pub(crate) fn running() -> PathBuf {
    Path::new(ORIGINALS).join("running")
}

/// Where units are described.
const UNITS: [&str; 5] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

const CHANGING: [&str; 12] = [
    "start",
    "stop",
    "restart",
    "reload",
    "try-restart",
    "condrestart",
    "reload-or-restart",
    "reload-or-try-restart",
    "try-reload-or-restart",
    "force-reload",
    "kill",
    "isolate",
];

pub(crate) fn systemctl(call: &Invocation) -> u8 {
    if !Sandbox::is_here() {
        terminal::complain("stands in for systemctl inside a copy of the machine only");
        return exit::USAGE;
    }
    let words: Vec<String> =
        call.args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let joined = with_properties(&words);
    let (options, plain): (Vec<&str>, Vec<&str>) =
        joined.iter().map(String::as_str).partition(|word| word.starts_with('-'));
    let Some((verb, units)) = plain.split_first() else { return original(&words) };
    let units: Vec<String> = units.iter().map(|unit| full_name(unit)).collect();
    let host = OsHost::new();
    let quiet = options.iter().any(|option| matches!(*option, "-q" | "--quiet"));
    match *verb {
        verb if CHANGING.contains(&verb) => change(&host, verb, &units),
        "daemon-reload" | "daemon-reexec" | "reset-failed" => exit::OK,
        "is-active" | "status" => {
            let mut any = false;
            for unit in &units {
                let active = is_active(&host, unit);
                any |= active;
                if !quiet {
                    terminal::print(if active { "active\n" } else { "inactive\n" });
                }
            }
            if any { exit::OK } else { 3 }
        }
        "show" => {
            for unit in &units {
                terminal::print(&shown(&host, unit, &options));
            }
            exit::OK
        }
        _ => {
            let code = original(&words);
            if code == exit::OK && options.contains(&"--now") {
                let verb = if *verb == "enable" { "start" } else { "stop" };
                return change(&host, verb, &units);
            }
            code
        }
    }
}

/// The words with each property joined to the flag that asks for it, which may stand apart.
fn with_properties(words: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match (word.as_str(), rest.as_slice().first()) {
            ("-p" | "--property", Some(name)) => {
                out.push(format!("--property={name}"));
                rest.next();
            }
            _ => out.push(word.clone()),
        }
    }
    out
}

fn full_name(unit: &str) -> String {
    let has_kind = Path::new(unit).extension().is_some_and(|kind| {
        ["service", "socket", "timer", "target", "mount", "path", "slice", "device"]
            .iter()
            .any(|known| kind == *known)
    });
    if has_kind { unit.to_owned() } else { format!("{unit}.service") }
}

fn is_known(host: &OsHost, unit: &str) -> bool {
    // An instance is described by its template.
    let template = unit.split_once('@').map(|(name, rest)| {
        let kind = rest.rsplit_once('.').map_or("service", |(_, kind)| kind);
        format!("{name}@.{kind}")
    });
    let names = [Some(unit.to_owned()), template];
    let script = unit.strip_suffix(".service").map(|name| Path::new("/etc/init.d").join(name));
    UNITS
        .iter()
        .flat_map(|dir| names.iter().flatten().map(move |name| Path::new(dir).join(name)))
        .chain(script)
        .any(|path| host.stat(&path).is_ok())
}

fn change(host: &OsHost, verb: &str, units: &[String]) -> u8 {
    let mut lines = host.read(&record()).unwrap_or_default();
    for unit in units {
        if !is_known(host, unit) {
            terminal::complain(format_args!("Failed to {verb} {unit}: Unit {unit} not found."));
            return 5;
        }
        lines.extend_from_slice(format!("{verb} {unit}\n").as_bytes());
    }
    match host.write(&record(), &lines, &WriteOptions::default()) {
        Ok(()) => exit::OK,
        Err(error) => {
            terminal::complain(error);
            exit::ERROR
        }
    }
}

/// Whether it runs: as last recorded, else as on the machine.
fn is_active(host: &OsHost, unit: &str) -> bool {
    let text =
        |path: &Path| String::from_utf8_lossy(&host.read(path).unwrap_or_default()).into_owned();
    let record = text(&record());
    let last = record.lines().rev().find_map(|line| {
        let (verb, of) = line.split_once(' ')?;
        (of == unit).then_some(!matches!(verb, "stop" | "kill"))
    });
    last.unwrap_or_else(|| text(&running()).lines().any(|line| line == unit))
}

/// The properties that were asked for, as far as they can be known here.
fn shown(host: &OsHost, unit: &str, options: &[&str]) -> String {
    let asked: Vec<&str> = options
        .iter()
        .filter_map(|option| option.strip_prefix("--property=").or(option.strip_prefix("-p")))
        .flat_map(|list| list.split(','))
        .collect();
    let (known, active) = (is_known(host, unit), is_active(host, unit));
    let enabled = || {
        let spec = spec(&["is-enabled".to_owned(), unit.to_owned()]);
        let ended = host.run(&spec).map(|ended| ended.stdout).unwrap_or_default();
        String::from_utf8_lossy(&ended).trim().to_owned()
    };
    let mut out = String::new();
    for name in ["Id", "LoadState", "ActiveState", "SubState", "UnitFileState"] {
        if !asked.is_empty() && !asked.contains(&name) {
            continue;
        }
        let value = match name {
            "Id" => unit.to_owned(),
            "LoadState" => (if known { "loaded" } else { "not-found" }).to_owned(),
            "ActiveState" => (if active { "active" } else { "inactive" }).to_owned(),
            "SubState" => (if active { "running" } else { "dead" }).to_owned(),
            _ if known => enabled(),
            _ => String::new(),
        };
        let _ = writeln!(out, "{name}={value}");
    }
    out
}

/// The original, made to work on files alone.
fn spec(words: &[String]) -> Spec {
    let program = Path::new(ORIGINALS).join("systemctl").display().to_string();
    let mut argv = vec![program, "--root=/".to_owned()];
    argv.extend(
        words.iter().filter(|word| !matches!(word.as_str(), "--now" | "--system")).cloned(),
    );
    Spec::argv(argv)
}

fn original(words: &[String]) -> u8 {
    match OsHost::new().run(&spec(words)) {
        Ok(ended) => {
            terminal::print(&String::from_utf8_lossy(&ended.stdout));
            terminal::hand_on(&String::from_utf8_lossy(&ended.stderr));
            u8::try_from(ended.exit.code()).unwrap_or(exit::ERROR)
        }
        Err(error) => {
            terminal::complain(error);
            exit::ERROR
        }
    }
}

#[cfg(test)]
mod tests {
    use super::with_properties;

    #[test]
    fn a_property_may_stand_apart_from_its_flag() {
        let joined = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            with_properties(&words).join(" ")
        };
        assert_eq!(
            joined("--system show -p UnitFileState --property ActiveState ssh"),
            "--system show --property=UnitFileState --property=ActiveState ssh"
        );
        assert_eq!(joined("show -pId ssh"), "show -pId ssh");
        assert_eq!(joined("show -p"), "show -p");
    }
}
