//! Lines of audit files, one after the other, each within a limit.

use crate::error::AuditError;
use crate::record::LONGEST_LINE;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One line of a file or a store.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The file, or the name of the chain.
    pub file: Arc<Path>,
    /// Counted from 1; in a store, the number that it has for the line.
    pub line: u64,
    /// Without its line break. Of a longer line than any record has, only the beginning.
    pub text: Vec<u8>,
    /// False at the end of a file that does not end with a line break.
    pub is_ended: bool,
}

/// All lines of these files.
pub fn entries(files: &[PathBuf]) -> impl Iterator<Item = Result<Entry, AuditError>> {
    files.iter().flat_map(|path| {
        let opened = mcp_bash_files::open(path);
        let (lines, failed) = match opened {
            Ok(file) => {
                (Some(Lines { path: path.as_path().into(), reader: BufReader::new(file), line: 0 }), None)
            }
            Err(source) => (None, Some(Err(AuditError::Read { path: path.clone(), source }))),
        };
        failed.into_iter().chain(lines.into_iter().flatten())
    })
}

struct Lines {
    path: Arc<Path>,
    reader: BufReader<File>,
    line: u64,
}

impl Iterator for Lines {
    type Item = Result<Entry, AuditError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut text = Vec::new();
        let read = (&mut self.reader).take(LONGEST_LINE as u64).read_until(b'\n', &mut text);
        self.line += 1;
        let mut is_ended = text.ends_with(b"\n");
        let skipped = match read {
            Ok(0) => return None,
            Ok(count) if !is_ended && count == LONGEST_LINE => {
                self.reader.skip_until(b'\n').map(|_| is_ended = true)
            }
            Ok(_) => Ok(()),
            Err(source) => Err(source),
        };
        if let Err(source) = skipped {
            return Some(Err(AuditError::Read { path: self.path.to_path_buf(), source }));
        }
        if text.ends_with(b"\n") {
            text.pop();
        }
        Some(Ok(Entry { file: Arc::clone(&self.path), line: self.line, text, is_ended }))
    }
}
