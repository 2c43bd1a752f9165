//! Pipe sizes (`F_SETPIPE_SZ`), on Linux.

use std::os::fd::AsFd;

/// What a pipe may hold where there is a lot to say, as far as systems usually allow.
const ROOMY: usize = 1024 * 1024;

/// Lets a pipe hold more, so that what is long passes in fewer turns. Where that is not allowed it takes more of them.
pub(super) fn make_roomy(pipe: impl AsFd) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, ROOMY);
}
