//! Texts that are kept for a while, so that clients can read in full what an answer holds only in part. They are kept as
//! files in the private folder: most are never read, and memory is for what is being worked on.

use mcp_bash_files as files;
use mcp_bash_runner::StateDir;
use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How much is kept in all. The oldest go first.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// How many texts are kept.
const MOST: usize = 1000;

/// How long a text is kept.
const LIFETIME: Duration = Duration::from_secs(600);

/// The beginning of the URI of everything that is kept.
const PREFIX: &str = "mcpbash://kept/";

pub(crate) struct Kept {
    state_dir: Arc<StateDir>,
    texts: Mutex<Texts>,
}

#[derive(Default)]
struct Texts {
    /// The oldest first.
    texts: VecDeque<KeptText>,
    bytes: usize,
}

struct KeptText {
    uri: String,
    file: KeptFile,
    bytes: usize,
    mime_type: String,
    since: Instant,
}

/// A file that vanishes with this value.
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

    /// Keeps a text and returns the URI it can be read by; none for a text that alone is too long, or cannot be written.
    pub(crate) fn keep(&self, text: &str, mime_type: &str) -> Option<String> {
        self.keep_at(text, mime_type, Instant::now())
    }

    /// The text of that URI and its type, if it is still kept.
    pub(crate) fn get(&self, uri: &str) -> Option<(Vec<u8>, String)> {
        self.get_at(uri, Instant::now())
    }

    fn keep_at(&self, text: &str, mime_type: &str, now: Instant) -> Option<String> {
        if text.len() > MOST_BYTES {
            return None;
        }
        // Nobody can guess it: what is kept for one client is no other's business.
        let uri = format!("{PREFIX}{}", self.state_dir.unguessable_word().ok()?);
        let file = self.write(text).ok()?;
        let mut kept = self.lock();
        kept.forget(now, MOST_BYTES - text.len());
        if kept.texts.len() == MOST {
            kept.drop_oldest();
        }
        kept.bytes += text.len();
        let mime_type = mime_type.to_owned();
        kept.texts.push_back(KeptText { uri: uri.clone(), file, bytes: text.len(), mime_type, since: now });
        Some(uri)
    }

    fn write(&self, text: &str) -> io::Result<KeptFile> {
        let path = self.state_dir.fresh("kept")?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let kept = KeptFile(path);
        file.write_all(text.as_bytes())?;
        Ok(kept)
    }

    fn get_at(&self, uri: &str, now: Instant) -> Option<(Vec<u8>, String)> {
        if !uri.starts_with(PREFIX) {
            return None;
        }
        let mut kept = self.lock();
        kept.forget(now, MOST_BYTES);
        let found = kept.texts.iter().find(|kept| kept.uri == uri)?;
        // Opened while it is known to be there; an open file can be read even when its name is gone.
        let (file, size, mime_type) =
            (files::open(&found.file.0).ok()?, found.bytes, found.mime_type.clone());
        drop(kept);
        Some((files::read_all(&file, size as u64).ok()?, mime_type))
    }

    fn lock(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Texts {
    /// Drops what is too old, and then the oldest until at most so many bytes are left.
    fn forget(&mut self, now: Instant, most: usize) {
        while let Some(oldest) = self.texts.front() {
            if self.bytes <= most && now.duration_since(oldest.since) < LIFETIME {
                break;
            }
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        self.bytes -= self.texts.pop_front().map_or(0, |oldest| oldest.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> (Kept, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        (Kept::new(Arc::new(StateDir::new(folder.path().to_owned(), false))), folder)
    }

    fn files(kept: &Kept) -> usize {
        std::fs::read_dir(kept.state_dir.path().unwrap()).unwrap().count()
    }

    #[test]
    fn what_is_kept_can_be_read_and_nothing_else() {
        let (kept, _folder) = kept();
        let uri = kept.keep("all of it", "text/plain").unwrap();
        let (text, mime_type) = kept.get(&uri).unwrap();
        assert_eq!((&*text, &*mime_type), (&b"all of it"[..], "text/plain"));
        assert_ne!(kept.keep("all of it", "text/plain").unwrap(), uri);
        assert!(kept.get("mcpbash://kept/00").is_none() && kept.get("file:///etc/passwd").is_none());
    }

    #[test]
    fn it_is_forgotten_after_a_while() {
        let ((kept, _folder), start) = (kept(), Instant::now());
        let uri = kept.keep_at("x", "text/plain", start).unwrap();
        assert!(kept.get_at(&uri, start + LIFETIME.mul_f64(0.99)).is_some());
        assert!(kept.get_at(&uri, start + LIFETIME).is_none());
        assert_eq!((kept.lock().bytes, files(&kept)), (0, 0));
    }

    #[test]
    fn the_oldest_makes_room() {
        let (kept, _folder) = kept();
        let third = "x".repeat(MOST_BYTES / 3);
        let uris: Vec<_> = (0..4).map(|_| kept.keep(&third, "text/plain").unwrap()).collect();
        let is_there: Vec<_> = uris.iter().map(|uri| kept.get(uri).is_some()).collect();
        assert_eq!(is_there, [false, true, true, true]);
        assert!(kept.lock().bytes <= MOST_BYTES);
        assert!(kept.keep(&"x".repeat(MOST_BYTES + 1), "text/plain").is_none());
        let uris: Vec<_> = (0..=MOST).map(|_| kept.keep("x", "text/plain").unwrap()).collect();
        assert!(kept.get(&uris[0]).is_none() && kept.get(&uris[1]).is_some());
        assert_eq!((kept.lock().bytes, files(&kept)), (MOST, MOST));
    }
}
