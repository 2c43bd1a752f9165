//! Files that a project may have or not.

use crate::Diagnostic;
use std::io::ErrorKind;
use std::path::Path;

/// The text of a file, if it is there. `diagnostics` gets why it cannot be used.
pub(crate) fn optional_text(path: &Path, limit: u64, diagnostics: &mut Vec<Diagnostic>) -> Option<String> {
    match mcp_bash_files::read_text(path, limit) {
        Ok(text) => Some(text),
        Err(error) => {
            // Where there is no folder there is no file either.
            if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                diagnostics.push(Diagnostic::new(path, format!("is ignored: {error}")));
            }
            None
        }
    }
}
