//! A PostgreSQL of the distribution, for tests: its own cluster on a socket in a scratch
//! directory, shared by the tests that run at the same time.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]
#![allow(clippy::disallowed_methods, reason = "starts the database")]
#![allow(clippy::print_stderr, reason = "says what was left out")]
#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

pub(crate) struct Cluster {
    dir: tempfile::TempDir,
    server: Child,
    databases: AtomicU64,
    /// Files beside the data.
    more: Option<tempfile::TempDir>,
}

static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());

/// The cluster; nothing where PostgreSQL is not installed, which is said.
pub(crate) fn cluster() -> Option<Arc<Cluster>> {
    let mut shared = SHARED.lock().unwrap();
    if let Some(running) = shared.upgrade() {
        return Some(running);
    }
    let Some(programs) = programs() else {
        eprintln!("SKIPPED: PostgreSQL is not installed; nothing was tested over it");
        return None;
    };
    let started = Arc::new(start(&programs, &[]));
    *shared = Arc::downgrade(&started);
    Some(started)
}

/// A cluster of its own on a port of this machine; with a certificate and its key it takes secured
/// connections alone there.
pub(crate) fn on_port(identity: Option<(&Path, &Path)>) -> Option<(Cluster, u16)> {
    let programs = programs()?;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut more = vec![format!("port={port}"), "listen_addresses=127.0.0.1".to_owned()];
    let own = tempfile::tempdir().unwrap();
    if let Some((certificate, key)) = identity {
        more.push("ssl=on".to_owned());
        for (name, setting, path) in
            [("cert", "ssl_cert_file", certificate), ("key", "ssl_key_file", key)]
        {
            let copy = own.path().join(name);
            std::fs::copy(path, &copy).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&copy, mode).unwrap();
            more.push(format!("{setting}={}", copy.display()));
        }
        let hba = own.path().join("hba");
        std::fs::write(&hba, "local all all trust\nhostssl all all 127.0.0.1/32 trust\n").unwrap();
        more.push(format!("hba_file={}", hba.display()));
    }
    if is_root() {
        let to = Command::new("chown").args(["-R", "postgres"]).arg(own.path()).status();
        assert!(to.unwrap().success());
    }
    let mut cluster = start(&programs, &more);
    cluster.more = Some(own);
    Some((cluster, port))
}

fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<PathBuf> =
        versions.flatten().map(|version| version.path().join("bin")).collect();
    found.retain(|dir| dir.join("initdb").exists() && dir.join("postgres").exists());
    found.sort();
    found.pop()
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self")
        .is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0)
}

/// A command of the database's user: PostgreSQL does not run as root.
fn command(program: &Path) -> Command {
    let mut command = if is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
        command.arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn start(programs: &Path, more: &[String]) -> Cluster {
    let dir = tempfile::tempdir().unwrap();
    if is_root() {
        let to = Command::new("chown").arg("postgres").arg(dir.path()).status();
        assert!(to.unwrap().success());
    }
    let data = dir.path().join("data");
    let made = command(&programs.join("initdb"))
        .args(["-A", "trust", "-U", "fixpoint", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
        .arg(&data)
        .status();
    assert!(made.unwrap().success(), "initdb");
    let log = std::fs::File::create(dir.path().join("log")).unwrap();
    let server = command(&programs.join("postgres"))
        .arg("-D")
        .arg(&data)
        .args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200", "-k"])
        .arg(dir.path())
        .args(more.iter().flat_map(|setting| ["-c", setting.as_str()]))
        .stderr(log)
        .spawn()
        .unwrap();
    let cluster = Cluster { dir, server, databases: AtomicU64::new(0), more: None };
    let begun = std::time::Instant::now();
    let port = more.iter().find_map(|setting| setting.strip_prefix("port="));
    let url = cluster.url("postgres") + &port.map_or(String::new(), |at| format!("&port={at}"));
    while fx_fleet::Fleet::postgres(&url).is_err() {
        assert!(begun.elapsed().as_secs() < 120, "PostgreSQL does not start");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    cluster
}

impl Cluster {
    fn url(&self, database: &str) -> String {
        format!("postgresql:///{database}?host={}&user=fixpoint", self.dir.path().display())
    }

    /// The address of a new, empty database.
    pub(crate) fn database(&self) -> String {
        let name = format!("test{}", self.databases.fetch_add(1, Ordering::SeqCst));
        let made = Command::new("createdb")
            .args(["-U", "fixpoint", "-h"])
            .arg(self.dir.path())
            .arg(&name)
            .status();
        assert!(made.unwrap().success(), "createdb");
        self.url(&name)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
