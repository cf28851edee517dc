//! What a run tells: headings of the formatter, log lines, the report file, the failure.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Vm};

use crate::machine::{Machine, Method, text};
use crate::page::Stream;
use crate::rows::Format;

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("log", log),
    ("open_log", open_log),
    ("run_start", run_start),
    ("resolving", resolving),
    ("synchronizing", synchronizing),
    ("compiling", compiling),
    ("compliance", compliance),
    ("converging", converging),
    ("converged", converged),
    ("describe", describe),
    ("handlers", handlers),
    ("summary", summary),
    ("failure", failure),
    ("finish", finish),
    ("write_collection", write_file),
    ("save_node", save_node),
    ("store", store),
    ("masked", masked),
    ("shown_lines", shown_lines),
];

impl Machine {
    /// A line of a formatter, at the page's indentation.
    fn say(&self, vm: &mut Vm, text: &str) {
        let mut rows = self.rows.borrow_mut();
        let mut shown = String::new();
        match rows.format {
            _ if rows.bare => {}
            Format::Doc => rows.page.puts_line(&mut shown, text),
            Format::Min => {
                shown.push_str(text);
                shown.push('\n');
            }
            Format::Null => {}
        }
        drop(vm.out.write_all(crate::shown::text(&shown).as_bytes()));
    }

    fn say_in(&self, vm: &mut Vm, format: Format, text: &str) {
        if self.rows.borrow().format == format {
            self.say(vm, text);
        }
    }

    pub(crate) fn log_line(&self, vm: &mut Vm, level: &str, message: &str) {
        let when = crate::clock::stamp(vm, &*self.host);
        let message = self.rows.borrow().on_one_line(message);
        let message = crate::shown::text(&message);
        let line = format!("[{when}] {}: {message}\n", level.to_uppercase());
        let mut rows = self.rows.borrow_mut();
        if rows.log.is_some() {
            rows.log_text.extend_from_slice(line.as_bytes());
            if rows.log_text.len() > 64_000 {
                drop(rows);
                self.flush_log();
            }
        } else {
            drop(vm.out.write_all(line.as_bytes()));
        }
    }

    fn flush_log(&self) {
        let mut rows = self.rows.borrow_mut();
        let text = std::mem::take(&mut rows.log_text);
        if let Some(path) = &rows.log
            && !text.is_empty()
        {
            drop(self.host.append(path, &text, 0o640));
        }
    }
}

fn log(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let level = text(vm, a, 0)?.unwrap_or_default();
    let message = text(vm, a, 1)?.unwrap_or_default();
    machine.log_line(vm, &level, &message);
    Ok(NIL)
}

fn open_log(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = text(vm, a, 0)?.map(|path| machine.request.cwd.join(path));
    machine.rows.borrow_mut().log = path;
    Ok(NIL)
}

fn run_start(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    machine.say(vm, &format!("Chef Infra Client, version {} (fixpoint)", crate::VERSION));
    machine.say(vm, "Infra Phase starting");
    Ok(NIL)
}

fn resolving(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let list = vm.arg(a, 0);
    let shown = vm.inspect_string(list)?;
    machine.say(vm, &format!("Resolving cookbooks for run list: {shown}"));
    Ok(NIL)
}

/// `FX.synchronizing([[name, version]…])`.
fn synchronizing(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    machine.say_in(vm, Format::Doc, "Synchronizing cookbooks:");
    machine.say_in(vm, Format::Min, "Synchronizing cookbooks");
    let mut dots = String::new();
    for pair in vm.heap.arr(vm.arg(a, 0)).clone() {
        let pair = vm.heap.arr(pair).clone();
        let (name, version) = (vm.to_s(pair[0])?, vm.to_s(pair[1])?);
        machine.say_in(vm, Format::Doc, &format!("  - {name} ({version})"));
        dots.push('.');
    }
    machine.say_in(vm, Format::Min, &format!("{dots}done."));
    machine.say_in(vm, Format::Doc, "Installing cookbook gem dependencies:");
    Ok(NIL)
}

fn compiling(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    machine.say_in(vm, Format::Doc, "Compiling cookbooks...");
    machine.say_in(vm, Format::Min, "Compiling cookbooks");
    Ok(NIL)
}

/// `FX.compliance`: the parts of a compliance phase, none of which a run has.
fn compliance(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    for what in ["profile", "input", "waiver"] {
        machine.say_in(vm, Format::Doc, &format!("Loading Chef InSpec {what} files:"));
    }
    Ok(NIL)
}

/// `FX.converging(resources, files loaded)`.
fn converging(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let count = text(vm, a, 0)?.unwrap_or_default();
    let loaded = vm.arg(a, 1).fixnum().unwrap_or(0).max(0) as usize;
    machine.say_in(vm, Format::Min, &format!("{}done.", ".".repeat(loaded)));
    machine.say(vm, &format!("Converging {count} resources"));
    Ok(NIL)
}

/// `FX.converged(failed)`: the short formatter lists what was changed.
fn converged(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let mut told = String::from("\nSystem converged.");
    {
        let mut rows = machine.rows.borrow_mut();
        if rows.format == Format::Doc {
            rows.page.unindent();
        }
        let changed: Vec<_> = rows.all.iter().filter(|row| row.outcome == "updated").collect();
        if changed.is_empty() {
            told.push_str("\nno resources updated");
        } else {
            told.push_str("\n\nresources updated this run:");
        }
        for row in changed {
            let _ = write!(told, "\n* {}", row.resource);
            for change in &row.told {
                let _ = write!(told, "\n  - {change}");
            }
            told.push('\n');
        }
    }
    if !vm.opt(a, 0).is_some_and(fx_ruby::Value::truthy) {
        machine.say_in(vm, Format::Min, &told);
    }
    Ok(NIL)
}

/// Pairs of heading and text in an argument.
pub(crate) fn sections(vm: &mut Vm, a: Args, i: u32) -> fx_ruby::Res<Vec<(String, String)>> {
    let mut out = Vec::new();
    let Some(list) = vm.opt_nil(a, i).filter(|v| v.is_arr()) else { return Ok(out) };
    for pair in vm.heap.arr(list).clone() {
        let pair = vm.heap.arr(pair).clone();
        out.push((vm.to_s(pair[0])?, vm.to_s(pair[1])?));
    }
    Ok(out)
}

/// `FX.describe(title, sections)`: a failure that belongs to no resource.
fn describe(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let title = text(vm, a, 0)?.unwrap_or_default();
    let sections = sections(vm, a, 1)?;
    let mut rows = machine.rows.borrow_mut();
    let mut shown = String::new();
    if rows.format != Format::Null {
        rows.page.failure(&mut shown, &title, &sections);
        drop(vm.out.write_all(crate::shown::text(&shown).as_bytes()));
    }
    Ok(NIL)
}

/// `FX.handlers(nil | name | true)`: handlers begin, one has run, all have.
fn handlers(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let step = vm.arg(a, 0);
    if step.is_str() {
        let name = vm.to_s(step)?;
        machine.say_in(vm, Format::Doc, &format!("  - {name}"));
        return Ok(NIL);
    }
    if step.truthy() {
        machine.say_in(vm, Format::Doc, "Running handlers complete");
        return Ok(NIL);
    }
    let mut rows = machine.rows.borrow_mut();
    if rows.format == Format::Doc && !rows.bare {
        let mut shown = String::new();
        rows.page.puts(&mut shown, "", Stream::Own);
        rows.page.puts(&mut shown, "Running handlers:", Stream::Own);
        drop(vm.out.write_all(shown.as_bytes()));
    }
    Ok(NIL)
}

/// `FX.failure(class, message)`: the last line of the log, and of the output too when the log
/// goes elsewhere.
fn failure(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let class = text(vm, a, 0)?.unwrap_or_default();
    let message = text(vm, a, 1)?.unwrap_or_default();
    machine.log_line(vm, "fatal", &format!("{class}: {message}"));
    if machine.rows.borrow().log.is_some() {
        machine.say(vm, &format!("\n{class}: {message}"));
    }
    Ok(NIL)
}

/// `FX.summary(failed, deprecations)`: the last lines of the formatter.
fn summary(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let failed = vm.arg(a, 0).truthy();
    let list = vm.arg(a, 1);
    if !failed && list.is_arr() {
        for line in vm.heap.arr(list).clone() {
            let line = vm.to_s(line)?;
            machine.say_in(vm, Format::Doc, &line);
        }
    }
    let time = crate::clock::elapsed(machine.host.monotonic().as_secs());
    let (updated, total, why_run) = {
        let rows = machine.rows.borrow();
        let count = |outcome: &str| rows.all.iter().filter(|row| row.outcome == outcome).count();
        let updated = count("updated");
        (updated, updated + count("up_to_date") + count("skipped"), rows.why_run)
    };
    let doc = match (failed, why_run) {
        (false, false) => {
            format!("Infra Phase complete, {updated}/{total} resources updated in {time}")
        }
        (false, true) => {
            format!("Infra Phase complete, {updated}/{total} resources would have been updated")
        }
        (true, false) => format!("Infra Phase failed. {updated} resources updated in {time}"),
        (true, true) => format!("Infra Phase failed. {updated} resources would have been updated"),
    };
    machine.say_in(vm, Format::Doc, &doc);
    let word = if failed { "failed." } else { "complete," };
    machine.say_in(vm, Format::Min, &format!("Infra phase {word} {updated} resources updated"));
    Ok(NIL)
}

/// `FX.finish(error class, message, code, configured)`: findings, log and report file.
fn finish(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let class = text(vm, a, 0)?;
    let message = text(vm, a, 1)?.unwrap_or_default();
    crate::trap::tell(machine, vm);
    machine.flush_log();
    let configured = vm.opt(a, 3).is_some_and(fx_ruby::Value::truthy);
    if let Some(path) = machine.request.report.as_ref().filter(|_| configured) {
        let text = rows_as_json(machine, class.as_deref(), &message);
        let path = machine.request.cwd.join(path);
        let written = machine.host.write(&path, text.as_bytes(), &fx_host::WriteOptions::default());
        written.or_else(|error| vm.host_error(&error, &path.to_string_lossy()))?;
    }
    Ok(NIL)
}

fn rows_as_json(machine: &Machine, class: Option<&str>, message: &str) -> String {
    use serde_json::{Value as J, json};
    let mut out = String::new();
    for row in &machine.rows.borrow().all {
        let mut line = json!({
            "event": "resource", "resource": row.resource, "action": row.action,
            "depth": row.depth, "outcome": row.outcome,
        });
        if let Some((kind, from)) = &row.via {
            line["via"] = json!([kind, from]);
        }
        if let Some(reason) = &row.reason {
            line["reason"] = J::String(reason.clone());
        }
        if !row.changes.is_empty() {
            line["changes"] = json!(row.changes);
        }
        out.push_str(&line.to_string());
        out.push('\n');
    }
    let last = match class {
        None => json!({"event": "run_completed"}),
        Some(class) => {
            let message = crate::shown::mask(message);
            json!({"event": "run_failed", "class": class, "message": message})
        }
    };
    out.push_str(&last.to_string());
    out.push('\n');
    out
}

/// `FX.write_collection(path, text)`.
fn write_file(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = text(vm, a, 0)?.unwrap_or_default();
    let body = crate::machine::bytes(vm, a, 1)?.unwrap_or_default();
    let path = machine.request.cwd.join(path);
    if path == Path::new("/dev/stdout") {
        drop(vm.out.write_all(&body));
        drop(vm.out.write_all(b"\n"));
        return Ok(NIL);
    }
    let written = machine.host.write(&path, &body, &fx_host::WriteOptions::default());
    written.or_else(|error| vm.host_error(&error, &path.to_string_lossy()))?;
    Ok(NIL)
}

/// `FX.shown_lines(text)`: lines of source, without the secrets that they say they hold.
fn shown_lines(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let text = text(vm, a, 0)?.unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let line = |at: u32| lines.get(at as usize - 1).map_or("", |line| *line).to_owned();
    let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let shown = (1..=count).map(|at| fx_source::shown_among(at, &line) + "\n").collect::<String>();
    Ok(vm.str(shown))
}

/// `FX.masked(text)`: passwords of addresses are hidden.
fn masked(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let text = text(vm, a, 0)?.unwrap_or_default();
    Ok(vm.str(crate::shown::mask(&text).into_owned()))
}

/// `FX.store(path, text, mode)`: a whole file that replaces what has the name.
fn store(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = machine.request.cwd.join(text(vm, a, 0)?.unwrap_or_default());
    let body = crate::machine::bytes(vm, a, 1)?.unwrap_or_default();
    let mode = vm.arg(a, 2).fixnum().map(|mode| mode as u32 & 0o7777);
    let options = fx_host::WriteOptions { mode, ..fx_host::WriteOptions::default() };
    let written = machine.host.write(&path, &body, &options);
    written.or_else(|error| vm.host_error(&error, &path.to_string_lossy()))?;
    Ok(NIL)
}

/// `FX.save_node(path, node as a hash)`: the node in the local store.
fn save_node(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = machine.request.cwd.join(text(vm, a, 0)?.unwrap_or_default());
    let node = vm.arg(a, 1);
    let node = to_json(vm, node, 0)?;
    let Ok(body) = serde_json::to_string_pretty(&node) else { return Ok(NIL) };
    if let Some(dir) = path.parent() {
        drop(fx_resources::directory::make_parents(&*machine.host, &path, 0o755));
        drop(machine.host.make_dir(dir, 0o755));
    }
    let written = machine.host.write(&path, body.as_bytes(), &fx_host::WriteOptions::default());
    written.or_else(|error| vm.host_error(&error, &path.to_string_lossy()))?;
    Ok(NIL)
}

/// A Ruby value as JSON; what is no data becomes its text.
fn to_json(vm: &mut Vm, v: fx_ruby::Value, depth: u32) -> fx_ruby::Res<serde_json::Value> {
    use serde_json::Value as J;
    if depth > 500 {
        return vm.arg_error("attributes are nested too deeply");
    }
    Ok(if v.is_nil() {
        J::Null
    } else if v == fx_ruby::value::TRUE || v == fx_ruby::value::FALSE {
        J::Bool(v.truthy())
    } else if let Some(i) = v.fixnum() {
        J::from(i)
    } else if v.is_float() {
        J::from(vm.heap.float_of(v))
    } else if v.is_arr() {
        let mut list = Vec::new();
        for item in vm.heap.arr(v).clone() {
            list.push(to_json(vm, item, depth + 1)?);
        }
        J::Array(list)
    } else if v.is_hash() {
        let mut map = serde_json::Map::new();
        for (key, value) in vm.hash_pairs(v) {
            let key = vm.to_s(key)?;
            let value = to_json(vm, value, depth + 1)?;
            map.insert(key, value);
        }
        J::Object(map)
    } else {
        J::String(vm.to_s(v)?)
    })
}
