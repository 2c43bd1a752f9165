//! Git processes: the runner runs `git` within limits. When a future of this file is dropped, git and all it has
//! started are killed.

use super::GitCommand;
use crate::error::FetchError;
use mcp_bash_budget::Budget;
use mcp_bash_runner::{Input, Invocation, Outcome, ProcessEnding, Runner, StartError, TimeLimits, Variables};
use mcp_bash_sandbox::Confinement;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How many bytes of each output of git are kept if they are only messages.
const MAX_MESSAGE_BYTES: usize = 4096;

/// How often the size of a growing repository is checked.
const SIZE_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Never reached: all work for one URI has a shorter timeout, after which the future is dropped.
const TIME_LIMIT: Duration = Duration::from_secs(3600);

/// What runs git.
#[derive(Clone, Copy)]
pub(super) struct GitRunner<'a> {
    pub(super) runner: &'a Runner,
    /// The output of git is charged to it.
    pub(super) budget: &'a Arc<Budget>,
}

impl GitRunner<'_> {
    /// The standard output of git, if it succeeds.
    pub(super) async fn output(self, command: &GitCommand) -> Result<String, FetchError> {
        let outcome = self.run(command, &[], MAX_MESSAGE_BYTES, std::future::pending()).await?;
        if is_success(&outcome) {
            Ok(String::from_utf8_lossy(&outcome.stdout).into_owned())
        } else {
            Err(FetchError::GitUnusable(messages(&outcome)))
        }
    }

    /// Waits until git has succeeded. When `stop` completes, git is killed and the error is what `stop` returns.
    pub(super) async fn finish(
        self,
        command: &GitCommand,
        task: &'static str,
        stop: impl Future<Output = FetchError>,
    ) -> Result<(), FetchError> {
        let mut stopped = None;
        let stop = async { stopped = Some(stop.await) };
        let outcome = self.run(command, &[], MAX_MESSAGE_BYTES, stop).await?;
        match stopped {
            Some(error) => Err(error),
            None if is_success(&outcome) => Ok(()),
            None => Err(FetchError::Git { task, words: messages(&outcome) }),
        }
    }

    /// One file of the fetched commit, through `git cat-file --batch`.
    pub(super) async fn print(
        self,
        command: &GitCommand,
        path: &str,
        max_bytes: u64,
    ) -> Result<Vec<u8>, FetchError> {
        let input = format!("FETCH_HEAD:{path}\n");
        let output_limit = usize::try_from(max_bytes).unwrap_or(usize::MAX).saturating_add(MAX_MESSAGE_BYTES);
        let outcome = self.run(command, input.as_bytes(), output_limit, std::future::pending()).await?;
        file_in(outcome.stdout, path, max_bytes)
    }

    async fn run(
        self,
        command: &GitCommand,
        input: &[u8],
        output_limit: usize,
        stop: impl Future<Output = ()>,
    ) -> Result<Outcome, FetchError> {
        let mut environment = Variables::default();
        // This is how git and its own parts are found.
        environment.extend(std::env::var_os("PATH").map(|path| ("PATH", path)));
        environment.extend(command.environment.iter().map(|(name, value)| (name, value)));
        let invocation = Invocation {
            program: command.program.clone(),
            arguments: command.arguments.clone(),
            directory: command.folder.clone(),
            environment,
            input: Input::Bytes(input),
            patience: TimeLimits::fixed(TIME_LIMIT),
            // Everything it has made is discarded, so it need not clean up.
            grace: Duration::ZERO,
            output_limit,
            budget: Arc::clone(self.budget),
            error_tail: MAX_MESSAGE_BYTES,
            talk: None,
            confinement: Confinement::default(),
        };
        let outcome = self.runner.run(invocation, stop, |_| (), drop).await.map_err(not_started)?;
        match outcome.ending {
            ProcessEnding::NoRoom(why) => Err(FetchError::NoRoom(why)),
            _ => Ok(outcome),
        }
    }
}

fn not_started(error: StartError) -> FetchError {
    FetchError::GitUnusable(match error {
        StartError::Spawn { program, source } => format!("`{}`: {source}", program.display()),
        other => other.to_string(),
    })
}

fn is_success(outcome: &Outcome) -> bool {
    outcome.ending == ProcessEnding::Exited(0)
}

/// The messages of git, on both outputs.
fn messages(outcome: &Outcome) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&outcome.stdout) + &text(&outcome.stderr)).trim().to_owned()
}

/// The file in an answer of `git cat-file --batch`: a line with its type and size, then its bytes.
fn file_in(mut answer: Vec<u8>, path: &str, max_bytes: u64) -> Result<Vec<u8>, FetchError> {
    let not_there = |why| FetchError::NotInRepository { path: path.to_owned(), why };
    let head_length = answer.iter().take(MAX_MESSAGE_BYTES).position(|byte| *byte == b'\n');
    let head_length = head_length.ok_or_else(|| not_there(""))?;
    let head = String::from_utf8_lossy(&answer[..head_length]);
    let words: Vec<_> = head.split_whitespace().collect();
    let size: u64 = match words[..] {
        [_, "blob", size] => size.parse().map_err(|_| not_there("git says something else about it"))?,
        [_, "tree", _] => return Err(not_there("it is a folder")),
        ["symlink", _] => return Err(not_there("it is a link that leads out")),
        ["dangling" | "loop" | "notdir", _] => return Err(not_there("it is a link that leads nowhere")),
        _ => return Err(not_there("")),
    };
    if size > max_bytes {
        return Err(FetchError::TooLarge { limit: max_bytes, setting: "MCPBASH_MAX_RESOURCE_BYTES" });
    }
    answer.drain(..=head_length);
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    if answer.len() < size {
        return Err(not_there("git ended before its end"));
    }
    answer.truncate(size);
    Ok(answer)
}

/// Completes once a folder exceeds its size limit.
pub(super) async fn outgrown(folder: &Path, limit_kb: u64) {
    while folder_kb(folder) <= limit_kb {
        tokio::time::sleep(SIZE_CHECK_INTERVAL).await;
    }
}

/// The size of the files in a folder. There are few of them, because a fetch comes as a pack.
pub(super) fn folder_kb(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => folder_kb(&entry.path()),
            Ok(metadata) => metadata.len().div_ceil(1024),
            Err(_) => 0,
        })
        .sum()
}
