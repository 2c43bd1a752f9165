//! The processes that reading a project takes. None is started in this crate: whoever reads a project brings somebody
//! who runs them.

use crate::{HookError, Worker};
use std::fmt::Debug;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

/// Runs processes for whoever reads a project. Each call blocks until its process has ended.
pub trait Run: Debug + Send + Sync {
    /// Runs an executable with one word as its argument, within the bounds of a tool call: what it printed, or why that
    /// is no answer.
    fn ask(&self, program: &Path, word: &str) -> Result<String, String>;

    /// Loads a file of functions in its language: what it says about its functions, as the text of a JSON object; or why
    /// it cannot be loaded.
    fn definitions(&self, file: &Path, worker: &Worker) -> Result<String, String>;

    /// Runs the registration hook: what it wrote, and how it ended by itself.
    fn run_hook(&self, hook: &Hook<'_>) -> Result<Output, HookError>;
}

/// A hook that may run, for bash.
#[derive(Debug, Clone, Copy)]
pub struct Hook<'a> {
    /// What bash is told to do. It reads the hook from its standard input.
    pub prelude: &'static str,
    /// The text of the hook, from the file that was judged.
    pub text: &'a [u8],
    /// How long it may take.
    pub timeout: Duration,
    /// How much each of its two outputs may hold, in bytes.
    pub limit: u64,
}
