//! Walks a folder of a project and finds what may be an entry: files, and the metadata beside them.

use crate::entry::Entry;
use crate::listing::{Listing, Place};
use crate::shares::{cores, in_shares};
use crate::sighting::Sighting;
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

/// What there is to look at in a project, and what was skipped at first sight.
#[derive(Default)]
pub(crate) struct Sighted {
    /// In the order of their folders.
    pub(crate) sightings: Vec<Sighting>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Sighted {
    fn skip(&mut self, folder: PathBuf, error: Errno) {
        let problem = format!("is skipped: {}", std::io::Error::from(error));
        self.diagnostics.push(Diagnostic::new(folder, problem));
    }

    fn append(&mut self, mut other: Self) {
        self.sightings.append(&mut other.sightings);
        self.diagnostics.append(&mut other.diagnostics);
    }
}

/// Looks for the entries of a kind: everywhere, or in some parts of its folder.
pub(crate) fn sight<T: Entry>(paths: &Paths, only: Option<&[PathBuf]>) -> Sighted {
    let folder = T::folder(paths);
    let mut sighted = Sighted::default();
    match only {
        None => sight_part::<T>(folder, folder, &mut sighted),
        Some(parts) => parts.iter().for_each(|part| sight_part::<T>(part, folder, &mut sighted)),
    }
    sighted
}

/// Looks into `part`, which is `folder` or a folder in it.
fn sight_part<T: Entry>(part: &Path, folder: &Path, sighted: &mut Sighted) {
    let Ok(below) = part.strip_prefix(folder) else { return };
    let above = below.components().count();
    if above >= T::DEPTH {
        return;
    }
    match open(part, FOLDER, Mode::empty()) {
        Ok(opened) => walk::<T>(opened, Place { folder, below }, T::DEPTH - above, sighted),
        // Most projects lack some folder at some time in their life, and that is no fault.
        Err(Errno::NOENT) => {}
        Err(error) => sighted.skip(part.to_owned(), error),
    }
}

/// How folders are opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

fn walk<T: Entry>(opened: OwnedFd, place: Place<'_>, depth: usize, sighted: &mut Sighted) {
    let mut names = match Dir::new(opened) {
        Ok(names) => names,
        Err(error) => return sighted.skip(place.path(), error),
    };
    let listed = list(&mut names, depth > 1).and_then(|listed| Ok((listed, names.fd()?)));
    let ((files, folders), opened) = match listed {
        Ok(listed) => listed,
        Err(error) => return sighted.skip(place.path(), error),
    };
    let listing = Listing { place, opened, files };
    sighted.sightings.extend(T::pick(&listing, &mut sighted.diagnostics));
    if folders.len() < MANY {
        return walk_into::<T>(opened, place, folders, depth - 1, sighted);
    }
    let parts = in_shares(folders, cores(), |some| {
        let mut sighted = Sighted::default();
        walk_into::<T>(opened, place, some, depth - 1, &mut sighted);
        sighted
    });
    for part in parts {
        sighted.append(part);
    }
}

/// Walks some of the folders in an opened one.
fn walk_into<T: Entry>(
    opened: BorrowedFd<'_>,
    place: Place<'_>,
    folders: Vec<OsString>,
    depth: usize,
    sighted: &mut Sighted,
) {
    for name in folders {
        let below = place.below.join(&name);
        let place = Place { below: &below, ..place };
        // A link to a folder counts as one; the depth bounds what a loop of links can cost.
        match openat(opened, &name, FOLDER, Mode::empty()) {
            Ok(opened) => walk::<T>(opened, place, depth, sighted),
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => sighted.skip(place.path(), error),
        }
    }
}

/// The names of the files in a folder, whatever they are, and if it goes on from there those of its folders, both in order and hidden ones
/// left out.
fn list(folder: &mut Dir, is_deep: bool) -> Result<(Vec<OsString>, Vec<OsString>), Errno> {
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
            FileType::Directory if is_deep => folders.push(name.to_owned()),
            // A link that leads nowhere, or a folder that is too deep.
            FileType::Unknown | FileType::Directory => {}
            // A pipe or a device is listed too, so that whoever put it there is told why it is skipped.
            _ => files.push(name.to_owned()),
        }
    }
    files.sort_unstable();
    folders.sort_unstable();
    Ok((files, folders))
}
