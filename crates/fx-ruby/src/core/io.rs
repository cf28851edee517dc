//! IO: the standard streams, and files whose content is read whole at open. What is written
//! is in `io_write.rs`.

use crate::heap::Ext;
use crate::interp::to_path;
use crate::names as n;
use crate::natives::{Native, public};
use crate::object::{Alloc, c};
use crate::value::{NIL, Value};
use crate::vm::{R, Res, Vm};

#[derive(Clone, Default)]
pub struct IoData {
    pub fd: i64,
}

/// An open stream.
#[derive(Default)]
pub struct Stream {
    pub path: Vec<u8>,
    /// The path as the program gave it, for messages.
    pub given: Vec<u8>,
    pub data: Vec<u8>,
    pub pos: usize,
    pub read: bool,
    pub write: bool,
    pub append: bool,
    pub closed: bool,
    pub std: u8,
    pub perm: u32,
    pub lineno: i64,
    pub fetched: bool,
    pub writing: super::io_write::Writing,
}

/// A number of an open stream. Copies made by `dup` have numbers of their own.
#[derive(Clone, Copy)]
pub struct Number {
    stream: usize,
    open: bool,
}

#[derive(Default)]
pub struct IoTable {
    pub streams: Vec<Stream>,
    pub numbers: Vec<Number>,
}

impl IoTable {
    fn get(&mut self, fd: i64) -> Option<&mut Stream> {
        let number = self.numbers.get(usize::try_from(fd).ok()?).filter(|n| n.open)?;
        self.streams.get_mut(number.stream)
    }

    /// A free number for a stream.
    fn number(&mut self, stream: usize) -> i64 {
        let number = Number { stream, open: true };
        match self.numbers.iter().skip(3).position(|n| !n.open) {
            Some(i) => {
                self.numbers[i + 3] = number;
                i as i64 + 3
            }
            None => {
                self.numbers.push(number);
                self.numbers.len() as i64 - 1
            }
        }
    }

    fn add(&mut self, stream: Stream) -> i64 {
        let free = self.streams.iter().skip(3).position(|s| s.closed);
        let at = match free {
            Some(i) => {
                self.streams[i + 3] = stream;
                i + 3
            }
            None => {
                self.streams.push(stream);
                self.streams.len() - 1
            }
        };
        self.number(at)
    }

    /// Lets a number go; the stream ends with its last one.
    pub(super) fn close(&mut self, fd: i64) {
        let Some(number) = usize::try_from(fd).ok().and_then(|fd| self.numbers.get_mut(fd)) else {
            return;
        };
        number.open = false;
        let at = number.stream;
        if !self.numbers.iter().any(|n| n.open && n.stream == at) {
            self.streams[at].closed = true;
            self.streams[at].data = Vec::new();
            self.streams[at].writing = super::io_write::Writing::default();
        }
    }
}

impl Vm {
    pub(crate) fn stream(&mut self, v: Value) -> Res<&mut Stream> {
        let fd = match self.heap.ext(v) {
            Some(Ext::Io(d)) => d.fd,
            _ => return self.type_error("not an IO"),
        };
        if self.io.get(fd).is_none() {
            return self
                .fail(c::IO_ERROR, if fd < 0 { "uninitialized stream" } else { "closed stream" });
        }
        self.io.get(fd).ok_or(crate::vm::Unwind)
    }

    pub(super) fn fd_of(&self, v: Value) -> i64 {
        match self.heap.ext(v) {
            Some(Ext::Io(d)) => d.fd,
            _ => -1,
        }
    }

    fn set_fd(&mut self, v: Value, fd: i64) {
        if let Ext::Io(d) = &mut self.heap.obj_mut(v).ext {
            d.fd = fd;
        }
    }

    /// Writes what open files hold, and what is printed, before others look.
    pub(crate) fn flush_files(&mut self) {
        self.write_back();
        self.flush_output();
    }

    fn write_out(&mut self, std: u8, bytes: &[u8]) -> fx_host::Result<()> {
        let w = if std == 2 { &mut self.err } else { &mut self.out };
        let name = if std == 2 { "/dev/stderr" } else { "/dev/stdout" };
        w.write_all(bytes).map_err(|error| fx_host::HostError::io("write", name, error))
    }

    pub(crate) fn data_file(&mut self, path: &str, at: usize) -> R {
        let p = self.str(path);
        let f = self.call_name(Value::class(c::FILE), "open", &[p])?;
        let s = self.stream(f)?;
        s.pos = at;
        Ok(f)
    }

    /// What can be read: standard input when first asked for, and what a file has grown by
    /// once its end is reached.
    fn fetch_more(&mut self, v: Value) -> Res<()> {
        let s = self.stream(v)?;
        if s.std == 0 && s.read && s.pos >= s.data.len() && !s.path.is_empty() {
            let (path, had) = (to_path(&s.path), s.data.len());
            self.write_back();
            if let Ok(Some(stat)) = self.host.stat_opt(&path)
                && stat.size > had as u64
                && let Ok(data) = self.host.read(&path)
                && data.len() > had
            {
                self.stream(v)?.data = data;
            }
            return Ok(());
        }
        if s.std != 3 || s.fetched {
            return Ok(());
        }
        s.fetched = true;
        let text = (self.hooks.stdin)();
        self.stream(v)?.data = text;
        Ok(())
    }

    pub fn write_io(&mut self, v: Value, bytes: &[u8]) -> Res<()> {
        let s = self.stream(v)?;
        if !s.write {
            return self.fail(c::IO_ERROR, "not opened for writing");
        }
        if s.std == 1 || s.std == 2 {
            let std = s.std;
            return self.write_out(std, bytes).or_else(|error| {
                let name = if std == 2 { "<STDERR>" } else { "<STDOUT>" };
                self.host_error(&error, &format!("io_write - {name}"))
            });
        }
        self.write_file(v, bytes)
    }
}

const METHODS: &[Native] = &[
    public("fileno", 0, 0, |vm, a| {
        vm.stream(a.recv)?;
        Ok(match vm.heap.ext(a.recv) {
            Some(Ext::Io(d)) => Value::fix(d.fd),
            _ => NIL,
        })
    }),
    public("write", 0, -1, |vm, a| {
        let mut total = 0;
        for v in vm.args(a) {
            let s = vm.interpolate(v)?;
            let b = vm.bytes(s).to_vec();
            total += b.len();
            vm.write_io(a.recv, &b)?;
        }
        if a.argc == 0 {
            vm.stream(a.recv)?;
        }
        Ok(Value::fix(total as i64))
    }),
    public("puts", 0, -1, |vm, a| {
        let args = vm.args(a);
        let mut out = Vec::new();
        if args.is_empty() {
            out.push(b'\n')
        }
        for v in args {
            puts_value(vm, v, &mut out)?;
        }
        if vm.is_native(a.recv, n::WRITE) {
            vm.write_io(a.recv, &out)?;
        } else {
            let s = vm.str(out);
            vm.send(a.recv, n::WRITE, &[s])?;
        }
        Ok(NIL)
    }),
    public("closed?", 0, 0, |vm, a| {
        let fd = vm.fd_of(a.recv);
        Ok(Value::bool(vm.io.get(fd).is_none()))
    }),
    public("__open", 8, 8, |vm, a| {
        // path, read, write, append, truncate, create, excl, perm
        let args = vm.args(a);
        let path = vm.bytes(args[0]).to_vec();
        let flag = |i: usize| args[i].truthy();
        let perm = vm.to_int(args[7])? as u32;
        let full = vm.absolute(&path);
        let shown = String::from_utf8_lossy(&path).into_owned();
        vm.flush_files();
        vm.file_read(&full);
        let p = to_path(&full);
        let makes = flag(5) && (flag(6) || matches!(vm.host.stat_opt(&p), Ok(None)));
        if flag(2) || flag(4) || makes {
            let how = super::io_write::FileMode {
                read: flag(1),
                append: flag(3),
                truncate: flag(4),
                create: flag(5),
                exclusive: flag(6),
                perm,
            };
            let mut stream = vm.open_file(&full, &shown, how)?;
            // Made or emptied, and then only read: what the flags alone ask for.
            if !flag(2) {
                stream.finish().or_else(|e| vm.host_error(&e, &format!("rb_sysopen - {shown}")))?;
                (stream.read, stream.write) = (true, false);
            }
            (stream.path, stream.given, stream.perm) = (full, path, perm);
            let fd = vm.io.add(stream);
            vm.set_fd(a.recv, fd);
            return Ok(a.recv);
        }
        let what = format!("rb_sysopen - {shown}");
        let stat = match vm.host.stat_opt(&p) {
            Ok(Some(stat)) => stat,
            Ok(None) => return vm.errno("ENOENT", &what),
            Err(e) => return vm.host_error(&e, &what),
        };
        let data = if stat.kind == fx_host::Kind::File {
            match vm.host.read_opt(&p) {
                Ok(d) => d.unwrap_or_default(),
                Err(e) => return vm.host_error(&e, &what),
            }
        } else {
            Vec::new()
        };
        vm.heap.bytes += data.len();
        let stream =
            Stream { path: full, given: path, data, read: flag(1), perm, ..Stream::default() };
        let fd = vm.io.add(stream);
        vm.set_fd(a.recv, fd);
        Ok(a.recv)
    }),
    public("__fd", 1, 1, |vm, a| {
        let fd = vm.arg(a, 0);
        let fd = vm.to_int(fd)?;
        if vm.io.get(fd).is_none() {
            return vm.errno("EBADF", "");
        }
        vm.set_fd(a.recv, fd);
        Ok(a.recv)
    }),
    // A number of its own for the same stream. Every object has a `dup`, so the prelude is too
    // late for this one.
    public("dup", 0, 1, |vm, a| {
        vm.stream(a.recv)?;
        let stream = vm.io.numbers[vm.fd_of(a.recv) as usize].stream;
        let fd = vm.io.number(stream);
        let class = vm.real_class(a.recv);
        Ok(vm.new_obj(class, Ext::Io(Box::new(IoData { fd }))))
    })
    .also(&["clone"]),
    public("inspect", 0, 0, |vm, a| {
        let class = vm.real_class(a.recv);
        let class = vm.class_name(class);
        let fd = vm.fd_of(a.recv);
        let open = vm.io.get(fd).is_some();
        let number = usize::try_from(fd).ok().and_then(|fd| vm.io.numbers.get(fd));
        let what = match (fd, number) {
            (0, _) if open => "<STDIN>".into(),
            (1, _) if open => "<STDOUT>".into(),
            (2, _) if open => "<STDERR>".into(),
            (_, Some(number)) => {
                let path = &vm.io.streams[number.stream].path;
                if path.is_empty() {
                    format!("fd {fd}")
                } else {
                    String::from_utf8_lossy(path).into_owned()
                }
            }
            (_, None) => return Ok(vm.str(format!("#<{class}: (uninitialized)>"))),
        };
        let closed = if open { "" } else { " (closed)" };
        Ok(vm.str(format!("#<{class}:{what}{closed}>")))
    }),
    // The stream of another under the number that is here.
    public("__reopen", 1, 1, |vm, a| {
        let of = vm.arg(a, 0);
        vm.flush_files();
        vm.stream(of)?;
        let number = vm.io.numbers[vm.fd_of(of) as usize];
        let fd = vm.fd_of(a.recv);
        if fd < 0 {
            return vm.fail(c::IO_ERROR, "uninitialized stream");
        }
        vm.io.close(fd);
        vm.io.numbers[fd as usize] = number;
        Ok(a.recv)
    }),
    public("__path", 0, 0, |vm, a| {
        let fd = vm.fd_of(a.recv);
        let number = usize::try_from(fd).ok().and_then(|fd| vm.io.numbers.get(fd).copied());
        Ok(match number.map(|number| vm.io.streams[number.stream].path.clone()) {
            Some(p) => vm.str(p),
            None => NIL,
        })
    }),
    public("__readable", 0, 0, |vm, a| Ok(Value::bool(vm.stream(a.recv)?.read))),
    public("__writable", 0, 0, |vm, a| Ok(Value::bool(vm.stream(a.recv)?.write))),
    public("__data", 0, 0, |vm, a| {
        vm.fetch_more(a.recv)?;
        let s = vm.stream(a.recv)?;
        if !s.read {
            return vm.fail(c::IO_ERROR, "not opened for reading");
        }
        let (d, p) = (s.data.len(), s.pos);
        Ok(Value::fix(d.saturating_sub(p) as i64))
    }),
    // Takes up to n bytes from the position; nil n takes all.
    public("__take", 1, 1, |vm, a| {
        vm.fetch_more(a.recv)?;
        let nv = vm.arg(a, 0);
        let want = if nv.is_nil() { usize::MAX } else { vm.to_int(nv)? as usize };
        let s = vm.stream(a.recv)?;
        if !s.read {
            return vm.fail(c::IO_ERROR, "not opened for reading");
        }
        let from = s.pos.min(s.data.len());
        let end = from.saturating_add(want).min(s.data.len());
        let b = s.data[from..end].to_vec();
        s.pos = end;
        Ok(vm.str(b))
    }),
    public("__line", 2, 2, |vm, a| {
        let (sep, lim) = (vm.arg(a, 0), vm.arg(a, 1));
        vm.fetch_more(a.recv)?;
        let sep = if sep.is_nil() { None } else { Some(vm.bytes(sep).to_vec()) };
        let lim = if lim.is_nil() { usize::MAX } else { vm.to_int(lim)? as usize };
        let s = vm.stream(a.recv)?;
        if !s.read {
            return vm.fail(c::IO_ERROR, "not opened for reading");
        }
        if let Some(sp) = &sep
            && sp.is_empty()
        {
            while s.data.get(s.pos) == Some(&b'\n') {
                s.pos += 1
            }
        }
        if s.pos >= s.data.len() {
            return Ok(NIL);
        }
        let rest = &s.data[s.pos..];
        let mut end = match &sep {
            None => rest.len(),
            Some(sp) => {
                let sp: &[u8] = if sp.is_empty() { b"\n\n" } else { sp };
                crate::regex::find(rest, sp).map_or(rest.len(), |i| i + sp.len())
            }
        };
        if end > lim {
            end = lim;
            while end < rest.len() && rest[end] & 0xC0 == 0x80 {
                end += 1
            }
        }
        let b = rest[..end].to_vec();
        s.pos += end;
        if sep.as_ref().is_some_and(Vec::is_empty) {
            while s.data.get(s.pos) == Some(&b'\n') {
                s.pos += 1
            }
        }
        s.lineno += 1;
        let l = s.lineno;
        vm.globals.insert(n::GV_DOT, Value::fix(l));
        Ok(vm.str(b))
    }),
    public("pos", 0, 0, |vm, a| Ok(Value::fix(vm.stream(a.recv)?.pos as i64))).also(&["tell"]),
    public("pos=", 1, 1, |vm, a| {
        let p = vm.arg(a, 0);
        let p = vm.to_int(p)?;
        if p < 0 {
            return vm.errno("EINVAL", "");
        }
        vm.flush_stream(a.recv, "rb_io_seek")?;
        vm.stream(a.recv)?.pos = p as usize;
        Ok(Value::fix(p))
    }),
    public("lineno", 0, 0, |vm, a| {
        let s = vm.stream(a.recv)?;
        if !s.read {
            return vm.fail(c::IO_ERROR, "not opened for reading");
        }
        Ok(Value::fix(s.lineno))
    }),
    public("lineno=", 1, 1, |vm, a| {
        let p = vm.arg(a, 0);
        let p = vm.to_int(p)?;
        vm.stream(a.recv)?.lineno = p;
        Ok(Value::fix(p))
    }),
    public("tty?", 0, 0, |vm, a| {
        vm.stream(a.recv)?;
        Ok(Value::bool(false))
    })
    .also(&["isatty"]),
];

pub(crate) fn init(vm: &mut Vm) {
    let k = c::IO;
    vm.classes[k as usize].alloc = Alloc::Io;
    vm.classes[c::FILE as usize].alloc = Alloc::Io;
    vm.include_module(k, c::ENUMERABLE);
    vm.natives(c::IO, METHODS);
    vm.io.streams = vec![
        Stream { read: true, std: 3, ..Stream::default() },
        Stream { write: true, std: 1, ..Stream::default() },
        Stream { write: true, std: 2, ..Stream::default() },
    ];
    vm.io.numbers = (0..3).map(|stream| Number { stream, open: true }).collect();
    for (i, (konst, gv)) in
        [("STDIN", n::GV_STDIN), ("STDOUT", n::GV_STDOUT), ("STDERR", n::GV_STDERR)]
            .into_iter()
            .enumerate()
    {
        let v = vm.new_obj(k, Ext::Io(Box::new(IoData { fd: i as i64 })));
        let s = vm.intern(konst);
        vm.const_set(c::OBJECT, s, v);
        vm.globals.insert(gv, v);
    }
}

fn puts_value(vm: &mut Vm, v: Value, out: &mut Vec<u8>) -> Res<()> {
    if let Some(l) = if v.is_str() { None } else { vm.check_ary(v)? } {
        let r = vm.recurse(l, |vm| {
            for i in 0..vm.heap.arr(l).len() {
                let Some(x) = vm.heap.arr(l).get(i).copied() else { break };
                puts_value(vm, x, out)?;
            }
            Ok(())
        })?;
        if r.is_none() {
            out.extend_from_slice(b"[...]\n")
        }
        return Ok(());
    }
    let s = vm.interpolate(v)?;
    out.extend_from_slice(vm.bytes(s));
    if out.last() != Some(&b'\n') || vm.bytes(s).is_empty() {
        out.push(b'\n')
    }
    Ok(())
}
