//! HTTP exchange: one request and its response, on an open connection.

use super::HttpsPolicy;
use crate::error::FetchError;
use crate::hosts::HttpsUrl;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HOST, LOCATION, USER_AGENT,
};
use hyper::header::{HeaderMap, HeaderName};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use mcp_bash_sandbox::Host;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// The longest head of a response.
const MAX_HEAD_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub bytes: Vec<u8>,
    /// The content type that the server reports.
    pub content_type: Option<String>,
}

/// The head and the body of a response.
pub(crate) struct Received {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

pub(super) async fn get(
    url: &HttpsUrl,
    policy: &HttpsPolicy,
    stream: TcpStream,
    tls: Arc<ClientConfig>,
) -> Result<Response, FetchError> {
    let stream = encrypt(url, stream, tls).await?;
    let limit = policy.max_bytes();
    let too_large = FetchError::TooLarge { limit, setting: "MCPBASH_HTTPS_MAX_BYTES" };
    let (request, host) = (request(url, policy)?, url.authority());
    let received = send(request, stream, &host, limit, too_large, Wanted::Success).await?;
    Ok(Response { bytes: received.bytes, content_type: header(&received.headers, CONTENT_TYPE) })
}

/// Begins TLS. The certificate has to match the name, whatever the address is.
pub(crate) async fn encrypt(
    url: &HttpsUrl,
    stream: TcpStream,
    tls: Arc<ClientConfig>,
) -> Result<TlsStream<TcpStream>, FetchError> {
    let unreachable = |error: io::Error| FetchError::Unreachable { host: url.authority(), error };
    let name = match &url.host {
        Host::Address(address) => ServerName::from(*address),
        Host::Name(name) => {
            ServerName::try_from(name.clone()).map_err(|error| unreachable(io::Error::other(error)))?
        }
    };
    TlsConnector::from(tls).connect(name, stream).await.map_err(unreachable)
}

/// Which responses are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Others are errors, and their bodies are not read.
    Success,
    /// Also refusals, whose bodies give the reasons.
    Any,
}

/// Sends a request over an open connection, and reads a response of at most `limit` bytes.
pub(crate) async fn send(
    request: Request<Full<Bytes>>,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    host: &str,
    limit: u64,
    too_large: FetchError,
    wanted: Wanted,
) -> Result<Received, FetchError> {
    let protocol = |error: hyper::Error| FetchError::Protocol { host: host.to_owned(), error };
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEAD_BYTES);
    let (mut sender, connection) =
        builder.handshake::<_, Full<Bytes>>(TokioIo::new(stream)).await.map_err(protocol)?;
    let exchange = async {
        let answer = sender.send_request(request).await.map_err(protocol)?;
        let status = answer.status();
        if wanted == Wanted::Success || status.is_redirection() {
            judge(host, status, answer.headers())?;
        }
        let headers = answer.headers().clone();
        let bytes = read(answer.into_body(), limit, too_large, protocol).await?;
        Ok(Received { status, headers, bytes })
    };
    // The connection is driven here and not by a task of its own, so that it ends with the request.
    let mut exchange = std::pin::pin!(exchange);
    tokio::select! {
        biased;
        outcome = &mut exchange => outcome,
        // Nothing more will arrive.
        _ = connection => exchange.await,
    }
}

fn request(url: &HttpsUrl, policy: &HttpsPolicy) -> Result<Request<Full<Bytes>>, FetchError> {
    let mut request = Request::get(url.target.as_str())
        .header(HOST, url.authority())
        .header(ACCEPT, "*/*")
        .header(ACCEPT_ENCODING, "identity")
        .header(CONNECTION, "close");
    if let Some(user_agent) = &policy.user_agent {
        request = request.header(USER_AGENT, user_agent);
    }
    request.body(Full::default()).map_err(|error| FetchError::Unreachable {
        host: url.authority(),
        error: io::Error::new(io::ErrorKind::InvalidInput, error),
    })
}

/// Whether the response is worth reading.
fn judge(host: &str, status: StatusCode, headers: &HeaderMap) -> Result<(), FetchError> {
    let host = host.to_owned();
    if status.is_redirection() {
        return Err(FetchError::Redirect {
            host,
            status: status.as_u16(),
            location: header(headers, LOCATION),
        });
    }
    if !status.is_success() {
        return Err(FetchError::Status { host, status: status.as_u16() });
    }
    match header(headers, CONTENT_ENCODING) {
        Some(encoding) if !encoding.eq_ignore_ascii_case("identity") => {
            Err(FetchError::Encoded { host, encoding })
        }
        _ => Ok(()),
    }
}

async fn read(
    mut body: Incoming,
    limit: u64,
    too_large: FetchError,
    protocol: impl Fn(hyper::Error) -> FetchError,
) -> Result<Vec<u8>, FetchError> {
    if body.size_hint().lower() > limit {
        return Err(too_large);
    }
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(&protocol)?.into_data() else { continue };
        if (bytes.len() + data.len()) as u64 > limit {
            return Err(too_large);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

pub(crate) fn header(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    Some(String::from_utf8_lossy(headers.get(name)?.as_bytes()).into_owned())
}
