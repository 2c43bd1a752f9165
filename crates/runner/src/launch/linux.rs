//! Process start on Linux, as `posix_spawn` does it: with `CLONE_VM` and `CLONE_VFORK` the child shares the memory of
//! this process until `execve`, so that no page tables are copied, and the starting thread is suspended until then.
//!
//! There are three reasons not to use the standard library. The child sets its mark between `clone` and `execve`, so
//! that all it starts inherits it, and any number of threads can start processes at once. It starts in the control
//! group of its call (`CLONE_INTO_CGROUP`). And it takes half as many system calls.

#![expect(unsafe_code, reason = "no safe interface starts a process that can mark itself")]

use super::{Launch, Started, starters};
use crate::cgroup::{self, CallGroup};
use crate::mark::{CallNumber, OURS};
use mcp_bash_sandbox::{GroupLimits, Step};
use parking_lot::Mutex;
use rustix::process::{Pid, WaitOptions, waitpid};
use std::ffi::{c_char, c_int, c_long, c_void};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::{cell::RefCell, io};

/// The child makes only a few system calls before `execve`.
const STACK_SIZE: usize = 64 * 1024;

/// The signals that this program, the runtime or the standard library handles or ignores: the child resets them to
/// their default action.
const RESET_SIGNALS: [c_int; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGCHLD,
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGPIPE,
    libc::SIGXFSZ,
];

/// The signals that this program itself ignores, and its children must not.
const IGNORED_BY_US: [c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];

thread_local! {
    /// The stack of the child that this thread is starting, aligned as stacks have to be.
    static CHILD_STACK: RefCell<Vec<u128>> = RefCell::new(Vec::with_capacity(STACK_SIZE / size_of::<u128>()));
}

/// The descriptor after the three standard streams.
const FURTHER: c_int = 3;

const NO_STEP: usize = usize::MAX;

/// Everything that the child needs, prepared before `clone`: the child must not allocate, since it shares our memory.
struct Plan<'a> {
    program: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    directory: *const c_char,
    streams: [c_int; 3],
    /// The stream that becomes descriptor 3, or -1.
    further: c_int,
    /// The descriptors that the child inherits under the same numbers, all above 3.
    inherited: &'a [c_int],
    mark: Option<libc::rlimit64>,
    confinement: &'a [Step],
    /// The index of the step of the confinement that failed in the child, or [`NO_STEP`].
    failed_step: AtomicUsize,
    /// The `errno` of the system call that failed in the child, or 0.
    failure: AtomicI32,
}

pub(super) fn start(launch: &Launch, call: CallNumber, group: Option<&CallGroup>) -> io::Result<Started> {
    if let Some((filter, rest)) = launch.confinement.inheritable()
        && let Some(started) = starters::under(filter, || start_here(launch, &rest, call, group))
    {
        return started;
    }
    start_here(launch, launch.confinement.steps(), call, group)
}

/// Starts the process from this thread, whose filter it inherits. It applies `confinement` itself.
fn start_here(
    launch: &Launch,
    confinement: &[Step],
    call: CallNumber,
    group: Option<&CallGroup>,
) -> io::Result<Started> {
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
        // `dup2` to 0, 1 and 2 could overwrite a stream that is still to be duplicated.
        return Err(io::Error::other("a standard stream of this process is closed"));
    }
    let inherited: Vec<c_int> = launch.environment.descriptors().collect();
    let plan = Plan {
        program: launch.program.as_ptr(),
        arguments: arguments.as_ptr(),
        environment: environment.as_ptr(),
        directory: launch.directory.as_ptr(),
        streams,
        further: launch.further.as_ref().map_or(-1, AsRawFd::as_raw_fd),
        inherited: &inherited,
        mark: OURS.limit(call).map(|limit| libc::rlimit64 { rlim_cur: limit, rlim_max: limit }),
        confinement,
        failed_step: AtomicUsize::new(NO_STEP),
        failure: AtomicI32::new(0),
    };
    let started = CHILD_STACK.with_borrow_mut(|stack| {
        let stack = stack.spare_capacity_mut();
        let is_limited = launch.group_limits() != GroupLimits::default();
        let group = match group {
            Some(group) if can_hold(group, stack)? => Some(group),
            _ => None,
        };
        match group.map(|group| clone_child(&plan, stack, Some(group))) {
            Some(Ok(started)) => Ok(started),
            Some(Err(error)) if is_shortage(&error) => Err(error),
            Some(Err(error)) => {
                cgroup::give_up();
                if is_limited { Err(error) } else { clone_child(&plan, stack, None) }
            }
            None if is_limited => {
                Err(io::Error::other("its limits need a control group, and none can hold it"))
            }
            None => clone_child(&plan, stack, None),
        }
    })?;
    match plan.failure.load(Ordering::Relaxed) {
        0 => Ok(started),
        failure => {
            let _ = waitpid(Some(started.pid), WaitOptions::empty());
            let why = io::Error::from_raw_os_error(failure);
            Err(match plan.confinement.get(plan.failed_step.load(Ordering::Relaxed)) {
                Some(step) => io::Error::new(why.kind(), format!("failed to {step}: {why}")),
                None => why,
            })
        }
    }
}

/// Whether processes stay alive in our control groups. An error if there is no process or memory to find out.
pub(crate) fn can_hold_processes(group: &CallGroup) -> io::Result<bool> {
    CHILD_STACK.with_borrow_mut(|stack| can_hold(group, stack.spare_capacity_mut()))
}

/// The same, with a stack for the test process. If our own group was killed (`cgroup.kill`) before we were moved to it,
/// the kernel kills every process that we start in another group. So the first process tests that: it runs no program,
/// and must exit normally.
fn can_hold(group: &CallGroup, stack: &mut [MaybeUninit<u128>]) -> io::Result<bool> {
    static TRIAL: Trial = Trial(Mutex::new(None));
    TRIAL.verdict(|| {
        let nothing = Plan {
            program: c"".as_ptr(),
            arguments: [null()].as_ptr(),
            environment: [null()].as_ptr(),
            directory: c"/".as_ptr(),
            streams: [0, 1, 2],
            further: -1,
            inherited: &[],
            mark: None,
            confinement: &[],
            failed_step: AtomicUsize::new(NO_STEP),
            failure: AtomicI32::new(0),
        };
        let started = clone_child(&nothing, stack, Some(group))?;
        let ended = waitpid(Some(started.pid), WaitOptions::empty())?;
        Ok(ended.is_some_and(|(_, status)| status.exited()))
    })
}

/// The result of the first process in a control group, once there is one.
struct Trial(Mutex<Option<bool>>);

impl Trial {
    /// Starts the process, unless one has shown the result. A shortage says nothing about control groups: the next call
    /// tries again.
    fn verdict(&self, start: impl FnOnce() -> io::Result<bool>) -> io::Result<bool> {
        let mut known = self.0.lock();
        if let Some(known) = *known {
            return Ok(known);
        }
        let can_hold_processes = match start() {
            Err(error) if is_shortage(&error) => return Err(error),
            result => result.unwrap_or(false),
        };
        *known = Some(can_hold_processes);
        if !can_hold_processes {
            cgroup::give_up();
        }
        Ok(can_hold_processes)
    }
}

/// Whether there were too many processes or too little memory: doing without the control group would not help.
fn is_shortage(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM))
}

/// The child shares our memory, and the calling thread is suspended until it has called `execve` or ended.
const CLONE_FLAGS: c_int = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD;

/// Makes the child, and returns when it has called `execve` or ended.
fn clone_child(
    plan: &Plan,
    stack: &mut [MaybeUninit<u128>],
    group: Option<&CallGroup>,
) -> io::Result<Started> {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut ours = MaybeUninit::<libc::sigset_t>::uninit();
    let plan: *const Plan = plan;
    let plan = plan.cast_mut().cast::<c_void>();
    let mut pidfd: c_int = -1;
    // SAFETY: The two sets are written before they are read. Both ways to make the child get a function that
    // matches its type, a stack that is ours alone for as long as this thread holds it, a place for the pidfd
    // that outlives the call, and a pointer to a plan that outlives the child's use of it: `CLONE_VFORK`
    // suspends this thread until the child has left our memory by `execve` or by ending. Signals are blocked
    // meanwhile, so that no handler of ours runs in the child, on our memory.
    let pid = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        // A blocked signal would be delivered to another thread, and wake it; this one has no handler.
        libc::sigdelset(all.as_mut_ptr(), libc::SIGCHLD);
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), ours.as_mut_ptr());
        let pid = if let Some(group) = group {
            clone_into(group.folder().as_raw_fd(), stack, &raw mut pidfd, plan)
        } else {
            let upper_end = stack.as_mut_ptr_range().end.cast::<c_void>();
            let pidfd = &raw mut pidfd;
            let clone = |flags: c_int| match libc::clone(child_main, upper_end, flags, plan, pidfd) {
                -1 => Err(io::Error::last_os_error()),
                pid => Ok(pid),
            };
            let flags = CLONE_FLAGS | libc::SIGCHLD;
            clone(flags).or_else(|error| match error.raw_os_error() {
                // An emulator of another processor (qemu 7) may not know pidfds.
                Some(libc::EINVAL) => clone(flags & !libc::CLONE_PIDFD),
                _ => Err(error),
            })
        };
        libc::pthread_sigmask(libc::SIG_SETMASK, ours.as_ptr(), null_mut());
        pid
    }?;
    let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("the new process has no pid"))?;
    // SAFETY: The kernel has written a new descriptor there, which has no other owner; an old kernel writes nothing.
    let pidfd = (pidfd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(pidfd) });
    Ok(Started { pid, pidfd })
}

/// `struct clone_args` of `clone3`, up to the last field that we use.
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
/// As for `clone`: the stack is the child's alone and the plan valid until the child has left our memory,
/// `pidfd` can be written to, and no handler of a signal runs meanwhile.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
unsafe fn clone_into(
    group: c_int,
    stack: &mut [MaybeUninit<u128>],
    pidfd: *mut c_int,
    plan: *mut c_void,
) -> io::Result<c_int> {
    const INTO_CGROUP: u64 = 0x2_0000_0000;
    let arguments = CloneArguments {
        flags: u64::from(CLONE_FLAGS.cast_unsigned()) | INTO_CGROUP,
        pidfd: pidfd.addr() as u64,
        exit_signal: u64::from(libc::SIGCHLD.cast_unsigned()),
        stack: stack.as_mut_ptr().expose_provenance() as u64,
        stack_size: size_of_val(stack) as u64,
        cgroup: u64::from(group.cast_unsigned()),
        ..CloneArguments::default()
    };
    pidfd.expose_provenance();
    let arguments: *const CloneArguments = &raw const arguments;
    let result: c_long;
    // SAFETY: The parent comes out of the call with its registers as they were but for the result. The child comes out
    // on its own stack, whose upper end is aligned as a call needs it, calls `child_main` with the plan, and never
    // returns.
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
            in("r8") child_main as extern "C" fn(*mut c_void) -> c_int,
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
            in("x3") child_main as extern "C" fn(*mut c_void) -> c_int,
        );
    }
    match c_int::try_from(result) {
        Ok(pid) if pid > 0 => Ok(pid),
        Ok(failure) => Err(io::Error::from_raw_os_error(-failure)),
        Err(_) => Err(io::ErrorKind::Other.into()),
    }
}

/// Not implemented for other processors, where calls have no control groups.
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

/// The main function of the child. It has a copy of our descriptors and signal handlers, but shares our memory. It
/// never returns.
extern "C" fn child_main(plan: *mut c_void) -> c_int {
    // SAFETY: `clone_child` passes a plan that is alive until the child has left our memory, and that only the
    // child changes, by its atomics. Only functions that are safe after `vfork` are called: plain system calls, which neither
    // allocate nor lock. The pointers in the plan lead to strings and lists that end with a NUL.
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
        for signal in RESET_SIGNALS {
            let mut action = MaybeUninit::<libc::sigaction>::uninit();
            if libc::sigaction(signal, null(), action.as_mut_ptr()) != 0 {
                continue;
            }
            let mut action = action.assume_init();
            // A signal that was ignored when this program was started stays ignored.
            let stays = action.sa_sigaction == libc::SIG_DFL
                || (action.sa_sigaction == libc::SIG_IGN && !IGNORED_BY_US.contains(&signal));
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
        // After the others: one of them may have been descriptor 3.
        if plan.further == FURTHER {
            done(libc::fcntl(FURTHER, libc::F_SETFD, 0))?;
        } else if plan.further >= 0 {
            done(libc::dup2(plan.further, FURTHER))?;
        }
        for descriptor in plan.inherited {
            done(libc::fcntl(*descriptor, libc::F_SETFD, 0))?;
        }
        done(libc::chdir(plan.directory))?;
        // As late as possible, so that no restriction affects the steps before.
        for (index, step) in plan.confinement.iter().enumerate() {
            if let Err(why) = step.apply() {
                plan.failed_step.store(index, Ordering::Relaxed);
                return Err(why.raw_os_error());
            }
        }
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), null_mut());
        done(libc::execve(plan.program, plan.arguments, plan.environment))?;
    }
    Err(libc::EIO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_at_the_first_process_in_a_control_group_decides_nothing() {
        let trial = Trial(Mutex::new(None));
        for errno in [libc::EAGAIN, libc::ENOMEM] {
            let short = trial.verdict(|| Err(io::Error::from_raw_os_error(errno)));
            assert_eq!(short.unwrap_err().raw_os_error(), Some(errno));
        }
        assert!(trial.verdict(|| Ok(true)).unwrap());
        assert!(trial.verdict(|| unreachable!("the result is known")).unwrap());
    }
}
