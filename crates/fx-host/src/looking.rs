//! A machine that is only looked at: reading goes through, whatever would change something or
//! start a program is refused and noted.
//!
//! For verbs that evaluate policy without being asked to act. Who finds that something was
//! refused does it again in a [`crate::Sandbox`], where it may happen.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use crate::in_place::{InPlace, Opening};
use crate::{
    Child, Commands, Edits, Ended, Entry, Files, FsSpace, Host, HostError, Interface, Line, Meta,
    Neighbour, Net, Queries, Reader, Request, Requests, Response, Result, Route, Spec, Time,
    WriteOptions,
};

/// The machine, without its effects.
pub struct LookingHost {
    inner: Rc<dyn Host>,
    refused: RefCell<Option<String>>,
}

impl LookingHost {
    /// Looks at `inner`.
    pub fn new(inner: Rc<dyn Host>) -> LookingHost {
        LookingHost { inner, refused: RefCell::default() }
    }

    /// The first thing that was refused: a command line, or what was to become of a path.
    pub fn refused(&self) -> Option<String> {
        self.refused.borrow().clone()
    }

    /// Starts anew: nothing was refused.
    pub fn forget(&self) {
        self.refused.take();
    }

    fn note(&self, what: impl FnOnce() -> String) {
        self.refused.borrow_mut().get_or_insert_with(what);
    }

    fn refuse<T>(&self, action: &'static str, path: &Path) -> Result<T> {
        self.note(|| format!("{action} {}", path.display()));
        Err(HostError::io(action, path, io::Error::from(io::ErrorKind::ReadOnlyFilesystem)))
    }

    fn refuse_command<T>(&self, spec: &Spec) -> Result<T> {
        self.note(|| spec.display());
        Err(HostError::Command {
            program: spec.display(),
            reason: "commands are run in a copy of the machine only, and this is none".to_owned(),
            kind: io::ErrorKind::PermissionDenied,
        })
    }
}

macro_rules! refuse {
    ($($word:literal $name:ident(path $(, $arg:ident: $ty:ty)*);)*) => {
        $(fn $name(&self, path: &Path $(, $arg: $ty)*) -> Result<()> {
            $(let _ = $arg;)*
            self.refuse($word, path)
        })*
    };
}

impl Files for LookingHost {
    pass! {
        stat(path: &Path) -> Result<Meta>;
        lstat(path: &Path) -> Result<Meta>;
        read(path: &Path) -> Result<Vec<u8>>;
        read_with_meta(path: &Path) -> Result<(Meta, Vec<u8>)>;
        open(path: &Path) -> Result<Reader<'_>>;
        read_link(path: &Path) -> Result<PathBuf>;
        list(path: &Path) -> Result<Vec<Entry>>;
        read_limited(path: &Path, limit: u64) -> Result<Vec<u8>>;
        check_trusted(path: &Path) -> Result<()>;
        read_trusted_up_to(path: &Path, limit: u64) -> Result<Vec<u8>>;
        refused() -> Option<String>;
        real_path(path: &Path) -> Result<PathBuf>;
        real_path_to_change(path: &Path) -> Result<PathBuf>;
        space(path: &Path, limit: Duration) -> Result<FsSpace>;
        xattrs(path: &Path) -> Result<Vec<OsString>>;
        xattr(path: &Path, name: &str) -> Result<Option<Vec<u8>>>;
    }
}

impl Edits for LookingHost {
    pass! {
        settle() -> Result<()>;
        commit() -> Result<()>;
    }

    refuse! {
        "write" write(path, content: &[u8], options: &WriteOptions);
        "append to" append(path, content: &[u8], mode: u32);
        "make" make_dir(path, mode: u32);
        "make" make_fifo(path, mode: u32);
        "remove" remove_file(path);
        "remove" remove_dir(path);
        "change mode of" set_mode(path, mode: u32);
        "change owner of" set_owner(path, uid: Option<u32>, gid: Option<u32>);
        "change times of" set_times(path, atime: Option<Time>, mtime: Option<Time>);
        "change attributes of" set_xattr(path, name: &str, value: Option<&[u8]>);
    }

    fn open_in_place(&self, path: &Path, how: &Opening) -> Result<Box<dyn InPlace>> {
        if how.access.changes() {
            self.refuse("write", path)?;
        }
        self.inner.open_in_place(path, how)
    }

    fn rename(&self, from: &Path, _to: &Path) -> Result<()> {
        self.refuse("rename", from)
    }

    fn symlink(&self, _target: &Path, path: &Path) -> Result<()> {
        self.refuse("make", path)
    }

    fn hard_link(&self, _existing: &Path, path: &Path) -> Result<()> {
        self.refuse("make", path)
    }
}

impl Commands for LookingHost {
    fn run_streaming(&self, spec: &Spec, _on_line: &mut dyn FnMut(Line<'_>)) -> Result<Ended> {
        self.refuse_command(spec)
    }

    fn start(&self, spec: &Spec) -> Result<Box<dyn Child>> {
        self.refuse_command(spec)
    }

    fn signal(&self, pid: i32, signal: i32) -> Result<()> {
        self.refuse_command(&Spec::argv(["kill".to_owned(), format!("-{signal}"), pid.to_string()]))
    }
}

impl Queries for LookingHost {
    pass! {
        find_program(name: &str) -> Option<PathBuf>;
        query(spec: &Spec) -> Result<Ended>;
    }
}

impl Net for LookingHost {
    pass! {
        interfaces() -> Result<Vec<Interface>>;
        routes() -> Result<Vec<Route>>;
        neighbours() -> Result<Vec<Neighbour>>;
        resolve(name: &str) -> Result<Vec<IpAddr>>;
        reverse(address: IpAddr) -> Result<Option<String>>;
    }

    fn fetch(&self, request: &Request) -> Result<Response> {
        self.http(request)
    }
}

// A copy of the machine has no network either, so nothing is gained by another try in one.
impl Requests for LookingHost {
    fn http(&self, request: &Request) -> Result<Response> {
        Err(HostError::Net {
            url: request.url.clone(),
            reason: "the network is not used where policy is only looked at".to_owned(),
        })
    }

    fn dial(&self, address: SocketAddr, _: Duration) -> Result<TcpStream> {
        let url = address.to_string();
        let refused = self.http(&Request::get(url.clone())).err();
        Err(refused.unwrap_or(HostError::Net { url, reason: "not reached".to_owned() }))
    }

    fn ask(&self, address: SocketAddr, _: &[u8], _: usize, _: Duration) -> Result<Vec<u8>> {
        let url = address.to_string();
        self.http(&Request::get(url)).map(|answer| answer.body)
    }
}

pass_surroundings!(LookingHost);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryHost, Reply};

    #[test]
    fn the_network_is_not_used_and_no_copy_would_help() {
        let machine = MemoryHost::linux();
        machine.on_url("http://server/data", 200, "secret");
        let host = LookingHost::new(Rc::new(machine));
        let request = Request::get("http://server/data");
        for refused in [host.fetch(&request), host.http(&request)] {
            assert!(refused.unwrap_err().to_string().contains("only looked at"));
        }
        let address = SocketAddr::from(([127, 0, 0, 1], 9));
        assert!(host.ask(address, b"x", 9, Duration::ZERO).is_err());
        assert_eq!(host.refused(), None);
    }

    #[test]
    fn effects_are_refused_and_the_first_is_told() {
        let machine = MemoryHost::linux();
        machine.on(["date"], Reply::prints("now\n"));
        let machine = Rc::new(machine);
        let before = machine.snapshot();
        let host = LookingHost::new(Rc::<MemoryHost>::clone(&machine));
        assert!(host.read(Path::new("/etc/passwd")).is_ok() && host.refused().is_none());
        assert!(host.run(&Spec::argv(["date", "-u"])).is_err());
        let path = Path::new("/etc/new");
        let options = WriteOptions::default();
        for refused in [
            host.write(path, b"x", &options),
            host.append(path, b"x", 0o600),
            host.make_dir(path, 0o700),
            host.make_fifo(path, 0o700),
            host.remove_file(Path::new("/etc/passwd")),
            host.remove_dir(Path::new("/etc")),
            host.rename(Path::new("/etc/passwd"), path),
            host.symlink(Path::new("/etc/passwd"), path),
            host.hard_link(Path::new("/etc/passwd"), path),
            host.set_mode(Path::new("/etc/passwd"), 0o777),
            host.set_owner(Path::new("/etc/passwd"), Some(1), None),
            host.set_times(Path::new("/etc/passwd"), None, None),
            host.set_xattr(Path::new("/etc/passwd"), "user.x", Some(b"x")),
            host.signal(1, 9),
            host.start(&Spec::argv(["date"])).map(drop),
        ] {
            assert!(refused.is_err());
        }
        assert_eq!(host.refused().as_deref(), Some("date -u"));
        assert_eq!(machine.snapshot(), before);
    }
}
