//! A named pipe at which scripts wait until the test lets them go on.

use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// Makes a gate that is shut: `read _ <gate` does not come back.
pub(crate) fn make(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a named pipe");
}

/// Opens a gate for all who wait and all who come, for as long as the file that it returns is kept.
pub(crate) fn open(path: &Path) -> File {
    // Opened for both, so that it does not matter whether a reader is there already.
    let mut gate = OpenOptions::new().read(true).write(true).open(path).expect("the gate");
    // Each reader takes one line.
    gate.write_all(&[b'\n'; 1000]).expect("room in the pipe");
    gate
}
