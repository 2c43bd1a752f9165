//! Host lists: which hosts are allowed and denied.

use super::server::{Server, answer};
use crate::{HostList, HostRules, HttpsPolicy};

/// The words of the refusal, or `reached`.
async fn says(allow: &str, deny: &str, allow_all: bool, url: &str) -> String {
    let name = url.trim_start_matches("https://").split([':', '/']).next().unwrap().to_owned();
    let server = Server::start(&name, |_| answer("200 OK", "", "")).await;
    let lists = [allow, deny].map(|list| HostList::parse(list).unwrap());
    let [allow, deny] = lists;
    let policy = HttpsPolicy { hosts: HostRules { allow, deny, allow_all }, ..HttpsPolicy::default() };
    match server.https(policy).get(url).await {
        Ok(_) => "reached".to_owned(),
        Err(error) => {
            assert_eq!(server.heads().len(), 0);
            error.to_string()
        }
    }
}

#[tokio::test]
async fn rules() {
    for (allow, deny, all, url, words) in [
        (
            "",
            "",
            false,
            "https://a.example/",
            "no host may be reached; name those that may in `MCPBASH_HTTPS_ALLOW_HOSTS`",
        ),
        ("a.example", "", false, "https://a.example/", "reached"),
        ("b.example, A.EXAMPLE", "", false, "https://a.example/", "reached"),
        ("b.example\ta.example", "", false, "https://a.example/", "reached"),
        (
            "a.example",
            "",
            false,
            "https://www.a.example/",
            "the host `www.a.example` is not in `MCPBASH_HTTPS_ALLOW_HOSTS`; add it there if it may be reached",
        ),
        ("", "", true, "https://a.example/", "reached"),
        ("", "b.example", true, "https://a.example/", "reached"),
        (
            "",
            "a.example",
            true,
            "https://a.example/",
            "the host `a.example` is in `MCPBASH_HTTPS_DENY_HOSTS`",
        ),
        (
            "a.example",
            "a.example",
            false,
            "https://a.example/",
            "the host `a.example` is in `MCPBASH_HTTPS_DENY_HOSTS`",
        ),
        // A list is the whole list, even if all are allowed as well.
        (
            "b.example",
            "",
            true,
            "https://a.example/",
            "the host `a.example` is not in `MCPBASH_HTTPS_ALLOW_HOSTS`; add it there if it may be reached",
        ),
        // Other ports have to be named.
        (
            "a.example",
            "",
            false,
            "https://a.example:8443/",
            "the host `a.example:8443` is not in `MCPBASH_HTTPS_ALLOW_HOSTS`; add it there if it may be reached",
        ),
        ("a.example:8443", "", false, "https://a.example:8443/", "reached"),
        ("a.example", "", false, "https://a.example:443/", "reached"),
        (
            "",
            "",
            true,
            "https://a.example:22/",
            "the host `a.example:22` is not in `MCPBASH_HTTPS_ALLOW_HOSTS`; add it there if it may be reached",
        ),
    ] {
        assert_eq!(says(allow, deny, all, url).await, words, "{url} with {allow:?}, {deny:?}, {all}");
    }
}

#[test]
fn entries_that_cannot_be_read() {
    for (list, words) in [
        ("*.example.com", "`*.example.com` in the list of hosts has a wildcard; write each host out"),
        (
            "https://a.example",
            "`https://a.example` in the list of hosts cannot be used: its port must be a number from 1 to 65535",
        ),
        (
            "a.example.",
            "`a.example.` in the list of hosts cannot be used: its host ends with a dot; write it without",
        ),
    ] {
        assert_eq!(HostList::parse(list).unwrap_err().to_string(), words);
    }
    assert!(
        HostList::parse("localhost ::1 [::1] 10.0.0.1").is_ok(),
        "these may be denied, and are never reached"
    );
}

#[tokio::test]
async fn allowing_a_private_host_does_not_open_it() {
    let words = says("10.0.0.1", "", false, "https://10.0.0.1/").await;
    assert_eq!(words, "`10.0.0.1` is at 10.0.0.1, which is private; only public addresses are reached");
}
