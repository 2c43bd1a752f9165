//! Options of the HTTP transport.

use crate::http::limits::identity_options::{ClientCertificates, IssuerOptions, ProxyOptions};
use crate::http::listen::Address;
use mcp_bash_roles::Rate;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Options {
    /// The listen addresses.
    pub addresses: Vec<Address>,
    /// Allowed hosts besides those of this machine: `mcp.example.com`, `mcp.example.com:8443`, or `*` for any.
    pub allowed_hosts: Vec<String>,
    /// Allowed origins of web pages, such as `https://app.example.com`, or `*` for any.
    pub allowed_origins: Vec<String>,
    /// The token file. Without one, every client that can connect is served.
    pub tokens: Option<PathBuf>,
    /// The roles file. Without one, a caller may do what its credential allows.
    pub roles: Option<PathBuf>,
    /// The issuers whose tokens are accepted.
    pub issuer: Option<IssuerOptions>,
    /// The trusted proxy, which names the caller in a header.
    pub proxy: Option<ProxyOptions>,
    pub tls: Option<TlsFiles>,
    /// Whether all callers connect through a proxy that terminates TLS.
    pub behind_proxy: bool,
    /// Whether the HTTP+SSE transport of 2024-11-05 is served too.
    pub legacy_sse: bool,
    /// The address of health and metrics, which need no authentication.
    pub metrics: Option<Address>,
    /// Drain timeout: how long requests may take to finish once shutdown begins.
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
    /// Whether every caller is authenticated.
    pub(crate) fn identify_callers(&self) -> bool {
        let has_certificates = self.tls.as_ref().is_some_and(|tls| tls.clients.is_some());
        self.tokens.is_some() || self.issuer.is_some() || self.proxy.is_some() || has_certificates
    }
}

#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a request body.
    pub body_bytes: usize,
    /// Bytes of a request's line and headers together.
    pub header_bytes: usize,
    /// Open connections.
    pub connections: usize,
    /// Open event streams of each caller.
    pub streams: usize,
    /// Open sessions.
    pub sessions: usize,
    /// How often a caller may begin a session.
    pub session_rate: Option<Rate>,
    /// Idle timeout of sessions.
    pub session_idle: Duration,
    /// Request rate of callers that have none of their own.
    pub rate: Option<Rate>,
    /// How long a client may take for the TLS handshake, and for the head of a request that it has begun.
    pub header_time: Duration,
    /// How long each part of a request body may take, and how long a client may go without reading its response.
    pub stall_time: Duration,
    /// How long a connection stays open between requests. Longer than proxies keep theirs, so that they send no request into a
    /// connection that is just being closed.
    pub idle_time: Duration,
    /// How long an event stream of a call may be open before its client has to reconnect, if the client can resume it.
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

/// High enough for a client that begins a session for each call; one that does nothing else is throttled.
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
