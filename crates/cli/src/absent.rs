//! Absent commands: those of mcp-bash in bash that do not exist here, and what to use instead.

use crate::base::error::Error;
use crate::base::exit::Exit;
use std::ffi::OsString;
use std::process::ExitCode;
use thiserror::Error;

/// Whatever was said behind the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<OsString>,
}

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Clone, Copy, Error)]
pub(crate) enum Absent {
    #[error(
        "there is no `bundle` yet: mcp-bash is one file, so copy the project and the binary, and give the client the \
         command `mcp-bash --project-root DIR`, which `mcp-bash install` writes"
    )]
    Bundle,
    #[error(
        "there is no `publish` yet: the registry of servers takes a server.json through its own `mcp-publisher` program"
    )]
    Publish,
    #[error(
        "there is no `vendor`, and no need for it: mcp-bash is one file without dependencies; copy the binary beside the \
         project and call it from there"
    )]
    Vendor,
}

impl Absent {
    pub(crate) fn refuse(self) -> Result<ExitCode, Error> {
        Err(Error::of_command(Exit::Usage, self))
    }
}
