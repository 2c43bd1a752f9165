//! A trusted proxy names callers in a header; the same header of anyone else is refused.

use crate::harness::Project;
use crate::harness::http::{HttpServer, Response, stateless_with};
use ring::hmac;
use serde_json::json;
use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) const KEY: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

/// The signature of a request by the proxy.
pub(super) fn signature(key: &str, name: &str, groups: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    let tag = hmac::sign(&key, format!("v1\n{now}\nPOST\n/mcp\n{name}\n{groups}").as_bytes());
    let mut text = format!("t={now},v1=");
    for byte in tag.as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[test]
fn only_signed_headers_name_a_caller() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    fs::write(&key, KEY).unwrap();
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let settings = [
        ("MCPBASH_HTTP_PROXY_HEADER", "X-Forwarded-User"),
        ("MCPBASH_HTTP_PROXY_GROUPS_HEADER", "X-Forwarded-Groups"),
        ("MCPBASH_HTTP_PROXY_KEY", key.to_str().unwrap()),
    ];
    let script = "#!/bin/sh\necho \"$MCP_CALLER\" $MCP_CALLER_GROUPS\nenv | grep -ci signature\ntrue\n";
    let project = Project::new().tool("who", script);
    let server = HttpServer::start_with(project.root(), &[], &settings);
    let ask = |headers: &[(&str, &str)]| -> Response {
        server.send(&stateless_with(headers, 1, "tools/call", &json!({ "name": "who", "arguments": {} })))
    };
    let signed = signature(KEY, "alice", "dev,ops");
    let good = [
        ("X-Forwarded-User", "alice"),
        ("X-Forwarded-Groups", "dev,ops"),
        ("Mcp-Proxy-Signature", signed.as_str()),
    ];
    let answer = ask(&good).json();
    assert_eq!(answer["result"]["content"][0]["text"], "proxy alice dev ops\n0", "{answer}");
    let forged = signature("another key that is as long as it", "alice", "dev,ops");
    let mut wrong = good;
    wrong[2].1 = &forged;
    let mut renamed = good;
    renamed[0].1 = "root";
    let mut joined = good;
    joined[1].1 = "dev,ops,admin";
    for headers in [&good[..2], &good[..1], &good[1..2], &good[2..], &wrong, &renamed, &joined, &[]] {
        let refused = ask(headers);
        assert_eq!(refused.status, 403, "{headers:?}");
        assert_eq!(refused.header("WWW-Authenticate"), None, "no token would help");
    }
}

#[test]
fn only_the_user_of_the_proxy_names_callers_at_the_socket() {
    let project = Project::new().tool("who", "#!/bin/sh\necho \"$MCP_CALLER\" $MCP_CALLER_GROUPS\n");
    let own = rustix::process::geteuid().as_raw();
    let named = [("X-Forwarded-User", "alice"), ("X-Forwarded-Groups", "dev")];
    let call = |headers: &[(&str, &str)]| {
        stateless_with(headers, 1, "tools/call", &json!({ "name": "who", "arguments": {} }))
    };
    for (users, is_trusted) in [(format!("{}, {own}", own + 1), true), ((own + 1).to_string(), false)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.sock");
        let socket = format!("unix:{}", path.display());
        let settings = [
            ("MCPBASH_HTTP_PROXY_HEADER", "X-Forwarded-User"),
            ("MCPBASH_HTTP_PROXY_GROUPS_HEADER", "X-Forwarded-Groups"),
            ("MCPBASH_HTTP_PROXY_USERS", users.as_str()),
        ];
        let server = HttpServer::start_with(project.root(), &["--http", &socket], &settings);
        let ask = |headers: &[(&str, &str)]| {
            let mut stream = UnixStream::connect(&path).unwrap();
            stream.write_all(&call(&[&[("Connection", "close")], headers].concat())).unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        };
        let answer = ask(&named);
        if is_trusted {
            assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("proxy alice dev"), "{answer}");
        } else {
            assert!(answer.starts_with("HTTP/1.1 403 ") && !answer.contains("alice"), "{answer}");
        }
        // The proxy has to name someone, and the same user over TCP is no proxy.
        assert!(ask(&[]).starts_with("HTTP/1.1 403 ") || !is_trusted);
        assert_eq!(server.send(&call(&named)).status, 403, "{users}");
    }
}
