//! Compiled SDK: the bytecode of the modules of the SDK, kept beside them in the user's cache. An interpreter writes it itself
//! if it may. A confined worker may not write there, and some environments forbid it (`PYTHONDONTWRITEBYTECODE`): then each
//! start of a worker would compile everything again, which takes several times as long as the rest of the start.
//!
//! Other projects load these files, so only an interpreter from outside the project writes them, and it loads nothing of the
//! project.

use super::ProjectHost;
use crate::surroundings::Surroundings;
use mcp_bash_files::Replacement;
use mcp_bash_project::trust::Start;
use mcp_bash_project::{Compilation, Language, LanguageHost, Paths};
use mcp_bash_runner::Variables;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Compiles the SDK for a worker that cannot keep the bytecode itself, unless that was done before. A failure only makes later
/// starts slower.
pub(crate) async fn compile_if_worker_cannot(
    surroundings: &Surroundings,
    worker: &Start,
    language: &Language,
    (is_confined, environment): (bool, &Variables),
    paths: &Paths,
) {
    let Some(Compilation { options, program, forbidden_by }) = language.compilation else { return };
    if !is_confined && environment.get(forbidden_by).is_none_or(OsStr::is_empty) {
        return;
    }
    let cache = surroundings.toolbox().ok().and_then(|toolbox| toolbox.cached_languages());
    let Some(program) = cache.map(|cache| cache.join(program)) else { return };
    let Some(interpreter) = outside_of_project(&worker.program, paths) else { return };
    let Some(marker) = marker(&interpreter, &program).filter(|marker| !marker.exists()) else { return };
    // Other workers that start meanwhile wait for the result.
    let mut tried = surroundings.tried_interpreters.lock().await;
    if !tried.insert(marker.clone()) {
        return;
    }
    // If the cache is not writable, it stays as it is.
    let draft = marker.with_extension(std::process::id().to_string());
    let Ok(draft) = Replacement::create_again(draft, marker, 0o644) else { return };
    let words: Vec<&OsStr> = options.iter().map(OsStr::new).chain([program.as_os_str()]).collect();
    let host = ProjectHost { surroundings, paths };
    if host.run(&interpreter, &words, |_| false).await.is_ok() {
        let _ = draft.publish();
    }
}

/// The real path of an interpreter, if that is outside the project. A project's virtual environment links to it; started by its
/// real path, the interpreter does not read the configuration of that environment.
fn outside_of_project(interpreter: &Path, paths: &Paths) -> Option<PathBuf> {
    let real = fs::canonicalize(interpreter).ok()?;
    (!real.starts_with(fs::canonicalize(&paths.root).ok()?)).then_some(real)
}

/// The file that marks that this interpreter has compiled the SDK.
fn marker(interpreter: &Path, program: &Path) -> Option<PathBuf> {
    let seen = interpreter.metadata().ok()?;
    let mut hasher = DefaultHasher::new();
    (interpreter, seen.len(), seen.mtime(), seen.mtime_nsec()).hash(&mut hasher);
    Some(program.parent()?.join(format!(".compiled-{:016x}", hasher.finish())))
}
