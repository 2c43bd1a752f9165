//! Host lists: what an entry allows, and which entries are refused with which words.

use mcp_bash_sandbox::HostList;
use std::net::IpAddr;

fn list(entries: &[&str]) -> HostList {
    HostList::parse(entries).unwrap()
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// The reason why an entry is refused.
fn refused(entry: &str) -> String {
    let words = HostList::parse(&[entry]).expect_err(entry).to_string();
    let quoted: String = entry.chars().take(100).collect();
    let reason = words.strip_prefix(&format!("`{quoted}` in `network` cannot be used: "));
    reason.unwrap_or_else(|| panic!("the entry is not named: {words}")).to_owned()
}

#[test]
fn a_name_allows_itself_at_its_port() {
    let hosts = list(&["API.GitHub.com:443"]);
    assert!(hosts.allows("api.github.com", 443) && hosts.allows("Api.GitHub.Com", 443));
    for (host, port) in [
        ("api.github.com", 80),
        ("api.github.com", 4430),
        ("github.com", 443),
        ("x.api.github.com", 443),
        ("api.github.com.evil.example", 443),
        ("xapi.github.com", 443),
        ("apixgithub.com", 443),
        ("api.github.com.", 443),
        (" api.github.com", 443),
        ("api.github.com\0", 443),
        ("api.github.com\r\n", 443),
        ("evil@api.github.com", 443),
        ("", 443),
    ] {
        assert!(!hosts.allows(host, port), "{host:?}:{port}");
    }
}

#[test]
fn a_wildcard_allows_every_subdomain_but_not_its_domain() {
    let hosts = list(&["*.Example.org:443"]);
    for host in ["a.example.org", "a.b.example.org", "A.EXAMPLE.ORG"] {
        assert!(hosts.allows(host, 443), "{host}");
    }
    for host in [
        "example.org",
        ".example.org",
        "evilexample.org",
        "a.example.org.evil",
        "*.example.org",
        "a..example.org",
    ] {
        assert!(!hosts.allows(host, 443), "{host}");
    }
    assert!(!hosts.allows("a.example.org", 80));
}

#[test]
fn an_address_allows_only_itself_however_it_is_written() {
    let hosts = list(&["10.0.0.5:22", "[2606:4700::1]:8080"]);
    assert!(hosts.allows("10.0.0.5", 22) && hosts.names_address(address("10.0.0.5"), 22));
    assert!(hosts.allows("[::ffff:10.0.0.5]", 22), "the same address in the form of IPv6");
    assert!(hosts.allows("[2606:4700:0::1]", 8080));
    for host in ["10.0.0.50", "10.0.0.6", "167772165", "10.5", "0xa.0.0.5", "012.0.0.5", "[::10.0.0.5]"] {
        assert!(!hosts.allows(host, 22), "{host}");
    }
    assert!(!hosts.names_address(address("10.0.0.5"), 23));
    assert!(!list(&["ten.example:22"]).names_address(address("10.0.0.5"), 22), "names do not name addresses");
}

#[test]
fn three_spellings_of_this_machine_mean_the_same() {
    for entry in
        ["localhost:5432", "LOCALHOST:5432", "127.0.0.1:5432", "[::1]:5432", "[0:0:0:0:0:0:0:1]:5432"]
    {
        let hosts = list(&[entry]);
        assert_eq!(hosts, list(&["localhost:5432"]));
        assert_eq!(hosts.local_ports().collect::<Vec<_>>(), [5432]);
        for host in ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"] {
            assert!(hosts.allows(host, 5432) && !hosts.allows(host, 5433), "{host}");
        }
        for host in ["0.0.0.0", "[::]", "127.0.0.2", "a.localhost", "2130706433", "0x7f.1", "localhost."] {
            assert!(!hosts.allows(host, 5432), "{host}");
        }
    }
    // Other addresses of the loopback network are addresses like any other.
    let hosts = list(&["127.0.0.2:80", "example.org:80"]);
    assert!(hosts.names_address(address("127.0.0.2"), 80) && !hosts.names_address(address("127.0.0.1"), 80));
    assert_eq!(hosts.local_ports().count(), 0);
}

#[test]
fn the_order_of_entries_and_repetitions_make_no_difference() {
    let hosts =
        list(&["b.example:443", "[::1]:80", "A.example:443", "*.c.example:1", "localhost:80", "10.0.0.5:22"]);
    assert_eq!(
        hosts,
        list(&["10.0.0.5:22", "localhost:80", "*.c.example:1", "a.example:443", "b.example:443"])
    );
    let entries: Vec<String> = hosts.entries().collect();
    assert_eq!(entries, ["localhost:80", "a.example:443", "b.example:443", "*.c.example:1", "10.0.0.5:22"]);
    assert_eq!(list(&["[2606:4700::1]:8080"]).entries().next().unwrap(), "[2606:4700::1]:8080");
    let none: [&str; 0] = [];
    let empty = HostList::parse(&none).unwrap();
    assert!(empty.is_empty() && empty == HostList::default() && !empty.allows("example.org", 443));
    assert_eq!(
        list(&entries.iter().map(String::as_str).collect::<Vec<_>>()),
        hosts,
        "entries can be read again"
    );
}

#[test]
fn a_bad_entry_is_refused_with_its_reason() {
    for (entry, reason) in [
        ("", "it is empty; write a host and its port, such as `api.example.org:443`"),
        ("  ", "it is empty; write a host and its port, such as `api.example.org:443`"),
        ("*", "it stands for every host; name the hosts, or write `\"network\": \"all\"`"),
        ("*:443", "it stands for every host; name the hosts, or write `\"network\": \"all\"`"),
        ("example.org", "it has no port; write `example.org:443` if it is reached over HTTPS"),
        ("*.example.org", "it has no port; write `*.example.org:443` if it is reached over HTTPS"),
        ("[::1]", "it has no port; write `[::1]:443` if it is reached over HTTPS"),
        (
            "example.org:*",
            "it has no single port; name each port in an entry of its own, such as `example.org:443`",
        ),
        ("example.org:", "its port must be a number from 1 to 65535"),
        ("example.org:0", "its port must be a number from 1 to 65535"),
        ("example.org:65536", "its port must be a number from 1 to 65535"),
        ("example.org:+443", "its port must be a number from 1 to 65535"),
        ("example.org:https", "its port must be a number from 1 to 65535"),
        ("example.org:80-90", "its port must be a number from 1 to 65535"),
        (
            "https://example.org:443",
            "it is a URL; write its host and port only, such as `api.example.org:443`",
        ),
        ("example.org:443/path", "it has a `/`; write its host and port only, such as `api.example.org:443`"),
        ("10.0.0.0/8:22", "it has a `/`; write its host and port only, such as `api.example.org:443`"),
        ("me@example.org:22", "it has a user before its host; leave out what is before the `@`"),
        (
            "api.*.org:443",
            "a `*` can only take the place of the first part of a name, as in `*.example.org:443`",
        ),
        (
            "api-*.example.org:443",
            "a `*` can only take the place of the first part of a name, as in `*.example.org:443`",
        ),
        (
            "*example.org:443",
            "a `*` can only take the place of the first part of a name, as in `*.example.org:443`",
        ),
        (
            "**.example.org:443",
            "a `*` can only take the place of the first part of a name, as in `*.example.org:443`",
        ),
        (
            "*.10.0.0.5:22",
            "a `*` can only take the place of the first part of a name, as in `*.example.org:443`",
        ),
        ("*.*:443", "a `*` can only take the place of the first part of a name, as in `*.example.org:443`"),
        ("::1:8080", "an IPv6 address has to be in brackets, as in `[::1]:8080`"),
        ("2606:4700::1", "an IPv6 address has to be in brackets, as in `[::1]:8080`"),
        ("[::ffff:10.0.0.5]:22", "it is an IPv4 address in the form of IPv6; write `10.0.0.5`"),
        ("0.0.0.0:80", "it is this machine; write `localhost:80`"),
        ("[::]:80", "it is this machine; write `localhost:80`"),
        ("db.localhost:80", "it is this machine; write `localhost:80`"),
        ("*.localhost:80", "it is this machine; write `localhost:80`"),
        ("bücher.example:443", "its host has characters that are not ASCII; write it in its `xn--` form"),
        ("bücher.example", "its host has characters that are not ASCII; write it in its `xn--` form"),
        ("example.org.:443", "its host ends with a dot; write it without"),
        ("2130706433:80", "its host is a number, but not an address in its usual form, such as `192.0.2.1`"),
        ("0x7f.1:80", "its host is a number, but not an address in its usual form, such as `192.0.2.1`"),
        ("127.1:80", "its host is a number, but not an address in its usual form, such as `192.0.2.1`"),
        ("10.0.0.05:80", "its host is a number, but not an address in its usual form, such as `192.0.2.1`"),
        ("[example.org]:80", "its host is in brackets, but not an address of IPv6 in its usual form"),
        (":443", "it names no host"),
        ("*.:443", "it names no host"),
        (" example.org:443", "its host has the character ' ', which no host has"),
        ("exam\nple.org:443", "its host has the character '\\n', which no host has"),
        ("a..b:443", "its host has an empty part, one that is too long, or one that begins or ends with `-`"),
    ] {
        assert_eq!(refused(entry), reason, "{entry:?}");
    }
    assert_eq!(
        refused(&format!("{}:443", "a.".repeat(200) + "org")),
        "its host has an empty part, one that is too long, or one that begins or ends with `-`"
    );
    let words = HostList::parse(&["good.example:443", "bad"]).unwrap_err().to_string();
    assert!(words.starts_with("`bad` in"), "{words}");
}
