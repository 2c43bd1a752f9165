//! Control groups: platforms that have none.

use mcp_bash_sandbox::{GroupLimits, GroupPowers};
use std::io;
use std::path::Path;

/// No value of this type exists.
#[derive(Debug)]
pub(crate) enum CallGroup {}

pub fn powers() -> GroupPowers {
    GroupPowers::default()
}

#[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
pub(crate) fn take(_limits: GroupLimits) -> io::Result<Option<CallGroup>> {
    Ok(None)
}

pub(crate) fn prepare() {}

pub fn are_there() -> bool {
    false
}

pub fn give_up() {}

pub fn note_memory_kills() {}

pub(crate) fn memory_ran_out() -> bool {
    false
}

pub(crate) fn remove_all() {}

pub(crate) fn end(_group: &Path) {}

impl CallGroup {
    pub(crate) fn is_empty(&self) -> bool {
        match *self {}
    }

    pub(crate) fn kill(&self) -> bool {
        match *self {}
    }

    pub(crate) fn give_back(self) {
        match self {}
    }
}
