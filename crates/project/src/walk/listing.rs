//! Listing: the files of one folder, from which entries are picked.

use crate::ground::stamp::{Stamp, Stamps};
use crate::walk::sighting::Sighting;
use mcp_bash_files::look;
use rustix::fs::FileType;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The suffixes of metadata files; the first one found wins.
const SUFFIXES: [&str; 3] = [".meta.json", ".meta.yaml", ".meta.yml"];

/// Where a folder is.
#[derive(Clone, Copy)]
pub(crate) struct ListedFolder<'a> {
    /// The folder of the kind that is searched for.
    pub(crate) folder: &'a Path,
    /// Its path below that folder.
    pub(crate) below: &'a Path,
}

impl ListedFolder<'_> {
    pub(crate) fn path(self) -> PathBuf {
        self.folder.join(self.below)
    }
}

/// The known files of a kind.
pub(crate) trait KnownFiles: Sync {
    /// Whether the file at this path had this stamp.
    fn is_known(&self, path: &str, stamp: Stamp) -> bool;

    fn is_empty(&self) -> bool;
}

/// The files of one folder.
pub(crate) struct Listing<'a> {
    pub(crate) place: ListedFolder<'a>,
    opened: BorrowedFd<'a>,
    /// Their names, sorted.
    files: Vec<OsString>,
    /// Their stamps, as far as they were requested.
    stamps: Vec<OnceCell<Option<Stamp>>>,
    /// The known function files.
    functions: Option<&'a dyn KnownFiles>,
}

impl<'a> Listing<'a> {
    /// The files of the opened folder at `place`, whose names are sorted.
    pub(crate) fn new(
        place: ListedFolder<'a>,
        opened: BorrowedFd<'a>,
        files: Vec<OsString>,
        functions: Option<&'a dyn KnownFiles>,
    ) -> Self {
        let stamps = vec![OnceCell::new(); files.len()];
        Self { place, opened, files, stamps, functions }
    }

    /// The names of the files that are not metadata, in order.
    pub(crate) fn plain_files(&self) -> impl Iterator<Item = &OsStr> {
        self.files.iter().map(OsString::as_os_str).filter(|name| !is_metadata(name))
    }

    /// The names of the metadata files, in order.
    pub(crate) fn metadata_files(&self) -> impl Iterator<Item = &OsStr> {
        self.files.iter().map(OsString::as_os_str).filter(|name| is_metadata(name))
    }

    pub(crate) fn path(&self, name: &OsStr) -> PathBuf {
        self.place.path().join(name)
    }

    /// The stamp of one of the files.
    pub(crate) fn stamp(&self, name: &OsStr) -> Option<Stamp> {
        *self.stamps[self.place_of(name.as_bytes())?].get_or_init(|| {
            let stat = look::stat_in(self.opened, name).ok()?;
            (FileType::from_raw_mode(stat.st_mode) != FileType::Directory).then(|| Stamp::of(&stat))
        })
    }

    /// Whether this is the top folder of the kind, and none inside it.
    pub(crate) fn is_at_the_top(&self) -> bool {
        self.place.below.as_os_str().is_empty()
    }

    fn place_of(&self, name: &[u8]) -> Option<usize> {
        self.files.binary_search_by(|file| file.as_bytes().cmp(name)).ok()
    }

    /// Whether a file with this stamp is known to hold functions.
    pub(crate) fn is_known_to_hold_functions(&self, name: &OsStr, stamp: Stamp) -> bool {
        let Some(functions) = self.functions.filter(|known| !known.is_empty()) else { return false };
        functions.is_known(&self.place.below.join(name).to_string_lossy(), stamp)
    }

    /// `tool.sh` is described by `tool.sh.meta.json` or `tool.meta.json`, or one of those in YAML.
    pub(crate) fn metadata_beside(&self, file: &OsStr) -> Option<&OsStr> {
        let stem = Path::new(file).file_stem().unwrap_or(file);
        let mut spelling = Vec::with_capacity(file.len() + SUFFIXES[0].len());
        SUFFIXES.iter().flat_map(|suffix| [(file, suffix), (stem, suffix)]).find_map(|(name, suffix)| {
            spelling.clear();
            spelling.extend_from_slice(name.as_bytes());
            spelling.extend_from_slice(suffix.as_bytes());
            Some(self.files[self.place_of(&spelling)?].as_os_str())
        })
    }

    /// A file and the metadata beside it.
    pub(crate) fn sighting(&self, name: &OsStr, stamp: Stamp, metadata: Option<&OsStr>) -> Sighting {
        let stamps = Stamps { file: stamp, metadata: metadata.and_then(|name| self.stamp(name)) };
        Sighting { path: self.place.below.join(name), metadata: metadata.map(OsStr::to_owned), stamps }
    }

    /// The metadata files that are not in `used`, and are not shadowed by one of those.
    pub(crate) fn lonely_metadata(&self, used: &BTreeSet<&OsStr>) -> impl Iterator<Item = &OsStr> {
        let shadowed = |name: &OsStr| {
            let stem = metadata_stem(name).unwrap_or_default();
            SUFFIXES
                .iter()
                .any(|suffix| used.contains(&OsStr::from_bytes(&[stem, suffix.as_bytes()].concat())))
        };
        self.metadata_files().filter(move |name| !used.contains(name) && !shadowed(name))
    }
}

/// Whether a file describes the user interface of a tool (`ui/ui.meta.json`), which other servers show and we do not.
pub(crate) fn is_interface(file: &Path) -> bool {
    file.ends_with("ui/ui.meta.json")
}

/// The possible paths of the metadata beside a file, in the order of precedence.
pub fn metadata_names(file: &Path) -> impl Iterator<Item = PathBuf> {
    let name = file.file_name().unwrap_or_default();
    let stem = file.file_stem().unwrap_or(name);
    let spellings = SUFFIXES.iter().flat_map(move |suffix| [(name, suffix), (stem, suffix)]);
    spellings.map(move |(name, suffix)| {
        let mut name = name.to_owned();
        name.push(suffix);
        file.with_file_name(name)
    })
}

/// The name of a metadata file without its suffix.
pub(crate) fn metadata_stem(name: &OsStr) -> Option<&[u8]> {
    SUFFIXES.iter().find_map(|suffix| name.as_bytes().strip_suffix(suffix.as_bytes()))
}

fn is_metadata(name: &OsStr) -> bool {
    metadata_stem(name).is_some()
}
