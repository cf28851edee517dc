//! What the daemons of CFEngine have in common: into the background, and a file with their number.

use std::path::PathBuf;

use fx_engine::Level;
use fx_host::{Edits, OsHost, WriteOptions};

use super::tools::{Call, Log};

/// Whether the caller wants to see what a daemon does.
pub(super) fn in_foreground(call: &Call) -> bool {
    call.has("no-fork") || call.log.0 >= Level::Verbose
}

/// Leaves the caller behind, unless he wants to see; the code to end with is an error.
pub(super) fn into_background(call: &Call) -> Result<(), u8> {
    if in_foreground(call) {
        return Ok(());
    }
    match fx_host::into_background(&mut std::io::stdout()) {
        Ok(None) => Ok(()),
        Ok(Some(code)) => Err(code),
        Err(error) => {
            call.log.error(&format!("Could not go into the background: {error}"));
            Err(1)
        }
    }
}

/// The file in which others find the number of a daemon.
pub(super) struct PidFile(PathBuf);

impl PidFile {
    pub(super) fn of(pids: &str, daemon: &str) -> PidFile {
        PidFile(PathBuf::from(format!("{pids}/{daemon}.pid")))
    }

    /// The number that is in it.
    pub(super) fn read(&self, host: &OsHost) -> Option<i32> {
        let bytes = fx_host::Files::read(host, &self.0).ok()?;
        String::from_utf8_lossy(&bytes).trim().parse().ok()
    }

    /// Writes the number of this process and lets the caller's terminal go.
    pub(super) fn begin(&self, host: &OsHost, log: Log) {
        let options = WriteOptions { mode: Some(0o644), ..WriteOptions::default() };
        let text = format!("{}\n", std::process::id());
        let written = host.write(&self.0, text.as_bytes(), &options).and_then(|()| host.settle());
        if let Err(error) = written {
            log.error(&error.to_string());
        }
        if let Err(error) = fx_host::detach() {
            log.error(&error.to_string());
        }
    }

    /// Who is gone leaves no number behind; that of a successor, who may have begun meanwhile, stays.
    pub(super) fn end(&self, host: &OsHost) {
        if self.read(host) == i32::try_from(std::process::id()).ok() {
            let _gone = host.remove_file(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_successor_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = PidFile(dir.path().join("cf-serverd.pid"));
        let host = OsHost::new();
        for (number, stays) in [(std::process::id() + 1, true), (std::process::id(), false)] {
            let text = format!("{number}\n");
            host.write(&file.0, text.as_bytes(), &WriteOptions::default()).expect("a file");
            host.settle().expect("a file in its place");
            file.end(&host);
            assert_eq!(file.0.exists(), stays, "{number}");
        }
    }
}
