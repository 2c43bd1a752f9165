//! Scripts, from the point of view of a caller: real projects in temporary folders, real processes, no protocol.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

mod answers;
mod confinement;
mod definitions;
mod policy;
mod project;
mod server_scripts;
mod tool_calls;
