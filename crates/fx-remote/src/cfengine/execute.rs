//! A run of a server's own agent, asked for over a connection.

use fx_wire::cfengine::{Request, TERMINATOR};

use super::Lost;
use super::connection::Connection;

/// What stands before the exit status of a command.
const STATUS: &[u8] = b"(exit code: ";

/// A line of what the server says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The command printed it.
    Output(String),
    /// The server refuses something.
    Refusal(String),
    /// Anything else.
    Note(String),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// The exit status of the command, if it ran.
    pub code: Option<i32>,
}

impl Connection {
    /// Asks for a run with arguments, if one of the classes is defined there.
    pub fn execute(
        &mut self,
        arguments: &str,
        classes: &[String],
        hear: &mut dyn FnMut(Said),
    ) -> Result<Ending, Lost> {
        let request = Request::Execute { arguments: arguments.as_bytes().to_vec() };
        self.transport.send(&request.payload())?;
        for class in classes {
            self.transport.send(class.as_bytes())?;
        }
        self.transport.send(TERMINATOR)?;
        let mut ending = Ending::default();
        loop {
            let frame = match self.transport.frame() {
                Ok(frame) => frame,
                Err(Lost::HungUp) => return Ok(ending),
                Err(lost) => return Err(lost),
            };
            let end = frame.payload.iter().position(|byte| *byte == 0);
            let payload = &frame.payload[..end.unwrap_or(frame.payload.len())];
            if payload == TERMINATOR {
                return Ok(ending);
            }
            for line in payload.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let line = String::from_utf8_lossy(line).into_owned();
                let code = line.as_bytes().strip_prefix(STATUS);
                if let Some(code) = code.and_then(|rest| rest.strip_suffix(b")")) {
                    ending.code = String::from_utf8_lossy(code).parse().ok();
                }
                hear(match (line.strip_prefix("> "), line.strip_prefix("BAD:")) {
                    (Some(output), _) => Said::Output(output.to_owned()),
                    (None, Some(_)) => Said::Refusal(line),
                    (None, None) => Said::Note(line),
                });
            }
        }
    }
}
