//! Walks `tools/` and finds what may be a tool: scripts, and the metadata beside them.

use crate::Diagnostic;
use crate::stamp::{Stamp, Stamps};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// How deep below `tools/` a tool may stand.
pub(crate) const DEPTH: usize = 3;

/// A script that may be a tool.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) script: PathBuf,
    /// The metadata file that stands beside it.
    pub(crate) metadata: Option<PathBuf>,
    /// Whether it stands directly in `tools/`.
    pub(crate) at_the_top: bool,
    pub(crate) stamps: Stamps,
}

/// The suffixes of metadata files, the first one found wins.
const SUFFIXES: [&str; 3] = [".meta.json", ".meta.yaml", ".meta.yml"];

/// All candidates below `part`, which is `tools` or a folder in it, in the order of their paths.
pub(crate) fn candidates(part: &Path, tools: &Path, diagnostics: &mut Vec<Diagnostic>) -> Vec<Candidate> {
    let above = part.strip_prefix(tools).map_or(0, |path| path.components().count());
    let mut found = Vec::new();
    walk(part, DEPTH.saturating_sub(above), above == 0, &mut found, diagnostics);
    found
}

fn walk(
    folder: &Path,
    depth: usize,
    top: bool,
    found: &mut Vec<Candidate>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut entries: Vec<DirEntry> = match fs::read_dir(folder) {
        Ok(entries) => entries.flatten().filter(|entry| !is_hidden(&entry.file_name())).collect(),
        // Most projects have no `tools/` at some time in their life, and that is no fault.
        Err(error) if top && error.kind() == ErrorKind::NotFound => return,
        Err(error) => {
            diagnostics.push(Diagnostic::new(folder, format!("is skipped: {error}")));
            return;
        }
    };
    entries.sort_by_key(DirEntry::file_name);

    let names: BTreeSet<Box<[u8]>> =
        entries.iter().map(|entry| entry.file_name().as_bytes().into()).collect();
    let mut used = BTreeSet::new();
    for entry in &entries {
        let (name, path) = (entry.file_name(), entry.path());
        if is_folder(entry) {
            if depth > 1 {
                walk(&path, depth - 1, false, found, diagnostics);
            }
            continue;
        }
        if is_metadata(&name) || name == "smoke.sh" {
            continue;
        }
        let metadata = metadata_beside(&name, &names);
        let Some(script) = runnable(&path) else {
            if let Some(metadata) = metadata {
                used.insert(metadata.clone());
                let problem =
                    "is skipped: it is neither executable nor starts with `#!`; run `chmod +x` on it";
                diagnostics.push(Diagnostic::new(path, problem));
            }
            continue;
        };
        if name.as_bytes().iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            diagnostics.push(Diagnostic::new(path, "is skipped: its name holds a line break; rename it"));
            continue;
        }
        used.extend(metadata.clone());
        let metadata = metadata.map(|name| folder.join(OsStr::from_bytes(&name)));
        let described = metadata.as_ref().and_then(|path| fs::metadata(path).ok());
        let stamps = Stamps { script, metadata: described.as_ref().map(Stamp::of) };
        found.push(Candidate { script: path, metadata, at_the_top: top, stamps });
    }
    for lonely in names.iter().filter(|name| is_metadata(OsStr::from_bytes(name)) && !used.contains(*name)) {
        if !shadowed(lonely, &used) {
            let path = folder.join(OsStr::from_bytes(lonely));
            diagnostics.push(Diagnostic::new(path, "is skipped: there is no script of that name beside it"));
        }
    }
}

/// Whether a metadata file of a format that comes first speaks for the same script.
fn shadowed(name: &[u8], used: &BTreeSet<Box<[u8]>>) -> bool {
    let Some(stem) = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix.as_bytes())) else {
        return false;
    };
    SUFFIXES.iter().any(|suffix| used.contains([stem, suffix.as_bytes()].concat().as_slice()))
}

/// `tool.sh` is described by `tool.sh.meta.json` or `tool.meta.json`, or one of those in YAML.
fn metadata_beside(script: &OsStr, names: &BTreeSet<Box<[u8]>>) -> Option<Box<[u8]>> {
    let whole = script.as_bytes();
    let stem = Path::new(script).file_stem().map_or(whole, OsStrExt::as_bytes);
    let spellings =
        SUFFIXES.iter().flat_map(|suffix| [whole, stem].map(|name| [name, suffix.as_bytes()].concat()));
    spellings.map(Vec::into_boxed_slice).find(|name| names.contains(name))
}

fn is_metadata(name: &OsStr) -> bool {
    SUFFIXES.iter().any(|suffix| name.as_bytes().ends_with(suffix.as_bytes()))
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b".")
}

fn is_folder(entry: &DirEntry) -> bool {
    // A link to a folder counts as one; the depth bounds what a loop of links can cost.
    entry.file_type().is_ok_and(|kind| kind.is_dir() || (kind.is_symlink() && entry.path().is_dir()))
}

/// What a script looks like; `None` for what cannot be run. The executable bit or a `#!` decides, never the extension.
fn runnable(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok().filter(Metadata::is_file)?;
    let executable = metadata.permissions().mode() & 0o111 != 0 || has_shebang(path);
    executable.then(|| Stamp::of(&metadata))
}

fn has_shebang(path: &Path) -> bool {
    let mut start = [0; 2];
    File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == *b"#!"
}
