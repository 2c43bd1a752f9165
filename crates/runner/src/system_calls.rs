//! System calls that no safe interface offers, each in a function that is safe to call.

#![expect(unsafe_code, reason = "no crate we use offers these calls")]

use rustix::process::Pid;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

/// The soft and the hard limit on file locks of a process. `None` when there is no such process, or it is not
/// ours to ask.
pub(crate) fn limits_on_locks(process: Pid) -> Option<(u64, u64)> {
    let mut limits = MaybeUninit::<libc::rlimit64>::uninit();
    // SAFETY: No new limits are given, and the old ones are written to memory of their type before they are
    // read.
    let limits = unsafe {
        let pid = process.as_raw_nonzero().get();
        if libc::prlimit64(pid, libc::RLIMIT_LOCKS, null(), limits.as_mut_ptr()) != 0 {
            return None;
        }
        limits.assume_init()
    };
    Some((limits.rlim_cur, limits.rlim_max))
}

/// Puts two signals as this program needs them, whatever it was started with. Where the death of children was
/// ignored, they would be gone before anybody could ask how they ended. And a limit on the size of files is
/// to be an error of the write that breaks it, not our end.
pub(crate) fn settle_signals() {
    for (signal, action) in [(libc::SIGCHLD, libc::SIG_DFL), (libc::SIGXFSZ, libc::SIG_IGN)] {
        // SAFETY: Neither action is a function, so no code of ours runs in a handler. An action of zeroes has
        // no flags and an empty mask.
        unsafe {
            let mut settled = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            settled.sa_sigaction = action;
            libc::sigaction(signal, &raw const settled, null_mut());
        }
    }
}

/// Lets all signals reach this thread.
pub(crate) fn unblock_signals() {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: The set is written before it is read.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), null_mut());
    }
}
