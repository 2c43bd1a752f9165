//! Bearer token: reads the token of the `Authorization` header, or of the header that the operator names.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use mcp_bash_oauth::{Challenge, ChallengeError, TokenError};

/// Longer tokens are refused. Signed ones with many groups have a few thousand bytes.
const MOST_BYTES: usize = 16 * 1024;

/// Why no caller was identified by a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    NoToken,
    /// Not a bearer token, or more than one header.
    Unreadable,
    /// The token is not in the token file.
    Unknown,
    /// The token of an issuer is not valid.
    Token(TokenError),
    /// The token lacks scopes that every request needs.
    Scopes,
    IssuerUnreachable,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown<'a> {
    Nothing,
    Token(&'a [u8]),
    /// Not a bearer token, or more than one header.
    Unreadable,
}

/// The token of a request: from the header that the operator names, if it is present, otherwise from `Authorization`.
pub(super) fn shown<'a>(headers: &'a HeaderMap, token_header: Option<&HeaderName>) -> Shown<'a> {
    let mut brought = token_header.into_iter().flat_map(|name| headers.get_all(name));
    match (brought.next(), brought.next()) {
        (None, _) => in_authorization(headers),
        (Some(token), None) if is_token(token.as_bytes()) => Shown::Token(token.as_bytes()),
        (Some(_), _) => Shown::Unreadable,
    }
}

fn in_authorization(headers: &HeaderMap) -> Shown<'_> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Shown::Nothing,
        (Some(value), None) => value.as_bytes(),
        // With two headers, a proxy in front of this server could use the other one.
        (Some(_), Some(_)) => return Shown::Unreadable,
    };
    let Some((scheme, token)) = value.split_once_space() else { return Shown::Unreadable };
    let token = token.trim_ascii();
    if scheme.eq_ignore_ascii_case(b"bearer") && is_token(token) {
        Shown::Token(token)
    } else {
        Shown::Unreadable
    }
}

trait SplitOnceSpace {
    fn split_once_space(&self) -> Option<(&[u8], &[u8])>;
}

impl SplitOnceSpace for [u8] {
    fn split_once_space(&self) -> Option<(&[u8], &[u8])> {
        let at = self.iter().position(|byte| *byte == b' ')?;
        Some((&self[..at], &self[at + 1..]))
    }
}

/// Whether it is a `b64token` (RFC 6750).
fn is_token(token: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
    (1..=MOST_BYTES).contains(&token.len()) && token.iter().all(is_letter)
}

/// The challenge of a server without an issuer.
pub(super) fn challenge(error: Option<ChallengeError>, description: Option<&str>) -> HeaderValue {
    let challenge = Challenge { error, description, scopes: &[], resource_metadata: None };
    HeaderValue::from_str(&challenge.to_string()).unwrap_or(HeaderValue::from_static("Bearer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    #[test]
    fn one_bearer_token_is_taken_and_nothing_else() {
        assert_eq!(shown(&headers(&[]), None), Shown::Nothing);
        for value in ["Bearer abc", "bearer abc", "BEARER   abc", "Bearer abc "] {
            assert_eq!(shown(&headers(&[value]), None), Shown::Token(b"abc"), "{value}");
        }
        let long = format!("Bearer {}", "a".repeat(MOST_BYTES + 1));
        for values in [
            &["Bearer"][..],
            &["Bearer "],
            &[""],
            &["abc"],
            &["Basic YTpi"],
            &["Bearer a b"],
            &["Bearer a,b"],
            &["Bearer\tabc"],
            &["Bearer a\u{e9}"],
            &["Bearer abc", "Bearer abc"],
            &["Bearer abc", "Bearer other"],
            &[&long],
        ] {
            assert_eq!(shown(&headers(values), None), Shown::Unreadable, "{values:?}");
        }
    }

    #[test]
    fn a_proxy_brings_the_token_in_its_own_header() {
        let name = HeaderName::from_static("cf-access-jwt-assertion");
        let mut both = headers(&["Bearer own"]);
        assert_eq!(shown(&both, Some(&name)), Shown::Token(b"own"));
        both.append(&name, HeaderValue::from_static("brought"));
        assert_eq!(shown(&both, Some(&name)), Shown::Token(b"brought"));
        assert_eq!(shown(&both, None), Shown::Token(b"own"));
        both.append(&name, HeaderValue::from_static("brought"));
        assert_eq!(shown(&both, Some(&name)), Shown::Unreadable);
    }
}
