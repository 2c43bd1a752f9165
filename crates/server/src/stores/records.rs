//! Record files: records are in the private folder, since most are never read, and memory is for work in progress.

use super::Record;
use crate::callers::{Caller, Holdings, Ticket};
use mcp_bash_files as files;
use mcp_bash_runner::StateDir;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The most bytes of all records. Beyond it, the oldest record of the caller with the most is removed.
pub(super) const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The most records.
pub(super) const MOST: usize = 1000;

pub(super) struct Records {
    state_dir: Arc<StateDir>,
    index: Mutex<Index>,
}

#[derive(Default)]
struct Index {
    by_key: HashMap<Box<str>, Ticket>,
    /// Ordered by expiry, and limited by their bytes.
    held: Holdings<Held>,
}

struct Held {
    key: Box<str>,
    /// Only this caller can read it.
    owner: Arc<Caller>,
    file: RecordFile,
    bytes: usize,
    mime_type: String,
}

/// A file that is removed when this value is dropped.
struct RecordFile(PathBuf);

impl Drop for RecordFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Records {
    pub(super) fn new(state_dir: Arc<StateDir>) -> Self {
        Self { state_dir, index: Mutex::default() }
    }

    pub(super) fn put(
        &self,
        key: &str,
        owner: &Arc<Caller>,
        bytes: &[u8],
        mime_type: &str,
        lifetime: Duration,
    ) -> bool {
        if bytes.len() > MOST_BYTES {
            return false;
        }
        let Ok(file) = self.write(bytes) else { return false };
        let fresh = Held {
            key: key.into(),
            owner: Arc::clone(owner),
            file,
            bytes: bytes.len(),
            mime_type: mime_type.to_owned(),
        };
        let mut index = self.index.lock();
        index.expire();
        while index.held.size() + bytes.len() > MOST_BYTES || index.held.count() >= MOST {
            let Some(oldest) = index.held.oldest_of_greediest() else { break };
            index.remove(oldest);
        }
        let ticket = index.held.add(owner, Instant::now() + lifetime, bytes.len(), fresh);
        index.by_key.insert(key.into(), ticket);
        true
    }

    pub(super) fn get(&self, key: &str, owner: &Caller) -> Option<Record> {
        let mut index = self.index.lock();
        index.expire();
        let found = index.held.get(*index.by_key.get(key)?)?;
        if !std::ptr::eq(Arc::as_ptr(&found.owner), owner) {
            return None;
        }
        // Opened under the lock; an open file can be read even after its name is removed.
        let (file, size, mime_type) =
            (files::open(&found.file.0).ok()?, found.bytes, found.mime_type.clone());
        drop(index);
        Some(Record { bytes: files::read_all(&file, size as u64).ok()?, mime_type })
    }

    fn write(&self, bytes: &[u8]) -> io::Result<RecordFile> {
        let (path, mut file) = self.state_dir.with_restored(|| {
            let path = self.state_dir.fresh("kept")?;
            let file = files::create_new(&path, 0o600)?;
            Ok((path, file))
        })?;
        let kept = RecordFile(path);
        file.write_all(bytes)?;
        Ok(kept)
    }
}

impl Index {
    /// Removes expired records.
    fn expire(&mut self) {
        let now = Instant::now();
        while let Some(first) = self.held.oldest().filter(|first| first.since() <= now) {
            self.remove(first);
        }
    }

    fn remove(&mut self, ticket: Ticket) {
        if let Some(gone) = self.held.remove(ticket) {
            self.by_key.remove(&gone.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callers::caller::test_caller;
    use tokio::time::advance;

    const LIFETIME: Duration = Duration::from_secs(600);

    struct Scene {
        records: Records,
        _folder: tempfile::TempDir,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let records = Records::new(Arc::new(StateDir::new(folder.path().to_owned(), false)));
            Self { records, _folder: folder }
        }

        fn put(&self, key: &str, text: &str, owner: &Arc<Caller>) -> bool {
            self.records.put(key, owner, text.as_bytes(), "text/plain", LIFETIME)
        }

        fn has(&self, key: &str, owner: &Caller) -> bool {
            self.records.get(key, owner).is_some()
        }

        fn bytes_and_files(&self) -> (usize, usize) {
            let files = std::fs::read_dir(self.records.state_dir.path().unwrap()).unwrap().count();
            (self.records.index.lock().held.size(), files)
        }
    }

    #[test]
    fn a_record_can_be_read_by_its_owner_and_by_no_other_caller() {
        let scene = Scene::new();
        let (owner, other) = (test_caller("a"), test_caller("b"));
        assert!(scene.put("k", "all of it", &owner));
        let record = Record { bytes: b"all of it".to_vec(), mime_type: "text/plain".to_owned() };
        assert_eq!(scene.records.get("k", &owner), Some(record));
        assert!(!scene.has("k", &other) && !scene.has("", &owner) && !scene.has("kk", &owner));
    }

    #[tokio::test(start_paused = true)]
    async fn each_expires_after_its_own_lifetime() {
        let scene = Scene::new();
        let owner = test_caller("a");
        assert!(scene.put("long", "x", &owner));
        assert!(scene.records.put("short", &owner, b"x", "text/plain", LIFETIME / 2));
        advance(LIFETIME / 2).await;
        assert!(scene.has("long", &owner) && !scene.has("short", &owner));
        advance(LIFETIME / 2).await;
        assert!(!scene.has("long", &owner));
        assert_eq!(scene.bytes_and_files(), (0, 0));
    }

    #[test]
    fn the_oldest_makes_room() {
        let scene = Scene::new();
        let owner = test_caller("a");
        let third = "x".repeat(MOST_BYTES / 3);
        let keys: Vec<String> = (0..4).map(|number| format!("large {number}")).collect();
        assert!(keys.iter().all(|key| scene.put(key, &third, &owner)));
        let are_there: Vec<bool> = keys.iter().map(|key| scene.has(key, &owner)).collect();
        assert_eq!(are_there, [false, true, true, true]);
        assert!(scene.bytes_and_files().0 <= MOST_BYTES);
        assert!(!scene.put("larger", &"x".repeat(MOST_BYTES + 1), &owner));
        assert!((0..=MOST).all(|number| scene.put(&number.to_string(), "x", &owner)));
        assert!(!scene.has("0", &owner) && scene.has("1", &owner));
        assert_eq!(scene.bytes_and_files(), (MOST, MOST));
    }

    #[test]
    fn a_caller_that_keeps_a_lot_makes_room_for_others() {
        let scene = Scene::new();
        let (modest, greedy) = (test_caller("modest"), test_caller("greedy"));
        assert!(scene.put("small", "x", &modest));
        for number in 0..10 {
            assert!(scene.put(&number.to_string(), &"x".repeat(MOST_BYTES / 4), &greedy));
        }
        assert!(scene.has("small", &modest));
    }
}
