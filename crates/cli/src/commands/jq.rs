//! `mcp-bash jq`, and this program under the name of `jq`: for scripts on a machine that has none.

use std::ffi::OsString;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub(crate) words: Vec<OsString>,
}

pub(crate) fn run(words: impl Iterator<Item = OsString>) -> ExitCode {
    mcp_bash_jq::run(words, std::io::stdin(), std::io::stdout(), std::io::stderr()).into()
}
