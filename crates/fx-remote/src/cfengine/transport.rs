//! Bytes to and from a server, plain or inside TLS.

use std::io::{Read, Write};
use std::net::TcpStream;

use fx_wire::cfengine::{Frame, Frames, LARGEST, encode};
use rustls::{ClientConnection, StreamOwned};

use super::Lost;

/// A record of TLS holds as much: the original reads a transaction from one record.
const RECORD: usize = 16 << 10;

pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// A connection with what came over it and is not read yet.
pub(super) struct Transport {
    stream: Stream,
    frames: Frames,
    buffer: Vec<u8>,
    /// Whole transactions that go out together.
    out: Vec<u8>,
}

impl Transport {
    pub(super) fn new(stream: Stream) -> Transport {
        let buffer = vec![0; RECORD];
        Transport { stream, frames: Frames::default(), buffer, out: Vec::new() }
    }

    /// Our own address, as the server sees it.
    pub(super) fn local_address(&self) -> String {
        let socket = match &self.stream {
            Stream::Plain(stream) => stream,
            Stream::Tls(stream) => &stream.sock,
        };
        socket.local_addr().map(|address| address.ip().to_string()).unwrap_or_default()
    }

    fn receive(&mut self) -> Result<(), Lost> {
        let count = loop {
            let read = match &mut self.stream {
                Stream::Plain(stream) => stream.read(&mut self.buffer),
                Stream::Tls(stream) => stream.read(&mut self.buffer),
            };
            match read {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if count == 0 {
            return Err(Lost::HungUp);
        }
        self.frames.feed(&self.buffer[..count]);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Lost> {
        match &mut self.stream {
            Stream::Plain(stream) => stream.write_all(bytes)?,
            Stream::Tls(stream) => {
                stream.write_all(bytes)?;
                stream.flush()?;
            }
        }
        Ok(())
    }

    /// Sends a line without a header.
    pub(super) fn say(&mut self, line: &str) -> Result<(), Lost> {
        self.write(line.as_bytes())
    }

    /// The next line without a header.
    pub(super) fn line(&mut self) -> Result<Vec<u8>, Lost> {
        loop {
            let waiting = self.frames.peek();
            if let Some(end) = waiting.iter().position(|byte| *byte == b'\n') {
                return Ok(self.frames.raw(end + 1).to_vec());
            }
            if waiting.len() > 1023 {
                return Err(Lost::Broken("a line without an end".into()));
            }
            self.receive()?;
        }
    }

    /// Whether another transaction goes into the record under way.
    pub(super) fn has_room(&self, payload: &[u8]) -> bool {
        self.out.len() + payload.len() + 8 <= RECORD
    }

    /// Adds a transaction to what is sent next.
    pub(super) fn queue(&mut self, payload: &[u8]) -> Result<(), Lost> {
        if payload.len() > LARGEST {
            return Err(Lost::Broken("a request is too long".into()));
        }
        encode(false, payload, &mut self.out);
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), Lost> {
        let out = std::mem::take(&mut self.out);
        if out.is_empty() { Ok(()) } else { self.write(&out) }
    }

    pub(super) fn send(&mut self, payload: &[u8]) -> Result<(), Lost> {
        self.queue(payload)?;
        self.flush()
    }

    pub(super) fn frame(&mut self) -> Result<Frame, Lost> {
        loop {
            match self.frames.next() {
                Ok(Some(frame)) => return Ok(frame),
                Ok(None) => self.receive()?,
                Err(broken) => return Err(Lost::Broken(broken.to_string())),
            }
        }
    }

    /// At least so many bytes, not taken.
    pub(super) fn peek(&mut self, least: usize) -> Result<&[u8], Lost> {
        while self.frames.waiting() < least {
            self.receive()?;
        }
        Ok(self.frames.peek())
    }

    /// Some bytes without a frame, at most so many.
    pub(super) fn raw(&mut self, most: usize) -> Result<&[u8], Lost> {
        if self.frames.waiting() == 0 {
            self.receive()?;
        }
        Ok(self.frames.raw(most))
    }

    /// Ends the connection as the other side expects it.
    pub(super) fn close(&mut self) {
        if let Stream::Tls(stream) = &mut self.stream {
            stream.conn.send_close_notify();
            // Who is gone already needs no farewell.
            let _gone = stream.flush();
        }
    }
}
