//! Descriptors 0 and 1: moved away, so that only the transport can use them.

use rustix::fs::{FileType, Mode, OFlags, fcntl_getfl, fstat, open, stat};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};
use std::io;
use std::os::fd::OwnedFd;

/// Returns the real standard input and output. From now on, descriptor 0 is `/dev/null` and descriptor 1 is standard error: a
/// library or a child that writes to standard output cannot reach the client, and one that reads standard input cannot take its
/// messages.
pub(super) fn take() -> io::Result<(OwnedFd, OwnedFd)> {
    check_output()?;
    let input = fcntl_dupfd_cloexec(stdin(), 3)?;
    let output = fcntl_dupfd_cloexec(stdout(), 3)?;
    let empty = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(|error| {
        let error = io::Error::from(error);
        io::Error::new(
            error.kind(),
            format!("/dev/null cannot be opened ({error}); make it available to the server"),
        )
    })?;
    dup2_stdin(empty)?;
    dup2_stdout(stderr())?;
    Ok((input, output))
}

/// Refuses a standard output on which no client can receive anything. If it was closed when the program started, the
/// standard library has opened `/dev/null` in its place, for reading and writing; `>/dev/null` opens it for writing
/// only.
fn check_output() -> io::Result<()> {
    let access = fcntl_getfl(stdout())? & OFlags::RWMODE;
    let problem = match access {
        OFlags::RDONLY => "it is open only for reading",
        OFlags::RDWR if is_null_device()? => "it is closed",
        _ => return Ok(()),
    };
    Err(io::Error::other(format!(
        "standard output cannot be written: {problem}; start the server with a pipe, which its client reads"
    )))
}

fn is_null_device() -> io::Result<bool> {
    let output = fstat(stdout())?;
    let is_device = FileType::from_raw_mode(output.st_mode) == FileType::CharacterDevice;
    Ok(is_device && stat("/dev/null").is_ok_and(|null| null.st_rdev == output.st_rdev))
}
