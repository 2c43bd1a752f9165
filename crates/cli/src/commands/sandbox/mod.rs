//! `mcp-bash sandbox`: what sandboxes enforce on this machine, and what each script of a project may do.

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod promises;
mod show;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod stage;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod status;

use crate::base::common::Common;
use crate::base::error::Error;
use clap::{Args, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Arguments {
    /// Try on this machine whatever a sandbox promises: exit 0 if all of it is enforced, at least in part, 1 if
    /// something is not
    #[command(after_help = STATUS_EXAMPLES)]
    Status(StatusArguments),
    /// Show what each tool, prompt, resource and completion may do
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArguments),
}

const STATUS_EXAMPLES: &str = "\
Everything is tried twice, without a sandbox and in one, against files, sockets and a process of this command.

Examples:
  mcp-bash sandbox status
  mcp-bash sandbox status --json | jq '.promises[] | select(.state != \"enforced\")'";

const SHOW_EXAMPLES: &str = "\
Examples:
  mcp-bash sandbox show
  mcp-bash sandbox show deploy
  MCPBASH_SANDBOX=on mcp-bash sandbox show --json | jq '.[].network'";

#[derive(Debug, Clone, Args)]
pub(crate) struct StatusArguments {
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ShowArguments {
    /// The name of a tool, prompt or completion, or the URI of a resource [default: all]
    name: Option<String>,

    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    match arguments {
        #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
        Arguments::Status(arguments) => status::run(arguments.json),
        #[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
        Arguments::Status(_) => {
            let words = "sandboxes are tried on Linux only";
            Err(Error::of_command(crate::base::exit::Exit::Failed, words))
        }
        Arguments::Show(arguments) => show::run(common, arguments.name.as_deref(), arguments.json),
    }
}
