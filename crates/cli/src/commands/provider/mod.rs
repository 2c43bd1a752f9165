//! `mcp-bash provider check FILE`: tells an author whether an executable is a correct provider of tools, by serving it and
//! showing what a client would see.

pub(crate) mod read;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::open::connect::{Failure, GREETING};
use crate::open::startup;
use crate::terminal::print::print;
use mcp_bash_client::{Connection, Error as ClientError, Refusal, Session, Silent};
use mcp_bash_project::{Diagnostic, Execution, Paths, Tool, excerpt};
use mcp_bash_server::{InMemoryConnection, Log, Server, Style};
use mcp_bash_settings::Settings;
use mcp_bash_terminal::harmless;
use mcp_bash_terminal::words::counted;
use mcp_bash_wire::LogLevel;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::runtime::Runtime;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Arguments {
    /// Check that an executable provides tools correctly, and show what a client would see: exit 0 if it
    /// does, 1 if not
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// The executable, which answers `list` with a JSON object for each of its tools
        file: PathBuf,
    },
    /// For scripts: print the contents of a URI (`file:`, `https:`, `git+https:`, `echo:`), within the limits
    /// of a server
    #[command(after_help = READ_EXAMPLES)]
    Read {
        /// The URI to read
        uri: String,
    },
}

const CHECK_EXAMPLES: &str = "\
Examples:
  mcp-bash provider check tools/my-tools";

const READ_EXAMPLES: &str = "\
Examples:
  mcp-bash provider read file:///path/in/the/project/notes.txt
  mcp-bash provider read https://example.com/data.json";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    match arguments {
        Arguments::Check { file } => check(file),
        Arguments::Read { uri } => read::run(common, uri),
    }
}

/// Exit 0 if everything is correct, 1 if not.
fn check(file: &Path) -> Result<ExitCode, Error> {
    let file = file.canonicalize().map_err(|source| Error::Provider { file: file.to_owned(), source })?;
    let (settings, _) = startup::settings();
    let (runtime, scripts) = startup::scripts(settings)?;
    let folder = scripts.state_dir().path().map_err(|source| Error::Start { source })?.join("provider");
    let paths = project_around(&file, &folder, scripts.settings())
        .map_err(|source| Error::Provider { file: file.clone(), source })?;
    let reading = scripts.reading(&paths);
    let catalog = startup::read_whole(&runtime, &scripts, &paths, &reading);

    let problems: Vec<String> = catalog
        .diagnostics
        .iter()
        .filter(|diagnostic| same_file(&diagnostic.path, &file))
        .map(Diagnostic::words)
        .collect();
    let tools: Vec<Arc<Tool>> = catalog
        .tools
        .items()
        .iter()
        .filter(|tool| tool.execution == Execution::Provider && same_file(&tool.script, &file))
        .cloned()
        .collect();
    say(&format!("{}: {}", file.display(), counted(tools.len(), "tool")))?;
    for problem in &problems {
        say(&format!("  ✗ {problem}"))?;
    }
    if tools.is_empty() && problems.is_empty() {
        say(
            "  ✗ it provides nothing: is it executable and without metadata beside it, and does it speak of \
             `inputSchema` or have the line `# mcp: {\"provider\": true}`?",
        )?;
    }
    let log = Log::new(LogLevel::Emergency, Style::Json);
    let server = Server::new(scripts, runtime.handle().clone(), catalog, reading, log);
    let mut client = Client::connect(&Arc::new(server.unguarded()), runtime)?;
    let mut is_good = problems.is_empty() && !tools.is_empty();
    for tool in &tools {
        is_good &= client.try_out(tool)?;
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The project that contains the executable, or one created for it in `folder`.
fn project_around(file: &Path, folder: &Path, settings: &Settings) -> std::io::Result<Paths> {
    if let Some(tools) = file.parent()
        && tools.file_name().is_some_and(|name| name == "tools")
        && let Some(root) = tools.parent()
    {
        return Ok(startup::paths(root, settings));
    }
    let paths = Paths::of(folder);
    std::fs::create_dir_all(&paths.tools)?;
    symlink(file, paths.tools.join(file.file_name().unwrap_or_default()))?;
    Ok(paths)
}

fn same_file(path: &Path, file: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path == file)
}

/// A client of a server in this same process.
struct Client {
    session: Session,
    /// Runs the server while the client waits.
    runtime: Runtime,
}

impl Client {
    fn connect(server: &Arc<Server>, runtime: Runtime) -> Result<Self, Error> {
        let connection = Connection::InMemory(InMemoryConnection::new(server, server.local_principal()));
        let begun = runtime.block_on(Session::begin(connection, "provider check", &mut Silent, GREETING));
        let session = begun.map_err(Failure::Client)?;
        if let Some(instructions) = session.greeting()["instructions"].as_str() {
            say(&format!("  instructions: {}", excerpt(instructions)))?;
        }
        Ok(Self { session, runtime })
    }

    /// Shows a tool, and calls it if it needs no arguments. False if a client would see an error.
    fn try_out(&mut self, tool: &Tool) -> Result<bool, Error> {
        let about = tool.description.as_deref().unwrap_or("(no description)");
        say(&format!("  ✓ {}: {}", tool.name, excerpt(about)))?;
        let schema: Value = serde_json::from_str(tool.input_schema.get()).unwrap_or_default();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if !required.is_empty() {
            say(&format!("      not called: it needs {}", required.join(", ")))?;
            return Ok(true);
        }
        let params = json!({ "name": tool.name, "arguments": {} });
        let mut host = Silent;
        let answer = self.session.request("tools/call", &params, &mut host, None);
        let result = match self.runtime.block_on(answer) {
            Ok(result) => result,
            Err(ClientError::Refused(Refusal { code, message, .. })) => {
                say(&format!("      ✗ called without arguments: error {code}: {message}"))?;
                return Ok(false);
            }
            Err(error) => return Err(Failure::Client(error).into()),
        };
        let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
        let kind = if result["isError"] == true { "an error result" } else { "a result" };
        let content = &result["content"][0];
        let shown = if content["type"] == "text" { text(&content["text"]) } else { content.to_string() };
        say(&format!("      called without arguments: {kind}: {}", excerpt(&shown)))?;
        Ok(true)
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn say(line: &str) -> Result<(), Error> {
    print(&format!("{}\n", harmless(line)))
}
