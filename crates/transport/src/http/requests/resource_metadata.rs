//! Protected resource metadata (RFC 9728): serves the document by which clients find the issuer. It is public, and every web
//! page may read it.

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
    // Clients send their protocol version here too, which makes browsers send a preflight request.
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("MCP-Protocol-Version, Accept"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
    answer
}
