//! Which call an orphan belongs to.

use super::proc::Status;
use crate::calls::CALLS;
use crate::mark::{Carried, Number, OURS};
use rustix::process::{Pid, getpgrp};
use std::time::{Duration, Instant};

/// How long a process that was killed may take to be gone. Only the kernel can make it take as long.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whose an orphan is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    Call(Number),
    /// Nothing about it names its call. It is of one of those that were alive when it was first seen.
    OneOf(Vec<Number>),
    /// Not an orphan at all, but started by this process itself and not by a runner.
    Us,
    /// Nobody's any more: it was killed at that time, and should be gone.
    Killed(Instant),
    /// It cannot be killed: it runs as another user, or the kernel does not let go of it.
    BeyondReach,
}

impl Owner {
    pub(super) fn of(orphan: Pid, status: Status) -> Self {
        let is_ours = status.group == Some(getpgrp());
        match OURS.on(orphan) {
            Carried::Call(call) => Self::Call(call),
            Carried::Server => Self::Us,
            Carried::Nothing => match status.group.and_then(|group| CALLS.led_by(group)) {
                Some(call) => Self::Call(call),
                // We may have started it before we were marked.
                None if is_ours => Self::Us,
                None => Self::OneOf(CALLS.alive()),
            },
        }
    }

    /// What a second look makes of it. Whichever calls are alive by now, it is of one that was so at the first.
    pub(super) fn again(self, orphan: Pid, status: Status) -> Self {
        match self {
            Self::OneOf(_) => match Self::of(orphan, status) {
                Self::OneOf(_) => self,
                certain => certain,
            },
            certain => certain,
        }
    }

    /// Whether a call that goes on may own it.
    pub(super) fn is_alive(&self) -> bool {
        match self {
            Self::Call(call) => CALLS.is_alive(*call),
            Self::OneOf(calls) => calls.iter().any(|call| CALLS.is_alive(*call)),
            Self::Killed(_) => false,
            Self::Us | Self::BeyondReach => true,
        }
    }

    /// What to make of it after it was killed, or could not be.
    pub(super) fn after(self, killed: bool) -> Self {
        match self {
            _ if !killed => Self::BeyondReach,
            // Later calls are not to wait for it again.
            Self::Killed(since) if since.elapsed() > PATIENCE => Self::BeyondReach,
            Self::Killed(since) => Self::Killed(since),
            _ => Self::Killed(Instant::now()),
        }
    }

    /// Whether the dead one may be buried. The leaders of calls are not ours to bury, and one that has only just been
    /// started is not known as such yet.
    pub(super) fn lets_bury(&self) -> bool {
        match self {
            Self::Call(call) => !CALLS.starting().contains(call),
            Self::OneOf(_) | Self::Killed(_) | Self::BeyondReach => true,
            Self::Us => false,
        }
    }
}
