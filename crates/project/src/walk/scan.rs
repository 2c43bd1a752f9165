//! Scan: walks a folder of a project and finds candidates: files, and the metadata beside them.

use crate::ground::shares::{cores, in_shares};
use crate::walk::entry::Entry;
use crate::walk::limits::{DEPTH, MOST_FOLDERS, is_left_out, leads_back};
use crate::walk::listing::{KnownFiles, ListedFolder, Listing};
use crate::walk::sighting::{Besides, Sighting};
use crate::{Diagnostic, Paths};
use mcp_bash_files::{look, shortage};
use rustix::fs::{Dir, FileType, Mode, OFlags, open, openat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// From this many folders on, several threads walk them.
const MANY: usize = 256;

/// The candidates of a project, and those that were skipped at first sight.
#[derive(Default)]
pub(crate) struct Sighted {
    /// In the order of their folders.
    pub(crate) sightings: Vec<Sighting>,
    pub(crate) besides: Besides,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Sighted {
    fn skip(&mut self, folder: PathBuf, error: Errno) {
        self.report(folder, format!("is skipped: {}", shortage::noted(error.into())));
    }

    fn report(&mut self, folder: PathBuf, problem: String) {
        self.diagnostics.push(Diagnostic::new(folder, problem));
    }

    fn append(&mut self, mut other: Self) {
        self.sightings.append(&mut other.sightings);
        self.besides.functions.append(&mut other.besides.functions);
        self.diagnostics.append(&mut other.diagnostics);
    }
}

/// Searches for the entries of a kind: everywhere, or in some parts of its folder. `functions` are the known function
/// files.
pub(crate) fn sight<T: Entry>(
    paths: &Paths,
    only: Option<&[PathBuf]>,
    functions: Option<&dyn KnownFiles>,
) -> Sighted {
    let folder = T::folder(paths);
    let mut sighted = Sighted::default();
    let walk = Walk { depth: T::DEPTH, walked: &AtomicUsize::new(0), functions };
    match only {
        None => walk.part::<T>(folder, folder, &mut sighted),
        Some(parts) => parts.iter().for_each(|part| walk.part::<T>(part, folder, &mut sighted)),
    }
    sighted
}

/// How folders are opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A walk through folders.
#[derive(Clone, Copy)]
struct Walk<'a> {
    /// How many levels of folders may still be walked, this one included.
    depth: usize,
    /// How many folders have been walked.
    walked: &'a AtomicUsize,
    functions: Option<&'a dyn KnownFiles>,
}

impl Walk<'_> {
    /// Walks `part`, which is `folder` or a folder inside it.
    fn part<T: Entry>(self, part: &Path, folder: &Path, sighted: &mut Sighted) {
        let Ok(below) = part.strip_prefix(folder) else { return };
        let above = below.components().count();
        let is_left_out = |(level, part): (usize, Component<'_>)| {
            is_left_out(part.as_os_str()) || holds_tests(part.as_os_str(), level)
        };
        if above >= T::DEPTH || below.components().enumerate().any(is_left_out) {
            return;
        }
        let walk = Self { depth: self.depth - above, ..self };
        match open(part, FOLDER, Mode::empty()) {
            Ok(opened) => walk.folder::<T>(opened, ListedFolder { folder, below }, sighted),
            // Most projects lack some folder at some point, and that is no problem.
            Err(Errno::NOENT) => {}
            Err(error) => sighted.skip(part.to_owned(), error),
        }
    }

    fn folder<T: Entry>(self, opened: OwnedFd, place: ListedFolder<'_>, sighted: &mut Sighted) {
        match self.walked.fetch_add(1, Ordering::Relaxed) {
            MOST_FOLDERS => {
                let problem = format!(
                    "is not searched, nor is what comes after it: there are more than {MOST_FOLDERS} folders"
                );
                return sighted.report(place.path(), problem);
            }
            walked if walked > MOST_FOLDERS => return,
            _ => {}
        }
        let mut names = match Dir::new(opened) {
            Ok(names) => names,
            Err(error) => return sighted.skip(place.path(), error),
        };
        let listed = list(&mut names).and_then(|listed| Ok((listed, names.fd()?)));
        let (Listed { files, mut folders }, opened) = match listed {
            Ok(listed) => listed,
            Err(error) => return sighted.skip(place.path(), error),
        };
        // The programs and libraries of a Python environment are never entries.
        if files.binary_search_by(|file| file.as_bytes().cmp(b"pyvenv.cfg")).is_ok() {
            return;
        }
        let listing = Listing::new(place, opened, files, self.functions);
        sighted.sightings.extend(T::pick(&listing, &mut sighted.diagnostics));
        T::pick_besides(&listing, &mut sighted.besides);
        if self.depth == 1 {
            if T::DEPTH == DEPTH && !folders.is_empty() {
                let problem = format!(
                    "holds folders that are not searched: they stand more than {DEPTH} levels deep; move them up"
                );
                sighted.report(place.path(), problem);
            }
            folders.clear();
        }
        let further = Self { depth: self.depth - 1, ..self };
        if folders.len() < MANY {
            return further.into::<T>(opened, place, folders, sighted);
        }
        let parts = in_shares(folders, cores(), |some| {
            let mut sighted = Sighted::default();
            further.into::<T>(opened, place, some, &mut sighted);
            sighted
        });
        for part in parts {
            sighted.append(part);
        }
    }

    /// Walks some of the folders inside an opened one.
    fn into<T: Entry>(
        self,
        opened: BorrowedFd<'_>,
        place: ListedFolder<'_>,
        folders: Vec<Folder>,
        sighted: &mut Sighted,
    ) {
        let level = place.below.components().count();
        for Folder { name, is_link } in folders {
            if holds_tests(&name, level) {
                continue;
            }
            let below = place.below.join(&name);
            let place = ListedFolder { below: &below, ..place };
            if is_link && leads_back(&place.path()) {
                sighted.report(
                    place.path(),
                    "is not searched: it leads to a folder that contains it".to_owned(),
                );
                continue;
            }
            match openat(opened, &name, FOLDER, Mode::empty()) {
                Ok(opened) => self.folder::<T>(opened, place, sighted),
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => sighted.skip(place.path(), error),
            }
        }
    }
}

/// Whether a folder at this level below that of its kind holds tests of the files beside it. At the top level it is a
/// folder like any other: a tool may be called `tests`.
pub(crate) fn holds_tests(folder: &OsStr, level: usize) -> bool {
    level > 0 && folder == "tests"
}

/// The content of a folder, sorted and without hidden files.
#[derive(Default)]
struct Listed {
    /// The names of the files, of any type.
    files: Vec<OsString>,
    folders: Vec<Folder>,
}

struct Folder {
    name: OsString,
    /// A symlink to a folder counts as a folder.
    is_link: bool,
}

fn list(folder: &mut Dir) -> Result<Listed, Errno> {
    let mut listed = Listed::default();
    while let Some(entry) = folder.read() {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name.as_bytes().starts_with(b".") {
            continue;
        }
        let is_link = entry.file_type() == FileType::Symlink;
        let kind = match entry.file_type() {
            FileType::Symlink | FileType::Unknown => look::stat_in(folder.fd()?, name)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            kind => kind,
        };
        match kind {
            FileType::Directory if is_left_out(name) => {}
            FileType::Directory => listed.folders.push(Folder { name: name.to_owned(), is_link }),
            // A broken symlink.
            FileType::Unknown => {}
            // A pipe or a device is listed too, so that its author learns why it is skipped.
            _ => listed.files.push(name.to_owned()),
        }
    }
    listed.files.sort_unstable();
    listed.folders.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    Ok(listed)
}
