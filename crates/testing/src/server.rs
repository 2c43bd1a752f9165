//! Test server of a worker: a process of its own, kept for the next case if that needs the same one.

use crate::cases::case::{Case, Completed, Subject};
use crate::dry_run::ToolCommands;
use crate::folder::WorkerFolder;
use crate::host::TestHost;
use crate::result::{Got, Places};
use mcp_bash_client::{Connection, Error as ClientError, Launch, ServerProcess, Session};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The timeout of the handshake.
const GREETING: Duration = Duration::from_secs(30);

/// How much of a server's last output is shown when it is gone.
const LAST_WORDS: u64 = 2000;

/// What the servers of a run have in common.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) program: PathBuf,
    pub(crate) project: PathBuf,
    /// The folder of the servers' registries, so that nothing is written into the project.
    pub(crate) registry: PathBuf,
    /// The commands of its tools, for cases that run nothing.
    pub(crate) commands: Arc<ToolCommands>,
}

/// What a case needs of its server: with anything else it needs another one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    environment: Vec<(String, String)>,
    roots: Vec<PathBuf>,
}

pub(crate) struct TestServer {
    wanted: Wanted,
    session: Session,
    host: TestHost,
}

/// Why a case got no result.
#[derive(Debug)]
pub(crate) enum NoResult {
    TimedOut,
    /// The message.
    Failed(String),
}

impl TestServer {
    /// The result of the case. A server that does not fit is shut down, and another one is started; one that can no longer
    /// be trusted is not kept.
    pub(crate) async fn call(
        kept: &mut Option<Self>,
        setting: &Setting,
        folder: &WorkerFolder,
        places: &Places,
        case: &Case,
    ) -> Result<Got, NoResult> {
        Self::make_fit(kept, setting, folder, places, case).await?;
        // It stays where it is, so that it can be shut down cleanly when this future is dropped.
        let Some(server) = kept else { return Err(NoResult::Failed("there is no server".to_owned())) };
        server.host.prepare(&case.answers);
        let (method, params) = request(case, places);
        let answer = server.session.request(method, &params, &mut server.host, Some(case.timeout)).await;
        let heard = server.host.take_heard();
        match answer {
            Ok(result) => {
                let result: Value = serde_json::from_str(result.get())
                    .map_err(|error| NoResult::Failed(format!("the result cannot be read: {error}")))?;
                Ok(Got::of_result(&case.subject, &result, heard, places))
            }
            Err(ClientError::Refused(refusal)) => Ok(Got::of_refusal(&refusal, heard, places)),
            Err(error) => {
                Self::end(kept).await;
                match error {
                    ClientError::TimedOut { .. } => Err(NoResult::TimedOut),
                    other => Err(NoResult::Failed(with_last_words(&other, folder))),
                }
            }
        }
    }

    /// Makes sure that there is a server that fits a case: the current one, if it does.
    async fn make_fit(
        kept: &mut Option<Self>,
        setting: &Setting,
        folder: &WorkerFolder,
        places: &Places,
        case: &Case,
    ) -> Result<(), NoResult> {
        let wanted = Wanted::by(case, folder, places);
        if kept.as_ref().is_some_and(|server| server.wanted == wanted) {
            return Ok(());
        }
        Self::end(kept).await;
        let started = Self::start(setting, folder, wanted).await;
        *kept = Some(started.map_err(|error| NoResult::Failed(with_last_words(&error, folder)))?);
        Ok(())
    }

    async fn start(setting: &Setting, folder: &WorkerFolder, wanted: Wanted) -> Result<Self, ClientError> {
        // Its own output, not that of the server before it.
        let _ = std::fs::remove_file(&folder.log);
        let launch = Launch {
            program: setting.program.clone().into_os_string(),
            arguments: vec!["--project-root".into(), setting.project.clone().into_os_string()],
            variables: variables(setting, folder, &wanted.environment),
            clean: true,
            folder: Some(setting.project.clone()),
            silent: true,
            errors: mcp_bash_files::append(&folder.log).ok().map(|log| Arc::new(log.into())),
        };
        let mut host = TestHost::with_roots(wanted.roots.clone());
        let connection = Connection::Process(ServerProcess::start(&launch)?);
        let mut session = Session::begin(connection, "mcp-bash test", &mut host, GREETING).await?;
        let level = json!({ "level": "debug" });
        session.request("logging/setLevel", &level, &mut host, Some(GREETING)).await?;
        Ok(Self { wanted, session, host })
    }

    pub(crate) async fn end(kept: &mut Option<Self>) {
        if let Some(server) = kept.take() {
            server.session.end().await;
        }
    }

    /// The same without waiting for its work.
    pub(crate) async fn end_now(kept: &mut Option<Self>) {
        if let Some(server) = kept.take() {
            server.session.end_now().await;
        }
    }

    /// A server with the default environment, as clients find it.
    pub(crate) async fn plain(
        setting: &Setting,
        folder: &WorkerFolder,
    ) -> Result<(Session, TestHost), ClientError> {
        let wanted = Wanted { environment: Vec::new(), roots: vec![folder.dir.clone()] };
        let Self { session, host, .. } = Self::start(setting, folder, wanted).await?;
        Ok((session, host))
    }
}

impl Wanted {
    fn by(case: &Case, folder: &WorkerFolder, places: &Places) -> Self {
        let environment = case.environment.iter();
        let roots = match &case.roots {
            None => vec![folder.dir.clone()],
            Some(roots) => roots.iter().map(|root| folder.dir.join(places.filled(root))).collect(),
        };
        Self {
            environment: environment.map(|(name, value)| (name.clone(), places.filled(value))).collect(),
            roots,
        }
    }
}

/// The environment of a server: ours without a home and without variables that concern only us, and those of the case.
fn variables(
    setting: &Setting,
    folder: &WorkerFolder,
    own: &[(String, String)],
) -> Vec<(OsString, OsString)> {
    let is_left_out = |name: &OsString| {
        let name = name.to_string_lossy();
        let is_setting_of_ours = name.strip_prefix("MCPBASH_").is_some_and(|setting| {
            // The user who runs the tests has the secret, and no case should have to present it.
            let is_secret = setting == "REMOTE_TOKEN";
            is_secret
                || setting == "PROJECT_ROOT"
                || setting.starts_with("LOG")
                || setting.starts_with("DEBUG")
        });
        name == "HOME" || name.starts_with("MCP_") || name.starts_with("XDG_") || is_setting_of_ours
    };
    let mut variables: Vec<_> = std::env::vars_os().filter(|(name, _)| !is_left_out(name)).collect();
    variables.push(("HOME".into(), folder.home.clone().into_os_string()));
    // Otherwise each server would write the SDK into its own home, which is emptied while it runs.
    if let Ok(home) = mcp_bash_scripts::cached_home() {
        variables.push(("MCPBASH_HOME".into(), home.into_os_string()));
    }
    variables.push(("MCPBASH_REGISTRY_DIR".into(), setting.registry.clone().into_os_string()));
    variables.push(("MCPBASH_LOG_LEVEL".into(), "warning".into()));
    // Cases check exit codes, and reports show the standard error of successful tools as well.
    variables.push(("MCPBASH_RESULT_META_ALWAYS".into(), "true".into()));
    variables.extend(own.iter().map(|(name, value)| (name.into(), value.into())));
    variables
}

/// The request that a case makes.
fn request(case: &Case, places: &Places) -> (&'static str, Value) {
    let arguments = places.filled_value(&case.arguments);
    match &case.subject {
        Subject::Tool(name) => (
            "tools/call",
            json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": "test" } }),
        ),
        Subject::Prompt(name) => (
            "prompts/get",
            json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": "test" } }),
        ),
        Subject::Resource(uri) => ("resources/read", json!({ "uri": places.filled_uri(uri) })),
        Subject::Completion { of, argument, value } => {
            let of = match of {
                Completed::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
                Completed::Resource(uri) => json!({ "type": "ref/resource", "uri": places.filled_uri(uri) }),
            };
            let argument = json!({ "name": argument, "value": places.filled(value) });
            (
                "completion/complete",
                json!({ "ref": of, "argument": argument, "context": { "arguments": arguments } }),
            )
        }
    }
}

/// The error, and the server's last output.
pub(crate) fn with_last_words(error: &ClientError, folder: &WorkerFolder) -> String {
    let said = last_words(&folder.log);
    if said.is_empty() { error.to_string() } else { format!("{error}; it said last:\n{said}") }
}

fn last_words(log: &Path) -> String {
    let end = mcp_bash_files::read_end(log, LAST_WORDS).unwrap_or_default();
    String::from_utf8_lossy(&end).trim().to_owned()
}
