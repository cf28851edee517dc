//! Starting and signalling processes: the thin side of commands.

use std::io;
use std::path::PathBuf;

use rustix::process::{Pid, Signal};

use super::{OsHost, child, conversation};
use crate::{Child, Commands, Ended, HostError, Line, Queries, Result, Spec};

impl Commands for OsHost {
    fn run_streaming(&self, spec: &Spec, on_line: &mut dyn FnMut(Line<'_>)) -> Result<Ended> {
        self.announce(spec);
        child::run(self, spec, on_line, None)
    }

    fn start(&self, spec: &Spec) -> Result<Box<dyn Child>> {
        self.announce(spec);
        conversation::start(self, spec)
    }

    fn signal(&self, pid: i32, signal: i32) -> Result<()> {
        let bad = || HostError::Command {
            program: format!("kill -{signal} {pid}"),
            reason: "no such signal or process number".into(),
            kind: io::ErrorKind::InvalidInput,
        };
        let target = Pid::from_raw(pid).ok_or_else(bad)?;
        let result = match Signal::from_named_raw(signal) {
            Some(signal) => rustix::process::kill_process(target, signal),
            None if signal == 0 => rustix::process::test_kill_process(target),
            None => return Err(bad()),
        };
        result.map_err(|errno| {
            let error: io::Error = errno.into();
            HostError::Command {
                program: format!("kill -{signal} {pid}"),
                reason: error.to_string(),
                kind: error.kind(),
            }
        })
    }
}

impl Queries for OsHost {
    fn find_program(&self, name: &str) -> Option<PathBuf> {
        child::find_program(name, std::env::var_os("PATH"))
    }

    fn query(&self, spec: &Spec) -> Result<Ended> {
        self.run(spec)
    }
}
