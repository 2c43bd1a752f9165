//! Files of functions that could not be loaded several times in a row. One that writes into the project while it is loaded would
//! otherwise be loaded again because of that, and again, without end.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// So often in a row a file that looks the same is tried: somebody may be mending what it needs.
const MOST: u32 = 4;

/// After that it is left alone for so long.
const PAUSE: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(crate) struct FailedLoads(Mutex<HashMap<PathBuf, Failed>>);

struct Failed {
    /// How often in a row.
    count: u32,
    at: Instant,
    looks: Option<(SystemTime, u64)>,
    why: String,
}

impl FailedLoads {
    /// What `load` says, unless that failed too often: then what was said then.
    pub(crate) fn unless_too_often(
        &self,
        file: &Path,
        load: impl FnOnce() -> Result<String, String>,
    ) -> Result<String, String> {
        let looks = file.metadata().ok().and_then(|seen| Some((seen.modified().ok()?, seen.len())));
        let mut before = 0;
        if let Some(failed) = self.0.lock().get(file)
            && failed.looks == looks
            && failed.at.elapsed() < PAUSE
        {
            if failed.count >= MOST {
                return Err(failed.why.clone());
            }
            before = failed.count;
        }
        let loaded = load();
        let mut all = self.0.lock();
        match &loaded {
            Ok(_) => drop(all.remove(file)),
            Err(why) => {
                let (count, at, why) = (before + 1, Instant::now(), why.clone());
                all.insert(file.to_owned(), Failed { count, at, looks, why });
            }
        }
        loaded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_file_that_fails_is_left_alone_until_it_looks_different() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.py");
        std::fs::write(&file, "1").unwrap();
        let (loads, count) = (FailedLoads::default(), Cell::new(0));
        let load = |result: Result<String, String>| {
            loads.unless_too_often(&file, || {
                count.set(count.get() + 1);
                result
            })
        };
        for _ in 0..MOST + 3 {
            assert_eq!(load(Err("wrong".to_owned())), Err("wrong".to_owned()));
        }
        assert_eq!(count.get(), MOST);
        std::fs::write(&file, "12").unwrap();
        assert_eq!(load(Ok("fine".to_owned())), Ok("fine".to_owned()));
        assert_eq!(load(Err("wrong".to_owned())), Err("wrong".to_owned()));
        assert_eq!(count.get(), MOST + 2);
    }
}
