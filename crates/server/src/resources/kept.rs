//! Texts that are kept for a while, so that clients can read in full what an answer holds only in part.

use std::collections::VecDeque;
use std::fmt::Write as _;
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

#[derive(Default)]
pub(crate) struct Kept(Mutex<Texts>);

#[derive(Default)]
struct Texts {
    /// The oldest first.
    texts: VecDeque<KeptText>,
    bytes: usize,
}

struct KeptText {
    uri: String,
    text: Arc<str>,
    mime_type: String,
    since: Instant,
}

impl Kept {
    /// Keeps a text and returns the URI it can be read by; none for a text that alone is too long.
    pub(crate) fn keep(&self, text: &str, mime_type: &str) -> Option<String> {
        self.keep_at(text, mime_type, Instant::now())
    }

    /// The text of that URI and its type, if it is still kept.
    pub(crate) fn get(&self, uri: &str) -> Option<(Arc<str>, String)> {
        self.get_at(uri, Instant::now())
    }

    fn keep_at(&self, text: &str, mime_type: &str, now: Instant) -> Option<String> {
        if text.len() > MOST_BYTES {
            return None;
        }
        let uri = fresh_uri()?;
        let mut kept = self.lock();
        kept.forget(now, MOST_BYTES - text.len());
        if kept.texts.len() == MOST {
            kept.drop_oldest();
        }
        kept.bytes += text.len();
        let mime_type = mime_type.to_owned();
        kept.texts.push_back(KeptText { uri: uri.clone(), text: text.into(), mime_type, since: now });
        Some(uri)
    }

    fn get_at(&self, uri: &str, now: Instant) -> Option<(Arc<str>, String)> {
        if !uri.starts_with(PREFIX) {
            return None;
        }
        let mut kept = self.lock();
        kept.forget(now, MOST_BYTES);
        let found = kept.texts.iter().find(|kept| kept.uri == uri)?;
        Some((Arc::clone(&found.text), found.mime_type.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, Texts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.bytes -= self.texts.pop_front().map_or(0, |oldest| oldest.text.len());
    }
}

#[allow(dead_code, reason = "what is kept comes from answers that are cut")]
/// A URI that nobody can guess: what is kept for one client is no other's business.
fn fresh_uri() -> Option<String> {
    let mut random = [0; 16];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty()).ok()?;
    let mut uri = String::from(PREFIX);
    for byte in random {
        let _ = write!(uri, "{byte:02x}");
    }
    Some(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_can_be_read_and_nothing_else() {
        let kept = Kept::default();
        let uri = kept.keep("all of it", "text/plain").unwrap();
        let (text, mime_type) = kept.get(&uri).unwrap();
        assert_eq!((&*text, &*mime_type), ("all of it", "text/plain"));
        assert_ne!(kept.keep("all of it", "text/plain").unwrap(), uri);
        assert!(kept.get("mcpbash://kept/00").is_none() && kept.get("file:///etc/passwd").is_none());
    }

    #[test]
    fn it_is_forgotten_after_a_while() {
        let (kept, start) = (Kept::default(), Instant::now());
        let uri = kept.keep_at("x", "text/plain", start).unwrap();
        assert!(kept.get_at(&uri, start + LIFETIME.mul_f64(0.99)).is_some());
        assert!(kept.get_at(&uri, start + LIFETIME).is_none());
        assert_eq!(kept.lock().bytes, 0);
    }

    #[test]
    fn the_oldest_makes_room() {
        let kept = Kept::default();
        let third = "x".repeat(MOST_BYTES / 3);
        let uris: Vec<_> = (0..4).map(|_| kept.keep(&third, "text/plain").unwrap()).collect();
        let is_there: Vec<_> = uris.iter().map(|uri| kept.get(uri).is_some()).collect();
        assert_eq!(is_there, [false, true, true, true]);
        assert!(kept.lock().bytes <= MOST_BYTES);
        assert!(kept.keep(&"x".repeat(MOST_BYTES + 1), "text/plain").is_none());
        let uris: Vec<_> = (0..=MOST).map(|_| kept.keep("x", "text/plain").unwrap()).collect();
        assert!(kept.get(&uris[0]).is_none() && kept.get(&uris[1]).is_some());
        assert_eq!(kept.lock().bytes, MOST);
    }
}
