//! Why a script was not run, or why there is nothing to go on with.

use crate::running::start_failure::StartFailure;
use mcp_bash_budget::NoRoom;
use mcp_bash_project::excerpt;
use mcp_bash_project::trust::Distrust;
use mcp_bash_runner::{ProcessEnding, StartError, signal_name};
use mcp_bash_wire::code::INTERNAL_ERROR;
use serde_json::Value;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// The messages are for whoever wanted the script to run.
#[derive(Debug, Error)]
pub enum ScriptError {
    /// The tool may not run.
    #[error("Tool '{tool}' blocked by policy: {why}")]
    Blocked { tool: String, why: Block },
    /// The system lacks what is needed to find out whether the tool may run. So it does not, this time.
    #[error("Tool '{tool}' was not run: {what} cannot be checked now: {why}; try again")]
    NotJudged { tool: String, what: &'static str, why: String },
    /// The project's policy refuses the call in its own words, with a code and data if it gives any.
    #[error("{message}")]
    Refused { code: Option<i32>, message: String, data: Option<String> },
    /// Others could have written it.
    #[error("{what} is not run: {source}")]
    Distrusted { what: String, source: Distrust },
    #[error("{what} cannot be given its arguments: {source}")]
    Arguments { what: String, source: io::Error },
    /// Whoever calls can mend the arguments.
    #[error("The arguments of '{tool}' cannot be given to it:\n{problems}")]
    Unfit { tool: String, problems: String },
    /// What a tool without a script runs is not there.
    #[error(
        "Tool '{tool}' runs `{program}`, which is not there: install it, or put its folder on the PATH of the server"
    )]
    NoProgram { tool: String, program: String },
    /// There is nothing that runs a file of functions.
    #[error("{what} cannot be run: {why}")]
    NoInterpreter { what: String, why: String },
    /// The time of the call was over before the script could be started.
    #[error(
        "{what} was not started within {} s: server.d/env.sh or server.d/policy.sh takes longer", limit.as_secs()
    )]
    NotStarted { what: String, limit: Duration },
    /// The folder that its metadata names is not there.
    #[error("Tool '{tool}' runs in the folder {}, which is not there: make it, or fix `cwd` in its metadata", folder.display())]
    NoFolder { tool: String, folder: PathBuf },
    #[error("{what} is not run: {why}")]
    NoRoom { what: String, why: NoRoom },
    #[error("{what} could not be started: {source}")]
    Start { what: String, source: StartFailure },
    /// A worker has not answered: how it ended, or why there is none, without and with its own words.
    #[error("{what}: its worker {told}")]
    Worker { what: String, kind: String, told: String },
    /// A worker has answered with an error of its own; its data is JSON.
    #[error("{message}")]
    Answered { code: i32, message: String, data: Option<String> },
    /// It was run, and ended otherwise than well.
    #[error("{what} {how}")]
    Failed { what: String, how: Failed },
    /// An executable of the project did not read a resource.
    #[error(transparent)]
    Unread(#[from] Unread),
    /// There is nothing to run a script in.
    #[error(transparent)]
    NoEnvironment(#[from] NoEnvironment),
    /// Others could have written a script of `server.d`.
    #[error("{file} is not trusted: {source}")]
    ServerScriptDistrusted { file: &'static str, source: Distrust },
    #[error("{file} cannot be run: {source}")]
    ServerScriptNotRun { file: &'static str, source: io::Error },
}

impl ScriptError {
    /// Whether somebody decided that it may not run: a setting, the policy, or the trust in who may write it.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Blocked { .. } | Self::Refused { .. } | Self::Distrusted { .. })
    }

    /// There is no worker to call, for a reason of ours.
    pub(crate) fn worker(what: &str, how: String) -> Self {
        Self::Worker { what: what.to_owned(), kind: how.clone(), told: how }
    }

    /// What the operator is told: what is wrong and where, without arguments and without anything that a script wrote.
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
            | Self::NoRoom { .. }
            | Self::Start { .. }
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

    /// Arguments that a tool cannot be given, for these reasons.
    pub(crate) fn unfit(tool: &str, problems: Vec<String>) -> Self {
        let problems: Vec<String> = problems.into_iter().map(|problem| format!("- {problem}")).collect();
        Self::Unfit { tool: tool.to_owned(), problems: problems.join("\n") }
    }
}

/// Why no script is run: running it with less than what was meant for it would be a guess.
#[derive(Debug, Clone, Error)]
pub enum NoEnvironment {
    /// A setting asks for more than is allowed.
    #[error("No script is run: {0}")]
    Mode(String),
    /// `server.d/env.sh` is not what it should be.
    #[error("No script is run: server.d/env.sh {0}")]
    File(String),
    /// There is no SDK for it.
    #[error("No script is run: the SDK cannot be laid out: {0}")]
    Sdk(String),
}

/// Why a tool may not run, and what would allow it.
#[derive(Debug, Error)]
pub enum Block {
    /// The setting that says so is named.
    #[error("{0}")]
    Setting(String),
    /// Others could have written what is said about the tool.
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
    /// Nobody knows what was meant to be allowed.
    #[error(
        "server.d/policy.sh does not define the function `mcp_tools_policy_check`; call the function that decides so, or \
         remove the file to allow every call"
    )]
    PolicyUndefined,
    #[error("server.d/policy.sh says no")]
    PolicySaysNo,
}

/// How a script ended that has not ended well. The messages complete "Prompt 'x' ...".
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

/// The limits that a script may have broken, and what sets them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) time: Duration,
    pub(crate) time_setting: &'static str,
    pub(crate) output: usize,
    pub(crate) output_setting: &'static str,
}

impl Failed {
    /// How it ended, without what it printed.
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

    /// What is wrong with that ending, if anything is.
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

/// Why an executable of the project did not read a resource.
#[derive(Debug, Error)]
pub enum Unread {
    /// There is no such resource, with the words of the executable if it has any.
    #[error("there is no such resource")]
    Missing(Option<String>),
    /// The URI is not what it expects.
    #[error("{0}")]
    Invalid(String),
    /// It could not, in its own words or in ours.
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

/// What the system says about a process that could not be started.
pub(crate) fn system_error(error: StartError) -> io::Error {
    match error {
        StartError::Spawn { source, .. } => source,
        other => io::Error::other(other),
    }
}
