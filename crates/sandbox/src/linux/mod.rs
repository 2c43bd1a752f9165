//! The mechanisms of Linux.

mod capabilities;
pub(crate) mod landlock;
mod machine;
pub(crate) mod namespaces;

pub(crate) use capabilities::drop_capabilities;
