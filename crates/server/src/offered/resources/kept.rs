//! Kept texts: clients can read in full, for a while, what an answer holds only in part. They are files in the private
//! folder: most are never read, and memory is for work in progress.

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

/// The most bytes that are kept. The oldest text of the caller that has the most goes first.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// How many texts are kept.
const MOST: usize = 1000;

/// How long a text is kept.
const LIFETIME: Duration = Duration::from_secs(600);

/// The prefix of the URI of every kept text.
const PREFIX: &str = "mcpbash://kept/";

pub(crate) struct Kept {
    state_dir: Arc<StateDir>,
    texts: Mutex<Texts>,
}

#[derive(Default)]
struct Texts {
    by_uri: HashMap<Box<str>, Ticket>,
    /// Limited by their bytes.
    held: Holdings<KeptText>,
}

struct KeptText {
    uri: Box<str>,
    /// Only this caller can read it.
    caller: Arc<Caller>,
    file: KeptFile,
    bytes: usize,
    mime_type: String,
}

/// A file that is removed with this value.
struct KeptFile(PathBuf);

impl Drop for KeptFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Kept {
    pub(super) fn new(state_dir: Arc<StateDir>) -> Self {
        Self { state_dir, texts: Mutex::default() }
    }

    /// Keeps a text for a caller and returns the URI it can be read by. `None` if the text is too long by itself or
    /// cannot be written.
    pub(crate) fn keep(&self, text: &str, mime_type: &str, caller: &Arc<Caller>) -> Option<String> {
        if text.len() > MOST_BYTES {
            return None;
        }
        let uri = format!("{PREFIX}{}", self.state_dir.unguessable_token().ok()?);
        let file = self.write(text).ok()?;
        let fresh = KeptText {
            uri: uri.as_str().into(),
            caller: Arc::clone(caller),
            file,
            bytes: text.len(),
            mime_type: mime_type.to_owned(),
        };
        let mut kept = self.texts.lock();
        kept.expire();
        while kept.held.size() + text.len() > MOST_BYTES || kept.held.count() >= MOST {
            let Some(oldest) = kept.held.oldest_of_greediest() else { break };
            kept.remove(oldest);
        }
        let ticket = kept.held.add(caller, Instant::now(), text.len(), fresh);
        kept.by_uri.insert(uri.as_str().into(), ticket);
        Some(uri)
    }

    /// The text with that URI and its type, if it is still kept for this caller.
    pub(crate) fn get(&self, uri: &str, caller: &Caller) -> Option<(Vec<u8>, String)> {
        if !uri.starts_with(PREFIX) {
            return None;
        }
        let mut kept = self.texts.lock();
        kept.expire();
        let found = kept.held.get(*kept.by_uri.get(uri)?)?;
        if !std::ptr::eq(Arc::as_ptr(&found.caller), caller) {
            return None;
        }
        // Opened while it is known to exist; an open file can be read even after its name is removed.
        let (file, size, mime_type) =
            (files::open(&found.file.0).ok()?, found.bytes, found.mime_type.clone());
        drop(kept);
        Some((files::read_all(&file, size as u64).ok()?, mime_type))
    }

    fn write(&self, text: &str) -> io::Result<KeptFile> {
        let (path, mut file) = self.state_dir.with_restored(|| {
            let path = self.state_dir.fresh("kept")?;
            let file = files::create_new(&path, 0o600)?;
            Ok((path, file))
        })?;
        let kept = KeptFile(path);
        file.write_all(text.as_bytes())?;
        Ok(kept)
    }
}

impl Texts {
    /// Drops texts that are too old.
    fn expire(&mut self) {
        while let Some(oldest) = self.held.oldest().filter(|oldest| oldest.since().elapsed() >= LIFETIME) {
            self.remove(oldest);
        }
    }

    fn remove(&mut self, ticket: Ticket) {
        if let Some(gone) = self.held.remove(ticket) {
            self.by_uri.remove(&gone.uri);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callers::caller::test_caller;
    use tokio::time::advance;

    struct Scene {
        kept: Kept,
        _folder: tempfile::TempDir,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let kept = Kept::new(Arc::new(StateDir::new(folder.path().to_owned(), false)));
            Self { kept, _folder: folder }
        }

        fn bytes_and_files(&self) -> (usize, usize) {
            let files = std::fs::read_dir(self.kept.state_dir.path().unwrap()).unwrap().count();
            (self.kept.texts.lock().held.size(), files)
        }
    }

    #[test]
    fn kept_results_can_be_read_only_by_their_caller() {
        let scene = Scene::new();
        let (caller, other) = (test_caller("a"), test_caller("b"));
        let uri = scene.kept.keep("all of it", "text/plain", &caller).unwrap();
        let (text, mime_type) = scene.kept.get(&uri, &caller).unwrap();
        assert_eq!((&*text, &*mime_type), (&b"all of it"[..], "text/plain"));
        assert!(scene.kept.get(&uri, &other).is_none());
        assert_ne!(scene.kept.keep("all of it", "text/plain", &caller).unwrap(), uri);
        for uri in ["mcpbash://kept/00", "file:///etc/passwd"] {
            assert!(scene.kept.get(uri, &caller).is_none());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_forgotten_after_a_while() {
        let scene = Scene::new();
        let caller = test_caller("a");
        let uri = scene.kept.keep("x", "text/plain", &caller).unwrap();
        advance(LIFETIME.mul_f64(0.99)).await;
        assert!(scene.kept.get(&uri, &caller).is_some());
        advance(LIFETIME.mul_f64(0.01)).await;
        assert!(scene.kept.get(&uri, &caller).is_none());
        assert_eq!(scene.bytes_and_files(), (0, 0));
    }

    #[test]
    fn the_oldest_makes_room() {
        let scene = Scene::new();
        let caller = test_caller("a");
        let keep = |text: &str| scene.kept.keep(text, "text/plain", &caller);
        let is_there = |uri: &String| scene.kept.get(uri, &caller).is_some();
        let third = "x".repeat(MOST_BYTES / 3);
        let uris: Vec<_> = (0..4).map(|_| keep(&third).unwrap()).collect();
        assert_eq!(uris.iter().map(is_there).collect::<Vec<_>>(), [false, true, true, true]);
        assert!(scene.bytes_and_files().0 <= MOST_BYTES);
        assert!(keep(&"x".repeat(MOST_BYTES + 1)).is_none());
        let uris: Vec<_> = (0..=MOST).map(|_| keep("x").unwrap()).collect();
        assert!(!is_there(&uris[0]) && is_there(&uris[1]));
        assert_eq!(scene.bytes_and_files(), (MOST, MOST));
    }

    #[test]
    fn a_caller_that_keeps_a_lot_makes_room_for_others() {
        let scene = Scene::new();
        let (modest, greedy) = (test_caller("modest"), test_caller("greedy"));
        let small = scene.kept.keep("x", "text/plain", &modest).unwrap();
        for _ in 0..10 {
            scene.kept.keep(&"x".repeat(MOST_BYTES / 4), "text/plain", &greedy).unwrap();
        }
        assert!(scene.kept.get(&small, &modest).is_some());
    }
}
