//! Tool policy: whether a tool may run, by the list of names, by file permissions and by the project's own
//! `server.d/policy.sh`.

use crate::running::error::{Block, NoEnvironment, ScriptError};
use crate::running::process::Limits;
use crate::running::server_script::ServerScript;
use crate::scripts::Scripts;
use crate::surroundings::called_by::CalledBy;
use mcp_bash_budget::Budget;
use mcp_bash_files::shortage;
use mcp_bash_project::trust::{self, Start};
use mcp_bash_project::{Execution, Paths, Tool, Worker};
use mcp_bash_runner::{ProcessEnding, TimeLimits};
use mcp_bash_settings::EnvironmentMode;
use std::sync::Arc;
use std::time::Duration;

/// The timeout of a policy.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The largest policy that is run, in bytes.
const LONGEST_POLICY: u64 = 1024 * 1024;

/// The longest answer of a policy that is read, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;

/// How much of a failing policy's error output is reported, in bytes.
const LONGEST_COMPLAINT: usize = 1024;

/// Sources the policy from standard input, calls its function, and prints the refusal. The policy's own output is discarded. A
/// function of that name in the environment is not the project's: it must not stand in for a policy that defines none.
const ASK: &str = r#"
_MCP_TOOLS_ERROR_CODE=-32602 _MCP_TOOLS_ERROR_MESSAGE= _MCP_TOOLS_ERROR_DATA=
mcp_tools_error() { _MCP_TOOLS_ERROR_CODE=$1 _MCP_TOOLS_ERROR_MESSAGE=$2 _MCP_TOOLS_ERROR_DATA=${3-}; }
unset -f mcp_tools_policy_check
mcp_json_extract_optional() {
    local found
    found=$(printf %s "$1" | "${MCPBASH_JSON_TOOL_BIN:-jq}" "${2:--r}" "$3" 2>/dev/null) || found=${4-}
    printf %s "$found"
}
{ . /dev/stdin; } >&2 || exit 120
declare -F mcp_tools_policy_check >/dev/null || { printf undefined; exit 1; }
mcp_tools_policy_check "$1" "$2" >&2 && { printf allowed; exit 0; }
printf '%s\n%s\0%s' "$_MCP_TOOLS_ERROR_CODE" "$_MCP_TOOLS_ERROR_MESSAGE" "$_MCP_TOOLS_ERROR_DATA"
exit 1
"#;

/// A tool that may run, and how it is run.
pub struct AllowedTool<'a> {
    pub(crate) tool: &'a Tool,
    pub(crate) paths: &'a Paths,
    pub(crate) way: Way<'a>,
}

/// How a tool is run.
pub(crate) enum Way<'a> {
    /// A process of its own.
    Process(Start),
    /// A worker. Its script is judged when a worker is started: a running one has already read it.
    Worker(&'a Worker),
}

impl Scripts {
    /// Allows the tool to run for a caller; or returns why it may not, and what would allow it.
    pub async fn allow<'a>(
        &self,
        tool: &'a Tool,
        paths: &'a Paths,
        caller: CalledBy<'_>,
        budget: &Arc<Budget>,
        cancelled: impl Future<Output = ()>,
    ) -> Result<AllowedTool<'a>, ScriptError> {
        let blocked = |why| ScriptError::Blocked { tool: tool.name.clone(), why };
        if let Some(why) = self.settings().tool_policy.blocks(&tool.name) {
            return Err(blocked(Block::Setting(why)));
        }
        if let EnvironmentMode::Refused(why) = &self.settings().environment_mode {
            return Err(NoEnvironment::Mode(why.clone()).into());
        }
        if let Some(why) = &tool.distrust {
            return Err(blocked(Block::Metadata(why.clone())));
        }
        let judged =
            || judge(tool, "its script", Block::Script, || trust::may_run(&tool.script, &paths.root));
        let way = match &tool.execution {
            Execution::Worker(worker) => Way::Worker(worker),
            Execution::Command { program, .. } if self.is_found_elsewhere(tool, program) => {
                judged()?;
                Way::Process(Start { program: program.into(), arguments: Vec::new() })
            }
            Execution::Command { program, .. } => {
                judged()?;
                let found = self.surroundings.wait_for_program(program, paths).await;
                Way::Process(found.map_err(|not_found| not_found.told(&tool.name, program))?)
            }
            Execution::Script | Execution::MappedScript(_) | Execution::Provider => Way::Process(judged()?),
        };
        // An untrusted policy must not be treated like a missing one.
        let policy = judge(tool, POLICY, Block::PolicyDistrusted, || read_policy(paths))?;
        if let Some(policy) = policy {
            // Boxed, to keep the futures of calls without a policy small.
            Box::pin(self.ask_policy(tool, paths, caller, &policy, budget, cancelled)).await?;
        }
        Ok(AllowedTool { tool, paths, way })
    }

    async fn ask_policy(
        &self,
        tool: &Tool,
        paths: &Paths,
        caller: CalledBy<'_>,
        policy: &[u8],
        budget: &Arc<Budget>,
        cancelled: impl Future<Output = ()>,
    ) -> Result<(), ScriptError> {
        let script = ServerScript {
            name: "policy",
            prelude: ASK,
            words: [&tool.name, tool.registry_text()].map(Into::into).into(),
            text: policy,
            folders: &[("MCPBASH_TOOLS_DIR", &paths.tools)],
            limits: Limits {
                patience: TimeLimits::fixed(TIMEOUT),
                output: LONGEST_ANSWER,
                error_tail: LONGEST_COMPLAINT,
                budget,
            },
        };
        let blocked = |why| ScriptError::Blocked { tool: tool.name.clone(), why };
        let mut environment = self.surroundings.server_environment(paths).await?;
        caller.set(&mut environment);
        let outcome =
            self.surroundings.processes.run_without_talk(script.process(paths, environment), cancelled).await;
        let outcome = outcome.map_err(|error| ScriptError::NotJudged {
            tool: tool.name.clone(),
            what: POLICY,
            why: error.to_string(),
        })?;
        match outcome.ending {
            // A policy that exits the shell early has not allowed the call.
            ProcessEnding::Exited(0) if outcome.stdout == b"allowed" => Ok(()),
            ProcessEnding::Exited(1) if outcome.stdout == b"undefined" => {
                Err(blocked(Block::PolicyUndefined))
            }
            ProcessEnding::Exited(1) => {
                Err(refusal(&outcome.text()).unwrap_or_else(|| blocked(Block::PolicySaysNo)))
            }
            ProcessEnding::TimedOut(_) => Err(blocked(Block::PolicyTimedOut)),
            ProcessEnding::Shutdown => Err(blocked(Block::PolicyStopped)),
            _ => Err(blocked(Block::PolicyFailed(match outcome.errors().trim() {
                "" => "it wrote nothing on standard error".to_owned(),
                said => said.to_owned(),
            }))),
        }
    }
}

/// The name of the policy in errors.
const POLICY: &str = "server.d/policy.sh";

/// Checks whether something is trusted. A shortage of the system is not a reason for distrust.
fn judge<T>(
    tool: &Tool,
    what: &'static str,
    block: fn(trust::Distrust) -> Block,
    look: impl FnOnce() -> Result<T, trust::Distrust>,
) -> Result<T, ScriptError> {
    let (judged, shortage) = shortage::during(look);
    judged.map_err(|distrust| match shortage {
        Some(why) => ScriptError::NotJudged { tool: tool.name.clone(), what, why },
        None => ScriptError::Blocked { tool: tool.name.clone(), why: block(distrust) },
    })
}

/// The text of the project's policy, read from the file that was checked.
fn read_policy(paths: &Paths) -> Result<Option<Vec<u8>>, trust::Distrust> {
    let path = paths.policy();
    let policy = trust::read(&path, &paths.root, LONGEST_POLICY)?;
    if policy.is_none() {
        // Without a policy every call is allowed, so no other user may have been able to remove it.
        trust::judge_absence(&path, &paths.root)?;
    }
    Ok(policy)
}

/// A policy's refusal: a code, a message on the next line, and data after a NUL. `None` without a message.
fn refusal(answer: &str) -> Option<ScriptError> {
    let (code, answer) = answer.split_once('\n')?;
    let (message, data) = answer.split_once('\0').unwrap_or((answer, ""));
    let said = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    Some(ScriptError::Refused { code: code.trim().parse().ok(), message: said(message)?, data: said(data) })
}
