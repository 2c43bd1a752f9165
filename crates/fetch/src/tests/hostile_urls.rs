//! Hostile URLs: they try to reach forbidden hosts. These tests allow everything except what is never allowed.

use super::server::{PUBLIC, Server, TestNetwork, answer};
use crate::hosts::not_public;
use crate::{ErrorKind, HostList, HostRules, Https, HttpsPolicy, Trust};
use std::net::IpAddr;

fn allowing_all() -> HttpsPolicy {
    HttpsPolicy { hosts: HostRules { allow_all: true, ..HostRules::default() }, ..HttpsPolicy::default() }
}

/// Hosts that are an address, or that some program takes for one, or that are not what they seem.
#[rustfmt::skip]
const HOSTS: &[&str] = &[
    // Plain addresses.
    "127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "172.16.0.1",
    "172.31.255.255", "192.168.0.1", "192.168.255.255", "169.254.169.254", "169.254.0.1", "100.64.0.1",
    "100.127.255.255", "192.0.0.1", "192.0.0.170", "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1",
    "198.19.255.255", "192.88.99.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    // Shorter, longer, in other bases.
    "127.1", "127.0.1", "0", "1", "10.1", "2130706433", "017700000001", "0x7f000001", "0x7F000001", "0x7f.1", "0x7f.0.0.1",
    "0177.0.0.1", "0177.1", "127.0.0.01", "127.0.0.0x1", "127.000.000.001", "0127.0.0.1", "00.0.0.0", "0x0", "0x", "00",
    "3232235521", "0xc0a80001", "0300.0250.0.1", "2852039166", "0xa9fea9fe", "169.254.43518", "0xa9.254.0251.0376",
    "256.0.0.1", "127.0.0.1.1", "4294967296", "18446744073709551617", "a.127.0.0.1", "1.2.3.4.5", "example.0x7f",
    // With dots, escapes, and letters that look or fold alike.
    "127.0.0.1.", "localhost.", "127..0.0.1", ".127.0.0.1", "%31%32%37.0.0.1", "127.0.0.%31", "127%2e0%2e0%2e1", "%6cocalhost",
    "127.0.0.1%00.example.com", "１２７.0.0.1", "127。0。0。1", "①②⑦.⓪.⓪.①", "ⓛocalhost", "ｌocalhost", "localhoﬆ",
    "loc\u{ad}alhost", "127.0.0.1\u{200b}", "exаmple.com",
    // Names of this machine.
    "localhost", "LOCALHOST", "LocalHost", "a.localhost",
    // IPv6 addresses, and IPv4 addresses inside them.
    "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::127.0.0.1]", "[::7f00:1]",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:7F00:0001]", "[0:0:0:0:0:ffff:10.0.0.1]", "[::ffff:0:127.0.0.1]",
    "[::ffff:169.254.169.254]", "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]",
    "[2002:c0a8:1::1]", "[2001::1]", "[2001:0:7f00:1::]", "[2001:2::1]", "[2001:10::1]", "[2001:20::1]", "[2001:db8::1]",
    "[3fff::1]", "[3ffe::1]", "[100::1]", "[fc00::1]", "[fd00::1]", "[fdff:ffff::1]", "[fe80::1]", "[febf::1]", "[fec0::1]",
    "[ff02::1]", "[ff0e::1]", "[5f00::1]", "[4000::1]", "[::93.184.216.34]", "[::ffff:93.184.216.34]",
    "[fe80::1%eth0]", "[fe80::1%25eth0]", "[2606:2800::1%25lo]", "[::1", "::1]", "::1", "[::1]]", "[[::1]]", "[127.0.0.1]",
    "[localhost]", "[]", "[::1].example.com", "[v1.fe80::a]", "[::1]x", "[0:0:0:0:0:0:0:0:1]",
    // Another host behind the first one.
    "example.com@127.0.0.1", "user:pass@example.com", "@127.0.0.1", "example.com:443@127.0.0.1", "127.0.0.1@example.com",
    "127.0.0.1\\@example.com", "example.com\\.127.0.0.1", "127.0.0.1 .example.com", "127.0.0.1\t", "\t127.0.0.1", " 127.0.0.1",
    "127.0.0.1\r\nHost: a", "127.0.0.1\0", "127.0.0.1;example.com", "127.0.0.1,example.com", "127.0.0.1&@example.com",
    // Ports and the rest.
    "", ":443", "example.com:", "example.com:0", "example.com:65536", "example.com:+443", "example.com:443:443", "example.com:4a",
    "example.com: 443", "example.com:-1", "127.0.0.1:443", "[::1]:443", "-a.example", "a-.example", "a..example", "$a.example",
];

#[tokio::test]
async fn no_spelling_of_a_host_gets_out() {
    assert!(HOSTS.len() >= 150);
    for host in HOSTS {
        // The worst resolver: it calls everything public, so that only our own checks can help.
        let network = TestNetwork::new(vec![vec![PUBLIC]], None);
        let https = Https::with(allowing_all(), network.clone(), Trust::Only(vec![]));
        for url in [format!("https://{host}/"), format!("https://{host}"), format!("https://{host}?q#f")] {
            let error = https.get(&url).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Refused | ErrorKind::Invalid), "{url}: {error}");
        }
        assert_eq!(network.connected(), [], "{host}");
        assert_eq!(network.resolved(), [""; 0], "{host}");
    }
}

#[tokio::test]
async fn other_schemes_are_not_spoken() {
    for url in [
        "http://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "ftp://example.com/",
        "//example.com/",
        "",
        "example.com",
        "https:example.com",
        "https:/example.com/",
        "https:\\\\example.com",
        " https://example.com/",
        "https ://example.com/",
        "httpſ://example.com/",
        "javascript:alert(1)",
        "data:,x",
        "https+unix://x/",
    ] {
        let network = TestNetwork::new(vec![vec![PUBLIC]], None);
        let error = Https::with(allowing_all(), network.clone(), Trust::System).get(url).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{url}");
        assert_eq!(network.resolved(), [""; 0]);
    }
}

#[tokio::test]
async fn requests_cannot_be_split() {
    for path in [
        "/a b",
        "/a\r\nX: y",
        "/a\nb",
        "/\0",
        "/é",
        "/a\\b",
        "/%zz",
        "/%4",
        "/<",
        "/\"",
        "/{x}",
        "/a\tb",
        "/^",
    ] {
        let network = TestNetwork::new(vec![vec![PUBLIC]], None);
        let https = Https::with(allowing_all(), network.clone(), Trust::Only(vec![]));
        let error = https.get(&format!("https://example.com{path}")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{path:?}");
        assert_eq!(network.resolved(), [""; 0]);
    }
}

#[tokio::test]
async fn a_host_is_not_another_that_it_contains() {
    for url in [
        "https://allowed.example@evil.example/",
        "https://evil.example#@allowed.example/",
        "https://evil.example?allowed.example",
        "https://evil.example/allowed.example",
        "https://allowed.example.evil.example/",
        "https://evilallowed.example/",
        "https://evil.example\\@allowed.example/",
        "https://evil.example:443@allowed.example/",
        "https://allowed.example:80/",
        "https://allowed.example%2eevil.example/",
        "https://allowed.example%00.evil.example/",
        "https://example/",
        "https://allowed.example.:443/",
        "https://ALLOWED.example.evil/",
        "https://xallowed.example/",
        "https://allowed/",
    ] {
        let network = TestNetwork::new(vec![vec![PUBLIC]], None);
        let hosts = HostRules { allow: HostList::parse("allowed.example").unwrap(), ..HostRules::default() };
        let policy = HttpsPolicy { hosts, ..HttpsPolicy::default() };
        let error = Https::with(policy, network.clone(), Trust::Only(vec![])).get(url).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{url}: {error}");
        assert_eq!(network.connected(), []);
    }
}

/// Addresses that a proper name may resolve to.
#[rustfmt::skip]
const PRIVATE: &[&str] = &[
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
    "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.255", "192.0.2.255", "192.88.99.2", "192.168.1.1", "198.18.0.0",
    "198.19.255.255", "198.51.100.255", "203.0.113.255", "224.0.0.251", "239.255.255.250", "240.0.0.0", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:192.168.1.1", "::ffff:0:10.0.0.1", "64:ff9b::10.0.0.1",
    "64:ff9b:1::1", "100::", "2001::", "2001:1ff:ffff::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::", "2002::",
    "2002:a00:1::", "3ffe::", "3fff:fff:ffff::", "5f00::", "fc00::", "fd12:3456::1", "fe80::1", "febf:ffff::", "fec0::1",
    "ff00::", "ff02::fb", "1fff:ffff::", "4000::",
];

#[tokio::test]
async fn a_name_that_has_a_private_address_is_refused() {
    for address in PRIVATE {
        let address: IpAddr = address.parse().unwrap();
        // Alone, and hidden behind or before a public one.
        for answer in [
            vec![address],
            vec![PUBLIC, address],
            vec![address, PUBLIC],
            vec![PUBLIC; 20].into_iter().chain([address]).collect(),
        ] {
            let network = TestNetwork::new(vec![answer], None);
            let https = Https::with(allowing_all(), network.clone(), Trust::Only(vec![]));
            let error = https.get("https://innocent.example/").await.unwrap_err();
            // Without certificates no connection would succeed in any case, so it must not come to that.
            assert_eq!(error.kind(), ErrorKind::Refused, "{address}: {error}");
            assert_eq!(network.connected(), []);
        }
    }
}

#[test]
fn addresses_that_are_public() {
    for address in [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "93.184.216.34",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2003::1",
        "2a00::1",
        "3ffd::1",
    ] {
        assert_eq!(not_public(address.parse().unwrap()), None, "{address}");
    }
}

#[tokio::test]
async fn an_answer_that_changes_is_not_asked_for_again() {
    let server = Server::start("rebind.example", |_| answer("200 OK", "", "public")).await;
    let network = TestNetwork::new(vec![vec![PUBLIC], vec!["127.0.0.1".parse().unwrap()]], Some(server.port));
    let https = Https::with(allowing_all(), network.clone(), Trust::Only(vec![server.certificate.clone()]));
    assert_eq!(https.get("https://rebind.example/").await.unwrap().bytes, b"public");
    assert_eq!(network.resolved(), ["rebind.example"]);
    assert_eq!(network.connected(), ["93.184.216.34:443".parse().unwrap()], "the address that was looked at");
    assert!(server.heads()[0].contains("host: rebind.example"), "and the name that was asked for");

    // The next request resolves again, and sees the other answer.
    let error = https.get("https://rebind.example/").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(network.connected().len(), 1);
}
