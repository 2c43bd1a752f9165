//! Runner: the processes that reading a project takes. This crate starts none: the caller passes an implementation of
//! [`Run`].

use crate::ground::stamp::Stamp;
use crate::{Worker, trust};
use mcp_bash_secrets::Needs;
use std::fmt::Debug;
use std::path::Path;
use std::process::Output;
use std::time::Duration;
use thiserror::Error;

/// Runs processes for the reader of a project.
pub trait Run: Debug + Send + Sync {
    /// The definitions of a file. Never blocks: a file that was not asked yet, or looks different from when it was asked,
    /// is asked in the background, and the answer is [`Said::Later`]. The caller reads that file again when the
    /// implementation reports the answer.
    fn definitions(&self, file: &Path, stamp: Stamp, asked: Asked<'_>) -> Said;

    /// Forgets the answers so far, so that each unknown file is asked again. A file that is being asked and looks the same
    /// is not disturbed; one that looks different is no longer waited for.
    fn ask_again(&self);

    /// Receives the secrets that the scripts of a project need, whenever it was read and needs any.
    fn note_secrets(&self, needs: &[&Needs]);

    /// Runs the registration hook, and returns its output and its exit status. Blocks until it has exited.
    fn run_hook(&self, hook: &Hook<'_>) -> Result<Output, HookError>;
}

/// How a file is asked for its definitions.
#[derive(Debug, Clone, Copy)]
pub enum Asked<'a> {
    /// An executable: run with `list`, then with `instructions`, within the bounds of a provider.
    Provider,
    /// A function file: loaded in its language by this worker, which runs none of its functions.
    Functions(&'a Worker),
}

/// The answer of a file that was asked for its definitions.
#[derive(Debug, Clone)]
pub enum Said {
    /// Its definitions, or why it cannot be used.
    Now(Result<Definitions, Unanswered>),
    /// It is being asked.
    Later,
}

/// Why a file has not reported its definitions.
#[derive(Debug, Clone)]
pub struct Unanswered {
    pub why: String,
    /// Whether the cause may lie outside the file: the system was short of something, the process was killed, or it took
    /// too long. The implementation asks again by itself.
    pub passes: bool,
}

impl From<String> for Unanswered {
    fn from(why: String) -> Self {
        Self { why, passes: false }
    }
}

/// The definitions of a file.
#[derive(Debug, Clone)]
pub struct Definitions {
    /// As the file wrote it: the tools of a provider, one JSON object after another; or one JSON object for a function
    /// file.
    pub text: String,
    /// A provider's instructions for the model. A function file has them in its text.
    pub instructions: Option<String>,
}

/// A hook that may run, for bash.
#[derive(Debug, Clone, Copy)]
pub struct Hook<'a> {
    /// The code that bash runs. It reads the hook from its standard input.
    pub prelude: &'static str,
    /// The text of the hook, from the file that was judged.
    pub text: &'a [u8],
    /// Its timeout.
    pub timeout: Duration,
    /// The limit of each of its two outputs, in bytes.
    pub limit: u64,
}

/// The timeout of a hook.
pub(crate) const HOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a hook registered nothing. The messages complete "server.d/register.sh ...".
#[derive(Debug, Error)]
pub enum HookError {
    #[error("is not trusted: {0}")]
    Distrusted(#[from] trust::Distrust),
    #[error("cannot be run: {0}")]
    Start(std::io::Error),
    #[error("did not end within {} s", HOOK_TIMEOUT.as_secs())]
    TimedOut,
    #[error("printed more than {0} bytes; MCPBASH_MAX_MANUAL_REGISTRY_BYTES sets the limit")]
    TooLarge(u64),
    #[error("failed: {0}")]
    Failed(String),
    #[error("registered something that is not JSON: {0}")]
    NotJson(serde_json::Error),
}
