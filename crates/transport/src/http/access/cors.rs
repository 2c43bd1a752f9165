//! CORS: the response headers that allow a web page to use the server.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

const METHODS: &str = "GET, POST, DELETE";

/// Request headers that clients send. Tool parameters in headers are added by name: `*` would not cover `Authorization`.
const REQUEST_HEADERS: &str = "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, \
                               MCP-Session-Id, Last-Event-ID";

const RESPONSE_HEADERS: &str = "MCP-Session-Id, WWW-Authenticate, Retry-After";

/// How many seconds a browser may cache a preflight response.
const REMEMBERED: &str = "3600";

/// At most this many parameter headers are allowed.
const MOST_PARAMETERS: usize = 64;

pub(super) fn headers(origin: &HeaderValue) -> [(HeaderName, HeaderValue); 3] {
    [
        (ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone()),
        (ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS)),
        // Caches must not serve the response for one page to another.
        (VARY, HeaderValue::from_static("Origin")),
    ]
}

pub(super) fn preflight(request: &HeaderMap) -> Response<()> {
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let Some(origin) = request.get(ORIGIN) else { return response };
    let answer = response.headers_mut();
    answer.extend(headers(origin));
    answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed_headers(request));
    answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(REMEMBERED));
    response
}

fn allowed_headers(request: &HeaderMap) -> HeaderValue {
    let asked =
        request.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter().filter_map(|value| value.to_str().ok());
    let parameters = asked.flat_map(|value| value.split(',')).filter_map(parameter).take(MOST_PARAMETERS);
    let mut allowed = REQUEST_HEADERS.to_owned();
    for name in parameters {
        allowed.push_str(", ");
        allowed.push_str(name.as_str());
    }
    HeaderValue::from_str(&allowed).unwrap_or(HeaderValue::from_static(REQUEST_HEADERS))
}

/// The name of a header, if it carries a tool parameter.
fn parameter(name: &str) -> Option<HeaderName> {
    let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
    name.as_str().starts_with("mcp-param-").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_receives_the_allowed_methods_and_headers() {
        let mut request = HeaderMap::new();
        request.insert(ORIGIN, HeaderValue::from_static("http://localhost:6274"));
        let asked =
            HeaderValue::from_static("authorization, mcp-param-Region, x-other, mcp-param-a b, mcp-param-b");
        request.insert(ACCESS_CONTROL_REQUEST_HEADERS, asked);
        let response = preflight(&request);
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
        let header = |name| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("access-control-allow-origin"), "http://localhost:6274");
        assert_eq!(header("vary"), "Origin");
        assert_eq!(header("access-control-allow-methods"), "GET, POST, DELETE");
        let allowed = header("access-control-allow-headers");
        assert!(allowed.ends_with("Last-Event-ID, mcp-param-region, mcp-param-b"), "{allowed}");
        assert!(!allowed.contains('*') && !allowed.contains("x-other"));
        assert!(!response.headers().contains_key("access-control-allow-credentials"));
    }

    #[test]
    fn a_flood_of_names_is_cut() {
        let mut request = HeaderMap::new();
        request.insert(ORIGIN, HeaderValue::from_static("http://localhost"));
        let asked: Vec<String> = (0..1000).map(|number| format!("mcp-param-{number}")).collect();
        request.insert(ACCESS_CONTROL_REQUEST_HEADERS, asked.join(",").parse().unwrap());
        let allowed = preflight(&request).headers()["access-control-allow-headers"].clone();
        assert_eq!(allowed.to_str().unwrap().matches("mcp-param-").count(), MOST_PARAMETERS);
    }
}
