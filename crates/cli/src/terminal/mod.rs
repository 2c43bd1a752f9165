//! Terminal: the user at the terminal, findings, and printing with the errors of this program.

pub(crate) mod finding;
pub(crate) mod host;
pub(crate) mod print;
