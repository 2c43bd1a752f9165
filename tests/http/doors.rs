//! Access to a server over HTTP: addresses, sockets, host names, origins, TLS; and the errors that keep it
//! from starting.

use crate::harness::http::{HttpServer, post, request, stateless};
use crate::harness::{Project, Server, wait_until};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// The error of `serve`, which does not start with these arguments.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let project = Project::with_hi();
    let mut command = Server::command();
    let mut server =
        Elsewhere::start(command.arg("serve").arg(project.root()).args(arguments).stdin(Stdio::null()));
    let status = wait_until("the server to end", || server.child.try_wait().unwrap());
    let mut words = String::new();
    server.stderr.read_to_string(&mut words).unwrap();
    (status.code(), words)
}

fn secret(folder: &Path, name: &str, text: &str, mode: u32) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn token_line() -> String {
    mcp_bash_transport::http::TokenLine::generate("alice", mcp_bash_transport::http::Grant::default())
        .unwrap()
        .0
        .to_string()
}

// Shows: http-loopback
#[test]
fn an_open_server_does_not_start_and_says_how_to_fix_it() {
    let folder = tempfile::tempdir().unwrap();
    let good = secret(folder.path(), "good", &token_line(), 0o600);
    let open = secret(folder.path(), "open", &token_line(), 0o644);
    let junk = secret(folder.path(), "junk", "alice hunter2\n", 0o600);
    let empty = secret(folder.path(), "empty", "# nobody\n", 0o600);
    let missing = folder.path().join("missing");
    let missing = missing.to_str().unwrap();
    let wide = "0.0.0.0:0";
    for (arguments, said) in [
        (&["--http", wide][..], "give `--tokens FILE`"),
        (&["--http", wide, "--behind-proxy"], "give `--tokens FILE`"),
        (&["--http", "127.0.0.1:0", "--http", "[::]:0"], "give `--tokens FILE`"),
        (&["--http", wide, "--tokens", &good], "`--behind-proxy`"),
        (&["--http", "0", "--tokens", &open], "chmod 600"),
        (&["--http", "0", "--tokens", missing], "cannot be read"),
        (&["--http", "0", "--tokens", &junk], "line 1: the hash should be"),
        (&["--http", "0", "--tokens", &empty], "mcp-bash token new"),
        (&["--http", "0", "--tls-cert", &good], "--tls-key"),
        (&["--http", "0", "--tls-cert", &good, "--tls-key", &good], "holds no certificate"),
        (&["--http", "0", "--allow-host", "https://a.example"], "is no host"),
        (&["--http", "0", "--allow-origin", "a.example"], "is no origin"),
        (&["--http", "example.com:80"], "is no address of this machine"),
        (&["--tokens", &good], "--http"),
    ] {
        let (code, words) = refused(arguments);
        assert!(code == Some(2) && words.contains(said), "{arguments:?}: {code:?}: {words}");
        assert!(!words.contains("hunter2"), "{words}");
    }
}

#[test]
fn addresses_in_use_and_missing_sockets_are_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, words) = refused(&["--http", &address]);
    assert!(code == Some(1) && words.contains("is in use by another program"), "{code:?} {words}");
    let (code, words) = refused(&["--http", "systemd"]);
    assert!(code == Some(1) && words.contains("no socket was handed over"), "{code:?} {words}");

    let folder = tempfile::tempdir().unwrap();
    let [live, file, link] = ["live", "file", "link"].map(|name| folder.path().join(name));
    let _listener = UnixListener::bind(&live).unwrap();
    fs::write(&file, "precious").unwrap();
    symlink(&live, &link).unwrap();
    for (path, said) in [(&live, "another server listens"), (&file, "is no socket"), (&link, "is no socket")]
    {
        let (code, words) = refused(&["--http", &format!("unix:{}", path.display())]);
        assert!(code == Some(1) && words.contains(said), "{code:?} {words}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
}

#[test]
fn a_project_cannot_change_who_is_allowed() {
    let project = Project::with_hi().file(
        "server.d/server.meta.json",
        r#"{"name": "x", "settings": {"httpAllowHosts": "*", "httpAllowOrigins": "*", "httpTokens": "/dev/null"}}"#,
    );
    let server = HttpServer::start(project.root());
    assert_eq!(server.send(&with(&[("Host", "evil.example")])).status, 421);
    let origin = [("Host", "127.0.0.1"), ("Origin", "https://evil.example")];
    assert_eq!(server.send(&with(&origin)).status, 403);
    let log = server.finish();
    assert!(log.contains("set the variable MCPBASH_HTTP_ALLOW_HOSTS"), "{log}");
}

/// A request that is valid except for these headers.
fn with(headers: &[(&str, &str)]) -> Vec<u8> {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let all = [&[("MCP-Protocol-Version", "2025-11-25")], headers].concat();
    post(&all, &message)
}

// Shows: http-origin
#[test]
fn unknown_hosts_and_origins_are_refused() {
    let project = Project::with_hi();
    let server = HttpServer::start(project.root());
    for host in [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil",
        "user@localhost",
        "localhost:80@evil.example",
        "[::1%25lo]",
        "192.168.0.1",
        "0x7f000001",
        "",
    ] {
        let answer = server.send(&with(&[("Host", host)]));
        assert_eq!(answer.status, 421, "{host:?}: {answer:?}");
    }
    for twice in [["127.0.0.1", "127.0.0.1"], ["127.0.0.1", "evil.example"]] {
        let answer = server.send(&with(&twice.map(|host| ("Host", host))));
        assert!(matches!(answer.status, 400 | 421), "{twice:?}: {answer:?}");
    }
    for origin in [
        "null",
        "",
        "https://evil.example",
        "http://localhost.evil.example",
        "http://127.0.0.1@evil.example",
        "http://localhost, https://evil.example",
        "file://",
    ] {
        let answer = server.send(&with(&[("Origin", origin)]));
        assert_eq!(answer.status, 403, "{origin:?}: {answer:?}");
        assert_eq!(answer.header("www-authenticate"), None, "clients would take it for a missing right");
    }
    let answer = server.send(&with(&[("Origin", "http://localhost"), ("Origin", "http://localhost")]));
    assert_eq!(answer.status, 403);
    // A full URL in the request line counts like the header.
    let absolute = request("POST", "http://evil.example/mcp", &[("Host", "127.0.0.1")], b"{}");
    assert_eq!(server.send(&absolute).status, 421);
    server.expect_service();
    server.finish();
}

#[test]
fn allowed_hosts_and_origins_are_served() {
    let project = Project::with_hi();
    let arguments = ["--allow-host", "mcp.example.com", "--allow-origin", "https://app.example.com"];
    let server = HttpServer::start_with(project.root(), &arguments, &[]);
    let lets_in = |headers: &[(&str, &str)]| !matches!(server.send(&with(headers)).status, 403 | 421);
    assert!(lets_in(&[("Host", "MCP.example.com:443")]) && lets_in(&[("Host", "localhost")]));
    assert!(
        lets_in(&[("Origin", "https://app.example.com")]) && lets_in(&[("Origin", "http://localhost:6274")])
    );
    assert!(!lets_in(&[("Host", "a.mcp.example.com")]) && !lets_in(&[("Origin", "http://app.example.com")]));

    let asked = [
        ("Origin", "https://app.example.com"),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,mcp-param-region"),
    ];
    let answer = server.send(&request("OPTIONS", "/mcp", &asked, b""));
    assert_eq!(answer.status, 204, "{answer:?}");
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example.com"));
    let allowed = answer.header("access-control-allow-headers").unwrap().to_ascii_lowercase();
    for name in ["authorization", "mcp-session-id", "last-event-id", "mcp-param-region"] {
        assert!(allowed.contains(name), "{allowed}");
    }
    let stranger = [("Origin", "https://evil.example"), ("Access-Control-Request-Method", "POST")];
    let answer = server.send(&request("OPTIONS", "/mcp", &stranger, b""));
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (403, None));
    server.finish();
}

/// A server that does not listen on a port.
struct Elsewhere {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Elsewhere {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stderr }
    }

    /// The listen address that the server prints.
    fn announced(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(self.stderr.read_line(&mut line).unwrap() > 0, "it ended: {:?}", self.child.wait());
            if line.starts_with("Serving at ") {
                return line.trim_end().to_owned();
            }
        }
    }

    fn finish(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let mut log = String::new();
        let _ = self.stderr.read_to_string(&mut log);
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{log}");
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request over any connection, which is closed afterwards.
fn asked_over(stream: impl Read + Write) -> Value {
    asked(stream, stateless(1, "server/discover", &json!({})))
}

fn asked(mut stream: impl Read + Write, request: Vec<u8>) -> Value {
    let close = String::from_utf8(request).unwrap();
    let close = close.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    stream.write_all(close.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn a_unix_socket_is_served_and_removed_even_after_a_killed_server() {
    let project = Project::with_hi();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.sock");
    // The leftovers of a killed server.
    drop(UnixListener::bind(&path).unwrap());
    let address = format!("unix:{}", path.display());
    let mut server = Elsewhere::start(
        Server::command().arg("serve").arg(project.root()).args(["--http", &address]).stdin(Stdio::null()),
    );
    assert_eq!(server.announced(), format!("Serving at /mcp of the socket {}", path.display()));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let answer = asked_over(UnixStream::connect(&path).unwrap());
    assert!(answer["result"]["supportedVersions"].is_array(), "{answer}");
    server.finish();
    assert!(!path.exists());
}

#[test]
fn sockets_of_the_service_manager_are_used() {
    let project = Project::with_hi().tool("held", "#!/bin/sh\nls -l /proc/self/fd\n");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // As systemd does it: the socket is descriptor 3, and the variables name the process that it is for.
    let script = r#"exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" serve "$1" --http systemd"#;
    let program = Server::command();
    let mut command = Server::command_of("/bin/sh");
    command.args(["-c", script]).arg(program.get_program()).arg(project.root());
    let mut server =
        Elsewhere::start(command.stdin(Stdio::from(OwnedFd::from(listener.try_clone().unwrap()))));
    assert_eq!(server.announced(), format!("Serving at http://{address}/mcp"));
    let call = stateless(1, "tools/call", &json!({ "name": "held" }));
    let answer = asked(TcpStream::connect(address).unwrap(), call);
    let held = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(!held.contains("socket:"), "a script does not get what clients connect to: {held}");
    server.finish();
    // The socket is still open here, and a client that connects waits for the next server.
    TcpStream::connect(address).unwrap();

    let script = r#"exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=1 exec "$0" serve "$1" --http systemd"#;
    let mut command = Server::command_of("/bin/sh");
    command.args(["-c", script]).arg(program.get_program()).arg(project.root());
    let said = command.stdin(Stdio::from(OwnedFd::from(listener))).output().unwrap();
    let words = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.code() == Some(1) && words.contains("meant for process 1"), "{words}");
}

struct Certificate {
    folder: tempfile::TempDir,
    made: CertifiedKey<KeyPair>,
}

impl Certificate {
    fn new() -> Self {
        let certificate = Self { folder: tempfile::tempdir().unwrap(), made: make() };
        certificate.write(&certificate.made);
        certificate
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces both files, one after the other, as certificate renewal does.
    fn write(&self, made: &CertifiedKey<KeyPair>) {
        for (name, text) in [("cert.pem", made.cert.pem()), ("key.pem", made.signing_key.serialize_pem())] {
            let draft = PathBuf::from(secret(self.folder.path(), "draft", &text, 0o600));
            fs::rename(draft, self.path(name)).unwrap();
        }
    }
}

fn make() -> CertifiedKey<KeyPair> {
    generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

/// A connection that trusts only this certificate.
fn tls(address: &str, trusted: &CertifiedKey<KeyPair>) -> Option<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    let mut stream = StreamOwned::new(client, TcpStream::connect(address).unwrap());
    stream.conn.complete_io(&mut stream.sock).ok()?;
    Some(stream)
}

#[test]
fn tls_works_and_a_renewed_certificate_is_loaded() {
    let (project, certificate, second) = (Project::with_hi(), Certificate::new(), make());
    let mut command = Server::command();
    command
        .arg("serve")
        .arg(project.root())
        .args(["--http", "0", "--tls-cert"])
        .arg(certificate.path("cert.pem"));
    command.arg("--tls-key").arg(certificate.path("key.pem")).stdin(Stdio::null());
    let mut server = Elsewhere::start(&mut command);
    let announced = server.announced();
    let address = announced.strip_prefix("Serving at https://").and_then(|rest| rest.strip_suffix("/mcp"));
    let address = address.unwrap_or_else(|| panic!("{announced}"));
    let answer = asked_over(tls(address, &certificate.made).unwrap());
    assert!(answer["result"]["supportedVersions"].is_array(), "{answer}");
    // A client without TLS gets nothing, and one that stops in the middle of the handshake blocks no other.
    let silent = TcpStream::connect(address).unwrap();
    let mut plain = TcpStream::connect(address).unwrap();
    plain.write_all(&stateless(1, "server/discover", &json!({}))).unwrap();
    let mut got = Vec::new();
    let _ = plain.read_to_end(&mut got);
    assert!(!got.starts_with(b"HTTP/"), "{got:?}");

    assert!(tls(address, &second).is_none());
    certificate.write(&second);
    asked_over(wait_until("the new certificate", || tls(address, &second)));
    drop(silent);
    server.finish();
}
