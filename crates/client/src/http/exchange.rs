//! HTTP exchange: one request on a connection of its own, and its response. Nothing is followed, cached or retried.

use super::error::HttpError;
use super::url::{Remote, ServerUrl};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT,
};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use mcp_bash_fetch::Trust;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// How long a host may take to accept a connection.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// A response, and the connection it arrives on, which ends with it.
pub(super) struct Exchange {
    pub(super) response: Response<Incoming>,
    pub(super) connection: OpenConnection,
}

/// A connection that is closed when this is dropped.
pub(super) struct OpenConnection(AbortHandle);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Remote {
    /// Sends a request with these headers, and waits for the head of the response.
    pub(super) async fn exchange(
        &self,
        tls: &tokio::sync::OnceCell<Arc<ClientConfig>>,
        method: Method,
        headers: Vec<(HeaderName, HeaderValue)>,
        body: Vec<u8>,
    ) -> Result<Exchange, HttpError> {
        let url = &self.url;
        let lost =
            |error: hyper::Error| HttpError::Lost { url: url.to_string(), source: io::Error::other(error) };
        let mut request = Request::builder()
            .method(method)
            .uri(url.target.as_str())
            .header(HOST, url.authority.as_str())
            .header(USER_AGENT, concat!("mcp-bash/", env!("CARGO_PKG_VERSION")))
            .header(ACCEPT, "application/json, text/event-stream")
            .header(ACCEPT_ENCODING, "identity")
            .header(CONTENT_TYPE, "application/json");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token.header.clone());
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(body)));
        let request = request
            .map_err(|_| HttpError::Url { url: url.to_string(), problem: "it cannot be requested" })?;
        let stream = connect(url, tls).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(lost)?;
        let connection = OpenConnection(tokio::spawn(connection).abort_handle());
        let response = sender.send_request(request).await.map_err(lost)?;
        Ok(Exchange { response, connection })
    }
}

async fn connect(
    url: &ServerUrl,
    tls: &tokio::sync::OnceCell<Arc<ClientConfig>>,
) -> Result<Box<dyn Stream>, HttpError> {
    let silent = || HttpError::Silent { url: url.to_string(), seconds: CONNECT_TIME.as_secs() };
    let connected =
        tokio::time::timeout(CONNECT_TIME, TcpStream::connect((url.host.as_str(), url.port))).await;
    let unreachable = |source| HttpError::Unreachable { url: url.to_string(), source };
    let stream = connected.map_err(|_| silent())?.map_err(unreachable)?;
    let _ = stream.set_nodelay(true);
    if !url.is_secure {
        return Ok(Box::new(stream));
    }
    let no_certificates = |_| HttpError::NoCertificates;
    let tls = tls.get_or_try_init(|| Trust::System.client_config()).await.map_err(no_certificates)?;
    let broken = |source| HttpError::Tls { url: url.to_string(), source };
    let name = ServerName::try_from(url.host.clone()).map_err(|error| broken(io::Error::other(error)))?;
    let secured = TlsConnector::from(Arc::clone(tls)).connect(name, stream);
    let secured = tokio::time::timeout(CONNECT_TIME, secured).await;
    Ok(Box::new(secured.map_err(|_| silent())?.map_err(broken)?))
}
