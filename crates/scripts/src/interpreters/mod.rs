//! Interpreters of function files: the project's Python or Node.js, and the SDK's worker.
//!
//! They are looked up when a worker is started, which is rare: a call of a running worker needs none of this.

pub(crate) mod inline_dependencies;
mod node;
pub(crate) mod python;

use crate::running::error::ScriptError;
use crate::surroundings::Surroundings;
use mcp_bash_project::trust::{self, Start};
use mcp_bash_project::{Paths, WorkerProgram};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How a worker for the functions of `file` is started; if the program is its own worker, the file itself.
pub(crate) async fn start_of(
    surroundings: &Surroundings,
    file: &Path,
    program: WorkerProgram,
    paths: &Paths,
) -> Result<Start, ScriptError> {
    let what = || file.strip_prefix(&paths.root).unwrap_or(file).display().to_string();
    let script = trust::may_run(file, &paths.root)
        .map_err(|source| ScriptError::Distrusted { what: what(), source })?;
    let found = match program {
        WorkerProgram::Itself => return Ok(script),
        WorkerProgram::Python => python::find(surroundings, file, paths).await,
        WorkerProgram::Node => node::find(surroundings, file, paths).await,
    };
    let unfit = |why| ScriptError::NoInterpreter { what: what(), why };
    let interpreter = found.map_err(unfit)?;
    trust::judge_program(&interpreter, &paths.root)
        .map_err(|source| ScriptError::Distrusted { what: what(), source })?;
    let worker = match program {
        WorkerProgram::Node => "node/worker.mjs",
        WorkerProgram::Python | WorkerProgram::Itself => "python/worker.py",
    };
    let worker = surroundings.file_for_language(worker)?;
    let arguments = vec![OsString::from(worker), OsString::from(file)];
    Ok(Start { program: interpreter, arguments })
}

/// A worker's message about why it cannot serve, with another fix if a package is missing because the virtual environment
/// has no interpreter.
pub(crate) fn explain(message: String, file: &Path, paths: &Paths) -> String {
    let environment = python::unusable_environment(file, paths, false);
    let Some(environment) = environment.filter(|_| message.contains("ModuleNotFoundError")) else {
        return message;
    };
    let problem = message.rsplit_once("; ").map_or(&*message, |(problem, _)| problem);
    let shown = environment.strip_prefix(&paths.root).unwrap_or(&environment).display();
    format!("{problem}; {shown} has no working interpreter: {}", python::made_anew(&environment, paths))
}

/// The first of these programs that scripts find.
pub(crate) async fn first_found(
    surroundings: &Surroundings,
    names: &[&str],
    paths: &Paths,
) -> Option<PathBuf> {
    for name in names {
        if let Ok(start) = surroundings.wait_for_program(name, paths).await {
            return Some(start.program);
        }
    }
    None
}
