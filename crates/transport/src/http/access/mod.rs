//! Allowed hosts and origins: checks the name under which the server was called (`Host`), and the web page that calls it
//! (`Origin`).
//!
//! A malicious web page can make a browser send requests to any address, including those of this machine, and can point its own
//! name there (DNS rebinding). Such requests carry the page's `Origin`, and after rebinding its name as `Host`: both are
//! refused. Programs send no `Origin`.

mod authority;
mod cors;
pub(in crate::http) mod exposure;
mod origin;

use crate::http::limits::options::Options;
use crate::http::listen::Listener;
use authority::Authority;
use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use mcp_bash_server::AuditReason;
use origin::Origin;
use std::str::FromStr;

#[derive(Debug)]
pub(crate) struct AccessRules {
    hosts: Allowed<Authority>,
    origins: Allowed<Origin>,
    /// Whether other machines can reach the server.
    wide: bool,
    behind_proxy: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    #[error("`{0}` is no host; write a name or an address, with or without a port: `mcp.example.com`")]
    Host(String),
    #[error(
        "`{0}` is no origin; write scheme, host and port as a browser sends them: `https://app.example.com`"
    )]
    Origin(String),
}

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    /// The reason, for the client.
    pub(crate) reason: String,
}

impl Refused {
    fn host(reason: impl Into<String>) -> Self {
        Self { status: StatusCode::MISDIRECTED_REQUEST, reason: reason.into() }
    }

    fn origin(reason: impl Into<String>) -> Self {
        Self { status: StatusCode::FORBIDDEN, reason: reason.into() }
    }

    /// The reason in the audit log.
    pub(crate) fn audit_reason(&self) -> AuditReason {
        if self.status == StatusCode::FORBIDDEN { AuditReason::Origin } else { AuditReason::Host }
    }
}

impl AccessRules {
    pub(crate) fn new(options: &Options, listeners: &[Listener]) -> Result<Self, AccessError> {
        // The host of the public URL, if there is one, is allowed.
        let public = options.issuer.as_ref().and_then(|issuer| issuer.resource.parse::<Uri>().ok());
        let public = public.as_ref().and_then(|uri| Some(uri.host()?.to_owned()));
        let hosts: Vec<String> = options.allowed_hosts.iter().cloned().chain(public).collect();
        let hosts = Allowed::parse(&hosts, AccessError::Host)?;
        let origins = Allowed::parse(&options.allowed_origins, AccessError::Origin)?;
        let wide = listeners.iter().any(|listener| listener.wide_address().is_some());
        Ok(Self { hosts, origins, wide, behind_proxy: options.behind_proxy })
    }

    /// Checks the host and the origin of a request. `tls` is whether the request came encrypted.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap, tls: bool) -> Result<(), Refused> {
        let host = self.check_host(uri, headers)?;
        self.check_origin(&host, headers, tls)
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<Authority, Refused> {
        let host = match only(headers, &HOST) {
            Only::One(value) => {
                readable(value).ok_or_else(|| Refused::host("the Host header cannot be read"))?
            }
            Only::None => return Err(Refused::host("there is no Host header")),
            Only::Several => return Err(Refused::host("there is more than one Host header")),
        };
        // An absolute URL in the request line takes precedence over the header.
        if let Some(target) = uri.authority()
            && Authority::from_str(target.as_str()).ok().as_ref() != Some(&host)
        {
            return Err(Refused::host("the request line and the Host header name different hosts"));
        }
        if !self.serves(&host) {
            return Err(Refused::host(format!(
                "this server is not known as `{host}`; its operator can allow that with `--allow-host {}`",
                host.host
            )));
        }
        Ok(host)
    }

    fn serves(&self, asked: &Authority) -> bool {
        // No malicious page can have one of these names: an address cannot be rebound.
        let is_safe =
            if self.wide { asked.host.is_local() || asked.host.is_address() } else { asked.host.is_local() };
        let is_listed = |listed: &Authority| {
            listed.host == asked.host && (listed.port.is_none() || listed.port == asked.port)
        };
        is_safe || self.hosts.has(is_listed)
    }

    fn check_origin(&self, host: &Authority, headers: &HeaderMap, tls: bool) -> Result<(), Refused> {
        let origin: Origin = match only(headers, &ORIGIN) {
            Only::None => return Ok(()),
            Only::One(value) => readable(value)
                .ok_or_else(|| Refused::origin("the Origin header is not that of a web page"))?,
            Only::Several => return Err(Refused::origin("there is more than one Origin header")),
        };
        // If only this machine can reach the server, it trusts pages served by this machine, such as inspectors.
        let is_local = !self.wide && origin.is_web() && origin.authority.host.is_local();
        let is_own = origin.is_page_of(host, tls || self.behind_proxy);
        if is_local || is_own || self.origins.has(|listed| *listed == origin) {
            return Ok(());
        }
        Err(Refused::origin(format!(
            "web pages of `{origin}` may not use this server; its operator can allow them with `--allow-origin {origin}`"
        )))
    }

    /// The response to a CORS preflight request, which has passed `check`.
    #[expect(clippy::unused_self, reason = "the rules also decide the headers of requests that they allow")]
    pub(crate) fn preflight(&self, headers: &HeaderMap) -> http::Response<()> {
        cors::preflight(headers)
    }

    /// The headers that let the page read the response. `origin` is that of a request that has passed `check`.
    #[expect(clippy::unused_self, reason = "the rules also decide the headers of requests that they allow")]
    pub(crate) fn cors_headers(&self, origin: &HeaderValue) -> [(HeaderName, HeaderValue); 3] {
        cors::headers(origin)
    }
}

enum Only<'a> {
    None,
    One(&'a HeaderValue),
    Several,
}

fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Only<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Only::None,
        (Some(value), None) => Only::One(value),
        (Some(_), Some(_)) => Only::Several,
    }
}

fn readable<T: FromStr>(value: &HeaderValue) -> Option<T> {
    value.to_str().ok()?.parse().ok()
}

/// An allow list of the operator.
#[derive(Debug)]
enum Allowed<T> {
    Anything,
    Listed(Vec<T>),
}

impl<T: FromStr> Allowed<T> {
    fn parse(entries: &[String], refused: impl Fn(String) -> AccessError) -> Result<Self, AccessError> {
        let parse =
            |entry: &String| entry.trim().parse().map_err(|_| refused(entry.escape_debug().to_string()));
        let listed =
            entries.iter().filter(|entry| entry.trim() != "*").map(parse).collect::<Result<Vec<_>, _>>()?;
        Ok(if listed.len() < entries.len() { Self::Anything } else { Self::Listed(listed) })
    }

    fn has(&self, is_meant: impl Fn(&T) -> bool) -> bool {
        match self {
            Self::Anything => true,
            Self::Listed(listed) => listed.iter().any(is_meant),
        }
    }
}

#[cfg(test)]
mod tests;
