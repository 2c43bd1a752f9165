//! Run: what all parts of one run share.

use crate::peer::Peer;
use crate::project::Project;
use crate::tally::Tally;
use crate::violations::Violations;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long anything may take that has to happen: an answer, an end, a process that goes. The machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) seed: u64,
    /// The server, copied into the folder of the run, so that its processes can be told from others.
    pub(crate) binary: PathBuf,
    /// Where the servers put their temporary files, each in a folder of its own.
    pub(crate) temporary: PathBuf,
    /// Where processes that are too quick to be seen leave traces, each in a file that is called as its call.
    pub(crate) traces: PathBuf,
    pub(crate) projects: Vec<Project>,
    pub(crate) begun: Instant,
    /// When no more traffic is sent.
    pub(crate) until: Instant,
    pub(crate) violations: Violations,
    pub(crate) tally: Tally,
    /// The servers that are alive or being buried, by their numbers.
    peers: Mutex<HashMap<u32, Arc<Peer>>>,
}

impl Run {
    /// A run in a folder that has been prepared for it.
    pub(crate) fn new(seed: u64, folder: &Path, projects: Vec<Project>, length: Duration) -> Self {
        let begun = Instant::now();
        Self {
            seed,
            binary: folder.join("mcp-bash"),
            temporary: folder.join("tmp"),
            traces: folder.join("traces"),
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

/// Looks again and again until `look` is content, or patience is at its end. False in the latter case.
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
