//! Redacted replies: the last step before a message leaves removes known secrets from it. Script output has already passed a
//! redactor; file contents, paths and the output of other programs have not.

use super::reply::{Reply, Stream};
use mcp_bash_secrets::KnownSecrets;
use std::sync::Arc;

/// A stream or reply that redacts its messages.
struct Redacted<S: ?Sized> {
    known_secrets: Arc<KnownSecrets>,
    inner: Arc<S>,
}

/// A redacted stream. It may outlive a reload of the project, so it is always wrapped.
pub(crate) fn stream(known_secrets: &Arc<KnownSecrets>, inner: Arc<dyn Stream>) -> Arc<dyn Stream> {
    Arc::new(Redacted { known_secrets: Arc::clone(known_secrets), inner })
}

/// A redacted reply, for a project that has secrets.
pub(crate) fn reply(known_secrets: &Arc<KnownSecrets>, inner: Arc<dyn Reply>) -> Arc<dyn Reply> {
    Arc::new(Redacted { known_secrets: Arc::clone(known_secrets), inner })
}

impl<S: Stream + ?Sized> Stream for Redacted<S> {
    fn notify(&self, message: Vec<u8>) {
        self.inner.notify(self.known_secrets.redacted(message));
    }

    fn ask(&self, message: Vec<u8>) -> bool {
        self.inner.ask(self.known_secrets.redacted(message))
    }

    fn flush(&self) {
        self.inner.flush();
    }

    fn is_clogged(&self) -> bool {
        self.inner.is_clogged()
    }

    fn takes_notifications(&self) -> bool {
        self.inner.takes_notifications()
    }
}

impl<R: Reply + ?Sized> Reply for Redacted<R> {
    fn answer(&self, message: Vec<u8>) {
        self.inner.answer(self.known_secrets.redacted(message));
    }

    fn notify_before_answer(&self, message: Vec<u8>) {
        self.inner.notify_before_answer(self.known_secrets.redacted(message));
    }

    fn refuse(&self, message: Vec<u8>, code: i32) {
        self.inner.refuse(self.known_secrets.redacted(message), code);
    }

    fn end(&self) {
        self.inner.end();
    }

    fn longest_message(&self) -> usize {
        self.inner.longest_message()
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }
}
