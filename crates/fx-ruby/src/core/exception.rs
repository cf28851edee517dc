//! Exception and its tree: messages, backtraces, Errno.

pub(crate) mod similar;
mod underline;

use crate::heap::Ext;
use crate::names as n;
use crate::natives::{Native, on_class, private, public};
use crate::object::{Alloc, c};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, R, Vm};

/// Errno names with numbers and texts, as Linux has them.
pub(crate) const ERRNO: &[(&str, i64, &str)] = &[
    ("EPERM", 1, "Operation not permitted"),
    ("ENOENT", 2, "No such file or directory"),
    ("ESRCH", 3, "No such process"),
    ("EINTR", 4, "Interrupted system call"),
    ("EIO", 5, "Input/output error"),
    ("ENXIO", 6, "No such device or address"),
    ("E2BIG", 7, "Argument list too long"),
    ("ENOEXEC", 8, "Exec format error"),
    ("EBADF", 9, "Bad file descriptor"),
    ("ECHILD", 10, "No child processes"),
    ("EAGAIN", 11, "Resource temporarily unavailable"),
    ("ENOMEM", 12, "Cannot allocate memory"),
    ("EACCES", 13, "Permission denied"),
    ("EFAULT", 14, "Bad address"),
    ("EBUSY", 16, "Device or resource busy"),
    ("EEXIST", 17, "File exists"),
    ("EXDEV", 18, "Invalid cross-device link"),
    ("ENODEV", 19, "No such device"),
    ("ENOTDIR", 20, "Not a directory"),
    ("EISDIR", 21, "Is a directory"),
    ("EINVAL", 22, "Invalid argument"),
    ("ENFILE", 23, "Too many open files in system"),
    ("EMFILE", 24, "Too many open files"),
    ("ENOTTY", 25, "Inappropriate ioctl for device"),
    ("ETXTBSY", 26, "Text file busy"),
    ("EFBIG", 27, "File too large"),
    ("ENOSPC", 28, "No space left on device"),
    ("ESPIPE", 29, "Illegal seek"),
    ("EROFS", 30, "Read-only file system"),
    ("EMLINK", 31, "Too many links"),
    ("EPIPE", 32, "Broken pipe"),
    ("EDOM", 33, "Numerical argument out of domain"),
    ("ERANGE", 34, "Numerical result out of range"),
    ("ENAMETOOLONG", 36, "File name too long"),
    ("ENOSYS", 38, "Function not implemented"),
    ("ENOTEMPTY", 39, "Directory not empty"),
    ("ELOOP", 40, "Too many levels of symbolic links"),
    ("EPROTO", 71, "Protocol error"),
    ("EOVERFLOW", 75, "Value too large for defined data type"),
    ("EILSEQ", 84, "Invalid or incomplete multibyte or wide character"),
    ("ENOTSOCK", 88, "Socket operation on non-socket"),
    ("EDESTADDRREQ", 89, "Destination address required"),
    ("EPROTONOSUPPORT", 93, "Protocol not supported"),
    ("EOPNOTSUPP", 95, "Operation not supported"),
    ("EAFNOSUPPORT", 97, "Address family not supported by protocol"),
    ("EADDRINUSE", 98, "Address already in use"),
    ("EADDRNOTAVAIL", 99, "Cannot assign requested address"),
    ("ENETDOWN", 100, "Network is down"),
    ("ENETUNREACH", 101, "Network is unreachable"),
    ("ECONNABORTED", 103, "Software caused connection abort"),
    ("ECONNRESET", 104, "Connection reset by peer"),
    ("ENOTCONN", 107, "Transport endpoint is not connected"),
    ("ETIMEDOUT", 110, "Connection timed out"),
    ("ECONNREFUSED", 111, "Connection refused"),
    ("EHOSTDOWN", 112, "Host is down"),
    ("EHOSTUNREACH", 113, "No route to host"),
    ("EALREADY", 114, "Operation already in progress"),
    ("EINPROGRESS", 115, "Operation now in progress"),
    ("ESTALE", 116, "Stale file handle"),
    ("EDQUOT", 122, "Disk quota exceeded"),
    ("ENOTSUP", 95, "Operation not supported"),
    ("ENODATA", 61, "No data available"),
];

const METHODS: &[Native] = &[
    private("initialize", 0, -1, |vm, a| {
        let m = vm.opt(a, 0);
        if let Some(d) = vm.exc_mut(a.recv) {
            d.message = m;
        }
        Ok(NIL)
    }),
    on_class("exception", 0, -1, |vm, a| {
        let args = vm.args(a);
        vm.open_call(a).send_full(a.recv, n::NEW, &args, a.block, a.kw)
    }),
    on_class("to_tty?", 0, 0, |_, _| Ok(FALSE)),
    public("exception", 0, 1, |vm, a| match vm.opt(a, 0) {
        None => Ok(a.recv),
        Some(v) if v == a.recv => Ok(a.recv),
        Some(v) => {
            let copy = vm.copy(a.recv)?;
            if let Some(d) = vm.exc_mut(copy) {
                d.message = Some(v);
            }
            Ok(copy)
        }
    }),
    public("to_s", 0, 0, |vm, a| own_message(vm, a.recv)),
    public("message", 0, 0, |vm, a| {
        let s = vm.send(a.recv, n::TO_S, &[])?;
        if s.is_str() { Ok(s) } else { vm.interpolate(s) }
    }),
    public("detailed_message", 0, 1, |vm, a| {
        let s = vm.send(a.recv, n::MESSAGE, &[])?;
        let text = vm.text(s);
        let class = vm.real_class(a.recv);
        let class = vm.class_name(class);
        let out = if text.is_empty() {
            class
        } else {
            match text.split_once('\n') {
                Some((first, rest)) => format!("{first} ({class})\n{rest}"),
                None => format!("{text} ({class})"),
            }
        };
        Ok(vm.str(out))
    }),
    public("inspect", 0, 0, |vm, a| {
        let s = vm.send(a.recv, n::TO_S, &[])?;
        let text = if s.is_str() { vm.text(s) } else { String::new() };
        let class = vm.real_class(a.recv);
        let class = vm.class_name(class);
        Ok(vm.str(if text.is_empty() { class } else { format!("#<{class}: {text}>") }))
    }),
    public("full_message", 0, 1, full_message),
    public("backtrace", 0, 0, |vm, a| Ok(vm.backtrace(a.recv))),
    public("backtrace_locations", 0, 0, |vm, a| {
        let captured = vm.exc_mut(a.recv).is_some_and(|d| d.captured);
        if !captured {
            return Ok(NIL);
        }
        let list = vm.backtrace(a.recv);
        if list.is_arr() { vm.locations(list) } else { Ok(NIL) }
    }),
    public("set_backtrace", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        let list = if v.is_str() { vm.arr(vec![v]) } else { v };
        let good = list.is_nil() || list.is_arr() && vm.heap.arr(list).iter().all(|v| v.is_str());
        if !good {
            return vm.type_error("backtrace must be Array of String");
        }
        if let Some(d) = vm.exc_mut(a.recv) {
            d.backtrace = Some(list);
            d.captured = true;
        }
        Ok(list)
    }),
    public("cause", 0, 0, |vm, a| Ok(vm.exc_mut(a.recv).and_then(|d| d.cause).unwrap_or(NIL))),
    public("==", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        if a.recv == o {
            return Ok(TRUE);
        }
        if !vm.is_exception(o) || vm.real_class(o) != vm.real_class(a.recv) {
            return Ok(FALSE);
        }
        let (x, y) = (vm.send(a.recv, n::MESSAGE, &[])?, vm.send(o, n::MESSAGE, &[])?);
        if !vm.equal(x, y)? {
            return Ok(FALSE);
        }
        let (x, y) = (vm.send(a.recv, n::BACKTRACE, &[])?, vm.send(o, n::BACKTRACE, &[])?);
        Ok(Value::bool(vm.equal(x, y)?))
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let e = c::EXCEPTION;
    vm.classes[e as usize].alloc = Alloc::Exception;
    vm.natives(c::EXCEPTION, METHODS);
    for id in c::EXCEPTION..=c::NO_PATTERN_KEY {
        vm.classes[id as usize].alloc = Alloc::Exception;
    }
    init_special(vm);
    init_errno(vm);
}

fn full_message(vm: &mut Vm, mut a: Args) -> R {
    let kw = vm.take_kw(&mut a);
    if let Some(v) = vm.kw(kw, "highlight")
        && !v.is_nil()
        && v != TRUE
        && v != FALSE
    {
        let t = vm.inspect_string(v)?;
        return vm.arg_error(format!("expected true or false as highlight: {t}"));
    }
    let mut bottom = false;
    if let Some(v) = vm.kw(kw, "order").filter(|v| !v.is_nil()) {
        let text = match v.as_sym() {
            Some(s) => vm.sym_str(s).into_owned(),
            None if v.is_str() => vm.text(v),
            None => {
                let t = vm.inspect_string(v)?;
                return vm.type_error(format!("{t} is not a symbol nor a string"));
            }
        };
        if text != "top" && text != "bottom" {
            let t = vm.inspect_string(v)?;
            return vm.arg_error(format!("expected :top or :bottom as order: {t}"));
        }
        bottom = text == "bottom";
    }
    let form = crate::report::Form { highlight: vm.kw(kw, "highlight") == Some(TRUE), bottom };
    let text = vm.report_as(a.recv, form);
    Ok(vm.str(text))
}

fn reader(vm: &mut Vm, class: u32, names: &[&'static str]) {
    for name in names {
        vm.def(
            class,
            name,
            |vm, a| {
                let text = format!("@{}", vm.sym_str(vm.methods[a.method as usize].orig));
                let iv = vm.intern(&text);
                Ok(vm.ivar_get(a.recv, iv).unwrap_or(NIL))
            },
            0,
            0,
        );
    }
}

fn strict(vm: &mut Vm, class: u32, names: &[&'static str]) {
    for name in names {
        vm.def(
            class,
            name,
            |vm, a| {
                let name = vm.sym_str(vm.methods[a.method as usize].orig).into_owned();
                let iv = vm.intern(&format!("@{name}"));
                match vm.ivar_get(a.recv, iv) {
                    Some(v) => Ok(v),
                    None => vm.arg_error(format!("no {name} is available")),
                }
            },
            0,
            0,
        );
    }
}

/// What an exception was made with, or the name of its class.
fn own_message(vm: &mut Vm, exception: Value) -> R {
    match vm.exc_mut(exception).and_then(|d| d.message) {
        Some(v) if !v.is_nil() => vm.interpolate(v),
        _ => {
            let class = vm.real_class(exception);
            let name = vm.class_name(class);
            Ok(vm.str(name))
        }
    }
}

/// The message with the line it is about and the names that may have been meant.
fn told_further(vm: &mut Vm, a: Args) -> R {
    let message = own_message(vm, a.recv)?;
    let line = if vm.is_a(a.recv, c::NAME_ERROR) { vm.underlined(a.recv) } else { None };
    let names = vm.similar_names(a.recv);
    if line.is_none() && names.is_none() {
        return Ok(message);
    }
    let mut text = vm.text(message) + &line.unwrap_or_default();
    if let Some(names) = names.filter(|names| !text.contains(names.as_str())) {
        text.push_str(&names);
    }
    Ok(vm.str(text))
}

/// `initialize(message = nil, *positional, **keywords)` keeping some as variables.
fn keep(vm: &mut Vm, mut a: Args, positional: &[&str], keywords: &[&str]) -> R {
    let kw = vm.take_kw(&mut a);
    let m = vm.opt(a, 0);
    if let Some(d) = vm.exc_mut(a.recv) {
        d.message = m;
    }
    for (i, name) in positional.iter().enumerate() {
        let v = vm.opt(a, i as u32 + 1).unwrap_or(NIL);
        let iv = vm.intern(&format!("@{name}"));
        vm.ivar_set(a.recv, iv, v);
    }
    for name in keywords {
        if let Some(v) = vm.kw(kw, name) {
            let iv = vm.intern(&format!("@{name}"));
            vm.ivar_set(a.recv, iv, v);
        }
    }
    Ok(NIL)
}

const NAME_ERROR_METHODS: &[Native] = &[
    private("initialize", 0, 3, |vm, a| keep(vm, a, &["name"], &["receiver"])),
    public("local_variables", 0, 0, |vm, _| Ok(vm.arr(vec![]))),
];

const NO_METHOD_METHODS: &[Native] = &[
    private("initialize", 0, 5, |vm, a| keep(vm, a, &["name", "args"], &["receiver"])),
    public("args", 0, 0, |vm, a| {
        let v = vm.ivar_get(a.recv, n::IV_ARGS).unwrap_or(NIL);
        if v.is_nil() { Ok(vm.arr(vec![])) } else { Ok(v) }
    }),
];

const KEY_ERROR_METHODS: &[Native] =
    &[private("initialize", 0, 2, |vm, a| keep(vm, a, &[], &["receiver", "key"]))];

const NO_PATTERN_KEY_METHODS: &[Native] =
    &[private("initialize", 0, 2, |vm, a| keep(vm, a, &[], &["matchee", "key"]))];

const FROZEN_ERROR_METHODS: &[Native] =
    &[private("initialize", 0, 2, |vm, a| keep(vm, a, &[], &["receiver"]))];

const LOCAL_JUMP_METHODS: &[Native] =
    &[public("exit_value", 0, 0, |vm, a| Ok(vm.ivar_get(a.recv, n::RESULT).unwrap_or(NIL)))];

const UNCAUGHT_THROW_METHODS: &[Native] = &[public("to_s", 0, 0, |vm, a| {
    let tag = vm.ivar_get(a.recv, n::TAG).unwrap_or(NIL);
    let t = vm.inspect_string(tag)?;
    Ok(vm.str(format!("uncaught throw {t}")))
})];

const SYSTEM_EXIT_METHODS: &[Native] = &[
    private("initialize", 0, 2, |vm, a| {
        let mut args = vm.args(a);
        let status = match args.first().copied() {
            Some(TRUE) => {
                args.remove(0);
                0
            }
            Some(FALSE) => {
                args.remove(0);
                1
            }
            Some(v) if v.is_int() => {
                args.remove(0);
                vm.to_int(v)?
            }
            _ => 0,
        };
        vm.ivar_set(a.recv, n::STATUS, Value::fix(status));
        let m = match args.first() {
            Some(v) => *v,
            None => vm.str_static("SystemExit"),
        };
        if let Some(d) = vm.exc_mut(a.recv) {
            d.message = Some(m);
        }
        Ok(NIL)
    }),
    public("status", 0, 0, |vm, a| Ok(vm.ivar_get(a.recv, n::STATUS).unwrap_or(Value::fix(0)))),
    public("success?", 0, 0, |vm, a| {
        let s = vm.ivar_get(a.recv, n::STATUS).unwrap_or(Value::fix(0));
        Ok(Value::bool(s == Value::fix(0)))
    }),
];

const INTERRUPT_BASE_METHODS: &[Native] = &[
    private("initialize", 0, -1, |vm, a| {
        let args = vm.args(a);
        let pair = vm.call_name(Value::class(c::SIGNAL), "__for_exception", &args)?;
        let (number, text) = (vm.heap.arr(pair)[0], vm.heap.arr(pair)[1]);
        let signo = vm.intern("@signo");
        vm.ivar_set(a.recv, signo, number);
        if let Some(data) = vm.exc_mut(a.recv) {
            data.message = Some(text);
        }
        Ok(a.recv)
    }),
    public("signm", 0, 0, |vm, a| vm.call_name(a.recv, "message", &[])),
];

const INTERRUPT_METHODS: &[Native] = &[private("initialize", 0, 1, |vm, a| {
    let text = match vm.opt(a, 0) {
        Some(text) => text,
        None => vm.str_static("Interrupt"),
    };
    let signo = vm.intern("@signo");
    vm.ivar_set(a.recv, signo, Value::fix(2));
    if let Some(data) = vm.exc_mut(a.recv) {
        data.message = Some(text);
    }
    Ok(a.recv)
})];

const WARNING_METHODS: &[Native] = &[
    on_class("warn", 1, 2, |vm, a| {
        let v = vm.arg(a, 0);
        if !v.is_str() {
            let t = vm.type_name(v);
            return vm.type_error(format!("wrong argument type {t} (expected String)"));
        }
        let err = vm.global(n::GV_STDERR);
        vm.send(err, n::WRITE, &[v])?;
        Ok(NIL)
    }),
    public("warn", 1, 2, |vm, a| {
        let v = vm.arg(a, 0);
        let err = vm.global(n::GV_STDERR);
        vm.send(err, n::WRITE, &[v])?;
        Ok(NIL)
    }),
    on_class("[]", 1, 1, |vm, a| {
        let k = vm.arg(a, 0);
        let Some(s) = k.as_sym() else {
            let t = vm.type_name(k);
            return vm.type_error(format!("wrong argument type {t} (expected Symbol)"));
        };
        let text = vm.sym_str(s).into_owned();
        if text != "deprecated" && text != "experimental" && text != "performance" {
            return vm.arg_error(format!("unknown category: {text}"));
        }
        let iv = vm.intern(&format!("@{text}"));
        Ok(vm.ivar_get(a.recv, iv).unwrap_or(Value::bool(text == "experimental")))
    }),
    on_class("[]=", 2, 2, |vm, a| {
        let (k, v) = (vm.arg(a, 0), vm.arg(a, 1));
        let Some(s) = k.as_sym() else {
            let t = vm.type_name(k);
            return vm.type_error(format!("wrong argument type {t} (expected Symbol)"));
        };
        let text = vm.sym_str(s).into_owned();
        if text != "deprecated" && text != "experimental" && text != "performance" {
            return vm.arg_error(format!("unknown category: {text}"));
        }
        let iv = vm.intern(&format!("@{text}"));
        vm.ivar_set(a.recv, iv, Value::bool(v.truthy()));
        Ok(v)
    }),
];

fn init_special(vm: &mut Vm) {
    vm.natives(c::NAME_ERROR, NAME_ERROR_METHODS);
    vm.natives(c::NO_METHOD, NO_METHOD_METHODS);
    vm.natives(c::KEY_ERROR, KEY_ERROR_METHODS);
    vm.natives(c::NO_PATTERN_KEY, NO_PATTERN_KEY_METHODS);
    vm.natives(c::FROZEN_ERROR, FROZEN_ERROR_METHODS);
    vm.natives(c::LOCAL_JUMP, LOCAL_JUMP_METHODS);
    vm.natives(c::UNCAUGHT_THROW, UNCAUGHT_THROW_METHODS);
    vm.natives(c::SYSTEM_EXIT, SYSTEM_EXIT_METHODS);
    vm.natives(c::INTERRUPT_BASE, INTERRUPT_BASE_METHODS);
    vm.natives(c::INTERRUPT, INTERRUPT_METHODS);
    vm.natives(c::WARNING, WARNING_METHODS);
    for class in [c::NAME_ERROR, c::KEY_ERROR, c::NO_PATTERN_KEY] {
        vm.def(class, "to_s", told_further, 0, 0);
    }
    reader(vm, c::NAME_ERROR, &["name"]);
    strict(vm, c::NAME_ERROR, &["receiver"]);
    strict(vm, c::KEY_ERROR, &["receiver", "key"]);
    strict(vm, c::NO_PATTERN_KEY, &["matchee", "key"]);
    strict(vm, c::FROZEN_ERROR, &["receiver"]);
    reader(vm, c::STOP_ITERATION, &["result"]);
    reader(vm, c::LOCAL_JUMP, &["reason"]);
    reader(vm, c::LOAD_ERROR, &["path"]);
    reader(vm, c::SYNTAX_ERROR, &["path"]);
    reader(vm, c::UNCAUGHT_THROW, &["tag", "value"]);
    reader(vm, c::INTERRUPT_BASE, &["signo"]);
}

/// `SystemCallError.new`: an error by its number, or by its own class.
fn new_system_call(vm: &mut Vm, a: Args) -> R {
    let args = vm.args(a);
    let class = a.recv.index() as u32;
    let errno = vm.intern("Errno");
    let mut class = class;
    let (mut text, mut number) = (None, None);
    if class == c::SYSTEM_CALL {
        match args.as_slice() {
            [] => return vm.wrong_args(0, 1, Some(3)),
            [v] if v.is_int() => number = Some(vm.to_int(*v)?),
            [m, v, ..] if !v.is_nil() => {
                let whole =
                    if vm.is_a(*v, c::NUMERIC) { vm.call_name(*v, "to_i", &[])? } else { *v };
                number = Some(vm.to_int(whole)?);
                text = Some(*m);
            }
            [m, ..] => text = Some(*m),
        }
        if let Some(num) = number
            && let Some((name, _, _)) = ERRNO.iter().find(|(_, x, _)| *x == num)
        {
            let sym = vm.intern(name);
            if let Some(id) =
                vm.classes[c::ERRNO as usize].consts.get(&sym).and_then(|k| k.value.as_class())
            {
                class = id;
            }
        }
    } else {
        text = args.first().copied();
        let mut at = Some(class);
        while let Some(id) = at {
            if let Some(k) = vm.classes[id as usize].consts.get(&errno) {
                number = k.value.fixnum();
                break;
            }
            at = vm.classes[id as usize].superclass;
        }
    }
    let e = vm.allocate(class)?;
    let base = match number {
        Some(num) => ERRNO
            .iter()
            .find(|(_, x, _)| *x == num)
            .map_or(format!("Unknown error {num}"), |(_, _, t)| (*t).to_owned()),
        None => "unknown error".into(),
    };
    let message = match text.filter(|v| !v.is_nil()) {
        Some(v) => {
            let v = vm.to_str(v)?;
            let place =
                match args.get(if number.is_some() && a.recv.index() as u32 == c::SYSTEM_CALL {
                    2
                } else {
                    1
                }) {
                    Some(p) if !p.is_nil() => {
                        let place = vm.interpolate(*p)?;
                        format!(" @ {}", vm.text(place))
                    }
                    _ => String::new(),
                };
            format!("{base}{place} - {}", vm.text(v))
        }
        None => base,
    };
    let m = vm.str(message);
    if let Ext::Exception(d) = &mut vm.heap.obj_mut(e).ext {
        d.message = Some(m);
    }
    if let Some(num) = number {
        vm.ivar_set(e, n::IV_ERRNO, Value::fix(num));
    }
    vm.hold(e);
    vm.open_call(a).send_full(e, n::INITIALIZE, &args, a.block, a.kw)?;
    Ok(e)
}

fn init_errno(vm: &mut Vm) {
    let errno_sym = vm.intern("Errno");
    for (name, number, _) in ERRNO {
        let class = vm.define_class(c::ERRNO, name, c::SYSTEM_CALL);
        vm.const_set(class, errno_sym, Value::fix(*number));
    }
    let (agn, agb) = (vm.intern("EWOULDBLOCK"), vm.intern("EAGAIN"));
    if let Some(v) = vm.classes[c::ERRNO as usize].consts.get(&agb).map(|k| k.value) {
        vm.const_set(c::ERRNO, agn, v);
    }
    vm.def_single(
        c::SYSTEM_CALL,
        "===",
        |vm, a| {
            let o = vm.arg(a, 0);
            let id = a.recv.index() as u32;
            if !vm.is_a(o, c::SYSTEM_CALL) {
                return Ok(FALSE);
            }
            if id == c::SYSTEM_CALL || vm.is_a(o, id) {
                return Ok(TRUE);
            }
            let errno = vm.intern("Errno");
            let mine = vm.classes[id as usize].consts.get(&errno).map(|k| k.value);
            Ok(Value::bool(mine.is_some() && mine == vm.ivar_get(o, n::IV_ERRNO)))
        },
        1,
        1,
    );
    vm.def_single(c::SYSTEM_CALL, "new", new_system_call, 0, -1);
    vm.def_private(c::SYSTEM_CALL, "initialize", |_, _| Ok(NIL), 0, -1);
    vm.def(
        c::SYSTEM_CALL,
        "errno",
        |vm, a| Ok(vm.ivar_get(a.recv, n::IV_ERRNO).unwrap_or(NIL)),
        0,
        0,
    );
}

/// Whether a word is the name of a function in C, as messages of the machine's failures have.
fn names_function(word: &str) -> bool {
    word.contains('_')
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        || word == "apply2files"
}

impl Vm {
    /// Raises `Errno::X` with what failed.
    pub fn errno<T>(&mut self, name: &str, what: &str) -> crate::vm::Res<T> {
        let sym = self.intern(name);
        let class = self.classes[c::ERRNO as usize].consts.get(&sym).map(|k| k.value);
        match class {
            Some(class) => {
                // Which function of the machine failed stands before what it failed on.
                let e = match what.split_once(" - ") {
                    Some((function, path)) if names_function(function) => {
                        let (path, function) = (self.str(path), self.str(function));
                        self.send(class, n::NEW, &[path, function])?
                    }
                    _ => {
                        let text = self.str(what);
                        self.send(class, n::NEW, &[text])?
                    }
                };
                self.throw(e)
            }
            None => self.fail(c::SYSTEM_CALL, format!("{name} - {what}")),
        }
    }

    /// A failure of the machine as the exception Ruby would raise.
    pub fn host_error<T>(&mut self, error: &fx_host::HostError, what: &str) -> crate::vm::Res<T> {
        let name = crate::embed::errno_name(error);
        self.errno(name, what)
    }
}
