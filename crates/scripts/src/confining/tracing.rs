//! Access trace: records what the processes of one script access.

use super::cell::Cell;
use super::key::Key;
use super::resolve::always_read;
use mcp_bash_sandbox::{Attempts, Confinement, TracedCall};
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use mcp_bash_sandbox::{HiddenHome, Watch};
use parking_lot::Mutex;
use std::io;
use std::path::{Path, PathBuf};
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use std::sync::Arc;

/// The access trace of one script.
pub struct AccessTrace {
    pub(super) script: PathBuf,
    /// The last process that was started, and its accesses.
    traced: Mutex<Option<Traced>>,
}

/// A traced process, and everything that it starts.
#[derive(Clone)]
pub(super) struct Traced {
    call: TracedCall,
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    watch: Arc<Watch>,
}

impl Traced {
    /// Traces a process with this confinement. On systems other than Linux, nothing is recorded.
    #[cfg_attr(
        any(not(target_os = "linux"), mcp_bash_portable),
        expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")
    )]
    pub(super) fn watch(
        confinement: Confinement,
        key: &Key,
        cell: &Cell,
        call_folder: Option<&Path>,
    ) -> io::Result<(Confinement, Self)> {
        let traced = traced_call(key, cell, call_folder);
        #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
        {
            let own = vec![cell.folders.home.clone(), real(&cell.folders.home)];
            let home = traced.home.clone().map(|user| HiddenHome { own, user });
            let watch = Arc::new(Watch::start(home)?);
            Ok((confinement.watched_by(Arc::clone(&watch)), Self { call: traced, watch }))
        }
        #[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
        Ok((confinement, Self { call: traced }))
    }

    /// The process, and its accesses so far.
    pub(super) fn result(&self) -> (TracedCall, Attempts) {
        #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
        let attempts = self.watch.attempts();
        #[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
        let attempts = Attempts::default();
        (self.call.clone(), attempts)
    }
}

impl AccessTrace {
    /// Fails if this system cannot trace processes.
    pub(crate) fn new(script: PathBuf) -> io::Result<Self> {
        can_watch()?;
        Ok(Self { script, traced: Mutex::default() })
    }

    /// The accesses of the last process that was started. `None` if there was none.
    pub fn result(&self) -> Option<(TracedCall, Attempts)> {
        self.traced.lock().as_ref().map(Traced::result)
    }

    /// Notes what the proxy refused to the process.
    pub(super) fn note_refused_hosts(&self, hosts: impl IntoIterator<Item = String>) {
        if let Some(traced) = &mut *self.traced.lock() {
            traced.call = traced.call.clone().with_refused_hosts(hosts);
        }
    }

    /// Replaces the previous trace.
    pub(super) fn set(&self, traced: Traced) {
        *self.traced.lock() = Some(traced);
    }
}

/// Fails if this system cannot trace processes.
pub fn can_watch() -> io::Result<()> {
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    return Watch::start(None).map(drop);
    #[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
    Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux reports the system calls of a process"))
}

fn traced_call(key: &Key, cell: &Cell, call_folder: Option<&Path>) -> TracedCall {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let all_real = |paths: &[PathBuf]| paths.iter().map(|path| real(path)).collect::<Vec<_>>();
    let mut policy = cell.policy.clone();
    policy.read = all_real(&policy.read);
    policy.write = all_real(&policy.write);
    TracedCall {
        policy,
        always: all_real(&always_read(key, home.as_deref())),
        own: vec![real(&cell.folders.tmp), real(&cell.folders.home)],
        shared: call_folder.map(real),
        project: real(&key.project),
        roots: all_real(&key.roots),
        home: home.map(|home| real(&home)),
        #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
        proxy_port: cell.parts.proxy().map(|(_, port)| *port),
        #[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
        proxy_port: None,
        refused_hosts: Vec::new(),
    }
}

/// The path without symlinks, as far as it exists.
pub(super) fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
