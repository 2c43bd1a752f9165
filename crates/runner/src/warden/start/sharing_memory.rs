//! Warden start in shared memory: costs no more than a thread.
//!
//! Loading this program again takes longer than most scripts run, and a command that makes a single call would pay for
//! it each time. So the warden starts in the memory of this process (`CLONE_VM`), where it only waits for the end of
//! the pipe. Then, or after [`TIMEOUT`], it loads its program with `execve`. It must not share the memory for longer:
//! when memory runs out, the kernel kills all processes that share an address space, and the memory of a server that
//! has exited would not be freed.
//!
//! Until `execve`, the code here runs concurrently with this process, in its memory, and with the thread-local storage
//! of the thread that started it, which may have exited. So it makes system calls directly, not through the C library,
//! which would write `errno` there.

#![expect(unsafe_code, reason = "no safe interface starts a process in the memory of this one")]

use super::{PID, Program, WARDEN_ARGUMENT};
use crate::mark;
use rustix::process::Pid;
use std::ffi::{CString, OsStr, OsString, c_char, c_int, c_long, c_void};
use std::fs::File;
use std::io::{self, PipeReader};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr::{null, null_mut};

/// How long the warden shares our memory. Most commands have ended by then.
const TIMEOUT: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The warden only makes a few system calls on it.
const STACK_SIZE: usize = 16 * 1024;

/// The part of our memory that the warden uses. Kept until it has ended.
pub(super) struct Shared {
    /// Standard input, output and errors.
    streams: [c_int; 3],
    program: CString,
    /// Pointers into the texts below, with a null pointer at the end.
    arguments: [*const c_char; 3],
    environment: [*const c_char; 2],
    _texts: [CString; 3],
    /// Aligned as stacks have to be.
    stack: Box<[MaybeUninit<u128>]>,
}

// SAFETY: The pointers lead to texts that it owns, and nothing changes them.
unsafe impl Send for Shared {}

/// Starts the warden, and lets the kernel write its pid to [`PID`].
#[expect(clippy::disallowed_methods, reason = "a device of the system")]
pub(super) fn start(program: &Program, end: &PipeReader, ledger: &File) -> io::Result<(Pid, Box<Shared>)> {
    let errors = OwnedFd::from(File::options().write(true).open("/dev/null")?);
    let mut shared = Shared::new(program, [end.as_raw_fd(), ledger.as_raw_fd(), errors.as_raw_fd()])?;
    let flags = libc::CLONE_VM | libc::CLONE_PARENT_SETTID | libc::SIGCHLD;
    let stack = shared.stack.as_mut_ptr_range().end.cast::<c_void>();
    let plan: *const Shared = &raw const *shared;
    // SAFETY: The function matches its type, and gets a stack of its own and what `Shared` holds, both of which the caller
    // keeps until the process has ended. The pid is written to a static. Signals are blocked from the start on, and stay so,
    // so that no handler of ours runs in the new process, on our memory.
    let process = unsafe {
        let (mut all, mut ours) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), ours.as_mut_ptr());
        let process = libc::clone(main, stack, flags, plan.cast_mut().cast(), PID.as_ptr());
        let failure = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, ours.as_ptr(), null_mut());
        Pid::from_raw(process.max(0)).ok_or(failure)
    }?;
    Ok((process, shared))
}

impl Shared {
    fn new(program: &Program, streams: [c_int; 3]) -> io::Result<Box<Self>> {
        // Duplicating one could overwrite another.
        let are_further = streams.iter().all(|stream| *stream > 2);
        if !are_further || !can_close_range() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let text = |bytes: &OsStr| CString::new(bytes.as_bytes());
        let mut variable = OsString::from(mark::VARIABLE.to_owned() + "=");
        let has_mark = program.mark.map(|mark| variable.push(mark)).is_some();
        let texts = [text(program.name.as_os_str())?, text(WARDEN_ARGUMENT.as_ref())?, text(&variable)?];
        let [name, argument, variable] = texts.each_ref().map(|text| text.as_ptr());
        Ok(Box::new(Self {
            streams,
            program: text(program.path.as_os_str())?,
            arguments: [name, argument, null()],
            environment: [if has_mark { variable } else { null() }, null()],
            _texts: texts,
            stack: Box::new_uninit_slice(STACK_SIZE / size_of::<u128>()),
        }))
    }
}

/// Whether the kernel can close all further descriptors at once: from 5.9 on.
fn can_close_range() -> bool {
    // SAFETY: There is no descriptor of this number.
    unsafe { libc::syscall(libc::SYS_close_range, u32::MAX, u32::MAX, 0) == 0 }
}

/// The main function of the new process.
extern "C" fn main(shared: *mut c_void) -> c_int {
    // SAFETY: It is a `Shared` that lives on, and nothing changes it. The arguments of the system calls are in it, or
    // on our stack.
    unsafe {
        let shared = &*shared.cast_const().cast::<Shared>();
        let mut failed = call(libc::SYS_setpgid, [0; 5]) < 0;
        for (number, stream) in shared.streams.iter().enumerate() {
            failed |= call(libc::SYS_dup3, [stream.cast_unsigned() as usize, number, 0, 0, 0]) < 0;
        }
        failed |= call(libc::SYS_close_range, [3, u32::MAX as usize, 0, 0, 0]) < 0;
        failed |= call(libc::SYS_chdir, [c"/".as_ptr().addr(), 0, 0, 0, 0]) < 0;
        if !failed {
            let mut end = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
            // The kernel writes the remaining time to it.
            let mut remaining = TIMEOUT;
            let (end, remaining) = (&raw mut end, &raw mut remaining);
            call(libc::SYS_ppoll, [end.expose_provenance(), 1, remaining.expose_provenance(), 0, 0]);
            let program = shared.program.as_ptr().expose_provenance();
            let arguments = shared.arguments.as_ptr().expose_provenance();
            let environment = shared.environment.as_ptr().expose_provenance();
            call(libc::SYS_execve, [program, arguments, environment, 0, 0]);
        }
        call(libc::SYS_exit_group, [1, 0, 0, 0, 0]);
    }
    1
}

/// A system call. The result is negative if it has failed.
///
/// # Safety
///
/// As that of the system call with these arguments.
unsafe fn call(number: c_long, arguments: [usize; 5]) -> isize {
    let [first, second, third, fourth, fifth] = arguments;
    let result;
    // SAFETY: The caller vouches for the system call, which changes no other registers.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") first,
            in("rsi") second,
            in("rdx") third,
            in("r10") fourth,
            in("r8") fifth,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!(
            "svc #0",
            in("x8") number,
            inlateout("x0") first => result,
            in("x1") second,
            in("x2") third,
            in("x3") fourth,
            in("x4") fifth,
            options(nostack),
        );
    }
    result
}
