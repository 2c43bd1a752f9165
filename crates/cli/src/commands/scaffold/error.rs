//! Scaffold errors: why nothing was written.

use mcp_bash_project::trust::Distrust;
use std::io;
use std::path::PathBuf;
use std::string::FromUtf8Error;
use thiserror::Error;

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Error)]
pub(crate) enum ScaffoldError {
    #[error("`{}` cannot be the name of a {kind}: {why}", name.escape_debug())]
    Name { kind: &'static str, name: String, why: &'static str },
    #[error("there is already a {kind} called {name}, in {}; choose another name", file.display())]
    Taken { kind: &'static str, name: String, file: PathBuf },
    #[error("{} already exists; remove it or choose another name", .0.display())]
    Exists(PathBuf),
    #[error("{} already exists, and holds scripts; {hint}", folder.display())]
    FolderOfScripts { folder: PathBuf, hint: String },
    #[error(
        "no MCP project found here; `mcp-bash init` makes this folder one, `mcp-bash new NAME` makes a new one, \
         and --project-root names one elsewhere"
    )]
    NoProject,
    #[error("`mcp-bash new` makes a folder here, and takes no --project-root; `mcp-bash init` takes one")]
    NewElsewhere,
    #[error("a server needs a name; give it one with --name")]
    NoName,
    #[error("there is no program `{}` on PATH; install it, or give its path", .0.escape_debug())]
    NoProgram(String),
    #[error("{} cannot be run; run `chmod +x` on it", .0.display())]
    NotExecutable(PathBuf),
    #[error("a tool that is made --from a program has no script; leave out --lang")]
    LanguageOfProgram,
    #[error("a tool that is made --from a program has no script; leave out --script")]
    ScriptOfProgram,
    #[error(
        "pages for tools (MCP Apps) are not there yet; without --ui and `scaffold ui` everything else is"
    )]
    NoUi,
    #[error("{} cannot be added to: {problem}", file.display())]
    Registration { file: PathBuf, problem: RegistrationProblem },
    #[error("failed to write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// Why nothing can be added to a registration.
#[derive(Debug, Error)]
pub(crate) enum RegistrationProblem {
    #[error(transparent)]
    Distrusted(#[from] Distrust),
    #[error("it is not valid UTF-8")]
    NotUtf8(#[from] FromUtf8Error),
    #[error("it is not valid JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("it must hold an object")]
    NotAnObject,
    #[error("its `completions` must be an array")]
    NotAnArray,
}
