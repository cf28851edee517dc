//! Running commands as mixlib-shellout does: without a shell where the text needs none.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use fx_host::{Exit, Program, Spec, Stdin};
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};

use crate::machine::{Machine, Method, bytes, text};

pub(crate) const METHODS: &[(&str, Method)] = &[("shell", shell)];

/// Words that only a shell understands, as Ruby's `exec` keeps them.
const BUILTINS: &[&str] = &[
    "!", ".", ":", "alias", "bg", "break", "case", "cd", "command", "continue", "do", "done",
    "elif", "else", "esac", "eval", "exec", "exit", "export", "fc", "fg", "fi", "for", "getopts",
    "hash", "if", "in", "jobs", "read", "readonly", "return", "set", "shift", "then", "times",
    "trap", "type", "ulimit", "umask", "unalias", "unset", "until", "wait", "while", "test",
];

fn needs_shell(line: &str) -> bool {
    if line.contains([
        '*', '?', '{', '}', '[', ']', '<', '>', '(', ')', '~', '&', '|', '\\', '$', ';', '\'', '`',
        '"', '\n', '#', '%',
    ]) {
        return true;
    }
    let first = line.split_whitespace().next().unwrap_or_default();
    first.contains('=') || BUILTINS.contains(&first)
}

/// `FX.shell(command, env, cwd, user, group, umask, timeout, input, live, only reads, login)`: `[code,
/// signal, stdout, stderr, timed out, seconds]`; nil when there is no such program.
fn shell(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let command = vm.arg(a, 0);
    let mut spec = if command.is_arr() {
        let words = vm.heap.arr(command).clone();
        let mut argv = Vec::new();
        for word in words {
            argv.push(OsString::from_vec(vm.to_s(word)?.into_bytes()));
        }
        Spec::argv(argv)
    } else {
        let line = vm.to_s(command)?;
        if needs_shell(&line) {
            Spec::shell(OsString::from(line))
        } else {
            Spec::argv(line.split_whitespace().map(OsString::from))
        }
    };
    let shown = match &spec.program {
        Program::Argv(argv) => {
            argv.first().map(|w| w.to_string_lossy().into_owned()).unwrap_or_default()
        }
        Program::Shell(line) => line.to_string_lossy().into_owned(),
    };
    let env = vm.arg(a, 1);
    if env.is_hash() {
        for (key, value) in vm.hash_pairs(env) {
            let key = OsString::from(vm.to_s(key)?);
            let value = if value.is_nil() { None } else { Some(OsString::from(vm.to_s(value)?)) };
            spec.env.push((key, value));
        }
    }
    // Ruby code may have changed its own environment.
    for (name, value) in vm_env(vm)? {
        if !spec.env.iter().any(|(known, _)| *known == name) {
            spec.env.insert(0, (name, value));
        }
    }
    let cwd = text(vm, a, 2)?;
    spec.cwd = Some(match cwd {
        Some(dir) => machine.request.cwd.join(dir),
        None => machine.request.cwd.clone(),
    });
    if let Some(dir) = &spec.cwd
        && machine.look().stat_opt(dir).ok().flatten().is_none()
    {
        // The original's child finds that out, and fails as any command does.
        let said = format!(
            "chdir: No such file or directory @ dir_s_chdir - {} (Errno::ENOENT)\n",
            dir.display()
        );
        let (stdout, stderr, seconds) = (vm.str(""), vm.str(said), vm.float(0.0));
        let code = Value::fix(1);
        return Ok(vm.arr(vec![code, NIL, stdout, stderr, Value::bool(false), seconds]));
    }
    identity(machine, vm, a, &mut spec)?;
    spec.umask = Some(vm.opt_nil(a, 5).and_then(Value::fixnum).map_or(vm.umask, |m| m as u32));
    if let Some(limit) = vm.opt_nil(a, 6) {
        let limit = vm.to_f(limit)?;
        spec.timeout = (limit > 0.0).then(|| Duration::from_secs_f64(limit));
    }
    if let Some(input) = bytes(vm, a, 7)? {
        spec.stdin = Stdin::Bytes(input);
    }
    let live = vm.opt(a, 8).is_some_and(Value::truthy);
    if vm.hooks.phase == "compile" {
        machine.traps.borrow_mut().command(&spec.display(), vm.user_place());
    }
    vm.flush_output();
    let ended = match run(machine, vm, &spec, vm.opt(a, 9).is_some_and(Value::truthy)) {
        Ok(ended) => ended,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return errno(vm, "ENOENT", &shown);
        }
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return errno(vm, "EACCES", &shown);
        }
        Err(error) => return vm.fail(fx_ruby::object::c::RUNTIME_ERROR, error.to_string()),
    };
    if live {
        drop(vm.out.write_all(&ended.stdout));
        drop(vm.out.write_all(&ended.stderr));
    }
    let (code, signal, timed_out) = match ended.exit {
        Exit::Code(code) => (Value::fix(i64::from(code)), NIL, false),
        Exit::Signal(signal) => (NIL, Value::fix(i64::from(signal)), false),
        Exit::TimedOut => (NIL, NIL, true),
        Exit::Cancelled => (NIL, Value::fix(15), false),
    };
    let stdout = vm.str(ended.stdout);
    let stderr = vm.str(ended.stderr);
    let seconds = vm.float(ended.elapsed.as_secs_f64());
    Ok(vm.arr(vec![code, signal, stdout, stderr, Value::bool(timed_out), seconds]))
}

/// Runs a command: one of ours that only reads, or something that policy does.
fn run(machine: &Machine, vm: &Vm, spec: &Spec, reads: bool) -> fx_host::Result<fx_host::Ended> {
    if reads {
        return machine.look().query(spec);
    }
    let line = match vm.user_place() {
        (0, 0) => None,
        (file, pos) => Some(format!("{}:{}", vm.path_of(file), vm.line_of(file, pos))),
    };
    machine.effects.at_line(line, || vm.host.run(spec))
}

/// What the program has put into `ENV`, as far as it differs from ours.
fn vm_env(vm: &mut Vm) -> Res<Vec<(OsString, Option<OsString>)>> {
    let env = crate::machine::path(vm, &["ENV"])?;
    let hash = vm.call_name(env, "to_h", &[])?;
    let mut list = Vec::new();
    for (key, value) in vm.hash_pairs(hash) {
        let name = OsString::from_vec(vm.bytes(key).to_vec());
        let value = OsString::from_vec(vm.bytes(value).to_vec());
        if vm.host.var(&name).as_ref() != Some(&value) {
            list.push((name, Some(value)));
        }
    }
    Ok(list)
}

/// Who the command runs as. As in the original the group of the client stays unless one is named;
/// a login has the groups that list the account beside it.
fn identity(machine: &Machine, vm: &mut Vm, a: Args, spec: &mut Spec) -> Res<()> {
    let logs_in = vm.opt(a, 10).is_some_and(Value::truthy);
    if let Some(user) = vm.opt_nil(a, 3) {
        let name = vm.to_s(user)?;
        let found = match user.fixnum() {
            Some(id) => machine.look().user_by_id(id as u32),
            None => machine.look().user(&name),
        };
        match found {
            Ok(Some(user)) => {
                spec.uid = Some(user.uid);
                let own = machine.look().egid();
                let mut groups = vec![own];
                if logs_in {
                    let all = machine.look().groups().unwrap_or_default();
                    let of_the_user = all.iter().filter(|group| group.members.contains(&user.name));
                    groups.extend(of_the_user.map(|group| group.gid));
                }
                (spec.gid, spec.groups) = (Some(own), Some(groups));
            }
            _ if user.fixnum().is_some() => spec.uid = user.fixnum().map(|id| id as u32),
            _ => return vm.arg_error(format!("can't find user for {name}")),
        }
    }
    if let Some(group) = vm.opt_nil(a, 4) {
        let name = vm.to_s(group)?;
        match group.fixnum() {
            Some(id) => spec.gid = Some(id as u32),
            None => match machine.look().group(&name) {
                Ok(Some(group)) => spec.gid = Some(group.gid),
                _ => return vm.arg_error(format!("can't find group for {name}")),
            },
        }
    }
    Ok(())
}

/// Raises one of Ruby's `Errno` classes; the class adds its own words before the text.
pub(crate) fn errno<T>(vm: &mut Vm, name: &str, message: &str) -> Res<T> {
    let class = crate::machine::path(vm, &["Errno", name])?;
    let text = vm.str(message);
    let e = vm.call_name(class, "new", &[text])?;
    vm.throw(e)
}
