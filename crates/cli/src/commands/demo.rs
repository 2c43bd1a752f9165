//! `mcp-bash demo`: the real server on its built-in project, and a client that shows the exchange between them.

use crate::base::error::Error;
use crate::open::startup;
use mcp_bash_terminal::{Terminal, nobody_reads, say};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

pub(crate) const EXAMPLES: &str = "\
Examples:
  mcp-bash demo            a whole exchange, with progress
  mcp-bash demo | head     as much of it as you want to see";

pub(crate) fn run() -> Result<ExitCode, Error> {
    let (settings, _) = startup::settings();
    let (_runtime, scripts) = startup::scripts(settings)?;
    let project = startup::stage(scripts.state_dir())?;
    let mut exchange = Exchange::new(start_server(&project)?)?;
    match exchange.play() {
        // A closed pipe is not a failure: the reader has seen enough.
        Err(error) if nobody_reads(&error) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Error::Demo(error.to_string())),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

/// The server without any settings, so that the exchange is always the same.
fn start_server(project: &Path) -> Result<Child, Error> {
    let program = std::env::current_exe().map_err(|source| Error::Start { source })?;
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if ["MCPBASH_", "MCP_"].iter().any(|ours| name.to_string_lossy().starts_with(ours)) {
            command.env_remove(name);
        }
    }
    command.arg("--project-root").arg(project).env("MCPBASH_LOG_LEVEL", "warning");
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().map_err(|source| Error::Start { source })
}

/// A client, and what it shows of its conversation.
struct Exchange {
    server: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    terminal: Terminal,
    next_id: u64,
}

impl Exchange {
    fn new(mut server: Child) -> Result<Self, Error> {
        let (Some(requests), Some(answers)) = (server.stdin.take(), server.stdout.take()) else {
            return Err(Error::Demo("the server has no pipes".to_owned()));
        };
        let answers = BufReader::new(answers);
        let terminal = Terminal::of_stdout();
        Ok(Self { server, requests: Some(requests), answers, terminal, next_id: 1 })
    }

    fn play(&mut self) -> io::Result<()> {
        self.words(
            "A folder of scripts is now a Model Context Protocol server. → is the client, ← is mcp-bash.",
        )?;

        self.heading("The client introduces itself, and learns whom it talks to")?;
        let hello = self.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "demo", "version": env!("CARGO_PKG_VERSION") },
            }),
        )?;
        self.tell("notifications/initialized")?;
        let name = hello["serverInfo"]["title"].as_str().unwrap_or_default();
        self.note(&format!("connected to “{name}”, protocol {}", plain(&hello["protocolVersion"])))?;

        self.heading("What is there? Each tool is a script in a folder")?;
        let list = self.ask("tools/list", &json!({}))?;
        for tool in list["tools"].as_array().into_iter().flatten() {
            self.note(&format!("{:16} {}", plain(&tool["name"]), plain(&tool["description"])))?;
        }

        self.heading("The client calls a tool, and receives messages of the script while it runs")?;
        let result = self.ask(
            "tools/call",
            &json!({
                "name": "countdown",
                "arguments": { "from": 5, "pause": 0.3 },
                "_meta": { "progressToken": "demo" },
            }),
        )?;
        self.note(&format!("the script printed: {}", plain(&result["content"][0]["text"])))?;

        self.requests = None;
        let status = self.server.wait()?;
        if !status.success() {
            return Err(io::Error::other(format!("the server ended with {status}")));
        }
        say("\n")?;
        self.words("The client closed the pipe, and the server ended. To serve your own scripts:")?;
        say("  mcp-bash /path/to/your/project\n")
    }

    /// Sends a request and shows everything that comes until its answer.
    fn ask(&mut self, method: &str, params: &Value) -> io::Result<Value> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.answers.read_line(&mut line)? == 0 {
                return Err(io::Error::other("the server closed its output"));
            }
            self.show("← ", "36", line.trim_end())?;
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                if let Some(error) = message.get("error") {
                    return Err(io::Error::other(error.to_string()));
                }
                return Ok(message["result"].take());
            }
        }
    }

    fn tell(&mut self, method: &str) -> io::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method }))
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        let line = message.to_string();
        self.show("→ ", "33", &line)?;
        match &mut self.requests {
            Some(requests) => writeln!(requests, "{line}"),
            None => Err(io::Error::other("the conversation is over")),
        }
    }

    fn heading(&self, text: &str) -> io::Result<()> {
        say("\n")?;
        self.terminal.lines(text, 0).iter().try_for_each(|line| self.line("", "1", line))
    }

    fn note(&self, text: &str) -> io::Result<()> {
        self.terminal.lines(text, 2).iter().try_for_each(|line| self.line("  ", "32", line))
    }

    fn words(&self, text: &str) -> io::Result<()> {
        self.terminal.lines(text, 0).iter().try_for_each(|line| say(&format!("{line}\n")))
    }

    fn line(&self, indent: &str, colour: &str, text: &str) -> io::Result<()> {
        say(&format!("{indent}{}\n", self.terminal.painted(colour, text)))
    }

    /// Shows a message, cut to a line or two.
    fn show(&self, arrow: &str, colour: &str, message: &str) -> io::Result<()> {
        const MOST: usize = 200;
        let mut shown: String = message.chars().take(MOST).collect();
        if shown.len() < message.len() {
            shown.push('…');
        }
        let marks =
            std::iter::once(self.terminal.painted(colour, arrow)).chain(std::iter::repeat("  ".to_owned()));
        let mut lines = marks.zip(self.terminal.lines(&shown, 4));
        lines.try_for_each(|(mark, line)| say(&format!("  {mark}{line}\n")))
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // Closing its input asks a server to exit; one that does not is not left behind.
        self.requests = None;
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A JSON string without its quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
