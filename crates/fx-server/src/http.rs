//! What every listener of HTTP does alike: accept within limits, speak, and end without cutting
//! anybody off.

use std::convert::Infallible;
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::Response;
use hyper::body::{Body, Incoming};
use hyper::header::CONNECTION;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::connections::Connections;
use crate::linger::Lingering;
use crate::serve::{Limits, ServeError};

/// Becomes true when the server ends.
pub(crate) type Ending = watch::Receiver<bool>;

/// Threads for connections, and for answers.
pub(crate) fn runtime(limits: &Limits) -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(limits.answering.max(2))
        .enable_all()
        .build()
}

/// Hands each connection that the limits allow to `each`, until the flag is set, and then waits a
/// while for those under way.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    limits: &Limits,
    stop: &AtomicBool,
    each: impl Fn(TcpStream, SocketAddr, Ending) -> F,
) -> Result<(), ServeError>
where
    F: Future<Output = ()> + Send + 'static,
{
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let connections = Connections::default();
    let (ending, _) = watch::channel(false);
    while !stop.load(Ordering::Relaxed) {
        // The flag is set by a signal, which ends no wait.
        let Ok(accepted) = timeout(Duration::from_millis(200), listener.accept()).await else {
            continue;
        };
        let Ok((stream, peer)) = accepted else {
            // Too many files are open: connections must end before more can begin.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let counted = connections.count(peer.ip(), limits.connections, limits.connections_of_peer);
        let Some(counted) = counted else { continue };
        let _ = stream.set_nodelay(true);
        let spoken = each(stream, peer, ending.subscribe());
        tokio::spawn(async move {
            let _counted = counted;
            spoken.await;
        });
    }
    drop(listener);
    let _ = ending.send(true);
    for _ in 0..100 {
        if connections.all() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Speaks HTTP/1.1 on a connection until it ends, or the server does.
pub(crate) async fn speak<F, B>(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    patience: Duration,
    mut ending: Ending,
    answer: impl Fn(hyper::Request<Incoming>) -> F,
) where
    F: Future<Output = Response<B>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let refused = Arc::new(AtomicBool::new(false));
    let stream = Lingering::new(stream, Arc::clone(&refused));
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let has_body = !request.body().is_end_stream();
        let (answered, refused) = (answer(request), Arc::clone(&refused));
        async move {
            let response = answered.await;
            let closes = response.headers().get(CONNECTION).is_some_and(|how| how == "close");
            // An error may come before the body was read, and then the connection ends by itself.
            let is_error = !response.status().is_success();
            refused.store(closes || (has_body && is_error), Ordering::Relaxed);
            Ok::<_, Infallible>(response)
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // A connection that ends badly is the client's affair.
        _ = connection.as_mut() => {}
        _ = ending.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}
