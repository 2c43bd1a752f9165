//! Control groups for calls, on platforms that have them.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::{CallGroup, end, memory_ran_out, prepare, remove_all, take};
#[cfg(target_os = "linux")]
pub use linux::{are_there, give_up, note_memory_kills};

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{CallGroup, end, memory_ran_out, prepare, remove_all, take};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{are_there, give_up, note_memory_kills};
