//! Whether a tool may run: by the list of names, by who could have written it, and by what the project's own
//! `server.d/policy.sh` says.

use crate::work::Work;
use mcp_bash_project::trust::{self, Start};
use mcp_bash_project::{Paths, Tool, environment_without_secret};
use mcp_bash_runner::{Confinement, Input, Invocation, Patience, ProcessEnding, Variables};
use mcp_bash_wire::{RpcError, code};
use std::sync::Arc;
use std::time::Duration;

/// How long a policy may think.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The longest policy that is asked, in bytes.
const LONGEST_POLICY: u64 = 1024 * 1024;

/// The longest answer of a policy that is read.
const LONGEST_ANSWER: usize = 64 * 1024;

/// Reads the policy from its standard input, asks it, and prints what it refused with. What it prints itself is not
/// ours to read.
const ASK: &str = r#"
_MCP_TOOLS_ERROR_CODE=-32602 _MCP_TOOLS_ERROR_MESSAGE=
mcp_tools_error() { _MCP_TOOLS_ERROR_CODE=$1 _MCP_TOOLS_ERROR_MESSAGE=$2; }
mcp_tools_policy_check() { return 0; }
{ . /dev/stdin; } >&2 || exit 120
mcp_tools_policy_check "$1" "$2" >&2 && { printf allowed; exit 0; }
printf '%s\n%s' "$_MCP_TOOLS_ERROR_CODE" "$_MCP_TOOLS_ERROR_MESSAGE"
exit 1
"#;

/// Lets the tool run, and says how it is started; or says why not, and what would allow it.
pub(super) async fn allow(work: &Work, tool: &Tool, paths: &Paths) -> Result<Start, RpcError> {
    if let Some(why) = work.server().settings().tool_policy.blocks(&tool.name) {
        return Err(blocked(tool, &why));
    }
    if let Some(why) = &tool.distrust {
        return Err(blocked(tool, why));
    }
    let start = trust::may_run(&tool.script, &paths.root);
    let start = start.map_err(|distrust| blocked(tool, &distrust.to_string()))?;
    match read_policy(paths) {
        Ok(None) => Ok(start),
        // Boxed, so that calls without a policy are not as large.
        Ok(Some(policy)) => Box::pin(ask(work, tool, paths, policy)).await.map(|()| start),
        // A policy that cannot be trusted must not end as no policy at all.
        Err(distrust) => Err(blocked(tool, &format!("server.d/policy.sh is not trusted: {distrust}"))),
    }
}

/// The text of the project's policy, from the file that was judged.
fn read_policy(paths: &Paths) -> Result<Option<Vec<u8>>, trust::Distrust> {
    trust::read(&paths.server.join("policy.sh"), &paths.root, LONGEST_POLICY)
}

async fn ask(work: &Work, tool: &Tool, paths: &Paths, policy: Vec<u8>) -> Result<(), RpcError> {
    let mut environment: Variables = environment_without_secret().collect();
    environment.set("MCPBASH_PROJECT_ROOT", &paths.root);
    environment.set("MCPBASH_TOOLS_DIR", &paths.tools);
    let invocation = Invocation {
        program: "bash".into(),
        arguments: ["-c", ASK, "policy", &tool.name, tool.registry_text()].map(Into::into).into(),
        directory: paths.root.clone(),
        environment,
        input: Input::Bytes(&policy),
        patience: Patience::fixed(TIMEOUT),
        grace: Duration::ZERO,
        output_limit: LONGEST_ANSWER,
        budget: Arc::clone(work.budget()),
        error_tail: 1024,
        talk: None,
        confinement: Confinement::default(),
    };
    let failed = |why: &str| Err(blocked(tool, &format!("server.d/policy.sh {why}")));
    match work.server().runner().run(invocation, work.cancelled(), |_| {}, drop).await {
        Err(error) => failed(&format!("cannot be asked: {error}")),
        Ok(outcome) => match outcome.ending {
            // A policy that ends the shell half-way has not said yes.
            ProcessEnding::Exited(0) if outcome.stdout == b"allowed" => Ok(()),
            ProcessEnding::Exited(1) => Err(refusal(tool, &String::from_utf8_lossy(&outcome.stdout))),
            ProcessEnding::TimedOut(_) => failed("did not answer in time"),
            _ => failed(&format!("failed: {}", String::from_utf8_lossy(&outcome.stderr).trim())),
        },
    }
}

/// What a policy refuses with: a code, and on the next line a message.
fn refusal(tool: &Tool, answer: &str) -> RpcError {
    let (number, message) = answer.split_once('\n').unwrap_or((answer, ""));
    let number = number.trim().parse().unwrap_or(code::INVALID_PARAMS);
    match message.trim() {
        "" => blocked(tool, "server.d/policy.sh says no"),
        message => RpcError::new(number, message.to_owned()),
    }
}

fn blocked(tool: &Tool, why: &str) -> RpcError {
    RpcError::invalid_params(format!("Tool '{}' blocked by policy: {why}", tool.name))
}
