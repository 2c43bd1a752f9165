//! Runs `git` within bounds.

use super::{GitCommand, unusable};
use crate::error::FetchError;
use rustix::process::{Pid, Signal, kill_process_group};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

/// As much of what git says as is worth repeating.
const MAX_WORDS: u64 = 4096;

/// How often the size of a growing repository is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A process that takes the group it leads with it when it is dropped.
pub(super) struct Running {
    child: Child,
}

impl Running {
    pub(super) fn start(command: &GitCommand) -> Result<Self, FetchError> {
        let child = Command::new(&command.program)
            .args(&command.arguments)
            .env_clear()
            // This is how git and its own parts are found.
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .envs(command.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&command.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| FetchError::GitUnusable(format!("`{}`: {error}", command.program.display())))?;
        Ok(Self { child })
    }

    /// What it prints, up to a bound, once it has ended well.
    pub(super) async fn output(mut self) -> Result<String, FetchError> {
        let (status, words) = self.ended().await?;
        if status.success() { Ok(words) } else { Err(FetchError::GitUnusable(words.trim().to_owned())) }
    }

    /// Waits until it has ended well.
    pub(super) async fn finish(mut self, task: &'static str) -> Result<(), FetchError> {
        let (status, words) = self.ended().await?;
        if status.success() { Ok(()) } else { Err(FetchError::Git { task, words: words.trim().to_owned() }) }
    }

    /// How it ended, and what it said. It gets no input.
    async fn ended(&mut self) -> Result<(ExitStatus, String), FetchError> {
        drop(self.child.stdin.take());
        let (said, complained) = (self.child.stdout.take(), self.child.stderr.take());
        let (said, complained, status) =
            tokio::join!(first_words(said), first_words(complained), self.child.wait());
        Ok((status.map_err(|error| unusable(&error))?, said + &complained))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Once it has been waited for it has no number any more, and its group may be someone else's.
        let leader = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(leader) = leader {
            // It may have ended a moment ago.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// The start of what comes. The rest is read too, so that nobody has to wait for us.
async fn first_words(stream: Option<impl tokio::io::AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let mut words = Vec::new();
    let _ = (&mut stream).take(MAX_WORDS).read_to_end(&mut words).await;
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&words).into_owned()
}

/// Asks for one file of what was fetched.
pub(super) async fn print(command: &GitCommand, path: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
    let io = |error: std::io::Error| unusable(&error);
    let mut running = Running::start(command)?;
    let (Some(mut input), Some(output)) = (running.child.stdin.take(), running.child.stdout.take()) else {
        return Err(FetchError::GitUnusable("it has no input or output".to_owned()));
    };
    input.write_all(format!("FETCH_HEAD:{path}\n").as_bytes()).await.map_err(io)?;
    drop(input);
    let mut output = BufReader::new(output);
    let mut head = String::new();
    (&mut output).take(MAX_WORDS).read_line(&mut head).await.map_err(io)?;

    let not_there = |why| FetchError::NotInRepository { path: path.to_owned(), why };
    let words: Vec<_> = head.split_whitespace().collect();
    let size: u64 = match words[..] {
        [_, "blob", size] => size.parse().map_err(|_| not_there("git says something else about it"))?,
        [_, "tree", _] => return Err(not_there("it is a folder")),
        ["symlink", _] => return Err(not_there("it is a link that leads out")),
        ["dangling" | "loop" | "notdir", _] => return Err(not_there("it is a link that leads nowhere")),
        _ => return Err(not_there("")),
    };
    if size > limit {
        return Err(FetchError::TooLarge { limit, setting: "MCPBASH_MAX_RESOURCE_BYTES" });
    }
    let mut bytes = Vec::new();
    output.take(size).read_to_end(&mut bytes).await.map_err(io)?;
    if bytes.len() as u64 == size { Ok(bytes) } else { Err(not_there("git ended before its end")) }
}

/// Returns once a folder is larger than it may be.
pub(super) async fn outgrown(folder: &Path, limit_kb: u64) {
    while folder_kb(folder) <= limit_kb {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// What the files in a folder take. It has few of them: what is fetched comes as a pack.
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
