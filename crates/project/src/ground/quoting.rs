//! Shell quoting of paths in commands that people are advised to run.

use std::path::Path;

/// A path as a shell takes it for one word.
pub fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@%:".contains(c);
    if text.chars().all(is_plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
