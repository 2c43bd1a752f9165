//! File setting: one path.

use super::{Folder, Kind, Refusal};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::PathBuf;

/// A path, parsed like that of a folder.
pub(crate) struct File;

impl Kind for File {
    type Value = PathBuf;

    fn description(&self) -> Cow<'static, str> {
        "file".into()
    }

    fn parse(&self, text: &str) -> Result<PathBuf, Refusal<PathBuf>> {
        Folder.parse(text)
    }

    fn parse_variable(&self, given: &OsStr) -> Option<Result<PathBuf, Refusal<PathBuf>>> {
        Folder.parse_variable(given)
    }
}
