//! The mechanisms of Linux.

mod capabilities;
pub(crate) mod landlock;
mod machine;
pub(crate) mod namespaces;
pub(crate) mod watch;

pub(crate) use capabilities::drop_capabilities;
