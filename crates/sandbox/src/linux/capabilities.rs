//! Capabilities: what makes root more than the owner of its files.

#![expect(unsafe_code, reason = "no crate we use sets them without allocating")]

use rustix::io::Errno;
use std::ffi::c_int;
use std::io;

/// Running a program as root gives no capabilities, now and for ever: `SECBIT_NOROOT`, `SECBIT_NO_SETUID_FIXUP` and
/// `SECBIT_NO_CAP_AMBIENT_RAISE`, each with its lock.
const SECURE_BITS: c_int = 0b1100_1111;

/// The version of the structures below.
const VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: c_int,
}

#[repr(C)]
#[derive(Default, Clone, Copy)]
struct Data {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Gives up all capabilities of the calling process, and of all programs that it will run. For root: other users lose
/// theirs when they run a program. Safe to call in the child of `vfork`.
pub(crate) fn drop_capabilities() -> rustix::io::Result<()> {
    let header = Header { version: VERSION, pid: 0 };
    let none = [Data::default(); 2];
    let (header, none): (*const Header, *const Data) = (&raw const header, none.as_ptr());
    // SAFETY: Both structures are of the version that the header names, and outlive the calls.
    let done = unsafe {
        libc::prctl(libc::PR_SET_SECUREBITS, SECURE_BITS, 0, 0, 0) == 0
            && libc::syscall(libc::SYS_capset, header, none) == 0
    };
    if done { Ok(()) } else { Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)) }
}
