//! `mcp-bash audit`: shows and verifies the audit log.

mod show;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::startup;
use crate::terminal::print::print;
use clap::{Args, Subcommand};
use mcp_bash_audit::reading::{head, verify};
use mcp_bash_audit::{AuditError, Head, files_of};
use mcp_bash_terminal::{complain, for_stdout};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Arguments {
    /// Show records, oldest first
    #[command(after_help = SHOW_EXAMPLES)]
    Show(show::Arguments),
    /// Find lines that were removed, changed, added or reordered
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArguments),
    /// Print the end of the chain, to be kept where the log cannot be changed
    #[command(after_help = HEAD_EXAMPLES)]
    Head(HeadArguments),
}

const SHOW_EXAMPLES: &str = "\
Examples:
  mcp-bash audit show /var/log/mcp/audit.jsonl
  mcp-bash audit show --tool deploy --since 2026-01-31 --outcome refused
  mcp-bash audit show --caller alice --since 2h --json | jq .arguments";

const VERIFY_EXAMPLES: &str = "\
Examples:
  mcp-bash audit verify /var/log/mcp/audit.jsonl
  mcp-bash audit verify audit.jsonl-20260130 audit.jsonl-20260131 audit.jsonl
  mcp-bash audit verify --head \"$(cat /elsewhere/head)\"

Exit codes: 0 nothing found, 1 something found, 2 usage.";

const HEAD_EXAMPLES: &str = "\
Examples:
  mcp-bash audit head /var/log/mcp/audit.jsonl > /elsewhere/head";

#[derive(Debug, Clone, Args)]
pub(crate) struct VerifyArguments {
    /// The log, or all of its files where another program has renamed them [default: `MCPBASH_AUDIT`]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// A head that was kept elsewhere, as `audit head` prints it; the log must contain it
    #[arg(long, value_name = "SEQ:HASH")]
    head: Option<Head>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct HeadArguments {
    /// The log [default: `MCPBASH_AUDIT`]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Why the log cannot be shown or verified.
#[derive(Debug, thiserror::Error)]
enum LogError {
    #[error("name the audit log: as an argument, or in MCPBASH_AUDIT")]
    NotNamed,
    #[error("there is no audit log {}", .0.display())]
    NoLog(PathBuf),
    #[error("{} has no record", .0.display())]
    Empty(PathBuf),
}

pub(crate) fn run(_: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    match arguments {
        Arguments::Show(arguments) => show::run(arguments),
        Arguments::Verify(arguments) => run_verify(arguments),
        Arguments::Head(arguments) => run_head(arguments),
    }
}

fn run_verify(arguments: &VerifyArguments) -> Result<ExitCode, Error> {
    let files = match &*arguments.files {
        [] => log_files(None)?,
        [one] => log_files(Some(one))?,
        several => in_order(several)?,
    };
    let verified = verify(&files, arguments.head).map_err(failed)?;
    for finding in &verified.findings {
        complain(&finding.to_string());
    }
    if let (Some(first), Some(end)) = (verified.first, verified.head) {
        let mut text = format!("{} records, {first} to {}", verified.records, end.seq);
        if verified.torn > 0 {
            let torn = verified.torn;
            let _ = write!(text, "; {torn} incomplete, as a killed process leaves them, and recorded");
        }
        if verified.unfinished > 0 {
            let unfinished = verified.unfinished;
            let _ = write!(
                text,
                "; {unfinished} begun and not ended: their server was killed, or still works on them"
            );
        }
        if verified.has_incomplete_end {
            text += "; the last line is incomplete";
        }
        if verified.findings.is_empty() {
            text += "; nothing was removed or changed";
            if arguments.head.is_none() {
                text += ", as far as the log itself can show: `--head` finds a log that was written again or cut off";
            }
        }
        print(&format!("{text}\n"))?;
    }
    Ok(if verified.findings.is_empty() { ExitCode::SUCCESS } else { Exit::Failed.into() })
}

fn run_head(arguments: &HeadArguments) -> Result<ExitCode, Error> {
    let files = log_files(arguments.file.as_ref())?;
    let end = head(&files).map_err(failed)?;
    let empty = || usage(LogError::Empty(files.last().cloned().unwrap_or_default()));
    print(&for_stdout(format!("{}\n", end.ok_or_else(empty)?)))?;
    Ok(ExitCode::SUCCESS)
}

/// The files of the log that is named, or of the one that is written, oldest first.
fn log_files(named: Option<&PathBuf>) -> Result<Vec<PathBuf>, Error> {
    let log = named.cloned().or_else(|| startup::settings().0.audit.destination?.file().cloned());
    let log = log.ok_or_else(|| usage(LogError::NotNamed))?;
    let files = files_of(&log);
    if files.is_empty() { Err(usage(LogError::NoLog(log))) } else { Ok(files) }
}

/// Files in the order of their records.
fn in_order(files: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut dated = Vec::new();
    for file in files {
        let first = verify(std::slice::from_ref(file), None).map_err(failed)?.first;
        dated.push((first, file.clone()));
    }
    dated.sort();
    Ok(dated.into_iter().map(|(_, file)| file).collect())
}

fn failed(error: AuditError) -> Error {
    Error::of_command(Exit::Failed, error)
}

fn usage(error: LogError) -> Error {
    Error::of_command(Exit::Usage, error)
}
