//! Known secrets: the values that were read so far, and the redactor that is made of them.

use crate::redaction::Redactor;
use crate::secret::Secret;
use parking_lot::RwLock;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most values that are kept. Values that were replaced long ago are forgotten first.
const MOST: usize = 256;

/// Shared by everything that passes text on. Until the first value is read, it costs one look at a flag.
#[derive(Default)]
pub struct KnownSecrets {
    /// Whether scripts need secrets, so that there may be some soon.
    are_expected: AtomicBool,
    is_used: AtomicBool,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    /// The oldest first.
    values: Vec<Secret>,
    redactor: Option<Arc<Redactor>>,
}

impl KnownSecrets {
    /// Notes that scripts need secrets.
    pub fn expect_some(&self) {
        self.are_expected.store(true, Ordering::Release);
    }

    /// Whether there may be secrets soon.
    pub fn are_expected(&self) -> bool {
        self.are_expected.load(Ordering::Acquire)
    }

    /// Takes a value out of everything from now on.
    pub fn add(&self, secret: &Secret) {
        if self.state.read().values.contains(secret) {
            return;
        }
        let mut state = self.state.write();
        if state.values.contains(secret) {
            return;
        }
        if state.values.len() == MOST {
            state.values.remove(0);
        }
        state.values.push(secret.clone());
        state.redactor = Some(Arc::new(Redactor::new(&state.values)));
        self.is_used.store(true, Ordering::Release);
    }

    /// The redactor for all values so far. `None` if there are none.
    pub fn redactor(&self) -> Option<Arc<Redactor>> {
        if !self.is_used.load(Ordering::Acquire) {
            return None;
        }
        self.state.read().redactor.clone()
    }

    /// The bytes without the values.
    pub fn redacted(&self, bytes: Vec<u8>) -> Vec<u8> {
        match self.redactor() {
            None => bytes,
            Some(redactor) => match redactor.redact(&bytes) {
                Cow::Owned(redacted) => redacted,
                Cow::Borrowed(_) => bytes,
            },
        }
    }

    /// The text without the values.
    pub fn redacted_text(&self, text: String) -> String {
        match self.redactor() {
            None => text,
            Some(redactor) => match redactor.redact_text(&text) {
                Cow::Owned(redacted) => redacted,
                Cow::Borrowed(_) => text,
            },
        }
    }
}
