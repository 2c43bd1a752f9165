//! Values for a script's environment, or files where they are too large for one.

use mcp_bash_runner::StateDir;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// Variables for one call. The files behind them vanish with this value.
pub(crate) struct Spill<'a> {
    state_dir: &'a StateDir,
    threshold: usize,
    variables: Vec<(OsString, OsString)>,
    files: Vec<PathBuf>,
}

impl<'a> Spill<'a> {
    /// Values of more than `threshold` bytes go to files in `state_dir`.
    pub(crate) fn new(state_dir: &'a StateDir, threshold: usize) -> Self {
        Self { state_dir, threshold, variables: Vec::new(), files: Vec::new() }
    }

    /// Gives the script `value` as `NAME_JSON`, or the path of a file with it as `NAME_FILE`.
    pub(crate) fn json(&mut self, name: &str, value: &str) -> io::Result<()> {
        if value.len() <= self.threshold {
            self.variables.push((format!("{name}_JSON").into(), value.into()));
            return Ok(());
        }
        let path = self.state_dir.fresh("payload")?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        self.files.push(path.clone());
        file.write_all(value.as_bytes())?;
        self.variables.push((format!("{name}_FILE").into(), path.into()));
        Ok(())
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        self.variables.iter().cloned()
    }
}

impl Drop for Spill<'_> {
    fn drop(&mut self) {
        for file in &self.files {
            let _ = std::fs::remove_file(file);
        }
    }
}
