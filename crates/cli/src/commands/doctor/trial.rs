//! Trial folders: whether a folder is writable, tested for real.

use std::path::{Path, PathBuf};

/// Creates a folder and removes it again.
pub(super) fn try_to_write(folder: &Path) -> std::io::Result<()> {
    let trial = trial_folder(folder)?;
    std::fs::remove_dir(trial)
}

/// A new folder of our own.
pub(super) fn trial_folder(parent: &Path) -> std::io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    let path = parent.join(format!("mcpbash.doctor.{}", std::process::id()));
    std::fs::DirBuilder::new().mode(0o700).create(&path)?;
    Ok(path)
}
