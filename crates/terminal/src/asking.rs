//! Questions to the user at the terminal.

use crate::print_text;
use std::io::{self, BufRead, IsTerminal};

/// Whether there is a user to ask: standard input and output are terminals.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Asks a yes-or-no question; no if there is no answer.
pub fn confirm(question: &str) -> io::Result<bool> {
    print_text(&format!("{question} [y/N] "))?;
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    Ok(read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
