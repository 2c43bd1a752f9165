//! Denial: what a sandbox probably denied to a process that failed, and what would allow it.

use mcp_bash_sandbox::Policy;
use std::path::Path;

pub(super) fn explain(
    _policy: &Policy,
    _project: &Path,
    _refused: &[String],
    _errors: &str,
) -> Option<String> {
    None
}
