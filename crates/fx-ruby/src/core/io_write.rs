//! What open files write: kept until a block is full, a flush, a close, a look at the disk or
//! the end, and then put into the very file that was opened.
//!
//! A file opened with "w" keeps its old content until its new one is written, so a full disk
//! takes nothing away. Everybody who looks through this machine, commands it starts included,
//! sees the file as CRuby would have it.

use fx_host::{Access, HostError, InPlace, Kind, LockWish, Opening};

use super::io::Stream;
use crate::interp::to_path;
use crate::object::c;
use crate::value::{FALSE, NIL, Value};
use crate::vm::{Args, R, Res, Vm};

/// As much as CRuby keeps before it writes.
const BLOCK: usize = 8192;
/// More than this is not kept for the sake of the old content.
const MAX_KEPT: usize = 64 << 20;

/// The side of a stream that writes.
#[derive(Default)]
pub struct Writing {
    pub handle: Option<Box<dyn InPlace>>,
    pending: Vec<u8>,
    /// Where the first pending byte belongs.
    at: usize,
    /// Opened to be emptied, and not emptied yet.
    empties: bool,
    /// For how many of the pending bytes there is room for sure.
    reserved: usize,
    /// Every write is seen at once.
    pub sync: bool,
    /// A failure met while somebody else looked; the next to write or close hears of it.
    trouble: Option<HostError>,
}

impl Writing {
    fn idle(&self) -> bool {
        self.pending.is_empty() && !self.empties
    }
}

impl Stream {
    fn put_out(&mut self) -> fx_host::Result<()> {
        let w = &mut self.writing;
        if w.idle() {
            return Ok(());
        }
        // Whatever happens, this is the one attempt: a second one could do half of it twice.
        let pending = std::mem::take(&mut w.pending);
        let empties = std::mem::take(&mut w.empties);
        w.reserved = 0;
        match &w.handle {
            Some(handle) if empties => handle.rewrite(&pending),
            Some(handle) if self.append => handle.append(&pending),
            Some(handle) => handle.write_at(&pending, w.at as u64),
            None => Ok(()),
        }
    }

    /// Puts out what is held and lets the file go; what it has is read.
    pub(super) fn finish(&mut self) -> fx_host::Result<()> {
        self.put_out()?;
        self.writing.handle = None;
        Ok(())
    }

    /// Its size as the program sees it.
    fn size(&self) -> fx_host::Result<usize> {
        let w = &self.writing;
        if w.empties {
            return Ok(w.pending.len());
        }
        let there = match &w.handle {
            Some(handle) => handle.meta()?.size as usize,
            None => return Ok(self.data.len()),
        };
        Ok(if self.append { there + w.pending.len() } else { there.max(w.at + w.pending.len()) })
    }

    /// Takes bytes to be written; true if it is time to put them out.
    fn take_in(&mut self, bytes: &[u8]) -> fx_host::Result<()> {
        if let Some(trouble) = self.writing.trouble.take() {
            return Err(trouble);
        }
        if self.append {
            self.pos = self.size()?;
        } else if !self.writing.idle() && self.writing.at + self.writing.pending.len() != self.pos {
            self.put_out()?;
        }
        if self.writing.idle() {
            self.writing.at = self.pos;
        }
        let end = self.pos + bytes.len();
        if self.read {
            if self.data.len() < end {
                self.data.resize(end, 0)
            }
            self.data[self.pos..end].copy_from_slice(bytes);
        }
        self.pos = end;
        let w = &mut self.writing;
        w.pending.extend_from_slice(bytes);
        if w.sync || w.pending.len() >= MAX_KEPT || (!w.empties && w.pending.len() >= BLOCK) {
            return self.put_out();
        }
        if w.pending.len() - w.reserved >= BLOCK
            && let Some(handle) = &w.handle
        {
            let length = w.pending.len();
            if let Err(error) = handle.reserve(0, length as u64) {
                w.pending = Vec::new();
                w.empties = false;
                return Err(error);
            }
            w.reserved = length;
        }
        Ok(())
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(if self.given.is_empty() { &self.path } else { &self.given })
            .into_owned()
    }
}

impl Vm {
    /// Puts out what one stream holds; a failure is raised as the call named does it.
    pub(crate) fn flush_stream(&mut self, v: Value, call: &str) -> Res<()> {
        let s = self.stream(v)?;
        let result = match s.writing.trouble.take() {
            Some(trouble) => Err(trouble),
            None => s.put_out(),
        };
        let shown = s.shown();
        result.or_else(|error| self.host_error(&error, &format!("{call} - {shown}")))
    }

    /// Puts out what open files hold, before somebody looks at the disk. Who looks is not who
    /// wrote: a failure waits for the one that writes to, or closes, the file next.
    pub(crate) fn write_back(&mut self) {
        for s in self.io.streams.iter_mut().skip(3) {
            if let Err(error) = s.put_out() {
                s.writing.trouble.get_or_insert(error);
            }
        }
    }

    /// Puts out what open files hold at the end, and the first failure that nobody heard of.
    pub(crate) fn write_back_at_end(&mut self) -> Option<String> {
        self.write_back();
        let lost = self.io.streams.iter_mut().skip(3);
        lost.filter_map(|s| s.writing.trouble.take()).map(|error| error.to_string()).next()
    }

    pub(crate) fn write_file(&mut self, v: Value, bytes: &[u8]) -> Res<()> {
        let s = self.stream(v)?;
        let result = s.take_in(bytes);
        let shown = s.shown();
        if let Err(error) = result {
            return self.host_error(&error, &format!("io_write - {shown}"));
        }
        self.heap.bytes += bytes.len();
        Ok(())
    }

    /// Opens a file for changes and gives its stream.
    pub(crate) fn open_file(&mut self, full: &[u8], shown: &str, how: FileMode) -> Res<Stream> {
        let what = format!("rb_sysopen - {shown}");
        let access = if how.read { Access::ReadWrite } else { Access::Write };
        let opening = Opening {
            access,
            append: how.append,
            create: how.create.then_some(how.perm & !self.umask & 0o7777),
            exclusive: how.create && how.exclusive,
        };
        self.write_back();
        let opened = self.host.open_in_place(&to_path(full), &opening);
        let opened = opened.and_then(|handle| {
            let meta = handle.meta()?;
            Ok((handle, meta))
        });
        let (handle, meta) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.host_error(&error, &what),
        };
        let plain = meta.kind == Kind::File;
        let empties = how.truncate && plain && meta.size > 0;
        let data = if how.read && plain && !how.truncate {
            match handle.read_from(0) {
                Ok(data) => data,
                Err(error) => return self.host_error(&error, &what),
            }
        } else {
            Vec::new()
        };
        self.heap.bytes += data.len();
        let writing = Writing { handle: Some(handle), empties, ..Writing::default() };
        Ok(Stream {
            data,
            read: how.read,
            write: true,
            append: how.append,
            writing,
            ..Stream::default()
        })
    }

    /// A handle of the file a stream stands for, opened for reading if it has none.
    fn handle_of(&mut self, v: Value) -> Res<()> {
        let s = self.stream(v)?;
        if s.writing.handle.is_some() || s.path.is_empty() {
            return Ok(());
        }
        let (path, shown) = (to_path(&s.path), s.shown());
        let handle = match self.host.open_in_place(&path, &Opening::of(Access::Read)) {
            Ok(handle) => handle,
            Err(error) => return self.host_error(&error, &shown),
        };
        self.stream(v)?.writing.handle = Some(handle);
        Ok(())
    }
}

/// How `File.open` was asked to open.
pub(crate) struct FileMode {
    pub(crate) read: bool,
    pub(crate) append: bool,
    pub(crate) truncate: bool,
    pub(crate) create: bool,
    pub(crate) exclusive: bool,
    pub(crate) perm: u32,
}

fn flush(vm: &mut Vm, a: Args) -> R {
    vm.stream(a.recv)?;
    vm.flush_output();
    vm.flush_stream(a.recv, "rb_io_flush_raw")?;
    if vm.syms.bytes(a.name) == b"flush" {
        return Ok(a.recv);
    }
    let s = vm.stream(a.recv)?;
    let result = match (&s.writing.handle, s.write) {
        (Some(handle), true) => handle.sync(),
        _ => Ok(()),
    };
    let shown = s.shown();
    match result {
        Ok(()) => Ok(Value::fix(0)),
        Err(error) => vm.host_error(&error, &shown),
    }
}

fn close(vm: &mut Vm, a: Args) -> R {
    if vm.stream(a.recv).is_err() {
        vm.take_raise();
        return Ok(NIL);
    }
    vm.flush_output();
    // The number is free in any case, as after close(2).
    let flushed = vm.flush_stream(a.recv, "fptr_finalize_flush");
    let fd = vm.fd_of(a.recv);
    vm.io.close(fd);
    flushed.map(|()| NIL)
}

fn truncate(vm: &mut Vm, a: Args) -> R {
    let wanted = vm.arg(a, 0);
    let wanted = vm.to_int(wanted)?;
    if wanted < 0 {
        return vm.errno("EINVAL", "");
    }
    if !vm.stream(a.recv)?.write {
        return vm.fail(c::IO_ERROR, "not opened for writing");
    }
    vm.flush_stream(a.recv, "rb_file_truncate")?;
    if vm.stream(a.recv)?.read {
        vm.reserve(wanted as usize)?;
    }
    let s = vm.stream(a.recv)?;
    let result = match &s.writing.handle {
        Some(handle) => handle.set_len(wanted as u64),
        None => Ok(()),
    };
    if result.is_ok() && s.read {
        s.data.resize(wanted as usize, 0);
    }
    let shown = s.shown();
    match result {
        Ok(()) => Ok(Value::fix(0)),
        Err(error) => vm.host_error(&error, &format!("rb_file_truncate - {shown}")),
    }
}

fn lock(vm: &mut Vm, a: Args) -> R {
    let wish = vm.arg(a, 0);
    let bits = vm.to_int(wish)?;
    let wait = bits & 4 == 0;
    let wish = match bits & !4 {
        1 => LockWish::Shared { wait },
        2 => LockWish::Exclusive { wait },
        8 => LockWish::Release,
        _ => return vm.errno("EINVAL", ""),
    };
    vm.stream(a.recv)?;
    vm.flush_output();
    vm.flush_stream(a.recv, "rb_file_flock")?;
    vm.handle_of(a.recv)?;
    let s = vm.stream(a.recv)?;
    let result = s.writing.handle.as_ref().map_or(Ok(true), |handle| handle.lock(wish));
    let shown = s.shown();
    match result {
        Ok(true) => Ok(Value::fix(0)),
        Ok(false) => Ok(FALSE),
        Err(error) => vm.host_error(&error, &format!("rb_file_flock - {shown}")),
    }
}

fn size(vm: &mut Vm, a: Args) -> R {
    let s = vm.stream(a.recv)?;
    let (size, shown) = (s.size(), s.shown());
    match size {
        Ok(size) => Ok(Value::fix(size as i64)),
        Err(error) => vm.host_error(&error, &shown),
    }
}

pub(crate) fn init(vm: &mut Vm) {
    let k = c::IO;
    for name in ["flush", "fsync", "fdatasync"] {
        vm.def(k, name, flush, 0, 0);
    }
    vm.def(k, "close", close, 0, 0);
    vm.def(k, "truncate", truncate, 1, 1);
    vm.def(k, "flock", lock, 1, 1);
    vm.def(k, "__size", size, 0, 0);
    vm.def(k, "__sync", |vm, a| Ok(Value::bool(vm.stream(a.recv)?.writing.sync)), 0, 0);
    vm.def(
        k,
        "__sync=",
        |vm, a| {
            let sync = vm.arg(a, 0);
            vm.flush_stream(a.recv, "rb_io_flush_raw")?;
            vm.stream(a.recv)?.writing.sync = sync.truthy();
            Ok(sync)
        },
        1,
        1,
    );
}
