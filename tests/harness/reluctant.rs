//! A client that reads only when the test says so.

use super::{Project, Server, TIMEOUT, wait_until, wait_until_asleep};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread::JoinHandle;

pub(crate) struct Reluctant {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    output: BufReader<Output>,
}

/// The outcome of a request.
#[derive(Debug)]
pub(crate) enum Answer {
    Result,
    Error(Value),
}

impl Reluctant {
    pub(crate) fn start(project: &Project, environment: &[(&str, &str)]) -> Self {
        let mut command = Server::command();
        command.arg("--project-root").arg(project.root()).env("MCPBASH_LOG_LEVEL", "emergency");
        command.envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the server starts");
        let output = BufReader::new(Output(child.stdout.take().expect("a pipe")));
        Self { input: child.stdin.take(), child, output }
    }

    /// With a session of this revision.
    pub(crate) fn ready(
        project: &Project,
        environment: &[(&str, &str)],
        revision: &str,
        capabilities: &Value,
    ) -> Self {
        let mut client = Self::start(project, environment);
        let params = json!({
            "protocolVersion": revision, "capabilities": capabilities, "clientInfo": { "name": "r", "version": "1" },
        });
        client.send(&[request("init", "initialize", &params)]);
        client.receive();
        client.send(&[json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })]);
        client
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&mut self, messages: &[Value]) {
        self.input
            .as_mut()
            .expect("the input is open")
            .write_all(&lines(messages))
            .expect("the server reads");
    }

    /// Sends from another thread, because the server may not accept everything before the client reads.
    pub(crate) fn send_aside(&mut self, bytes: Vec<u8>) -> Sender {
        let mut input = self.input.take().expect("the input is open");
        let pipe = input.as_fd().try_clone_to_owned().expect("a descriptor");
        let thread = std::thread::spawn(move || input.write_all(&bytes).map(|()| input));
        Sender { pipe, thread }
    }

    /// Waits until everything was sent. The input stays open.
    pub(crate) fn take_back(&mut self, sender: Sender) {
        self.input = Some(sender.finish().expect("the server reads"));
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits until the server can do nothing more before the client reads: it has read everything or reads no
    /// more, and sleeps.
    pub(crate) fn wait_until_stuck(&self, sender: &Sender) {
        wait_until("all to be sent or the pipe to be full", || {
            (sender.is_finished() || sender.is_stuck()).then_some(())
        });
        wait_until_asleep(self.pid());
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).expect("a line") > 0, "the server has ended");
        line
    }

    pub(crate) fn receive(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Reads until the requests `0..count` are answered, each once, and returns the answers in order. Other
    /// messages are dropped.
    pub(crate) fn answers(&mut self, count: usize) -> Vec<Answer> {
        let mut answers: HashMap<usize, Answer> = HashMap::new();
        while answers.len() < count {
            let line = self.line();
            // One answer, or the array of a batch. Parsing all of it as JSON would take longer than the rest
            // of the test.
            for message in line.trim_end_matches([']', '\n']).split(r#"{"jsonrpc":"2.0","id":"#).skip(1) {
                let (id, rest) = message.split_once(',').expect("an id and what follows");
                let answer = match rest.strip_prefix(r#""result":"#) {
                    Some(_) => Answer::Result,
                    None if rest.starts_with(r#""error":"#) => {
                        let rest = rest.trim_end_matches(',');
                        Answer::Error(serde_json::from_str(&format!("{{{rest}")).expect("an error"))
                    }
                    None => continue,
                };
                let again = answers.insert(id.parse().expect("a number"), answer);
                assert!(again.is_none(), "{id} is answered twice");
            }
        }
        (0..count).map(|id| answers.remove(&id).unwrap_or_else(|| panic!("{id} is not answered"))).collect()
    }
}

impl Drop for Reluctant {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A thread that sends.
pub(crate) struct Sender {
    pipe: OwnedFd,
    thread: JoinHandle<std::io::Result<ChildStdin>>,
}

impl Sender {
    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until everything was sent, or until sending fails because the server exited.
    pub(crate) fn finish(self) -> std::io::Result<ChildStdin> {
        self.thread.join().expect("the thread that sends")
    }

    /// Whether the pipe is full.
    fn is_stuck(&self) -> bool {
        let mut pipe = [PollFd::new(&self.pipe, PollFlags::OUT)];
        poll(&mut pipe, Some(&Timespec::default())).is_ok_and(|ready| ready == 0)
    }
}

/// The output of a server. Reading a line fails the test after a timeout.
struct Output(ChildStdout);

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let patience = Timespec::try_from(TIMEOUT).expect("a time");
        let ready = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&patience))?;
        assert!(ready > 0, "waited in vain for the server to say something");
        self.0.read(buffer)
    }
}

pub(crate) fn lines(messages: &[Value]) -> Vec<u8> {
    messages.iter().flat_map(|message| format!("{message}\n").into_bytes()).collect()
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub(crate) fn requests(count: usize, method: &str, params: &Value) -> Vec<Value> {
    (0..count).map(|id| request(id, method, params)).collect()
}
