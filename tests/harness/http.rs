//! A server over HTTP, and a client of it that sends whatever bytes a test likes: it helps with what is right and keeps
//! nobody from what is wrong.

use super::{PATIENCE, Server, stateless_meta, wait_until};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A running server that awaits clients at a port of its own.
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

    /// The same with further arguments of `serve` and settings.
    pub(crate) fn start_with(root: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::start_by(Server::command(), root, arguments, environment)
    }

    /// The same by a command that ends with the name of the program.
    pub(crate) fn start_by(
        command: Command,
        root: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        Self::try_start_by(command, root, arguments, environment)
            .unwrap_or_else(|said| panic!("the server ended at its start: {said}"))
    }

    /// The same for a server that may not get so far. The error is what it said then.
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
        let address = log.iter().find_map(|line| line.strip_prefix("Serving at http://"))?;
        address.strip_suffix("/mcp")?.parse().ok()
    }

    /// What was written to standard error so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> Http {
        Http::new(TcpStream::connect(self.address).expect("a connection"))
    }

    /// A connection that comes from another address of this machine.
    pub(crate) fn connect_from(&self, address: [u8; 4]) -> Http {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        bind(&socket, &SocketAddr::from((address, 0))).expect("an address of this machine");
        connect(&socket, &self.address).expect("a connection");
        Http::new(socket.into())
    }

    /// Sends a request on a connection of its own, and reads the answer.
    pub(crate) fn send(&self, request: &[u8]) -> Response {
        let mut http = self.connect();
        http.send(request);
        http.response()
    }

    /// Asks for something without a session. The answer must be JSON.
    pub(crate) fn ask(&self, method: &str, params: &Value) -> Value {
        self.send(&stateless(1, method, params)).json()
    }

    /// Whether somebody who does nothing wrong is served at once.
    pub(crate) fn expect_service(&self) {
        let answer = self.ask("server/discover", &json!({}));
        assert!(answer["result"]["supportedVersions"].is_array(), "{answer}");
    }

    /// A session of that revision.
    pub(crate) fn session(&self, revision: &str) -> HttpSession<'_> {
        self.session_offering(revision, &json!({}))
    }

    /// The same for a client that can do something for the server.
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

    /// Waits for the server to end by itself.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let status = wait_until("the server to end", || self.child.try_wait().expect("a status"));
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader of standard error");
        }
        status
    }

    /// Asks the server to end, and expects it to do so well. Returns what it wrote to standard error.
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

/// A session, whose every message is a request on a connection of its own.
pub(crate) struct HttpSession<'a> {
    server: &'a HttpServer,
    pub(crate) id: String,
    pub(crate) revision: String,
}

impl HttpSession<'_> {
    pub(crate) fn headers(&self) -> [(&str, &str); 2] {
        [("MCP-Session-Id", &self.id), ("MCP-Protocol-Version", &self.revision)]
    }

    /// Sends a message. What comes back is for the test to read.
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

    /// Calls a tool that tells of its progress.
    pub(crate) fn call_with_progress(&self, id: impl Into<Value>, tool: &str) -> Http {
        let id = id.into();
        let meta = json!({ "progressToken": id });
        self.request(id, "tools/call", &json!({ "name": tool, "arguments": {}, "_meta": meta }))
    }

    /// Asks for the stream of what belongs to no request, or for what came after an event.
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

/// The first message of a session.
pub(crate) fn initialize(revision: &str, capabilities: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
        "protocolVersion": revision,
        "capabilities": capabilities,
        "clientInfo": { "name": "test", "version": "1" },
    } })
}

/// A request as bytes. What `headers` do not say of the host and the length of the body is added.
pub(crate) fn request(method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let is_said = |name: &str| headers.iter().any(|(said, _)| said.eq_ignore_ascii_case(name));
    let mut text = format!("{method} {target} HTTP/1.1\r\n");
    if !is_said("Host") {
        text.push_str("Host: 127.0.0.1\r\n");
    }
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    if !body.is_empty() && !is_said("Content-Length") && !is_said("Transfer-Encoding") {
        let _ = write!(text, "Content-Length: {}\r\n", body.len());
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// A POST of a message, with further headers. One of these that every client sends takes its place.
pub(crate) fn post(headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let usual = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let is_said = |name: &str| headers.iter().any(|(said, _)| said.eq_ignore_ascii_case(name));
    let mut all: Vec<_> = usual.into_iter().filter(|(name, _)| !is_said(name)).collect();
    all.extend_from_slice(headers);
    request("POST", "/mcp", &all, body.as_bytes())
}

/// A message that says all about itself.
pub(crate) fn stateless_message(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    let mut params = params.clone();
    let mut meta = stateless_meta();
    for (name, value) in params["_meta"].as_object().into_iter().flatten() {
        meta[name] = value.clone();
    }
    params["_meta"] = meta;
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// A POST of the stateless era, with the headers that repeat it.
pub(crate) fn stateless(id: impl Into<Value>, method: &str, params: &Value) -> Vec<u8> {
    stateless_with(&[], id, method, params)
}

/// The same with further headers.
pub(crate) fn stateless_with(
    headers: &[(&str, &str)],
    id: impl Into<Value>,
    method: &str,
    params: &Value,
) -> Vec<u8> {
    let mut all = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    let name = params["name"].as_str().or(params["uri"].as_str());
    all.extend(name.map(|name| ("Mcp-Name", name)));
    all.extend_from_slice(headers);
    post(&all, &stateless_message(id, method, params).to_string())
}

/// A connection.
pub(crate) struct Http {
    pub(crate) stream: TcpStream,
    /// What was read and not used yet.
    unread: Vec<u8>,
    /// How the body that is being read is framed.
    framing: Framing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
    UntilClosed,
    /// There is no more of it.
    Over,
}

/// An answer, or the beginning of one whose body is a stream.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// The only value of that header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(is, _)| is.eq_ignore_ascii_case(name));
        let value = values.next().map(|(_, value)| &**value);
        assert!(values.next().is_none(), "{name} stands twice: {:?}", self.headers);
        value
    }

    pub(crate) fn is_events(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The message, which must be all there is.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) data: Option<String>,
    pub(crate) retry: Option<String>,
}

impl Event {
    fn parse(text: &str) -> Self {
        let mut event = Self { id: None, name: None, data: None, retry: None };
        for line in text.split('\n').filter(|line| !line.starts_with(':')) {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = Some(value.strip_prefix(' ').unwrap_or(value).to_owned());
            let field = match name {
                "id" => &mut event.id,
                "event" => &mut event.name,
                "data" => &mut event.data,
                "retry" => &mut event.retry,
                other => panic!("no client knows the field {other:?} of {text:?}"),
            };
            assert!(field.is_none(), "a field stands twice: {text:?}");
            *field = value;
        }
        event
    }

    /// The message in it.
    pub(crate) fn message(&self) -> Value {
        let data = self.data.as_deref().unwrap_or_default();
        serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn is_message(&self) -> bool {
        self.data.as_deref().is_some_and(|data| !data.is_empty())
    }
}

impl Http {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
        stream.set_write_timeout(Some(PATIENCE)).expect("a time limit");
        Self { stream, unread: Vec::new(), framing: Framing::Over }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    /// Sends as much as the server takes.
    pub(crate) fn try_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Nothing more is sent, but the answer is read.
    pub(crate) fn half_close(&self) {
        self.stream.shutdown(Shutdown::Write).expect("a connection");
    }

    /// Reads a whole answer.
    pub(crate) fn response(&mut self) -> Response {
        let head = self.head();
        self.body_of(head)
    }

    /// Reads the rest of an answer whose beginning was read.
    pub(crate) fn body_of(&mut self, head: Response) -> Response {
        Response { body: self.body(), ..head }
    }

    /// Reads the beginning of an answer. Panics where the server has closed the connection instead.
    pub(crate) fn head(&mut self) -> Response {
        self.try_head().unwrap_or_else(|| panic!("an answer, not only {:?}", lossy(&self.unread)))
    }

    /// Reads the beginning of an answer, if there is one.
    pub(crate) fn try_head(&mut self) -> Option<Response> {
        loop {
            let head = self.take_until(b"\r\n\r\n")?;
            let head = String::from_utf8(head).expect("a head is text");
            let mut lines = head.trim_end().split("\r\n");
            let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.")).expect("HTTP/1");
            let status: u16 = status[2..5].parse().expect("a status");
            let headers: Vec<(String, String)> = lines
                .map(|line| line.split_once(": ").unwrap_or_else(|| panic!("a header: {line:?}")))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect();
            // What only says that more is to come.
            if status == 100 {
                continue;
            }
            let response = Response { status, headers, body: Vec::new() };
            self.framing = match (response.header("content-length"), response.header("transfer-encoding")) {
                _ if matches!(status, 204 | 304) => Framing::Over,
                (Some(length), None) => Framing::Length(length.parse().expect("a length")),
                (None, Some("chunked")) => Framing::Chunked,
                (None, None) => Framing::UntilClosed,
                framing => panic!("the body has no clear end: {framing:?}"),
            };
            return Some(response);
        }
    }

    fn body(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece() {
            body.extend(piece);
        }
        body
    }

    /// The next piece of the body. None when it has ended as it should.
    fn piece(&mut self) -> Option<Vec<u8>> {
        self.try_piece().unwrap_or_else(|error| panic!("the rest of a body: {error}"))
    }

    fn try_piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        let broken = || io::Error::from(io::ErrorKind::UnexpectedEof);
        match self.framing {
            Framing::Over | Framing::Length(0) => {
                self.framing = Framing::Over;
                Ok(None)
            }
            Framing::Length(length) => {
                self.framing = Framing::Over;
                self.take(length)?.map(Some).ok_or_else(broken)
            }
            Framing::UntilClosed => {
                if self.unread.is_empty() && !self.read()? {
                    self.framing = Framing::Over;
                    return Ok(None);
                }
                Ok(Some(std::mem::take(&mut self.unread)))
            }
            Framing::Chunked => {
                let line = self.take_until(b"\r\n").ok_or_else(broken)?;
                let length = std::str::from_utf8(&line).expect("text").trim_end();
                let length = usize::from_str_radix(length, 16).expect("the length of a chunk");
                let chunk = self.take(length + 2)?.ok_or_else(broken)?;
                assert!(chunk.ends_with(b"\r\n"));
                if length == 0 {
                    self.framing = Framing::Over;
                    return Ok(None);
                }
                Ok(Some(chunk[..length].to_vec()))
            }
        }
    }

    /// The events of an answer that must be a stream of them.
    pub(crate) fn events(mut self) -> Events {
        let head = self.head();
        assert!(head.status == 200 && head.is_events(), "{head:?}");
        Events { http: self, text: String::new() }
    }

    /// The messages of an answer, be it a single one or a stream of events.
    pub(crate) fn incoming(mut self) -> Incoming {
        let head = self.head();
        let status = head.status;
        let messages = if head.is_events() {
            IncomingMessages::Events(Events { http: self, text: String::new() })
        } else {
            IncomingMessages::Single(Some(Response { body: self.body(), ..head }.json()))
        };
        Incoming { status, messages }
    }

    /// Everything until the server closes the connection, however it does.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        while matches!(self.read(), Ok(true)) {}
        std::mem::take(&mut self.unread)
    }

    /// Waits until the server has closed the connection without a word.
    pub(crate) fn expect_closed(&mut self) {
        let rest = self.rest();
        assert!(rest.is_empty(), "{}", lossy(&rest));
    }

    fn take(&mut self, length: usize) -> io::Result<Option<Vec<u8>>> {
        while self.unread.len() < length {
            if !self.read()? {
                return Ok(None);
            }
        }
        Ok(Some(self.unread.drain(..length).collect()))
    }

    /// All up to that mark, with it.
    fn take_until(&mut self, mark: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.unread.windows(mark.len()).position(|window| window == mark) {
                return Some(self.unread.drain(..at + mark.len()).collect());
            }
            match self.read() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("{error}, after {:?}", lossy(&self.unread)),
            }
        }
    }

    /// Reads what is there. False where the server has closed the connection.
    fn read(&mut self) -> io::Result<bool> {
        let mut buffer = vec![0; 64 * 1024];
        let count = loop {
            match self.stream.read(&mut buffer) {
                // A read with a time limit is not begun again by itself after a signal.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.unread.extend_from_slice(&buffer[..count]);
        Ok(count > 0)
    }
}

/// A stream of events that is being read.
pub(crate) struct Events {
    pub(crate) http: Http,
    text: String,
}

impl Events {
    /// The next event that is one, comments left out. None when the stream has ended as it should.
    pub(crate) fn next(&mut self) -> Option<Event> {
        self.try_next().unwrap_or_else(|error| panic!("the next event: {error}"))
    }

    /// The same, and an error where the stream was cut off.
    pub(crate) fn try_next(&mut self) -> io::Result<Option<Event>> {
        while let Some(text) = self.block()? {
            if !is_comment(&text) {
                return Ok(Some(Event::parse(&text)));
            }
        }
        Ok(None)
    }

    /// Waits for a comment, whatever comes before it.
    pub(crate) fn wait_for_comment(&mut self) {
        let blocks = std::iter::from_fn(|| self.block().expect("the stream goes on"));
        assert!({ blocks }.any(|text| is_comment(&text)), "the stream ended without a comment");
    }

    /// The next event or comment.
    fn block(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let text: String = self.text.drain(..end + 2).collect();
                assert!(!text.contains('\r'), "another sign for the end of a line: {text:?}");
                return Ok(Some(text.trim_end_matches('\n').to_owned()));
            }
            let Some(piece) = self.http.try_piece()? else {
                assert!(self.text.is_empty(), "half an event: {:?}", self.text);
                return Ok(None);
            };
            self.text.push_str(std::str::from_utf8(&piece).expect("events are text"));
        }
    }

    /// The next event that carries a message.
    pub(crate) fn next_message(&mut self) -> Option<Event> {
        std::iter::from_fn(|| self.next()).find(Event::is_message)
    }

    /// The messages until the stream ends as it should.
    pub(crate) fn messages(mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.next_message()).map(|event| event.message()).collect()
    }

    /// All events until the stream ends as it should.
    pub(crate) fn all(mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.next()).collect()
    }
}

fn is_comment(text: &str) -> bool {
    text.split('\n').all(|line| line.starts_with(':'))
}

/// What comes back for a request, in either form.
pub(crate) struct Incoming {
    pub(crate) status: u16,
    messages: IncomingMessages,
}

enum IncomingMessages {
    Single(Option<Value>),
    Events(Events),
}

impl Incoming {
    /// The next message, as long as there are some.
    pub(crate) fn next(&mut self) -> Option<Value> {
        match &mut self.messages {
            IncomingMessages::Single(message) => message.take(),
            IncomingMessages::Events(events) => events.next_message().map(|event| event.message()),
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(2000).collect()
}
