//! `mcp-bash serve`: the arguments of serving without a command, and the flags of HTTP.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::commands::serve::http::HttpArguments;
use crate::commands::serve::{self, Manner};
use std::process::ExitCode;

/// What `serve` takes.
#[derive(Debug, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) serve: serve::Arguments,

    #[command(flatten)]
    http: HttpArguments,
}

pub(crate) fn run(mut common: Common, arguments: Arguments) -> Result<ExitCode, Error> {
    let Arguments { mut serve, http } = arguments;
    let manner = Manner { http: Some(&http), ..Manner::default() };
    serve.take_folder(&mut common).map_err(|error| manner.failed(error))?;
    serve::run_as(&common, &serve, &manner)
}
