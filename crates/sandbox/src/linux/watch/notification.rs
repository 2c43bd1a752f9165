//! Notifications: reported calls, as a listener receives and answers them.

#![expect(unsafe_code, reason = "no crate we use offers these calls")]

use rustix::io::Errno;
use rustix::ioctl::{self, Setter, Updater, opcode};
use std::os::fd::BorrowedFd;

const RECEIVE: ioctl::Opcode = opcode::read_write::<libc::seccomp_notif>(b'!', 0);
const SEND: ioctl::Opcode = opcode::read_write::<libc::seccomp_notif_resp>(b'!', 1);
const IS_VALID: ioctl::Opcode = opcode::write::<u64>(b'!', 2);

/// A reported call. The calling thread waits until it is answered.
pub(super) struct Notification {
    id: u64,
    /// The thread that calls.
    pub(super) thread: u32,
    pub(super) number: u32,
    pub(super) arguments: [u64; 6],
}

impl Notification {
    /// The next one. Fails with `ENOENT` if its process has been killed meanwhile.
    pub(super) fn receive(listener: BorrowedFd<'_>) -> rustix::io::Result<Self> {
        let data = libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] };
        // The kernel refuses a value that is not zero.
        let mut received = libc::seccomp_notif { id: 0, pid: 0, flags: 0, data };
        // SAFETY: The operation writes a value of this type, whose size is part of its number.
        unsafe { ioctl::ioctl(listener, Updater::<RECEIVE, _>::new(&mut received))? };
        Ok(Self {
            id: received.id,
            thread: received.pid,
            number: received.data.nr.cast_unsigned(),
            arguments: received.data.args,
        })
    }

    /// Whether the thread still waits, so that what was read of it is its own.
    pub(super) fn is_valid(&self, listener: BorrowedFd<'_>) -> bool {
        // SAFETY: The operation reads a value of this type.
        unsafe { ioctl::ioctl(listener, Setter::<IS_VALID, _>::new(self.id)).is_ok() }
    }

    /// Lets the call continue as if it had not been reported. Fails if the kernel cannot do that (before Linux 5.5).
    pub(super) fn resume(&self, listener: BorrowedFd<'_>) -> rustix::io::Result<()> {
        let flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).unwrap_or(1);
        let mut answer = libc::seccomp_notif_resp { id: self.id, val: 0, error: 0, flags };
        // SAFETY: The operation reads a value of this type.
        match unsafe { ioctl::ioctl(listener, Updater::<SEND, _>::new(&mut answer)) } {
            // The process has been killed meanwhile.
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Whether the kernel reports system calls.
pub(super) fn are_available() -> bool {
    const SECCOMP_GET_ACTION_AVAIL: u32 = 2;
    let action: u32 = libc::SECCOMP_RET_USER_NOTIF;
    // SAFETY: The kernel only reads the action, which outlives the call.
    unsafe { libc::syscall(libc::SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) == 0 }
}
