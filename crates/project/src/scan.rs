//! Walks a folder of a project and finds what may be an entry: files, and the metadata beside them.

use crate::entry::Entry;
use crate::listing::Listing;
use crate::shares::{cores, in_shares};
use crate::stamp::Stamps;
use crate::{Diagnostic, Paths};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, open, openat, statat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How deep below its folder an entry may stand.
pub(crate) const DEPTH: usize = 3;

/// So many folders are walked by several threads.
const MANY: usize = 256;

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

/// What there is to look at in a project, and what was skipped at first sight.
#[derive(Default)]
pub(crate) struct Sighted {
    /// In the order of their folders.
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Sighted {
    fn skip(&mut self, folder: &Path, error: Errno) {
        let problem = format!("is skipped: {}", std::io::Error::from(error));
        self.diagnostics.push(Diagnostic::new(folder, problem));
    }

    fn append(&mut self, mut other: Self) {
        self.candidates.append(&mut other.candidates);
        self.diagnostics.append(&mut other.diagnostics);
    }
}

/// Finds the candidates of a kind: all, or those in some parts of its folder.
pub(crate) fn sight<T: Entry>(paths: &Paths, only: Option<&[PathBuf]>) -> Sighted {
    let folder = T::folder(paths);
    let mut sighted = Sighted::default();
    match only {
        None => sight_part::<T>(folder, folder, &mut sighted),
        Some(parts) => parts.iter().for_each(|part| sight_part::<T>(part, folder, &mut sighted)),
    }
    sighted
}

/// Finds the candidates in `part`, which is `folder` or a folder in it.
fn sight_part<T: Entry>(part: &Path, folder: &Path, sighted: &mut Sighted) {
    let above = part.strip_prefix(folder).map_or(0, |path| path.components().count());
    if above >= T::DEPTH {
        return;
    }
    match open(part, FOLDER, Mode::empty()) {
        Ok(opened) => walk::<T>(opened, part, T::DEPTH - above, above == 0, sighted),
        // Most projects lack some folder at some time in their life, and that is no fault.
        Err(Errno::NOENT) => {}
        Err(error) => sighted.skip(part, error),
    }
}

/// How folders are opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

fn walk<T: Entry>(opened: OwnedFd, path: &Path, depth: usize, at_the_top: bool, sighted: &mut Sighted) {
    let mut names = match Dir::new(opened) {
        Ok(names) => names,
        Err(error) => return sighted.skip(path, error),
    };
    let listed = list(&mut names).and_then(|listed| Ok((listed, names.fd()?)));
    let ((files, folders), opened) = match listed {
        Ok(listed) => listed,
        Err(error) => return sighted.skip(path, error),
    };
    let listing = Listing { folder: path, opened, files, at_the_top };
    sighted.candidates.extend(T::pick(&listing, &mut sighted.diagnostics));
    if depth <= 1 {
        return;
    }
    if folders.len() < MANY {
        return walk_into::<T>(opened, path, folders, depth - 1, sighted);
    }
    let parts = in_shares(folders, cores(), |some| {
        let mut sighted = Sighted::default();
        walk_into::<T>(opened, path, some, depth - 1, &mut sighted);
        sighted
    });
    parts.into_iter().for_each(|part| sighted.append(part));
}

/// Walks some of the folders in an opened one.
fn walk_into<T: Entry>(
    opened: BorrowedFd<'_>,
    path: &Path,
    folders: Vec<OsString>,
    depth: usize,
    sighted: &mut Sighted,
) {
    for name in folders {
        let path = path.join(&name);
        // A link to a folder counts as one; the depth bounds what a loop of links can cost.
        match openat(opened, &name, FOLDER, Mode::empty()) {
            Ok(opened) => walk::<T>(opened, &path, depth, false, sighted),
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => sighted.skip(&path, error),
        }
    }
}

/// The names of the files and of the folders in a folder, both in order and hidden ones left out.
fn list(folder: &mut Dir) -> Result<(Vec<OsString>, Vec<OsString>), Errno> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
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
            FileType::Directory => folders.push(name.to_owned()),
            FileType::RegularFile => files.push(name.to_owned()),
            _ => {}
        }
    }
    files.sort_unstable();
    folders.sort_unstable();
    Ok((files, folders))
}
