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

/// How long to wait after a connection could not be accepted: mostly because too many files are open.
const BREATH: Duration = Duration::from_millis(100);

/// Those who had connected when the server was asked to end are there at once.
const BACKLOG: Duration = Duration::from_millis(20);

/// And all of them in this time: a client that keeps connecting does not keep the server from ending.
const WHOLE_BACKLOG: Duration = Duration::from_secs(1);

/// How long a connection without a request may take to send its first one once the server shuts down: the client may have
/// sent it already, or be about to.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// What is served to those who connect.
pub(in crate::http) struct Reception {
    pub(in crate::http) endpoint: Arc<Endpoint>,
    pub(in crate::http) connections: Arc<Connections>,
    pub(in crate::http) threads: ConnectionThreads,
    pub(in crate::http) tls: Option<Tls>,
    /// Whether the server was asked to end: what has begun is finished, and connections end after it.
    pub(in crate::http) is_ending: watch::Receiver<bool>,
}

impl Reception {
    /// Accepts connections until the server is asked to end, and then those that wait already.
    pub(in crate::http) async fn receive(self: Arc<Self>, listener: Arc<Listener>) {
        let mut is_ending = self.is_ending.clone();
        loop {
            tokio::select! {
                accepted = listener.accept() => self.welcome(accepted).await,
                () = ended(&mut is_ending) => break,
            }
        }
        let end = Instant::now() + WHOLE_BACKLOG;
        while Instant::now() < end
            && let Ok(accepted) = timeout(BACKLOG, listener.accept()).await
        {
            self.welcome(accepted).await;
        }
    }

    async fn welcome(self: &Arc<Self>, accepted: io::Result<(Stream, Peer)>) {
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                let details = json!({ "error": error.to_string() });
                let log = self.endpoint.server.log();
                log.event(LogLevel::Warning, "mcp.http", "a connection could not be accepted", &details);
                return sleep(BREATH).await;
            }
        };
        // Where there is no place, the connection is closed at once: to say more would take one.
        let Some(place) = self.connections.enter(&peer) else {
            return self.endpoint.count_refusal("connections");
        };
        let (reception, thread) = (Arc::clone(self), self.threads.least_busy());
        let place = (place, thread.enter());
        thread.runtime().spawn(async move {
            // A connection that breaks here is not served, like one that breaks later.
            let Ok(stream) = stream.on_this_thread() else { return };
            match &reception.tls {
                None => reception.serve(stream, Visitor::new(&peer, false)).await,
                Some(tls) => {
                    let handshake_timeout = reception.endpoint.options().limits.header_time;
                    let accepted = timeout(handshake_timeout, tls.acceptor().accept(stream)).await;
                    let visitor = Visitor::new(&peer, true);
                    if let Ok(Err(error)) = &accepted
                        && let Some(problem) = refused_certificate(error)
                    {
                        reception.endpoint.note_failed_handshake(&visitor, problem);
                    }
                    if let Ok(Ok(stream)) = accepted {
                        let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
                        let visitor = match shown {
                            Some(certificate) => visitor.with_certificate(certificate, tls.client_name()),
                            None => visitor,
                        };
                        reception.serve(stream, visitor).await;
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
        // What breaks a connection concerns nobody but its client. It is looked at first: a request that is there
        // already when the server is asked to end is served.
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
            // Hyper closes a connection without a request here.
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Why the certificate of a client was refused, if that ended the handshake.
fn refused_certificate(error: &io::Error) -> Option<&rustls::Error> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    matches!(error, InvalidCertificate(_) | InvalidCertRevocationList(_) | NoCertificatesPresented)
        .then_some(error)
}

/// Completes when the server is asked to end.
async fn ended(is_ending: &mut watch::Receiver<bool>) {
    // Nobody who could say so is left: then it has ended.
    let _ = is_ending.wait_for(|is_ending| *is_ending).await;
}
