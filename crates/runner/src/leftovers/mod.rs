//! What is left of calls that have ended: found wherever it went, and killed.
//!
//! On Linux this process is a *subreaper*: whoever descends from it and loses its parent becomes its child. So once
//! the leader of a call is dead, every process that is left of the call is our child or descends from one, whatever
//! groups, sessions and environments it has made for itself, and a list that the kernel keeps says whether there is
//! any. A plain call leaves none, and costs one look at an empty list. Otherwise the marks tell which call an orphan
//! is of, and those that no living call owns are killed; so is what carries no mark.
//!
//! Elsewhere there are no subreapers, and the group of a call is all that can be ended.

#[cfg(target_os = "linux")]
mod adopted;
#[cfg(target_os = "linux")]
pub(crate) mod proc;
#[cfg(target_os = "linux")]
pub(crate) mod process;

#[cfg(target_os = "linux")]
pub(crate) use adopted::{end, end_at_once, group_is_alive, prepare, tidy};

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{end, end_at_once, group_is_alive, prepare, tidy};
