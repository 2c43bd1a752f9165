//! Walks a folder of a project and finds what may be an entry: files, and the metadata beside them.

use crate::Diagnostic;
use crate::entry::Entry;
use crate::stamp::{Stamp, Stamps};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, open, openat, statat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How deep below its folder an entry may stand.
pub(crate) const DEPTH: usize = 3;

/// A file that may be an entry.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) file: PathBuf,
    /// The metadata file that stands beside it.
    pub(crate) metadata: Option<PathBuf>,
    /// Whether it stands directly in the folder of its kind.
    pub(crate) at_the_top: bool,
    pub(crate) stamps: Stamps,
}

/// The suffixes of metadata files, the first one found wins.
const SUFFIXES: [&str; 3] = [".meta.json", ".meta.yaml", ".meta.yml"];

/// All candidates below `part`, which is `folder` or a folder in it, in the order of their paths.
pub(crate) fn candidates<T: Entry>(
    part: &Path,
    folder: &Path,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Candidate> {
    let above = part.strip_prefix(folder).map_or(0, |path| path.components().count());
    let mut found = Vec::new();
    match open(part, FOLDER, Mode::empty()) {
        Ok(opened) => {
            walk::<T>(opened, part, DEPTH.saturating_sub(above), above == 0, &mut found, diagnostics);
        }
        // Most projects lack some folder at some time in their life, and that is no fault.
        Err(Errno::NOENT) => {}
        Err(error) => diagnostics.push(unreadable(part, error)),
    }
    found
}

/// How folders are opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

fn unreadable(folder: &Path, error: Errno) -> Diagnostic {
    Diagnostic::new(folder, format!("is skipped: {}", std::io::Error::from(error)))
}

fn walk<T: Entry>(
    opened: OwnedFd,
    path: &Path,
    depth: usize,
    at_the_top: bool,
    found: &mut Vec<Candidate>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut names = match Dir::new(opened) {
        Ok(names) => names,
        Err(error) => return diagnostics.push(unreadable(path, error)),
    };
    let listed = list(&mut names).and_then(|listed| Ok((listed, names.fd()?)));
    let ((files, folders), opened) = match listed {
        Ok(listed) => listed,
        Err(error) => return diagnostics.push(unreadable(path, error)),
    };
    let listing = Listing { folder: path, opened, files, at_the_top };
    found.extend(T::pick(&listing, diagnostics));
    if depth <= 1 {
        return;
    }
    for name in folders {
        let path = path.join(&name);
        // A link to a folder counts as one; the depth bounds what a loop of links can cost.
        match openat(opened, &name, FOLDER, Mode::empty()) {
            Ok(opened) => walk::<T>(opened, &path, depth - 1, false, found, diagnostics),
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => diagnostics.push(unreadable(&path, error)),
        }
    }
}

type Names = BTreeSet<OsString>;

/// The names of the files and of the folders in a folder, hidden ones left out.
fn list(folder: &mut Dir) -> Result<(Names, Names), Errno> {
    let (mut files, mut folders) = (Names::new(), Names::new());
    while let Some(entry) = folder.read() {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name.as_bytes().starts_with(b".") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Symlink | FileType::Unknown => statat(folder.fd()?, name, AtFlags::empty())
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            kind => kind,
        };
        match kind {
            FileType::Directory => folders.insert(name.to_owned()),
            FileType::RegularFile => files.insert(name.to_owned()),
            _ => false,
        };
    }
    Ok((files, folders))
}

/// The files of one folder.
pub(crate) struct Listing<'a> {
    folder: &'a Path,
    opened: BorrowedFd<'a>,
    files: Names,
    pub(crate) at_the_top: bool,
}

impl Listing<'_> {
    /// The names of the files that are no metadata, in their order.
    pub(crate) fn plain_files(&self) -> impl Iterator<Item = &OsStr> {
        self.files.iter().map(OsString::as_os_str).filter(|name| !is_metadata(name))
    }

    /// The names of the metadata files, in their order.
    pub(crate) fn metadata_files(&self) -> impl Iterator<Item = &OsStr> {
        self.files.iter().map(OsString::as_os_str).filter(|name| is_metadata(name))
    }

    pub(crate) fn path(&self, name: &OsStr) -> PathBuf {
        self.folder.join(name)
    }

    /// What a file looks like from outside.
    pub(crate) fn stamp(&self, name: &OsStr) -> Option<Stamp> {
        let stat = statat(self.opened, name, AtFlags::empty()).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| Stamp::of(&stat))
    }

    /// `tool.sh` is described by `tool.sh.meta.json` or `tool.meta.json`, or one of those in YAML.
    pub(crate) fn metadata_beside(&self, file: &OsStr) -> Option<OsString> {
        let stem = Path::new(file).file_stem().unwrap_or(file);
        let spellings = SUFFIXES
            .iter()
            .flat_map(|suffix| [file, stem].map(|name| OsString::from_iter([name, OsStr::new(suffix)])));
        spellings.into_iter().find(|name| self.files.contains(name))
    }

    /// A candidate of a file and the metadata beside it.
    pub(crate) fn candidate(&self, name: &OsStr, stamp: Stamp, metadata: Option<&OsStr>) -> Candidate {
        let stamps = Stamps { file: stamp, metadata: metadata.and_then(|name| self.stamp(name)) };
        Candidate {
            file: self.path(name),
            metadata: metadata.map(|name| self.path(name)),
            at_the_top: self.at_the_top,
            stamps,
        }
    }

    /// The metadata files that speak for none of the files of those in `used`, and are not shadowed by those.
    pub(crate) fn lonely_metadata(&self, used: &BTreeSet<OsString>) -> impl Iterator<Item = &OsStr> {
        let shadowed = |name: &OsStr| {
            let stem = metadata_stem(name).unwrap_or_default();
            SUFFIXES
                .iter()
                .any(|suffix| used.contains(OsStr::from_bytes(&[stem, suffix.as_bytes()].concat())))
        };
        self.metadata_files().filter(move |name| !used.contains(*name) && !shadowed(name))
    }
}

/// The name of a metadata file without its suffix.
pub(crate) fn metadata_stem(name: &OsStr) -> Option<&[u8]> {
    SUFFIXES.iter().find_map(|suffix| name.as_bytes().strip_suffix(suffix.as_bytes()))
}

fn is_metadata(name: &OsStr) -> bool {
    metadata_stem(name).is_some()
}
