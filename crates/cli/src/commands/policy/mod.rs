//! `mcp-bash policy`: checks `server.d/policy.yaml`, and explains what it decides.

mod check;
mod explain;

use crate::base::common::Common;
use crate::base::error::Error;
use clap::{Args, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Arguments {
    /// Compile the policy and list its rules: exit 1 if it has mistakes, so that it would let nothing run
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArguments),
    /// Show what each rule says about a call, and why; nothing is run: exit 3 if the call would be refused
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArguments),
}

const CHECK_EXAMPLES: &str = "\
Examples:
  mcp-bash policy check
  mcp-bash policy check --json | jq '.rules[].name'";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  mcp-bash policy explain deploy env=production --as bob --group dev
  mcp-bash policy explain deploy env=staging --at 2026-07-01T06:00:00Z --json
  mcp-bash policy explain --resource file:///etc/hosts
  mcp-bash policy explain --prompt review depth=1";

#[derive(Debug, Clone, Args)]
pub(crate) struct CheckArguments {
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExplainArguments {
    /// The tool, then its arguments: key=value or key:=JSON
    #[arg(value_name = "TOOL [key=value]...")]
    words: Vec<String>,

    /// Explain the read of this resource
    #[arg(long, value_name = "URI", conflicts_with = "prompt")]
    resource: Option<String>,

    /// Explain this prompt
    #[arg(long, value_name = "NAME")]
    prompt: Option<String>,

    /// The name of the caller [default: your own]
    #[arg(long = "as", value_name = "NAME")]
    caller: Option<String>,

    /// A group of the caller; may be repeated
    #[arg(long, value_name = "GROUP")]
    group: Vec<String>,

    /// A scope of the caller's token; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,

    /// A claim of the caller: key=value, or key:=JSON; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    claim: Vec<String>,

    /// The time of the call, such as 2026-07-01T06:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    at: Option<String>,

    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    match arguments {
        Arguments::Check(arguments) => check::run(common, arguments),
        Arguments::Explain(arguments) => explain::run(common, arguments),
    }
}
