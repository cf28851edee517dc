//! A child that is talked to line by line, as module protocols want it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child as StdChild, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};

use super::strays::Awaited;
use super::{OsHost, child};
use crate::{Child, Exit, HostError, Result, Spec};

/// A running child with piped input and output. Dropping it ends its process group.
struct Conversation {
    child: StdChild,
    _awaited: Awaited,
    display: String,
    input: Option<OwnedFd>,
    output: OwnedFd,
    pending: Vec<u8>,
    at_end: bool,
    exit: Option<Exit>,
}

/// Starts a child to talk to. Standard error goes where ours goes unless merged.
pub(super) fn start(host: &OsHost, spec: &Spec) -> Result<Box<dyn Child>> {
    crate::Edits::settle(host)?;
    let mut prepared = child::prepare(host, spec, None)?;
    let command = &mut prepared.command;
    let fail = |error: io::Error| command_error(spec.display(), &error);
    let (output, theirs) = io::pipe().map_err(fail)?;
    if spec.merge_stderr {
        command.stderr(theirs.try_clone().map_err(fail)?);
    }
    command.process_group(0).stdin(Stdio::piped()).stdout(theirs);
    let (mut child, awaited) = child::spawn(spec, command).map_err(fail)?;
    drop(prepared);
    let input = child.stdin.take().map(OwnedFd::from);
    let display = spec.display();
    Ok(Box::new(Conversation {
        child,
        _awaited: awaited,
        display,
        input,
        output: output.into(),
        pending: Vec::new(),
        at_end: false,
        exit: None,
    }))
}

fn command_error(program: String, error: &io::Error) -> HostError {
    HostError::Command { program, reason: error.to_string(), kind: error.kind() }
}

impl Conversation {
    fn fail(&self, error: impl Into<io::Error>) -> HostError {
        command_error(self.display.clone(), &error.into())
    }

    fn take_line(&mut self) -> Option<Vec<u8>> {
        let end = self.pending.iter().position(|byte| *byte == b'\n')?;
        let mut line: Vec<u8> = self.pending.drain(..=end).collect();
        line.pop();
        Some(line)
    }

    /// Waits until there is something to read; whether there was before the deadline.
    fn readable(&self, deadline: Instant) -> Result<bool> {
        loop {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                return Ok(false);
            };
            let mut fds = [PollFd::from_borrowed_fd(self.output.as_fd(), PollFlags::IN)];
            let left =
                Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            match poll(&mut fds, Some(&left)) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(self.fail(errno)),
            }
        }
    }
}

impl Child for Conversation {
    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some(input) = &self.input else { return Err(self.fail(io::ErrorKind::BrokenPipe)) };
            match rustix::io::write(input, rest) {
                Ok(count) => rest = &rest[count..],
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(self.fail(errno)),
            }
        }
        Ok(())
    }

    fn close_input(&mut self) {
        self.input = None;
    }

    fn next_line(&mut self, limit: Duration) -> Result<Option<Vec<u8>>> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(line) = self.take_line() {
                return Ok(Some(line));
            }
            if self.at_end {
                let rest = std::mem::take(&mut self.pending);
                return Ok(Some(rest).filter(|rest| !rest.is_empty()));
            }
            if !self.readable(deadline)? {
                return Err(self.fail(io::ErrorKind::TimedOut));
            }
            let mut buffer = [0; 16 * 1024];
            match rustix::io::read(&self.output, &mut buffer) {
                Ok(0) => self.at_end = true,
                Ok(count) => self.pending.extend_from_slice(&buffer[..count]),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(self.fail(errno)),
            }
        }
    }

    fn wait(&mut self) -> Result<Exit> {
        self.input = None;
        if self.exit.is_none() {
            let status = self.child.wait().map_err(|error| self.fail(error))?;
            self.exit = Some(child::exit_of(status));
        }
        Ok(self.exit.expect("the exit was just stored"))
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        if self.exit.is_none() {
            let _ = rustix::process::kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}
