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
use tokio::time::Sleep;

/// How long, and how much, a client may send after the last reply.
const PATIENCE: Duration = Duration::from_secs(2);
const MOST: usize = 16 << 20;

/// A stream that reads on after its own side ended, where a request was refused before its end.
pub(crate) struct Lingering<S> {
    stream: S,
    /// Set by who refuses a request whose body was not read to its end.
    refused: Arc<AtomicBool>,
    patience: Duration,
    until: Option<Pin<Box<Sleep>>>,
    dropped: usize,
}

impl<S> Lingering<S> {
    pub(crate) fn new(stream: S, refused: Arc<AtomicBool>) -> Lingering<S> {
        Lingering { stream, refused, patience: PATIENCE, until: None, dropped: 0 }
    }
}

impl<S: AsyncRead + Unpin> Lingering<S> {
    /// Ready at the end of what the client sends, or of our patience.
    fn poll_dropped(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let patience = self.patience;
        let until = self.until.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        let mut bytes = [0; 4096];
        while self.dropped < MOST && until.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut bytes);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => self.dropped += buffer.filled().len(),
                _ => break,
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
        if this.until.is_none() {
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
    fn ends(refused: bool, patience: Duration) -> (DuplexStream, Lingering<DuplexStream>) {
        let (client, server) = duplex(64);
        let server = Lingering::new(server, Arc::new(AtomicBool::new(refused)));
        (client, Lingering { patience, ..server })
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
            let patience = Duration::from_millis(50);
            let (_client, mut server) = ends(true, patience);
            let begun = std::time::Instant::now();
            server.shutdown().await.unwrap();
            assert!(begun.elapsed() >= patience);
        });
    }

    #[test]
    fn who_was_not_refused_is_not_waited_for() {
        runtime().block_on(async {
            let (_client, mut server) = ends(false, Duration::from_mins(1));
            server.shutdown().await.unwrap();
            assert!(server.until.is_none());
        });
    }
}
