//! Tries to undo restrictions, and then what they forbid.

use super::attack::{Attack, Attempt, Failure};
use super::files::read;
use super::kernel::keyctl;
use super::system_call::{address, address_mut, call, descriptor, number_of, text};

pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "undo-seccomp", usage: "", run: undo_seccomp },
    Attack { name: "undo-landlock", usage: "FILE", run: undo_landlock },
    Attack { name: "raise-limit", usage: "LIMIT AT-MOST", run: raise_limit },
];

/// Asks for no filter, then adds one that allows everything, and makes a call that is denied.
fn undo_seccomp(_: &[&str]) -> Attempt {
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const SET_FILTER: usize = 1;
    let _ = call(libc::SYS_prctl, &[libc::PR_SET_SECCOMP as usize, 0, 0, 0, 0]);
    let _ = call(libc::SYS_prctl, &[libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0, 0]);
    let filter = [libc::sock_filter { code: RETURN, jt: 0, jf: 0, k: ALLOW }];
    let program = libc::sock_fprog { len: 1, filter: filter.as_ptr().cast_mut() };
    call(libc::SYS_seccomp, &[SET_FILTER, 0, address(&program)])?;
    keyctl()?;
    Ok("made a call".to_owned())
}

/// Adds rules that allow everything below `/`, and reads.
fn undo_landlock(parameters: &[&str]) -> Attempt {
    const READ_FILE: u64 = 1 << 2;
    const PATH_BENEATH: usize = 1;
    const NO_FLAGS: usize = 0;
    let rules =
        descriptor(libc::SYS_landlock_create_ruleset, &[address(&READ_FILE), size_of_val(&READ_FILE), 0])?;
    let root = text("/");
    let root = descriptor(
        libc::SYS_openat,
        &[libc::AT_FDCWD as usize, address(root.as_bytes_with_nul()), libc::O_PATH as usize],
    )?;
    // Rights, and a descriptor of 32 bits, packed.
    let mut rule = [0_u8; 12];
    rule[..8].copy_from_slice(&READ_FILE.to_ne_bytes());
    rule[8..].copy_from_slice(&(number_of(&root) as u32).to_ne_bytes());
    call(libc::SYS_landlock_add_rule, &[number_of(&rules), PATH_BENEATH, address(&rule), NO_FLAGS])?;
    let _ = call(libc::SYS_prctl, &[libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0, 0]);
    call(libc::SYS_landlock_restrict_self, &[number_of(&rules), NO_FLAGS])?;
    read(parameters[0])
}

/// Raises a limit, unless it is higher than it should be already.
fn raise_limit(parameters: &[&str]) -> Attempt {
    let resource = match parameters[0] {
        "cpuSecs" => libc::RLIMIT_CPU,
        "fileSize" => libc::RLIMIT_FSIZE,
        "openFiles" => libc::RLIMIT_NOFILE,
        name => return Err(Failure::without_errno(format!("no limit: {name}"))),
    } as usize;
    let at_most: u64 = parameters[1].parse().map_err(|_| Failure::without_errno("not a number"))?;
    let mut limits = [0_u64; 2];
    call(libc::SYS_prlimit64, &[0, resource, 0, address_mut(&mut limits)])?;
    if limits[1] > at_most {
        return Ok(format!("the limit is {}", limits[1]));
    }
    limits[1] += 1;
    call(libc::SYS_prlimit64, &[0, resource, address(&limits), 0])?;
    Ok("raised".to_owned())
}
