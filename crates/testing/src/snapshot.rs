//! Snapshots: recorded results, one readable file for each case, in `__snapshots__/` beside its case file.

use crate::cases::case::Case;
use crate::result::Got;
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The largest snapshot that is read, in bytes.
const LONGEST: u64 = 64 * 1024 * 1024;

/// How much of the name of a case is in its file name, in characters.
const LONGEST_NAME: usize = 80;

/// A snapshot that is missing, or that differs from the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    /// The recorded text; `None` if there is no snapshot yet.
    pub(crate) recorded: Option<String>,
    pub(crate) got: String,
}

/// The path of the snapshot of a step, by its index in the case.
pub(crate) fn path(case: &Case, index: usize) -> PathBuf {
    let folder = case.place.file.parent().unwrap_or(Path::new(""));
    let stem = case.place.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = if case.name == stem { stem } else { format!("{stem}--{}", file_name(&case.name)) };
    let number = if index == 0 { String::new() } else { format!("--step-{}", index + 1) };
    folder.join("__snapshots__").join(format!("{name}{number}.snap"))
}

/// The name of a case as part of a file name. A digest distinguishes shortened names.
fn file_name(name: &str) -> String {
    let mut plain = String::new();
    for character in name.chars() {
        match character {
            c if c.is_alphanumeric() => plain.extend(c.to_lowercase()),
            _ if !plain.ends_with('-') => plain.push('-'),
            _ => {}
        }
    }
    let plain = plain.trim_matches('-');
    match plain.char_indices().nth(LONGEST_NAME) {
        None => plain.to_owned(),
        Some((end, _)) => {
            let digest = Sha256::digest(name.as_bytes());
            format!("{}-{:02x}{:02x}{:02x}{:02x}", &plain[..end], digest[0], digest[1], digest[2], digest[3])
        }
    }
}

/// How the result of a step differs from its snapshot.
pub(crate) fn compare(case: &Case, index: usize, got: &Got) -> io::Result<Option<Change>> {
    let path = path(case, index);
    let mut text = got.snapshot();
    for (pattern, with) in &case.replace {
        text = pattern.replace_all(&text, with.as_str()).into_owned();
    }
    let recorded = match mcp_bash_files::read(&path, LONGEST) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    Ok((recorded.as_ref() != Some(&text)).then_some(Change { path, recorded, got: text }))
}

/// Records a result.
pub(crate) fn write(change: &Change) -> io::Result<()> {
    record(&change.path, &change.got)
}

/// Writes a file of the project whole or not at all, and creates its folder.
pub(crate) fn record(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    mcp_bash_files::write_whole(path, text.as_bytes())
}
