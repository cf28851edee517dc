//! Methods of `FX` that look at files and names, and that evaluate files.

use std::path::{Path, PathBuf};

use fx_host::{Entry, HostError, Kind, Look};
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};

use crate::machine::{Machine, Method, bytes, raise, text};

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("read", read),
    ("eval_file", eval_file),
    ("run_in", run_in),
    ("parse_json", parse_json),
    ("file?", is_file),
    ("scan", scan),
    ("subdirs", subdirs),
    ("names", names),
    ("here", here),
    ("bare_name?", bare_name),
    ("snake", snake),
    ("camel", camel),
    ("load", load),
    ("cwd", cwd),
    ("uuid", uuid),
    ("ohai", ohai),
    ("settle", settle),
];

fn absolute(machine: &Machine, name: &str) -> PathBuf {
    machine.request.cwd.join(name)
}

/// Raises for what root must not act upon; any other error makes it absent.
fn judged<T>(vm: &mut Vm, found: fx_host::Result<Option<T>>) -> Res<Option<T>> {
    match found {
        Err(error @ (HostError::Untrusted { .. } | HostError::TooLarge { .. })) => {
            raise(vm, "ConfigurationError", &error.to_string())
        }
        found => Ok(found.ok().flatten()),
    }
}

/// `FX.read(path)`: the bytes of a file of policy, or nil. What root acts upon is read only if
/// nobody else can write it.
fn read(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let Some(name) = text(vm, a, 0)? else { return Ok(NIL) };
    let path = absolute(machine, &name);
    let found = if machine.trusted.borrow().contains(&path) {
        machine.look().read_opt(&path)
    } else {
        machine.look().read_trusted_data_opt(&path)
    };
    let found = judged(vm, found)?;
    Ok(found.map_or(NIL, |bytes| vm.str(bytes)))
}

/// `FX.names(path)`: what is in a directory of policy, in order.
fn names(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let Some(name) = text(vm, a, 0)? else { return Ok(NIL) };
    let listed = machine.look().list_trusted_opt(&absolute(machine, &name));
    let entries = judged(vm, listed)?.unwrap_or_default();
    let names = entries.iter().map(|entry| vm.str(entry.name.to_string_lossy().into_owned()));
    let names = names.collect();
    Ok(vm.arr(names))
}

/// `FX.eval_file(path, object)`: runs a file with that self and constants of its own; with
/// a third argument, as the body of the class.
fn eval_file(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    let me = vm.arg(a, 1);
    // What runs as root is read only if nobody else can write it.
    let text = match machine.look().read_trusted_opt(&absolute(machine, &name)) {
        Ok(text) => text.unwrap_or_default(),
        Err(error) => return raise(vm, "ConfigurationError", &error.to_string()),
    };
    let as_body = vm.opt(a, 2).is_some_and(Value::truthy);
    machine.effects.file(&name, || {
        vm.open_host(a, |open| match me.as_class() {
            Some(class) if as_body => open.run_in_class(&text, &name, class),
            _ => open.run_with_self(&text, &name, me),
        })
    })
}

/// `FX.run_in(object, block, *args)`: calls a block with another self. Unlike
/// `instance_exec` it makes no singleton class, which would cost every later call dearly.
fn run_in(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let (me, block) = (vm.arg(a, 0), vm.arg(a, 1));
    let args: Vec<Value> = (2..a.argc).map(|i| vm.arg(a, i)).collect();
    let given = if args.is_empty() { &[me][..] } else { &args };
    vm.open_host(a, |open| open.yield_self(block, me, given, None))
}

/// `FX.parse_json(text)`: without the library, which most runs never need.
fn parse_json(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let text = bytes(vm, a, 0)?.unwrap_or_default();
    match serde_json::from_slice::<serde_json::Value>(&text) {
        Ok(json) => crate::machine::from_json(vm, &json),
        Err(error) => {
            let class = crate::machine::path(vm, &["Chef", "Exceptions", "JSON", "ParseError"])?;
            vm.fail(class.as_class().unwrap_or_default(), format!("parse error: {error}"))
        }
    }
}

fn is_file(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let Some(name) = text(vm, a, 0)? else { return Ok(NIL) };
    let meta = machine.look().stat_opt(&absolute(machine, &name)).ok().flatten();
    Ok(Value::bool(meta.is_some_and(|meta| meta.is_file())))
}

/// `FX.scan(path)`: all files of a cookbook, relative, sorted; version control and tests are left
/// out. Templates and files are judged now, before anything acts: they are read while it does.
fn scan(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let Some(name) = text(vm, a, 0)? else { return Ok(NIL) };
    let dir = absolute(machine, &name);
    let mut found = Vec::new();
    walk(machine.look(), &dir, String::new(), 0, &mut found);
    found.sort();
    for file in &found {
        if file.starts_with("templates/") || file.starts_with("files/") {
            let path = dir.join(file);
            judged(vm, machine.look().check_trusted(&path).map(Some))?;
            machine.trusted.borrow_mut().insert(path);
        }
    }
    let list = found.into_iter().map(|path| vm.str(path)).collect();
    Ok(vm.arr(list))
}

fn walk(host: &dyn Look, dir: &Path, prefix: String, depth: u32, found: &mut Vec<String>) {
    if depth > 60 {
        return;
    }
    for entry in host.list(dir).unwrap_or_default() {
        let name = entry.name.to_string_lossy().into_owned();
        if depth == 0 && matches!(name.as_str(), ".git" | "spec" | "test" | ".kitchen") {
            continue;
        }
        let path = dir.join(&name);
        match kind(host, &path, &entry) {
            None => {}
            Some(Kind::Directory) => {
                walk(host, &path, format!("{prefix}{name}/"), depth + 1, found)
            }
            Some(_) => found.push(format!("{prefix}{name}")),
        }
    }
}

/// What stands at the path of an entry of a directory. The directory says it of all but links.
fn kind(host: &dyn Look, path: &Path, entry: &Entry) -> Option<Kind> {
    match entry.kind {
        Some(kind @ (Kind::Directory | Kind::File)) => Some(kind),
        _ => host.stat_opt(path).ok().flatten().map(|meta| meta.kind),
    }
}

/// `FX.subdirs(path)`: the directories in a directory of policy.
fn subdirs(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let Some(name) = text(vm, a, 0)? else { return Ok(NIL) };
    let dir = absolute(machine, &name);
    let mut list = Vec::new();
    let listed = machine.look().list_trusted_opt(&dir);
    for entry in judged(vm, listed)?.unwrap_or_default() {
        if kind(machine.look(), &dir.join(&entry.name), &entry) == Some(Kind::Directory) {
            list.push(vm.str(entry.name.to_string_lossy().into_owned()));
        }
    }
    Ok(vm.arr(list))
}

/// `path:line` of the innermost code that is not ours.
fn here(_: &Machine, vm: &mut Vm, _: Args) -> R {
    let found = vm.frames.iter().rev().copied().find(|frame| {
        let path = vm.path_of(frame.code.file);
        !path.starts_with("<internal:")
    });
    let Some(frame) = found else { return Ok(NIL) };
    let path = vm.path_of(frame.code.file);
    let mut name = vm.frame_name(frame);
    // The original reads these files inside methods of these names.
    if name.contains('<') || name.contains("compile_action_") {
        let own = ["/resources/", "/providers/"].iter().any(|dir| path.contains(dir));
        let file = if own { "class_from_file" } else { "from_file" };
        let block = if name.starts_with("block in ") { "block in " } else { "" };
        name = format!("{block}{file}");
    }
    let line = vm.line_of(frame.code.file, frame.pos);
    let place = format!("{path}:{line}:in `{name}'");
    Ok(vm.str(place))
}

/// `FX.bare_name?`: whether what is missing might have been a variable.
fn bare_name(_: &Machine, vm: &mut Vm, _: Args) -> R {
    Ok(Value::bool(vm.bare_name))
}

/// `AptUpdate` as `apt_update`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (i, ch) in chars.iter().enumerate() {
        let before = i > 0 && (chars[i - 1].is_ascii_lowercase() || chars[i - 1].is_ascii_digit());
        let after = i > 0
            && chars[i - 1].is_ascii_uppercase()
            && chars.get(i + 1).is_some_and(char::is_ascii_lowercase);
        if ch.is_ascii_uppercase() && (before || after) {
            out.push('_');
        }
        out.extend(ch.to_lowercase());
    }
    out
}

fn snake(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    Ok(vm.str(snake_case(&name)))
}

fn camel(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    let mut out = String::new();
    let mut upper = true;
    for ch in name.chars() {
        if ch == '_' || ch == '-' {
            upper = true;
        } else if upper {
            out.extend(ch.to_uppercase());
            upper = false;
        } else {
            out.push(ch);
        }
    }
    Ok(vm.str(out))
}

/// Reads a file of the prelude, once; nothing when there is none of that name.
fn load(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    vm.load_prelude_file(&name)?;
    Ok(NIL)
}

fn cwd(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    Ok(vm.str(machine.request.cwd.to_string_lossy().into_owned()))
}

fn uuid(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    let mut b = [0u8; 16];
    machine.look().random(&mut b);
    let hex = fx_formats::hex(b);
    Ok(vm.str(format!(
        "{}-{}-4{}-8{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[13..16],
        &hex[17..20],
        &hex[20..]
    )))
}

/// Automatic attributes: from the given file, or from the machine, with the optional plug-ins
/// whose names are given in one text.
fn ohai(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let optional = text(vm, a, 0)?.unwrap_or_default();
    let optional: Vec<String> = optional.split(' ').map(str::to_owned).collect();
    let json = match &machine.request.facts {
        Some(path) => {
            let path = machine.request.cwd.join(path);
            let read = machine.look().read_trusted_data_opt(&path);
            let text = judged(vm, read)?.unwrap_or_default();
            serde_json::from_slice(&text).unwrap_or(serde_json::Value::Null)
        }
        None if vm.opt(a, 1).is_some_and(Value::truthy) => crate::ohai::minimal(machine.look()),
        None => crate::ohai::automatic(machine.look(), &optional),
    };
    crate::machine::from_json(vm, &json)
}

/// Puts what was written under its final names.
fn settle(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    let settled = machine.run().own_state(|act| act.settle());
    settled.or_else(|error| {
        let path = error.path().map(|path| path.to_string_lossy().into_owned());
        vm.host_error(&error, &path.unwrap_or_default())
    })?;
    Ok(NIL)
}
