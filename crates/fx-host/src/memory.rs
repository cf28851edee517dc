//! A fake machine for tests: files, accounts, commands, clock and environment in memory.
//!
//! It behaves as the real one does where resources can tell, including permissions for a
//! caller that is not root. It has no network beyond scripted answers, and its commands
//! are answers from a script. Nothing here touches the outside.

mod accounts;
mod commands;
mod fault;
mod files;
mod in_place;
mod snapshot;
mod tree;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use crate::{
    Clock, Edits, Env, FsSpace, HostError, Interface, Neighbour, Net, Operation, Request, Requests,
    Response, Result, Route, Time, Uname, WriteOptions,
};

pub use commands::Reply;
pub use fault::FaultOn;

use commands::Script;
use fault::Faults;
use tree::{Body, Last, Tree};

/// The moment the fake clock starts at: 2026-01-01T00:00:00Z.
const START: Time = Time { secs: 1_767_225_600, nanos: 0 };

struct State {
    tree: Tree,
    faults: Faults,
    /// What was requested of files, in order.
    requests: Vec<(Operation, PathBuf)>,
    script: Script,
    now: Time,
    monotonic: Duration,
    /// How far each reading of the clock moves it.
    tick: Duration,
    uid: u32,
    gid: u32,
    cwd: PathBuf,
    env: BTreeMap<OsString, OsString>,
    uname: Uname,
    space: FsSpace,
    random: u64,
    cpus: usize,
    http: BTreeMap<String, Response>,
    interfaces: Vec<Interface>,
    routes: Vec<Route>,
    neighbours: Vec<Neighbour>,
    names: BTreeMap<String, Vec<IpAddr>>,
}

/// A machine in memory. Starts with an empty root directory and runs as root.
pub struct MemoryHost {
    state: Rc<RefCell<State>>,
}

impl Default for MemoryHost {
    fn default() -> MemoryHost {
        MemoryHost::new()
    }
}

impl MemoryHost {
    /// An empty machine: `/` alone, running as root, `PATH` set, the clock at the start
    /// of 2026.
    pub fn new() -> MemoryHost {
        let uname = Uname {
            sysname: "Linux".into(),
            nodename: "fake".into(),
            release: "6.1.0".into(),
            version: "#1 SMP".into(),
            machine: "x86_64".into(),
        };
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        let state = State {
            tree: Tree::new(),
            faults: Faults::default(),
            requests: Vec::new(),
            script: Script::default(),
            now: START,
            monotonic: Duration::ZERO,
            tick: Duration::ZERO,
            uid: 0,
            gid: 0,
            cwd: "/".into(),
            env: BTreeMap::from([("PATH".into(), path.into())]),
            uname,
            space: FsSpace {
                total: 1 << 40,
                free: 1 << 39,
                available: 1 << 39,
                inodes: 1 << 20,
                inodes_free: 1 << 19,
            },
            random: 0x9e37_79b9_7f4a_7c15,
            cpus: 2,
            http: BTreeMap::new(),
            interfaces: Vec::new(),
            routes: Vec::new(),
            neighbours: Vec::new(),
            names: BTreeMap::new(),
        };
        MemoryHost { state: Rc::new(RefCell::new(state)) }
    }

    /// A small Linux machine: the usual directories, root and nobody as accounts.
    pub fn linux() -> MemoryHost {
        let host = MemoryHost::new();
        for dir in ["/bin", "/etc", "/proc", "/root", "/sbin", "/usr/bin", "/usr/sbin"] {
            host.put_dir(dir, 0o755);
        }
        for dir in ["/home", "/run", "/var/lib", "/var/log", "/var/spool", "/usr/local/bin"] {
            host.put_dir(dir, 0o755);
        }
        host.put_dir("/tmp", 0o1777);
        host.put(
            "/etc/passwd",
            "root:x:0:0:root:/root:/bin/bash\n\
             daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n\
             nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
        );
        host.put("/etc/group", "root:x:0:\ndaemon:x:1:\nadm:x:4:\nnogroup:x:65534:\n");
        host
    }

    /// Puts a file with mode 0644 owned by root, with the directories above it.
    pub fn put(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        self.put_mode(path, content, 0o644);
    }

    /// Puts a file with this mode owned by root, with the directories above it.
    pub fn put_mode(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>, mode: u32) {
        let path = path.as_ref();
        if let Some(parent) = path.parent() {
            self.put_dir(parent, 0o755);
        }
        let options = WriteOptions {
            mode: Some(mode),
            uid: Some(0),
            gid: Some(0),
            ..WriteOptions::default()
        };
        self.setup(|host| host.write(path, content.as_ref(), &options));
    }

    /// Puts an empty program file, so that it is found along `PATH`.
    pub fn put_program(&self, path: impl AsRef<Path>) {
        self.put_mode(path, "", 0o755);
    }

    /// Puts a directory, with those above it; one that is there keeps what it has.
    pub fn put_dir(&self, path: impl AsRef<Path>, mode: u32) {
        let mut above = Vec::new();
        let mut path = path.as_ref();
        while self.state.borrow().find(path, Last::Follow).is_err() {
            above.push(path);
            let Some(parent) = path.parent() else { break };
            path = parent;
        }
        let last = above.first().copied();
        for dir in above.into_iter().rev() {
            let mode = if Some(dir) == last { mode } else { 0o755 };
            self.setup(|host| host.make_dir(dir, mode));
        }
    }

    /// Puts a symbolic link.
    pub fn put_link(&self, path: impl AsRef<Path>, target: impl AsRef<Path>) {
        let path = path.as_ref();
        if let Some(parent) = path.parent() {
            self.put_dir(parent, 0o755);
        }
        self.setup(|host| host.symlink(target.as_ref(), path));
    }

    // Prepares the machine as root and without faults, whatever the test has set.
    fn setup(&self, work: impl FnOnce(&MemoryHost) -> Result<()>) {
        let (faults, uid, gid) = {
            let mut state = self.state.borrow_mut();
            let (uid, gid) = (state.uid, state.gid);
            (state.uid, state.gid) = (0, 0);
            (std::mem::take(&mut state.faults), uid, gid)
        };
        let done = work(self);
        let mut state = self.state.borrow_mut();
        state.faults = faults;
        (state.uid, state.gid) = (uid, gid);
        drop(state);
        if let Err(error) = done {
            panic!("the fake machine cannot be set up: {error}");
        }
    }

    // Removes a whole tree, as when a process leaves /proc.
    fn forget(&self, path: &Path) {
        let mut todo = vec![path.to_owned()];
        let mut dirs = Vec::new();
        while let Some(path) = todo.pop() {
            let mut state = self.state.borrow_mut();
            let Ok(ino) = state.find(&path, Last::Keep) else { continue };
            if let Some(names) = state.tree.dir(ino) {
                todo.extend(names.keys().map(|name| path.join(name)));
                dirs.push(path);
            } else if let (Some(parent), Some(name)) = (path.parent(), path.file_name())
                && let Ok(parent) = state.find(parent, Last::Follow)
            {
                let now = state.now;
                state.tree.leave(parent, name, now);
            }
        }
        for dir in dirs.into_iter().rev() {
            self.setup(|host| host.remove_dir(&dir));
        }
    }

    /// The n-th request of this kind from now on, counted from one, fails with an errno.
    pub fn fail_nth(&self, on: FaultOn, nth: u64, errno: i32) {
        self.state.borrow_mut().faults.plant(on, nth, errno, false);
    }

    /// The n-th request of this kind from now on and all after it fail with an errno.
    pub fn fail_from(&self, on: FaultOn, nth: u64, errno: i32) {
        self.state.borrow_mut().faults.plant(on, nth, errno, true);
    }

    /// Takes all planted faults away.
    pub fn heal(&self) {
        self.state.borrow_mut().faults.clear();
    }

    /// How many requests a planted fault has made fail so far.
    pub fn faults_hit(&self) -> u64 {
        self.state.borrow().faults.hits()
    }

    /// Takes what was requested of files so far, in order, such as `stat /etc/x`.
    pub fn take_requests(&self) -> Vec<String> {
        let requests = std::mem::take(&mut self.state.borrow_mut().requests);
        requests
            .iter()
            .map(|(operation, path)| format!("{} {}", operation.verb(), path.display()))
            .collect()
    }

    /// Sets the wall clock.
    pub fn set_now(&self, now: Time) {
        self.state.borrow_mut().now = now;
    }

    /// Lets time pass on both clocks.
    pub fn advance(&self, by: Duration) {
        let mut state = self.state.borrow_mut();
        state.monotonic += by;
        let nanos = state.now.nanos + by.subsec_nanos();
        state.now.secs += by.as_secs() as i64 + i64::from(nanos / 1_000_000_000);
        state.now.nanos = nanos % 1_000_000_000;
    }

    /// Lets the clock move by this much each time it is read, so that limits in time are
    /// limits in work, the same in every run.
    pub fn tick(&self, by: Duration) {
        self.state.borrow_mut().tick = by;
    }

    /// Runs as this user and group from now on.
    pub fn become_user(&self, uid: u32, gid: u32) {
        let mut state = self.state.borrow_mut();
        (state.uid, state.gid) = (uid, gid);
    }

    /// Sets an environment variable of our own process.
    pub fn set_var(&self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.state.borrow_mut().env.insert(name.into(), value.into());
    }

    /// Sets the directory we were started in.
    pub fn set_cwd(&self, cwd: impl Into<PathBuf>) {
        self.state.borrow_mut().cwd = cwd.into();
    }

    /// Sets what uname says.
    pub fn set_uname(&self, uname: Uname) {
        self.state.borrow_mut().uname = uname;
    }

    /// Sets the room every file system has.
    pub fn set_space(&self, space: FsSpace) {
        self.state.borrow_mut().space = space;
    }

    /// Sets the number of processors.
    pub fn set_cpus(&self, cpus: usize) {
        self.state.borrow_mut().cpus = cpus;
    }

    /// Scripts the answer to a request for this address.
    pub fn on_url(&self, url: impl Into<String>, status: u16, body: impl Into<Vec<u8>>) {
        self.on_exchange(url, Response { status, headers: Vec::new(), body: body.into() });
    }

    /// Scripts the whole answer to a request for this address, header fields included.
    pub fn on_exchange(&self, url: impl Into<String>, response: Response) {
        self.state.borrow_mut().http.insert(url.into(), response);
    }

    /// Sets the network interfaces.
    pub fn set_interfaces(&self, interfaces: Vec<Interface>) {
        self.state.borrow_mut().interfaces = interfaces;
    }

    /// Gives the machine routes and neighbours.
    pub fn set_routes(&self, routes: Vec<Route>, neighbours: Vec<Neighbour>) {
        let mut state = self.state.borrow_mut();
        state.routes = routes;
        state.neighbours = neighbours;
    }

    /// Sets the addresses of a host name.
    pub fn set_addresses(&self, name: impl Into<String>, addresses: Vec<IpAddr>) {
        self.state.borrow_mut().names.insert(name.into(), addresses);
    }

    /// The content of a file as text, for assertions; empty when it is not there.
    pub fn text(&self, path: impl AsRef<Path>) -> String {
        let state = self.state.borrow();
        let Ok(ino) = state.find(path.as_ref(), Last::Follow) else { return String::new() };
        match &state.tree.get(ino).body {
            Body::File(content) => String::from_utf8_lossy(content).into_owned(),
            _ => String::new(),
        }
    }
}

impl Clock for MemoryHost {
    fn now(&self) -> Time {
        self.state.borrow().now
    }

    fn monotonic(&self) -> Duration {
        let mut state = self.state.borrow_mut();
        let now = state.monotonic;
        state.monotonic = now + state.tick;
        now
    }

    fn sleep(&self, duration: Duration) {
        self.advance(duration);
    }
}

impl Env for MemoryHost {
    fn var(&self, name: &OsStr) -> Option<OsString> {
        self.state.borrow().env.get(name).cloned()
    }

    fn vars(&self) -> Vec<(OsString, OsString)> {
        let state = self.state.borrow();
        state.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn cwd(&self) -> PathBuf {
        self.state.borrow().cwd.clone()
    }

    fn euid(&self) -> u32 {
        self.state.borrow().uid
    }

    fn egid(&self) -> u32 {
        self.state.borrow().gid
    }

    fn pid(&self) -> u32 {
        4711
    }

    fn uname(&self) -> Uname {
        self.state.borrow().uname.clone()
    }

    // A small generator with a fixed seed: tests see the same names every time.
    fn random(&self, buffer: &mut [u8]) {
        let mut state = self.state.borrow_mut();
        for byte in buffer {
            state.random ^= state.random << 13;
            state.random ^= state.random >> 7;
            state.random ^= state.random << 17;
            *byte = (state.random >> 32) as u8;
        }
    }

    fn cpus(&self) -> usize {
        self.state.borrow().cpus
    }
}

impl Net for MemoryHost {
    fn fetch(&self, request: &Request) -> Result<Response> {
        self.http(request)
    }

    fn interfaces(&self) -> Result<Vec<Interface>> {
        Ok(self.state.borrow().interfaces.clone())
    }

    fn routes(&self) -> Result<Vec<Route>> {
        Ok(self.state.borrow().routes.clone())
    }

    fn neighbours(&self) -> Result<Vec<Neighbour>> {
        Ok(self.state.borrow().neighbours.clone())
    }

    fn resolve(&self, name: &str) -> Result<Vec<IpAddr>> {
        Ok(self.state.borrow().names.get(name).cloned().unwrap_or_default())
    }

    fn reverse(&self, address: IpAddr) -> Result<Option<String>> {
        let state = self.state.borrow();
        let found = state.names.iter().find(|(_, addresses)| addresses.contains(&address));
        Ok(found.map(|(name, _)| name.clone()))
    }
}

impl Requests for MemoryHost {
    fn http(&self, request: &Request) -> Result<Response> {
        let state = self.state.borrow();
        state.http.get(&request.url).cloned().ok_or_else(|| HostError::Net {
            url: request.url.clone(),
            reason: "connection refused".into(),
        })
    }

    fn dial(&self, address: SocketAddr, _: Duration) -> Result<TcpStream> {
        let refused = std::io::Error::from_raw_os_error(libc::ECONNREFUSED);
        Err(HostError::io("connect to", address.to_string(), refused))
    }

    fn ask(&self, address: SocketAddr, _: &[u8], _: usize, _: Duration) -> Result<Vec<u8>> {
        let refused = std::io::Error::from_raw_os_error(libc::ECONNREFUSED);
        Err(HostError::io("connect to", address.to_string(), refused))
    }
}

#[cfg(test)]
mod tests;
