//! The mechanisms of this machine, tried once.

#![expect(unsafe_code, reason = "no crate we use asks the kernel about filters")]

use super::landlock::{LandlockRights, shortage};
use super::namespaces::Namespaces;
use crate::filter_choices::{FilterChoices, Sockets};
use crate::plan::{GroupPowers, LandlockPowers, Machine, NamespacePowers};
use crate::seccomp::Filter;
use rustix::io::Errno;
use std::io;
use std::sync::OnceLock;

/// A port that a namespace is tried with.
const TRIED_PORT: u16 = 3128;

impl Machine {
    /// This machine. The first use starts a process or two, to try namespaces. After a shortage the next use tries again: it
    /// must not be taken for a machine without the mechanism.
    pub fn this() -> Result<&'static Self, Errno> {
        static THIS: OnceLock<Machine> = OnceLock::new();
        if let Some(known) = THIS.get() {
            return Ok(known);
        }
        let tried = Self {
            landlock: landlock()?,
            seccomp: seccomp(),
            namespaces: match namespaces() {
                Ok(powers) => Ok(powers),
                Err(error) => Err(shortage(&error).map_or_else(|| Ok(error.to_string()), Err)?),
            },
            is_root: rustix::process::geteuid().is_root(),
            groups: GroupPowers::default(),
        };
        Ok(THIS.get_or_init(|| tried))
    }
}

fn landlock() -> Result<Result<LandlockPowers, String>, Errno> {
    let none =
        "the kernel has no Landlock (Linux 5.13 and later have it), or it is switched off or forbidden here";
    let rights = LandlockRights::of_kernel()?.ok_or_else(|| none.to_owned());
    Ok(rights.map(|rights| LandlockPowers {
        all_writes: rights.holds_all_writes(),
        tcp_ports: rights.holds_tcp_ports(),
        signals: rights.holds_signals(),
        abstract_sockets: rights.holds_abstract_sockets(),
        unix_sockets: rights.holds_unix_sockets(),
    }))
}

fn seccomp() -> Result<(), String> {
    let choices = FilterChoices { sockets: Sockets::None, unix_sockets: true };
    if Filter::new(choices).is_none() {
        return Err("system calls are not filtered on this processor".into());
    }
    if !can_filter() {
        return Err("the kernel does not filter system calls, or it is forbidden here".into());
    }
    Ok(())
}

fn namespaces() -> io::Result<NamespacePowers> {
    let (mut made, has_loopback) = match Namespaces::make_new(&[TRIED_PORT]) {
        Ok(made) => (made, true),
        Err(error) if shortage(&error).is_some() => return Err(error),
        Err(_) => (Namespaces::make_new(&[])?, false),
    };
    let powers = NamespacePowers { has_user: made.has_user(), has_loopback };
    made.listeners.clear();
    made.keep_for_later();
    Ok(powers)
}

/// Whether the kernel filters system calls with an error as the answer.
fn can_filter() -> bool {
    const SECCOMP_GET_ACTION_AVAIL: u32 = 2;
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: The kernel only reads the action, which outlives the call.
    unsafe { libc::syscall(libc::SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) == 0 }
}
