//! Errors of secrets. None of them contains any of a value: a name, a place and a reason are enough to fix it.

use crate::secret::{LONGEST, Unfit};
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// Why a script does not receive a secret.
#[derive(Debug, Error)]
pub enum SecretError {
    #[error("the secret `{name}` is missing: {}. Set it with `mcp-bash secret set {name}`", .looked.join(", "))]
    Missing {
        name: String,
        /// What was looked at, in words: `no variable GITHUB_TOKEN`.
        looked: Vec<String>,
    },
    #[error("the secret `{name}` ({place}) cannot be used: {why}")]
    Unfit { name: String, place: String, why: Unfit },
    #[error("the secret `{name}` cannot be read from the file {}: {why}", .path.display())]
    File { name: String, path: PathBuf, why: FileFault },
    #[error("the secret `{name}`: its command `{program}` {why}")]
    Command { name: String, program: String, why: CommandFault },
    #[error("the secret `{name}`: {why}")]
    Source { name: String, why: SourceError },
    #[error("no secret is read from your own file: {0}")]
    Store(#[from] StoreError),
    #[error("the secret `{name}` cannot be passed on: {why}")]
    NotPassed { name: String, why: io::Error },
}

/// Why a file does not hold a secret.
#[derive(Debug, Error)]
pub enum FileFault {
    #[error("there is no such file")]
    Missing,
    #[error("it is a symbolic link; name the file itself")]
    Link,
    #[error("it is no regular file")]
    NotRegular,
    #[error("others can read it (mode {mode:03o}); run `chmod 600` on it")]
    Others { mode: u32 },
    #[error("another user owns it (uid {0})")]
    Owner(u32),
    #[error("it has more than {0} bytes")]
    TooLarge(u64),
    #[error("{0}")]
    Io(io::Error),
}

/// Why a command does not say a secret. What it prints is never repeated.
#[derive(Debug, Error)]
pub enum CommandFault {
    #[error(
        "is not run: the project names it, and MCPBASH_ALLOW_PROJECT_HOOKS is not true. Set that, or name the command \
         in your own file of secrets"
    )]
    NotAllowed,
    #[error("cannot be started: {0}")]
    NotStarted(String),
    #[error("failed (exit {0})")]
    Failed(i32),
    #[error("was ended by a signal ({0})")]
    Signalled(i32),
    #[error("did not end within {} s", .0.as_secs())]
    TimedOut(Duration),
    #[error("printed more than {LONGEST} bytes")]
    TooMuch,
    #[error("was not finished: the server ends")]
    Ended,
}

/// Why an entry that says where a secret is cannot be used. The text after the last `; ` is the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SourceError {
    #[error("`{0}` is no name of a secret; use letters, digits, `.`, `_` and `-`, at most 64")]
    Name(String),
    #[error(
        "it is a value, and a project may only say where a secret is; write `{{\"env\": \"NAME\"}}`, `{{\"file\": \"/path\"}}`, \
         `{{\"credential\": \"name\"}}` or `{{\"command\": [\"program\", \"argument\"]}}`, and change the secret: it was \
         readable here"
    )]
    Literal,
    #[error(
        "it must be an object; write `{{\"env\": \"NAME\"}}`, `{{\"file\": \"/path\"}}` or `{{\"command\": [\"program\"]}}`"
    )]
    NotAnObject,
    #[error("it must have one of `env`, `file`, `credential` and `command`")]
    NotOne,
    #[error(
        "it has the key `{key}`, which is not known; the keys are `env`, `file`, `credential`, `command` and `cacheSecs`"
    )]
    Key { key: String },
    #[error("`env` must be the name of a variable, not a value")]
    Variable,
    #[error("`file` must be an absolute path")]
    File,
    #[error("`credential` must be a name: letters, digits, `.`, `_` and `-`")]
    Credential,
    #[error("`command` must be a list of words; write `[\"pass\", \"show\", \"github\"]`")]
    Command,
    #[error("`cacheSecs` must be a number of seconds up to 86400, beside `command`")]
    CacheSecs,
    #[error("its value cannot be used: {0}")]
    Value(Unfit),
}

/// Why the operator's own file cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("{}: {why}", .path.display())]
    Unreadable { path: PathBuf, why: FileFault },
    #[error("{}: it is no JSON object of secrets: line {line}, column {column}", .path.display())]
    NotJson { path: PathBuf, line: usize, column: usize },
    #[error("{} cannot be written: {why}", .path.display())]
    Unwritable { path: PathBuf, why: io::Error },
}
