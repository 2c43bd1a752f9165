//! Files of functions that could not be loaded a moment ago. One that writes into the project while it is loaded would
//! otherwise be loaded again because of that, and again, without end.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// For so long a file that looks the same is not tried again. Nobody mends what it needs sooner.
const MOMENT: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(crate) struct FailedLoads(Mutex<HashMap<PathBuf, Failed>>);

struct Failed {
    at: Instant,
    looks: Option<(SystemTime, u64)>,
    why: String,
}

impl FailedLoads {
    /// What `load` says, unless that failed a moment ago: then what was said then.
    pub(crate) fn unless_just_now(
        &self,
        file: &Path,
        load: impl FnOnce() -> Result<String, String>,
    ) -> Result<String, String> {
        let looks = file.metadata().ok().and_then(|seen| Some((seen.modified().ok()?, seen.len())));
        if let Some(failed) = self.0.lock().get(file)
            && failed.looks == looks
            && failed.at.elapsed() < MOMENT
        {
            return Err(failed.why.clone());
        }
        let loaded = load();
        let mut all = self.0.lock();
        match &loaded {
            Ok(_) => drop(all.remove(file)),
            Err(why) => {
                all.insert(file.to_owned(), Failed { at: Instant::now(), looks, why: why.clone() });
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
    fn a_file_that_failed_is_tried_again_when_it_looks_different() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.py");
        std::fs::write(&file, "1").unwrap();
        let (loads, count) = (FailedLoads::default(), Cell::new(0));
        let load = |result: Result<String, String>| {
            loads.unless_just_now(&file, || {
                count.set(count.get() + 1);
                result
            })
        };
        assert_eq!(load(Err("wrong".to_owned())), Err("wrong".to_owned()));
        assert_eq!(load(Ok("fine".to_owned())), Err("wrong".to_owned()));
        assert_eq!(count.get(), 1);
        std::fs::write(&file, "12").unwrap();
        assert_eq!(load(Ok("fine".to_owned())), Ok("fine".to_owned()));
        assert_eq!(load(Err("wrong".to_owned())), Err("wrong".to_owned()));
        assert_eq!(count.get(), 3);
    }
}
