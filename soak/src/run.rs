//! Run: the state shared by all parts of a run.

use crate::audit::AuditAccount;
use crate::peer::Peer;
use crate::project::Project;
use crate::tally::Tally;
use crate::violations::Violations;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The timeout for everything that must happen: an answer, an exit, a process that ends. The machine may be
/// busy.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) seed: u64,
    /// The server, copied into the folder of the run, so that its processes can be identified.
    pub(crate) binary: PathBuf,
    /// The folder for temporary files of the servers, with a subfolder for each.
    pub(crate) temporary: PathBuf,
    /// The folder for traces of processes too short-lived to be observed, with a file named for each call.
    pub(crate) traces: PathBuf,
    /// The audit log that all servers over standard input and output share.
    pub(crate) audit_log: PathBuf,
    pub(crate) audit: AuditAccount,
    /// Says where the planted secret is.
    pub(crate) secrets: PathBuf,
    pub(crate) projects: Vec<Project>,
    pub(crate) begun: Instant,
    /// When no more traffic is sent.
    pub(crate) until: Instant,
    pub(crate) violations: Violations,
    pub(crate) tally: Tally,
    /// The servers that run or are being cleaned up, by their numbers.
    peers: Mutex<HashMap<u32, Arc<Peer>>>,
}

impl Run {
    /// A run in a prepared folder.
    pub(crate) fn new(seed: u64, folder: &Path, projects: Vec<Project>, length: Duration) -> Self {
        let begun = Instant::now();
        Self {
            seed,
            binary: folder.join("mcp-bash"),
            temporary: folder.join("tmp"),
            traces: folder.join("traces"),
            audit_log: folder.join("audit.jsonl"),
            audit: AuditAccount::default(),
            secrets: folder.join("secrets.json"),
            projects,
            begun,
            until: begun + length,
            violations: Violations::default(),
            tally: Tally::default(),
            peers: Mutex::default(),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    pub(crate) fn peers(&self) -> Vec<Arc<Peer>> {
        self.lock().values().cloned().collect()
    }

    pub(crate) fn peer(&self, number: u32) -> Option<Arc<Peer>> {
        self.lock().get(&number).cloned()
    }

    pub(crate) fn enter(&self, peer: Arc<Peer>) {
        self.lock().insert(peer.number, peer);
    }

    pub(crate) fn leave(&self, peer: &Peer) {
        self.lock().remove(&peer.number);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u32, Arc<Peer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Polls until `look` returns true, or the timeout is over. False in the latter case.
pub(crate) fn wait_until(patience: Duration, mut look: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        if look() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
