//! Ending a connection while its client still sends.
//!
//! A socket that is closed with bytes unread resets the connection, and the reset takes with it a
//! reply that the client has not read yet. So what still comes is read and dropped for a while.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The time between two looks at what a client did.
const TURN: Duration = Duration::from_secs(1);
/// After so many looks that found nothing new it is left, and after so many in all.
const SILENT_TURNS: u32 = 5;
const TURNS: u32 = 30;
/// What a client may send after the last reply.
const MOST: usize = 16 << 20;

/// A stream that reads on after its own side ended, where a request was refused before its end.
pub(crate) struct Lingering<S> {
    stream: S,
    /// Set by who refuses a request whose body was not read to its end.
    refused: Arc<AtomicBool>,
    turn: Duration,
    waiting: Option<Waiting>,
    dropped: usize,
}

/// How long the client is waited for. Turns are counted, not the clock: where this machine stood
/// still for a while, the client could not send either.
struct Waiting {
    next: Pin<Box<Sleep>>,
    turns: u32,
    silent: u32,
    has_sent: bool,
}

impl Waiting {
    fn new(turn: Duration) -> Waiting {
        Waiting { next: Box::pin(sleep(turn)), turns: 0, silent: 0, has_sent: false }
    }

    /// Ready when the client has had its time.
    fn poll_over(&mut self, turn: Duration, context: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.next.as_mut().poll(context));
            self.turns += 1;
            self.silent = if self.has_sent { 0 } else { self.silent + 1 };
            self.has_sent = false;
            if self.silent >= SILENT_TURNS || self.turns >= TURNS {
                return Poll::Ready(());
            }
            self.next = Box::pin(sleep(turn));
        }
    }
}

impl<S> Lingering<S> {
    pub(crate) fn new(stream: S, refused: Arc<AtomicBool>) -> Lingering<S> {
        Lingering { stream, refused, turn: TURN, waiting: None, dropped: 0 }
    }
}

impl<S: AsyncRead + Unpin> Lingering<S> {
    /// Ready at the end of what the client sends, or of our patience.
    fn poll_dropped(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let turn = self.turn;
        let waiting = self.waiting.get_or_insert_with(|| Waiting::new(turn));
        let mut bytes = [0; 4096];
        // What is there is read before anything else: a close with bytes unread is the reset.
        while self.dropped < MOST {
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.dropped += buffer.filled().len();
                    waiting.has_sent = true;
                }
                Poll::Ready(_) => break,
                Poll::Pending => return waiting.poll_over(turn, context),
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.waiting.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
        }
        if this.refused.load(Ordering::Relaxed) {
            ready!(this.poll_dropped(context));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    /// The two ends, and whether the client was refused.
    fn ends(refused: bool, turn: Duration) -> (DuplexStream, Lingering<DuplexStream>) {
        let (client, server) = duplex(64);
        let server = Lingering::new(server, Arc::new(AtomicBool::new(refused)));
        (client, Lingering { turn, ..server })
    }

    #[test]
    fn what_a_refused_client_still_sends_is_dropped_until_it_ends() {
        runtime().block_on(async {
            let (mut client, mut server) = ends(true, Duration::from_mins(1));
            server.write_all(b"no").await.unwrap();
            let sends = async {
                client.write_all(&[b'x'; 1000]).await.unwrap();
                let mut reply = String::new();
                client.read_to_string(&mut reply).await.unwrap();
                drop(client);
                reply
            };
            let (reply, ended) = tokio::join!(sends, server.shutdown());
            ended.unwrap();
            assert_eq!(reply, "no");
            assert_eq!(server.dropped, 1000);
        });
    }

    #[test]
    fn a_client_that_does_not_end_is_left_after_a_while() {
        runtime().block_on(async {
            let turn = Duration::from_millis(10);
            let (_client, mut server) = ends(true, turn);
            let begun = std::time::Instant::now();
            server.shutdown().await.unwrap();
            assert!(begun.elapsed() >= turn * SILENT_TURNS);
        });
    }

    #[test]
    fn a_client_that_sends_now_and_then_is_left_too() {
        runtime().block_on(async {
            let (mut client, mut server) = ends(true, Duration::from_millis(10));
            let sends = async {
                while client.write_all(b"x").await.is_ok() {
                    sleep(Duration::from_millis(1)).await;
                }
            };
            let ends = async {
                server.shutdown().await.unwrap();
                let turns = server.waiting.as_ref().map(|waiting| waiting.turns);
                drop(server);
                turns
            };
            assert!(tokio::join!(sends, ends).1.is_some_and(|turns| turns >= SILENT_TURNS));
        });
    }

    #[test]
    fn what_came_before_we_looked_is_dropped_however_late_we_are() {
        runtime().block_on(async {
            let (mut client, mut server) = ends(true, Duration::ZERO);
            client.write_all(&[b'x'; 50]).await.unwrap();
            server.shutdown().await.unwrap();
            assert_eq!(server.dropped, 50);
        });
    }

    #[test]
    fn a_machine_that_stood_still_leaves_the_client_its_turns() {
        runtime().block_on(async {
            let turn = Duration::from_millis(20);
            let (mut client, mut server) = ends(true, turn);
            let sends = async {
                // The server has begun to wait; then nobody does anything for longer than it waits.
                tokio::task::yield_now().await;
                std::thread::sleep(turn * (SILENT_TURNS + 2));
                tokio::task::yield_now().await;
                client.write_all(&[b'x'; 30]).await.unwrap();
                drop(client);
            };
            let (ended, ()) = tokio::join!(server.shutdown(), sends);
            ended.unwrap();
            assert_eq!(server.dropped, 30);
        });
    }

    #[test]
    fn who_was_not_refused_is_not_waited_for() {
        runtime().block_on(async {
            let (_client, mut server) = ends(false, Duration::from_mins(1));
            server.shutdown().await.unwrap();
            assert!(server.waiting.is_none());
        });
    }
}
