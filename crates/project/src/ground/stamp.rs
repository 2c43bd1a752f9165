//! Stamp: what a file looked like from outside when it was last read.

use mcp_bash_files::look;
use rustix::fs::{FileType, RawMode, Stat};
use std::path::Path;

/// Modification time, size, inode and mode of a file. A file with the same stamp is not read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(pub(crate) i64, pub(crate) i64, pub(crate) i64, pub(crate) u64, pub(crate) u32);

impl Stamp {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_lossless,
        clippy::cast_possible_wrap,
        reason = "the types differ between systems, and so do the lints"
    )]
    pub(crate) fn of(stat: &Stat) -> Self {
        Self(
            stat.st_mtime as i64,
            stat.st_mtime_nsec as i64,
            stat.st_size as i64,
            stat.st_ino as u64,
            stat.st_mode as u32,
        )
    }

    /// The stamp of the file at a path, if there is one.
    pub fn at(path: &Path) -> Option<Self> {
        look::stat(path).ok().map(|stat| Self::of(&stat))
    }

    /// Its numbers, as the registry stores them.
    pub(crate) fn numbers(self) -> [i64; 5] {
        [self.0, self.1, self.2, self.3.cast_signed(), i64::from(self.4)]
    }

    pub(crate) fn of_numbers([seconds, nanoseconds, size, inode, mode]: [i64; 5]) -> Self {
        // A number that is not a mode matches no file.
        Self(seconds, nanoseconds, size, inode.cast_unsigned(), u32::try_from(mode).unwrap_or_default())
    }

    pub(crate) fn is_executable(self) -> bool {
        self.4 & 0o111 != 0
    }

    /// Names the file type, unless it is a regular file.
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_possible_truncation,
        reason = "the types differ between systems"
    )]
    pub(crate) fn require_regular(self) -> std::io::Result<()> {
        mcp_bash_files::require_regular_type(FileType::from_raw_mode(self.4 as RawMode))
    }
}

/// The stamps of a file and of the metadata beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamps {
    pub(crate) file: Stamp,
    pub(crate) metadata: Option<Stamp>,
}
