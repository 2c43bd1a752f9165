//! Accept loop: serves each connection in a task of its own, and a bounded number at a time.

use std::convert::Infallible;
use std::io;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Further connections wait in the queue of the kernel.
pub(crate) const MAX_CONNECTIONS: usize = 256;

/// The pause after a connection could not be accepted, mostly because too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until it is dropped, which ends all of them. It returns only if the socket cannot be used.
pub(crate) async fn serve_each<F>(
    listener: std::net::TcpListener,
    serve: impl Fn(TcpStream) -> F,
) -> io::Result<Infallible>
where
    F: Future<Output = ()> + Send + 'static,
{
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => drop(connections.spawn(serve(stream))),
                Err(_) => sleep(PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
