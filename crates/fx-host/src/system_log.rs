//! The system's log: journald where it runs, else syslog on /dev/log.

use std::os::unix::net::UnixDatagram;

use crate::{HostError, Result};

/// How important a line is, as syslog counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of syslog(3)")]
pub enum Priority {
    Error = 3,
    Warning = 4,
    Notice = 5,
    Info = 6,
    Debug = 7,
}

/// Which of the two is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemLogKind {
    /// syslog(3) on /dev/log.
    Syslog,
    /// journald's own protocol.
    Journald,
}

/// A connection to the system's log.
#[derive(Debug)]
pub struct SystemLog {
    socket: UnixDatagram,
    kind: SystemLogKind,
    identifier: String,
}

impl SystemLog {
    /// Connects under a name that the lines will carry.
    pub fn open(kind: SystemLogKind, identifier: &str) -> Result<SystemLog> {
        let path = match kind {
            SystemLogKind::Syslog => "/dev/log",
            SystemLogKind::Journald => "/run/systemd/journal/socket",
        };
        SystemLog::open_at(path, kind, identifier)
    }

    fn open_at(path: &str, kind: SystemLogKind, identifier: &str) -> Result<SystemLog> {
        let socket =
            UnixDatagram::unbound().and_then(|socket| socket.connect(path).map(|()| socket));
        let socket = socket.map_err(|error| HostError::io("log to", path, error))?;
        Ok(SystemLog { socket, kind, identifier: identifier.to_owned() })
    }

    /// Sends one line. A full log is not worth stopping a run for.
    pub fn send(&self, priority: Priority, text: &str) {
        // A line break inside would start a line of somebody else's making.
        let text = text.replace(['\n', '\0'], " ");
        let level = priority as u8;
        let record = match self.kind {
            // Facility 3 is daemon.
            SystemLogKind::Syslog => {
                format!("<{}>{}[{}]: {text}", 3 * 8 + level, self.identifier, std::process::id())
            }
            SystemLogKind::Journald => {
                format!("PRIORITY={level}\nSYSLOG_IDENTIFIER={}\nMESSAGE={text}\n", self.identifier)
            }
        };
        let _ = self.socket.send(record.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_one_record() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let log = UnixDatagram::bind(&path).unwrap();
        let mut buffer = [0; 500];
        let mut got = |kind| {
            SystemLog::open_at(path.to_str().unwrap(), kind, "fixpoint")
                .unwrap()
                .send(Priority::Warning, "a\nb");
            let count = log.recv(&mut buffer).unwrap();
            String::from_utf8_lossy(&buffer[..count]).into_owned()
        };
        assert_eq!(
            got(SystemLogKind::Syslog),
            format!("<28>fixpoint[{}]: a b", std::process::id())
        );
        assert_eq!(
            got(SystemLogKind::Journald),
            "PRIORITY=4\nSYSLOG_IDENTIFIER=fixpoint\nMESSAGE=a b\n"
        );
    }
}
