//! A server over HTTP, and its sessions.

use super::connection::{Http, Response};
use super::requests::{initialize, post, request, stateless};
use crate::harness::{Server, wait_until};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A running server that listens on its own port.
pub(crate) struct HttpServer {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
}

impl HttpServer {
    pub(crate) fn start(root: &Path) -> Self {
        Self::start_with(root, &[], &[])
    }

    /// The same with more arguments for `serve`, and settings.
    pub(crate) fn start_with(root: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::start_by(Server::command(), root, arguments, environment)
    }

    /// The same with a command that ends with the name of the program.
    pub(crate) fn start_by(
        command: Command,
        root: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        Self::try_start_by(command, root, arguments, environment)
            .unwrap_or_else(|said| panic!("the server ended at its start: {said}"))
    }

    /// The same for a server that may fail to start. The error is its standard error.
    pub(crate) fn try_start_by(
        mut command: Command,
        root: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<Self, String> {
        command.arg("serve").arg(root).args(["--http", "127.0.0.1:0"]).args(arguments);
        command.envs(environment.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let log = Arc::<Mutex<Vec<String>>>::default();
        let lines = Arc::clone(&log);
        let reader = std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
        let mut server = Self { child, address: SocketAddr::from(([0; 4], 0)), log, reader: Some(reader) };
        let address = wait_until("the server to listen", || {
            if let Some(status) = server.child.try_wait().expect("a status") {
                server.wait();
                return Some(Err(format!("{status}: {}", server.log())));
            }
            server.announced_address().map(Ok)
        });
        server.address = address?;
        Ok(server)
    }

    fn announced_address(&self) -> Option<SocketAddr> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let address = log.iter().find_map(|line| line.strip_prefix("Serving at http"))?;
        let address = address.trim_start_matches('s').strip_prefix("://")?;
        address.strip_suffix("/mcp")?.parse().ok()
    }

    /// The standard error so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn connect(&self) -> Http {
        Http::new(TcpStream::connect(self.address).expect("a connection"))
    }

    /// A connection from another address of this machine.
    pub(crate) fn connect_from(&self, address: [u8; 4]) -> Http {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        bind(&socket, &SocketAddr::from((address, 0))).expect("an address of this machine");
        connect(&socket, &self.address).expect("a connection");
        Http::new(socket.into())
    }

    /// Sends a request on a new connection, and reads the answer.
    pub(crate) fn send(&self, request: &[u8]) -> Response {
        let mut http = self.connect();
        http.send(request);
        http.response()
    }

    /// Sends a request without a session. The answer must be JSON.
    pub(crate) fn ask(&self, method: &str, params: &Value) -> Value {
        self.send(&stateless(1, method, params)).json()
    }

    /// Checks that a well-behaved client is served at once.
    pub(crate) fn expect_service(&self) {
        let answer = self.ask("server/discover", &json!({}));
        assert!(answer["result"]["supportedVersions"].is_array(), "{answer}");
    }

    /// A session of that revision.
    pub(crate) fn session(&self, revision: &str) -> HttpSession<'_> {
        self.session_offering(revision, &json!({}))
    }

    /// The same for a client with these capabilities.
    pub(crate) fn session_offering(&self, revision: &str, capabilities: &Value) -> HttpSession<'_> {
        let answer = self.send(&post(&[], &initialize(revision, capabilities).to_string()));
        assert_eq!(answer.status, 200, "{answer:?}");
        let agreed = answer.json()["result"]["protocolVersion"].as_str().expect("a revision").to_owned();
        let id = answer.header("mcp-session-id").expect("the id of a session").to_owned();
        let session = HttpSession { server: self, id, revision: agreed };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.send(&ready).response().status, 202);
        session
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.child.id().cast_signed()).expect("a pid");
        rustix::process::kill_process(pid, signal).expect("a signal");
    }

    /// Waits for the server to exit by itself.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let status = wait_until("the server to end", || self.child.try_wait().expect("a status"));
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader of standard error");
        }
        status
    }

    /// Asks the server to shut down, and expects success. Returns its standard error.
    pub(crate) fn finish(mut self) -> String {
        self.signal(rustix::process::Signal::TERM);
        let status = self.wait();
        assert_eq!(status.code(), Some(0), "{}", self.log());
        self.log()
    }

    /// How many descriptors the server has open.
    pub(crate) fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.pid())).expect("a process").count()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A session that sends every message on a new connection.
pub(crate) struct HttpSession<'a> {
    server: &'a HttpServer,
    pub(crate) id: String,
    pub(crate) revision: String,
}

impl HttpSession<'_> {
    pub(crate) fn headers(&self) -> [(&str, &str); 2] {
        [("MCP-Session-Id", &self.id), ("MCP-Protocol-Version", &self.revision)]
    }

    /// Sends a message. The test reads the answer.
    pub(crate) fn send(&self, message: &Value) -> Http {
        let mut http = self.server.connect();
        http.send(&post(&self.headers(), &message.to_string()));
        http
    }

    pub(crate) fn request(&self, id: impl Into<Value>, method: &str, params: &Value) -> Http {
        self.send(&json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }))
    }

    /// Sends a request, and returns its answer, which must be JSON.
    pub(crate) fn ask(&self, id: impl Into<Value>, method: &str, params: &Value) -> Value {
        self.request(id, method, params).response().json()
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) {
        let sent = self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).response();
        assert_eq!((sent.status, sent.body.len()), (202, 0), "{sent:?}");
    }

    /// Calls a tool that reports progress.
    pub(crate) fn call_with_progress(&self, id: impl Into<Value>, tool: &str) -> Http {
        let id = id.into();
        let meta = json!({ "progressToken": id });
        self.request(id, "tools/call", &json!({ "name": tool, "arguments": {}, "_meta": meta }))
    }

    /// Opens the stream of messages that belong to no request, or resumes after an event.
    pub(crate) fn get(&self, last_event_id: Option<&str>) -> Http {
        let mut headers = self.headers().to_vec();
        headers.extend(last_event_id.map(|id| ("Last-Event-ID", id)));
        let mut http = self.server.connect();
        http.send(&request("GET", "/mcp", &[&[("Accept", "text/event-stream")], &headers[..]].concat(), b""));
        http
    }

    pub(crate) fn delete(&self) -> Response {
        self.server.send(&request("DELETE", "/mcp", &self.headers(), b""))
    }
}
