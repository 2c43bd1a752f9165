//! The mechanisms of Linux.

pub(crate) mod advice;
mod capabilities;
pub(crate) mod landlock;
mod machine;
pub(crate) mod namespaces;
pub(crate) mod probe;
pub(crate) mod watch;

pub(crate) use capabilities::drop_capabilities;
