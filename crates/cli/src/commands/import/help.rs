//! Help of a program: requested with `--help`, within limits, or read from standard input.

use super::error::ImportError;
use super::source::LONGEST;
use mcp_bash_harmless::shell_word;
use mcp_bash_runner::{ProcessEnding, Variables};
use mcp_bash_scripts::{HelpRequest, Outcome, Scripts};
use mcp_bash_terminal::{can_ask, confirm};
use std::ffi::OsString;
use std::fmt::{self, Display, Formatter};
use std::io::Read;
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

/// How many lines of its standard error are shown if it prints no help.
const MOST_LINES: usize = 3;

/// The timeout for a program to print its help, in seconds.
const SECONDS: u64 = 10;

/// Variables that keep a program from prompting, paging, colouring and cutting lines.
const QUIET: [(&str, &str); 8] = [
    ("COLUMNS", "200"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("MANWIDTH", "200"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("PYTHON_COLORS", "0"),
    ("TERM", "dumb"),
];

/// `PROGRAM COMMAND… --help`.
pub(super) struct HelpCommand<'a> {
    pub(super) program: &'a Path,
    pub(super) commands: &'a [String],
}

impl Display for HelpCommand<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let program = self.program.to_string_lossy();
        let words = [&*program].into_iter().chain(self.commands.iter().map(|word| &**word)).chain(["--help"]);
        formatter.write_str(&words.map(shell_word).collect::<Vec<_>>().join(" "))
    }
}

/// What a program printed when it was asked for its help.
pub(super) struct Help {
    pub(super) text: String,
    /// Its standard error.
    pub(super) complaint: String,
}

impl From<String> for Help {
    fn from(text: String) -> Self {
        Self { text, complaint: String::new() }
    }
}

impl Help {
    /// The end of its standard error, on one line.
    pub(super) fn last_words(&self) -> String {
        let lines: Vec<&str> =
            self.complaint.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        mcp_bash_harmless::line(&lines[lines.len().saturating_sub(MOST_LINES)..].join("; ")).into_owned()
    }
}

/// Whether the user at the terminal agrees to run exactly this command.
pub(super) fn is_confirmed(command: &HelpCommand<'_>) -> bool {
    can_ask() && confirm(&format!("Run `{command}` to read its help?")).unwrap_or(false)
}

/// Runs it in a sandbox, and nothing else.
pub(super) fn ask(
    scripts: &Scripts,
    runtime: &Runtime,
    command: &HelpCommand<'_>,
) -> Result<Help, ImportError> {
    let mut variables = Variables::default();
    variables.extend(std::env::vars_os());
    variables.extend(QUIET);
    let arguments = command.commands.iter().map(OsString::from).chain([OsString::from("--help")]).collect();
    let shown = || command.to_string();
    let not_run = |why: String| ImportError::NotRun { program: shown(), why };
    let request = HelpRequest {
        program: command.program.to_owned(),
        arguments,
        folder: &std::env::current_dir().map_err(|error| not_run(error.to_string()))?,
        variables,
        timeout: Duration::from_secs(SECONDS),
        limit: LONGEST,
    };
    let outcome = runtime.block_on(scripts.help_text(request));
    let Outcome { ending, stdout, stderr, .. } = outcome.map_err(|error| not_run(error.to_string()))?;
    match ending {
        // Many programs print their help on standard error, and exit as if something had failed.
        ProcessEnding::Exited(_) => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let complaint = text(&stderr);
            let is_empty = stdout.iter().all(u8::is_ascii_whitespace);
            Ok(Help { text: if is_empty { complaint.clone() } else { text(&stdout) }, complaint })
        }
        ProcessEnding::TimedOut(_) => Err(ImportError::TimedOut(shown(), SECONDS)),
        ProcessEnding::OutputTooLarge => Err(ImportError::TooLong(shown(), LONGEST)),
        ProcessEnding::Signalled(signal) => Err(not_run(format!("signal {signal} ended it"))),
        ProcessEnding::Cancelled | ProcessEnding::Shutdown => Err(not_run("it was cancelled".to_owned())),
        ProcessEnding::NoRoom(why) => Err(not_run(why.to_string())),
    }
}

pub(super) fn from_stdin() -> Result<String, ImportError> {
    let mut bytes = Vec::new();
    let limit = LONGEST as u64;
    let count = std::io::stdin().take(limit + 1).read_to_end(&mut bytes).map_err(ImportError::Stdin)?;
    if count > LONGEST {
        return Err(ImportError::Stdin(mcp_bash_files::too_large(limit)));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
