//! Other processes: what the kernel shows of them, signals, memory, descriptors and limits.

use super::attack::{Attack, Attempt, Failure, is_past_the_permission_check};
use super::system_call::{address, address_mut, call, descriptor, number_of};
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "proc", usage: "PID NAME", run: look_into_proc },
    Attack { name: "descriptors", usage: "", run: inherited_descriptors },
    Attack { name: "signal", usage: "PID SIGNAL", run: signal },
    Attack { name: "signal-group", usage: "PID", run: signal_group },
    Attack { name: "signal-thread", usage: "PID", run: signal_thread },
    Attack { name: "signal-by-pidfd", usage: "PID", run: signal_by_pidfd },
    Attack { name: "ptrace", usage: "PID", run: ptrace },
    Attack {
        name: "read-memory",
        usage: "PID",
        run: |parameters| memory(libc::SYS_process_vm_readv, parameters),
    },
    Attack {
        name: "write-memory",
        usage: "PID",
        run: |parameters| memory(libc::SYS_process_vm_writev, parameters),
    },
    Attack { name: "take-descriptor", usage: "PID", run: take_descriptor },
    Attack { name: "limits", usage: "PID", run: limits },
    Attack { name: "priority", usage: "PID", run: priority },
    Attack { name: "affinity", usage: "PID", run: affinity },
    Attack { name: "segment", usage: "NUMBER", run: segment },
    Attack { name: "compare", usage: "PID", run: compare },
];

fn number(parameter: &str) -> Result<usize, Failure> {
    parameter.parse().map_err(|_| Failure::without_errno(format!("not a number: {parameter}")))
}

fn succeeds(number: std::ffi::c_long, arguments: &[usize]) -> Attempt {
    call(number, arguments).map(|_| "succeeded".to_owned()).map_err(Failure::from)
}

fn look_into_proc(parameters: &[&str]) -> Attempt {
    let path = format!("/proc/{}/{}", parameters[0], parameters[1]);
    match parameters[1] {
        "mem" => {
            let (start, mut bytes) = (own_code_in(parameters[0])?, [0; 8]);
            File::open(path)?.read_exact_at(&mut bytes, start as u64)?;
            Ok("read memory".to_owned())
        }
        "root" | "cwd" => Ok(format!("{} entries", fs::read_dir(format!("{path}/"))?.count())),
        "fd" => {
            let entries = fs::read_dir(path)?.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
            Ok(format!("{} descriptors", entries.count()))
        }
        _ => super::files::read(&path),
    }
}

/// An address that is mapped in another process.
fn own_code_in(pid: &str) -> io::Result<usize> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let start = maps.split('-').next().unwrap_or_default();
    usize::from_str_radix(start, 16).map_err(io::Error::other)
}

/// Descriptors besides the standard ones.
fn inherited_descriptors(_: &[&str]) -> Attempt {
    let is_open = |descriptor: &usize| call(libc::SYS_fcntl, &[*descriptor, libc::F_GETFD as usize]).is_ok();
    let open: Vec<usize> = (3..4096).filter(is_open).collect();
    if open.is_empty() { Err(Failure::without_errno("none")) } else { Ok(format!("{open:?}")) }
}

fn signal(parameters: &[&str]) -> Attempt {
    succeeds(libc::SYS_kill, &[number(parameters[0])?, number(parameters[1])?])
}

fn signal_group(parameters: &[&str]) -> Attempt {
    let group = call(libc::SYS_getpgid, &[number(parameters[0])?])?;
    succeeds(libc::SYS_kill, &[group.wrapping_neg(), 0])
}

fn signal_thread(parameters: &[&str]) -> Attempt {
    let pid = number(parameters[0])?;
    succeeds(libc::SYS_tgkill, &[pid, pid, 0])
}

fn handle_of(pid: &str) -> Result<OwnedFd, Failure> {
    Ok(descriptor(libc::SYS_pidfd_open, &[number(pid)?, 0])?)
}

fn signal_by_pidfd(parameters: &[&str]) -> Attempt {
    succeeds(libc::SYS_pidfd_send_signal, &[number_of(&handle_of(parameters[0])?), 0, 0, 0])
}

/// The process is not stopped, and let go when this one exits.
fn ptrace(parameters: &[&str]) -> Attempt {
    const SEIZE: usize = 0x4206;
    succeeds(libc::SYS_ptrace, &[SEIZE, number(parameters[0])?, 0, 0])
}

/// Copies between its memory and an address that is never mapped: only the permission counts.
fn memory(system_call: std::ffi::c_long, parameters: &[&str]) -> Attempt {
    let own = [0_u8; 8];
    let (local, remote) = ([address(&own), own.len()], [0x1000, own.len()]);
    let arguments = [number(parameters[0])?, address(&local), 1, address(&remote), 1, 0];
    is_past_the_permission_check(call(system_call, &arguments))
}

fn take_descriptor(parameters: &[&str]) -> Attempt {
    let handle = handle_of(parameters[0])?;
    // The standard streams of the server, or whichever of these is open.
    let taken = (0..10).map(|wanted| descriptor(libc::SYS_pidfd_getfd, &[number_of(&handle), wanted, 0]));
    let mut last = Failure::without_errno("no descriptor");
    for taken in taken {
        match taken {
            Ok(_) => return Ok("took a descriptor".to_owned()),
            Err(error) => last = error.into(),
        }
    }
    Err(last)
}

/// Sets the limit of open files of a process to what it is.
fn limits(parameters: &[&str]) -> Attempt {
    let (pid, resource) = (number(parameters[0])?, libc::RLIMIT_NOFILE as usize);
    let mut now = [0_u64; 2];
    call(libc::SYS_prlimit64, &[pid, resource, 0, address_mut(&mut now)])?;
    succeeds(libc::SYS_prlimit64, &[pid, resource, address(&now), 0])
}

/// Sets the priority of a process to what it is. The kernel returns 20 less the nice value.
fn priority(parameters: &[&str]) -> Attempt {
    let pid = number(parameters[0])?;
    let now = call(libc::SYS_getpriority, &[libc::PRIO_PROCESS as usize, pid])?;
    succeeds(libc::SYS_setpriority, &[libc::PRIO_PROCESS as usize, pid, 20_usize.wrapping_sub(now)])
}

/// Sets the processors of a process to what they are.
fn affinity(parameters: &[&str]) -> Attempt {
    let (pid, mut mask) = (number(parameters[0])?, [0_u8; 128]);
    let length = call(libc::SYS_sched_getaffinity, &[pid, mask.len(), address_mut(&mut mask)])?;
    succeeds(libc::SYS_sched_setaffinity, &[pid, length, address(&mask)])
}

/// Compares descriptors with those of another process, which gives away addresses in the kernel.
fn compare(parameters: &[&str]) -> Attempt {
    let (own, other) = (std::process::id() as usize, number(parameters[0])?);
    is_past_the_permission_check(call(libc::SYS_kcmp, &[own, other, 0, 0, 0]))
}

/// Attaches shared memory of another process.
fn segment(parameters: &[&str]) -> Attempt {
    call(libc::SYS_shmat, &[number(parameters[0])?, 0, 0])?;
    Ok("attached".to_owned())
}
