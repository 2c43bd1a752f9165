//! Quick exit: the kernel takes ten milliseconds or more to release file watches (inotify), and an exiting process waits for
//! that. If an `io_uring` instance holds the watches too, the kernel releases them in the background after the process is
//! gone.

#![expect(unsafe_code, reason = "no crate we use offers these calls")]

use rustix::fs::readlink;
use std::ffi::c_int;
use std::fs;

/// `IORING_REGISTER_FILES`.
const REGISTER_FILES: c_int = 2;

/// The size of `struct io_uring_params`, which the kernel fills in.
const PARAMETERS: usize = 120;

/// Makes the exit of this process not wait for its file watches. To be called just before it exits. Does nothing where the
/// system has no `io_uring` or forbids it.
pub fn release_watches_in_background() {
    let watches: Vec<c_int> = open_descriptors().filter(|number| is_watch(*number)).collect();
    let Ok(count) = c_int::try_from(watches.len()) else { return };
    if count == 0 {
        return;
    }
    let mut parameters = [0_u8; PARAMETERS];
    // SAFETY: The kernel writes the parameters, which are as long as it expects, and reads `count` descriptors. The ring
    // stays open until the process exits, and holds references of its own to the files.
    unsafe {
        let ring = libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr());
        if ring >= 0 {
            libc::syscall(libc::SYS_io_uring_register, ring, REGISTER_FILES, watches.as_ptr(), count);
        }
    }
}

fn open_descriptors() -> impl Iterator<Item = c_int> {
    let entries = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn is_watch(descriptor: c_int) -> bool {
    let target = readlink(format!("/proc/self/fd/{descriptor}"), Vec::new());
    target.is_ok_and(|target| target.as_bytes() == b"anon_inode:inotify")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::inotify::{CreateFlags, init};
    use std::os::fd::AsRawFd as _;

    #[test]
    fn a_watch_is_found_among_the_descriptors() {
        let (watch, file) = (init(CreateFlags::CLOEXEC).unwrap(), tempfile::tempfile().unwrap());
        assert!(open_descriptors().any(|number| number == watch.as_raw_fd()));
        assert!(is_watch(watch.as_raw_fd()) && !is_watch(file.as_raw_fd()) && !is_watch(-1));
    }
}
