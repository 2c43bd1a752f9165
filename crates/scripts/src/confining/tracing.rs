//! Access trace: what the processes of one script touch.

use super::cell::Cell;
use super::key::Key;
use super::resolve::always_read;
use mcp_bash_sandbox::{Attempts, Confinement, TracedCall};
#[cfg(target_os = "linux")]
use mcp_bash_sandbox::{HiddenHome, Watch};
use parking_lot::Mutex;
use std::io;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::sync::Arc;

/// What is traced of one script.
pub struct AccessTrace {
    pub(super) script: PathBuf,
    /// The last process that was started, and what it touches.
    traced: Mutex<Option<Traced>>,
}

struct Traced {
    call: TracedCall,
    #[cfg(target_os = "linux")]
    watch: Arc<Watch>,
}

impl AccessTrace {
    /// Fails if this system cannot watch processes.
    #[cfg(target_os = "linux")]
    pub(crate) fn new(script: PathBuf) -> io::Result<Self> {
        Watch::start(None)?;
        Ok(Self { script, traced: Mutex::default() })
    }

    /// Fails: only Linux can watch processes.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new(_script: PathBuf) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux reports the system calls of a process"))
    }

    /// What was touched by the last process that was started. `None` if there was none.
    pub fn result(&self) -> Option<(TracedCall, Attempts)> {
        let traced = self.traced.lock();
        let traced = traced.as_ref()?;
        #[cfg(target_os = "linux")]
        let attempts = traced.watch.attempts();
        #[cfg(not(target_os = "linux"))]
        let attempts = Attempts::default();
        Some((traced.call.clone(), attempts))
    }

    /// Notes what the proxy refused to the process.
    pub(super) fn note_refused_hosts(&self, hosts: impl IntoIterator<Item = String>) {
        if let Some(traced) = &mut *self.traced.lock() {
            traced.call = traced.call.clone().with_refused_hosts(hosts);
        }
    }

    /// The confinement of a process, which is watched too.
    #[cfg_attr(not(target_os = "linux"), expect(clippy::unnecessary_wraps, reason = "on Linux it can fail"))]
    pub(super) fn watch(
        &self,
        confinement: Confinement,
        key: &Key,
        cell: &Cell,
        call_folder: Option<&Path>,
    ) -> io::Result<Confinement> {
        let scene = traced_call(key, cell, call_folder);
        #[cfg(target_os = "linux")]
        {
            let own = vec![cell.folders.home.clone(), real(&cell.folders.home)];
            let home = scene.home.clone().map(|user| HiddenHome { own, user });
            let watch = Arc::new(Watch::start(home)?);
            *self.traced.lock() = Some(Traced { call: scene, watch: Arc::clone(&watch) });
            Ok(confinement.watched_by(watch))
        }
        #[cfg(not(target_os = "linux"))]
        {
            *self.traced.lock() = Some(Traced { call: scene });
            Ok(confinement)
        }
    }
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
        #[cfg(target_os = "linux")]
        proxy_port: cell.parts.proxy().map(|(_, port)| *port),
        #[cfg(not(target_os = "linux"))]
        proxy_port: None,
        refused_hosts: Vec::new(),
    }
}

/// The path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
