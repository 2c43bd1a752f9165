//! Trusted proxy tests: proofs of the proxy and the callers that it names.

use super::*;
use crate::http::listen::Peer;
use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;

const KEY: &str = "0123456789abcdef0123456789abcdef";

fn options() -> ProxyOptions {
    ProxyOptions {
        name_header: "X-Forwarded-User".to_owned(),
        groups_header: Some("X-Forwarded-Groups".to_owned()),
        ..ProxyOptions::default()
    }
}

fn of_unix(uid: u32) -> Visitor {
    Visitor::new(&Peer::Unix { uid }, false)
}

fn of_address() -> Visitor {
    Visitor::new(&Peer::Tcp("127.0.0.1:1".parse().unwrap()), false)
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
    }
    headers
}

fn identify(
    proxy: &TrustedProxy,
    visitor: &Visitor,
    pairs: &[(&str, &str)],
) -> Option<Result<Identified, Unidentified>> {
    let (headers, uri) = (headers(pairs), Uri::from_static("/mcp?x=1"));
    proxy.identify(Head { method: &Method::POST, uri: &uri, headers: &headers }, visitor)
}

fn no_report() -> Report {
    Box::new(|words| panic!("{words}"))
}

#[test]
fn a_process_of_the_named_user_speaks_for_callers_and_no_other() {
    let proxy = TrustedProxy::open(&ProxyOptions { users: vec![33], ..options() }, no_report()).unwrap();
    let named = [("x-forwarded-user", "alice"), ("x-forwarded-groups", "dev, ops,,b\tc")];
    let found = identify(&proxy, &of_unix(33), &named).unwrap().unwrap().identity;
    assert_eq!((&*found.name, found.known_by), ("proxy alice", KnownBy::Proxy));
    assert_eq!(found.groups, ["dev".into(), "ops".into()]);
    // The proxy has to name the caller.
    for unnamed in [&[][..], &[("x-forwarded-user", "")], &[("x-forwarded-groups", "ops")]] {
        assert!(identify(&proxy, &of_unix(33), unnamed).unwrap().is_err(), "{unnamed:?}");
    }
    let twice = [("x-forwarded-user", "alice"), ("x-forwarded-user", "bob")];
    assert!(identify(&proxy, &of_unix(33), &twice).unwrap().is_err());
    // Other peers may not claim to be the proxy, and without such a claim they are ignored.
    for other in [of_unix(34), of_address()] {
        assert!(identify(&proxy, &other, &named).unwrap().is_err());
        assert!(identify(&proxy, &other, &[("x-forwarded-groups", "ops")]).unwrap().is_err());
        assert!(identify(&proxy, &other, &[]).is_none());
    }
}

fn signature(key: &str, time: u64, signed: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    let tag = hmac::sign(&key, format!("v1\n{time}\n{signed}").as_bytes());
    let mut text = format!("t={time},v1=");
    for byte in tag.as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[test]
fn a_signature_is_of_one_request_and_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, format!("{KEY}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let proxy =
        TrustedProxy::open(&ProxyOptions { key: Some(path.clone()), ..options() }, no_report()).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let signed = "POST\n/mcp?x=1\nalice\nops";
    let ask = |signature: &str| {
        let pairs = [
            ("x-forwarded-user", "alice"),
            ("x-forwarded-groups", "ops"),
            ("mcp-proxy-signature", signature),
        ];
        identify(&proxy, &of_address(), &pairs).unwrap()
    };
    assert_eq!(&*ask(&signature(KEY, now, signed)).unwrap().identity.name, "proxy alice");
    for wrong in [
        signature(&KEY.replace('0', "1"), now, signed),
        signature(KEY, now - 100, signed),
        signature(KEY, now + 100, signed),
        signature(KEY, now, "GET\n/mcp?x=1\nalice\nops"),
        signature(KEY, now, "POST\n/mcp\nalice\nops"),
        signature(KEY, now, "POST\n/mcp?x=1\nbob\nops"),
        signature(KEY, now, "POST\n/mcp?x=1\nalice\nadmin"),
        signature(KEY, now, signed).replace(",v1=", ",v2="),
        signature(KEY, now, signed).replace("t=", "t=+"),
        format!("t={now},v1="),
        String::new(),
    ] {
        assert!(matches!(ask(&wrong), Err(Unidentified::Forbidden(_))), "{wrong}");
    }
    std::fs::write(&path, "short").unwrap();
    let refused = TrustedProxy::open(&ProxyOptions { key: Some(path), ..options() }, no_report());
    assert!(matches!(refused, Err(ProxyError::ShortKey(_))));
}

#[test]
fn a_proxy_that_cannot_prove_itself_is_refused_at_the_start() {
    assert!(matches!(TrustedProxy::open(&options(), no_report()), Err(ProxyError::NoProof(_))));
    let wrong = ProxyOptions { name_header: "a b".to_owned(), users: vec![1], ..options() };
    assert!(matches!(TrustedProxy::open(&wrong, no_report()), Err(ProxyError::Header(_))));
}
