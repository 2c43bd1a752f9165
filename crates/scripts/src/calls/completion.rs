//! Scripts that say what a person may go on typing.

use crate::calls::script::Script;
use crate::running::error::ScriptError;
use crate::running::outcome::Outcome;
use crate::running::spill::Spill;
use crate::scripts::Scripts;
use mcp_bash_budget::Budget;
use mcp_bash_project::{Paths, Prompt};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Somebody wants to know some of the values that an argument may have.
pub struct CompletionCall<'a> {
    /// The prompt or resource that the argument belongs to.
    pub name: &'a str,
    pub script: &'a Path,
    /// The prompt that the script stands beside, about which it is told then.
    pub beside: Option<&'a Prompt>,
    pub paths: &'a Paths,
    /// What is known: the text of a JSON object.
    pub arguments: &'a str,
    /// The same for the same question.
    pub hash: &'a str,
    /// How many values are wanted, and how many before them are known.
    pub limit: usize,
    pub offset: usize,
    /// The script's own word for where it left off.
    pub cursor: &'a str,
    /// How long the caller lets it take, and its author.
    pub asked: Option<Duration>,
    pub author: Option<Duration>,
    /// What its output is charged to.
    pub budget: &'a Arc<Budget>,
}

impl Scripts {
    /// Runs a script that completes. An outcome is one that ended well.
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
            .map_err(|source| ScriptError::Arguments { what: what.clone(), source })?;
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
        };
        script.run(self, cancelled, drop).await
    }
}

/// What a script that stands beside a prompt is told about it. Metadata that is too large for a variable it can read
/// in the file itself.
fn about(prompt: &Prompt, threshold: usize) -> [(&'static str, OsString); 3] {
    let metadata = Some(prompt.registry_text()).filter(|text| text.len() <= threshold);
    [
        ("MCP_PROMPT_REL_PATH", prompt.path.clone().into()),
        ("MCP_PROMPT_PATH", prompt.file.clone().into()),
        ("MCP_PROMPT_METADATA", metadata.unwrap_or_default().into()),
    ]
}
