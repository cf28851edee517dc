//! A process that compiles, as its server sees it.

use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fx_fleet::{Fleet, Query};
use fx_puppet::Compilation;
use serde_json::Value;

use super::frames::{self, Kind};
use super::workers::Log;

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
    pub(super) fn start(limit: Duration) -> std::io::Result<Process> {
        let (line, other) = UnixStream::pair()?;
        // What code prints belongs to the log; the socket is for us alone.
        let printed: OwnedFd = std::io::stderr().as_fd().try_clone_to_owned()?;
        // The running program, also where its file was replaced since.
        let child = Command::new("/proc/self/exe")
            .arg0("fixpoint")
            .arg("serve-compiler")
            .arg(limit.as_secs().to_string())
            // A terminal's signals are for the server: it lets compilers finish.
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(other)))
            .stdout(Stdio::from(printed))
            .spawn()?;
        Ok(Process { child, line })
    }

    /// Has a task done. Queries meanwhile are answered from the store, where there is one.
    pub(super) fn run(
        &mut self,
        job: &[u8],
        limit: Duration,
        store: Option<&Fleet>,
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
                    let (kind, answer) = match answer(store, &bytes) {
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

fn answer(store: Option<&Fleet>, query: &[u8]) -> Result<Value, String> {
    let store = store.ok_or("exported resources are turned off (storeconfigs)")?;
    let query: Value = serde_json::from_slice(query).map_err(|error| error.to_string())?;
    let query = match &query {
        Value::String(text) => Query::parse(text, None),
        tree => Query::read(tree, None),
    };
    let query = query.map_err(|error| error.to_string())?;
    let found = store.query(&query, false).map_err(|error| error.to_string())?;
    Ok(Value::Array(found.rows.into_iter().map(Value::Object).collect()))
}
