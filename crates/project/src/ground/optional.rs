//! Optional files of a project.

use crate::{Diagnostic, trust};
use memchr::memmem;
use std::io::{Error, ErrorKind};
use std::path::Path;

/// The text of a file, if it exists. `diagnostics` receives the reason why it cannot be used.
pub(crate) fn optional_text(path: &Path, limit: u64, diagnostics: &mut Vec<Diagnostic>) -> Option<String> {
    or_ignored(path, mcp_bash_files::read_text(path, limit), diagnostics)
}

/// The same for a file that controls what scripts or models do: it is not used if another user may have written it.
pub(crate) fn believed_text(
    path: &Path,
    root: &Path,
    limit: u64,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<String> {
    let (file, judged) = or_ignored(path, trust::open_and_judge(path, root), diagnostics)?;
    let folder = path.parent().unwrap_or(path);
    if let Err(distrust) = judged.and_then(|()| trust::judge_folder(folder, root)) {
        diagnostics.push(Diagnostic::new(path, format!("is ignored: {distrust}")));
        return None;
    }
    or_ignored(path, mcp_bash_files::read_all_text(&file, limit), diagnostics)
}

fn or_ignored<T>(path: &Path, read: std::io::Result<T>, diagnostics: &mut Vec<Diagnostic>) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(error) => {
            // Without a folder there is no file either.
            if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                diagnostics.push(Diagnostic::new(path, format!("is ignored: {error}")));
            }
            None
        }
    }
}

/// Whether a file that cannot be used may mention `word`: its bytes are searched, and a file that cannot be read may mention
/// anything.
pub(crate) fn may_mention(path: &Path, limit: u64, word: &str) -> bool {
    match mcp_bash_files::read(path, limit) {
        Ok(bytes) => memmem::find(&bytes, word.as_bytes()).is_some(),
        Err(error) => !is_no_file(&error),
    }
}

/// Whether there is no file: without a folder there is none either, and a folder or a pipe declares nothing.
fn is_no_file(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput)
}
