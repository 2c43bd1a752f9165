//! Interpreters of function files: the project's own, which run the worker of the SDK. How one is found depends on its
//! language, which is a row of the table in `project/src/languages`.
//!
//! They are looked up only when a worker is started, which is rare.

mod compiled_sdk;
mod host;

pub(crate) use compiled_sdk::compile_if_worker_cannot;
pub(crate) use host::ProjectHost;

use crate::running::error::ScriptError;
use crate::surroundings::Surroundings;
use mcp_bash_project::trust::{self, Start};
use mcp_bash_project::{Paths, WorkerProgram};
use std::ffi::OsString;
use std::path::Path;

/// How a worker for the functions of `file` is started. If the program is its own worker, the file itself is started.
pub(crate) async fn start_of(
    surroundings: &Surroundings,
    file: &Path,
    program: WorkerProgram,
    paths: &Paths,
) -> Result<Start, ScriptError> {
    let what = || file.strip_prefix(&paths.root).unwrap_or(file).display().to_string();
    let script = trust::may_run(file, &paths.root)
        .map_err(|source| ScriptError::Distrusted { what: what(), source })?;
    let Some(language) = program.language() else { return Ok(script) };
    let found = (language.find)(file, paths, &ProjectHost { surroundings, paths }).await;
    let interpreter = found.map_err(|why| ScriptError::NoInterpreter { what: what(), why })?;
    trust::judge_program(&interpreter, &paths.root)
        .map_err(|source| ScriptError::Distrusted { what: what(), source })?;
    let worker = surroundings.file_for_language(language.worker)?;
    let arguments = vec![OsString::from(worker), OsString::from(file)];
    Ok(Start { program: interpreter, arguments })
}

/// Lets the language complete a worker's message about why it cannot serve.
pub(crate) fn explain(message: String, file: &Path, program: WorkerProgram, paths: &Paths) -> String {
    match program.language() {
        Some(language) => (language.explain)(message, file, paths),
        None => message,
    }
}
