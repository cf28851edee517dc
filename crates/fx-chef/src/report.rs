//! What a run tells: headings of the formatter, log lines, the report file, the failure.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use fx_host::Host;
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Vm};
use sha2::{Digest, Sha256};

use crate::machine::{Machine, Method, text};
use crate::rows::Format;

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("log", log),
    ("open_log", open_log),
    ("run_start", run_start),
    ("resolving", resolving),
    ("synchronizing", synchronizing),
    ("compiling", compiling),
    ("converging", converging),
    ("note_missing", note_missing),
    ("failure", failure),
    ("finish", finish),
    ("write_collection", write_file),
    ("save_node", save_node),
];

/// Hexadecimal digest of content.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Lines of a unified diff, as the formatter shows them below a change.
pub(crate) fn diff(path: &str, old: &[u8], new: &[u8]) -> Vec<String> {
    if old.len() > 10_000_000 || new.len() > 10_000_000 {
        return vec!["(file sizes exceed 10000000 bytes, diff output suppressed)".into()];
    }
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return vec!["(new content is binary, diff output suppressed)".into()];
    };
    let diff = similar::TextDiff::from_lines(old, new);
    let name = Path::new(path);
    let beside = name.file_name().unwrap_or_default().to_string_lossy();
    let temporary = name.with_file_name(format!(".chef-{beside}"));
    let text = diff.unified_diff().header(path, &temporary.to_string_lossy()).to_string();
    if text.len() > 1_000_000 {
        return vec!["(long diff of over 1000000 characters, diff output suppressed)".into()];
    }
    text.lines().map(str::to_owned).collect()
}

/// Time as the log shows it.
fn stamp(host: &dyn Host) -> String {
    let secs = host.now().secs;
    let days = secs.div_euclid(86_400);
    let rest = secs.rem_euclid(86_400);
    // Civil date from days since 1970, by the usual era arithmetic.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}+00:00",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

impl Machine {
    fn say(&self, vm: &mut Vm, text: &str) {
        if self.rows.borrow().format != Format::Null {
            drop(vm.out.write_all(text.as_bytes()));
        }
    }

    pub(crate) fn log_line(&self, vm: &mut Vm, level: &str, message: &str) {
        let line = format!("[{}] {}: {message}\n", stamp(&*self.host), level.to_uppercase());
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
    let word = if machine.rows.borrow().why_run { "[why-run]" } else { "" };
    machine.say(
        vm,
        &format!(
            "Chef Infra Client, version {} (fixpoint){word}\nInfra Phase starting\n",
            crate::VERSION
        ),
    );
    Ok(NIL)
}

fn resolving(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let list = vm.arg(a, 0);
    let shown = vm.inspect_string(list)?;
    machine.say(vm, &format!("Resolving cookbooks for run list: {shown}\n"));
    Ok(NIL)
}

fn synchronizing(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    if machine.rows.borrow().format != Format::Doc {
        return Ok(NIL);
    }
    machine.say(vm, "Synchronizing cookbooks:\n");
    for pair in vm.heap.arr(vm.arg(a, 0)).clone() {
        let pair = vm.heap.arr(pair).clone();
        let (name, version) = (vm.to_s(pair[0])?, vm.to_s(pair[1])?);
        machine.say(vm, &format!("  - {name} ({version})\n"));
    }
    Ok(NIL)
}

fn compiling(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    machine.say(vm, "Compiling cookbooks...\n");
    Ok(NIL)
}

fn converging(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let count = text(vm, a, 0)?.unwrap_or_default();
    machine.say(vm, &format!("Converging {count} resources\n"));
    if machine.rows.borrow().format == Format::Min {
        drop(vm.out.flush());
    }
    Ok(NIL)
}

fn note_missing(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let what = text(vm, a, 0)?.unwrap_or_default();
    machine.say(
        vm,
        &format!("\n{0}\nError Resolving Cookbooks for Run List:\n{0}\n\nMissing Cookbooks:\n------------------\n{what}\n\n", "=".repeat(80)),
    );
    Ok(NIL)
}

/// `FX.failure(class, message, backtrace, where)`: for people, and the FATAL log line.
fn failure(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let class = text(vm, a, 0)?.unwrap_or_default();
    let message = text(vm, a, 1)?.unwrap_or_default();
    let mut places = Vec::new();
    let list = vm.arg(a, 2);
    if list.is_arr() {
        for line in vm.heap.arr(list).clone() {
            places.push(vm.to_s(line)?);
        }
    }
    let first = places.iter().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        Some((parts.next()?.to_owned(), parts.next()?.parse::<usize>().ok()?))
    });
    let mut told = String::new();
    if cfg!(feature = "live-prelude") {
        told.push_str(&places.join("\n"));
    }
    if let Some((file, line)) = first
        && let Ok(Some(bytes)) = machine.host.read_opt(&PathBuf::from(&file))
    {
        let source = String::from_utf8_lossy(&bytes).into_owned();
        let _ = writeln!(told, "\n{file}:{line}");
        for (i, text) in source.lines().enumerate().skip(line.saturating_sub(4)).take(7) {
            let mark = if i + 1 == line { ">>" } else { ": " };
            let _ = writeln!(told, "{:>3}{mark} {text}", i + 1);
        }
    }
    machine.say(vm, &told);
    machine.log_line(vm, "fatal", &format!("{class}: {message}"));
    if machine.rows.borrow().log.is_some() {
        machine.say(vm, &format!("\n{class}: {message}\n"));
    }
    Ok(NIL)
}

/// `FX.finish(error class, message, code)`: summary, report file, log.
fn finish(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let class = text(vm, a, 0)?;
    let message = text(vm, a, 1)?.unwrap_or_default();
    crate::trap::tell(machine, vm);
    let secs = machine.host.monotonic().as_secs_f64();
    let (updated, total, format, names) = {
        let rows = machine.rows.borrow();
        let updated = rows.all.iter().filter(|row| row.outcome == "updated").count();
        let total = rows
            .all
            .iter()
            .filter(|row| row.outcome != "skipped" || row.action != "nothing")
            .count();
        let total = total.max(rows.all.len());
        let names: Vec<String> = rows
            .all
            .iter()
            .filter(|row| row.outcome == "updated")
            .map(|row| row.resource.clone())
            .collect();
        (updated, total, rows.format, names)
    };
    if format == Format::Min {
        machine.say(vm, "\n\n");
        if class.is_none() {
            machine.say(vm, "System converged.\n\n");
        }
        if names.is_empty() {
            machine.say(vm, "no resources updated\n");
        } else {
            machine.say(vm, &format!("resources updated this run:\n* {}\n", names.join("\n* ")));
        }
    }
    match &class {
        None => machine.say(
            vm,
            &format!(
                "\nRunning handlers:\nRunning handlers complete\nInfra Phase complete, {updated}/{total} resources {}updated in {secs:.0} seconds\n",
                if machine.rows.borrow().why_run { "would have been " } else { "" }
            ),
        ),
        Some(_) => machine.say(vm, &format!("\nRunning handlers:\nRunning handlers complete\nInfra Phase failed. {updated} resources updated in {secs:.0} seconds\n")),
    }
    machine.flush_log();
    let configured = vm.opt(a, 3).is_some_and(fx_ruby::Value::truthy);
    if let Some(path) = machine.request.report.as_ref().filter(|_| configured) {
        let text = rows_as_json(machine, class.as_deref(), &message);
        drop(machine.host.write(
            &machine.request.cwd.join(path),
            text.as_bytes(),
            &fx_host::WriteOptions::default(),
        ));
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
        Some(class) => json!({"event": "run_failed", "class": class, "message": message}),
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
    drop(machine.host.write(&path, &body, &fx_host::WriteOptions::default()));
    Ok(NIL)
}

/// `FX.save_node(path, name, environment, normal, run list)`: the node in the local store.
fn save_node(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = machine.request.cwd.join(text(vm, a, 0)?.unwrap_or_default());
    let name = text(vm, a, 1)?.unwrap_or_default();
    let environment = text(vm, a, 2)?.unwrap_or_default();
    let normal = vm.arg(a, 3);
    let normal = to_json(vm, normal, 0)?;
    let list = vm.arg(a, 4);
    let list = to_json(vm, list, 0)?;
    let node = serde_json::json!({
        "name": name, "chef_environment": environment, "normal": normal,
        "chef_type": "node", "run_list": list,
    });
    let Ok(body) = serde_json::to_string_pretty(&node) else { return Ok(NIL) };
    if let Some(dir) = path.parent() {
        drop(fx_resources::directory::make_parents(&*machine.host, &path, 0o755));
        drop(machine.host.make_dir(dir, 0o755));
    }
    drop(machine.host.write(&path, body.as_bytes(), &fx_host::WriteOptions::default()));
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
