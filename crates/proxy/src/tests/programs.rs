//! Real programs as clients: curl and Python, if they are installed.

use super::stage::{HttpServer, PUBLIC, Stage};
use crate::{Reason, variables};
use std::process::Stdio;
use tokio::process::Command;

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: keep-alive\r\n\r\nhello\n";

struct Output {
    code: Option<i32>,
    text: String,
}

/// Runs a program with the variables of the proxy, and no others that name a proxy. Nothing if it is not installed.
async fn run(stage: &Stage, program: &str, words: &[&str]) -> Option<Output> {
    let command = Command::new(program)
        .args(words)
        .envs(variables(stage.port))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    let output = match command {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        output => output.unwrap(),
    };
    let text = [output.stdout, output.stderr].concat();
    Some(Output { code: output.status.code(), text: String::from_utf8_lossy(&text).into_owned() })
}

async fn stage() -> (Stage, HttpServer) {
    let server = HttpServer::start(ANSWER).await;
    let names: &[(&str, &[&str])] = &[("api.example", &[PUBLIC]), ("b.example", &["1.1.1.1"])];
    (Stage::new(&["api.example:8080", "b.example:80"], names, Some(server.port)), server)
}

#[tokio::test]
async fn curl_reaches_listed_hosts_in_every_way() {
    let (stage, server) = stage().await;
    let socks = format!("socks5h://127.0.0.1:{}", stage.port);
    for options in [&["-sS"][..], &["-sS", "--proxytunnel"], &["-sS", "--proxy", &socks]] {
        let words = [options, &["http://api.example:8080/path", "--header", "X-Own: 1"]].concat();
        let Some(output) = run(&stage, "curl", &words).await else { return };
        assert_eq!((output.code, output.text.as_str()), (Some(0), "hello\n"), "{options:?}");
    }
    for request in server.requests() {
        assert!(request.starts_with("GET /path HTTP/1.1\r\nHost: api.example:8080\r\n"), "{request}");
        assert!(request.contains("X-Own: 1\r\n") && !request.contains("Proxy-Connection"), "{request}");
    }
    assert_eq!(stage.connected(), vec![format!("{PUBLIC}:8080"); 3]);
}

#[tokio::test]
async fn curl_sends_the_second_url_to_its_own_host() {
    let (stage, server) = stage().await;
    // The server answers with `keep-alive`, which must not make curl use the same connection for both.
    let urls = ["http://api.example:8080/first", "http://b.example/second"];
    let Some(output) = run(&stage, "curl", &["-sS", urls[0], urls[1]]).await else { return };
    assert_eq!((output.code, output.text.as_str()), (Some(0), "hello\nhello\n"));
    assert_eq!(stage.connected(), [format!("{PUBLIC}:8080"), "1.1.1.1:80".to_owned()]);
    assert!(server.requests()[1].starts_with("GET /second HTTP/1.1\r\nHost: b.example\r\n"));
}

#[tokio::test]
async fn curl_shows_why_a_host_is_refused() {
    let (stage, _server) = stage().await;
    let Some(output) = run(&stage, "curl", &["-sS", "http://evil.example/"]).await else { return };
    assert!(output.text.contains("\"network\": [\"evil.example:80\"]"), "{}", output.text);
    let output = run(&stage, "curl", &["-sS", "https://evil.example/"]).await.unwrap();
    assert_eq!(output.code, Some(56), "{}", output.text);
    assert!(output.text.contains("403"), "{}", output.text);
    let socks = format!("socks5h://127.0.0.1:{}", stage.port);
    let output = run(&stage, "curl", &["-sS", "--proxy", &socks, "https://evil.example/"]).await.unwrap();
    assert_eq!(output.code, Some(97), "{}", output.text);
    assert_eq!(stage.reasons(), vec![Reason::NotListed; 3]);
    let ports: Vec<u16> = stage.refusals().iter().map(|refusal| refusal.port).collect();
    assert_eq!(ports, [80, 443, 443]);
    assert_eq!(stage.resolved(), Vec::<String>::new());
}

#[tokio::test]
async fn programs_reach_this_machine_without_the_proxy() {
    let (stage, server) = stage().await;
    for host in ["localhost", "127.0.0.1"] {
        let url = format!("http://{host}:{}/", server.port);
        let Some(output) = run(&stage, "curl", &["-sS", "--ipv4", &url]).await else { return };
        assert_eq!((output.code, output.text.as_str()), (Some(0), "hello\n"));
    }
    assert_eq!((stage.connected(), stage.refusals()), (vec![], vec![]));
}

#[tokio::test]
async fn python_uses_the_proxy() {
    let (stage, server) = stage().await;
    let get = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())";
    let Some(output) = run(&stage, "python3", &["-c", get, "http://api.example:8080/a?b"]).await else {
        return;
    };
    assert_eq!((output.code, output.text.as_str()), (Some(0), "hello\n\n"));
    assert!(server.requests()[0].starts_with("GET /a?b HTTP/1.1\r\nHost: api.example:8080\r\n"));

    let post = "import sys, urllib.request as r, urllib.error as e\n\
                try: r.urlopen(sys.argv[1], data=b'x' * 1000000)\n\
                except e.HTTPError as error: print(error.code, error.headers['X-Proxy-Error'], error.read().decode())";
    let output = run(&stage, "python3", &["-c", post, "http://evil.example/"]).await.unwrap();
    assert!(output.text.starts_with("403 blocked-by-allowlist evil.example:80 may not"), "{}", output.text);

    let output = run(&stage, "python3", &["-c", get, "https://evil.example/"]).await.unwrap();
    assert!(output.text.contains("Tunnel connection failed: 403 Forbidden"), "{}", output.text);
    assert_eq!(stage.reasons(), vec![Reason::NotListed; 2]);
}
