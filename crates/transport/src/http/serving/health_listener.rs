//! Health listener: serves health and metrics at an address of its own until the process exits.

use crate::http::limits::connections::Connections;
use crate::http::limits::slow_client_timeout::{Serving, TimedIo};
use crate::http::listen::{Listener, Stream};
use crate::http::metrics::health::{Health, HealthAnswer, ServerStatus};
use crate::http::metrics::{Gauges, Metrics};
use crate::http::requests::body::ResponseBody;
use crate::http::requests::endpoint::Endpoint;
use crate::http::requests::respond::{self, Answer};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Method, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::time::sleep;

/// Connection limit of the health listener.
const MOST_CONNECTIONS: usize = 64;

/// Delay after an accept failed.
const RETRY_DELAY: Duration = Duration::from_millis(100);

pub(in crate::http) struct HealthListener {
    health: Health,
    endpoint: Arc<Endpoint>,
    /// The connections of MCP clients.
    connections: Arc<Connections>,
    /// The connections of monitors.
    own_connections: Arc<Connections>,
    is_ending: watch::Receiver<bool>,
}

impl HealthListener {
    pub(in crate::http) fn new(
        metrics: Arc<Metrics>,
        endpoint: Arc<Endpoint>,
        connections: Arc<Connections>,
        is_ending: watch::Receiver<bool>,
    ) -> Self {
        let own_connections = Connections::new(MOST_CONNECTIONS);
        Self { health: Health::new(metrics), endpoint, connections, own_connections, is_ending }
    }

    pub(in crate::http) async fn receive(self: Arc<Self>, listener: Arc<Listener>) {
        loop {
            let Ok((stream, peer)) = listener.accept().await else {
                sleep(RETRY_DELAY).await;
                continue;
            };
            let Some(place) = self.own_connections.enter(&peer) else { continue };
            let listener = Arc::clone(&self);
            tokio::spawn(async move {
                listener.serve(stream).await;
                drop(place);
            });
        }
    }

    async fn serve(self: &Arc<Self>, stream: Stream) {
        let (limits, serving) = (&self.endpoint.options().limits, Serving::default());
        let service = service_fn(|request: Request<Incoming>| {
            let served = serving.begin();
            let listener = Arc::clone(self);
            async move {
                let answer = listener.answer(&request).await;
                Ok::<_, Infallible>(answer.map(|body| body.holding(served)))
            }
        });
        let io = TokioIo::new(TimedIo::new(stream, limits, serving.clone()));
        // A broken connection concerns only the monitor that opened it.
        let _ = http1::Builder::new().serve_connection(io, service).await;
    }

    async fn answer(self: Arc<Self>, request: &Request<Incoming>) -> Answer {
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            return respond::not_allowed("GET, HEAD");
        }
        let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let path = request.uri().path().to_owned();
        let waits = Health::waits(&path);
        let server = Arc::clone(&self.endpoint.server);
        let answer = move || self.health.answer(&path, accept.as_deref(), &*self);
        let answer = if waits {
            let (give, given) = oneshot::channel();
            server.in_background(move |_| drop(give.send(answer())));
            given.await.unwrap_or_else(|_| HealthAnswer::failed())
        } else {
            answer()
        };
        let HealthAnswer { status, content_type, body } = answer;
        let mut answer = Answer::new(ResponseBody::text(body));
        *answer.status_mut() = status;
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    }
}

impl ServerStatus for HealthListener {
    fn not_ready(&self) -> Option<String> {
        if *self.is_ending.borrow() {
            return Some("the server is ending".to_owned());
        }
        let server = &self.endpoint.server;
        if server.served().look(|catalog| catalog.failure.is_some()) {
            return Some("the project cannot be served; the log says why".to_owned());
        }
        server.unready().or_else(|| self.endpoint.identity_source.unready())
    }

    fn store_problem(&self) -> Option<String> {
        self.endpoint.server.shared_store()?.err()
    }

    fn gauges(&self) -> Gauges {
        let load = self.endpoint.server.load();
        Gauges {
            connections: self.connections.count(),
            streams: self.endpoint.streams.count(),
            sessions: self.endpoint.sessions.count(),
            running_calls: load.running,
            waiting_calls: load.waiting,
            parked_calls: load.parked,
            held_bytes: self.endpoint.server.budget().used(),
            is_store_reachable: self.endpoint.server.shared_store().map(|store| store.is_ok()),
            audit: self.endpoint.server.audit().map(|audit| audit.counts()),
        }
    }
}
