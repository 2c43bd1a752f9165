//! Worker footprint: the memory of a worker and the processes it has started. It is read after each call, so it costs a
//! system call or two.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::Footprint;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Footprint;
