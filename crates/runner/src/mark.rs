//! Process marks: every process of a call inherits them, so that it can be recognised wherever it goes.
//!
//! There are two marks. One is an environment variable, which a process may clear when it starts another. The other is
//! a number, set as the hard limit on file locks (`RLIMIT_LOCKS`): no Linux kernel since 2.4 has enforced that limit.
//! It survives `fork`, `exec`, `setsid`, a cleared environment and closed descriptors, and can be read from a zombie as
//! well. An unprivileged process can only lower it. Below the numbers of this server it is no mark, and an orphan
//! without a mark is killed.
//!
//! A process can take the mark of another running call: by its limit that of an earlier call, by its environment that of
//! any. Then it counts as a process of that call: it outlives its own call, and is killed at the end of the other one.
//! That affects no other process. In a control group it is killed with its own call all the same.

use crate::random;
use std::ffi::{OsStr, OsString};
use std::sync::LazyLock;

/// The number of a call. The first is 1.
pub(crate) type CallNumber = u32;

/// The environment variable that is the mark of a call. A server that runs inside a call of another one appends its own
/// mark to the one it was given, so that each server finds its own.
pub(crate) const VARIABLE: &str = "MCP_CALL_ID";

/// How many bytes a mark takes in the ledger of the warden.
pub(crate) const ENCODED: usize = 24;

/// The mark of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// 16 hexadecimal digits.
    secret: String,
    /// The upper half of the limit; the lower half is the number of the call. 0 if the limit cannot be used.
    base: u64,
}

/// The mark of this process.
pub(crate) static OURS: LazyLock<Mark> = LazyLock::new(|| {
    // Right after boot there may be no random numbers; then the pid is used.
    let secret = random::hex::<8>().unwrap_or_else(|_| format!("{:016x}", std::process::id()));
    Mark { secret, base: limits::settle() }
});

/// The mark that this process was given, by a server that runs it as one of its calls.
static INHERITED: LazyLock<Option<OsString>> = LazyLock::new(|| std::env::var_os(VARIABLE));

impl Mark {
    /// The value of [`VARIABLE`] for a call.
    pub(crate) fn value(&self, call: CallNumber) -> OsString {
        let mut value = INHERITED.clone().map_or_else(OsString::new, |mut outer| {
            outer.push(",");
            outer
        });
        value.push(format!("{}-{call}", self.secret));
        value
    }

    /// The call that a value of [`VARIABLE`] names, if it is a call of this server.
    pub(crate) fn call_in(&self, value: &[u8]) -> Option<CallNumber> {
        let mut names = std::str::from_utf8(value).ok()?.split(',');
        names.find_map(|name| name.strip_prefix(&*self.secret)?.strip_prefix('-')?.parse().ok())
    }

    pub(crate) fn encode(&self) -> [u8; ENCODED] {
        let mut bytes = [0; ENCODED];
        bytes[..16].copy_from_slice(self.secret.as_bytes());
        bytes[16..].copy_from_slice(&self.base.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; ENCODED]) -> Option<Self> {
        let (secret, base) = bytes.split_at(16);
        Some(Self {
            secret: String::from_utf8(secret.to_vec()).ok().filter(|secret| secret.len() == 16)?,
            base: u64::from_le_bytes(base.try_into().ok()?),
        })
    }
}

/// The value of [`VARIABLE`] that this process was given.
pub(crate) fn inherited() -> Option<&'static OsStr> {
    INHERITED.as_deref()
}

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod limits {
    /// Other systems have no such limit.
    pub(super) fn settle() -> u64 {
        0
    }
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod limits {
    use super::{CallNumber, Mark, VARIABLE};
    use crate::leftovers::proc;
    use crate::random;
    use crate::system_calls::limits_on_locks;
    use rustix::process::{Pid, Resource, Rlimit, geteuid, getpid, getrlimit, setrlimit};
    use std::sync::OnceLock;

    /// The mask of the call number: the lower half of the limit.
    const LOWER: u64 = u32::MAX as u64;

    /// The number of the server itself and of everything it starts that is not a call. It is above those of all calls,
    /// so that a process of a call, which can only lower its limit, cannot take it.
    const SERVER: u64 = LOWER;

    /// The soft limit that this process was started with.
    static INHERITED_SOFT: OnceLock<u64> = OnceLock::new();

    /// Some programs read higher limits as negative numbers.
    const HIGHEST_BASE: u64 = 0x7fff_ffff;

    /// The mark that a process carries.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Carried {
        /// The mark of a call of this server.
        Call(CallNumber),
        /// The mark of the server: a process that it has started for itself.
        Server,
        Nothing,
    }

    /// Chooses the base, and sets the mark of the server on this process, which its children inherit. Returns 0 if the
    /// limit cannot be used.
    pub(super) fn settle() -> u64 {
        let Rlimit { current, maximum } = getrlimit(Resource::Locks);
        let _ = INHERITED_SOFT.set(current.unwrap_or(u64::MAX));
        // A server that runs inside a call of another one can only use limits below the mark of that call.
        let room = maximum.map_or(HIGHEST_BASE, |hard| (hard >> 32).saturating_sub(1).min(HIGHEST_BASE));
        if room == 0 {
            return 0;
        }
        let number = random::bytes::<8>().map_or(u64::from(std::process::id()), u64::from_le_bytes);
        let base = (number % room + 1) << 32;
        let ours = Rlimit { current: Some(base | SERVER), maximum };
        if setrlimit(Resource::Locks, ours).is_ok()
            && getrlimit(Resource::Locks).current == Some(base | SERVER)
        {
            base
        } else {
            0
        }
    }

    impl Mark {
        /// Whether the limit is used as a mark.
        pub(crate) fn is_on_limits(&self) -> bool {
            self.base != 0
        }

        /// The limit that is the mark of a call.
        pub(crate) fn limit(&self, call: CallNumber) -> Option<u64> {
            self.is_on_limits().then(|| self.base | u64::from(call))
        }

        /// The mark in the limits of a process, which may be a zombie. `None` when there is no such process,
        /// or its limits may not be read.
        pub(crate) fn on_limits(&self, process: Pid) -> Option<Carried> {
            let (soft, hard) = limits_on_locks(process).or_else(|| proc::limits_on_locks(process))?;
            Some(if hard & !LOWER == self.base && hard & LOWER != SERVER {
                CallNumber::try_from(hard & LOWER).map_or(Carried::Nothing, Carried::Call)
            } else if Some(hard) == limits_on_locks(getpid()).map(|(_, hard)| hard)
                && self.is_before_calls(soft)
            {
                Carried::Server
            } else {
                Carried::Nothing
            })
        }

        /// For a process with the hard limit of the server: whether its soft limit shows that the server has started it
        /// for itself, or that it existed before the server. The latter is not concluded under root, whose processes
        /// can raise their limits.
        fn is_before_calls(&self, soft: u64) -> bool {
            soft == self.base | SERVER || (INHERITED_SOFT.get() == Some(&soft) && !geteuid().is_root())
        }

        /// The call that [`VARIABLE`] names in the environment of a process.
        pub(crate) fn in_environment(&self, process: Pid) -> Option<CallNumber> {
            self.call_in(&proc::variable(process, VARIABLE)?)
        }
    }
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub(crate) use limits::Carried;
