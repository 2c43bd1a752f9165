//! Installs a filter for the calling thread.

#![expect(unsafe_code, reason = "no crate we use offers this call")]

use rustix::io::Errno;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// One system call. Neither allocates nor locks.
pub(super) fn install(instructions: &[libc::sock_filter]) -> rustix::io::Result<()> {
    set_filter(instructions, 0).map(drop)
}

/// Installs a filter that notifies a listener, and returns the listener. One system call, or two on older kernels. Neither
/// allocates nor locks.
pub(super) fn install_listening(instructions: &[libc::sock_filter]) -> rustix::io::Result<OwnedFd> {
    // Without the second flag (Linux 5.19) a signal may interrupt a call that is being reported, and `open` fails with
    // `EINTR`.
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let listener = match set_filter(instructions, flags | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) {
        Err(Errno::INVAL) => set_filter(instructions, flags)?,
        set => set?,
    };
    let listener = RawFd::try_from(listener).map_err(|_| Errno::BADF)?;
    // SAFETY: The kernel has just opened it, and it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

fn set_filter(instructions: &[libc::sock_filter], flags: libc::c_ulong) -> rustix::io::Result<libc::c_long> {
    let len = u16::try_from(instructions.len()).map_err(|_| Errno::INVAL)?;
    let program = libc::sock_fprog { len, filter: instructions.as_ptr().cast_mut() };
    // SAFETY: The kernel only reads the program, whose length is the one of the slice, and copies it.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, std::ptr::from_ref(&program))
    };
    if result >= 0 {
        return Ok(result);
    }
    let why = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&why).unwrap_or(Errno::INVAL))
}
