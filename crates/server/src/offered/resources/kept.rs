//! Kept texts: full texts that a result contains only in part, available for a limited time.

use super::Failure;
use crate::callers::Caller;
use crate::stores::{Record, Store};
use mcp_bash_runner::StateDir;
use std::sync::Arc;
use std::time::Duration;

/// How long a text is kept.
const LIFETIME: Duration = Duration::from_secs(600);

/// The prefix of the URI of every kept text.
const PREFIX: &str = "mcpbash://kept/";

const MIME_TYPE: &str = "text/plain";

pub(crate) struct Kept {
    state_dir: Arc<StateDir>,
    store: Arc<Store>,
}

impl Kept {
    pub(super) fn new(state_dir: Arc<StateDir>, store: Arc<Store>) -> Self {
        Self { state_dir, store }
    }

    /// Keeps a text for a caller and returns its URI. `None` if the store has no room for it.
    pub(crate) fn keep(&self, text: &str, caller: &Arc<Caller>) -> Option<String> {
        let uri = format!("{PREFIX}{}", self.state_dir.unguessable_token().ok()?);
        self.store.put(&uri, caller, text.as_bytes(), MIME_TYPE, LIFETIME).then_some(uri)
    }

    /// Whether other servers share the store.
    pub(crate) fn is_shared(&self) -> bool {
        self.store.shared().is_some()
    }

    /// Shares a text with other servers.
    pub(crate) async fn share(&self, uri: &str, text: String, caller: &Caller) {
        let record = Record { bytes: text.into_bytes(), mime_type: MIME_TYPE.to_owned() };
        self.store.share(uri, caller, record, LIFETIME).await;
    }

    /// The text with this URI and its type, if it is still kept for this caller.
    pub(crate) async fn get(&self, uri: &str, caller: &Caller) -> Result<Option<Record>, Failure> {
        if !uri.starts_with(PREFIX) {
            return Ok(None);
        }
        // The log tells the operator what is wrong with the database.
        let away = |_| Failure::Failed("the store of long texts does not answer; try again later".to_owned());
        self.store.get(uri, caller).await.map_err(away)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callers::caller::test_caller;
    use tokio::time::advance;

    fn kept(folder: &tempfile::TempDir) -> Kept {
        let state_dir = Arc::new(StateDir::new(folder.path().to_owned(), false));
        Kept::new(Arc::clone(&state_dir), Arc::new(Store::new(state_dir, None)))
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_kept_can_be_read_for_a_while_by_its_caller_and_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, caller, other) = (kept(&folder), test_caller("a"), test_caller("b"));
        let uri = kept.keep("all of it", &caller).unwrap();
        assert_ne!(kept.keep("all of it", &caller).unwrap(), uri);
        for uri in ["mcpbash://kept/00", "file:///etc/passwd", ""] {
            assert!(kept.get(uri, &caller).await.unwrap().is_none());
        }
        advance(LIFETIME.mul_f64(0.99)).await;
        let Record { bytes, mime_type } = kept.get(&uri, &caller).await.unwrap().unwrap();
        assert_eq!((&*bytes, &*mime_type), (&b"all of it"[..], "text/plain"));
        assert!(kept.get(&uri, &other).await.unwrap().is_none());
        advance(LIFETIME.mul_f64(0.01)).await;
        assert!(kept.get(&uri, &caller).await.unwrap().is_none());
    }

    /// A store for two servers: each reads what the other has put there.
    #[tokio::test]
    async fn two_servers_can_share_a_store() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let state_dir = |folder: &tempfile::TempDir| Arc::new(StateDir::new(folder.path().to_owned(), false));
        let store = Arc::new(Store::new(state_dir(&one), None));
        let first = Kept::new(state_dir(&one), Arc::clone(&store));
        let second = Kept::new(state_dir(&other), store);
        let caller = test_caller("a");
        let uri = first.keep("x", &caller).unwrap();
        assert_eq!(second.get(&uri, &caller).await.unwrap().unwrap().bytes, b"x");
    }
}
