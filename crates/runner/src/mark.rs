//! What the processes of a call carry, so that they can be told wherever they went.
//!
//! Two marks, both handed on from parent to child by the system. One is an environment variable, which a process may
//! clear when it starts another. The other is a number, kept where Linux keeps the soft limit on file locks: no kernel
//! since 2.4 has enforced that limit, and nothing but a program made for it would touch it. The number stays through
//! `fork`, `exec`, `setsid`, a cleared environment and closed descriptors, and can be read of the dead as well.

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
    /// The upper half of the number, never 0; the lower one is the call's.
    base: u64,
}

/// The mark of this process.
pub(crate) static OURS: LazyLock<Mark> = LazyLock::new(|| {
    // Without random numbers, which only a machine in its first seconds lacks, our own number has to do.
    let secret = random::hex::<8>().unwrap_or_else(|_| format!("{:016x}", std::process::id()));
    let upper = random::bytes::<4>().map_or(std::process::id(), u32::from_le_bytes);
    // The highest bit stays free: some read limits as signed.
    Mark { secret, base: u64::from(upper & 0x7fff_ffff | 1) << 32 }
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

#[cfg(target_os = "linux")]
mod branding {
    use super::{Mark, Number, VARIABLE};
    use crate::leftovers::proc;
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};
    use std::sync::LazyLock;

    /// Whose mark a process carries.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Carried {
        /// That of one of our calls.
        Call(Number),
        /// Ours, but no call's: this process has started it for itself.
        Server,
        Nothing,
    }

    impl Mark {
        /// Marks this process as ours and no call's, and with it whatever it starts that is not marked otherwise.
        pub(crate) fn put_on_us(&self) {
            let (current, maximum) = self.limits(0);
            let _ = setrlimit(Resource::Locks, Rlimit { current: Some(current), maximum });
        }

        /// The soft limit that marks a process of a call, and the hard one that it has anyway.
        pub(crate) fn limits(&self, call: Number) -> (u64, Option<u64>) {
            static HARD: LazyLock<Option<u64>> = LazyLock::new(|| getrlimit(Resource::Locks).maximum);
            (self.base | u64::from(call), *HARD)
        }

        /// Looks a process over, a dead one too.
        pub(crate) fn on(&self, process: Pid) -> Carried {
            let number = proc::limit_on_locks(process).filter(|number| number & !LOWER == self.base);
            match number.and_then(|number| Number::try_from(number & LOWER).ok()) {
                Some(call) if call > 0 => Carried::Call(call),
                unnamed => match self.in_environment(process) {
                    Some(call) => Carried::Call(call),
                    None if unnamed.is_some() => Carried::Server,
                    None => Carried::Nothing,
                },
            }
        }

        fn in_environment(&self, process: Pid) -> Option<Number> {
            let value = proc::variable(process, VARIABLE)?;
            let value = std::str::from_utf8(&value).ok()?;
            value
                .split(',')
                .find_map(|name| name.strip_prefix(&*self.secret)?.strip_prefix('-')?.parse().ok())
        }
    }

    /// The half of the number that is the call's.
    const LOWER: u64 = u32::MAX as u64;
}

#[cfg(target_os = "linux")]
pub(crate) use branding::Carried;
