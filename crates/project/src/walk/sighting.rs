//! Files that may be entries: at first sight, and when they are to be read.

use crate::ground::stamp::Stamps;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A file that may be an entry, by what it looks like from outside.
#[derive(Debug)]
pub(crate) struct Sighting {
    /// Where it stands below the folder of its kind.
    pub(crate) path: PathBuf,
    /// The name of the metadata file that stands beside it.
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

/// A file that may be an entry, and was not known yet.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) file: PathBuf,
    /// The metadata file that stands beside it.
    pub(crate) metadata: Option<PathBuf>,
    /// Whether it stands directly in the folder of its kind.
    pub(crate) at_the_top: bool,
    pub(crate) stamps: Stamps,
}

/// What those who look for tools see on the way.
#[derive(Default)]
pub(crate) struct Besides {
    /// What may be a file of functions.
    pub(crate) functions: Vec<Sighting>,
    /// What may provide tools, if the folder of the tools itself was looked at: below it nothing does.
    pub(crate) providers: Option<Vec<Sighting>>,
}
