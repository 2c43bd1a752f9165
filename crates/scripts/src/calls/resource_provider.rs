//! Resource providers: executables in `providers/` that print the content of a URI.

use crate::confining::confined::Confined;
use crate::running::error::{ScriptError, Unread};
use crate::running::outcome::Outcome;
use crate::running::process::{Limits, Process};
use crate::running::start_failure::StartFailure;
use crate::running::time_limits;
use crate::scripts::Scripts;
use crate::surroundings::called_by::CalledBy;
use mcp_bash_budget::Budget;
use mcp_bash_project::Paths;
use mcp_bash_project::trust::{self, Distrust, Start};
use mcp_bash_runner::{Input, ProcessEnding, TimeLimits, Variables, signal_name};
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use mcp_bash_settings::Settings;
use mcp_bash_uri::{Value, Values};
use serde_json::{Map, json};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The grace period of an executable after `TERM`.
const GRACE: Duration = Duration::from_millis(500);

/// A request to read a URI.
pub struct ResourceRead<'a> {
    pub script: &'a Path,
    pub paths: &'a Paths,
    pub uri: &'a str,
    /// The caller; empty for the server itself.
    pub caller: CalledBy<'a>,
    /// The sandbox of the executable, if the resource declares one.
    pub sandbox: Option<&'a Declaration>,
    /// The secrets that the executable needs, as the resource declares them.
    pub secrets: &'a Needs,
    /// The variables of the template that matched the URI.
    pub variables: &'a Values,
    /// The timeout that the client asks for. The caller enforces one that is shorter than the default, by dropping the future.
    pub asked: Option<Duration>,
    /// The budget that its output is charged to.
    pub budget: &'a Arc<Budget>,
}

impl Scripts {
    /// Runs an executable that reads a resource. An outcome is always a success. Dropping the future kills the executable.
    pub async fn read_resource(&self, read: ResourceRead<'_>) -> Result<Outcome, ScriptError> {
        let what = || read.script.display().to_string();
        let start = start(read.script, &read.paths.root)
            .map_err(|source| ScriptError::Distrusted { what: what(), source })?;
        let settings = self.settings();
        let limit = time_limits::of_resource(settings, read.asked);
        let given = self.surroundings.provider_environment(read.paths).await?;
        let mut environment = variables(given, settings, &read)?;
        self.surroundings.give_secrets(what, read.secrets, read.paths, &mut environment).await?;
        let process = Process {
            start,
            words: vec![read.uri.into()],
            directory: &read.paths.root,
            environment,
            input: Input::Bytes(&[]),
            limits: Limits {
                patience: TimeLimits::fixed(limit),
                output: settings.resources.max_bytes,
                error_tail: settings.stderr_tail,
                budget: read.budget,
            },
            grace: GRACE,
            talk: None,
            sandbox: Some(Confined {
                declaration: read.sandbox,
                roots: &[],
                paths: read.paths,
                script: read.script,
            }),
        };
        let outcome = self.surroundings.processes.run_without_talk(process, std::future::pending()).await;
        let outcome = outcome.map_err(|error| {
            let source = StartFailure::explain(read.script, error);
            ScriptError::Start { what: what(), source }
        })?;
        self.judge(&outcome, read.script, limit)?;
        Ok(outcome)
    }

    /// Maps the executable's exit code to a success or an error.
    fn judge(&self, outcome: &Outcome, script: &Path, limit: Duration) -> Result<(), Unread> {
        let said = outcome.errors();
        let or = |usual: &str| match said.trim() {
            "" => usual.to_owned(),
            said => said.to_owned(),
        };
        let settings = self.settings();
        Err(match outcome.ending {
            ProcessEnding::Exited(0) => return Ok(()),
            ProcessEnding::Exited(2) => Unread::Failed(or("it is outside the folders that may be read")),
            ProcessEnding::Exited(3) => {
                Unread::Missing(Some(said.trim().to_owned()).filter(|said| !said.is_empty()))
            }
            ProcessEnding::Exited(4) => Unread::Invalid(or("its provider does not understand the URI")),
            ProcessEnding::Exited(5) => Unread::Failed(or("its provider could not fetch it")),
            ProcessEnding::Exited(6) => Unread::Failed(or("it is larger than its provider allows")),
            ProcessEnding::Exited(code) => {
                Unread::Failed(or(&format!("{} failed (exit {code})", script.display())))
            }
            ProcessEnding::Signalled(signal) => {
                Unread::Failed(or(&format!("{} was ended by {}", script.display(), signal_name(signal))))
            }
            ProcessEnding::TimedOut(_) => Unread::TimedOut { script: script.to_owned(), limit },
            ProcessEnding::OutputTooLarge => {
                Unread::OutputTooLarge { script: script.to_owned(), limit: settings.resources.max_bytes }
            }
            ProcessEnding::NoRoom(why) => Unread::NoRoom(why),
            ProcessEnding::Cancelled => Unread::Cancelled,
            ProcessEnding::Shutdown => Unread::Shutdown,
        })
    }
}

/// How the executable is started, if it may run.
fn start(script: &Path, root: &Path) -> Result<Start, Distrust> {
    let start = trust::may_run(script, root)?;
    // Bash runs a script that is not executable and names no interpreter.
    let is_executable = script.metadata().is_ok_and(|file| file.permissions().mode() & 0o111 != 0);
    if !is_executable && start.arguments.is_empty() {
        return Ok(Start { program: "bash".into(), arguments: vec![script.into()] });
    }
    Ok(start)
}

/// The environment of the executable: paths, the URI, and the variables of its template.
fn variables(
    mut given: Variables,
    settings: &Settings,
    read: &ResourceRead<'_>,
) -> Result<Variables, Unread> {
    let paths = read.paths;
    let roots =
        settings.resources.folders(&paths.root, &paths.resources).into_iter().map(PathBuf::into_os_string);
    let roots: Vec<_> = roots.collect();
    given.set("MCP_RESOURCES_ROOTS", roots.join(&OsString::from(":")));
    given.set("MCPBASH_PROVIDERS_DIR", &paths.providers);
    given.set("MCPBASH_RESOURCES_DIR", &paths.resources);
    read.caller.set(&mut given);
    given.set("MCP_RESOURCE_URI", read.uri);
    for (name, value) in read.variables {
        let text = match value {
            Value::Text(text) => text.clone(),
            Value::List(members) => members.join(","),
            Value::Map(_) => continue,
        };
        if text.contains('\0') {
            return Err(Unread::Invalid(format!("`{name}` holds a NUL character")));
        }
        // A shell cannot have variables with other names; those are in the JSON object.
        if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            given.set(format!("MCP_RESOURCE_VAR_{name}"), text);
        }
    }
    let all = as_json(read.variables);
    if !all.is_empty() {
        given.set("MCP_RESOURCE_VARS_JSON", serde_json::Value::from(all).to_string());
    }
    Ok(given)
}

/// The variables of a template as JSON.
pub(crate) fn as_json(variables: &Values) -> Map<String, serde_json::Value> {
    let all = variables.iter().map(|(name, value)| {
        let value = match value {
            Value::Text(text) => json!(text),
            Value::List(members) => json!(members),
            Value::Map(pairs) => {
                let map = pairs.iter().map(|(key, value)| (key.clone(), json!(value)));
                map.collect::<Map<_, _>>().into()
            }
        };
        (name.clone(), value)
    });
    all.collect()
}
