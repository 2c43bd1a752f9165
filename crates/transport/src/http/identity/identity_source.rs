//! Identity source: identifies callers by the configured methods in a fixed order: trusted proxy, client certificate, bearer
//! token. Without any, callers are distinguished by their address.

use super::bearer::{self, Refused, Shown};
use super::issuer::{Issuers, ResourceMetadata};
use super::tokens::Tokens;
use super::trusted_proxy::{Head, TrustedProxy};
use super::visitor::{ClientCertificate, Visitor};
use super::{Identified, IdentityError, Unidentified};
use crate::http::limits::options::Options;
use crate::http::limits::rate::Rates;
use crate::http::secrets::guarded_file::Report;
use http::{HeaderName, HeaderValue};
use mcp_bash_oauth::{ChallengeError, Jws};
use mcp_bash_roles::Rate;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;

/// How many wrong tokens a peer may send before it is throttled.
const GUESSES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(10).unwrap();

pub(crate) struct IdentitySource {
    proxy: Option<TrustedProxy>,
    has_certificates: bool,
    tokens: Option<Tokens>,
    issuers: Option<Box<Issuers>>,
    metadata: Option<ResourceMetadata>,
    token_header: Option<HeaderName>,
    /// The rate of wrong tokens by peer. Valid ones are never throttled, however many wrong ones come from the same peer.
    guesses: Rates,
}

impl IdentitySource {
    /// Opens the configured methods. `report` creates the receivers of later problems with files and issuers; keys of issuers
    /// are fetched on `runtime`.
    pub(crate) fn open(
        options: &Options,
        runtime: &Handle,
        report: impl Fn() -> Report,
    ) -> Result<Self, IdentityError> {
        let proxy = options.proxy.as_ref().map(|proxy| TrustedProxy::open(proxy, report()));
        let tokens = options.tokens.as_deref().map(|file| Tokens::open(file, report()));
        let issuer = options.issuer.as_ref();
        let metadata = issuer.map(ResourceMetadata::new).transpose()?;
        let issuers = issuer.map(|issuer| Issuers::open(issuer, runtime, report)).transpose()?.map(Box::new);
        let token_header = issuer.and_then(|issuer| issuer.token_header.as_ref());
        let token_header =
            token_header.map(|name| name.parse().map_err(|_| IdentityError::TokenHeader(name.clone())));
        Ok(Self {
            proxy: proxy.transpose()?,
            has_certificates: options.tls.as_ref().is_some_and(|tls| tls.clients.is_some()),
            tokens: tokens.transpose()?,
            issuers,
            metadata,
            token_header: token_header.transpose()?,
            guesses: Rates::default(),
        })
    }

    /// The metadata that leads clients to the issuer, if there is one.
    pub(in crate::http) fn metadata(&self) -> Option<&ResourceMetadata> {
        self.metadata.as_ref()
    }

    /// Why no caller can be identified now: issuers are the only method, and none of their keys are known.
    pub(in crate::http) fn unready(&self) -> Option<String> {
        let is_only_way = self.proxy.is_none() && !self.has_certificates && self.tokens.is_none();
        self.issuers.as_ref().filter(|_| is_only_way)?.unready()
    }

    /// Identifies the caller of a request.
    pub(crate) async fn identify(
        &self,
        head: Head<'_>,
        visitor: &Visitor,
    ) -> Result<Identified, Unidentified> {
        if let Some(named) = self.proxy.as_ref().and_then(|proxy| proxy.identify(head, visitor)) {
            return named;
        }
        match &visitor.certificate {
            ClientCertificate::Named { identity, .. } => {
                return Ok(Identified { identity: Arc::clone(identity), rate: None });
            }
            ClientCertificate::Nameless => {
                return Err(Unidentified::Forbidden(
                    "Forbidden: the client certificate has no name of the kind that this server uses, or more than one",
                ));
            }
            ClientCertificate::None => {}
        }
        if self.tokens.is_none() && self.issuers.is_none() {
            if self.proxy.is_none() && !self.has_certificates {
                return Ok(Identified { identity: Arc::clone(&visitor.identity), rate: None });
            }
            return Err(Unidentified::Forbidden(
                "Forbidden: this server requires a client certificate, or a request through its proxy",
            ));
        }
        let shown = bearer::shown(head.headers, self.token_header.as_ref());
        self.by_token(shown).await.map_err(|refused| self.unidentified(refused, visitor))
    }

    async fn by_token(&self, shown: Shown<'_>) -> Result<Identified, Refused> {
        let token = match shown {
            Shown::Token(token) => token,
            Shown::Nothing => return Err(Refused::NoToken),
            Shown::Unreadable => return Err(Refused::Unreadable),
        };
        let is_signed = self.issuers.is_some() && Jws::is_one(token);
        if let Some(tokens) = self.tokens.as_ref().filter(|_| !is_signed)
            && let Some(found) = tokens.find(token, Instant::now())
        {
            return Ok(found);
        }
        match &self.issuers {
            Some(issuers) => issuers.identify(token).await,
            None => Err(Refused::Unknown),
        }
    }

    fn unidentified(&self, refused: Refused, visitor: &Visitor) -> Unidentified {
        let (error, description) = match refused {
            Refused::NoToken => (None, None),
            Refused::IssuerUnreachable => return Unidentified::IssuerUnreachable,
            Refused::Scopes => return Unidentified::TooFewScopes(self.scope_challenge(&[])),
            Refused::Unreadable => (
                Some(ChallengeError::InvalidRequest),
                Some("send one header: Authorization: Bearer TOKEN".to_owned()),
            ),
            Refused::Unknown => {
                (Some(ChallengeError::InvalidToken), Some("the token is not known".to_owned()))
            }
            Refused::Token(error) => (Some(ChallengeError::InvalidToken), Some(error.to_string())),
        };
        // A request without a token is not a guess.
        let is_guess = error.is_some();
        if is_guess && !self.may_guess(visitor) {
            return Unidentified::Throttled;
        }
        Unidentified::Unauthorized(self.challenge(error, description.as_deref(), &[]))
    }

    /// Counts a wrong credential of a peer. False if there were too many lately.
    pub(in crate::http) fn may_guess(&self, visitor: &Visitor) -> bool {
        self.guesses.allow(&visitor.name, Rate::per_minute(GUESSES_PER_MINUTE)).is_ok()
    }

    /// The challenge for an operation that needs these scopes.
    pub(in crate::http) fn scope_challenge(&self, scopes: &[Box<str>]) -> HeaderValue {
        let description = Some("the token does not have the scopes that this needs");
        self.challenge(Some(ChallengeError::InsufficientScope), description, scopes)
    }

    fn challenge(
        &self,
        error: Option<ChallengeError>,
        description: Option<&str>,
        scopes: &[Box<str>],
    ) -> HeaderValue {
        match &self.metadata {
            Some(metadata) => metadata.challenge(error, description, scopes),
            None => bearer::challenge(error, description),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::token_file::{Grant, TokenLine};
    use super::*;
    use crate::http::listen::Peer;
    use http::header::AUTHORIZATION;
    use http::{HeaderMap, Method, Uri};
    use std::os::unix::fs::PermissionsExt;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn visitor(address: &str) -> Visitor {
        Visitor::new(&Peer::Tcp(address.parse().unwrap()), false)
    }

    /// The result of the first poll: a source without issuers never waits.
    fn at_once(
        source: &IdentitySource,
        headers: &HeaderMap,
        address: &str,
    ) -> Result<Identified, Unidentified> {
        let (visitor, uri) = (visitor(address), Uri::from_static("/mcp"));
        let head = Head { method: &Method::POST, uri: &uri, headers };
        let mut identified = pin!(source.identify(head, &visitor));
        match identified.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(identified) => identified,
            Poll::Pending => panic!("it waits"),
        }
    }

    fn bearer(token: &str) -> HeaderMap {
        HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {token}").parse().unwrap())])
    }

    fn open(options: &Options) -> IdentitySource {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        IdentitySource::open(options, runtime.handle(), || Box::new(|words| panic!("{words}"))).unwrap()
    }

    /// A source with a token for alice, and that token.
    fn by_token() -> (IdentitySource, String) {
        let (line, token) = TokenLine::generate("alice", Grant::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        std::fs::write(&file, line.to_string()).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        (open(&Options { tokens: Some(file), ..Options::default() }), token)
    }

    #[test]
    fn local_sources_answer_at_once() {
        let (nothing, address) = (HeaderMap::new(), "10.0.0.1:1");
        let by_address = open(&Options::default());
        assert_eq!(&*at_once(&by_address, &nothing, address).unwrap().identity.name, "address 10.0.0.1");
        let (by_token, token) = by_token();
        assert_eq!(&*at_once(&by_token, &bearer(&token), address).unwrap().identity.name, "alice");
        let refused = |headers: &HeaderMap| match at_once(&by_token, headers, address) {
            Err(Unidentified::Unauthorized(challenge)) => challenge.to_str().unwrap().to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(&nothing), r#"Bearer realm="mcp-bash""#);
        assert!(refused(&bearer("wrong")).contains(r#", error="invalid_token""#));
        let mut twice = bearer(&token);
        twice.append(AUTHORIZATION, twice[AUTHORIZATION].clone());
        assert!(refused(&twice).contains(r#", error="invalid_request""#));
    }

    #[test]
    fn guessing_slows_down_only_the_guesser() {
        let (source, token) = by_token();
        let guess = |address: &str| {
            matches!(at_once(&source, &bearer("wrong"), address), Err(Unidentified::Throttled))
        };
        let slowed = (0..20).filter(|_| guess("10.0.0.1:1")).count();
        assert_eq!(slowed, 10);
        assert!(guess("10.0.0.1:2") && !guess("10.0.0.2:1"));
        // A valid token from the same peer is accepted, and a request without a token is not a guess.
        assert!(at_once(&source, &bearer(&token), "10.0.0.1:1").is_ok());
        let nothing = at_once(&source, &HeaderMap::new(), "10.0.0.1:1");
        assert!(matches!(nothing, Err(Unidentified::Unauthorized(_))));
    }
}
