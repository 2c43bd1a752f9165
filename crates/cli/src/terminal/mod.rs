//! Terminal: the user at the terminal, and printing with the errors of this program.

pub(crate) mod host;
pub(crate) mod print;
