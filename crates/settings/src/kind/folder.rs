//! Folder setting: one path.

use super::{Kind, Refusal};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::PathBuf;

/// A path, in the bytes of the file system. White space around it is part of it.
pub(crate) struct Folder;

impl Kind for Folder {
    type Value = PathBuf;

    fn description(&self) -> Cow<'static, str> {
        "folder".into()
    }

    fn parse(&self, text: &str) -> Result<PathBuf, Refusal<PathBuf>> {
        Ok(text.into())
    }

    fn parse_variable(&self, given: &OsStr) -> Option<Result<PathBuf, Refusal<PathBuf>>> {
        (!given.is_empty()).then(|| Ok(given.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    #[test]
    fn a_path_is_taken_as_it_is() {
        for bytes in [&b"a/b"[..], b" a ", b"\xff\xfe", b"a\nb"] {
            let given = OsStr::from_bytes(bytes);
            let folder = Folder.parse_variable(given).unwrap().unwrap();
            assert_eq!(folder, Path::new(given));
        }
        assert!(Folder.parse_variable(OsStr::new("")).is_none());
    }
}
