//! Starts a process on Linux, in the way of `posix_spawn`: the child borrows our memory until it runs its own program,
//! so that nothing of ours is copied, and the thread that starts it stands still as long.
//!
//! Three things made us do it ourselves. The child puts its mark on before it runs, so that whatever it starts has it from
//! the first moment on, and any number of threads can start processes at once. It is born into the control group of its
//! call. And it takes half as many system calls.

#![expect(unsafe_code, reason = "no safe interface starts a process that can mark itself")]

use super::{Launch, Started};
use crate::cgroup::{self, CallGroup};
use crate::mark::{Number, OURS};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::ffi::{c_char, c_int, c_long, c_void};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};
use std::{cell::RefCell, io};

/// What the child does is some system calls, none of which is deep.
const STACK: usize = 64 * 1024;

/// The signals that this program, the runtime or the standard library handles, or ignores for itself.
const CHANGED: [c_int; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGCHLD,
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGPIPE,
    libc::SIGXFSZ,
];

/// Those of them that this program ignores for itself, and that its children must not.
const IGNORED: [c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];

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
    mark: Option<libc::rlimit64>,
    /// Why it could not run its program.
    failure: AtomicI32,
}

pub(super) fn start(launch: &Launch, call: Number, group: Option<&CallGroup>) -> io::Result<Started> {
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
    let plan = Plan {
        program: launch.program.as_ptr(),
        arguments: arguments.as_ptr(),
        environment: environment.as_ptr(),
        directory: launch.directory.as_ptr(),
        streams,
        mark: OURS.limit(call).map(|limit| libc::rlimit64 { rlim_cur: limit, rlim_max: limit }),
        failure: AtomicI32::new(0),
    };
    let started = CHILD_STACK.with_borrow_mut(|stack| {
        let stack = stack.spare_capacity_mut();
        let group = group.filter(|group| is_livable(group, stack));
        match group.map(|group| give_birth(&plan, stack, Some(group))) {
            Some(Ok(started)) => Ok(started),
            // Too many processes, or too little memory, which is no better elsewhere.
            Some(Err(error)) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM)) => {
                Err(error)
            }
            Some(Err(_)) => {
                cgroup::give_up();
                give_birth(&plan, stack, None)
            }
            None => give_birth(&plan, stack, None),
        }
    })?;
    match plan.failure.load(Ordering::Relaxed) {
        0 => Ok(started),
        failure => {
            let _ = waitpid(Some(started.pid), WaitOptions::empty());
            Err(io::Error::from_raw_os_error(failure))
        }
    }
}

/// Whether a process can live in a control group of ours. It could not where our own was killed before we were in it: the
/// kernel kills then what we start in another. So the first of all is one that has nothing to do.
fn is_livable(group: &CallGroup, stack: &mut [MaybeUninit<u128>]) -> bool {
    static LIVABLE: OnceLock<bool> = OnceLock::new();
    *LIVABLE.get_or_init(|| {
        let nothing = Plan {
            program: c"".as_ptr(),
            arguments: [null()].as_ptr(),
            environment: [null()].as_ptr(),
            directory: c"/".as_ptr(),
            streams: [0, 1, 2],
            mark: None,
            failure: AtomicI32::new(0),
        };
        let is_livable = give_birth(&nothing, stack, Some(group)).is_ok_and(|started| {
            let ended = waitpid(Some(started.pid), WaitOptions::empty());
            ended.is_ok_and(|ended| ended.is_some_and(|(_, status)| status.exited()))
        });
        if !is_livable {
            cgroup::give_up();
        }
        is_livable
    })
}

/// The child has our memory, and we stand still until it does not need it any more.
const BORROWING: c_int = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD;

/// Makes the child, and returns when it runs its program or has failed to.
fn give_birth(
    plan: &Plan,
    stack: &mut [MaybeUninit<u128>],
    group: Option<&CallGroup>,
) -> io::Result<Started> {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut ours = MaybeUninit::<libc::sigset_t>::uninit();
    let plan: *const Plan = plan;
    let plan = plan.cast_mut().cast::<c_void>();
    let mut handle: c_int = -1;
    // SAFETY: The two sets are written before they are read. Both ways to make the child get a function that matches its
    // type, a stack that is ours alone for as long as this thread holds it, a place for the handle that outlives the
    // call, and a pointer to a plan that outlives the child's use of it: `CLONE_VFORK` holds this thread back until the
    // child has left our memory for its own program or for good. Signals are blocked meanwhile, so that no handler of
    // ours runs in the child, on our memory.
    let pid = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        // One that is blocked is kept for other threads, and would wake them; this one nobody handles.
        libc::sigdelset(all.as_mut_ptr(), libc::SIGCHLD);
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), ours.as_mut_ptr());
        let pid = if let Some(group) = group {
            clone_into(group.folder().as_raw_fd(), stack, &raw mut handle, plan)
        } else {
            let upper_end = stack.as_mut_ptr_range().end.cast::<c_void>();
            match libc::clone(run, upper_end, BORROWING | libc::SIGCHLD, plan, &raw mut handle) {
                -1 => Err(io::Error::last_os_error()),
                pid => Ok(pid),
            }
        };
        libc::pthread_sigmask(libc::SIG_SETMASK, ours.as_ptr(), null_mut());
        pid
    }?;
    let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("a process without a number"))?;
    // SAFETY: The kernel has put a new descriptor there, which nobody else knows; or, being too old for it, nothing.
    let handle = (handle >= 0).then(|| unsafe { OwnedFd::from_raw_fd(handle) });
    Ok(Started { pid, handle })
}

/// The arguments of `clone3`, up to those that we use.
#[repr(C)]
#[derive(Default)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// Makes the child in a control group. The C library has no function for this.
///
/// # Safety
///
/// As for `clone`: the stack is the child's alone and the plan valid until the child has left our memory, `handle` can be
/// written to, and no handler of a signal runs meanwhile.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
unsafe fn clone_into(
    group: c_int,
    stack: &mut [MaybeUninit<u128>],
    handle: *mut c_int,
    plan: *mut c_void,
) -> io::Result<c_int> {
    const INTO_CGROUP: u64 = 0x2_0000_0000;
    let arguments = CloneArguments {
        flags: u64::from(BORROWING.cast_unsigned()) | INTO_CGROUP,
        pidfd: handle.addr() as u64,
        exit_signal: u64::from(libc::SIGCHLD.cast_unsigned()),
        stack: stack.as_mut_ptr().expose_provenance() as u64,
        stack_size: size_of_val(stack) as u64,
        cgroup: u64::from(group.cast_unsigned()),
        ..CloneArguments::default()
    };
    handle.expose_provenance();
    let arguments: *const CloneArguments = &raw const arguments;
    let result: c_long;
    // SAFETY: The parent comes out of the call with its registers as they were but for the result. The child comes out
    // on its own stack, whose upper end is aligned as a call needs it, calls `run` with the plan, and never returns.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, rdx",
            "call r8",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 => result,
            in("rdi") arguments,
            in("rsi") size_of::<CloneArguments>(),
            in("rdx") plan,
            in("r8") run as extern "C" fn(*mut c_void) -> c_int,
            lateout("rcx") _,
            lateout("r11") _,
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!(
            "svc #0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x2",
            "blr x3",
            "brk #1",
            "2:",
            in("x8") libc::SYS_clone3,
            inlateout("x0") arguments => result,
            in("x1") size_of::<CloneArguments>(),
            in("x2") plan,
            in("x3") run as extern "C" fn(*mut c_void) -> c_int,
        );
    }
    match c_int::try_from(result) {
        Ok(pid) if pid > 0 => Ok(pid),
        Ok(failure) => Err(io::Error::from_raw_os_error(-failure)),
        Err(_) => Err(io::ErrorKind::Other.into()),
    }
}

/// Elsewhere nobody has written down how.
///
/// # Safety
///
/// None is needed.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn clone_into(
    _group: c_int,
    _stack: &mut [MaybeUninit<u128>],
    _handle: *mut c_int,
    _plan: *mut c_void,
) -> io::Result<c_int> {
    Err(io::ErrorKind::Unsupported.into())
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
            // What was ignored when we were started stays so.
            let stays = action.sa_sigaction == libc::SIG_DFL
                || (action.sa_sigaction == libc::SIG_IGN && !IGNORED.contains(&signal));
            if !stays {
                action.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &raw const action, null_mut());
            }
        }
        done(libc::setpgid(0, 0))?;
        if let Some(mark) = &plan.mark {
            done(libc::setrlimit64(libc::RLIMIT_LOCKS, mark))?;
        }
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
