//! Completion scripts: suggest values for an argument.

use crate::calls::script::Script;
use crate::running::error::ScriptError;
use crate::running::outcome::Outcome;
use crate::running::spill::Spill;
use crate::scripts::Scripts;
use crate::surroundings::called_by::CalledBy;
use crate::surroundings::script_roots::ScriptRoots;
use mcp_bash_budget::Budget;
use mcp_bash_project::{Paths, Prompt};
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A request for possible values of an argument.
pub struct CompletionCall<'a> {
    /// The prompt or resource that the argument belongs to.
    pub name: &'a str,
    /// The caller.
    pub caller: CalledBy<'a>,
    pub script: &'a Path,
    /// The prompt that the script belongs to, if any; the script then receives its metadata.
    pub beside: Option<&'a Prompt>,
    pub paths: &'a Paths,
    /// The arguments so far: the text of a JSON object.
    pub arguments: &'a str,
    /// Equal for equal requests.
    pub hash: &'a str,
    /// How many values are wanted, and how many come before them.
    pub limit: usize,
    pub offset: usize,
    /// The script's own cursor for the position where it stopped.
    pub cursor: &'a str,
    /// The timeouts of the caller and of the author.
    pub asked: Option<Duration>,
    pub author: Option<Duration>,
    /// Its own sandbox, if it declares one.
    pub sandbox: Option<&'a Declaration>,
    /// The folders that it may work in, as far as they are known.
    pub roots: &'a ScriptRoots,
    /// The folders that `roots` in a sandbox stands for.
    pub opened_roots: &'a [PathBuf],
    /// The secrets that the script needs.
    pub secrets: &'a Needs,
    /// The budget that its output is charged to.
    pub budget: &'a Arc<Budget>,
}

impl Scripts {
    /// Runs a completion script. An outcome is always a success.
    pub async fn complete(
        &self,
        call: CompletionCall<'_>,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Outcome, ScriptError> {
        let (what, settings) = (format!("The completion of '{}'", call.name), self.settings());
        let mut environment = self.surroundings.common_environment(call.paths).await?;
        let mut spill = Spill::new(self.runner(), settings.payload_threshold);
        let names = ["MCP_COMPLETION_ARGS_JSON", "MCP_COMPLETION_ARGS_FILE"];
        spill
            .json(&mut environment, names, call.arguments)
            .and_then(|_| call.roots.add_to(&mut environment, &mut spill))
            .map_err(|source| ScriptError::Arguments { what: what.clone(), source })?;
        call.caller.set(&mut environment);
        environment.set("MCP_COMPLETION_NAME", call.name);
        environment.set("MCP_COMPLETION_LIMIT", call.limit.to_string());
        environment.set("MCP_COMPLETION_OFFSET", call.offset.to_string());
        environment.set("MCP_COMPLETION_ARGS_HASH", call.hash);
        environment.set("MCP_COMPLETION_CURSOR", call.cursor);
        if let Some(prompt) = call.beside {
            environment.extend(about(prompt, settings.payload_threshold));
        }
        let script = Script {
            what,
            program: call.script,
            paths: call.paths,
            environment,
            input: call.arguments,
            asked: call.asked,
            author: call.author,
            limit: settings.output_limit,
            limit_setting: "MCPBASH_MAX_TOOL_OUTPUT_SIZE",
            budget: call.budget,
            asks_in: None,
            sandbox: call.sandbox,
            opened_roots: call.opened_roots,
            secrets: call.secrets,
        };
        script.run(self, cancelled, drop).await
    }
}

/// The variables of a script that belongs to a prompt. Metadata that is too large for a variable is left out: the script can
/// read its file.
fn about(prompt: &Prompt, threshold: usize) -> [(&'static str, OsString); 3] {
    let metadata = Some(prompt.registry_text()).filter(|text| text.len() <= threshold);
    [
        ("MCP_PROMPT_REL_PATH", prompt.path.clone().into()),
        ("MCP_PROMPT_PATH", prompt.file.clone().into()),
        ("MCP_PROMPT_METADATA", metadata.unwrap_or_default().into()),
    ]
}
