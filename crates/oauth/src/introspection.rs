//! Token introspection (RFC 7662): what an issuer answers about an opaque token.

use crate::claims::{Expected, Grant};
use crate::error::TokenError;
use serde_json::{Map, Value};

/// What the token grants, by the answer of its issuer.
pub fn read(answer: &[u8], expected: &Expected<'_>) -> Result<Grant, TokenError> {
    let claims: Map<String, Value> = serde_json::from_slice(answer).map_err(|_| TokenError::Claims)?;
    if claims.get("active") != Some(&Value::Bool(true)) {
        return Err(TokenError::NotActive);
    }
    expected.check_introspected(claims)
}

/// The form that asks about a token, which is a `b64token`: of its characters, a form escapes `+`, `/` and `=`.
pub fn question(token: &str) -> String {
    let token = token.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    format!("token={token}&token_type_hint=access_token")
}
