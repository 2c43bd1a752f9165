//! Script errors: why a script was not run, or why there is no usable result.

use crate::running::start_failure::StartFailure;
use mcp_bash_budget::NoRoom;
use mcp_bash_project::excerpt;
use mcp_bash_project::trust::Distrust;
use mcp_bash_runner::{ProcessEnding, StartError, signal_name};
use mcp_bash_secrets::SecretError;
use mcp_bash_wire::code::INTERNAL_ERROR;
use serde_json::Value;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// The messages are for the caller of the script.
#[derive(Debug, Error)]
pub enum ScriptError {
    /// The tool may not run.
    #[error("Tool '{tool}' blocked by policy: {why}")]
    Blocked { tool: String, why: Block },
    /// The system lacks what is needed to judge whether the tool may run, so this call is not run.
    #[error("Tool '{tool}' was not run: {what} cannot be checked now: {why}; try again")]
    NotJudged { tool: String, what: &'static str, why: String },
    /// The project's policy refuses the call with its own message, and a code and data if it gives any.
    #[error("{message}")]
    Refused { code: Option<i32>, message: String, data: Option<String> },
    /// It is not trusted: another user could have written it.
    #[error("{what} is not run: {source}")]
    Distrusted { what: String, source: Distrust },
    #[error("{what} cannot be given its arguments: {source}")]
    Arguments { what: String, source: io::Error },
    /// The caller can correct its arguments.
    #[error("The arguments of '{tool}' cannot be given to it:\n{problems}")]
    Unfit { tool: String, problems: String },
    /// The program of a tool without a script does not exist.
    #[error(
        "Tool '{tool}' runs `{program}`, which is not there: install it, or put its folder on the PATH of the server"
    )]
    NoProgram { tool: String, program: String },
    /// There is no interpreter for a function file.
    #[error("{what} cannot be run: {why}")]
    NoInterpreter { what: String, why: String },
    /// The call timed out before the script could be started.
    #[error(
        "{what} was not started within {} s: server.d/env.sh or server.d/policy.sh takes longer", limit.as_secs()
    )]
    NotStarted { what: String, limit: Duration },
    /// The working directory in its metadata does not exist.
    #[error("Tool '{tool}' runs in the folder {}, which is not there: make it, or fix `cwd` in its metadata", folder.display())]
    NoFolder { tool: String, folder: PathBuf },
    /// It needs a secret that is not available.
    #[error("{what} is not run: {source}")]
    Secret { what: String, source: SecretError },
    #[error("{what} is not run: {why}")]
    NoRoom { what: String, why: NoRoom },
    #[error("{what} could not be started: {source}")]
    Start { what: String, source: StartFailure },
    /// The launcher failed before the tool had run to its end.
    #[error("The launcher of tool '{tool}' ({launcher}) failed: {why}")]
    Launcher { tool: String, launcher: String, why: String },
    /// It was to run on another host, and may not.
    #[error("Tool '{tool}' is not run: {why}")]
    NotLaunched { tool: String, why: String },
    /// A worker did not answer: how it ended, or why there is none. `told` may contain the worker's own message, `kind` does
    /// not.
    #[error("{what}: its worker {told}")]
    Worker { what: String, kind: String, told: String },
    /// A worker has answered with an error of its own; its data is JSON.
    #[error("{message}")]
    Answered { code: i32, message: String, data: Option<String> },
    /// It ran, and failed.
    #[error("{what} {how}")]
    Failed { what: String, how: Failed },
    /// An executable of the project failed to read a resource.
    #[error(transparent)]
    Unread(#[from] Unread),
    /// There is no environment to run a script in.
    #[error(transparent)]
    NoEnvironment(#[from] NoEnvironment),
    /// A script of `server.d` is not trusted: another user could have written it.
    #[error("{file} is not trusted: {source}")]
    ServerScriptDistrusted { file: &'static str, source: Distrust },
    #[error("{file} cannot be run: {source}")]
    ServerScriptNotRun { file: &'static str, source: io::Error },
}

impl ScriptError {
    /// Whether it was refused: by a setting, by the policy, or for lack of trust.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Blocked { .. } | Self::Refused { .. } | Self::Distrusted { .. })
    }

    /// Whether the script took longer than it may.
    pub fn is_timeout(&self) -> bool {
        matches!(
            self,
            Self::NotStarted { .. }
                | Self::Failed { how: Failed::TimedOut { .. }, .. }
                | Self::Unread(Unread::TimedOut { .. })
        )
    }

    /// No worker is available, for a reason of the server.
    pub(crate) fn worker(what: &str, how: String) -> Self {
        Self::Worker { what: what.to_owned(), kind: how.clone(), told: how }
    }

    /// The message for the operator: the problem and its place, without arguments and without output of a script.
    pub fn kind(&self) -> String {
        match self {
            Self::Blocked { tool, why: Block::PolicyFailed(_) } => {
                format!("Tool '{tool}' blocked by policy: server.d/policy.sh failed")
            }
            Self::Refused { .. } => "server.d/policy.sh refuses it".to_owned(),
            Self::Unfit { tool, .. } => format!("the arguments of '{tool}' cannot be given to it"),
            Self::Worker { what, kind, .. } => format!("{what}: its worker {kind}"),
            Self::Answered { .. } => "its worker answered with an error".to_owned(),
            Self::Failed { what, how } => format!("{what} {}", how.kind()),
            Self::Launcher { tool, launcher, .. } => {
                format!("the launcher of tool '{tool}' ({launcher}) failed")
            }
            Self::Unread(_) => "the resource was not read".to_owned(),
            Self::NoEnvironment(NoEnvironment::File(_)) => {
                "No script is run: server.d/env.sh cannot be sourced".to_owned()
            }
            Self::Blocked { .. }
            | Self::Distrusted { .. }
            | Self::Arguments { .. }
            | Self::NoProgram { .. }
            | Self::NoInterpreter { .. }
            | Self::NotJudged { .. }
            | Self::NoFolder { .. }
            | Self::Secret { .. }
            | Self::NoRoom { .. }
            | Self::Start { .. }
            | Self::NotLaunched { .. }
            | Self::NotStarted { .. }
            | Self::NoEnvironment(_)
            | Self::ServerScriptDistrusted { .. }
            | Self::ServerScriptNotRun { .. } => self.to_string(),
        }
    }

    /// The JSON-RPC error that a worker has answered with.
    pub(crate) fn answered(what: &str, text: &str) -> Self {
        let error: Value = serde_json::from_str(text).unwrap_or_default();
        let message = error["message"].as_str().map(str::to_owned);
        Self::Answered {
            code: error["code"].as_i64().and_then(|code| code.try_into().ok()).unwrap_or(INTERNAL_ERROR),
            message: message.unwrap_or_else(|| format!("{what} failed with no error: {}", excerpt(text))),
            data: error.get("data").map(Value::to_string),
        }
    }

    /// Arguments that cannot be passed to a tool, for these reasons.
    pub(crate) fn unfit(tool: &str, problems: Vec<String>) -> Self {
        let problems: Vec<String> = problems.into_iter().map(|problem| format!("- {problem}")).collect();
        Self::Unfit { tool: tool.to_owned(), problems: problems.join("\n") }
    }
}

/// Why no script is run. None must run with less than was declared for it.
#[derive(Debug, Clone, Error)]
pub enum NoEnvironment {
    /// A setting asks for more than is allowed.
    #[error("No script is run: {0}")]
    Mode(String),
    /// `server.d/env.sh` is not usable.
    #[error("No script is run: server.d/env.sh {0}")]
    File(Arc<NotSourced>),
    /// The SDK cannot be written.
    #[error("No script is run: the SDK cannot be laid out: {0}")]
    Sdk(String),
}

/// Why `server.d/env.sh` yields no environment. `said` is the end of its error output, after a colon.
#[derive(Debug, Error)]
pub enum NotSourced {
    #[error("may have been removed by others: {0}")]
    Removed(Distrust),
    #[error("is not trusted: {0}")]
    Distrusted(#[from] Distrust),
    #[error("cannot be sourced: {0}")]
    Start(#[from] StartError),
    #[error("could not be sourced: {0}")]
    NoRoom(NoRoom),
    #[error("ends the shell with `exit`; use `return`")]
    Exits,
    #[error("ended with status {code}{said}; where its last line is a test that may fail, add a line `true`")]
    Failed { code: i32, said: String },
    #[error("did not end within {} s{said}", limit.as_secs())]
    TimedOut { limit: Duration, said: String },
    #[error("was ended by {signal}{said}")]
    Signalled { signal: String, said: String },
    #[error("was not sourced to its end")]
    Unfinished,
    #[error("was not sourced to its end: the server is shutting down")]
    Shutdown,
    #[error("exports more than 1 MiB")]
    TooLarge,
    #[error("sets {0} to more than 128 KiB")]
    LongVariable(String),
}

/// Why a tool may not run, and what would allow it.
#[derive(Debug, Error)]
pub enum Block {
    /// Names the setting that forbids it.
    #[error("{0}")]
    Setting(String),
    /// Another user could have written the metadata of the tool.
    #[error("{0}")]
    Metadata(String),
    #[error(transparent)]
    Script(Distrust),
    #[error("server.d/policy.sh is not trusted: {0}")]
    PolicyDistrusted(Distrust),
    #[error("server.d/policy.sh did not answer in time")]
    PolicyTimedOut,
    #[error("server.d/policy.sh failed: {0}")]
    PolicyFailed(String),
    #[error("server.d/policy.sh was not asked to its end, because the server is shutting down")]
    PolicyStopped,
    /// It is unknown what the policy was meant to allow.
    #[error(
        "server.d/policy.sh does not define the function `mcp_tools_policy_check`; call the function that decides so, or \
         remove the file to allow every call"
    )]
    PolicyUndefined,
    #[error("server.d/policy.sh says no")]
    PolicySaysNo,
}

/// How a script failed. The messages complete "Prompt 'x' ...".
#[derive(Debug, Error)]
pub enum Failed {
    #[error("failed (exit {code}) and printed: {said}")]
    Exited { code: i32, said: String },
    #[error("was ended by {} and printed: {said}", signal_name(*signal))]
    Signalled { signal: i32, said: String },
    #[error("timed out after {} s ({setting} sets the limit) and printed: {said}", limit.as_secs())]
    TimedOut { limit: Duration, setting: &'static str, said: String },
    #[error("printed more than {limit} bytes; {setting} sets the limit")]
    OutputTooLarge { limit: usize, setting: &'static str },
    #[error("printed too much: {0}")]
    NoRoom(NoRoom),
    #[error("was cancelled")]
    Cancelled,
    #[error("was stopped because the server is shutting down")]
    Shutdown,
}

/// The limits of a script, and the settings for them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) time: Duration,
    pub(crate) time_setting: &'static str,
    pub(crate) output: usize,
    pub(crate) output_setting: &'static str,
}

impl Failed {
    /// How it ended, without its output.
    fn kind(&self) -> String {
        match self {
            Self::Exited { code, .. } => format!("failed (exit {code})"),
            Self::Signalled { signal, .. } => format!("was ended by {}", signal_name(*signal)),
            Self::TimedOut { limit, .. } => format!("timed out after {} s", limit.as_secs()),
            Self::OutputTooLarge { .. } | Self::NoRoom(_) | Self::Cancelled | Self::Shutdown => {
                self.to_string()
            }
        }
    }

    /// The failure, unless it ended well.
    pub(crate) fn from_ending(
        ending: ProcessEnding,
        bounds: &Bounds,
        said: impl FnOnce() -> String,
    ) -> Result<(), Self> {
        Err(match ending {
            ProcessEnding::Exited(0) => return Ok(()),
            ProcessEnding::Exited(code) => Self::Exited { code, said: said() },
            ProcessEnding::Signalled(signal) => Self::Signalled { signal, said: said() },
            ProcessEnding::TimedOut(_) => {
                Self::TimedOut { limit: bounds.time, setting: bounds.time_setting, said: said() }
            }
            ProcessEnding::OutputTooLarge => {
                Self::OutputTooLarge { limit: bounds.output, setting: bounds.output_setting }
            }
            ProcessEnding::NoRoom(why) => Self::NoRoom(why),
            ProcessEnding::Cancelled => Self::Cancelled,
            ProcessEnding::Shutdown => Self::Shutdown,
        })
    }
}

/// Why an executable of the project failed to read a resource.
#[derive(Debug, Error)]
pub enum Unread {
    /// The resource does not exist, with the executable's message if it has one.
    #[error("there is no such resource")]
    Missing(Option<String>),
    /// The executable does not accept the URI.
    #[error("{0}")]
    Invalid(String),
    /// It failed, with its own message or ours.
    #[error("{0}")]
    Failed(String),
    #[error(
        "{} timed out after {} s; MCPBASH_DEFAULT_TOOL_TIMEOUT sets the limit", script.display(), limit.as_secs()
    )]
    TimedOut { script: PathBuf, limit: Duration },
    #[error("{} printed more than {limit} bytes; MCPBASH_MAX_RESOURCE_BYTES sets the limit", script.display())]
    OutputTooLarge { script: PathBuf, limit: usize },
    #[error(transparent)]
    NoRoom(NoRoom),
    #[error("it was cancelled")]
    Cancelled,
    #[error("reading it was stopped because the server is shutting down")]
    Shutdown,
}

/// The system's error for a process that could not be started.
pub(crate) fn system_error(error: StartError) -> io::Error {
    match error {
        StartError::Spawn { source, .. } => source,
        other => io::Error::other(other),
    }
}
