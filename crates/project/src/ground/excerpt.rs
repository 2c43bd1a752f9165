//! Excerpts of a program's output, for messages.

use mcp_bash_harmless::clip;

/// The beginning of an executable's output, on one line.
pub fn excerpt(printed: &str) -> String {
    const LONGEST: usize = 200;
    let line = printed.trim().replace(['\n', '\r', '\t'], " ");
    if line.is_empty() { "nothing".to_owned() } else { clip(&line, LONGEST).into_owned() }
}
