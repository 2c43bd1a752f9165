//! `mcp-bash audit verify` and `head`: the chains of the log.

use super::log::{Log, LogError, failed, usage};
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::terminal::print::print;
use mcp_bash_audit::reading::{Verified, head, verify, verify_store};
use mcp_bash_audit::{ChainStore, Head, NamedHead};
use mcp_bash_terminal::{complain, for_stdout};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct VerifyArguments {
    /// The log, or all of its files where another program has renamed them, or `store` [default: `MCPBASH_AUDIT`]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Heads that were kept elsewhere, as `audit head` prints them; the log must contain them
    #[arg(long = "head", value_name = "HEAD", value_delimiter = '\n')]
    heads: Vec<NamedHead>,
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct HeadArguments {
    /// The log, or `store` [default: `MCPBASH_AUDIT`]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(super) fn run(arguments: &VerifyArguments) -> Result<ExitCode, Error> {
    let files = match &*arguments.files {
        several @ [_, _, ..] => in_order(several)?,
        one => match Log::named(one.first())? {
            Log::Files(files) => files,
            Log::Store(store) => return run_on_store(&*store, &arguments.heads),
        },
    };
    let head = match &*arguments.heads {
        [] => None,
        [NamedHead { chain: None, head }] => Some(*head),
        _ => return Err(usage(LogError::NoHeadOfFiles)),
    };
    let verified = verify(&files, head).map_err(failed)?;
    if let Some(text) = report(&verified, head.is_some()) {
        print(&format!("{text}\n"))?;
    }
    Ok(exit_code(verified.findings.is_empty()))
}

fn run_on_store(store: &dyn ChainStore, heads: &[NamedHead]) -> Result<ExitCode, Error> {
    if heads.iter().any(|head| head.chain.is_none()) {
        return Err(usage(LogError::NoHeadOfStore));
    }
    let chains = verify_store(store, heads).map_err(failed)?;
    if chains.is_empty() {
        return Err(usage(LogError::EmptyStore));
    }
    for (name, verified) in &chains {
        let has_head = heads.iter().any(|head| head.chain.as_ref() == Some(name));
        if let Some(text) = report(verified, has_head) {
            print(&for_stdout(format!("chain {name}: {text}\n")))?;
        }
    }
    Ok(exit_code(chains.iter().all(|(_, verified)| verified.findings.is_empty())))
}

pub(super) fn run_head(arguments: &HeadArguments) -> Result<ExitCode, Error> {
    let heads: Vec<NamedHead> = match Log::named(arguments.file.as_ref())? {
        Log::Files(files) => {
            let end: Option<Head> = head(&files).map_err(failed)?;
            let empty = || usage(LogError::Empty(files.last().cloned().unwrap_or_default()));
            vec![NamedHead { chain: None, head: end.ok_or_else(empty)? }]
        }
        Log::Store(store) => {
            let chains = verify_store(&*store, &[]).map_err(failed)?;
            let heads = chains
                .into_iter()
                .filter_map(|(name, verified)| Some(NamedHead { chain: Some(name), head: verified.head? }));
            heads.collect()
        }
    };
    if heads.is_empty() {
        return Err(usage(LogError::EmptyStore));
    }
    for head in heads {
        print(&for_stdout(format!("{head}\n")))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reports what was found in a chain, and returns a line about the chain.
fn report(verified: &Verified, has_head: bool) -> Option<String> {
    for finding in &verified.findings {
        complain(&finding.to_string());
    }
    let (first, end) = (verified.first?, verified.head?);
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
        if !has_head {
            text +=
                ", as far as the log itself can show: `--head` finds a log that was written again or cut off";
        }
    }
    Some(text)
}

fn exit_code(is_sound: bool) -> ExitCode {
    if is_sound { ExitCode::SUCCESS } else { Exit::Failed.into() }
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
