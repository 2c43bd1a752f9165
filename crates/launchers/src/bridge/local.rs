//! Programs on the host of the server: the launcher, and the commands before and after it.

use super::failure::Failure;
use crate::commands::Step;
use rustix::process::{Pid, Signal, kill_process_group};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// The variables of the server that launchers need: to find programs, keys, agents and configuration.
pub const INHERITED: [&str; 15] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "TZ",
    "SSH_AUTH_SOCK",
    "KRB5CCNAME",
    "KUBECONFIG",
    "SLURM_CONF",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
];

/// How long a command at the end of a call may take.
const LAST_TIMEOUT: Duration = Duration::from_secs(10);

/// How much of what a command says is repeated, in bytes.
const LONGEST_WORDS: usize = 2000;

/// A command without the variables of the tool, in a process group of its own: the signals that the runner sends to the
/// bridge are not for it.
pub(super) fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_clear().process_group(0).kill_on_drop(true);
    // The server may run many calls at once, and one must not end in the terminal of its operator.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in INHERITED {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

pub(super) fn start(words: &[String]) -> Result<Child, Failure> {
    let failed = |source| Failure::Program { program: words[0].clone(), source };
    command(words).spawn().map_err(failed)
}

/// Runs a command to its end. It must succeed.
pub(super) async fn run(step: &Step) -> Result<(), Failure> {
    let mut child = start(&step.words)?;
    if let Some(mut input) = child.stdin.take() {
        // A command that does not read it says why in its own words.
        let _ = input.write_all(step.input.as_bytes()).await;
    }
    let output = child.wait_with_output().await?;
    if output.status.success() {
        return Ok(());
    }
    let command = step.words.iter().take(4).cloned().collect::<Vec<_>>().join(" ");
    Err(Failure::Step { command, status: output.status, words: last_words(&output.stderr) })
}

/// Runs a command at the end of a call. Its failure changes nothing any more, and is said on standard error.
pub(super) async fn run_last(words: Option<&Vec<String>>) {
    let Some(words) = words else { return };
    let step = Step { words: words.clone(), input: String::new() };
    let problem = match timeout(LAST_TIMEOUT, run(&step)).await {
        Ok(Ok(())) => return,
        Ok(Err(failure)) => failure.to_string(),
        Err(_) => format!("`{}` took longer than {} s", words[0], LAST_TIMEOUT.as_secs()),
    };
    super::streams::complain(&problem).await;
}

/// Ends a launcher and its children on this host.
pub(super) async fn kill(child: &mut Child) {
    if let Some(group) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait().await;
}

/// The end of what a program said.
pub(super) fn last_words(said: &[u8]) -> String {
    let start = said.len().saturating_sub(LONGEST_WORDS);
    String::from_utf8_lossy(&said[start..]).trim().to_owned()
}
