//! `mcp-bash audit`: shows and verifies the audit log.

mod log;
mod show;
mod verify;

use crate::base::common::Common;
use crate::base::error::Error;
use clap::Subcommand;
use std::process::ExitCode;

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Arguments {
    /// Show records, oldest first
    #[command(after_help = SHOW_EXAMPLES)]
    Show(show::Arguments),
    /// Find lines that were removed, changed, added or reordered
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(verify::VerifyArguments),
    /// Print the end of the chain, or of each chain in a store, to be kept where the log cannot be changed
    #[command(after_help = HEAD_EXAMPLES)]
    Head(verify::HeadArguments),
}

const SHOW_EXAMPLES: &str = "\
Examples:
  mcp-bash audit show /var/log/mcp/audit.jsonl
  mcp-bash audit show --tool deploy --since 2026-01-31 --outcome refused
  mcp-bash audit show --caller alice --since 2h --json | jq .arguments
  MCPBASH_STORE=postgres://mcp@db.example/mcp mcp-bash audit show store --since 2h";

const VERIFY_EXAMPLES: &str = "\
Examples:
  mcp-bash audit verify /var/log/mcp/audit.jsonl
  mcp-bash audit verify audit.jsonl-20260130 audit.jsonl-20260131 audit.jsonl
  mcp-bash audit verify --head \"$(cat /elsewhere/head)\"

Exit codes: 0 nothing found, 1 something found, 2 usage.";

const HEAD_EXAMPLES: &str = "\
Examples:
  mcp-bash audit head /var/log/mcp/audit.jsonl > /elsewhere/head";

pub(crate) fn run(_: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    match arguments {
        Arguments::Show(arguments) => show::run(arguments),
        Arguments::Verify(arguments) => verify::run(arguments),
        Arguments::Head(arguments) => verify::run_head(arguments),
    }
}
