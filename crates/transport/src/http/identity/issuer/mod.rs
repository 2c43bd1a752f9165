//! Issuers: callers present a token of an OAuth 2.1 issuer. Signed tokens are verified with the cached keys of the issuer;
//! opaque ones by introspection.

mod claims;
mod error;
mod introspection;
mod keys;
mod metadata;
mod shared_questions;

pub use error::{IssuerError, KeysError};
pub(in crate::http) use metadata::ResourceMetadata;

use super::Identified;
use super::bearer::Refused;
use crate::http::limits::identity_options::IssuerOptions;
use crate::http::secrets::guarded_file::Report;
use claims::ClaimNames;
use error::named;
use introspection::Introspection;
use keys::Keys;
use mcp_bash_fetch::OperatorClient;
use mcp_bash_oauth::{Expected, Grant, Hierarchy, Jws, TokenError, is_scope};
use mcp_bash_server::{Identity, KnownBy};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;

/// Timeout of a request to an issuer.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// Size limit of a document of an issuer, in bytes.
const MOST_BYTES: u64 = 512 * 1024;

pub(crate) struct Issuers {
    keys: Vec<Arc<Keys>>,
    audiences: Vec<String>,
    introspection: Option<Introspection>,
    claims: ClaimNames,
    hierarchy: Hierarchy,
    required_scopes: Vec<Box<str>>,
}

/// Why a token was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rejected {
    Token(TokenError),
    /// The issuer does not answer, so it is unknown whether the token is valid.
    IssuerUnreachable,
}

impl From<TokenError> for Rejected {
    fn from(error: TokenError) -> Self {
        Self::Token(error)
    }
}

impl Issuers {
    /// Starts to fetch the keys on `runtime`. `report` creates the receivers of later problems.
    pub(super) fn open(
        options: &IssuerOptions,
        runtime: &Handle,
        report: impl Fn() -> Report,
    ) -> Result<Self, IssuerError> {
        let client = Arc::new(OperatorClient::new(ANSWER_TIME, MOST_BYTES));
        let key_set_url = options.key_set_url.as_deref().map(|url| named("MCPBASH_HTTP_JWKS_URL", url));
        let key_set_url = key_set_url.transpose()?;
        let is_alone = options.issuers.len() == 1;
        if !is_alone && (key_set_url.is_some() || options.introspection.is_some()) {
            return Err(IssuerError::OneIssuerOnly);
        }
        let mut issuers = Vec::new();
        for issuer in &options.issuers {
            named("--issuer", issuer)?;
            let keys = Keys::new(issuer, key_set_url.clone(), Arc::clone(&client), runtime.clone(), report());
            issuers.push(keys);
        }
        let introspection = options.introspection.as_ref();
        let introspection =
            introspection.map(|options| Introspection::open(options, client, report())).transpose()?;
        if let Some(wrong) = options.required_scopes.iter().find(|scope| !is_scope(scope)) {
            return Err(IssuerError::Scope(mcp_bash_oauth::ScopeError::NotAScope(wrong.clone())));
        }
        let hierarchy = Hierarchy::parse(options.scope_hierarchy.iter().map(String::as_str))?;
        // Prefetched, so that the first caller does not wait, and a wrong issuer shows up in the log early.
        for keys in &issuers {
            keys.prefetch();
        }
        Ok(Self {
            keys: issuers,
            audiences: [vec![options.resource.clone()], options.audiences.clone()].concat(),
            introspection,
            claims: ClaimNames::new(options),
            hierarchy,
            required_scopes: options.required_scopes.iter().map(|scope| scope.as_str().into()).collect(),
        })
    }

    /// Why no token can be accepted now.
    pub(super) fn unready(&self) -> Option<String> {
        if self.introspection.is_some() || self.keys.iter().any(Keys::are_known) {
            return None;
        }
        let names: Vec<String> = self.keys.iter().map(|keys| format!("`{}`", keys.issuer())).collect();
        Some(format!(
            "the keys of {} are not known, so no caller can log in; the log says why",
            names.join(", ")
        ))
    }

    /// Identifies the caller by its token.
    pub(super) async fn identify(&self, token: &[u8]) -> Result<Identified, Refused> {
        let (grant, issuer, known_by) = self.accept(token).await.map_err(|rejected| match rejected {
            Rejected::Token(error) => Refused::Token(error),
            Rejected::IssuerUnreachable => Refused::IssuerUnreachable,
        })?;
        let until = grant.accepted_until();
        let scopes = self.hierarchy.expand(grant.scopes);
        if !self.required_scopes.iter().all(|scope| scopes.contains(scope)) {
            return Err(Refused::Scopes);
        }
        let identity = self.claims.identity(issuer, known_by, &grant.claims, scopes);
        let expires = until.and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
        let identity = Identity { expires, ..identity.map_err(Refused::Token)? };
        Ok(Identified { identity: Arc::new(identity), rate: None })
    }

    async fn accept(&self, token: &[u8]) -> Result<(Grant, &str, KnownBy), Rejected> {
        if !Jws::is_one(token) {
            let introspection = self.introspection.as_ref().ok_or(TokenError::NotSigned)?;
            let keys = self.keys.first().ok_or(TokenError::Issuer)?;
            let grant = introspection.ask(token, &self.expected(keys.issuer())).await?;
            return Ok((grant, keys.issuer(), KnownBy::Introspection));
        }
        let token = Jws::parse(token)?;
        let keys = self.keys.iter().find(|keys| Some(keys.issuer()) == token.issuer());
        let keys = keys.ok_or(TokenError::Issuer)?;
        keys.verify(&token).await?;
        let grant = self.expected(keys.issuer()).check(token)?;
        Ok((grant, keys.issuer(), KnownBy::Jwt))
    }

    fn expected<'a>(&'a self, issuer: &'a str) -> Expected<'a> {
        Expected { issuer, audiences: &self.audiences, now: now() }
    }
}

/// Checks that the keys of an issuer can be fetched, from `key_set_url` or the URL in its metadata.
pub async fn check_issuer(issuer: &str, key_set_url: Option<&str>) -> Result<(), IssuerError> {
    named("--issuer", issuer)?;
    let url = key_set_url.map(|url| named("MCPBASH_HTTP_JWKS_URL", url)).transpose()?;
    let client = OperatorClient::new(ANSWER_TIME, MOST_BYTES);
    Ok(keys::check(&client, issuer, url.as_ref()).await?)
}

/// The Unix time in seconds.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
