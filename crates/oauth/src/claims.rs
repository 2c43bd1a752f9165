//! Claims: what a token says, checked against what this server expects.

use crate::audience::is_same_resource;
use crate::error::TokenError;
use crate::jws::Jws;
use crate::scopes::read_scopes;
use serde_json::{Map, Value};

/// How far the clocks of issuers may be from ours, in seconds.
const LEEWAY: u32 = 60;

/// What a token must say to be accepted.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The issuer, to the letter.
    pub issuer: &'a str,
    /// One of these must be among the audiences of the token.
    pub audiences: &'a [String],
    /// Seconds since 1970.
    pub now: u64,
}

/// What a valid token grants.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    pub claims: Map<String, Value>,
    pub scopes: Vec<Box<str>>,
    /// When it ends, in seconds since 1970. `None` if the issuer did not say, which only introspection may leave out.
    pub expires: Option<u64>,
}

impl Grant {
    /// When it is accepted no more, in seconds since 1970: with the leeway for the clock of its issuer.
    pub fn accepted_until(&self) -> Option<u64> {
        self.expires.map(|expires| expires.saturating_add(LEEWAY.into()))
    }
}

impl Expected<'_> {
    /// Checks the claims of a token whose signature was verified.
    pub fn check(&self, token: Jws<'_>) -> Result<Grant, TokenError> {
        if token.issuer() != Some(self.issuer) {
            return Err(TokenError::Issuer);
        }
        let expires = time(&token.claims, "exp")?.ok_or(TokenError::Missing("exp"))?;
        self.check_rest(token.claims, Some(expires))
    }

    /// Checks the answer of the issuer about a token: it may leave out its own name and the end of the token.
    pub(crate) fn check_introspected(&self, claims: Map<String, Value>) -> Result<Grant, TokenError> {
        if claims.get("iss").is_some_and(|issuer| issuer != self.issuer) {
            return Err(TokenError::Issuer);
        }
        let expires = time(&claims, "exp")?;
        self.check_rest(claims, expires)
    }

    fn check_rest(&self, claims: Map<String, Value>, expires: Option<f64>) -> Result<Grant, TokenError> {
        #[expect(clippy::cast_precision_loss, reason = "seconds of our time have far fewer digits")]
        let now = self.now as f64;
        if expires.is_some_and(|expires| now >= expires + f64::from(LEEWAY)) {
            return Err(TokenError::Expired);
        }
        if time(&claims, "nbf")?.is_some_and(|begins| now < begins - f64::from(LEEWAY)) {
            return Err(TokenError::NotYetValid);
        }
        if time(&claims, "iat")?.is_some_and(|issued| now < issued - f64::from(LEEWAY)) {
            return Err(TokenError::FromTheFuture);
        }
        if !self.is_audience(claims.get("aud").ok_or(TokenError::Missing("aud"))?) {
            return Err(TokenError::Audience);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let expires = expires.map(|expires| expires as u64);
        Ok(Grant { scopes: read_scopes(&claims), claims, expires })
    }

    fn is_audience(&self, audience: &Value) -> bool {
        let is_ours = |named: &Value| {
            named.as_str().is_some_and(|named| self.audiences.iter().any(|own| is_same_resource(own, named)))
        };
        match audience {
            Value::Array(several) => several.iter().any(is_ours),
            one => is_ours(one),
        }
    }
}

/// A time in seconds since 1970, which may have a fraction.
fn time(claims: &Map<String, Value>, name: &'static str) -> Result<Option<f64>, TokenError> {
    match claims.get(name) {
        None => Ok(None),
        Some(value) => {
            let seconds = value.as_f64().filter(|seconds| seconds.is_finite());
            seconds.map(Some).ok_or(TokenError::Missing(name))
        }
    }
}
