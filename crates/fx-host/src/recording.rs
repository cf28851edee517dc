//! A machine that does every request and reports those that may change something.
//!
//! For what policy does while it is evaluated: nobody can hold that back, so it is written
//! down. It judges nothing and keeps no content, only what was done to which item.

use std::ffi::{OsStr, OsString};
use std::net::{SocketAddr, TcpStream};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use crate::in_place::{Access, InPlace, Opening};
use crate::{
    Child, Commands, Edits, Ended, Entry, Files, FsSpace, Host, Line, Lock, Meta, Operation,
    Pieces, Reader, Request, Requests, Response, Result, Spec, Time, WriteOptions,
};

/// One request that may have changed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What was done.
    pub operation: Operation,
    /// To what: a path, a command line, an address.
    pub subject: OsString,
    /// Whether the machine did it.
    pub done: bool,
}

impl std::fmt::Display for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.operation.verb(), self.subject.display())?;
        if self.done { Ok(()) } else { f.write_str(" (failed)") }
    }
}

/// The machine behind, borrowed for one call or shared for as long as somebody needs it.
enum Inner<'a> {
    Borrowed(&'a dyn Host),
    Shared(Rc<dyn Host>),
}

impl<'a> Deref for Inner<'a> {
    type Target = dyn Host + 'a;

    fn deref(&self) -> &(dyn Host + 'a) {
        match self {
            Inner::Borrowed(host) => *host,
            Inner::Shared(host) => &**host,
        }
    }
}

/// A machine with a listener for each effect.
pub struct RecordingHost<'a> {
    inner: Inner<'a>,
    listener: Box<dyn Fn(Record) + 'a>,
}

impl<'a> RecordingHost<'a> {
    /// Reports what is done to `inner` from now on.
    pub fn new(inner: &'a dyn Host, listener: impl Fn(Record) + 'a) -> RecordingHost<'a> {
        RecordingHost { inner: Inner::Borrowed(inner), listener: Box::new(listener) }
    }

    /// The same for a machine that is kept.
    pub fn shared(inner: Rc<dyn Host>, listener: impl Fn(Record) + 'a) -> RecordingHost<'a> {
        RecordingHost { inner: Inner::Shared(inner), listener: Box::new(listener) }
    }

    fn note<T>(
        &self,
        operation: Operation,
        subject: impl AsRef<OsStr>,
        result: Result<T>,
    ) -> Result<T> {
        let subject = subject.as_ref().to_owned();
        (self.listener)(Record { operation, subject, done: result.is_ok() });
        result
    }
}

impl Files for RecordingHost<'_> {
    pass! {
        stat(path: &Path) -> Result<Meta>;
        lstat(path: &Path) -> Result<Meta>;
        read(path: &Path) -> Result<Vec<u8>>;
        read_with_meta(path: &Path) -> Result<(Meta, Vec<u8>)>;
        read_limited(path: &Path, limit: u64) -> Result<Vec<u8>>;
        check_trusted(path: &Path) -> Result<()>;
        read_trusted_up_to(path: &Path, limit: u64) -> Result<Vec<u8>>;
        refused() -> Option<String>;
        open(path: &Path) -> Result<Reader<'_>>;
        read_link(path: &Path) -> Result<PathBuf>;
        list(path: &Path) -> Result<Vec<Entry>>;
        real_path(path: &Path) -> Result<PathBuf>;
        real_path_to_change(path: &Path) -> Result<PathBuf>;
        space(path: &Path, limit: Duration) -> Result<FsSpace>;
        xattrs(path: &Path) -> Result<Vec<OsString>>;
        xattr(path: &Path, name: &str) -> Result<Option<Vec<u8>>>;
    }
}

macro_rules! note_paths {
    ($($operation:ident $name:ident(path $(, $arg:ident: $ty:ty)*);)*) => {
        $(fn $name(&self, path: &Path $(, $arg: $ty)*) -> Result<()> {
            self.note(Operation::$operation, path, self.inner.$name(path $(, $arg)*))
        })*
    };
}

impl Edits for RecordingHost<'_> {
    note_paths! {
        Write write(path, content: &[u8], options: &WriteOptions);
        Write write_pieces(path, pieces: Pieces<'_>, options: &WriteOptions);
        Append append(path, content: &[u8], mode: u32);
        MakeDir make_dir(path, mode: u32);
        MakeFifo make_fifo(path, mode: u32);
        RemoveFile remove_file(path);
        RemoveDir remove_dir(path);
        SetMode set_mode(path, mode: u32);
        SetOwner set_owner(path, uid: Option<u32>, gid: Option<u32>);
        SetTimes set_times(path, atime: Option<Time>, mtime: Option<Time>);
        SetXattr set_xattr(path, name: &str, value: Option<&[u8]>);
    }

    pass! {
        lock(path: &Path, patience: Duration) -> Result<Option<Lock>>;
        settle() -> Result<()>;
        commit() -> Result<()>;
    }

    fn copy_file(&self, from: &Path, to: &Path, options: &WriteOptions) -> Result<()> {
        self.note(Operation::Write, to, self.inner.copy_file(from, to, options))
    }

    // What is done through it is noted once, as a write; a file that is only read is not.
    fn open_in_place(&self, path: &Path, how: &Opening) -> Result<Box<dyn InPlace>> {
        let opened = self.inner.open_in_place(path, how);
        match how.access {
            Access::Read => opened,
            Access::Attributes => self.note(Operation::SetMode, path, opened),
            Access::Write | Access::ReadWrite => self.note(Operation::Write, path, opened),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.note(Operation::Rename, to, self.inner.rename(from, to))
    }

    fn symlink(&self, target: &Path, path: &Path) -> Result<()> {
        self.note(Operation::Symlink, path, self.inner.symlink(target, path))
    }

    fn hard_link(&self, existing: &Path, path: &Path) -> Result<()> {
        self.note(Operation::HardLink, path, self.inner.hard_link(existing, path))
    }
}

impl Commands for RecordingHost<'_> {
    fn run_streaming(&self, spec: &Spec, on_line: &mut dyn FnMut(Line<'_>)) -> Result<Ended> {
        self.note(Operation::Run, spec.display(), self.inner.run_streaming(spec, on_line))
    }

    fn start(&self, spec: &Spec) -> Result<Box<dyn Child>> {
        self.note(Operation::Start, spec.display(), self.inner.start(spec))
    }

    fn signal(&self, pid: i32, signal: i32) -> Result<()> {
        let subject = format!("{pid} with {signal}");
        self.note(Operation::Signal, subject, self.inner.signal(pid, signal))
    }
}

impl Requests for RecordingHost<'_> {
    fn http(&self, request: &Request) -> Result<Response> {
        self.note(Operation::Http, &request.url, self.inner.http(request))
    }

    fn dial(&self, address: SocketAddr, patience: Duration) -> Result<TcpStream> {
        let answer = self.inner.dial(address, patience);
        self.note(Operation::Network, address.to_string(), answer)
    }

    fn ask(
        &self,
        address: SocketAddr,
        question: &[u8],
        limit: usize,
        patience: Duration,
    ) -> Result<Vec<u8>> {
        let answer = self.inner.ask(address, question, limit, patience);
        self.note(Operation::Network, address.to_string(), answer)
    }
}

impl crate::Queries for RecordingHost<'_> {
    pass! {
        find_program(name: &str) -> Option<PathBuf>;
        query(spec: &Spec) -> Result<Ended>;
    }
}

pass_surroundings!(RecordingHost<'_>);
pass_looks_at_network!(RecordingHost<'_>);

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::{MemoryHost, Reply};

    #[test]
    fn effects_are_reported_in_order_and_looks_are_not() {
        let machine = MemoryHost::linux();
        machine.on(["date"], Reply::prints("now\n"));
        let lines = RefCell::new(Vec::new());
        let host =
            RecordingHost::new(&machine, |record| lines.borrow_mut().push(record.to_string()));
        host.write(Path::new("/etc/motd"), b"hello", &WriteOptions::default()).unwrap();
        host.read_opt(Path::new("/etc/none")).unwrap();
        host.run(&Spec::argv(["date"])).unwrap();
        host.run(&Spec::argv(["rm", "-rf", "/"])).unwrap_err();
        assert_eq!(*lines.borrow(), ["write /etc/motd", "run date", "run rm -rf / (failed)"]);
    }
}
