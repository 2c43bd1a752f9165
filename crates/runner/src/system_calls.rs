//! System calls that have no safe interface, each in a function that is safe to call.

#![expect(unsafe_code, reason = "no crate we use offers these calls")]

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use std::ptr::null;
use std::ptr::null_mut;
use std::sync::Once;

/// The first descriptor after the standard streams.
const FIRST_OTHER: c_int = 3;

/// The highest descriptor that is tried if the system cannot list them.
const HIGHEST_TRIED: u64 = 65_536;

/// The signals that request termination.
const TERMINATION_SIGNALS: [c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

/// Marks all descriptors but the standard streams as close-on-exec, once per process. Our own are
/// marked from the start; those that this process has inherited are not, and would reach every process that we start.
pub(crate) fn keep_descriptors_to_ourselves() {
    static ONCE: Once = Once::new();
    ONCE.call_once(close_all_on_exec);
}

pub(crate) fn close_all_on_exec() {
    if !close_range_on_exec() {
        listed_descriptors().into_iter().for_each(close_on_exec);
    }
}

/// One system call, from Linux 5.11 on.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
fn close_range_on_exec() -> bool {
    // SAFETY: No descriptor is closed now, and programs that are started later use only those they are given.
    unsafe { libc::syscall(libc::SYS_close_range, FIRST_OTHER, c_int::MAX, libc::CLOSE_RANGE_CLOEXEC) == 0 }
}

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
fn close_range_on_exec() -> bool {
    false
}

fn listed_descriptors() -> Vec<c_int> {
    let number = |name: std::ffi::OsString| name.to_str()?.parse().ok();
    if let Ok(entries) = std::fs::read_dir("/dev/fd") {
        let numbers = entries.flatten().filter_map(|entry| number(entry.file_name()));
        return numbers.filter(|number| *number >= FIRST_OTHER).collect();
    }
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let limit = limit.unwrap_or(HIGHEST_TRIED).min(HIGHEST_TRIED);
    (FIRST_OTHER..c_int::try_from(limit).unwrap_or(FIRST_OTHER)).collect()
}

fn close_on_exec(descriptor: c_int) {
    // SAFETY: It is not closed now, and a number that is not open is answered with an error.
    unsafe {
        let flags = libc::fcntl(descriptor, libc::F_GETFD);
        if flags >= 0 {
            libc::fcntl(descriptor, libc::F_SETFD, flags | libc::FD_CLOEXEC);
        }
    }
}

/// Makes this process ignore the signals that request termination.
pub(crate) fn ignore_termination_signals() {
    for signal in TERMINATION_SIGNALS {
        set_action(signal, libc::SIG_IGN);
    }
}

/// Makes a child ignore them from its start: ignored signals stay ignored across `exec`.
pub(crate) fn start_ignoring_termination_signals(command: &mut Command) {
    // SAFETY: The child only makes system calls, which neither allocate nor lock.
    unsafe {
        command.pre_exec(|| {
            ignore_termination_signals();
            Ok(())
        });
    }
}

/// Sets a signal to its default action, or to be ignored.
fn set_action(signal: c_int, action: libc::sighandler_t) {
    // SAFETY: No code of ours runs in a handler. An action of zeroes has no flags and an empty mask.
    unsafe {
        let mut settled = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        settled.sa_sigaction = action;
        libc::sigaction(signal, &raw const settled, null_mut());
    }
}

/// The soft and the hard limit on file locks of a process. `None` when there is no such process, or we may not read its
/// limits.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub(crate) fn limits_on_locks(process: rustix::process::Pid) -> Option<(u64, u64)> {
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

/// Sets `SIGCHLD` and `SIGXFSZ`, whatever this process inherited. With `SIGCHLD` ignored, the kernel would reap
/// children before we could read their exit status. With `SIGXFSZ` ignored, a write beyond the limit on file size fails
/// with an error and does not kill us.
pub(crate) fn settle_signals() {
    set_action(libc::SIGCHLD, libc::SIG_DFL);
    set_action(libc::SIGXFSZ, libc::SIG_IGN);
}

/// Unblocks all signals for this thread.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub(crate) fn unblock_signals() {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: The set is written before it is read.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
    use std::os::fd::AsRawFd;

    #[test]
    fn descriptors_are_listed_where_one_system_call_cannot_mark_them_all() {
        let inherited = std::fs::File::open("/dev/null").unwrap();
        fcntl_setfd(&inherited, FdFlags::empty()).unwrap();
        assert!(listed_descriptors().contains(&inherited.as_raw_fd()));
        assert!(listed_descriptors().iter().all(|number| *number > 2));
        close_on_exec(inherited.as_raw_fd());
        assert_eq!(fcntl_getfd(&inherited).unwrap(), FdFlags::CLOEXEC);
    }

    #[test]
    fn a_program_can_ignore_requests_to_end_from_its_start_on() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "for signal in TERM INT HUP; do kill -s $signal $$; done; echo alive"]);
        start_ignoring_termination_signals(&mut shell);
        assert_eq!(shell.output().unwrap().stdout, b"alive\n");
    }
}
