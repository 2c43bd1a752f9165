//! Request headers, as the server reads them.

use http::HeaderMap;
use mcp_bash_server::{Header, Headers};

pub(in crate::http) struct RequestHeaders<'a>(pub(in crate::http) &'a HeaderMap);

impl Headers for RequestHeaders<'_> {
    fn get(&self, name: &str) -> Header<'_> {
        let mut values = self.0.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Header::Absent,
            (Some(value), None) => Header::Once(value.as_bytes().trim_ascii()),
            (Some(_), Some(_)) => Header::Repeated,
        }
    }
}

/// The value of that header as text, if there is exactly one.
pub(in crate::http) fn only<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => std::str::from_utf8(value.as_bytes().trim_ascii()).ok(),
        _ => None,
    }
}
