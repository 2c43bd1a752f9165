//! Candidates: files that may be entries, at first sight and when they are read.

use crate::ground::stamp::Stamps;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A file that may be an entry, judged from outside.
#[derive(Debug)]
pub(crate) struct Sighting {
    /// The path below the folder of its kind.
    pub(crate) path: PathBuf,
    /// The name of the metadata file beside it.
    pub(crate) metadata: Option<OsString>,
    pub(crate) stamps: Stamps,
}

impl Sighting {
    /// Makes it ready to be read.
    pub(crate) fn candidate(self, folder: &Path) -> Candidate {
        let file = folder.join(&self.path);
        Candidate {
            metadata: self.metadata.map(|name| file.with_file_name(name)),
            at_the_top: self.path.components().nth(1).is_none(),
            stamps: self.stamps,
            file,
        }
    }
}

/// A file that may be an entry, and is not known yet.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) file: PathBuf,
    /// The metadata file beside it.
    pub(crate) metadata: Option<PathBuf>,
    /// Whether it is directly in the folder of its kind.
    pub(crate) at_the_top: bool,
    pub(crate) stamps: Stamps,
}

/// Candidates of other kinds, seen by the search for tools.
#[derive(Default)]
pub(crate) struct Besides {
    /// Candidates for function files.
    pub(crate) functions: Vec<Sighting>,
    /// Candidates for providers, if the folder of tools itself was walked: no file below it provides tools.
    pub(crate) providers: Option<Vec<Sighting>>,
}
