//! Prompt files: which files are prompts.

use crate::Diagnostic;
use crate::ground::interpreters::{has_shebang, is_executable};
use crate::walk::entry::default_name;
use crate::walk::listing::{Listing, metadata_stem};
use crate::walk::sighting::Sighting;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The files of a folder that are prompts, and the metadata that is a prompt without a file.
pub(crate) fn pick(listing: &Listing<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Sighting> {
    let (mut found, mut used) = (Vec::new(), BTreeSet::new());
    let files = listing.plain_files().filter_map(|name| {
        let (stamp, metadata) = (listing.stamp(name)?, listing.metadata_beside(name));
        let is_clear = is_clear(name, stamp.is_executable(), metadata.is_some());
        Some((!is_clear, name, stamp, metadata))
    });
    let mut files: Vec<_> = files.collect();
    // Clear prompts come first: an unclear file is a prompt only if no other file has its metadata.
    files.sort_by_key(|(is_unclear, ..)| *is_unclear);
    for (is_unclear, name, stamp, metadata) in files {
        let is_free = metadata.as_ref().is_some_and(|metadata| !used.contains(metadata));
        if is_unclear && (!is_free || is_medium(name)) {
            continue;
        }
        used.extend(metadata);
        if name.as_bytes().iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            let problem = "is skipped: its name holds a line break; rename it";
            diagnostics.push(Diagnostic::new(listing.path(name), problem));
        } else {
            found.push(listing.sighting(name, stamp, metadata));
        }
    }
    let lonely = listing.lonely_metadata(&used);
    found.extend(lonely.filter_map(|name| Some(listing.sighting(name, listing.stamp(name)?, None))));
    found
}

/// The extensions of files that are text to be filled in, and never run.
const TEMPLATES: [&str; 6] = ["txt", "md", "markdown", "prompt", "tmpl", "template"];

fn ending(file: &Path) -> String {
    file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Whether the name alone makes a file a template. A JSON file of messages needs metadata that calls it a prompt, so that
/// other data may be beside prompts; a file without an extension may also be a script.
pub(crate) fn is_template(file: &Path, described: bool) -> bool {
    let ending = ending(file);
    TEMPLATES.contains(&&*ending) || (ending == "json" && described)
}

/// Whether a file is run rather than filled in: it is executable or begins with `#!`, and its name is not that of a text.
pub(crate) fn is_script(file: &Path) -> bool {
    !is_template(file, true) && (is_executable(file) || has_shebang(file))
}

pub(crate) fn is_metadata(file: &Path) -> bool {
    file.file_name().is_some_and(|name| metadata_stem(name).is_some())
}

/// The name without its extension, or the name of the folder for files named `prompt`.
pub(crate) fn usual_name(file: &Path) -> String {
    let stem = file.file_name().and_then(metadata_stem).map(OsStr::from_bytes);
    match stem {
        Some(stem) if stem == "prompt" => default_name(&file.with_file_name(stem), "prompt"),
        Some(stem) => stem.to_string_lossy().into_owned(),
        None => default_name(file, "prompt"),
    }
}

/// Whether a file looks like a prompt, even without a description.
fn is_clear(name: &OsStr, is_executable: bool, is_described: bool) -> bool {
    let file = Path::new(name);
    let is_other = is_executable && is_completion(name) || is_readme(name) && !is_described;
    !is_other && (is_template(file, is_described) || is_executable || file.extension().is_none())
}

/// An image or a sound beside a prompt is part of it, and no prompt itself.
fn is_medium(name: &OsStr) -> bool {
    const MEDIA: [&str; 12] =
        ["png", "jpg", "jpeg", "gif", "webp", "svg", "ico", "pdf", "wav", "mp3", "ogg", "flac"];
    MEDIA.contains(&&*ending(Path::new(name))) || is_completion(name)
}

/// A script that completes arguments, and is not a prompt.
fn is_completion(name: &OsStr) -> bool {
    [&b".completion"[..], b".completion.sh"].iter().any(|ending| name.as_bytes().ends_with(ending))
}

pub(crate) fn is_readme(name: &OsStr) -> bool {
    Path::new(name).file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("readme"))
}
