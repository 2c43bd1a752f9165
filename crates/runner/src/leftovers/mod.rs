//! Leftovers: finds and kills the processes that remain of calls which have ended.
//!
//! On Linux this process is a *subreaper*: a descendant that loses its parent becomes its child. So once the leader of
//! a call is dead, every remaining process of the call is our child or descends from one, whatever groups, sessions and
//! environments it has made for itself, and `/proc/PID/task/TID/children` says whether there is any. A plain call
//! leaves none, and costs one read of an empty list. Otherwise the mark of an orphan tells which call it belongs to.
//! The orphan is killed if that call is not running any more, or if it carries no mark.
//!
//! Other systems have no subreapers. There, the process table is read, and a process belongs to a call by its group, its
//! parent, the process that started it, or the mark in its environment (`elsewhere/families.rs`).

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod adopted;
#[cfg(not(target_vendor = "apple"))]
pub(crate) mod proc;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub(crate) mod process;

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub(crate) use adopted::{end, end_without_waiting, group_is_alive, has_orphans_of, prepare, reap_and_kill};

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod elsewhere;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
pub(crate) use elsewhere::{
    end, end_without_waiting, group_is_alive, has_others_of, kill_remains, note_leader, prepare,
    process_table, reap_and_kill,
};
