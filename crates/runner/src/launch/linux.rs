//! Starts a process on Linux, in the way of `posix_spawn`: the child borrows our memory until it runs its own program,
//! so that nothing of ours is copied, and the thread that starts it stands still as long.
//!
//! Two things made us do it ourselves. The child puts its mark on before it runs, so that whatever it starts has it from
//! the first moment on, and any number of threads can start processes at once. And it takes half as many system calls.

#![expect(unsafe_code, reason = "no safe interface starts a process that can mark itself")]

use super::Launch;
use crate::mark::{Number, OURS};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};
use std::{cell::RefCell, io};

/// What the child does is some system calls, none of which is deep.
const STACK: usize = 64 * 1024;

/// The signals that this program, the runtime or the standard library handles, or ignores for itself.
const CHANGED: [c_int; 7] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGCHLD, libc::SIGSEGV, libc::SIGBUS, libc::SIGPIPE];

thread_local! {
    /// The stack of the child that this thread is starting, aligned as stacks have to be.
    static CHILD_STACK: RefCell<Vec<u128>> = RefCell::new(Vec::with_capacity(STACK / size_of::<u128>()));
}

/// What the child needs, made before it is born: it must not allocate, since the memory is ours.
struct Plan {
    program: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    directory: *const c_char,
    streams: [c_int; 3],
    mark: libc::rlimit64,
    /// Why it could not run its program.
    failure: AtomicI32,
}

pub(super) fn start(launch: &Launch, call: Number) -> io::Result<Pid> {
    let arguments: Vec<_> =
        launch.arguments.iter().map(|argument| argument.as_ptr()).chain([null()]).collect();
    let environment: Vec<_> = launch
        .environment
        .laid_out()
        .map(|variable| variable.as_ptr().cast::<c_char>())
        .chain([null()])
        .collect();
    let streams = launch.streams.each_ref().map(AsRawFd::as_raw_fd);
    if streams.iter().any(|stream| *stream < 3) {
        // Where the child puts one stream, another could still be needed.
        return Err(io::Error::other("a standard stream of this process is closed"));
    }
    let (current, maximum) = OURS.limits(call);
    let plan = Plan {
        program: launch.program.as_ptr(),
        arguments: arguments.as_ptr(),
        environment: environment.as_ptr(),
        directory: launch.directory.as_ptr(),
        streams,
        mark: libc::rlimit64 { rlim_cur: current, rlim_max: maximum.unwrap_or(libc::RLIM64_INFINITY) },
        failure: AtomicI32::new(0),
    };
    let pid = CHILD_STACK.with_borrow_mut(|stack| give_birth(&plan, stack.spare_capacity_mut()))?;
    match plan.failure.load(Ordering::Relaxed) {
        0 => Ok(pid),
        failure => {
            let _ = waitpid(Some(pid), WaitOptions::empty());
            Err(io::Error::from_raw_os_error(failure))
        }
    }
}

/// Makes the child, and returns when it runs its program or has failed to.
fn give_birth(plan: &Plan, stack: &mut [MaybeUninit<u128>]) -> io::Result<Pid> {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut ours = MaybeUninit::<libc::sigset_t>::uninit();
    let plan: *const Plan = plan;
    // SAFETY: The two sets are written before they are read. `clone` gets a function that matches its type, the upper
    // end of a stack that is ours alone for as long as this thread holds it, and a pointer to a plan that outlives the
    // child's use of it: `CLONE_VFORK` holds this thread back until the child has left our memory for its own program
    // or for good. Signals are blocked meanwhile, so that no handler of ours runs in the child, on our memory.
    let pid = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        // One that is blocked is kept for other threads, and would wake them; this one nobody handles.
        libc::sigdelset(all.as_mut_ptr(), libc::SIGCHLD);
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), ours.as_mut_ptr());
        let upper_end = stack.as_mut_ptr_range().end.cast::<c_void>();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let pid = libc::clone(run, upper_end, flags, plan.cast_mut().cast::<c_void>());
        let failure = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, ours.as_ptr(), null_mut());
        if pid < 0 { Err(failure) } else { Ok(pid) }
    };
    pid.and_then(|pid| Pid::from_raw(pid).ok_or_else(|| io::Error::other("a process without a number")))
}

/// The child. It has a copy of our descriptors and signal handlers, but shares our memory, and ends here whatever comes.
extern "C" fn run(plan: *mut c_void) -> c_int {
    // SAFETY: `give_birth` passes a plan that is alive until the child has gone, and that nobody changes. Only functions
    // that are safe after `vfork` are called: plain system calls, which neither allocate nor lock. The pointers in the
    // plan lead to strings and lists that end with a NUL.
    unsafe {
        let plan = &*plan.cast::<Plan>();
        let failure = match become_program(plan) {
            Err(failure) => failure,
            Ok(never) => match never {},
        };
        plan.failure.store(failure, Ordering::Relaxed);
        libc::_exit(127)
    }
}

/// # Safety
///
/// Only for the child, with a plan whose pointers are valid.
unsafe fn become_program(plan: &Plan) -> Result<std::convert::Infallible, c_int> {
    let done = |result: c_int| {
        if result == -1 {
            Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
        } else {
            Ok(())
        }
    };
    // SAFETY: As the caller promises.
    unsafe {
        for signal in CHANGED {
            let mut action = MaybeUninit::<libc::sigaction>::uninit();
            if libc::sigaction(signal, null(), action.as_mut_ptr()) != 0 {
                continue;
            }
            let mut action = action.assume_init();
            // What was ignored when we were started stays so, but for the one that Rust ignores for itself.
            let stays = action.sa_sigaction == libc::SIG_DFL
                || (action.sa_sigaction == libc::SIG_IGN && signal != libc::SIGPIPE);
            if !stays {
                action.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &raw const action, null_mut());
            }
        }
        done(libc::setpgid(0, 0))?;
        // Where that is not allowed, the mark in the environment has to do.
        let _ = libc::setrlimit64(libc::RLIMIT_LOCKS, &raw const plan.mark);
        for (number, stream) in (0..).zip(plan.streams) {
            done(libc::dup2(stream, number))?;
        }
        done(libc::chdir(plan.directory))?;
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), null_mut());
        done(libc::execve(plan.program, plan.arguments, plan.environment))?;
    }
    Err(libc::EIO)
}
