//! Values for a script's environment, or files where they are too large for one.

use mcp_bash_runner::{StateDir, Variables};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The files behind the variables of one call. They vanish with this value.
pub(crate) struct Spill<'a> {
    state_dir: &'a StateDir,
    threshold: usize,
    files: Vec<PathBuf>,
}

impl<'a> Spill<'a> {
    /// Values of more than `threshold` bytes go to files in `state_dir`.
    pub(crate) fn new(state_dir: &'a StateDir, threshold: usize) -> Self {
        Self { state_dir, threshold, files: Vec::new() }
    }

    /// Gives the script `value` as the first of two variables, or as the second the path of a file with it, which is
    /// returned.
    pub(crate) fn json(
        &mut self,
        variables: &mut Variables,
        [inline, in_file]: [&str; 2],
        value: &str,
    ) -> io::Result<Option<&Path>> {
        if value.len() <= self.threshold {
            variables.set(inline, value);
            return Ok(None);
        }
        let path = self.state_dir.fresh("payload")?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        variables.set(in_file, &path);
        self.files.push(path);
        file.write_all(value.as_bytes())?;
        Ok(self.files.last().map(PathBuf::as_path))
    }
}

impl Drop for Spill<'_> {
    fn drop(&mut self) {
        for file in &self.files {
            let _ = std::fs::remove_file(file);
        }
    }
}
