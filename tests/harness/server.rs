//! A running server and a conversation with it. Every message is checked against the schema of its revision.

use super::{TIMEOUT, lines, schema, wait_until};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;

/// For tests that need to know when a call is over: only then does the next one begin.
pub(crate) const ONE_AT_A_TIME: [(&str, &str); 1] = [("MCPBASH_MAX_CONCURRENT_REQUESTS", "1")];

pub(crate) struct Server {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    /// The method of each request that was sent, by its id as text.
    asked: HashMap<String, (String, Option<String>)>,
    /// The revision that `initialize` agreed on.
    revision: Option<String>,
}

impl Server {
    pub(crate) fn start(root: &Path) -> Self {
        Self::start_with(root, &[])
    }

    pub(crate) fn start_with(root: &Path, environment: &[(&str, &str)]) -> Self {
        let mut command = Self::command();
        command.arg("--project-root").arg(root).envs(environment.iter().copied());
        Self::spawn(command)
    }

    /// The binary with a clean environment, so that nothing of the user who runs the tests gets in. Scripts
    /// may run longer than a test waits, so that no script is killed by its timeout where something else
    /// should kill it.
    pub(crate) fn command() -> Command {
        Self::command_of(env!("CARGO_BIN_EXE_mcp-bash"))
    }

    /// Another program with that environment.
    pub(crate) fn command_of(program: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if ["MCP", "OTEL_"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.env("MCPBASH_DEFAULT_TOOL_TIMEOUT", "600");
        // However busy the machine is, a list contains what a test expects.
        command.env("MCPBASH_LIST_WAIT_SECS", "600");
        command
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if line.map(|line| sender.send(line)).is_err() {
                    break;
                }
            }
        });
        let mut stderr = child.stderr.take().expect("a pipe");
        let stderr = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let input = child.stdin.take();
        Self { child, input, lines, stderr: Some(stderr), asked: HashMap::new(), revision: None }
    }

    /// A server with a session of the newest handshake revision.
    pub(crate) fn ready(root: &Path) -> Self {
        Self::ready_with(root, &[], "2025-11-25")
    }

    /// The same with settings and a revision. Reads the start warnings, so that the next message answers the
    /// test's request.
    pub(crate) fn ready_with(root: &Path, environment: &[(&str, &str)], revision: &str) -> Self {
        let mut server = Self::start_with(root, environment);
        server.initialize(revision);
        server.told_so_far();
        server
    }

    /// The messages of the server before it answers a `ping`.
    pub(crate) fn told_so_far(&mut self) -> Vec<Value> {
        self.request("so far?", "ping", &json!({}));
        std::iter::from_fn(|| Some(self.receive()).filter(|message| message["id"] != "so far?")).collect()
    }

    /// Performs the handshake, and returns the result of `initialize`.
    pub(crate) fn initialize(&mut self, revision: &str) -> Value {
        self.initialize_offering(revision, &json!({}))
    }

    /// The same for a client with these capabilities.
    pub(crate) fn initialize_offering(&mut self, revision: &str, capabilities: &Value) -> Value {
        let answer = self.ask(
            "init",
            "initialize",
            &json!({
                "protocolVersion": revision,
                "capabilities": capabilities,
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        self.notify("notifications/initialized", &json!({}));
        answer["result"].clone()
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).expect("the server reads");
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        if let Ok(message) = serde_json::from_str::<Value>(line) {
            self.note(&message);
        }
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends messages in one write, so that the server has read all of them before it does anything else.
    pub(crate) fn send_together(&mut self, messages: &[Value]) {
        for message in messages {
            self.note(message);
        }
        self.send_bytes(&lines(messages));
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(crate) fn request(&mut self, id: impl Into<Value>, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }));
    }

    /// Sends a request and returns its answer, which must be the next message.
    pub(crate) fn ask(&mut self, id: impl Into<Value>, method: &str, params: &Value) -> Value {
        let id = id.into();
        self.request(id.clone(), method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "the answer to {method}: {answer}");
        answer
    }

    /// The same if notifications may come before the answer.
    pub(crate) fn ask_past_news(&mut self, id: impl Into<Value>, method: &str, params: &Value) -> Value {
        let id = id.into();
        self.request(id.clone(), method, params);
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            assert!(message.get("id").is_none(), "the answer to {method}: {message}");
        }
    }

    /// Answers a request of the server.
    pub(crate) fn reply(&mut self, question: &Value, result: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
    }

    pub(crate) fn call(&mut self, id: impl Into<Value>, tool: &str) {
        self.request(id, "tools/call", &json!({ "name": tool, "arguments": {} }));
    }

    /// The next message. Fails the test if none comes.
    pub(crate) fn receive(&mut self) -> Value {
        let line = self.receive_line();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.check(&message);
        message
    }

    pub(crate) fn receive_line(&mut self) -> String {
        self.lines.recv_timeout(TIMEOUT).expect("a message from the server")
    }

    /// Sends `ping`, whose answer must be the next message: no other message was pending.
    pub(crate) fn expect_silence(&mut self) {
        let answer = self.ask("silence?", "ping", &json!({}));
        assert_eq!(answer["result"], json!({}));
    }

    /// Reads a resource. With one call at a time, this begins after all earlier calls. The answer must be the
    /// next message: no more was sent for those calls.
    pub(crate) fn expect_silence_of_calls(&mut self) {
        let answer = self.ask("silence?", "resources/read", &json!({ "uri": "echo://silence" }));
        assert_eq!(answer["result"]["contents"][0]["text"], "silence", "{answer}");
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Takes the input out without closing it.
    pub(crate) fn take_input(&mut self) -> ChildStdin {
        self.input.take().expect("the input is open")
    }

    /// Every message until the server closes its output.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        loop {
            let line = match self.lines.recv_timeout(TIMEOUT) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return messages,
                Err(RecvTimeoutError::Timeout) => panic!("the server does not close its output"),
            };
            let message: Value = serde_json::from_str(&line).expect("a line of JSON");
            self.check(&message);
            messages.push(message);
        }
    }

    /// Waits for the server to exit by itself.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        wait_until("the server to end", || self.child.try_wait().expect("a status"))
    }

    /// Closes the input, and expects the server to exit successfully. Returns its standard error.
    pub(crate) fn finish(mut self) -> String {
        self.close_input();
        let status = self.wait();
        assert!(status.success(), "{status}");
        self.stderr()
    }

    /// The standard error, once the server has exited.
    pub(crate) fn stderr(&mut self) -> String {
        self.stderr.take().expect("asked once").join().expect("the reader of standard error")
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.child.id().cast_signed()).expect("a pid");
        rustix::process::kill_process(pid, signal).expect("a signal");
    }

    fn note(&mut self, message: &Value) {
        if let Some(elements) = message.as_array() {
            for element in elements {
                self.note(element);
            }
        }
        if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
            let meta = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
            self.asked.insert(id.to_string(), (method.to_owned(), meta.as_str().map(str::to_owned)));
        }
    }

    /// Checks a message of the server, whatever the test expects of it.
    fn check(&mut self, message: &Value) {
        if let Some(elements) = message.as_array() {
            for element in elements {
                self.check(element);
            }
            return;
        }
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        let Some(id) = message.get("id") else {
            assert!(message.get("method").is_some(), "{message}");
            let revision = self.revision.clone().unwrap_or_else(|| "2026-07-28".to_owned());
            schema::check_notification(&revision, message);
            return;
        };
        if message.get("method").is_some() {
            let revision = self.revision.clone().unwrap_or_default();
            return schema::check_request(&revision, message);
        }
        let (method, stateless) = self.asked.get(&id.to_string()).cloned().unwrap_or_default();
        if method == "initialize"
            && let Some(agreed) = message["result"]["protocolVersion"].as_str()
        {
            self.revision = Some(agreed.to_owned());
        }
        let newest_handshake = || self.revision.clone().unwrap_or_else(|| "2025-11-25".to_owned());
        let revision = stateless.filter(|version| version == "2026-07-28").unwrap_or_else(newest_handshake);
        schema::check_answer(&revision, &method, message);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The code of an answer that must be an error.
pub(crate) fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("not an error: {answer}"))
}

/// The `_meta` that every request of the stateless era carries.
pub(crate) fn stateless_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    })
}
