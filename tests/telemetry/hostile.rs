//! Whatever the collector does, calls are answered and the server ends.

use super::collector::{Collector, OK, spans_of};
use super::{AT_ONCE, attributes, call, named, start};
use crate::harness::{Project, Server};
use serde_json::json;
use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Calls a tool of a server that exports to `url`, ends the server, and returns its log.
fn served(url: &str, more: &[(&str, &str)]) -> String {
    let project = Project::with_hi();
    let environment = [&[("OTEL_EXPORTER_OTLP_ENDPOINT", url)][..], &AT_ONCE, more].concat();
    let mut server = Server::start_with(project.root(), &environment);
    assert_eq!(call(&mut server, 1, "hi", &json!({})).trim(), "hi");
    server.finish()
}

const FAILS: &str = "telemetry cannot be exported";

#[test]
fn a_collector_that_hangs_holds_nothing_up() {
    // Connections are made by the system, and never accepted.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    served(&format!("http://{}", listener.local_addr().unwrap()), &[]);
    let collector = Collector::answering(|_| {
        std::thread::park();
        Vec::new()
    });
    served(&collector.url, &[]);
}

#[test]
fn a_collector_that_is_not_there_is_logged() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let log = served(&url, &[]);
    assert!(log.contains(FAILS) && log.contains("cannot be reached"), "{log}");
}

#[test]
fn answers_that_are_no_success_are_logged() {
    let large = |status: &str| {
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: 10000000\r\n\r\n");
        [head.into_bytes(), vec![b'x'; 10_000_000]].concat()
    };
    for (answer, said) in [
        (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 5\r\n\r\nwrong".to_vec(), "status 400: wrong"),
        (
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n".to_vec(),
            "redirects",
        ),
        (b"garbage\r\n\r\n".to_vec(), "does not speak HTTP"),
        (Vec::new(), "does not speak HTTP"),
        (large("200 OK"), "sent more than 65536 bytes"),
        (large("503 Unavailable"), "sent more than 65536 bytes"),
    ] {
        let shown = String::from_utf8_lossy(&answer[..answer.len().min(30)]).into_owned();
        let collector = Collector::answering(move |_| answer.clone());
        let log = served(&collector.url, &[]);
        assert!(log.contains(FAILS) && log.contains(said), "{shown}: {log}");
    }
    let part = r#"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}"#;
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{part}", part.len());
    let collector = Collector::answering(move |_| answer.clone().into_bytes());
    let log = served(&collector.url, &[]);
    assert!(log.contains("the collector rejected 1 of them: too old"), "{log}");
}

#[test]
fn a_batch_is_sent_again_when_the_collector_says_so() {
    for status in ["429 Too Many Requests", "503 Service Unavailable"] {
        let busy = format!("HTTP/1.1 {status}\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n");
        let collector = Collector::answering(
            move |number| {
                if number < 2 { busy.clone().into_bytes() } else { OK.into() }
            },
        );
        let project = Project::with_hi();
        let mut server = start(&project, &collector, &[("OTEL_METRICS_EXPORTER", "none")]);
        call(&mut server, 1, "hi", &json!({}));
        let [first, second, third] = [0; 3].map(|_| spans_of(&collector.next().body));
        assert!(first == second && second == third && !first.is_empty());
        let log = server.finish();
        assert!(log.contains(FAILS) && log.contains("telemetry is exported again"), "{log}");
    }
}

#[test]
fn a_refused_batch_is_not_sent_again() {
    let refused = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    let collector = Collector::answering(|number| if number == 0 { refused.into() } else { OK.into() });
    let project = Project::with_hi();
    let mut server = start(&project, &collector, &[]);
    server.ask(1, "tools/list", &json!({ "_meta": crate::harness::stateless_meta() }));
    named(&spans_of(&collector.next().body), "tools/list");
    server.ask(2, "tools/list", &json!({ "_meta": crate::harness::stateless_meta() }));
    let next = spans_of(&collector.next().body);
    assert_eq!(attributes(&next[0])["jsonrpc.request.id"], "2", "{next:?}");
    server.finish();
    let metrics = collector.rest().pop().expect("the last metrics").body.to_string();
    assert!(
        metrics.contains("mcp_bash.telemetry.lost_spans") && metrics.contains("not_exported"),
        "{metrics}"
    );
}

#[test]
fn a_full_queue_loses_spans_and_no_answers() {
    // The first export is answered when all requests are.
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let collector = Collector::answering(move |number| {
        if number == 0 {
            let _ = wait.lock().unwrap().recv();
        }
        OK.into()
    });
    let project = Project::with_hi();
    let mut server = start(&project, &collector, &[("OTEL_BSP_MAX_QUEUE_SIZE", "10")]);
    let meta = json!({ "_meta": crate::harness::stateless_meta() });
    server.ask(0, "tools/list", &meta);
    collector.next();
    for id in 1..=500 {
        server.ask(id, "tools/list", &meta);
    }
    go.send(()).unwrap();
    server.finish();
    let exports = collector.rest();
    let spans: Vec<_> = exports.iter().flat_map(|export| spans_of(&export.body)).collect();
    let ids: Vec<_> = spans.iter().map(|span| attributes(span)["jsonrpc.request.id"].clone()).collect();
    assert_eq!(ids, (491..=500).map(|id| json!(id.to_string())).collect::<Vec<_>>());
    let lost = exports.iter().map(|export| export.body.to_string()).find(|body| body.contains("queue_full"));
    assert!(lost.expect("a count").contains(r#""asInt":"490""#));
}

/// A collector with TLS whose certificate is for `localhost`, and the certificate.
fn with_tls() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            let mut reader = std::io::BufReader::new(&mut stream);
            let mut line = String::new();
            while std::io::BufRead::read_line(&mut reader, &mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let _ = stream.write_all(OK.as_bytes());
            let _ = stream.flush();
        }
    });
    (url, made.cert.pem())
}

#[test]
fn only_a_trusted_certificate_is_accepted() {
    let (url, pem) = with_tls();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (right, wrong) = (file("right.pem", &pem), file("wrong.pem", &other.cert.pem()));
    let log = served(&url, &[("OTEL_EXPORTER_OTLP_CERTIFICATE", &wrong)]);
    assert!(log.contains(FAILS) && log.contains("certificate"), "{log}");
    let log = served(&url, &[("OTEL_EXPORTER_OTLP_CERTIFICATE", &right)]);
    assert!(!log.contains("telemetry"), "{log}");
}

#[test]
fn wrong_variables_are_logged_and_the_server_serves() {
    let collector = Collector::start();
    for (name, value, said) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "`grpc` is not spoken here"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4317", "is no endpoint"),
        ("OTEL_TRACES_SAMPLER", "most", "there is no sampler `most`"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "1e9", "is not a whole number"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere/ca.pem", "/nowhere/ca.pem"),
    ] {
        let log = served(&collector.url, &[(name, value)]);
        assert!(log.contains(said) && log.contains(name), "{name}={value}: {log}");
    }
}

/// The names of the threads of a server.
#[cfg(target_os = "linux")]
fn threads(server: &Server) -> Vec<String> {
    let folder = format!("/proc/{}/task", server.child.id());
    let names =
        fs::read_dir(folder).unwrap().flatten().map(|task| fs::read_to_string(task.path().join("comm")));
    names.flatten().map(|name| name.trim().to_owned()).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn without_an_endpoint_no_thread_is_started() {
    let project = Project::with_hi();
    for more in [&[][..], &[("OTEL_SERVICE_NAME", "x"), ("OTEL_TRACES_EXPORTER", "otlp")]] {
        let mut server = Server::start_with(project.root(), more);
        call(&mut server, 1, "hi", &json!({}));
        assert!(!threads(&server).contains(&"telemetry".to_owned()));
        server.finish();
    }
    let collector = Collector::start();
    let server = start(&project, &collector, &[]);
    crate::harness::wait_until("the thread", || {
        threads(&server).contains(&"telemetry".to_owned()).then_some(())
    });
}
