//! A named pipe at which scripts wait until the test lets them go on.

use super::make_pipe;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// Creates a closed gate: `read _ <gate` blocks.
pub(crate) fn make(path: &Path) {
    make_pipe(path, 0o600);
}

/// Opens a gate for all current and future readers, as long as the returned file is open.
pub(crate) fn open(path: &Path) -> File {
    // Opened for reading and writing, so that it does not block without a reader.
    let mut gate = OpenOptions::new().read(true).write(true).open(path).expect("the gate");
    // Each reader takes one line.
    gate.write_all(&[b'\n'; 1000]).expect("room in the pipe");
    gate
}
