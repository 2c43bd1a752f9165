//! Test server: a process of its own, for one case or for those that share it.

use crate::cases::case::{Case, Completed, Step, Subject};
use crate::cases::values::Values;
use crate::dry_run::ToolCommands;
use crate::folder::ServerFolder;
use crate::host::TestHost;
use crate::policy_case::PolicyCases;
use crate::result::{Got, Places};
use mcp_bash_client::{
    Connection, Error as ClientError, HttpConnection, Launch, Remote, ServerProcess, Session,
};
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
    /// A running server over HTTP that is tested, in place of ours.
    pub(crate) remote: Option<Remote>,
    /// The commands of its tools, for cases that run nothing.
    pub(crate) commands: Arc<ToolCommands>,
    /// Its policy, for the same.
    pub(crate) policy: Arc<PolicyCases>,
}

/// What a case needs of its server.
struct Wanted {
    environment: Vec<(String, String)>,
    roots: Vec<PathBuf>,
}

pub(crate) struct TestServer {
    session: Session,
    host: TestHost,
    /// Whether a request failed in a way that leaves its state unknown.
    is_gone: bool,
}

/// Why a step got no result.
#[derive(Debug)]
pub(crate) enum NoResult {
    TimedOut,
    /// The message.
    Failed(String),
}

impl TestServer {
    /// Starts the server of a case.
    pub(crate) async fn for_case(
        setting: &Setting,
        folder: &ServerFolder,
        places: &Places,
        case: &Case,
    ) -> Result<Self, String> {
        if setting.remote.is_some() && !case.environment.is_empty() {
            return Err(
                "it has an `environment`, which a server that is already running cannot be given".to_owned()
            );
        }
        let wanted = Wanted::by(case, folder, places);
        let started = Self::start(setting, folder, wanted).await;
        started.map_err(|error| with_last_words(&error, folder))
    }

    /// The result of a step.
    pub(crate) async fn call(
        &mut self,
        step: &Step,
        folder: &ServerFolder,
        places: &Places,
        values: &Values,
    ) -> Result<Got, NoResult> {
        self.host.prepare(&step.answers, step.confirm);
        let (method, params) = request(step, places, values);
        let answer = self.session.request(method, &params, &mut self.host, Some(step.timeout)).await;
        let heard = self.host.take_heard();
        match answer {
            Ok(result) => {
                let result: Value = serde_json::from_str(result.get())
                    .map_err(|error| NoResult::Failed(format!("the result cannot be read: {error}")))?;
                Ok(Got::of_result(&step.subject, &result, heard, places))
            }
            Err(ClientError::Refused(refusal)) => Ok(Got::of_refusal(&refusal, heard, places)),
            Err(error) => {
                self.is_gone = true;
                Err(match error {
                    ClientError::TimedOut { .. } => NoResult::TimedOut,
                    other => NoResult::Failed(with_last_words(&other, folder)),
                })
            }
        }
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone
    }

    async fn start(setting: &Setting, folder: &ServerFolder, wanted: Wanted) -> Result<Self, ClientError> {
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
        let connection = match &setting.remote {
            Some(remote) => Connection::Http(HttpConnection::new(remote.clone())),
            None => Connection::Process(ServerProcess::start(&launch)?),
        };
        let mut session = Session::begin(connection, "mcp-bash test", &mut host, GREETING).await?;
        let level = json!({ "level": "debug" });
        let set = session.request("logging/setLevel", &level, &mut host, Some(GREETING)).await;
        // Another server may have no logs, or none to set.
        if setting.remote.is_none() || !matches!(set, Err(ClientError::Refused(_))) {
            set?;
        }
        Ok(Self { session, host, is_gone: false })
    }

    pub(crate) async fn end(self) {
        self.session.end().await;
    }

    /// The same without waiting for its work.
    pub(crate) async fn end_now(self) {
        self.session.end_now().await;
    }

    /// A server with the default environment, as clients find it.
    pub(crate) async fn plain(
        setting: &Setting,
        folder: &ServerFolder,
    ) -> Result<(Session, TestHost), ClientError> {
        let wanted = Wanted { environment: Vec::new(), roots: vec![folder.dir.clone()] };
        let Self { session, host, .. } = Self::start(setting, folder, wanted).await?;
        Ok((session, host))
    }
}

impl Wanted {
    fn by(case: &Case, folder: &ServerFolder, places: &Places) -> Self {
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
    folder: &ServerFolder,
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
    // A run leaves no compiled files in the project.
    variables.push(("PYTHONDONTWRITEBYTECODE".into(), "1".into()));
    variables.push(("MCPBASH_LOG_LEVEL".into(), "warning".into()));
    // Cases check exit codes, and reports show the standard error of successful tools as well.
    variables.push(("MCPBASH_RESULT_META_ALWAYS".into(), "true".into()));
    variables.extend(own.iter().map(|(name, value)| (name.into(), value.into())));
    variables
}

/// The request that a step makes.
fn request(step: &Step, places: &Places, values: &Values) -> (&'static str, Value) {
    let arguments = places.filled_value(&values.filled_value(&step.arguments));
    let filled_uri = |uri: &str| places.filled_uri(&values.filled(uri));
    match &step.subject {
        Subject::Tool(name) => (
            "tools/call",
            json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": "test" } }),
        ),
        Subject::Prompt(name) => (
            "prompts/get",
            json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": "test" } }),
        ),
        Subject::Resource(uri) => ("resources/read", json!({ "uri": filled_uri(uri) })),
        Subject::Completion { of, argument, value } => {
            let of = match of {
                Completed::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
                Completed::Resource(uri) => json!({ "type": "ref/resource", "uri": filled_uri(uri) }),
            };
            let argument = json!({ "name": argument, "value": places.filled(&values.filled(value)) });
            (
                "completion/complete",
                json!({ "ref": of, "argument": argument, "context": { "arguments": arguments } }),
            )
        }
    }
}

/// The error, and the server's last output.
pub(crate) fn with_last_words(error: &ClientError, folder: &ServerFolder) -> String {
    let said = last_words(&folder.log);
    if said.is_empty() { error.to_string() } else { format!("{error}; it said last:\n{said}") }
}

fn last_words(log: &Path) -> String {
    let end = mcp_bash_files::read_end(log, LAST_WORDS).unwrap_or_default();
    String::from_utf8_lossy(&end).trim().to_owned()
}
