//! Named pipes, by a program: the system call is not the same everywhere.

use std::path::Path;
use std::process::Command;

/// Makes a named pipe that its user may use as `mode` says.
pub(crate) fn make_pipe(path: &Path, mode: u32) {
    let status = Command::new("mkfifo").arg("-m").arg(format!("{mode:o}")).arg(path).status();
    assert!(status.expect("mkfifo runs").success(), "{}", path.display());
}
