//! Descriptors 0 and 1: moved away, so that only the transport can use them.

use rustix::fs::{Mode, OFlags, open};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};
use std::io;
use std::os::fd::OwnedFd;

/// The real standard input and output. From now on descriptor 0 is empty and descriptor 1 is standard error: whatever
/// a library or a child writes there cannot reach the client, and whatever reads there cannot take its messages.
pub(super) fn take() -> io::Result<(OwnedFd, OwnedFd)> {
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
