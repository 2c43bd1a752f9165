//! The mechanisms of Linux.

mod capabilities;
pub mod landlock;
mod machine;
pub mod namespaces;

pub(crate) use capabilities::drop_capabilities;
