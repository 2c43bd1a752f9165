//! Spilled values: values that are too large for the environment of a script are passed as files.

use mcp_bash_runner::{CallFolder, Runner, Variables};
use std::io::{self, Write};
use std::path::PathBuf;

/// The folder of one call, created when a value has to be a file. Dropping this value removes it.
pub(crate) struct Spill<'a> {
    runner: &'a Runner,
    threshold: usize,
    folder: Option<CallFolder>,
}

impl<'a> Spill<'a> {
    /// Values of more than `threshold` bytes go to files.
    pub(crate) fn new(runner: &'a Runner, threshold: usize) -> Self {
        Self { runner, threshold, folder: None }
    }

    pub(crate) fn folder(&mut self) -> io::Result<&CallFolder> {
        Ok(match &mut self.folder {
            Some(folder) => folder,
            none => none.insert(self.runner.folder()?),
        })
    }

    /// The folder, for calls that need it for other files too.
    pub(crate) fn into_folder(mut self) -> io::Result<CallFolder> {
        self.folder()?;
        self.folder.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Passes `value`, a text without NULs, in the first of two variables, or as the path of a file in the second. Returns
    /// that path.
    pub(crate) fn json(
        &mut self,
        variables: &mut Variables,
        [inline, in_file]: [&str; 2],
        value: &str,
    ) -> io::Result<Option<PathBuf>> {
        if value.len() <= self.threshold {
            variables.set(inline, value);
            return Ok(None);
        }
        let path = self.folder()?.path().join(in_file);
        let mut file = mcp_bash_files::create_new(&path, 0o600)?;
        variables.set(in_file, &path);
        file.write_all(value.as_bytes())?;
        Ok(Some(path))
    }
}
