//! Bearer token: reads the token of the `Authorization` header.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

/// Longer tokens than this are nobody's.
const MOST_BYTES: usize = 4096;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown<'a> {
    Nothing,
    Token(&'a [u8]),
    /// Something that is no bearer token, or more than one header.
    Unreadable,
}

pub(super) fn shown(headers: &HeaderMap) -> Shown<'_> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Shown::Nothing,
        (Some(value), None) => value.as_bytes(),
        // Which of the two is meant could be seen differently by whoever stands before us.
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

/// What RFC 6750 calls `b64token`.
fn is_token(token: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
    (1..=MOST_BYTES).contains(&token.len()) && token.iter().all(is_letter)
}

/// Asks for a token.
pub(super) fn wanted() -> HeaderValue {
    HeaderValue::from_static(r#"Bearer realm="mcp-bash""#)
}

/// Says that the token is not one of ours, and nothing about why.
pub(super) fn wrong() -> HeaderValue {
    HeaderValue::from_static(
        r#"Bearer realm="mcp-bash", error="invalid_token", error_description="the token is not known""#,
    )
}

/// Says that there has to be exactly one token.
pub(super) fn unreadable() -> HeaderValue {
    HeaderValue::from_static(
        r#"Bearer realm="mcp-bash", error="invalid_request", error_description="send one header: Authorization: Bearer TOKEN""#,
    )
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
        assert_eq!(shown(&headers(&[])), Shown::Nothing);
        for value in ["Bearer abc", "bearer abc", "BEARER   abc", "Bearer abc "] {
            assert_eq!(shown(&headers(&[value])), Shown::Token(b"abc"), "{value}");
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
            assert_eq!(shown(&headers(values)), Shown::Unreadable, "{values:?}");
        }
    }
}
