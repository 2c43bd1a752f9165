//! What a file looked like from outside when it was last read.

use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Time of change, size and identity of a file. A file that shows the same stamp is not read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp(i64, i64, u64, u64, u32);

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self(metadata.mtime(), metadata.mtime_nsec(), metadata.size(), metadata.ino(), metadata.mode())
    }
}

/// The stamps of a script and of the metadata beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamps {
    pub(crate) script: Stamp,
    pub(crate) metadata: Option<Stamp>,
}
