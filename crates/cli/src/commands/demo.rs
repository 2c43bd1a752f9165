//! `mcp-bash demo`: the real server on its built-in project, and a client that shows the exchange between them.

use crate::base::error::Error;
use crate::open::connect::GREETING;
use crate::open::startup;
use mcp_bash_client::{Connection, Host, Launch, ServerProcess, Session};
use mcp_bash_terminal::{Terminal, nobody_reads, say};
use serde_json::{Value, json};
use std::io;
use std::path::Path;
use std::process::ExitCode;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mcp-bash demo            a whole exchange, with progress
  mcp-bash demo | head     as much of it as you want to see";

/// It takes no arguments of its own.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run() -> Result<ExitCode, Error> {
    let (settings, _) = startup::settings();
    let (runtime, scripts) = startup::scripts(settings)?;
    let project = startup::stage(scripts.state_dir())?;
    let launch = launch(&project)?;
    let mut exchange = Exchange { terminal: Terminal::of_stdout(), failure: None };
    match runtime.block_on(exchange.play(&launch)) {
        // A closed pipe is not a failure: the reader has seen enough.
        Err(error) if nobody_reads(&error) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Error::Demo(error.to_string())),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

/// The server without any settings, so that the exchange is always the same.
fn launch(project: &Path) -> Result<Launch, Error> {
    let program = std::env::current_exe().map_err(|source| Error::Start { source })?;
    let is_ours = |name: &str| ["MCPBASH_", "MCP_"].iter().any(|ours| name.starts_with(ours));
    let others = std::env::vars_os().filter(|(name, _)| !is_ours(&name.to_string_lossy()));
    Ok(Launch {
        program: program.into(),
        arguments: vec!["--project-root".into(), project.into()],
        variables: others.chain([("MCPBASH_LOG_LEVEL".into(), "warning".into())]).collect(),
        clean: true,
        ..Launch::default()
    })
}

/// Shows the conversation of a client with a server.
struct Exchange {
    terminal: Terminal,
    /// Why a message could not be shown.
    failure: Option<io::Error>,
}

impl Exchange {
    async fn play(&mut self, launch: &Launch) -> io::Result<()> {
        self.words(
            "A folder of scripts is now a Model Context Protocol server. → is the client, ← is mcp-bash.",
        )?;

        self.heading("The client introduces itself, and learns whom it talks to")?;
        let process = ServerProcess::start(launch).map_err(io::Error::other)?;
        let begun = Session::begin(Connection::Process(process), "demo", self, GREETING).await;
        let mut session = begun.map_err(io::Error::other)?;
        self.failure.take().map_or(Ok(()), Err)?;
        let hello = session.greeting();
        let name = hello["serverInfo"]["title"].as_str().unwrap_or_default();
        self.note(&format!("connected to “{name}”, protocol {}", plain(&hello["protocolVersion"])))?;

        self.heading("What is there? Each tool is a script in a folder")?;
        let list = self.ask(&mut session, "tools/list", &json!({})).await?;
        for tool in list["tools"].as_array().into_iter().flatten() {
            self.note(&format!("{:16} {}", plain(&tool["name"]), plain(&tool["description"])))?;
        }

        self.heading("The client calls a tool, and receives messages of the script while it runs")?;
        let call = json!({
            "name": "countdown",
            "arguments": { "from": 5, "pause": 0.3 },
            "_meta": { "progressToken": "demo" },
        });
        let result = self.ask(&mut session, "tools/call", &call).await?;
        self.note(&format!("the script printed: {}", plain(&result["content"][0]["text"])))?;

        session.end().await;
        say("\n")?;
        self.words("The client closed the pipe, and the server ended. To serve your own scripts:")?;
        say("  mcp-bash /path/to/your/project\n")
    }

    /// Sends a request and shows everything that comes until its answer.
    async fn ask(&mut self, session: &mut Session, method: &str, params: &Value) -> io::Result<Value> {
        let answer = session.request(method, params, self, None).await.map_err(io::Error::other)?;
        self.failure.take().map_or(Ok(()), Err)?;
        Ok(serde_json::from_str(answer.get())?)
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

impl Host for Exchange {
    fn sent(&mut self, message: &[u8]) {
        let shown = self.show("→ ", "33", &String::from_utf8_lossy(message));
        self.failure = self.failure.take().or(shown.err());
    }

    fn received(&mut self, message: &[u8]) {
        let shown = self.show("← ", "36", String::from_utf8_lossy(message).trim_end());
        self.failure = self.failure.take().or(shown.err());
    }
}

/// A JSON string without its quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
