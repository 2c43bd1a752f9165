//! Prompt scripts: run for the content of a prompt.

use crate::calls::script::Script;
use crate::running::error::ScriptError;
use crate::running::outcome::Outcome;
use crate::running::spill::Spill;
use crate::scripts::Scripts;
use crate::surroundings::called_by::CalledBy;
use crate::surroundings::script_roots::ScriptRoots;
use crate::surroundings::trace_variables::TraceVariables;
use mcp_bash_budget::Budget;
use mcp_bash_project::{Paths, Prompt, Source};
use mcp_bash_runner::Question;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A request for the content of a prompt.
pub struct PromptCall<'a> {
    pub prompt: &'a Prompt,
    /// The caller.
    pub caller: CalledBy<'a>,
    pub paths: &'a Paths,
    /// The text of a JSON object.
    pub arguments: &'a str,
    /// The caller's timeout.
    pub asked: Option<Duration>,
    /// The budget that its output and its questions are charged to.
    pub budget: &'a Arc<Budget>,
    /// The trace that the call is part of.
    pub trace: &'a TraceVariables,
    /// Whether the caller can be asked anything.
    pub may_ask: bool,
    /// The folders that it may work in, as far as they are known.
    pub roots: &'a ScriptRoots,
    /// The folders that `roots` in a sandbox stands for.
    pub opened_roots: &'a [PathBuf],
    /// Whether its user can be asked.
    pub may_elicit: bool,
}

impl Scripts {
    /// Runs the script of a prompt. An outcome is always a success. `on_question` receives its questions.
    pub async fn prompt(
        &self,
        call: PromptCall<'_>,
        cancelled: impl Future<Output = ()>,
        on_question: impl FnMut(Question),
    ) -> Result<Outcome, ScriptError> {
        if let Source::Function(function) = &call.prompt.source {
            // Boxed, to keep the futures of scripts small.
            return Box::pin(self.prompt_by_function(call, function, cancelled, on_question)).await;
        }
        let (prompt, what) = (call.prompt, format!("Prompt '{}'", call.prompt.name));
        let mut environment = self.surroundings.common_environment(call.paths).await?;
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
        call.roots
            .add_to(&mut environment, &mut spill)
            .map_err(|source| ScriptError::Arguments { what: what.clone(), source })?;
        call.caller.set(&mut environment);
        environment.set("MCP_PROMPT_NAME", &prompt.name);
        environment.set("MCP_PROMPT_PATH", &prompt.file);
        environment.set("MCP_PROMPT_REL_PATH", &prompt.path);
        environment.set("MCP_ELICIT_SUPPORTED", if call.may_elicit { "1" } else { "0" });
        call.trace.set(&mut environment);
        let folder = call.may_ask.then(|| spill.folder()).transpose();
        let folder = folder.map_err(|source| ScriptError::Arguments { what: what.clone(), source })?;
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
            asks_in: folder,
            sandbox: prompt.sandbox.as_ref(),
            opened_roots: call.opened_roots,
            secrets: &prompt.secrets,
        };
        script.run(self, cancelled, on_question).await
    }
}
