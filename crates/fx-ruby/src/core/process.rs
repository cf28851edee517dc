//! Process, commands, accounts, signals: what the host offers. The rest is in `prelude/process.rb`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crate::interp::to_path;
use crate::natives::{Native, on_class};
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Vm};

/// Runs a command: argv (or one shell line), environment changes, directory, input, merge.
/// Gives stdout, stderr, exit code, signal, pid.
fn run(vm: &mut Vm, a: Args) -> R {
    let (argv, env, dir, input, merge) =
        (vm.arg(a, 0), vm.arg(a, 1), vm.arg(a, 2), vm.arg(a, 3), vm.arg(a, 4));
    if argv.is_arr() && vm.heap.arr(argv).is_empty() {
        return vm.arg_error("wrong number of arguments (given 0, expected 1+)");
    }
    vm.flush_files();
    let plain = argv.is_str()
        && !vm.bytes(argv).iter().any(|b| b"*?{}[]<>()~&|\\$;'`\"\n#=%!".contains(b))
        && !matches!(
            vm.text(argv).split_whitespace().next(),
            Some(
                "cd" | "exit"
                    | "export"
                    | "set"
                    | "test"
                    | "true"
                    | "false"
                    | "echo"
                    | "."
                    | "exec"
                    | "if"
                    | "for"
                    | "while"
                    | "type"
                    | "command"
                    | "ulimit"
                    | "umask"
            ) | None
        );
    let mut spec = if plain {
        let l: Vec<OsString> = vm.text(argv).split_whitespace().map(OsString::from).collect();
        fx_host::Spec::argv(l)
    } else if argv.is_str() {
        fx_host::Spec::shell(OsString::from_vec(vm.bytes(argv).to_vec()))
    } else {
        let l: Vec<OsString> = vm
            .heap
            .arr(argv)
            .clone()
            .into_iter()
            .map(|v| OsString::from_vec(vm.bytes(v).to_vec()))
            .collect();
        fx_host::Spec::argv(l)
    };
    let shown = spec.display();
    let at = vm.user_place();
    vm.hooks.command(&shown, at);
    spec.clear_env = true;
    for (k, v) in vm.env_vars().clone() {
        spec.env.push((OsString::from_vec(k), Some(OsString::from_vec(v))))
    }
    if env.is_hash() {
        for (k, v) in vm.hash_pairs(env) {
            let k = OsString::from_vec(vm.bytes(k).to_vec());
            let v = if v.is_nil() { None } else { Some(OsString::from_vec(vm.bytes(v).to_vec())) };
            spec.env.push((k, v))
        }
    }
    let cwd = if dir.is_nil() {
        vm.getcwd()
    } else {
        let d = vm.bytes(dir).to_vec();
        vm.absolute(&d)
    };
    spec.cwd = Some(to_path(&cwd));
    spec.umask = Some(vm.umask);
    spec.stdin = if input.is_nil() {
        fx_host::Stdin::Closed
    } else {
        fx_host::Stdin::Bytes(vm.bytes(input).to_vec())
    };
    spec.merge_stderr = merge.truthy();
    // Numbers of another user and group.
    if let Some(account) = vm.opt(a, 5).filter(|account| account.is_arr()) {
        let number = |v: &Value| v.is_fix().then(|| u32::try_from(v.as_fix()).ok()).flatten();
        let numbers: Vec<Option<u32>> = vm.heap.arr(account).iter().map(number).collect();
        spec.uid = numbers.first().copied().flatten();
        spec.gid = numbers.get(1).copied().flatten();
    }
    spec.output_limit = 256 << 20;
    if let Some(d) = vm.next_deadline() {
        spec.timeout = Some(d.saturating_sub(vm.host.monotonic()))
    }
    match vm.host.run(&spec) {
        Ok(done) => {
            let (code, sig) = match done.exit {
                fx_host::Exit::Code(i) => (Value::fix(i64::from(i)), NIL),
                fx_host::Exit::Signal(s) => (NIL, Value::fix(i64::from(s))),
                fx_host::Exit::TimedOut | fx_host::Exit::Cancelled => {
                    vm.check_limits()?;
                    (NIL, Value::fix(15))
                }
            };
            let (o, e) = (vm.str(done.stdout), vm.str(done.stderr));
            vm.serial += 1;
            let pid = Value::fix(i64::from(done.pid));
            Ok(vm.arr(vec![o, e, code, sig, pid]))
        }
        Err(e) => {
            let name = crate::embed::errno_name(&e);
            let first = if plain {
                // Only the program is named of a line that needs no shell.
                vm.text(argv).split_whitespace().next().unwrap_or_default().to_owned()
            } else if argv.is_str() {
                vm.text(argv)
            } else {
                let f = vm.heap.arr(argv)[0];
                vm.text(f)
            };
            vm.errno(if name == "EIO" { "ENOENT" } else { name }, &first)
        }
    }
}

const METHODS: &[Native] = &[
    on_class("__run", 5, 6, run),
    on_class("pid", 0, 0, |vm, _| Ok(Value::fix(i64::from(vm.host.pid())))),
    on_class("uid", 0, 0, |vm, _| Ok(Value::fix(i64::from(vm.host.euid())))).also(&["euid"]),
    on_class("gid", 0, 0, |vm, _| Ok(Value::fix(i64::from(vm.host.egid())))).also(&["egid"]),
    on_class("__now", 0, 0, |vm, _| {
        let t = vm.host.now();
        let (s, n) = (vm.int(t.secs), Value::fix(i64::from(t.nanos)));
        Ok(vm.arr(vec![s, n]))
    }),
    on_class("__mono", 0, 0, |vm, _| {
        let t = vm.host.monotonic();
        let n = t.as_nanos();
        Ok(vm.int128(n as i128))
    }),
    on_class("__nap", 1, 1, |vm, a| {
        let seconds = vm.arg(a, 0);
        let seconds = vm.to_f(seconds)?.clamp(0.0, 0.05);
        vm.host.sleep(std::time::Duration::from_secs_f64(seconds));
        vm.check_limits()?;
        Ok(NIL)
    }),
    on_class("__signal", 2, 2, |vm, a| {
        let (pid, sig) = (vm.arg(a, 0), vm.arg(a, 1));
        let (pid, sig) = (vm.to_int(pid)?, vm.to_int(sig)?);
        match vm.host.signal(pid as i32, sig as i32) {
            Ok(()) => Ok(Value::fix(1)),
            Err(e) => {
                let name = match crate::embed::errno_name(&e) {
                    known @ ("EPERM" | "EACCES" | "EINVAL") => known,
                    _ => "ESRCH",
                };
                let name = if name == "EACCES" { "EPERM" } else { name };
                let name = vm.intern(name);
                let class = vm.classes[c::ERRNO as usize].consts.get(&name).map(|k| k.value);
                let error = vm.send(class.unwrap_or(NIL), crate::names::NEW, &[])?;
                vm.throw(error)
            }
        }
    }),
    on_class("__uname", 0, 0, |vm, _| {
        let u = vm.host.uname();
        let l = [u.sysname, u.nodename, u.release, u.version, u.machine]
            .into_iter()
            .map(|t| vm.str(t))
            .collect();
        Ok(vm.arr(l))
    }),
    on_class("__users", 0, 0, |vm, _| match vm.host.users() {
        Ok(l) => {
            let mut out = Vec::new();
            for u in l {
                let (n, g, h, s) = (
                    vm.str(u.name),
                    vm.str(u.comment),
                    vm.str(u.home.to_string_lossy().into_owned()),
                    vm.str(u.shell.to_string_lossy().into_owned()),
                );
                out.push(vm.arr(vec![
                    n,
                    Value::fix(i64::from(u.uid)),
                    Value::fix(i64::from(u.gid)),
                    g,
                    h,
                    s,
                ]))
            }
            Ok(vm.arr(out))
        }
        Err(e) => vm.host_error(&e, "passwd"),
    }),
    on_class("__groups", 0, 0, |vm, _| match vm.host.groups() {
        Ok(l) => {
            let mut out = Vec::new();
            for g in l {
                let n = vm.str(g.name);
                let m = g.members.into_iter().map(|m| vm.str(m)).collect();
                let m = vm.arr(m);
                out.push(vm.arr(vec![n, Value::fix(i64::from(g.gid)), m]))
            }
            Ok(vm.arr(out))
        }
        Err(e) => vm.host_error(&e, "group"),
    }),
    on_class("__deadline", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        let old = vm.deadline;
        vm.deadline = if v.is_nil() {
            None
        } else {
            let f = vm.to_f(v)?;
            Some(std::time::Duration::from_secs_f64(f.max(0.0)))
        };
        Ok(match old {
            Some(d) => vm.float(d.as_secs_f64()),
            None => NIL,
        })
    }),
    on_class("__http", 5, 5, |vm, a| {
        let (m, u, h, b, t) =
            (vm.arg(a, 0), vm.arg(a, 1), vm.arg(a, 2), vm.arg(a, 3), vm.arg(a, 4));
        let mut r = fx_host::Request::get(vm.text(u));
        r.method = vm.text(m);
        for (k, v) in vm.hash_pairs(h) {
            let (k, v) = (vm.to_s(k)?, vm.to_s(v)?);
            r.headers.push((k, v))
        }
        if b.is_str() {
            r.body = vm.bytes(b).to_vec()
        }
        if !t.is_nil() {
            let f = vm.to_f(t)?;
            r.timeout = std::time::Duration::from_secs_f64(f.max(0.1))
        }
        match vm.host.http(&r) {
            Ok(r) => {
                let body = vm.str(r.body);
                let h = vm.hash();
                for (k, v) in r.headers {
                    let (k, v) = (vm.str(k), vm.str(v));
                    vm.hash_set(h, k, v)?;
                }
                Ok(vm.arr(vec![Value::fix(i64::from(r.status)), h, body]))
            }
            Err(e) => {
                let t = e.to_string();
                vm.errno("ECONNREFUSED", &t)
            }
        }
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    vm.natives(c::PROCESS, METHODS);
}
