//! Process table of macOS, read through `libproc` and `sysctl`.

#![expect(unsafe_code, reason = "no crate we use offers these calls")]

use super::families::{Lineage, Listed};
use super::procargs;
use rustix::process::Pid;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// How many processes there is room for beyond those that were counted, because more may be started meanwhile.
const SPARE: usize = 64;

/// The most that the arguments and the environment of a process take.
const ARG_MAX: usize = 1 << 20;

/// `PROC_PIDUNIQIDENTIFIERINFO`, which is in no public header.
const UNIQUE_IDENTIFIERS: c_int = 17;

/// `struct proc_uniqidentifierinfo`.
#[repr(C)]
struct UniqueIdentifiers {
    program: [u8; 16],
    own: u64,
    /// Of the process that started it. It stays when init adopts the process.
    starter: u64,
    rest: [u64; 3],
}

/// All live processes of ours. Empty if they cannot be listed.
pub(crate) fn all() -> Vec<Listed> {
    // SAFETY: Without a buffer nothing is written, and the number of processes is returned.
    let count = unsafe { libc::proc_listallpids(null_mut(), 0) };
    let room = usize::try_from(count).unwrap_or(0) + SPARE;
    // SAFETY: The list writes at most the given number of bytes.
    let pids = listed(room, |buffer, size| unsafe { libc::proc_listallpids(buffer, size) });
    pids.into_iter().filter_map(of).collect()
}

/// `None` when there is no such process, it has ended, or we may not look at it.
pub(crate) fn of(pid: Pid) -> Option<Listed> {
    // SAFETY: Zeroes are a value of this type, which has only numbers.
    let info: libc::proc_bsdinfo = unsafe { info(pid, libc::PROC_PIDTBSDINFO) }?;
    if info.pbi_status == libc::SZOMB {
        return None;
    }
    let number = |pid: u32| Pid::from_raw(pid.cast_signed());
    // SAFETY: The same.
    let identifiers: Option<UniqueIdentifiers> = unsafe { self::info(pid, UNIQUE_IDENTIFIERS) };
    Some(Listed {
        pid,
        group: number(info.pbi_pgid),
        parent: number(info.pbi_ppid),
        started: info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec,
        lineage: identifiers.map(|found| Lineage { own: found.own, starter: found.starter }),
    })
}

/// The children of a process, and the others in the group that it leads.
pub(crate) fn children_and_group(leader: Pid) -> Vec<Pid> {
    let pid = leader.as_raw_nonzero().get();
    // SAFETY: The list writes at most the given number of bytes.
    let mut near = listed(SPARE, |buffer, size| unsafe { libc::proc_listchildpids(pid, buffer, size) });
    // SAFETY: The same.
    near.extend(listed(SPARE, |buffer, size| unsafe { libc::proc_listpgrppids(pid, buffer, size) }));
    near.sort_unstable_by_key(|pid| pid.as_raw_nonzero());
    near.dedup();
    near.retain(|pid| *pid != leader && of(*pid).is_some());
    near
}

/// The memory that a process has, in bytes, as the system counts it for its limits.
pub(crate) fn memory(pid: Pid) -> Option<u64> {
    let mut usage = MaybeUninit::<libc::rusage_info_v2>::zeroed();
    // SAFETY: The call fills in a structure of the version in its argument, and zeroes are one already.
    unsafe {
        let pid = pid.as_raw_nonzero().get();
        let status = libc::proc_pid_rusage(pid, libc::RUSAGE_INFO_V2, usage.as_mut_ptr().cast());
        (status == 0).then(|| usage.assume_init().ri_phys_footprint)
    }
}

/// A variable of the initial environment of a process.
pub(crate) fn variable(pid: Pid, name: &str) -> Option<Vec<u8>> {
    let mut memory = vec![0_u8; ARG_MAX];
    let mut length = memory.len();
    let mut what = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid.as_raw_nonzero().get()];
    // SAFETY: The system writes at most `length` bytes to `memory`, and then their number to `length`.
    let status = unsafe {
        libc::sysctl(what.as_mut_ptr(), 3, memory.as_mut_ptr().cast(), &raw mut length, null_mut(), 0)
    };
    (status == 0).then(|| procargs::variable(memory.get(..length)?, name).map(<[u8]>::to_vec)).flatten()
}

/// The pids that `list` writes to a buffer of `room` pids. It returns how many there are.
fn listed(room: usize, list: impl Fn(*mut c_void, c_int) -> c_int) -> Vec<Pid> {
    let mut pids: Vec<c_int> = vec![0; room];
    let size = c_int::try_from(size_of_val(pids.as_slice())).unwrap_or(c_int::MAX);
    let count = usize::try_from(list(pids.as_mut_ptr().cast(), size)).unwrap_or(0);
    pids.truncate(count);
    pids.into_iter().filter(|pid| *pid > 0).filter_map(Pid::from_raw).collect()
}

/// What the system says about a process in the structure `T`.
///
/// # Safety
///
/// Zeroes must be a value of `T`, and `T` the structure of the flavor.
unsafe fn info<T>(pid: Pid, flavor: c_int) -> Option<T> {
    let mut info = MaybeUninit::<T>::zeroed();
    let size = c_int::try_from(size_of::<T>()).ok()?;
    // SAFETY: The system writes at most `size` bytes, and the caller vouches for what they mean.
    unsafe {
        let pid = pid.as_raw_nonzero().get();
        let written = libc::proc_pidinfo(pid, flavor, 0, info.as_mut_ptr().cast(), size);
        (written == size).then(|| info.assume_init())
    }
}
