//! Protected resource metadata (RFC 9728): the document by which clients find the issuer. Everyone may read it, from every page.

use crate::http::identity::ResourceMetadata;
use crate::http::requests::endpoint::Endpoint;
use crate::http::requests::respond::{self, Answer};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL,
};
use http::{HeaderValue, Method, Request, StatusCode};
use hyper::body::Incoming;

pub(super) fn answer(
    endpoint: &Endpoint,
    metadata: &ResourceMetadata,
    request: &Request<Incoming>,
) -> Answer {
    let mut answer = match *request.method() {
        Method::GET => {
            let document = endpoint.server.served().look(|catalog| {
                let scopes = catalog.tools.items().iter().flat_map(|tool| &tool.options.scopes);
                metadata.document(&catalog.identity.name, scopes.map(String::as_str))
            });
            respond::message(StatusCode::OK, document.into())
        }
        Method::HEAD => respond::message(StatusCode::OK, bytes::Bytes::new()),
        Method::OPTIONS => respond::status(StatusCode::NO_CONTENT),
        _ => respond::not_allowed("GET, HEAD, OPTIONS"),
    };
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, OPTIONS"));
    // Clients send their version here too, which makes browsers ask first.
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("MCP-Protocol-Version, Accept"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
    answer
}
