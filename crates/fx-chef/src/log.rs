//! The client's log: to a file of its own, or between the lines of the formatter.

use std::io::Write;
use std::path::PathBuf;

use fx_engine::Level;
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Vm};
use fx_source::{Diagnostic, Origin};

use crate::event::Event;
use crate::machine::{Machine, Method, text};

pub(crate) const METHODS: &[(&str, Method)] =
    &[("log", log), ("open_log", open), ("failure", failure), ("finding", finding)];

/// Bytes that are held back until they are written together.
const MOST: usize = 64_000;

/// The log file, if there is one, and what is not yet in it.
#[derive(Default)]
pub(crate) struct Log {
    file: Option<PathBuf>,
    text: Vec<u8>,
}

impl Machine {
    pub(crate) fn log_line(&self, vm: &mut Vm, level: &str, message: &str) {
        let when = crate::clock::stamp(vm, self.look());
        let message = self.rows.borrow().on_one_line(message);
        let message = crate::masking::text(&message);
        let line = format!("[{when}] {}: {message}\n", level.to_uppercase());
        let mut log = self.log.borrow_mut();
        if log.file.is_none() {
            self.console.borrow_mut().print(&line);
            return;
        }
        log.text.extend_from_slice(line.as_bytes());
        if log.text.len() > MOST {
            drop(log);
            self.flush_log(vm);
        }
    }

    /// Writes what is held back. As with the original, a log that can no longer be written does
    /// not end a run; standard error says so.
    pub(crate) fn flush_log(&self, vm: &mut Vm) {
        let mut log = self.log.borrow_mut();
        let text = std::mem::take(&mut log.text);
        if let Some(path) = &log.file
            && !text.is_empty()
        {
            let written = self.run().own_state(|act| act.append(path, &text, 0o640));
            if let Err(error) = written {
                let line = format!("log writing failed. {error}\n");
                // Where standard error is closed as well, there is nowhere left to say it.
                drop(vm.err.write_all(line.as_bytes()));
            }
        }
    }
}

fn log(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let level = text(vm, a, 0)?.unwrap_or_default();
    let message = text(vm, a, 1)?.unwrap_or_default();
    machine.log_line(vm, &level, &message);
    Ok(NIL)
}

/// `FX.open_log(path)`: writes the log there from now on; raises if that is not possible.
fn open(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let Some(path) = text(vm, a, 0)?.map(|path| machine.request.cwd.join(path)) else {
        return Ok(NIL);
    };
    let opened = machine.run().own_state(|act| act.append(&path, b"", 0o640));
    opened.or_else(|error| vm.host_error(&error, &path.to_string_lossy()))?;
    machine.log.borrow_mut().file = Some(path);
    Ok(NIL)
}

/// `FX.finding(code, message, place, help)`: what a check finds, as a line of JSON.
fn finding(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let line = serde_json::json!({
        "finding": text(vm, a, 0)?, "message": text(vm, a, 1)?, "labels": labels(text(vm, a, 2)?),
        "help": text(vm, a, 3)?,
    });
    machine.console.borrow_mut().print(&format!("{line}\n"));
    Ok(NIL)
}

/// `file:line…` as the places of a finding.
fn labels(place: Option<String>) -> Vec<serde_json::Value> {
    let parts = place.as_deref().and_then(|place| {
        place.match_indices(':').find_map(|(at, _)| {
            let digits: String = place[at + 1..].chars().take_while(char::is_ascii_digit).collect();
            Some((&place[..at], digits.parse::<u32>().ok()?))
        })
    });
    let label = |(file, line)| serde_json::json!({"file": file, "line": line, "text": ""});
    parts.map(label).into_iter().collect()
}

/// `FX.failure(class, message, what is missing, place, help, is it missing?)`: why the run ends. The last line of the log, and of the output
/// too when the log is elsewhere; a line of JSON where findings are wanted as such.
fn failure(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let class = text(vm, a, 0)?.unwrap_or_default();
    let message = text(vm, a, 1)?.unwrap_or_default();
    let whole = format!("{class}: {message}");
    machine.log_line(vm, "fatal", &whole);
    // The first line says it; what follows is output of commands and the like.
    let missing = text(vm, a, 2)?;
    let first = missing.as_deref().or_else(|| whole.lines().next()).unwrap_or_default();
    let shown = crate::masking::text(first).into_owned();
    let place = text(vm, a, 3)?;
    let span = place.as_deref().and_then(|place| machine.span(vm, place));
    let origin = span.map_or_else(Origin::default, Origin::at);
    machine.ledger.message(Level::Error, &shown, &origin);
    let help = text(vm, a, 4)?;
    if let (Some(refused), Some(span)) = (&machine.request.refused, span) {
        let found = Diagnostic::error("chef-compile", &shown).label(span, "");
        let found = match help.as_deref() {
            Some(help) => found.help(help),
            None => found,
        };
        // The first failure is the one that ended the run.
        let _ = refused.set(found);
    }
    if machine.request.options.contains_key("findings") {
        let missing = text(vm, a, 5)?.is_some();
        let line = serde_json::json!({
            "failure": shown, "class": class, "labels": labels(place), "help": help,
            "missing": missing,
        });
        machine.console.borrow_mut().print(&format!("{line}\n"));
    }
    if machine.log.borrow().file.is_some() {
        machine.emit(&Event::RunFailed { class: &class, message: &message });
    }
    Ok(NIL)
}
