//! Privileges: other users, setuid programs, capabilities, devices, terminals.

use super::attack::{Attack, Attempt, Failure, is_past_the_permission_check};
use super::system_call::{address, call, number_of, text};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "become", usage: "UID", run: become_user },
    Attack { name: "identity", usage: "", run: identity },
    Attack { name: "setuid-program", usage: "PROGRAM", run: setuid_program },
    Attack { name: "capabilities", usage: "", run: capabilities },
    Attack { name: "new-privileges", usage: "", run: new_privileges },
    Attack { name: "device", usage: "OWN-FOLDER", run: device },
    Attack { name: "type-into", usage: "TERMINAL", run: type_into },
    Attack { name: "type-into-input", usage: "", run: |_| on_standard_input(libc::TIOCSTI as usize) },
    Attack {
        name: "type-with-high-bits",
        usage: "",
        run: |_| on_standard_input(libc::TIOCSTI as usize | 1 << 32),
    },
    Attack { name: "console-selection", usage: "", run: |_| on_standard_input(libc::TIOCLINUX as usize) },
];

fn become_user(parameters: &[&str]) -> Attempt {
    let uid = parameters[0].parse().map_err(|_| Failure::without_errno("not a user"))?;
    call(libc::SYS_setuid, &[uid])?;
    Ok(format!("is user {uid}"))
}

/// Whether it is root, for `setuid-program`.
fn identity(_: &[&str]) -> Attempt {
    match call(libc::SYS_geteuid, &[])? {
        0 => Ok("is root".to_owned()),
        uid => Err(Failure::without_errno(format!("is user {uid}"))),
    }
}

/// Runs a copy of this program that belongs to root and has the setuid bit.
fn setuid_program(parameters: &[&str]) -> Attempt {
    let output = Command::new(parameters[0]).arg("identity").output()?;
    if String::from_utf8_lossy(&output.stdout).contains("is root") {
        Ok("ran as root".to_owned())
    } else {
        Err(Failure::without_errno("ran as itself"))
    }
}

fn capabilities(_: &[&str]) -> Attempt {
    const VERSION_3: u32 = 0x2008_0522;
    // Effective, permitted and inheritable ones, twice 32 of each.
    let (header, sets) = ([VERSION_3, 0], [0_u32; 6]);
    call(libc::SYS_capget, &[address(&header), address(&sets)])?;
    if sets.iter().all(|set| *set == 0) {
        return Err(Failure::without_errno("none"));
    }
    Ok(format!("effective {:x}{:08x}", sets[3], sets[0]))
}

/// Whether a program with the setuid bit would still give privileges.
fn new_privileges(_: &[&str]) -> Attempt {
    match call(libc::SYS_prctl, &[libc::PR_GET_NO_NEW_PRIVS as usize, 0, 0, 0, 0])? {
        0 => Ok("execve may give privileges".to_owned()),
        _ => Err(Failure::without_errno("execve gives no privileges")),
    }
}

/// A copy of `/dev/null`.
fn device(parameters: &[&str]) -> Attempt {
    let path = text(&format!("{}/device", parameters[0]));
    let (here, mode) = (libc::AT_FDCWD as usize, (libc::S_IFCHR | 0o600) as usize);
    let number = libc::makedev(1, 3) as usize;
    call(libc::SYS_mknodat, &[here, address(path.as_bytes_with_nul()), mode, number])?;
    Ok("made a device".to_owned())
}

/// Types a letter into the terminal of somebody else.
fn type_into(parameters: &[&str]) -> Attempt {
    let terminal =
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(parameters[0])?;
    call(libc::SYS_ioctl, &[number_of(&terminal), libc::TIOCSTI as usize, address(b"#")])?;
    Ok("typed".to_owned())
}

/// Standard input is no terminal, which the kernel says only if the request reaches it.
fn on_standard_input(request: usize) -> Attempt {
    is_past_the_permission_check(call(libc::SYS_ioctl, &[0, request, address(b"#")]))
}
