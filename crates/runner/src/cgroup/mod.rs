//! Control groups for calls, on platforms that have them.

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub(crate) use linux::{CallGroup, end, memory_ran_out, prepare, remove_all, take};
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub use linux::{are_there, give_up, note_memory_kills, powers};

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod elsewhere;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
pub(crate) use elsewhere::{CallGroup, end, memory_ran_out, prepare, remove_all, take};
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
pub use elsewhere::{are_there, give_up, note_memory_kills, powers};
