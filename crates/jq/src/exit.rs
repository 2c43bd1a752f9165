//! Exit codes, which scripts rely on.

pub(crate) const SUCCESS: u8 = 0;
/// With `--exit-status`, the last result was `false` or `null`.
pub(crate) const FALSE: u8 = 1;
/// The command line was wrong, or a file could not be read.
pub(crate) const USAGE: u8 = 2;
pub(crate) const COMPILE: u8 = 3;
/// With `--exit-status`, there was no result.
pub(crate) const NOTHING: u8 = 4;
/// The program failed on the last input, or the input was not JSON.
pub(crate) const RUNTIME: u8 = 5;
/// The output has no reader: the code that a shell reports for the signal that ends other programs.
pub(crate) const BROKEN_PIPE: u8 = 141;
