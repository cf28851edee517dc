//! What goes out after the head of an answer: bytes, or a file that is read as fast as the client
//! takes it.

use std::future::Future;
use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::task::JoinHandle;

/// Content of a known length that need not fit into memory.
pub struct Content {
    pub length: u64,
    pub reader: Box<dyn Read + Send>,
}

impl Content {
    pub fn bytes(bytes: Vec<u8>) -> Content {
        Content { length: bytes.len() as u64, reader: Box::new(std::io::Cursor::new(bytes)) }
    }
}

impl std::fmt::Debug for Content {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Content({})", self.length)
    }
}

/// So much of a file is in memory for each client.
const PIECE: u64 = 128 << 10;

type Piece = (Box<dyn Read + Send>, std::io::Result<Vec<u8>>);

enum State {
    Ready(Box<dyn Read + Send>),
    /// A thread for blocking work reads; none is held while the client takes its time.
    Reading(JoinHandle<Piece>),
    Ended,
}

/// The body of an answer.
pub(crate) enum Outgoing {
    Whole(Option<Bytes>),
    Poured { left: u64, state: PouredState },
}

/// How far a file has been read.
pub(crate) struct PouredState(State);

impl Outgoing {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Outgoing {
        Outgoing::Whole(Some(bytes.into()).filter(|bytes: &Bytes| !bytes.is_empty()))
    }

    pub(crate) fn poured(content: Content) -> Outgoing {
        let state = PouredState(State::Ready(content.reader));
        Outgoing::Poured { left: content.length, state }
    }
}

fn piece(mut reader: Box<dyn Read + Send>, most: u64) -> Piece {
    let mut bytes = Vec::new();
    let read = reader.by_ref().take(most).read_to_end(&mut bytes);
    (reader, read.map(|_| bytes))
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let (left, state) = match &mut *self {
            Outgoing::Whole(bytes) => {
                return Poll::Ready(bytes.take().map(|all| Ok(Frame::data(all))));
            }
            Outgoing::Poured { left, state } => (left, &mut state.0),
        };
        loop {
            match std::mem::replace(state, State::Ended) {
                State::Ended => return Poll::Ready(None),
                State::Ready(_) if *left == 0 => return Poll::Ready(None),
                State::Ready(reader) => {
                    let most = PIECE.min(*left);
                    *state =
                        State::Reading(tokio::task::spawn_blocking(move || piece(reader, most)));
                }
                State::Reading(mut reading) => {
                    let Poll::Ready(read) = Pin::new(&mut reading).poll(context) else {
                        *state = State::Reading(reading);
                        return Poll::Pending;
                    };
                    let (reader, bytes) = read.map_err(std::io::Error::other)?;
                    let bytes = bytes?;
                    if bytes.is_empty() {
                        // The length was promised: a client must not take a part for the whole.
                        let text = "the file became shorter while it was sent";
                        return Poll::Ready(Some(Err(std::io::Error::other(text))));
                    }
                    *left = left.saturating_sub(bytes.len() as u64);
                    *state = State::Ready(reader);
                    return Poll::Ready(Some(Ok(Frame::data(bytes.into()))));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Outgoing::Whole(bytes) => bytes.is_none(),
            Outgoing::Poured { left, .. } => *left == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Outgoing::Whole(bytes) => bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
            Outgoing::Poured { left, .. } => *left,
        })
    }
}
