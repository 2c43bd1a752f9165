//! Worker footprint: platforms that report neither. A worker is as light as it says.

use crate::cgroup::CallGroup;
use crate::mark::CallNumber;
use rustix::process::Pid;

#[derive(Debug)]
pub(crate) struct Footprint;

impl Footprint {
    pub(crate) fn of(_leader: Pid, _number: CallNumber, _group: Option<&CallGroup>) -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "on Linux it is needed")]
    pub(crate) fn memory(&self) -> Option<u64> {
        None
    }

    #[expect(clippy::unused_self, reason = "on Linux it is needed")]
    pub(crate) fn memory_of_all(&self) -> Option<u64> {
        None
    }

    #[expect(clippy::unused_self, reason = "on Linux it is needed")]
    pub(crate) fn has_others(&self) -> bool {
        false
    }
}
