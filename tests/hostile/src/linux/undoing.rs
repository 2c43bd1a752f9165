//! Tries to undo restrictions, and then what they forbid.

use super::attack::{Attack, Attempt, Failure};
use super::files::read;
use super::kernel::keyctl;
use super::system_call::{address, call, descriptor, number_of, text};

pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "undo-seccomp", usage: "", run: undo_seccomp },
    Attack { name: "undo-landlock", usage: "FILE", run: undo_landlock },
    Attack { name: "undo-limits", usage: "", run: undo_limits },
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

/// Raises a limit above the highest value that it may have.
fn undo_limits(_: &[&str]) -> Attempt {
    let highest = [u64::MAX; 2];
    let limits =
        [libc::RLIMIT_DATA, libc::RLIMIT_NPROC, libc::RLIMIT_NOFILE, libc::RLIMIT_CPU, libc::RLIMIT_FSIZE];
    let mut last = Failure::without_errno("no limit");
    for limit in limits {
        let now = [0_u64; 2];
        call(libc::SYS_prlimit64, &[0, limit as usize, 0, address(&now)])?;
        // A limit that is the highest already needs no raising; that of open files cannot be raised that far.
        if now[1] == u64::MAX || limit == libc::RLIMIT_NOFILE {
            continue;
        }
        match call(libc::SYS_prlimit64, &[0, limit as usize, address(&highest), 0]) {
            Ok(_) => return Ok(format!("raised limit {limit}")),
            Err(error) => last = error.into(),
        }
    }
    Err(last)
}
