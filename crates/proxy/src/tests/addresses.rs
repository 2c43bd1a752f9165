//! Addresses that are not public, and the entries that allow them.

use super::stage::{PUBLIC, Stage, echo};
use crate::Reason;

/// Addresses that a listed name may resolve to.
const PRIVATE: [&str; 12] = [
    "127.0.0.1",
    "127.0.0.2",
    "0.0.0.0",
    "10.0.0.5",
    "169.254.169.254",
    "192.168.1.1",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.5",
    "fe80::1",
    "fd00::1",
];

#[tokio::test]
async fn a_listed_name_with_a_private_address_is_refused() {
    for private in PRIVATE {
        // Alone, and hidden behind or before a public one.
        for addresses in [&[private][..], &[PUBLIC, private], &[private, PUBLIC]] {
            let stage = Stage::new(&["api.example:443"], &[("api.example", addresses)], Some(echo().await));
            let answer = stage.ask("CONNECT api.example:443 HTTP/1.1\r\n\r\n").await;
            assert!(answer.starts_with("HTTP/1.1 403 "), "{private}: {answer}");
            assert!(
                matches!(stage.reasons()[..], [Reason::NotPublic { address, .. }] if address.to_string() == private)
            );
            assert_eq!(stage.connected(), Vec::<String>::new());
        }
    }
}

#[tokio::test]
async fn the_refusal_says_which_entry_would_allow_the_address() {
    for (address, words) in [
        ("10.0.0.5", "\"network\": [\"db.example:5432\", \"10.0.0.5:5432\"]"),
        ("::ffff:10.0.0.5", "\"network\": [\"db.example:5432\", \"10.0.0.5:5432\"]"),
        ("fd00::1", "\"network\": [\"db.example:5432\", \"[fd00::1]:5432\"]"),
    ] {
        let stage = Stage::new(&["db.example:5432"], &[("db.example", &[address])], None);
        let answer = stage.ask("CONNECT db.example:5432 HTTP/1.1\r\n\r\n").await;
        assert!(
            answer.contains(&format!("db.example:5432 may not be reached: it is at {address}, which is ")),
            "{answer}"
        );
        assert!(answer.contains(words), "{answer}");
    }
    // No entry allows this one.
    let stage = Stage::new(&["db.example:80"], &[("db.example", &["0.0.0.0"])], None);
    let answer = stage.ask("CONNECT db.example:80 HTTP/1.1\r\n\r\n").await;
    assert!(answer.contains("which is this host itself") && !answer.contains("to allow it"), "{answer}");
}

#[tokio::test]
async fn a_private_address_is_reached_if_the_list_names_it() {
    let list = &["db.example:5432", "10.0.0.5:5432", "10.0.0.6:22"];
    let names: &[(&str, &[&str])] = &[("db.example", &["10.0.0.5"])];
    let stage = Stage::new(list, names, Some(echo().await));
    for target in ["db.example:5432", "10.0.0.5:5432", "[::ffff:10.0.0.5]:5432", "10.0.0.6:22"] {
        stage.tunnel(target).await;
    }
    assert_eq!(stage.connected(), ["10.0.0.5:5432", "10.0.0.5:5432", "10.0.0.5:5432", "10.0.0.6:22"]);
    // Another port, and another address, are still refused.
    for target in ["10.0.0.5:22", "10.0.0.6:5432", "10.0.0.7:22"] {
        let answer = stage.ask(format!("CONNECT {target} HTTP/1.1\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{target}: {answer}");
    }
}

#[tokio::test]
async fn localhost_is_this_machine_and_no_name_to_resolve() {
    let port = echo().await;
    let stage = Stage::new(&[&format!("localhost:{port}")], &[("localhost", &[PUBLIC])], None);
    for host in ["localhost", "LocalHost", "127.0.0.1", "[::ffff:127.0.0.1]"] {
        stage.tunnel(&format!("{host}:{port}")).await;
    }
    assert_eq!(stage.resolved(), Vec::<String>::new());
    assert_eq!(stage.connected(), vec![format!("127.0.0.1:{port}"); 4]);
    // Every other port of this machine stays closed, and so do its other addresses.
    let other = echo().await;
    for target in [format!("localhost:{other}"), format!("127.0.0.1:{other}"), format!("127.0.0.2:{port}")] {
        let answer = stage.ask(format!("CONNECT {target} HTTP/1.1\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{target}: {answer}");
    }
}

#[tokio::test]
async fn localhost_is_reached_over_ipv6_if_only_that_answers() {
    let port = super::stage::serve("::1".parse().unwrap(), |_| async { Ok(()) }).await;
    let stage = Stage::new(&[&format!("localhost:{port}")], &[], None);
    stage.tunnel(&format!("localhost:{port}")).await;
    assert_eq!(stage.connected(), [format!("127.0.0.1:{port}"), format!("[::1]:{port}")]);
}

#[tokio::test]
async fn the_next_address_is_tried_if_one_does_not_answer() {
    let stage = Stage::new(&["api.example:443"], &[("api.example", &[PUBLIC, "1.1.1.1"])], None);
    let answer = stage.ask("CONNECT api.example:443 HTTP/1.1\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert_eq!(stage.connected(), [format!("{PUBLIC}:443"), "1.1.1.1:443".to_owned()]);
}
