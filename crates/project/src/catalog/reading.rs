//! Options for reading a project.

use crate::walk::run::Run;
use crate::walk::sign::Asks;
use std::path::PathBuf;
use std::sync::Arc;

/// Options for reading a project.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is decided by itself")]
pub struct Reading {
    /// Runs the processes that reading takes: executables that provide tools, and the hook. Without it, neither runs.
    pub run: Option<Arc<dyn Run>>,
    pub asks: Asks,
    /// Whether one executable that does not answer makes the whole list fail.
    pub strict_providers: bool,
    /// The largest `register.json`, in bytes.
    pub registration_limit: u64,
    /// The largest registry, in bytes.
    pub registry_limit: usize,
    /// Whether the registry is used without looking at the project.
    pub static_registry: bool,
    /// Whether `server.d/register.sh` may run.
    pub hooks: bool,
    /// The only part of the project that is walked; the rest comes from the registry.
    pub only: Option<PathBuf>,
    /// Whether the project is read again when it changes or a temporary failure passes: entries that were good stay until
    /// then.
    pub is_followed: bool,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            run: None,
            asks: Asks::Signed,
            strict_providers: false,
            registration_limit: 1024 * 1024,
            registry_limit: 100 * 1024 * 1024,
            static_registry: false,
            hooks: false,
            only: None,
            is_followed: false,
        }
    }
}
