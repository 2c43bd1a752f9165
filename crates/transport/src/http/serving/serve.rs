//! HTTP server: opens the listeners, serves connections, and shuts down gracefully.

use crate::Host;
use crate::http::access::exposure::{self, Exposed};
use crate::http::access::{AccessError, AccessRules};
use crate::http::identity::{IdentityError, IdentitySource, RolesFile, RolesFileError};
use crate::http::limits::connections::Connections;
use crate::http::limits::options::Options;
use crate::http::listen::{ListenError, Listener, SocketFile};
use crate::http::metrics::Metrics;
use crate::http::requests::endpoint::Endpoint;
use crate::http::secrets::guarded_file::Report;
use crate::http::secrets::tls::{Tls, TlsError};
use crate::http::serving::accept::AcceptLoop;
use crate::http::serving::connection_threads::ConnectionThreads;
use crate::http::serving::drain::drain;
use crate::http::serving::health_listener::HealthListener;
use crate::lifecycle::{Ending, Lifecycle, await_signals};
use crate::memory::give_memory_back;
use mcp_bash_server::{Server, spawn_lasting};
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;
use thiserror::Error;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// The longest interval between checks for idle sessions.
const MAX_EXPIRY_INTERVAL: Duration = Duration::from_secs(30);

/// Why the server cannot start.
#[derive(Debug, Error)]
pub enum StartError {
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    Exposed(#[from] Exposed),
    #[error(transparent)]
    AccessRules(#[from] AccessError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error(transparent)]
    Roles(#[from] RolesFileError),
    #[error("the signals that end a server cannot be awaited: {0}")]
    Signals(io::Error),
}

/// The addresses of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The base URLs of MCP, which is at `/mcp`.
    pub endpoints: Vec<String>,
    /// The base URLs of health and metrics.
    pub metrics: Vec<String>,
}

/// Serves clients until shutdown. Logs the reason, and returns [`Ending::Drained`] when no calls are left. `announce` receives
/// the addresses of the server.
pub fn serve(
    server: &Arc<Server>,
    runtime: &Runtime,
    options: Options,
    host: Host,
    announce: impl FnOnce(&Places),
) -> Result<Ending, StartError> {
    let (_inside, handle) = (runtime.enter(), runtime.handle());
    let listeners = open_all(&options)?;
    exposure::check(&options, &listeners)?;
    let health_listeners = options.metrics.as_ref().map(Listener::open).transpose();
    let mut health_listeners = health_listeners.map_err(ListenError::of_metrics)?.unwrap_or_default();
    for listener in listeners.iter().chain(&health_listeners) {
        listener.limit_unacknowledged(options.limits.stall_time);
    }
    let access = AccessRules::new(&options, &listeners)?;
    let tls = options.tls.as_ref().map(|files| Tls::open(files, report(server)));
    let tls = tls.transpose()?;
    let identity_source = IdentitySource::open(&options, handle, || report(server))?;
    let roles = options.roles.as_deref().map(|file| RolesFile::open(file, report(server))).transpose()?;
    let lifecycle = Arc::<Lifecycle>::default();
    await_signals(&lifecycle, server, rustix::stdio::stdin()).map_err(StartError::Signals)?;
    // The socket files are removed on return: the tasks that own the listeners may live longer.
    let _health_socket_files: Vec<SocketFile> =
        health_listeners.iter_mut().filter_map(Listener::take_file).collect();
    let places = Places {
        endpoints: listeners.iter().map(|listener| listener.describe(tls.is_some())).collect(),
        metrics: health_listeners.iter().map(|listener| listener.describe(false)).collect(),
    };
    let connections = Connections::new(options.limits.connections);
    let metrics = (!health_listeners.is_empty()).then(|| measure(server, &listeners));
    let endpoint =
        Endpoint::new(Arc::clone(server), access, identity_source, roles, metrics.clone(), options);
    let endpoint = Arc::new(endpoint);
    let (end, is_ending) = watch::channel(false);
    let accept_loop = Arc::new(AcceptLoop {
        endpoint: Arc::clone(&endpoint),
        connections: Arc::clone(&connections),
        threads: ConnectionThreads::start(handle.clone(), processors()),
        tls,
        is_ending: is_ending.clone(),
    });
    if let Some(metrics) = metrics {
        let (endpoint, connections) = (Arc::clone(&endpoint), Arc::clone(&connections));
        let health = Arc::new(HealthListener::new(metrics, endpoint, connections, is_ending));
        for listener in health_listeners {
            let (health, listener) = (Arc::clone(&health), Arc::new(listener));
            let receive = move || Arc::clone(&health).receive(Arc::clone(&listener));
            spawn_lasting(handle, "accept_watchers", receive);
        }
    }
    let receive = |listener| {
        let (accept_loop, listener) = (Arc::clone(&accept_loop), Arc::new(listener));
        spawn_lasting(handle, "accept", move || Arc::clone(&accept_loop).receive(Arc::clone(&listener)))
    };
    let receiving: Vec<JoinHandle<()>> = listeners.into_iter().map(receive).collect();
    let expiring = Arc::clone(&endpoint);
    spawn_lasting(handle, "expire_sessions", move || expire_sessions(Arc::clone(&expiring)));
    if let Some(streams) = endpoint.shared_streams.clone() {
        spawn_lasting(handle, "write_streams", move || Arc::clone(&streams).keep_writing());
    }
    give_memory_back(handle, server.budget(), host);
    announce(&places);
    Ok(runtime.block_on(async {
        let ending = lifecycle.ended().await;
        server.log().event(ending.level(), "mcp.lifecycle", ending.describe(), &json!({}));
        end.send_replace(true);
        // Connections that were established before the shutdown are served too.
        for receiving in receiving {
            let _ = receiving.await;
        }
        drain(&endpoint, &connections).await;
        Ending::Drained
    }))
}

/// Creates the metrics.
fn measure(server: &Server, listeners: &[Listener]) -> Arc<Metrics> {
    let transport = listeners.first().map_or("tcp", Listener::transport);
    Arc::new(Metrics::new(transport, Arc::clone(server.measurements())))
}

fn processors() -> usize {
    available_parallelism().map_or(1, usize::from)
}

fn open_all(options: &Options) -> Result<Vec<Listener>, ListenError> {
    let mut listeners = Vec::new();
    for address in &options.addresses {
        listeners.extend(Listener::open(address)?);
    }
    Ok(listeners)
}

async fn expire_sessions(endpoint: Arc<Endpoint>) {
    let interval =
        (endpoint.options().limits.session_idle / 4).clamp(Duration::from_millis(100), MAX_EXPIRY_INTERVAL);
    loop {
        sleep(interval).await;
        endpoint.sessions.expire();
        endpoint.sessions.end_with_others(&endpoint.server).await;
    }
}

/// Logs problems with a file that are found while the server runs.
fn report(server: &Arc<Server>) -> Report {
    let server = Arc::clone(server);
    Box::new(move |problem| server.log().event(LogLevel::Error, "mcp.http", &problem, &json!({})))
}
