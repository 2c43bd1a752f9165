//! Floods: somebody without a credential can neither fill the disk with refusals nor hide them.

use super::{Audited, records};
use crate::harness::http::{HttpServer, stateless_with};
use crate::harness::{Project, Server};
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const FLOOD: usize = 150;

/// What the log has about refusals of one kind: their reason and address.
#[derive(Debug, Default)]
struct Recorded {
    lines: u64,
    counts: Vec<u64>,
}

impl Recorded {
    /// How many refusals it was. Each minute has ten lines at most, and one that counts the others.
    fn total(&self) -> u64 {
        let minutes = self.counts.len() as u64 + 1;
        assert!(self.lines <= 10 * minutes, "{self:?}");
        self.lines + self.counts.iter().sum::<u64>()
    }
}

/// What the log has, by the reason and the address of refusals.
fn recorded(audited: &Audited) -> BTreeMap<(String, String), Recorded> {
    let mut kinds = BTreeMap::<_, Recorded>::new();
    for record in records(&audited.log()).iter().filter(|record| record["outcome"] == "refused") {
        let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
        let kind = kinds.entry((text("error.type"), text("client.address"))).or_default();
        match record["event.count"].as_u64() {
            Some(count) => kind.counts.push(count),
            None => kind.lines += 1,
        }
    }
    kinds
}

/// The file of tokens with one of ann's, and that token.
fn tokens(audited: &Audited, grant: Grant) -> (String, String) {
    let (line, token) = TokenLine::generate("ann", grant).unwrap();
    let path = audited.folder.path().join("tokens");
    fs::write(&path, line.to_string()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    (path.to_str().unwrap().to_owned(), format!("Bearer {token}"))
}

fn call(headers: &[(&str, &str)]) -> Vec<u8> {
    stateless_with(headers, 1, "tools/call", &json!({ "name": "hi" }))
}

#[test]
fn refusals_without_a_credential_are_counted_beyond_a_few_lines() {
    let audited = Audited::new(Project::with_hi());
    let (file, bearer) = tokens(&audited, Grant::default());
    let log = audited.log();
    let arguments = ["--tokens", &file, "--audit", log.to_str().unwrap()];
    let server = HttpServer::start_with(audited.project.root(), &arguments, &[]);
    let mut answered = BTreeMap::<u16, u64>::new();
    for headers in [
        &[("Authorization", "Bearer wrong")][..],
        &[],
        &[("Host", "evil.example")],
        &[("Origin", "https://evil.example")],
    ] {
        for _ in 0..FLOOD {
            *answered.entry(server.send(&call(headers)).status).or_default() += 1;
        }
    }
    let elsewhere = |headers: &[(&str, &str)]| {
        let mut http = server.connect_from([127, 0, 0, 2]);
        http.send(&call(headers));
        http.response().status
    };
    assert_eq!(elsewhere(&[("Authorization", "Bearer wrong")]), 401);
    assert_eq!(server.send(&call(&[("Authorization", &bearer)])).status, 200);
    server.finish();
    let kinds = recorded(&audited);
    let total = |reason: &str, address: &str| kinds[&(reason.to_owned(), address.to_owned())].total();
    for (reason, status) in [("unauthenticated", 401), ("throttled", 429), ("host", 421), ("origin", 403)] {
        assert_eq!(total(reason, "127.0.0.1"), answered[&status], "{reason}: {kinds:?}");
    }
    assert_eq!(answered.values().sum::<u64>(), 4 * FLOOD as u64);
    assert!(kinds.values().any(|kind| !kind.counts.is_empty()), "{kinds:?}");
    assert_eq!(total("unauthenticated", "127.0.0.2"), 1, "others have lines of their own");
    let calls: Vec<Value> = audited.requests().into_iter().filter(|it| it["outcome"] == "success").collect();
    assert!(calls.len() == 1 && calls[0]["caller.name"] == "ann", "{calls:?}");
    assert_eq!(audited.verify().code, 0);
}

#[test]
fn a_client_with_many_addresses_gets_no_more_lines() {
    let audited = Audited::new(Project::with_hi());
    let (file, _) = tokens(&audited, Grant::default());
    let log = audited.log();
    let arguments = ["--tokens", &file, "--audit", log.to_str().unwrap()];
    let server = HttpServer::start_with(audited.project.root(), &arguments, &[]);
    for number in 0..=250 {
        let mut http = server.connect_from([127, 0, 1, number]);
        http.send(&call(&[]));
        assert_eq!(http.response().status, 401);
    }
    server.finish();
    let kinds = recorded(&audited);
    let shared = &kinds[&("unauthenticated".to_owned(), String::new())];
    // The others have addresses: one line for each of so many, and those of the shared kind.
    let lines: u64 = kinds.values().map(|kind| kind.lines).sum();
    let minutes = shared.counts.len() as u64;
    assert!(lines <= (64 + 10) * (minutes + 1), "{lines} lines");
    assert_eq!(lines + shared.counts.iter().sum::<u64>(), 251);
    assert_eq!(audited.verify().code, 0);
}

#[test]
fn requests_beyond_the_rate_of_a_caller_are_counted_beyond_a_few_lines() {
    let audited = Audited::new(Project::with_hi());
    let rate = "5/h".parse().unwrap();
    let (file, bearer) = tokens(&audited, Grant { rate: Some(rate), ..Grant::default() });
    let log = audited.log();
    let arguments = ["--tokens", &file, "--audit", log.to_str().unwrap()];
    let server = HttpServer::start_with(audited.project.root(), &arguments, &[]);
    let statuses = (0..FLOOD).map(|_| server.send(&call(&[("Authorization", &bearer)])).status);
    let refused = statuses.filter(|status| *status == 429).count() as u64;
    server.finish();
    assert!(refused > 100, "{refused}");
    let of_ann = records(&audited.log());
    let mut of_ann = of_ann.iter().filter(|record| record["error.type"] == "rate");
    assert!(of_ann.clone().all(|it| it["caller.name"] == "ann" && it["caller.known_by"] == "token"));
    assert!(of_ann.next_back().unwrap()["event.count"].is_u64());
    assert_eq!(recorded(&audited)[&("rate".to_owned(), "127.0.0.1".to_owned())].total(), refused);
}

#[test]
fn requests_without_the_shared_secret_are_counted_beyond_a_few_lines() {
    let audited = Audited::new(Project::with_hi());
    let secret = "0123456789abcdef0123456789abcdef";
    let mut server = Server::start_with(
        audited.project.root(),
        &[("MCPBASH_AUDIT", audited.log().to_str().unwrap()), ("MCPBASH_REMOTE_TOKEN", secret)],
    );
    for id in 0..40 {
        server.request(id, "tools/call", &json!({ "name": "hi" }));
    }
    for _ in 0..40 {
        assert!(server.receive()["error"].is_object());
    }
    server.finish();
    assert_eq!(recorded(&audited)[&("secret".to_owned(), String::new())].total(), 40);
    assert_eq!(audited.verify().code, 0);
}
