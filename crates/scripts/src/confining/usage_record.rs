//! Usage record: a file to which servers append what each confined process used of its sandbox, one line of JSON for each.

use super::key::Key;
use super::resolve::{paths, places, user_home};
use super::tracing::{Traced, real};
use mcp_bash_sandbox::{AllowedPaths, Place, RecordedUsage, Usage};
use std::io::{self, Write as _};
use std::path::Path;

/// Appends a line to the file. Other servers may do so at the same time.
pub(super) fn append(
    file: &Path,
    key: &Key,
    traced: &Traced,
    entries: impl IntoIterator<Item = String>,
) -> io::Result<()> {
    let (call, attempts) = traced.result();
    let home = user_home();
    // The process has run, so each place exists.
    let allowed = |place: Place| -> AllowedPaths {
        let paths = paths(&place, &key.project, &key.roots, home.as_deref()).unwrap_or_default();
        let paths = paths.iter().map(|path| real(path)).collect();
        (place, paths)
    };
    let (read, write) = places(&key.declaration);
    let read: Vec<_> = read.into_iter().map(allowed).collect();
    let write: Vec<_> = write.into_iter().map(allowed).collect();
    let usage = Usage::of(&call, &attempts, &read, &write, entries);
    let mut line = serde_json::to_vec(&RecordedUsage { script: key.script.clone(), usage })?;
    line.push(b'\n');
    mcp_bash_files::append(file)?.write_all(&line)
}
