//! Prompts that are scripts.

use crate::error::ScriptError;
use crate::outcome::Outcome;
use crate::script::Script;
use crate::scripts::Scripts;
use crate::spill::Spill;
use mcp_bash_budget::Budget;
use mcp_bash_project::{Paths, Prompt};
use std::sync::Arc;
use std::time::Duration;

/// Somebody wants to know what a prompt says.
pub struct PromptCall<'a> {
    pub prompt: &'a Prompt,
    pub paths: &'a Paths,
    /// The text of a JSON object.
    pub arguments: &'a str,
    /// How long the caller lets it take.
    pub asked: Option<Duration>,
    /// What its output is charged to.
    pub budget: &'a Arc<Budget>,
}

impl Scripts {
    /// Runs the script of a prompt. An outcome is one that ended well.
    pub async fn prompt(
        &self,
        call: PromptCall<'_>,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Outcome, ScriptError> {
        let (prompt, what) = (call.prompt, format!("Prompt '{}'", call.prompt.name));
        let mut environment = self.common_environment(call.paths).await?;
        let mut spill = Spill::new(self.runner(), self.settings().payload_threshold);
        let documents = [
            (["MCP_PROMPT_ARGS_JSON", "MCP_PROMPT_ARGS_FILE"], call.arguments),
            (["MCP_PROMPT_METADATA_JSON", "MCP_PROMPT_METADATA_FILE"], prompt.registry_text()),
        ];
        for (names, text) in documents {
            spill
                .json(&mut environment, names, text)
                .map_err(|source| ScriptError::Arguments { what: what.clone(), source })?;
        }
        environment.set("MCP_PROMPT_NAME", &prompt.name);
        environment.set("MCP_PROMPT_PATH", &prompt.file);
        environment.set("MCP_PROMPT_REL_PATH", &prompt.path);
        let script = Script {
            what,
            program: &prompt.file,
            paths: call.paths,
            environment,
            input: call.arguments,
            asked: call.asked,
            author: prompt.timeout,
            limit: self.settings().prompt_limit,
            limit_setting: "MCPBASH_MAX_PROMPT_BYTES",
            budget: call.budget,
        };
        script.run(self, cancelled).await
    }
}
