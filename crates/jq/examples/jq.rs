//! jq as a program of its own, for experiments and measurements.

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    mcp_bash_jq::run(std::env::args_os().skip(1), io::stdin(), io::stdout(), io::stderr()).into()
}
