//! JSON Web Signature in compact form: a header, a payload and a signature, parsed within limits.

use crate::algorithm::Algorithm;
use crate::error::TokenError;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

/// The longest token, in bytes. Those with many groups in them have a few thousand.
const MOST_BYTES: usize = 16 * 1024;

/// A parsed token. Nothing in it is verified.
#[derive(Debug, Clone, PartialEq)]
pub struct Jws<'a> {
    /// Header and payload as they were signed.
    pub(crate) signed: &'a [u8],
    pub(crate) algorithm: Algorithm,
    /// The id of the key that signed it.
    pub(crate) key_id: Option<String>,
    pub(crate) claims: Map<String, Value>,
    pub(crate) signature: Vec<u8>,
}

impl<'a> Jws<'a> {
    pub fn parse(token: &'a [u8]) -> Result<Self, TokenError> {
        if token.len() > MOST_BYTES {
            return Err(TokenError::TooLong);
        }
        let Parts { header, payload, signature, signed } = Parts::of(token).ok_or(TokenError::NotSigned)?;
        let header = object(header).ok_or(TokenError::NotSigned)?;
        let algorithm = header.get("alg").and_then(Value::as_str).and_then(Algorithm::parse);
        let algorithm = algorithm.ok_or(TokenError::Algorithm)?;
        if header.contains_key("crit") {
            return Err(TokenError::Critical);
        }
        if !header.get("typ").is_none_or(is_access_token) {
            return Err(TokenError::Type);
        }
        let key_id = match header.get("kid") {
            None => None,
            Some(Value::String(key_id)) => Some(key_id.clone()),
            Some(_) => return Err(TokenError::UnknownKey),
        };
        let claims = object(payload).ok_or(TokenError::Claims)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| TokenError::Signature)?;
        Ok(Self { signed, algorithm, key_id, claims, signature })
    }

    /// Whether a token has the form of a signed one. Any other is opaque: only its issuer can tell what it grants.
    pub fn is_one(token: &[u8]) -> bool {
        let header = Parts::of(token).and_then(|parts| object(parts.header));
        header.is_some_and(|header| header.contains_key("alg"))
    }

    /// The issuer that the token names, which decides whose keys verify it.
    pub fn issuer(&self) -> Option<&str> {
        self.claims.get("iss").and_then(Value::as_str)
    }
}

/// The parts of a token, as they are written.
struct Parts<'a> {
    header: &'a [u8],
    payload: &'a [u8],
    signature: &'a [u8],
    /// The first two with the dot between them.
    signed: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(token: &'a [u8]) -> Option<Self> {
        let mut parts = token.split(|byte| *byte == b'.');
        let (header, payload, signature) = (parts.next()?, parts.next()?, parts.next()?);
        // Five parts are an encrypted token.
        if parts.next().is_some() {
            return None;
        }
        Some(Self { header, payload, signature, signed: &token[..header.len() + 1 + payload.len()] })
    }
}

fn object(part: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

/// Other types, such as an assertion that is exchanged for a token (`oauth-id-jag+jwt`) or a logout, grant nothing here.
fn is_access_token(kind: &Value) -> bool {
    let kind = kind.as_str().unwrap_or_default().to_ascii_lowercase();
    matches!(kind.strip_prefix("application/").unwrap_or(&kind), "at+jwt" | "jwt")
}
