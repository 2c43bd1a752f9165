//! Secret commands: programs that print a secret (`pass`, `op`, `vault`). Their values are cached for as long as their entries
//! allow.

use crate::running::process::{Limits, Process};
use crate::surroundings::Surroundings;
use mcp_bash_project::Paths;
use mcp_bash_project::trust::Start;
use mcp_bash_runner::{Input, ProcessEnding, TimeLimits, Variables};
use mcp_bash_sandbox::Confinement;
use mcp_bash_secrets::{CommandFault, LONGEST, Secret, SecretError};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The timeout of a command.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The cached values, by the name of the secret. One call at a time runs the command of a secret, while the others wait for its
/// value.
#[derive(Default)]
pub(super) struct Commands(Mutex<HashMap<String, Arc<tokio::sync::Mutex<Option<Kept>>>>>);

struct Kept {
    words: Vec<String>,
    secret: Secret,
    until: Instant,
}

impl Commands {
    /// The value that the command prints, at most `cache` old.
    pub(super) async fn value(
        &self,
        surroundings: &Surroundings,
        name: &str,
        words: &[String],
        cache: Duration,
        paths: &Paths,
    ) -> Result<Secret, SecretError> {
        let place = Arc::clone(self.0.lock().entry(name.to_owned()).or_default());
        let mut kept = place.lock().await;
        if let Some(kept) = &*kept
            && kept.words == words
            && Instant::now() < kept.until
        {
            return Ok(kept.secret.clone());
        }
        let printed = run(surroundings, words, paths).await.map_err(|why| {
            let (name, program) = (name.to_owned(), words[0].clone());
            SecretError::Command { name, program, why }
        })?;
        let secret = Secret::new(printed).map_err(|why| {
            let place = format!("command {}", words[0]);
            SecretError::Unfit { name: name.to_owned(), place, why }
        })?;
        *kept = Some(Kept { words: words.to_vec(), secret: secret.clone(), until: Instant::now() + cache });
        Ok(secret)
    }
}

/// The output of a command. Its standard error is not kept, because it may contain the secret.
async fn run(surroundings: &Surroundings, words: &[String], paths: &Paths) -> Result<Vec<u8>, CommandFault> {
    let mut environment: Variables = surroundings.processes.own_environment().collect();
    environment.set("PATH", surroundings.effective_search_path());
    let process = Process {
        start: Start { program: (&words[0]).into(), arguments: Vec::new() },
        words: words[1..].iter().map(Into::into).collect(),
        directory: &paths.root,
        environment,
        input: Input::Bytes(&[]),
        limits: Limits {
            patience: TimeLimits::fixed(TIMEOUT),
            output: LONGEST + 2,
            error_tail: 0,
            budget: surroundings.budget(),
        },
        grace: Duration::ZERO,
        talk: None,
        sandbox: None,
    };
    // Without redaction, because the value is needed.
    let invocation = process.invocation(Confinement::default());
    let outcome = surroundings.runner().run(invocation, std::future::pending(), |_| {}, drop).await;
    let outcome = outcome.map_err(|error| CommandFault::NotStarted(error.to_string()))?;
    match outcome.ending {
        ProcessEnding::Exited(0) => Ok(outcome.stdout),
        ProcessEnding::Exited(code) => Err(CommandFault::Failed(code)),
        ProcessEnding::Signalled(signal) => Err(CommandFault::Signalled(signal)),
        ProcessEnding::TimedOut(_) => Err(CommandFault::TimedOut(TIMEOUT)),
        ProcessEnding::OutputTooLarge | ProcessEnding::NoRoom(_) => Err(CommandFault::TooMuch),
        ProcessEnding::Cancelled | ProcessEnding::Shutdown => Err(CommandFault::Ended),
    }
}
