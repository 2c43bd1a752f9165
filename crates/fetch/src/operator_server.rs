//! Requests to servers that the operator names, such as the issuer of tokens. Unlike those of clients and projects, they may be at
//! private addresses; without TLS they must be on this machine.

use crate::error::FetchError;
use crate::hosts::{HttpsUrl, Network, SystemNetwork, UrlError, connect_to};
use crate::https::Trust;
use crate::https::exchange::{self, Received, Wanted};
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HOST, HeaderMap, RETRY_AFTER, USER_AGENT,
};
use mcp_bash_sandbox::Host;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::timeout;
use tokio_rustls::rustls::ClientConfig;

/// A URL that the operator wrote, or that a server of the operator names: `https`, or `http` on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorUrl {
    url: HttpsUrl,
    is_encrypted: bool,
    /// Whether it may lead to other machines without encryption.
    is_plain_anywhere: bool,
}

impl OperatorUrl {
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let url = Self::parse_plain(text)?;
        let is_local = match &url.url.host {
            Host::Address(address) => address.is_loopback(),
            Host::Name(_) => url.url.host.is_local_name(),
        };
        let url = Self { is_plain_anywhere: false, ..url };
        if url.is_encrypted || is_local { Ok(url) } else { Err(UrlError::NotHttps) }
    }

    /// Also takes `http` to other machines: for collectors of telemetry, which are usually reached that way within a
    /// private network.
    pub fn parse_plain(text: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = text.split_once("://").ok_or(UrlError::NotHttps)?;
        let (is_encrypted, usual_port) = match scheme.to_ascii_lowercase().as_str() {
            "https" => (true, 443),
            "http" => (false, 80),
            _ => return Err(UrlError::NotHttps),
        };
        let url = HttpsUrl::parse_rest(rest, usual_port)?;
        Ok(Self { url, is_encrypted, is_plain_anywhere: true })
    }

    /// The host, with its port.
    fn authority(&self) -> String {
        let usual = if self.is_encrypted { 443 } else { 80 };
        if self.url.port == usual {
            self.url.host.to_string()
        } else {
            format!("{}:{}", self.url.host, self.url.port)
        }
    }
}

impl fmt::Display for OperatorUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        write!(formatter, "{scheme}://{}{}", self.authority(), self.url.target)
    }
}

/// A successful response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub bytes: Vec<u8>,
    /// For how long it may be kept, if the server says so.
    pub max_age: Option<Duration>,
}

/// The response to a request that a server may refuse with reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub bytes: Vec<u8>,
    /// The header `Retry-After`, as the server wrote it.
    pub retry_after: Option<String>,
}

pub struct OperatorClient {
    network: Arc<dyn Network>,
    trust: Trust,
    /// The time of a whole request.
    timeout: Duration,
    max_bytes: u64,
    /// Made when it is first needed: reading the certificates of the system takes a while.
    tls: OnceLock<Arc<ClientConfig>>,
}

impl OperatorClient {
    pub fn new(timeout: Duration, max_bytes: u64) -> Self {
        Self::with(Arc::new(SystemNetwork), Trust::System, timeout, max_bytes)
    }

    /// Uses another network and other certificates than the system's.
    pub fn with(network: Arc<dyn Network>, trust: Trust, timeout: Duration, max_bytes: u64) -> Self {
        Self { network, trust, timeout, max_bytes, tls: OnceLock::new() }
    }

    pub async fn get(&self, url: &OperatorUrl) -> Result<Answer, FetchError> {
        self.ask(url, Request::get(url.url.target.as_str()), String::new()).await
    }

    /// Posts JSON with these headers. Refusals are replies too.
    pub async fn post_json(
        &self,
        url: &OperatorUrl,
        headers: &[(&str, &str)],
        json: String,
    ) -> Result<Reply, FetchError> {
        let request = Request::post(url.url.target.as_str()).header(CONTENT_TYPE, "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let received = self.send(url, request, json, Wanted::Any).await?;
        let retry_after = exchange::header(&received.headers, RETRY_AFTER);
        Ok(Reply { status: received.status.as_u16(), bytes: received.bytes, retry_after })
    }

    /// Posts a form, as the client that `authorization`, the value of the header, names.
    pub async fn post_form(
        &self,
        url: &OperatorUrl,
        authorization: &str,
        form: String,
    ) -> Result<Answer, FetchError> {
        let request = Request::post(url.url.target.as_str())
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(AUTHORIZATION, authorization);
        self.ask(url, request, form).await
    }

    async fn ask(
        &self,
        url: &OperatorUrl,
        request: hyper::http::request::Builder,
        body: String,
    ) -> Result<Answer, FetchError> {
        let received = self.send(url, request, body, Wanted::Success).await?;
        Ok(Answer { max_age: max_age(&received.headers), bytes: received.bytes })
    }

    async fn send(
        &self,
        url: &OperatorUrl,
        request: hyper::http::request::Builder,
        body: String,
        wanted: Wanted,
    ) -> Result<Received, FetchError> {
        let host = url.authority();
        let request = request
            .header(HOST, &host)
            .header(ACCEPT, "application/json")
            // Some servers, GitHub among them, refuse requests without it.
            .header(USER_AGENT, "mcp-bash")
            .header(CONNECTION, "close")
            .body(Full::from(Bytes::from(body)))
            .map_err(|error| FetchError::Unreachable {
                host: host.clone(),
                error: io::Error::other(error),
            })?;
        let received = timeout(self.timeout, self.exchange(url, &host, request, wanted)).await;
        received.unwrap_or(Err(FetchError::NoAnswer { host, within: self.timeout }))
    }

    async fn exchange(
        &self,
        url: &OperatorUrl,
        host: &str,
        request: Request<Full<Bytes>>,
        wanted: Wanted,
    ) -> Result<Received, FetchError> {
        let addresses = self.addresses(url, host).await?;
        let stream = connect_to(&*self.network, &addresses)
            .await
            .map_err(|error| FetchError::Unreachable { host: host.to_owned(), error })?;
        let limit = self.max_bytes;
        let too_large = FetchError::TooLong { host: host.to_owned(), limit };
        if !url.is_encrypted {
            return exchange::send(request, stream, host, limit, too_large, wanted).await;
        }
        let tls = if let Some(tls) = self.tls.get() {
            tls
        } else {
            let tls = self.trust.client_config().await?;
            self.tls.get_or_init(|| tls)
        };
        let stream = exchange::encrypt(&url.url, stream, Arc::clone(tls)).await?;
        exchange::send(request, stream, host, limit, too_large, wanted).await
    }

    async fn addresses(&self, url: &OperatorUrl, host: &str) -> Result<Vec<SocketAddr>, FetchError> {
        let unresolved = |error| FetchError::Unresolved { host: host.to_owned(), error };
        let mut addresses = match &url.url.host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => self.network.resolve(name).await.map_err(unresolved)?,
        };
        // `localhost` is what this machine says it is.
        addresses.retain(|address| url.is_encrypted || url.is_plain_anywhere || address.is_loopback());
        if addresses.is_empty() {
            return Err(unresolved(io::Error::new(io::ErrorKind::NotFound, "its name has no address")));
        }
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, url.url.port)).collect())
    }
}

/// `max-age` of `Cache-Control`, which is 0 where nothing is to be kept.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let directives = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let directives = directives.flat_map(|value| value.split(',')).map(str::trim);
    let ages = directives.filter_map(|directive| match directive.split_once('=') {
        Some((name, seconds)) if name.trim_end().eq_ignore_ascii_case("max-age") => {
            seconds.trim().trim_matches('"').parse().ok().map(Duration::from_secs)
        }
        None if ["no-store", "no-cache"].iter().any(|name| directive.eq_ignore_ascii_case(name)) => {
            Some(Duration::ZERO)
        }
        _ => None,
    });
    ages.min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn only_this_machine_is_asked_without_encryption() {
        for text in [
            "https://login.example.com/a?b=c",
            "https://10.0.0.1:8443/",
            "http://127.0.0.1:9/",
            "http://[::1]:9/",
        ] {
            assert_eq!(OperatorUrl::parse(text).unwrap().to_string(), text);
        }
        assert!(OperatorUrl::parse("http://localhost:9000").is_ok());
        for text in [
            "http://login.example.com/",
            "http://10.0.0.1/",
            "ftp://127.0.0.1/",
            "login.example.com",
            "https://user@login.example.com/",
            "https://",
            "https://a b/",
        ] {
            assert!(OperatorUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_collectors_of_telemetry_are_reached_without_encryption_elsewhere() {
        for text in ["http://collector:4318/v1/traces", "http://10.0.0.1:4318/", "https://collector.example/"]
        {
            assert_eq!(OperatorUrl::parse_plain(text).unwrap().to_string(), text);
        }
        for text in ["collector:4318", "grpc://collector/", "http://a b/", "http://", "http://user@host/"] {
            assert!(OperatorUrl::parse_plain(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_age_of_an_answer_is_what_its_server_says() {
        let age = |value: &'static str| {
            max_age(&HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static(value))]))
        };
        assert_eq!(age("public, max-age=300"), Some(Duration::from_secs(300)));
        assert_eq!(age("Max-Age=\"7\""), Some(Duration::from_secs(7)));
        assert_eq!(age("no-store"), Some(Duration::ZERO));
        assert_eq!(age("max-age=300, no-cache"), Some(Duration::ZERO));
        assert_eq!((age("max-age=soon"), age("public")), (None, None));
    }
}
