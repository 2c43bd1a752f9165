//! Access rule tests: allowed hosts and origins.

use super::*;
use crate::http::listen::Address;

/// The access rules of a server that only this machine, or others too, can reach.
fn rules_for(address: &str, hosts: &[&str], origins: &[&str]) -> AccessRules {
    let owned = |listed: &[&str]| listed.iter().map(ToString::to_string).collect();
    let options =
        Options { allowed_hosts: owned(hosts), allowed_origins: owned(origins), ..Options::default() };
    let listeners = Listener::open(&Address::parse(address).unwrap()).unwrap();
    AccessRules::new(&options, &listeners).unwrap()
}

const LOCAL: &str = "127.0.0.1:0";
const WIDE: &str = "0.0.0.0:0";

fn headers(given: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        headers.append(HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

fn status(access: &AccessRules, given: &[(&'static str, &str)]) -> u16 {
    let checked = access.check(&Uri::from_static("/mcp"), &headers(given), false);
    checked.map_or_else(|refused| refused.status.as_u16(), |()| 200)
}

#[tokio::test]
async fn this_machine_is_served_under_its_own_names() {
    let access = rules_for(LOCAL, &[], &[]);
    for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:9", "[::1]:8080", "127.0.0.2", "localhost."] {
        assert_eq!(status(&access, &[("host", host)]), 200, "{host}");
    }
    for host in [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil",
        "localhost.evil.example:8080",
        "evil.example:127",
        "user@localhost",
        "localhost@evil.example",
        "localhost:80@evil.example",
        "[::1%lo]:80",
        "192.168.1.1",
        "0.0.0.0",
        "",
        " ",
        "localhost:",
        "localhost:x",
        "127.1",
        "0x7f000001",
        "2130706433",
        "localhost, evil.example",
        "[::1]evil",
        "localhost\u{e9}",
    ] {
        assert_eq!(status(&access, &[("host", host)]), 421, "{host:?}");
    }
    assert_eq!(status(&access, &[]), 421);
    assert_eq!(status(&access, &[("host", "localhost"), ("host", "localhost")]), 421);
    assert_eq!(status(&access, &[("host", "localhost"), ("host", "evil.example")]), 421);
}

#[tokio::test]
async fn other_names_are_served_where_they_are_listed() {
    let access = rules_for(LOCAL, &["mcp.example.com", "Other.Example:8443", "10.0.0.1"], &[]);
    for host in ["mcp.example.com", "MCP.example.com.:99", "other.example:8443", "10.0.0.1:80", "localhost"] {
        assert_eq!(status(&access, &[("host", host)]), 200, "{host}");
    }
    for host in
        ["other.example", "other.example:8444", "a.mcp.example.com", "mcp.example.com.evil", "10.0.0.2"]
    {
        assert_eq!(status(&access, &[("host", host)]), 421, "{host}");
    }
    assert_eq!(status(&rules_for(LOCAL, &["*"], &[]), &[("host", "any.example")]), 200);
}

#[tokio::test]
async fn a_wide_server_is_also_served_under_its_addresses() {
    let access = rules_for(WIDE, &["mcp.example.com"], &[]);
    for host in ["192.168.1.5:8080", "[2001:db8::1]", "localhost", "mcp.example.com"] {
        assert_eq!(status(&access, &[("host", host)]), 200, "{host}");
    }
    assert_eq!(status(&access, &[("host", "evil.example")]), 421);
}

#[tokio::test]
async fn the_request_line_cannot_name_another_host() {
    let access = rules_for(LOCAL, &[], &[]);
    let checked = |uri: &'static str| {
        access.check(&Uri::from_static(uri), &headers(&[("host", "localhost:80")]), false)
    };
    assert_eq!(checked("http://localhost:80/mcp"), Ok(()));
    for uri in
        ["http://evil.example/mcp", "http://localhost/mcp", "http://u@localhost:80/mcp", "evil.example:80"]
    {
        assert_eq!(checked(uri).unwrap_err().status, StatusCode::MISDIRECTED_REQUEST, "{uri}");
    }
}

#[tokio::test]
async fn programs_and_local_pages_are_served_and_strangers_are_not() {
    let access = rules_for(LOCAL, &[], &[]);
    let with = |origin: &str| status(&access, &[("host", "localhost:8080"), ("origin", origin)]);
    for origin in ["http://localhost:6274", "https://127.0.0.1", "http://[::1]:1", "http://localhost:8080"] {
        assert_eq!(with(origin), 200, "{origin}");
    }
    for origin in [
        "null",
        "",
        "https://evil.example",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example:80",
        "http://localhost@evil.example",
        "http://localhost, http://evil.example",
        "http://localhost http://evil.example",
        "http://localhost/",
        "chrome-extension://localhost",
        "file://",
        "localhost",
        "http://0.0.0.0:8080",
        "http://local\u{e9}",
    ] {
        assert_eq!(with(origin), 403, "{origin:?}");
    }
    let twice = [("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://localhost")];
    assert_eq!(status(&access, &twice), 403);
}

#[tokio::test]
async fn a_wide_server_trusts_its_own_pages_and_those_listed() {
    let access =
        rules_for(WIDE, &["mcp.example.com"], &["https://app.example.com", "vscode-file://vscode-app"]);
    let with = |origin: &str| status(&access, &[("host", "mcp.example.com:8080"), ("origin", origin)]);
    for origin in ["http://mcp.example.com:8080", "https://app.example.com:443", "vscode-file://vscode-app"] {
        assert_eq!(with(origin), 200, "{origin}");
    }
    for origin in [
        "http://app.example.com",
        "https://app.example.com:444",
        "http://mcp.example.com",
        "http://localhost",
        "null",
    ] {
        assert_eq!(with(origin), 403, "{origin}");
    }
    let any = rules_for(WIDE, &[], &["*"]);
    assert_eq!(status(&any, &[("host", "10.0.0.1"), ("origin", "https://any.example")]), 200);
    assert_eq!(status(&any, &[("host", "10.0.0.1"), ("origin", "null")]), 403);
}

#[tokio::test]
async fn behind_a_proxy_the_servers_own_pages_are_encrypted() {
    let options =
        Options { allowed_hosts: vec!["mcp.example.com".into()], behind_proxy: true, ..Options::default() };
    let access =
        AccessRules::new(&options, &Listener::open(&Address::parse(WIDE).unwrap()).unwrap()).unwrap();
    let with = |origin: &str| status(&access, &[("host", "mcp.example.com"), ("origin", origin)]);
    assert_eq!((with("https://mcp.example.com"), with("http://mcp.example.com")), (200, 403));
}

#[tokio::test]
async fn a_refusal_names_the_next_step_and_repeats_nothing_raw() {
    let access = rules_for(LOCAL, &[], &[]);
    let refused = |given: &[(&'static str, &str)]| {
        access.check(&Uri::from_static("/mcp"), &headers(given), false).unwrap_err().reason
    };
    assert!(refused(&[("host", "Evil.Example:80")]).contains("`--allow-host evil.example`"));
    let page = refused(&[("host", "localhost"), ("origin", "https://app.example")]);
    assert!(page.contains("`--allow-origin https://app.example`"), "{page}");
    assert!(!refused(&[("host", "<script>")]).contains('<'));
}

#[tokio::test]
async fn lists_that_cannot_be_read_are_refused() {
    let new = |hosts: &[&str], origins: &[&str]| {
        let owned = |listed: &[&str]| listed.iter().map(ToString::to_string).collect();
        let options =
            Options { allowed_hosts: owned(hosts), allowed_origins: owned(origins), ..Options::default() };
        AccessRules::new(&options, &[]).err()
    };
    assert_eq!(new(&["https://a.example"], &[]), Some(AccessError::Host("https://a.example".into())));
    assert_eq!(new(&["*.example"], &[]), Some(AccessError::Host("*.example".into())));
    assert_eq!(new(&[], &["null"]), Some(AccessError::Origin("null".into())));
    assert_eq!(new(&[], &["https://a.example/"]), Some(AccessError::Origin("https://a.example/".into())));
}
