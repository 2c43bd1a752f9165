//! Printing to standard output. A reader who has closed it has seen enough: that is not a failure.

use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::terminal::{harmless, nobody_reads, say};
use std::io::{self, IsTerminal};

/// Prints a text.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    print_text(text).map_err(|error| Error::of_command(Exit::Failed, error))
}

/// The same, for callers that have an error of their own.
pub(crate) fn print_text(text: &str) -> io::Result<()> {
    match say(text) {
        Err(error) if !nobody_reads(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Prints JSON that may hold foreign text.
pub(crate) fn print_json(json: &str) -> Result<(), Error> {
    print(&for_stdout(format!("{json}\n")))
}

/// A foreign text, safe for standard output: a terminal would interpret its control characters.
pub(crate) fn for_stdout(text: String) -> String {
    if io::stdout().is_terminal() { harmless(&text) } else { text }
}
