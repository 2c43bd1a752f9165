//! What the processes of a call carry, so that they can be told wherever they went.
//!
//! Two marks, both handed on from parent to child by the system. One is an environment variable, which a process may
//! clear when it starts another. The other is a number, kept where Linux keeps the hard limit on file locks: no kernel
//! since 2.4 has enforced that limit. It stays through `fork`, `exec`, `setsid`, a cleared environment and closed
//! descriptors, and can be read of the dead as well. Without privileges a process can only lower it: then it carries no
//! mark of a call at all, and among our children such a one is killed on sight.

use crate::random;
use std::ffi::{OsStr, OsString};
use std::sync::LazyLock;

/// The number of a call. The first is 1.
pub(crate) type Number = u32;

/// The variable that names a call to all its processes. A server that runs inside of a call of another one adds its
/// own name to the one it has, so that both know their own.
pub(crate) const VARIABLE: &str = "MCP_CALL_ID";

/// How many bytes a mark takes where it is handed to the warden.
pub(crate) const ENCODED: usize = 24;

/// The mark of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// 16 hexadecimal digits.
    secret: String,
    /// The upper half of the number, the lower one is the call's. 0 where processes cannot be marked with it.
    base: u64,
}

/// The mark of this process.
pub(crate) static OURS: LazyLock<Mark> = LazyLock::new(|| {
    // Without random numbers, which only a machine in its first seconds lacks, our own number has to do.
    let secret = random::hex::<8>().unwrap_or_else(|_| format!("{:016x}", std::process::id()));
    Mark { secret, base: limits::settle() }
});

/// The variable as this process was given it, by a server that runs it as one of its calls.
static INHERITED: LazyLock<Option<OsString>> = LazyLock::new(|| std::env::var_os(VARIABLE));

impl Mark {
    /// The value of the variable for a call.
    pub(crate) fn value(&self, call: Number) -> OsString {
        let mut value = INHERITED.clone().map_or_else(OsString::new, |mut outer| {
            outer.push(",");
            outer
        });
        value.push(format!("{}-{call}", self.secret));
        value
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

/// The variable as this process was given it.
pub(crate) fn inherited() -> Option<&'static OsStr> {
    INHERITED.as_deref()
}

#[cfg(not(target_os = "linux"))]
mod limits {
    /// There is no such limit elsewhere.
    pub(super) fn settle() -> u64 {
        0
    }
}

#[cfg(target_os = "linux")]
mod limits {
    use super::{Mark, Number, VARIABLE};
    use crate::leftovers::proc;
    use crate::random;
    use crate::system_calls::limits_on_locks;
    use rustix::process::{Pid, Resource, Rlimit, geteuid, getpid, getrlimit, setrlimit};
    use std::sync::OnceLock;

    /// The half of the number that is the call's.
    const LOWER: u64 = u32::MAX as u64;

    /// The number of no call: what this process carries itself, and whatever it starts that is no call. It is above all
    /// others, so that a process of a call cannot take it.
    const SERVER: u64 = LOWER;

    /// The soft limit that this process was started with.
    static INHERITED_SOFT: OnceLock<u64> = OnceLock::new();

    /// Above these some read limits as negative.
    const HIGHEST_BASE: u64 = 0x7fff_ffff;

    /// Whose mark a process carries.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Carried {
        /// That of one of our calls.
        Call(Number),
        /// Ours, but no call's: this process has started it for itself.
        Server,
        Nothing,
    }

    /// Chooses the base, and marks this process as ours and no call's, and with it whatever it starts that is not marked
    /// otherwise. 0 where that is not to be had.
    pub(super) fn settle() -> u64 {
        let Rlimit { current, maximum } = getrlimit(Resource::Locks);
        let _ = INHERITED_SOFT.set(current.unwrap_or(u64::MAX));
        // A server that runs inside of a call of another one can only go below the mark of that call.
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
        /// Whether processes carry the number.
        pub(crate) fn is_on_limits(&self) -> bool {
            self.base != 0
        }

        /// The limit that marks a process of a call.
        pub(crate) fn limit(&self, call: Number) -> Option<u64> {
            self.is_on_limits().then(|| self.base | u64::from(call))
        }

        /// Looks a process over by its limits, a dead one too. `None` when there is none, or it does not let us look.
        pub(crate) fn on_limits(&self, process: Pid) -> Option<Carried> {
            let (soft, hard) = limits_on_locks(process).or_else(|| proc::limits_on_locks(process))?;
            Some(if hard & !LOWER == self.base && hard & LOWER != SERVER {
                Number::try_from(hard & LOWER).map_or(Carried::Nothing, Carried::Call)
            } else if Some(hard) == limits_on_locks(getpid()).map(|(_, hard)| hard)
                && self.is_before_calls(soft)
            {
                Carried::Server
            } else {
                Carried::Nothing
            })
        }

        /// Whether a process whose hard limit is ours has the soft one of a process that we have started for ourselves, or
        /// of one that was there before us. Root can raise limits, so that the latter says nothing of its processes.
        fn is_before_calls(&self, soft: u64) -> bool {
            soft == self.base | SERVER || (INHERITED_SOFT.get() == Some(&soft) && !geteuid().is_root())
        }

        /// The call that the environment of a process names.
        pub(crate) fn in_environment(&self, process: Pid) -> Option<Number> {
            let value = proc::variable(process, VARIABLE)?;
            let value = std::str::from_utf8(&value).ok()?;
            value
                .split(',')
                .find_map(|name| name.strip_prefix(&*self.secret)?.strip_prefix('-')?.parse().ok())
        }
    }
}

#[cfg(target_os = "linux")]
pub(crate) use limits::Carried;
