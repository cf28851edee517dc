//! A machine that passes every request on and writes it down with its author.
//!
//! Used to show what a step or a program did and read. It judges nothing and hides
//! nothing; contents are not kept, only what was asked of which item.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use crate::in_place::{Access, InPlace, Opening};
use crate::{
    Accounts, Child, Clock, Commands, Ended, Entry, Env, Files, FsSpace, Group, Host, Interface,
    Line, Meta, Neighbour, Net, Operation, Pieces, Reader, Request, Response, Result, Route, Spec,
    Time, Uname, User, WriteOptions,
};

/// One request that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Who asked, as last set with [`RecordingHost::set_author`].
    pub author: Rc<str>,
    /// What was asked.
    pub operation: Operation,
    /// Of what: a path, a command line, an address, a name.
    pub subject: PathBuf,
    /// Whether the machine did it.
    pub done: bool,
}

impl std::fmt::Display for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.operation.verb(), self.subject.display())?;
        if self.done { Ok(()) } else { f.write_str(" (failed)") }
    }
}

/// A recorder in front of another machine.
pub struct RecordingHost<'a> {
    inner: &'a dyn Host,
    author: RefCell<Rc<str>>,
    records: RefCell<Vec<Record>>,
}

impl<'a> RecordingHost<'a> {
    /// Records what is asked of `inner` from now on.
    pub fn new(inner: &'a dyn Host) -> RecordingHost<'a> {
        RecordingHost {
            inner,
            author: RefCell::new(Rc::from("")),
            records: RefCell::new(Vec::new()),
        }
    }

    /// Names who asks from now on; returns the one before, to be set back.
    pub fn set_author(&self, author: impl Into<Rc<str>>) -> Rc<str> {
        self.author.replace(author.into())
    }

    /// Everything asked so far, in order.
    pub fn records(&self) -> Vec<Record> {
        self.records.borrow().clone()
    }

    /// Requests that may have changed something, in order.
    pub fn effects(&self) -> Vec<Record> {
        self.select(|record| record.operation.is_effect())
    }

    /// Requests that only looked, in order.
    pub fn reads(&self) -> Vec<Record> {
        self.select(|record| !record.operation.is_effect())
    }

    /// Requests of one author, in order.
    pub fn by_author(&self, author: &str) -> Vec<Record> {
        self.select(|record| &*record.author == author)
    }

    /// Requests about one item, in order.
    pub fn about(&self, subject: &Path) -> Vec<Record> {
        self.select(|record| record.subject == subject)
    }

    /// Takes what was recorded so far, and starts anew.
    pub fn take(&self) -> Vec<Record> {
        self.records.take()
    }

    fn select(&self, wanted: impl Fn(&Record) -> bool) -> Vec<Record> {
        self.records.borrow().iter().filter(|record| wanted(record)).cloned().collect()
    }

    fn note<T>(
        &self,
        operation: Operation,
        subject: impl AsRef<OsStr>,
        result: Result<T>,
    ) -> Result<T> {
        self.records.borrow_mut().push(Record {
            author: Rc::clone(&self.author.borrow()),
            operation,
            subject: PathBuf::from(subject.as_ref()),
            done: result.is_ok(),
        });
        result
    }
}

macro_rules! pass_paths {
    ($($operation:ident $name:ident(path $(, $arg:ident: $ty:ty)*) -> $out:ty;)*) => {
        $(fn $name(&self, path: &Path $(, $arg: $ty)*) -> Result<$out> {
            self.note(Operation::$operation, path, self.inner.$name(path $(, $arg)*))
        })*
    };
}

impl Files for RecordingHost<'_> {
    pass_paths! {
        Stat stat(path) -> Meta;
        Lstat lstat(path) -> Meta;
        Read read(path) -> Vec<u8>;
        Read read_with_meta(path) -> (Meta, Vec<u8>);
        Read read_limited(path, limit: u64) -> Vec<u8>;
        Stat check_trusted(path) -> ();
        Read read_trusted_up_to(path, limit: u64) -> Vec<u8>;
        Open open(path) -> Reader<'_>;
        ReadLink read_link(path) -> PathBuf;
        List list(path) -> Vec<Entry>;
        RealPath real_path(path) -> PathBuf;
        RealPath real_path_to_change(path) -> PathBuf;
        Space space(path, limit: Duration) -> FsSpace;
        Write write(path, content: &[u8], options: &WriteOptions) -> ();
        Write write_pieces(path, pieces: Pieces<'_>, options: &WriteOptions) -> ();
        Append append(path, content: &[u8], mode: u32) -> ();
        MakeDir make_dir(path, mode: u32) -> ();
        MakeFifo make_fifo(path, mode: u32) -> ();
        RemoveFile remove_file(path) -> ();
        RemoveDir remove_dir(path) -> ();
        SetMode set_mode(path, mode: u32) -> ();
        SetOwner set_owner(path, uid: Option<u32>, gid: Option<u32>) -> ();
        SetTimes set_times(path, atime: Option<Time>, mtime: Option<Time>) -> ();
        Xattrs xattrs(path) -> Vec<OsString>;
        Xattr xattr(path, name: &str) -> Option<Vec<u8>>;
        SetXattr set_xattr(path, name: &str, value: Option<&[u8]>) -> ();
    }

    fn lock(&self, path: &Path, patience: Duration) -> Result<Option<crate::Lock>> {
        self.inner.lock(path, patience)
    }

    fn refused(&self) -> Option<String> {
        self.inner.refused()
    }

    fn copy_file(&self, from: &Path, to: &Path, options: &WriteOptions) -> Result<()> {
        self.note(Operation::Write, to, self.inner.copy_file(from, to, options))
    }

    // What is done through it is noted once, as a write or a look at the file.
    fn open_in_place(&self, path: &Path, how: &Opening) -> Result<Box<dyn InPlace>> {
        let operation = match how.access {
            Access::Read => Operation::Open,
            Access::Attributes => Operation::SetMode,
            Access::Write | Access::ReadWrite => Operation::Write,
        };
        self.note(operation, path, self.inner.open_in_place(path, how))
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

    fn settle(&self) -> Result<()> {
        self.note(Operation::Settle, "", self.inner.settle())
    }

    fn commit(&self) -> Result<()> {
        self.note(Operation::Commit, "", self.inner.commit())
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

    fn find_program(&self, name: &str) -> Option<PathBuf> {
        let found = self.inner.find_program(name);
        self.note(Operation::FindProgram, name, Ok(found)).unwrap_or_default()
    }
}

impl Accounts for RecordingHost<'_> {
    fn user(&self, name: &str) -> Result<Option<User>> {
        self.note(Operation::Account, name, self.inner.user(name))
    }

    fn user_by_id(&self, uid: u32) -> Result<Option<User>> {
        self.note(Operation::Account, uid.to_string(), self.inner.user_by_id(uid))
    }

    fn group(&self, name: &str) -> Result<Option<Group>> {
        self.note(Operation::Account, name, self.inner.group(name))
    }

    fn group_by_id(&self, gid: u32) -> Result<Option<Group>> {
        self.note(Operation::Account, gid.to_string(), self.inner.group_by_id(gid))
    }

    fn users(&self) -> Result<Vec<User>> {
        self.note(Operation::Account, "users", self.inner.users())
    }

    fn groups(&self) -> Result<Vec<Group>> {
        self.note(Operation::Account, "groups", self.inner.groups())
    }
}

// Time passes whether or not it is asked for, so asking is not written down.
impl Clock for RecordingHost<'_> {
    fn now(&self) -> Time {
        self.inner.now()
    }

    fn monotonic(&self) -> Duration {
        self.inner.monotonic()
    }

    fn sleep(&self, duration: Duration) {
        self.inner.sleep(duration);
    }
}

impl Env for RecordingHost<'_> {
    fn var(&self, name: &OsStr) -> Option<OsString> {
        let value = self.inner.var(name);
        self.note(Operation::Variable, name, Ok(value)).unwrap_or_default()
    }

    fn vars(&self) -> Vec<(OsString, OsString)> {
        self.note(Operation::Variable, "*", Ok(self.inner.vars())).unwrap_or_default()
    }

    fn cwd(&self) -> PathBuf {
        self.inner.cwd()
    }

    fn euid(&self) -> u32 {
        self.inner.euid()
    }

    fn egid(&self) -> u32 {
        self.inner.egid()
    }

    fn pid(&self) -> u32 {
        self.inner.pid()
    }

    fn uname(&self) -> Uname {
        self.inner.uname()
    }

    fn random(&self, buffer: &mut [u8]) {
        self.inner.random(buffer);
    }

    fn cpus(&self) -> usize {
        self.inner.cpus()
    }
}

impl Net for RecordingHost<'_> {
    fn http(&self, request: &Request) -> Result<Response> {
        self.note(Operation::Http, &request.url, self.inner.http(request))
    }

    fn interfaces(&self) -> Result<Vec<Interface>> {
        self.note(Operation::Network, "interfaces", self.inner.interfaces())
    }

    fn routes(&self) -> Result<Vec<Route>> {
        self.note(Operation::Network, "routes", self.inner.routes())
    }

    fn neighbours(&self) -> Result<Vec<Neighbour>> {
        self.note(Operation::Network, "neighbours", self.inner.neighbours())
    }

    fn resolve(&self, name: &str) -> Result<Vec<IpAddr>> {
        self.note(Operation::Network, name, self.inner.resolve(name))
    }

    fn reverse(&self, address: IpAddr) -> Result<Option<String>> {
        self.note(Operation::Network, address.to_string(), self.inner.reverse(address))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryHost, Reply};

    #[test]
    fn requests_are_recorded_in_order_with_their_author() {
        let machine = MemoryHost::linux();
        machine.on(["date"], Reply::prints("now\n"));
        let host = RecordingHost::new(&machine);
        host.set_author("step 1");
        host.write(Path::new("/etc/motd"), b"hello", &WriteOptions::default()).unwrap();
        let before = host.set_author("step 2");
        host.read_opt(Path::new("/etc/none")).unwrap();
        host.run(&Spec::argv(["date"])).unwrap();
        host.run(&Spec::argv(["rm", "-rf", "/"])).unwrap_err();
        assert_eq!(&*before, "step 1");
        let lines: Vec<String> = host.records().iter().map(ToString::to_string).collect();
        let expected =
            ["write /etc/motd", "read /etc/none (failed)", "run date", "run rm -rf / (failed)"];
        assert_eq!(lines, expected);
        assert_eq!(host.effects().len(), 3);
        assert_eq!(host.reads().len(), 1);
        assert_eq!(host.by_author("step 1").len(), 1);
        assert_eq!(host.about(Path::new("/etc/motd")).len(), 1);
    }
}
