//! SOCKS5.

use super::stage::{PUBLIC, SILENT, Stage, echo, read_all};
use crate::Reason;
use mcp_bash_sandbox::BadHost;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const GREETING: &[u8] = &[5, 1, 0];

/// A request for a name.
fn named(name: &[u8], port: u16) -> Vec<u8> {
    let length = u8::try_from(name.len()).unwrap();
    [&[5, 1, 0, 3, length], name, &port.to_be_bytes()].concat()
}

/// The code of the reply to a request.
async fn code(stage: &Stage, request: &[u8]) -> u8 {
    let mut client = stage.connect().await;
    client.write_all(GREETING).await.unwrap();
    let mut method = [0; 2];
    client.read_exact(&mut method).await.unwrap();
    assert_eq!(method, [5, 0]);
    client.write_all(request).await.unwrap();
    let mut reply = [0; 10];
    client.read_exact(&mut reply).await.unwrap();
    assert_eq!([reply[0], reply[2], reply[3]], [5, 0, 1]);
    if reply[1] == 0 {
        client.write_all(b"hello ").await.unwrap();
        client.shutdown().await.unwrap();
        assert_eq!(read_all(&mut client).await, "hello end");
    } else {
        assert_eq!(read_all(&mut client).await, "", "the connection ends after a refusal");
    }
    reply[1]
}

#[tokio::test]
async fn listed_targets_are_reached_in_all_three_forms() {
    let list = &["api.example:443", "93.184.216.34:80", "[2606:4700::1]:80"];
    let stage = Stage::new(list, &[("api.example", &[PUBLIC])], Some(echo().await));
    let v6: std::net::Ipv6Addr = "2606:4700::1".parse().unwrap();
    assert_eq!(code(&stage, &named(b"api.example", 443)).await, 0);
    assert_eq!(code(&stage, &[5, 1, 0, 1, 93, 184, 216, 34, 0, 80]).await, 0);
    assert_eq!(code(&stage, &[&[5, 1, 0, 4][..], &v6.octets(), &[0, 80]].concat()).await, 0);
    // An address as a name.
    assert_eq!(code(&stage, &named(b"93.184.216.34", 80)).await, 0);
    assert_eq!(code(&stage, &named(b"2606:4700:0:0::1", 80)).await, 0);
    assert_eq!(
        stage.connected(),
        [
            "93.184.216.34:443",
            "93.184.216.34:80",
            "[2606:4700::1]:80",
            "93.184.216.34:80",
            "[2606:4700::1]:80"
        ]
    );
}

#[tokio::test]
async fn refusals_have_the_code_for_rules_and_are_reported() {
    let names: &[(&str, &[&str])] = &[("inside.example", &["10.0.0.5"])];
    let stage = Stage::new(&["api.example:443", "inside.example:443"], names, Some(echo().await));
    let mapped: std::net::Ipv6Addr = "::ffff:127.0.0.1".parse().unwrap();
    for request in [
        named(b"evil.example", 443),
        named(b"api.example", 22),
        named(b"api.example", 0),
        named(b"inside.example", 443),
        vec![5, 1, 0, 1, 127, 0, 0, 1, 1, 187],
        [&[5, 1, 0, 4][..], &mapped.octets(), &[1, 187]].concat(),
    ] {
        assert_eq!(code(&stage, &request).await, 2, "{request:?}");
    }
    let hosts: Vec<String> = stage.refusals().into_iter().map(|refusal| refusal.host).collect();
    assert_eq!(
        hosts,
        ["evil.example", "api.example", "api.example", "inside.example", "127.0.0.1", "127.0.0.1"]
    );
    assert!(matches!(stage.reasons()[3], Reason::NotPublic { what: "private", .. }));
    assert_eq!(stage.resolved(), ["inside.example"]);
}

#[tokio::test]
async fn names_that_can_be_read_in_two_ways_are_refused() {
    let names: &[(&str, &[&str])] = &[("api.example", &[PUBLIC])];
    let stage = Stage::new(&["api.example:443", "127.0.0.1:443"], names, Some(echo().await));
    for (name, reason) in [
        (&b"2130706433"[..], BadHost::UnusualAddress),
        (b"0x7f.1", BadHost::UnusualAddress),
        (b"127.1", BadHost::UnusualAddress),
        (b"api.example.", BadHost::TrailingDot),
        (b"api.example\0", BadHost::BadCharacter('\0')),
        (b"api.example\r\n", BadHost::BadCharacter('\r')),
        (b"me@api.example", BadHost::BadCharacter('@')),
        (b"\xff\xfe", BadHost::NotAscii),
        (b"", BadHost::Empty),
        (&[b'a'; 255], BadHost::BadLabel),
    ] {
        assert_eq!(code(&stage, &named(name, 443)).await, 2, "{name:?}");
        assert_eq!(stage.reasons().last(), Some(&Reason::BadHost(reason)), "{name:?}");
    }
    let shown = &stage.refusals()[4].host;
    assert_eq!(shown, "api.example\\u{0}", "a report is safe to show");
    assert_eq!((stage.resolved(), stage.connected()), (vec![], vec![]));
}

#[tokio::test]
async fn what_is_not_supported_has_its_own_code() {
    let stage = Stage::new(&["api.example:443"], &[("api.example", &[PUBLIC])], None);
    for command in [2, 3, 0, 9] {
        assert_eq!(code(&stage, &[5, command, 0, 1, 1, 1, 1, 1, 0, 80]).await, 7);
    }
    for kind in [0, 2, 5, 255] {
        assert_eq!(code(&stage, &[5, 1, 0, kind, 1, 1, 1, 1, 0, 80]).await, 8);
    }
    assert_eq!(code(&stage, &[4, 1, 0, 1, 1, 1, 1, 1, 0, 80]).await, 1);
    assert_eq!(code(&stage, &named(b"api.example", 443)).await, 5, "the server refuses the connection");
    let stage = Stage::new(&["gone.example:443"], &[], None);
    assert_eq!(code(&stage, &named(b"gone.example", 443)).await, 4);
    assert_eq!(stage.refusals(), []);
}

#[tokio::test]
async fn a_client_that_insists_on_a_password_is_told_so() {
    let stage = Stage::new(&["api.example:443"], &[], None);
    for greeting in [&[5, 1, 2][..], &[5, 0], &[5, 3, 1, 2, 255]] {
        let mut client = stage.connect().await;
        client.write_all(greeting).await.unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, [5, 0xff]);
    }
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_costs_nothing() {
    let stage = Stage::new(&["api.example:443"], &[("api.example", &[PUBLIC])], Some(echo().await));
    let whole = [GREETING, &named(b"api.example", 443)].concat();
    for length in 0..whole.len() {
        let mut client = stage.connect().await;
        client.write_all(&whole[..length]).await.unwrap();
        client.shutdown().await.unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, if length < 3 { &[][..] } else { &[5, 0] }, "{length}");
    }
    assert_eq!((stage.connected(), stage.refusals()), (vec![], vec![]));
    assert_eq!(code(&stage, &named(b"api.example", 443)).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_answer_in_time_is_unreachable() {
    let stage = Stage::new(&["api.example:443"], &[("api.example", &[SILENT])], None);
    assert_eq!(code(&stage, &named(b"api.example", 443)).await, 4);
}
