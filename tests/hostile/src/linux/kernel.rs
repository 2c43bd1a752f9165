//! Parts of the kernel that a tool has no need for, and in which privileges were gained before.

use super::attack::{Attack, Attempt, Failure, is_past_the_permission_check};
use super::system_call::{address, address_mut, call, descriptor, text};
use std::io;

pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "add-key", usage: "", run: add_key },
    Attack { name: "request-key", usage: "", run: request_key },
    Attack {
        name: "keyctl",
        usage: "",
        run: |_| keyctl().map(|_| "has a keyring".to_owned()).map_err(Failure::from),
    },
    Attack { name: "io-uring", usage: "", run: io_uring },
    Attack { name: "bpf", usage: "", run: bpf },
    Attack { name: "perf", usage: "", run: perf },
    Attack { name: "userfaultfd", usage: "", run: userfaultfd },
    Attack { name: "fanotify", usage: "", run: |_| makes(libc::SYS_fanotify_init, &[0x200, 0]) },
    Attack { name: "kernel-log", usage: "", run: |_| nonsense(libc::SYS_syslog, &[10, 0, 0]) },
    Attack { name: "module", usage: "", run: |_| nonsense(libc::SYS_init_module, &[0, 0, 0]) },
    Attack { name: "kexec", usage: "", run: |_| nonsense(libc::SYS_kexec_load, &[0, 0, 0, 0xffff]) },
    Attack { name: "hostname", usage: "", run: |_| nonsense(libc::SYS_sethostname, &[0, usize::MAX]) },
    Attack { name: "swap", usage: "", run: swap },
    Attack { name: "ports", usage: "", run: ports },
    Attack { name: "personality", usage: "", run: personality },
    Attack { name: "x32", usage: "", run: x32 },
    Attack { name: "i386", usage: "", run: i386 },
];

fn nonsense(number: std::ffi::c_long, arguments: &[usize]) -> Attempt {
    is_past_the_permission_check(call(number, arguments))
}

fn makes(number: std::ffi::c_long, arguments: &[usize]) -> Attempt {
    descriptor(number, arguments)?;
    Ok("made".to_owned())
}

fn add_key(_: &[&str]) -> Attempt {
    const OWN_PROCESS: isize = -2;
    let (kind, name) = (text("user"), text("hostile"));
    let (kind, name) = (address(kind.as_bytes_with_nul()), address(name.as_bytes_with_nul()));
    call(libc::SYS_add_key, &[kind, name, address(b"key"), 3, OWN_PROCESS as usize])?;
    Ok("added a key".to_owned())
}

fn request_key(_: &[&str]) -> Attempt {
    let (kind, name) = (text("user"), text("hostile-not-there"));
    nonsense(
        libc::SYS_request_key,
        &[address(kind.as_bytes_with_nul()), address(name.as_bytes_with_nul()), 0, 0],
    )
}

/// Asks for the id of the keyring of its user.
pub(super) fn keyctl() -> io::Result<usize> {
    const GET_ID: usize = 0;
    const OF_USER: isize = -4;
    call(libc::SYS_keyctl, &[GET_ID, OF_USER as usize, 1])
}

fn io_uring(_: &[&str]) -> Attempt {
    let mut parameters = [0_u8; 120];
    makes(libc::SYS_io_uring_setup, &[1, address_mut(&mut parameters)])
}

/// An array of one element.
fn bpf(_: &[&str]) -> Attempt {
    let attributes = [2_u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    makes(libc::SYS_bpf, &[0, address(&attributes), size_of_val(&attributes)])
}

/// The clock of this process, without the kernel.
fn perf(_: &[&str]) -> Attempt {
    const EXCLUDE_KERNEL: u64 = 1 << 5;
    const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    let mut attributes = [0_u64; 16];
    attributes[0] = 1 | (size_of_val(&attributes) as u64) << 32;
    attributes[5] = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
    makes(libc::SYS_perf_event_open, &[address(&attributes), 0, usize::MAX, usize::MAX, 0])
}

fn userfaultfd(_: &[&str]) -> Attempt {
    const USER_MODE_ONLY: usize = 1;
    makes(libc::SYS_userfaultfd, &[USER_MODE_ONLY])
}

fn swap(_: &[&str]) -> Attempt {
    let nowhere = text("/nowhere/at/all");
    nonsense(libc::SYS_swapon, &[address(nowhere.as_bytes_with_nul()), 0])
}

/// A port of the machine at which nothing is.
fn ports(_: &[&str]) -> Attempt {
    #[cfg(target_arch = "x86_64")]
    return nonsense(libc::SYS_ioperm, &[0x80, 1, 1]);
    #[cfg(not(target_arch = "x86_64"))]
    Err(Failure::without_errno("not on this processor"))
}

/// Addresses that can be guessed, for programs that it starts.
fn personality(_: &[&str]) -> Attempt {
    call(libc::SYS_personality, &[libc::ADDR_NO_RANDOMIZE as usize])?;
    Ok("addresses are no longer random".to_owned())
}

/// The same calls under other numbers.
fn x32(_: &[&str]) -> Attempt {
    const X32: std::ffi::c_long = 0x4000_0000;
    call(X32 | libc::SYS_getpid, &[])?;
    Ok("made an x32 call".to_owned())
}

/// The same calls under the numbers of 32-bit programs. A kernel without them ends the process.
#[cfg(target_arch = "x86_64")]
fn i386(_: &[&str]) -> Attempt {
    use super::system_call::{call_as_i386, in_child};
    const KEYCTL: u32 = 288;
    const GET_ID: u32 = 0;
    let status =
        in_child(|| u8::from([-libc::EPERM, -libc::ENOSYS].contains(&call_as_i386(KEYCTL, GET_ID))))?;
    match status.code() {
        Some(0) => Ok("made a 32-bit call".to_owned()),
        Some(_) => Err(Failure::without_errno("refused")),
        None => Err(Failure::without_errno(status.to_string())),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn i386(_: &[&str]) -> Attempt {
    Err(Failure::without_errno("not on this processor"))
}
