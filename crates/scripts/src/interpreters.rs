//! What a worker is started with: its script, or the interpreter that serves the functions in it.

use crate::error::{Block, ScriptError};
use crate::scripts::Scripts;
use mcp_bash_project::trust::{self, Start};
use mcp_bash_project::{Paths, WorkerProgram};
use std::path::{Path, PathBuf};

/// How a worker is started, if its script may run.
pub(crate) async fn start_of(
    scripts: &Scripts,
    script: &Path,
    program: WorkerProgram,
    paths: &Paths,
) -> Result<Start, ScriptError> {
    let name = || paths.root.join(script).strip_prefix(&paths.root).unwrap_or(script).display().to_string();
    let blocked = |why| ScriptError::Blocked { tool: name(), why: Block::Script(why) };
    let itself = trust::may_run(script, &paths.root).map_err(blocked)?;
    let (interpreter, worker) = match program {
        WorkerProgram::Itself => return Ok(itself),
        WorkerProgram::Python => ("python3", "python/worker.py"),
        WorkerProgram::Node => ("node", "node/worker.mjs"),
    };
    let found = scripts.wait_for_program(interpreter, paths).await;
    let start = found.map_err(|not_found| not_found.told(&name(), interpreter))?;
    let environment = scripts.common_environment(paths).await?;
    let sdk = environment.get("MCP_SDK").map(PathBuf::from).unwrap_or_default();
    Ok(Start { program: start.program, arguments: vec![sdk.join(worker).into(), script.into()] })
}
