//! Pipe sizes (`F_SETPIPE_SZ`), on Linux.

use std::os::fd::AsFd;

/// Pipe capacity for large transfers: the limit for unprivileged processes on most systems.
const ROOMY: usize = 1024 * 1024;

/// Enlarges the pipe, so that large messages need fewer writes. If that is not allowed, the pipe stays as it is.
pub(super) fn make_roomy(pipe: impl AsFd) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, ROOMY);
}
