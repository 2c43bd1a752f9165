//! Base of all commands: common options, errors, exit codes.

pub(crate) mod common;
pub(crate) mod error;
pub(crate) mod exit;
