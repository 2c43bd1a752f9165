//! Worker footprint: the memory of a worker and the processes it has started. It is read after each call, so it costs a
//! system call or two.

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub(crate) use linux::Footprint;

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod elsewhere;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
pub(crate) use elsewhere::Footprint;
