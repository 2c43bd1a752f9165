//! Options of the HTTP transport.

use crate::http::limits::identity_options::{ClientCertificates, IssuerOptions, ProxyOptions};
use crate::http::listen::Address;
use mcp_bash_roles::Rate;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Options {
    /// Where clients are awaited.
    pub addresses: Vec<Address>,
    /// Names under which clients may reach the server besides those of this machine: `mcp.example.com`,
    /// `mcp.example.com:8443`, or `*` for any.
    pub allowed_hosts: Vec<String>,
    /// Web pages that may talk to the server, such as `https://app.example.com`, or `*` for any.
    pub allowed_origins: Vec<String>,
    /// The file of the tokens. Without one, every client that can connect is served.
    pub tokens: Option<PathBuf>,
    /// The file of the roles. Without one, a caller may do what its credential allows.
    pub roles: Option<PathBuf>,
    /// The issuers whose tokens are accepted.
    pub issuer: Option<IssuerOptions>,
    /// The proxy that says who the caller is.
    pub proxy: Option<ProxyOptions>,
    pub tls: Option<TlsFiles>,
    /// Whether a proxy that all callers pass speaks TLS with them in our place.
    pub behind_proxy: bool,
    /// Whether the HTTP+SSE transport of 2024-11-05 is served too.
    pub legacy_sse: bool,
    /// Where health and metrics are served, for everybody who can connect.
    pub metrics: Option<Address>,
    /// How long requests may take to finish after the server was asked to end.
    pub drain: Duration,
    pub limits: Limits,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// The client certificates that are accepted.
    pub clients: Option<ClientCertificates>,
}

impl Options {
    /// Whether every caller has to say who it is.
    pub(crate) fn identify_callers(&self) -> bool {
        let has_certificates = self.tls.as_ref().is_some_and(|tls| tls.clients.is_some());
        self.tokens.is_some() || self.issuer.is_some() || self.proxy.is_some() || has_certificates
    }
}

#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Bytes of a request's line and headers together.
    pub header_bytes: usize,
    /// Connections at once.
    pub connections: usize,
    /// Streams of events at once, for each caller.
    pub streams: usize,
    /// Sessions at once.
    pub sessions: usize,
    /// Sessions that a caller may begin.
    pub session_rate: Option<Rate>,
    /// How long a session lives that is not used.
    pub session_idle: Duration,
    /// Requests of a caller whose token names no rate.
    pub rate: Option<Rate>,
    /// How long a client may take for the handshake of TLS, and for the headers of a request once it has begun one.
    pub header_time: Duration,
    /// How long a body, or a client that does not read its answer, may stand still.
    pub stall_time: Duration,
    /// How long a connection stays open between requests. Longer than what proxies keep theirs for, lest they send a
    /// request into one that is just being closed.
    pub idle_time: Duration,
    /// How long an event stream of a call may be open before its client has to come back, where clients do.
    pub stream_time: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            addresses: vec![Address::default()],
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            tokens: None,
            roles: None,
            issuer: None,
            proxy: None,
            tls: None,
            behind_proxy: false,
            legacy_sse: false,
            metrics: None,
            drain: Duration::from_secs(25),
            limits: Limits::default(),
        }
    }
}

/// A client that begins a session for each of its calls stays below it, and one that does nothing else is held back.
const SESSIONS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(600).unwrap();

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 4 * 1024 * 1024,
            header_bytes: 64 * 1024,
            connections: 4096,
            streams: 2048,
            sessions: 10_000,
            session_rate: Some(Rate::per_minute(SESSIONS_PER_MINUTE)),
            session_idle: Duration::from_secs(30 * 60),
            rate: None,
            header_time: Duration::from_secs(10),
            stall_time: Duration::from_secs(30),
            idle_time: Duration::from_secs(75),
            stream_time: None,
        }
    }
}
