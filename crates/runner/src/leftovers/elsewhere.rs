//! Systems that do not give us orphans to adopt.

use rustix::process::Pid;

pub(crate) fn prepare() {}

/// There may always be something left in the group.
pub(crate) fn may_exist() -> bool {
    true
}

pub(crate) fn end() {}

pub(crate) async fn end_aside() {}

pub(crate) fn tidy() {}

/// Its leader is dead, but not yet buried, and keeps us from seeing who else there is.
pub(crate) fn group_is_alive(_leader: Pid) -> bool {
    false
}
