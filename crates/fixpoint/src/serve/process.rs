//! A process that compiles, as its server sees it.

use std::io::{BufRead, BufReader, ErrorKind, PipeReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fx_fleet::{Fleet, Query};
use fx_host::Sandbox;
use fx_puppet::Compilation;
use serde_json::Value;

use super::frames::{self, Kind};
use super::puppetdb::PuppetDb;
use super::workers::Log;

/// Where code is compiled, and so what it may do meanwhile.
#[derive(Clone, Default)]
pub(crate) enum Place {
    /// On the machine, as a server does it.
    #[default]
    Machine,
    /// On the machine, where it may only look.
    Looking,
    /// In a throw-away copy of the machine.
    Copy(Arc<Sandbox>),
}

/// The process ends with this.
pub(super) struct Process {
    child: Child,
    line: UnixStream,
}

/// Why there is no result.
pub(super) enum Lost {
    /// The compiler says so; it can be used again.
    Refused(String),
    /// The time is over.
    Late,
    /// It ended in the middle.
    Gone(String),
}

/// A compiler that is told to stop may need so long to end its commands.
const GRACE: Duration = Duration::from_secs(5);

impl Process {
    #[allow(clippy::disallowed_methods, reason = "our own program, which ends with us")]
    pub(super) fn start(limit: Duration, place: &Place, log: &Log) -> std::io::Result<Process> {
        let (line, other) = UnixStream::pair()?;
        // The running program, also where its file was replaced since.
        let mut command = match place {
            Place::Copy(_) => Command::new(std::env::current_exe()?),
            _ => Command::new("/proc/self/exe"),
        };
        command
            .arg0("fixpoint")
            .arg("serve-compiler")
            .arg(limit.as_secs().to_string())
            // It has one thread at work, whose memory the next catalog takes again.
            .env_remove(super::memory::AT_ONCE)
            // A terminal's signals are for the server: it lets compilers finish.
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(other)));
        let child = match place {
            Place::Copy(copy) => {
                let (printed, end) = std::io::pipe()?;
                command.stdout(end.try_clone()?).stderr(end);
                let log = Arc::clone(log);
                std::thread::Builder::new().spawn(move || hand_on(printed, &log))?;
                copy.spawn(&mut command)?
            }
            place => {
                // What code prints belongs to the log; the socket is for us alone.
                let printed: OwnedFd = std::io::stderr().as_fd().try_clone_to_owned()?;
                command.stdout(Stdio::from(printed));
                if matches!(place, Place::Looking) {
                    command.arg("--looking");
                }
                command.spawn()?
            }
        };
        Ok(Process { child, line })
    }

    /// Has a task done. Queries meanwhile are answered by who knows, where there is one.
    pub(super) fn run(
        &mut self,
        job: &[u8],
        limit: Duration,
        exports: Option<&Exports>,
        log: &Log,
    ) -> Result<Compilation, Lost> {
        let gone = |error: std::io::Error| Lost::Gone(error.to_string());
        let end = Instant::now() + limit + GRACE;
        frames::write(&mut self.line, Kind::Job, job).map_err(gone)?;
        let mut text = None;
        loop {
            match (self.next(end)?, text.take()) {
                ((Kind::Text, bytes), _) => text = Some(bytes),
                ((Kind::Exported, bytes), Some(made)) => {
                    let exported = serde_json::from_slice(&bytes);
                    let exported = exported.map_err(|error| Lost::Gone(error.to_string()))?;
                    let text = String::from_utf8(made).map_err(|_| Lost::Gone("no text".into()))?;
                    return Ok(Compilation { text, exported });
                }
                ((Kind::Failed, bytes), _) => {
                    return Err(Lost::Refused(String::from_utf8_lossy(&bytes).into_owned()));
                }
                ((Kind::Log, bytes), _) => log(&String::from_utf8_lossy(&bytes)),
                ((Kind::Query, bytes), _) => {
                    let (kind, answer) = match answer(exports, &bytes) {
                        Ok(rows) => (Kind::Found, rows.to_string()),
                        Err(why) => (Kind::Unanswered, why),
                    };
                    frames::write(&mut self.line, kind, answer.as_bytes()).map_err(gone)?;
                }
                _ => return Err(Lost::Gone("it speaks out of turn".into())),
            }
        }
    }

    fn next(&mut self, end: Instant) -> Result<(Kind, Vec<u8>), Lost> {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Lost::Late);
        }
        self.line.set_read_timeout(Some(left)).map_err(|error| Lost::Gone(error.to_string()))?;
        frames::read(&mut self.line).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Lost::Late,
            _ => Lost::Gone(error.to_string()),
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines that code in a copy prints. Their end is that of the process.
fn hand_on(printed: PipeReader, log: &Log) {
    for line in BufReader::new(printed).split(b'\n').map_while(Result::ok) {
        log(&String::from_utf8_lossy(&line));
    }
}

/// Who knows what nodes left.
#[derive(Clone)]
pub(crate) enum Exports {
    /// Our own store.
    Own(Fleet),
    /// The site's PuppetDB.
    PuppetDb(Arc<PuppetDb>),
}

impl Exports {
    /// The rows that a query finds.
    fn query(&self, query: &Value) -> Result<Value, String> {
        let store = match self {
            Exports::Own(store) => store,
            Exports::PuppetDb(puppetdb) => return puppetdb.query(query),
        };
        let query = match query {
            Value::String(text) => Query::parse(text, None),
            tree => Query::read(tree, None),
        };
        let query = query.map_err(|error| error.to_string())?;
        let found = store.query(&query, false).map_err(|error| error.to_string())?;
        Ok(Value::Array(found.rows.into_iter().map(Value::Object).collect()))
    }
}

fn answer(exports: Option<&Exports>, query: &[u8]) -> Result<Value, String> {
    let exports = exports.ok_or("exported resources are turned off (storeconfigs)")?;
    let query: Value = serde_json::from_slice(query).map_err(|error| error.to_string())?;
    exports.query(&query)
}
