//! Message observers: see every message between the server and its clients, for debugging. Without observers, replies are not
//! wrapped.

use crate::replies::{Reply, Stream};
use std::sync::Arc;

/// Sees incoming messages, and outgoing ones before they are sent. It is called for every message, and must not wait.
pub trait Observer: Send + Sync {
    /// A line from a client.
    fn received(&self, message: &[u8]);

    /// A message to a client: a response, a notification or a question.
    fn sent(&self, message: &[u8]);
}

/// All observers.
#[derive(Clone, Default)]
pub(crate) struct Observers(Vec<Arc<dyn Observer>>);

impl Observers {
    pub(crate) fn add(&mut self, observer: Arc<dyn Observer>) {
        self.0.push(observer);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn received(&self, message: &[u8]) {
        self.0.iter().for_each(|observer| observer.received(message));
    }

    fn sent(&self, message: &[u8]) {
        self.0.iter().for_each(|observer| observer.sent(message));
    }

    /// The stream, wrapped if there are observers.
    pub(crate) fn stream(&self, inner: Arc<dyn Stream>) -> Arc<dyn Stream> {
        if self.is_empty() { inner } else { Arc::new(Observed { observers: self.clone(), inner }) }
    }

    /// The reply, wrapped.
    pub(crate) fn reply(&self, inner: Arc<dyn Reply>) -> Arc<dyn Reply> {
        Arc::new(Observed { observers: self.clone(), inner })
    }
}

/// A stream or reply whose messages are observed.
struct Observed<S: ?Sized> {
    observers: Observers,
    inner: Arc<S>,
}

impl<S: Stream + ?Sized> Stream for Observed<S> {
    fn notify(&self, message: Vec<u8>) {
        self.observers.sent(&message);
        self.inner.notify(message);
    }

    fn ask(&self, message: Vec<u8>) -> bool {
        self.observers.sent(&message);
        self.inner.ask(message)
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

impl<R: Reply + ?Sized> Reply for Observed<R> {
    fn answer(&self, message: Vec<u8>) {
        self.observers.sent(&message);
        self.inner.answer(message);
    }

    fn notify_before_answer(&self, message: Vec<u8>) {
        self.observers.sent(&message);
        self.inner.notify_before_answer(message);
    }

    fn refuse(&self, message: Vec<u8>, code: i32) {
        self.observers.sent(&message);
        self.inner.refuse(message, code);
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
