//! Providers of the project's own: executables that print what a URI names.

use super::{Failure, Found};
use crate::methods::tools::environment;
use crate::server::Server;
use mcp_bash_budget::Budget;
use mcp_bash_project::Paths;
use mcp_bash_project::trust::{self, Start};
use mcp_bash_runner::{Confinement, Input, Invocation, Outcome, Patience, ProcessEnding, Variables};
use mcp_bash_uri::Value;
use serde_json::json;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a provider may take to end when it is told to.
const GRACE: Duration = Duration::from_millis(500);

/// Runs a provider for a URI and returns what it printed. It ends when this is dropped.
pub(super) async fn run(
    server: &Server,
    budget: &Arc<Budget>,
    paths: &Paths,
    script: &Path,
    uri: &str,
    found: &Found,
) -> Result<Vec<u8>, Failure> {
    let mut start =
        trust::may_run(script, &paths.root).map_err(|distrust| Failure::Failed(distrust.to_string()))?;
    let settings = server.settings();
    // A script that is neither executable nor says what runs it is one for bash.
    let is_executable = script.metadata().is_ok_and(|file| file.permissions().mode() & 0o111 != 0);
    if !is_executable && start.arguments.is_empty() {
        start = Start { program: "bash".into(), arguments: vec![script.into()] };
    }
    let invocation = Invocation {
        program: start.program,
        arguments: start.arguments.into_iter().chain([uri.into()]).collect(),
        directory: paths.root.clone(),
        environment: variables(server, paths, uri, found)?,
        input: Input::Bytes(&[]),
        patience: Patience::fixed(settings.default_timeout),
        grace: GRACE,
        output_limit: settings.resources.max_bytes,
        budget: Arc::clone(budget),
        error_tail: settings.stderr_tail,
        talk: None,
        confinement: Confinement::default(),
    };
    match server.runner().run(invocation, std::future::pending(), |_| {}, drop).await {
        Ok(outcome) => printed(server, script, outcome),
        Err(error) => Err(Failure::Failed(format!("{} could not be started: {error}", script.display()))),
    }
}

/// What a provider finds in its environment: where things are, the URI, and the variables of its template.
fn variables(server: &Server, paths: &Paths, uri: &str, found: &Found) -> Result<Variables, Failure> {
    let settings = &server.settings().resources;
    let mut roots: Vec<_> =
        settings.roots.iter().map(|root| paths.root.join(root).into_os_string()).collect();
    roots.push(paths.resources.clone().into());
    let mut given = environment::base(&settings.environment_mode, server.search_path(), paths);
    given.set("MCP_RESOURCES_ROOTS", roots.join(&OsString::from(":")));
    given.set("MCPBASH_PROVIDERS_DIR", &paths.providers);
    given.set("MCPBASH_RESOURCES_DIR", &paths.resources);
    given.set("MCP_RESOURCE_URI", uri);
    let mut all = serde_json::Map::new();
    for (name, value) in &found.variables {
        let text = match value {
            Value::Text(text) => {
                all.insert(name.clone(), json!(text));
                text.clone()
            }
            Value::List(members) => {
                all.insert(name.clone(), json!(members));
                members.join(",")
            }
            Value::Map(pairs) => {
                let map = pairs.iter().map(|(key, value)| (key.clone(), json!(value)));
                all.insert(name.clone(), map.collect::<serde_json::Map<_, _>>().into());
                continue;
            }
        };
        if text.contains('\0') {
            return Err(Failure::Invalid(format!("`{name}` holds a NUL character")));
        }
        // Other names than these cannot be said in a shell; they are in the object.
        if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            given.set(format!("MCP_RESOURCE_VAR_{name}"), text);
        }
    }
    if !all.is_empty() {
        given.set("MCP_RESOURCE_VARS_JSON", serde_json::Value::from(all).to_string());
    }
    Ok(given)
}

/// What the provider printed, or what its exit code means.
fn printed(server: &Server, script: &Path, outcome: Outcome) -> Result<Vec<u8>, Failure> {
    let said = String::from_utf8_lossy(&outcome.stderr).trim().to_owned();
    let or = |usual: &str| if said.is_empty() { usual.to_owned() } else { said.clone() };
    let settings = server.settings();
    Err(match outcome.ending {
        ProcessEnding::Exited(0) => return Ok(outcome.stdout),
        ProcessEnding::Exited(2) => Failure::Failed(or("it is outside of the folders that may be read")),
        ProcessEnding::Exited(3) => Failure::Missing,
        ProcessEnding::Exited(4) => Failure::Invalid(or("its provider does not understand the URI")),
        ProcessEnding::Exited(5) => Failure::Failed(or("its provider could not fetch it")),
        ProcessEnding::Exited(6) => Failure::Failed(or("it is larger than its provider allows")),
        ProcessEnding::Exited(code) => {
            Failure::Failed(or(&format!("{} failed (exit {code})", script.display())))
        }
        ProcessEnding::Signalled(signal) => {
            Failure::Failed(or(&format!("{} was ended by signal {signal}", script.display())))
        }
        ProcessEnding::TimedOut(_) => Failure::Failed(format!(
            "{} did not end within {} s; MCPBASH_DEFAULT_TOOL_TIMEOUT sets the limit",
            script.display(),
            settings.default_timeout.as_secs()
        )),
        ProcessEnding::OutputTooLarge => Failure::Failed(format!(
            "{} printed more than {} bytes; MCPBASH_MAX_RESOURCE_BYTES sets the limit",
            script.display(),
            settings.resources.max_bytes
        )),
        ProcessEnding::NoRoom(why) => Failure::Failed(why.to_string()),
        ProcessEnding::Cancelled => Failure::Failed("it was cancelled".to_owned()),
    })
}
