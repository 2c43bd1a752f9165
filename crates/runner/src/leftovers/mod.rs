//! Leftovers: finds and kills the processes that remain of calls which have ended.
//!
//! On Linux this process is a *subreaper*: a descendant that loses its parent becomes its child. So once the leader of
//! a call is dead, every remaining process of the call is our child or descends from one, whatever groups, sessions and
//! environments it has made for itself, and `/proc/PID/task/TID/children` says whether there is any. A plain call
//! leaves none, and costs one read of an empty list. Otherwise the mark of an orphan tells which call it belongs to.
//! The orphan is killed if that call is not running any more, or if it carries no mark.
//!
//! Other systems have no subreapers; there, only the process group of a call is killed.

#[cfg(target_os = "linux")]
mod adopted;
#[cfg(target_os = "linux")]
pub(crate) mod proc;
#[cfg(target_os = "linux")]
pub(crate) mod process;

#[cfg(target_os = "linux")]
pub(crate) use adopted::{end, end_without_waiting, group_is_alive, has_orphans_of, prepare, reap_and_kill};

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{end, end_without_waiting, group_is_alive, prepare, reap_and_kill};
