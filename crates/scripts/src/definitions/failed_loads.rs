//! Failed loads: function files that failed to load several times in a row. They are not loaded for a while: otherwise, a file
//! that writes into the project while it is loaded would cause reloads without end.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How many failures in a row are allowed for an unchanged file: what it lacks may be about to be fixed.
const MOST: u32 = 4;

/// After this time, earlier failures no longer count.
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
        let failed = all.get(file).filter(|failed| failed.count >= MOST && failed.is_recent(stamp(file)))?;
        Some(failed.why.clone())
    }

    /// Records the result of loading a file: an error, or success.
    pub(crate) fn note(&self, file: &Path, error: Option<&String>) {
        let mut all = self.0.lock();
        let Some(why) = error else {
            all.remove(file);
            return;
        };
        let stamp = stamp(file);
        let before = all.get(file).filter(|failed| failed.is_recent(stamp)).map_or(0, |failed| failed.count);
        let failed = Failed { count: before + 1, at: Instant::now(), stamp, why: why.clone() };
        all.insert(file.to_owned(), failed);
    }
}

impl Failed {
    fn is_recent(&self, stamp: Option<Stamp>) -> bool {
        self.stamp == stamp && self.at.elapsed() < PAUSE
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
            loads.note(&file, Some(&wrong));
        }
        assert_eq!(loads.refusal(&file), Some(wrong.clone()));
        std::fs::write(&file, "12").unwrap();
        assert_eq!(loads.refusal(&file), None);
        loads.note(&file, None);
        loads.note(&file, Some(&wrong));
        assert_eq!(loads.refusal(&file), None);
    }
}
