//! `mcp-bash completions SHELL`: prints a small script for a shell, which calls this program back while the user types. So
//! the tools, prompts and arguments of the current project are completed as well, and a new command needs no new script.
//!
//! Not `clap_complete`: its scripts know the commands but no project; the tools, prompts and arguments, and the time limit
//! within which a project is read for them, would still be ours.

mod candidates;
mod line;
mod offers;
mod project;
mod values;

use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::terminal::print::print;
use mcp_bash_terminal::say;
use std::ffi::OsString;
use std::process::ExitCode;

/// The first word of a command line with which the scripts call back.
pub(crate) const ASK: &str = "__complete";

const EXAMPLES: &str = "\
Examples:
  eval \"$(mcp-bash completions bash)\"                    in ~/.bashrc
  mcp-bash completions zsh >~/.zfunc/_mcp-bash           with ~/.zfunc in fpath, before compinit
  mcp-bash completions fish >~/.config/fish/completions/mcp-bash.fish
  mcp-bash completions powershell | Out-String | Invoke-Expression

Exit codes: 0 printed, 1 failed to write, 2 usage.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell that reads the script
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let script = match arguments.shell {
        Shell::Bash => include_str!("shells/mcp-bash.bash"),
        Shell::Zsh => include_str!("shells/mcp-bash.zsh"),
        Shell::Fish => include_str!("shells/mcp-bash.fish"),
        Shell::Powershell => include_str!("shells/mcp-bash.ps1"),
    };
    print(script)?;
    Ok(Exit::Done.into())
}

/// Answers a script: prints the candidates at the cursor, and nothing else whatever happens.
///
/// `whole` is the command line with all commands. The words are `words W1 W2 … CURRENT`, or `line TEXT BREAKS` from bash,
/// which splits words at the characters `BREAKS`.
pub(crate) fn answer(mut words: impl Iterator<Item = OsString>, whole: fn() -> clap::Command) -> ExitCode {
    // Not even a bug of our own may print into the user's line.
    std::panic::set_hook(Box::new(|_| ()));
    let text = |word: OsString| word.to_string_lossy().into_owned();
    let answer = match words.next().as_deref().and_then(|kind| kind.to_str()) {
        Some("words") => {
            let words: Vec<String> = words.map(text).collect();
            std::panic::catch_unwind(|| candidates::of(&words, whole()))
        }
        Some("line") => {
            let (typed, breaks) =
                (words.next().map(text).unwrap_or_default(), words.next().map(text).unwrap_or_default());
            std::panic::catch_unwind(|| {
                let words = line::words(&typed);
                let current = words.last().cloned().unwrap_or_default();
                candidates::of(&words, whole()).cut_at(&current, &breaks)
            })
        }
        _ => return Exit::Usage.into(),
    };
    if let Ok(offers) = answer {
        let _ = say(&offers.to_string());
    }
    Exit::Done.into()
}
