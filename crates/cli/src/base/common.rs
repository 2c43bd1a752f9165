//! Common options of every command.

use clap::Args;
use std::path::PathBuf;

/// What every command takes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Common {
    /// The project: the folder that holds `tools/`, `resources/`, `prompts/` or `server.d/`
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) project_root: Option<PathBuf>,

    /// Say only what was asked for, and what went wrong
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Say more about what is done
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}
