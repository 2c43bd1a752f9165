//! Options of a tool: the keys of metadata that decide how it runs, and that clients never receive.

use crate::declarations::client_capability::ClientCapability;
use crate::declarations::confirm::Confirm;
use crate::declarations::error::EntryError;
use crate::declarations::metadata::Metadata;
use crate::declarations::task_support::TaskExecution;
use crate::declarations::values::positive;
use crate::declarations::working_folder::WorkingFolder;
use crate::declarations::{launcher, sandbox, secrets, variable_names};
use mcp_bash_launchers::Declaration as Launcher;
use mcp_bash_oauth::is_scope;
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use mcp_bash_wire::write;
use std::time::Duration;

/// How a tool runs, if its author says so.
#[derive(Debug, Clone, Default)]
pub struct ToolOptions {
    pub timeouts: Timeouts,
    /// The exit codes besides 0 that count as an answer, not as a failure.
    pub success_exit_codes: Vec<u8>,
    /// The capabilities without which a client cannot use the tool.
    pub required_capabilities: Vec<ClientCapability>,
    /// The scopes that the token of a caller must have, if an issuer vouches for the caller.
    pub scopes: Vec<String>,
    /// Whether its script may run again if its process ended before it received the answer to a question, or its server
    /// died while it ran as a task.
    pub may_run_again: bool,
    /// Whether the client's roots must be known before the script starts.
    pub needs_roots: bool,
    /// Whether a person is asked before it runs, if the author says so.
    pub confirm: Option<Confirm>,
    /// Whether a call can be a task.
    pub tasks: TaskExecution,
    pub working_folder: WorkingFolder,
    /// The variables of the server's environment that it needs.
    pub variables: Vec<String>,
    /// What its process may do.
    pub sandbox: Option<Declaration>,
    /// What starts it on another host, if it does not run on that of the server.
    pub launcher: Option<Launcher>,
    /// The secrets that it needs, by name.
    pub secrets: Needs,
}

/// Timeouts of a call, if the author sets them.
#[derive(Debug, Clone, Default)]
pub struct Timeouts {
    /// The timeout of a call, or of its silence if progress extends it.
    pub limit: Option<Duration>,
    /// Whether progress restarts the timeout.
    pub progress_extends: Option<bool>,
    /// The longest a call may take, whatever its progress.
    pub most: Option<Duration>,
    /// What the model reads after a timeout.
    pub hint: Option<String>,
}

impl ToolOptions {
    /// Takes the options out of metadata. `problems` receives harmless mistakes.
    pub(super) fn take(metadata: &mut Metadata, problems: &mut Vec<String>) -> Result<Self, EntryError> {
        let sandbox = sandbox::read(metadata.sandbox.as_deref())?;
        Ok(Self {
            timeouts: Timeouts {
                limit: positive(metadata.timeout_secs, "timeoutSecs")?,
                progress_extends: metadata.progress_extends_timeout,
                most: positive(metadata.max_timeout_secs, "maxTimeoutSecs")?,
                hint: metadata.timeout_hint.take(),
            },
            success_exit_codes: metadata.success_exit_codes.take().unwrap_or_default(),
            required_capabilities: metadata.required_capabilities.take().unwrap_or_default(),
            scopes: scopes(metadata.scopes.take())?,
            may_run_again: metadata.replay.unwrap_or_default(),
            needs_roots: metadata.needs_roots.unwrap_or_default(),
            confirm: Confirm::read(metadata.confirm.as_deref())?,
            tasks: TaskExecution::read(metadata.execution.as_deref())?,
            working_folder: WorkingFolder::read(metadata.cwd.as_deref())?,
            variables: variable_names::read(metadata.env.as_deref(), problems),
            launcher: launcher::read(metadata.launcher.as_deref(), sandbox.as_ref())?,
            sandbox,
            secrets: secrets::read(metadata.secrets.as_deref())?,
        })
    }

    /// The options as members of a JSON object, by their keys in metadata.
    pub(super) fn members(&self) -> [(&'static str, Option<String>); 16] {
        let seconds = |limit: Option<Duration>| limit.map(|limit| limit.as_secs().to_string());
        let yes = |is_so: bool| is_so.then(|| "true".to_owned());
        let list = |names: &[String]| {
            let names = names.iter().map(|name| write::string(name)).collect::<Vec<_>>().join(",");
            (!names.is_empty()).then(|| format!("[{names}]"))
        };
        [
            ("timeoutSecs", seconds(self.timeouts.limit)),
            ("progressExtendsTimeout", self.timeouts.progress_extends.map(|extends| extends.to_string())),
            ("maxTimeoutSecs", seconds(self.timeouts.most)),
            ("timeoutHint", self.timeouts.hint.as_deref().map(write::string)),
            ("successExitCodes", exit_codes(&self.success_exit_codes)),
            ("requiredCapabilities", ClientCapability::written(&self.required_capabilities)),
            ("scopes", list(&self.scopes)),
            ("replay", yes(self.may_run_again)),
            ("needsRoots", yes(self.needs_roots)),
            ("confirm", self.confirm.as_ref().map(Confirm::written)),
            ("execution", self.tasks.written()),
            ("cwd", self.working_folder.written().map(write::string)),
            ("env", list(&self.variables)),
            ("sandbox", self.sandbox.as_ref().map(|sandbox| sandbox.written().to_owned())),
            ("launcher", self.launcher.as_ref().map(|launcher| launcher.written().to_owned())),
            ("secrets", self.secrets.written()),
        ]
    }
}

/// The scopes of a tool. A wrong one is not left out: what was meant as a restriction must not end as none.
fn scopes(names: Option<Vec<String>>) -> Result<Vec<String>, EntryError> {
    let names = names.unwrap_or_default();
    match names.iter().find(|name| !is_scope(name)) {
        None => Ok(names),
        Some(wrong) => Err(EntryError::WrongValue {
            key: "scopes",
            wanted: "list scopes, which have no blanks, quotes or backslashes",
            found: format!("`{}`", wrong.escape_debug()),
            remedy: "; write each as one member of the list",
        }),
    }
}

/// The exit codes as JSON, if there are any.
fn exit_codes(codes: &[u8]) -> Option<String> {
    let codes = codes.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    (!codes.is_empty()).then(|| format!("[{codes}]"))
}
