//! Failed loads: function files that failed to load several times in a row. They are not loaded for a while: otherwise, a file
//! that writes into the project while it is loaded would cause reloads without end.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How many failures in a row are allowed for an unchanged file: what it lacks may be about to be fixed.
const MOST: u32 = 4;

/// A load that begins so long after a failure is not in a row with it, however long the load takes.
const PAUSE: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(crate) struct FailedLoads(Mutex<HashMap<PathBuf, Failed>>);

struct Failed {
    /// The number of failures in a row.
    count: u32,
    at: Instant,
    stamp: Option<Stamp>,
    why: String,
}

impl FailedLoads {
    /// Why a file is not loaded now: the message of its last failure, if it failed too often.
    pub(crate) fn refusal(&self, file: &Path) -> Option<String> {
        let all = self.0.lock();
        let failed = all
            .get(file)
            .filter(|failed| failed.count >= MOST && failed.counts_at(Instant::now(), stamp(file)))?;
        Some(failed.why.clone())
    }

    /// Records the result of loading a file, which began at that time and ended now: an error, or success.
    pub(crate) fn note(&self, file: &Path, began: Instant, error: Option<&String>) {
        let mut all = self.0.lock();
        let Some(why) = error else {
            all.remove(file);
            return;
        };
        let stamp = stamp(file);
        let before = all.get(file).filter(|failed| failed.counts_at(began, stamp));
        let before = before.map_or(0, |failed| failed.count);
        let failed = Failed { count: before + 1, at: Instant::now(), stamp, why: why.clone() };
        all.insert(file.to_owned(), failed);
    }
}

impl Failed {
    fn counts_at(&self, time: Instant, stamp: Option<Stamp>) -> bool {
        self.stamp == stamp && time.saturating_duration_since(self.at) < PAUSE
    }
}

type Stamp = (SystemTime, u64);

fn stamp(file: &Path) -> Option<Stamp> {
    let seen = file.metadata().ok()?;
    Some((seen.modified().ok()?, seen.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_fails_is_left_alone_until_it_looks_different() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.py");
        std::fs::write(&file, "1").unwrap();
        let loads = FailedLoads::default();
        let wrong = "wrong".to_owned();
        for _ in 0..MOST {
            assert_eq!(loads.refusal(&file), None);
            loads.note(&file, Instant::now(), Some(&wrong));
        }
        assert_eq!(loads.refusal(&file), Some(wrong.clone()));
        std::fs::write(&file, "12").unwrap();
        assert_eq!(loads.refusal(&file), None);
        loads.note(&file, Instant::now(), None);
        loads.note(&file, Instant::now(), Some(&wrong));
        assert_eq!(loads.refusal(&file), None);
    }

    /// A load that takes longer than the pause begins right after the failure before it.
    #[test]
    fn slow_loads_count_from_their_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.py");
        std::fs::write(&file, "1").unwrap();
        let (loads, wrong, began) = (FailedLoads::default(), "wrong".to_owned(), Instant::now());
        let failed = |count: u32, ended: Instant| {
            let failed = Failed { count, at: ended, stamp: stamp(&file), why: wrong.clone() };
            loads.0.lock().insert(file.clone(), failed);
        };
        failed(MOST - 1, began.checked_sub(PAUSE / 2).unwrap());
        loads.note(&file, began, Some(&wrong));
        assert!(loads.refusal(&file).is_some());
        failed(MOST - 1, began.checked_sub(PAUSE * 2).unwrap());
        loads.note(&file, began, Some(&wrong));
        assert!(loads.refusal(&file).is_none());
    }
}
