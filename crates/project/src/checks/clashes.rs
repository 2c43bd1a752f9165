//! Shadowed metadata: files that are not read because another takes precedence. Without a warning, the author edits the
//! wrong file in vain.

use super::walk::Folder;
use crate::Diagnostic;
use crate::declarations::metadata::Metadata;
use crate::walk::listing::metadata_stem;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// The metadata files of a folder that are read. Reports those that are not.
pub(super) fn metadata_files(folder: &Folder, found: &mut Vec<Diagnostic>) -> Vec<PathBuf> {
    let mut by_stem: BTreeMap<&[u8], Vec<&OsString>> = BTreeMap::new();
    // Sorted by name, so that JSON comes before YAML, as in the order of reading.
    for name in &folder.files {
        if let Some(stem) = metadata_stem(name) {
            by_stem.entry(stem).or_default().push(name);
        }
    }
    let mut read = Vec::new();
    for names in by_stem.values() {
        let Some((first, others)) = names.split_first() else { continue };
        read.push(folder.path.join(first));
        for other in others {
            let path = folder.path.join(other);
            let broken = Metadata::from_file(&path).err();
            let broken =
                broken.map(|problem| format!(", and cannot be read: {}", problem_of(&problem.to_string())));
            let words = format!(
                "is not read, because {} is beside it{}; keep one of the two and delete the other",
                first.display(),
                broken.unwrap_or_default()
            );
            found.push(Diagnostic::new(path, words));
        }
    }
    read
}

/// The problem without its fix.
fn problem_of(words: &str) -> &str {
    words.rsplit_once("; ").map_or(words, |(problem, _)| problem)
}
