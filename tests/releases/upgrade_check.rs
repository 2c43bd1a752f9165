//! `mcp-bash doctor --upgrade-check`, against servers on this machine that answer in every way.

use crate::harness::{Project, Server};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Output;
use std::sync::mpsc::{Receiver, channel};

/// A list of releases on this machine, and the requests that it received.
struct Releases {
    address: String,
    requests: Receiver<String>,
}

impl Releases {
    /// Answers each request by writing to its connection, which stays open until the test ends if `answer` returns it.
    fn answering(answer: impl Fn(TcpStream) -> Option<TcpStream> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/releases", listener.local_addr().unwrap());
        let (seen, requests) = channel();
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for connection in listener.incoming().flatten() {
                let (mut connection, mut head) = (connection, Vec::new());
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).is_ok_and(|count| count == 1)
                {
                    head.extend_from_slice(&byte);
                }
                if seen.send(String::from_utf8_lossy(&head).into_owned()).is_err() {
                    return;
                }
                open.extend(answer(connection));
            }
        });
        Self { address, requests }
    }

    fn saying(head: &str, body: impl Into<Vec<u8>>) -> Self {
        let (head, body) = (format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n"), body.into());
        Self::answering(move |mut connection| {
            // The client may have enough before the end.
            let _ = connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(&body));
            None
        })
    }

    fn listing(tags: &[&str]) -> Self {
        let list: Vec<Value> = tags.iter().map(|tag| serde_json::json!({ "tag_name": tag })).collect();
        Self::saying("200 OK", Value::from(list).to_string())
    }
}

fn doctor(words: &[&str]) -> Output {
    let home = Project::with_hi();
    let mut command = Server::command();
    command.env_clear().env("HOME", home.root()).env("SHELL", "/bin/sh").env("PATH", "/usr/bin:/bin");
    command.arg("doctor").args(words).arg("--project-root").arg(home.root()).current_dir("/");
    command.output().unwrap()
}

/// The facts and the findings about releases.
fn checked(releases: &Releases) -> (Value, Vec<Value>) {
    let output = doctor(&["--upgrade-check", "--releases-url", &releases.address, "--json"]);
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    // Neither a newer release nor a server that does not answer is an error of this machine.
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    let findings = report["findings"].as_array().unwrap().iter();
    let findings = findings.filter(|finding| finding["id"].as_str().unwrap().starts_with("upgrade."));
    (report["upgrade"].clone(), findings.cloned().collect())
}

#[test]
fn a_newer_release_is_named_with_the_command_that_installs_it() {
    let releases = Releases::listing(&["v0.0.9", "v999.1.0", "v999.2.0-rc.1", "nightly"]);
    let (upgrade, findings) = checked(&releases);
    assert_eq!(upgrade["available"], true);
    assert_eq!(upgrade["newest"], "999.1.0");
    assert_eq!(upgrade["current"], env!("CARGO_PKG_VERSION"));
    let command = upgrade["command"].as_str().unwrap();
    assert!(command.contains("999.1.0"), "{command}");
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0]["id"], "upgrade.available");
    assert_eq!(findings[0]["suggestedCommand"], command);
    let request = releases.requests.recv().unwrap().to_lowercase();
    assert!(request.starts_with("get /releases http/1.1\r\n"), "{request}");
    // GitHub refuses requests without it.
    assert!(request.contains("\r\nuser-agent: mcp-bash\r\n"), "{request}");
}

#[test]
fn the_newest_release_and_a_newer_program_are_fine() {
    for tags in [[concat!("v", env!("CARGO_PKG_VERSION")), "v0.0.1"], ["v0.0.1", "v0.0.2-rc.1"]] {
        let (upgrade, findings) = checked(&Releases::listing(&tags));
        assert_eq!(upgrade["available"], false, "{upgrade}");
        assert!(findings.is_empty(), "{findings:?}");
    }
}

#[test]
fn what_is_no_answer_is_a_warning_and_not_an_error() {
    let endless = vec![b' '; 3 * 1024 * 1024];
    let rows = [
        (Releases::saying("200 OK", "<html>welcome</html>"), "no list of releases"),
        (Releases::saying("200 OK", "[{\"tag_name\": \"\\u001b[31m\"}]"), "tag_name"),
        (Releases::saying("200 OK", endless.clone()), "more than 2097152 bytes"),
        (Releases::saying("200 OK\r\nContent-Length: 99999999999", ""), "more than 2097152 bytes"),
        (Releases::saying("200 OK\r\nContent-Length: 100", "[]"), "does not speak HTTP as it should"),
        (Releases::saying("403 rate limit exceeded", ""), "status 403"),
        (
            Releases::saying("302 Found\r\nLocation: http://example.com/", ""),
            "redirects (302) to `http://example.com/`",
        ),
        (Releases::saying("garbage", ""), "does not speak HTTP as it should"),
    ];
    for (releases, part) in rows {
        let (upgrade, findings) = checked(&releases);
        assert!(upgrade["available"].is_null(), "{upgrade}");
        let problem = upgrade["problem"].as_str().unwrap();
        assert!(problem.contains(part), "{problem} lacks {part}");
        assert_eq!(findings.len(), 1);
        assert_eq!(
            (&findings[0]["id"], &findings[0]["severity"]),
            (&"upgrade.unknown".into(), &"warning".into())
        );
    }
}

#[test]
fn a_server_that_hangs_is_not_waited_for() {
    let (upgrade, _) = checked(&Releases::answering(Some));
    let problem = upgrade["problem"].as_str().unwrap();
    assert!(problem.contains("did not answer within 5 s"), "{problem}");
}

#[test]
fn a_machine_without_a_network_is_told_what_to_do() {
    // Nothing listens on the port of a listener that is gone.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let output = doctor(&["--upgrade-check", "--releases-url", &format!("http://{address}/")]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("whether there is a newer release is not known"), "{text}");
    assert!(text.contains("or name a mirror with --releases-url"), "{text}");
}

#[test]
fn only_https_and_this_machine_are_asked_and_only_with_the_flag() {
    for address in ["http://example.com/", "ftp://127.0.0.1/", "releases.json", "https://me@example.com/", ""]
    {
        let output = doctor(&["--upgrade-check", "--releases-url", address]);
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{address}: {words}");
        assert!(words.contains("--releases-url"), "{address}: {words}");
        assert!(output.stdout.is_empty(), "{address}");
    }
    let releases = Releases::listing(&["v999.0.0"]);
    let output = doctor(&["--releases-url", &releases.address]);
    assert_eq!(output.status.code(), Some(2));
    let output = doctor(&["--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report.get("upgrade").is_none());
    assert!(releases.requests.try_recv().is_err());
}
