//! Installs a filter for the calling thread.

#![expect(unsafe_code, reason = "no crate we use offers this call")]

use rustix::io::Errno;

/// One system call. Neither allocates nor locks.
pub(super) fn install(instructions: &[libc::sock_filter]) -> rustix::io::Result<()> {
    let len = u16::try_from(instructions.len()).map_err(|_| Errno::INVAL)?;
    let program = libc::sock_fprog { len, filter: instructions.as_ptr().cast_mut() };
    // SAFETY: The kernel only reads the program, whose length is the one of the slice, and copies it.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, std::ptr::from_ref(&program))
    };
    if result == 0 {
        return Ok(());
    }
    let why = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&why).unwrap_or(Errno::INVAL))
}
