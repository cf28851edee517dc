//! Files of the client itself: the report, the collection, the node in the local store, and its
//! cache. Policy does not ask for them.

use std::io::Write as _;
use std::path::Path;

use fx_host::WriteOptions;
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};
use serde_json::{Value as J, json};

use crate::actions::{Ending, Row};
use crate::machine::{Machine, Method, bytes, text};

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("finish", finish),
    ("write_collection", write_collection),
    ("save_node", save_node),
    ("store", store),
    ("json", json_text),
    ("md5", md5),
];

impl Machine {
    /// Replaces a file of the client as a whole.
    pub(crate) fn keep(&self, vm: &mut Vm, path: &Path, body: &[u8], mode: Option<u32>) -> Res<()> {
        let options = WriteOptions { mode, ..WriteOptions::default() };
        let written = self.run().own_state(|act| act.write(path, body, &options));
        written.or_else(|error| vm.host_error(&error, &path.to_string_lossy()))
    }
}

/// `FX.finish(error class, message, code, configured)`: findings, log and report file.
fn finish(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let class = text(vm, a, 0)?;
    let message = text(vm, a, 1)?.unwrap_or_default();
    crate::trap::tell(machine, vm);
    machine.flush_log(vm);
    let configured = vm.opt(a, 3).is_some_and(Value::truthy);
    if let Some(path) = machine.request.report.as_ref().filter(|_| configured) {
        let text = report(&machine.rows.borrow().all, class.as_deref(), &message);
        machine.keep(vm, &machine.request.cwd.join(path), text.as_bytes(), None)?;
    }
    Ok(NIL)
}

/// The report: a line of JSON for each action, and one for the run.
fn report(rows: &[Row], class: Option<&str>, message: &str) -> String {
    let mut out = String::new();
    let mut add = |line: &J| {
        out.push_str(&line.to_string());
        out.push('\n');
    };
    for row in rows {
        let mut line = json!({
            "event": "resource", "resource": row.resource, "action": row.action,
            "depth": row.depth, "outcome": row.ending.word(),
        });
        if let Some((kind, from)) = &row.via {
            line["via"] = json!([kind, from]);
        }
        if let Ending::Skipped { reason, .. } = &row.ending {
            line["reason"] = json!(reason);
        }
        if !row.changes.is_empty() {
            line["changes"] = json!(row.changes);
        }
        add(&line);
    }
    add(&match class {
        None => json!({"event": "run_completed"}),
        Some(class) => {
            let message = crate::masking::mask(message);
            json!({"event": "run_failed", "class": class, "message": message})
        }
    });
    out
}

/// `FX.write_collection(path, text)`.
fn write_collection(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = text(vm, a, 0)?.unwrap_or_default();
    let body = bytes(vm, a, 1)?.unwrap_or_default();
    let path = machine.request.cwd.join(path);
    if path == Path::new("/dev/stdout") {
        let written = vm.out.write_all(&body).and_then(|()| vm.out.write_all(b"\n"));
        return match written {
            Ok(()) => Ok(NIL),
            Err(error) => vm.fail(fx_ruby::object::c::IO_ERROR, error.to_string()),
        };
    }
    machine.keep(vm, &path, &body, None)?;
    Ok(NIL)
}

/// `FX.store(path, text, mode)`: a file of the cache.
fn store(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = machine.request.cwd.join(text(vm, a, 0)?.unwrap_or_default());
    let body = bytes(vm, a, 1)?.unwrap_or_default();
    let mode = vm.arg(a, 2).fixnum().map(|mode| mode as u32 & 0o7777);
    machine.keep(vm, &path, &body, mode)?;
    Ok(NIL)
}

/// `FX.save_node(path, node as a hash)`: the node in the local store.
fn save_node(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = machine.request.cwd.join(text(vm, a, 0)?.unwrap_or_default());
    let node = vm.arg(a, 1);
    let node = to_json(vm, node, 0)?;
    let Ok(body) = serde_json::to_string_pretty(&node) else { return Ok(NIL) };
    let made =
        machine.run().own_state(|act| fx_resources::directory::make_parents(act, &path, 0o755));
    if let Err(failure) = made {
        return vm.fail(fx_ruby::object::c::RUNTIME_ERROR, failure.to_string());
    }
    machine.keep(vm, &path, body.as_bytes(), None)?;
    Ok(NIL)
}

/// `FX.json(value)`: data as JSON, in one piece.
fn json_text(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let value = vm.arg(a, 0);
    let json = to_json(vm, value, 0)?;
    Ok(vm.str(json.to_string()))
}

/// `FX.md5(path)`: the digest of a file by which cookbooks name it; nil where there is none.
fn md5(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = machine.request.cwd.join(text(vm, a, 0)?.unwrap_or_default());
    let content = match machine.look().read_opt(&path) {
        Ok(Some(content)) => content,
        Ok(None) => return Ok(NIL),
        Err(error) => return vm.host_error(&error, &path.to_string_lossy()),
    };
    Ok(vm.str(fx_resources::digest::Algorithm::Md5.hex(&content)))
}

/// A Ruby value as JSON; what is no data becomes its text.
fn to_json(vm: &mut Vm, v: Value, depth: u32) -> Res<J> {
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
