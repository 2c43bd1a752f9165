//! The rules for all calls except those of sockets.
//!
//! These stay allowed on purpose: `seccomp` and `landlock_*` (they only take away), `personality` (it affects the
//! caller alone), `prctl` (what matters in it needs capabilities), `memfd_create` and `memfd_secret` (anonymous
//! memory), memory policies and `sched_*` (numeric libraries and runtimes use them), `chmod` of set-user-ID bits (without
//! effect on processes under `no_new_privs`), and System V IPC (an IPC namespace separates it, a filter cannot).

#[allow(clippy::wildcard_imports, reason = "the rules name nearly every call")]
use super::calls::*;
use super::decision::Decision::{self, Allow, Fail};
use super::decision::{by, by_bits, by_pointer};
use super::sockets;
use crate::filter_choices::FilterChoices;
use libc::{ENOSYS, EPERM};

/// Calls that fail whatever their arguments are.
const REFUSED: &[(i32, &[Call])] = &[
    // The view of the file system, which the rules of Landlock are about.
    (EPERM, &[MOUNT, UMOUNT2, PIVOT_ROOT, CHROOT, MOVE_MOUNT, OPEN_TREE, OPEN_TREE_ATTR]),
    (EPERM, &[FSOPEN, FSCONFIG, FSMOUNT, FSPICK, MOUNT_SETATTR]),
    // They read the mount table past the rules for `/proc`. Programs fall back to `/proc`.
    (ENOSYS, &[STATMOUNT, LISTMOUNT]),
    // Handles open files without walking a path.
    (EPERM, &[OPEN_BY_HANDLE_AT, NAME_TO_HANDLE_AT]),
    // Namespaces bring capabilities, and with them most of the kernel.
    (EPERM, &[UNSHARE, SETNS]),
    // A filter cannot see the flags of `clone3`. The C libraries fall back to `clone`, but only after `ENOSYS`.
    (ENOSYS, &[CLONE3]),
    // Memory, descriptors and state of other processes.
    (EPERM, &[PTRACE, PROCESS_VM_READV, PROCESS_VM_WRITEV, PROCESS_MADVISE, PIDFD_GETFD, KCMP]),
    // Its operations make system calls that no filter sees. Programs fall back to plain calls.
    (ENOSYS, &[IO_URING_SETUP, IO_URING_ENTER, IO_URING_REGISTER]),
    // Parts of the kernel with a history of privilege escalation. (`modify_ldt` is missing in many kernels.)
    (EPERM, &[BPF, PERF_EVENT_OPEN, USERFAULTFD]),
    (ENOSYS, &[MODIFY_LDT]),
    // Keyrings belong to the user, not to the process.
    (EPERM, &[KEYCTL, ADD_KEY, REQUEST_KEY]),
    // File events of whole mounts.
    (EPERM, &[FANOTIFY_INIT]),
    // The labels of other security modules.
    (EPERM, &[LSM_SET_SELF_ATTR]),
    // The machine: code of the kernel, ports, clocks, names, swap, accounting, quotas, consoles, the kernel's log.
    (EPERM, &[KEXEC_LOAD, KEXEC_FILE_LOAD, INIT_MODULE, FINIT_MODULE, DELETE_MODULE, REBOOT]),
    (EPERM, &[IOPL, IOPERM]),
    (EPERM, &[SETTIMEOFDAY, CLOCK_SETTIME, CLOCK_ADJTIME, ADJTIMEX]),
    (EPERM, &[SETHOSTNAME, SETDOMAINNAME, SWAPON, SWAPOFF, ACCT, QUOTACTL, QUOTACTL_FD, VHANGUP, SYSLOG]),
    // Removed from newer kernels.
    (ENOSYS, &[LOOKUP_DCOOKIE, NFSSERVCTL, SYSCTL, USELIB]),
];

/// What a process calls, beside what scripts may call, before it runs its program: it is made in a control group, and
/// enters namespaces.
const NEEDED_TO_START: [Call; 2] = [SETNS, CLONE3];

/// `TIOCCONS`, which redirects the output of the console. Not in `libc` for every C library.
const TIOCCONS: u32 = 0x541D;
/// `TIOCSETD` selects a line discipline, and loads the module that has it.
const TIOCSETD: u32 = 0x5423;
/// `TIOCSTI` types into a terminal, and `TIOCLINUX` pastes into one, as if the user did.
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541C;

/// The first argument of `ioprio_set` and of `setpriority` for all processes of a user.
const IOPRIO_WHO_USER: u32 = 3;
const PRIO_USER: u32 = 2;

/// The flags of `clone` that make namespaces. (`CLONE_NEWTIME` is not among them: `clone` takes its bit for a part of
/// the exit signal.)
const NEW_NAMESPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

/// The number of a system call, and the decision about it.
pub(super) type Rule = (u32, Decision);

/// The decision for each system call that is not simply allowed, by its number.
pub(super) fn rules(architecture: Architecture, choices: FilterChoices) -> Vec<Rule> {
    let refused = REFUSED.iter().flat_map(|(error, calls)| calls.iter().map(|call| (*call, Fail(*error))));
    let all = refused.chain(checked()).chain(sockets::rules(choices));
    all.filter_map(|(call, decision)| Some((architecture.number(call)?, decision))).collect()
}

/// Splits rules into those that a thread which starts processes can be under, and the rest.
pub(super) fn split(architecture: Architecture, rules: &[Rule]) -> (Vec<Rule>, Vec<Rule>) {
    let needed = NEEDED_TO_START.map(|call| architecture.number(call));
    rules.iter().cloned().partition(|(number, _)| !needed.contains(&Some(*number)))
}

/// Calls whose arguments decide.
fn checked() -> Vec<(Call, Decision)> {
    let clone = by_bits(0, NEW_NAMESPACES.cast_unsigned(), vec![(0, Allow)], Fail(EPERM));
    let ioctls = [TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD];
    let ioctl = by(1, ioctls.map(|request| (request, Fail(EPERM))).to_vec(), Allow);
    // Landlock has no rule for the limits of other processes, and any process of the same user can set them.
    let prlimit = by(0, vec![(0, Allow)], by_pointer(2, Allow, &Fail(EPERM)));
    // Nor for their scheduling. Programs schedule themselves as process 0.
    let itself = |argument| by(argument, vec![(0, Allow)], Fail(EPERM));
    // For these, 0 may also stand for all processes of the user.
    let not_of_user = |user, itself| by(0, vec![(user, Fail(EPERM))], itself);
    vec![
        (CLONE, clone),
        (IOPRIO_SET, not_of_user(IOPRIO_WHO_USER, itself(1))),
        (SCHED_SETAFFINITY, itself(0)),
        (SCHED_SETATTR, itself(0)),
        (SCHED_SETPARAM, itself(0)),
        (SCHED_SETSCHEDULER, itself(0)),
        (SETPRIORITY, not_of_user(PRIO_USER, itself(1))),
        (IOCTL, ioctl),
        (MKNOD, without_devices(1)),
        (MKNODAT, without_devices(2)),
        (PRLIMIT64, prlimit),
    ]
}

/// `mknod` makes named pipes, regular files and sockets, but no device.
fn without_devices(mode: u8) -> Decision {
    let devices = [libc::S_IFCHR, libc::S_IFBLK];
    by_bits(mode, libc::S_IFMT, devices.map(|kind| (kind, Fail(EPERM))).to_vec(), Allow)
}
