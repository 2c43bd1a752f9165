//! Printing to standard output, with the errors of commands.

use crate::base::error::Error;
use crate::base::exit::Exit;
use mcp_bash_terminal::{for_stdout, print_text};

/// Prints a text.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    print_text(text).map_err(|error| Error::of_command(Exit::Failed, error))
}

/// Prints JSON that may hold foreign text.
pub(crate) fn print_json(json: &str) -> Result<(), Error> {
    print(&for_stdout(format!("{json}\n")))
}
