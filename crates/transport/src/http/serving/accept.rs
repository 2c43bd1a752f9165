//! Accept loop: serves each connection in a task of its own until it or the server ends.

use crate::http::identity::visitor::Visitor;
use crate::http::limits::connections::Connections;
use crate::http::limits::slow_client_timeout::TimedIo;
use crate::http::listen::{Listener, Peer, Stream};
use crate::http::requests::endpoint::Endpoint;
use crate::http::requests::router;
use crate::http::secrets::tls::Tls;
use crate::http::serving::connection_threads::ConnectionThreads;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::convert::Infallible;
use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::rustls::{
    self,
    Error::{InvalidCertRevocationList, InvalidCertificate, NoCertificatesPresented},
};

/// Delay after an accept failed, mostly because too many files are open.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// At shutdown, connections that are already established are still accepted, until none arrives within this time.
const BACKLOG_WAIT: Duration = Duration::from_millis(20);

/// The total time for that: a client that keeps connecting must not delay the shutdown.
const BACKLOG_LIMIT: Duration = Duration::from_secs(1);

/// At shutdown, how long a connection without a request may take to send its first one: the client may have sent it already, or
/// be about to.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// The accept loop, and what its connections share.
pub(in crate::http) struct AcceptLoop {
    pub(in crate::http) endpoint: Arc<Endpoint>,
    pub(in crate::http) connections: Arc<Connections>,
    pub(in crate::http) threads: ConnectionThreads,
    pub(in crate::http) tls: Option<Tls>,
    /// Whether the server is shutting down. Connections then close after their current request.
    pub(in crate::http) is_ending: watch::Receiver<bool>,
}

impl AcceptLoop {
    /// Accepts connections until shutdown, and then those that are already established.
    pub(in crate::http) async fn receive(self: Arc<Self>, listener: Arc<Listener>) {
        let mut is_ending = self.is_ending.clone();
        loop {
            tokio::select! {
                accepted = listener.accept() => self.handle(accepted).await,
                () = ended(&mut is_ending) => break,
            }
        }
        let end = Instant::now() + BACKLOG_LIMIT;
        while Instant::now() < end
            && let Ok(accepted) = timeout(BACKLOG_WAIT, listener.accept()).await
        {
            self.handle(accepted).await;
        }
    }

    async fn handle(self: &Arc<Self>, accepted: io::Result<(Stream, Peer)>) {
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                let details = json!({ "error": error.to_string() });
                let log = self.endpoint.server.log();
                log.event(LogLevel::Warning, "mcp.http", "a connection could not be accepted", &details);
                return sleep(RETRY_DELAY).await;
            }
        };
        // Over the limit, the connection is closed without a response, which would need a connection.
        let Some(place) = self.connections.enter(&peer) else {
            return self.endpoint.count_refusal("connections");
        };
        let (accept_loop, thread) = (Arc::clone(self), self.threads.least_busy());
        let place = (place, thread.enter());
        thread.runtime().spawn(async move {
            // A broken connection is dropped, as it would be later.
            let Ok(stream) = stream.on_this_thread() else { return };
            match &accept_loop.tls {
                None => accept_loop.serve(stream, Visitor::new(&peer, false)).await,
                Some(tls) => {
                    let handshake_timeout = accept_loop.endpoint.options().limits.header_time;
                    let accepted = timeout(handshake_timeout, tls.acceptor().accept(stream)).await;
                    let visitor = Visitor::new(&peer, true);
                    if let Ok(Err(error)) = &accepted
                        && let Some(problem) = refused_certificate(error)
                    {
                        accept_loop.endpoint.note_failed_handshake(&visitor, problem);
                    }
                    if let Ok(Ok(stream)) = accepted {
                        let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
                        let visitor = match shown {
                            Some(certificate) => visitor.with_certificate(certificate, tls.client_name()),
                            None => visitor,
                        };
                        accept_loop.serve(stream, visitor).await;
                    }
                }
            }
            drop(place);
        });
    }

    async fn serve(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send, visitor: Visitor) {
        let endpoint = &self.endpoint;
        let limits = &endpoint.options().limits;
        let service = service_fn(|request: Request<Incoming>| {
            let (served, visitor) = (visitor.serving.begin(), &visitor);
            async move {
                let answer = router::serve(endpoint, visitor, request).await;
                Ok::<_, Infallible>(answer.map(|body| body.holding(served)))
            }
        });
        let io = TokioIo::new(TimedIo::new(stream, limits, visitor.serving.clone()));
        let connection =
            http1::Builder::new().max_buf_size(limits.header_bytes.max(8192)).serve_connection(io, service);
        let (mut connection, mut is_ending) = (pin!(connection), self.is_ending.clone());
        // Errors of a connection concern only its client. The connection is polled first: a request that has arrived before the
        // shutdown is served.
        tokio::select! {
            biased;
            _ = connection.as_mut() => return,
            () = ended(&mut is_ending) => {}
        }
        let mut first_request = pin!(sleep(FIRST_REQUEST));
        let is_over = poll_fn(|context| {
            if connection.as_mut().poll(context).is_ready() {
                return Poll::Ready(true);
            }
            let is_due = visitor.serving.has_begun() || first_request.as_mut().poll(context).is_ready();
            if is_due { Poll::Ready(false) } else { Poll::Pending }
        });
        if !is_over.await {
            // hyper closes a connection that has no request in progress.
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Why the client certificate was refused, if that is why the handshake failed.
fn refused_certificate(error: &io::Error) -> Option<&rustls::Error> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    matches!(error, InvalidCertificate(_) | InvalidCertRevocationList(_) | NoCertificatesPresented)
        .then_some(error)
}

/// Completes when the server shuts down.
async fn ended(is_ending: &mut watch::Receiver<bool>) {
    // If the sender is gone, the server has ended.
    let _ = is_ending.wait_for(|is_ending| *is_ending).await;
}
