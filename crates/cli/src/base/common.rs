//! Common options of every command.

use clap::Args;
use std::path::PathBuf;

/// What every command takes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Common {
    /// The project folder, which contains `tools/`, `resources/`, `prompts/` or `server.d/`
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) project_root: Option<PathBuf>,

    /// Print only results and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Print more details
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}
