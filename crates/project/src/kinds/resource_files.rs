//! Resource files: a file may be a resource, and metadata may describe one without a file, or a family of them.

use crate::Diagnostic;
use crate::declarations::error::EntryError;
use crate::declarations::metadata::Metadata;
use crate::kinds::prompt_files::is_readme;
use crate::walk::listing::{Listing, metadata_stem};
use crate::walk::sighting::{Candidate, Sighting};
use mcp_bash_fetch::sniff;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// All files, each with its metadata, and all metadata without a file. `diagnostics` receives files that surely are none.
pub(crate) fn pick(listing: &Listing<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Sighting> {
    let (mut found, mut used) = (Vec::new(), BTreeSet::new());
    for name in listing.plain_files() {
        if name.as_bytes().iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            let problem = "is skipped: its name holds a line break; rename it";
            diagnostics.push(Diagnostic::new(listing.path(name), problem));
            continue;
        }
        let metadata = listing.metadata_beside(name);
        // A README among described files is about them, and for people.
        if metadata.is_none() && is_readme(name) && listing.metadata_files().next().is_some() {
            continue;
        }
        used.extend(metadata);
        if let Some(stamp) = listing.stamp(name) {
            found.push(listing.sighting(name, stamp, metadata));
        }
    }
    let lonely = listing.lonely_metadata(&used).filter_map(|name| {
        let stamp = listing.stamp(name)?;
        Some(listing.sighting(name, stamp, Some(name)))
    });
    found.extend(lonely);
    found
}

/// The description of a candidate: beside it, inside it, or empty.
pub(crate) fn described(candidate: &Candidate) -> Result<Metadata, EntryError> {
    match &candidate.metadata {
        Some(path) => Metadata::from_file(path),
        None => Ok(Metadata::inline(&candidate.file)?.unwrap_or_default()),
    }
}

/// The file itself, if there is more than metadata.
pub(crate) fn content_of(candidate: &Candidate) -> Option<&Path> {
    (candidate.metadata.as_ref() != Some(&candidate.file)).then_some(&*candidate.file)
}

/// The path that gives a candidate its name: for metadata, that of the file it would describe.
pub(crate) fn named_by(candidate: &Candidate) -> PathBuf {
    let stem = candidate.file.file_name().and_then(metadata_stem);
    stem.map_or_else(|| candidate.file.clone(), |stem| candidate.file.with_file_name(OsStr::from_bytes(stem)))
}

/// The type of a file, by its name and its beginning.
pub(crate) fn mime_type_of(file: &Path) -> Option<&'static str> {
    const BEGINNING: u64 = 16 * 1024;
    let mut bytes = Vec::new();
    mcp_bash_files::open(file).ok()?.take(BEGINNING).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 == BEGINNING {
        // A character that was cut in two does not make a text binary.
        let cut = bytes.len() - 3;
        if let Err(error) = std::str::from_utf8(&bytes)
            && error.valid_up_to() >= cut
        {
            bytes.truncate(error.valid_up_to());
        }
    }
    Some(sniff(&bytes, file.to_str()).mime_type)
}
